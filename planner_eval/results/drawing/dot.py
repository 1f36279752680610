"""From a scene to DOT, by the graphviz package; every foreign text goes through its `escape`."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import graphviz

from planner_eval.base.text import shorten
from planner_eval.plan.graph import longest_chain
from planner_eval.results.drawing.scene import (
    WHOLE_CALL_ROLES,
    ArgumentLine,
    Arrow,
    Box,
    Scene,
    group_boxes,
    text_width,
    unconnected_rows,
    vertical_pairs,
)
from planner_eval.results.drawing.themes import Attributes, Role, Theme

MAX_CHARACTERS = 8_000
MAX_BYTES = 16_000
"""Bounds of one string: Graphviz's scanner ends at 16,384 bytes."""

EMPTY_CELL = '<TR><TD ALIGN="LEFT"><FONT COLOR="#000000"></FONT></TD></TR>'


def to_dot(scene: Scene, theme: Theme, *, dpi: int | None = None) -> str:
    """The scene in DOT.

    Args:
        scene: What is drawn.
        theme: How it looks.
        dpi: Dots an inch, for a bitmap.

    Returns:
        One digraph; the same scene gives the same text.

    >>> from planner_eval.results.drawing.themes import theme
    >>> "digraph plan" in to_dot(Scene(), theme("default"))
    True
    """
    writer = _writer(theme, "kept" if "kept" in scene.legend else "plain")
    graph = graphviz.Digraph("plan", body=writer.head)
    if dpi is not None:
        graph.attr("graph", dpi=str(dpi))
    if scene.layout:
        graph.attr("graph", **dict(scene.layout))
    number = 0
    for panel, apps in group_boxes(scene.boxes).items():
        outer = graph
        if panel:
            outer = graphviz.Digraph(f"cluster_{number}", body=[])
            outer.attr("graph", label=writer.title(panel), **writer.cluster)
            number += 1
        for app, members in apps.items():
            inner = outer
            if app is not None:
                inner = graphviz.Digraph(f"cluster_{number}")
                inner.attr("graph", label=writer.title(app), **writer.cluster)
                number += 1
            for position in members:
                writer.box(inner, position, scene.boxes[position])
            if inner is not outer:
                outer.subgraph(inner)
        if panel:
            outer.body += [
                f"\tc{tail} -> c{head} [style=invis]\n" for tail, head in _stack_frames(scene, apps)
            ]
            graph.subgraph(outer)
    for arrow in scene.arrows:
        writer.arrow(graph, arrow, scene.boxes)
    graph.body += [
        f"\tc{upper} -> c{lower} [style=invis]\n" for upper, lower in vertical_pairs(unconnected_rows(scene))
    ]
    caption = _caption(scene, theme)
    if caption:
        graph.attr("graph", label=caption)
    return str(graph.source)


def _stack_frames(scene: Scene, apps: Mapping[str | None, Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Unseen lines that put each frame of a panel below the one before: from its last box to the first."""
    ends = []
    for members in apps.values():
        member_set = set(members)
        inside = [(a.tail, a.head) for a in scene.arrows if a.tail in member_set and a.head in member_set]
        needs = [
            [members.index(tail) for tail, head in inside if head == member != tail] for member in members
        ]
        chain = longest_chain(needs)
        ends.append((members[chain[0]], members[chain[-1]]))
    return ((upper[1], lower[0]) for upper, lower in pairwise(ends))


def fit_string(text: str) -> str:
    r"""An escaped text within the bounds of one DOT string, cut with an ellipsis where it is longer.

    >>> len(fit_string(graphviz.escape("\\" * 20_000)))
    7999
    >>> len(fit_string('"漢' * 4_000)) < 8_000
    True
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


def _escape_attributes(attributes: Attributes) -> dict[str, str]:
    return {name: graphviz.nohtml(value) for name, value in attributes.items()}


class _Writer:
    """Writes boxes and arrows in one theme.

    The look of the usual role is written once, as the default; other roles say theirs.
    """

    def __init__(self, theme: Theme, usual: Role) -> None:
        self.theme = theme
        box = {**theme.box, **usual.box, "fontcolor": usual.text}
        line = {**theme.line, **usual.line, "fontcolor": usual.text}
        head = graphviz.Digraph()
        head.attr("graph", **_escape_attributes(theme.graph))
        head.attr("node", **_escape_attributes(box))
        head.attr("edge", **_escape_attributes(line))
        self.head = tuple(head.body)
        self.cluster = _escape_attributes(theme.cluster)
        self.sizes = {name: _font_size({**theme.box, **role.box}) for name, role in theme.roles.items()}
        self.line_sizes = {
            name: _font_size({**theme.line, **role.line}) for name, role in theme.roles.items()
        }
        roles = theme.roles.items()
        self.boxes = {name: _role_attributes(role, {**theme.box, **role.box}, box) for name, role in roles}
        self.lines = {name: _role_attributes(role, {**theme.line, **role.line}, line) for name, role in roles}

    def box(self, graph: graphviz.Digraph, position: int, box: Box) -> None:
        label, tooltip = self.label(box), _quote(_tooltip(box))
        graph.body.append(f"\tc{position} [label={label} tooltip={tooltip}{self.boxes[box.role]}]\n")

    def title(self, text: str) -> str:
        """The label of a frame."""
        line = _Line(shorten(text, 2 * self.theme.width))
        return f"<{_stack_lines([line], _font_size(self.theme.cluster))}>"

    def label(self, box: Box) -> str:
        """An HTML-like label: the title in bold, then a line an argument, as many as one string holds."""
        theme, sign = self.theme, self.theme.roles[box.role].sign
        lines = [_Line(shorten(f"{sign} {box.title}".strip(), theme.width) + box.after, bold=True)]
        if box.mark:
            lines.append(_Line(shorten(box.mark, theme.width), theme.muted))
        if box.gold:
            lines.append(_Line(shorten(f"gold: {box.gold}", theme.width)))
        size = sum(len(line.markup().encode()) for line in lines)
        for index, row in enumerate(box.rows):
            more = self.row(row, box.role)
            size += sum(len(line.markup().encode()) + len(EMPTY_CELL) for line in more)
            if size > MAX_CHARACTERS - 200:
                lines.append(_Line(f"… and {len(box.rows) - index:,} more arguments", theme.muted))
                break
            lines += more
        return f"<{_stack_lines(lines, self.sizes[box.role])}>"

    def row(self, row: ArgumentLine, box_role: str) -> list[_Line]:
        role, owner = self.theme.roles[row.role], self.theme.roles[box_role]
        sign = f"{role.sign} " if role.sign and box_role not in WHOLE_CALL_ROLES else ""
        color = "" if role.text == owner.text else role.text
        lines = [_Line(sign + shorten(row.text, self.theme.width), color)]
        if row.gold:
            lines.append(_Line(f"    {shorten(row.gold, self.theme.width)}", color))
        return lines

    def arrow(self, graph: graphviz.Digraph, arrow: Arrow, boxes: Sequence[Box]) -> None:
        label = f"{self.theme.roles[arrow.role].sign} {arrow.label}".strip()
        attributes = ""
        if label:
            line = _Line(shorten(label, self.theme.label_width))
            attributes = f"label=<{_stack_lines([line], self.line_sizes[arrow.role], padding=4)}> "
        ends = " to ".join(f"{box.title}{box.after}" for box in (boxes[arrow.tail], boxes[arrow.head]))
        attributes += f"tooltip={_quote(fit_string(graphviz.escape(f'{ends}: {label}' if label else ends)))}"
        graph.body.append(f"\tc{arrow.tail} -> c{arrow.head} [{attributes}{self.lines[arrow.role]}]\n")


class _Line(NamedTuple):
    """One line of a label; in the colour of the box where it has none of its own."""

    text: str
    color: str = ""
    bold: bool = False

    def markup(self) -> str:
        """The line inside an HTML-like label, where both kinds of escape count."""
        text = html.escape(graphviz.escape(self.text))
        text = f'<FONT COLOR="{html.escape(self.color)}">{text}</FONT>' if self.color else text
        return f"<B>{text}</B>" if self.bold else text

    def room(self, size: float) -> int:
        """The points that it takes in the widest font."""
        return text_width(self.text, size, bold=self.bold)


def _stack_lines(lines: Sequence[_Line], size: float, *, padding: int = 0) -> str:
    """Lines below one another, with room for the widest font.

    They begin at the left: a text whose middle is fixed by a narrow font would end outside.
    """
    room = max(line.room(size) for line in lines) + 2 * padding
    cells = "".join(f'<TR><TD ALIGN="LEFT">{line.markup()}</TD></TR>' for line in lines)
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="{padding}" WIDTH="{room}">{cells}</TABLE>'


def _font_size(attributes: Attributes) -> float:
    """The size of a font in points; Graphviz's own where a theme says none that is a number."""
    try:
        return float(attributes.get("fontsize", ""))
    except ValueError:
        return 14.0


@lru_cache(maxsize=16)
def _writer(theme: Theme, usual: str) -> _Writer:
    return _Writer(theme, theme.roles[usual])


def _role_attributes(role: Role, own: Attributes, default: Attributes) -> str:
    """The attributes in which a role differs from the default; what only the default has is undone."""
    full = {**dict.fromkeys(default, ""), **own, "fontcolor": role.text}
    different = {name: value for name, value in full.items() if default.get(name) != value}
    return "".join(f" {name}={_quote(graphviz.escape(value))}" for name, value in different.items())


def _quote(escaped: str) -> str:
    """An escaped text as a DOT string.

    The graphviz package would do the same for every attribute of every call; its checks are two
    thirds of the time that writing takes, and an escaped text needs none of them.
    """
    return '"' + escaped.replace('"', '\\"') + '"'


def _tooltip(box: Box) -> str:
    lines = [f"{box.title}{box.after}  ({box.id})" if box.id else f"{box.title}{box.after}"]
    if box.mark:
        lines.append(box.mark)
    if box.gold:
        lines.append(f"gold: {box.gold}")
    lines += [row.text + (f"   ({row.gold})" if row.gold else "") for row in box.rows]
    return fit_string(graphviz.escape("\n".join(lines)))


def _caption(scene: Scene, theme: Theme) -> str:
    """The legend, summary and notes below the drawing, as an HTML-like label."""
    across, size = f'COLSPAN="{len(scene.legend) + 1}"', _font_size(theme.graph)
    captions = [_Line(scene.summary, theme.text, bold=True)] if scene.summary else []
    captions += [_Line(note, theme.muted) for note in scene.notes]
    rows = "".join(f"<TR>{_caption_cell(line, size, across)}</TR>" for line in captions)
    rows += _legend(scene.legend, theme) if scene.legend else ""
    return f'<<TABLE BORDER="0" CELLSPACING="6" CELLPADDING="3">{rows}</TABLE>>' if rows else ""


@lru_cache(maxsize=16)
def _legend(names: tuple[str, ...], theme: Theme) -> str:
    cells = "".join(_legend_cell(theme.roles[name], _font_size(theme.graph)) for name in names)
    return f"<TR>{_caption_cell(_Line('Legend', theme.muted), _font_size(theme.graph))}{cells}</TR>"


def _caption_cell(line: _Line, size: float, look: str = "") -> str:
    """A cell of the caption, whose cells have three points around them and a border of three at most."""
    return f'<TD ALIGN="LEFT" WIDTH="{line.room(size) + 12}" {look}>{line.markup()}</TD>'


def _legend_cell(role: Role, size: float) -> str:
    line = _Line(f"{role.sign} {role.word}".strip(), role.text)
    style = next((s for s in ("dashed", "dotted") if s in role.box.get("style", "")), "solid")
    border = max(1, round(float(role.box.get("penwidth", "1"))))
    look = (
        f'BORDER="{border}" STYLE="{style}" COLOR="{html.escape(role.box["color"])}" '
        f'BGCOLOR="{html.escape(role.box["fillcolor"])}"'
    )
    cell = _caption_cell(line, size, look)
    if role.box.get("peripheries", "1") == "1":
        return cell
    inner = f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2"><TR>{cell}</TR></TABLE>'
    return f'<TD CELLPADDING="1" {look}>{inner}</TD>'
