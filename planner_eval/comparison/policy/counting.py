"""Which calls count: those that may stand anywhere are left out of both plans before they are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planner_eval.comparison.policy.policy import Policy, ToolCount, tool_fits
from planner_eval.plan.canonical import producers_of
from planner_eval.plan.graph import reach
from planner_eval.plan.linking import build_plan, move_arguments
from planner_eval.plan.model import Diagnostic, Plan
from planner_eval.reading.trace_times import is_failed

if TYPE_CHECKING:
    from planner_eval.plan.model import Call


def count_tools(rows: Sequence[ToolCount], calls: Iterable[Call]) -> dict[tuple[str | None, str], str]:
    """How the tool of each call counts, as the last row that fits it says; always where none does.

    >>> from planner_eval.plan.model import Call
    >>> count_tools([ToolCount("get_*", "never")], [Call("a", "get_user"), Call("b", "pay")])
    {(None, 'get_user'): 'never', (None, 'pay'): 'always'}
    """
    tools = dict.fromkeys((call.app, call.name) for call in calls)
    return {
        (app, name): next((row.counts for row in reversed(rows) if tool_fits(row.tool, app, name)), "always")
        for app, name in tools
    }


def leave_out_free_calls(pred: Plan, gold: Plan, policy: Policy) -> tuple[Plan, Plan]:
    """The two plans without the calls that do not count; the same two where all count.

    A call whose output is taken by one that counts, directly or by others, stays: what is taken from it
    is a part of what counts. So does one whose output is the answer, where the answer counts.

    Args:
        pred: The prediction.
        gold: What was wanted.
        policy: Says which calls count.
    """
    counts = count_tools(policy.counts, (*pred.calls, *gold.calls))
    in_gold = {(call.app, call.name) for call in gold.calls}
    free = {
        tool for tool, how in counts.items() if how == "never" or (how != "always" and tool not in in_gold)
    }
    return _without(pred, free, policy), _without(gold, free, policy)


def _without(plan: Plan, free: set[tuple[str | None, str]], policy: Policy) -> Plan:
    """The plan without calls of some tools, and failed ones, that nothing else needs."""
    return keep_calls(
        plan,
        {
            position
            for position, call in enumerate(plan.calls)
            if (call.app, call.name) not in free and not (policy.failed == "free" and is_failed(call))
        },
        answer=policy.answer,
    )


def keep_calls(plan: Plan, positions: Iterable[int], *, answer: bool) -> Plan:
    """The plan of some of its calls, and of those whose outputs they, or the answer, take.

    Args:
        plan: The plan.
        positions: The calls.
        answer: Whether the answer counts; else it is left out.
    """
    needed = set(positions)
    if len(needed) == len(plan.calls):
        return plan
    producers: dict[int, list[int]] = {}
    for edge in plan.edges:
        producers.setdefault(edge.consumer, []).append(edge.producer)
    if answer:
        needed.update(call for _, value in plan.answer or () for call in producers_of(value))
    needed = reach(needed, lambda position: producers.get(position, ()))
    if len(needed) == len(plan.calls):
        return plan
    new_positions = {position: number for number, position in enumerate(sorted(needed))}
    calls = [
        replace(call, arguments=move_arguments(call.arguments, new_positions))
        if position in producers
        else call
        for position, call in ((position, plan.calls[position]) for position in new_positions)
    ]
    moved = None if plan.answer is None or not answer else move_arguments(plan.answer, new_positions)
    dropped = (call for position, call in enumerate(plan.calls) if position not in needed)
    failed = Counter(call.tool for call in dropped if is_failed(call))
    notes = [
        Diagnostic("plan.failed", f"{tool} ×{count}" if count > 1 else tool, "info")
        for tool, count in failed.items()
    ]
    notes += [] if calls else [Diagnostic("plan.no_call", "no call that counts", "info")]
    kept = build_plan(calls, moved)
    return replace(kept, dialect=plan.dialect, text=plan.text, diagnostics=tuple(notes))


def choose_called_in_order(pred: Sequence[int | None], gold: Sequence[int | None]) -> list[int] | None:
    """The first calls of the prediction that are gold's, in gold's order; None where one is not there.

    Args:
        pred: A number for each call; equal calls have equal ones.
        gold: Likewise; None equals none.

    >>> choose_called_in_order([2, 1, 2], [1, 2]), choose_called_in_order([2, 1], [1, 2])
    ([1, 2], None)
    """
    chosen: list[int] = []
    position = 0
    for number in gold:
        while position < len(pred) and (number is None or pred[position] != number):
            position += 1
        if position == len(pred):
            return None
        chosen.append(position)
        position += 1
    return chosen
