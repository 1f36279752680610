"""What the variables of a program hold that is no value, and functions that are no tools.

A list or an object is known by its identity, which its aliases and what holds it share; a result by its
reference.
"""

from __future__ import annotations

import builtins
import sys
import tomllib
from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

from planner_eval.base.resources import read
from planner_eval.plan.model import RawComputed, RawRef, Value


class Unknown:
    """In the place of a value that cannot be known.

    Args:
        reason: Why.
        at: Where the cause stands.
        text: In which text.
        of: What it is made of: what changes it may change these.
        is_part: It may be one of these, or lie in one, so that its methods may be tools.
    """

    def __init__(
        self,
        reason: str = "the program computes it",
        at: int = 0,
        text: str = "",
        of: Iterable[Any] = (),
        *,
        is_part: bool = False,
    ) -> None:
        self.reason = reason
        self.at = at
        self.text = text
        self.of = tuple(value for value in of if isinstance(value, (RawRef, list, dict, Unknown)))
        self.tools = max(map(tool_methods, of), default=0) if is_part else 0


VariableValue: TypeAlias = Value | Unknown
ABSENT = Unknown()
"""A variable that holds nothing yet."""


class Changed(Unknown):
    """What is no longer what it was, or not on each way; its reason is told wherever it is used."""


class Spread(Unknown):
    """Arguments that a star spreads, of which it is not known how many there are."""


class OwnFunction(Unknown):
    """A function of the program's own, a lambda: called through a variable it is not followed."""


class ToolName(Unknown):
    """A name that is imported from a module that is no library, or that nothing assigns: a text, or a tool.

    Args:
        name: The name, and the way behind it; of an imported one what it is called where it comes from.
        is_imported: Whether it is imported.
    """

    def __init__(self, name: str, *, is_imported: bool = False) -> None:
        super().__init__(f"{name!r} is imported by the program")
        self.name = name
        self.is_imported = is_imported
        self.tools = 1 + is_imported


def tool_methods(value: VariableValue) -> int:
    """Which methods of a value may be tools: 0 none, 1 all but those of data, 2 all."""
    return value.tools if isinstance(value, Unknown) else int(isinstance(value, (RawRef, RawComputed)))


# ----------------------------------------------------------------------
# Functions that are no tools, by the names that programs have for them.
_NAMES = tomllib.loads(read("data/functions.toml"))
_BUILTIN_OPTIONS: dict[str, list[str]] = _NAMES.pop("builtin_options")
_SETS: dict[str, frozenset[str]] = {table: frozenset(names) for table, names in _NAMES.items()}
DISPLAY_FUNCTIONS = _SETS["display_functions"]
"""Calls that show a value and are looked through; smolagents' final_answer ends a program."""
BUILTINS = _SETS["builtins"]
"""Functions of the languages themselves: no tools where a program calls them on its own values."""
EXITS = _SETS["exits"]
LIBRARY_FUNCTIONS = _SETS["library_functions"]
SELF_NAMES = _SETS["self_names"]
MUTATING_METHODS = _SETS["mutating_methods"]
MUTATING_FUNCTIONS = _SETS["mutating_functions"]
PASS_THROUGH_FUNCTIONS = _SETS["pass_through_functions"]
HIGHER_ORDER_FUNCTIONS = _SETS["higher_order_functions"]
METHOD_OPTIONS = _SETS["method_options"]
KNOWN_PACKAGES = _SETS["known_packages"]


def is_builtin_call(name: str, keys: Collection[str | None]) -> bool:
    """Whether a call is the language's own function's, and of no tool that has its name.

    >>> is_builtin_call("zip", [None, "strict"]), is_builtin_call("max", ["numbers"])
    (True, False)
    """
    named = {key for key in keys if key is not None}
    is_own = named <= {*_BUILTIN_OPTIONS.get(name, ())} and (None in keys or "iterable" in named)
    return name in BUILTINS and (not named or is_own)


EXCEPTIONS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
)
"""Python's exceptions: what a program raises is no tool."""


DATA_METHODS = _SETS["reading_methods"].union(
    *(
        [name for name in dir(kind) if name[0] != "_"]
        for kind in (str, bytes, int, float, list, tuple, dict, set)
    )
)
"""Methods of the values that tools give, and of texts, lists and objects: they look, and call no tool."""


def is_library(module: str) -> bool:
    """Whether a module is Python's own or a known package: what is imported from any other may be a tool.

    >>> is_library("os.path"), is_library("numpy"), is_library("tools"), is_library("")
    (True, True, False, False)
    """
    root = module.split(".", 1)[0]
    return root in KNOWN_PACKAGES or root in sys.stdlib_module_names
