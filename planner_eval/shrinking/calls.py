"""Steps over calls: one fewer on one side, or on both sides the calls that stand for one another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeAlias

from planner_eval.plan.model import Plan, Ref, Value, references
from planner_eval.plan.rewire import moved, plan_of
from planner_eval.plan.walk import map_leaves
from planner_eval.shrinking.pairs import SIMPLE, Pair, Side
from planner_eval.shrinking.values import settled

Together: TypeAlias = tuple[int | None, int | None]
"""A call of the prediction and the call of gold that it stands for; None where there is none."""


def together(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[Together]:
    """All calls, those of both sides that stand for one another together; last ones first.

    Consumers mostly stand behind what they need: so few others go with a call.
    """
    paired = {gold: pred for pred, gold in partners}
    units: list[Together] = [(paired.get(at), at) for at in range(_calls(pair.gold))]
    known = set(paired.values())
    units += [(at, None) for at in range(_calls(pair.pred)) if at not in known]
    return units[::-1]


def alone(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[Together]:
    """The calls of each side that stand for one of the other side, each for itself."""
    units: list[Together] = [(at, None) for at, _ in partners]
    return [*units, *((None, at) for _, at in partners)][::-1]


def without(pair: Pair, units: Collection[Together], *, cut: bool) -> Pair:
    """The pair without some calls.

    Args:
        pair: The pair.
        units: The calls.
        cut: Calls that need them stay, and take a plain text in the place of what they took; else they go
            as well, and whatever needs them.
    """
    drop = _cut if cut else _with_consumers
    sides = [drop(side, {unit[at] for unit in units}) for at, side in enumerate(pair)]
    return Pair(*sides)


def _calls(side: Side) -> int:
    return 0 if isinstance(side, str) else len(side.calls)


def _with_consumers(side: Side, gone: set[int | None]) -> Side:
    if isinstance(side, str) or gone == {None}:
        return side
    users: dict[int, list[int]] = {}
    for edge in side.edges:
        users.setdefault(edge.producer, []).append(edge.consumer)
    waiting = [at for at in gone if at is not None]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in gone:
                gone.add(user)
                waiting.append(user)
    answer = side.answer
    if answer is not None:  # it consumes, too; values without what they need go, never the whole
        kept = [
            (name, value)
            for name, value in answer
            if not any(isinstance(ref, Ref) and ref.call in gone for _, ref in references(value))
        ]
        answer = tuple(kept)
    return _left(replace(side, answer=answer), gone)


def _cut(side: Side, gone: set[int | None]) -> Side:
    if isinstance(side, str) or gone == {None}:
        return side

    def literal(leaf: Value) -> Value:
        return SIMPLE if isinstance(leaf, Ref) and leaf.call in gone else leaf

    def changed(value: Value) -> Value:
        return settled(map_leaves(literal, value))

    calls = tuple(
        replace(call, arguments=tuple((name, changed(value)) for name, value in call.arguments))
        for call in side.calls
    )
    answer = side.answer and tuple((name, changed(value)) for name, value in side.answer)
    return _left(replace(side, calls=calls, answer=answer), gone)


def _left(plan: Plan, gone: Collection[int | None]) -> Plan:
    """The calls that are left, their references following them."""
    kept = [at for at in range(len(plan.calls)) if at not in gone]
    place = {at: new for new, at in enumerate(kept)}
    calls = [
        replace(plan.calls[at], arguments=tuple((n, moved(v, place)) for n, v in plan.calls[at].arguments))
        for at in kept
    ]
    answer = plan.answer
    return plan_of(calls, None if answer is None else tuple((n, moved(v, place)) for n, v in answer))
