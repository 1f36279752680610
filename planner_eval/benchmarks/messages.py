"""Answers in messages: the text, or the calls, that a benchmark's own runner leaves of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.reading.dialects.conversations.messages import call_items, has_arguments, name_and_arguments
from planner_eval.reading.dialects.conversations.turns import Conversation, Turn, read_conversation
from planner_eval.reading.dialects.conversations.vendors import TOOL_ROLES


def message_text(content: Any) -> Any:
    """The words of a message, or of an API's answer, that calls nothing; anything else as it is.

    Args:
        content: An answer as data.

    >>> message_text({"role": "assistant", "content": "f(a=1)"}), message_text([{"name": "f"}])
    ('f(a=1)', [{'name': 'f'}])
    """
    talk = _read(content)
    if talk is None or len(talk.turns) != 1:
        return content
    (turn,) = talk.turns
    return turn.words if turn.words and not list(call_items(turn.items)) else content


def runner_content(content: Any) -> Any:
    """What BFCL's runner leaves of an answer: calls by name, text, or of several steps the turns of steps.

    Args:
        content: A message, a conversation, an API's answer or a list of calls; anything else is given back.

    >>> call = {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    >>> runner_content({"role": "assistant", "content": None, "tool_calls": [call]})
    [{'f': '{"a": 1}'}]
    >>> runner_content([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho."}])
    'Ho.'
    """
    if isinstance(content, list) and all(isinstance(item, dict) and len(item) == 1 for item in content):
        return content  # as the runner leaves calls
    is_call_list = isinstance(content, list) and all(map(has_arguments, content))
    talk = _read({"role": "assistant", "tool_calls": content} if is_call_list else content)
    if talk is None:
        return content
    steps = [_step_content(turn) for turn in talk.turns]
    if len(steps) == 1:
        return steps[0]
    questions = {heard.after for heard in talk.heard if heard.who not in TOOL_ROLES}
    bounds = sorted({0, len(steps), *questions})
    return [steps[start:end] for start, end in pairwise(bounds)]


def _step_content(turn: Turn) -> Any:
    calls = [name_and_arguments(call) for call in call_items(turn.items)]
    return [{name: arguments} for name, arguments in calls] if calls else turn.words


def _read(content: Any) -> Conversation | None:
    if not isinstance(content, (list, dict)):
        return None
    try:
        talk = read_conversation(content)
        if talk is not None:
            for turn in talk.turns:
                list(call_items(turn.items))
    except ParseError:
        return None
    return talk
