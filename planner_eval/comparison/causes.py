"""Causes and consequences: which edits follow from which.

An edit follows from another when undoing the other would undo it or leave no ground for it:

- whatever concerns an argument in which gold refers to a call that is missing, or was replaced by
  another tool, follows from that; so does a missing call that needs the missing one;
- whatever concerns an argument in which the prediction refers to an extra call follows from the
  extra call; so does an extra call that needs it;
- the arguments of a replaced call follow from the replacement;
- the same change made again (one wrong value for one right value) follows from the first.

What is left are root causes. The first divergent call is that of the first root in topological order; of
calls of one generation, of which none needs another, the one that the prediction writes first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from planner_eval.comparison.edits import Edit, Place
from planner_eval.plan.adjacency import levels, producers
from planner_eval.plan.canonical import producers_of, value_key
from planner_eval.plan.model import Plan


def order_by_cause(
    edits: list[Edit], pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]
) -> tuple[Edit, ...]:
    """The edits, roots in topological order, each followed by its consequences, causes filled in."""
    if len(edits) < 2:
        return tuple(edits)
    ranks = _Ranks(pred, gold, pairs)
    edits = sorted(edits, key=ranks.of)
    cause = _causes(edits, pred, gold)
    children: dict[int | None, list[int]] = {}
    for position, parent in enumerate(cause):
        children.setdefault(parent, []).append(position)
    order: list[int] = []
    stack = list(reversed(children.get(None, [])))
    while stack:
        position = stack.pop()
        order.append(position)
        stack.extend(reversed(children.get(position, [])))
    place = {position: new for new, position in enumerate(order)}
    return tuple(
        edits[position]
        if (parent := cause[position]) is None
        else edits[position]._replace(cause=place[parent])
        for position in order
    )


class _Ranks:
    """Where an edit comes: generation (gold's if gold has the call), then written order, then order found."""

    def __init__(self, pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]) -> None:
        self.pred, self.gold = levels(producers(pred)), levels(producers(gold))
        self.last = max(len(self.pred), len(self.gold))
        self.written = places_in_pred(len(self.gold), pairs)

    def of(self, edit: Edit) -> tuple[int, ...]:
        if edit.gold is not None and edit.gold.call is not None:
            return self.gold[edit.gold.call], *self.written[edit.gold.call], edit.gold.call
        if edit.gold is None and edit.pred is not None and edit.pred.call is not None:
            return self.pred[edit.pred.call], edit.pred.call, 0
        return (self.last,)


def places_in_pred(calls: int, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where each call of gold stands among the prediction's: a position, and -1 before, 0 at or 1 after it.

    A call without a partner stands after the partner of the call before it, or else before the partner of
    the next that has one; before all where none has one.

    Args:
        calls: How many gold has.
        pairs: Positions (in pred, in gold) of partners.

    >>> places_in_pred(4, [(5, 1), (2, 2)])
    [(5, -1), (5, 0), (2, 0), (2, 1)]
    """
    partner = {gold: pred for pred, gold in pairs}
    found: list[tuple[int, int]] = []
    place = partner[min(partner)] if partner else 0, -1
    for gold in range(calls):
        place = (partner[gold], 0) if gold in partner else (place[0], place[1] or 1)
        found.append(place)
    return found


def _causes(edits: list[Edit], pred: Plan, gold: Plan) -> list[int | None]:
    """For each edit, in topological order, the edit that it follows from."""
    lost = _Calls(gold, {e.gold.call: i for i, e in enumerate(edits) if e.gold and e.code in _LOST})
    gained = _Calls(pred, {e.pred.call: i for i, e in enumerate(edits) if e.pred and e.code in _GAINED})
    renamed = {e.gold.call: i for i, e in enumerate(edits) if e.gold and e.code in _RENAMED}
    first: dict[Any, int] = {}
    found: list[int | None] = []
    for position, edit in enumerate(edits):
        cause = _from_calls(edit, lost, gained)
        if cause is None and edit.gold and edit.code not in _RENAMED:
            cause = renamed.get(edit.gold.call) if edit.gold.call is not None else None
        if cause is None and edit.code in _REPEATABLE:
            cause = first.setdefault(change(edit), position)
        found.append(None if cause is None or cause == position else cause)
    return _without_circles(found)


_LOST = ("call.missing", "call.replaced", "app.changed")
_GAINED = ("call.extra", "call.duplicated")
_RENAMED = ("call.replaced", "app.changed")
_REPEATABLE = (
    "argument.value",
    "argument.type",
    "reference.literal",
    "reference.unresolved",
    "reference.unwanted",
)


class _Calls:
    """The calls of one plan that edits may follow from; what is asked again is looked up once.

    Args:
        plan: The plan.
        edits: Call → the edit that is about it.
    """

    def __init__(self, plan: Plan, edits: dict[int | None, int]) -> None:
        self.plan, self.edits = plan, edits
        self.known: dict[int | None, dict[str | None, int | None]] = {}

    def before(self, place: Place | None, *, whole: bool) -> int | None:
        """The edit about the first call that what stands at a place refers to.

        Args:
            place: An argument of a call, or of the answer; None for nowhere.
            whole: Whether all arguments of the call count.
        """
        if not self.edits or place is None:
            return None
        if place.call not in self.known:
            self.known[place.call] = self._causes(place.call)
        if not whole and place.argument is None:
            return None
        return self.known[place.call].get(None if whole else place.argument)

    def _causes(self, call: int | None) -> dict[str | None, int | None]:
        """The edit that each argument of a call follows from; under None that of the whole call."""
        found: dict[str | None, int | None] = {}
        for name, value in (self.plan.answer or ()) if call is None else self.plan.calls[call].arguments:
            producer = next((p for p in producers_of(value) if p in self.edits and p != call), None)
            if producer is not None:
                found.setdefault(name, self.edits[producer])
                found.setdefault(None, self.edits[producer])
        return found


def _from_calls(edit: Edit, lost: _Calls, gained: _Calls) -> int | None:
    """The missing, replaced or extra call that an edit follows from."""
    if edit.code in _RENAMED:
        return None
    cause = lost.before(edit.gold, whole=edit.code == "call.missing")
    return gained.before(edit.pred, whole=edit.code in _GAINED) if cause is None else cause


def change(edit: Edit) -> Hashable:
    """What was put for what; two edits of one change are one mistake made twice.

    Texts count wherever they stand; other values are too common to mean much under another name.
    """
    texts = type(edit.pred_value) is str and type(edit.gold_value) is str
    name = None if texts or edit.gold is None else edit.gold.argument
    return edit.code, name, value_key(edit.pred_value, _OWN), value_key(edit.gold_value, _OWN)


class _Own(list[int | None]):
    """Positions in place of numbers: a reference is the call that it names."""

    def __getitem__(self, position: Any) -> Any:
        return position


_OWN = _Own()


def _without_circles(cause: list[int | None]) -> list[int | None]:
    """Cut each circle of causes at its first edit, so that every edit follows from a root."""
    walked: set[int] = set()
    for start in range(len(cause)):
        seen: set[int] = set()
        at: int | None = start
        while at is not None and at not in seen and at not in walked:
            seen.add(at)
            at = cause[at]
        if at is not None and at in seen:
            cause[min(_circle(cause, at))] = None
        walked |= seen
    return cause


def _circle(cause: list[int | None], start: int) -> list[int]:
    circle = [start]
    at = cause[start]
    while at is not None and at != start:
        circle.append(at)
        at = cause[at]
    return circle
