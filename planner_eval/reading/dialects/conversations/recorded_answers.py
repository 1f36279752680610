"""What tools answered, as conversations and traces record it: which call it belongs to, and its bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import LimitError
from planner_eval.base.json_text import RepeatedKeyDict, decode_whole, is_nested_too_deep
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Diagnostic, RawCall, RawPlan, fold
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    CONTAINER_KEYS,
    ID_KEYS,
    WRAPPER_KEYS,
    call_items,
    find_name_key,
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
    if not isinstance(data, (list, dict)) or not calls:
        return calls
    conversation = _ConversationAnswers([], {})
    if isinstance(data, dict) or any("name" not in item for item in data if isinstance(item, dict)):
        _collect_answers(data, conversation)
    answers = conversation.answers
    if not any(conversation.calls.values()):  # they stand in words, before all that was answered
        answers = [answer._replace(messages=[0] * len(calls), seen=len(calls)) for answer in answers]
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


class _ConversationAnswers:
    """What is gathered of a conversation: the answers of tools, and by id the messages of calls so far."""

    __slots__ = ("answers", "calls", "message")

    def __init__(self, answers: list[Answer], calls: dict[str, list[int]]) -> None:
        self.answers = answers
        self.calls = calls
        self.message = 0


class _UnansweredCalls:
    """The calls with one id that wait for an answer, by message."""

    __slots__ = ("messages", "places", "seen")

    def __init__(self) -> None:
        self.places: list[int] = []
        self.messages: list[tuple[int, deque[int]]] = []
        self.seen = 0

    def take(self, answer: Answer) -> int | None:
        """The place of the call that an answer belongs to; None where none waits."""
        end = min(answer.seen, len(self.places)) if len(self.places) > 1 else 1  # which may come late
        messages = answer.messages[self.seen : end] or (0,)
        for position, message in zip(self.places[self.seen : end], messages, strict=False):
            if not self.messages or self.messages[-1][0] != message:
                self.messages.append((message, deque()))
            self.messages[-1][1].append(position)
        self.seen = max(self.seen, end)
        while self.messages and not self.messages[-1][1]:
            self.messages.pop()
        return self.messages[-1][1].popleft() if self.messages else None


def assign_answers(calls: tuple[RawCall, ...], answers: list[Answer]) -> tuple[RawCall, ...]:
    """The calls with what tools answered: by id, see :func:`assign_recorded_answers`, else in order."""
    if not answers:
        return calls
    answered = list(calls)
    for position, answer in _answers_by_call(calls, answers).items():
        answered[position] = replace(answered[position], result=answer.value, has_result=True)
    return tuple(answered)


def _answers_by_call(calls: Sequence[RawCall], answers: list[Answer]) -> dict[int, Answer]:
    """The answers by the positions of their calls; a call that has a result of its own takes none."""
    by_call: dict[int, Answer] = {}
    unanswered: dict[str | None, _UnansweredCalls] = {}
    for position, call in enumerate(calls):
        if call.label is not None:
            unanswered.setdefault(call.label, _UnansweredCalls()).places.append(position)
    in_order: list[Answer] = []
    for answer in answers:
        if answer.label is None or not unanswered:  # calls in words have no ids
            in_order.append(answer)
            continue
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
    return by_call


def failed_calls(data: Any) -> frozenset[int]:
    """The positions of the calls of a conversation whose answers say, beside their content, that they failed.

    Args:
        data: The conversation, as JSON data.

    >>> call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    >>> answer = {"type": "tool_result", "tool_use_id": "t1", "content": "no such city", "is_error": True}
    >>> failed_calls([{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}])
    frozenset({0})
    """
    answers: list[Answer] = []
    _collect_answers(data, _ConversationAnswers(answers, {}))
    if not any(answer.failed for answer in answers):
        return frozenset()
    calls = [RawCall(_name_of(item), label=_label_of(item)) for item in call_items(data)]
    return frozenset(
        position for position, answer in _answers_by_call(calls, answers).items() if answer.failed
    )


def _name_of(item: dict[str, Any]) -> str:
    inner = next((item[key] for key in WRAPPER_KEYS if isinstance(item.get(key), dict)), item)
    key = find_name_key(inner)
    return str(inner[key]) if key is not None else ""


def _label_of(item: dict[str, Any]) -> str | None:
    inner = next((item[key] for key in WRAPPER_KEYS if isinstance(item.get(key), dict)), item)
    ids = (source.get(key) for source in (item, inner) for key in ID_KEYS)
    return next((str(value) for value in ids if isinstance(value, (str, int))), None)


def _collect_answers(data: Any, conversation: _ConversationAnswers) -> None:
    """Gather the answers of a conversation in their order, and the messages of its calls."""
    if isinstance(data, list):
        for item in data:
            _collect_answers(item, conversation)
        return
    if not isinstance(data, dict):
        return
    conversation.message += "role" in data or "call_id" in data  # the latter is an item of its own
    if data.get("role") == "observation":
        content = data.get("content")
        conversation.answers += [
            Answer(item) for item in (content if isinstance(content, list) else [content])
        ]
        return
    answer = data
    for key in _ANSWER_WRAPPER_KEYS:
        if key in data and isinstance(data[key], dict):
            answer = data[key]
            break
    if _is_tool_answer(data, answer):
        value = next((answer[key] for key in _ANSWER_CONTENT_KEYS if key in answer), None)
        label = next(
            (str(answer[key]) for key in _ANSWER_ID_KEYS if isinstance(answer.get(key), (str, int))), None
        )
        tool = answer.get("name") if label is None else None
        tool_name = tool if isinstance(tool, str) else None
        messages = conversation.calls.setdefault(label, []) if label is not None else []
        failed = _says_failed(data) or _says_failed(answer)
        conversation.answers.append(
            Answer(decode_answer(value), label, messages, len(messages), tool_name, failed)
        )
        return
    for key in (*CALL_LIST_KEYS, *CONTAINER_KEYS):
        if key in data and is_structure(data[key]):
            _collect_answers(data[key], conversation)
    if is_call(data):
        for label in {str(data[key]) for key in ID_KEYS[:-1] if isinstance(data.get(key), (str, int))}:
            conversation.calls.setdefault(label, []).append(conversation.message)


def _says_failed(answer: dict[str, Any]) -> bool:
    """Whether a tool's message says that the call failed: Anthropic's and MCP's mark, others' status."""
    return answer.get("is_error") is True or answer.get("isError") is True or answer.get("status") == "error"


def _is_tool_answer(data: dict[str, Any], answer: dict[str, Any]) -> bool:
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
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        item = value[0]
        if isinstance(item.get("text"), str):
            return decode_answer(item["text"])
        if "json" in item:
            return item["json"]
    if isinstance(value, dict) and value.keys() == {"type", "value"}:
        return value["value"]
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


_CONTAINER_TYPES = frozenset({list, dict, RepeatedKeyDict})


def _has_repeated_key(answer: Any, call: int, limits: Limits) -> bool:
    """Whether an object in an answer repeats a key; level by level, for answers are large and hostile."""
    repeats = False
    level, depth = [answer] if type(answer) in _CONTAINER_TYPES else [], 0
    while level:
        if depth > limits.depth:
            raise LimitError(f"the result of call {call + 1} nests deeper than {limits.depth} levels")
        repeats = repeats or RepeatedKeyDict in map(type, level)
        inside = [item if type(item) is list else item.values() for item in level]
        level = [value for values in inside for value in values if type(value) in _CONTAINER_TYPES]
        depth += 1
    return repeats
