"""Texts that begin with their prompt: which of their turns the assistant wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.errors import AnswerError
from planner_eval.base.lazy_regex import later
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.finding.brackets import extent
from planner_eval.reading.dialects.finding.prose import blank

_TOKENS = later(
    r"\s*+(?:<\|begin_of_text\|>|<bos>|<s>|<｜begin▁of▁sentence｜>)?+\s*+(?:\[INST\]"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|tool|ipython)\b)"
)
"""How a text begins that repeats its prompt in chat tokens."""

_TOKEN = later(
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(\w++)(?:<\|end_header_id\|>)?"
    r"|(\[INST\])|\[/INST\]|<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<end_of_turn>|</s>"
)
"""Where a turn of such a prompt begins, with who speaks, or ends."""

_NAMES = later(
    r"\s*+(?:System|User|USER|Human)\s*+:\s(?=(?:[^\n]*+\n)*?[ \t]*+(?:Assistant|ASSISTANT|AI)\s*+:\s)"
)
"""How a transcript begins that names its speakers, of whom one is the assistant."""

_NAME = later(r"(?:^|(?<=\n))[ \t]*+(System|User|USER|Human|Assistant|ASSISTANT|AI|Tool)\s*+:(?=\s)()")

_ASSISTANT = frozenset({"assistant", "model", "ai"})

_HEADERS = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>")
_RESULTS = ("tool", "ipython", "observation", "tool_response", "function")
"""Who speaks where a tool does, in chat tokens; others have the user say it between tags."""
_RESULT = later(r"\s*+<tool_response>")

_TAG = later(r"<([A-Za-z][\w:.\-]*+)[^<>\n]*+>(?!\s*+[\[{])")
_NEAR = 4_000
"""Characters in which the tag is looked for that a value stands after."""
_LOOKED = 200
"""Headings of which is asked whether a value holds them: of very many it would take quadratic time."""
_BROKEN = 5
"""Answers of tools that are never closed and so go on to the end: of these few it is looked for."""
_OBSERVED = later(r"(?m)^[ \t]*+\**+Observation(?:[ \t]*+\d{1,4})?+\**+[ \t]*+[:\uff1a]\**+\s*+")


class Answered(NamedTuple):
    """A text of which only the assistant's turns are left, and notes on the others."""

    text: str
    notes: list[Diagnostic]


def headings(header: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Where turns begin in a text, but for what stands inside a value of several lines."""
    looked = 0
    valued = "</" in text or '"""' in text or "'''" in text
    for match in header.finditer(text):
        looked += valued
        if not (valued and looked < _LOOKED and in_value(text, match.start())):
            yield match


def in_value(text: str, offset: int) -> bool:
    r"""Whether a place is inside a value of several lines: between tags, or between three quotes.

    >>> given = "<parameter=text>\nUser: f()\n</parameter>"
    >>> in_value(given, given.index("User")), in_value("</a>\nUser: f()\n<a></a>", 5)
    (True, False)
    """
    if any(text.count(quotes, 0, offset) % 2 and quotes in text[offset:] for quotes in ('"""', "'''")):
        return True
    for tag in reversed(list(_TAG.finditer(text, max(0, offset - _NEAR), offset))):
        closing = f"</{tag[1]}>"
        if text.find(closing, tag.end(), offset) < 0:
            end = text.find(closing, offset)
            return end >= 0 and text.find(f"<{tag[1]}", offset, end) < 0
    return False


def answered(source: str) -> Answered:
    r"""A text that begins with its prompt, with all turns but the assistant's as white space, and a note.

    Raises:
        AnswerError: no turn is the assistant's.

    >>> answered("User: f(a=1)?\nAssistant: f(a=2)")[0].split()
    ['f(a=2)']
    >>> answered("f(a=1)")
    Answered(text='f(a=1)', notes=[])
    """
    header = _TOKEN if _TOKENS.match(source) else _NAME if _NAMES.match(source) else None
    pieces, position, who, first = [], 0, "user", -1
    if header is None:
        first = _first_result(source)
        if first < 0:
            return Answered(source, [])
        header, who = _TOKEN, "assistant"
    other_speakers: list[str] = []
    answers = False
    for match in headings(header, source) if header is _NAME else header.finditer(source):
        turn_text = source[position : match.start()]
        pieces += [turn_text if who in _ASSISTANT else blank(turn_text), blank(match.group())]
        position = match.end()
        who = match[1].lower() if match[1] else "user" if match[2] else "assistant"
        answers = answers or (who in _ASSISTANT and match[1] is not None) or match.group() == "[/INST]"
        other_speakers += [] if who in _ASSISTANT else [who]
    last = source[position:]
    pieces.append(last if who in _ASSISTANT else blank(last))
    text = "".join(pieces)
    if not text.strip() and not answers:
        who = ", ".join(map(repr, dict.fromkeys(other_speakers)))
        raise AnswerError(f"no turn is the assistant's: {who} spoke", code="answer.absent")
    message, span = "the prompt before the answer was ignored", (0, len(text) - len(text.lstrip()))
    if first >= 0:
        message = (
            "a tool answers between the assistant's turns, all of which were read; other turns were ignored"
        )
        span = (first, _TOKEN.search(source, first + 1).start())  # type: ignore[union-attr]
    return Answered(text, [Diagnostic("find.turn", message, "info", None, None, span)])


def _first_result(source: str) -> int:
    """The place of the first turn of a tool after which the assistant speaks; -1 where there is none.

    Such a text is a conversation also where it begins with the assistant. Without a tool's turn it is an
    answer of a model that went on and played the user.
    """
    if not any(header in source for header in _HEADERS):
        return -1
    first_result = -1
    for match in _TOKEN.finditer(source):
        who = match[1].lower() if match[1] else ""
        if first_result < 0:
            if who in _RESULTS or (who == "user" and _RESULT.match(source, match.end())):
                first_result = match.start()
        elif who in _ASSISTANT:
            return first_result
    return -1


def unobserved(text: str) -> str:
    r"""A text of actions with what the tools answered as white space: the line of each, or the JSON there.

    >>> unobserved('Action: {"action": "f"}\nObservation: {"name": "Rome"}').split()
    ['Action:', '{"action":', '"f"}']
    """
    if "Observation" not in text:
        return text
    acted = text.find("ction")
    pieces, position, broken = [], 0, 0
    for match in _OBSERVED.finditer(text, max(acted, 0) if acted >= 0 else len(text)):
        if match.start() < position:
            continue
        end = text.find("\n", match.end())
        if text.startswith(("{", "["), match.end()) and broken < _BROKEN:
            piece = extent(text, match.end())
            broken += not piece.closed
            end = piece.end if piece.closed else end
        end = len(text) if end < 0 else end
        pieces += [text[position : match.start()], blank(text[match.start() : end])]
        position = end
    return "".join([*pieces, text[position:]])
