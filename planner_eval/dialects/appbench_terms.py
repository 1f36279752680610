"""The terms of AppBench's lines, which the fast path and the grammar's transformer share."""

from __future__ import annotations

import re
from typing import Any

from planner_eval.plan.model import RawRef

WORD = r"[^\W\d]\w*+"
HEAD = re.compile(
    rf"(?:({WORD}(?:\s*+,\s*+{WORD})*+)\s*+=\s*+)?+([^\W\d][\w.\-]*+)\s*+\(\s*+"
)  # fmt: skip
NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
NAME = re.compile(rf"{WORD}(?:\.{WORD})*+")
LITERALS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
UNESCAPE = re.compile(r"\\(['\\])")
REFUSED = object()


def word_value(word: str) -> Any:
    """What an unquoted word is: a number, a literal, or the name of a returned argument."""
    if word in LITERALS:
        return LITERALS[word]
    if NUMBER.fullmatch(word) and len(word) < 4000:
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    if NAME.fullmatch(word):
        first, *rest = word.split(".")
        return RawRef(first, tuple(rest))
    return REFUSED
