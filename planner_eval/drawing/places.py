"""Which call a box of a diff is, where it stands among the others, and what its mistakes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner_eval.comparison.diff import CallRole
from planner_eval.comparison.edits import Edit
from planner_eval.drawing.scene import Arrow, Box

DIFF_ROLES = ("kept", "missing", "extra", "changed", "wrong")
"""The five roles of a diff, in the legend's order."""

FIRST = "first mistake"
CAUSE = "cause"


def in_written_order(calls: Sequence[CallRole]) -> list[CallRole]:
    """Calls as the prediction writes them; what it lacks stands behind the partner of gold's call before.

    Args:
        calls: The calls of both plans, gold's in gold's order.

    >>> [call.role for call in in_written_order([CallRole("missing", None, 0), CallRole("kept", 1, 1),
    ...                                          CallRole("extra", 0, None)])]
    ['missing', 'extra', 'kept']
    """
    after: dict[int | None, list[CallRole]] = {}
    before = None
    for call in calls:
        if call.pred is None:
            after.setdefault(before, []).append(call)
        elif call.gold is not None:
            before = call.pred
    written = sorted((call for call in calls if call.pred is not None), key=lambda call: call.pred or 0)
    behind = (one for call in written for one in (call, *after.get(call.pred, ())))
    return [*after.get(None, ()), *behind]


def marks(edits: Sequence[Edit], places: Sequence[int], boxes: Sequence[Box]) -> dict[int, str]:
    """Of each box with a mistake: whether that is a cause, the first of them, or follows from another.

    Args:
        edits: What differs, causes before consequences.
        places: The position of the box that each is about.
        boxes: The boxes.
    """
    found: dict[int, str] = {}
    root: list[int] = []
    for at, edit in enumerate(edits):
        root.append(at if edit.cause is None else root[edit.cause])
        if edit.cause is None:
            found.setdefault(places[at], CAUSE if found else FIRST)
    for at, place in enumerate(places):
        cause = boxes[places[root[at]]]
        found.setdefault(place, f"follows from {cause.title}{cause.after}")
    return found


def roles_of(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> tuple[str, ...]:
    """The roles that a drawing shows, in the legend's order; a line of a box shows none that has no sign."""
    used = {part.role for part in boxes} | {part.role for part in arrows}
    used |= {row.role for box in boxes for row in box.rows} - {"kept"}
    return tuple(role for role in (*DIFF_ROLES, "inferred") if role in used)


def summary_of(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> str:
    """How many calls and references have which role."""
    calls = Counter(box.role for box in boxes)
    edges = Counter(arrow.role for arrow in arrows)
    if not boxes:
        return "no calls in either plan"
    if not (calls.keys() | edges.keys()) - {"kept", "inferred"}:
        return "the same plan"
    parts = [f"{calls[role]} {role}" for role in ("kept", "changed", "missing", "extra") if calls[role]]
    said = f"calls: {', '.join(parts)}"
    return said + (f"; wrong references: {edges['wrong']}" if edges["wrong"] else "")
