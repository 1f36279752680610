"""The transformer of grammars/appbench.lark; apart, so that the fast path imports no Lark."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lark import Token, Transformer

from planner_eval.base.limits import Span
from planner_eval.plan.model import RawRef
from planner_eval.reading.dialects.notations.appbench_terms import CALL_HEAD, ESCAPED_CHARACTER, word_value

_NAME_AND_VALUE = re.compile(r"#(\w++)\s*+=\s*+(.*)", re.S)


class Argument(NamedTuple):
    """A call's argument, and where it stands."""

    name: str
    value: Any
    span: Span


class AppBenchTransformer(Transformer[Token, Any]):
    """Gives a list of (app, name, returned names, [(argument, value, place)], place)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Flatten the sections."""
        return [call for item in items for call in (item if isinstance(item, list) else [item])]

    def section(self, items: list[Any]) -> list[Any]:
        """Give each call of `App: [...]` its app."""
        app = str(items[0]).rstrip()[:-1].strip()
        return [(app, *call[1:]) for call in items if isinstance(call, tuple)]

    def call(self, items: list[Any]) -> Any:
        """Split the head into returned names and the tool's name."""
        head, closing = items[0], items[-1]
        match = CALL_HEAD.fullmatch(head)
        assert match is not None
        arguments = [item for item in items if isinstance(item, tuple)]
        return (None, match[2], match[1], arguments, (head.start_pos, closing.end_pos))

    def text_argument(self, items: list[Token]) -> Argument:
        """Read `#name='value'`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        return Argument(match[1], _unquote(match[2]), _token_span(items[0]))

    def word_argument(self, items: list[Token]) -> Argument:
        """Read `#name=word`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        end = items[0].end_pos
        assert end is not None
        value = _place_reference(word_value(match[2]), (end - len(match[2]), end))
        return Argument(match[1], value, _token_span(items[0]))

    def text_value(self, items: list[Token]) -> Any:
        """Read a quoted text in a list."""
        return [_unquote(str(items[0]))]

    def word_value(self, items: list[Token]) -> Any:
        """Read an unquoted word in a list."""
        return [_place_reference(word_value(str(items[0])), _token_span(items[0]))]

    def list_value(self, items: list[Any]) -> Any:
        """Read a list in a list."""
        return [items[-1][0]]

    def value_list(self, items: list[Any]) -> Any:
        """Collect a list's values and where its bracket closes."""
        return [item[0] for item in items if isinstance(item, list)], items[-1].end_pos

    def list_argument(self, items: list[Any]) -> Argument:
        """Read `#name=[...]`."""
        match = _NAME_AND_VALUE.fullmatch(items[0])
        assert match is not None
        values, end = items[1]
        return Argument(match[1], values, (items[0].start_pos, end))


def _place_reference(value: Any, span: Span) -> Any:
    return RawRef(value.name, value.path, span) if isinstance(value, RawRef) else value


def _unquote(quoted: str) -> str:
    return ESCAPED_CHARACTER.sub(r"\1", quoted[1:-1])


def _token_span(token: Token) -> Span:
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos
