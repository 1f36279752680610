"""A recorded conversation as text becomes the turns that a model took in it.

Two forms are read, alone or as the ``conversations`` or ``messages`` of an object: the released one
(``function_call`` holds the calls of an assistant turn) and the one of chat endpoints
(``tool_calls``, arguments as JSON text). Observations, system and user messages are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.jsontext import check_depth, loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.benchmarks.complexfuncbench.calls import FunctionCall
from planner_eval.benchmarks.complexfuncbench.conversation import Model, Turn
from planner_eval.benchmarks.complexfuncbench.runners import Undecodable

MOST_CALLS = 10_000
"""Calls of one conversation; mapping needs memory for each."""


def read_turns(text: str) -> list[Turn]:
    """The model's turns of a recorded conversation: lists of calls, then the final text if there is one.

    Args:
        text: One conversation as JSON.

    Raises:
        ParseError: the text is no JSON, no conversation, or too large; says where or what.

    >>> read_turns('[{"role": "assistant", "function_call": [{"name": "f", "arguments": {}}]},'
    ...            ' {"role": "assistant", "content": "Done."}]')
    [[{'name': 'f', 'arguments': {}}], 'Done.']
    """
    turns: list[Turn] = []
    count = 0
    for number, message in enumerate(_messages(text)):
        if not isinstance(message, Mapping):
            raise _shape(f"message {number} is no object", text)
        if message.get("role") != "assistant":
            continue
        calls = message.get("function_call") or message.get("tool_calls")
        if calls:
            listed = [calls] if isinstance(calls, Mapping) else calls
            if not isinstance(listed, list):
                raise _shape(f"the calls of message {number} are no list", text)
            count += len(listed)
            if count > MOST_CALLS:
                raise LimitError(f"the conversation has more than {MOST_CALLS:,} calls")
            turns.append([_call(call, number, text) for call in listed])
        else:
            content = message.get("content")
            turns.append(content if isinstance(content, str) else "")
            break
    return turns


def replayed(turns: Sequence[Turn]) -> Model:
    """A model that takes recorded turns, and gives nothing once they are used up."""
    left: Iterator[Turn] = iter(turns)
    return lambda messages: next(left, None)


def gold_prediction(conversations: Sequence[Mapping[str, Any]]) -> str:
    """The text of a prediction that repeats the annotated conversation.

    A record that is cut before its final answer gets an empty one.
    """
    turns = [turn for turn in conversations if turn.get("role") == "assistant"]
    if not turns or "function_call" in turns[-1]:
        turns.append({"role": "assistant", "content": ""})
    return json.dumps(turns, ensure_ascii=False)


def _messages(text: str) -> list[Any]:
    if len(text) > DEFAULT_LIMITS.chars:
        raise LimitError(f"the conversation is longer than {DEFAULT_LIMITS.chars:,} characters")
    check_depth(text, DEFAULT_LIMITS)
    values = loads(text, DEFAULT_LIMITS)
    value = values[0] if len(values) == 1 else values
    if isinstance(value, Mapping):
        value = value.get("conversations", value.get("messages"))
    if not isinstance(value, list):
        raise _shape("expected a list of messages, or an object with 'conversations' or 'messages'", text)
    return value


def _call(call: Any, number: int, text: str) -> FunctionCall | Undecodable:
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise _shape(f"a call of message {number} has no name", text)
    arguments = inner.get("arguments")
    if isinstance(arguments, Mapping):
        return {"name": inner["name"], "arguments": arguments}
    arguments_text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    decoded = _decoded(arguments_text)
    if decoded is None:
        return Undecodable(inner["name"], arguments_text)
    return {"name": inner["name"], "arguments": decoded}


def _decoded(text: str) -> dict[str, Any] | None:
    """Arguments written as JSON text; ``null`` means none. None where the text is no object."""
    try:
        check_depth(text, DEFAULT_LIMITS)
        value = json.loads(text)
    except (ValueError, RecursionError, ParseError):
        return None
    return {} if value is None else value if isinstance(value, dict) else None


def _shape(reason: str, text: str) -> ParseError:
    return ParseError(reason, code="parse.shape", dialect="complexfuncbench")
