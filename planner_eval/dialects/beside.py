"""Where the calls stand that a row's tokens frame, and what a text holds beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.later import later
from planner_eval.base.limits import Span
from planner_eval.dialects.framed import pattern
from planner_eval.dialects.table import Wrapper
from planner_eval.plan.model import RawPlan

_ANSWERED = later(r"<\|?(tool_response|tool_result|tool_output|observation)\|?>.*?(?:</?\|?\1\|?>|\Z)", re.S)
"""What a tool answered, or a model made up for it."""


def extents(row: Wrapper, text: str, raw: RawPlan) -> list[Span]:
    """Where the calls stand that a row read, with their tokens, in order; none where that is not known.

    Args:
        row: The row; one of sections says so itself as it reads.
        text: The text.
        raw: What was read in it.
    """
    if any(call.span is None for call in raw.calls):
        return []
    return list(_framed(row, text, [call.span for call in raw.calls if call.span]))


def _framed(row: Wrapper, text: str, spans: list[Span]) -> Iterator[Span]:
    """The places of calls with the row's tokens right around them."""
    around = pattern(row.open), pattern(row.close)
    opened = {match.end(): match.start() for match in around[0].finditer(text)} if row.open else {}
    for start, end in spans:
        closed = around[1].match(text, _skip(text, end)) if row.close else None
        yield opened.get(start, start), closed.end() if closed else end


def _skip(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def rest(text: str, spans: list[Span]) -> str:
    """A text with some places, and what tools answered, as white space of the same length."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], blank(text[start:end])]
        position = max(position, end)
    left = "".join([*pieces, text[position:]])
    return _ANSWERED.sub(lambda m: blank(m.group()), left)


def blank(text: str) -> str:
    """White space of a text's length, with its line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])
