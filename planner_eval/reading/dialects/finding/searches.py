"""Searching a text for the plan in it: tokens, sections and forms of notations, then fences and lines.

Each search answers what it read, or None where its notation is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.limits import Span, check_calls
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import Diagnostic, RawPlan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.prompts import blank_observations
from planner_eval.reading.dialects.detect import find_rows_by_sign, find_rows_by_token, may_hold_call
from planner_eval.reading.dialects.finding import segments
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.finding.fences_and_lines import BlockReader
from planner_eval.reading.dialects.finding.segments import (
    Block,
    NoCalls,
    ReadCalls,
    locate_error_in_source,
    own_names,
    span_of,
    split_blocks,
)
from planner_eval.reading.dialects.finding.unread_calls import CutError, find_cut_token_call
from planner_eval.reading.dialects.notations import appbench_prose
from planner_eval.reading.dialects.notations.appbench_terms import is_start
from planner_eval.reading.dialects.notations.sections import token_pattern
from planner_eval.reading.dialects.repairs import repair_appbench_quotes
from planner_eval.reading.dialects.table import Wrapper

# ----------------------------------------------------------------------
# Code of the model's own after its calls: definitions, tests, a main program. It is no part of the plan.
_OWN_CODE_START = re.compile(
    r"(?m)^[ \t]*+(?:(?:async\s++)?def\s++\w++\s*+\(|class\s++\w++|assert\s|self\.\w|@\w++\.?|if __name__"
    r"|#include\b|(?:export\s++|public\s++|private\s++)++(?:static\s++|default\s++)*+(?:class|function|void|int)\b)"
)
_IMPORT = lazy_pattern(r"(?m)^[ \t]*+(?:import\s++\w|from\s++[\w.]++\s++import\s)")


def read_before_own_code(block: Block, reader: BlockReader, *, after: bool) -> list[ReadCalls]:
    """The calls of a block; none where it is the model's own code after its calls.

    Args:
        block: A fence, or the text between fences.
        reader: Reads it, and takes the note.
        after: Whether calls stand before it.

    Raises:
        ParseError: it begins like a plan and cannot be read.
    """
    text = block.view.text
    own = _OWN_CODE_START.search(text)
    if own is None:
        try:
            return reader.block(block)
        except ParseError:
            if not (after and _IMPORT.match(text.lstrip())):
                raise
    if not after:
        return _read_before_own_code(block, own.start() if own else 0, reader)
    _note_ignored_code(block.view, reader)
    return []


def _read_before_own_code(block: Block, own: int, reader: BlockReader) -> list[ReadCalls]:
    """The calls before the code of a block, where there are any and the whole is no Python."""
    text = block.view.text
    imported = _IMPORT.search(text, 0, own)
    start = imported.start() if imported else own
    if text[:start].strip() and reader.as_python(block.view) is None:
        calls_before, variables, bound = reader.taken, dict(reader.held), [*reader.bound]
        with suppress(ParseError):
            read = reader.block(replace(block, view=block.view.cut(0, start)))
            if read:
                _note_ignored_code(block.view.cut(start, len(text)), reader)
                return read
        reader.taken, reader.held, reader.bound = calls_before, variables, bound
    return reader.block(block)


def _note_ignored_code(view: TextView, reader: BlockReader) -> None:
    """Say that code was ignored; what it defines is no tool afterwards."""
    reader.defined |= own_names(view.text)
    message = f"{len(view.text):,} characters of the model's own code after the calls were ignored"
    reader.notes.append(Diagnostic("find.code", message, "info", None, None, span_of(view)))


# ----------------------------------------------------------------------
# Searching a text for the plan in it: tokens, sections and forms of notations, then fences and lines.
_SECTION_MARK = lazy_pattern(
    r"(?:(?<!['\"])<{2,3}|(?m:^)[ \t]*+<?+)(domain|api_call|api_provider|explanation|code)>{1,3}\s*+:?"
    r"|(?m:^)[ \t]*+(#{1,4})\s"
)
"""Where a section of Gorilla's notation begins; a single bracket is HTML, but for a line's start."""
_EMPTY_LIST_AT_END = lazy_pattern(r"\s*+\[\s*+\]\s*+\Z")


@dataclass(slots=True)
class Search:
    """The state of one search.

    `seen` are the signatures of calls that were read; those of `unsigned` are missing there as yet. `signed`
    are those of all calls, by the names that later pieces have for them, and `first` is the name of the first
    call of a signature; `again` says which call the name of a repeated one means. `unnumbered` is the first
    block, where it has no number.
    """

    reader: BlockReader
    notes: list[Diagnostic] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    unsigned: ReadCalls | None = None
    unnumbered: ReadCalls | None = None
    signed: dict[str, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    unclosed: int | None = None


def search_text(text: str, search: Search) -> list[ReadCalls]:
    """The plan in a text, by the first search that finds its notation; fences and lines at last.

    Raises:
        ParseError: something begins like a plan and cannot be read.
    """
    for look in (_search_tokens, _search_sections, _search_appbench, _search_by_form):
        read = look(text, search)
        if read:
            return read
    return _read_blocks(TextView(blank_observations(text)), search)


# ---------------------------------------------------------------- notations with tokens of their own
def _search_tokens(text: str, search: Search) -> list[ReadCalls] | None:
    """Read by the rows whose tokens stand in the text: the first that reads calls."""
    rows = find_rows_by_token(text)
    if not rows:
        return None
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


class _RowReading(NamedTuple):
    """What a row read, and where its tokens stand; None where that was not seen as it read."""

    row: Wrapper
    read: ReadCalls
    places: list[Span] | None

    def extents(self, text: str) -> list[Span]:
        """Where the calls stand, in order; none where that is not known."""
        return segments.call_spans(self.row, text, self.read.raw) if self.places is None else self.places


def _read_with_remainder(text: str, good: list[_RowReading], search: Search) -> list[ReadCalls]:
    """What the first row read, and what else the text calls beside it.

    Raises:
        ParseError: something beside it begins like a plan and cannot be read.
    """
    first, extents = good[0].read, good[0].extents(text)
    own = set(segments.call_signatures(first.raw)) if len(good) > 1 else None
    for other in good[1:]:
        if set(segments.call_signatures(other.read.raw)) != own and _may_overlap(
            extents, other.extents(text)
        ):
            chosen = first.dialect
            message = f"the text also reads as {other.read.dialect!r}, with other calls; {chosen!r} was used"
            search.notes.append(Diagnostic("dialect.ambiguous", message))
            break
    if not extents:
        return [first]
    first = replace(first, span=(extents[0][0], extents[-1][1]))
    left = segments.blank_spans(text, extents)
    if not may_hold_call(left):
        return [first]
    first = _number_block(first, search)
    own = set(_block_signatures(first, search))
    search.seen |= own
    other_reads = [
        item
        for item in search_text(left, search)
        if not set(segments.call_signatures(item.raw, search.signed)) <= own
    ]
    return sorted([first, *other_reads], key=lambda item: item.span)


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
    repaired = search.reader.repaired_rows(text, rows)
    if repaired is not None:
        return [repaired]
    furthest = max(errors, key=lambda e: e.offset)
    cut = find_cut_token_call(text, rows) if _is_end(text, search) else None
    if cut is not None:
        raise CutError(cut[1], text=search.reader.source, start=cut[0], dialect=furthest.dialect)
    furthest.text = search.reader.source
    raise furthest


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
                read.append(
                    replace(
                        section, dialect=section.dialect, reason=f"the section {mark.group().strip(' :')!r}"
                    )
                )
        retained = _drop_repeated_blocks(read, search, exactly=True)
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
    for run, repeats in zip(prose[0], segments.find_repeats([run.raw for run in prose[0]]), strict=True):
        if repeats:
            search.notes.append(segments.repeated_calls_note(len(run.raw.calls), run.span))
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
            raise search.reader.cut(TextView(text).strip(), error) from None
        if raw.calls:
            return [ReadCalls(row.name, raw, row.known, (start, len(text)))]
    return None


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
            search.notes.append(Diagnostic("find.text", message, "warning", None, None, span))
            continue
        answered = answered or (block.fenced and bool(items))
        for item in items:
            fenced = replace(item, reason=f"{item.reason}, in a fence") if block.fenced else item
            read += _drop_repeated_blocks([fenced], search)
            count += len(fenced.raw.calls)
            check_calls(count, reader.limits)
    return read


_MAX_RAMBLING_BLOCKS = 20
"""Texts between fences after an answer that may be words: a copy of all variables is made for each."""


def _is_rambling(block: Block, error: ParseError, reader: BlockReader) -> bool:
    """Whether text after an answer in a fence is no call that could be mended, and none that is cut off."""
    if isinstance(error, (LimitError, CutError)):
        return False
    mending = BlockReader(reader.source, reader.limits, reader.words, repair=True, located=False)
    mending.defined = reader.defined  # which has by now what the block defines
    with suppress(ParseError):
        return not mending.block(block)
    return True


def _drop_repeated_blocks(read: list[ReadCalls], search: Search, *, exactly: bool = False) -> list[ReadCalls]:
    """The blocks that do not only repeat calls already read; `exactly` requires all of them repeated."""
    retained = []
    for candidate in read:
        if search.unsigned is None and not search.seen:
            search.unsigned = candidate  # in most texts it is all, which repeats nothing
            retained.append(candidate)
            continue
        if search.unsigned is not None:
            search.unnumbered = None if search.unsigned.pieces else search.unsigned
            search.seen.update(_block_signatures(search.unsigned, search))
            search.unsigned = None
        item = _number_block(candidate, search)
        own = segments.call_signatures(item.raw, search.signed)
        if own and (set(own) == search.seen if exactly else set(own) <= search.seen):
            search.notes.append(segments.repeated_calls_note(len(own), item.span))
            for name, text in _result_names(item, own):
                search.signed[name] = f"{text}()"
                search.again[name] = search.first[text]
            continue
        search.seen.update(_block_signatures(item, search, own))
        retained.append(item)
    return retained


def _number_block(item: ReadCalls, search: Search) -> ReadCalls:
    """A block with a number, by which calls that it repeats are found."""
    if item.pieces:
        return item
    search.reader.pieces += 1
    return ReadCalls(item.dialect, item.raw, item.reason, item.span, item.bound, ((search.reader.pieces, 0),))


def _block_signatures(item: ReadCalls, search: Search, own: list[str] | None = None) -> list[str]:
    """The signatures of a block's calls, kept with the names that later blocks have for these calls."""
    own = segments.call_signatures(item.raw, search.signed) if own is None else own
    for name, text in _result_names(item, own):
        search.signed[name] = f"{text}()"  # as a signature says it of a result as a whole
        search.first.setdefault(text, name)
    return own


def _result_names(item: ReadCalls, own: list[str]) -> Iterator[tuple[str, str]]:
    """The names by which later pieces refer to a block's calls, with the calls' signatures."""
    pieces = item.pieces or ((0, 0),)
    ends = [start for _, start in pieces[1:]] + [len(own)]
    for (piece, start), end in zip(pieces, ends, strict=True):
        for index in range(start, end):
            yield f"{index - start}@{piece}", own[index]
