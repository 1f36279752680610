"""From a tool source (plain data) to tools: name → callable. Runs in the worker, after it is confined.

The parent's half, from the user's text to the plain data, is `source`.
"""

from __future__ import annotations

import sys
from _collections_abc import Container, Iterator, Mapping

from planner_eval.execution.bind import takes_one_argument
from planner_eval.execution.printed import exception_location, exception_message, exception_name

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from planner_eval.execution.sandbox.job import Program

    Tools: TypeAlias = Mapping[str, Any]
    """Tools by name."""
    SourceData: TypeAlias = dict[str, Any]
    """A tool source as plain data: its ``kind``, and what that kind needs."""


# ----------------------------------------------------------------------
# From what a tool source points at to tools: name → callable; and their state, given and told.
#
# A tool's owner (a class's instance, an object, a module) is given a state by its function ``set_state``
# and tells it by ``state``; neither is a tool. ``_load_scenario``, as in BFCL's classes, stands for
# ``set_state``.
_MAX_STATE_DEPTH = 60
"""How deep the fields of objects in a state are told."""


class LoadError(Exception):
    """The tools cannot be loaded; the message says why, and `unloadable_message` of which tools."""


class StateError(Exception):
    """The tools cannot begin in a state, or do not say theirs; the message says why."""


def collect_tools(target: Any) -> Tools:
    """Tools from whatever the source points at.

    A mapping is taken as it is, its inner mappings and objects as ``outer.inner``; a module gives its
    ``TOOLS`` or else its own public functions; a class is instantiated; an object gives its public
    methods; a list gives its functions by name, and the methods of its classes and objects; one function
    is one tool.

    Raises:
        LoadError: nothing there can be called.
    """
    tools = _tools_of(target)
    if not tools:
        raise LoadError("nothing callable there: expected functions, a mapping, a class or an object")
    return tools


def _tools_of(target: Any) -> Tools:
    if isinstance(target, Mapping):
        return _flatten_mapping(target)
    if isinstance(target, type(sys)):
        return _tools_of_module(target)
    if isinstance(target, type):
        return _tools_of(target())
    if isinstance(target, (list, tuple)):
        return _tools_of_list(target)
    if hasattr(target, "tools") and isinstance(target.tools, Mapping):
        return OwnedTools(_flatten_mapping(target.tools), {"": target})
    if hasattr(target, "__code__") or (callable(target) and hasattr(target, "__name__")):
        return {target.__name__: target}
    methods = {n: getattr(target, n) for n in dir(target) if not n.startswith("_") and n != "state"}
    return OwnedTools(
        {n: m for n, m in methods.items() if callable(m) and not _is_state_setter(n, m)}, {"": target}
    )


def _tools_of_module(module: Any) -> Tools:
    """A module's tools; one with ``set_state`` owns a state, which its ``state`` tells."""
    functions = {n: f for n, f in vars(module).items() if not n.startswith("_") and callable(f)}
    owns = any(_is_state_setter(name, function) for name, function in functions.items())
    if hasattr(module, "TOOLS"):
        tools = _tools_of(module.TOOLS)
        return tools if isinstance(tools, OwnedTools) or not owns else OwnedTools(tools, {"": module})
    own = {n: f for n, f in functions.items() if getattr(f, "__module__", None) == module.__name__}
    if owns:
        own = {n: f for n, f in own.items() if n not in ("state", "set_state")}
    tools = {n: f for n, f in own.items() if not isinstance(f, type)}
    return OwnedTools(tools, {"": module}) if owns else tools


def _is_state_setter(name: str, function: Any) -> bool:
    """Whether it is what takes a state: a tool of that name takes more, a device and its state, say."""
    return name == "set_state" and takes_one_argument(function)


def _tools_of_list(entries: list[Any] | tuple[Any, ...]) -> Tools:
    """The functions of a list by name, and the methods of its classes and objects, each with its state."""
    tools: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    for entry in entries:
        named = callable(entry) and hasattr(entry, "__name__") and not isinstance(entry, type)
        more: Tools = {entry.__name__: entry} if named else _tools_of(entry)
        for name in more:
            if not named and name in tools:
                raise LoadError(f"two tools are named {name!r}: rename one")
        if isinstance(more, OwnedTools):
            owners.update({type(owner).__name__: owner for owner in more.owners.values()})
        tools.update(more)
    return OwnedTools(tools, owners) if owners else tools


def _flatten_mapping(tools: Tools) -> Tools:
    flat: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    for name, tool in tools.items():
        if callable(tool):
            flat[str(name)] = tool
        else:
            inner = _tools_of(tool)
            flat.update({f"{name}.{inner_name}": function for inner_name, function in inner.items()})
            if isinstance(inner, OwnedTools):
                owners[str(name)] = inner.owners[""] if [*inner.owners] == [""] else inner
    return OwnedTools(flat, owners) if owners else flat


# ---------------------------------------------------------------- state
class OwnedTools(dict[str, "Any"]):
    """Tools with those who own their state, by name; the one owner of all of them is named "".

    Args:
        tools: The tools.
        owners: Objects, modules, or others like this.
    """

    def __init__(self, tools: Tools, owners: Tools) -> None:
        super().__init__(tools)
        self.owners = dict(owners)


def set_initial_state(tools: Tools, initial: Any) -> None:
    """Have tools begin in a state, which may be theirs to change; None is their own first one.

    Args:
        tools: From `collect_tools`; methods that come by the state are looked up anew.
        initial: A JSON object; of several owners each one's state under its name.

    Raises:
        StateError: it is no object, or they take no state, or refuse this one.
    """
    owners = getattr(tools, "owners", {})
    if initial is not None and not isinstance(initial, Mapping):
        raise StateError(f"expected an object, found {_describe_value(initial)}")
    if initial is None and not any(map(_scenario_loader, owners.values())):
        return
    if hasattr(tools, "answer"):
        return  # recorded answers: the state is part of the plan that they are recorded for
    try:
        _set_states(tools, owners, initial)
    except StateError:
        raise
    except (Exception, SystemExit) as error:
        location = exception_location(error)
        where = f"{location}: " * bool(location)
        raise StateError(f"refused: {where}{exception_name(error)}: {exception_message(error)}") from error


def _set_states(tools: Tools, owners: Tools, initial: Any) -> None:
    if not owners or [*owners] == [""]:
        _set_owner_state(tools, owners.get(""), initial)
        return
    if initial is not None and not isinstance(initial, dict):
        raise StateError(
            f"expected an object, a state for each of {', '.join(owners)}; found {_describe_value(initial)}"
        )
    for name in initial or ():
        if name not in owners:
            raise StateError(f"it names {name!r}, which is not one of {', '.join(owners)}")
    for name, owner in owners.items():
        if initial is not None and name in initial:
            _set_owner_state(tools, owner, initial[name], name)
        elif _scenario_loader(owner):
            _set_owner_state(tools, owner, None, name)


def _set_owner_state(tools: Tools, owner: Any, state: Any, name: str = "") -> None:
    if isinstance(owner, OwnedTools):
        _set_states(owner, owner.owners, state)
        return
    give = getattr(owner, "set_state", None)
    if not callable(give) or not _is_state_setter("set_state", give):
        give = _scenario_loader(owner)
    if give is None:
        whose = f"{name} has" if name else "the tools have"
        raise StateError(f"{whose} no set_state(state), which sets an initial state")
    give({} if state is None else state)
    anew = getattr(owner, "tools", None)
    if isinstance(anew, Mapping) and isinstance(tools, dict):
        lead = f"{name}." if name and any(tool.startswith(f"{name}.") for tool in tools) else ""
        tools.update(
            {f"{lead}{tool_name}": function for tool_name, function in _flatten_mapping(anew).items()}
        )


def _scenario_loader(owner: Any) -> Callable[[Any], object] | None:
    """What a class of BFCL takes its state by; such a class has no state before it is called, if with {}."""
    loader = getattr(owner, "_load_scenario", None)
    return loader if callable(loader) and not isinstance(owner, type(sys)) else None


def state_of(tools: Tools) -> Any:
    """What the tools' owners say of their state; None where they say nothing.

    Of an object that has no ``state`` it is its public attributes, if it has any.

    Raises:
        StateError: asking for it failed.
    """
    owners = getattr(tools, "owners", {})
    try:
        if [*owners] == [""]:
            return _expand_objects(_owner_state(owners[""]), 0, ())
        states = {name: _expand_objects(_owner_state(owner), 0, ()) for name, owner in owners.items()}
    except (Exception, SystemExit) as error:
        raise StateError(
            f"asked for the tools' state: {exception_name(error)}: {exception_message(error)}"
        ) from error
    return {name: state for name, state in states.items() if state is not None} or None


def _owner_state(owner: Any) -> Any:
    if isinstance(owner, OwnedTools):
        return state_of(owner)
    state = getattr(owner, "state", None)
    if callable(state):
        return state()
    if isinstance(owner, type(sys)) or not hasattr(owner, "__dict__"):
        return None
    public = {
        name: attribute
        for name, attribute in vars(owner).items()
        if not name.startswith("_") and not callable(attribute)
    }
    takes = _scenario_loader(owner) or callable(getattr(owner, "set_state", None))
    return public if public or takes else None


def _expand_objects(value: Any, depth: int, inside: tuple[int, ...]) -> Any:
    """A state with the public fields of objects in place of these, which would only be described."""
    kind = type(value)
    if kind in (str, int, float, bool, type(None)) or depth > _MAX_STATE_DEPTH:
        return value
    if id(value) in inside:
        return "(what holds it)"
    inner = (*inside, id(value))
    if kind is list or kind is tuple:
        return kind(_expand_objects(item, depth + 1, inner) for item in value)
    if kind is dict:
        return {key: _expand_objects(item, depth + 1, inner) for key, item in value.items()}
    if kind.__module__ == "builtins" or not isinstance(getattr(value, "__dict__", None), dict):
        return value
    public = {name: attribute for name, attribute in vars(value).items() if not name.startswith("_")}
    return {kind.__name__: _expand_objects(public, depth + 1, inner)} if public else value


def _describe_value(value: Any) -> str:
    return "an array" if type(value) is list else repr(value)[:40]


# ----------------------------------------------------------------------
# From a tool source (plain data) to tools: name → callable. Runs in the worker, after it is confined.
def unloadable_message(name: str, reason: object) -> str:
    """What is said of tools that cannot be loaded.

    >>> unloadable_message("tools.py", "there is no 'f'")
    "the tools of tools.py do not load: there is no 'f'"
    """
    return f"the tools of {name} do not load: {reason}"


def load(source: SourceData) -> Tools:
    """The tools of a source.

    Raises:
        LoadError: the code does not import, or there is nothing callable where the source points.
    """
    _add_search_paths(source)
    try:
        return _LOADERS[source["kind"]](source)
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        location = exception_location(error)
        raise LoadError(
            f"{location}: " * bool(location) + f"{exception_name(error)}: {exception_message(error)}"
        ) from error


def preload(source: SourceData) -> None:
    """Import, before any fork, what belongs to this package: it need not be imported again for each plan."""
    if source["kind"] == "nestful":
        _import_module("planner_eval.execution.nestful_basic")
    if source.get("preload"):
        _add_search_paths(source)
    for module in source.get("preload", ()):
        _import_module(module)


def forget_modules(known: Container[str]) -> None:
    """Have the modules of a user's own folders loaded anew; installed ones stay.

    Args:
        known: The modules that were there before any tools were loaded.
    """
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        is_own = name.partition(".")[0] == "planner_eval"
        if name not in known and file and not is_own and not any(part in file for part in _INSTALLED):
            del sys.modules[name]


_INSTALLED = ("/site-packages/", "/dist-packages/", f"{sys.base_prefix}/lib/")


def _add_search_paths(source: SourceData) -> None:
    """Have modules found where the source says."""
    for folder in reversed(source.get("path", ())):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def _import_module(module: str) -> Any:
    __import__(module)
    return sys.modules[module]


# ---------------------------------------------------------------- kinds
def _load_nestful(source: SourceData) -> Tools:
    from planner_eval.execution import nestful_basic

    return nestful_basic.SANE_FUNCTIONS if source["table"] == "sane" else nestful_basic.OFFICIAL_FUNCTIONS


def _find_attribute(module: Any, source: SourceData) -> Any:
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


class NestfulFolderTools(Mapping[str, "Any"]):
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


class RecordedAnswers(dict[str, "Any"]):
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
        for_any = self.any.get((step.tool, key)) or self.any.get((step.name, key)) or []
        entries = [own] if own is not None and own["key"] == key else for_any
        if not entries:
            raise CallFailed("not-recorded", f"no call of {step.tool!r} with these arguments in this plan")
        if len({_canonical_text([entry.get("value"), entry.get("error")]) for entry in entries}) > 1:
            what = (
                f"the recorded outputs of {step.tool!r} with these arguments differ, and none names its plan"
            )
            raise CallFailed("not-recorded", f"{what}; record them again")
        if "error" in entries[0]:
            raise CallFailed(*entries[0]["error"])
        return entries[0]["value"]


def plan_key(program: Program) -> str:
    """Equal for plans that make the same calls in the same places and begin alike, whatever their labels."""
    from hashlib import blake2b

    named = program.manner.binding == "name"
    calls = [
        [step.tool, sorted(step.arguments, key=lambda argument: argument[0]) if named else step.arguments]
        for step in program.steps
    ]
    initial = [] if program.initial is None else [program.initial]
    return blake2b(
        _canonical_text([calls, program.manner.binding, *initial]).encode(), digest_size=16
    ).hexdigest()


def argument_key(arguments: dict[str, Any]) -> str:
    """Equal for equal arguments, whatever the order of names and fields, and however numbers are written.

    >>> argument_key({"b": {"x": 1, "y": 2}, "a": [2]}) == argument_key({"a": [2.0], "b": {"y": 2, "x": 1}})
    True
    """
    return _canonical_text(arguments)


def _canonical_text(value: Any) -> str:
    from planner_eval.execution.sandbox.wire import encode

    return encode(_sort_keys(value), 1 << 40)


def _sort_keys(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _sort_keys(value[key]) for key in sorted(value, key=repr)}
    if kind is list or kind is tuple:
        return kind(map(_sort_keys, value))
    return int(value) if kind is float and value.is_integer() else value


_LOADERS: dict[str, Callable[[SourceData], Tools]] = {
    "nestful": _load_nestful,
    "nestful-folder": lambda source: NestfulFolderTools(source["folder"], source["files"]),
    "module": lambda source: collect_tools(_find_attribute(_import_module(source["module"]), source)),
    "file": lambda source: collect_tools(_find_attribute(execute_file(source["file"]), source)),
    "factory": lambda source: collect_tools(
        _find_attribute(_import_module(source["module"]), source)(**source["arguments"])
    ),
    "recorded": lambda source: RecordedAnswers(source["entries"]),
}
