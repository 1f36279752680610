"""What was said around the calls of a plan: the messages of a conversation, and the user's turns in it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.json_text import loads_if_json, unwrap_single
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.plan.model import Diagnostic, Plan, leaves
from planner_eval.reading.dialects.conversations.messages import join_messages, texts_of
from planner_eval.reading.dialects.conversations.turns import Conversation, Heard, read_conversation
from planner_eval.reading.dialects.conversations.vendors import TOOL_ROLES
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
        source = None if not values else unwrap_single(values)
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
    answered = isinstance(content, list) and any(_is_tool_answer(item) for item in content)
    return "tool" if answered and not any(text.strip() for text in texts_of(content)) else "user"


def _is_tool_answer(item: Any) -> bool:
    return isinstance(item, Mapping) and not _ANSWER_KEYS.isdisjoint(item)


def _text_of(message: Mapping[str, Any]) -> str:
    content = next(
        (message[key] for key in ("content", "parts", "output", "value") if message.get(key) is not None), ""
    )
    if isinstance(content, list) and content and all(map(_is_tool_answer, content)):
        content = [item.get("content", item) for item in content]
        content = unwrap_single(content)
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
        title = shorten(" ".join(words.get(turn, "").split()), _MAX_TITLE_LENGTH)
        titles[turn] += f": {title}" if title else ""
    return Lanes(tuple(turns[position] for position in range(len(plan.calls))), titles)


# ----------------------------------------------------------------------
# What is odd in a conversation.
_IDENTIFIER = re.compile(r"(?=\S*[a-z])(?=(?:\D*\d){3})[\w@.#:+-]{6,80}", re.I)
"""A text that names one thing: letters and three digits, no blanks. Amounts and dates are worked out."""

_AGREEMENT = re.compile(
    r"\b(?:yes|yeah|yep|yup|sure|ok|okay|please|confirm\w*|proceed|agree\w*|correct|absolutely|definitely|"
    r"go ahead|do (?:it|that|so)|sounds? (?:good|great|fine|perfect)|looks? good|that works|let'?s|perfect|"
    r"great|(?:can|could|may|would) (?:you|we|i|it)\b|i(?: can| could|'ll| will|'d| would| want| need)\b)",
    re.I,
)
"""Words by which a user agrees to something, asks for it or chooses it."""

_REFUSAL = re.compile(
    r"^\W*(?:no|nope)\W*$|\b(?:(?:do|wo|would)n['’]?t|not|never|stop|wait|cancel that|unsure)\b", re.I
)
"""Words by which an answer is no agreement. "No, it should be …" asks for something else."""

_ISO_TIME = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]?\d\d[:.]?\d\d.*)?")


class _Said(NamedTuple):
    """What stood in a conversation before a call.

    Args:
        grounds: What users, tools and instructions said, and what the model said that a user answered.
        user: What the user said last; None where no user spoke.
    """

    grounds: str
    user: str | None


def find_conversation_findings(
    plan: Plan, data: Any, acting: Collection[str] = (), documented: str = ""
) -> Iterator[Diagnostic]:
    """Arguments that nothing said before grounds, and acting calls before the user agreed.

    Args:
        plan: The calls of the whole conversation.
        data: Its messages, as JSON data.
        acting: The tools that are known to change something.
        documented: What is said of the tools: their defaults and choices ground an argument.

    >>> from planner_eval.reading.dialects.read import parse
    >>> talk = [{"role": "user", "content": "Cancel my order."},
    ...         {"role": "assistant", "tool_calls": [
    ...             {"id": "a", "function": {"name": "cancel", "arguments": '{"order": "W1234567"}'}}]},
    ...         {"role": "tool", "tool_call_id": "a", "content": "done"}]
    >>> [found.code for found in find_conversation_findings(parse(talk), talk, ["cancel"])]
    ['trace.ungrounded_argument']
    """
    grounds, documented_words = _said_before_calls(data), _plain(documented)
    if len(grounds) != len(plan.calls):
        return
    for position, (call, before) in enumerate(zip(plan.calls, grounds, strict=True)):
        for name, value in call.arguments:
            for _, leaf in leaves(value):
                if isinstance(leaf, str) and not _is_grounded(leaf, documented_words + before.grounds):
                    message = (
                        f"{name}: no earlier message or tool output contains {shorten(leaf, 60)!r}; "
                        "look it up, or ask the user"
                    )
                    yield Diagnostic("trace.ungrounded_argument", message, "warning", position, name)
        if call.tool in acting and before.user is not None and not _has_agreed(call.name, before):
            words = shorten(before.user, 60)
            message = (
                "it changes something, but the user's last message neither asks for it nor agrees "
                f"to it: {words!r}"
            )
            yield Diagnostic("trace.unagreed_action", message, "info", position)


def _has_agreed(tool: str, before: _Said) -> bool:
    """Whether the user's last words may ask for a call, or agree to it.

    People ask in all moods, "Transfer it into the archive", "My id is 17": only who asks nothing but
    questions, or answers with a short refusal, has not agreed. A question that names what the tool does asks
    for it.
    """
    words = before.user or ""
    if _AGREEMENT.search(words):
        return True
    refused = _REFUSAL.search(words) is not None
    sentences = [sentence for sentence in re.findall(r"[^.!?\n]+[.!?]*", words) if len(sentence.split()) > 2]
    if sentences and all(sentence.rstrip().endswith("?") for sentence in sentences):
        words_of_name = [word for word in _NAME_PARTS.split(tool) if len(word) >= MIN_WORD_LENGTH]
        return not refused and any(word.lower() in words.lower() for word in words_of_name)
    return not (refused and len(words.split()) <= _MAX_REFUSAL_WORDS)


_NAME_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MAX_REFUSAL_WORDS = 15
"""In a longer message a word such as "not" is about something else."""

MIN_WORD_LENGTH = 4
"""Shorter parts of a tool's name stand in many words."""


_NUMBERED = re.compile(r"[a-z]{1,4}(\d{5,})", re.I)
"""A long number behind some letters: people say the two apart, "starts with US, numbered 9148817941"."""


def _is_grounded(text: str, grounds: str) -> bool:
    """Whether a text is no identifier, or stands in what was said before."""
    if _IDENTIFIER.fullmatch(text) is None or _ISO_TIME.fullmatch(text) is not None:
        return True
    if _plain(text) in grounds:
        return True
    numbered = _NUMBERED.fullmatch(text)
    return numbered is not None and re.search(rf"(?<![0-9]){numbered[1]}(?![0-9])", grounds) is not None


def _plain(text: str) -> str:
    """A text without case and without what is between its words."""
    return re.sub(r"[\W_]+", "", text.lower())


def _said_before_calls(data: Any) -> list[_Said]:
    """What stood before each call of a list of messages; of other data nothing."""
    messages = data if isinstance(data, list) else data.get("messages") if isinstance(data, Mapping) else None
    if not isinstance(messages, list) or not all(
        isinstance(item, Mapping) and "role" in item for item in messages
    ):
        return []
    grounds: list[str] = []
    unanswered: list[str] = []
    user: str | None = None
    grounds_of_calls: list[_Said] = []
    for message in messages:
        content = message.get("content") or ""
        words = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            grounds_of_calls += [_Said("".join(grounds), user)] * len(calls)
            unanswered.append(_plain(words))
            continue
        if message["role"] == "user":
            user = words
            grounds += unanswered
            unanswered = []
        grounds.append(_plain(words))
    return grounds_of_calls
