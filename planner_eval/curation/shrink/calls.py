"""Steps over calls, and over what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.curation.shrink.pairs import SIMPLE_TEXT, Pair, Side, replace_calls
from planner_eval.curation.shrink.values import collapse_templates
from planner_eval.plan.linking import build_plan, move_references
from planner_eval.plan.model import Plan, Ref, Value, references
from planner_eval.plan.values import map_leaves

# ----------------------------------------------------------------------
# Steps over calls: one fewer on one side, or on both sides the calls that stand for one another.
CallPair: TypeAlias = tuple[int | None, int | None]
"""A call of the prediction and the call of gold that it stands for; None where there is none."""


def partnered_calls(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[CallPair]:
    """All calls, those of both sides that stand for one another together; last ones first.

    Consumers mostly stand behind what they need: so few others go with a call.
    """
    paired = {gold: pred for pred, gold in partners}
    units: list[CallPair] = [(paired.get(position), position) for position in range(_count_calls(pair.gold))]
    matched = set(paired.values())
    units += [(position, None) for position in range(_count_calls(pair.pred)) if position not in matched]
    return units[::-1]


def single_calls(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[CallPair]:
    """The calls of each side that stand for one of the other side, each for itself."""
    units: list[CallPair] = [(position, None) for position, _ in partners]
    return [*units, *((None, position) for _, position in partners)][::-1]


def drop_calls(pair: Pair, units: Collection[CallPair], *, cut: bool) -> Pair:
    """The pair without some calls.

    Args:
        pair: The pair.
        units: The calls.
        cut: Calls that need them stay, and take a plain text in the place of what they took; else they go
            as well, and whatever needs them.
    """
    drop = _cut_references if cut else _drop_with_consumers
    reduced = [drop(plan_or_text, {unit[index] for unit in units}) for index, plan_or_text in enumerate(pair)]
    return Pair(*reduced)


def _count_calls(plan_or_text: Side) -> int:
    return 0 if isinstance(plan_or_text, str) else len(plan_or_text.calls)


def _drop_with_consumers(plan_or_text: Side, removed: set[int | None]) -> Side:
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
    return _keep_remaining_calls(replace(plan_or_text, answer=answer), removed)


def _cut_references(plan_or_text: Side, removed: set[int | None]) -> Side:
    if isinstance(plan_or_text, str) or removed == {None}:
        return plan_or_text

    def literal(leaf: Value) -> Value:
        return SIMPLE_TEXT if isinstance(leaf, Ref) and leaf.call in removed else leaf

    def changed(value: Value) -> Value:
        return collapse_templates(map_leaves(literal, value))

    calls = tuple(
        replace(call, arguments=tuple((name, changed(value)) for name, value in call.arguments))
        for call in plan_or_text.calls
    )
    answer = plan_or_text.answer and tuple((name, changed(value)) for name, value in plan_or_text.answer)
    return _keep_remaining_calls(replace(plan_or_text, calls=calls, answer=answer), removed)


def _keep_remaining_calls(plan: Plan, removed: Collection[int | None]) -> Plan:
    """The calls that are left, their references following them."""
    remaining = [position for position in range(len(plan.calls)) if position not in removed]
    new_positions = {position: new for new, position in enumerate(remaining)}
    calls = [
        replace(
            plan.calls[position],
            arguments=tuple(
                (n, move_references(v, new_positions)) for n, v in plan.calls[position].arguments
            ),
        )
        for position in remaining
    ]
    answer = plan.answer
    return build_plan(
        calls, None if answer is None else tuple((n, move_references(v, new_positions)) for n, v in answer)
    )


# ----------------------------------------------------------------------
# Steps over what stands beside calls: declared outputs, recorded results, long labels, an empty answer.
class PlanExtra(NamedTuple):
    """What can be left out.

    Args:
        side: 0 the prediction, 1 gold.
        what: ``"answer"``, ``"labels"``, ``"result"``, or the name of an output.
        call: Of which call; -1 for the whole plan.
    """

    side: int
    what: str
    call: int


MAX_LABEL_CHARACTERS = 8
"""Labels of so many characters stay as they are."""


def find_extras(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[PlanExtra]:
    """What can be left out beside calls."""
    del partners
    return [
        PlanExtra(number, what, call)
        for number, plan in enumerate(pair)
        if not isinstance(plan, str)
        for what, call in _plan_extras(plan)
    ]


def _plan_extras(plan: Plan) -> Iterable[tuple[str, int]]:
    if plan.answer is not None and not plan.answer:
        yield "answer", -1
    if any(len(call.id) > MAX_LABEL_CHARACTERS for call in plan.calls):
        yield "labels", -1
    for position, call in enumerate(plan.calls):
        if call.has_result:
            yield "result", position
        yield from ((name, position) for name in call.returns)


def drop_extras(pair: Pair, units: Iterable[PlanExtra]) -> Pair:
    """The pair without some of it."""
    plans = list(pair)
    for number, what, call in units:
        plan = plans[number]
        if not isinstance(plan, str):
            plans[number] = _drop_extra(plan, what, call)
    return Pair(*plans)


def _drop_extra(plan: Plan, what: str, position: int) -> Plan:
    if position < 0:
        return _PLAN_CHANGES[what](plan)
    call = plan.calls[position]
    if what == "result" and call.has_result:
        new = replace(call, result=None, has_result=False)
    else:
        new = replace(call, returns=tuple(name for name in call.returns if name != what))
    return replace_calls(plan, (*plan.calls[:position], new, *plan.calls[position + 1 :]))


def _shorten_labels(plan: Plan) -> Plan:
    """The plan with short labels, none of which another call has."""
    short_ids = {call.id for call in plan.calls if len(call.id) <= MAX_LABEL_CHARACTERS}
    free = (
        name
        for name in (f"c{number}" for number in range(1, 2 * len(plan.calls) + 1))
        if name not in short_ids
    )
    calls = (
        replace(call, id=next(free)) if len(call.id) > MAX_LABEL_CHARACTERS else call for call in plan.calls
    )
    return replace_calls(plan, tuple(calls))


_PLAN_CHANGES: dict[str, Callable[[Plan], Plan]] = {
    "answer": lambda plan: replace(plan, answer=None),
    "labels": _shorten_labels,
}
