"""The kinds of objects in which answers of APIs and conversations come, and how each is told.

To know a further kind, write its line of :data:`KINDS` and, where none fits, how it is taken
(``openers.py``); tests/cases/answers has a case of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.dialects.messages import CALLS, is_call
from planner_eval.dialects.openers import (
    FRAMEWORK,
    TEXTS,
    Opener,
    take_alone,
    take_batch,
    take_candidates,
    take_choices,
    take_converse,
    take_error,
    take_event,
    take_framework,
    take_inside,
    take_item,
    take_message,
    take_response,
    take_result,
    take_shared,
    take_text,
    take_wrapped,
)
from planner_eval.dialects.states import REASONS, SAYING


def _is(kind: type, key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda item: isinstance(item.get(key), kind)


def _holds(key: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an object holds a message or an answer under a key."""
    return lambda item: isinstance(item[key], dict) and opens(item[key]) is not None


def opens(item: dict[str, Any]) -> Opener | None:
    """How an object is taken that is a message, an item or an answer; None where it is a call, or unknown."""
    kind = _kind(item)
    return None if kind is None else kind[1]


def sign_of(item: dict[str, Any]) -> str | None:
    """The key by which an object is known as a message, an item or an answer; None where it is none of them.

    >>> sign_of({"id": "r1", "choices": []}), sign_of({"role": "user"}), sign_of({"name": "f"})
    ('choices', 'role', None)
    """
    kind = _kind(item)
    return None if kind is None else kind[0]


def _kind(item: dict[str, Any]) -> tuple[str, Opener] | None:
    if item.keys().isdisjoint(SIGNS):
        return None
    if isinstance(item.get("role"), str):
        return "role", take_message
    signs = item.keys() & SIGNS
    for kind in KINDS if len(signs) > 1 else _BY_SIGN[signs.pop()]:  # most have one sign
        if kind.key in item and kind.fits(item):
            return None if is_call(item) else (kind.key, kind.opener)
    return None


def _is_constructor(item: dict[str, Any]) -> bool:
    return "lc" in item and isinstance(item["kwargs"], dict)


def _is_blocked(item: dict[str, Any]) -> bool:
    return "promptFeedback" in item or "prompt_feedback" in item


def _is_error(item: dict[str, Any]) -> bool:
    is_plain_object = item.keys().isdisjoint(("jsonrpc", "span_data", "attributes", "spans", "name"))
    return is_plain_object and bool(item["error"]) and isinstance(item["error"], (str, dict))


_ITEMS = frozenset({
    "reasoning", "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "compaction",
})  # fmt: skip


def _is_item(item: dict[str, Any]) -> bool:
    return isinstance(item["type"], str) and item["type"] in _ITEMS


_EVENTS = frozenset({
    "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
    "content_block_stop",
})  # fmt: skip


def _is_event(item: dict[str, Any]) -> bool:
    kind = item["type"]
    if not isinstance(kind, str):
        return False
    return kind in _EVENTS or (kind.startswith("response.") and not isinstance(item.get("response"), dict))


def is_streamed(item: Any) -> bool:
    """Whether an object is a piece of a stream.

    >>> is_streamed({"choices": [{"delta": {"content": "I"}}]}), is_streamed({"choices": []})
    (True, False)
    """
    if not isinstance(item, dict):
        return False
    if item.get("object") == "chat.completion.chunk" or ("type" in item and _is_event(item)):
        return True
    choices = item.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and "delta" in choice for choice in choices
    )


def _is_framework(item: dict[str, Any]) -> bool:
    return isinstance(item["type"], str) and item["type"] in FRAMEWORK and "content" in item


def _is_wrapped(item: dict[str, Any]) -> bool:
    return isinstance(item["data"], dict) and isinstance(item.get("type"), str) and item["type"] in FRAMEWORK


def _is_shared(item: dict[str, Any]) -> bool:
    return isinstance(item["from"], str) and "value" in item


def _is_response(item: dict[str, Any]) -> bool:
    output = item["output"]
    if not isinstance(output, list) or is_call(item):
        return False
    return item.get("object") == "response" or any(
        isinstance(item, dict) and (item.get("type") == "function_call" or opens(item) is not None)
        for item in output
    )


def _is_converse(item: dict[str, Any]) -> bool:
    return isinstance(item["output"], dict) and "message" in item["output"]


def _is_result(item: dict[str, Any]) -> bool:
    result = item["result"]
    return isinstance(result, dict) and result.get("type") in ("succeeded", "errored", "canceled", "expired")


def _is_message(item: dict[str, Any]) -> bool:
    message = item["message"]
    return isinstance(message, dict) and not message.keys().isdisjoint(("role", "content", *CALLS))


def _is_bare(item: dict[str, Any]) -> bool:
    """Whether a message without a role lists no call, or says why it stops."""
    return "schema" not in item and (
        not any(item.get(key) for key in CALLS) or not item.keys().isdisjoint(SAYING)
    )


def _is_text(item: dict[str, Any]) -> bool:
    """Whether an object without calls is a text and why it stops."""
    return any(isinstance(item.get(key), str) for key in TEXTS) and not any(item.get(key) for key in CALLS)


class Kind(NamedTuple):
    """A kind of object that holds an answer, a conversation or a part of one.

    Args:
        key: A key that all objects of the kind have.
        what: What it is, in words.
        fits: Whether an object that has the key is of the kind.
        opener: How it is taken.
    """

    key: str
    what: str
    fits: Callable[[dict[str, Any]], bool]
    opener: Opener


KINDS = (
    Kind("from", "ShareGPT: a message of `from` and `value`", _is_shared, take_shared),
    Kind(
        "data",
        "LangChain's `messages_to_dict`: `type` and `data`",
        _is_wrapped,
        take_wrapped,
    ),
    Kind("kwargs", "LangChain's `dumpd`: a message's constructor", _is_constructor, take_inside("kwargs")),
    Kind("raw_item", "OpenAI Agents SDK: an item of a run", _is(dict, "raw_item"), take_inside("raw_item")),
    Kind("type", "an event of a stream, which is no whole answer", _is_event, take_event),
    Kind("type", "LangChain: a message, by `model_dump()`", _is_framework, take_framework),
    Kind("type", "OpenAI Responses, Agents SDK's `to_input_list()`: an item", _is_item, take_item),
    Kind("choices", "OpenAI ChatCompletion, and what answers like it", _is(list, "choices"), take_choices),
    Kind("candidates", "Gemini, in both spellings of its keys", _is(list, "candidates"), take_candidates),
    Kind("candidates", "Gemini: a prompt that was blocked", _is_blocked, take_candidates),
    Kind("promptFeedback", "Gemini: a prompt that was blocked", _is(dict, "promptFeedback"), take_candidates),
    Kind("output", "OpenAI Responses", _is_response, take_response),
    Kind("output", "Bedrock Converse", _is_converse, take_converse),
    Kind("error", "an API's error, alone or in a line of a batch", _is_error, take_error),
    Kind(
        "status_code",
        "OpenAI Batch: `status_code` and `body`",
        _is(int, "status_code"),
        take_batch,
    ),
    Kind("response", "a line of OpenAI's or Gemini's batches", _holds("response"), take_inside("response")),
    Kind("modelOutput", "a line of a batch of Bedrock's", _holds("modelOutput"), take_inside("modelOutput")),
    Kind("result", "Anthropic message batches: a result", _is_result, take_result),
    Kind("messages", "a conversation; LangGraph's state", _is(list, "messages"), take_inside("messages")),
    Kind(
        "conversations", "ShareGPT: a conversation", _is(list, "conversations"), take_inside("conversations")
    ),
    Kind("conversation", "a conversation", _is(list, "conversation"), take_inside("conversation")),
    Kind("contents", "Gemini: a conversation", _is(list, "contents"), take_inside("contents")),
    Kind("message", "Ollama: an answer of one message", _is_message, take_alone),
    *(Kind(key, "a message without a role that calls nothing", _is_bare, take_alone) for key in CALLS),
    *(Kind(key, "a text that a server gave, and why it stops", _is_text, take_text) for key in REASONS),
)
"""The kinds of objects, in the order in which they are asked; an object with a `role` is a message."""

SIGNS = frozenset({"role", *(kind.key for kind in KINDS)})
"""Keys of which all messages, items and answers have one."""

_BY_SIGN = {sign: tuple([kind for kind in KINDS if kind.key == sign]) for sign in SIGNS}

_VAGUE = frozenset({"type", "data", "output", "result"})
"""Keys that calls have, too; beside them another sign stands in every conversation and answer."""

_WORDS = sorted(SIGNS - _VAGUE | _ITEMS | {"ai", "human", "content", "custom_id", "output_messages", "llm"})
_HINT = rf"\"(?:{'|'.join(_WORDS)})\"|gen_ai\.(?:output|completion)|llm\.output"


def may_be_told(text: str) -> bool:
    """Whether a text holds what stands in the text of every conversation and answer."""
    return re.search(_HINT, text) is not None  # compiled where it is first asked: every command imports this
