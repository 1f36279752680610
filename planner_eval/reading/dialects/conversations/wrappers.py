"""Conversations and answers of APIs as turns of the assistant, whatever wraps them.

To know a further kind, write its line of :data:`KINDS` and, where none fits, how it is taken
(``openers.py``); tests/cases/answers has a case of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.json_text import loads
from planner_eval.base.limits import Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations import spans
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, format_value, is_call
from planner_eval.reading.dialects.conversations.spans import messages_of, refuse_several_runs

# ----------------------------------------------------------------------
# Answers that are no whole answer: cut at a limit, refused, failed; read from what each API says of it.
CUT_REASONS = frozenset({
    "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "incomplete",
    "model_context_window_exceeded", "limit", "pause_turn", "in_progress", "queued",
})  # fmt: skip
"""Reasons to stop at which the answer has no end."""
REFUSAL_REASONS = frozenset({
    "refusal", "content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation",
    "language", "blocklist", "prohibited_content", "spii", "image_safety", "model_armor", "jailbreak",
})  # fmt: skip
"""Reasons to stop at which the model, or a filter, gave no answer."""
FAILURE_REASONS = frozenset({
    "error", "errored", "failed", "cancelled", "canceled", "expired", "abort", "other",
    "malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "malformed_tool_use", 
    "malformed_model_output", "network_error", "insufficient_system_resource",
})  # fmt: skip
"""Reasons to stop at which the API, not the model, ended the answer."""
REASON_KEYS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "native_finish_reason",
    "stop_type",
)  # fmt: skip
"""Keys under which an answer says why it stops."""
METADATA_KEYS = ("response_metadata", "responseMetadata", "generation_info", "additional_kwargs", "details")
"""Keys under which a message holds what the API said of it."""
STATE_KEYS = frozenset({*REASON_KEYS, *METADATA_KEYS, "refusal", "error"})
"""All keys under which an answer may say that it is not whole."""

_REASON_MESSAGES = (
    (CUT_REASONS, "answer.cut", "the answer was cut off"),
    (REFUSAL_REASONS, "answer.refused", "the answer was refused"),
    (FAILURE_REASONS, "answer.failed", "no answer but an error"),
)


_NO_PLAN_CODES = frozenset({"max_turns", "max_steps", "no_route", "left_record"})
"""Codes of errors in rows of planeval predict whose model did answer."""


class AnswerState(NamedTuple):
    """Why an answer is no whole answer: a code of :data:`planner_eval.base.errors.CODES`, and a sentence."""

    code: str
    reason: str


def stop_reason_state(value: Any, key: str) -> AnswerState | None:
    """What a reason to stop says; None where it says that the answer is whole, or nothing that is known.

    Args:
        value: What the API gives, in any case.
        key: The key it stands under, for the sentence.

    >>> stop_reason_state("MAX_TOKENS", "finishReason").reason
    "the answer was cut off: finishReason is 'MAX_TOKENS'"
    >>> stop_reason_state("stop", "finish_reason")
    """
    if not isinstance(value, str):
        return None
    stop_reason = value.rpartition(".")[2].lower()  # an enumeration's member may be written with its class
    for stop_reasons, code, sentence in _REASON_MESSAGES:
        if stop_reason in stop_reasons:
            return AnswerState(code, f"{sentence}: {key} is {shorten(value, 40)!r}")
    return None


def answer_state(message: Mapping[str, Any]) -> AnswerState | None:
    r"""Why a message, a record, or the answer around either, is not whole; None where nothing says so.

    >>> answer_state({"role": "assistant", "content": None, "refusal": "I can't."}).reason
    'the answer was refused: "I can\'t."'
    >>> answer_state({"content": "", "response_metadata": {"finish_reason": "length"}}).code
    'answer.cut'
    >>> answer_state({"result": "[f()]", "valid": False, "error": ["Wrong number of functions."]})
    """
    if STATE_KEYS.isdisjoint(message):
        return None
    for holder in (message, *(message[key] for key in METADATA_KEYS if isinstance(message.get(key), dict))):
        refusal, error = holder.get("refusal"), holder.get("error")
        if isinstance(refusal, str) and refusal:
            return refusal_state(refusal)
        for key in REASON_KEYS:
            state = stop_reason_state(holder.get(key), key)
            if state is not None:
                return state
        if isinstance(holder.get("valid"), bool):  # what BFCL's evaluator says of an answer that is there
            continue
        if error and isinstance(error, (str, dict, list, bool)):
            return failure_state(error)
    return None


def refusal_state(words: str) -> AnswerState:
    """The state of an answer that the model refused in so many words."""
    return AnswerState("answer.refused", f"the answer was refused: {_format_json(words)}")


def failure_state(error: Any) -> AnswerState:
    """The state of an answer in whose place an API gives an error.

    >>> failure_state({"error": {"type": "overloaded_error", "message": "Overloaded"}}).reason
    'no answer but an error: "Overloaded"'
    """
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    if isinstance(code, str) and code in _NO_PLAN_CODES and isinstance(message, str):
        return AnswerState("answer.failed", f"no answer: {_format_json(message)}")
    for _ in range(3):
        if isinstance(error, dict):
            error = next(
                (
                    error[key]
                    for key in ("error", "message", "errorMessage", "code", "type")
                    if error.get(key)
                ),
                error,
            )
    return AnswerState("answer.failed", f"no answer but an error: {_format_json(error)}")


def _format_json(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False, default=str), 120)


# ----------------------------------------------------------------------
# The pieces of one answer that was streamed, kept as a list: which of them make the answer.
#
# Events that add to an answer letter by letter are put together by the vendors' packages, and refused here.
# Two
# streams say the whole: OpenAI's Responses end in an event that holds the answer, and of Gemini's each piece
# is an answer with the next parts of it.
_END_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})


def are_answer_pieces(items: list[Any]) -> bool:
    """Whether objects are the pieces of one answer: several of them, and no two that are whole answers.

    Args:
        items: The objects, in the order in which they came.

    >>> are_answer_pieces([{"type": "response.created"}, {"type": "response.completed", "response": {}}])
    True
    """
    return _are_events(items) or _are_chunks(items)


def join_answer_pieces(items: list[Any]) -> list[Any]:
    """The answer that the pieces of a stream make; the objects themselves where they make none, or are none.

    >>> said = [[{"content": {"parts": [{"text": part}]}}] for part in "ab"]
    >>> said[-1][0]["finishReason"] = "STOP"
    >>> (joined,) = join_answer_pieces([{"candidates": one, "responseId": "r"} for one in said])
    >>> joined["candidates"]
    [{'content': {'role': 'model', 'parts': [{'text': 'ab'}]}, 'finishReason': 'STOP'}]
    """
    if len(items) < 2 or not isinstance(items[0], dict):
        return items
    if "candidates" in items[0]:
        return [_join_chunks(items)] if _are_chunks(items) else items
    if "type" in items[0] and _are_events(items) and items[-1]["type"] in _END_EVENTS:
        return items[-1:]
    return items


def _are_events(items: list[Any]) -> bool:
    """Whether objects are the events of one of OpenAI's Responses, of which the last may hold the answer."""
    kinds = [item.get("type") if isinstance(item, dict) else None for item in items]
    if len(kinds) < 2 or not all(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return False
    return _END_EVENTS.isdisjoint(kinds[:-1])


def _are_chunks(items: list[Any]) -> bool:
    """Whether objects are pieces of one of Gemini's answers: of one id, or only the last says why it ends."""
    if len(items) < 2 or not all(
        isinstance(item, dict) and _first_candidate(item) is not None for item in items
    ):
        return False
    ids = {_response_id(item) for item in items}
    if len(ids) > 1 or any(len(item["candidates"]) != 1 for item in items):
        return False
    ended = [_has_finish_reason(item) for item in items]
    return not any(ended[:-1]) and (ended[-1] or ids != {None})


def _response_id(item: dict[str, Any]) -> str | None:
    response_id = item.get("responseId", item.get("response_id"))
    return response_id if isinstance(response_id, str) else None


def _first_candidate(item: dict[str, Any]) -> dict[str, Any] | None:
    candidates = item.get("candidates")
    return (
        candidates[0]
        if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict)
        else None
    )


def _has_finish_reason(item: dict[str, Any]) -> bool:
    candidate = _first_candidate(item) or {}
    return bool(candidate.get("finishReason", candidate.get("finish_reason")))


def _join_chunks(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The pieces of an answer of Gemini's as one: their parts in order, words that follow words joined."""
    joined_parts: list[Any] = []
    for item in items:
        content = item["candidates"][0].get("content")
        content_parts = content.get("parts") if isinstance(content, dict) else None
        for content_part in content_parts if isinstance(content_parts, list) else ():
            if _is_text_part(content_part) and joined_parts and _is_text_part(joined_parts[-1]):
                joined_parts[-1] = {"text": joined_parts[-1]["text"] + content_part["text"]}
            else:
                joined_parts.append(content_part)
    last = items[-1]["candidates"][0]
    return {**items[-1], "candidates": [{**last, "content": {"role": "model", "parts": joined_parts}}]}


def _is_text_part(content_part: Any) -> bool:
    return (
        isinstance(content_part, dict)
        and content_part.keys() == {"text"}
        and isinstance(content_part["text"], str)
    )


# ----------------------------------------------------------------------
# How what vendors and frameworks put around a message is undone, a function for each kind of object.
ASSISTANT_ROLES = frozenset(
    {"assistant", "model", "gpt", "ai", "chatgpt", "AIMessageChunk", "function_call", "tool_call"}
)
"""Who speaks where the assistant does, in all notations."""
TOOL_ROLES = frozenset({
    "tool", "function", "observation", "function_response", "tool_response", "ipython", "environment",
    "ToolMessageChunk", "FunctionMessageChunk",
})  # fmt: skip
OTHER_ROLES = frozenset({"user", "human", "system", "developer", "HumanMessageChunk", "SystemMessageChunk"})
TEXT_KEYS = ("generated_text", "output_text", "text", "completion", "response", "content")
"""Keys under which a server of texts gives one."""
FRAMEWORK_ROLES = ASSISTANT_ROLES | TOOL_ROLES | OTHER_ROLES
_HOSTED_CALL_SUFFIX = "_call"
"""How the types end of the calls of an API's own tools, which name no tool of the user's."""

JOIN_ADVICE = "join the pieces into one message first, or ask without streaming"
STREAM_PIECE_MESSAGE = f"this is a piece of a stream, not a complete answer: {JOIN_ADVICE}"
"""What is said of an event of a stream."""

TakeFunction = Callable[["TurnCollector", dict[str, Any], int], None]


def take_message(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A message with a role, whose content and calls are in the form of any vendor."""
    who = item["role"]
    if who in ASSISTANT_ROLES or (
        who not in TOOL_ROLES and who not in OTHER_ROLES and any(item.get(key) for key in CALL_LIST_KEYS)
    ):
        walk.said(item, None)
    else:
        walk.heard(item, who)


def take_shared(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A message of ShareGPT's: ``from`` and ``value``."""
    who, value = item["from"].replace("-", "_"), item["value"]
    if who in ("function_call", "tool_call"):
        turn = walk.turn()
        calls = decode_json(value) if isinstance(value, str) else value
        if not isinstance(value, (str, list, dict)):
            raise wrong_shape_error(value, "the value of a message: a call, or its text")
        if calls is None:
            turn.words, turn.spoken = [str(value)], True
        else:
            turn.items.append(
                {"role": "assistant", "tool_calls": calls if isinstance(calls, list) else [calls]}
            )
    elif who in ASSISTANT_ROLES:
        walk.said(
            {"role": "assistant", "content": value, **{k: item[k] for k in CALL_LIST_KEYS if k in item}}, None
        )
    else:
        walk.heard({"role": "tool" if who in TOOL_ROLES else "user", "content": value}, who)


def decode_json(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        values = loads(text, Limits())
    except ParseError:
        return None
    return values[0] if len(values) == 1 else values


def take_framework(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A message of LangChain's, dumped: ``type`` says who speaks."""
    who, extra = item["type"], item.get("additional_kwargs")
    if who in ASSISTANT_ROLES:
        message: dict[str, Any] = {key: item[key] for key in ("content", "tool_calls") if key in item}
        unread = item.get("invalid_tool_calls") or []
        if unread:
            lists = [message.get("tool_calls") or [], unread]
            if not all(isinstance(calls, list) for calls in lists):
                raise wrong_shape_error(lists, "lists of calls")
            message["tool_calls"] = [call for calls in lists for call in calls]
        if not message.get("tool_calls") and isinstance(extra, dict):
            message |= {key: extra[key] for key in ("tool_calls", "function_call") if extra.get(key)}
        walk.said({"role": "assistant", **message}, answer_state(item))
    else:
        walk.heard({**item, "role": "tool" if who in TOOL_ROLES else "user"}, who)


def take_wrapped(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A message of LangChain's in an object that says who speaks."""
    take_framework(walk, {**item["data"], "type": item["type"]}, depth)


def take_inside(key: str) -> TakeFunction:
    """What an object holds under one key, and nothing else of it."""

    def opener(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
        inner = item[key]
        if isinstance(inner, list):
            walk.joins = False
            walk.all(inner, depth)
        else:
            walk.take(inner, depth + 1)

    return opener


def take_event(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """An event of a stream, which holds a piece of an answer."""
    raise ParseError(STREAM_PIECE_MESSAGE, code="parse.shape")


def take_error(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """An API's error in place of an answer."""
    walk.turn(failure_state(item["error"]))


def take_batch(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A line of an API's batch: the answer's body, with its status."""
    body, status = item.get("body", item), item.get("status_code")
    if isinstance(status, int) and status >= 400:
        walk.turn(failure_state(body if isinstance(body, dict) and body else f"status {status}"))
    elif isinstance(body, dict) and body is not item:
        walk.take(body, depth + 1)
    else:
        raise wrong_shape_error(body, "the body of a response: an object")


def take_result(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A result of Anthropic's message batches."""
    result = item["result"]
    if isinstance(result.get("message"), dict):
        walk.take(result["message"], depth + 1)
    else:
        walk.turn(failure_state(result.get("error") or result["type"]))


def take_choices(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """OpenAI's ChatCompletion: the first choice, and why it stops."""
    choice = _first_choice(walk, item["choices"], "choices")
    state = answer_state(choice) or answer_state(item)
    message = choice.get("message")
    if message is None and "delta" in choice:
        raise ParseError(STREAM_PIECE_MESSAGE, code="parse.shape")
    if isinstance(message, dict):
        walk.said({"role": "assistant", **message} if "role" not in message else message, state)
    elif isinstance(choice.get("text"), str):
        walk.said({"role": "assistant", "content": choice["text"]}, state)
    elif state is not None:
        walk.turn(state)
    else:
        raise wrong_shape_error(message, "the message of a choice: an object")


def take_candidates(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """Gemini's answer: the first candidate, and why it stops; or the prompt that was blocked."""
    feedback = item.get("promptFeedback", item.get("prompt_feedback"))
    reason = feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None
    if reason and not item.get("candidates"):
        walk.turn(refusal_state(f"the prompt was blocked: {reason}"))
        return
    candidate = _first_choice(walk, item.get("candidates"), "candidates")
    content, state = candidate.get("content"), answer_state(candidate) or answer_state(item)
    if isinstance(content, dict):
        walk.said({**content, "role": "model"} if content.get("role") != "model" else content, state)
    elif state is not None:
        walk.turn(state)
    elif content is None:
        walk.turn()  # nothing was said
    else:
        raise wrong_shape_error(content, "the content of a candidate: an object")


def _first_choice(walk: TurnCollector, options: Any, key: str) -> dict[str, Any]:
    """The answer of the lowest `index` to one question, else the first; the others are alternatives."""
    if not isinstance(options, list) or not options:
        found = "empty" if options == [] else format_value(options)
        raise AnswerError(f"no answer: {key!r} is {found}", code="answer.absent")
    if not isinstance(options[0], dict):
        raise wrong_shape_error(options[0], f"one of {key!r}: an object")
    if len(options) == 1:
        return options[0]
    message = f"the answer has {len(options)} {key}; the first was read"
    walk.notes.append(Diagnostic("find.choices", message, "info"))
    numbered = all(isinstance(option, dict) and type(option.get("index")) is int for option in options)
    return min(options, key=lambda option: option["index"]) if numbered else options[0]


def take_response(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """OpenAI's Responses: items, and the state of the whole."""
    about = item.get("incomplete_details")
    reason = about.get("reason") if isinstance(about, dict) else None
    state = stop_reason_state(reason, "incomplete_details.reason") or stop_reason_state(
        item.get("status"), "status"
    )
    if item.get("error"):
        state = failure_state(item["error"])
    walk.turn(state)
    walk.joins = True
    walk.all(item["output"], depth)


def take_converse(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """Bedrock's Converse."""
    message = item["output"].get("message")
    if not isinstance(message, dict):
        raise wrong_shape_error(message, "the message of an answer: an object")
    walk.said(message if "role" in message else {"role": "assistant", **message}, answer_state(item))


def take_alone(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """An answer that holds one message (Ollama), or that is one without a role."""
    message = item["message"] if isinstance(item.get("message"), dict) else item
    walk.said(message if "role" in message else {"role": "assistant", **message}, answer_state(item))


def take_text(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """A text that a server gave, and why it stops."""
    text = next(item[key] for key in TEXT_KEYS if isinstance(item.get(key), str))
    walk.said({"role": "assistant", "content": text}, answer_state(item))


def take_item(walk: TurnCollector, item: dict[str, Any], depth: int) -> None:
    """An item of the Responses API that is no call."""
    kind = item["type"]
    if kind.endswith("_output"):
        walk.heard(item, "a tool")
        return
    walk.part({"type": "reasoning"})
    if kind.endswith(_HOSTED_CALL_SUFFIX):
        message = f"an item {kind!r} calls a tool of the API's own, without a name; it was not read"
        walk.notes.append(Diagnostic("shape.ignored", message, "info"))


def wrong_shape_error(value: Any, expected: str) -> ParseError:
    """The error of a part that is of another shape than its kind has."""
    return ParseError(f"found {format_value(value)}, expected {expected}", code="parse.shape")


# ----------------------------------------------------------------------
# The kinds of objects in which answers of APIs and conversations come, and how each is told.
def _has_type_at(kind: type, key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda item: isinstance(item.get(key), kind)


def _holds_message(key: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an object holds a message or an answer under a key."""
    return lambda item: isinstance(item[key], dict) and find_take_function(item[key]) is not None


def find_take_function(item: dict[str, Any]) -> TakeFunction | None:
    """How an object is taken that is a message, an item or an answer; None where it is a call, or unknown."""
    kind = _find_kind(item)
    return None if kind is None else kind[1]


def find_marker_key(item: dict[str, Any]) -> str | None:
    """The key by which an object is known as a message, an item or an answer; None where it is none of them.

    >>> (
    ...     find_marker_key({"id": "r1", "choices": []}), find_marker_key({"role": "user"}),
    ...     find_marker_key({"name": "f"})
    ... )
    ('choices', 'role', None)
    """
    kind = _find_kind(item)
    return None if kind is None else kind[0]


def _find_kind(item: dict[str, Any]) -> tuple[str, TakeFunction] | None:
    if item.keys().isdisjoint(MARKER_KEYS):
        return None
    if isinstance(item.get("role"), str):
        return "role", take_message
    signs = item.keys() & MARKER_KEYS
    for kind in KINDS if len(signs) > 1 else _KINDS_BY_MARKER_KEY[signs.pop()]:  # most have one sign
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


_NON_CALL_ITEMS = frozenset({
    "reasoning", "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "compaction",
})  # fmt: skip


def _is_item(item: dict[str, Any]) -> bool:
    return isinstance(item["type"], str) and item["type"] in _NON_CALL_ITEMS


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
    return isinstance(item["type"], str) and item["type"] in FRAMEWORK_ROLES and "content" in item


def _is_wrapped(item: dict[str, Any]) -> bool:
    return (
        isinstance(item["data"], dict)
        and isinstance(item.get("type"), str)
        and item["type"] in FRAMEWORK_ROLES
    )


def _is_shared(item: dict[str, Any]) -> bool:
    return isinstance(item["from"], str) and "value" in item


def _is_response(item: dict[str, Any]) -> bool:
    output = item["output"]
    if not isinstance(output, list) or is_call(item):
        return False
    return item.get("object") == "response" or any(
        isinstance(item, dict)
        and (item.get("type") == "function_call" or find_take_function(item) is not None)
        for item in output
    )


def _is_converse(item: dict[str, Any]) -> bool:
    return isinstance(item["output"], dict) and "message" in item["output"]


def _is_result(item: dict[str, Any]) -> bool:
    result = item["result"]
    return isinstance(result, dict) and result.get("type") in ("succeeded", "errored", "canceled", "expired")


def _is_message(item: dict[str, Any]) -> bool:
    message = item["message"]
    return isinstance(message, dict) and not message.keys().isdisjoint(("role", "content", *CALL_LIST_KEYS))


def _is_answer_without_role(item: dict[str, Any]) -> bool:
    """Whether a message without a role lists no call, or says why it stops."""
    return "schema" not in item and (
        not any(item.get(key) for key in CALL_LIST_KEYS) or not item.keys().isdisjoint(STATE_KEYS)
    )


def _is_text_answer(item: dict[str, Any]) -> bool:
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
    fits: Callable[[dict[str, Any]], bool]
    opener: TakeFunction


KINDS = (
    WrapperKind("from", "ShareGPT: a message of `from` and `value`", _is_shared, take_shared),
    WrapperKind(
        "data",
        "LangChain's `messages_to_dict`: `type` and `data`",
        _is_wrapped,
        take_wrapped,
    ),
    WrapperKind(
        "kwargs", "LangChain's `dumpd`: a message's constructor", _is_constructor, take_inside("kwargs")
    ),
    WrapperKind(
        "raw_item",
        "OpenAI Agents SDK: an item of a run",
        _has_type_at(dict, "raw_item"),
        take_inside("raw_item"),
    ),
    WrapperKind("type", "an event of a stream, which is not a complete answer", _is_event, take_event),
    WrapperKind("type", "LangChain: a message, by `model_dump()`", _is_framework, take_framework),
    WrapperKind("type", "OpenAI Responses, Agents SDK's `to_input_list()`: an item", _is_item, take_item),
    WrapperKind(
        "choices",
        "OpenAI ChatCompletion, and what answers like it",
        _has_type_at(list, "choices"),
        take_choices,
    ),
    WrapperKind(
        "candidates",
        "Gemini, in both spellings of its keys",
        _has_type_at(list, "candidates"),
        take_candidates,
    ),
    WrapperKind("candidates", "Gemini: a prompt that was blocked", _is_blocked, take_candidates),
    WrapperKind(
        "promptFeedback",
        "Gemini: a prompt that was blocked",
        _has_type_at(dict, "promptFeedback"),
        take_candidates,
    ),
    WrapperKind("output", "OpenAI Responses", _is_response, take_response),
    WrapperKind("output", "Bedrock Converse", _is_converse, take_converse),
    WrapperKind("error", "an API's error, alone or in a line of a batch", _is_error, take_error),
    WrapperKind(
        "status_code",
        "OpenAI Batch: `status_code` and `body`",
        _has_type_at(int, "status_code"),
        take_batch,
    ),
    WrapperKind(
        "response",
        "a line of OpenAI's or Gemini's batches",
        _holds_message("response"),
        take_inside("response"),
    ),
    WrapperKind(
        "modelOutput",
        "a line of a batch of Bedrock's",
        _holds_message("modelOutput"),
        take_inside("modelOutput"),
    ),
    WrapperKind("result", "Anthropic message batches: a result", _is_result, take_result),
    WrapperKind(
        "messages",
        "a conversation; LangGraph's state",
        _has_type_at(list, "messages"),
        take_inside("messages"),
    ),
    WrapperKind(
        "conversations",
        "ShareGPT: a conversation",
        _has_type_at(list, "conversations"),
        take_inside("conversations"),
    ),
    WrapperKind(
        "conversation", "a conversation", _has_type_at(list, "conversation"), take_inside("conversation")
    ),
    WrapperKind(
        "contents", "Gemini: a conversation", _has_type_at(list, "contents"), take_inside("contents")
    ),
    WrapperKind("message", "Ollama: an answer of one message", _is_message, take_alone),
    *(
        WrapperKind(key, "a message without a role that calls nothing", _is_answer_without_role, take_alone)
        for key in CALL_LIST_KEYS
    ),
    *(
        WrapperKind(key, "a text that a server gave, and why it stops", _is_text_answer, take_text)
        for key in REASON_KEYS
    ),
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
_CONVERSATION_HINT = rf"\"(?:{'|'.join(_CONVERSATION_WORDS)})\"|gen_ai\.(?:output|completion)|llm\.output"


def may_hold_conversation(text: str) -> bool:
    """Whether a text holds what stands in the text of every conversation and answer."""
    return (
        re.search(_CONVERSATION_HINT, text) is not None
    )  # compiled where it is first asked: every command imports this


# ----------------------------------------------------------------------
# Conversations and answers of APIs as turns of the assistant, whatever wraps them.
#
# What vendors and frameworks put around the calls is undone here: choices, candidates, batches, messages in
# the form of each framework. The objects that hold the calls stay as they are, and the dialects read them.
_MAX_DEPTH = 8
"""How deep the wrappings of one answer may nest."""


class Turn(NamedTuple):
    """One turn of the assistant.

    Args:
        items: What holds its calls: messages and items that the dialects know.
        words: What it says.
        spoken: Whether its words must hold calls, even where other turns list theirs.
        answers: The messages that follow it, with what the tools answered.
        state: Why it is no whole answer, where it is none.
    """

    items: tuple[Any, ...]
    words: str = ""
    spoken: bool = False
    answers: tuple[Any, ...] = ()
    state: AnswerState | None = None


class Heard(NamedTuple):
    """What somebody other than the assistant said.

    Args:
        who: The speaker, as written.
        message: The message.
        after: How many turns of the assistant stand before it.
    """

    who: str
    message: Mapping[str, Any]
    after: int


class Conversation(NamedTuple):
    """A conversation, or an answer: its turns, and what stood around them.

    Args:
        turns: Those of the assistant.
        notes: What is worth saying.
        heard: What others said, in order.
    """

    turns: tuple[Turn, ...]
    notes: tuple[Diagnostic, ...] = ()
    heard: tuple[Heard, ...] = ()


def may_be_conversation(data: Any) -> bool:
    """Whether data may be a conversation or an answer: a cheap look at the keys of its objects.

    >>> may_be_conversation([{"name": "f", "arguments": {}}]), may_be_conversation({"role": "user"})
    (False, True)
    """
    signed = False
    for item in data if isinstance(data, list) else (data,):
        if not isinstance(item, dict):
            return False
        signed = signed or not _CONVERSATION_KEYS.isdisjoint(item)
    return signed


_CONVERSATION_KEYS = MARKER_KEYS | spans.TRACE_KEYS


def read_conversation(data: Any) -> Conversation | None:
    """The turns of a conversation or of an API's answer; None where data is neither.

    Args:
        data: Structure that is JSON already.

    Raises:
        AnswerError: there is no turn of the assistant.
        ParseError: a part of it is of another shape than its kind has; or its spans are of several traces.

    >>> read_conversation({"choices": [{"finish_reason": "stop", "message": {"content": "No."}}]}).turns[
    ...     0].words
    'No.'
    >>> read_conversation([{"name": "f", "arguments": {}}])
    """
    if not may_be_conversation(data):
        return None
    items = join_answer_pieces(data) if isinstance(data, list) else [data]
    if not any(find_take_function(item) is not None or _item_state(item) is not None for item in items):
        messages = messages_of(items)
        if messages is None:
            return None
        refuse_several_runs(items)
        items = messages
    walk = TurnCollector()
    walk.all(items, 0)
    if not walk.turns:
        who = ", ".join(map(repr, dict.fromkeys(heard.who for heard in walk.others))) or "nobody"
        raise AnswerError(f"no assistant turn, only turns of {who}", code="answer.absent")
    return Conversation(tuple(turn.made() for turn in walk.turns), tuple(walk.notes), tuple(walk.others))


class _OpenTurn:
    """A turn that is being read."""

    def __init__(self, state: AnswerState | None = None) -> None:
        self.items: list[Any] = []
        self.words: list[str] = []
        self.spoken = False
        self.answers: list[Any] = []
        self.state = state

    def made(self) -> Turn:
        words = "\n".join(text for text in self.words if text.strip())
        return Turn(tuple(self.items), words, self.spoken, tuple(self.answers), self.state)


class TurnCollector:
    """The turns met so far, in order."""

    def __init__(self) -> None:
        self.turns: list[_OpenTurn] = []
        self.joins = False
        self.notes: list[Diagnostic] = []
        self.others: list[Heard] = []

    def all(self, items: list[Any], depth: int) -> None:
        """Take the messages, items or answers of a list."""
        for item in items:
            if not isinstance(item, dict):
                raise wrong_shape_error(item, "a message: an object with a role and content")
            self.take(item, depth + 1)

    def take(self, item: dict[str, Any], depth: int) -> None:
        """Take one message, item or answer."""
        opened = find_take_function(item) if depth <= _MAX_DEPTH else None
        if opened is not None:
            opened(self, item, depth)
        else:
            self.part(item)

    def turn(self, state: AnswerState | None = None) -> _OpenTurn:
        """A new turn of the assistant."""
        self.turns.append(_OpenTurn(state))
        self.joins = False
        return self.turns[-1]

    def part(self, item: dict[str, Any]) -> None:
        """Take a call, or another part of an answer, that stands beside messages and not in one."""
        if not (self.joins and self.turns):
            self.turn()
        self.joins = True
        turn = self.turns[-1]
        turn.items.append(item)
        turn.state = turn.state or _item_state(item)

    def heard(self, message: dict[str, Any], who: str) -> None:
        """Take what a tool or a person says."""
        self.joins = False
        self.others.append(Heard(who, message, len(self.turns)))
        if self.turns:
            self.turns[-1].answers.append(message)

    def said(self, message: dict[str, Any], state: AnswerState | None) -> None:
        """Take a message of the assistant."""
        if message.get("content") is None and isinstance(message.get("items"), list):  # Semantic Kernel's
            message = {**message, "content": message["items"]}
        content = next((message[key] for key in ("content", "parts") if message.get(key) is not None), None)
        if not isinstance(content, (str, list, type(None))):
            raise wrong_shape_error(content, "the content of a message: a text, or parts")
        state = state or answer_state(message) or _item_state(message) or _part_state(content)
        if not (self.joins and message.get("type") == "message"):
            self.turn()
        turn = self.turns[-1]
        turn.state = turn.state or state
        turn.items.append(_normalize_call_lists(message))
        turn.words += texts_of(content)


# ---------------------------------------------------------------- what a message holds
def _normalize_call_lists(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its calls in lists; some write one call, or the list's JSON text."""
    present = [key for key in CALL_LIST_KEYS if key in message]
    texts = [key for key in present if isinstance(message[key], str) and message[key].strip()]
    read: dict[str, Any] = {key: decode_json(message[key]) for key in texts}
    for key, value in read.items():
        if not isinstance(value, (list, dict)):
            raise wrong_shape_error(message[key], f"the {key!r} of a message: a list of calls")
    for key in present:
        value = read.get(key, message[key])
        if isinstance(value, (bool, int, float)):
            raise wrong_shape_error(value, f"the {key!r} of a message: a list of calls")
        if isinstance(value, dict) and key != "function_call":
            read[key] = [value]
    return {**message, **read} if read else message


def _item_state(item: dict[str, Any]) -> AnswerState | None:
    """The state that an item of the Responses API says of itself; one that failed is the tool's affair."""
    status = item.get("status")
    halted = isinstance(status, str) and status in CUT_REASONS and item.get("type") in _TYPES_WITH_STATUS
    return stop_reason_state(status, "status") if halted else None


_TYPES_WITH_STATUS = ("function_call", "custom_tool_call", "mcp_call", "message")


def _part_state(content: Any) -> AnswerState | None:
    """The state that a part of a message's content says."""
    for item in content if isinstance(content, list) else ():
        if not isinstance(item, dict):
            continue
        if item.get("type") == "refusal":
            return refusal_state(str(item.get("refusal", "")))
        inner = item.get("toolInvocation")
        state = (inner if isinstance(inner, dict) else item).get("state")
        if state in ("input-streaming", "partial-call"):
            return AnswerState("answer.cut", f"the answer was cut off: the state of a call is {state!r}")
    return None


def texts_of(content: Any) -> Iterator[str]:
    """The words of a message's content: a text, or parts that are texts and no thoughts."""
    if isinstance(content, str):
        yield content
    for item in content if isinstance(content, list) else ():
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict) and item.get("thought") is not True:
            text = item.get("text", item.get("content") if item.get("type") == "text" else None)
            if isinstance(text, str):
                yield text
