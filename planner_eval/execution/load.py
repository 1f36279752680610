"""From a tool source (plain data) to tools: name → callable. Runs in the worker, after it is confined.

The parent's half, from the user's text to the plain data, is `source`.
"""

from __future__ import annotations

import sys
from _collections_abc import Iterator, Mapping  # collections itself would double what a worker imports

from planner_eval.execution.printed import place_of

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from typing import Any


class LoadError(Exception):
    """The tools cannot be loaded; the message says why, and `unloadable` of which tools."""


def unloadable(name: str, reason: object) -> str:
    """What is said of tools that cannot be loaded.

    >>> unloadable("tools.py", "there is no 'f'")
    "the tools of tools.py do not load: there is no 'f'"
    """
    return f"the tools of {name} do not load: {reason}"


def load(source: dict[str, Any]) -> Mapping[str, Any]:
    """The tools of a source.

    Raises:
        LoadError: the code does not import, or there is nothing callable where the source points.
    """
    _find_in(source)
    try:
        return _KINDS[source["kind"]](source)
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        place = place_of(error)
        raise LoadError(f"{place}: " * bool(place) + f"{type(error).__name__}: {str(error)[:500]}") from error


def preload(source: dict[str, Any]) -> None:
    """Import, before any fork, what belongs to this package: it need not be imported again for each plan."""
    if source["kind"] == "nestful":
        _import("planner_eval.execution.tools.nestful_basic")
    if source.get("preload"):
        _find_in(source)
    for module in source.get("preload", ()):
        _import(module)


def _find_in(source: dict[str, Any]) -> None:
    """Have modules found where the source says."""
    for folder in reversed(source.get("path", ())):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def _import(module: str) -> Any:
    __import__(module)
    return sys.modules[module]


# ---------------------------------------------------------------- kinds
def _nestful(source: dict[str, Any]) -> Mapping[str, Any]:
    from planner_eval.execution.tools import nestful_basic

    return nestful_basic.SANE if source["table"] == "sane" else nestful_basic.OFFICIAL


def _module(source: dict[str, Any]) -> Mapping[str, Any]:
    return collect(_attribute(_import(source["module"]), source))


def _file(source: dict[str, Any]) -> Mapping[str, Any]:
    return collect(_attribute(execute_file(source["file"]), source))


def _factory(source: dict[str, Any]) -> Mapping[str, Any]:
    made = _attribute(_import(source["module"]), source)(**source["arguments"])
    return collect(made)


def _attribute(module: Any, source: dict[str, Any]) -> Any:
    target = module
    for name in filter(None, (source.get("attribute") or "").split(".")):
        if not hasattr(target, name):
            raise LoadError(f"there is no {name!r}")
        target = getattr(target, name)
    return target


def execute_file(path: str) -> Any:
    """The module in one Python file, under its own name where that is free."""
    name = path.rpartition("/")[2].removesuffix(".py")
    while name in sys.modules and getattr(sys.modules[name], "__file__", None) != path:
        name += "_"
    module = type(sys)(name)
    module.__file__ = path
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    sys.modules[name] = module
    exec(code, module.__dict__)  # the user's own tools, which were asked for by name; never a plan's text
    return module


class OneFileEach(Mapping[str, "Any"]):
    """The published NESTful folder: each function in a file of its own, executed anew for each call.

    That is what the benchmark's own executor does; no function sees another's module.
    """

    def __init__(self, folder: str, files: dict[str, str]) -> None:
        self.folder = folder
        self.files = files
        self.compiled: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        file = self.files[name]
        if file not in self.compiled:
            path = f"{self.folder}/{file}"
            with open(path, "rb") as source:
                self.compiled[file] = compile(source.read(), path, "exec")
        module = type(sys)(file.removesuffix(".py"))
        exec(self.compiled[file], module.__dict__)  # the published functions' own code, in the worker
        return getattr(module, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def _nestful_folder(source: dict[str, Any]) -> Mapping[str, Any]:
    return OneFileEach(source["folder"], source["files"])


class Recorded(Mapping[str, "Any"]):
    """Answers recorded earlier; a call that was not recorded goes to the base tools, if there are any.

    A call recorded several times answers in recorded order, and keeps to the last answer.
    """

    def __init__(self, entries: list[dict[str, Any]], base: Mapping[str, Any]) -> None:
        self.base = base
        self.answers: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for entry in entries:
            tool = self.answers.setdefault(entry["tool"], {})
            tool.setdefault(entry["key"], []).append(entry)

    def __getitem__(self, name: str) -> Any:
        if name not in self.answers:
            return self.base[name]

        def replay(**arguments: Any) -> Any:
            return self.answer(name, arguments)

        return replay

    def answer(self, name: str, arguments: dict[str, Any]) -> Any:
        """What was recorded for this call; the base tool's answer where nothing was."""
        from planner_eval.execution.bind import CallFailed, call

        recorded = self.answers[name].get(argument_key(arguments))
        if recorded is None:
            if name not in self.base:
                raise CallFailed("not-recorded", f"no recorded call of {name!r} has these arguments")
            return call(self.base[name], list(arguments.items()))
        entry = recorded.pop(0) if len(recorded) > 1 else recorded[0]
        if "error" in entry:
            raise CallFailed(*entry["error"])
        return entry["value"]

    def __iter__(self) -> Iterator[str]:
        yield from self.answers
        yield from (name for name in self.base if name not in self.answers)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def argument_key(arguments: dict[str, Any]) -> str:
    """Equal for equal arguments, whatever their order.

    >>> argument_key({"b": 1, "a": [2]}) == argument_key({"a": [2], "b": 1})
    True
    """
    from planner_eval.execution.wire import encode

    return encode(dict(sorted(arguments.items())))


def _recorded(source: dict[str, Any]) -> Mapping[str, Any]:
    return Recorded(source["entries"], load(source["base"]) if source.get("base") else {})


# ---------------------------------------------------------------- from objects to tools
def collect(found: Any) -> Mapping[str, Any]:
    """Tools from whatever the source points at.

    A mapping is taken as it is, its inner mappings and objects as ``outer.inner``; a module gives its
    ``TOOLS`` or else its own public functions; a class is instantiated; an object gives its public
    methods; a list gives its functions by name; one function is one tool.

    Raises:
        LoadError: nothing there can be called.
    """
    tools = _tools_of(found)
    if not tools:
        raise LoadError("nothing there can be called: expected functions, a mapping, a class or an object")
    return tools


def _tools_of(found: Any) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return _flattened(found)
    if isinstance(found, type(sys)):
        if hasattr(found, "TOOLS"):
            return _tools_of(found.TOOLS)
        functions = {n: f for n, f in vars(found).items() if not n.startswith("_") and callable(f)}
        own = {n: f for n, f in functions.items() if getattr(f, "__module__", None) == found.__name__}
        return {n: f for n, f in own.items() if not isinstance(f, type)}
    if isinstance(found, type):
        return _tools_of(found())
    if isinstance(found, (list, tuple)):
        return {function.__name__: function for function in found if callable(function)}
    if hasattr(found, "tools") and isinstance(found.tools, Mapping):
        return _WithState(_flattened(found.tools), found)
    if hasattr(found, "__code__") or (callable(found) and hasattr(found, "__name__")):
        return {found.__name__: found}
    methods = {n: getattr(found, n) for n in dir(found) if not n.startswith("_") and n != "state"}
    return _WithState({n: m for n, m in methods.items() if callable(m)}, found)


class _WithState(dict[str, "Any"]):
    """Tools whose owner can say, with a method ``state``, what the calls left behind."""

    def __init__(self, tools: Mapping[str, Any], owner: Any) -> None:
        super().__init__(tools)
        self.owner = owner


def state_of(tools: Mapping[str, Any]) -> Any:
    """What the tools' owner says of its state after the plan; None where it says nothing."""
    state = getattr(getattr(tools, "owner", None), "state", None)
    return state() if callable(state) else None


def _flattened(tools: Mapping[str, Any]) -> Mapping[str, Any]:
    flat: dict[str, Any] = {}
    for name, tool in tools.items():
        if callable(tool):
            flat[str(name)] = tool
        else:
            flat.update({f"{name}.{inner}": function for inner, function in _tools_of(tool).items()})
    return flat


_KINDS = {
    "nestful": _nestful,
    "nestful-folder": _nestful_folder,
    "module": _module,
    "file": _file,
    "factory": _factory,
    "recorded": _recorded,
}
