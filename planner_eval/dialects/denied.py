"""Whether the sentence around a call says that it is not made."""

from __future__ import annotations

import re

from planner_eval.base.later import later

_DENIED = later(
    r"\b(?:cannot|can't|can’t|(?:can|could|would|do|does|did|will) not|couldn't|wouldn't|don't|won't"
    r"|(?:un|not )able to|hypothetical(?:ly)?|(?:had|were|if) (?:I|you|we|it|they|there|the|a|such)\b"
    r"[^.!?]{0,120}?\b(?:had|were|was|could|would|existed|provided?|available|knew))\b",
    re.I,
)
_SENTENCE = later(r"[.!?](?=\s)|\n[ \t]*\n")

_FRAMED = later(r"(?:\s*+\w*+```)?+[\s`]*+")
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
    before = before[: len(before) - _FRAMED.match(before[::-1]).end()]  # type: ignore[union-attr]
    sentence = before[max((m.end() for m in _SENTENCE.finditer(before)), default=0) :]
    after = re.split(r"[.!?](?=\s|\Z)|\n", text[end : end + 200], maxsplit=1)[0]
    return bool(_DENIED.search(sentence) or _DENIED.search(after))
