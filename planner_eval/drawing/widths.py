"""How wide a text can become, whichever font of a theme's stack a reader has.

Graphviz measures with a font of the machine that draws; an SVG is shown with one of the machine that
reads. So boxes are made for the widest of the usual fonts, whose advance widths ``viz/fonts`` holds.
"""

from __future__ import annotations

import json
import math
import unicodedata
from functools import cache

from planner_eval.base.resources import read

TABLE = "viz/fonts/widths.json"
BLANK, WIDE, PICTOGRAM, UNKNOWN = 0, 1_000, 1_400, 1_100
"""Thousandths of an em of what the table lacks: marks, East Asian letters, emoji, and all others."""


def width(text: str, size: float, *, bold: bool = False) -> int:
    """The room that a text needs in the widest font, in whole points.

    Args:
        text: One line.
        size: The font's size in points.
        bold: Whether it stands in bold.

    >>> width("get_rate", 11), width("get_rate", 11, bold=True), width("예약", 10)
    (47, 53, 20)
    """
    widths = _known(bold)
    total = 0
    for char in text:
        char_width = widths.get(char)
        total += _other(char) if char_width is None else char_width
    return math.ceil(total * size / 1_000)


@cache
def _known(bold: bool) -> dict[str, int]:
    blocks = json.loads(read(TABLE))["bold" if bold else "regular"]
    return {
        chr(int(first, 16) + k): wide
        for first, widths in blocks.items()
        for k, wide in enumerate(widths)
        if wide is not None
    }


def _other(char: str) -> int:
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return BLANK
    if unicodedata.east_asian_width(char) in "WF":
        return PICTOGRAM if category == "So" else WIDE
    return UNKNOWN
