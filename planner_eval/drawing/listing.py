"""The listing for a terminal: a line a call by topological generation; it loses nothing."""

from __future__ import annotations

from planner_eval.drawing.scene import WHOLE, ArgumentLine, Box, Scene, generations
from planner_eval.drawing.themes import Role, Theme

SIGNS = {"−": "-"}
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
    titles = max((len(_name(box)) for box in scene.boxes), default=0)
    lines = []
    for number, generation in enumerate(generations(scene), 1):
        lines.append(writer.paint(f"generation {number}", "2"))
        lines += [writer.line(scene.boxes[i], ids, min(titles, 30), sources.get(i, [])) for i in generation]
    lines += [*([scene.summary] if scene.summary else []), *scene.notes]
    lines += filter(None, [writer.legend(scene)])
    return "".join(f"{line}\n" for line in lines)


def sign_of(role: Role) -> str:
    """A role's sign in a terminal."""
    return SIGNS.get(role.sign, role.sign)


def _name(box: Box) -> str:
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
        title = self.paint(f"{_name(box)}{gold}".ljust(titles if box.rows or sources else 0), role.ansi)
        sign = self.paint(sign_of(role) or " ", role.ansi)
        call_id = f"{box.id.ljust(ids)}  " if ids else ""
        rows = [self.row(row, box) for row in box.rows] or sources
        mark = [f"[{box.mark}]"] if box.mark else []
        return f"{sign} {call_id}{'  '.join([title, *rows, *mark])}".rstrip()

    def row(self, row: ArgumentLine, box: Box) -> str:
        role = self.theme.roles[row.role]
        sign = f"{sign_of(role)} " if role.sign and box.role not in WHOLE else ""
        gold = f" ({row.gold})" if row.gold else ""
        return self.paint(f"{sign}{row.text}{gold}", role.ansi)

    def legend(self, scene: Scene) -> str:
        shown_roles = {box.role for box in scene.boxes} | {
            row.role for box in scene.boxes for row in box.rows
        }
        roles = [self.theme.roles[name] for name in scene.legend if name in shown_roles or name == "inferred"]
        return "  ".join(self.paint(f"{sign_of(r)} {r.word} ({r.meaning})", r.ansi) for r in roles if r.sign)
