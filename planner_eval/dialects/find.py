"""Finding the plan in a model's text: thoughts, chat tokens, later turns, fences, prose around it.

What is no plan is blanked, not cut, so that places stay those of the user's text. The order is: a text
that is JSON as a whole; tokens of a known notation; notations known by their shape; then fences and
lines that hold calls, one block after another. A text in which nothing calls a tool is the answer
"no call", and no error; a block that begins like a plan and cannot be read is an error with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from planner_eval import dialects
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import Limits, Span
from planner_eval.dialects import appbench_prose, own_code, restated
from planner_eval.dialects.appbench_terms import is_start
from planner_eval.dialects.cut import Cut, kept, opening, section, whole_calls
from planner_eval.dialects.denied import is_denied
from planner_eval.dialects.detect import may_call, signs_in, tokens_in
from planner_eval.dialects.dialect import Dialect
from planner_eval.dialects.lines import Reader
from planner_eval.dialects.pieces import Nothing, Read, placed, split
from planner_eval.dialects.program import shift_names
from planner_eval.dialects.repair import repairs
from planner_eval.dialects.table import Wrapper
from planner_eval.dialects.turns import Words
from planner_eval.dialects.views import View
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan

THOUGHT = re.compile(
    r"<(think|thinking|thought|reasoning|scratchpad)>(?:[^<]++|<(?!/\1>))*+(?:</\1>|\Z)"
    r"|<\|thought_start\|>(?:[^<]++|<(?!\|thought_end\|>))*+(?:<\|thought_end\|>|\Z)"
    r"|\[THINK\](?:[^\[]++|\[(?!/THINK\]))*+(?:\[/THINK\]|\Z)"
    r"|<\|channel\|>analysis<\|message\|>(?:[^<]++|<(?!\|(?:end|start|channel)\|>))*+",
    re.I,
)
"""A model's thoughts; one that is never closed goes on to the end."""

_CLOSED = re.compile(r"(?:</\w++>|thought_end\|>|\[/THINK\])\Z", re.I)

TOKEN = re.compile(
    r"<\|(?:im_start|im_end|im_sep|endoftext|eot_id|eom_id|begin_of_text|end_of_text|"
    r"start_header_id|end_header_id|end)\|>"
    r"|(?<![\w'\"])</?s>(?![\w'\"])|<pad>|<bos>|<eos>|<end_of_turn>|<start_of_turn>(?:model\n)?|\[/?INST\]|<｜(?:begin|end)▁of▁sentence｜>"
)
"""Chat tokens, which mean nothing for the plan."""

TURN = re.compile(
    r"(?:(?:^|(?<=\n))[ \t]*+###\s*+(?:Instruction|Response|Input|Human|Assistant|User|System)\b\s*+:?"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*+(?:system|user|assistant|tool|ipython|model)\b"
    r"|(?<![\w|])(?:user|assistant|system|tool)<\|end_header_id\|>"
    r"|(?:^|(?<=\n))(?:Human|User|USER)\s*+:\s)"
)
"""Where another turn begins; at the very start of a text it is the header of the first."""

_MARK = re.compile(
    r"(?:(?<!['\"])<{2,3}|(?:^|(?<=\n))[ \t]*+<?+)(domain|api_call|api_provider|explanation|code)>{1,3}\s*+:?"
    r"|(?:^|(?<=\n))[ \t]*+(#{1,4})\s"
)
"""Where a section of Gorilla's notation begins; a single bracket is HTML, but for a line's start."""


@dataclass(slots=True)
class Found:
    """What was found in a text.

    Args:
        dialect: The notation taken.
        raw: The calls, placed in the text.
        reason: Why this notation was taken.
    """

    dialect: str
    raw: RawPlan
    reason: str


@dataclass(slots=True)
class _Search:
    """The state of one search."""

    reader: Reader
    notes: list[Diagnostic] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    unclosed: int | None = None


def find(source: str, limits: Limits, *, repair: bool = False, located: bool = False) -> Found:
    r"""The plan in a text, whatever its notation and whatever stands around it.

    Args:
        source: The text.
        limits: Bounds on size and nesting.
        repair: Apply the repairs of :mod:`planner_eval.dialects.repair` where strict reading fails.
        located: Take the places of JSON calls too, which costs a reading by the grammar.

    Raises:
        ParseError: something begins like a plan and cannot be read.

    >>> found = find("Sure! ```json\n[{\"name\": \"f\", \"arguments\": {}}]\n```", Limits())
    >>> found.dialect, [call.name for call in found.raw.calls]
    ('json', ['f'])
    """
    try:
        return _find(source, limits, repair=repair, located=located)
    except Cut as error:
        if repair:
            for text in whole_calls(error):
                with suppress(ParseError):
                    found = _find(text, limits, repair=True, located=located)
                    if found.raw.calls:
                        return replace(found, raw=kept(found.raw, error.text, len(text)))
        raise


def _find(source: str, limits: Limits, *, repair: bool, located: bool) -> Found:
    search = _Search(Reader(source, limits, _words(limits, repair=repair), repair=repair, located=located))
    if not may_call(source):
        return _nothing("json", "the text calls no tool")
    start = source[: len(source) - len(source.lstrip()) + 1][-1:]
    if start in ("[", "{", '"'):
        whole = _whole(View(source).strip(), search.reader)
        if whole is not None:
            return _finish(search, [whole])
    text = _blanked(source, search)
    read = (
        _tokens(text, search) or _sections(text, search) or _appbench(text, search) or _shaped(text, search)
    )
    return _finish(search, read if read is not None else _blocks(View(text), search))


def _whole(view: View, reader: Reader) -> Read | None:
    """A text that is JSON from end to end; what its texts hold is mended where that is wanted."""
    try:
        return reader.json(view, whole=True)
    except LimitError:
        raise
    except ParseError:
        if not reader.repair:
            raise
    found = reader.mended(view, strictly=True)
    return found if isinstance(found, Read) else None


def _words(limits: Limits, *, repair: bool) -> Words:
    """Reads what an assistant says in a conversation."""

    def read(text: str) -> tuple[str | None, RawPlan]:
        found = find(text, limits, repair=repair)
        return found.dialect, found.raw

    return read


def _blanked(source: str, search: _Search) -> str:
    """The text with thoughts, chat tokens and later turns as white space of the same length."""
    text = source
    if "</think>" in text and "<think>" not in text:  # the prompt opened the thought
        end = text.index("</think>") + 8
        text = _blank(text[:end]) + text[end:]
        search.notes.append(Diagnostic("find.thought", "a thought was ignored", "info", None, None, (0, end)))
    for match in THOUGHT.finditer(text):
        message = f"a thought of {match.end() - match.start():,} characters was ignored"
        search.notes.append(Diagnostic("find.thought", message, "info", None, None, match.span()))
        if match.end() == len(text) and not _CLOSED.search(match.group()):
            search.unclosed = match.start()
    text = THOUGHT.sub(lambda m: _blank(m.group()), text)
    turn = next(
        (m for m in TURN.finditer(text) if text[: m.start()].strip() and _plain(text[: m.start()])), None
    )
    if turn is not None:
        message = f"what follows {turn.group().strip()[:30]!r} is another turn and was ignored"
        span = (turn.start(), len(text))
        search.notes.append(Diagnostic("find.turn", message, "info", None, None, span))
        text = text[: turn.start()]
    text = TURN.sub(lambda m: _blank(m.group()) if m.group()[0] in "<ua" else m.group(), text)
    return TOKEN.sub(lambda m: _blank(m.group()), text)


def _plain(text: str) -> bool:
    return bool(TOKEN.sub("", text).strip())


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# ---------------------------------------------------------------- notations with tokens of their own
def _tokens(text: str, search: _Search) -> list[Read] | None:
    """Read by the rows whose tokens stand in the text: the first that reads calls."""
    rows = tokens_in(text)
    if not rows:
        return None
    good: list[Read] = []
    errors: list[ParseError] = []
    for row, token in rows:
        try:
            raw = dialects.get(row.name).read(text, search.reader.limits)
        except LimitError:
            raise
        except ParseError as error:
            error.dialect = row.name
            if row.shape != "xml" or row.parameter[0].split("$")[0] in text:
                errors.append(error)
            continue
        if raw.calls:
            good.append(Read(row.name, raw, f"the token {token.strip()!r}", (0, len(text))))
    if good:
        for other in good[1:]:
            if restated.signature(other.raw) != restated.signature(good[0].raw):
                taken = good[0].dialect
                message = f"the text also reads as {other.dialect!r}, with other calls; {taken!r} was taken"
                search.notes.append(Diagnostic("dialect.ambiguous", message))
                break
        return good[:1]
    return _mended_tokens(text, [row for row, _ in rows], errors, search) if errors else None


def _mended_tokens(text: str, rows: list[Wrapper], errors: list[ParseError], search: _Search) -> list[Read]:
    """The calls between tokens, mended where that is wanted.

    Raises:
        ParseError: the error that was met last, or that the text ends inside a call.
    """
    repaired = search.reader.repaired_rows(text, rows)
    if repaired is not None:
        return [repaired]
    furthest = max(errors, key=lambda e: e.offset)
    cut = section(text, rows) if _is_end(text, search) else None
    if cut is not None:
        raise Cut(cut[1], text=search.reader.source, start=cut[0], dialect=furthest.dialect)
    furthest.text = search.reader.source
    raise furthest


def _is_end(text: str, search: _Search) -> bool:
    """Whether the source ends where a text of it does: no other turn and no chat token follows."""
    return len(text.rstrip()) >= len(search.reader.source.rstrip())


# ---------------------------------------------------------------- <<<code>>> sections
def _sections(text: str, search: _Search) -> list[Read] | None:
    """Read the code sections of Gorilla's notation: the final one, or else all drafts."""
    marks = list(_MARK.finditer(text)) if "code>" in text or "api_call>" in text else []
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
        read: list[Read] = []
        for mark in chosen:
            found = search.reader.code(View(text).cut(mark.end(), ends[mark.start()]).strip())
            if not isinstance(found, Nothing):
                read.append(
                    replace(found, dialect=found.dialect, reason=f"the section {mark.group().strip(' :')!r}")
                )
        kept = _once(read, search, whole=True)
        if kept:
            return kept
    return None


# ---------------------------------------------------------------- AppBench's lines
def _appbench(text: str, search: _Search) -> list[Read] | None:
    """Read a text of AppBench's lines, else the lines that stand in prose, with what else calls a tool."""
    first: ParseError | None = None
    if is_start(text):
        try:
            raw = dialects.get("appbench").read(text, search.reader.limits)
        except LimitError:
            raise
        except ParseError as error:
            first = search.reader.cut(View(text).strip(), placed(error, View(text), search.reader.source))
        else:
            start = len(text) - len(text.lstrip())
            return [Read("appbench", raw, "calls with #name= arguments", (start, len(text)))]
    found = _in_prose(text, search)
    if found is None:
        if first is not None and "```" not in text:
            raise first
        return None
    runs, rest = found
    try:
        others = _blocks(rest, search)
    except ParseError as error:
        raise first or error from None
    if others and first is not None:
        raise first
    return sorted([*runs, *others], key=lambda item: item.span)


def _in_prose(text: str, search: _Search) -> tuple[list[Read], View] | None:
    """The runs of AppBench's lines in a text, each said once, and the rest of the text."""
    try:
        found = appbench_prose.find(View(text), search.reader.limits)
    except ParseError as error:
        error.dialect = "appbench"
        line = View(text).cut(text.rfind("\n", 0, error.offset) + 1, len(text)).strip()
        raise search.reader.cut(line, placed(error, View(text), search.reader.source)) from None
    if found is None:
        return None
    kept = []
    for run, again in zip(found[0], restated.repeats([run.raw for run in found[0]]), strict=True):
        if again:
            search.notes.append(restated.note(len(run.raw.calls), run.span))
        else:
            kept.append(run)
    return kept, found[1]


# ---------------------------------------------------------------- notations known by their shape
def _shaped(text: str, search: _Search) -> list[Read] | None:
    """Read a text that begins in a notation which its form gives away."""
    start = len(text) - len(text.lstrip())
    for row in signs_in(text, start):
        try:
            raw = dialects.get(row.name).read(text, search.reader.limits)
        except LimitError:
            raise
        except ParseError as error:
            if row.weak or "```" in text:
                continue
            error.text = search.reader.source
            error.dialect = row.name
            raise search.reader.cut(View(text).strip(), error) from None
        if raw.calls:
            return [Read(row.name, raw, row.known, (start, len(text)))]
    return None


# ---------------------------------------------------------------- fences and lines
def _blocks(view: View, search: _Search) -> list[Read]:
    """Read fences and the text between them, in order."""
    reader = search.reader
    read: list[Read] = []
    for block in split(view):
        for found in own_code.read(block, reader, after=bool(read)):
            shown = replace(found, reason=f"{found.reason}, in a fence") if block.fenced else found
            read += _once([shown], search)
    return read


def _once(read: list[Read], search: _Search, *, whole: bool = False) -> list[Read]:
    """The blocks that do not only repeat calls already read; `whole` wants all of them repeated."""
    kept = []
    for item in read:
        own = restated.signature(item.raw)
        if own and (set(own) == search.seen if whole else set(own) <= search.seen):
            search.notes.append(restated.note(len(own), item.span))
            continue
        search.seen.update(own)
        kept.append(item)
    return kept


# ---------------------------------------------------------------- the result
def _finish(search: _Search, read: list[Read]) -> Found:
    """One plan out of the blocks that were read, with notes on what was not."""
    reader = search.reader
    calls: list[RawCall] = []
    notes = [*search.notes]
    for item in read:
        moved = [n._replace(call=n.call + len(calls)) if n.call is not None else n for n in item.raw.notes]
        notes += moved
        if is_denied(reader.source, *item.span):
            message = "the sentence around it says that the call is not made"
            notes.append(Diagnostic("find.hypothetical", message, "warning", len(calls), None, item.span))
        calls += shift_names(item.raw.calls, len(calls)) if calls else item.raw.calls
    answer = next((item.raw.answer for item in read if item.raw.answer is not None), None)
    notes += reader.notes
    if not calls:
        if reader.error is not None:
            raise reader.error
        _refuse_opening(search)
        reason = reader.why or "the text calls no tool"
        return _nothing(read[0].dialect if read else "json", reason, answer, notes)
    names = list(dict.fromkeys(item.dialect for item in read))
    if len(names) > 1:
        message = f"the blocks are in several notations: {', '.join(names)}"
        notes.append(Diagnostic("dialect.mixed", message, "info"))
    notes += _ignored(reader.source, read)
    return Found(names[0], RawPlan(tuple(calls), answer, tuple(notes)), read[0].reason)


def _nothing(
    dialect: str, why: str, answer: Arguments | None = None, notes: Iterable[Diagnostic] = ()
) -> Found:
    """A text that calls no tool, and why."""
    note = Diagnostic("plan.no_call", f"no call: {why}", "info")
    return Found(dialect, RawPlan((), answer, (*notes, note)), why)


def _refuse_opening(search: _Search) -> None:
    """Refuse a text without calls that ends in a thought, or right after what opens a call."""
    source = search.reader.source
    if search.unclosed is not None:
        raise Cut("inside a thought", text=source, start=search.unclosed)
    found = opening(source)
    if found is not None:
        raise Cut(found[1], text=source, start=found[0])


def _ignored(source: str, read: list[Read]) -> Iterator[Diagnostic]:
    """A note on the text that is outside of all blocks."""
    inside: list[Span] = sorted(item.span for item in read)
    at = total = 0
    first: Span | None = None
    for start, end in [*inside, (len(source), len(source))]:
        gap = source[at:start].strip(" \t\r\n`;,.")
        if start > at and gap and not re.fullmatch(r"```?\w*|[\w+#.\-]{1,12}", gap):
            total += len(gap)
            first = first or (at, start)
        at = max(at, end)
    if first is not None:
        yield Diagnostic(
            "find.text",
            f"{total:,} characters of text around the calls were ignored",
            "info",
            None,
            None,
            first,
        )


# ---------------------------------------------------------------- in a dialect that the user named
def find_named(dialect: Dialect, source: str, limits: Limits, *, repair: bool) -> RawPlan | None:
    """The calls of the blocks of a text that read in one dialect; None where no block does."""
    search = _Search(Reader(source, limits, _words(limits, repair=repair), repair=repair, located=False))
    text = _blanked(source, search)
    if dialect.name == "appbench":
        lines = _in_prose(text, search)
        return _finish(search, lines[0]).raw if lines else None
    calls: list[RawCall] = []
    notes: list[Diagnostic] = [*search.notes]
    blocks = [block.view.strip() for block in split(View(text)) if block.fenced]
    for view in blocks or [View(text).strip()]:
        found = _read_named(dialect, view, limits, repair=repair)
        if found is not None and found.calls:
            calls += shift_names(found.calls, len(calls)) if calls else found.calls
            notes += found.notes
    return RawPlan(tuple(calls), None, tuple(notes)) if calls else None


def _read_named(dialect: Dialect, view: View, limits: Limits, *, repair: bool) -> RawPlan | None:
    try:
        return view.place(dialect.read(view.text, limits))
    except ParseError:
        if not repair:
            return None
    for repaired, notes in repairs(view):
        try:
            raw = dialect.read(repaired.text, limits)
        except ParseError:
            continue
        there = repaired.place(raw)
        return RawPlan(there.calls, there.answer, (*there.notes, *notes))
    return None
