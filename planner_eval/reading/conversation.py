"""What was said around the calls of a plan: the messages of a conversation, and the user's turns in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.messages import join_messages
from planner_eval.reading.dialects.conversations.wrappers import (
    TOOL_ROLES,
    Conversation,
    Heard,
    read_conversation,
    texts_of,
)
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.record import JoinedTurns, Record

_USER_ROLES = frozenset({"user", "human", "HumanMessageChunk"})
_ANSWER_KEYS = frozenset({"tool_use_id", "toolResult", "functionResponse", "function_response"})
"""Keys of parts of a message that are what a tool answered."""


class Message(NamedTuple):
    """One message of a conversation.

    Args:
        role: ``"user"``, ``"assistant"``, ``"tool"`` or ``"system"``.
        text: What it says; of a tool what it answered.
        calls: The positions of the calls that it makes.
        turn: The user's turn that it belongs to, counted from 1.
    """

    role: str
    text: str
    calls: tuple[int, ...] = ()
    turn: int = 1


def conversation_data(record: Record | None) -> Any:
    """The messages, or lists of calls, that a record's answer is as JSON data; None where it is none."""
    if record is None or record.error is not None or record.turn is not None:
        return None
    source = record.source
    if isinstance(source, JoinedTurns):
        return source.turns
    if isinstance(source, str):
        if source.lstrip()[:1] not in ("[", "{"):
            return None
        try:
            values = record.values if record.values is not None else loads_if_json(source, DEFAULT_LIMITS)
        except PlanevalError:
            return None
        source = None if not values else values[0] if len(values) == 1 else values
    return source if isinstance(source, (list, Mapping)) else None


def read_messages(record: Record | None, plan: Plan) -> tuple[Message, ...]:
    """The messages of a conversation, each with the calls of the plan that it makes; none of other records.

    Args:
        record: The record that the plan was read from.
        plan: The plan, with all its calls.

    >>> talk = [{"role": "user", "content": "Book it."},
    ...         {"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{}"}}]},
    ...         {"role": "user", "content": "Cancel it."},
    ...         {"role": "assistant", "tool_calls": [{"function": {"name": "cancel", "arguments": "{}"}}]}]
    >>> messages = read_messages(Record("p", 0, None, talk), parse(talk))
    >>> [(message.role, message.calls, message.turn) for message in messages]
    [('user', (), 1), ('assistant', (0,), 1), ('user', (), 2), ('assistant', (1,), 2)]
    """
    data = conversation_data(record)
    if data is None:
        return ()
    try:
        talk = read_conversation(join_messages(data))
    except PlanevalError:
        return ()
    if talk is None:
        return tuple(_listed_turns(data, plan))
    owners = [call.turn or 1 for call in plan.calls]
    if max(owners, default=1) > len(talk.turns):
        return ()
    return tuple(_messages_of(talk, owners))


def _messages_of(talk: Conversation, owners: Sequence[int]) -> Iterator[Message]:
    calls: dict[int, list[int]] = {}
    for position, owner in enumerate(owners):
        calls.setdefault(owner, []).append(position)
    heard, spoken, turn, user_spoke = iter(talk.heard), next(iter(talk.heard), None), 0, False
    next(heard, None)
    for number in range(len(talk.turns) + 1):
        while spoken is not None and spoken.after == number:
            role, text = _role_of(spoken), _text_of(spoken.message)
            turn += role == "user" and not user_spoke
            user_spoke = user_spoke or role == "user"
            yield Message(role, text, (), max(turn, 1))
            spoken = next(heard, None)
        if number < len(talk.turns):
            user_spoke = False
            words = talk.turns[number].words
            yield Message("assistant", words, tuple(calls.get(number + 1, ())), max(turn, 1))


def _role_of(heard: Heard) -> str:
    """Who speaks; a user's message that holds nothing but answers of tools is theirs."""
    if heard.who in TOOL_ROLES or heard.who == "a tool":
        return "tool"
    if heard.who not in _USER_ROLES:
        return "system"
    content = heard.message.get("content", heard.message.get("parts"))
    answered = isinstance(content, list) and any(_is_tool_answer(part) for part in content)
    return "tool" if answered and not any(text.strip() for text in texts_of(content)) else "user"


def _is_tool_answer(part: Any) -> bool:
    return isinstance(part, Mapping) and not _ANSWER_KEYS.isdisjoint(part)


def _text_of(message: Mapping[str, Any]) -> str:
    content = next(
        (message[key] for key in ("content", "parts", "output", "value") if message.get(key) is not None), ""
    )
    if isinstance(content, list) and content and all(map(_is_tool_answer, content)):
        content = [part.get("content", part) for part in content]
        content = content[0] if len(content) == 1 else content
    words = "\n".join(texts_of(content))
    if words or isinstance(content, str):
        return words or content
    return json.dumps(content, ensure_ascii=False, default=repr)


def _listed_turns(data: Any, plan: Plan) -> Iterator[Message]:
    """The turns of a list of lists of calls, as BFCL's gold: a list is what is called in one turn."""
    if not isinstance(data, list) or len(data) < 2 or not all(isinstance(item, list) for item in data):
        return
    sizes = [_count_calls(item, plan.dialect) for item in data]
    if sum(sizes) != len(plan.calls):
        return
    for number, (size, end) in enumerate(zip(sizes, accumulate(sizes), strict=True), 1):
        yield Message("assistant", "", tuple(range(end - size, end)), number)


def _count_calls(items: list[Any], dialect: str | None) -> int:
    """How many calls a list holds, whose parts may be lists of a step each; -1 where that cannot be read."""
    if any(isinstance(item, list) for item in items):
        return sum(_count_calls(item if isinstance(item, list) else [item], dialect) for item in items)
    if not items:
        return 0
    try:
        texts = all(isinstance(item, str) for item in items)  # a list of texts is read by itself alone
        return len(parse(items, dialect=None if texts else dialect).calls)
    except PlanevalError:
        return -1


_MAX_TITLE_LENGTH = 50


class Lanes(NamedTuple):
    """The user's turns that the calls of a plan are made in; none where there is one turn.

    Args:
        turns: The turn of each call.
        titles: What each turn is called, with the words of the user.
    """

    turns: tuple[int, ...] = ()
    titles: Mapping[int, str] = {}


def find_lanes(record: Record, plan: Plan) -> Lanes:
    """In which of the user's turns each call is made."""
    messages = read_messages(record, plan)
    turns = {position: message.turn for message in messages for position in message.calls}
    if max((message.turn for message in messages), default=0) < 2 or len(turns) != len(plan.calls):
        return Lanes()
    words: dict[int, str] = {}
    for message in messages:
        if message.role == "user":
            words[message.turn] = f"{words.get(message.turn, '')} {message.text}"
    titles = {turn: f"turn {turn}" for turn in set(turns.values())}
    for turn in titles:
        said = shorten(" ".join(words.get(turn, "").split()), _MAX_TITLE_LENGTH)
        titles[turn] += f": {said}" if said else ""
    return Lanes(tuple(turns[position] for position in range(len(plan.calls))), titles)
