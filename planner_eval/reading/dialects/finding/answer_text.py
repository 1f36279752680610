"""What an answer says itself: without thoughts and chat tokens, and whether that is a plan of no calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from planner_eval.base.text import lazy_pattern
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, CONTAINER_KEYS, calls_no_tool
from planner_eval.reading.dialects.finding.find import THOUGHT, TOKEN
from planner_eval.reading.dialects.finding.segments import blank

_THOUGHT_END = "</think>"
_JSON_ANSWER = lazy_pattern(r"\s*+(?:```\w*+)?\s*+([\[{].*[\]}])\s*+(?:```)?\s*+", re.S)


def blank_thoughts_and_tokens(text: str) -> str:
    r"""A text without thoughts and chat tokens; places stay.

    A thought that the prompt began, as chat templates do, ends at the first ``</think>``.

    Args:
        text: The text.

    >>> (
    ...     blank_thoughts_and_tokens("so be it\n</think>\nf()").split(),
    ...     blank_thoughts_and_tokens("<think>f(</think>g()<|im_end|>").split()
    ... )
    (['f()'], ['g()'])
    """
    if _THOUGHT_END in text and "<think>" not in text:
        end = text.index(_THOUGHT_END) + len(_THOUGHT_END)
        text = blank(text[:end]) + text[end:]
    for aside in (THOUGHT, TOKEN):
        text = aside.sub(lambda match: blank(match[0]), text)
    return text


def is_empty_call_list(source: Any) -> bool:
    """Whether a text or data that calls nothing says so as a plan, by an empty list where calls would stand.

    A list of steps that all name no tool says so, too. Neither words say so, be they a message's, nor an
    empty object, nor null beside a message's words.

    Args:
        source: A text, or JSON data, that reads as a plan without calls.

    >>> (
    ...     is_empty_call_list("[]"), is_empty_call_list('"[]"'), is_empty_call_list({"tool_calls": []}),
    ...     is_empty_call_list("{}")
    ... )
    (True, True, True, False)
    >>> is_empty_call_list({"messages": [{"role": "assistant", "content": "It is sunny."}]})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "It is sunny.", "tool_calls": []})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "", "tool_calls": []})
    True
    """
    if isinstance(source, str) and source.lstrip().startswith('"'):  # a plan's text as JSON
        try:
            text = json.loads(source)
        except ValueError:
            return False
        return isinstance(text, str) and is_empty_call_list(text)
    if isinstance(source, str):
        match = _JSON_ANSWER.fullmatch(blank_thoughts_and_tokens(source))
        try:
            source = None if match is None else json.loads(match[1])
        except (ValueError, RecursionError):
            return False
    if isinstance(source, list):
        if source and all(
            isinstance(step, dict) and "tool" in step and calls_no_tool(step) for step in source
        ):
            return True
        return not source or any(is_empty_call_list(item) for item in source if not isinstance(item, str))
    if not isinstance(source, dict):
        return False
    # Of a message only what lists calls says so: its annotations, images and the like may be empty, too.
    # Beside its words they say nothing, for many packages write them in any case.
    content = source.get("content")
    if content and not (isinstance(content, str) and (not content.strip() or is_empty_call_list(content))):
        keys: Iterable[str] = ()
    elif "role" in source or "content" in source:
        keys = CALL_LIST_KEYS
    else:
        keys = (key for key in source if key not in CONTAINER_KEYS)
    if any(source.get(key) == [] for key in keys):
        return True
    inside = (source[key] for key in CONTAINER_KEYS if isinstance(source.get(key), (dict, list)))
    return any(value and is_empty_call_list(value) for value in inside)
