"""What the variables of a program hold: values, what cannot be known, and what several ways make of them.

A branch is followed, what it wrote is noted and taken back, then the other one: where both meet, a variable
that holds the same on each is sure, any other is not.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping
from typing import Any, TypeAlias

from planner_eval.plan.model import RawRef, Value


class Unknown:
    """What a variable holds that cannot be known."""


UNKNOWN = Unknown()
OWN_CODE = Unknown()
"""A function of the program's own, a lambda: called through a variable it is not followed."""
ABSENT = Unknown()
"""A variable that holds nothing yet."""


class Imported(Unknown):
    """What a name holds that is imported from a module that is no library: a tool may be called by it.

    Args:
        name: What it is called where it is imported from.
    """

    def __init__(self, name: str) -> None:
        self.name = name


class Bare(Unknown):
    """What a variable holds that was given a name which nothing assigns: a text, or the tool of that name.

    Args:
        text: The name, and the way behind it.
    """

    def __init__(self, text: str) -> None:
        self.text = text


class Thing(Unknown):
    """An object whose methods may be tools: of an imported class, or a part of what a call gave.

    Args:
        of: What it is a part of.
    """

    def __init__(self, of: Held = None) -> None:
        self.of = of


class Part(Unknown):
    """What an expression makes that is not followed: it may be a part of these.

    Args:
        of: What stands in the expression; a change of the part is a change of them.
    """

    def __init__(self, of: Iterable[Held]) -> None:
        self.of = tuple(value for value in of if isinstance(value, (RawRef, list, dict, Thing, Part)))


class Unsure(Unknown):
    """What a variable held that was changed, or that another way may change.

    Args:
        reason: Which construct is to blame, for messages.
        at: Where it stands.
        text: In which text.
        of: The list or object that was changed; kept, so that no other has its identity.
        either: What it may be, of which a change of it is one, too.
    """

    def __init__(
        self, reason: str, offset: int, text: str, of: Any = None, either: Iterable[Held] = ()
    ) -> None:
        self.reason = reason
        self.at = offset
        self.text = text
        self.of = of
        self.either = tuple(either)


class Content(Unknown):
    """What a list or an object holds after changes that are followed.

    Args:
        of: The list or object as it was made, which stands for it wherever it is held.
        value: What it holds now.
    """

    def __init__(self, of: Any, value: Any) -> None:
        self.of = of
        self.value = value


Held: TypeAlias = Value | Unknown


class Scope(ChainMap[str, Held]):
    """The variables of a function that is followed: its own, which end with it, and those around it.

    What it declares ``global`` or ``nonlocal`` stands elsewhere, and is read and written there.
    """

    def __init__(self, local: MutableMapping[str, Held], around: MutableMapping[str, Held]) -> None:
        super().__init__(local, around)
        self.elsewhere: dict[str, MutableMapping[str, Held]] = {}

    def __getitem__(self, name: str) -> Held:
        return self.elsewhere[name][name] if name in self.elsewhere else super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self.elsewhere[name] if name in self.elsewhere else super().__contains__(name)

    def __setitem__(self, name: str, value: Held) -> None:
        self.elsewhere.get(name, self.maps[0])[name] = value

    def enclosing(self, name: str) -> MutableMapping[str, Held]:
        """The variables of the nearest function around this one that has the name."""
        around = self.maps[1]
        while isinstance(around, Scope) and name not in around.maps[0] and name not in around.elsewhere:
            around = around.maps[1]
        return around if isinstance(around, Scope) else self.maps[1]


_Slot: TypeAlias = tuple[MutableMapping[str, Held], str]
End: TypeAlias = dict[tuple[int, str], tuple[_Slot, Held]]
"""What a way wrote: by the variable, its place and what it holds at the way's end."""


class Ways:
    """Notes what is written on a way, so that it can be taken back.

    >>> held, ways = {"x": 1}, Ways()
    >>> mark = ways.part()
    >>> ways.put(held, "x", 2)
    >>> taken = ways.take(mark)
    >>> held, [value for _, value in taken.values()]
    ({'x': 1}, [2])
    >>> ways.meet([taken, {}], Unsure("depends on a branch", 0, ""))
    >>> held["x"].reason
    "'x' depends on a branch"
    """

    def __init__(self) -> None:
        self.open = 0
        self.log: list[tuple[MutableMapping[str, Held], str, Held]] = []

    def put(self, where: MutableMapping[str, Held], name: str, value: Held) -> None:
        """Write a variable."""
        if self.open:
            where = _lowest(where, name)
            self.log.append((where, name, where.get(name, ABSENT)))
        where[name] = value

    def part(self) -> int:
        """Begin to take notes; the mark says from where."""
        self.open += 1
        return len(self.log)

    def written(self, mark: int) -> End:
        """What was written since a mark, as it is now."""
        return {
            (id(where), name): ((where, name), where.get(name, ABSENT)) for where, name, _ in self.log[mark:]
        }

    def take(self, mark: int) -> End:
        """What was written since a mark; it is taken back."""
        end = self.written(mark)
        for where, name, before in reversed(self.log[mark:]):
            if before is ABSENT:
                where.pop(name, None)
            else:
                where[name] = before
        del self.log[mark:]
        return end

    def between(self, mark: int, unsure: Unsure) -> None:
        """Let what was written since a mark be as on a way that may have come so far, or not."""
        first: dict[tuple[int, str], tuple[_Slot, Held]] = {}
        for where, name, before in self.log[mark:]:
            first.setdefault((id(where), name), ((where, name), before))
        for (where, name), before in first.values():
            self.put(where, name, _met(name, [where.get(name, ABSENT), before], unsure))

    def meet(self, ends: Iterable[End], unsure: Unsure) -> None:
        """End what :meth:`part` began: ways meet, and what they wrote otherwise is unsure."""
        self.open -= 1
        ends = list(ends)
        slots: dict[tuple[int, str], _Slot] = {}
        values: dict[tuple[int, str], list[Held]] = {}
        for end in ends:
            for key, (slot, value) in end.items():
                slots[key] = slot
                values.setdefault(key, []).append(value)
        for key, (where, name) in slots.items():
            if len(values[key]) < len(ends):
                values[key].append(where.get(name, ABSENT))
            met = _met(name, values[key], unsure)
            if met is not ABSENT:
                self.put(where, name, met)


def _lowest(where: MutableMapping[str, Held], name: str) -> MutableMapping[str, Held]:
    """Where a variable is written that is given a value."""
    while isinstance(where, ChainMap):
        elsewhere = where.elsewhere if isinstance(where, Scope) else {}
        where = elsewhere[name] if name in elsewhere else where.maps[0]
    return where


def _met(name: str, values: list[Held], unsure: Unsure) -> Held:
    """What a variable holds where ways meet on which it holds these.

    A result that only one way gives the variable is what it holds wherever the program gets further.
    """
    if all(_same(value, values[0]) for value in values):
        return values[0]
    assigned = [value for value in values if value is not ABSENT]
    unsure_value = next((value for value in values if isinstance(value, Unsure)), None)
    if name[0] in "@[":
        of = next((value.of for value in assigned if isinstance(value, Content)), None)
        return unsure_value or Unsure(f"it {unsure.reason}", unsure.at, unsure.text, of)
    if unsure_value is not None:
        return Unsure(unsure_value.reason, unsure_value.at, unsure_value.text, None, assigned)
    if isinstance(assigned[0], (RawRef, Imported, Thing)) and all(
        _same(value, assigned[0]) for value in assigned
    ):
        return assigned[0]
    return Unsure(f"{name!r} {unsure.reason}", unsure.at, unsure.text, None, assigned)


def _same(first: Held, other: Held) -> bool:
    if first is other:
        return True
    if type(first) is not type(other) or isinstance(first, (Unknown, list, dict)):
        return False
    return bool(first == other)


class CannotKnow(Exception):
    """A value that cannot be known.

    Args:
        reason: Why.
        at: The place to point to; None where the value stands.
        holds: What a variable holds that is given it.
    """

    def __init__(self, reason: str, offset: int | None, holds: Unknown = UNKNOWN) -> None:
        self.reason = reason
        self.at = offset
        self.holds = holds
