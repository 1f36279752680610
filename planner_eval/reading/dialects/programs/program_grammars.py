"""The transformers of grammars/python.lark and javascript.lark; apart, so that nothing else imports Lark."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lark import Token, Transformer

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import build_object
from planner_eval.base.limits import Span
from planner_eval.plan.model import RawComputed
from planner_eval.reading.dialects.programs.syntax import (
    CallNode,
    GrammarModule,
    JavaScriptModule,
    KeywordNode,
    KnownNode,
    ObjectNode,
    has_leading_zero,
)

_PATH_STEP = re.compile(r"\.([^\W\d]\w*+)|\[\s*+(?:(\d++)|'([^']*+)'|\"([^\"]*+)\")\s*+\]")
_KEY = re.compile(r"([^\W\d][\w\-.]*+)\s*+=\s*+")
_ESCAPE = re.compile(
    r"\\(?:(\r\n|\n)|([\\'\"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|([0-7]{1,3}))"
)
_ESCAPED_CHARACTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LITERAL_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


def unquote(text: str) -> str:
    r"""A Python string literal's text.

    >>> unquote("'it\\'s'"), unquote("r'a\\n'"), unquote('""' * 3)
    ("it's", 'a\\n', '')
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
        return _ESCAPED_CHARACTERS.get(plain, plain)
    return chr(int(octal, 8)) if octal else chr(int(next(code for code in codes if code), 16))


def read_scalar(text: str) -> Any:
    """A number, a word or a string literal as data."""
    if text in _LITERAL_WORDS:
        return _LITERAL_WORDS[text]
    if text[-1] in "\"'":
        return unquote(text)
    plain = text.replace("_", "")
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def token_span(token: Token) -> Span:
    """Where a token stands."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


def place(node: Any, span: Span) -> Any:
    """A node of a syntax tree with its place in the text."""
    node.col_offset, node.end_col_offset = span
    return node


def _nodes(items: list[Any]) -> list[Any]:
    """What is no token."""
    return [item for item in items if not isinstance(item, Token)]


def _way(text: str, root: Any, span: Span) -> Any:
    """A way into what a node is, such as `.city[0]["id"]`."""
    for match in _PATH_STEP.finditer(text):
        field, position, single, double = match.groups()
        if field:
            root = place(ast.Attribute(root, field, ast.Load()), span)
        else:
            step = int(position) if position else single or double or ""
            root = place(ast.Subscript(root, ast.Constant(step), ast.Load()), span)
    return root


def _name(text: str, span: Span) -> Any:
    """A name and the way behind it."""
    root = re.match(r"[\w$]+", text)
    assert root is not None
    return _way(text[root.end() :], place(ast.Name(root[0], ast.Load()), span), span)


def _assigned(names: Sequence[str], value: Any, *, unpack: bool) -> Any:
    """An assignment to names."""
    targets = [place(ast.Name(name, ast.Store()), position(value)) for name in names]
    target = ast.Tuple(targets, ast.Store()) if unpack else targets[0]
    return ast.Assign([target], value)


def position(node: Any) -> Span:
    """Where a node stands that :func:`place` has placed."""
    return node.col_offset, node.end_col_offset


class ProgramTransformer(Transformer[Token, Any]):
    """Gives the statements of a program, as of Python's own tree."""

    module = GrammarModule
    literals: Mapping[str, Any] = _LITERAL_WORDS

    def start(self, items: list[Any]) -> ast.Module:
        """Collect the statements."""
        return self.module([item for item in items if item is not None], [])

    def number(self, items: list[Token]) -> Any:
        """Read a number."""
        (token,) = items
        text = token.lower().rstrip("dfl")
        value = RawComputed(text) if has_leading_zero(text) else read_scalar(text)  # it may be a code
        return KnownNode(value, *token_span(token))

    def name(self, items: list[Token]) -> Any:
        """Read a literal, or a name with a way into it."""
        (token,) = items
        text, span = re.sub(r"^await\s+", "", token).replace("?.", "."), token_span(token)
        return KnownNode(self.literals[text], *span) if text in self.literals else _name(text, span)

    def array(self, items: list[Any]) -> Any:
        """Read a list or a tuple."""
        return place(ast.List(_nodes(items), ast.Load()), (items[0].start_pos, items[-1].end_pos))

    def object(self, items: list[Any]) -> Any:
        """Read an object of pairs of key and value."""
        return ObjectNode(build_object(_nodes(items)), items[0].start_pos, items[-1].end_pos)

    def call(self, items: list[Any]) -> Any:
        """Read a call, its named arguments last, and the way into its result."""
        head, way = items[0], items[-1] if items[-1].type == "WAY" else None
        name = re.sub(r"\s+", "", re.sub(r"^await\s+", "", head.rstrip()[:-1]))
        span = (head.start_pos, items[-2 if way else -1].end_pos)
        arguments = _nodes(items)
        count = next((i for i, item in enumerate(arguments) if isinstance(item, KeywordNode)), len(arguments))
        plain, keywords = arguments[:count], arguments[count:]
        loose = next((item for item in keywords if not isinstance(item, KeywordNode)), None)
        if loose is not None:
            error = ParseError("found a value without a name after named arguments, expected name=value")
            error.offset = position(loose)[0]
            raise error
        node = CallNode(name, plain, keywords, *span)
        return node if way is None else _way(way, node, (span[0], way.end_pos or 0))


class PythonTransformer(ProgramTransformer):
    """The transformer of grammars/python.lark."""

    def item(self, items: list[Any]) -> Any:
        """Read a statement and its targets."""
        if not isinstance(items[0], Token):
            return ast.Expr(items[0])
        names = [name.strip() for name in items[0].split("=")[0].split(",")]
        return _assigned(names, items[-1], unpack=len(names) > 1)

    list = ProgramTransformer.array

    def array(self, items: Any) -> Any:
        """Read a list or a tuple; parentheses around one value without a comma are none."""
        is_tuple = items[0].type == "LSQB" or len(items) != 3
        return super().array(items) if is_tuple else items[1]

    def pair(self, items: Any) -> Any:
        """Read a dict's item."""
        token, *_, value = items
        key = str(token)
        if token.type == "STRING":
            return unquote(key), value
        return {"True": "true", "False": "false", "None": "null"}.get(key, key), value

    def string(self, items: Any) -> Any:
        """Read a text; of bytes, which are none, the source text."""
        (token,) = items
        text = str(token)
        return KnownNode(RawComputed(text) if text[0] == "b" else unquote(text), *token_span(token))

    def expression(self, items: Any) -> Any:
        """Read an expression of numbers: its source text."""
        (token,) = items
        return KnownNode(RawComputed(str(token)), *token_span(token))

    def scalar_argument(self, items: Any) -> Any:
        """Read `a=1`, one token."""
        (token,) = items
        match = _KEY.match(token)
        assert match is not None
        start, end = token_span(token)
        value = KnownNode(read_scalar(token[match.end() :]), start + match.end(), end)
        return KeywordNode(match[1], value)

    def keyed_argument(self, items: Any) -> Any:
        """Read `a=` and a value."""
        token, value = items
        return KeywordNode(token.split("=")[0].strip(), value)

    def plain_argument(self, items: Any) -> Any:
        """Read a positional argument."""
        (value,) = items
        return value


_JS_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
_JS_ESCAPE = re.compile(
    r"\\(?:(\r\n|\n)|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S
)
_JS_ESCAPED_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class JavaScriptTransformer(ProgramTransformer):
    """The transformer of grammars/javascript.lark."""

    module = JavaScriptModule
    literals = _JS_LITERALS

    def ignore(self, items: list[Any]) -> None:
        """Drop what says nothing."""
        return None

    def declaration(self, items: list[Any]) -> Any:
        """Read `let x`: until something is assigned it is its name."""
        (token,) = items
        name = re.findall(r"[\w$]+", token)[-1]
        return _assigned([name], _name(name, token_span(token)), unpack=False)

    def assign(self, items: list[Any]) -> Any:
        """Read `x = value`."""
        token, value = items
        left = re.sub(r":\s*[\w.<>\[\]]+\s*$", "", token.rstrip().removesuffix("=").rstrip())
        return _assigned(re.findall(r"[\w$]+", left)[-1:], value, unpack=False)

    def unpack_array(self, items: list[Any]) -> Any:
        """Read `[a, b] = value`."""
        token, value = items
        return _assigned(re.findall(r"[\w$]+", token)[1:], value, unpack=True)

    def unpack_object(self, items: list[Any]) -> Any:
        """Read `{a, b} = value`."""
        statement = self.unpack_array(items)
        statement.targets[0].keys = [target.id for target in statement.targets[0].elts]
        return statement

    def show(self, items: list[Any]) -> Any:
        """Read a value on its own."""
        return ast.Expr(items[-1])

    def give_back(self, items: list[Any]) -> Any:
        """Read `return value`."""
        return ast.Return(items[-1])

    def string(self, items: list[Token]) -> Any:
        """Read a quoted text."""
        (token,) = items
        return KnownNode(_unescape_js_text(token[1:-1]), *token_span(token))

    def template(self, items: list[Token]) -> Any:
        """Read a text in backticks."""
        (token,) = items
        return _read_template(str(token), token_span(token))

    def member(self, items: list[Any]) -> Any:
        """Read `key: value`."""
        token, value = items
        key = token.rstrip()[:-1].rstrip()
        return (_unescape_js_text(key[1:-1]) if key[0] in "\"'" else key), value

    def shorthand(self, items: list[Token]) -> Any:
        """Read `{name}`."""
        (token,) = items
        return str(token), _name(token, token_span(token))


def _unescape_js_text(text: str) -> str:
    return _JS_ESCAPE.sub(_unescape_js, text) if "\\" in text else text


def _unescape_js(match: re.Match[str]) -> str:
    newline, long, four, two, plain = match.groups()
    if newline:
        return ""
    code = long or four or two
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _JS_ESCAPED_CHARACTERS.get(plain, plain)


_TEMPLATE_FIELD = re.compile(
    r"\$\{\s*+([^\W\d][\w$]*+)((?:\??\.[^\W\d][\w$]*+|\[\s*+(?:\d++|\"[^\"]*+\"|'[^']*+')\s*+\])*+)\s*+\}"
)


def _read_template(text: str, span: Span) -> Any:
    body = text[1:-1]
    if "${" in _TEMPLATE_FIELD.sub("", body):
        return place(ast.FormattedValue(ast.Constant(""), -1), span)
    pieces: list[Any] = []
    end = 0
    for match in _TEMPLATE_FIELD.finditer(body):
        pieces.append(KnownNode(_unescape_js_text(body[end : match.start()]), *span))
        value = _name(match[1] + match[2].replace("?.", "."), span)
        pieces.append(ast.FormattedValue(value, -1))
        end = match.end()
    pieces.append(KnownNode(_unescape_js_text(body[end:]), *span))
    return place(ast.JoinedStr(pieces), span) if len(pieces) > 1 else pieces[0]
