"""What begins and ends a model's thoughts, and where they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from planner_eval.base.limits import Span
from planner_eval.base.text import find_signed, group_by_sign, lazy_pattern

THOUGHT_NAMES = "think|thinking|thought|reasoning|scratchpad|seed:think|longcat_think"
THOUGHT_TOKENS = (
    *((f"<{name}>", f"</{name}>") for name in THOUGHT_NAMES.split("|")),
    ("<|thought_start|>", "<|thought_end|>"), ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|channel>thought", "<channel|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"), ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
)  # fmt: skip
"""What begins and what ends a thought, in models' own tokens."""
_HARMONY_THOUGHT = "<|channel|>analysis<|message|>"
THOUGHT_ENDS = {start.lower(): end.lower() for start, end in THOUGHT_TOKENS} | {_HARMONY_THOUGHT: "<|end|>"}
"""What ends the thought that a token begins, both in small letters."""
THOUGHT_END_TOKENS = tuple(end.lower() for _, end in THOUGHT_TOKENS)


_TAG_END = lazy_pattern(r"(?<=\w)>\Z")


def _no_mention(start: str) -> str:
    """What tells a token from its name in a sentence: "I use <think> tags"."""
    return rf"(?!(?<=`{re.escape(start)})`(?!`)|(?-i:\ tags?\b))"


def compile_enclosed(tokens: Iterable[tuple[str, str]], more: str = "(?!)") -> re.Pattern[str]:
    """A pattern of what stands between two tokens, or is `more`; what is never closed goes on to the end."""
    pieces = [more]
    for start, end in tokens:
        opening = _TAG_END.sub(r"(?:\\s[^<>\\n]*+)?+>", re.escape(start))  # a tag may have attributes
        first, closing = rf"\{end[0]}", re.escape(end)
        pieces.append(
            rf"{opening}{_no_mention(start)}(?:[^{first}]++|(?!{closing}){first})*+(?:{closing}|\Z)"
        )
    return lazy_pattern("|".join(pieces), re.I)


_THOUGHT = compile_enclosed(
    THOUGHT_TOKENS, rf"{re.escape(_HARMONY_THOUGHT)}(?:[^<]++|<(?!\|(?:end|start|channel)\|>))*+"
)
_STARTS_AND_ENDS = group_by_sign(
    (
        rf"<(?:{THOUGHT_NAMES})\s",
        *(re.escape(start) + _no_mention(start) for start in THOUGHT_ENDS),
        *(
            rf"{re.escape(end)}(?!\\*+[\"']|</(?!s>)|(?<=`{re.escape(end)})`(?!`))"
            for end in THOUGHT_END_TOKENS
        ),
    ),
    re.I,
)


def find_thoughts(text: str) -> list[Span]:
    """Where thoughts stand; one that the prompt opened goes from the begin to where it is closed.

    >>> find_thoughts("f(a=1)?</think>f(a=2)"), find_thoughts("f()<think>g()")
    ([(0, 15)], [(3, 13)])
    """
    marks = find_signed(_STARTS_AND_ENDS, text)
    if not marks:
        return []
    first = marks[0]
    prompted = [(0, first.end())] if first.group().lower() in THOUGHT_END_TOKENS else []
    return prompted + [match.span() for match in _THOUGHT.finditer(text, prompted[0][1] if prompted else 0)]
