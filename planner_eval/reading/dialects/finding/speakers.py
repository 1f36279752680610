"""The turns of a text with speakers or chat tokens: prompts before the answer, and others' turns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.errors import AnswerError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.finding.segments import blank

_PADDING = (
    r"\s*+(?:(?:<\|(?:begin_of_text|end_of_text|endoftext|im_end|eot_id|eom_id|end|pad|finetune_right_pad_id)\|>"
    r"|<(?:pad|bos|eos|unk|/?s|end_of_turn)>|\[PAD\]|<｜(?:begin|end)▁of▁sentence｜>)\s*+)*+"
)
"""What a tokenizer puts before a text; a batch is padded there."""
_TOKEN_PROMPT_START = lazy_pattern(
    rf"{_PADDING}(?:\[INST\]"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|tool|ipython)\b)"
)
"""How a text begins that repeats its prompt in chat tokens."""

_TOKEN_HEADER = lazy_pattern(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(\w++)(?:<\|end_header_id\|>)?"
    r"|(\[INST\])|\[/INST\]|<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<end_of_turn>|</s>"
)
"""Where a turn of such a prompt begins, with who speaks, or ends."""

_HEADED_SPEAKER = r"[ \t]*+(?:###[ \t]*+(?=(?:{})[ \t]*+(?:[:\r\n]|\Z))|(?=(?:{})\s*+:\s))"
"""A speaker's name before a turn, alone in a heading or with a colon; filled in with names of either form."""
_NAMED_PROMPT_START = lazy_pattern(
    rf"{_PADDING}(?:(?:Below is an instruction that describes|A chat between a curious)"
    r"(?:[^\n#]++\n)++\s*+)?+"
    + _HEADED_SPEAKER.format("System|User|Human|Instruction|Input", "System|User|USER|Human")
    + r"(?=(?:[^\n]*+\n)*?"
    + _HEADED_SPEAKER.format("Assistant|Response", "Assistant|ASSISTANT|AI")
    + ")"
)
"""How a transcript begins that names its speakers, of whom one is the assistant."""

_NAME_HEADER = lazy_pattern(
    r"(?:^|(?<=\n))"
    + _HEADED_SPEAKER.format(
        "System|User|Human|Assistant|Instruction|Input|Response",
        "System|User|USER|Human|Assistant|ASSISTANT|AI|Tool",
    )
    + r"(\w++)\s*+:?+()"
)

_TOOL_DEFINITIONS = lazy_pattern(
    r"<tools>(?=[^<]*?\"(?:description|properties|type)\"\s*+:)(?:[^<]++|<(?!/tools>))*+</tools>"
)
"""What chat templates say of the tools in a prompt; some models put calls between the same tags."""

_ASSISTANT_ROLES = frozenset({"assistant", "model", "ai", "response"})

_HEADER_TOKENS = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>")
_TOOL_ROLES = ("tool", "ipython", "observation", "tool_response", "function")
"""Who speaks where a tool does, in chat tokens; others have the user say it between tags."""
_TOOL_RESPONSE_START = lazy_pattern(r"\s*+<tool_response>")

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
        source, notes, _ = blank_other_turns(_TOOL_DEFINITIONS.sub(lambda match: blank(match[0]), source))
        message = "the definitions of tools were ignored"
        return AnswerText(source, [*notes, Diagnostic("find.turn", message, "info", span=definitions.span())])
    turns = [*_split_turns(source)]
    if not turns:
        return AnswerText(source, [])
    pieces, position = [], 0
    for turn in turns:
        if turn.speaker in _ASSISTANT_ROLES:
            pieces += [blank(source[position : turn.start]), source[turn.start : turn.end]]
            position = turn.end
    text = "".join([*pieces, blank(source[position:])])
    if not text.strip() and not any(turn.is_answer for turn in turns):
        speakers = dict.fromkeys(turn.speaker for turn in turns[1:] if turn.speaker not in _ASSISTANT_ROLES)
        who = ", ".join(map(repr, speakers))
        raise AnswerError(f"no assistant turn, only turns of {who}", code="answer.absent")
    message, span = "the prompt before the answer was ignored", (0, len(text) - len(text.lstrip()))
    if turns[0].speaker == "assistant":
        message = (
            "a tool answers between the assistant's turns, all of which were read; other turns were ignored"
        )
        first = _find_first_tool_result(source) or 0
        span = (first, _TOKEN_HEADER.search(source, first + 1).start())  # type: ignore[union-attr]
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
    start, speaker, is_answer = 0, "user", False
    headers = _TOKEN_HEADER.finditer(source)
    if not (_TOKEN_PROMPT_START.match(source) or _has_preamble(source)):
        if _NAMED_PROMPT_START.match(source):
            headers = headings(_NAME_HEADER, source)
        elif _find_first_tool_result(source) is None:
            return
        else:
            speaker = "assistant"
    for match in headers:
        yield _Turn(speaker, start, match.start(), is_answer)
        start = match.end()
        speaker = match[1].lower() if match[1] else "user" if match[2] else "assistant"
        is_answer = speaker in _ASSISTANT_ROLES and (match[1] is not None or match.group() == "[/INST]")
    yield _Turn(speaker, start, len(source), is_answer)


def _has_preamble(source: str) -> bool:
    """Whether words that call nothing and that no token ends stand before a prompt in chat tokens."""
    if "<" not in source or not any(map(source.__contains__, _HEADER_TOKENS)):
        return False
    first, *later = _TOKEN_HEADER.finditer(source)
    is_prompt = first[1] in ("user", "system") and any(header[1] in _ASSISTANT_ROLES for header in later)
    return is_prompt and not may_hold_call(source[: first.start()])


def assistant_turns(source: str) -> tuple[tuple[int, int], ...]:
    r"""Where the assistant's turns are in a text with speakers or chat tokens; none in another text.

    >>> text = "User: f?\nAssistant: f(a=1)\nUser: g?\nAssistant: g(b=1)"
    >>> [text[start:end].strip() for start, end in assistant_turns(text)], assistant_turns("f(a=1)")
    (['f(a=1)', 'g(b=1)'], ())
    """
    return tuple(
        (turn.start, turn.end)
        for turn in _split_turns(source)
        if turn.speaker in _ASSISTANT_ROLES and source[turn.start : turn.end].strip()
    )


def blank_around(source: str, span: tuple[int, int]) -> str:
    """A text with all as white space but one turn of it."""
    start, end = span
    return blank(source[:start]) + source[start:end] + blank(source[end:])


def _find_first_tool_result(source: str) -> int | None:
    """The place of the first turn of a tool after which the assistant speaks; None where there is none.

    Such a text is a conversation also where it begins with the assistant. Without a tool's turn it is an
    answer of a model that went on and played the user.
    """
    if "<" not in source or not any(map(source.__contains__, _HEADER_TOKENS)):
        return None
    first_result = None
    for match in _TOKEN_HEADER.finditer(source):
        who = match[1].lower() if match[1] else ""
        if first_result is None:
            if who in _TOOL_ROLES or (who == "user" and _TOOL_RESPONSE_START.match(source, match.end())):
                first_result = match.start()
        elif who in _ASSISTANT_ROLES:
            return first_result
    return None
