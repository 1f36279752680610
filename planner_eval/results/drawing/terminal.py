"""Plans for a terminal: a listing that loses nothing, or boxes and lines for small plans."""

from __future__ import annotations

import io
from typing import Any

from planner_eval.base.errors import RenderError
from planner_eval.base.text import shorten
from planner_eval.results.drawing.scene import WHOLE_CALL_ROLES, ArgumentLine, Box, Scene, generations
from planner_eval.results.drawing.themes import Role, Theme

# ----------------------------------------------------------------------
# The listing for a terminal: a line a call by topological generation; it loses nothing.
ASCII_SIGNS = {"−": "-"}
"""A terminal's signs are ASCII, as in every other diff."""


def to_text(scene: Scene, theme: Theme, *, color: bool = False) -> str:
    """The scene as text.

    Args:
        scene: What is shown.
        theme: Where the signs and a terminal's colours come from.
        color: Whether to use those colours.

    Returns:
        Lines, each ended.
    """
    writer = _Writer(theme, color=color)
    sources: dict[int, list[str]] = {}  # what no argument says, as in a graph of tools
    for arrow in scene.arrows:
        if not scene.boxes[arrow.head].rows:
            source = f"← {scene.boxes[arrow.tail].title} {arrow.label}".strip()
            sources.setdefault(arrow.head, []).append(source)
    ids = max((len(box.id) for box in scene.boxes), default=0)
    titles = max((len(_box_name(box)) for box in scene.boxes), default=0)
    lines = []
    for number, generation in enumerate(generations(scene), 1):
        lines.append(writer.paint(f"generation {number}", "2"))
        lines += [writer.line(scene.boxes[i], ids, min(titles, 30), sources.get(i, [])) for i in generation]
    lines += [*([scene.summary] if scene.summary else []), *scene.notes]
    lines += filter(None, [writer.legend(scene)])
    return "".join(f"{line}\n" for line in lines)


def sign_of(role: Role) -> str:
    """A role's sign in a terminal."""
    return ASCII_SIGNS.get(role.sign, role.sign)


def _box_name(box: Box) -> str:
    return f"{box.title}{box.after}"


class _Writer:
    def __init__(self, theme: Theme, *, color: bool) -> None:
        self.theme = theme
        self.color = color

    def paint(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.color and sgr else text

    def line(self, box: Box, ids: int, titles: int, sources: list[str]) -> str:
        role = self.theme.roles[box.role]
        gold = f" (gold: {box.gold})" if box.gold else ""
        title = self.paint(f"{_box_name(box)}{gold}".ljust(titles if box.rows or sources else 0), role.ansi)
        sign = self.paint(sign_of(role) or " ", role.ansi)
        call_id = f"{box.id.ljust(ids)}  " if ids else ""
        rows = [self.row(row, box) for row in box.rows] or sources
        mark = [f"[{box.mark}]"] if box.mark else []
        return f"{sign} {call_id}{'  '.join([title, *rows, *mark])}".rstrip()

    def row(self, row: ArgumentLine, box: Box) -> str:
        role = self.theme.roles[row.role]
        sign = f"{sign_of(role)} " if role.sign and box.role not in WHOLE_CALL_ROLES else ""
        gold = f" ({row.gold})" if row.gold else ""
        return self.paint(f"{sign}{row.text}{gold}", role.ansi)

    def legend(self, scene: Scene) -> str:
        shown_roles = {box.role for box in scene.boxes} | {
            row.role for box in scene.boxes for row in box.rows
        }
        roles = [self.theme.roles[name] for name in scene.legend if name in shown_roles or name == "inferred"]
        return "  ".join(self.paint(f"{sign_of(r)} {r.word} ({r.meaning})", r.ansi) for r in roles if r.sign)


# ----------------------------------------------------------------------
# Boxes and lines for a terminal, laid out by netext; for small plans.
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
            f"boxes show at most {MAX_BOXES} calls, found {len(scene.boxes):,}: use --format text or svg"
        )
    try:
        from netext import ArrowTip, ConsoleGraph, EdgeRoutingMode, EdgeSegmentDrawingMode
        from rich.console import Console
    except ImportError as error:
        raise RenderError(
            f"boxes need netext ({error}): pip install 'planner_eval[terminal]', or use --format text"
        ) from None
    look = {
        "$end-arrow-tip": ArrowTip.ARROW,
        "$edge-routing-mode": EdgeRoutingMode.ORTHOGONAL,
        "$edge-segment-drawing-mode": EdgeSegmentDrawingMode.BOX,
    }
    nodes: dict[Any, dict[str, Any]] = {
        position: {"$content-renderer": _box_content(box, theme)} for position, box in enumerate(scene.boxes)
    }
    edges = [
        (tail, head, {"$label": label, **look}) for (tail, head), label in _arrow_labels(scene, theme).items()
    ]
    paper = Console(file=io.StringIO(), width=2_000, color_system=None, force_terminal=False, _environ={})
    if nodes:
        paper.print(ConsoleGraph(nodes, edges, console=paper), highlight=False, crop=True)
    drawn = paper.file.getvalue()  # type: ignore[attr-defined]
    lines = [line.rstrip() for line in drawn.splitlines()]
    lines += [text for text in (scene.summary, *scene.notes) if text]
    return "".join(f"{line}\n" for line in lines)


def _box_content(box: Box, theme: Theme) -> Any:
    """What netext calls for a box's text."""
    from rich.text import Text

    lines = [f"{sign_of(theme.roles[box.role])} {box.title}{box.after}".strip()]
    if box.mark:
        lines.append(f"  {box.mark}")
    if box.gold:
        lines.append(f"  gold: {box.gold}")
    for row in box.rows:
        sign = "" if box.role in WHOLE_CALL_ROLES else sign_of(theme.roles[row.role])
        lines.append(f"{sign} {row.text}".strip())
        if row.gold:
            lines.append(f"  {row.gold}")
    text = Text("\n".join(shorten(line, theme.width) for line in lines))
    return lambda node, data, style: text


def _arrow_labels(scene: Scene, theme: Theme) -> dict[tuple[int, int], str]:
    """A label a pair of boxes: netext draws one line between two, and none from a box to itself."""
    by_pair: dict[tuple[int, int], list[str]] = {}
    for arrow in scene.arrows:
        if arrow.tail != arrow.head:
            label = f"{sign_of(theme.roles[arrow.role])} {arrow.label}".strip()
            by_pair.setdefault((arrow.tail, arrow.head), []).append(label)
    return {pair: shorten(", ".join(labels), theme.width) for pair, labels in by_pair.items()}
