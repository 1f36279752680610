"""Words in the place of a plan, told without the tables of notations: most plans are none at first sight."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from planner_eval.base.text import lazy_pattern
from planner_eval.reading.dialects.conversations.messages import JSON_STARTS

_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXT_ONLY_JSON = lazy_pattern(rf"\s*+(?:\{{\s*+\}}|\[\s*+(?:{_TEXT}\s*+,?+\s*+)++\]|{_TEXT})\s*+")
"""JSON that holds nothing, or nothing but texts."""


@cache
def _call_predicate() -> Callable[[str], bool]:
    """What is asked of each record: an import inside a function takes a microsecond at each call."""
    from planner_eval.reading.dialects.detect import may_hold_call

    return may_hold_call


def is_prose(source: Any) -> bool:
    """Whether what stands in a plan's place is words in which nothing could be a call, or nothing at all.

    Texts alone, in a list or as JSON, are words; an empty object says nothing. An empty list is a plan.

    >>> [is_prose(source) for source in ("It is sunny.", '["sunny"]', ["sunny"], "{}", "[]", "f(a=1)")]
    [True, True, True, True, False, False]
    >>> is_prose(["sunny", ""]), is_prose([""])
    (True, False)
    """
    if isinstance(source, list):
        texts = [text for text in source if not (isinstance(text, str) and not text.strip())]
        return bool(texts) and all(isinstance(text, str) and is_prose(text) for text in texts)
    if not isinstance(source, str):
        return False
    if source.lstrip()[:1] not in JSON_STARTS:
        return bool(source.strip()) and not _call_predicate()(source)
    if _TEXT_ONLY_JSON.fullmatch(source) is None:  # as most plans, from the second sign on
        return False
    try:
        value = json.loads(source)
    except ValueError:
        return False
    return value == {} or is_prose(value)
