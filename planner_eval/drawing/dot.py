"""From a scene to DOT, by the graphviz package; every foreign text goes through its `escape`."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import lru_cache

import graphviz

from planner_eval.base.text import shortened
from planner_eval.drawing.scene import WHOLE, ArgumentLine, Arrow, Box, Scene
from planner_eval.drawing.themes import Attributes, Role, Theme

MAX_CHARACTERS = 8_000
MAX_BYTES = 16_000
"""Bounds of one string: Graphviz's scanner ends at 16,384 bytes."""

CELL = '<TR><TD ALIGN="LEFT"><FONT COLOR="#000000"></FONT></TD></TR>'


def to_dot(scene: Scene, theme: Theme, *, dpi: int | None = None) -> str:
    """The scene in DOT.

    Args:
        scene: What is drawn.
        theme: How it looks.
        dpi: Dots an inch, for a bitmap.

    Returns:
        One digraph; the same scene gives the same text.

    >>> from planner_eval.drawing.themes import theme
    >>> "digraph plan" in to_dot(Scene(), theme("default"))
    True
    """
    writer = _writer(theme, "kept" if "kept" in scene.legend else "plain")
    graph = graphviz.Digraph("plan", body=writer.head)
    if dpi is not None:
        graph.attr("graph", dpi=str(dpi))
    if scene.layout:
        graph.attr("graph", **dict(scene.layout))
    apps: dict[str, list[int]] = {}
    for position, box in enumerate(scene.boxes):
        if box.app is None:
            writer.box(graph, position, box)
        else:
            apps.setdefault(box.app, []).append(position)
    for number, (app, members) in enumerate(apps.items()):
        with graph.subgraph(name=f"cluster_{number}") as cluster:
            cluster.attr("graph", label=fit(graphviz.escape(app)), **writer.cluster)
            for position in members:
                writer.box(cluster, position, scene.boxes[position])
    for arrow in scene.arrows:
        writer.arrow(graph, arrow, scene.boxes)
    caption = _caption(scene, theme)
    if caption:
        graph.attr("graph", label=caption)
    return str(graph.source)


def fit(text: str) -> str:
    r"""An escaped text within the bounds of one DOT string, cut with an ellipsis where it is longer.

    >>> len(fit(graphviz.escape("\\" * 20_000)))
    7999
    """
    if len(text) <= MAX_CHARACTERS and len(text.encode()) + text.count('"') <= MAX_BYTES:
        return text
    room, end = MAX_BYTES - 8, 0
    for char in text[: MAX_CHARACTERS - 1]:
        room -= 2 if char == '"' else len(char.encode())  # a quote is written with a backslash
        if room < 0:
            break
        end += 1
    cut = text[:end]
    if (len(cut) - len(cut.rstrip("\\"))) % 2:  # half of an escaped backslash
        cut = cut[:-1]
    return str(graphviz.nohtml(cut + "…"))


def _safe(attributes: Attributes) -> dict[str, str]:
    return {name: graphviz.nohtml(value) for name, value in attributes.items()}


def _markup(text: str) -> str:
    """Text inside an HTML-like label, where both kinds of escape count."""
    return html.escape(graphviz.escape(text))


class _Writer:
    """Writes boxes and arrows in one theme.

    The look of the usual role is written once, as the default; other roles say theirs.
    """

    def __init__(self, theme: Theme, usual: Role) -> None:
        self.theme = theme
        box = {**theme.box, **usual.box, "fontcolor": usual.text}
        line = {**theme.line, **usual.line, "fontcolor": usual.text}
        head = graphviz.Digraph()
        head.attr("graph", **_safe(theme.graph))
        head.attr("node", **_safe(box))
        head.attr("edge", **_safe(line))
        self.head = tuple(head.body)
        self.cluster = _safe(theme.cluster)
        roles = theme.roles.items()
        self.boxes = {name: _look(role, {**theme.box, **role.box}, box) for name, role in roles}
        self.lines = {name: _look(role, {**theme.line, **role.line}, line) for name, role in roles}

    def box(self, graph: graphviz.Digraph, position: int, box: Box) -> None:
        label, tooltip = self.label(box), _quoted(_tooltip(box))
        graph.body.append(f"\tc{position} [label={label} tooltip={tooltip}{self.boxes[box.role]}]\n")

    def label(self, box: Box) -> str:
        """An HTML-like label: the title in bold, then a line an argument, as many as one string holds."""
        theme, sign = self.theme, self.theme.roles[box.role].sign
        count = f" ×{box.count:,}" if box.count > 1 else ""
        lines = [f"<B>{_markup(shortened(f'{sign} {box.title}'.strip(), theme.width) + count)}</B>"]
        if box.gold:
            lines.append(_markup(shortened(f"gold: {box.gold}", theme.width)))
        size = sum(len(line.encode()) for line in lines)
        for at, row in enumerate(box.rows):
            more = self.row(row, box.role)
            size += sum(len(line.encode()) + len(CELL) for line in more)
            if size > MAX_CHARACTERS - 200:
                left = f"… and {len(box.rows) - at:,} more arguments"
                lines.append(_colored(left, theme.muted))
                break
            lines += more
        if len(lines) == 1:
            return f"<{lines[0]}>"
        cells = "".join(f'<TR><TD ALIGN="LEFT">{line}</TD></TR>' for line in lines)
        return f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">{cells}</TABLE>>'

    def row(self, row: ArgumentLine, box_role: str) -> list[str]:
        role, owner = self.theme.roles[row.role], self.theme.roles[box_role]
        sign = f"{role.sign} " if role.sign and box_role not in WHOLE else ""
        lines = [sign + shortened(row.text, self.theme.width)]
        if row.gold:
            lines.append(f"    gold: {shortened(row.gold, self.theme.width)}")
        same = role.text == owner.text
        return [_markup(line) if same else _colored(line, role.text) for line in lines]

    def arrow(self, graph: graphviz.Digraph, arrow: Arrow, boxes: Sequence[Box]) -> None:
        label = f"{self.theme.roles[arrow.role].sign} {arrow.label}".strip()
        said = ""
        if label:
            said = f"label={_quoted(graphviz.escape(f' {shortened(label, self.theme.label_width)} '))} "
        ends = f"{boxes[arrow.tail].title} to {boxes[arrow.head].title}"
        said += f"tooltip={_quoted(fit(graphviz.escape(f'{ends}: {label}' if label else ends)))}"
        graph.body.append(f"\tc{arrow.tail} -> c{arrow.head} [{said}{self.lines[arrow.role]}]\n")


@lru_cache(maxsize=16)
def _writer(theme: Theme, usual: str) -> _Writer:
    return _Writer(theme, theme.roles[usual])


def _look(role: Role, own: Attributes, default: Attributes) -> str:
    """The attributes in which a role differs from the default; what only the default has is undone."""
    full = {**dict.fromkeys(default, ""), **own, "fontcolor": role.text}
    different = {name: value for name, value in full.items() if default.get(name) != value}
    return "".join(f" {name}={_quoted(graphviz.escape(value))}" for name, value in different.items())


def _quoted(escaped: str) -> str:
    """An escaped text as a DOT string.

    The graphviz package would do the same for every attribute of every call; its checks are two
    thirds of the time that writing takes, and an escaped text needs none of them.
    """
    return '"' + escaped.replace('"', '\\"') + '"'


def _colored(text: str, color: str) -> str:
    return f'<FONT COLOR="{html.escape(color)}">{_markup(text)}</FONT>'


def _tooltip(box: Box) -> str:
    lines = [f"{box.title}  ({box.id})" if box.id else box.title]
    if box.gold:
        lines.append(f"gold: {box.gold}")
    lines += [row.text + (f"   (gold: {row.gold})" if row.gold else "") for row in box.rows]
    return fit(graphviz.escape("\n".join(lines)))


def _caption(scene: Scene, theme: Theme) -> str:
    """The legend, summary and notes below the drawing, as an HTML-like label."""
    columns = len(scene.legend) + 1
    said = [f"<B>{_colored(scene.summary, theme.text)}</B>"] if scene.summary else []
    said += [_colored(note, theme.muted) for note in scene.notes]
    rows = "".join(f'<TR><TD ALIGN="LEFT" COLSPAN="{columns}">{line}</TD></TR>' for line in said)
    rows += _legend(scene.legend, theme) if scene.legend else ""
    return f'<<TABLE BORDER="0" CELLSPACING="6" CELLPADDING="3">{rows}</TABLE>>' if rows else ""


@lru_cache(maxsize=16)
def _legend(names: tuple[str, ...], theme: Theme) -> str:
    cells = "".join(_legend_cell(theme.roles[name]) for name in names)
    return f'<TR><TD ALIGN="LEFT">{_colored("Legend", theme.muted)}</TD>{cells}</TR>'


def _legend_cell(role: Role) -> str:
    words = f"{role.sign} {role.word}".strip()
    style = next((s for s in ("dashed", "dotted") if s in role.box.get("style", "")), "solid")
    border = max(1, round(float(role.box.get("penwidth", "1"))))
    look = (
        f'BORDER="{border}" STYLE="{style}" COLOR="{html.escape(role.box["color"])}" '
        f'BGCOLOR="{html.escape(role.box["fillcolor"])}"'
    )
    cell = f"<TD {look}>{_colored(words, role.text)}</TD>"
    if role.box.get("peripheries", "1") == "1":
        return cell
    inner = f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2"><TR>{cell}</TR></TABLE>'
    return f'<TD CELLPADDING="1" {look}>{inner}</TD>'
