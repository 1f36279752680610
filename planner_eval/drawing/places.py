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
    behind = (member for call in written for member in (call, *after.get(call.pred, ())))
    return [*after.get(None, ()), *behind]


def marks(edits: Sequence[Edit], positions: Sequence[int], boxes: Sequence[Box]) -> dict[int, str]:
    """Of each box with a mistake: whether that is a cause, the first of them, or follows from another.

    Args:
        edits: What differs, causes before consequences.
        positions: The position of the box that each is about.
        boxes: The boxes.
    """
    texts: dict[int, str] = {}
    root: list[int] = []
    for index, edit in enumerate(edits):
        root.append(index if edit.cause is None else root[edit.cause])
        if edit.cause is None:
            texts.setdefault(positions[index], CAUSE if texts else FIRST)
    for index, position in enumerate(positions):
        cause = boxes[positions[root[index]]]
        texts.setdefault(position, f"follows from {cause.title}{cause.after}")
    return texts


def roles_of(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> tuple[str, ...]:
    """The roles that a drawing shows, in the legend's order; a line of a box shows none that has no sign."""
    used = {element.role for element in boxes} | {element.role for element in arrows}
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
    counts = [f"{calls[role]} {role}" for role in ("kept", "changed", "missing", "extra") if calls[role]]
    summary = f"calls: {', '.join(counts)}"
    return summary + (f"; wrong references: {edges['wrong']}" if edges["wrong"] else "")
