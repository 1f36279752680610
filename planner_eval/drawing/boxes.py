"""Boxes and lines for a terminal, laid out by netext; for small plans."""

from __future__ import annotations

import io
from typing import Any

from planner_eval.base.errors import RenderError
from planner_eval.base.text import shortened
from planner_eval.drawing.listing import sign_of
from planner_eval.drawing.scene import WHOLE, Box, Scene
from planner_eval.drawing.themes import Theme

MAX_BOXES = 15
"""netext draws 15 calls in a blink; 50 take a second and 200 a minute, and lines begin to cross."""


def to_boxes(scene: Scene, theme: Theme) -> str:
    """The scene in boxes.

    Args:
        scene: At most 15 boxes.
        theme: Where signs and widths come from.

    Raises:
        RenderError: the scene is too large, or netext is not installed.
    """
    if len(scene.boxes) > MAX_BOXES:
        raise RenderError(
            f"boxes are drawn of at most {MAX_BOXES} calls, found {len(scene.boxes):,}: "
            "take the format text, which lists any number, or svg"
        )
    try:
        from netext import ArrowTip, ConsoleGraph, EdgeRoutingMode, EdgeSegmentDrawingMode
        from rich.console import Console
    except ImportError as error:
        raise RenderError(
            f"boxes need netext ({error}): pip install 'planner_eval[terminal]', or take the format text"
        ) from None
    look = {
        "$end-arrow-tip": ArrowTip.ARROW,
        "$edge-routing-mode": EdgeRoutingMode.ORTHOGONAL,
        "$edge-segment-drawing-mode": EdgeSegmentDrawingMode.BOX,
    }
    nodes: dict[Any, dict[str, Any]] = {
        position: {"$content-renderer": _content(box, theme)} for position, box in enumerate(scene.boxes)
    }
    edges = [(tail, head, {"$label": label, **look}) for (tail, head), label in _labels(scene, theme).items()]
    paper = Console(file=io.StringIO(), width=2_000, color_system=None, force_terminal=False, _environ={})
    if nodes:
        paper.print(ConsoleGraph(nodes, edges, console=paper), highlight=False, crop=True)
    drawn = paper.file.getvalue()  # type: ignore[attr-defined]
    lines = [line.rstrip() for line in drawn.splitlines()]
    lines += [text for text in (scene.summary, *scene.notes) if text]
    return "".join(f"{line}\n" for line in lines)


def _content(box: Box, theme: Theme) -> Any:
    """What netext calls for a box's text."""
    from rich.text import Text

    lines = [f"{sign_of(theme.roles[box.role])} {box.title}{box.after}".strip()]
    if box.mark:
        lines.append(f"  {box.mark}")
    if box.gold:
        lines.append(f"  gold: {box.gold}")
    for row in box.rows:
        sign = "" if box.role in WHOLE else sign_of(theme.roles[row.role])
        lines.append(f"{sign} {row.text}".strip())
        if row.gold:
            lines.append(f"  {row.gold}")
    text = Text("\n".join(shortened(line, theme.width) for line in lines))
    return lambda node, data, style: text


def _labels(scene: Scene, theme: Theme) -> dict[tuple[int, int], str]:
    """A label a pair of boxes: netext draws one line between two, and none from a box to itself."""
    by_pair: dict[tuple[int, int], list[str]] = {}
    for arrow in scene.arrows:
        if arrow.tail != arrow.head:
            label = f"{sign_of(theme.roles[arrow.role])} {arrow.label}".strip()
            by_pair.setdefault((arrow.tail, arrow.head), []).append(label)
    return {pair: shortened(", ".join(labels), theme.width) for pair, labels in by_pair.items()}
