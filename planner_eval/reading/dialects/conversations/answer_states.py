"""Answers that are no whole answer: cut at a limit, refused, failed, or the pieces of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten

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
    (FAILURE_REASONS, "answer.failed", "an error instead of an answer"),
)


_NO_PLAN_CODES = frozenset({"max_turns", "max_steps", "no_route", "left_record"})
"""Codes of errors in rows of planeval predict whose model did answer."""


class AnswerState(NamedTuple):
    """Why an answer is no whole answer: a code of ``data/codes.toml``, and a sentence."""

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
    'an error instead of an answer: "Overloaded"'
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
    return AnswerState("answer.failed", f"an error instead of an answer: {_format_json(error)}")


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
