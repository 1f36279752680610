"""What the variables of a program hold, what it changes in place, and functions that are no tools.

A branch is followed, what it wrote is noted and taken back, then the other one: where both meet, a variable
that holds the same on each is sure, any other is not.
"""

from __future__ import annotations

import builtins
import sys
import tomllib
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import LimitError
from planner_eval.base.json_text import map_object_values, object_items
from planner_eval.base.resources import read
from planner_eval.plan.model import Path, RawComputed, RawRef, Value


# ----------------------------------------------------------------------
# What the variables of a program hold: values, what cannot be known, and what several ways make of them.
class Unknown:
    """What a variable holds that cannot be known.

    Args:
        of: What it may be a part of, as what an expression makes: a change of it is a change of these.
    """

    of: tuple[VariableValue, ...] = ()
    objects: frozenset[type] = frozenset()
    """The types of what it may be whose methods may be tools."""

    def __init__(self, of: Iterable[VariableValue] = ()) -> None:
        self.of = tuple(value for value in of if isinstance(value, (RawRef, list, dict, Unknown)))


UNKNOWN = Unknown()
OWN_FUNCTION = Unknown()
"""A function of the program's own, a lambda: called through a variable it is not followed."""
ABSENT = Unknown()
"""A variable that holds nothing yet."""


class ImportedName(Unknown):
    """What a name holds that is imported from a module that is no library: a tool may be called by it.

    Args:
        name: What it is called where it is imported from.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.objects = frozenset({ImportedName})


class UnassignedName(Unknown):
    """What a variable holds that was given a name which nothing assigns: a text, or the tool of that name.

    Args:
        text: The name, and the way behind it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.objects = frozenset({UnassignedName})


class OpaqueObject(Unknown):
    """One of several things, or a part of what a call gave: its methods may be tools."""

    def __init__(self, of: Iterable[VariableValue]) -> None:
        super().__init__(of)
        self.objects = object_types(self.of)


class UnsureValue(OpaqueObject):
    """What a variable held that was changed, or that another way may change.

    Args:
        reason: Which construct is to blame, for messages.
        offset: Where it stands.
        text: In which text.
        of: What it may be.
    """

    def __init__(self, reason: str, offset: int, text: str, of: Iterable[VariableValue] = ()) -> None:
        super().__init__(of)
        self.reason = reason
        self.at = offset
        self.text = text


VariableValue: TypeAlias = Value | Unknown


def count_values(value: Any, most: int) -> int:
    """How many values a value holds at any depth; counting stops when there are more than `most`."""
    count = 0
    waiting = [value]
    while waiting and count <= most:
        item = waiting.pop()
        count += 1
        if isinstance(item, (dict, list)):
            waiting += item.values() if isinstance(item, dict) else item
    return count


def object_types(values: Iterable[VariableValue]) -> frozenset[type]:
    """The types of what values may be whose methods may be tools: data has none."""
    return frozenset().union(
        *(
            value.objects if isinstance(value, Unknown) else {type(value)} & {RawRef, RawComputed}
            for value in values
        )
    )


IMPORTED_OBJECT = OpaqueObject(())
IMPORTED_OBJECT.objects = frozenset({ImportedName})
"""An object of an imported class."""


class NotKnown(NamedTuple):
    """In the place of a value that cannot be known.

    Args:
        reason: Why.
        at: The place to point to; None where the value stands.
        holds: What a variable holds that is given it.
    """

    reason: str
    at: int | None
    holds: Unknown = UNKNOWN


def stored_value(value: VariableValue | NotKnown) -> VariableValue:
    """What a variable holds that is given what was read."""
    return value.holds if isinstance(value, NotKnown) else value


class Scope(ChainMap[str, VariableValue]):
    """The variables of a function that is followed: its own, which end with it, and those around it.

    What it declares ``global`` or ``nonlocal`` stands elsewhere, and is read and written there.
    """

    def __init__(self, *maps: MutableMapping[str, VariableValue]) -> None:
        super().__init__(*maps)
        self.elsewhere: dict[str, MutableMapping[str, VariableValue]] = {}

    def __getitem__(self, name: str) -> VariableValue:
        return self.elsewhere[name][name] if name in self.elsewhere else super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self.elsewhere[name] if name in self.elsewhere else super().__contains__(name)

    def enclosing(self, name: str) -> MutableMapping[str, VariableValue]:
        """The variables of the nearest function around this one that has the name."""
        around = self.maps[1]
        while isinstance(around, Scope) and name not in around.maps[0] and name not in around.elsewhere:
            around = around.maps[1]
        return around if isinstance(around, Scope) else self.maps[1]


class _Write(NamedTuple):
    """A variable that was written, and a value of it: the one before, or the one at a way's end."""

    scope: MutableMapping[str, VariableValue]
    name: str
    value: VariableValue


BranchWrites: TypeAlias = dict[tuple[int, str], _Write]
"""What a way wrote, by the variable."""


class BranchLog:
    """Notes what is written on a way, so that it can be taken back.

    >>> held, ways = {"x": 1}, BranchLog()
    >>> mark = ways.part()
    >>> ways.put(held, "x", 2)
    >>> taken = ways.take(mark)
    >>> held, [write.value for write in taken.values()]
    ({'x': 1}, [2])
    >>> ways.meet([taken, {}], UnsureValue("depends on a branch", 0, ""))
    >>> held["x"].reason
    "'x' depends on a branch"
    """

    def __init__(self) -> None:
        self.open = 0
        self.log: list[_Write] = []

    def put(self, where: MutableMapping[str, VariableValue], name: str, value: VariableValue) -> None:
        """Write a variable where it is written that is given a value."""
        while isinstance(where, Scope):
            where = where.elsewhere.get(name, where.maps[0])
        if self.open:
            self.log.append(_Write(where, name, where.get(name, ABSENT)))
        where[name] = value

    def part(self) -> int:
        """Begin to take notes; the mark says from where."""
        self.open += 1
        return len(self.log)

    def written(self, mark: int) -> BranchWrites:
        """What was written since a mark, as it is now."""
        return {
            (id(where), name): _Write(where, name, where.get(name, ABSENT))
            for where, name, _ in self.log[mark:]
        }

    def take(self, mark: int) -> BranchWrites:
        """What was written since a mark; it is taken back."""
        end = self.written(mark)
        for where, name, before in reversed(self.log[mark:]):
            if before is ABSENT:
                where.pop(name, None)
            else:
                where[name] = before
        del self.log[mark:]
        return end

    def between(self, mark: int, unsure: UnsureValue) -> None:
        """Let what was written since a mark be as on a way that may have come so far, or not."""
        first = {(id(write.scope), write.name): write for write in reversed(self.log[mark:])}
        for where, name, before in first.values():
            self.put(where, name, _merge_values(name, [where.get(name, ABSENT), before], unsure))

    def meet(self, ends: Iterable[BranchWrites], unsure: UnsureValue) -> None:
        """End what :meth:`part` began: ways meet, and what they wrote otherwise is unsure."""
        self.open -= 1
        ends = list(ends)
        for key, (where, name, _) in {key: write for end in ends for key, write in end.items()}.items():
            values = [end[key].value if key in end else where.get(name, ABSENT) for end in ends]
            met = _merge_values(name, values, unsure)
            if met is not ABSENT:
                self.put(where, name, met)


def _merge_values(name: str, values: list[VariableValue], unsure: UnsureValue) -> VariableValue:
    """What a variable holds where ways meet on which it holds these.

    A result that only one way gives the variable is what it holds wherever the program gets further.
    """
    if all(_is_same(value, values[0]) for value in values):
        return values[0]
    assigned = [value for value in values if value is not ABSENT]
    for value in assigned:
        if isinstance(value, UnsureValue):
            return UnsureValue(value.reason, value.at, value.text, assigned)
    if isinstance(assigned[0], (RawRef, ImportedName, OpaqueObject)) and all(
        _is_same(value, assigned[0]) for value in assigned
    ):
        return assigned[0]
    return UnsureValue(f"{name!r} {unsure.reason}", unsure.at, unsure.text, assigned)


def _is_same(first: VariableValue, other: VariableValue) -> bool:
    if first is other:
        return True
    if type(first) is not type(other) or isinstance(first, (Unknown, list, dict)):
        return False
    return bool(first == other)


# ----------------------------------------------------------------------
# What a program changes in place: lists, objects and the results of calls, under whatever name.
#
# A list or an object is known by its identity, which aliases and what holds it share; a result by its
# reference. A change that is not followed is for good: no way takes it back.
MAX_VALUES = 1_000_000
"""Values that variables may put into arguments, all together: a list of a list can double at each line."""
CHARACTERS_PER_VALUE = 64
"""So many characters of a text that a program puts together count as a value."""
_MAX_LIST_DEPTH = 100
"""Lists in lists that are followed."""


ChangedFields: TypeAlias = dict[tuple[str, str | int | None], UnsureValue]
CHANGED_RESULTS = "@"
"""Stands among the variables for :class:`ChangedResults`; no variable has such a name."""


class ChangedResults(Unknown):
    """What was changed of calls' results, for later pieces of the text."""

    def __init__(self, fields: ChangedFields) -> None:
        self.fields = fields


class Changes:
    """The changes of one program.

    Args:
        text: The program, for messages.
        before: The results that the text before has changed, as :meth:`settle` notes them.
    """

    def __init__(self, text: str, before: Any = None) -> None:
        self.text = text
        self.spent = 0
        self.contents: dict[int, tuple[Any, Any]] = {}
        """By identity the lists and objects that were changed, and what each holds now."""
        self.results: ChangedFields = {**before.fields} if before is not None else {}
        """Of a call's result the fields that were changed; None is all of it, "*" anything."""

    @property
    def any(self) -> bool:
        """Whether anything was changed."""
        return bool(self.contents or self.results)

    def spend(self, count: int, offset: int = 0) -> None:
        """Count values that variables put into arguments.

        Raises:
            LimitError: there are too many.
        """
        self.spent += count
        if self.spent > MAX_VALUES:
            raise LimitError("the program's values grow too large", text=self.text, offset=offset)

    def change(self, target: VariableValue, reason: str, offset: int) -> None:
        """Take what is held for changed in a way that is not followed.

        Args:
            target: What is changed; of a part of something all that this holds may be.
            reason: What changes it.
            offset: Where.
        """
        unsure = UnsureValue(reason, offset, self.text)
        for value in self._reached(target) if isinstance(target, Unknown) else [target]:
            if isinstance(value, (list, dict)):
                self.contents[id(value)] = value, unsure
            elif isinstance(value, RawRef):
                self.results[value.name, "*"] = unsure
                self.results[value.name, value.path[0] if value.path else None] = unsure

    def _reached(self, target: Unknown) -> Iterator[VariableValue]:
        """What a thing may be a part of, at any depth, lists and objects once."""
        waiting, seen = [*target.of], set[int]()
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            yield value
            content = value if isinstance(self.content(value), Unknown) else self.content(value)
            inside = (
                content.of
                if isinstance(content, Unknown)
                else content.values()
                if isinstance(content, dict)
                else content
                if type(content) is list
                else ()
            )
            waiting += inside
            self.spend(1 + len(inside))

    def inside(self, value: Any, path: Path) -> Any:
        """What a way leads to, itself and no copy; a part of what is around it, where that is not sure."""
        for i, step in enumerate(path):
            if isinstance(value, RawRef):
                return RawRef(value.name, (*value.path, *path[i:]))
            content = self.content(value)
            if not isinstance(content, (list, dict)):
                return content if isinstance(content, Unknown) else UNKNOWN
            try:
                value = content[step]  # type: ignore[index]
            except (LookupError, TypeError):
                return Unknown((value,))
        return value

    def follow(
        self, target: Any, method: str, positional: list[VariableValue], named: Mapping[str, VariableValue]
    ) -> bool:
        """Make a change that is as simple as it is certain: something put at the end, or under a key.

        Returns:
            False where it is not simple.
        """
        content, given = self.content(target), [self.content(value) for value in positional]
        if isinstance(content, UnsureValue):
            return True  # and stays so
        if any(isinstance(value, Unknown) for value in (*given, *positional, *named.values())):
            return False
        now = content if content is not target else content.copy()
        first = given[0] if len(given) == 1 else None
        if isinstance(now, list) and method in ("append", "push") and positional and not named:
            now.extend(positional if method == "push" else positional[:1])
        elif isinstance(now, list) and method == "extend" and type(first) is list and not named:
            now.extend([*first])
        elif type(content) is dict and method == "update" and (type(first) is dict or not given):
            now.update(first or {}, **named)
        else:
            return False
        self.contents[id(target)] = target, now
        return True

    def content(self, value: Any) -> Any:
        """What a list or an object holds now, itself and no copy; what is no such is given back."""
        if not self.contents or not isinstance(value, (list, dict)):
            return value
        return self.contents.get(id(value), (value, value))[1]

    def current(self, value: Value, depth: int = 0) -> Value | NotKnown:
        """A value as the changes leave it, where they can be known."""
        if isinstance(value, RawRef):
            return self.refused(value) or value
        if not isinstance(value, (list, dict)) or not self.any:
            return value
        content = self.content(value)
        if isinstance(content, UnsureValue):
            return self.not_known(content)
        if depth > _MAX_LIST_DEPTH:
            return NotKnown(f"it nests lists deeper than {_MAX_LIST_DEPTH} levels", None)
        self.spend(len(content))
        if isinstance(content, dict):
            now: Any = map_object_values(content, lambda item: self.current(item, depth + 1))
            items = [item for _, item in object_items(now)]
        else:
            now = items = [self.current(item, depth + 1) for item in content]
        return next((item for item in items if isinstance(item, NotKnown)), now)

    def refused(self, ref: RawRef) -> NotKnown | None:
        """Why a reference to a result cannot be known, which was changed; None where it can."""
        if not self.results or (ref.name, "*") not in self.results:
            return None
        steps = (None, ref.path[0]) if ref.path else ("*",)
        unsure = next(
            (self.results[ref.name, step] for step in steps if (ref.name, step) in self.results), None
        )
        return None if unsure is None else self.not_known(unsure)

    def not_known(self, unsure: UnsureValue) -> NotKnown:
        """What is said of an unsure value; the place of the change, where it stands in this text."""
        return NotKnown(unsure.reason, unsure.at if unsure.text is self.text else None, unsure)

    def settle(self, held: Mapping[str, VariableValue], own: MutableMapping[str, VariableValue]) -> None:
        """Let later pieces of the text, which hold other lists, see of the variables what was changed.

        Args:
            held: All variables.
            own: Takes those that hold something else now.
        """
        if not self.any:
            return
        for name, value in [*held.items()]:
            now = value if isinstance(value, (Unknown, RawRef)) else self.current(value)
            if isinstance(now, NotKnown):
                own[name] = now.holds
            elif now != value:
                own[name] = UnsureValue("another part of the text changes it", 0, "")
        own[CHANGED_RESULTS] = ChangedResults(self.results)


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
