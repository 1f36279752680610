"""The transformer of grammars/python.lark: Python calls to the nodes of a program."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

from lark import Token, Transformer

from planner_eval.base.limits import Span
from planner_eval.dialects.program import CallNode, FieldNode, NameNode, OtherNode
from planner_eval.plan.model import Path

_STEP = re.compile(r"\.([^\W\d]\w*+)|\[\s*+(?:(\d++)|'([^']*+)'|\"([^\"]*+)\")\s*+\]")
_KEY = re.compile(r"([^\W\d][\w\-.]*+)\s*+=\s*+")
_HEAD = re.compile(r"(?:await\b\s*+)?+([^\W\d]\w*+(?:[.\-][\w\-]++)*+)\(\s*+")
_ARGUMENT = re.compile(
    r"([^\W\d][\w\-.]*+)\s*+=\s*+(\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|[^\s,)]++)\s*+(?:,\s*+)?+",
    re.S,
)
_ESCAPE = re.compile(
    r"\\(?:(\r\n|\n)|([\\'\"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([0-7]{1,3}))"
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


def unquoted(text: str) -> str:
    r"""A Python string literal's text.

    >>> unquoted("'it\\'s'"), unquoted("r'a\\n'")
    ("it's", 'a\\n')
    """
    raw = text[0] in "rR"
    body = text.lstrip("rRbB")
    size = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    body = body[size:-size]
    return body if raw or "\\" not in body else _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    newline, plain, *codes, octal = match.groups()
    if newline:
        return ""
    if plain:
        return _PLAIN.get(plain, plain)
    return chr(int(octal, 8)) if octal else chr(int(next(code for code in codes if code), 16))


def scalar(text: str) -> Any:
    """A number, a word or a string literal as data."""
    if text in _WORDS:
        return _WORDS[text]
    if text[-1] in "\"'":
        return unquoted(text)
    plain = text.replace("_", "")
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def way(text: str) -> Path:
    """The fields and positions of a way such as `.city[0]["id"]`."""
    return tuple(
        int(position) if position else field or single or double
        for field, position, single, double in _STEP.findall(text)
    )


def span(token: Token) -> Span:
    """Where a token stands."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


_Items: TypeAlias = list[Any]
"""Named apart, for the class below has a rule called ``list``."""


class Statement(NamedTuple):
    """A value on its own, or what it is assigned to."""

    targets: tuple[str, ...]
    node: Any


class PythonTransformer(Transformer[Token, Any]):
    """Gives a list of (targets, node) statements."""

    def start(self, items: _Items) -> _Items:
        """Collect the statements."""
        return items

    def item(self, items: _Items) -> Statement:
        """Read a statement and its targets."""
        targets: tuple[str, ...] = ()
        if isinstance(items[0], Token):
            targets = tuple(name.strip() for name in items[0].split("=")[0].split(","))
        return Statement(targets, _value(items[-1]))

    def list(self, items: _Items) -> Any:
        """Read a list of calls."""
        return (list_of(items), _outer(items))

    def array(self, items: _Items) -> Any:
        """Read a list or a tuple."""
        return (list_of(items), _outer(items))

    def object(self, items: _Items) -> Any:
        """Read a dict."""
        return (
            dict(item[1] for item in items if isinstance(item, tuple) and item[0] == "pair"),
            _outer(items),
        )

    def pair(self, items: _Items) -> Any:
        """Read a dict's item."""
        key, value = items[0], items[-1]
        name = unquoted(key) if key.type == "STRING" else str(key)
        return ("pair", (name, _value(value)))

    def string(self, items: _Items) -> Any:
        """Read a text."""
        return (unquoted(items[0]), span(items[0]))

    def number(self, items: _Items) -> Any:
        """Read a number."""
        return (scalar(items[0]), span(items[0]))

    def name(self, items: _Items) -> Any:
        """Read a name, or one of Python's and JSON's words."""
        text = str(items[0])
        name_span = span(items[0])
        if text in _WORDS:
            return (_WORDS[text], name_span)
        root = re.match(r"\w+", text)
        assert root is not None
        return (NameNode(root.group(), way(text[root.end() :]), text, name_span), name_span)

    def expression(self, items: _Items) -> Any:
        """Read an expression of numbers: its source text."""
        source_span = span(items[0])
        return (OtherNode("an expression", str(items[0]), source_span, source_span[0], [], True), source_span)

    def scalar_argument(self, items: _Items) -> Any:
        """Read `a=1`, one token."""
        match = _KEY.match(items[0])
        assert match is not None
        start, end = span(items[0])
        return ("argument", match[1], scalar(items[0][match.end() :]), (start + match.end(), end))

    def keyed_argument(self, items: _Items) -> Any:
        """Read `a=` and a value."""
        return ("argument", items[0].split("=")[0].strip(), *_placed(items[1]))

    def plain_argument(self, items: _Items) -> Any:
        """Read a positional argument."""
        return ("argument", None, *_placed(items[0]))

    def flat(self, items: _Items) -> Any:
        """Read a call of plain named values, one token."""
        token = items[0]
        head = _HEAD.match(token)
        assert head is not None
        arguments = []
        for match in _ARGUMENT.finditer(token, head.end()):
            start, end = match.span(2)
            arguments.append((match[1], scalar(match[2]), (token.start_pos + start, token.start_pos + end)))
        return (CallNode(head[1], arguments, span(token)), span(token))

    def call(self, items: _Items) -> Any:
        """Read a call, and the way into its result."""
        head = items[0]
        last = items[-1] if items[-1].type == "RPAR" else items[-2]
        name = re.sub(r"^await\s+", "", head.rstrip()[:-1].rstrip())
        arguments = [
            (item[1], item[2], item[3]) for item in items if isinstance(item, tuple) and item[0] == "argument"
        ]
        call_span = (head.start_pos, last.end_pos)
        node: Any = CallNode(name, arguments, call_span)
        if items[-1].type == "WAY":
            node = FieldNode(node, way(items[-1]))
            call_span = (call_span[0], items[-1].end_pos)
        return (node, call_span)


def list_of(items: list[Any]) -> list[Any]:
    """The values among brackets and commas."""
    return [item[0] for item in items if isinstance(item, tuple)]


def _value(item: Any) -> Any:
    return item[0]


def _placed(item: Any) -> tuple[Any, Span]:
    value, value_span = item
    return value, value_span


def _outer(items: list[Any]) -> Span:
    return items[0].start_pos, items[-1].end_pos
