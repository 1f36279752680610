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
    units: list[Together] = [(paired.get(position), position) for position in range(_calls(pair.gold))]
    matched = set(paired.values())
    units += [(position, None) for position in range(_calls(pair.pred)) if position not in matched]
    return units[::-1]


def alone(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[Together]:
    """The calls of each side that stand for one of the other side, each for itself."""
    units: list[Together] = [(position, None) for position, _ in partners]
    return [*units, *((None, position) for _, position in partners)][::-1]


def without(pair: Pair, units: Collection[Together], *, cut: bool) -> Pair:
    """The pair without some calls.

    Args:
        pair: The pair.
        units: The calls.
        cut: Calls that need them stay, and take a plain text in the place of what they took; else they go
            as well, and whatever needs them.
    """
    drop = _cut if cut else _with_consumers
    reduced = [drop(plan_or_text, {unit[index] for unit in units}) for index, plan_or_text in enumerate(pair)]
    return Pair(*reduced)


def _calls(plan_or_text: Side) -> int:
    return 0 if isinstance(plan_or_text, str) else len(plan_or_text.calls)


def _with_consumers(plan_or_text: Side, removed: set[int | None]) -> Side:
    if isinstance(plan_or_text, str) or removed == {None}:
        return plan_or_text
    users: dict[int, list[int]] = {}
    for edge in plan_or_text.edges:
        users.setdefault(edge.producer, []).append(edge.consumer)
    waiting = [call for call in removed if call is not None]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in removed:
                removed.add(user)
                waiting.append(user)
    answer = plan_or_text.answer
    if answer is not None:  # it consumes, too; values without what they need go, never the whole
        remaining = [
            (name, value)
            for name, value in answer
            if not any(isinstance(ref, Ref) and ref.call in removed for _, ref in references(value))
        ]
        answer = tuple(remaining)
    return _left(replace(plan_or_text, answer=answer), removed)


def _cut(plan_or_text: Side, removed: set[int | None]) -> Side:
    if isinstance(plan_or_text, str) or removed == {None}:
        return plan_or_text

    def literal(leaf: Value) -> Value:
        return SIMPLE if isinstance(leaf, Ref) and leaf.call in removed else leaf

    def changed(value: Value) -> Value:
        return settled(map_leaves(literal, value))

    calls = tuple(
        replace(call, arguments=tuple((name, changed(value)) for name, value in call.arguments))
        for call in plan_or_text.calls
    )
    answer = plan_or_text.answer and tuple((name, changed(value)) for name, value in plan_or_text.answer)
    return _left(replace(plan_or_text, calls=calls, answer=answer), removed)


def _left(plan: Plan, removed: Collection[int | None]) -> Plan:
    """The calls that are left, their references following them."""
    remaining = [position for position in range(len(plan.calls)) if position not in removed]
    new_positions = {position: new for new, position in enumerate(remaining)}
    calls = [
        replace(
            plan.calls[position],
            arguments=tuple((n, moved(v, new_positions)) for n, v in plan.calls[position].arguments),
        )
        for position in remaining
    ]
    answer = plan.answer
    return plan_of(calls, None if answer is None else tuple((n, moved(v, new_positions)) for n, v in answer))
