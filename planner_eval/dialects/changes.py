"""What a program changes in place: lists, objects and the results of calls, under whatever name.

A list or an object stands for itself by its identity, which aliases and what holds it share; a result by its
reference. What was changed stands among the program's variables, under names that no variable has, so that
branches take it back, and later pieces of a text see it, as they do with variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from planner_eval.dialects.unsure import (
    UNKNOWN,
    CannotKnow,
    Content,
    Held,
    Part,
    Thing,
    Unknown,
    Unsure,
    Ways,
)
from planner_eval.plan.model import Path, RawRef, Value

_ANY = "@"
"""Stands among the variables where anything was changed."""
_KEPT = 100
"""Values of a list of which a copy is kept at each change that may be taken back."""
_DEPTH = 100
"""Lists in lists that are followed."""


class Changes:
    """The changes of one program.

    Args:
        top: The variables of the program outside of functions, which hold the changes.
        ways: Writes them.
        text: The program, for messages.
    """

    def __init__(self, top: MutableMapping[str, Held], ways: Ways, text: str) -> None:
        self.top = top
        self.ways = ways
        self.text = text
        self.any = _ANY in top

    def change(self, held: Held, reason: str, at: int, spend: Callable[[int], None]) -> None:
        """Take what is held for changed in a way that is not followed.

        Args:
            held: What is changed; of a part of something all that this holds may be.
            reason: What changes it.
            at: Where.
            spend: As in :meth:`current`.
        """
        waiting, seen = [held], set()
        while waiting:
            one = waiting.pop()
            if isinstance(one, (Part, Thing)):
                if id(one) not in seen:
                    seen.add(id(one))
                    spend(1)
                    of = one.of if isinstance(one, Part) else (one.of,)
                    waiting += self._all(of, seen, spend)
            elif isinstance(one, Unsure):
                if id(one) not in seen:
                    seen.add(id(one))
                    spend(1)
                    waiting += one.either
            elif isinstance(one, (list, dict)):
                self._note(_cell(one), Unsure(reason, at, self.text, one))
            elif isinstance(one, RawRef):
                unsure = Unsure(reason, at, self.text)
                self._note(f"{one.name} *", unsure)
                self._note(f"{one.name} {one.path[0]!r}" if one.path else f"{one.name} ", unsure)

    def _all(self, of: Iterable[Held], seen: set[int], spend: Callable[[int], None]) -> list[Held]:
        """These and what they hold at any depth, lists and objects once."""
        found: list[Held] = []
        waiting = [*of]
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            found.append(one)
            now = self.content(one)
            if isinstance(now, (list, dict)):
                seen.add(id(one))
                spend(len(now))
                waiting += now.values() if isinstance(now, dict) else now
        return found

    def inside(self, held: Any, path: Path) -> Any:
        """What a way leads to, itself and no copy; a part of what is around it, where that is not sure."""
        for i, way in enumerate(path):
            if isinstance(held, RawRef):
                return RawRef(held.name, (*held.path, *path[i:]))
            now = self.content(held)
            if not isinstance(now, (list, dict)):
                return now if isinstance(now, Unknown) else UNKNOWN
            try:
                held = now[way]  # type: ignore[index]
            except (LookupError, TypeError):
                return Part((held,))
        return held

    def _note(self, name: str, found: Unknown) -> None:
        if not self.any:
            self.any = True
            self.top[_ANY] = found
        self.ways.put(self.top, name, found)

    def follow(self, held: Any, method: str, given: list[Held], named: Mapping[str, Held]) -> bool:
        """Make a change that is as simple as it is certain: something put at the end, or under a key.

        Returns:
            False where it is not simple.
        """
        if any(isinstance(value, Unknown) for value in (*given, *named.values())):
            return False
        cell = self.top.get(_cell(held))
        if isinstance(cell, Unsure):
            return True  # and stays so
        now = cell.value if isinstance(cell, Content) else held
        if self.ways.open and len(now) > _KEPT:
            return False
        if self.ways.open or now is held:
            now = now.copy()
        if isinstance(now, list) and method in ("append", "push") and given and not named:
            now += given if method == "push" else given[:1]
        elif isinstance(now, list) and method == "extend" and len(given) == 1 and type(given[0]) is list:
            other = self.top.get(_cell(given[0]))
            if isinstance(other, Unsure) or given[0] is held:
                return False
            now += other.value if isinstance(other, Content) else given[0]
        elif isinstance(now, dict) and method == "update" and not given:
            now |= named
        elif isinstance(now, dict) and method == "update" and len(given) == 1 and type(given[0]) is dict:
            other = self.top.get(_cell(given[0]))
            if isinstance(other, Unsure):
                return False
            now |= {**(other.value if isinstance(other, Content) else given[0]), **named}
        else:
            return False
        self._note(_cell(held), Content(held, now))
        return True

    def content(self, held: Any) -> Any:
        """What a list or an object holds now, itself and no copy; what is no such is given back."""
        if not self.any or not isinstance(held, (list, dict)):
            return held
        found = self.top.get(_cell(held))
        return found.value if isinstance(found, Content) else held if found is None else found

    def put(self, held: Any, key: Any, value: Held) -> bool:
        """Give a key of an object another value; False where that is not simple."""
        return type(held) is dict and type(key) is str and self.follow(held, "update", [{key: value}], {})

    def current(self, value: Value, spend: Callable[[int], None], depth: int = 0) -> Value:
        """A value as the changes leave it.

        Args:
            value: The value.
            spend: Is told how many values lists and objects hold; it bounds them.
            depth: How many lists are around it.

        Raises:
            CannotKnow: it was changed.
        """
        if isinstance(value, RawRef):
            self.refuse(value)
            return value
        if not isinstance(value, (list, dict)):
            return value
        cell = self.top.get(_cell(value))
        if isinstance(cell, Unsure):
            raise self.cannot_know(cell)
        if depth > _DEPTH:
            raise CannotKnow(f"it holds more than {_DEPTH} lists in one another", None)
        now = cell.value if isinstance(cell, Content) else value
        spend(len(now))
        items = now.values() if isinstance(now, dict) else now
        made = [self.current(item, spend, depth + 1) for item in items]
        if all(one is other for one, other in zip(made, items, strict=True)):
            return value if now is value else now.copy()
        return dict(zip(now, made, strict=True)) if isinstance(now, dict) else made

    def refuse(self, ref: RawRef) -> None:
        """Refuse a reference to a result that was changed.

        Raises:
            CannotKnow: it was.
        """
        if f"{ref.name} *" not in self.top:
            return
        found = None
        if not ref.path:
            found = self.top.get(f"{ref.name} *")
        else:
            found = self.top.get(f"{ref.name} ") or self.top.get(f"{ref.name} {ref.path[0]!r}")
        if isinstance(found, Unsure):
            raise self.cannot_know(found)

    def cannot_know(self, found: Unsure) -> CannotKnow:
        """What is said of an unsure value; the place of the change, where it stands in this text."""
        return CannotKnow(found.reason, found.at if found.text is self.text else None, found)

    def settle(self, own: MutableMapping[str, Held]) -> None:
        """Let later pieces of the text, which hold other lists, see of the variables what was changed."""
        if not self.any:
            return
        known: dict[int, Unknown | None] = {}
        for name, value in own.items():
            if isinstance(value, (list, dict)):
                found = self._changed(value, known)
                if found is not None:
                    own[name] = found

    def _changed(self, value: Any, known: dict[int, Unknown | None], depth: int = 0) -> Unknown | None:
        """The first change of a list or an object, or of what it holds at any depth."""
        if isinstance(value, (list, dict)):
            if id(value) not in known:
                known[id(value)] = None
                found = self.top.get(_cell(value))
                if isinstance(found, Content):
                    found = Unsure("another part of the text changes it", 0, "")
                items = value.values() if isinstance(value, dict) else value
                if not isinstance(found, Unsure) and depth <= _DEPTH:
                    inside = (self._changed(item, known, depth + 1) for item in items)
                    found = next((one for one in inside if one is not None), None)
                known[id(value)] = found if isinstance(found, Unsure) else None
            return known[id(value)]
        return None


def _cell(held: Any) -> str:
    return f"[] {id(held)}"
