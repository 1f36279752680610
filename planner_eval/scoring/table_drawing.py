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


def draw_table(table: Table) -> str:
    """A table as SVG.

    Each column has one scale, from 0 to what would be perfect, or to the greatest of its ends.

    Args:
        table: The table.

    >>> from planner_eval.scoring.tabled import Measured, make_table
    >>> table = make_table("", [Head("", "exact", "exact")], ["a<b"], [[Measured(0.5)]])
    >>> "a&lt;b" in draw_table(table)
    True
    """
    names = [shortened(visible(row.name), _NAME) for row in table.rows]
    heads = [visible(head.name) + " ↓" * head.lower for head in table.heads]
    lefts = [max(map(width_of, ["system", *names])) + 2 * PAD]
    for head in heads:
        lefts.append(lefts[-1] + max(96, width_of(head) + 2 * PAD))
    notes = [shortened(visible(note), _NOTE) for note in table.notes]
    across = max([lefts[-1], *(width(note, 10) + PAD for note in notes), width_of(table.title) + PAD]) + PAD
    elements, y = [], PAD
    if table.title:
        y += 20
        elements.append(_text(PAD, y, visible(table.title), weight="bold"))
    if any(head.group for head in table.heads):
        y += 20
        elements += _groups(table, lefts, y)
    y += 20
    elements += [_text(PAD, y, "system")]
    elements += [_text(lefts[index + 1] - PAD, y, head, anchor="end") for index, head in enumerate(heads)]
    y += 8
    elements.append(_line(PAD, lefts[-1], y, _INK))
    for name, row in zip(names, table.rows, strict=True):
        elements.append(_text(PAD, y + 20, name))
        for index, (cell, column_head) in enumerate(zip(row.cells, table.heads, strict=True)):
            most = _most([other_row.cells[index] for other_row in table.rows])
            elements += _cell(cell, column_head, lefts[index] + PAD, lefts[index + 1] - PAD, y, most)
        y += ROW
    elements.append(_line(PAD, lefts[-1], y, _INK))
    for note in notes:
        y += 15
        elements.append(_text(PAD, y, note, size=10))
    return _framed(elements, across, y + PAD)


def width_of(text: str) -> int:
    """The room that a text needs."""
    return width(text, SIZE, bold=True)


def _most(cells: list[Cell]) -> float:
    """Where a column's scale ends."""
    ends = [end for cell in cells for end in (cell.value, cell.high) if end is not None]
    return max([cell.scale for cell in cells] + ends)


def _groups(table: Table, lefts: list[int], y: int) -> list[str]:
    elements, start = [], 0
    for name, members in groupby(head.group for head in table.heads):
        count = len(list(members))
        middle = (lefts[start] + lefts[start + count]) // 2
        if name:
            elements += [_text(middle, y, visible(name), anchor="middle", weight="bold")]
            elements += [_line(lefts[start] + PAD // 2, lefts[start + count] - PAD // 2, y + 5, _FAINT)]
        start += count
    return elements


def _cell(cell: Cell, head: Head, left: int, right: int, y: int, most: float) -> list[str]:
    """The figure, and below it a dot with its interval on the column's scale."""
    if cell.value is None:
        return [_text(right, y + 20, "–", anchor="end")]
    label = number(cell.value, head) + "*" * cell.worse
    elements = [_text(right, y + 20, label, anchor="end", weight="bold" if cell.best else "normal")]

    def position_of(value: float) -> float:
        return left + (right - left) * min(1.0, max(0.0, value / most))

    track = y + 31
    elements.append(_line(left, right, track, _FAINT))
    if cell.low is not None and cell.high is not None:
        elements.append(_line(position_of(cell.low), position_of(cell.high), track, _MARK, 3))
    look = f'r="4" fill="{_MARK if cell.best else "white"}" stroke="{_MARK}" stroke-width="2"'
    return [*elements, f'<circle cx="{position_of(cell.value):.1f}" cy="{track}" {look}/>']


def _line(left: float, right: float, y: float, color: str, wide: int = 1) -> str:
    return f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{color}" stroke-width="{wide}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", size: int = SIZE
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'


def _framed(elements: list[str], across: float, down: float) -> str:
    size = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    font = f'font-family="Helvetica, Arial, sans-serif" fill="{_INK}"'
    ground = f'<rect width="{across}" height="{down}" fill="white"/>'
    body = "\n".join([ground, *elements])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>\n{body}\n</svg>'
