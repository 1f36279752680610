"""Steps over what stands beside calls: declared outputs, recorded results, long labels, an empty answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from planner_eval.base.named import NamedTuple
from planner_eval.plan.model import Plan
from planner_eval.shrinking.pairs import Pair, with_calls


class Beside(NamedTuple):
    """What can be left out.

    Args:
        side: 0 the prediction, 1 gold.
        what: ``"answer"``, ``"labels"``, ``"result"``, or the name of an output.
        call: Of which call; -1 for the whole plan.
    """

    side: int
    what: str
    call: int


LABEL = 8
"""Labels of so many characters stay as they are."""


def beside(pair: Pair, partners: Sequence[tuple[int, int]]) -> list[Beside]:
    """What can be left out beside calls."""
    del partners
    return [
        Beside(number, what, call)
        for number, plan in enumerate(pair)
        if not isinstance(plan, str)
        for what, call in _of(plan)
    ]


def _of(plan: Plan) -> Iterable[tuple[str, int]]:
    if plan.answer is not None and not plan.answer:
        yield "answer", -1
    if any(len(call.id) > LABEL for call in plan.calls):
        yield "labels", -1
    for position, call in enumerate(plan.calls):
        if call.has_result:
            yield "result", position
        yield from ((name, position) for name in call.returns)


def without_beside(pair: Pair, units: Iterable[Beside]) -> Pair:
    """The pair without some of it."""
    plans = list(pair)
    for number, what, call in units:
        plan = plans[number]
        if not isinstance(plan, str):
            plans[number] = _without(plan, what, call)
    return Pair(*plans)


def _without(plan: Plan, what: str, position: int) -> Plan:
    if position < 0:
        return _PLAN[what](plan)
    call = plan.calls[position]
    if what == "result" and call.has_result:
        new = replace(call, result=None, has_result=False)
    else:
        new = replace(call, returns=tuple(name for name in call.returns if name != what))
    return with_calls(plan, (*plan.calls[:position], new, *plan.calls[position + 1 :]))


def _numbered(plan: Plan) -> Plan:
    """The plan with short labels, none of which another call has."""
    short_ids = {call.id for call in plan.calls if len(call.id) <= LABEL}
    free = (
        name
        for name in (f"c{number}" for number in range(1, 2 * len(plan.calls) + 1))
        if name not in short_ids
    )
    calls = (replace(call, id=next(free)) if len(call.id) > LABEL else call for call in plan.calls)
    return with_calls(plan, tuple(calls))


_PLAN: dict[str, Callable[[Plan], Plan]] = {
    "answer": lambda plan: replace(plan, answer=None),
    "labels": _numbered,
}
