"""The transformers of the notations' grammars in grammars/; apart, so that nothing else imports Lark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from lark import Token, Transformer

from planner_eval.base import grammar, json_text
from planner_eval.base.json_text import LocatedValue, build_object
from planner_eval.base.limits import Span
from planner_eval.plan.model import Arguments, RawCall, RawRef, RawTemplate, Value, map_leaves
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView, unescape_view
from planner_eval.reading.dialects.notations.appbench_terms import CALL_HEAD, ESCAPED_CHARACTER, word_value
from planner_eval.reading.dialects.programs.program_grammars import token_span

# ----------------------------------------------------------------------
# The transformer of grammars/appbench.lark; apart, so that the fast path imports no Lark.
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
        name, value = _name_and_value(items[0])
        return Argument(name, _unquote(value), token_span(items[0]))

    def word_argument(self, items: list[Token]) -> Argument:
        """Read `#name=word`."""
        name, word = _name_and_value(items[0])
        start, end = token_span(items[0])
        return Argument(name, _place_reference(word_value(word), (end - len(word), end)), (start, end))

    def text_value(self, items: list[Token]) -> Any:
        """Read a quoted text in a list."""
        (token,) = items
        return [_unquote(str(token))]

    def word_value(self, items: list[Token]) -> Any:
        """Read an unquoted word in a list."""
        (token,) = items
        return [_place_reference(word_value(str(token)), token_span(token))]

    def list_value(self, items: list[Any]) -> Any:
        """Read a list in a list."""
        return [items[-1][0]]

    def value_list(self, items: list[Any]) -> Any:
        """Collect a list's values and where its bracket closes."""
        return [item[0] for item in items if isinstance(item, list)], items[-1].end_pos

    def list_argument(self, items: list[Any]) -> Argument:
        """Read `#name=[...]`."""
        token, (values, end) = items
        return Argument(_name_and_value(token)[0], values, (token.start_pos, end))


def _name_and_value(argument: str) -> tuple[str, str]:
    match = _NAME_AND_VALUE.fullmatch(argument)
    assert match is not None
    return match[1], match[2]


def _place_reference(value: Any, span: Span) -> Any:
    return RawRef(value.name, value.path, span) if isinstance(value, RawRef) else value


def _unquote(quoted: str) -> str:
    return ESCAPED_CHARACTER.sub(r"\1", quoted[1:-1])


# ----------------------------------------------------------------------
# The reference reading of NESTful's texts, by grammars/nestful.lark; the fast path imports none of this.
#
# A text's places are those of its JSON literal, escapes and all, in the text of the whole plan.
TERMINAL_DESCRIPTIONS = {"HEAD": "a reference", "TEXT": "text"}


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A text that is a reference but for its first dollar sign; `read_label` is what it begins with."""

    label: str


class PathStep(NamedTuple):
    """A step of a reference's way, and the place after it."""

    way: str | int
    end: int


class NestfulTransformer(Transformer[Token, Any]):
    """Gives a text's parts, strings and RawRefs placed in it, or Broken; a label's name."""

    def text(self, items: list[Any]) -> list[Any] | BrokenReference:
        """Collect the parts."""
        if items and isinstance(items[0], BrokenReference):
            return items[0]
        return [str(item) if isinstance(item, Token) else item for item in items]

    def reference(self, items: list[Any]) -> RawRef:
        """Read `$label.field[0]$`."""
        head, *steps = items
        end = steps[-1].end if steps else head.end_pos
        return RawRef(head[1:], tuple(step.way for step in steps), (head.start_pos, end + 1))

    def field(self, items: list[Token]) -> PathStep:
        """Read `.field`."""
        (token,) = items
        return PathStep(token[1:], token_span(token)[1])

    def index(self, items: list[Token]) -> PathStep:
        """Read `[0]`; a position that no list has is a field of that name."""
        (token,) = items
        digits = token[1:-1]
        return PathStep(int(digits) if len(digits) < 10 else digits, token_span(token)[1])

    def broken(self, items: list[Token]) -> BrokenReference:
        """Read `label.field$`."""
        return BrokenReference(str(items[0]))

    def label(self, items: list[Token]) -> str:
        """Read a label without the dollar signs around it."""
        return str(items[0]) if items else ""


def _run_grammar(text: str, start: str) -> Any:
    return grammar.run(
        grammar.load("nestful", NestfulTransformer, start=start), text, TERMINAL_DESCRIPTIONS, "nestful"
    )


def read_label(text: str) -> str:
    """The name that a label gives.

    >>> read_label("$var_1"), read_label("var1")
    ('var_1', 'var1')
    """
    name = _run_grammar(text, "label")
    assert isinstance(name, str)
    return name


def find_broken_label(text: str) -> str | None:
    """The label with which a reference begins that lacks its first dollar sign; None of other texts.

    >>> find_broken_label("var1.product_id$"), find_broken_label("$var1.product_id$")
    ('var1', None)
    """
    reading = _run_grammar(text, "text")
    return reading.label if isinstance(reading, BrokenReference) else None


def read_text(text: str) -> str | RawRef | RawTemplate:
    """A text as itself, as a reference, or as text around references.

    >>> read_text("5 * $var1.Exchange Rate$").parts
    ('5 * ', RawRef(name='var1', path=('Exchange Rate',)))
    """
    pieces = _run_grammar(text, "text")
    match pieces:
        case [RawRef() as reference]:
            return reference
        case [*_] if any(isinstance(piece, RawRef) for piece in pieces):
            return RawTemplate(tuple(pieces))
    return text


def read_texts(data: Value) -> Value:
    """A value with its texts read, at any depth; of one whose places are not known."""
    return map_leaves(
        lambda leaf: _place_references(read_text(leaf), None) if isinstance(leaf, str) else leaf, data
    )


def read_arguments(call: RawCall, text: str, by_span: dict[Span, LocatedValue]) -> Arguments:
    """A call's arguments with their texts read.

    Args:
        call: The call, its texts as they are.
        text: The text of the whole plan.
        by_span: The JSON values of that text, by their places.
    """
    if len(call.spans) != len(call.arguments):
        return tuple((key, read_texts(item)) for key, item in call.arguments)
    return tuple(
        (key, _read_placed(by_span[span], text))
        for (key, _), span in zip(call.arguments, call.spans, strict=True)
    )


def index_by_span(located: list[LocatedValue]) -> dict[Span, LocatedValue]:
    """The JSON values of a text by their places."""
    by_span: dict[Span, LocatedValue] = {}
    waiting = list(located)
    while waiting:
        item = waiting.pop()
        by_span[item.span] = item
        if item.is_object:
            waiting += [member for _, member in item.data]
        elif isinstance(item.data, list):
            waiting += item.data
    return by_span


def _read_placed(item: LocatedValue, text: str) -> Value:
    if item.is_object:
        return build_object([(key, _read_placed(member, text)) for key, member in item.data])
    if isinstance(item.data, list):
        return [_read_placed(member, text) for member in item.data]
    if not isinstance(item.data, str):
        return item.data
    inside = unescape_view(TextView(text).cut(item.span[0] + 1, item.span[1] - 1))
    pairs = [TextEdit(*m.span(), _join_surrogates(m.group())) for m in _SURROGATES.finditer(inside.text)]
    inside = inside.edit(pairs) if pairs else inside
    return _place_references(read_text(item.data), inside if inside.text == item.data else None)


_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _join_surrogates(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")


def _place_references(read: str | RawRef | RawTemplate, view: TextView | None) -> Value:
    """References with their places in the plan's text; without them where those are not known."""
    if isinstance(read, RawTemplate):
        return RawTemplate(
            tuple(piece if isinstance(piece, str) else _place_label(piece, view) for piece in read.parts)
        )
    return read if isinstance(read, str) else _place_label(read, view)


def _place_label(ref: RawRef, view: TextView | None) -> RawRef:
    span = view.span(ref.span) if view is not None and ref.span is not None else None
    return RawRef(ref.name, ref.path, span)


# ----------------------------------------------------------------------
# The transformer of grammars/sections.lark and named.lark; apart, so that the fast path imports no Lark.
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
