"""The shape "name + JSON": a tool's name and its arguments as a JSON object, between tokens.

[TOOL_CALLS]f[ARGS]{"a": 1}
<function=f>{"a": 1}</function>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import Plan, RawCall, RawPlan
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.notations.sections import (
    explain,
    prose_regex,
    read_json_value,
    run_row_grammar,
    token_pattern,
)
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, row_dialect, token_regex

TO_USER = "all"
"""Functionary's recipient of a text that calls nothing."""
_LEADING_SPACE = re.compile(r"\s*+")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``named``."""
    return row_dialect(row, read, _writer(row), read_grammar)


def entry_pattern(row: Wrapper) -> re.Pattern[str]:
    """Everything before a call's JSON: the opening token, the name, the token after it."""
    start = r"(?:^|(?<=\n))[ \t]*+" if row.head == ("",) else token_regex(row.head)
    return re.compile(rf"{start}([^\s<>\[\]{{}}|\"'(),;]{{1,300}}?){token_regex(row.middle)}(?=\{{)")


def read(row: Wrapper, text: str, limits: Limits) -> RawPlan:
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
        try:
            value, position = read_json_value(text, start, limits)
        except ValueError as error:
            raise explain(row, text, error, limits, terminals(row), match.start()) from None
        tail = token_pattern(row.tail).match(text, position) if row.tail else None
        end = tail.end() if tail else position
        check_calls(len(calls) + 1, limits)
        arguments = arguments_of(value, len(calls), text)
        calls.append(RawCall(name, arguments, span=(match.start(), end)))
        match = heads.search(text, end)
    _refuse_broken(row, text, end, len(text))
    return RawPlan(tuple(calls))


def read_grammar(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read by the row's grammar, with places: the reference for :func:`read`.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    calls: list[RawCall] = []
    for name, located, span in run_row_grammar(row, text, terminals(row), placed=True):
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


def terminals(row: Wrapper) -> dict[str, str]:
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


def _writer(row: Wrapper) -> Callable[[Plan], str]:
    def write(plan: Plan) -> str:
        refuse_references(plan, row.name)
        written_calls = []
        for i, call in enumerate(WrittenPlan(plan).calls):
            if not re.fullmatch(r"[^\s<>\[\]{}|\"'(),;]+", call.name):
                raise WriteError(f"the name {call.name!r} cannot be expressed in the dialect {row.name!r}")
            middle = row.middle[0].replace("$index", str(i)).replace("$id", call.id)
            arguments: Any = json.dumps(call.arguments, ensure_ascii=False)
            written_calls.append(row.head[0] + call.name + middle + arguments + "".join(row.tail[:1]))
        return "".join(row.open[:1]) + "".join(written_calls).rstrip("\n") + "".join(row.close[:1])

    return write
