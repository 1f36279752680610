"""What is said of text that was not chosen: unknown notations, text around calls, calls that are denied.

Nothing is read here. That a text calls nothing is an answer, and the right one where gold calls nothing; a
call that no reader takes would count as that answer, so where one may stand is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from planner_eval.base.limits import Span
from planner_eval.base.text import INVISIBLE, lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.finding.blocks import LINE_MARKERS, BlockReader
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    PYTHON_DIALECTS,
    TYPE,
    ReadCalls,
)
from planner_eval.reading.dialects.finding.unread_calls import find_lost_call, find_unread_call
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    SELF_NAMES,
)

ALTERNATIVE_SEPARATOR = lazy_pattern(
    r"[\s`,;]*+\bor\b[\s:]*+(?:```\w*\s*+|`)?+(?=[\[{]|[^\W\d][\w.]*+\()", re.I
)
"""What stands between two plans of which one is meant."""


def note_unread_calls(text: str, defined: Set[str] = frozenset()) -> list[Diagnostic]:
    """A note on what looks like a call in a text of which none was read."""
    span = find_unread_call(text, defined)
    if span is None:
        return []
    message = f"this may be an unread call: {shorten(text[slice(*span)], 60)!r}"
    return [Diagnostic("find.unread", message, "warning", None, None, span)]


def note_ignored_text(
    reader: BlockReader, read: list[ReadCalls], notes: list[Diagnostic]
) -> Iterator[Diagnostic]:
    """A note on the text outside of all blocks, and of what `notes` with their places say already."""
    source = reader.source
    noted = [note.span for note in notes if note.span]
    told = [note.span for note in notes if note.span and note.code in _IGNORED_CODES]
    inside: list[Span] = sorted([*told, *(place for item in read for place in item.places())])
    python = all(item.dialect in PYTHON_DIALECTS for item in read)
    offset = total = gaps = 0
    first: Span | None = None
    unread_span: Span | None = None
    for start, end in [*inside, (len(source), len(source))]:
        gap = source[offset:start].strip(" \t\r\n`;,.") if start > offset else ""
        if gap and python and len(gap) <= _MAX_MARKER_LENGTH:
            gap = LINE_MARKERS.sub("", source[offset:start]).strip(" \t\r\n`;,.*>" + INVISIBLE)
        if gap and not _NO_WORDS.fullmatch(gap):
            total += len(gap)
            first = first or (offset, start)
            gaps += 1
            if unread_span is None:
                unread_span = find_unread_assignment(reader, offset, start, noted)
            if unread_span is None and gaps <= _MAX_NOTED_SPANS:
                is_noted = any(offset <= span[0] < start for span in noted[:_MAX_NOTED_SPANS])
                unread_span = None if is_noted else find_lost_call(source, offset, start, reader.defined)
        offset = max(offset, end)
    if first is None:
        return
    what = "1 character" if total == 1 else f"{total:,} characters"
    message = f"{what} of text around the calls {'was' if total == 1 else 'were'} ignored"
    if unread_span is None:
        yield Diagnostic("find.text", message, "info", None, None, first)
        return
    message += f"; it contains what looks like a call: {shorten(source[slice(*unread_span)], 60)!r}"
    yield Diagnostic("find.text", message, "warning", None, None, unread_span)


_IGNORED_CODES = frozenset({"find.thought", "find.turn", "find.code"})
"""Remarks on text that was ignored, which is not counted twice."""

_NO_WORDS = lazy_pattern(r"```?\w*|[\w+#.\-]{1,12}|(?:<[^<>\n]*+>|\[/?[A-Z_]++\]|[\s`;,.])++")
"""What stands between calls and says nothing: a fence, its label, tokens."""

_MAX_MARKER_LENGTH = 40
"""Characters that the markers of two lines have at most, with what ends the line before them."""

_MAX_NOTED_SPANS = 100
"""Places of other notes, and gaps, that are looked at: for each of many they would take quadratic time."""

_ASSIGNED_CALL = lazy_pattern(rf"=[ \t]*+(?:await[ \t]++)?+(?P<tool>{NAME})\([^\n]*+")
_ASSIGNED_VARIABLE = lazy_pattern(rf"(?<![\w.=!<>\[\](,])([^\W\d]\w*+)(?:\s*+:\s*+{TYPE})?+[ \t]*+\Z")


def find_unread_assignment(reader: BlockReader, start: int, end: int, noted: list[Span]) -> Span | None:
    """Where in [start, end) of a text something looks as if it named a tool's result, and was not read."""
    source = reader.source
    for match in _ASSIGNED_CALL.finditer(source, start, end) if source.find("=", start, end) >= 0 else ():
        root = match["tool"].split(".")[0]
        name = _ASSIGNED_VARIABLE.search(source, max(start, match.start() - 100), match.start())
        is_own = root in BUILTINS or root in DISPLAY_FUNCTIONS or root in SELF_NAMES or root in reader.defined
        if name is None or is_own or name[1] in reader.before():  # what was read elsewhere is not lost
            continue
        if not any(begin <= match.start() < to for begin, to in noted[:_MAX_NOTED_SPANS]):
            return name.start(), match.end()
    return None
