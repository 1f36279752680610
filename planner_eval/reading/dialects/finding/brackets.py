"""Where a bracketed piece of text ends: brackets counted, quotes respected, one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JSON_STRING, lazy_pattern

BRACKET_PAIRS = {"[": "]", "{": "}", "(": ")"}

_SINGLE_QUOTED = r"'(?:[^'\\\n]++|\\.|'(?!\s*+(?:[,)\]}:]|\Z|\n)))*+"
"""An apostrophe ends a text only where something that may follow a text follows."""
_UNCLOSED_SINGLE_QUOTED = lazy_pattern(_SINGLE_QUOTED, re.S)


_SHORT_QUOTED = r'"[^"\\]{0,2000}+(?:\\.[^"\\]{0,200}+){0,50}+"'
"""A text in quotes, up to a length: a quote that nothing closes is not gone after at each bracket."""
_FLAT_CONTENT = rf"[^\[\]{{}}()\"'\\]++|{_SHORT_QUOTED}"


def _bracket_pattern(content: str) -> str:
    """A bracket, what it holds, and its partner."""
    return "|".join(rf"\{mark}(?:{content})*+\{BRACKET_PAIRS[mark]}" for mark in BRACKET_PAIRS)


_BALANCED_PATTERNS = (
    "(?!)",
    _bracket_pattern(_FLAT_CONTENT),
    _bracket_pattern(f"{_FLAT_CONTENT}|{_bracket_pattern(_FLAT_CONTENT)}"),
)
"""A piece that is whole, without apostrophes, of up to so many levels of brackets."""
MAX_BRACKET_DEPTH = 10_000
"""Brackets that are open at once, past which nothing is looked for: no notation reads the tenth part."""


@cache
def _token_pattern(
    *, double: bool = True, single: bool = True, line: bool = False, levels: int = 0
) -> re.Pattern[str]:
    """Brackets, texts in the quotes that are tried, other quotes; line ends where no apostrophe counts."""
    texts = [JSON_STRING.regex] * double + [f"{_SINGLE_QUOTED}'"] * single
    alternatives = f"(?P<whole>{_BALANCED_PATTERNS[levels if double and not line else 0]})|"
    alternatives += rf"(?P<open>[\[{{(])|(?P<close>[\]}})])|(?P<text>{'|'.join(texts) or '(?!)'})"
    return re.compile(
        alternatives + (r'|(?P<quote>")|(?P<line>\n)' if line else r"""|(?P<quote>["'])"""), re.S
    )


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


def tokens(text: str, start: int, stop: int, *, levels: int = 0) -> Iterator[re.Match[str]]:
    """Brackets and texts in [start, stop), in linear time whatever the quotes.

    A piece of up to `levels` levels of brackets that ends well is one token, which saves those inside of it.
    A quote that nothing closes is yielded, an apostrophe is not: in the rest of its line none closes a text.
    What is known to be closed by nothing is not tried again, see :func:`planner_eval.base.text.find_matches`.
    """
    double = single = resumed = True
    vain = position = start
    pattern = _token_pattern(levels=levels)
    while resumed:
        resumed = False
        for match in pattern.finditer(text, position, stop):
            kind = match.lastgroup
            if kind not in ("line", "quote"):
                yield match
                continue
            position, resumed = match.end(), True
            if kind == "line":
                single = position >= vain
                pattern = _token_pattern(double=double, single=single, levels=levels)
            elif match.group() == "'":
                if not single and match.start() >= vain:
                    position, single = match.start(), True
                    pattern = _token_pattern(double=double, levels=levels)
                    break
                if single:
                    vain = _UNCLOSED_SINGLE_QUOTED.match(text, match.start(), stop).end()  # type: ignore[union-attr]
                pattern = _token_pattern(double=double, single=False, line=True)
            else:
                double, line = False, "line" in pattern.groupindex
                pattern = _token_pattern(double=False, single=single and not line, line=line)
                yield match
            break


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
    for match in tokens(text, start, limit, levels=2):
        kind = match.lastgroup
        if kind == "whole":
            if not waiting:
                return Extent(match.end(), True)
        elif kind == "open":
            waiting.append((match.start(), match.group()))
            if len(waiting) > MAX_BRACKET_DEPTH:
                break
        elif kind == "close":
            if not waiting or BRACKET_PAIRS[waiting[-1][1]] != match.group():
                return Extent(match.start(), False, tuple(waiting))
            waiting.pop()
            if not waiting:
                return Extent(match.end(), True)
        elif kind == "quote" and waiting:
            return Extent(limit, False, tuple(waiting))
    return Extent(limit, False, tuple(waiting))
