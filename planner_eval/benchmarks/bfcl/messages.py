"""Answers in messages, as BFCL's runner leaves them: calls by name, text, or turns of steps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.benchmarks.bfcl.data import CATEGORIES, category_of_id
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    call_items,
    has_arguments,
    may_be_keyed_call,
    name_and_arguments,
)
from planner_eval.reading.dialects.conversations.turns import Turn, read_conversation
from planner_eval.reading.dialects.conversations.vendors import TOOL_ROLES
from planner_eval.reading.dialects.conversations.wrappers import find_marker_key

_SINGLE_TURN_CHECKS = ("calls", "irrelevance", "relevance", "format")


def runner_content(content: Any, name: str | None = None) -> Any:
    """What BFCL's runner leaves of an answer.

    Args:
        content: A message, a conversation, an API's answer, calls, or parts of a message; anything else is
            given back.
        name: The question's id: of one with a single turn all calls of a conversation are the answer.

    Raises:
        AnswerError: the API refused or failed, or nobody answered.

    >>> call = {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    >>> runner_content({"role": "assistant", "content": None, "tool_calls": [call]})
    [{'f': '{"a": 1}'}]
    >>> runner_content([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho."}])
    'Ho.'
    """
    if not isinstance(content, (dict, list)) or not content:
        return content
    items = content if isinstance(content, list) else [content]
    if all(may_be_keyed_call(item) and find_marker_key(item) is None for item in items):
        return items  # as the runner leaves calls
    try:
        talk = read_conversation(_as_message(content, items))
        turns = talk.turns if talk is not None else ()
        steps = [_step_content(turn) for turn in turns]
    except AnswerError:
        raise
    except ParseError:
        return content
    for turn in turns:
        if turn.state is not None and turn.state.code != "answer.cut":
            raise turn.state.error()
    if talk is None:
        return content
    category = CATEGORIES.get(category_of_id(name or ""))
    if category is None or category.check in _SINGLE_TURN_CHECKS:
        calls = [call for step in steps if isinstance(step, list) for call in step]
        return calls or steps[-1]
    questions = {heard.after for heard in talk.heard if heard.who not in TOOL_ROLES}
    bounds = sorted({0, len(steps), *questions})
    return [steps[start:end] for start, end in pairwise(bounds)]


def _as_message(content: Any, items: list[Any]) -> Any:
    """Calls, or parts of a message, as a message; what is one as it is."""
    if all(map(has_arguments, items)):
        return {"role": "assistant", "tool_calls": items}
    objects = [item for item in items if isinstance(item, dict)]
    if any("role" in item for item in objects) or len(objects) < len(items):
        return content
    if isinstance(content, list):
        is_message = all("type" in item for item in objects) and any(map(has_arguments, objects))
        return {"role": "assistant", "content": content} if is_message else content
    calls = next((content[key] for key in CALL_LIST_KEYS if content.get(key)), None)
    if calls is None:
        return content
    return {"role": "assistant", "content": content.get("content"), "tool_calls": calls}


def _step_content(turn: Turn) -> Any:
    calls = [name_and_arguments(call) for call in call_items(turn.items)]
    return [{name: arguments} for name, arguments in calls] if calls else turn.words
