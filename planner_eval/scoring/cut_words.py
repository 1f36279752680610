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


def before_cut(kept: Plan, gold: Plan | None) -> str:
    """The whole calls before a cut, how many of them agree with gold, and where a circle begins.

    Args:
        kept: The calls before the cut.
        gold: What was wanted, where it is known.

    >>> from planner_eval.plan.model import Call
    >>> found = Call("a", "find", (("x", 1),))
    >>> before_cut(Plan((found, Call("b", "wait"), Call("c", "wait"))), Plan((found, Call("d", "book"))))
    "find(x=1); wait() ×2; the first agrees with gold's first"
    """
    runs = [(said, len([*same])) for said, same in groupby(map(call_name, kept.calls))]
    shown = "; ".join(f"{said} ×{times}" if times > 1 else said for said, times in runs[:WIDTH])
    parts = [one_line(shown, 2 * WIDTH) or "no call"]
    more = _right(kept, gold) if gold is not None else "", _circle(kept)
    return "; ".join([*parts, *filter(None, more)])


def _right(kept: Plan, gold: Plan) -> str:
    """How many of the first calls agree with gold; empty for none."""
    found = diff(kept, gold)
    wrong = {pred.call for edit in found.edits for pred, _ in edit.places if pred is not None}
    partner = dict(found.alignment.pairs)
    images: list[int] = []
    for at in range(len(kept.calls)):
        if at in wrong or at not in partner:
            break
        images.append(partner[at])
    count = len(images)
    if not count:
        return ""
    whole = count == len(kept.calls) > 1
    ours = f"all {count}" if whole else "the first" if count == 1 else f"the first {count}"
    verb = "agrees" if count == 1 else "agree"
    if sorted(images) == [*range(count)]:
        return f"{ours} {verb} with gold's first" + (f" {count}" if count > 1 else "")
    theirs = calls_numbers(images, "gold's ")
    return f"{ours} {verb} with {theirs}"


def _circle(kept: Plan) -> str:
    """From where on the same calls are made again and again, up to the cut; empty where they are not."""
    said = [call_name(call) for call in kept.calls]
    for length in range(1, LONGEST + 1):
        start = len(said)
        while start > length and said[start - 1] == said[start - 1 - length]:
            start -= 1
        first = start - length
        if len(said) - first >= ROUNDS * length and start < len(said):
            what = "the same call is" if length == 1 else f"the same {length} calls are"
            return f"from call {first + 1} on {what} made again and again"
    return ""
