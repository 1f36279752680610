"""The turns of a text with speakers or chat tokens: prompts before the answer, and others' turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from planner_eval.base.errors import AnswerError
from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import group_by_sign, holds_signed, lazy_pattern
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.finding.segments import blank_matches, blank_spans

CHAT_TOKENS = (
    r"<\|im_(?:user|assistant|system)\|>(?:\w++<\|im_middle\|>)?+",
    r"<\|(?:im_(?:start|end|sep|middle)|endoftext|startoftext|e[ot][mt]_id|eo[tm]"
    r"|(?:begin|end)_of_text|(?:start|end)_header_id|header_(?:start|end)|(?:start|end)_of_role|end|user|assistant"
    r"|system|observation|(?:START|END)_OF_TURN_TOKEN|(?:USER|CHATBOT|SYSTEM)_TOKEN)\|>",
    r"<\|turn>", r"<turn\|>", "<(?:start|end)_of_turn>", "<pad>", "<[be]os>", "<seed:[be]os>",
    r"<\uff5c(?:(?:begin|end)\u2581of\u2581sentence|(?:hy_)?(?:User|Assistant|System))\uff5c>",
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS)\]", r"\[e~\[",
    r"\[\|(?:system|user|assistant|tool|endofturn)\|\]", r"\]~b\]",
)  # fmt: skip
"""The tokens of chat templates, which begin and end turns."""
_PADDING = (
    r"\s*+(?:(?:<\|(?:begin_of_text|end_of_text|endoftext|startoftext|im_end|e[ot][mt]_id|end|pad"
    r"|finetune_right_pad_id)\|>|<(?:pad|bos|eos|unk|/?s|end_of_turn)>|<(?:BOS|EOS)_TOKEN>|\[PAD\]|\[gMASK\]|<sop>"
    r"|\]~!b\[|<\uff5c(?:begin|end)\u2581of\u2581sentence\uff5c>)\s*+)*+"
)
"""What a tokenizer puts before a text; a batch is padded there."""
_PADDING_AT_START = lazy_pattern(_PADDING)

_HEADER = (
    r"(?:(?:<\|(?:im_start|start_header_id)\|>|<start_of_turn>)\s*+(?P<role>{role}){end}"
    r"|(?<![\w#,;:] )(?<![`'\"])(?:(?P<prompt>\[(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS)\])|"
    r"(?:<\|(?:header_start|start_of_role)\|>|<\|turn>|<seed:bos>|\]~b\])\s*+(?P<speaker>{role}){end}"
    r"|(?=<\|start\|>(?P<channel>{other}\w[\w.]*+)[ <])"
    r"|<\|im_(?:system\|>)?+(?P<name>{other}\w++)[^<\n]*+<\|im_middle\|>"
    r"|(?:<\|START_OF_TURN_TOKEN\|>)?+(?:<\||\[\||<\uff5c(?:hy_)?+)"
    r"(?P<token>{other}(?i:system|user|assistant|chatbot|observation|tool(?:_response)?+))"
    r"(?:_TOKEN)?+(?:\|>|\|\]|\uff5c>)))"
)
"""Where a turn begins in tokens of a chat template; filled in with the roles that may stand after them.

Harmony's header says which tool is called, and so it is no part of what is passed over.
"""
HEADER_OF_KNOWN_ROLE = _HEADER.format(
    role=r"(?:system|developer|user|assistant|model|ai|tool\w*+|ipython|environment|observation|functions?)\b",
    other="(?!(?i:assistant|chatbot))",
    end="",
)
"""Where a turn begins in tokens of a chat template; of tokens with a name in them, those of others."""
_KNOWN_HEADER = lazy_pattern(HEADER_OF_KNOWN_ROLE)
_TOKEN_HEADER = lazy_pattern(
    r"(?=[<\[\]])(?:"  # at most places nothing more is asked
    + _HEADER.format(
        role=r"\w++", other="", end=r"(?:<\|(?:end_header_id|header_end)\|>|[^<\n]*+<\|end_of_role\|>)?+"
    )
    + r"|(?P<assistant>\[/INST\])|<\|(?:im_end|e[ot][mt]_id|eo[tm]|end|end_of_text|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|</s>|<turn\|>|\[e~\[|<seed:eos>|\[\|endofturn\|\]|<\uff5cend\u2581of\u2581sentence\uff5c>)"
)
"""The same with any role, or where a turn ends."""
HEADER_SIGNS = group_by_sign(
    map(
        re.escape,
        ("<|", "[INST]", "<start_of_turn>", "<\uff5c", "]~b]", "<seed:bos>", "[|", "[SYSTEM_PROMPT]"),
    )
)
"""Of which one stands where a turn begins in tokens."""

_SPEAKER_NAME = (
    r"(?:(?i:System|User|Human|Assistant|AI"
    r"|Tool(?![*\]]*+:[^\n]*+\n[ \t]*+(?:arg|param|(?:tool |action )?input))))"
)
_NAMES = (
    rf"[ \t]*+(?:###[ \t]*+(?=(?:{_SPEAKER_NAME}|Instruction|Input|Response)[ \t]*+(?:[:\r\n]|\Z))"
    rf"|(?:\*\*|\[)(?={_SPEAKER_NAME}(?:\*\*|\]|:))|(?={_SPEAKER_NAME}\s*+:\s))"
)
"""What stands before a speaker's name, in a heading or with a colon."""
_NAMED_START = lazy_pattern(
    rf"{_PADDING}(?:(?:Below is an instruction that describes|A chat between a curious)"
    rf"(?:[^\n#]++\n)++\s*+)?+{_NAMES}(?P<other>(?!(?i:Assistant|AI|Response|Tool))\w)?+"
)
"""How a transcript begins that names its speakers."""
_NAME_HEADER = lazy_pattern(rf"(?:^|(?<=\n)){_NAMES}(?P<role>\w++)(?:\*\*|\])?+\s*+:?+(?:\*\*)?+")

_TOOL_DEFINITIONS = lazy_pattern(
    r"<tools>(?=[^<]*?\"(?:description|properties|type)\"\s*+:)(?:[^<]++|<(?!/tools>))*+</tools>"
)
"""What chat templates say of the tools in a prompt; some models put calls between the same tags."""

ASSISTANT_ROLES = frozenset({"assistant", "model", "ai", "response", "chatbot"})
_PROMPT_ROLES = (
    "user",
    "human",
    "system",
    "developer",
    "tool_declare",
    "available_tools",
    "instruction",
    "input",
)
_TOOL_RESPONSE_START = lazy_pattern(r"\s*+(?:<tool_response>|<results>|```tool_output)")
"""How a tool's answer begins that is given as the user's or the system's words."""

_OPENING_TAG = lazy_pattern(r"<([A-Za-z][\w:.\-]*+)[^<>\n]*+>(?!\s*+[\[{])")
_MAX_TAG_DISTANCE = 4_000
"""Characters in which the tag is looked for that a value stands after."""
MAX_VALUE_CHECKS = 200
"""Headings of which is asked whether a value holds them: of very many it would take quadratic time."""


class AnswerText(NamedTuple):
    """What of a text is the answer itself.

    Args:
        text: The text, with thoughts, chat tokens and others' turns as white space of the same length.
        notes: Remarks on these.
        unclosed: Where a thought begins that is never closed.
    """

    text: str
    notes: list[Diagnostic]
    unclosed: int | None = None


def headings(header: re.Pattern[str], text: str, signs: tuple[str, ...] = ()) -> Iterator[re.Match[str]]:
    """Where turns begin in a text, but for what stands inside a value of several lines.

    Args:
        header: What begins a turn.
        text: The text.
        signs: Of which one stands in each header that begins a line; other lines are not looked at.
    """
    looked = 0
    valued = "</" in text or '"""' in text or "'''" in text
    lines = sorted({start for sign in signs for start in line_starts(text, sign)})
    matches = (header.match(text, start) for start in lines)
    for match in filter(None, matches) if signs else header.finditer(text):
        looked += valued
        if not (valued and looked < MAX_VALUE_CHECKS and is_in_multiline_value(text, match.start())):
            yield match


def line_starts(text: str, sign: str) -> Iterator[int]:
    """Where the lines begin in which a sign stands."""
    position = text.find(sign)
    while position >= 0:
        yield text.rfind("\n", 0, position) + 1
        position = text.find(sign, position + len(sign))


def is_in_multiline_value(text: str, offset: int) -> bool:
    r"""Whether a place is inside a value of several lines: between tags, or between three quotes.

    >>> given = "<parameter=text>\nUser: f()\n</parameter>"
    >>> (
    ...     is_in_multiline_value(given, given.index("User")),
    ...     is_in_multiline_value("</a>\nUser: f()\n<a></a>", 5)
    ... )
    (True, False)
    """
    if any(text.count(quotes, 0, offset) % 2 and quotes in text[offset:] for quotes in ('"""', "'''")):
        return True
    for tag in reversed(list(_OPENING_TAG.finditer(text, offset - _MAX_TAG_DISTANCE, offset))):
        closing = f"</{tag[1]}>"
        if text.find(closing, tag.end(), offset) < 0:
            end = text.find(closing, offset)
            return end >= 0 and text.find(f"<{tag[1]}", offset, end) < 0
    return False


def blank_other_turns(source: str) -> AnswerText:
    r"""A text that begins with its prompt, with all turns but the assistant's as white space, and a note.

    Raises:
        AnswerError: no turn is the assistant's.

    >>> blank_other_turns("User: f(a=1)?\nAssistant: f(a=2)")[0].split()
    ['f(a=2)']
    >>> blank_other_turns("f(a=1)")
    AnswerText(text='f(a=1)', notes=[], unclosed=None)
    """
    if "<tools>" in source and (definitions := _TOOL_DEFINITIONS.search(source)) is not None:
        source, notes, _ = blank_other_turns(blank_matches(_TOOL_DEFINITIONS, source))
        message = "the definitions of tools were ignored"
        return AnswerText(source, [*notes, Diagnostic("find.turn", message, "info", span=definitions.span())])
    turns = [*_split_turns(source)]
    if not turns:
        return AnswerText(source, [])
    answers = [(turn.start, turn.end) for turn in turns if turn.speaker in ASSISTANT_ROLES]
    text = blank_around(source, answers)
    if not text.strip() and not any(turn.is_answer for turn in turns):
        speakers = dict.fromkeys(turn.speaker for turn in turns[1:] if turn.speaker not in ASSISTANT_ROLES)
        who = ", ".join(map(repr, speakers))
        raise AnswerError(f"no assistant turn, only turns of {who}", code="answer.absent")
    message, span = "the prompt before the answer was ignored", (0, len(text) - len(text.lstrip()))
    if turns[0].speaker == "assistant":
        message = (
            "a tool answers between the assistant's turns, all of which were read; other turns were ignored"
        )
        other = next(number for number, turn in enumerate(turns) if turn.speaker not in ASSISTANT_ROLES)
        span = (turns[other - 1].end, turns[other].end)
    return AnswerText(text, [Diagnostic("find.turn", message, "info", span=span)])


class _Turn(NamedTuple):
    """What one speaker says in a text with speakers or chat tokens.

    Args:
        speaker: Who it is.
        start: Where it begins, after its header.
        end: Where it ends.
        is_answer: Its header says that it is the assistant's.
    """

    speaker: str
    start: int
    end: int
    is_answer: bool


def _split_turns(source: str) -> Iterator[_Turn]:
    """The turns of a text with speakers or chat tokens; none of another text."""
    headers, speaker = _find_token_headers(source)
    if not headers:
        headers, speaker = _find_name_headers(source)
    start, is_answer = 0, False
    for match in headers:
        yield _Turn(speaker, start, match.start(), is_answer)
        start, speaker = match.end(), speaker_of(match)
        is_answer = speaker in ASSISTANT_ROLES and match.lastgroup is not None
    if headers:
        yield _Turn(speaker, start, len(source), is_answer)


def speaker_of(header: re.Match[str]) -> str:
    """Who speaks after a header, in small letters; after the end of a turn the assistant does."""
    if header.lastgroup in (None, "assistant"):
        return "assistant"
    return "user" if header.lastgroup == "prompt" else header[header.lastgroup].lower()


_Headers: TypeAlias = "tuple[list[re.Match[str]], str]"
"""Where the turns of a conversation begin or end, and who speaks before the first; none of another text."""


def _find_token_headers(source: str) -> _Headers:
    """The headers in chat tokens."""
    headers = [*_TOKEN_HEADER.finditer(source)] if holds_signed(HEADER_SIGNS, source) else []
    known = [
        header
        for header in headers
        if header.lastgroup
        and (speaker_of(header) in ASSISTANT_ROLES or _KNOWN_HEADER.match(source, header.start()))
    ]
    if not known:
        return [], ""
    speakers, start = [*map(speaker_of, known)], known[0].start()
    padding = _PADDING_AT_START.match(source)[0]  # type: ignore[index]
    is_preamble = padding.startswith("<\uff5c") or not may_hold_call(source[len(padding) : start])
    if speakers[0] not in ASSISTANT_ROLES and (
        len(padding) >= start or (is_preamble and not ASSISTANT_ROLES.isdisjoint(speakers))
    ):
        return headers, "user"
    return (headers if _has_tool_result(known, source) else []), "assistant"


def _find_name_headers(source: str) -> _Headers:
    """The headers that name speakers; the assistant has to be one of them."""
    start = _NAMED_START.match(source)
    headers = [*headings(_NAME_HEADER, source)] if start else []
    if start and start["other"]:
        speakers = [*map(speaker_of, headers)]
        is_prompt = speakers[:1] == ["system"] and len(speakers) > 1
        return (headers if is_prompt or not ASSISTANT_ROLES.isdisjoint(speakers) else []), "user"
    return (headers if _has_tool_result(headers, source) else []), "assistant"


def _has_tool_result(headers: list[re.Match[str]], source: str) -> bool:
    """Whether a tool has a turn after which the assistant speaks.

    Such a text is a conversation also where it begins with the assistant. Without a tool's turn it is an
    answer of a model that went on and played the user.
    """
    is_answered = False
    for header in headers:
        who = speaker_of(header)
        if is_answered and who in ASSISTANT_ROLES:
            return True
        is_answered |= who not in (*ASSISTANT_ROLES, *_PROMPT_ROLES) or bool(
            who in ("user", "system") and _TOOL_RESPONSE_START.match(source, header.end())
        )
    return False


def assistant_turns(source: str) -> tuple[Span, ...]:
    r"""Where the assistant's turns are in a text with speakers or chat tokens; none in another text.

    >>> text = "User: f?\nAssistant: f(a=1)\nUser: g?\nAssistant: g(b=1)"
    >>> [text[start:end].strip() for start, end in assistant_turns(text)], assistant_turns("f(a=1)")
    (['f(a=1)', 'g(b=1)'], ())
    """
    return tuple(
        (turn.start, turn.end)
        for turn in _split_turns(source)
        if turn.speaker in ASSISTANT_ROLES and source[turn.start : turn.end].strip()
    )


def blank_around(source: str, turns: Iterable[Span]) -> str:
    """A text with all as white space but some turns of it."""
    bounds = [0, *chain.from_iterable(turns), len(source)]
    return blank_spans(source, zip(bounds[::2], bounds[1::2], strict=True))
