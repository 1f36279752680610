"""Answers: what tools gave, by call, and whether a model's own is whole, cut, refused, failed or streamed."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

from planner_eval.base.errors import AnswerError, LimitError
from planner_eval.base.json_text import RepeatedKeyDict, decode_whole, is_nested_too_deep
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan, fold
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    CONTAINER_KEYS,
    ID_KEYS,
    is_call,
    is_structure,
    is_tool_result_type,
)

_ANSWER_ID_KEYS = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "id")
_ANSWER_WRAPPER_KEYS = ("functionResponse", "function_response", "toolResult")
_ANSWER_CONTENT_KEYS = ("content", "output", "result", "response")


def assign_recorded_answers(calls: tuple[RawCall, ...], data: Any) -> tuple[RawCall, ...]:
    """The calls with the answers that a conversation records: by id, else in order.

    An id may be used again: an answer belongs to the nearest call before it that has the id and no answer,
    of several such calls in one message to the first.

    >>> conversation = [{"role": "tool", "tool_call_id": "c1", "content": "ok"}]
    >>> assign_recorded_answers((RawCall("f", label="c1"),), conversation)[0].result
    'ok'
    >>> call = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "f"}]}
    >>> answers = [{"role": "tool", "tool_call_id": "c1", "content": text} for text in ("first", "second")]
    >>> twice = [call, answers[0], call, answers[1]]
    >>> [call.result for call in assign_recorded_answers((RawCall("f", label="c1"),) * 2, twice)]
    ['first', 'second']
    """
    conversation = _ConversationAnswers()
    objects = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else [{}]
    if calls and any("name" not in item or "role" in item for item in objects):
        _collect_answers(data, conversation)
    answers = conversation.answers
    if not any(conversation.calls.values()):  # they stand in words, before all that was answered
        answers = [answer._replace(messages=(), seen=len(calls)) for answer in answers]
    return assign_answers(calls, answers)


class Answer(NamedTuple):
    """What a tool answered in a conversation.

    Args:
        value: The answer.
        label: The id of the call that it answers; None where it has none.
        messages: Of each call with that id the number of its message.
        seen: How many of these calls stand before the answer.
        tool: The tool's name, where there is no id.
        failed: The message says that the call failed.
    """

    value: Any
    label: str | None = None
    messages: Sequence[int] = ()
    seen: int = 0
    tool: str | None = None
    failed: bool = False


@dataclass(slots=True)
class _ConversationAnswers:
    """What is gathered of a conversation: the answers of tools, and by id the messages of calls so far."""

    answers: list[Answer] = field(default_factory=list)
    calls: dict[str, list[int]] = field(default_factory=dict)
    message: int = 0


@dataclass(slots=True)
class _UnansweredCalls:
    """The calls with one id that wait for an answer, by message."""

    places: list[int] = field(default_factory=list)
    messages: list[tuple[int | None, deque[int]]] = field(default_factory=list)
    seen: int = 0

    def take(self, answer: Answer) -> int | None:
        """The place of the call that an answer belongs to; None where none waits."""
        end = min(answer.seen, len(self.places)) if len(self.places) > 1 else 1  # which may come late
        seen = slice(self.seen, end)
        for position, message in zip_longest(self.places[seen], answer.messages[seen]):
            if not self.messages or self.messages[-1][0] != message:
                self.messages.append((message, deque()))
            self.messages[-1][1].append(position)
        self.seen = max(self.seen, end)
        while self.messages and not self.messages[-1][1]:
            self.messages.pop()
        return self.messages[-1][1].popleft() if self.messages else None


def assign_answers(calls: tuple[RawCall, ...], answers: list[Answer]) -> tuple[RawCall, ...]:
    """The calls with what tools answered: by id, see :func:`assign_recorded_answers`, else in order.

    A call that has a result of its own takes none.
    """
    if not answers:
        return calls
    by_call: dict[int, Answer] = {}
    unanswered: dict[str | None, _UnansweredCalls] = {}
    for position, call in enumerate(calls):
        if call.label is not None:
            unanswered.setdefault(call.label, _UnansweredCalls()).places.append(position)
    in_order = [answer for answer in answers if answer.label is None or not unanswered]  # those of words
    for answer in answers:
        same = unanswered.get(answer.label)
        nearest = same.take(answer) if same is not None else None
        if nearest is not None and not calls[nearest].has_result:
            by_call[nearest] = answer
    left = [i for i, call in enumerate(calls) if not call.has_result and i not in by_call]
    for answer in in_order:
        first = next((position for position in left if answer.tool in (None, calls[position].name)), None)
        if first is not None:
            left.remove(first)
            by_call[first] = answer
    answered = list(calls)
    for position, answer in by_call.items():
        answered[position] = replace(
            answered[position], result=answer.value, has_result=True, failed=answer.failed
        )
    return tuple(answered)


def _collect_answers(data: Any, conversation: _ConversationAnswers) -> None:
    """Gather the answers of a conversation in their order, and the messages of its calls."""
    if isinstance(data, list):
        for item in data:
            _collect_answers(item, conversation)
        return
    if not isinstance(data, dict):
        return
    conversation.message += "role" in data or "call_id" in data  # the latter is an item of its own
    responses = tagged_responses(data.get("content")) if "role" in data else []
    if responses:
        conversation.answers += responses
        return
    if data.get("role") == "observation":
        content = data.get("content")
        conversation.answers += [
            Answer(item) for item in (content if isinstance(content, list) else [content])
        ]
        return
    answer = next((data[key] for key in _ANSWER_WRAPPER_KEYS if isinstance(data.get(key), dict)), data)
    if _is_tool_answer(data, answer):
        conversation.answers.append(_read_answer(data, answer, conversation.calls))
        return
    for key in (*CALL_LIST_KEYS, *CONTAINER_KEYS):
        if key in data and is_structure(data[key]):
            _collect_answers(data[key], conversation)
    labels = {str(data[key]) for key in ID_KEYS[:-1] if isinstance(data.get(key), (str, int))}
    for label in labels if labels and is_call(data) else ():
        conversation.calls.setdefault(label, []).append(conversation.message)


def _read_answer(data: JsonObject, answer: JsonObject, calls: dict[str, list[int]]) -> Answer:
    """What a tool's message, or an object in it, answers, and to which of the calls so far."""
    value = next((answer[key] for key in _ANSWER_CONTENT_KEYS if key in answer), None)
    label = next(
        (str(answer[key]) for key in _ANSWER_ID_KEYS if isinstance(answer.get(key), (str, int))), None
    )
    tool = answer.get("name", answer.get("tool_name")) if label is None else None
    messages = calls.setdefault(label, []) if label is not None else []
    failed = says_failed(data) or says_failed(answer)
    tool_name = tool if isinstance(tool, str) else None
    return Answer(decode_answer(value), label, messages, len(messages), tool_name, failed)


def tagged_responses(content: Any) -> list[Answer]:
    """The answers of tools that a message holds as Hermes writes them, in tags, and nothing else.

    >>> [answer] = tagged_responses('<tool_response>{"name": "f", "content": "ok"}</tool_response>')
    >>> answer.tool, answer.value
    ('f', 'ok')
    """
    if not isinstance(content, str) or _TAGGED_RESPONSES.fullmatch(content) is None:
        return []
    answers = []
    for text in _RESPONSE_TAG.split(content)[1:-1:2]:
        value = decode_answer(text.strip())
        is_named = isinstance(value, dict) and value.keys() == {"name", "content"}
        answers.append(Answer(value["content"], tool=value["name"]) if is_named else Answer(value))
    return answers


_RESPONSE_TAG = lazy_pattern(r"</?tool_response>")
_TAGGED_RESPONSES = lazy_pattern(
    r"(?:\s*+<tool_response>(?:[^<]++|<(?!/?tool_response>))*+</tool_response>)++\s*+"
)


def says_failed(answer: JsonObject) -> bool:
    """Whether a tool's message, or a call with its output, is marked as failed, whatever the output says.

    >>> says_failed({"type": "tool_result", "content": "no such city", "is_error": True})
    True
    """
    if answer.get("is_error") is True or answer.get("isError") is True or answer.get("error"):
        return True
    if answer.get("status") == "error" or answer.get("state") == "output-error":
        return True
    output = answer.get("output")
    return isinstance(output, dict) and str(output.get("type")).startswith("error-")  # of Vercel's AI SDK


def _is_tool_answer(data: JsonObject, answer: JsonObject) -> bool:
    if answer is not data:
        return True
    if data.get("role") in ("tool", "function"):
        return "tool_call_id" in data or not any(is_structure(data.get(key)) for key in ("content", "parts"))
    return is_tool_result_type(data.get("type"))


def decode_answer(value: Any) -> Any:
    """An answer as data: text that holds JSON is read, a list of one text part is that text.

    >>> decode_answer([{"type": "text", "text": '{"a": 1}'}])
    {'a': 1}
    """
    match value:
        case [{"text": str(text)}]:
            return decode_answer(text)
        case [{"json": data}]:
            return data
    if isinstance(value, dict) and value.keys() == {"type", "value"}:
        return decode_answer(value["value"])
    if isinstance(value, str) and value[:1] in ("{", "[") and len(value) < 1_000_000:
        try:
            decoded = decode_whole(value)
        except (ValueError, RecursionError):
            return value
        return value if is_nested_too_deep(value, DEFAULT_LIMITS) else decoded
    return value


def resolve_repeated_keys(raw: RawPlan, limits: Limits) -> RawPlan:
    """A plan whose answers hold no repeated key any more: the last value counts, and a note says so.

    Args:
        raw: The calls with what the tools answered.
        limits: Bounds on nesting.

    Raises:
        LimitError: an answer nests too deeply.

    >>> from planner_eval.plan.model import RawCall
    >>> answer = RepeatedKeyDict([("a", 1), ("a", 2)])
    >>> done = resolve_repeated_keys(RawPlan((RawCall("f", result=answer, has_result=True),)), Limits())
    >>> type(done.calls[0].result), done.notes[0].message
    (<class 'dict'>, 'an object in the result of call 1 gives a key twice; the last value counts')
    """
    calls = list(raw.calls)
    notes = []
    for i, call in enumerate(raw.calls):
        if call.has_result and _has_repeated_key(call.result, i, limits):
            message = f"an object in the result of call {i + 1} gives a key twice; the last value counts"
            notes.append(Diagnostic("value.duplicate", message, "error", i))
            calls[i] = replace(call, result=fold(call.result, lambda leaf: leaf))
    return raw._replace(calls=tuple(calls), notes=(*raw.notes, *notes)) if notes else raw


def _has_repeated_key(answer: Any, call: int, limits: Limits) -> bool:
    """Whether an object in an answer repeats a key."""
    repeats = False
    for depth, level in enumerate(_levels(answer)):
        if depth > limits.depth:
            raise LimitError(f"the result of call {call + 1} nests deeper than {limits.depth} levels")
        repeats = repeats or RepeatedKeyDict in map(type, level)
    return repeats


_CONTAINER_TYPES = frozenset({list, dict, RepeatedKeyDict})


def _levels(data: Any) -> Iterator[list[Any]]:
    """The lists and objects in some data, level by level: it may be past any stack."""
    level = [data] if type(data) in _CONTAINER_TYPES else []
    while level:
        yield level
        inside = [item if type(item) is list else item.values() for item in level]
        level = [value for values in inside for value in values if type(value) in _CONTAINER_TYPES]


def note_repeated_keys(data: Any, raw: RawPlan, limits: Limits) -> RawPlan:
    """A plan with a note on each key that an object around its calls gives twice: calls may be lost.

    What repeats inside of a call or of a result is told where that is read.

    >>> data = RepeatedKeyDict([("calls", [{"name": "f"}]), ("calls", [])])
    >>> note_repeated_keys(data, RawPlan(()), Limits()).notes[0].message
    "an object gives 'calls' 2 times; the last value counts"
    """
    repeats = _find_repeats(data, limits)
    if not repeats:
        return raw
    values = [value for call in raw.calls for value in (call.result, *dict(call.arguments).values())]
    inside = {tuple(key for key, _ in item.pairs) for item in _find_repeats(values, limits)}
    inside |= {
        tuple(key for key, _ in pairs) for pairs in (raw.answer or (), *(c.arguments for c in raw.calls))
    }
    noted = "\n".join(note.message for note in raw.notes)
    notes = []
    for item in repeats:
        keys = tuple(key for key, _ in item.pairs)
        for key, count in Counter(keys).items() if keys not in inside else ():
            message = f"gives {key!r} {count} times; the last value counts"
            if count > 1 and message not in noted:
                notes.append(Diagnostic("value.duplicate", f"an object {message}", "error"))
    return raw._replace(notes=(*raw.notes, *dict.fromkeys(notes)))


def _find_repeats(data: Any, limits: Limits) -> list[RepeatedKeyDict]:
    """The objects of some data that give a key twice."""
    return [
        item
        for level in islice(_levels(data), limits.depth + 1)
        for item in level
        if type(item) is RepeatedKeyDict
    ]


# ----------------------------------------------------------------------
# Answers that are no whole answer: cut at a limit, refused, failed, or the pieces of a stream.
CUT_REASONS = frozenset({
    "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "incomplete",
    "model_context_window_exceeded", "limit", "pause_turn", "in_progress", "queued", "max_steps",
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
    "malformed_model_output", "network_error", "insufficient_system_resource", "agent_error",
    "user_error", "too_many_errors", "infrastructure_error",
})  # fmt: skip
"""Reasons to stop at which the API, not the model, ended the answer."""
REASON_KEYS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "native_finish_reason",
    "stop_type",
)  # fmt: skip
"""Keys under which an answer says why it stops."""
METADATA_KEYS = (
    "response_metadata", "responseMetadata", "generation_info", "additional_kwargs", "details", "meta_info",
)  # fmt: skip
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

    def error(self) -> AnswerError:
        """The error of what is read of it."""
        return AnswerError(self.reason, code=self.code)


def stop_reason_state(value: Any, key: str) -> AnswerState | None:
    """What a reason to stop says; None where it says that the answer is whole, or nothing that is known.

    Args:
        value: What the API gives, in any case.
        key: The key it stands under, for the sentence.

    >>> stop_reason_state("MAX_TOKENS", "finishReason").reason
    "the answer was cut off: finishReason is 'MAX_TOKENS'"
    >>> stop_reason_state("stop", "finish_reason")
    """
    if isinstance(value, dict):  # of SGLang
        value = value.get("type")
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
    if _are_chunks(items):
        return [_join_chunks(items)]
    return items[-1:] if _are_events(items) and items[-1]["type"] in _END_EVENTS else items


def _are_events(items: list[Any]) -> bool:
    """Whether objects are the events of one of OpenAI's Responses, of which the last may hold the answer."""
    kinds = [item.get("type") if isinstance(item, dict) else None for item in items]
    if len(kinds) < 2 or not all(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return False
    return _END_EVENTS.isdisjoint(kinds[:-1])


def _are_chunks(items: list[Any]) -> bool:
    """Whether objects are pieces of one of Gemini's answers: of one id, or only the last says why it ends."""
    listed: list[Any] = [item.get("candidates") if isinstance(item, dict) else None for item in items]
    are_single = all(isinstance(options, list) and len(options) == 1 for options in listed)
    if len(items) < 2 or not are_single or not all(isinstance(option, dict) for (option,) in listed):
        return False
    response_ids = (item.get("responseId", item.get("response_id")) for item in items)
    ids = {response_id if isinstance(response_id, str) else None for response_id in response_ids}
    ended = [bool(option.get("finishReason", option.get("finish_reason"))) for (option,) in listed]
    return len(ids) == 1 and not any(ended[:-1]) and (ended[-1] or ids != {None})


def _join_chunks(items: list[JsonObject]) -> JsonObject:
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
