"""What stands in a drawing: foreign text made safe, values in words, and how wide a text can become."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from functools import cache

from planner_eval.base.resources import read
from planner_eval.base.text import printable
from planner_eval.plan.model import Path, Ref, Unresolved, Value
from planner_eval.plan.values import fold

# ----------------------------------------------------------------------
# What stands in a drawing: foreign text made safe, values and references in words.
_ALSO_UNSAFE = re.compile("[\t\n\u061c\ufffe\uffff\U000e0000-\U000e0fff]")
_SCALARS = (str, int, float, bool, type(None))
_encode_json = json.JSONEncoder(ensure_ascii=False).encode


def visible_text(text: str) -> str:
    r"""The text on one line, with everything that would hide, move or break other text as an escape.

    On top of what terminals cannot take, these are the characters that XML cannot.

    >>> visible_text("a\nb\x00c\ud800")
    'a\\nb\\x00c\\ud800'
    """
    if text.isprintable():
        return text
    return _ALSO_UNSAFE.sub(lambda m: ascii(m[0])[1:-1], printable(text))


def name_text(name: str) -> str:
    """A name as it is shown: visible, in quotes where there would be nothing to see.

    >>> name_text("search"), name_text(" ")
    ('search', '" "')
    """
    return visible_text(name) if name.strip() else f'"{visible_text(name)}"'


def path_text(path: Path) -> str:
    """A path as it is written behind a name.

    >>> path_text(("flights", 0, "id"))
    'flights[0].id'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def reference_text(name: str, path: Path) -> str:
    """A call's output in words.

    >>> reference_text("search", ("flights", 0)), reference_text("search", ())
    ('search.flights[0]', 'search')
    """
    if not path:
        return name
    return f"{name}{'' if isinstance(path[0], int) else '.'}{path_text(path)}"


def value_text(value: Value, name_of: Callable[[int], str]) -> str:
    """A value as JSON on one line, references as ``← producer.output``; nothing is cut.

    Args:
        value: A linked value.
        name_of: The name of the call at a position.

    >>> value_text({"to": [Ref(0, ("city",)), "x"]}, ["search"].__getitem__)
    '{"to": [← search.city, "x"]}'
    """

    def leaf(value: Value) -> str:
        if isinstance(value, Ref):
            return f"← {reference_text(name_of(value.call), value.path)}"
        if isinstance(value, Unresolved):
            return f"← ?{reference_text(value.name, value.path)}"
        return _scalar_text(value) if isinstance(value, _SCALARS) else repr(value)

    def text(pieces: tuple[Value, ...]) -> str:
        texts = (
            _scalar_text(piece)[1:-1] if isinstance(piece, str) else f"{{{leaf(piece)}}}" for piece in pieces
        )
        return f'"{"".join(texts)}"'

    def fields(members: dict[str, str]) -> str:
        return f"{{{', '.join(f'{_scalar_text(key)}: {item}' for key, item in members.items())}}}"

    rendered: str = fold(
        value, leaf, items=lambda elements: f"[{', '.join(elements)}]", fields=fields, text=text
    )
    return visible_text(rendered)


def _scalar_text(value: Value) -> str:
    try:
        return _encode_json(value)
    except ValueError:  # more digits than Python writes in decimal
        return hex(value)


# ----------------------------------------------------------------------
# How wide a text can become, whichever font of a theme's stack a reader has.
#
# Graphviz measures with a font of the machine that draws; an SVG is shown with one of the machine that
# reads. So boxes are made for the widest of the usual fonts, whose advance widths ``viz/fonts`` holds.
WIDTHS_FILE = "viz/fonts/widths.json"
BLANK_WIDTH, WIDE_LETTER_WIDTH, PICTOGRAM_WIDTH, UNKNOWN_WIDTH = 0, 1_000, 1_400, 1_100
"""Thousandths of an em of what the table lacks: marks, East Asian letters, emoji, and all others."""


def text_width(text: str, size: float, *, bold: bool = False) -> int:
    """The room that a text needs in the widest font, in whole points.

    Args:
        text: One line.
        size: The font's size in points.
        bold: Whether it stands in bold.

    >>> text_width("get_rate", 11), text_width("get_rate", 11, bold=True), text_width("예약", 10)
    (47, 53, 20)
    """
    widths = _char_widths(bold)
    total = 0
    for char in text:
        char_width = widths.get(char)
        total += _unlisted_char_width(char) if char_width is None else char_width
    return math.ceil(total * size / 1_000)


@cache
def _char_widths(bold: bool) -> dict[str, int]:
    blocks = json.loads(read(WIDTHS_FILE))["bold" if bold else "regular"]
    return {
        chr(int(first, 16) + k): wide
        for first, widths in blocks.items()
        for k, wide in enumerate(widths)
        if wide is not None
    }


def _unlisted_char_width(char: str) -> int:
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return BLANK_WIDTH
    if unicodedata.east_asian_width(char) in "WF":
        return PICTOGRAM_WIDTH if category == "So" else WIDE_LETTER_WIDTH
    return UNKNOWN_WIDTH
