"""Reading a world's file: TOML, JSON or Python, into a :class:`Definition`; errors name the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner_eval.base.days import day_of
from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.jsonfile import read_json
from planner_eval.base.resources import folder
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog
from planner_eval.worlds.clauses import api_of, check_makers, table_of, texts
from planner_eval.worlds.definition import Definition
from planner_eval.worlds.generic import extend
from planner_eval.worlds.tools import catalog_of, tools_of
from planner_eval.worlds.verifying import verify


def load(source: str | Path) -> Definition:
    """The definition of a world.

    Args:
        source: The name of a shipped world (``"appbench"``, ``"bank"``), the path of a world's file, or
            ``"catalog:FILE"`` for a world derived from a tool catalog alone.

    Raises:
        InputError: there is no such world, or its file says something impossible.
    """
    text = str(source)
    if text.startswith("catalog:"):
        return extend(Definition(Path(text).stem), read_catalog(text.removeprefix("catalog:")))
    if re.fullmatch(r"[\w-]+", text):
        shipped = sorted(file.stem for file in (folder("data") / "worlds").glob("*.toml"))
        if text not in shipped:
            raise InputError(f"no world {text!r}; shipped: {', '.join(shipped)}; or name a world's file")
        path = folder("data") / "worlds" / f"{text}.toml"
        world = _made(_data(path)[0], where=path.name, name=path.stem, functions={})
        verify(world)
        return world
    path = Path(source)
    data, functions = _data(path)
    world = read(data, where=path.name, name=path.stem, functions=functions)
    verify(world)
    return world


def world_catalog(source: str | Path) -> Catalog:
    """The APIs of a world as a tool catalog; `source` as for :func:`load`."""
    return catalog_of(load(source))


def _data(path: Path) -> tuple[Any, Mapping[str, Callable[..., Any]]]:
    """A file's data, and the functions that a Python file defines beside it."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; name the world's file")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    if path.suffix == ".py":
        return _module(path)
    try:
        if path.suffix == ".json":
            return read_json(text), {}
        import tomllib

        return tomllib.loads(text), {}
    except ParseError as error:
        raise InputError(f"{path.name}: {error.brief}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name}: {error}") from None


def _module(path: Path) -> tuple[Any, Mapping[str, Callable[..., Any]]]:
    """Run a world's Python file (the user's own code) and take its ``WORLD`` and its functions."""
    import runpy

    try:
        namespace = runpy.run_path(str(path), run_name=f"planeval_world_{path.stem}")
    except (Exception, SystemExit) as error:
        raise InputError(f"{path.name} does not import: {type(error).__name__}: {error}") from None
    if "WORLD" not in namespace:
        raise InputError(f"{path.name}: a world in Python defines WORLD, a dict as in a TOML file")
    return namespace["WORLD"], {name: value for name, value in namespace.items() if callable(value)}


def read(
    data: Any,
    *,
    where: str = "world",
    name: str = "world",
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Definition:
    """A definition from decoded data.

    >>> world = read({"tables": {"rooms": {"columns": {"city": ["Oslo"], "beds": "integer:1..4"}}}})
    >>> [column.type for column in world.tables["rooms"].columns]
    ['text', 'integer']
    """
    from planner_eval.worlds.schema import WorldFile

    WorldFile.check(data, where)
    return _made(data, where=where, name=name, functions=functions or {})


def _made(
    data: Mapping[str, Any], *, where: str, name: str, functions: Mapping[str, Callable[..., Any]]
) -> Definition:
    """The definition of data that are as they should be: checked, or shipped and so checked by tests."""
    pools = {key: texts(data["pools"], key) for key in data.get("pools", ())}
    tables = {
        key: table_of(key, value, f"{where}: tables.{key}") for key, value in data.get("tables", {}).items()
    }
    today = str(data.get("today", "2019-03-01"))
    if day_of(today) is None:
        raise InputError(f"{where}: today must be a date yyyy-mm-dd, found {today!r}")
    world = Definition(
        data.get("name", name),
        data.get("about", ""),
        today,
        pools,
        {key.casefold(): value for key, value in data.get("aliases", {}).items()},
        tables,
        {},
        data.get("types", {}),
    )
    check_makers(world, where)
    apis = {
        key: api_of(
            key,
            value,
            world=world,
            valid=data.get("valid", {}),
            functions=functions,
            where=f"{where}: api.{key}",
        )
        for key, value in data.get("api", {}).items()
    }
    world = replace(world, apis=apis)
    generic = data.get("generic", {})
    if generic:
        world = extend(world, tools_of(generic, f"{where}: generic"))
    return world
