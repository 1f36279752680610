"""Conversations and answers of APIs as turns of the assistant, whatever wraps them.

What vendors and frameworks put around the calls is undone here: choices, candidates, batches, messages in
the form of each framework. The objects that hold the calls stay as they are, and the dialects read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.errors import AnswerError
from planner_eval.base.named import NamedTuple
from planner_eval.dialects import spoken, streams, wrappings
from planner_eval.dialects.by_trace import refuse_several
from planner_eval.dialects.messages import CALLS
from planner_eval.dialects.openers import decoded, wrong
from planner_eval.dialects.spoken import messages_of
from planner_eval.dialects.states import CUT, State, ended, refused, stopped
from planner_eval.dialects.wrappings import opens
from planner_eval.plan.model import Diagnostic

_DEPTH = 8
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
    state: State | None = None


class Talk(NamedTuple):
    """A conversation, or an answer: its turns, and what is worth saying of what stood around them."""

    turns: tuple[Turn, ...]
    notes: tuple[Diagnostic, ...] = ()


def may_talk(data: Any) -> bool:
    """Whether data may be a conversation or an answer: a cheap look at the keys of its objects.

    >>> may_talk([{"name": "f", "arguments": {}}]), may_talk({"role": "user"})
    (False, True)
    """
    signed = False
    for item in data if isinstance(data, list) else (data,):
        if not isinstance(item, dict):
            return False
        signed = signed or not _SIGNS.isdisjoint(item)
    return signed


_SIGNS = wrappings.SIGNS | spoken.SIGNS


def talk_of(data: Any) -> Talk | None:
    """The turns of a conversation or of an API's answer; None where data is neither.

    Args:
        data: Structure that is JSON already.

    Raises:
        AnswerError: there is no turn of the assistant.
        ParseError: a part of it is of another shape than its kind has; or its spans are of several traces.

    >>> talk_of({"choices": [{"finish_reason": "stop", "message": {"content": "No."}}]}).turns[0].words
    'No.'
    >>> talk_of([{"name": "f", "arguments": {}}])
    """
    if not may_talk(data):
        return None
    items = streams.whole(data) if isinstance(data, list) else [data]
    if not any(opens(item) is not None or _halted(item) is not None for item in items):
        messages = messages_of(items)
        if messages is None:
            return None
        refuse_several(items)
        items = messages
    walk = Walk()
    walk.all(items, 0)
    if not walk.turns:
        who = ", ".join(map(repr, dict.fromkeys(walk.others))) or "nobody"
        raise AnswerError(f"no turn is the assistant's: {who} spoke", code="answer.absent")
    return Talk(tuple(turn.made() for turn in walk.turns), tuple(walk.notes))


class _Open:
    """A turn that is being read."""

    def __init__(self, state: State | None = None) -> None:
        self.items: list[Any] = []
        self.words: list[str] = []
        self.spoken = False
        self.answers: list[Any] = []
        self.state = state

    def made(self) -> Turn:
        words = "\n".join(text for text in self.words if text.strip())
        return Turn(tuple(self.items), words, self.spoken, tuple(self.answers), self.state)


class Walk:
    """The turns met so far, in order."""

    def __init__(self) -> None:
        self.turns: list[_Open] = []
        self.joins = False
        self.notes: list[Diagnostic] = []
        self.others: list[str] = []

    def all(self, items: list[Any], depth: int) -> None:
        """Take the messages, items or answers of a list."""
        for item in items:
            if not isinstance(item, dict):
                raise wrong(item, "a message: an object with a role and content")
            self.take(item, depth + 1)

    def take(self, item: dict[str, Any], depth: int) -> None:
        """Take one message, item or answer."""
        opened = opens(item) if depth <= _DEPTH else None
        if opened is not None:
            opened(self, item, depth)
        else:
            self.part(item)

    def turn(self, state: State | None = None) -> _Open:
        """A new turn of the assistant."""
        self.turns.append(_Open(state))
        self.joins = False
        return self.turns[-1]

    def part(self, item: dict[str, Any]) -> None:
        """Take a call, or another part of an answer, that stands beside messages and not in one."""
        if not (self.joins and self.turns):
            self.turn()
        self.joins = True
        turn = self.turns[-1]
        turn.items.append(item)
        turn.state = turn.state or _halted(item)

    def heard(self, message: dict[str, Any], who: str) -> None:
        """Take what a tool or a person says."""
        self.joins = False
        self.others.append(who)
        if self.turns:
            self.turns[-1].answers.append(message)

    def said(self, message: dict[str, Any], state: State | None) -> None:
        """Take a message of the assistant."""
        if message.get("content") is None and isinstance(message.get("items"), list):  # Semantic Kernel's
            message = {**message, "content": message["items"]}
        content = next((message[key] for key in ("content", "parts") if message.get(key) is not None), None)
        if not isinstance(content, (str, list, type(None))):
            raise wrong(content, "the content of a message: a text, or parts")
        state = state or ended(message) or _halted(message) or _part_state(content)
        if not (self.joins and message.get("type") == "message"):
            self.turn()
        turn = self.turns[-1]
        turn.state = turn.state or state
        turn.items.append(_listed(message))
        turn.words += texts_of(content)


# ---------------------------------------------------------------- what a message holds
def _listed(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its calls in lists; some write one call, or the list's JSON text."""
    present = [key for key in CALLS if key in message]
    texts = [key for key in present if isinstance(message[key], str) and message[key].strip()]
    read: dict[str, Any] = {key: decoded(message[key]) for key in texts}
    for key, value in read.items():
        if not isinstance(value, (list, dict)):
            raise wrong(message[key], f"the {key!r} of a message: a list of calls")
    for key in present:
        value = read.get(key, message[key])
        if isinstance(value, (bool, int, float)):
            raise wrong(value, f"the {key!r} of a message: a list of calls")
        if isinstance(value, dict) and key != "function_call":
            read[key] = [value]
    return {**message, **read} if read else message


def _halted(item: dict[str, Any]) -> State | None:
    """The state that an item of the Responses API says of itself; one that failed is the tool's affair."""
    status = item.get("status")
    halted = isinstance(status, str) and status in CUT and item.get("type") in _STATED
    return stopped(status, "status") if halted else None


_STATED = ("function_call", "custom_tool_call", "mcp_call", "message")


def _part_state(content: Any) -> State | None:
    """The state that a part of a message's content says."""
    for item in content if isinstance(content, list) else ():
        if not isinstance(item, dict):
            continue
        if item.get("type") == "refusal":
            return refused(str(item.get("refusal", "")))
        inner = item.get("toolInvocation")
        state = (inner if isinstance(inner, dict) else item).get("state")
        if state in ("input-streaming", "partial-call"):
            return State(
                "answer.cut", f"the answer was cut off before its end: the state of a call is {state!r}"
            )
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
