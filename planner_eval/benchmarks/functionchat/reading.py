"""An answer in FunctionChat-Bench as what it says: calls, and words for the user."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.functionchat.official import MAX_CHARS
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Call


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """One turn of an assistant.

    Args:
        calls: The calls, in order.
        content: What is said to the user; "" where nothing is.
        code: Why the calls cannot be read; there are none then.
        message: The turn as a chat message, for a judge.
    """

    calls: tuple[Call, ...] = ()
    content: str = ""
    code: str | None = None
    message: Any = None


def read_answer(text: str) -> AssistantTurn:
    """The turn that a text holds: an assistant message as JSON, calls in any dialect, or plain words.

    >>> read_answer('{"content": "Which city?", "tool_calls": null}').content
    'Which city?'
    >>> read_answer("Which city?").content
    'Which city?'
    >>> [call.name for call in read_answer('{"name": "weather", "arguments": {}}').calls]
    ['weather']
    """
    if len(text) > MAX_CHARS:
        return AssistantTurn(code="parse.limit")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _of_text(text)
    if value is None:
        return AssistantTurn(message={"role": "assistant", "content": None})
    if isinstance(value, str):
        return AssistantTurn(content=value.strip(), message={"role": "assistant", "content": value})
    return answer_of(value)


def answer_of(value: Any) -> AssistantTurn:
    """The turn that decoded JSON holds: a chat message, a call or a list of calls."""
    if not isinstance(value, (dict, list)):
        return AssistantTurn(code="parse.shape", message=value)
    content = value.get("content") if isinstance(value, dict) else None
    content = content.strip() if isinstance(content, str) else ""
    if isinstance(value, dict) and not value.get("tool_calls") and not value.get("name"):
        return AssistantTurn(content=content, message=value)
    try:
        return AssistantTurn(parse(value, dialect="json").calls, content, message=value)
    except ParseError as problem:
        return AssistantTurn((), content, problem.code, value)


def _of_text(text: str) -> AssistantTurn:
    """Calls in whatever dialect the text is in, else words."""
    try:
        calls = parse(text).calls
    except ParseError:
        calls = ()
    content = "" if calls else text.strip()
    return AssistantTurn(calls, content, message={"role": "assistant", "content": text})
