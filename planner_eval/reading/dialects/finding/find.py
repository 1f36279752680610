"""Finding the plan in a model's text: thoughts, chat tokens, later turns, fences, prose around it.

What is no plan is blanked, not cut, so that places stay those of the user's text. The order is: a text
that is JSON as a whole; tokens of a known notation; notations known by their shape; then fences and
lines that hold calls, one block after another. A text in which nothing calls a tool is the answer
"no call", and no error; a block that begins like a plan and cannot be read is an error with its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.json_text import JSON_WHITESPACE, loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span, check_calls
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import INVISIBLE, lazy_pattern, shorten
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import CALL_LIST_KEYS, CONTAINER_KEYS, calls_no_tool
from planner_eval.reading.dialects.conversations.prompts import (
    blank_observations,
    blank_other_turns,
    headings,
)
from planner_eval.reading.dialects.conversations.spans import QUOTED_SPAN_KEYS, refuse_several_runs
from planner_eval.reading.dialects.conversations.turns import ProseReader
from planner_eval.reading.dialects.detect import find_rows_by_sign, find_rows_by_token, may_hold_call
from planner_eval.reading.dialects.dialect import Dialect, RecognisedPlan
from planner_eval.reading.dialects.finding.blocks import LINE_MARKERS, BlockReader, LazyParseError
from planner_eval.reading.dialects.finding.edited_text import TextView, extent
from planner_eval.reading.dialects.finding.embedded_tokens import EmbeddedTagReading, read_embedded_tags, tags
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    PYTHON_DIALECTS,
    TYPE,
    Block,
    NoCalls,
    ReadCalls,
    blank,
    blank_spans,
    call_signatures,
    call_spans,
    find_repeats,
    is_denied,
    locate_error_in_source,
    own_names,
    repeated_calls_note,
    segment_starts,
    span_of,
    split_blocks,
)
from planner_eval.reading.dialects.finding.unread_calls import (
    CutError,
    find_call_opening,
    find_cut_token_call,
    find_lost_call,
    find_unfinished_call,
    find_unread_call,
    is_mention,
    keep_calls_before_cut,
    texts_before_cut,
)
from planner_eval.reading.dialects.notations import appbench_prose
from planner_eval.reading.dialects.notations.appbench_terms import is_start
from planner_eval.reading.dialects.notations.framed import token_pattern
from planner_eval.reading.dialects.programs import python_calls
from planner_eval.reading.dialects.programs.program import Variables, connect_calls, shift_names
from planner_eval.reading.dialects.programs.values import BUILTINS, DISPLAY_FUNCTIONS, SELF_NAMES
from planner_eval.reading.dialects.repairs import repair_appbench_quotes, repairs
from planner_eval.reading.dialects.table import Wrapper

THOUGHT = lazy_pattern(
    r"<(think|thinking|thought|reasoning|scratchpad)>(?:[^<]++|<(?!/\1>))*+(?:</\1>|\Z)"
    r"|<\|thought_start\|>(?:[^<]++|<(?!\|thought_end\|>))*+(?:<\|thought_end\|>|\Z)"
    r"|\[THINK\](?:[^\[]++|\[(?!/THINK\]))*+(?:\[/THINK\]|\Z)"
    r"|<\|channel\|>analysis<\|message\|>(?:[^<]++|<(?!\|(?:end|start|channel)\|>))*+",
    re.I,
)
"""A model's thoughts; one that is never closed goes on to the end."""

_ALTERNATIVE_SEPARATOR = lazy_pattern(
    r"[\s`,;]*+\bor\b[\s:]*+(?:```\w*\s*+|`)?+(?=[\[{]|[^\W\d][\w.]*+\()", re.I
)
"""What stands between two plans of which one is meant."""

_THOUGHT_END = lazy_pattern(r"(?:</\w++>|thought_end\|>|\[/THINK\])\Z", re.I)

TOKEN = lazy_pattern(
    r"<\|(?:im_start|im_end|im_sep|endoftext|eot_id|eom_id|begin_of_text|end_of_text|"
    r"start_header_id|end_header_id|end)\|>"
    r"|<(?<![\w'\"]<)/?s>(?![\w'\"])|<pad>|<bos>|<eos>|<end_of_turn>|<start_of_turn>(?:model\n)?|\[/?INST\]|\x1b(?<![\w'\"]\x1b)\[[\d;]*+m|<｜(?:begin|end)▁of▁sentence｜>"
)
"""Chat tokens and a terminal's colours, which mean nothing for the plan. Each branch begins with a letter,
so that a search runs over prose at the speed of a set."""

_HEADING = (
    r"(?m:^)(?:[ \t]*+###\s*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b\s*+:?"
    r"|(?:Human|User|USER)\s*+:\s)"
)
HEADING = lazy_pattern(_HEADING)
"""Where another turn begins in a text without chat tokens, in which a look for them is five times as dear."""
TURN = lazy_pattern(
    r"(?=[ \t#<uastHU])"  # at most places nothing more is asked
    rf"(?:{_HEADING}"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|assistant|tool|ipython|model)\b"
    r"|(?<![\w|])(?:user|assistant|system|tool)<\|end_header_id\|>)"
)
"""Where another turn begins; at the very start of a text it is the header of the first."""

_END_BEFORE_HEADING = lazy_pattern(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|end)\|>[ \t]*+(?=(?:###|(?:Human|User|USER)\s*+:))"
)
"""A token that ends an answer where another turn's heading follows: what follows is on a line of its own."""

_TURN_TOKENS = ("<|im_start|>", "_header_id|>", "<start_of_turn>")
_HEADING_STARTS = ("###", "Human", "User", "USER")
"""What stands wherever these find something: a look for it is cheap."""


@dataclass(slots=True)
class FoundPlan:
    """What was found in a text.

    Args:
        dialect: The notation taken.
        raw: The calls, placed in the text.
        reason: Why this notation was taken.
    """

    dialect: str
    raw: RawPlan
    reason: str


def find_plan(
    source: str, limits: Limits, *, repair: bool = False, located: bool = False, broken: bool = False
) -> FoundPlan:
    r"""The plan in a text, whatever its notation and whatever stands around it.

    Args:
        source: The text.
        limits: Bounds on size and nesting.
        repair: Apply the repairs of :mod:`planner_eval.reading.dialects.repairs` where strict reading fails.
        located: Take the places of JSON calls too, which costs a reading by the grammar.
        broken: The text is known to be no JSON.

    Raises:
        ParseError: something begins like a plan and cannot be read.

    >>> found = find_plan("Sure! ```json\n[{\"name\": \"f\", \"arguments\": {}}]\n```", Limits())
    >>> found.dialect, [call.name for call in found.raw.calls]
    ('json', ['f'])
    """
    search = Search(
        BlockReader(source, limits, _prose_reader(limits, repair=repair), repair=repair, located=located)
    )
    if broken:
        search.reader.broken = source.strip(JSON_WHITESPACE)
    try:
        return _find_plan(source, search)
    except CutError as error:
        if repair:
            for text in texts_before_cut(error):
                retry = Search(BlockReader(text, limits, search.reader.words, repair=True, located=located))
                with suppress(ParseError):
                    result = _find_plan(text, retry)
                    if result.raw.calls:
                        return replace(result, raw=keep_calls_before_cut(result.raw, error.text, len(text)))
        error.beyond_repair = False
        raise
    except ParseError as error:
        raise _refusal(error, search.reader) from None


def _refusal(error: ParseError, reader: BlockReader) -> ParseError:
    """Why a text is refused, and whether it is with repairs too."""
    refusal = error
    if isinstance(error, LazyParseError):
        refusal = strip_traceback(error).told
        del error.told  # it becomes the context of what it would hold
    refusal.beyond_repair = not reader.parts
    return refusal


def _find_plan(source: str, search: Search) -> FoundPlan:
    if not may_hold_call(source):
        return _build_empty_plan("json", "the text calls no tool", None, _note_unread_calls(source))
    start = source[: len(source) - len(source.lstrip()) + 1][-1:]
    if start in ("[", "{", '"'):
        json_read = _read_whole_json(TextView(source).strip(), search.reader)
        if json_read is not None:
            return _build_found_plan(search, [json_read])
    settled_text = _read_embedded_tags(source, search.reader)
    if settled_text is not None:
        result: FoundPlan = settled_text.beside
        return replace(result, raw=settled_text.raw)
    return _find_in_answer(source, search)


def _find_in_answer(source: str, search: Search) -> FoundPlan:
    """The plan in what of a text is the answer; where nothing else is one, the lists of calls in sentences."""
    answer = blank_non_answer_text(source)
    search.notes += answer.notes
    search.unclosed = answer.unclosed
    read = search_text(answer.text, search) or list(_read_lists_in_sentences(answer.text, search))
    return _build_found_plan(search, read, answer.text)


def _read_embedded_tags(source: str, reader: BlockReader) -> EmbeddedTagReading | None:
    """What a text says where values of its calls hold what is a thought or a token elsewhere."""

    def read(text: str) -> tuple[RawPlan, FoundPlan]:
        fresh_reader = BlockReader(
            source, reader.limits, reader.words, repair=reader.repair, located=reader.located
        )
        result = _find_in_answer(text, Search(fresh_reader))
        return result.raw, result

    return read_embedded_tags(source, tags(source), read)


def _read_whole_json(view: TextView, reader: BlockReader) -> ReadCalls | None:
    """A text that is JSON from end to end; what its texts hold is mended where that is wanted."""
    try:
        return reader.json(view, required=True)
    except LimitError:
        raise
    except ParseError as error:
        if not reader.repair:
            reader.parts = True
            raise
        refused = strip_traceback(error)
    repaired = reader.mended(view, strictly=True, refused=refused)
    return repaired if isinstance(repaired, ReadCalls) else None


def _prose_reader(limits: Limits, *, repair: bool) -> ProseReader:
    """Reads what an assistant says in a conversation."""

    def read(text: str) -> RecognisedPlan:
        result = find_plan(text, limits, repair=repair)
        return RecognisedPlan(result.dialect, result.raw)

    return read


def strip_thoughts(text: str) -> str:
    """An answer without what the model thought before it; what values of its calls hold is no thought.

    >>> strip_thoughts("<think>f(a=1)?</think>f(a=2)"), strip_thoughts("f(a=1)?</think>f(a=2)")
    ('f(a=2)', 'f(a=2)')
    >>> strip_thoughts("I see.</think>f(a='<think>')"), strip_thoughts("f(a='</think>')")
    ("f(a='<think>')", "f(a='</think>')")
    """
    if "<" not in text and "[T" not in text and "[t" not in text:  # as most: no thought begins without
        return text
    settled_text = _read_embedded_tags(
        text,
        BlockReader(
            text, DEFAULT_LIMITS, _prose_reader(DEFAULT_LIMITS, repair=False), repair=False, located=False
        ),
    )
    return (
        _strip_thoughts(text)
        if settled_text is None
        else settled_text.signs.whole(_strip_thoughts(settled_text.signs.text))
    )


def _strip_thoughts(text: str) -> str:
    if _CLOSED_THOUGHT in text and "<think>" not in text:
        text = text[text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT) :]
    return THOUGHT.sub("", text)


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


def blank_non_answer_text(source: str) -> AnswerText:
    """What of a text is the answer itself."""
    source, turn_notes = blank_other_turns(source)
    notes, unclosed = [*turn_notes], None
    text = _blank_invisible(_remove_latex_box(source))
    tagged = "<" in text
    if tagged and _CLOSED_THOUGHT in text and "<think>" not in text:  # the prompt opened the thought
        end = text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT)
        text = blank(text[:end]) + text[end:]
        notes.append(Diagnostic("find.thought", "reasoning was ignored", "info", None, None, (0, end)))
    thoughts = list(THOUGHT.finditer(text)) if tagged or "[T" in text or "[t" in text else []
    for match in thoughts:
        message = f"{match.end() - match.start():,} characters of reasoning were ignored"
        notes.append(Diagnostic("find.thought", message, "info", None, None, match.span()))
        if match.end() == len(text) and not _THOUGHT_END.search(match.group()):
            unclosed = match.start()
    if thoughts:
        text = THOUGHT.sub(_blank_match, text)
    headed = any(map(text.__contains__, _HEADING_STARTS))
    if headed and "|>" in text:
        text = _END_BEFORE_HEADING.sub(lambda m: " " * (len(m.group()) - 1) + "\n", text)
    if tagged and any(map(text.__contains__, _TURN_TOKENS)):
        text = _keep_first_turn(text, TURN, notes)
    elif headed:
        text = _keep_first_turn(text, HEADING, notes)
    if tagged or "INST]" in text or "\x1b" in text:
        text = TOKEN.sub(_blank_match, text)
    return AnswerText(text, notes, unclosed)


def _blank_match(match: re.Match[str]) -> str:
    return blank(match.group())


def _blank_invisible(text: str) -> str:
    """The text with blanks for what has no width at the start of a line: nobody sees it there."""
    if text.isascii() or not any(map(text.__contains__, INVISIBLE)):
        return text
    return _INVISIBLE_START.sub(lambda m: " " * len(m.group()), text)


def _keep_first_turn(text: str, begins: re.Pattern[str], notes: list[Diagnostic]) -> str:
    """The text without other turns after it, and without headers."""
    turns = list(headings(begins, text))
    if not turns:
        return text
    text_start = _find_answer_start(text)
    later = (m for m in turns if m.start() > text_start)
    turn = next((m for m in later if TOKEN.sub("", text[: m.start()]).strip()), None)
    if turn is not None:
        message = f"the turn after {turn.group().strip()[:30]!r} was ignored"
        span = (turn.start(), len(text))
        notes.append(Diagnostic("find.turn", message, "info", None, None, span))
        text = text[: turn.start()]
        turns = turns[: turns.index(turn)]
    pieces, offset = [], 0
    for match in turns:
        if match.group()[0] in "<ua":
            pieces += [text[offset : match.start()], blank(match.group())]
            offset = match.end()
    return "".join([*pieces, text[offset:]])


def _find_answer_start(text: str) -> int:
    """The place of the first character that is no white space and of no chat token."""
    offset = 0
    for match in TOKEN.finditer(text):
        if not text[offset : match.start()].isspace() and match.start() > offset:
            break
        offset = match.end()
    return len(text) - len(text[offset:].lstrip())


_INVISIBLE_START = lazy_pattern(rf"(?m)^[ \t]*+[{INVISIBLE}][ \t{INVISIBLE}]*+")
_LATEX_BOX = lazy_pattern(
    r"(?m)^(?:[^\n\"\[({\\]|\\[(\[])*+(?P<mark>\\{1,2}boxed\s*+\{(?:\s*+\\{1,2}(?:text\w*+|mathtt|mathrm)\s*+\{)?+)"
)
"""An answer in LaTeX's box; what stands before it on its line is words, so that it is no argument's text."""


def _remove_latex_box(text: str) -> str:
    r"""The text without the box around an answer, `$\boxed{[f(a=1)]}$`, which has a line of its own then."""
    for match in islice(_LATEX_BOX.finditer(text), 20) if "boxed" in text else ():
        start, inside = match.start("mark"), match.end()
        ends = [extent(text, i) for i in range(start, inside) if text[i] == "{"]
        if all(piece.closed for piece in ends) and may_hold_call(text[inside : ends[-1].end - 1]):
            text = text[:start] + "\n" + blank(text[start + 1 : inside]) + text[inside:]
            for piece in ends:
                text = text[: piece.end - 1] + "\n" + text[piece.end :]
    return text


# ---------------------------------------------------------------- the result
def _build_found_plan(search: Search, read: list[ReadCalls], text: str = "") -> FoundPlan:
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
            notes.append(Diagnostic("find.hypothetical", message, "warning", len(calls), None, item.span))
        other = _ALTERNATIVE_SEPARATOR.match(reader.source, item.span[1])
        if other is not None:
            message = "calls are joined by 'or': it is unclear which are meant"
            notes.append(Diagnostic("find.alternative", message, "warning", None, None, other.span()))
        calls += shift_names(item.raw.calls, len(calls)) if calls else item.raw.calls
    answer = next((item.raw.answer for item in read if item.raw.answer is not None), None)
    notes += reader.notes
    if not calls:
        if reader.error is not None:
            raise reader.error
        _refuse_opening(search)
        _refuse_unfinished_call(search, 0, (), called=False)
        reason = reader.why or "the text calls no tool"
        unread_span = (
            None
            if read
            else _find_unread_assignment(reader, 0, len(reader.source), [n.span for n in notes if n.span])
        )
        if unread_span is not None:
            message = (
                f"what looks like a call was not read: {shorten(reader.source[slice(*unread_span)], 60)!r}"
            )
            notes.append(Diagnostic("find.text", message, "warning", None, None, unread_span))
        elif not read:
            notes += _note_unread_calls(text, reader.defined)
        return _build_empty_plan(read[0].dialect if read else "json", reason, answer, notes)
    ignored = [note for note in notes if note.code == "find.text"]
    _refuse_unfinished_call(search, max(map(_last_call_end, read)), ignored, called=True)
    if reader.held:  # a piece was read after one that names results
        calls = connect_calls(calls, segment_starts(read, search.repeats.unnumbered), search.repeats.again)
    names = list(dict.fromkeys(item.dialect for item in read))
    if len(names) > 1 and PYTHON_DIALECTS.issuperset(names):
        names = ["code"]  # an assignment makes calls a program; blocks without any are of it
    if len(names) > 1:
        message = f"the blocks are in several notations: {', '.join(names)}"
        notes.append(Diagnostic("dialect.mixed", message, "info"))
    notes += _note_ignored_text(reader, read, [note for note in notes if note.span])
    return FoundPlan(names[0], RawPlan(tuple(calls), answer, tuple(notes)), read[0].reason)


def _refuse_traces(texts: Sequence[str], limits: Limits) -> None:
    """Blocks that are spans of several traces are no plan together, whatever stands between them."""
    if any(sign in text for text in texts for sign in QUOTED_SPAN_KEYS):
        refuse_several_runs([value for text in texts for value in loads_if_json(text, limits) or ()])


def _build_empty_plan(
    dialect: str, why: str, answer: Arguments | None = None, notes: Iterable[Diagnostic] = ()
) -> FoundPlan:
    """A text that calls no tool, and why."""
    note = Diagnostic("plan.no_call", f"no call: {why}", "info")
    return FoundPlan(dialect, RawPlan((), answer, (*notes, note)), why)


def _note_unread_calls(text: str, defined: Set[str] = frozenset()) -> list[Diagnostic]:
    """A note on what looks like a call in a text of which none was read."""
    span = find_unread_call(text, defined)
    if span is None:
        return []
    message = f"this may be an unread call: {shorten(text[slice(*span)], 60)!r}"
    return [Diagnostic("find.unread", message, "warning", None, None, span)]


def _refuse_opening(search: Search) -> None:
    """Refuse a text without calls that ends in a thought, or right after what opens a call."""
    source = search.reader.source
    if search.unclosed is not None:
        raise CutError("inside a thought", text=source, start=search.unclosed)
    opened = find_call_opening(source)
    if opened is not None:
        raise CutError(opened[1], text=source, start=opened[0])


def _refuse_unfinished_call(search: Search, start: int, notes: Iterable[Diagnostic], *, called: bool) -> None:
    """Refuse a text that ends in a call of which nothing was read; `notes` are of words passed over."""
    source = search.reader.source
    if any(
        n.code == "find.code" or (n.span and n.span[1] == len(source))
        for n in (*search.notes, *search.reader.notes, *notes)
    ):
        return
    call_start = find_unfinished_call(source, start, called=called)
    if call_start is not None:
        raise CutError("inside a call", text=source, start=call_start)


def _last_call_end(read: ReadCalls) -> int:
    """Where the last call of what was read ends."""
    spans = [call.span for call in read.raw.calls]
    ends = [span[1] for span in spans if span is not None]
    return max(ends) if ends and len(ends) == len(spans) else read.span[1]


def _note_ignored_text(
    reader: BlockReader, read: list[ReadCalls], notes: list[Diagnostic]
) -> Iterator[Diagnostic]:
    """A note on the text outside of all blocks, and of what `notes` with their places say already."""
    source = reader.source
    noted = [note.span for note in notes if note.span]
    told = [note.span for note in notes if note.span and note.code in _IGNORED_CODES]
    inside: list[Span] = sorted([*told, *(place for item in read for place in item.places())])
    python = all(item.dialect in PYTHON_DIALECTS for item in read)
    offset = total = 0
    first: Span | None = None
    unread_span: Span | None = None
    for start, end in [*inside, (len(source), len(source))]:
        gap = source[offset:start].strip(" \t\r\n`;,.") if start > offset else ""
        if gap and python and len(gap) <= _MAX_MARKER_LENGTH:
            gap = LINE_MARKERS.sub("", source[offset:start]).strip(" \t\r\n`;,.*>" + INVISIBLE)
        if gap and not _NO_WORDS.fullmatch(gap):
            total += len(gap)
            first = first or (offset, start)
            if unread_span is None:
                unread_span = _find_unread_assignment(reader, offset, start, noted)
                is_noted = any(offset <= span[0] < start for span in noted[:_MAX_NOTED_SPANS])
                if unread_span is None and not is_noted:
                    unread_span = find_lost_call(source, offset, start, reader.defined)
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
"""Places of other notes that are looked at: for each of many they would take quadratic time."""
_ASSIGNED_CALL = lazy_pattern(rf"=[ \t]*+(?:await[ \t]++)?+(?P<tool>{NAME})\([^\n]*+")
_ASSIGNED_VARIABLE = lazy_pattern(rf"(?<![\w.=!<>\[\](,])([^\W\d]\w*+)(?:\s*+:\s*+{TYPE})?+[ \t]*+\Z")


def _find_unread_assignment(reader: BlockReader, start: int, end: int, noted: list[Span]) -> Span | None:
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


# ---------------------------------------------------------------- in a dialect that the user named
def find_in_dialect(dialect: Dialect, source: str, limits: Limits, *, repair: bool) -> RawPlan | None:
    """The calls of the blocks of a text that read in one dialect; None where no block does."""

    def read(text: str) -> tuple[RawPlan, None]:
        raw = _find_in_dialect(dialect, text, source, limits, repair=repair)
        return raw or RawPlan(()), None

    settled_text = read_embedded_tags(source, tags(source), read)
    return (
        _find_in_dialect(dialect, source, source, limits, repair=repair)
        if settled_text is None
        else settled_text.raw
    )


def _find_in_dialect(
    dialect: Dialect, text: str, source: str, limits: Limits, *, repair: bool
) -> RawPlan | None:
    """The same, where signs may stand for tags in the text of a source."""
    search = Search(
        BlockReader(source, limits, _prose_reader(limits, repair=repair), repair=repair, located=False)
    )
    answer = blank_non_answer_text(text)
    text = answer.text
    search.notes += answer.notes
    if dialect.name == "appbench":
        requoted_read = repair_appbench_lines(text, search) if repair else None
        if requoted_read is not None:
            return _build_found_plan(search, [requoted_read]).raw
        lines = find_appbench_runs(text, search)
        return _build_found_plan(search, lines[0]).raw if lines else None
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
        if raw is not None and raw.calls:
            calls += shift_names(raw.calls, len(calls)) if calls else raw.calls
            notes += raw.notes
    return RawPlan(tuple(variables.connected(calls)), None, tuple(notes)) if calls else None


def _read_in_dialect(
    read: Callable[[str, Limits], RawPlan], view: TextView, limits: Limits, *, repair: bool
) -> RawPlan | None:
    try:
        return view.place(read(view.text, limits))
    except ParseError:
        if not repair:
            return None
    for repaired, notes in repairs(view):
        try:
            raw = read(repaired.text, limits)
        except ParseError:
            continue
        placed_raw = repaired.place(raw)
        return RawPlan(placed_raw.calls, placed_raw.answer, (*placed_raw.notes, *notes))
    return None


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


class Search:
    """The state of one search: its reader, what it remarks, which calls it has read."""

    def __init__(self, reader: BlockReader) -> None:
        self.reader = reader
        self.repeats = Repeats(reader.next_number)
        self.notes = self.repeats.notes
        self.unclosed: int | None = None


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
        return call_spans(self.row, text, self.read.raw) if self.places is None else self.places


def _read_with_remainder(text: str, good: list[_RowReading], search: Search) -> list[ReadCalls]:
    """What the first row read, and what else the text calls beside it.

    Raises:
        ParseError: something beside it begins like a plan and cannot be read.
    """
    first, extents = good[0].read, good[0].extents(text)
    own = set(call_signatures(first.raw)) if len(good) > 1 else None
    for other in good[1:]:
        if set(call_signatures(other.read.raw)) != own and _may_overlap(
            extents, other.extents(text)
        ):
            chosen = first.dialect
            message = f"the text also reads as {other.read.dialect!r}, with other calls; {chosen!r} was used"
            search.notes.append(Diagnostic("dialect.ambiguous", message))
            break
    if not extents:
        return [first]
    first = replace(first, span=(extents[0][0], extents[-1][1]), extents=tuple(extents))
    left = blank_spans(text, extents)
    if not may_hold_call(left):
        return [first]
    repeats = search.repeats
    first = repeats.numbered(first)
    own = repeats.sign(first)
    other_reads = [
        item for item in search_text(left, search) if not set(call_signatures(item.raw, repeats.signed)) <= own
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
            raise search.reader.cut(TextView(text).strip(), error) from None
        if raw.calls:
            return [ReadCalls(row.name, raw, row.known, (start, len(text)))]
    return None


# ---------------------------------------------------------------- lists in sentences
_LIST_IN_SENTENCE = lazy_pattern(rf"\s[`\"'*(]{{0,3}}+(?P<list>\[)(?={NAME}\(\s*+(?:\)|\w++\s*+=(?!=)))")


def _read_lists_in_sentences(text: str, search: Search) -> Iterator[ReadCalls]:
    """The lists of calls that stand in sentences, as in `The answer is [f(a=1)]`."""
    reader, end = search.reader, 0
    if reader.error is not None:
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
            search.notes.append(Diagnostic("find.text", message, "warning", None, None, span))
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
    mending = BlockReader(reader.source, reader.limits, reader.words, repair=True, located=False)
    mending.defined = reader.defined  # which has by now what the block defines
    with suppress(ParseError):
        return not mending.block(block)
    return True


@dataclass(slots=True)
class Repeats:
    """Which calls were read before: a model states its plan, and states it again.

    `seen` are the signatures of calls that were read; those of `unsigned` are missing there as yet. `signed`
    are those of all calls, by the names that later pieces have for them, and `first` is the name of the first
    call of a signature; `again` says which call the name of a repeated one means. `unnumbered` is the first
    block, where it has no number. `number` gives a number that no other piece has.
    """

    number: Callable[[], int]
    seen: set[str] = field(default_factory=set)
    unsigned: ReadCalls | None = None
    unnumbered: ReadCalls | None = None
    signed: dict[str, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)
    notes: list[Diagnostic] = field(default_factory=list)

    def drop(self, read: Iterable[ReadCalls], *, exactly: bool = False) -> list[ReadCalls]:
        """The blocks that do not only repeat calls; `exactly` requires all of those before repeated."""
        retained = []
        for candidate in read:
            if self.unsigned is None and not self.seen:
                self.unsigned = candidate  # in most texts it is all, which repeats nothing
                retained.append(candidate)
                continue
            if self.unsigned is not None:
                self.unnumbered = None if self.unsigned.pieces else self.unsigned
                self.sign(self.unsigned)
                self.unsigned = None
            item = self.numbered(candidate)
            own = call_signatures(item.raw, self.signed)
            if own and (set(own) == self.seen if exactly else set(own) <= self.seen):
                self.notes.append(repeated_calls_note(len(own), item.span))
                for name, text in _result_names(item, own):
                    self.signed[name] = f"{text}()"
                    self.again[name] = self.first[text]
                continue
            self.sign(item, own)
            retained.append(item)
        return retained

    def numbered(self, item: ReadCalls) -> ReadCalls:
        """A block with a number, by which calls that it repeats are found."""
        return item if item.pieces else replace(item, pieces=((self.number(), 0),))

    def sign(self, item: ReadCalls, own: list[str] | None = None) -> set[str]:
        """Keep the signatures of a block's calls, with the names that later blocks have for these calls."""
        own = call_signatures(item.raw, self.signed) if own is None else own
        for name, text in _result_names(item, own):
            self.signed[name] = f"{text}()"  # as a signature says it of a result as a whole
            self.first.setdefault(text, name)
        self.seen.update(own)
        return set(own)


def _result_names(item: ReadCalls, own: list[str]) -> Iterator[tuple[str, str]]:
    """The names by which later pieces refer to a block's calls, with the calls' signatures."""
    pieces = item.pieces or ((0, 0),)
    ends = [start for _, start in pieces[1:]] + [len(own)]
    for (piece, start), end in zip(pieces, ends, strict=True):
        for index in range(start, end):
            yield f"{index - start}@{piece}", own[index]


# ----------------------------------------------------------------------
# What an answer says itself: without thoughts and chat tokens, and whether that is a plan of no calls.
_CLOSED_THOUGHT = "</think>"
_JSON_ANSWER = lazy_pattern(r"\s*+(?:```\w*+)?\s*+([\[{].*[\]}])\s*+(?:```)?\s*+", re.S)


def blank_thoughts_and_tokens(text: str) -> str:
    r"""A text without thoughts and chat tokens; places stay.

    A thought that the prompt began, as chat templates do, ends at the first ``</think>``.

    Args:
        text: The text.

    >>> (
    ...     blank_thoughts_and_tokens("so be it\n</think>\nf()").split(),
    ...     blank_thoughts_and_tokens("<think>f(</think>g()<|im_end|>").split()
    ... )
    (['f()'], ['g()'])
    """
    if _CLOSED_THOUGHT in text and "<think>" not in text:
        end = text.index(_CLOSED_THOUGHT) + len(_CLOSED_THOUGHT)
        text = blank(text[:end]) + text[end:]
    return TOKEN.sub(_blank_match, THOUGHT.sub(_blank_match, text))


def is_empty_call_list(source: Any) -> bool:
    """Whether a text or data that calls nothing says so as a plan, by an empty list where calls would stand.

    A list of steps that all name no tool says so, too. Neither words say so, be they a message's, nor an
    empty object, nor null beside a message's words.

    Args:
        source: A text, or JSON data, that reads as a plan without calls.

    >>> (
    ...     is_empty_call_list("[]"), is_empty_call_list('"[]"'), is_empty_call_list({"tool_calls": []}),
    ...     is_empty_call_list("{}")
    ... )
    (True, True, True, False)
    >>> is_empty_call_list({"messages": [{"role": "assistant", "content": "It is sunny."}]})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "It is sunny.", "tool_calls": []})
    False
    >>> is_empty_call_list({"role": "assistant", "content": "", "tool_calls": []})
    True
    """
    if isinstance(source, str) and source.lstrip().startswith('"'):  # a plan's text as JSON
        try:
            text = json.loads(source)
        except ValueError:
            return False
        return isinstance(text, str) and is_empty_call_list(text)
    if isinstance(source, str):
        match = _JSON_ANSWER.fullmatch(blank_thoughts_and_tokens(source))
        try:
            source = None if match is None else json.loads(match[1])
        except (ValueError, RecursionError):
            return False
    if isinstance(source, list):
        if source and all(
            isinstance(step, dict) and "tool" in step and calls_no_tool(step) for step in source
        ):
            return True
        return not source or any(is_empty_call_list(item) for item in source if not isinstance(item, str))
    if not isinstance(source, dict):
        return False
    # Of a message only what lists calls says so: its annotations, images and the like may be empty, too.
    # Beside its words they say nothing, for many packages write them in any case.
    content = source.get("content")
    if content and not (isinstance(content, str) and (not content.strip() or is_empty_call_list(content))):
        keys: Iterable[str] = ()
    elif "role" in source or "content" in source:
        keys = CALL_LIST_KEYS
    else:
        keys = (key for key in source if key not in CONTAINER_KEYS)
    if any(source.get(key) == [] for key in keys):
        return True
    inside = (source[key] for key in CONTAINER_KEYS if isinstance(source.get(key), (dict, list)))
    return any(value and is_empty_call_list(value) for value in inside)
