"""Tables of systems drawn: in each cell the figure, and below it where it and its interval lie."""

from __future__ import annotations

from itertools import groupby
from xml.sax.saxutils import escape

from planner_eval.base.text import shortened
from planner_eval.drawing.labels import visible
from planner_eval.drawing.widths import width
from planner_eval.scoring.tabled import Cell, Head, Table, number

ROW, PAD, SIZE = 42, 14, 13
"""The height of a row, the room beside what stands in it, the size of letters; in points."""
_NAME, _NOTE = 48, 160
_INK, _FAINT, _MARK = "#222222", "#c8c8c8", "#0072b2"


def draw_table(found: Table) -> str:
    """A table as SVG.

    Each column has one scale, from 0 to what would be perfect, or to the greatest of its ends.

    Args:
        found: The table.

    >>> from planner_eval.scoring.tabled import Measured, make_table
    >>> table = make_table("", [Head("", "exact", "exact")], ["a<b"], [[Measured(0.5)]])
    >>> "a&lt;b" in draw_table(table)
    True
    """
    names = [shortened(visible(row.name), _NAME) for row in found.rows]
    heads = [visible(head.name) + " ↓" * head.lower for head in found.heads]
    lefts = [max(map(width_of, ["system", *names])) + 2 * PAD]
    for head in heads:
        lefts.append(lefts[-1] + max(96, width_of(head) + 2 * PAD))
    notes = [shortened(visible(said), _NOTE) for said in found.notes]
    across = max([lefts[-1], *(width(said, 10) + PAD for said in notes), width_of(found.title) + PAD]) + PAD
    parts, y = [], PAD
    if found.title:
        y += 20
        parts.append(_text(PAD, y, visible(found.title), weight="bold"))
    if any(head.group for head in found.heads):
        y += 20
        parts += _groups(found, lefts, y)
    y += 20
    parts += [_text(PAD, y, "system")]
    parts += [_text(lefts[at + 1] - PAD, y, head, anchor="end") for at, head in enumerate(heads)]
    y += 8
    parts.append(_line(PAD, lefts[-1], y, _INK))
    for name, row in zip(names, found.rows, strict=True):
        parts.append(_text(PAD, y + 20, name))
        for at, (cell, shown) in enumerate(zip(row.cells, found.heads, strict=True)):
            most = _most([each.cells[at] for each in found.rows])
            parts += _cell(cell, shown, lefts[at] + PAD, lefts[at + 1] - PAD, y, most)
        y += ROW
    parts.append(_line(PAD, lefts[-1], y, _INK))
    for said in notes:
        y += 15
        parts.append(_text(PAD, y, said, size=10))
    return _framed(parts, across, y + PAD)


def width_of(text: str) -> int:
    """The room that a text needs."""
    return width(text, SIZE, bold=True)


def _most(cells: list[Cell]) -> float:
    """Where a column's scale ends."""
    ends = [end for cell in cells for end in (cell.value, cell.high) if end is not None]
    return max([cell.scale for cell in cells] + ends)


def _groups(found: Table, lefts: list[int], y: int) -> list[str]:
    parts, at = [], 0
    for name, each in groupby(head.group for head in found.heads):
        count = len(list(each))
        middle = (lefts[at] + lefts[at + count]) // 2
        if name:
            parts += [_text(middle, y, visible(name), anchor="middle", weight="bold")]
            parts += [_line(lefts[at] + PAD // 2, lefts[at + count] - PAD // 2, y + 5, _FAINT)]
        at += count
    return parts


def _cell(cell: Cell, head: Head, left: int, right: int, y: int, most: float) -> list[str]:
    """The figure, and below it a dot with its interval on the column's scale."""
    if cell.value is None:
        return [_text(right, y + 20, "–", anchor="end")]
    said = number(cell.value, head) + "*" * cell.worse
    parts = [_text(right, y + 20, said, anchor="end", weight="bold" if cell.best else "normal")]

    def place(value: float) -> float:
        return left + (right - left) * min(1.0, max(0.0, value / most))

    track = y + 31
    parts.append(_line(left, right, track, _FAINT))
    if cell.low is not None and cell.high is not None:
        parts.append(_line(place(cell.low), place(cell.high), track, _MARK, 3))
    look = f'r="4" fill="{_MARK if cell.best else "white"}" stroke="{_MARK}" stroke-width="2"'
    return [*parts, f'<circle cx="{place(cell.value):.1f}" cy="{track}" {look}/>']


def _line(left: float, right: float, y: float, color: str, wide: int = 1) -> str:
    return f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{color}" stroke-width="{wide}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", size: int = SIZE
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'


def _framed(parts: list[str], across: float, down: float) -> str:
    size = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    font = f'font-family="Helvetica, Arial, sans-serif" fill="{_INK}"'
    ground = f'<rect width="{across}" height="{down}" fill="white"/>'
    body = "\n".join([ground, *parts])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>\n{body}\n</svg>'
