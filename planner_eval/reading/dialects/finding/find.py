"""Finding the plan in a model's text: thoughts, chat tokens, later turns, fences, prose around it.

What is no plan is blanked, not cut, so that places stay those of the user's text. The order is: a text
that is JSON as a whole; tokens of a known notation; notations known by their shape; then fences and
lines that hold calls, one block after another. A text in which nothing calls a tool is the answer
"no call", and no error; a block that begins like a plan and cannot be read is an error with its place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.json_text import JSON_WHITESPACE, loads, loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import (
    UNREAD_CALL,
    Arguments,
    Diagnostic,
    RawCall,
    RawPlan,
    may_tell_unread_call,
    no_call_remark,
)
from planner_eval.reading.dialects.conversations.messages import JSON_STARTS
from planner_eval.reading.dialects.conversations.spans import QUOTED_SPAN_KEYS, refuse_several_runs
from planner_eval.reading.dialects.conversations.turns import ProseReader
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.dialect import Dialect, RecognisedPlan
from planner_eval.reading.dialects.finding.answers import blank_non_answer_text
from planner_eval.reading.dialects.finding.blocks import BlockReader
from planner_eval.reading.dialects.finding.cut_texts import (
    CutError,
    find_call_opening,
    find_unfinished_call,
    keep_calls_before_cut,
    texts_before_cut,
)
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.finding.embedded_tokens import EmbeddedTagReading, read_embedded_tags, tags
from planner_eval.reading.dialects.finding.pieces import PYTHON_TEXTS
from planner_eval.reading.dialects.finding.searches import (
    Search,
    find_appbench_runs,
    read_lists_in_sentences,
    repair_appbench_lines,
    search_text,
)
from planner_eval.reading.dialects.finding.segments import (
    FENCE_LABEL,
    PYTHON_DIALECTS,
    LazyParseError,
    ReadCalls,
    fences,
    segment_starts,
    split_blocks,
)
from planner_eval.reading.dialects.finding.speakers import assistant_turns
from planner_eval.reading.dialects.finding.thought_tokens import find_thoughts
from planner_eval.reading.dialects.finding.unread_calls import (
    ALTERNATIVE_SEPARATOR,
    find_unread_assignment,
    is_denied,
    note_ignored_text,
    note_unread_calls,
)
from planner_eval.reading.dialects.programs import python_calls
from planner_eval.reading.dialects.programs.program import Variables, connect_calls, shift_names
from planner_eval.reading.dialects.programs.syntax import MAX_PARSED_CHARS, is_long_program, parse_syntax
from planner_eval.reading.dialects.repairs import TEXT_ESCAPE, RepairedText, decode_once, repairs, unescape


def find_plan(
    source: str,
    limits: Limits,
    *,
    repair: bool = False,
    located: bool = False,
    values: list[Any] | None = None,
) -> RecognisedPlan:
    r"""The plan in a text, whatever its notation and whatever stands around it.

    Args:
        source: The text.
        limits: Bounds on size and nesting.
        repair: Apply the repairs of :mod:`planner_eval.reading.dialects.repairs` where strict reading fails.
        located: Take the places of JSON calls too, which costs a reading by the grammar.
        values: The JSON values of the text, where they are known; none where it is known to be no JSON.

    Raises:
        ParseError: something begins like a plan and cannot be read.

    >>> found = find_plan("Sure! ```json\n[{\"name\": \"f\", \"arguments\": {}}]\n```", Limits())
    >>> found.dialect, [call.name for call in found.raw.calls]
    ('json', ['f'])
    """
    encoded = decode_once(TextView(source)) if repair else None
    for view, notes in ((TextView(source), ()), encoded) if encoded else ():
        with suppress(ParseError):
            found = find_plan(view.text, limits, located=located)
            if found.raw.calls:
                raw = view.place(found.raw)
                return found._replace(raw=raw._replace(notes=(*raw.notes, *notes)))
    search = _new_search(source, limits, repair=repair, located=located)
    if values is not None:
        search.reader.decoded = source.strip(JSON_WHITESPACE), values or None
    try:
        return _read_escaped(source, _find_quoted(source, search), search.reader)
    except CutError as error:
        if repair:
            for text in texts_before_cut(error):
                retry = _new_search(text, limits, repair=True, located=located)
                with suppress(ParseError):
                    result = _find_plan(text, retry)
                    if result.raw.calls:
                        return result._replace(raw=keep_calls_before_cut(result.raw, error.text, len(text)))
        error.beyond_repair = False
        raise
    except ParseError as error:
        raise _refusal(error, search.reader) from None


def _read_escaped(source: str, found: RecognisedPlan, reader: BlockReader) -> RecognisedPlan:
    """What a text that calls no tool says where what is escaped in it is not: mended, or told."""
    is_read = found.raw.calls and not any("\\" in call.name for call in found.raw.calls)
    is_told = not reader.repair and any(map(may_tell_unread_call, found.raw.notes))
    unescaped = None if is_read or is_told else unescape(TextView(source))
    if unescaped is None or not may_hold_call(text := unescaped.view.text):
        return found
    with suppress(ParseError):
        if reader.repair or TEXT_ESCAPE.search(text) is not None:
            read = find_plan(text, reader.limits, repair=reader.repair)
        else:  # what it says without calls is not asked
            read = _find_quoted(text, _new_search(text, reader.limits, repair=False, only_calls=True))
        if read.raw.calls:
            raw = unescaped.view.place(read.raw)
            if reader.repair:
                return read._replace(raw=raw._replace(notes=(*raw.notes, *unescaped.notes)))
            span = raw.calls[0].span or (0, len(source))
            message = (
                f"this may be an unread call, in a text with escapes: {shorten(source[slice(*span)], 60)!r}"
            )
            note = Diagnostic("find.unread", message, "warning", span=span)
            return found._replace(raw=found.raw._replace(notes=(note, *found.raw.notes)))
    return found


def _refusal(error: ParseError, reader: BlockReader) -> ParseError:
    """Why a text is refused, and whether it is with repairs too."""
    refusal = error
    if isinstance(error, LazyParseError):
        refusal = strip_traceback(error).told
        del error.told  # it becomes the context of what it would hold
    refusal.beyond_repair = not reader.parts
    return refusal


def refuse_cut(source: str, limits: Limits) -> None:
    """Refuse a text in which a named notation finds no call, and that is cut off, whatever its notation."""
    try:
        find_plan(source, limits)
    except CutError:
        raise
    except ParseError:
        pass


_BARE_BRACKETS = lazy_pattern(r"\s*+(?!\[\s*+\]|\{\s*+\})[\[\]{}][\s\[\]{},:]*+")
"""Brackets and nothing in them: unless it is JSON, what was meant is lost."""


def _find_quoted(source: str, search: Search) -> RecognisedPlan:
    """The plan in a text as it stands; where that may lack calls, in what it is as texts of Python's."""
    try:
        plan = _find_plan(source, search)
    except LimitError:
        raise
    except ParseError:
        quoted = _read_quoted(source, search.reader)
        if quoted is None:
            raise
        return quoted
    if plan.raw.calls and not any(map(may_tell_unread_call, plan.raw.notes)):
        return plan
    quoted = _read_quoted(source, search.reader)
    return quoted if quoted is not None and len(quoted.raw.calls) > len(plan.raw.calls) else plan


def _read_quoted(source: str, reader: BlockReader) -> RecognisedPlan | None:
    """The plan in texts of Python's; None where they hold none."""
    view = TextView(source).strip()
    if PYTHON_TEXTS.match(view.text) is None:
        return None
    search = _new_search(source, reader.limits, repair=reader.repair, located=reader.located)
    texts = python_calls.string_list(search.reader.syntax(view.text))
    with suppress(ParseError):
        read = None if texts is None else search.reader.texts(texts, view)
        return _build_plan(search, [read]) if isinstance(read, ReadCalls) and read.raw.calls else None
    return None


def _find_plan(source: str, search: Search) -> RecognisedPlan:
    first = source.lstrip()[:1]
    is_escaped = first in (*JSON_STARTS, "'") and "\\" in source
    if not (is_escaped or may_hold_call(source) or _BARE_BRACKETS.fullmatch(source)):
        return _build_empty_plan("json", "the text calls no tool", None, note_unread_calls(source))
    if first in JSON_STARTS:
        json_read = _read_whole_json(TextView(source).strip(), search.reader)
        if json_read is not None:
            return _build_plan(search, [json_read])
    settled_text = _read_embedded_tags(source, search.reader)
    if settled_text is not None:
        return settled_text.plan
    return _find_in_answer(source, search)


def _find_in_answer(source: str, search: Search) -> RecognisedPlan:
    """The plan in what of a text is the answer; where nothing else is one, lists of calls in sentences."""
    answer = blank_non_answer_text(source)
    search.notes += answer.notes
    search.unclosed = answer.unclosed
    search.repeats.turns = [start for start, _ in assistant_turns(source)] if answer.notes else []
    read = search_text(answer.text, search) or list(read_lists_in_sentences(answer.text, search))
    return _build_plan(search, read, answer.text)


def _read_embedded_tags(source: str, reader: BlockReader) -> EmbeddedTagReading | None:
    """What a text says where values of its calls hold what is a thought or a token elsewhere."""

    def read(text: str) -> RecognisedPlan:
        search = _new_search(source, reader.limits, repair=reader.repair, located=reader.located)
        return _find_in_answer(text, search)

    return read_embedded_tags(source, tags(source), read)


def _read_whole_json(view: TextView, reader: BlockReader) -> ReadCalls | None:
    """A text that is JSON from end to end; what its texts hold is mended where that is wanted."""
    try:
        return reader.json(view)
    except LimitError:
        raise
    except ParseError as error:
        if not reader.repair:
            reader.parts = True
            raise
        refused = strip_traceback(error)
    repaired = reader.mended(view, strictly=True, refused=refused)
    return repaired if isinstance(repaired, ReadCalls) else None


def _new_search(
    source: str, limits: Limits, *, repair: bool, located: bool = False, only_calls: bool = False
) -> Search:
    """A search, which reads what an assistant says in a conversation by another one."""
    words: ProseReader = partial(find_plan, limits=limits, repair=repair, located=located)
    return Search(BlockReader(source, limits, words, repair=repair, located=located), only_calls=only_calls)


def cut_marked_thoughts(text: str) -> str:
    """What :func:`.thoughts.strip_thoughts` makes of a text that may have marks of thoughts."""
    settled_text = _read_embedded_tags(text, _new_search(text, DEFAULT_LIMITS, repair=False).reader)
    if settled_text is None:
        return _cut_thoughts(text)
    return settled_text.signs.whole(_cut_thoughts(settled_text.signs.text))


def _cut_thoughts(text: str) -> str:
    """A text without its thoughts."""
    bounds = [0, *chain.from_iterable(find_thoughts(text)), len(text)]
    return "".join([text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)])


# ---------------------------------------------------------------- the result
def _build_plan(search: Search, read: list[ReadCalls], text: str = "") -> RecognisedPlan:
    """One plan out of the blocks that were read, with notes on what was not; `text` is what was searched."""
    reader = search.reader
    if len(read) > 1:
        _refuse_traces([reader.source[slice(*item.span)] for item in read], reader.limits)
    calls: list[RawCall] = []
    notes = [*search.notes]
    for item in read:
        moved = [n._replace(call=n.call + len(calls)) if n.call is not None else n for n in item.raw.notes]
        notes += moved
        if is_denied(reader.source, *item.span):
            message = "the sentence around the call says that it is not made"
            notes.append(Diagnostic("find.hypothetical", message, "warning", len(calls), span=item.span))
        other = ALTERNATIVE_SEPARATOR.match(reader.source, item.span[1])
        if other is not None:
            message = "calls are joined by 'or': it is unclear which are meant"
            notes.append(Diagnostic("find.alternative", message, "warning", span=other.span()))
        calls += shift_names(item.raw.calls, len(calls)) if calls else item.raw.calls
    notes += reader.notes
    answer = next((item.raw.answer for item in read if item.raw.answer is not None), None)
    if not calls:
        return _build_plan_without_calls(search, read, text, answer, notes)
    ignored = [note for note in notes if note.code == "find.text"]
    repeated = [note.span[1] for note in notes if note.code == "find.restated" and note.span]
    _refuse_unfinished_call(search, text, max(*map(_last_call_end, read), *repeated, 1), ignored)
    if reader.held:  # a piece was read after one that names results
        repeats = search.repeats
        calls = connect_calls(calls, segment_starts(read, repeats.unnumbered), repeats.again)
    names = list(dict.fromkeys(item.dialect for item in read))
    if len(names) > 1 and PYTHON_DIALECTS.issuperset(names):
        names = ["code"]  # an assignment makes calls a program; blocks without any are of it
    if len(names) > 1:
        message = f"the blocks are in several notations: {', '.join(names)}"
        notes.append(Diagnostic("dialect.mixed", message, "info"))
    notes += note_ignored_text(reader, read, text, [note for note in notes if note.span])
    _refuse_long_programs(text, reader.source, read, notes)
    return RecognisedPlan(names[0], RawPlan(tuple(calls), answer, tuple(notes), read[0].reason))


def _build_plan_without_calls(
    search: Search, read: list[ReadCalls], text: str, answer: Arguments | None, notes: list[Diagnostic]
) -> RecognisedPlan:
    """The plan of a text of which no call was read: an error, or the answer that it calls no tool."""
    reader, source = search.reader, search.reader.source
    if search.only_calls:
        return _build_empty_plan("json", "")
    if reader.error is not None:
        raise reader.error
    if search.unclosed is not None:
        raise CutError("inside a thought", text=source, start=search.unclosed)
    opened = find_call_opening(source)
    if opened is not None:
        raise CutError(opened[1], text=source, start=opened[0])
    if _BARE_BRACKETS.fullmatch(source):
        loads(source, reader.limits)
    _refuse_unfinished_call(search, text, 0, ())
    noted = [note.span for note in notes if note.span]
    unread_span = None if read else find_unread_assignment(reader, 0, len(source), noted)
    if unread_span is not None:
        message = f"what {UNREAD_CALL} was not read: {shorten(source[slice(*unread_span)], 60)!r}"
        notes.append(Diagnostic("find.text", message, "warning", span=unread_span))
    elif not read:
        is_thought = not text.strip() and any(note.code == "find.thought" for note in notes)
        notes += note_unread_calls(source if is_thought else text, reader.defined)
    dialect = read[0].dialect if read else "json"
    return _build_empty_plan(dialect, reader.why or "the text calls no tool", answer, notes)


def _refuse_long_programs(
    text: str, source: str, read: Sequence[ReadCalls], notes: Iterable[Diagnostic]
) -> None:
    """Refuse a program that is too long to be followed, unless it is one piece of nothing but calls.

    What is read of such a one piece by piece knows neither its variables nor what is run when.
    """
    if len(text) <= MAX_PARSED_CHARS or read[0].dialect not in PYTHON_DIALECTS:
        return
    for start, end in ((0, len(text)), *(fence.span("body") for fence in fences(text))):
        program = text[start:end]
        label = FENCE_LABEL.match(program) if start else None
        program = program[label.end() :] if label else program
        first = end - len(program.lstrip())
        last = first + len(program.strip())
        inside = [item for item in read if item.span[0] < last and item.span[1] > first]
        is_one_piece = len(inside) == 1 and len(inside[0].pieces) < 2
        covers = is_one_piece and inside[0].span[0] <= first and last <= inside[0].span[1]
        is_remarked = any(
            note.code.startswith("find.") and (note.span is None or first <= note.span[0] < last)
            for note in notes
        )
        if (is_remarked or not covers) and is_long_program(program):
            python_calls.refuse_long_program(source, first)


def _refuse_traces(texts: Sequence[str], limits: Limits) -> None:
    """Blocks that are spans of several traces are no plan together, whatever stands between them."""
    if any(sign in text for text in texts for sign in QUOTED_SPAN_KEYS):
        refuse_several_runs([value for text in texts for value in loads_if_json(text, limits) or ()])


def _build_empty_plan(
    dialect: str, why: str, answer: Arguments | None = None, notes: Iterable[Diagnostic] = ()
) -> RecognisedPlan:
    """A text that calls no tool, and why."""
    return RecognisedPlan(dialect, RawPlan((), answer, (*notes, no_call_remark(why)), why))


def _refuse_unfinished_call(search: Search, text: str, start: int, notes: Iterable[Diagnostic]) -> None:
    """Refuse a text that ends in a call after `start`; `notes` are of words passed over."""
    source = search.reader.source
    if any(
        n.code == "find.code" or (n.span and n.span[1] == len(source))
        for n in (*search.notes, *search.reader.notes, *notes)
    ):
        return
    call_start = find_unfinished_call(text or source, start)
    if call_start is not None:
        raise CutError("inside a call", text=source, start=call_start)


def _last_call_end(read: ReadCalls) -> int:
    """Where the last call of what was read ends."""
    spans = [call.span for call in read.raw.calls]
    ends = [span[1] for span in spans if span is not None]
    return max(ends) if ends and len(ends) == len(spans) else read.span[1]


# ---------------------------------------------------------------- in a dialect that the user named
def find_in_dialect(dialect: Dialect, source: str, limits: Limits, *, repair: bool) -> RawPlan | None:
    """The calls of the blocks of a text that read in one dialect; None where no block does."""

    def read(text: str) -> RawPlan | None:
        return _find_in_dialect(dialect, text, source, limits, repair=repair)

    settled_text = read_embedded_tags(
        source, tags(source), lambda text: RecognisedPlan(dialect.name, read(text) or RawPlan(()))
    )
    return read(source) if settled_text is None else settled_text.plan.raw


def _find_in_dialect(
    dialect: Dialect, text: str, source: str, limits: Limits, *, repair: bool
) -> RawPlan | None:
    """The same, where signs may stand for tags in the text of a source."""
    search = _new_search(source, limits, repair=repair)
    answer = blank_non_answer_text(text)
    text = answer.text
    search.notes += answer.notes
    if dialect.name == "appbench":
        requoted_read = repair_appbench_lines(text, search) if repair else None
        if requoted_read is not None:
            return _build_plan(search, [requoted_read]).raw
        lines = find_appbench_runs(text, search)
        return _build_plan(search, lines[0]).raw if lines else None
    calls: list[RawCall] = []
    notes: list[Diagnostic] = [*search.notes]
    blocks = [block.view.strip() for block in split_blocks(TextView(text)) if block.fenced]
    _refuse_traces([view.text for view in blocks], limits)
    variables = Variables()
    for view in blocks or [TextView(text).strip()]:
        read = (
            python_calls.block_reader(variables, len(calls))
            if dialect.name in PYTHON_DIALECTS
            else dialect.read
        )
        raw = _read_in_dialect(read, view, limits, repair=repair)
        if raw is None and dialect.name in PYTHON_DIALECTS:
            _refuse_program(read, view, source, limits)
        if raw is not None and raw.calls:
            calls += shift_names(raw.calls, len(calls)) if calls else raw.calls
            notes += raw.notes
    return RawPlan(tuple(variables.connected(calls)), None, tuple(notes)) if calls else None


def _refuse_program(
    read: Callable[[str, Limits], RawPlan], view: TextView, source: str, limits: Limits
) -> None:
    """Refuse a block that is Python, and was not read: it calls tools, which may not be left out."""
    if isinstance(parse_syntax(view.text), ast.Module):
        try:
            read(view.text, limits)
        except ParseError as error:
            raise ParseError(error.reason, text=source, offset=view.origin(error.offset)) from None


def _read_in_dialect(
    read: Callable[[str, Limits], RawPlan], view: TextView, limits: Limits, *, repair: bool
) -> RawPlan | None:
    for candidate, notes in chain([RepairedText(view, ())], repairs(view) if repair else ()):
        with suppress(ParseError):
            raw = candidate.place(read(candidate.text, limits))
            return raw._replace(notes=(*raw.notes, *notes))
    return None
