"""The kinds of objects in which answers of APIs and conversations come, and how each is told.

To know a further kind, write its line of :data:`KINDS` and, where none of
:mod:`planner_eval.reading.dialects.conversations.vendors` fits, how it is taken; tests/cases/answers has a
case of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import loads
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, lazy_pattern
from planner_eval.reading.dialects.conversations.answers import (
    REASON_KEYS,
    STATE_KEYS,
)
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    is_call,
)
from planner_eval.reading.dialects.conversations.spans import TRACE_KEYS
from planner_eval.reading.dialects.conversations.vendors import (
    BEDROCK_EVENTS,
    FRAMEWORK_ROLES,
    TEXT_KEYS,
    TakeFunction,
    is_event,
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
    take_next_tool,
    take_output_messages,
    take_outputs,
    take_pydantic,
    take_response,
    take_result,
    take_shared,
    take_text,
    take_trajectory,
    take_update,
    take_wrapped,
)


# ----------------------------------------------------------------------
# The kinds of objects in which answers of APIs and conversations come, and how each is told.
def _is_update(item: JsonObject) -> bool:
    """Whether an object is from one node's name to messages of LangChain's, which no call of a tool is."""
    state = next(iter(item.values())) if len(item) == 1 else None
    messages = state.get("messages") if isinstance(state, dict) else None
    return isinstance(messages, list) and all(
        isinstance(message, dict) and find_marker_key(message) in ("type", "data", "kwargs")
        for message in messages
    )


def drop_metadata(item: Any) -> Any:
    """What LangGraph streams, without mode, name space and metadata beside it; any other item as it is.

    >>> drop_metadata([{"content": "I"}, {"langgraph_node": "agent"}]), drop_metadata([1, 2])
    ({'content': 'I'}, [1, 2])
    >>> drop_metadata([["agent:1"], "updates", {"agent": {"messages": []}}])
    {'agent': {'messages': []}}
    """
    if not isinstance(item, list) or not item:
        return item
    *names, content = item
    if isinstance(content, dict) and "langgraph_node" in content and len(names) == 1:
        return names[0]
    labels = itertools.chain.from_iterable(name if isinstance(name, list) else [name] for name in names)
    if not names or not all(isinstance(label, str) for label in labels):
        return item
    streamed = drop_metadata(content)
    is_streamed = streamed is not content or (isinstance(content, dict) and _is_update(content))
    return streamed if is_streamed else item


def _is_pydantic_message(item: JsonObject) -> bool:
    return (
        item.get("kind") in ("request", "response")
        and isinstance(item["parts"], list)
        and all(isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in item["parts"])
    )


def _holds_message(key: str) -> Callable[[JsonObject], bool]:
    """Whether an object holds a message or an answer under a key, and no calls beside it."""
    return lambda item: (
        isinstance(item[key], dict)
        and find_take_function(item[key]) is not None
        and not any(item.get(calls) for calls in CALL_LIST_KEYS)
    )


def find_take_function(item: JsonObject) -> TakeFunction | None:
    """How an object is taken that is a message, an item or an answer; None where it is a call, or unknown."""
    kind = _find_kind(item)
    return None if kind is None else kind[1]


def find_marker_key(item: JsonObject) -> str | None:
    """The key by which an object is known as a message, an item or an answer; None where it is none of them.

    >>> (
    ...     find_marker_key({"id": "r1", "choices": []}), find_marker_key({"role": "user"}),
    ...     find_marker_key({"name": "f"})
    ... )
    ('choices', 'role', None)
    """
    kind = _find_kind(item)
    return None if kind is None else kind[0]


def _find_kind(item: JsonObject) -> tuple[str, TakeFunction] | None:
    if item.keys().isdisjoint(MARKER_KEYS):
        return ("update", take_update) if _is_update(item) else None
    if isinstance(item.get("role"), str):
        return "role", take_message
    signs = item.keys() & MARKER_KEYS
    for kind in KINDS if len(signs) > 1 else _KINDS_BY_MARKER_KEY[signs.pop()]:  # most have one sign
        if kind.key in item and kind.fits(item):
            return None if is_call(item) else (kind.key, kind.opener)
    return None


def _is_error(item: JsonObject) -> bool:
    is_plain_object = item.keys().isdisjoint(("jsonrpc", "span_data", "attributes", "spans", "name"))
    return is_plain_object and bool(item["error"]) and isinstance(item["error"], (str, dict))


_NON_CALL_ITEMS = frozenset({
    "reasoning", "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "compaction",
})  # fmt: skip


def _speaks(item: JsonObject) -> bool:
    """Whether the type of an object says who speaks."""
    return isinstance(item.get("type"), str) and item["type"] in FRAMEWORK_ROLES


def holds_output_messages(item: JsonObject) -> bool:
    """Whether what stands under `output` is a conversation, and no list of items of OpenAI's Responses.

    >>> message = {"role": "assistant", "content": "f()"}
    >>> holds_output_messages({"output": [message]})
    True
    >>> holds_output_messages({"output": [{**message, "type": "message"}]})
    False
    """
    output = item.get("output")
    return (
        isinstance(output, list)
        and bool(output)
        and item.get("object") != "response"
        and all(isinstance(message, dict) and _is_chat_message(message) for message in output)
    )


def _is_chat_message(item: JsonObject) -> bool:
    kind = item.get("type")
    if kind == "message" or (isinstance(kind, str) and kind in _NON_CALL_ITEMS):
        return False
    return find_marker_key(item) in _CHAT_MESSAGE_MARKERS


_CHAT_MESSAGE_MARKERS = frozenset({"role", "from", "data", "kwargs", "type"})
"""Signs of one message of a conversation, in the forms that chats and frameworks have."""


def _is_response(item: JsonObject) -> bool:
    output = drop_metadata(item["output"])
    if not isinstance(output, list) or is_call(item):
        return False
    return item.get("object") == "response" or any(
        isinstance(item, dict)
        and (item.get("type") == "function_call" or find_take_function(item) is not None)
        for item in output
    )


def _is_answer_without_role(item: JsonObject) -> bool:
    """Whether a message without a role lists no call, or says why it stops."""
    return "schema" not in item and (
        not any(item.get(key) for key in CALL_LIST_KEYS) or not item.keys().isdisjoint(STATE_KEYS)
    )


def _holds_parts(item: JsonObject) -> bool:
    """Whether the content of an object is parts of a model's message: texts and calls."""
    content = item["content"]
    return (
        isinstance(content, list)
        and all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
        and any(block["type"] in _SPOKEN_PARTS for block in content)
    )


_SPOKEN_PARTS = ("text", "output_text", "tool_use", "tool-call")


def _holds_completions(item: JsonObject) -> bool:
    """Whether what stands under `outputs` are texts that a server completed."""
    outputs = item["outputs"]
    return (
        isinstance(outputs, list)
        and bool(outputs)
        and all(isinstance(o, dict) and isinstance(o.get("text"), str) and not is_call(o) for o in outputs)
    )


def _is_text_answer(item: JsonObject) -> bool:
    """Whether an object without calls is a text and why it stops."""
    return any(isinstance(item.get(key), str) for key in TEXT_KEYS) and not any(
        item.get(key) for key in CALL_LIST_KEYS
    )


class WrapperKind(NamedTuple):
    """A kind of object that holds an answer, a conversation or a part of one.

    Args:
        key: A key that all objects of the kind have.
        what: What it is, in words.
        fits: Whether an object that has the key is of the kind.
        opener: How it is taken.
    """

    key: str
    what: str
    fits: Callable[[JsonObject], bool]
    opener: TakeFunction


def _make_kind(
    key: str, what: str, fits: type | Callable[[JsonObject], bool], opener: TakeFunction | None = None
) -> WrapperKind:
    """A kind of which what stands under the key has a type; without an opener that is all that is taken."""
    holds = (lambda item: isinstance(item.get(key), fits)) if isinstance(fits, type) else fits
    return WrapperKind(key, what, holds, opener or take_inside(key))


_RESULT_TYPES = ("succeeded", "errored", "canceled", "expired")
KINDS = tuple(
    itertools.starmap(
        _make_kind,
        (
            (
                "from",
                "ShareGPT: a message of `from` and `value`",
                lambda item: isinstance(item["from"], str) and "value" in item,
                take_shared,
            ),
            (
                "data",
                "LangChain's `messages_to_dict`: `type` and `data`",
                lambda item: isinstance(item["data"], dict) and _speaks(item),
                take_wrapped,
            ),
            (
                "kwargs",
                "LangChain's `dumpd`: a message's constructor",
                lambda item: "lc" in item and isinstance(item["kwargs"], dict),
            ),
            ("raw_item", "OpenAI Agents SDK: an item of a run", dict),
            ("type", "an event of a stream, which is not a complete answer", is_event, take_event),
            *((key, "an event of a stream of Bedrock's", dict, take_event) for key in BEDROCK_EVENTS),
            (
                "type",
                "LangChain: a message, by `model_dump()`",
                lambda item: _speaks(item) and "content" in item,
                take_framework,
            ),
            (
                "type",
                "OpenAI Responses, Agents SDK's `to_input_list()`: an item",
                lambda item: isinstance(item["type"], str) and item["type"] in _NON_CALL_ITEMS,
                take_item,
            ),
            (
                "type",
                "OpenAI Responses: a message without its role",
                lambda item: item["type"] == "message" and "content" in item,
                take_alone,
            ),
            ("parts", "Pydantic AI: a message of typed parts", _is_pydantic_message, take_pydantic),
            ("tool_name_0", "DSPy: the trajectory of ReAct", str, take_trajectory),
            ("next_tool_name", "DSPy: a step of ReAct", str, take_next_tool),
            ("choices", "OpenAI ChatCompletion, and compatible APIs", list, take_choices),
            ("candidates", "Gemini, in both spellings of its keys", list, take_candidates),
            (
                "candidates",
                "Gemini: a prompt that was blocked",
                lambda item: "promptFeedback" in item or "prompt_feedback" in item,
                take_candidates,
            ),
            ("promptFeedback", "Gemini: a prompt that was blocked", dict, take_candidates),
            ("output", "a conversation", holds_output_messages, take_output_messages),
            ("output", "OpenAI Responses", _is_response, take_response),
            (
                "output",
                "Bedrock Converse",
                lambda item: isinstance(item["output"], dict) and "message" in item["output"],
                take_converse,
            ),
            ("outputs", "vLLM: the outputs of a request", _holds_completions, take_outputs),
            ("error", "an API's error, alone or in a line of a batch", _is_error, take_error),
            ("status_code", "OpenAI Batch: `status_code` and `body`", int, take_batch),
            ("response", "a line of OpenAI's or Gemini's batches", _holds_message("response")),
            (
                "output",
                "Langfuse: an observation of a model",
                lambda item: item.get("type") == "GENERATION" and isinstance(item["output"], dict),
            ),
            ("modelOutput", "a line of a batch of Bedrock's", _holds_message("modelOutput")),
            (
                "result",
                "Anthropic message batches: a result",
                lambda item: isinstance(item["result"], dict) and item["result"].get("type") in _RESULT_TYPES,
                take_result,
            ),
            ("messages", "a conversation; LangGraph's state", list),
            ("conversations", "ShareGPT: a conversation", list),
            ("conversation", "a conversation", list),
            ("stream", "a conversation that was streamed", list),
            ("contents", "Gemini: a conversation", list),
            (
                "message",
                "Ollama: an answer of one message",
                lambda item: (
                    isinstance(item["message"], dict)
                    and not item["message"].keys().isdisjoint(("role", "content", *CALL_LIST_KEYS))
                ),
                take_alone,
            ),
            ("content", "a message's parts without its role", _holds_parts, take_alone),
            *(
                (key, "a message without a role that calls nothing", _is_answer_without_role, take_alone)
                for key in CALL_LIST_KEYS
            ),
            *(
                (key, "a server's text, with the reason why it stops", _is_text_answer, take_text)
                for key in (*REASON_KEYS, "meta_info")
            ),
        ),
    )
)
"""The kinds of objects, in the order in which they are asked; an object with a `role` is a message."""

MARKER_KEYS = frozenset({"role", *(kind.key for kind in KINDS)})
"""Keys of which all messages, items and answers have one."""

_KINDS_BY_MARKER_KEY = {sign: tuple([kind for kind in KINDS if kind.key == sign]) for sign in MARKER_KEYS}

_AMBIGUOUS_KEYS = frozenset({"type", "data", "output", "result"})
"""Keys that calls have, too; beside them another sign stands in every conversation and answer."""

_CONVERSATION_WORDS = sorted(
    MARKER_KEYS - _AMBIGUOUS_KEYS
    | _NON_CALL_ITEMS
    | {"ai", "human", "content", "custom_id", "output_messages", "llm"}
)
_CONVERSATION_HINT = lazy_pattern(
    rf"\"(?:{'|'.join(_CONVERSATION_WORDS)})\"|gen_ai\.(?:output|completion)|llm\.output"
)


def may_hold_conversation(text: str) -> bool:
    """Whether a text holds what stands in the text of every conversation and answer."""
    return _CONVERSATION_HINT.search(text) is not None


def may_be_conversation(data: Any) -> bool:
    """Whether data may be a conversation or an answer: a cheap look at the keys of its objects.

    >>> may_be_conversation([{"name": "f", "arguments": {}}]), may_be_conversation({"role": "user"})
    (False, True)
    """
    signed, data = False, drop_metadata(data)
    for item in map(drop_metadata, data) if isinstance(data, list) else (data,):
        if not isinstance(item, dict):
            return False
        signed = signed or not _CONVERSATION_KEYS.isdisjoint(item) or _is_update(item)
    return signed


_CONVERSATION_KEYS = MARKER_KEYS | TRACE_KEYS

# ----------------------------------------------------------------------
# Objects of other packages, such as a client's answer, as JSON data.
_DUMP_METHODS = ("model_dump", "to_input_list", "to_dict", "to_json")


def to_json_data(source: Any) -> Any:
    """Structure that is JSON out of an object of another package: an answer, a message or a call, or a list.

    Args:
        source: Anything; what has none of the usual methods is given back as it is, and so is structure that
            is JSON already.

    Raises:
        ParseError: the object's own method fails.

    >>> class Message:
    ...     def to_dict(self):
    ...         return {"role": "assistant", "content": "f(a=1)"}
    >>> to_json_data([Message()])
    [{'role': 'assistant', 'content': 'f(a=1)'}]
    """
    if isinstance(source, dict):
        talk = source.get("messages")
        if isinstance(talk, (list, tuple)) and not all(isinstance(item, dict) for item in talk):
            return {**source, "messages": to_json_data(talk)}
        return source
    if isinstance(source, (list, tuple)):
        return [item if isinstance(item, (str, dict, list)) else to_json_data(item) for item in source]
    for name in _DUMP_METHODS if not isinstance(source, (str, type)) else ():
        method = getattr(source, name, None)
        if callable(method):
            try:
                data = method()
            except Exception as error:  # whatever another package's code raises
                reason = f"{type(source).__name__}.{name}() fails: {type(error).__name__}: {error}"
                raise ParseError(reason, code="parse.shape") from error
            return loads(data, DEFAULT_LIMITS)[0] if isinstance(data, str) else data
    return source
