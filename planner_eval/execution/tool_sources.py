"""Where tools come from: the user's text, or Python objects, as plain data for a worker.

=========================  ==============================================================
``nestful``                the 40 basic functions of NESTful, with the benchmark's oddities
``nestful:sane``           the same without them
``nestful:FOLDER``         the published NESTful functions, one file each
``recorded:FILE``          answers recorded earlier; no code runs
``world:NAME``             a simulated world: ``appbench``, ``bank``, a world's file, ``catalog:FILE``;
                           in its first state for each plan
``tools.py``               the public functions of one file, or its ``TOOLS``
``tools.py:NAME``          one attribute of it: a mapping, a class, an object, a function
``package.module``         the same for a module that can be imported
``package.module:NAME``    …
=========================  ==============================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from planner_eval.base.errors import ExecutionError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.resources import service
from planner_eval.execution.record import read_record
from planner_eval.execution.tool_loading import LoadError, collect_tools, unloadable_message

_SYSTEM_PATHS = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/dev/null",
    "/dev/urandom",
)
_PACKAGE_FOLDER = str(Path(__file__).resolve().parents[1])


@dataclass(frozen=True, slots=True)
class ToolSource:
    """A set of tools that a worker can load, or Python objects that only this process has.

    Args:
        name: What the user called it.
        data: For `planner_eval.execution.tool_loading`: plain data.
        level: The isolation that it gets unless another is asked for.
        stateful: Calls change something, so that each plan needs the tools anew.
        writes: Each plan gets a folder of its own to write in, under ``strict``.
        read: Files and folders that its workers may read.
        names: Folders whose names they may list.
        objects: The tools themselves, when they live in this process.
        make: Makes these anew, as a class does.
        notes: What the user should know of them: facts that a world refuses.
        threads: Calls may start threads, as those of users' own tools may.
    """

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    level: str = "strict"
    stateful: bool = True
    writes: bool = True
    read: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    objects: Mapping[str, Any] | None = None
    make: Callable[[], Mapping[str, Any]] | None = None
    notes: tuple[str, ...] = ()
    threads: bool = True


def tool_source(tools: Any) -> ToolSource:
    """The tool source that a text names, or the one that holds the given Python objects.

    Args:
        tools: A text as in this module's table, a `ToolSource`, a mapping of callables, a module, an
            object with methods, a class, a list of functions.

    Raises:
        ExecutionError: nothing is where the text points.

    >>> tool_source("nestful").level, tool_source({"double": lambda x: 2 * x}).level
    ('process', 'inline')
    """
    if isinstance(tools, ToolSource):
        return tools
    if not isinstance(tools, str):
        return _object_source(tools)
    kind, _, target = tools.partition(":")
    if kind == "nestful":
        return _nestful_source(target)
    if kind == "world":
        source: ToolSource = service("world tools")(target)
        return source
    if kind == "recorded":
        return recorded_source(tools, read_record(Path(target)))
    if kind.endswith(".py"):
        return _file_source(tools, Path(kind), target)
    return _module_source(tools, kind, target)


def _object_source(tools: Any) -> ToolSource:
    try:
        objects = collect_tools(tools)
    except LoadError as error:
        raise ExecutionError(unloadable_message("Python objects", error)) from error
    make = partial(collect_tools, tools) if isinstance(tools, type) else None
    return ToolSource("Python objects", level="inline", stateful=make is not None, objects=objects, make=make)


def _readable_paths(*more: str) -> tuple[str, ...]:
    """What each worker may read: Python, the system's libraries, this package, and what is named."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__)}
    own = sorted(prefix for prefix in prefixes if os.path.realpath(prefix) != "/")
    paths = (*own, *_installed_folders(), *_SYSTEM_PATHS, _PACKAGE_FOLDER, *more)
    return tuple(dict.fromkeys(map(os.path.realpath, paths)))


def _installed_folders() -> list[str]:
    """The folders of installed packages on this process's path."""
    return [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]


def _shipped_source(name: str, data: dict[str, Any], level: str, *, stateful: bool = False) -> ToolSource:
    data = {"name": name, **data}
    return ToolSource(name, data, level, stateful, stateful, _readable_paths(), threads=False)


# ---------------------------------------------------------------- what we ship
def _nestful_source(target: str) -> ToolSource:
    if target in ("", "official", "sane"):
        table = target or "official"
        return _shipped_source(f"nestful:{table}", {"kind": "nestful", "table": table}, "process")
    folder = Path(target)
    if not folder.is_dir():
        raise ExecutionError(f"nestful:{target}: no such folder (nor 'official' or 'sane')")
    files = _function_files(folder)
    name = f"nestful:{target}"
    data: dict[str, Any] = {
        "kind": "nestful-folder",
        "name": name,
        "folder": str(folder.resolve()),
        "files": files,
        "path": _installed_folders(),
    }
    return ToolSource(name, data, read=_readable_paths(str(folder.resolve())))


def _function_files(folder: Path) -> dict[str, str]:
    """Function name → file; the 40 basic functions go before all others, as in the benchmark's executor."""
    from planner_eval.base.json_files import read_json
    from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS

    path = folder / "func_file_map.json"
    try:
        mapped = read_json(read_text(path, advice="it names each function's file", error=ExecutionError))
    except ParseError as error:
        raise ExecutionError(f"{path}: {error.brief}") from error
    if not isinstance(mapped, dict) or not all(isinstance(file, str) for file in mapped.values()):
        raise ExecutionError(f"{path}: expected an object, function name → file name")
    files = {name: file if file.endswith(".py") else f"{file}.py" for name, file in mapped.items()}
    outside = [name for name, file in files.items() if os.path.basename(file) != file]
    if outside:
        raise ExecutionError(f"{path}: {outside[0]!r} is mapped to a file outside the folder")
    basic = (
        dict.fromkeys(OFFICIAL_FUNCTIONS, "basic_functions.py")
        if (folder / "basic_functions.py").is_file()
        else {}
    )
    return {**files, **basic}


def recorded_source(name: str, entries: list[dict[str, Any]]) -> ToolSource:
    """Answers recorded earlier, of which no call runs anything.

    Args:
        name: What the user called it.
        entries: From :func:`planner_eval.execution.record.read_record`.
    """
    return _shipped_source(name, {"kind": "recorded", "entries": entries}, "inline")


def factory_source(name: str, module: str, attribute: str, arguments: dict[str, Any]) -> ToolSource:
    """Tools that a function of this package makes anew for each plan: a world.

    Args:
        name: What the user called it.
        module: A module of planner_eval; it is imported once, before the workers are forked.
        attribute: A callable of that module that returns tools, or an object with methods; the
            object's method ``state`` says what the calls left behind.
        arguments: JSON data, given to it by name.
    """
    data = {
        "kind": "factory",
        "module": module,
        "attribute": attribute,
        "arguments": arguments,
        "preload": [module],
        "path": _installed_folders(),
    }
    return _shipped_source(name, data, "strict", stateful=True)


# ---------------------------------------------------------------- what users bring
def _neighbours(folder: Path) -> tuple[str, ...]:
    """What a tool's file may import from beside itself: Python files and packages, not other files.

    A link opens nothing that lies elsewhere: it counts as the file that it leads to, and only where that
    is a Python file in the same folder or below.

    Args:
        folder: Where the tool's file lies, links resolved.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    neighbours = [os.path.join(folder, name) for name in names]
    return tuple(dict.fromkeys(filter(None, (_importable_path(path, folder) for path in neighbours))))


def _importable_path(path: str, folder: Path) -> str:
    """The real place of a Python file or a package in the folder; "" for anything else."""
    real = os.path.realpath(path)
    if real.endswith(".py") and os.path.isfile(real):
        return real if Path(real).is_relative_to(folder) else ""
    return path if real == path and os.path.isfile(os.path.join(path, "__init__.py")) else ""


def own_files(source: ToolSource) -> list[str]:
    """The files that tools of a user's own are made of, as far as workers may read them."""
    shared, files = set(_readable_paths()), []
    for path in source.read:
        if path in shared:
            continue
        if os.path.isfile(path):
            files.append(path)
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            files += [os.path.join(folder, name) for name in sorted(names) if name.endswith((".py", ".json"))]
    return files


def _file_source(name: str, path: Path, attribute: str) -> ToolSource:
    if not path.is_file():
        raise ExecutionError(f"{path}: no such file")
    path = path.resolve()
    folder = str(path.parent)
    if path.name == "__init__.py" and path.parent.name.isidentifier():
        return _module_source(name, path.parent.name, attribute, [str(path.parents[1])])
    data = {
        "kind": "file",
        "name": name,
        "file": str(path),
        "attribute": attribute,
        "path": [folder, *_installed_folders()],
    }
    return ToolSource(name, data, read=_readable_paths(str(path), *_neighbours(path.parent)), names=(folder,))


def _module_source(name: str, module: str, attribute: str, search_paths: Sequence[str] = ()) -> ToolSource:
    top = module.partition(".")[0]
    search_paths = search_paths or [os.getcwd(), *filter(None, sys.path)]
    spec = PathFinder.find_spec(top, search_paths) if top.isidentifier() else None
    if spec is None or (spec.origin is None and not spec.submodule_search_locations):
        if Path(name).exists():
            raise ExecutionError(
                f"{name} is not a Python file; for recorded outputs use "
                f"'recorded:{name}', for a world 'world:{name}'"
            )
        raise ExecutionError(
            f"{name}: there is no module {top!r} on Python's path; use 'nestful', "
            "'nestful:FOLDER', 'world:NAME', 'recorded:FILE', 'tools.py' or 'package.module:attribute'"
        )
    locations = list(spec.submodule_search_locations or ()) or [str(spec.origin)]
    folders = [str(Path(location).resolve().parent) for location in locations]
    neighbours = [
        neighbour
        for folder in folders
        if folder not in _installed_folders()
        for neighbour in _neighbours(Path(folder))
    ]
    data = {
        "kind": "module",
        "name": name,
        "module": module,
        "attribute": attribute,
        "path": [*folders, *_installed_folders()],
    }
    return ToolSource(name, data, read=_readable_paths(*locations, *neighbours), names=tuple(folders))
