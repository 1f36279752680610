"""Answers that are no whole answer: cut at a limit, refused, failed; read from what each API says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.base.text import shortened

CUT = frozenset({
    "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "incomplete",
    "model_context_window_exceeded", "limit", "pause_turn", "in_progress", "queued",
})  # fmt: skip
"""Reasons to stop at which the answer has no end."""
REFUSED = frozenset({
    "refusal", "content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation",
    "language", "blocklist", "prohibited_content", "spii", "image_safety", "model_armor", "jailbreak",
})  # fmt: skip
"""Reasons to stop at which the model, or a filter, gave no answer."""
FAILED = frozenset({
    "error", "errored", "failed", "cancelled", "canceled", "expired", "abort", "other",
    "malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "malformed_tool_use", 
    "malformed_model_output", "network_error", "insufficient_system_resource",
})  # fmt: skip
"""Reasons to stop at which the API, not the model, ended the answer."""
REASONS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "native_finish_reason",
    "stop_type",
)  # fmt: skip
"""Keys under which an answer says why it stops."""
ABOUT = ("response_metadata", "responseMetadata", "generation_info", "additional_kwargs", "details")
"""Keys under which a message holds what the API said of it."""
SAYING = frozenset({*REASONS, *ABOUT, "refusal", "error"})
"""All keys under which an answer may say that it is not whole."""

_WORDS = (
    (CUT, "answer.cut", "the answer was cut off before its end"),
    (REFUSED, "answer.refused", "the answer was refused"),
    (FAILED, "answer.failed", "there is no answer: the API failed"),
)


_NO_PLAN = frozenset({"max_turns", "max_steps", "no_route", "left_record"})
"""Codes of errors in rows of planeval predict whose model did answer."""


class State(NamedTuple):
    """Why an answer is no whole answer: a code of :data:`planner_eval.base.errors.CODES`, and a sentence."""

    code: str
    reason: str


def stopped(value: Any, key: str) -> State | None:
    """What a reason to stop says; None where it says that the answer is whole, or nothing that is known.

    Args:
        value: What the API gives, in any case.
        key: The key it stands under, for the sentence.

    >>> stopped("MAX_TOKENS", "finishReason").reason
    "the answer was cut off before its end: finishReason is 'MAX_TOKENS'"
    >>> stopped("stop", "finish_reason")
    """
    if not isinstance(value, str):
        return None
    stop_reason = value.rpartition(".")[2].lower()  # an enumeration's member may be written with its class
    for stop_reasons, code, sentence in _WORDS:
        if stop_reason in stop_reasons:
            return State(code, f"{sentence}: {key} is {shortened(value, 40)!r}")
    return None


def ended(message: Mapping[str, Any]) -> State | None:
    r"""Why a message, a record, or the answer around either, is not whole; None where nothing says so.

    >>> ended({"role": "assistant", "content": None, "refusal": "I can't."}).reason
    'the answer was refused: "I can\'t."'
    >>> ended({"content": "", "response_metadata": {"finish_reason": "length"}}).code
    'answer.cut'
    >>> ended({"result": "[f()]", "valid": False, "error": ["Wrong number of functions."]})
    """
    if SAYING.isdisjoint(message):
        return None
    for holder in (message, *(message[key] for key in ABOUT if isinstance(message.get(key), dict))):
        refusal, error = holder.get("refusal"), holder.get("error")
        if isinstance(refusal, str) and refusal:
            return refused(refusal)
        for key in REASONS:
            state = stopped(holder.get(key), key)
            if state is not None:
                return state
        if isinstance(holder.get("valid"), bool):  # what BFCL's evaluator says of an answer that is there
            continue
        if error and isinstance(error, (str, dict, list, bool)):
            return failed(error)
    return None


def refused(words: str) -> State:
    """The state of an answer that the model refused in so many words."""
    return State("answer.refused", f"the answer was refused: {_quoted(words)}")


def failed(error: Any) -> State:
    """The state of an answer in whose place an API gives an error.

    >>> failed({"error": {"type": "overloaded_error", "message": "Overloaded"}}).reason
    'there is no answer: the API failed: "Overloaded"'
    """
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    if isinstance(code, str) and code in _NO_PLAN and isinstance(message, str):
        return State("answer.failed", f"there is no answer: {_quoted(message)}")
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
    return State("answer.failed", f"there is no answer: the API failed: {_quoted(error)}")


def _quoted(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str), 120)
