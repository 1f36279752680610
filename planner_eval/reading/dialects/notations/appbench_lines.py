"""AppBench's lines read: three anchored regular expressions, and the Lark grammar where these refuse.

An unquoted value is the name of an earlier call's returned argument; a quoted one is text, always.
Source: AppBench's evaluation prompts and test files. Values there hold unescaped apostrophes, so a
quote ends a text only before a comma, a closing bracket, a further ``#name=`` or the end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import check_depth
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span, check_calls
from planner_eval.plan.model import Diagnostic, Path, RawCall, RawPlan, RawRef, Value, leaves
from planner_eval.reading.dialects.notations.appbench_terms import (
    CALL_HEAD,
    ESCAPED_CHARACTER,
    INVALID_WORD,
    LETTERS,
    word_value,
)

TERMINAL_DESCRIPTIONS = {
    "APP": "an app's name with ': ['",
    "HEAD": "a call such as 'a, b = name('",
    "ARG_TEXT": "an argument such as #name='value'",
    "ARG_WORD": "an argument such as #name='value'",
    "ARG_LIST": "an argument such as #name='value'",
    "TEXT": "a quoted value",
    "BARE": "a name or a number",
    "LSQB": "'['",
    "RSQB": "']'",
    "RPAR": "')'",
    "COMMA": "','",
    "_NEWLINE": "a new line",
}
LARK_CHARS = 256_000

_APP = re.compile(r"\s*+([^\W\d](?:[\w\- ]++|\.(?!\s))*+):[ \t]*+\[\s*+")
_ARGUMENT = re.compile(
    r"(#(\w++)\s*+=\s*+(?:'((?:[^'\\]++|\\.|'(?!\s*+(?:[,)\]]|#\w++\s*+=|\Z)))*+)'|([\w.+-]++)))"
    r"\s*+(?:(,)\s*+|\))",
    re.S,
)


def read(text: str, limits: Limits) -> RawPlan:
    """Read AppBench lines.

    Raises:
        ParseError: with the line and column of what does not follow the notation.

    >>> raw = read("Hotels: [h = search(#city='Rome'), book(#name=h)]", Limits())
    >>> raw.calls[1].app, raw.calls[1].arguments
    ('Hotels', (('name', RawRef(name='h', path=())),))
    """
    raw = read_fast(text, limits)
    if raw is None:
        _refuse_deep(text, limits)
        if not limits.explained and _GRAMMAR_ONLY.search(text) is None:
            raise ParseError("these are no calls a line", text=text, dialect="appbench")
        raw = read_grammar(text)
    check_calls(len(raw.calls), limits)
    return raw


def _refuse_deep(text: str, limits: Limits) -> None:
    """Keep hostile text from the grammar: it is exact about errors and slow about megabytes."""
    check_depth(text, limits)
    if len(text) > LARK_CHARS:
        for match in re.finditer(r"[^\n]++", text):
            line = match.group()
            if line.strip() and (len(line) > LARK_CHARS or read_fast(line) is None):
                reason = "this line is no call, and the text is too long to say more"
                if len(line) <= LARK_CHARS:
                    try:
                        read_grammar(line)
                    except ParseError as error:
                        raise ParseError(
                            error.reason, text=text, offset=match.start() + error.offset, dialect="appbench"
                        ) from None
                    continue
                raise ParseError(reason, text=text, offset=match.start(), dialect="appbench")


def read_fast(text: str, limits: Limits = DEFAULT_LIMITS) -> RawPlan | None:
    """Read by three anchored regular expressions; None where the grammar has to decide.

    Every quantifier is possessive: the time is linear in the text, whatever it holds.

    Raises:
        LimitError: there are too many calls; they are counted line by line.
    """
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    end = len(text.rstrip())
    position = len(text) - len(text.lstrip())
    bracketed = "[" in text
    most = limits.calls
    while position < end:
        section = _APP.match(text, position) if bracketed else None
        if section:
            position = read_section_fast(text, section.end(), section[1].strip(), calls, notes)
        else:
            position = read_call_fast(text, position, None, calls, notes)
        stop = _LINE_END.match(text, position) if position >= 0 else None
        if stop is None:
            return None
        position = stop.end()
        if len(calls) > most:
            check_calls(len(calls), limits)
    return RawPlan(tuple(calls), None, tuple(notes)) if calls else None


def read_section_fast(
    text: str, position: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]
) -> int:
    """Append the calls of an app's brackets from the first on; gives the place after, or -1."""
    while True:
        position = read_call_fast(text, position, app, calls, notes)
        more = _SEPARATOR.match(text, position) if position >= 0 else None
        if more is None:
            break
        position = more.end()
    closing = _CLOSING.match(text, position) if position >= 0 else None
    return closing.end() if closing else -1


def read_call_fast(
    text: str, position: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]
) -> int:
    """Append the call that starts at `position`; gives the place after it, or -1 where none is read."""
    head = CALL_HEAD.match(text, position)
    if head is None:
        return -1
    start, position = position, head.end()
    returned, called = head.groups()
    arguments: list[tuple[str, Value]] = []
    spans: list[Span] = []
    end = text.find(")", position) + 1
    if end == position + 1 or _read_plain_arguments(text, position, end, arguments, spans):
        position = end
    else:
        arguments, spans = [], []
        closing = ","
        while closing == ",":
            match = _ARGUMENT.match(text, position)
            if match is None:
                return -1
            _, name, value, bare, closing = match.groups()
            if value is None:
                value = word_value(bare)
                if value is INVALID_WORD:
                    return -1
                if type(value) is not RawRef:
                    _note_number(value, name, len(calls), match.span(1), notes)
            elif "\\" in value:
                value = ESCAPED_CHARACTER.sub(r"\1", value)
            arguments.append((name, value))
            spans.append(match.span(1))
            position = match.end()
    calls.append(_make_call(app, returned, called, arguments, (start, position), spans))
    return position


def _read_plain_arguments(
    text: str, position: int, end: int, arguments: list[tuple[str, Value]], spans: list[Span]
) -> bool:
    """Append the arguments up to the first closing bracket where all are texts and names, as most are.

    They are found in one go, at half of what it takes to ask for each: what is found stands side by side
    where its lengths come to that of the whole, and no other reading of it is possible.
    """
    for name, value, bare, after in _PLAIN_ARGUMENT.findall(text, position, end):
        if bare:
            value = word_value(bare)
            if type(value) is not RawRef:
                return False
            stop = position + len(name) + len(bare) + 2
        else:
            stop = position + len(name) + len(value) + 4
        arguments.append((name, value))
        spans.append((position, stop))
        position = stop + len(after)
    return position == end


_PLAIN_ARGUMENT = re.compile(
    rf"#([{LETTERS}]++)=(?:'([^'\\]*+)'|([{LETTERS}.+-]++))(, (?!\s)|\)|\s*+(?:,\s*+|\)))"
)
_GRAMMAR_ONLY = re.compile(r"\[\s*+(?:\[|\])|=\s*+\[")
"""What the grammar reads and :func:`read_fast` does not: a list as a value, and brackets without a call."""
_SEPARATOR = re.compile(r"\s*+,\s*+")
_LINE_END = re.compile(r"[ \t]*+(?:(?:\r?\n[ \t]*+)++|\Z)")
_CLOSING = re.compile(r"\s*+\]")


def _has_refused_word(value: Any) -> bool:
    """Whether a value is no word of the notation, or a list that holds one."""
    return any(leaf is INVALID_WORD for _, leaf in leaves(value))


def _note_number(value: Value, argument: str, call: int, span: Span, notes: list[Diagnostic]) -> None:
    if type(value) in (int, float):
        message = f"{argument!r} of call {call + 1} is the bare number {value}; the notation quotes values"
        notes.append(Diagnostic("argument.bare_number", message, "warning", call, argument, span))


def _returned_names(written: str) -> tuple[tuple[str, ...], tuple[tuple[str, Path], ...]]:
    """The names of `a, b, c`, and what each binds."""
    names = tuple(name.strip() for name in written.split(","))
    return names, tuple((name, (name,)) for name in names)


_cached_returned_names = lru_cache(maxsize=4096)(
    _returned_names
)  # the same tools return the same names all the time
_MAX_CACHED_CHARS = 1_000
"""Characters up to which it is remembered what they name: hostile text shall not fill the memory."""


def _make_call(
    app: str | None,
    returned: str | None,
    name: str,
    arguments: list[tuple[str, Value]],
    span: Span,
    spans: list[Span],
) -> RawCall:
    names = (
        _cached_returned_names if returned is None or len(returned) <= _MAX_CACHED_CHARS else _returned_names
    )
    returns, binds = names(returned) if returned else ((), ())
    return RawCall(name, tuple(arguments), app, None, binds, returns, span, tuple(spans))


def read_grammar(text: str) -> RawPlan:
    """Read by the Lark grammar: the reference for :func:`read_fast`, and the source of its errors.

    Raises:
        ParseError: with the place and what was expected there.
    """
    from planner_eval.base import grammar
    from planner_eval.reading.dialects.notations.grammars import AppBenchTransformer

    if not text.strip():
        raise ParseError(
            "the text is empty, expected a call", text=text, code="parse.empty", dialect="appbench"
        )
    try:
        items = grammar.run(
            grammar.load("appbench", AppBenchTransformer), text, TERMINAL_DESCRIPTIONS, "appbench"
        )
    except ParseError as error:
        raise _explain_error(error) from None
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for app, name, returned, arguments, span in items:
        for argument, value, bounds in arguments:
            if _has_refused_word(value):
                start = bounds[0] + re.match(r"#\w+\s*=\s*", text[bounds[0] : bounds[1]]).end()  # type: ignore[union-attr]
                raise ParseError(
                    f"found {text[start : bounds[1]][:40]!r}, expected a quoted value, "
                    f"a returned name or a number for #{argument}",
                    text=text,
                    offset=start,
                    dialect="appbench",
                )
            _note_number(value, argument, len(calls), bounds, notes)
        pairs = [(argument, value) for argument, value, _ in arguments]
        calls.append(_make_call(app, returned, name, pairs, span, [bounds for _, _, bounds in arguments]))
    return RawPlan(tuple(calls), None, tuple(notes))


def read_reference(text: str, limits: Limits) -> RawPlan:
    """Read by the grammar, within the limits; see :func:`read_grammar`."""
    raw = read_grammar(text)
    check_calls(len(raw.calls), limits)
    return raw


def _explain_error(error: ParseError) -> ParseError:
    """The grammar's error, said of the value where it is an argument's value that cannot be read."""
    match = re.compile(r"#(\w++)\s*+=\s*+").match(error.text, error.offset)
    if match is None or "#name" not in error.reason:
        return error
    if error.text.startswith("'", match.end()):
        reason = f"the quoted value of #{match[1]} is never closed"
    else:
        from planner_eval.base.grammar import describe_found

        sign = describe_found(error.text, match.end())
        reason = f"found {sign}, expected a quoted value, a returned name or a number for #{match[1]}"
    return ParseError(reason, text=error.text, offset=match.end(), dialect="appbench")
