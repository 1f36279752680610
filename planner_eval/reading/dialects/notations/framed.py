"""The shape "sections": calls between tokens, as JSON or as Python calls, with text around them.

<tool_call>{"name": "f", "arguments": {}}</tool_call>
[TOOL_CALLS] [{"name": "f", "arguments": {}}]
<|tool_call_start|>[f(a=1)]<|tool_call_end|>
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import LimitError, ParseError, WriteError
from planner_eval.base.frozen import replace
from planner_eval.base.grammar import find_json_error
from planner_eval.base.json_text import (
    LARK_CHARS,
    TERMINAL_WORDS,
    DecodedValue,
    ObjectSpans,
    check_depth,
    decode,
)
from planner_eval.base.limits import Limits, Span, check_calls, long_integer_error
from planner_eval.base.text import to_json
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan, Value
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.finding.whole_texts import refuse_too_many_json_calls
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.notations.json_rows import call_objects, read_by_template
from planner_eval.reading.dialects.programs.program import Unknown, Variables, shift_names
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, row_dialect, token_regex

# ----------------------------------------------------------------------
# What the shapes between tokens share: finding tokens, reading JSON between them, located errors.
TERMINAL_DESCRIPTIONS = TERMINAL_WORDS | {
    "OPEN": "the opening token",
    "CLOSE": "the closing token",
    "HEAD": "the opening token",
    "MIDDLE": "the token after the name",
    "TAIL": "the closing token",
    "NAME": "a tool's name",
}


@cache
def token_pattern(texts: tuple[str, ...]) -> re.Pattern[str]:
    """The regular expression for any of some token texts, compiled once."""
    return re.compile(token_regex(texts) if texts else "")


def prose_regex(tokens: tuple[str, ...]) -> str:
    """A regular expression for text up to the next of some opening tokens; linear."""
    openers = token_regex(tokens)
    first = "".join(sorted({re.escape(text.lstrip()[0]) for text in tokens if text.strip()}))
    return rf"(?:[^{first}]++|(?!{openers})[{first}])++"


def read_json_value(text: str, offset: int, limits: Limits) -> DecodedValue:
    """One JSON value and the place after it; see :func:`planner_eval.base.json_text.decode`.

    Raises:
        ValueError: it cannot be read, and the grammar should say why.
        LimitError: it nests too deeply.
    """
    try:
        return decode(text, offset)
    except RecursionError:
        check_depth(text, limits)
        raise LimitError(f"the text nests deeper than {limits.depth} levels", text=text) from None


def explain(
    row: Wrapper,
    text: str,
    error: ValueError,
    limits: Limits,
    terminals: dict[str, str],
    start: int,
    value: int | None = None,
) -> ParseError:
    """The located error of a framed text that the fast path refused.

    Args:
        row: Its shape names the grammar.
        text: The whole text.
        error: What the fast path said, for texts too long for the grammar.
        limits: Bounds on nesting.
        terminals: The row's tokens as regular expressions.
        start: Where the broken call's opening token is; what stands before it was read.
        value: Where the JSON value begins that is broken, where one is: what is wrong in it needs no grammar.
    """
    if not isinstance(error, json.JSONDecodeError):  # an integer of more digits than Python converts
        return long_integer_error(text)
    offset, message = error.pos, error.msg
    reason = f"{message[0].lower()}{message[1:]}".removesuffix(" at").removesuffix(" starting")
    try:
        check_depth(text, limits)
        if len(text) - start <= LARK_CHARS and not reason.startswith(("unterminated", "invalid")):
            if (
                value is not None
                and (refusal := find_json_error(text, TERMINAL_DESCRIPTIONS, row.name, value)) is not None
            ):
                return refusal
            run_row_grammar(row, text[start:], terminals)
    except LimitError as limit:
        return limit
    except ParseError as located:
        return ParseError(located.reason, text=text, offset=start + located.offset, dialect=row.name)
    return ParseError(reason, text=text, offset=offset, dialect=row.name)


def run_row_grammar(row: Wrapper, text: str, terminals: dict[str, str], *, placed: bool = False) -> Any:
    """Read by the row's grammar: the reference for the fast path.

    Args:
        row: Its shape names the grammar.
        text: The text.
        terminals: The row's tokens as regular expressions.
        placed: Give the places of named calls too.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    from planner_eval.reading.dialects.programs.grammars import FramedTransformer, PlacedTransformer

    transformer = PlacedTransformer if placed else FramedTransformer
    parser = grammar.load(row.shape, transformer, tuple(terminals.items()))
    return grammar.run(parser, text, TERMINAL_DESCRIPTIONS, row.name)


# ----------------------------------------------------------------------
# The shape "sections": calls between tokens, as JSON or as Python calls, with text around them.
_GAP = re.compile(r"[\s;]*+")
_FENCE = re.compile(r"\s*+```\w*+[ \t]*+\n")
_PYTHON_CALL = re.compile(
    r"[\s\[]*+(?:[^\W\d]\w*+(?:\s*+[,:]\s*+[\w.]++)*+\s*+=\s*+)?+(?:await\s++)?+"
    r"[^\W\d][\w.\-]*+\(\s*+(?:\)|\w++\s*+=|[\"'\[{\d\-])"
)
"""Python calls, which models write where JSON is asked of them, too."""
NO_CALL = frozenset({"no_function"})
"""Names by which a model says that it calls nothing."""


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``sections`` or ``named``."""
    if row.shape == "named":
        return row_dialect(row, read_named, partial(_write_named, row), read_named_grammar)
    base = row_dialect(row, read, partial(_write, row), None if row.inner == "python" else read_grammar)
    return base._replace(read_framed=partial(read_framed, row))


def read(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read the sections of a text.

    Raises:
        ParseError: there is no section, or one cannot be read.
    """
    return read_framed(row, text, limits)[0]


def read_framed(row: Wrapper, text: str, limits: Limits) -> tuple[RawPlan, list[Span]]:
    """The same, and where the sections stand, with their tokens, that call something.

    Raises:
        ParseError: there is no section, or one cannot be read.
    """
    opening = token_pattern(row.open)
    opened = opening.search(text)
    if opened is None:
        expected = " or ".join(dict.fromkeys(repr(token.strip()) for token in row.open[:2]))
        raise ParseError(f"found no {expected}", text=text, offset=0, dialect=row.name)
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    section_spans: list[Span] = []
    variables = Variables()
    while opened is not None:
        if _is_python(row, text, opened.end()):
            section, end = _read_python_section(row, text, opened.end(), limits, variables, len(calls))
        else:
            section, end = _read_json_section(row, text, opened.start(), opened.end(), limits)
        section_spans += [(opened.start(), end)] if section.calls else []
        notes += [n._replace(call=None if n.call is None else n.call + len(calls)) for n in section.notes]
        calls += section.calls
        check_calls(len(calls), limits)
        opened = opening.search(text, end)
    calls = variables.connected(calls)
    return RawPlan(tuple(c for c in calls if c.name not in NO_CALL), None, tuple(notes)), section_spans


def read_grammar(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read by the row's grammar, with places: the reference for :func:`read`.

    Raises:
        ParseError: the text does not follow the grammar, or its JSON holds something that is no call.
    """
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for section in run_row_grammar(row, text, terminals(row)):
        locations = ObjectSpans(section)
        raw = read_by_template(row, locations.values, limits, locations, text)
        notes += [n._replace(call=None if n.call is None else n.call + len(calls)) for n in raw.notes]
        calls += raw.calls
        check_calls(len(calls), limits)
    return RawPlan(tuple(c for c in calls if c.name not in NO_CALL), None, tuple(notes))


def _is_python(row: Wrapper, text: str, position: int) -> bool:
    data = text[position : position + 50].lstrip()[:2] in ("[{", '{"')
    return not data and (row.inner == "python" or _PYTHON_CALL.match(text, position) is not None)


def _read_json_section(
    row: Wrapper, text: str, opened: int, position: int, limits: Limits
) -> tuple[RawPlan, int]:
    """The calls of the section whose opening token is [opened, position), and the place after it."""
    values: list[Any] = []
    start = position = _GAP.match(text, position).end()  # type: ignore[union-attr]
    if text[position : position + 1] not in ("{", "["):
        return RawPlan(()), position  # the token is followed by prose: no call
    refuse_too_many_json_calls(text, position, limits)
    try:
        while text[position : position + 1] in ("{", "["):
            value, position = read_json_value(text, position, limits)
            values.append(value)
            position = _GAP.match(text, position).end()  # type: ignore[union-attr]
            if token_pattern(row.open).match(
                text, position
            ):  # the next section's token may begin with a bracket
                break
    except ValueError as error:
        # The grammar says where a semicolon may stand.
        broken = position if ";" not in text[opened:position] else None
        raise explain(row, text, error, limits, terminals(row), opened, broken) from None
    closing = token_pattern(row.close).match(text, position) if row.close else None
    if closing is None and text[position : position + 1] in (",", "]", "}"):
        extra = json.JSONDecodeError("Extra data", text, position)
        raise explain(row, text, extra, limits, terminals(row), opened)
    try:
        raw = read_by_template(row, values, limits)
    except ParseError as error:
        raise ParseError(error.reason, text=text, offset=start, code=error.code, dialect=row.name) from None
    span = (start, position)
    calls = tuple(replace(c, span=span) if len(raw.calls) == 1 else c for c in raw.calls)
    return RawPlan(calls, None, raw.notes), closing.end() if closing else position


def _read_python_section(
    row: Wrapper, text: str, start: int, limits: Limits, variables: Variables, calls_before: int
) -> tuple[RawPlan, int]:
    """The same for a section of Python, after `calls_before` calls."""
    from planner_eval.reading.dialects.programs.python_calls import read_calls

    stop = token_pattern(row.open)
    if row.close:
        stop = token_pattern((*row.close, *row.open))
    match = stop.search(text, start)
    end = match.start() if match else len(text)
    view = TextView(text).cut(start, end)
    fence = _FENCE.match(view.text)
    if fence:
        view = view.cut(fence.end(), len(view.text.rstrip().removesuffix("```")))
    if not re.match(r"[\s\[]*+[^\W\d][\w.\-]*+\s*+[(=]", view.text):
        return RawPlan(()), end  # prose, not a call
    try:
        own_variables: dict[str, Value | Unknown] = {}
        raw = read_calls(view.text, limits, (), None, variables.held, own_variables)
    except ParseError as error:
        where = view.origin(error.offset)
        raise ParseError(error.reason, text=text, offset=where, code=error.code, dialect=row.name) from None
    variables.take(own_variables, calls_before)
    if calls_before:
        raw = raw._replace(calls=shift_names(raw.calls, calls_before))
    closed = token_pattern(row.close).match(text, end) if row.close else None
    return view.place(raw), closed.end() if closed else end


def terminals(row: Wrapper) -> dict[str, str]:
    """The row's tokens as terminals of grammars/sections.lark."""
    close = token_regex(row.close) if row.close else "(?!)x"
    return {"OPEN.3": token_regex(row.open), "CLOSE.3": close, "TEXT.-10": prose_regex(row.open)}


def _write(row: Wrapper, plan: Plan) -> str:
    opening, close = row.open[0], "".join(row.close[:1])
    separator = row.separator
    if row.inner == "python":
        from planner_eval.reading.dialects.programs.python_calls import write_calls, write_list

        if row.list:
            return opening + write_list(plan, row.name) + close
        texts, separator = write_calls(plan, row.name), separator or ", "
    else:
        items = call_objects(row, plan)
        if not separator and not row.each:
            return opening + to_json(items) + close
        texts = list(map(to_json, items))
    if row.each:
        between = "\n" if close else " " if opening.endswith(" ") else ""
        return between.join(opening + text + close for text in texts)
    return opening + separator.join(texts) + close


# ----------------------------------------------------------------------
# The shape "name + JSON": a tool's name and its arguments as a JSON object, between tokens.
TO_USER = "all"
"""Functionary's recipient of a text that calls nothing."""
_LEADING_SPACE = re.compile(r"\s*+")
_MORE_DATA = re.compile(r"\s*+,\s*+\"[^\"\n]*+\"\s*+:")
"""Another key after an object's end: a bracket too many stands before it."""


def entry_pattern(row: Wrapper) -> re.Pattern[str]:
    """Everything before a call's JSON: the opening token, the name, the token after it."""
    start = r"(?:^|(?<=\n))[ \t]*+" if row.head == ("",) else token_regex(row.head)
    return re.compile(rf"{start}([^\s<>\[\]{{}}|\"'(),;]{{1,300}}?){token_regex(row.middle)}(?=\{{)")


def read_named(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read the calls of a text.

    Raises:
        ParseError: there is none, or one cannot be read.
    """
    heads = entry_pattern(row)
    calls: list[RawCall] = []
    match, end = heads.search(text), 0
    if match is None:
        raise ParseError(
            f"found no name with its JSON arguments, as in {row.example.splitlines()[0][:60]!r}",
            text=text,
            offset=_LEADING_SPACE.match(text).end(),  # type: ignore[union-attr]
            dialect=row.name,
        )
    while match is not None:
        _refuse_broken(row, text, end, match.start())
        name, start = match[1], match.end()
        if name[0] in "=:" or name[-1] in "=:":
            reason = f"found {name!r}, expected a tool's name"
            raise ParseError(reason, text=text, offset=match.start(1), dialect=row.name)
        try:
            value, position = read_json_value(text, start, limits)
        except ValueError as error:
            raise explain(row, text, error, limits, named_terminals(row), match.start()) from None
        if _MORE_DATA.match(text, position):
            extra = json.JSONDecodeError("Extra data", text, position)
            raise explain(row, text, extra, limits, named_terminals(row), match.start())
        tail = token_pattern(row.tail).match(text, position) if row.tail else None
        end = tail.end() if tail else position
        check_calls(len(calls) + 1, limits)
        arguments = arguments_of(value, len(calls), text)
        calls.append(RawCall(name, arguments, span=(match.start(), end)))
        match = heads.search(text, end)
    _refuse_broken(row, text, end, len(text))
    return RawPlan(tuple(calls))


def read_named_grammar(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read by the row's grammar, with places: the reference for :func:`read`.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    calls: list[RawCall] = []
    for name, located, span in run_row_grammar(row, text, named_terminals(row), placed=True):
        check_calls(len(calls) + 1, limits)
        locations = ObjectSpans([located])
        arguments = arguments_of(locations.values[0], len(calls), text)
        calls.append(RawCall(name, arguments, span=span, spans=locations.members(locations.values[0])))
    return RawPlan(tuple(calls))


def _refuse_broken(row: Wrapper, text: str, start: int, end: int) -> None:
    """Refuse an opening token in [start, end) that no name and no JSON follow: a call would be lost."""
    if row.head == ("",):
        return
    for match in token_pattern(row.head).finditer(text, start, end):
        if not text.startswith(TO_USER, match.end()):
            expected = "a tool's name and its JSON arguments"
            raise ParseError(
                f"found {match.group()[:40]!r} without {expected} after it",
                text=text,
                offset=match.end(),
                dialect=row.name,
            )


def named_terminals(row: Wrapper) -> dict[str, str]:
    """The row's tokens as terminals of grammars/named.lark."""
    head = token_regex(row.head) if row.head != ("",) else "(?!)x"
    tail = (
        token_regex(tuple(t for t in row.tail if t.strip())) if any(t.strip() for t in row.tail) else "(?!)x"
    )
    text = prose_regex(row.head) if row.head != ("",) else "(?!)x"
    return {
        "HEAD.3": head,
        "MIDDLE.3": token_regex(row.middle) + r"(?=\{)",
        "TAIL.3": tail,
        "TEXT.-10": text,
        "NAME.2": rf"[^\s<>\[\]{{}}|\"'(),;]{{1,300}}?(?={token_regex(row.middle)})",
    }


def _write_named(row: Wrapper, plan: Plan) -> str:
    refuse_references(plan, row.name)
    texts = []
    for i, call in enumerate(WrittenPlan(plan).calls):
        if not re.fullmatch(r"[^\s<>\[\]{}|\"'(),;]+", call.name):
            raise WriteError(f"the name {call.name!r} cannot be expressed in the dialect {row.name!r}")
        middle = row.middle[0].replace("$index", str(i)).replace("$id", call.id)
        texts.append(row.head[0] + call.name + middle + to_json(call.arguments) + "".join(row.tail[:1]))
    return "".join(row.open[:1]) + "".join(texts).rstrip("\n") + "".join(row.close[:1])
