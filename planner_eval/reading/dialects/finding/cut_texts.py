"""Texts that a token limit cut: how such an end is told from a fault, and which calls before it are whole.

Nothing is completed: a call whose end is missing is left out, with all that follows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import decode_whole
from planner_eval.base.text import lazy_pattern, remembered
from planner_eval.plan.model import Diagnostic, RawPlan
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, NODE_KEYS
from planner_eval.reading.dialects.detect import find_last_opening_token, opening_tokens
from planner_eval.reading.dialects.finding.edited_text import BRACKET_PAIRS, MAX_BRACKET_DEPTH, tokens
from planner_eval.reading.dialects.finding.segments import OBJECT_START, fences
from planner_eval.reading.dialects.repairs import REPAIR_MEANINGS
from planner_eval.reading.dialects.table import Wrapper, custom_rows, table

# ----------------------------------------------------------------------
# Texts that a token limit cut: how such an end is told from a fault, and which calls before it are whole.
#
# Nothing is completed: a call whose end is missing is left out, with all that follows it.
CUT_CODE = "parse.cut"


class CutError(ParseError):
    """A text ends inside a call, or right after what opens one.

    Args:
        where: What it ends in, to follow "cut off at the end, ".
        text: The whole text.
        start: Where that begins.
    """

    def __init__(self, where: str, *, text: str, start: int, dialect: str | None = None) -> None:
        end = len(text.rstrip())
        super().__init__(
            f"cut off at the end, {where}", text=text, offset=end, code=CUT_CODE, dialect=dialect
        )
        self.start = start


_CLOSING_BRACKET = re.compile(r"[\])}]")


@remembered(20_000)
def open_brackets(text: str, start: int = 0) -> list[tuple[int, str]]:
    """The brackets that are open where a text ends, outermost first; none where it breaks before its end.

    >>> open_brackets("[f(a=1), g(b='x"), open_brackets("[f(a=1)]"), open_brackets("[f(a=1}")
    ([(0, '['), (10, '(')], [], [])
    """
    waiting: list[tuple[int, str]] = []
    for match in tokens(text, start, len(text), levels=2):
        kind = match.lastgroup
        if kind == "open":
            waiting.append((match.start(), match.group()))
            if (
                len(waiting) > MAX_BRACKET_DEPTH
            ):  # to its end it opens more, or it breaks: no notation closes so many
                return [] if _CLOSING_BRACKET.search(text, match.end()) else waiting
        elif kind == "close":
            if not waiting or BRACKET_PAIRS[waiting[-1][1]] != match.group():
                return []
            waiting.pop()
        elif kind == "quote":  # a text that is never closed, unless the closing quote alone was forgotten
            return [] if text.rstrip()[-1:] in ")]}" else waiting
    return waiting


def ends_inside_data(text: str) -> bool:
    """Whether data ends inside two brackets or more: no repair closes so many, and none is worth its time."""
    if OBJECT_START.match(text) is None or _REQUOTED_SIGN.search(_JSON_STRING.sub("", text)):
        return False
    return len(open_brackets(text)) > 1


_JSON_STRING = lazy_pattern(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.S)
_REQUOTED_SIGN = lazy_pattern(r"['“”#]|//")
"""Where a repair may take for quoted, or for a comment, what is neither, or the other way round."""


_STATEMENT_START = lazy_pattern(r"(?=\w)(?:[^\W\d][\w, \t]*+=[ \t]*+)?(?:await\s++)?[\w.\-\\]*+\s*+\Z")
_APPBENCH_LINE = lazy_pattern(r"\n[ \t]*+(?:[-*•]|\d++[.)])?[ \t]*+[\w ]++:[ \t]*+\[[^\n]*\)\]")


def find_cut_call(text: str) -> int | None:
    r"""Where the call begins in which a text ends; None where it ends in none.

    >>> find_cut_call("f(a=1)\ng(b="), find_cut_call("f(a=1)"), find_cut_call("A: [f(#a=1\nB: [g(#b=2)]")
    (7, None, None)
    """
    waiting = open_brackets(text)
    if not waiting:
        return None
    opened = waiting[0][0]
    if _APPBENCH_LINE.search(text, opened):  # a bracket is missing before a whole line of AppBench's
        return None
    line = max(text.rfind("\n", 0, opened), text.rfind(";", 0, opened)) + 1
    if waiting[0][1] != "(":
        return opened
    statement = _STATEMENT_START.search(text, max(line, opened - 200), opened)
    return statement.start() if statement else opened


def texts_before_cut(error: CutError) -> Iterator[str]:
    """The texts that end before the call in which a text was cut: in its list, else before it and its tokens.

    >>> text = '[{"name": "f"}, {"name": "g", "ar'
    >>> list(texts_before_cut(CutError("inside a call", text=text, start=0)))
    ['[{"name": "f"}]']
    """
    listed = _close_after_last_item(error.text, error.start)
    if listed is not None:
        yield listed
    before = error.text[: error.start]
    for _ in range(4):  # a call's tokens, the fence around it; hostile text may hold them by the thousand
        if not before.strip():
            return
        yield before
        opened = find_call_opening(before)
        if opened is None:
            return
        before = before[: opened[0]]


def _close_after_last_item(text: str, start: int) -> str | None:
    """The text up to the last whole item of the outermost list that is open where it ends, closed again."""
    waiting: list[tuple[int, str]] = []
    ends: dict[int, int] = {}
    for match in tokens(text, start, len(text), levels=2):
        kind = match.lastgroup
        if kind == "open":
            waiting.append((match.start(), match.group()))
            ends.pop(len(waiting), None)
            if len(waiting) > MAX_BRACKET_DEPTH:
                break
        elif kind == "close" and waiting:
            waiting.pop()
            ends[len(waiting)] = match.end()
        elif kind in ("text", "whole"):
            ends[len(waiting)] = match.end()
        elif kind == "quote":
            break
    depth = next((i for i, (_, mark) in enumerate(waiting) if mark == "["), None)
    if depth is None or depth + 1 not in ends or not _lists_calls(text, waiting, depth):
        return None
    return text[: ends[depth + 1]] + "".join(
        BRACKET_PAIRS[mark] for _, mark in reversed(waiting[: depth + 1])
    )


def keep_calls_before_cut(raw: RawPlan, text: str, before: int) -> RawPlan:
    """The calls that were read before a cut, with a note on it."""
    end = max((call.span[1] for call in raw.calls if call.span), default=before)
    message = f"repaired: {REPAIR_MEANINGS['cut_off']}"
    note = Diagnostic("repair.cut_off", message, "warning", span=(min(end, len(text)), len(text)))
    return raw._replace(notes=(*(n for n in raw.notes if n.code != "find.text"), note))


def _lists_calls(text: str, waiting: list[tuple[int, str]], depth: int) -> bool:
    """Whether the list at a depth is a plan, or what a message holds under a key of calls."""
    if depth == 0:
        return True
    key = re.search(r"[\"'](\w++)[\"']\s*+:\s*+\Z", text[: waiting[depth][0]][-100:])
    return depth == 1 and key is not None and key[1] in (*CALL_LIST_KEYS, *NODE_KEYS)


_OPENED_FENCE_BODY = lazy_pattern(r"\w*+\s*+(?:[\[{(]\s*+(?:[\[{\"'].*)?)?", re.S)
_OPENED_BRACKET = lazy_pattern(r"\s*+[\[{(]\s*+(?:[\[{\"'].*)?", re.S)


def find_call_opening(text: str) -> tuple[int, str] | None:
    """Where a text that calls nothing ends right after what opens a call, and what it ends in.

    >>> find_call_opening("<tool_call>"), find_call_opening("[{"), find_call_opening("[1] says so")
    ((0, "right after '<tool_call>'"), (0, 'inside a list or an object'), None)
    """
    token = find_last_opening_token(text)
    if token is not None and not text[token.end() :].strip():
        return token.start(), f"right after {token.group().strip()!r}"
    fence = next(reversed(list(fences(text))), None)
    is_open = fence is not None and not fence.group().endswith(("```", "~~~"), len(fence["mark"]))
    if fence is not None and is_open and _OPENED_FENCE_BODY.fullmatch(fence["body"]):
        return fence.start(), "right after a fence was opened"
    if _OPENED_BRACKET.fullmatch(text) and open_brackets(text):
        return 0, "inside a list or an object"
    return None


def find_cut_token_call(text: str, rows: Sequence[Wrapper]) -> tuple[int, str] | None:
    """Where the last call between tokens begins, if a text ends in it, and what it ends in."""
    token = find_last_opening_token(text)
    if token is None:  # the token is a word
        start = find_cut_call(text)
        return None if start is None else (start, "inside a list or an object")
    remainder, opener = text[token.end() :], token.group().strip()
    if not remainder.strip():
        return token.start(), f"right after {opener!r}"
    ends = {
        end.strip() for row in rows for end in (*row.close, *row.tail, *row.call[1:]) if len(end.strip()) > 1
    }
    if any(end in remainder for end in ends):
        return None
    named = any(row.shape == "named" and _ends_in_tool_name(remainder.strip(), row) for row in rows)
    tagged = any(row.shape == "xml" for row in rows) and not open_brackets(remainder) and bool(ends)
    if named or tagged or find_cut_call(remainder) is not None:
        return token.start(), f"inside the call after {opener!r}"
    return None


def _ends_in_tool_name(remainder: str, row: Wrapper) -> bool:
    """Whether a call in a row's tokens ends in its tool's name, or in what follows that before arguments."""
    name = re.match(r"[\w.\-]{1,100}+", remainder)
    return name is not None and any(
        middle.strip().startswith(remainder[name.end() :].strip()) for middle in ("", *row.middle)
    )


# ----------------------------------------------------------------------
# Calls that are begun after all that was read, and in which a text ends.
_TAIL_LENGTH = 600
"""How much of a text's end is looked at."""

_NAME = r"[^\W\d][\w.\-\\]*+"
_UNFINISHED_CALL = lazy_pattern(
    rf"\n[ \t]*+(?:"
    rf"(?:const|let|var)\s[^\n=]*+=\s*+await(?:\s++(?:{_NAME})?+)?+"
    rf"|Action\s*+:[ \t]*+`?(?!(?:none|n/a|no|finish|final)\b)(?:{_NAME})?+`?[ \t]*+"
    r"(?:\n\s*+(?:A(?:c(?:t(?:i(?:o(?:n(?: (?:I(?:n(?:p(?:u(?:t\s*+)?)?)?)?)?)?)?)?)?)?)?)?)?"
    rf"|(?:Action \d++\s*+:\s*+)?#E\d*+\s*+(?:=\s*+(?:{_NAME})?+)?+"
    rf"|Action \d++\s*+:\s*+#?"
    rf"|Call:[ \t]*+{_NAME}"
    rf"|\[\s*+{_NAME}|[\w ]{{1,40}}+:[ \t]*+\[\s*+[^\W\d][\w, ]*+(?:=\s*+(?:{_NAME})?+)?+"
    rf"|{_NAME}\n[ \t]*+\{{\s*+(?:\"[^\"\n]*+)?+"
    r"|API:[ \t]*+\n\s*+-(?:[^\n]*+\n?+){1,4}"
    r"|Nodes?\s*+:[ \t]*+\n\s*+1[.:)](?:[^\n]*+\n?+)*+"
    r")\Z"
)
"""The end of a text, from a line's start on, in which a call is begun."""

_UNFINISHED_ASSIGNMENT = lazy_pattern(rf"\n[ \t]*+[^\W\d]\w*+(?:\s*+,\s*+\w++)*+\s*+=[ \t]*+({_NAME})?+\Z")
_CLOSERS = lazy_pattern(r"[\s\])};,.`]*+")
_NAME_ON_LAST_LINE = lazy_pattern(rf"[ \t]*+\n[ \t]*+{_NAME}")
_BARE_TAG = lazy_pattern(r"<\w++>\Z")
_NAME_AT_END = lazy_pattern(rf"{_NAME}\Z")
_NAME_AFTER_TOKEN = lazy_pattern(rf"(?:[\s\[(]|```\w*+\n)*+(?:{_NAME})?+[\">\s]*+")
_CUT_TAG = lazy_pattern(r"<(?:[\w｜:][^<>]*+(?:(?<!/)>\s*+)?+)?+\Z")
_CUT_CALL_TOKEN = lazy_pattern(r"to=functions[.\w\-]*+\Z|<<function>>\s*+[\w.]*+\Z")


def find_unfinished_call(text: str, start: int) -> int | None:
    r"""Where the call begins in which a text ends, of which nothing was read; None where it ends in none.

    Args:
        text: The text.
        start: Where the calls end that were read; 0 where none was.

    >>> find_unfinished_call("f(a=1)\ng(", 6), find_unfinished_call("I (really", 0)
    (7, None)
    """
    if not start and text.lstrip()[:1] in ("[", "{") and _ends_in_quoted_json(text):
        return len(text) - len(text.lstrip())
    end = len(text.rstrip(" \t\r\n"))
    tail_start = max(start, end - _TAIL_LENGTH)
    if tail_start >= end:
        return None
    tail = text[tail_start:end]
    if _CLOSERS.fullmatch(tail):
        return None
    padded = f"\n{tail}"  # a line's end is looked for more quickly than a line's start
    for pattern in (_UNFINISHED_CALL, _CUT_CALL_TOKEN):
        match = pattern.search(padded)
        if match is not None:
            return end - len(padded[match.start() :].lstrip())
    offset = _find_cut_token(tail)
    if offset is None:
        offset = _find_open_call_name(tail)
    if offset is None and start:
        offset = _find_unfinished_assignment(tail, text[:tail_start])
    if (
        offset is None
        and start
        and _NAME_ON_LAST_LINE.fullmatch(tail)
        and _ends_in_call_section(text[:tail_start])
    ):
        offset = 0
    return None if offset is None else tail_start + offset


def _ends_in_quoted_json(text: str) -> bool:
    """Whether JSON ends inside a quoted text that holds quoted JSON itself."""
    if '\\"' not in text:
        return False
    try:
        decode_whole(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") and '\\"' in text[error.pos :]
    except (ValueError, RecursionError):
        pass
    return False


def _find_cut_token(tail: str) -> int | None:
    """Where an opening token begins that the end cuts, or that only the begin of a call follows."""
    opening = _opening_tokens(custom_rows())
    for match in re.finditer(r"[<\[]", tail[-120:]):
        start = max(0, len(tail) - 120) + match.start()
        squeezed = "".join(tail[start:].split())
        if 3 < len(squeezed) <= len(opening[0]) and any(token.startswith(squeezed) for token in opening):
            return start
    token = find_last_opening_token(tail)
    if token is not None and (
        _NAME_AFTER_TOKEN.fullmatch(tail, token.end()) or _CUT_TAG.search(tail, token.end())
    ):
        return token.start()
    return None


@cache
def _opening_tokens(_own: tuple[Wrapper, ...]) -> tuple[str, ...]:
    tokens = {re.sub(r"\s+", "", token) for row in table().values() for token in opening_tokens(row)}
    return tuple(sorted((token for token in tokens if token[:1] in ("<", "[")), key=len, reverse=True))


def _ends_in_call_section(text: str) -> bool:
    """Whether a text ends between tags of calls."""
    token = find_last_opening_token(text)
    return (
        token is not None and bool(_BARE_TAG.match(token.group().strip())) and "</" not in text[token.end() :]
    )


def _find_open_call_name(tail: str) -> int | None:
    """Where a name begins whose bracket is still open: of a call, not of words."""
    if "(" not in tail:
        return None
    after = _CLOSERS.match(tail, max(tail.rfind("\n\n"), 0)).end()  # type: ignore[union-attr]
    for offset, mark in open_brackets(tail, after):
        name = _NAME_AT_END.search(tail[max(0, offset - 100) : offset]) if mark == "(" else None
        if name is not None:
            return offset - len(name.group())
    return None


def _find_unfinished_assignment(tail: str, before: str) -> int | None:
    """Where a statement begins that would name the result of a call: `x = f` after calls."""
    match = _UNFINISHED_ASSIGNMENT.search(f"\n{tail}")
    if match is None:
        return None
    start = max(match.start() - 1, 0)
    if match[1] and re.search(rf"\b{re.escape(match[1].split('.')[0])}\b", before + tail[:start]):
        return None
    return start
