"""What a prediction that was cut off had got right before the cut, and whether it went round in a circle."""

from __future__ import annotations

from itertools import groupby

from planner_eval.base.text import one_line
from planner_eval.comparison.diff import diff
from planner_eval.comparison.sentences import WIDTH, call_name, calls_numbers
from planner_eval.plan.model import Plan

LONGEST = 8
"""Calls of the longest circle that is looked for."""

ROUNDS = 3
"""So often a circle is gone round before it is called one."""


def before_cut(plan: Plan, gold: Plan | None) -> str:
    """The whole calls before a cut, how many of them agree with gold, and where a circle begins.

    Args:
        plan: The calls before the cut.
        gold: What was wanted, where it is known.

    >>> from planner_eval.plan.model import Call
    >>> found = Call("a", "find", (("x", 1),))
    >>> before_cut(Plan((found, Call("b", "wait"), Call("c", "wait"))), Plan((found, Call("d", "book"))))
    "find(x=1); wait() ×2; the first agrees with gold's first"
    """
    runs = [(name, len([*same])) for name, same in groupby(map(call_name, plan.calls))]
    text = "; ".join(f"{name} ×{times}" if times > 1 else name for name, times in runs[:WIDTH])
    clauses = [one_line(text, 2 * WIDTH) or "no call"]
    more = _right(plan, gold) if gold is not None else "", _circle(plan)
    return "; ".join([*clauses, *filter(None, more)])


def _right(plan: Plan, gold: Plan) -> str:
    """How many of the first calls agree with gold; empty for none."""
    comparison = diff(plan, gold)
    wrong = {pred.call for edit in comparison.edits for pred, _ in edit.places if pred is not None}
    partner = dict(comparison.alignment.pairs)
    images: list[int] = []
    for index in range(len(plan.calls)):
        if index in wrong or index not in partner:
            break
        images.append(partner[index])
    count = len(images)
    if not count:
        return ""
    all_agree = count == len(plan.calls) > 1
    subject = f"all {count}" if all_agree else "the first" if count == 1 else f"the first {count}"
    verb = "agrees" if count == 1 else "agree"
    if sorted(images) == [*range(count)]:
        return f"{subject} {verb} with gold's first" + (f" {count}" if count > 1 else "")
    gold_calls = calls_numbers(images, "gold's ")
    return f"{subject} {verb} with {gold_calls}"


def _circle(plan: Plan) -> str:
    """From where on the same calls are made again and again, up to the cut; empty where they are not."""
    names = [call_name(call) for call in plan.calls]
    for length in range(1, LONGEST + 1):
        start = len(names)
        while start > length and names[start - 1] == names[start - 1 - length]:
            start -= 1
        first = start - length
        if len(names) - first >= ROUNDS * length and start < len(names):
            what = "the same call is" if length == 1 else f"the same {length} calls are"
            return f"from call {first + 1} on {what} made again and again"
    return ""
