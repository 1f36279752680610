"""The terms of AppBench's lines: what its readers share, and what its lines are known by."""

from __future__ import annotations

import re
from typing import Any

from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import RawComputed, RawRef
from planner_eval.reading.dialects.dialect import Data
from planner_eval.reading.dialects.programs.syntax import has_leading_zero

LETTERS = r"a-zA-Z0-9_\w"
"""As ``\\w`` alone; of the letters that it names no table of Unicode is asked, which takes a third longer."""
WORD = rf"[^\W\d][{LETTERS}]*+"
CALL_HEAD = re.compile(
    rf"(?:({WORD}(?:\s*+,\s*+{WORD})*+)\s*+=\s*+)?+([^\W\d][{LETTERS}.\-]*+)\s*+\(\s*+"
)  # fmt: skip
NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
NAME = re.compile(rf"{WORD}(?:\.{WORD})*+")
LITERALS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
ESCAPED_CHARACTER = re.compile(r"\\(['\\])")
INVALID_WORD = object()


def word_value(word: str) -> Any:
    """What an unquoted word is: a number, a literal, or the name of a returned argument."""
    if word in LITERALS:
        return LITERALS[word]
    if word.isidentifier() and word.isascii():  # as most are
        return RawRef(word)
    if NUMBER.fullmatch(word) and len(word) < 4000:
        if has_leading_zero(word):
            return RawComputed(word)
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    if NAME.fullmatch(word):
        first, *fields = word.split(".")
        return RawRef(first, tuple(fields))
    return INVALID_WORD


# ---------------------------------------------------------------- recognition
_LABEL = (
    r"\w++ (?:\w++ )*+[a-z]\w*+|(?i:sure|okay|ok|here|now|first|next|then|finally|final"
    r"|(?:\w+ )*(?:action|answer|approach|call|command|decision|execution|function|invocation|operation"
    r"|output|plan|procedure|response|result|sequence|solution|step|thought|tool|workflow)s?(?:[ _]?\d++)?)"
)
"""What stands before a colon in a model's words, where it is no app's name."""
SIGN = (
    rf"\A(?!\s*+(?:{_LABEL}):[^#]*+\Z)"
    r"(?:\s*+(?:[^\W\d](?:[\w\- ]|\.(?!\s))*+:[ \t]*+\[\s*+)?+"
    r"(?:\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+)?+[^\W\d][\w.\-]*+\s*+\(\s*+(?:#\w|(?<=:\[)\))"
    r"|\s*+[^\W\d](?:[\w\- ]|\.(?!\s))*+:[ \t]*+\[\s*+(?:\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+)?+"
    r"[^\W\d][\w.\-]*+\s*+\(\s*+(?:#\w|\)))"
)
"""A call with #name= arguments, or one of an app in brackets that has none: after a label it is no app's."""


_SIGN_PATTERN = lazy_pattern(SIGN)


def is_start(text: str) -> bool:
    """Whether a text starts like lines of this notation.

    >>> is_start("Hotels: [a = f(#x='1')]"), is_start("a = f(x=1)")
    (True, False)
    """
    return ("#" in text or "[" in text) and _SIGN_PATTERN.match(text) is not None


def fits(data: Data) -> str | None:
    """Whether data is a gold or result record, or a list of lines.

    >>> fits(Data(["a = f(#x='1')"], ["a = f(#x='1')"], [], "", texts=True))
    'a list of lines with #name= arguments'
    """
    if data.texts:
        lines = all(is_start(item) for item in data.items)
        return "a list of lines with #name= arguments" if lines else "a list of lines"
    record = isinstance(data.value, dict) and ("api_results" in data.value or "decided_api" in data.value)
    return "a gold or result record of AppBench" if record else None
