"""The turns of conversations and APIs' answers, whatever wraps them: their calls, and the user's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from planner_eval.base.errors import AnswerError, LimitError, ParseError
from planner_eval.base.json_text import LARK_CHARS, ObjectSpans, loads_if_json, unwrap_single
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, shorten
from planner_eval.plan.linking import link
from planner_eval.plan.model import (
    UNREAD_CALL,
    Diagnostic,
    RawCall,
    RawPlan,
    may_tell_unread_call,
    no_call_remark,
)
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.answers import (
    CUT_REASONS,
    AnswerState,
    answer_state,
    assign_recorded_answers,
    join_answer_pieces,
    note_repeated_keys,
    refusal_state,
    stop_reason_state,
)
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    call_items,
    join_messages,
    note_unlisted_calls,
    texts_of,
)
from planner_eval.reading.dialects.conversations.spans import decode_json, messages_of, refuse_several_runs
from planner_eval.reading.dialects.conversations.vendors import take_event, wrong_shape_error
from planner_eval.reading.dialects.conversations.wrappers import (
    drop_metadata,
    find_take_function,
    may_be_conversation,
)
from planner_eval.reading.dialects.detect import detect_data, may_hold_call
from planner_eval.reading.dialects.dialect import RecognisedPlan
from planner_eval.reading.dialects.finding.edited_text import remove_call_spans
from planner_eval.reading.dialects.finding.repeats import call_signatures, repeated_calls_note
from planner_eval.reading.dialects.programs.program import shift_names

if TYPE_CHECKING:
    from planner_eval.reading.dialects.dialect import TurnChoice

_MAX_DEPTH = 8
"""How deep the wrappings of one answer may nest."""


@dataclass(slots=True)
class Turn:
    """One turn of the assistant.

    Args:
        state: Why it is no whole answer, where it is none.
        items: What holds its calls: messages and items that the dialects know.
        texts: What it says.
        spoken: Whether its words must hold calls, even where other turns list theirs.
        answers: The messages that follow it, with what the tools answered.
    """

    state: AnswerState | None = None
    items: list[Any] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    spoken: bool = False
    answers: list[Any] = field(default_factory=list)

    @property
    def words(self) -> str:
        """What it says, as one text."""
        return "\n".join(filter(str.strip, self.texts))


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
        data: What it was read from.
        turns: Those of the assistant.
        notes: What is worth saying.
        heard: What others said, in order.
    """

    data: Any
    turns: tuple[Turn, ...]
    notes: tuple[Diagnostic, ...] = ()
    heard: tuple[Heard, ...] = ()


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
    data = drop_metadata(data)
    items = join_answer_pieces([*map(drop_metadata, data)]) if isinstance(data, list) else [data]
    if not any(find_take_function(item) is not None or _item_state(item) is not None for item in items):
        messages = messages_of(items)
        if messages is None:
            return None
        refuse_several_runs(items)
        items = messages
    walk = TurnCollector()
    walk.all(items)
    if not walk.turns:
        who = ", ".join(map(repr, dict.fromkeys(heard.who for heard in walk.others))) or "nobody"
        raise AnswerError(f"no assistant turn, only turns of {who}", code="answer.absent")
    return Conversation(data, tuple(walk.turns), tuple(walk.notes), tuple(walk.others))


class TurnCollector:
    """The turns met so far, in order."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.joins = False
        self.depth = 0
        self.notes: list[Diagnostic] = []
        self.others: list[Heard] = []

    def all(self, items: list[Any]) -> None:
        """Take the messages, items or answers of a list."""
        last: Any = None
        for item in map(drop_metadata, items):
            if not isinstance(item, dict):
                raise wrong_shape_error(item, "a message: an object with a role and content")
            piece = (item.get("type"), item.get("id"))
            if piece[0] == "AIMessageChunk" and piece == last:
                take_event(self, item)
            last = piece
            self.take(item)

    def take(self, item: JsonObject) -> None:
        """Take one message, item or answer."""
        opened = find_take_function(item) if self.depth < _MAX_DEPTH else None
        if opened is None:
            return self.part(item)
        self.depth += 1
        opened(self, item)
        self.depth -= 1

    def turn(self, state: AnswerState | None = None) -> Turn:
        """A new turn of the assistant."""
        self.turns.append(Turn(state))
        self.joins = False
        return self.turns[-1]

    def part(self, item: JsonObject) -> None:
        """Take a call, or another part of an answer, that stands beside messages and not in one."""
        if not (self.joins and self.turns):
            self.turn()
        self.joins = True
        turn = self.turns[-1]
        turn.items.append(item)
        turn.state = turn.state or _item_state(item)

    def heard(self, message: JsonObject, who: str) -> None:
        """Take what a tool or a person says."""
        self.joins = False
        message = _normalize_content(message)
        self.others.append(Heard(who, message, len(self.turns)))
        if self.turns:
            self.turns[-1].answers.append(message)

    def said(self, message: JsonObject, state: AnswerState | None) -> None:
        """Take a message of the assistant."""
        if "role" not in message:
            message = {"role": "assistant", **message}
        message = _normalize_call_lists(_normalize_content(message))
        content = next((message[key] for key in ("content", "parts") if message.get(key) is not None), None)
        if not isinstance(content, (str, list, type(None))):
            raise wrong_shape_error(content, "the content of a message: a text, or parts")
        state = state or answer_state(message) or _item_state(message) or _part_state(content)
        if not (self.joins and message.get("type") == "message"):
            self.turn()
        turn = self.turns[-1]
        turn.state = turn.state or state
        turn.items.append(message)
        self.notes += note_unlisted_calls(message)
        self.notes += _note_hosted_code(content)
        turn.texts += texts_of(content)


def _note_hosted_code(content: Any) -> Iterator[Diagnostic]:
    """A note on programs among a message's parts, which Gemini runs itself."""
    for block in content if isinstance(content, list) else ():
        for key in ("executableCode", "executable_code"):
            if isinstance(block, dict) and isinstance(block.get(key), dict):
                message = f"a part {key!r} is a program that the API runs itself; it was not read"
                yield Diagnostic("shape.ignored", message, "info")


# ---------------------------------------------------------------- what a message holds
def _normalize_content(message: JsonObject) -> JsonObject:
    """The message with its parts and its id under the usual keys, unlike LlamaIndex and Semantic Kernel."""
    extra = message.get("additional_kwargs")
    if isinstance(extra, dict) and "tool_call_id" in extra:
        message = {"tool_call_id": extra["tool_call_id"], **message}
    key = next((key for key in ("items", "blocks") if isinstance(message.get(key), list)), None)
    if key is None or message.get("content") is not None:
        return message
    content = [
        {"type" if name == "block_type" else name: value for name, value in item.items()}
        if isinstance(item, dict)
        else item
        for item in message[key]
    ]
    return {**{name: value for name, value in message.items() if name != key}, "content": content}


def _normalize_call_lists(message: JsonObject) -> JsonObject:
    """The message with its calls in lists; some write one call, or the list's JSON text."""
    extra = message.get("additional_kwargs")  # LangChain's, LlamaIndex's
    if isinstance(extra, dict) and not any(message.get(key) for key in CALL_LIST_KEYS):
        message = {**message, **{key: extra[key] for key in CALL_LIST_KEYS if extra.get(key)}}
    present = [key for key in CALL_LIST_KEYS if key in message]
    texts = [key for key in present if isinstance(message[key], str) and message[key].strip()]
    read: JsonObject = {key: decode_json(message[key]) for key in texts}
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


def _item_state(item: JsonObject) -> AnswerState | None:
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


# ----------------------------------------------------------------------
# The calls of a conversation or of an API's answer: of all turns of the assistant in order, or of one.
ProseReader: TypeAlias = Callable[[str], RecognisedPlan]
"""Reads the words of a turn: the dialect that they are in, and the calls."""


class ConversationSource(NamedTuple):
    """A conversation and what it was read from.

    Args:
        talk: The conversation.
        text: Its text, "" where it was data already.
        places: Where its objects stand, when that was asked for.
    """

    talk: Conversation
    text: str = ""
    places: ObjectSpans | None = None


def find_conversation(
    text: str, limits: Limits, values: list[Any] | None = None, *, located: bool = False
) -> ConversationSource | None:
    """The conversation or answer that a text is as a whole; None where it is none.

    Args:
        text: The text.
        limits: Bounds on nesting.
        values: The JSON values of the text, where they are known already.
        located: Keep the places of its objects.

    Raises:
        AnswerError: there is no turn of the assistant.
        ParseError: a part of it is of another shape than its kind has.

    >>> find_conversation('{"role": "assistant", "content": "f(a=1)"}', Limits()).talk.turns[0].words
    'f(a=1)'
    """
    if values is None:
        values = loads_if_json(text, limits)
        if values is None:
            return None
    located_values = None
    if located and len(text) <= LARK_CHARS:
        from planner_eval.base.json_places import locate_values

        located_values = ObjectSpans(locate_values(text))
        values = located_values.values
    talk = read_conversation(unwrap_single(values))
    return None if talk is None else ConversationSource(talk, text, located_values)


def read(
    source: ConversationSource, which: TurnChoice, dialect: str | None, limits: Limits, words: ProseReader
) -> RecognisedPlan:
    """The dialect and the calls of a conversation, or of one turn of it.

    Args:
        source: The conversation.
        which: The turn to read, or None for all.
        dialect: The dialect that the user named.
        limits: How many calls there may be.
        words: Reads what a turn says, where no turn lists a call.

    Raises:
        AnswerError: there is no turn of that number.
        ParseError: something in it is no call.
    """
    turns = select_turns(source.talk.turns, which)
    name, raw, sizes = _read_listed_calls(source, turns, dialect, limits)
    spoken_dialect, raw = _add_spoken_calls(turns, raw, sizes, words)
    name = spoken_dialect if spoken_dialect is not None and not any(sizes) else name
    notes = [*source.talk.notes, *raw.notes]
    if not raw.calls and not any(note.code == "plan.no_call" for note in notes):
        notes.append(no_call_remark("the assistant calls no tool"))
    if len(turns) > 1:
        calling = len({call.turn for call in raw.calls})
        message = (
            f"the assistant has {len(turns)} turns, of which {calling} call{'s' * (calling == 1)} "
            "tools; all were read (choose one with --turn)"
        )
        notes.append(Diagnostic("find.turns", message, "info"))
    raw = raw._replace(notes=tuple(notes))
    return RecognisedPlan(name, note_repeated_keys(source.talk.data, raw, limits))


def read_whole_answer(
    source: ConversationSource, which: TurnChoice, dialect: str | None, limits: Limits, words: ProseReader
) -> RecognisedPlan:
    """As :func:`read`; what is read must be a whole answer.

    Raises:
        AnswerError: it was cut off, refused or failed (with the plan of what there is), or there is none.
        ParseError: something in it is no call.
    """
    states = (turn.state for turn in select_turns(source.talk.turns, which))
    state = next((state.error() for state in states if state is not None), None)
    try:
        recognised = read(source, which, dialect, limits, words)
        if state is None:
            return recognised
        raw = recognised.raw
        state.plan = link(raw, dialect=recognised.dialect, depth=limits.depth)
        if raw.calls:
            count = len(raw.calls)
            state.reason += f"; it has {count} complete call{'s' * (count != 1)}"
    except ParseError:
        if state is None:
            raise
    except RecursionError:
        raise LimitError(f"the data nests deeper than {limits.depth} levels") from None
    raise state


def find_dialect_reason(source: Any) -> str | None:
    """Why the notation of a conversation's calls was taken; None where a text or data is no conversation."""
    conversation = (
        find_conversation(source, DEFAULT_LIMITS) if isinstance(source, str) else read_conversation(source)
    )
    if conversation is None:
        return None
    talk = conversation.talk if isinstance(conversation, ConversationSource) else conversation
    items = [item for turn in talk.turns for item in turn.items]
    if not list(call_items(items)):
        return "the words of the assistant"
    return f"{detect_data(items).reason}, made by the assistant"


T = TypeVar("T")


def select_turns(turns: tuple[T, ...], which: TurnChoice) -> tuple[T, ...]:
    """The turn of a number, the first or the last; all of them where none is named.

    Raises:
        AnswerError: there is no such turn.
    """
    if which is None:
        return turns
    index = {"first": 0, "last": len(turns) - 1}[which] if isinstance(which, str) else which - 1
    if index >= len(turns):
        has = f"{len(turns)} turn{'s' * (len(turns) != 1)}"
        raise AnswerError(f"no turn {which}: the assistant has {has}", code="answer.absent")
    return turns[index : index + 1]


def _read_listed_calls(
    source: ConversationSource, turns: tuple[Turn, ...], dialect: str | None, limits: Limits
) -> tuple[str, RawPlan, list[int]]:
    """The dialect of the calls that the turns list, the calls, and how many each turn has."""
    single = len(turns) == 1  # whose calls need not be counted
    listed_calls = (islice(call_items(turn.items, source.text), 1 if single else None) for turn in turns)
    sizes = [sum(1 for _ in items) for items in listed_calls]
    if not any(sizes):
        return dialect or "json", RawPlan(()), sizes
    data: Any = [item for turn in turns for item in (*turn.items, *turn.answers)]
    data = unwrap_single(data)
    name = dialect or detect_data(data, _detection_text(source, turns)).dialect
    reader = dialects.get(name).read_data
    if reader is None:
        reason = f"the dialect {name!r} is text, found a JSON list of calls: drop --from"
        raise ParseError(reason, code="parse.shape", dialect=name)
    raw = reader(data, limits, source.places)
    if single:
        return name, raw, [len(raw.calls)]
    owners = [index + 1 for index, size in enumerate(sizes) for _ in range(size)]
    if len(owners) == len(raw.calls):
        pairs = zip(raw.calls, owners, strict=True)
        raw = raw._replace(calls=tuple(replace(call, turn=owner) for call, owner in pairs))
    return name, raw, sizes


def _unread_words_note(text: str) -> Diagnostic:
    """That a turn's text beside calls that are listed may hold another."""
    message = f"in the text beside the listed calls, what {UNREAD_CALL} was not read: {shorten(text, 60)!r}"
    return Diagnostic("find.text", message, "warning")


def _signatures(calls: tuple[RawCall, ...]) -> set[str]:
    """A text for each call, equal where tool and values are: prose may give arguments by position."""
    nameless = (replace(call, arguments=tuple(("", value) for _, value in call.arguments)) for call in calls)
    return set(call_signatures(RawPlan(tuple(nameless))))


_SMALL_TEXT_LENGTH, _BRIEF_TEXT_LENGTH = 10_000, 200


def _detection_text(source: ConversationSource, turns: tuple[Turn, ...]) -> str:
    """What a dialect is looked for in: of large answers of tools only how they begin, which are no calls."""
    if 0 < len(source.text) <= _SMALL_TEXT_LENGTH:
        return source.text
    seen = [
        item for turn in turns for item in (*turn.items, *(_shorten_texts(answer) for answer in turn.answers))
    ]
    try:
        return repr(seen)
    except ValueError:  # an integer that Python does not write
        return source.text


def _shorten_texts(value: Any) -> Any:
    """A tool's answer with its long texts cut.

    >>> _shorten_texts(["a", {"b": "c"}])
    ['a', {'b': 'c'}]
    """
    if isinstance(value, str):
        return value[:_BRIEF_TEXT_LENGTH]
    if isinstance(value, list):
        return [_shorten_texts(item) for item in value]
    if isinstance(value, dict):
        return {key: _shorten_texts(item) for key, item in value.items()}
    return value


def _add_spoken_calls(
    turns: tuple[Turn, ...], listed: RawPlan, sizes: list[int], words: ProseReader
) -> tuple[str | None, RawPlan]:
    """The calls that turns list, and those that others say in words; the dialect of the first of these."""
    calls, notes, positions, dialects_read = list[RawCall](), list[Diagnostic](), list[int](), list[str]()
    answer = listed.answer
    for number, (turn, size) in enumerate(zip(turns, sizes, strict=True), 1):
        calls += listed.calls[len(positions) : len(positions) + size]
        positions += range(len(calls) - size, len(calls))
        if not turn.words or (listed.calls and not turn.spoken and not may_hold_call(turn.words)):
            continue
        dialect, raw = _read_words(turn, size, listed, words)
        raw = remove_call_spans(raw)  # places are those of the words, not of the text around them
        if raw.calls:
            dialects_read.append(dialect)
            answer = answer or raw.answer
        notes += [
            note if note.call is None else note._replace(call=note.call + len(calls))
            for note in raw.notes
            if note.code != "plan.no_call" or len(turns) == 1
        ]
        spoken_calls = shift_names(raw.calls, len(calls)) if calls else raw.calls
        if len(turns) > 1:
            spoken_calls = tuple(replace(call, turn=number) for call in spoken_calls)
        calls += assign_recorded_answers(spoken_calls, turn.answers)
    notes[:0] = (n if n.call is None else n._replace(call=positions[n.call]) for n in listed.notes)
    if dialects_read:
        notes = [note for note in notes if note.code != "plan.no_call"]
        message = "the calls were read from the text of the assistant's answer"
        notes.append(Diagnostic("find.said", message, "info"))
    return next(iter(dialects_read), None), RawPlan(tuple(calls), answer, tuple(notes))


def _read_words(turn: Turn, size: int, listed: RawPlan, words: ProseReader) -> RecognisedPlan:
    """The calls that a turn says in words.

    Where turns list calls, words that say these again, cannot be read or stand beside a list are no calls.

    Raises:
        ParseError: they cannot be read, and no turn lists calls.
    """
    try:
        recognised = words(turn.words)
    except ParseError:
        if turn.spoken or not listed.calls:
            raise
        return _only_notes(_unread_words_note(turn.words))
    if turn.spoken or not listed.calls:
        return recognised
    raw, signatures = recognised.raw, _signatures(listed.calls)
    unlisted = [call.name for call in raw.calls if not _signatures((call,)) <= signatures]
    if size:
        unread = (note for note in raw.notes if may_tell_unread_call(note))
        return _only_notes(*unread, *map(_unread_words_note, unlisted[:1]))
    return recognised if unlisted or not raw.calls else _only_notes(repeated_calls_note(len(raw.calls), None))


def _only_notes(*notes: Diagnostic) -> RecognisedPlan:
    return RecognisedPlan("", RawPlan((), None, notes))


# ----------------------------------------------------------------------
# What the user said in a conversation: values in it come from no tool.
_MESSAGE_LIST_KEYS = ("conversations", "messages", "input", "question")


def read_user_text(data: Any) -> str | None:
    """The words of the user's turns; None where data is no conversation.

    Args:
        data: Messages, an object that holds them, or anything else.

    >>> read_user_text([{"role": "user", "content": "To Rome."}, {"role": "assistant", "content": "Yes."}])
    'To Rome.'
    """
    if isinstance(data, dict):
        data = next((data[key] for key in _MESSAGE_LIST_KEYS if isinstance(data.get(key), list)), ())
    data = join_messages(data)
    listed = data if isinstance(data, list) else ()
    messages = [
        message for message in listed if isinstance(message, dict) and isinstance(message.get("role"), str)
    ]
    if not messages:
        return None
    contents = (message.get("content") for message in messages if message["role"] == "user")
    return "\n".join(text for content in contents for text in texts_of(content))
