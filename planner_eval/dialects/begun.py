"""Calls that are begun after all that was read, and in which a text ends."""

from __future__ import annotations

import json
import re
from functools import cache

from planner_eval.base.jsontext import whole
from planner_eval.base.later import later
from planner_eval.dialects.cut import left_open
from planner_eval.dialects.detect import last_token, signs
from planner_eval.dialects.table import Wrapper, own, table

_END = 600
"""How much of a text's end is looked at."""

_NAME = r"[^\W\d][\w.\-\\]*+"
_LINE = later(
    rf"(?:^|\n)[ \t]*+(?:"
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
_ASSIGNED = later(rf"(?:^|\n)[ \t]*+[^\W\d]\w*+(?:\s*+,\s*+\w++)*+\s*+=[ \t]*+({_NAME})?+\Z")
_CLOSERS = later(r"[\s\])};,.`]*+")
_ALONE = later(rf"[ \t]*+\n[ \t]*+{_NAME}")
_SIMPLE = later(r"<\w++>\Z")
_BEFORE = later(rf"{_NAME}\Z")
_AFTER = later(rf"(?:[\s\[(]|```\w*+\n)*+(?:{_NAME})?+[\">\s]*+")
_TAG = later(r"<(?:[\w｜:][^<>]*+(?:(?<!/)>\s*+)?+)?+\Z")
_INSIDE = later(r"to=functions[.\w\-]*+\Z|<<function>>\s*+[\w.]*+\Z")


def begun(text: str, start: int, *, called: bool) -> int | None:
    r"""Where the call begins in which a text ends, of which nothing was read; None where it ends in none.

    Args:
        text: The text.
        start: Where what was read ends.
        called: Whether calls were read.

    >>> begun("f(a=1)\ng(", 6, called=True), begun("I (really", 0, called=False)
    (7, None)
    """
    if not called and text.lstrip()[:1] in ("[", "{") and _in_text(text):
        return len(text) - len(text.lstrip())
    end = len(text.rstrip(" \t\r\n"))
    tail_start = max(start, end - _END)
    if tail_start >= end:
        return None
    tail = text[tail_start:end]
    if _CLOSERS.fullmatch(tail):
        return None
    for pattern in (_LINE, _INSIDE):
        match = pattern.search(tail)
        if match is not None:
            return tail_start + len(tail) - len(tail[match.start() :].lstrip())
    offset = _token(tail)
    if offset is None:
        offset = _bracket(tail)
    if offset is None and called:
        offset = _assigned(tail, text[:tail_start])
    if offset is None and called and _ALONE.fullmatch(tail) and _in_section(text[:tail_start]):
        offset = 0
    return None if offset is None else tail_start + offset


def _in_text(text: str) -> bool:
    """Whether JSON ends inside a quoted text that holds quoted JSON itself."""
    if '\\"' not in text:
        return False
    try:
        whole(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") and '\\"' in text[error.pos :]
    except (ValueError, RecursionError):
        pass
    return False


def _token(tail: str) -> int | None:
    """Where an opening token begins that the end cuts, or that only the begin of a call follows."""
    for match in re.finditer(r"[<\[]", tail[-120:]):
        start = max(0, len(tail) - 120) + match.start()
        squeezed = re.sub(r"\s+", "", tail[start:])
        if len(squeezed) > 3 and any(token.startswith(squeezed) for token in _tokens(own())):
            return start
    token = last_token(tail)
    if token is not None and (_AFTER.fullmatch(tail, token.end()) or _TAG.search(tail, token.end())):
        return token.start()
    return None


@cache
def _tokens(_own: tuple[Wrapper, ...]) -> tuple[str, ...]:
    tokens = {re.sub(r"\s+", "", token) for row in table().values() for token in signs(row)}
    return tuple(sorted(token for token in tokens if token[:1] in ("<", "[")))


def _in_section(text: str) -> bool:
    """Whether a text ends between tags of calls."""
    token = last_token(text)
    return (
        token is not None and bool(_SIMPLE.match(token.group().strip())) and "</" not in text[token.end() :]
    )


def _bracket(tail: str) -> int | None:
    """Where a name begins whose bracket is still open: of a call, not of words."""
    if "(" not in tail:
        return None
    after = _CLOSERS.match(tail, max(tail.rfind("\n\n"), 0)).end()  # type: ignore[union-attr]
    for offset, mark in left_open(tail, after):
        name = _BEFORE.search(tail[max(0, offset - 100) : offset]) if mark == "(" else None
        if name is not None:
            return offset - len(name.group())
    return None


def _assigned(tail: str, before: str) -> int | None:
    """Where a statement begins that would name the result of a call: `x = f` after calls."""
    match = _ASSIGNED.search(tail)
    if match is None:
        return None
    if match[1] and re.search(rf"\b{re.escape(match[1].split('.')[0])}\b", before + tail[: match.start()]):
        return None
    return match.start()
