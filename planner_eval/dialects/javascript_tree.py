"""The transformer of grammars/javascript.lark; apart, so that nothing else imports Lark.

A value is a pair of the node and its place.
"""

from __future__ import annotations

import re
from typing import Any

from lark import Token, Transformer

from planner_eval.dialects.program import CallNode, FieldNode, NameNode, OtherNode, TextNode
from planner_eval.dialects.python_tree import list_of, span, way

_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPE = re.compile(r"\\(?:(\r\n|\n)|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class JavaScriptTransformer(Transformer[Token, Any]):
    """Gives a list of statements: (kind, targets, value)."""

    def start(self, items: list[Any]) -> list[Any]:
        """Give the statements."""
        return [item for item in items if item is not None]

    def ignore(self, items: list[Any]) -> None:
        """Drop what says nothing."""
        return None

    def declaration(self, items: list[Any]) -> Any:
        """Read `let x`."""
        return ("declaration", (re.findall(r"[\w$]+", items[0])[-1],), None)

    def assign(self, items: list[Any]) -> Any:
        """Read `x = value`."""
        left = re.sub(r":\s*[\w.<>\[\]]+\s*$", "", items[0].rstrip().removesuffix("=").rstrip())
        return ("assign", (re.findall(r"[\w$]+", left)[-1],), items[1][0])

    def unpack_array(self, items: list[Any]) -> Any:
        """Read `[a, b] = value`."""
        return ("unpack_array", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

    def unpack_object(self, items: list[Any]) -> Any:
        """Read `{a, b} = value`."""
        return ("unpack_object", tuple(re.findall(r"[\w$]+", items[0])[1:]), items[1][0])

    def show(self, items: list[Any]) -> Any:
        """Read a value on its own."""
        return ("show", (), items[-1][0])

    def string(self, items: list[Token]) -> Any:
        """Read a quoted text."""
        return (_text(items[0][1:-1]), span(items[0]))

    def template(self, items: list[Token]) -> Any:
        """Read a text in backticks."""
        literal_span = span(items[0])
        return (_parts(str(items[0]), literal_span), literal_span)

    def number(self, items: list[Token]) -> Any:
        """Read a number."""
        text = items[0].lower().rstrip("dfl")
        return (int(text) if text.lstrip("+-").isdigit() else float(text), span(items[0]))

    def name(self, items: list[Token]) -> Any:
        """Read a literal, or a name with a way into it."""
        name_span = span(items[0])
        text = re.sub(r"^await\s+", "", items[0]).replace("?.", ".")
        if text in _LITERALS:
            return (_LITERALS[text], name_span)
        root = re.match(r"[\w$]+", text)
        assert root is not None
        return (NameNode(root.group(), way(text[root.end() :]), text, name_span), name_span)

    def array(self, items: list[Any]) -> Any:
        """Collect a list's values."""
        return (list_of(items), (items[0].start_pos, items[-1].end_pos))

    def object(self, items: list[Any]) -> Any:
        """Collect an object's members."""
        pairs = dict(item[0] for item in items if isinstance(item, tuple))
        return (pairs, (items[0].start_pos, items[-1].end_pos))

    def flat(self, items: list[Token]) -> Any:
        """Read an object of scalars at once."""
        pairs = {}
        for match in _PAIR.finditer(items[0]):
            key, text = match.groups()
            value = _LITERALS[text] if text in _LITERALS else _scalar(text)
            pairs[_text(key[1:-1]) if key[0] == '"' else key] = value
        return (pairs, span(items[0]))

    def member(self, items: list[Any]) -> Any:
        """Read `key: value`."""
        key = items[0].rstrip()[:-1].rstrip()
        return ((_text(key[1:-1]) if key[0] in "\"'" else key, items[1][0]), items[1][1])

    def shorthand(self, items: list[Token]) -> Any:
        """Read `{name}`."""
        name, name_span = str(items[0]), span(items[0])
        return ((name, NameNode(name, (), name, name_span)), name_span)

    def call(self, items: list[Any]) -> Any:
        """Read a call; gathered calls are a list of calls."""
        head, last = items[0], items[-1] if items[-1].type == "RPAR" else items[-2]
        name = re.sub(r"\s+", "", re.sub(r"^await\s+", "", head.rstrip()[:-1]))
        arguments: list[tuple[str | None, Any, Any]] = [
            (None, item[0], item[1]) for item in items if isinstance(item, tuple)
        ]
        call_span = (head.start_pos, last.end_pos)
        if name in ("Promise.all", "Promise.allSettled") and arguments:
            return (arguments[0][1], call_span)
        node: Any = CallNode(name, arguments, call_span)
        if items[-1].type == "WAY":
            return (FieldNode(node, way(items[-1])), (call_span[0], items[-1].end_pos))
        return (node, call_span)


_PAIR = re.compile(
    r'([^\W\d][\w$]*+|"(?:[^"\\\n]++|\\.)*+")\s*+:\s*+("(?:[^"\\\n]++|\\.)*+"|[^\s,}]++)', re.S
)


def _scalar(text: str) -> Any:
    if text[0] == '"':
        return _text(text[1:-1])
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _text(text: str) -> str:
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    newline, long, four, two, plain = match.groups()
    if newline:
        return ""
    code = long or four or two
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _PLAIN.get(plain, plain)


_HOLE = re.compile(
    r"\$\{\s*+([^\W\d][\w$]*+)((?:\??\.[^\W\d][\w$]*+|\[\s*+(?:\d++|\"[^\"]*+\"|'[^']*+')\s*+\])*+)\s*+\}"
)


def _parts(text: str, literal_span: tuple[int, int]) -> Any:
    body = text[1:-1]
    pieces: list[Any] = []
    end = 0
    for match in _HOLE.finditer(body):
        pieces.append(_text(body[end : match.start()]))
        source = match[1] + match[2]
        pieces.append(NameNode(match[1], way(match[2].replace("?.", ".")), source, literal_span))
        end = match.end()
    pieces.append(_text(body[end:]))
    if "${" in _HOLE.sub("", body):
        return OtherNode("a computed template", text, literal_span, literal_span[0])
    return TextNode(pieces, text, literal_span) if len(pieces) > 1 else pieces[0]
