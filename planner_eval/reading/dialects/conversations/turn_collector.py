"""Conversations and answers of APIs as turns of the assistant, whatever wraps them.

What vendors and frameworks put around the calls is undone: choices, candidates, batches, messages in the
form of each framework. The objects that hold the calls stay as they are, and the dialects read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.errors import AnswerError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations import spans
from planner_eval.reading.dialects.conversations.answer_states import (
    CUT_REASONS,
    AnswerState,
    answer_state,
    join_answer_pieces,
    refusal_state,
    stop_reason_state,
)
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, note_unlisted_calls
from planner_eval.reading.dialects.conversations.spans import messages_of, refuse_several_runs
from planner_eval.reading.dialects.conversations.wrappers import (
    MARKER_KEYS,
    decode_json,
    find_take_function,
    wrong_shape_error,
)

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
        self.notes += note_unlisted_calls(message)
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
