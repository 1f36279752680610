"""The shape "Gemma": `call:f{a:<|"|>x<|"|>,n:3}` between tokens, with a syntax of its own for values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import check_depth, decode_whole
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import Plan, RawCall, RawPlan, fold
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.finding.whole_texts import refuse_too_many_openings
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, token_regex

TERMINAL_DESCRIPTIONS = {
    "OPEN": "the opening token",
    "CLOSE": "the closing token",
    "HEAD": "a call such as call:name{",
    "KEY": "a key with ':'",
    "QUOTED": "a text between quote tokens",
    "BARE": "a number or a word",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
}
_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``gemma``."""

    def read_row(text: str, limits: Limits) -> RawPlan:
        return read(row, text, limits)

    return Dialect(row.name, row.title, row.example, read_row, _writer(row), reference=read_row)


def read(row: Wrapper, text: str, limits: Limits) -> RawPlan:
    """Read the calls of a text.

    Raises:
        ParseError: there is none, or one cannot be read.
    """
    check_depth(text, limits)
    refuse_too_many_openings(_opening_pattern(row), text, limits)
    tree = grammar.run(
        grammar.load("gemma", _transformer(row.quote), _terminals(row)), text, TERMINAL_DESCRIPTIONS, row.name
    )
    check_calls(len(tree), limits)
    if not tree:
        raise ParseError(f"found no {row.open[0]!r}", text=text, dialect=row.name)
    calls = [
        RawCall(
            name, tuple((key, value) for key, value, _ in pairs), span=span, spans=tuple(p[2] for p in pairs)
        )
        for name, pairs, span in tree
    ]
    return RawPlan(tuple(calls))


@cache
def _opening_pattern(row: Wrapper) -> re.Pattern[str]:
    """Where calls open, and texts in quotes, in which none does."""
    terminals = dict(_terminals(row))
    return re.compile(f"{terminals['QUOTED.5']}|(?P<open>{terminals['OPEN.5']})", re.S)


def _terminals(row: Wrapper) -> tuple[tuple[str, str], ...]:
    quote = re.escape(row.quote)
    first = re.escape(row.quote[0])
    opening = token_regex(row.open)
    return (
        ("OPEN.5", opening),
        ("CLOSE.5", token_regex(row.close)),
        ("QUOTED.5", rf"{quote}(?:[^{first}]++|(?!{quote}){first})*+{quote}"),
        ("TEXT.-10", rf"(?:[^<]++|(?!{opening})<)++"),
    )


@cache
def _transformer(quote: str) -> Any:
    from lark import Token, Transformer

    size = len(quote)

    class GemmaTransformer(Transformer[Token, Any]):
        def start(self, items: list[Any]) -> list[Any]:
            return [item for item in items if not isinstance(item, Token)]

        def call(self, items: list[Any]) -> Any:
            name = items[0].strip()[:-1].strip().removeprefix("call:")
            pairs = [item for item in items if isinstance(item, tuple)]
            return name, pairs, (items[0].start_pos, items[-1].end_pos)

        def pair(self, items: list[Any]) -> Any:
            key = items[0].strip()[:-1].strip()
            value, *span = items[1]
            return (key[1:-1] if key[:1] == '"' else key, value, tuple(span))

        # A value is a list of itself and its place, to be told from the tokens and pairs around it.
        def quoted(self, items: list[Token]) -> Any:
            return [str(items[0])[size:-size], items[0].start_pos, items[0].end_pos]

        def bare(self, items: list[Token]) -> Any:
            text = items[0].rstrip()
            assert items[0].start_pos is not None
            return [_read_bare_value(text), items[0].start_pos, items[0].start_pos + len(text)]

        def array(self, items: list[Any]) -> Any:
            values = [item[0] for item in items if isinstance(item, list)]
            return [values, items[0].start_pos, items[-1].end_pos]

        def object(self, items: list[Any]) -> Any:
            pairs = {item[0]: item[1] for item in items if isinstance(item, tuple)}
            return [pairs, items[0].start_pos, items[-1].end_pos]

    return GemmaTransformer


def _read_bare_value(text: str) -> Any:
    if text in _LITERALS:
        return _LITERALS[text]
    return decode_whole(text) if _NUMBER.fullmatch(text) else text


def _writer(row: Wrapper) -> Callable[[Plan], str]:
    def write(plan: Plan) -> str:
        refuse_references(plan, row.name)
        calls = []
        for call in WrittenPlan(plan).calls:
            inside = ",".join(f"{key}:{_format_value(row, value)}" for key, value in call.arguments.items())
            calls.append(f"{row.open[0]}call:{call.name}{{{inside}}}{row.close[0]}")
        return "".join(calls)

    return write


def _format_value(row: Wrapper, value: Any) -> str:
    def leaf(value: Any) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        if row.quote in value:
            raise WriteError(f"the text {value[:40]!r} holds the quote token {row.quote!r}")
        return row.quote + value + row.quote

    def fields(written_fields: dict[str, str]) -> str:
        return f"{{{','.join(f'{key}:{text}' for key, text in written_fields.items())}}}"

    written: str = fold(
        value, leaf, items=lambda written_items: f"[{','.join(written_items)}]", fields=fields
    )
    return written
