"""An answer in FunctionChat-Bench as what it says, and gold for another plan."""

from __future__ import annotations

import json
from math import isfinite
from types import NoneType
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import build_object, fast_json_loads, loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, check_calls
from planner_eval.benchmarks.benchmark import as_json
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.official import MAX_CHARS
from planner_eval.plan.linking import SMALL_INTEGER, link
from planner_eval.plan.model import Arguments, Call, Plan, RawCall, RawPlan
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.read import parse, write


# ----------------------------------------------------------------------
# An answer in FunctionChat-Bench as what it says: calls, and words for the user.
@fast_frozen
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
        value = fast_json_loads(text)
    except (ValueError, RecursionError):  # calls in whatever notation the text is in, else words
        try:
            calls = parse(text).calls
        except ParseError:
            calls = ()
        message = {"role": "assistant", "content": text}
        return AssistantTurn(calls, "" if calls else text.strip(), message=message)
    if value is None:
        return AssistantTurn(message={"role": "assistant", "content": None})
    if isinstance(value, str):
        return AssistantTurn(content=value.strip(), message={"role": "assistant", "content": value})
    return answer_of(value)


def answer_of(value: Any) -> AssistantTurn:
    """The turn that decoded JSON holds: a message as a provider dumps it, a call or a list of calls.

    >>> old = {"content": None, "function_call": {"name": "weather", "arguments": "{}"}}
    >>> [call.name for call in answer_of(old).calls]
    ['weather']
    """
    if not isinstance(value, (dict, list)):
        return AssistantTurn(code="parse.shape", message=value)
    message = _find_message(value)
    raw_content = message.get("content", message.get("parts"))
    content = "\n".join(_texts(raw_content)).strip() if raw_content else ""
    call_value = message.get("tool_calls") or message.get("name")
    if isinstance(raw_content, str) and not call_value and not message.get("function_call"):
        return AssistantTurn(content=content, message=value)
    try:
        calls = plain_calls(value) if call_value else None
        if calls is None:
            calls = parse(message if call_value else value, dialect="json" if call_value else None).calls
        return AssistantTurn(calls, content, message=value)
    except ParseError as problem:
        return AssistantTurn((), content, problem.code, value)


def plain_calls(value: Any) -> tuple[Call, ...] | None:
    """The calls of a message, or the one call, in the very form that is asked for: what the parser reads too.

    Most answers have it, and need none of the search among the forms of others; None for any other form.

    Raises:
        ParseError: the arguments of a call are a text that is no JSON.

    >>> plain_calls({"name": "weather", "arguments": '{"city": "Seoul"}'})[0].arguments
    (('city', 'Seoul'),)
    >>> plain_calls({"name": "weather", "arguments": {}, "content": "Let me see."})
    """
    if type(value) is not dict:
        return None
    if value.keys() == _FUNCTION_FIELDS:
        items: Any = [{"function": value}]
    elif (
        value.keys() <= _MESSAGE_FIELDS
        and value.get("role") == "assistant"
        and _is_text_or_none(value.get("content"))
    ):
        items = value.get("tool_calls")
    else:
        return None
    if type(items) is not list or not items:
        return None
    entries = []
    for item in items:
        call = _plain_call(item)
        if call is None:
            return None
        entries.append(call)
    if len(entries) == 1:
        name, arguments, label = entries[0]
        if _needs_no_link(arguments):
            return (Call("c1" if label is None else label, name, arguments),)
    check_calls(len(entries), DEFAULT_LIMITS)
    raw = [RawCall(name, arguments, label=label) for name, arguments, label in entries]
    return link(RawPlan(tuple(raw)), depth=DEFAULT_LIMITS.depth).calls


def _needs_no_link(arguments: Arguments) -> bool:
    """Whether linking leaves all values as they are: no reference is one of JSON's, and none is too large."""
    for _, value in arguments:
        kind = type(value)
        if kind is str or _is_leaf(value):
            continue
        if not (kind is list or kind is dict) or not all(
            map(_is_leaf, value if kind is list else value.values())
        ):
            return False
    return True


def _is_leaf(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-SMALL_INTEGER < value < SMALL_INTEGER)
    return kind in _PLAIN_TYPES or (kind is float and isfinite(value))


_PLAIN_TYPES = frozenset({str, bool, NoneType})


_MESSAGE_FIELDS = frozenset({"role", "content", "tool_calls"})
_CALL_FIELDS = frozenset({"id", "type", "function"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})


def _is_text_or_none(content: Any) -> bool:
    return content is None or isinstance(content, str)


def _plain_call(item: Any) -> tuple[str, Arguments, str | None] | None:
    """The name, arguments and label of a call of a message's list; None where it has another form."""
    if (
        type(item) is not dict
        or not item.keys() <= _CALL_FIELDS
        or item.get("type", "function") != "function"
    ):
        return None
    function, label = item.get("function"), item.get("id")
    if type(function) is not dict or function.keys() != _FUNCTION_FIELDS or not _is_text_or_none(label):
        return None
    name, arguments = function["name"], function["arguments"]
    if not isinstance(name, str) or not name or "<|" in name:
        return None
    if isinstance(arguments, str):
        arguments = _decode_arguments(arguments)
    if type(arguments) is dict:
        return name, tuple(arguments.items()), label
    if arguments is not None and not isinstance(arguments, (dict, list)):
        return None
    return name, arguments_of(arguments, 0, ""), label


_SCAN_JSON = json.JSONDecoder(object_pairs_hook=build_object).scan_once  # type: ignore[attr-defined]


def _decode_arguments(text: str) -> Any:
    """The one JSON value that the text of a call's arguments is.

    Raises:
        ParseError: it is no JSON, or several values.
    """
    try:
        value, end = _SCAN_JSON(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError, RecursionError):
        pass  # blanks come first, or it is no JSON, or nests too deeply: the usual reader tells
    values = loads_if_json(text, DEFAULT_LIMITS) if text.strip() else [None]
    if values is None or len(values) != 1:
        raise ParseError("the arguments are a text that is not JSON, or several values")
    return values[0]


def _find_message(value: Any) -> dict[str, Any]:
    """A completion's assistant message, or what is one itself; empty where there is none."""
    if not isinstance(value, dict):
        return {}
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    inner = first.get("message") if isinstance(first, dict) else None
    return inner if isinstance(inner, dict) else value


def _texts(content: Any) -> list[str]:
    """The words of a message: a text, or parts of which some are texts."""
    if isinstance(content, str):
        return [content]
    items = content if isinstance(content, list) else []
    return [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]


# ----------------------------------------------------------------------
# Gold of FunctionChat-Bench for another plan.
def gold_of(sample: Sample, plan: Plan) -> dict[str, Any]:
    """The gold of a sample whose right answer would be another plan: a call, or a message of calls.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    calls = [
        {"name": call["name"], "arguments": as_json(call["arguments"])}
        for call in json.loads(write(plan, "json"))
    ]
    if "tool_calls" in sample.gold:
        tool_calls = [{"id": "random_id", "type": "function", "function": call} for call in calls]
        return {**sample.gold, "tool_calls": tool_calls}
    if len(calls) != 1:
        raise WriteError("gold of a single call is one call")
    return calls[0]
