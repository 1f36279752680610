"""Where a bracketed piece of text ends: brackets counted, quotes respected, one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PAIRS = {"[": "]", "{": "}", "(": ")"}

TOKEN = re.compile(
    r"""(?P<open>[\[{(])|(?P<close>[\]})])"""
    r"""|(?P<text>\"(?:[^"\\]++|\\.)*+\"|'(?:[^'\\\n]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z|\n)))*+')"""
    r"""|(?P<quote>["'])""",
    re.S,
)
"""Brackets and texts; an apostrophe ends a text only where something that may follow a text follows."""

_PLAIN = re.compile(
    r"""(?P<open>[\[{(])|(?P<close>[\]})])|(?P<text>\"(?:[^"\\]++|\\.)*+\")|(?P<quote>["])|(?P<line>\n)""",
    re.S,
)
"""The rest of a line in which an apostrophe closes nothing; so the whole stays linear."""


class Extent(NamedTuple):
    """How far a bracketed piece goes.

    Args:
        end: The place after its last bracket; where it breaks, the place of the bracket that fits
            nothing, or the end of the text.
        closed: Every bracket found its partner.
        waiting: The brackets still open where it ended, outermost first, as (place, bracket).
    """

    end: int
    closed: bool
    waiting: tuple[tuple[int, str], ...] = ()


def tokens(text: str, start: int, stop: int) -> Iterator[re.Match[str]]:
    """Brackets and texts in [start, stop), in linear time whatever the quotes."""
    pattern = TOKEN
    at = start
    while match := pattern.search(text, at, stop):
        at = match.end()
        if match.lastgroup == "line":
            pattern = TOKEN
            continue
        if match.lastgroup == "quote" and match.group() == "'":
            pattern = _PLAIN
            continue
        yield match


def extent(text: str, start: int, stop: int | None = None) -> Extent:
    """How far the piece goes whose first bracket is at or after `start`.

    Args:
        text: The text.
        start: Where to begin; text before the first bracket is passed over.
        stop: Where to give up; the end of the text when left out.

    >>> extent("f(a='x)', b=[1]) and more", 0).end
    16
    >>> extent("f([1)", 0)
    Extent(end=4, closed=False, waiting=((1, '('), (2, '[')))
    """
    waiting: list[tuple[int, str]] = []
    limit = len(text) if stop is None else stop
    for match in tokens(text, start, limit):
        kind = match.lastgroup
        if kind == "open":
            waiting.append((match.start(), match.group()))
        elif kind == "close":
            if not waiting or PAIRS[waiting[-1][1]] != match.group():
                return Extent(match.start(), False, tuple(waiting))
            waiting.pop()
            if not waiting:
                return Extent(match.end(), True)
        elif kind == "quote" and waiting:
            return Extent(limit, False, tuple(waiting))
    return Extent(limit, False, tuple(waiting))
