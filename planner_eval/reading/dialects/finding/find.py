"""Finding the plan in a model's text: thoughts, chat tokens, later turns, fences, prose around it.

What is no plan is blanked, not cut, so that places stay those of the user's text. The order is: a text
that is JSON as a whole; tokens of a known notation; notations known by their shape; then fences and
lines that hold calls, one block after another. A text in which nothing calls a tool is the answer
"no call", and no error; a block that begins like a plan and cannot be read is an error with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from planner_eval.base.errors import LimitError, ParseError, strip_traceback
from planner_eval.base.json_text import JSON_WHITESPACE, loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span
from planner_eval.base.text import INVISIBLE, lazy_pattern, shorten
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.prompts import blank_other_turns, headings
from planner_eval.reading.dialects.conversations.spans import QUOTED_SPAN_KEYS, refuse_several_runs
from planner_eval.reading.dialects.conversations.turns import ProseReader
from planner_eval.reading.dialects.detect import may_hold_call
from planner_eval.reading.dialects.dialect import Dialect, RecognisedPlan
from planner_eval.reading.dialects.finding.blocks import LazyParseError
from planner_eval.reading.dialects.finding.edited_text import TextView, extent
from planner_eval.reading.dialects.finding.embedded_tokens import EmbeddedTagReading, read_embedded_tags, tags
from planner_eval.reading.dialects.finding.fences_and_lines import LINE_MARKERS, BlockReader
from planner_eval.reading.dialects.finding.searches import (
    Search,
    find_appbench_runs,
    repair_appbench_lines,
    search_text,
)
from planner_eval.reading.dialects.finding.segments import (
    NAME,
    PYTHON_DIALECTS,
    TYPE,
    ReadCalls,
    blank,
    is_denied,
    segment_starts,
    split_blocks,
)
from planner_eval.reading.dialects.finding.unread_calls import (
    CutError,
    find_call_opening,
    find_unfinished_call,
    find_unread_call,
    keep_calls_before_cut,
    texts_before_cut,
)
from planner_eval.reading.dialects.programs import python_calls
from planner_eval.reading.dialects.programs.program import Variables, connect_calls, shift_names
from planner_eval.reading.dialects.programs.values import BUILTINS, DISPLAY_FUNCTIONS, SELF_NAMES
from planner_eval.reading.dialects.repairs import repairs

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
    text = _blank_non_answer_text(source, search)
    return _build_found_plan(search, search_text(text, search), text)


def _read_embedded_tags(source: str, reader: BlockReader) -> EmbeddedTagReading | None:
    """What a text says where values of its calls hold what is a thought or a token elsewhere."""

    def read(text: str) -> tuple[RawPlan, FoundPlan]:
        fresh_reader = BlockReader(
            source, reader.limits, reader.words, repair=reader.repair, located=reader.located
        )
        search = Search(fresh_reader)
        searched_text = _blank_non_answer_text(text, search)
        result = _build_found_plan(search, search_text(searched_text, search), searched_text)
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
    if "</think>" in text and "<think>" not in text:
        text = text[text.index("</think>") + 8 :]
    return THOUGHT.sub("", text)


def _blank_non_answer_text(source: str, search: Search) -> str:
    """The text with thoughts, chat tokens and others' turns as white space of the same length."""
    source, notes = blank_other_turns(source)
    search.notes += notes
    text = _blank_invisible(_remove_latex_box(source))
    tagged = "<" in text
    if tagged and "</think>" in text and "<think>" not in text:  # the prompt opened the thought
        end = text.index("</think>") + 8
        text = blank(text[:end]) + text[end:]
        search.notes.append(Diagnostic("find.thought", "reasoning was ignored", "info", None, None, (0, end)))
    thoughts = list(THOUGHT.finditer(text)) if tagged or "[T" in text or "[t" in text else []
    for match in thoughts:
        message = f"{match.end() - match.start():,} characters of reasoning were ignored"
        search.notes.append(Diagnostic("find.thought", message, "info", None, None, match.span()))
        if match.end() == len(text) and not _THOUGHT_END.search(match.group()):
            search.unclosed = match.start()
    if thoughts:
        text = THOUGHT.sub(lambda m: blank(m.group()), text)
    headed = any(map(text.__contains__, _HEADING_STARTS))
    if headed and "|>" in text:
        text = _END_BEFORE_HEADING.sub(lambda m: " " * (len(m.group()) - 1) + "\n", text)
    if tagged and any(map(text.__contains__, _TURN_TOKENS)):
        text = _keep_first_turn(text, TURN, search)
    elif headed:
        text = _keep_first_turn(text, HEADING, search)
    if not tagged and "INST]" not in text and "\x1b" not in text:
        return text
    return TOKEN.sub(lambda m: blank(m.group()), text)


def _blank_invisible(text: str) -> str:
    """The text with blanks for what has no width at the start of a line: nobody sees it there."""
    if text.isascii() or not any(map(text.__contains__, INVISIBLE)):
        return text
    return _INVISIBLE_START.sub(lambda m: " " * len(m.group()), text)


def _keep_first_turn(text: str, begins: re.Pattern[str], search: Search) -> str:
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
        search.notes.append(Diagnostic("find.turn", message, "info", None, None, span))
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
        calls = connect_calls(calls, segment_starts(read, search.unnumbered), search.again)
    names = list(dict.fromkeys(item.dialect for item in read))
    if len(names) > 1 and PYTHON_DIALECTS.issuperset(names):
        names = ["code"]  # an assignment makes calls a program; blocks without any are of it
    if len(names) > 1:
        message = f"the blocks are in several notations: {', '.join(names)}"
        notes.append(Diagnostic("dialect.mixed", message, "info"))
    notes += _note_ignored_text(reader, read, [note.span for note in notes if note.span])
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


def _note_ignored_text(reader: BlockReader, read: list[ReadCalls], noted: list[Span]) -> Iterator[Diagnostic]:
    """A note on the text that is outside of all blocks; `noted` are the spans of other notes."""
    source = reader.source
    inside: list[Span] = sorted(item.span for item in read)
    python = all(item.dialect in PYTHON_DIALECTS for item in read)
    offset = total = 0
    first: Span | None = None
    unread_span: Span | None = None
    for start, end in [*inside, (len(source), len(source))]:
        gap = source[offset:start].strip(" \t\r\n`;,.") if start > offset else ""
        if gap and python and len(gap) <= _MAX_MARKER_LENGTH:
            gap = LINE_MARKERS.sub("", source[offset:start]).strip(" \t\r\n`;,.*>" + INVISIBLE)
        if gap and not re.fullmatch(r"```?\w*|[\w+#.\-]{1,12}", gap):
            total += len(gap)
            first = first or (offset, start)
            if unread_span is None and source.find("=", offset, start) >= 0:
                unread_span = _find_unread_assignment(reader, offset, start, noted)
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


_MAX_MARKER_LENGTH = 40
"""Characters that the markers of two lines have at most, with what ends the line before them."""
_MAX_NOTED_SPANS = 100
"""Places of other notes that are looked at: for each of many they would take quadratic time."""
_ASSIGNED_CALL = lazy_pattern(rf"=[ \t]*+(?:await[ \t]++)?+(?P<tool>{NAME})\([^\n]*+")
_ASSIGNED_VARIABLE = lazy_pattern(rf"(?<![\w.=!<>\[\](,])([^\W\d]\w*+)(?:\s*+:\s*+{TYPE})?+[ \t]*+\Z")


def _find_unread_assignment(reader: BlockReader, start: int, end: int, noted: list[Span]) -> Span | None:
    """Where in [start, end) of a text something looks as if it named a tool's result, and was not read."""
    source = reader.source
    for match in _ASSIGNED_CALL.finditer(source, start, end):
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
    text = _blank_non_answer_text(text, search)
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
