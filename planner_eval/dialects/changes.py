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

    def __init__(self, top: MutableMapping[str, Held], routes: Ways, text: str) -> None:
        self.top = top
        self.ways = routes
        self.text = text
        self.any = _ANY in top

    def change(self, target: Held, reason: str, offset: int, spend: Callable[[int], None]) -> None:
        """Take what is held for changed in a way that is not followed.

        Args:
            target: What is changed; of a part of something all that this holds may be.
            reason: What changes it.
            offset: Where.
            spend: As in :meth:`current`.
        """
        waiting, seen = [target], set()
        while waiting:
            value = waiting.pop()
            if isinstance(value, (Part, Thing)):
                if id(value) not in seen:
                    seen.add(id(value))
                    spend(1)
                    of = value.of if isinstance(value, Part) else (value.of,)
                    waiting += self._all(of, seen, spend)
            elif isinstance(value, Unsure):
                if id(value) not in seen:
                    seen.add(id(value))
                    spend(1)
                    waiting += value.either
            elif isinstance(value, (list, dict)):
                self._note(_cell(value), Unsure(reason, offset, self.text, value))
            elif isinstance(value, RawRef):
                unsure = Unsure(reason, offset, self.text)
                self._note(f"{value.name} *", unsure)
                self._note(f"{value.name} {value.path[0]!r}" if value.path else f"{value.name} ", unsure)

    def _all(self, of: Iterable[Held], seen: set[int], spend: Callable[[int], None]) -> list[Held]:
        """These and what they hold at any depth, lists and objects once."""
        values: list[Held] = []
        waiting = [*of]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            values.append(value)
            now = self.content(value)
            if isinstance(now, (list, dict)):
                seen.add(id(value))
                spend(len(now))
                waiting += now.values() if isinstance(now, dict) else now
        return values

    def inside(self, value: Any, path: Path) -> Any:
        """What a way leads to, itself and no copy; a part of what is around it, where that is not sure."""
        for i, step in enumerate(path):
            if isinstance(value, RawRef):
                return RawRef(value.name, (*value.path, *path[i:]))
            now = self.content(value)
            if not isinstance(now, (list, dict)):
                return now if isinstance(now, Unknown) else UNKNOWN
            try:
                value = now[step]  # type: ignore[index]
            except (LookupError, TypeError):
                return Part((value,))
        return value

    def _note(self, name: str, unknown: Unknown) -> None:
        if not self.any:
            self.any = True
            self.top[_ANY] = unknown
        self.ways.put(self.top, name, unknown)

    def follow(self, target: Any, method: str, positional: list[Held], named: Mapping[str, Held]) -> bool:
        """Make a change that is as simple as it is certain: something put at the end, or under a key.

        Returns:
            False where it is not simple.
        """
        if any(isinstance(value, Unknown) for value in (*positional, *named.values())):
            return False
        cell = self.top.get(_cell(target))
        if isinstance(cell, Unsure):
            return True  # and stays so
        now = cell.value if isinstance(cell, Content) else target
        if self.ways.open and len(now) > _KEPT:
            return False
        if self.ways.open or now is target:
            now = now.copy()
        if isinstance(now, list) and method in ("append", "push") and positional and not named:
            now += positional if method == "push" else positional[:1]
        elif (
            isinstance(now, list)
            and method == "extend"
            and len(positional) == 1
            and type(positional[0]) is list
        ):
            other = self.top.get(_cell(positional[0]))
            if isinstance(other, Unsure) or positional[0] is target:
                return False
            now += other.value if isinstance(other, Content) else positional[0]
        elif isinstance(now, dict) and method == "update" and not positional:
            now |= named
        elif (
            isinstance(now, dict)
            and method == "update"
            and len(positional) == 1
            and type(positional[0]) is dict
        ):
            other = self.top.get(_cell(positional[0]))
            if isinstance(other, Unsure):
                return False
            now |= {**(other.value if isinstance(other, Content) else positional[0]), **named}
        else:
            return False
        self._note(_cell(target), Content(target, now))
        return True

    def content(self, value: Any) -> Any:
        """What a list or an object holds now, itself and no copy; what is no such is given back."""
        if not self.any or not isinstance(value, (list, dict)):
            return value
        cell = self.top.get(_cell(value))
        return cell.value if isinstance(cell, Content) else value if cell is None else cell

    def put(self, target: Any, key: Any, value: Held) -> bool:
        """Give a key of an object another value; False where that is not simple."""
        return type(target) is dict and type(key) is str and self.follow(target, "update", [{key: value}], {})

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
        items_now = [self.current(item, spend, depth + 1) for item in items]
        if all(item is other for item, other in zip(items_now, items, strict=True)):
            return value if now is value else now.copy()
        return dict(zip(now, items_now, strict=True)) if isinstance(now, dict) else items_now

    def refuse(self, ref: RawRef) -> None:
        """Refuse a reference to a result that was changed.

        Raises:
            CannotKnow: it was.
        """
        if f"{ref.name} *" not in self.top:
            return
        unsure = None
        if not ref.path:
            unsure = self.top.get(f"{ref.name} *")
        else:
            unsure = self.top.get(f"{ref.name} ") or self.top.get(f"{ref.name} {ref.path[0]!r}")
        if isinstance(unsure, Unsure):
            raise self.cannot_know(unsure)

    def cannot_know(self, unsure: Unsure) -> CannotKnow:
        """What is said of an unsure value; the place of the change, where it stands in this text."""
        return CannotKnow(unsure.reason, unsure.at if unsure.text is self.text else None, unsure)

    def settle(self, own: MutableMapping[str, Held]) -> None:
        """Let later pieces of the text, which hold other lists, see of the variables what was changed."""
        if not self.any:
            return
        checked: dict[int, Unknown | None] = {}
        for name, value in own.items():
            if isinstance(value, (list, dict)):
                change = self._changed(value, checked)
                if change is not None:
                    own[name] = change

    def _changed(self, value: Any, checked: dict[int, Unknown | None], depth: int = 0) -> Unknown | None:
        """The first change of a list or an object, or of what it holds at any depth."""
        if isinstance(value, (list, dict)):
            if id(value) not in checked:
                checked[id(value)] = None
                change = self.top.get(_cell(value))
                if isinstance(change, Content):
                    change = Unsure("another part of the text changes it", 0, "")
                items = value.values() if isinstance(value, dict) else value
                if not isinstance(change, Unsure) and depth <= _DEPTH:
                    inside = (self._changed(item, checked, depth + 1) for item in items)
                    change = next((inner for inner in inside if inner is not None), None)
                checked[id(value)] = change if isinstance(change, Unsure) else None
            return checked[id(value)]
        return None


def _cell(value: Any) -> str:
    return f"[] {id(value)}"
