"""From a tool source (plain data) to tools: name → callable. Runs in the worker, after it is confined.

The parent's half, from the user's text to the plain data, is `source`.
"""

from __future__ import annotations

import sys
from _collections_abc import Iterator, Mapping  # collections itself would double what a worker imports

from planner_eval.execution.collect import LoadError, collect
from planner_eval.execution.printed import kind_of, message_of, place_of

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from typing import Any

    from planner_eval.execution.job import Program, Step


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
        location = place_of(error)
        raise LoadError(
            f"{location}: " * bool(location) + f"{kind_of(error)}: {message_of(error)}"
        ) from error


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
    product = _attribute(_import(source["module"]), source)(**source["arguments"])
    return collect(product)


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


class Recorded(dict[str, "Any"]):
    """Answers recorded earlier; a plan gets those of its own calls, and those that hold for any plan.

    What a tool answers depends on what was called before, so the same arguments are no ground for an answer.
    """

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        super().__init__()
        self.own: dict[tuple[str, int], dict[str, Any]] = {}
        self.any: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.plan: tuple[Program | None, str] = (None, "")
        for entry in entries:
            if "plan" in entry:
                self.own[entry["plan"], entry["call"]] = entry
            else:
                self.any.setdefault((entry["tool"], entry["key"]), []).append(entry)

    def answer(self, program: Program, position: int, arguments: list[tuple[str, Any]]) -> Any:
        """What was recorded for a call.

        Args:
            program: The plan.
            position: The call in it.
            arguments: Its arguments.

        Raises:
            CallFailed: ``not-recorded``, or the error that was recorded.
        """
        from planner_eval.execution.bind import CallFailed

        if self.plan[0] is not program:
            self.plan = program, plan_key(program)
        step, key = program.steps[position], argument_key(dict(arguments))
        own = self.own.get((self.plan[1], position))
        entries = [own] if own is not None and own["key"] == key else self._for_any(step, key)
        if not entries:
            raise CallFailed("not-recorded", f"no call of {step.tool!r} with these arguments in this plan")
        if len({_told([entry.get("value"), entry.get("error")]) for entry in entries}) > 1:
            what = f"the answers to {step.tool!r} with these arguments differ, and none says for which plan"
            raise CallFailed("not-recorded", f"{what}; record them again")
        if "error" in entries[0]:
            raise CallFailed(*entries[0]["error"])
        return entries[0]["value"]

    def _for_any(self, step: Step, key: str) -> list[dict[str, Any]]:
        return self.any.get((step.tool, key)) or self.any.get((step.name, key)) or []


def plan_key(program: Program) -> str:
    """Equal for plans that make the same calls in the same places and begin alike, whatever their labels."""
    from hashlib import blake2b

    named = program.manner.binding == "name"
    calls = [
        [step.tool, sorted(step.arguments, key=lambda argument: argument[0]) if named else step.arguments]
        for step in program.steps
    ]
    initial = [] if program.initial is None else [program.initial]
    return blake2b(_told([calls, program.manner.binding, *initial]).encode(), digest_size=16).hexdigest()


def argument_key(arguments: dict[str, Any]) -> str:
    """Equal for equal arguments, whatever the order of names and fields, and however numbers are written.

    >>> argument_key({"b": {"x": 1, "y": 2}, "a": [2]}) == argument_key({"a": [2.0], "b": {"y": 2, "x": 1}})
    True
    """
    return _told(arguments)


def _told(value: Any) -> str:
    from planner_eval.execution.wire import encode

    return encode(_ordered(value), 1 << 40)


def _ordered(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _ordered(value[key]) for key in sorted(value, key=repr)}
    if kind is list or kind is tuple:
        return kind(map(_ordered, value))
    return int(value) if kind is float and value.is_integer() else value


def _recorded(source: dict[str, Any]) -> Mapping[str, Any]:
    return Recorded(source["entries"])


_KINDS = {
    "nestful": _nestful,
    "nestful-folder": _nestful_folder,
    "module": _module,
    "file": _file,
    "factory": _factory,
    "recorded": _recorded,
}
