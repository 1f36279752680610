"""Searching a text for the plan in it: tokens, sections and forms of notations, then fences and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.frozen import replace
from planner_eval.base.limits import Span, check_calls
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import UNREAD_CALL, Diagnostic, RawPlan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.detect import (
    RowToken,
    find_rows_by_sign,
    find_rows_by_token,
    may_hold_call,
)
from planner_eval.reading.dialects.finding.answers import blank_observations
from planner_eval.reading.dialects.finding.blocks import BlockReader
from planner_eval.reading.dialects.finding.cut_texts import CutError, ends_inside_data, find_cut_token_call
from planner_eval.reading.dialects.finding.edited_text import TextView, extent
from planner_eval.reading.dialects.finding.repeats import (
    Repeats,
    call_signatures,
    find_repeats,
    repeated_calls_note,
)
from planner_eval.reading.dialects.finding.segments import (
    CALL_LIKE,
    NAME,
    Block,
    NoCalls,
    ReadCalls,
    blank_matches,
    blank_spans,
    fence_tagged_code,
    fences,
    join_pieces,
    locate_error_in_source,
    own_names,
    span_of,
    split_blocks,
)
from planner_eval.reading.dialects.finding.unread_calls import TOOL_ANSWER, is_mention
from planner_eval.reading.dialects.notations import appbench_prose
from planner_eval.reading.dialects.notations.appbench_terms import is_start
from planner_eval.reading.dialects.notations.framed import token_pattern
from planner_eval.reading.dialects.notations.steps import repair_inputs
from planner_eval.reading.dialects.repairs import repair_appbench_quotes
from planner_eval.reading.dialects.table import Wrapper

# ----------------------------------------------------------------------
# Code of the model's own after its calls: definitions, tests, a main program. It is no part of the plan.
_OWN_CODE_START = re.compile(
    r"\n[ \t]*+(?:(?:async\s++)?def\s++\w++\s*+\(|class\s++\w++|assert\s|self\.\w|@\w++\.?|if __name__"
    r"|#include\b|(?:export\s++|public\s++|private\s++)++(?:static\s++|default\s++)*+(?:class|function|void|int)\b)"
)
_IMPORT = lazy_pattern(r"(?m)^[ \t]*+(?:import\s++\w|from\s++[\w.]++\s++import\s)")


def read_before_own_code(block: Block, reader: BlockReader, *, after: bool) -> list[ReadCalls]:
    """The calls of a block: of a program all, of any other those before the model's own code.

    Args:
        block: A fence, or the text between fences.
        reader: Reads it, and takes the note.
        after: Whether calls stand before it; a block without any is code of the model's own then.

    Raises:
        ParseError: it begins like a plan and cannot be read.
    """
    text = block.view.text
    own = _OWN_CODE_START.search(f"\n{text}")
    start = _start_of_own_code(text, own.start()) if own else 0
    is_own = after and (own is not None or _IMPORT.match(text.lstrip()) is not None)
    # It is read without the blanks after it, and what is the same text is parsed once.
    view = block.view if text[:1].isspace() else block.view.strip()
    is_python = (is_own or start > 0) and reader.as_python(view) is not None
    if start and not is_python:
        calls_before, variables, bound = reader.taken, dict(reader.held), [*reader.bound]
        with suppress(ParseError):
            read = reader.block(replace(block, view=block.view.cut(0, start)))
            if read:
                _note_ignored_code(block.view.cut(start, len(text)), reader)
                return read
        reader.taken, reader.held, reader.bound = calls_before, variables, bound
    read = []
    try:
        if not (is_own and own) or (is_python and (start or block.fenced)):
            read = reader.block(block)
    except ParseError:
        if not is_own or (is_python and block.fenced):
            raise
        own = own or _IMPORT.search(text)
    if is_own and own and not read:
        _note_ignored_code(block.view, reader)
    return read


def _start_of_own_code(text: str, own: int) -> int:
    """Where imports or definitions begin; 0 where nothing stands before them."""
    imported = _IMPORT.search(text, 0, own)
    start = imported.start() if imported else own
    return start if text[:start].strip() else 0


def _note_ignored_code(view: TextView, reader: BlockReader) -> None:
    """Say that code was ignored; what it defines is no tool afterwards."""
    reader.defined |= own_names(view.text)
    message = f"{len(view.text):,} characters of the model's own code after the calls were ignored"
    reader.notes.append(Diagnostic("find.code", message, "info", span=span_of(view)))


# ----------------------------------------------------------------------
# Searching a text for the plan in it: tokens, sections and forms of notations, then fences and lines.
_SECTION_MARK = lazy_pattern(
    r"(?=[<# \tdace])(?:(?:(?<!['\"])<{2,3}|(?m:^)[ \t]*+<?+)"
    r"(domain|api_call|api_provider|explanation|code)>{1,3}\s*+:?"
    r"|(?m:^)[ \t]*+(#{1,4})\s)"
)
"""Where a section of Gorilla's notation begins; a single bracket is HTML, but for a line's start."""

_EMPTY_LIST_AT_END = lazy_pattern(r"\s*+\[\s*+\]\s*+\Z")


class Search:
    """The state of one search: its reader, what it remarks, which calls it has read.

    With `only_calls` it is not asked what a text says that holds none.
    """

    def __init__(self, reader: BlockReader, *, only_calls: bool = False) -> None:
        self.reader = reader
        self.only_calls = only_calls
        self.repeats = Repeats(reader.next_number)
        self.notes = self.repeats.notes
        self.unclosed: int | None = None


def search_text(text: str, search: Search) -> list[ReadCalls]:
    """The plan in a text, by the first search that finds its notation; fences and lines at last.

    Raises:
        ParseError: something begins like a plan and cannot be read.
    """
    fenced_text = fence_tagged_code(text)
    for look in (_search_tokens, _search_sections, _search_appbench, _search_by_form):
        read = look(fenced_text, search)
        if read and look is _search_by_form and fenced_text != text:
            search.notes += _note_tagged_code(text, fenced_text)
        if read:
            return read
    return _read_blocks(TextView(blank_observations(fenced_text)), search)


def _note_tagged_code(text: str, fenced_text: str) -> Iterator[Diagnostic]:
    """A note on each piece of code between tags that may call tools."""
    for fence in fences(fenced_text):
        if text.startswith("<", fence.start()) and CALL_LIKE.search(fence["body"]):
            message = f"code between tags beside calls in another notation holds what {UNREAD_CALL}"
            yield Diagnostic("find.text", message, "warning", span=fence.span())


# ---------------------------------------------------------------- notations with tokens of their own
def _search_tokens(text: str, search: Search) -> list[ReadCalls] | None:
    """Read by the rows whose tokens stand in the text: the first that reads calls."""
    rows = find_rows_by_token(text)
    if not rows:
        return None
    _refuse_cut_data(text, rows, search)
    good: list[_RowReading] = []
    errors: list[ParseError] = []
    for row, token in rows:
        dialect, limits = dialects.get(row.name), search.reader.limits
        extents: list[Span] | None = None
        try:
            if dialect.read_framed is None:
                raw = dialect.read(text, limits)
            else:
                raw, extents = dialect.read_framed(text, limits)
        except LimitError:
            raise
        except ParseError as error:
            error.dialect = row.name
            if row.shape != "xml" or _row_token(row) in text:
                errors.append(strip_traceback(error))
            elif error.code == "parse.name":  # unless what stands there calls a tool in another notation
                search.reader.error = search.reader.error or locate_error_in_source(
                    error, TextView(text), search.reader.source
                )
            continue
        if raw.calls:
            read = ReadCalls(row.name, raw, f"the token {token.strip()!r}", (0, len(text)))
            good.append(_RowReading(row, read, extents))
    if good:
        return _read_with_remainder(text, good, search)
    if not errors or any(_ends_in_empty_list(row, text) for row, _ in rows):
        return None
    return _repair_tokens(text, [row for row, _ in rows], errors, search)


def _refuse_cut_data(text: str, rows: list[RowToken], search: Search) -> None:
    """Refuse a text to mend that ends inside the data after its last token before all is read in vain."""
    first = rows[0].row
    if not (search.reader.repair and first.inner == "json" and _is_end(text, search)):
        return
    if not token_pattern(first.open).match(text.lstrip()):
        return
    cut = find_cut_token_call(text, [first])
    if cut is not None and ends_inside_data(token_pattern(first.open).sub("", text[cut[0] :], count=1)):
        raise CutError(cut[1], text=search.reader.source, start=cut[0], dialect=first.name)


def _ends_in_empty_list(row: Wrapper, text: str) -> bool:
    """Whether a text ends in a row's only token and a list of no calls: it is an answer without calls."""
    list_starts = (
        [match.end() for match in token_pattern(row.open).finditer(text)] if row.inner == "json" else []
    )
    return len(list_starts) == 1 and _EMPTY_LIST_AT_END.match(text, list_starts[0]) is not None


def _row_token(row: Wrapper) -> str:
    """What stands in a text of tags that is meant for a row: a parameter's tag, else the name's."""
    parameter = row.parameter[0].split("$")[0]
    return parameter if len(parameter) > 1 else row.call[0].split("$")[0].split("\n")[-1]


_SPACE = lazy_pattern(r"\s*+")


class _RowReading(NamedTuple):
    """What a row read, and where its tokens stand; None where that was not seen as it read."""

    row: Wrapper
    read: ReadCalls
    places: list[Span] | None

    def extents(self, text: str) -> list[Span]:
        """Where the calls stand with the row's tokens around them, in order; none where that is not known."""
        if self.places is not None:
            return self.places
        spans = [call.span for call in self.read.raw.calls if call.span is not None]
        if len(spans) < len(self.read.raw.calls):
            return []
        opening, close = token_pattern(self.row.open), token_pattern(self.row.close)
        opened = {match.end(): match.start() for match in opening.finditer(text)} if self.row.open else {}
        extents: list[Span] = []
        for start, end in spans:
            closed = close.match(text, _SPACE.match(text, end).end()) if self.row.close else None  # type: ignore[union-attr]
            extents.append((opened.get(start, start), closed.end() if closed else end))
        return extents


def _read_with_remainder(text: str, good: list[_RowReading], search: Search) -> list[ReadCalls]:
    """What the first row read, and what else the text calls beside it.

    Raises:
        ParseError: something beside it begins like a plan and cannot be read.
    """
    first, extents = good[0].read, good[0].extents(text)
    own = set(call_signatures(first.raw)) if len(good) > 1 else None
    for other in good[1:]:
        if set(call_signatures(other.read.raw)) != own and _may_overlap(extents, other.extents(text)):
            chosen = first.dialect
            message = f"the text also reads as {other.read.dialect!r}, with other calls; {chosen!r} was used"
            search.notes.append(Diagnostic("dialect.ambiguous", message))
            break
    if not extents:
        return [first]
    first = replace(first, span=(extents[0][0], extents[-1][1]), extents=tuple(extents))
    left = blank_matches(TOOL_ANSWER, blank_spans(text, extents))
    if not may_hold_call(left):
        return [first]
    repeats = search.repeats
    first = repeats.numbered(first)
    own = repeats.sign(first)
    draft_spans = [fence.span() for fence in fences(left) if fence.end() <= extents[0][0]]
    other_reads = []
    for item in _search_around_drafts(left, draft_spans, search):
        if set(call_signatures(item.raw, repeats.signed)) <= own:
            continue
        if any(start <= item.span[0] < end for start, end in draft_spans):
            search.notes.append(Diagnostic("find.text", _DRAFT, "warning", span=item.span))
        else:
            other_reads.append(item)
    return sorted([first, *other_reads], key=lambda item: item.span)


_DRAFT = f"a fence before calls in tokens is a draft; it holds what {UNREAD_CALL}"


def _search_around_drafts(text: str, draft_spans: list[Span], search: Search) -> list[ReadCalls]:
    """The plan in a text without those drafts that are refused.

    Raises:
        ParseError: something else begins like a plan and cannot be read.
    """
    while True:
        try:
            return search_text(text, search)
        except LimitError:
            raise
        except ParseError as error:
            refused = [(start, end) for start, end in draft_spans if start <= error.offset < end]
            if not refused or not text[slice(*refused[0])].strip():
                raise
        search.notes.append(Diagnostic("find.text", _DRAFT, "warning", span=refused[0]))
        text = blank_spans(text, refused)


def _may_overlap(left_spans: list[Span], right_spans: list[Span]) -> bool:
    """Whether two rows read the same places of a text; where that is not known, they may."""
    if not left_spans or not right_spans:
        return True
    return any(start < end and begin < stop for begin, end in left_spans for start, stop in right_spans)


def _repair_tokens(
    text: str, rows: list[Wrapper], errors: list[ParseError], search: Search
) -> list[ReadCalls]:
    """The calls between tokens, mended where that is wanted.

    Raises:
        ParseError: the error that was met last, or that the text ends inside a call.
    """
    repaired = _repair_sections(text, rows, search.reader)
    if repaired is not None:
        return [repaired]
    furthest = max(errors, key=lambda e: e.offset)
    cut = find_cut_token_call(text, rows) if _is_end(text, search) else None
    if cut is not None:
        raise CutError(cut[1], text=search.reader.source, start=cut[0], dialect=furthest.dialect)
    furthest.text = search.reader.source
    raise furthest


def _repair_sections(text: str, rows: list[Wrapper], reader: BlockReader) -> ReadCalls | None:
    """A text of a notation with tokens, mended; None without leave to repair, or in vain."""
    if not reader.repair:
        reader.parts = True
        return None
    for row in rows:
        if row.shape != "sections":
            continue
        matches = list(token_pattern(row.open).finditer(text))
        ends = [*(match.start() for match in matches[1:]), len(text)]
        views: list[TextView] = []
        for match, end in zip(matches, ends, strict=False):
            close = token_pattern(row.close).search(text, match.end(), end) if row.close else None
            view = TextView(text).cut(match.end(), close.start() if close else end).strip()
            if view.text[:1] in ("[", "{") or CALL_LIKE.match(view.text):
                views.append(view)
        try:  # the last one first: a text that is cut off ends in it
            read = [reader.mended(view, strictly=True) for view in views[-1:] + views[:-1]]
        except ParseError:
            return None
        sections = [section for section in read[1:] + read[:1] if isinstance(section, ReadCalls)]
        raw = join_pieces(sections, TextView(text)).raw if sections else RawPlan(())
        if raw.calls:
            return ReadCalls(row.name, raw, "its tokens", (0, len(text)))
    return None


def _is_end(text: str, search: Search) -> bool:
    """Whether the source ends where a text of it does: no other turn and no chat token follows."""
    return len(text.rstrip()) >= len(search.reader.source.rstrip())


# ---------------------------------------------------------------- <<<code>>> sections
def _search_sections(text: str, search: Search) -> list[ReadCalls] | None:
    """Read the code sections of Gorilla's notation: the final one, or else all drafts."""
    marks = list(_SECTION_MARK.finditer(text)) if "code>" in text or "api_call>" in text else []
    named = [m for m in marks if m[1] in ("code", "api_call")]
    if not named:
        return None
    ends = {
        m.start(): (marks[i + 1].start() if i + 1 < len(marks) else len(text)) for i, m in enumerate(marks)
    }
    final = [m for m in named if m[1] == "code" and m.group().startswith("<<<")]
    drafts = [m for m in named if m[1] == "code" and not m.group().startswith("<<<")]
    lines = [m for m in named if m[1] == "api_call"]
    for chosen in (final[-1:], drafts if not final else [], lines):
        read: list[ReadCalls] = []
        for mark in chosen:
            section = search.reader.code(TextView(text).cut(mark.end(), ends[mark.start()]).strip())
            if not isinstance(section, NoCalls):
                read.append(replace(section, reason=f"the section {mark.group().strip(' :')!r}"))
        retained = search.repeats.drop(read, exactly=True)
        if retained:
            return retained
    return None


# ---------------------------------------------------------------- AppBench's lines
def _search_appbench(text: str, search: Search) -> list[ReadCalls] | None:
    """Read a text of AppBench's lines, else the lines that stand in prose, with what else calls a tool."""
    first: ParseError | None = None
    if is_start(text):
        try:
            raw = dialects.get("appbench").read(text, search.reader.limits)
        except LimitError:
            raise
        except ParseError as error:
            requoted_read = repair_appbench_lines(text, search) if search.reader.repair else None
            if requoted_read is not None:
                return [requoted_read]
            search.reader.parts |= repair_appbench_quotes(TextView(text)) is not None  # repair reads on
            first = search.reader.cut(
                TextView(text).strip(), locate_error_in_source(error, TextView(text), search.reader.source)
            )
        else:
            start = len(text) - len(text.lstrip())
            return [ReadCalls("appbench", raw, "calls with #name= arguments", (start, len(text)))]
    prose = find_appbench_runs(text, search)
    if prose is None:
        if first is not None and "```" not in text:
            raise first
        return None
    runs, remainder = prose
    try:
        other_reads = _read_blocks(remainder, search)
    except ParseError as error:
        raise first or error from None
    if other_reads and first is not None:
        raise first
    return sorted([*runs, *other_reads], key=lambda item: item.span)


def repair_appbench_lines(text: str, search: Search) -> ReadCalls | None:
    """A text of AppBench's lines with values in double quotes, mended; None in vain."""
    repaired = repair_appbench_quotes(TextView(text))
    if repaired is None:
        return None
    try:
        raw = repaired.view.place(dialects.get("appbench").read(repaired.view.text, search.reader.limits))
    except ParseError:
        return None
    start = len(text) - len(text.lstrip())
    mended = RawPlan(raw.calls, raw.answer, (*raw.notes, *repaired.notes))
    return ReadCalls("appbench", mended, "calls with #name= arguments", (start, len(text)))


def find_appbench_runs(text: str, search: Search) -> tuple[list[ReadCalls], TextView] | None:
    """The runs of AppBench's lines in a text, each said once, and the rest of the text."""
    try:
        prose = appbench_prose.find(TextView(text), search.reader.limits)
    except ParseError as error:
        error.dialect = "appbench"
        line = TextView(text).cut(text.rfind("\n", 0, error.offset) + 1, len(text)).strip()
        raise search.reader.cut(
            line, locate_error_in_source(error, TextView(text), search.reader.source)
        ) from None
    if prose is None:
        return None
    retained = []
    for run, repeats in zip(prose[0], find_repeats([run.raw for run in prose[0]]), strict=True):
        if repeats:
            search.notes.append(repeated_calls_note(len(run.raw.calls), run.span))
        else:
            retained.append(run)
    return retained, prose[1]


# ---------------------------------------------------------------- notations known by their shape
def _search_by_form(text: str, search: Search) -> list[ReadCalls] | None:
    """Read a text that begins in a notation which its form gives away."""
    start = len(text) - len(text.lstrip())
    for row in find_rows_by_sign(text, start):
        try:
            raw = dialects.get(row.name).read(text, search.reader.limits)
        except LimitError:
            raise
        except ParseError as error:
            error.text = search.reader.source
            error.dialect = row.name
            if row.weak and not isinstance(error, CutError):
                continue
            if "```" in text and not isinstance(error, CutError):
                search.reader.error = search.reader.error or error  # said where the fences hold no call
                continue
            if row.shape != "react":
                raise search.reader.cut(TextView(text).strip(), error) from None
            search.reader.parts = True
            repaired = repair_inputs(text, search.reader.limits) if search.reader.repair else None
            if repaired is None:
                raise
            raw = repaired
        if raw.calls:
            return [ReadCalls(row.name, raw, row.known, (start, len(text)))]
    return None


# ---------------------------------------------------------------- lists in sentences
_LIST_IN_SENTENCE = lazy_pattern(rf"\s[`\"'*(]{{0,3}}+(?P<list>\[)(?={NAME}\(\s*+(?:\)|\w++\s*+=(?!=)))")


def read_lists_in_sentences(text: str, search: Search) -> Iterator[ReadCalls]:
    """The lists of calls that stand in sentences, as in `The answer is [f(a=1)]`."""
    reader, end = search.reader, 0
    if reader.error is not None or "[" not in text:
        return
    for match in islice(_LIST_IN_SENTENCE.finditer(text), _MAX_SENTENCE_LISTS):
        start = match.start("list")
        piece = extent(text, start) if start >= end else None
        if piece is None or not piece.closed or is_mention(text, start, piece.end):
            continue
        end = piece.end
        with suppress(ParseError):
            read = reader.mended(TextView(text).cut(start, end))
            if isinstance(read, ReadCalls):
                reader.keep(read)
                yield from search.repeats.drop([read])


_MAX_SENTENCE_LISTS = 20


# ---------------------------------------------------------------- fences and lines
def _read_blocks(view: TextView, search: Search) -> list[ReadCalls]:
    """Read fences and the text between them, in order."""
    reader, count = search.reader, 0
    read: list[ReadCalls] = []
    answered, tries = False, _MAX_RAMBLING_BLOCKS
    for block in split_blocks(view):
        reader.taken = count
        may_ramble = answered and not block.fenced and tries > 0
        tries -= may_ramble
        variables, bound = (dict(reader.held), [*reader.bound]) if may_ramble else ({}, [])
        try:
            items = read_before_own_code(block, reader, after=bool(read))
        except ParseError as error:
            if not (may_ramble and _is_rambling(block, error, reader)):
                raise
            reader.held, reader.bound = variables, bound
            span = span_of(block.view.strip())
            ignored = shorten(reader.source[slice(*span)], 60)
            message = f"what follows the fenced calls cannot be read: {ignored!r}"
            search.notes.append(Diagnostic("find.text", message, "warning", span=span))
            continue
        answered = answered or (block.fenced and bool(items))
        for item in items:
            fenced = replace(item, reason=f"{item.reason}, in a fence") if block.fenced else item
            read += search.repeats.drop([fenced])
            count += len(fenced.raw.calls)
            check_calls(count, reader.limits)
    return read


_MAX_RAMBLING_BLOCKS = 20
"""Texts between fences after an answer that may be words: a copy of all variables is made for each."""


def _is_rambling(block: Block, error: ParseError, reader: BlockReader) -> bool:
    """Whether text after an answer in a fence is no call that could be mended, and none that is cut off."""
    if isinstance(error, (LimitError, CutError)):
        return False
    mending = reader.mending()
    mending.defined = reader.defined  # which has by now what the block defines
    with suppress(ParseError):
        return not mending.block(block)
    return True
