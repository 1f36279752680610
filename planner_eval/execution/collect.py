"""From what a tool source points at to tools: name → callable; and their state, given and told.

A tool's owner (a class's instance, an object, a module) is given a state by its function ``set_state`` and
tells it by ``state``; neither is a tool. ``_load_scenario``, as in BFCL's classes, stands for ``set_state``.
"""

from __future__ import annotations

import sys
from _collections_abc import Mapping  # collections itself would double what a worker imports

from planner_eval.execution.bind import takes_one
from planner_eval.execution.printed import kind_of, message_of, place_of

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_DEEPEST = 60
"""How deep the fields of objects in a state are told."""


class LoadError(Exception):
    """The tools cannot be loaded; the message says why, and `unloadable` of which tools."""


class StateError(Exception):
    """The tools cannot begin in a state, or do not say theirs; the message says why."""


def collect(target: Any) -> Mapping[str, Any]:
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
        raise LoadError("nothing there can be called: expected functions, a mapping, a class or an object")
    return tools


def _tools_of(target: Any) -> Mapping[str, Any]:
    if isinstance(target, Mapping):
        return _flattened(target)
    if isinstance(target, type(sys)):
        return _of_module(target)
    if isinstance(target, type):
        return _tools_of(target())
    if isinstance(target, (list, tuple)):
        return _listed(target)
    if hasattr(target, "tools") and isinstance(target.tools, Mapping):
        return Owned(_flattened(target.tools), {"": target})
    if hasattr(target, "__code__") or (callable(target) and hasattr(target, "__name__")):
        return {target.__name__: target}
    methods = {n: getattr(target, n) for n in dir(target) if not n.startswith("_") and n != "state"}
    return Owned({n: m for n, m in methods.items() if callable(m) and not _sets(n, m)}, {"": target})


def _of_module(module: Any) -> Mapping[str, Any]:
    """A module's tools; one with ``set_state`` owns a state, which its ``state`` tells."""
    functions = {n: f for n, f in vars(module).items() if not n.startswith("_") and callable(f)}
    owns = any(_sets(name, function) for name, function in functions.items())
    if hasattr(module, "TOOLS"):
        tools = _tools_of(module.TOOLS)
        return tools if isinstance(tools, Owned) or not owns else Owned(tools, {"": module})
    own = {n: f for n, f in functions.items() if getattr(f, "__module__", None) == module.__name__}
    if owns:
        own = {n: f for n, f in own.items() if n not in ("state", "set_state")}
    tools = {n: f for n, f in own.items() if not isinstance(f, type)}
    return Owned(tools, {"": module}) if owns else tools


def _sets(name: str, function: Any) -> bool:
    """Whether it is what takes a state: a tool of that name takes more, a device and its state, say."""
    return name == "set_state" and takes_one(function)


def _listed(entries: list[Any] | tuple[Any, ...]) -> Mapping[str, Any]:
    """The functions of a list by name, and the methods of its classes and objects, each with its state."""
    tools: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    for entry in entries:
        named = callable(entry) and hasattr(entry, "__name__") and not isinstance(entry, type)
        more: Mapping[str, Any] = {entry.__name__: entry} if named else _tools_of(entry)
        for name in more:
            if not named and name in tools:
                raise LoadError(f"two of the tools listed are named {name!r}: give them other names")
        if isinstance(more, Owned):
            owners.update({type(owner).__name__: owner for owner in more.owners.values()})
        tools.update(more)
    return Owned(tools, owners) if owners else tools


def _flattened(tools: Mapping[str, Any]) -> Mapping[str, Any]:
    flat: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    for name, tool in tools.items():
        if callable(tool):
            flat[str(name)] = tool
        else:
            inner = _tools_of(tool)
            flat.update({f"{name}.{inner_name}": function for inner_name, function in inner.items()})
            if isinstance(inner, Owned):
                owners[str(name)] = inner.owners[""] if [*inner.owners] == [""] else inner
    return Owned(flat, owners) if owners else flat


# ---------------------------------------------------------------- state
class Owned(dict[str, "Any"]):
    """Tools with those who own their state, by name; the one owner of all of them is named "".

    Args:
        tools: The tools.
        owners: Objects, modules, or others like this.
    """

    def __init__(self, tools: Mapping[str, Any], owners: Mapping[str, Any]) -> None:
        super().__init__(tools)
        self.owners = dict(owners)


def begin(tools: Mapping[str, Any], initial: Any) -> None:
    """Have tools begin in a state, which may be theirs to change; None is their own first one.

    Args:
        tools: From `collect`; methods that come by the state are looked up anew.
        initial: A JSON object; of several owners each one's state under its name.

    Raises:
        StateError: it is no object, or they take no state, or refuse this one.
    """
    owners = getattr(tools, "owners", {})
    if initial is not None and not isinstance(initial, Mapping):
        raise StateError(f"an object is expected, found {_kind(initial)}")
    if initial is None and not any(map(_scenario, owners.values())):
        return
    if hasattr(tools, "answer"):
        return  # recorded answers: the state is part of the plan that they are recorded for
    try:
        _begin(tools, owners, initial)
    except StateError:
        raise
    except (Exception, SystemExit) as error:
        location = place_of(error)
        where = f"{location}: " * bool(location)
        raise StateError(f"refused: {where}{kind_of(error)}: {message_of(error)}") from error


def _begin(tools: Mapping[str, Any], owners: Mapping[str, Any], initial: Any) -> None:
    if not owners or [*owners] == [""]:
        _give(tools, owners.get(""), initial)
        return
    if initial is not None and not isinstance(initial, dict):
        raise StateError(f"expected an object, a state for each of {_told(owners)}; found {_kind(initial)}")
    for name in initial or ():
        if name not in owners:
            raise StateError(f"it names {name!r}, which is none of {_told(owners)}")
    for name, owner in owners.items():
        if initial is not None and name in initial:
            _give(tools, owner, initial[name], name)
        elif _scenario(owner):
            _give(tools, owner, None, name)


def _give(tools: Mapping[str, Any], owner: Any, state: Any, name: str = "") -> None:
    if isinstance(owner, Owned):
        _begin(owner, owner.owners, state)
        return
    give = getattr(owner, "set_state", None)
    if not callable(give) or not _sets("set_state", give):
        give = _scenario(owner)
    if give is None:
        whose = f"{name} has" if name else "the tools have"
        raise StateError(f"{whose} no set_state(state), which would take it")
    give({} if state is None else state)
    anew = getattr(owner, "tools", None)
    if isinstance(anew, Mapping) and isinstance(tools, dict):
        lead = f"{name}." if name and any(tool.startswith(f"{name}.") for tool in tools) else ""
        tools.update({f"{lead}{tool_name}": function for tool_name, function in _flattened(anew).items()})


def _scenario(owner: Any) -> Callable[[Any], object] | None:
    """What a class of BFCL takes its state by; such a class has no state before it is called, if with {}."""
    loader = getattr(owner, "_load_scenario", None)
    return loader if callable(loader) and not isinstance(owner, type(sys)) else None


def state_of(tools: Mapping[str, Any]) -> Any:
    """What the tools' owners say of their state; None where they say nothing.

    Of an owner that takes a state and has no ``state`` it is its public attributes.

    Raises:
        StateError: asking for it failed.
    """
    owners = getattr(tools, "owners", {})
    try:
        if [*owners] == [""]:
            return _fields(_state(owners[""]), 0, ())
        states = {name: _fields(_state(owner), 0, ()) for name, owner in owners.items()}
    except (Exception, SystemExit) as error:
        raise StateError(f"asked for the tools' state: {kind_of(error)}: {message_of(error)}") from error
    return {name: state for name, state in states.items() if state is not None} or None


def _state(owner: Any) -> Any:
    if isinstance(owner, Owned):
        return state_of(owner)
    state = getattr(owner, "state", None)
    if callable(state):
        return state()
    takes = _scenario(owner) or callable(getattr(owner, "set_state", None))
    if not takes or isinstance(owner, type(sys)) or not hasattr(owner, "__dict__"):
        return None
    return {name: attribute for name, attribute in vars(owner).items() if not name.startswith("_")}


def _fields(value: Any, depth: int, inside: tuple[int, ...]) -> Any:
    """A state with the public fields of objects in place of these, which would only be described."""
    kind = type(value)
    if kind in (str, int, float, bool, type(None)) or depth > _DEEPEST:
        return value
    if id(value) in inside:
        return "(what holds it)"
    inner = (*inside, id(value))
    if kind is list or kind is tuple:
        return kind(_fields(item, depth + 1, inner) for item in value)
    if kind is dict:
        return {key: _fields(item, depth + 1, inner) for key, item in value.items()}
    if kind.__module__ == "builtins" or not isinstance(getattr(value, "__dict__", None), dict):
        return value
    public = {name: attribute for name, attribute in vars(value).items() if not name.startswith("_")}
    return {kind.__name__: _fields(public, depth + 1, inner)} if public else value


def _told(owners: Mapping[str, Any]) -> str:
    return ", ".join(owners)


def _kind(value: Any) -> str:
    return "an array" if type(value) is list else repr(value)[:40]
