"""AppBench lines inside a model's prose: after bullets and numbers, in bold, in fences, mid-sentence.

What is no such line is blanked, not cut, so that places stay those of the text; the rest is read as one
plan by the reader of bare lines, since a name on one line may mean a call on another.
"""

from __future__ import annotations

import re

from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern, line_end
from planner_eval.plan.model import RawPlan
from planner_eval.reading.dialects.finding.edited_text import TextView, extent
from planner_eval.reading.dialects.finding.segments import ReadCalls, blank
from planner_eval.reading.dialects.notations.appbench import read, read_call_fast, read_section_fast

_RETURNS = r"\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+"
_TOOL = r"[^\W\d][\w.\-]*+\s*+\(\s*+"
_SECTION = re.compile(
    rf":[ \t*`]*+\[\s*+(?:{_RETURNS}{_TOOL}(?:#\w|\)|\w++\s*+=\s*+['\"])"
    rf"|{_TOOL}#\w++\s*+=|(?P<soft>{_TOOL}\)))"
)
"""From the colon of `App: [ret = api(#a=`. `App: [api()]` counts only beside lines that are surely AppBench:
alone it may as well be a label and a list of Python calls."""

_CALL_LINE = lazy_pattern(
    r"(?m:^)[ \t>]*+(?:(?:[-*•+]|\d{1,3}[.)])[ \t]++)?+(?:\*\*|`(?!`))?+"
    r"(?P<label>[^\W\d][\w.\- ]{0,60}+[*`]*+:[ \t*`]*+)?+(?P<bracket>\[\s*+)?+"
    rf"(?P<call>(?P<returns>{_RETURNS})?+{_TOOL}(?:#\w++\s*+=|(?P<soft>\))))"
)
"""A line that begins with a bare call. Behind a label, or in brackets that no app stands before, it is a
fault of the notation: such a line is left to the reader, which says so."""

_LINE_REST = lazy_pattern(r"[ \t]*+[;,.`*]*+[ \t]*+(?:(?:#|//)[^\n]*+)?+(?=\r?\n|\Z)")
_ARGUMENTS = lazy_pattern(r"\(\s*+#\w++\s*+=")
_REVERSED_APP_NAME = lazy_pattern(r"[\w.\- ]*+")
_BEFORE_APP = lazy_pattern(r"(?:.*(?:\.\s|(?:\A|\s)-++\s))?[\W\d_]*+(?=[^\W\d_])", re.S)
_PARAGRAPH_END = lazy_pattern(r"\n[ \t\r]*+(?=\n|```|~~~)")
_WORD_OR_FENCE = lazy_pattern(r"[^\W\d_]|```|~~~")
_LETTER = lazy_pattern(r"[^\W\d_]")
_SMALL_WORDS = lazy_pattern(
    r"(?:(?:[a-z]++|First|Second|Third|Then|Next|Also|And|Now|After|Afterwards|Finally|Lastly) ++)*+"
)
_SPACE = lazy_pattern(r"\s*+")
_MAX_APP_CHARS = 100
_MAX_LINE_CHARS = 2_000
_MAX_FAILURES = 100
"""How many pieces may fail to read fast: each failure may look at the whole text."""


class CallSegment(NamedTuple):
    """A section or a bare call in a text.

    Args:
        start: Where it begins.
        end: The place after it.
        marked: Marks of emphasis between the app and its bracket, to be blanked; may be empty.
        firm: Whether it is AppBench whatever stands around it.
        closed: Whether its brackets close.
        fast: Whether it was read by the fast path.
    """

    start: int
    end: int
    marked: Span
    firm: bool
    closed: bool = True
    fast: bool = True


class AppBenchLines(NamedTuple):
    """AppBench's lines in a text.

    Args:
        runs: The calls of each run of lines.
        rest: What is left of the text.
    """

    runs: list[ReadCalls]
    rest: TextView


def find(view: TextView, limits: Limits) -> AppBenchLines | None:
    r"""The AppBench plan in a text, a Read for each run of lines, and what is left of the text.

    Calls that only repeat an earlier run, as a plan stated twice does, are not kept apart here.

    Args:
        view: The text, where it stands in the source.
        limits: Bounds on size and nesting.

    Raises:
        ParseError: a line begins like AppBench and cannot be read; its place is in the view.

    >>> text = "The plan:\n- Hotels: [h = find(#city='Rome')]\n- Trips: [book(#hotel=h)]"
    >>> runs, rest = find(TextView(text), Limits())
    >>> [call.name for run in runs for call in run.raw.calls], rest.text.split()
    (['find', 'book'], ['The', 'plan:', '-', '-'])
    """
    text = view.text
    pieces = _find_segments(text)
    if not pieces:
        return None
    raw = read(_blank_prose(text, pieces), limits)
    runs = []
    first = 0
    for run in _run_spans(text, pieces):
        last = first
        while last < len(raw.calls) and (raw.calls[last].span or (0,))[0] < run[1]:
            last += 1
        runs.append(_make_run(view, raw, (first, last), run))
        first = last
    return AppBenchLines(runs, TextView(_blank_segments(text, pieces), view.marks))


def _make_run(view: TextView, raw: RawPlan, calls: Span, span: Span) -> ReadCalls:
    """The calls [first, last) of a plan as a Read of their own."""
    first, last = calls
    notes = [
        note._replace(call=note.call - first)
        for note in raw.notes
        if note.call is not None and first <= note.call < last
    ]
    placed = view.place(RawPlan(raw.calls[first:last], None, tuple(notes)))
    return ReadCalls("appbench", placed, "calls with #name= arguments", view.span(span))


# ---------------------------------------------------------------- where the lines are
def _find_segments(text: str) -> list[CallSegment]:
    """The sections and bare calls of a text; none where nothing is surely AppBench."""
    if "(" not in text or not ("#" in text or _SECTION.search(text)):
        return []
    starts = sorted([*_SECTION.finditer(text), *_CALL_LINE.finditer(text)], key=re.Match.start)
    pieces: list[CallSegment] = []
    tries = _MAX_FAILURES
    position = 0
    for match in starts:
        if match.start() < position:
            continue
        piece = (_find_section if match.re is _SECTION else _find_call)(text, match, position, fast=tries > 0)
        if piece is None:
            tries -= 1
            continue
        pieces.append(piece)
        tries -= not piece.fast
        position = piece.end
        if not piece.closed:
            break
    return _extend_to_line_ends(text, pieces) if any(piece.firm for piece in pieces) else []


def _find_section(text: str, match: re.Match[str], position: int, *, fast: bool) -> CallSegment | None:
    """The section whose colon begins the match; None where it stands in a quoted text."""
    colon, bracket = match.start(), text.index("[", match.start())
    start, app_end = _find_app(text, position, colon)
    line = text.rfind("\n", max(position, start - _MAX_LINE_CHARS), start) + 1
    before = text[line or max(position, start - _MAX_LINE_CHARS) : start]
    if before.replace('\\"', "").count('"') % 2:
        return None
    if (position and not line) or _LETTER.search(before):  # words of the sentence: `and then Rents: [`
        start += len(_SMALL_WORDS.match(text[start:app_end]).group())  # type: ignore[union-attr]
    marked = (app_end, bracket)
    if start == app_end:  # no app stands there: the reader says so of the bracket
        start, marked = bracket, (bracket, bracket)
    inside = bracket + 1 + len(_SPACE.match(text, bracket + 1).group())  # type: ignore[union-attr]
    end = read_section_fast(text, inside, None, [], []) if fast else None
    if end is not None:
        return CallSegment(start, end, marked, match["soft"] is None)
    return _segment_by_brackets(text, bracket, match.end(), start, marked) if match["soft"] is None else None


def _find_app(text: str, position: int, colon: int) -> Span:
    """Where the app's name stands before a colon; an empty place where none does.

    A name begins after the end of a sentence, a bullet or a number: `Sure. Movies`, `1. Movies`.
    """
    before = text[max(position, colon - _MAX_APP_CHARS) : colon].rstrip("*` \t")
    run = _REVERSED_APP_NAME.match(before[::-1]).end()  # type: ignore[union-attr]
    lead = _BEFORE_APP.match(before[len(before) - run :])
    end = max(position, colon - _MAX_APP_CHARS) + len(before)
    return end - run + (len(lead.group()) if lead else run), end


def _find_call(text: str, match: re.Match[str], position: int, *, fast: bool) -> CallSegment | None:
    """The bare call that a line begins with; None where it is a word in a sentence."""
    if match["label"] and match["bracket"]:
        return None  # a section
    start, soft = match.start("call"), match["soft"] is not None
    end = read_call_fast(text, start, None, [], []) if fast else None
    piece = (
        CallSegment(start, end, (start, start), not soft)
        if end is not None
        else _segment_by_brackets(text, start, match.end(), start, (start, start))
    )
    if not piece.closed:
        return None if soft else piece
    alone = _LINE_REST.match(text, piece.end) is not None
    if soft:
        return piece if alone and not match["label"] and not match["bracket"] else None
    more = _ARGUMENTS.search(text, piece.end, line_end(text, piece.end)) is not None
    if not (match["returns"] or match["bracket"] or alone or more):
        return None
    fault = next((match.start(name) for name in ("label", "bracket") if match[name]), start)
    return piece._replace(start=fault, marked=(fault, fault))


def _segment_by_brackets(text: str, start: int, opened: int, first: int, marked: Span) -> CallSegment:
    """The piece from `first` on whose bracket is at or after `start`, by its brackets alone."""
    bracketed = extent(text, start)
    if bracketed.closed:
        return CallSegment(first, bracketed.end, marked, firm=True, fast=False)
    stop = _PARAGRAPH_END.search(text, opened)
    return CallSegment(
        first, stop.start() if stop else len(text.rstrip()), marked, True, closed=False, fast=False
    )


def _extend_to_line_ends(text: str, pieces: list[CallSegment]) -> list[CallSegment]:
    """The pieces, longer by what follows on their line where that holds a call: then it is no prose."""
    longer_pieces = []
    for i, piece in enumerate(pieces):
        stop = line_end(text, piece.end)
        stop = min(stop, pieces[i + 1].start) if i + 1 < len(pieces) else stop
        longer = _ARGUMENTS.search(text, piece.end, stop) is not None
        longer_pieces.append(piece._replace(end=stop) if longer else piece)
    return longer_pieces


# ---------------------------------------------------------------- the text with only them, and without
def _blank_prose(text: str, pieces: list[CallSegment]) -> str:
    """The text with all but the pieces blanked, each piece on a line of its own."""
    texts: list[str] = []
    position = 0
    for piece in pieces:
        gap = blank(text[position : piece.start])
        texts.append(f"\n{gap[1:]}" if position and gap else gap)
        start, end = piece.marked
        texts += (text[piece.start : start], re.sub(r"[^:\s]", " ", text[start:end]))
        texts.append(text[end : piece.end])
        position = piece.end
    return "".join(texts)


def _blank_segments(text: str, pieces: list[CallSegment]) -> str:
    """The text with the pieces blanked."""
    texts: list[str] = []
    position = 0
    for piece in pieces:
        texts += (text[position : piece.start], blank(text[piece.start : piece.end]))
        position = piece.end
    return "".join((*texts, text[position:]))


def _run_spans(text: str, pieces: list[CallSegment]) -> list[Span]:
    """The places of pieces with no word and no fence between them."""
    runs = [(pieces[0].start, pieces[0].end)]
    for piece in pieces[1:]:
        start, end = runs[-1]
        if _WORD_OR_FENCE.search(text, end, piece.start):
            runs.append((piece.start, piece.end))
        else:
            runs[-1] = (start, piece.end)
    return runs
