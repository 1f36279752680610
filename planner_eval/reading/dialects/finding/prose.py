"""The text around calls: what stands beside them, and sentences that deny one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.limits import Span
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import RawPlan
from planner_eval.reading.dialects.notations.sections import token_pattern
from planner_eval.reading.dialects.table import Wrapper

# ----------------------------------------------------------------------
# Where the calls stand that a row's tokens frame, and what a text holds beside them.
_TOOL_ANSWER = lazy_pattern(
    r"<\|?(tool_response|tool_result|tool_output|observation)\|?>.*?(?:</?\|?\1\|?>|\Z)", re.S
)
"""What a tool answered, or a model made up for it."""


def call_spans(row: Wrapper, text: str, raw: RawPlan) -> list[Span]:
    """Where the calls stand that a row read, with their tokens, in order; none where that is not known.

    Args:
        row: The row; one of sections says so itself as it reads.
        text: The text.
        raw: What was read in it.
    """
    if any(call.span is None for call in raw.calls):
        return []
    return list(_framed_spans(row, text, [call.span for call in raw.calls if call.span]))


def _framed_spans(row: Wrapper, text: str, spans: list[Span]) -> Iterator[Span]:
    """The places of calls with the row's tokens right around them."""
    around = token_pattern(row.open), token_pattern(row.close)
    opened = {match.end(): match.start() for match in around[0].finditer(text)} if row.open else {}
    for start, end in spans:
        closed = around[1].match(text, _skip_white_space(text, end)) if row.close else None
        yield opened.get(start, start), closed.end() if closed else end


def _skip_white_space(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def blank_spans(text: str, spans: list[Span]) -> str:
    """A text with some places, and what tools answered, as white space of the same length."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], blank(text[start:end])]
        position = max(position, end)
    left = "".join([*pieces, text[position:]])
    return _TOOL_ANSWER.sub(lambda m: blank(m.group()), left)


def blank(text: str) -> str:
    """White space of a text's length, with its line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


# ----------------------------------------------------------------------
# Whether the sentence around a call says that it is not made.
_DENIAL = lazy_pattern(
    r"\b(?:cannot|can't|can’t|(?:can|could|would|do|does|did|will) not|couldn't|wouldn't|don't|won't"
    r"|(?:un|not )able to|hypothetical(?:ly)?|(?:had|were|if) (?:I|you|we|it|they|there|the|a|such)\b"
    r"[^.!?]{0,120}?\b(?:had|were|was|could|would|existed|provided?|available|knew))\b",
    re.I,
)
_SENTENCE_END = lazy_pattern(r"[.!?](?=\s)|\n[ \t]*\n")

_REVERSED_FENCE_START = lazy_pattern(r"(?:\s*+\w*+```)?+[\s`]*+")
"""What stands between words and a call, read from its end on: white space, a fence and its label."""


def is_denied(text: str, start: int, end: int) -> bool:
    r"""Whether the sentence in which a call stands says that it is not made: it could not, or would if.

    Args:
        text: The text.
        start: Where the call, or the fence around it, begins.
        end: Where it ends.

    >>> text = "If I had the city, I would call:\nget_weather(city='Rome')"
    >>> is_denied(text, text.index("get"), len(text)), is_denied("I will call f: f(a=1)", 15, 21)
    (True, False)
    """
    before = text[max(0, start - 400) : start]
    before = before[: len(before) - _REVERSED_FENCE_START.match(before[::-1]).end()]  # type: ignore[union-attr]
    sentence = before[max((m.end() for m in _SENTENCE_END.finditer(before)), default=0) :]
    after = re.split(r"[.!?](?=\s|\Z)|\n", text[end : end + 200], maxsplit=1)[0]
    return bool(_DENIAL.search(sentence) or _DENIAL.search(after))
