"""The transformer of grammars/sections.lark and named.lark; apart, so that the fast path imports no Lark."""

from __future__ import annotations

from typing import Any, NamedTuple

from lark import Token

from planner_eval.base import json_text

_JsonTransformer: Any = json_text.transformer()


class NamedCall(NamedTuple):
    """A named call's arguments."""

    name: str
    value: Any


class FramedTransformer(_JsonTransformer):  # type: ignore[misc]
    """Gives a list of values (sections) or of (name, values) pairs (named)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Drop the text around the calls."""
        return [item for item in items if not isinstance(item, Token)]

    def section(self, items: list[Any]) -> list[Any]:
        """Give the values between two tokens."""
        return [item for item in items if not isinstance(item, Token)]

    def entry(self, items: list[Any]) -> NamedCall:
        """Give a name and its arguments."""
        name = next(item for item in items if isinstance(item, Token) and item.type == "NAME")
        return NamedCall(str(name), next(item for item in items if not isinstance(item, Token)))


class PlacedTransformer(FramedTransformer):
    """The same, with each named call's place: (name, value, place)."""

    def entry(self, items: list[Any]) -> Any:
        """Give a name, its arguments and where the call stands."""
        inside = [item for item in items if getattr(item, "type", "") != "TEXT"]
        first, last = inside[0], inside[-1]
        end = last.end_pos if isinstance(last, Token) else last.span[1]
        return (*super().entry(items), (first.start_pos, end))
