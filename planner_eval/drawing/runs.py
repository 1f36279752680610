"""A plan as it ran: which calls gave a value, which failed, and which were skipped for their sake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planner_eval.drawing.labels import value_text, visible
from planner_eval.drawing.overlay import plan_scene
from planner_eval.drawing.scene import ArgumentLine, Box, Scene
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.execution.trace import CallTrace, Trace

RUN_ROLES = ("ok", "failed", "skipped")
"""The roles of a run, in the legend's order."""


def run_scene(plan: Plan, trace: Trace, *, times: bool = False) -> Scene:
    """The scene of a plan and its run; :func:`planner_eval.drawing.render` draws it.

    Args:
        plan: The plan that was run.
        trace: Its run, with one entry a call in the plan's order.
        times: Whether to show how long each call took; two runs then never look the same.

    >>> from planner_eval.execution.trace import CallTrace, Trace
    >>> from planner_eval.plan.model import Call
    >>> run = Trace((CallTrace("c1", "add", "ok", 3),))
    >>> [row.text for row in run_scene(Plan((Call("c1", "add", (("a", 1),)),)), run).boxes[0].rows]
    ['a = 1', '→ 3']
    """
    scene = plan_scene(plan)
    status = [call.status for call in trace.calls]
    boxes = [_box(box, call, times) for box, call in zip(scene.boxes, trace.calls, strict=False)]
    boxes += [_answer(box, trace) for box in scene.boxes[len(trace.calls) :]]
    arrows = [replace(a, role="plain" if status[a.tail] == "ok" else "skipped") for a in scene.arrows]
    return Scene(tuple(boxes), tuple(arrows), _summary(status, trace), RUN_ROLES)


def _box(box: Box, call: CallTrace, times: bool) -> Box:
    role = call.status if call.status in RUN_ROLES else "failed"
    rows = [replace(row, role="plain") for row in box.rows]
    if call.error is None:
        rows.append(ArgumentLine(role, f"→ {value_text(call.value, str)}"))
    else:
        rows.append(ArgumentLine(role, visible(str(call.error))))
    if times:
        tried = f", {call.attempts} attempts" if call.attempts > 1 else ""
        rows.append(ArgumentLine("plain", f"{call.seconds * 1000:.1f} ms{tried}"))
    return replace(box, role=role, rows=tuple(rows))


def _answer(box: Box, trace: Trace) -> Box:
    if trace.answer is None:
        return replace(box, role="skipped")
    rows = tuple(
        ArgumentLine("ok", f"{visible(name)} → {value_text(value, str)}") for name, value in trace.answer
    )
    return replace(box, role="ok", rows=rows)


def _summary(status: Sequence[str], trace: Trace) -> str:
    counts = Counter(status)
    summary = ", ".join(f"{counts[role]} {role}" for role in RUN_ROLES if counts[role]) or "none"
    ended = f"; ended early: {visible(str(trace.ended))}" if trace.ended is not None else ""
    return f"calls: {summary}{ended}"
