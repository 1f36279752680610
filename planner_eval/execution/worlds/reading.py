"""Reading a world's file: its definition, its APIs as a tool catalog, and whether its SQL can run."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json
from planner_eval.base.resources import folder
from planner_eval.base.text import parse_day
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.formats import read_catalog_file
from planner_eval.execution.worlds.database import (
    connect,
    create_tables,
    from_stored_value,
    match_condition,
    parameter_name,
    quote_name,
    to_stored_value,
)
from planner_eval.execution.worlds.definition import (
    Api,
    Argument,
    Definition,
    api_of,
    check_makers,
    read_texts,
    table_of,
)
from planner_eval.execution.worlds.generic import extend, guess_type


# ----------------------------------------------------------------------
# Whether the SQL in a world's definition can run, said before any call does.
def verify(world: Definition) -> None:
    """Compile every statement of a definition, against empty tables.

    Raises:
        InputError: a statement names what is not there, or is no SQL; says which API's and why.
    """
    connection = connect(":memory:")
    try:
        create_tables(connection, world)
        connection.set_authorizer(_authorize)
        for api in world.apis.values():
            _check_columns(api, world)
            names = ["today", *(a.name for a in api.arguments)]
            names += [c.name for c in world.tables[api.adds].columns] if api.adds else []
            scope = {parameter_name(name): None for name in names}
            for clause, statement in _statements(api):
                try:
                    steps = connection.execute(f"EXPLAIN {statement}", scope).fetchall()
                    if any(step[1] == "Vacuum" for step in steps):  # of which no authorizer is asked
                        raise sqlite3.OperationalError("not authorized")
                except (sqlite3.Error, sqlite3.Warning) as error:
                    reason = _FORBIDDEN_MESSAGE if "not authorized" in str(error) else error
                    raise InputError(f"{world.name}: {api.full_name}: {clause}: {reason}") from None
    except sqlite3.Error as error:
        raise InputError(f"{world.name}: {error}") from None
    finally:
        connection.close()


_FORBIDDEN_MESSAGE = (
    "statements may only read and change rows of the world's tables; random "
    "values and dates are not allowed (use :today)"
)

_ALLOWED_ACTIONS = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
    }
)


_IMPURE_FUNCTIONS = frozenset(
    {"random", "randomblob", "current_date", "current_time", "current_timestamp", "load_extension"}
)
"""Functions that give another value each time, or bring code: a world is the same on every machine."""


def _authorize(action: int, _: str | None, name: str | None, *__: str | None) -> int:
    """Whether SQLite may do something for a world: no other files, settings, transactions or new tables."""
    changing = action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _IMPURE_FUNCTIONS
    return sqlite3.SQLITE_OK if action in _ALLOWED_ACTIONS and not changing else sqlite3.SQLITE_DENY


def _check_columns(api: Api, world: Definition) -> None:
    """Refuse columns that are not there; SQLite takes an unknown name in double quotes for a text."""
    for clause, assignments, name in (
        ("fact", api.fact, api.reads),
        ("set", api.sets, api.reads),
        ("values", api.values, api.adds),
    ):
        table = world.tables.get(name or "")
        for column, _ in assignments:
            if table is None or table.column(column) is None:
                location = f"the table {name}" if table else "no table"
                raise InputError(
                    f"{world.name}: {api.full_name}: {clause} {column}: no such column in {location}"
                )


def _statements(api: Api) -> Iterator[tuple[str, str]]:
    """What each clause of an API runs, under the clause's name."""
    source = f" FROM {quote_name(api.reads)}" if api.reads else ""
    for match in api.matches:
        yield f"match {match.argument}", f"SELECT 1{source} WHERE {match_condition(match)}"
    for predicate in api.where:
        yield f"where {predicate!r}", f"SELECT 1{source} WHERE ({predicate})"
    for argument, predicate, _ in api.valid:
        yield f"valid {argument} {predicate!r}", f"SELECT ({predicate})"
    for predicate, _ in api.requires:
        yield f"require {predicate!r}", f"SELECT ({predicate}){source}"
    for column, expression in api.sets:
        yield (
            f"set {column}",
            f"UPDATE {quote_name(api.reads or '')} SET {quote_name(column)} = ({expression})",
        )
    for column, expression in api.values:
        yield f"values {column}", f"SELECT ({expression}){source}"
    for column, expression in api.fact:
        yield f"fact {column}", f"SELECT ({expression})"
    for statement in api.then:
        yield f"then {statement!r:.60}", statement
    for name, text in api.returns:
        if text is not None and not text.startswith("*"):
            yield f"returns {name}", f"SELECT ({text}){source}"


# ----------------------------------------------------------------------
# A world's APIs as a tool catalog, and a catalog from the short signatures of a world's file.
_CATALOG_TYPES: dict[str, Type] = {
    "text": Type(("string",)),
    "integer": Type(("integer",)),
    "number": Type(("number",)),
    "boolean": Type(("boolean",)),
    "date": Type(("string",), format="date"),
    "time": Type(("string",), format="time"),
    "json": ANY,
    "list": Type(("array",)),
    "record": Type(("object",)),
}


def catalog_of_signatures(signatures: Mapping[str, Any], where: str) -> Catalog:
    """A catalog from signatures such as ``"date, note? -> event_id, done:boolean"`` by full name."""
    tools = []
    for key, text in signatures.items():
        app, _, name = key.rpartition(".")
        parameters_text, _, outputs_text = str(text).partition("->")
        tools.append(
            Tool(
                name,
                app or None,
                parameters=_read_parameters(parameters_text, f"{where}.{key}"),
                returns=Type(
                    ("object",), fields=_read_parameters(outputs_text, f"{where}.{key}"), open=False
                ),
            )
        )
    return Catalog(tuple(tools), where)


def catalog_of(world: Definition) -> Catalog:
    """A world's APIs as a tool catalog; values may be written as texts."""
    tools = []
    for api in world.apis.values():
        outputs = tuple(
            Parameter(
                name,
                _CATALOG_TYPES[world.type_of(name, api.adds, api.reads)]
                if source is None or name in world.types  # of a computed one only where it is declared
                else ANY,
            )
            for name, source in api.returns
        )
        tools.append(
            Tool(
                api.name,
                api.app,
                api.about,
                tuple(
                    Parameter(
                        argument.name,
                        _CATALOG_TYPES[argument.type],
                        argument.required,
                        argument.about,
                        None
                        if argument.default is None
                        else from_stored_value(_stored_default(argument), argument.type),
                        argument.default is not None and argument.default != "today",
                    )
                    for argument in api.arguments
                ),
                open=api.open,
                returns=Type(("object",), fields=outputs, open=False) if outputs else ANY,
                action=api.acts,
            )
        )
    return Catalog(tuple(tools), world.name, text_values=True, holes=("?", "$$$"), reports_all=True)


def _stored_default(argument: Argument) -> Any:
    """A default as the database holds it; that of a date may be today, which no catalog can say."""
    if argument.default == "today":
        return None
    return to_stored_value(argument.name, argument.default, argument.type)


def _read_parameters(text: str, where: str) -> tuple[Parameter, ...]:
    parameters = []
    for entry in filter(None, (segment.strip() for segment in text.split(","))):
        match = re.fullmatch(r"(\w+)(?::(\w+))?(\?)?", entry)
        if match is None or (match[2] or "text") not in _CATALOG_TYPES:
            raise InputError(f"{where}: expected name, name:type or name?, found {entry!r}")
        parameters.append(
            Parameter(match[1], _CATALOG_TYPES[match[2] or guess_type(match[1])], match[3] is None)
        )
    return tuple(parameters)


# ----------------------------------------------------------------------
# Reading a world's file: TOML, JSON or Python, into a :class:`Definition`; errors name the place.
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
        return extend(Definition(Path(text).stem), read_catalog_file(text.removeprefix("catalog:")))
    if re.fullmatch(r"[\w-]+", text):
        shipped = sorted(file.stem for file in (folder("data") / "worlds").glob("*.toml"))
        if text not in shipped:
            raise InputError(f"no world {text!r}; shipped: {', '.join(shipped)}; or name a world's file")
        path = folder("data") / "worlds" / f"{text}.toml"
        world = _make_definition(_read_data(path)[0], where=path.name, name=path.stem, functions={})
    else:
        path = Path(source)
        data, functions = _read_data(path)
        world = read(data, where=path.name, name=path.stem, functions=functions)
    verify(world)
    return world


def world_catalog(source: str | Path) -> Catalog:
    """The APIs of a world as a tool catalog; `source` as for :func:`load`."""
    return catalog_of(load(source))


def _read_data(path: Path) -> tuple[Any, Mapping[str, Callable[..., Any]]]:
    """A file's data, and the functions that a Python file defines beside it."""
    text = read_text(path)
    if path.suffix == ".py":
        return _run_module(path)
    try:
        if path.suffix == ".json":
            return read_json(text), {}
        import tomllib

        return tomllib.loads(text), {}
    except ParseError as error:
        raise InputError(f"{path.name}: {error.brief}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name}: {error}") from None


def _run_module(path: Path) -> tuple[Any, Mapping[str, Callable[..., Any]]]:
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
    from planner_eval.execution.worlds.schema import WorldFile

    WorldFile.check(data, where)
    return _make_definition(data, where=where, name=name, functions=functions or {})


def _make_definition(
    data: Mapping[str, Any], *, where: str, name: str, functions: Mapping[str, Callable[..., Any]]
) -> Definition:
    """The definition of data that are as they should be: checked, or shipped and so checked by tests."""
    pools = {key: read_texts(data["pools"], key) for key in data.get("pools", ())}
    tables = {
        key: table_of(key, value, f"{where}: tables.{key}") for key, value in data.get("tables", {}).items()
    }
    today = str(data.get("today", "2019-03-01"))
    if parse_day(today) is None:
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
        world = extend(world, catalog_of_signatures(generic, f"{where}: generic"))
    return world
