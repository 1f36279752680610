"""Texts that begin with their prompt: which of their turns the assistant wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.errors import AnswerError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.finding.edited_text import extent
from planner_eval.reading.dialects.finding.segments import blank

_TOKEN_PROMPT_START = lazy_pattern(
    r"\s*+(?:<\|begin_of_text\|>|<bos>|<s>|<｜begin▁of▁sentence｜>)?+\s*+(?:\[INST\]"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|tool|ipython)\b)"
)
"""How a text begins that repeats its prompt in chat tokens."""

_TOKEN_HEADER = lazy_pattern(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(\w++)(?:<\|end_header_id\|>)?"
    r"|(\[INST\])|\[/INST\]|<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<end_of_turn>|</s>"
)
"""Where a turn of such a prompt begins, with who speaks, or ends."""

_NAMED_PROMPT_START = lazy_pattern(
    r"\s*+(?:System|User|USER|Human)\s*+:\s(?=(?:[^\n]*+\n)*?[ \t]*+(?:Assistant|ASSISTANT|AI)\s*+:\s)"
)
"""How a transcript begins that names its speakers, of whom one is the assistant."""

_NAME_HEADER = lazy_pattern(
    r"(?:^|(?<=\n))[ \t]*+(System|User|USER|Human|Assistant|ASSISTANT|AI|Tool)\s*+:(?=\s)()"
)

_TOOL_DEFINITIONS = lazy_pattern(
    r"<tools>(?=[^<]*?\"(?:description|properties|type)\"\s*+:)(?:[^<]++|<(?!/tools>))*+</tools>"
)
"""What chat templates say of the tools in a prompt; some models put calls between the same tags."""

_ASSISTANT_ROLES = frozenset({"assistant", "model", "ai"})

_HEADER_TOKENS = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>")
_TOOL_ROLES = ("tool", "ipython", "observation", "tool_response", "function")
"""Who speaks where a tool does, in chat tokens; others have the user say it between tags."""
_TOOL_RESPONSE_START = lazy_pattern(r"\s*+<tool_response>")

_OPENING_TAG = lazy_pattern(r"<([A-Za-z][\w:.\-]*+)[^<>\n]*+>(?!\s*+[\[{])")
_MAX_TAG_DISTANCE = 4_000
"""Characters in which the tag is looked for that a value stands after."""
_MAX_VALUE_CHECKS = 200
"""Headings of which is asked whether a value holds them: of very many it would take quadratic time."""
_MAX_BROKEN_OBSERVATIONS = 5
"""Answers of tools that are never closed and so go on to the end: of these few it is looked for."""
_OBSERVATION_LINE = lazy_pattern(
    r"(?m)^[ \t]*+\**+Observation(?:[ \t]*+\d{1,4})?+\**+[ \t]*+[:\uff1a]\**+\s*+"
)


class AssistantText(NamedTuple):
    """A text of which only the assistant's turns are left, and notes on the others."""

    text: str
    notes: list[Diagnostic]


def headings(header: re.Pattern[str], text: str, signs: tuple[str, ...] = ()) -> Iterator[re.Match[str]]:
    """Where turns begin in a text, but for what stands inside a value of several lines.

    Args:
        header: What begins a turn.
        text: The text.
        signs: Of which one stands in each header that begins a line; other lines are not looked at.
    """
    looked = 0
    valued = "</" in text or '"""' in text or "'''" in text
    lines = sorted({start for sign in signs for start in _line_starts(text, sign)})
    matches = (header.match(text, start) for start in lines)
    for match in filter(None, matches) if signs else header.finditer(text):
        looked += valued
        if not (valued and looked < _MAX_VALUE_CHECKS and is_in_multiline_value(text, match.start())):
            yield match


def _line_starts(text: str, sign: str) -> Iterator[int]:
    """Where the lines begin in which a sign stands."""
    found = text.find(sign)
    while found >= 0:
        yield text.rfind("\n", 0, found) + 1
        found = text.find(sign, found + len(sign))


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
    for tag in reversed(list(_OPENING_TAG.finditer(text, max(0, offset - _MAX_TAG_DISTANCE), offset))):
        closing = f"</{tag[1]}>"
        if text.find(closing, tag.end(), offset) < 0:
            end = text.find(closing, offset)
            return end >= 0 and text.find(f"<{tag[1]}", offset, end) < 0
    return False


def blank_other_turns(source: str) -> AssistantText:
    r"""A text that begins with its prompt, with all turns but the assistant's as white space, and a note.

    Raises:
        AnswerError: no turn is the assistant's.

    >>> blank_other_turns("User: f(a=1)?\nAssistant: f(a=2)")[0].split()
    ['f(a=2)']
    >>> blank_other_turns("f(a=1)")
    AssistantText(text='f(a=1)', notes=[])
    """
    if "<tools>" in source and (definitions := _TOOL_DEFINITIONS.search(source)) is not None:
        source, notes = blank_other_turns(_TOOL_DEFINITIONS.sub(lambda match: blank(match[0]), source))
        message = "the definitions of tools were ignored"
        return AssistantText(
            source, [*notes, Diagnostic("find.turn", message, "info", None, None, definitions.span())]
        )
    header = (
        _TOKEN_HEADER
        if _TOKEN_PROMPT_START.match(source)
        else _NAME_HEADER
        if _NAMED_PROMPT_START.match(source)
        else None
    )
    pieces, position, who, first = [], 0, "user", -1
    if header is None:
        first = _find_first_tool_result(source)
        if first < 0:
            return AssistantText(source, [])
        header, who = _TOKEN_HEADER, "assistant"
    other_speakers: list[str] = []
    answers = False
    for match in headings(header, source) if header is _NAME_HEADER else header.finditer(source):
        turn_text = source[position : match.start()]
        pieces += [turn_text if who in _ASSISTANT_ROLES else blank(turn_text), blank(match.group())]
        position = match.end()
        who = match[1].lower() if match[1] else "user" if match[2] else "assistant"
        answers = answers or (who in _ASSISTANT_ROLES and match[1] is not None) or match.group() == "[/INST]"
        other_speakers += [] if who in _ASSISTANT_ROLES else [who]
    last = source[position:]
    pieces.append(last if who in _ASSISTANT_ROLES else blank(last))
    text = "".join(pieces)
    if not text.strip() and not answers:
        who = ", ".join(map(repr, dict.fromkeys(other_speakers)))
        raise AnswerError(f"no assistant turn, only turns of {who}", code="answer.absent")
    message, span = "the prompt before the answer was ignored", (0, len(text) - len(text.lstrip()))
    if first >= 0:
        message = (
            "a tool answers between the assistant's turns, all of which were read; other turns were ignored"
        )
        span = (first, _TOKEN_HEADER.search(source, first + 1).start())  # type: ignore[union-attr]
    return AssistantText(text, [Diagnostic("find.turn", message, "info", None, None, span)])


def _find_first_tool_result(source: str) -> int:
    """The place of the first turn of a tool after which the assistant speaks; -1 where there is none.

    Such a text is a conversation also where it begins with the assistant. Without a tool's turn it is an
    answer of a model that went on and played the user.
    """
    if "<" not in source or not any(map(source.__contains__, _HEADER_TOKENS)):
        return -1
    first_result = -1
    for match in _TOKEN_HEADER.finditer(source):
        who = match[1].lower() if match[1] else ""
        if first_result < 0:
            if who in _TOOL_ROLES or (who == "user" and _TOOL_RESPONSE_START.match(source, match.end())):
                first_result = match.start()
        elif who in _ASSISTANT_ROLES:
            return first_result
    return -1


def blank_observations(text: str) -> str:
    r"""A text of actions with what the tools answered as white space: the line of each, or the JSON there.

    >>> blank_observations('Action: {"action": "f"}\nObservation: {"name": "Rome"}').split()
    ['Action:', '{"action":', '"f"}']
    """
    if "Observation" not in text:
        return text
    acted = text.find("ction")
    pieces, position, broken = [], 0, 0
    for match in _OBSERVATION_LINE.finditer(text, max(acted, 0) if acted >= 0 else len(text)):
        if match.start() < position:
            continue
        end = text.find("\n", match.end())
        if text.startswith(("{", "["), match.end()) and broken < _MAX_BROKEN_OBSERVATIONS:
            piece = extent(text, match.end())
            broken += not piece.closed
            end = piece.end if piece.closed else end
        end = len(text) if end < 0 else end
        pieces += [text[position : match.start()], blank(text[match.start() : end])]
        position = end
    return "".join([*pieces, text[position:]])
