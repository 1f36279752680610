"""Calls written as Java or JavaScript expressions, as BFCL's prompts ask for them: read, never run.

The published code parses them with tree-sitter. Here a small parser of both languages' expressions finds the
first call, its named arguments, and the text of each value as the published code joins it: JavaScript's as it
stands, Java's without blanks but inside of calls. Statements are not read: of a text that is more than an
expression with a semicolon behind it, only what stands before the semicolon counts.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/java_parser.py``, ``js_parser.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

MAX_CHARS = 1 << 18
_MAX_DEPTH = 150
_SMALLEST_JAVA = 10
"""Bytes of an expression without its semicolon, up to which tree-sitter takes it for an error and goes on."""
_REPEATED = "Error: Multiple arguments with the same name are not supported."


class Node(NamedTuple):
    """A part of an expression.

    Args:
        kind: What it is.
        start: Where it begins.
        end: Where it ends.
        parts: What it is made of.
    """

    kind: str
    start: int
    end: int
    parts: tuple[Node, ...] = ()


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


_STRING = {True: r'"(?:[^"\\]|\\.)*"', False: r'"(?:[^"\\\n]|\\.)*"'}
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = (
    r"0[xX][0-9a-fA-F_]+(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9]+)?[lLn]?|0[bB][01_]+[lLn]?|0[oO][0-7_]+n?|"
    rf"(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?[0-9]+)?[fFdDlLn]?"
)
_SIGNS = (
    ">>>=|<<=|>>=|>>>|===|!==|\\*\\*=|\\.\\.\\.|&&=|\\|\\|=|\\?\\?=|->|=>|::|\\+\\+|--|&&|\\|\\||\\?\\?|\\?\\.|"
    "\\*\\*|==|!=|<=|>=|<<|\\+=|-=|\\*=|/=|%=|&=|\\|=|\\^=|[-+*/%=<>!&|^~?:;,.(){}\\[\\]@]"
)
_TOKENS = {
    java: re.compile(
        rf"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<block>\"\"\".*?\"\"\")"
        rf"|(?P<string>{text}|'(?:[^'\\\n]|\\.)*')|(?P<template>`(?:[^`\\]|\\.)*`)"
        rf"|(?P<number>{_NUMBER})|(?P<name>[^\W\d][\w$]*|[$][\w$]*)|(?P<sign>{_SIGNS})",
        re.DOTALL,
    )
    for java, text in _STRING.items()
}
"""What the languages are made of; a text of Java may go on in the next line."""
_JAVA_TYPES = frozenset({"int", "long", "short", "byte", "char", "float", "double", "boolean", "void"})
_PATTERN = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*(?![\w$])")
_ELEMENT = re.compile(r"<(\w+)[^<>{}]*>[^<>{}]*</\1>|<\w+[^<>{}]*/>")
_BINARY = {
    sign: level
    for level, signs in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >= instanceof", "<< >> >>>", "+ -", "* / %"), 2
    )
    for sign in signs.split()
}
_JAVASCRIPT_BINARY = {**_BINARY, "===": 7, "!==": 7, "??": 1, "in": 8, "**": 12}
_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= >>>= **= &&= ||= ??=".split())  # noqa: SIM905


class _Parser:
    """A parser of expressions; raises SyntaxError where there is none."""

    def __init__(self, text: str, *, java: bool) -> None:
        if len(text) > MAX_CHARS:
            raise ValueError(f"the text has {len(text):,} characters, of at most {MAX_CHARS:,}")
        self.text, self.java, self.depth = text, java, 0
        self.tokens = self._tokens()
        self.place = 0
        self.mended = False
        self.behind = self._signs_behind()

    def _tokens(self) -> list[_Token]:
        tokens, place, pattern = [], 0, _TOKENS[self.java]
        while place < len(self.text):
            matched = pattern.match(self.text, place)
            if matched is None or matched.end() == place:
                raise self.error()
            kind = str(matched.lastgroup)
            if kind == "template" and self.java:
                raise self.error()
            if kind != "blank":
                tokens.append(_Token(kind, matched.group(), matched.start(), matched.end()))
            place = matched.end()
        end = len(self.text)
        return [*tokens, _Token("end", "", end, end)]

    def error(self) -> SyntaxError:
        """The published complaint."""
        return SyntaxError(f"Error {'parsing java' if self.java else 'js parsing'} the source code.")

    # ------------------------------------------------------------------ tokens
    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def ahead(self, count: int = 1) -> _Token:
        return self.tokens[min(self.place + count, len(self.tokens) - 1)]

    def take(self, text: str | None = None, kind: str | None = None) -> _Token:
        token = self.token
        if (text is not None and token.text != text) or (kind is not None and token.kind != kind):
            raise self.error()
        if token.kind == "end":
            raise self.error()
        self.place += 1
        return token

    def has(self, *texts: str) -> bool:
        return self.token.kind in ("sign", "name") and self.token.text in texts

    def leaf(self, kind: str, token: _Token) -> Node:
        return Node(kind, token.start, token.end)

    def sign(self, text: str) -> Node:
        """A sign; of several that were read as one only the first.

        One closing bracket of a text may be absent, as for tree-sitter, where more follows.
        """
        token = self.token
        if (
            text in (")", "]", "}")
            and not token.text.startswith(text)
            and token.kind == "sign"
            and not self.mended
        ):
            self.mended = True
            end = self.tokens[self.place - 1].end
            return Node("sign", end, end)
        if token.kind == "sign" and token.text != text and token.text.startswith(text):
            self.tokens[self.place] = _Token(
                "sign", token.text[len(text) :], token.start + len(text), token.end
            )
            return Node("sign", token.start, token.start + len(text))
        return self.leaf("sign", self.take(text))

    def node(self, kind: str, parts: list[Node]) -> Node:
        return Node(kind, parts[0].start, parts[-1].end, tuple(parts))

    # ------------------------------------------------------------------ expressions
    def declared(self) -> bool:
        """Pass over what gives an expression away or a name: ``return``, ``const x =``, ``String x =``."""
        if self.has("return", "throw"):
            self.take()
            return True
        if self.token.kind == "name" and self.ahead().text == ":":
            self.take()
            self.sign(":")
            return True
        if not self.java:
            if not self.has("const", "let", "var"):
                return False
            self.take()
            self.take(kind="name")
            if self.has("="):
                self.sign("=")
            else:
                self.tokens.insert(
                    self.place, _Token("name", "undefined", self.token.start, self.token.start)
                )
            return True
        return self._attempt(self._declaration) is not None

    def _declaration(self) -> Node:
        parts = [self._type(), self.leaf("identifier", self.take(kind="name")), self.sign("=")]
        return self.node("declaration", parts)

    def expression(self) -> Node:
        """An expression without commas."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise RecursionError("the expression nests too deeply")
        try:
            function = self._function()
            if function is not None:
                return function
            left = self._binary(0)
            if self.token.kind == "sign" and self.token.text == "?":
                parts = [left, self.sign("?"), self.expression(), self.sign(":"), self.expression()]
                return self.node("conditional", parts)
            if self.token.kind == "sign" and self.token.text in _ASSIGNMENTS:
                if left.kind not in ("identifier", "member", "index", "object", "array"):
                    raise self.error()
                sign = self.leaf("sign", self.take())
                kind = "assignment" if sign.end - sign.start == 1 or self.java else "augmented"
                return self.node(kind, [left, sign, self.expression()])
            return left
        finally:
            self.depth -= 1

    def _function(self) -> Node | None:
        """A lambda or an arrow function; None where none begins here."""
        start, sign = self.place, "->" if self.java else "=>"
        parts: list[Node] = []
        if not self.java and self.has("async") and self.ahead().text != sign:
            parts.append(self.leaf("word", self.take()))
        if self.token.kind == "name" and self.ahead().text == sign:
            parts.append(self.leaf("identifier", self.take()))
        elif self.has("(") and self._closing_is_followed_by(sign):
            parts += self._balanced()
        else:
            self.place = start
            return None
        parts.append(self.sign(sign))
        parts += self._balanced() if self.has("{") else [self.expression()]
        return self.node("lambda", parts)

    def _closing_is_followed_by(self, sign: str) -> bool:
        """Whether that sign stands behind the bracket that closes the one here."""
        return self.behind.get(self.token.start) == sign

    def _signs_behind(self) -> dict[int, str]:
        """For the place of each opening bracket what stands behind the one that closes it."""
        behind, opened = {}, []
        for token, following in pairwise(self.tokens):
            if token.kind == "sign" and token.text in ("(", "[", "{"):
                opened.append(token.start)
            elif token.kind == "sign" and token.text in (")", "]", "}") and opened:
                behind[opened.pop()] = following.text
        return behind

    def _balanced(self) -> list[Node]:
        """All tokens from a bracket to the one that closes it."""
        closing = {"(": ")", "[": "]", "{": "}"}
        parts, stack = [], []
        while True:
            token = self.take()
            parts.append(self.leaf("token", token))
            if token.kind == "sign" and token.text in closing:
                stack.append(closing[token.text])
            elif (
                token.kind == "sign"
                and token.text in closing.values()
                and (not stack or stack.pop() != token.text)
            ):
                raise self.error()
            if not stack:
                return parts

    def _binary(self, lowest: int) -> Node:
        levels = _BINARY if self.java else _JAVASCRIPT_BINARY
        left = self._unary()
        while self.token.kind in ("sign", "name") and levels.get(self.token.text, -1) >= max(lowest, 1):
            operator = self.take()
            sign = self.leaf("sign", operator)
            if operator.text == "instanceof" and self.java:
                right = self._type()
            else:
                right = self._binary(levels[operator.text] + 1)
            left = self.node("binary", [left, sign, right])
        return left

    def _unary(self) -> Node:
        words = () if self.java else ("typeof", "void", "delete", "await")
        if self.token.kind == "sign" and self.token.text in ("+", "-", "!", "~", "++", "--"):
            sign = self.leaf("sign", self.take())
            return self.node("unary", [sign, self._unary()])
        if self.has(*words) if words else False:
            return self.node("unary", [self.leaf("word", self.take()), self._unary()])
        if self.java and self.has("("):
            cast = self._attempt(self._cast)
            if cast is not None:
                return cast
        node = self._postfix(self._primary())
        if self.token.kind == "sign" and self.token.text in ("++", "--"):
            node = self.node("update", [node, self.leaf("sign", self.take())])
        return node

    def _attempt(self, read: Callable[[], Node]) -> Node | None:
        start, tokens, mended = self.place, list(self.tokens), self.mended
        self.mended = True  # a guess is not mended
        try:
            return read()
        except SyntaxError:
            self.place, self.tokens = start, tokens
            return None
        finally:
            self.mended = mended

    def _cast(self) -> Node:
        parts = [self.sign("("), self._type(), self.sign(")")]
        primitive = self.text[parts[1].start : parts[1].end] in _JAVA_TYPES
        token = self.token
        if not primitive and not (
            token.kind in ("name", "string", "number", "block") or token.text in ("(", "!", "~")
        ):
            raise self.error()
        return self.node("cast", [*parts, self._unary()])

    def _primary(self) -> Node:
        token = self.token
        if token.kind == "string":
            if self.java and token.text[0] == "'":
                if token.text == "''":
                    raise self.error()
                return self.leaf("character", self.take())
            return self.leaf("string", self.take())
        if token.kind in ("number", "template", "block"):
            if token.kind == "number" and token.text[-1:] == "n" and self.java:
                raise self.error()
            return self.leaf("string" if token.kind == "block" else token.kind, self.take())
        if token.kind == "name":
            return self._named()
        if token.text == "(":
            parts = [self.sign("("), self.expression()]
            while not self.java and self.has(","):
                parts += [self.sign(","), self.expression()]
            return self.node("parenthesized", [*parts, self.sign(")")])
        if not self.java and token.text in ("[", "{"):
            return self._array() if token.text == "[" else self._object()
        if not self.java and token.text == "/":
            return self._leap("pattern", _PATTERN)
        if not self.java and token.text == "<":
            return self._leap("element", _ELEMENT)
        raise self.error()

    def _named(self) -> Node:
        token = self.token
        if token.text == "new":
            return self._java_new() if self.java else self._javascript_new()
        if self.java and token.text in _JAVA_TYPES:
            parts = [self._type()]
            return self.node("class_literal", [*parts, self.sign("."), self.leaf("word", self.take("class"))])
        if not self.java and token.text == "async" and self.ahead().text == "function":
            return self.node("function", [self.leaf("word", self.take()), self._definition()])
        if not self.java and token.text in ("function", "class"):
            return self._definition()
        constants = (
            ("true", "false", "null", "this", "super")
            if self.java
            else ("true", "false", "null", "this", "undefined")
        )
        return self.leaf("constant" if token.text in constants else "identifier", self.take())

    def _definition(self) -> Node:
        parts = [self.leaf("word", self.take())]
        while not self.has("(", "{"):
            if self.token.kind != "name" and self.token.text not in ("*", "."):
                raise self.error()
            parts.append(self.leaf("token", self.take()))
        if self.has("("):
            parts += self._balanced()
        parts += self._balanced() if self.has("{") else [self.sign("{")]
        return self.node("function", parts)

    def _leap(self, kind: str, pattern: re.Pattern[str]) -> Node:
        """A part that is not made of tokens."""
        matched = pattern.match(self.text, self.token.start)
        if matched is None:
            raise self.error()
        while self.token.start < matched.end() and self.token.kind != "end":
            self.place += 1
        return Node(kind, matched.start(), matched.end())

    def _postfix(self, node: Node) -> Node:
        while True:
            if self.has(".", "?."):
                parts = [node, self.leaf("sign", self.take())]
                if not self.java and self.has("(", "["):
                    node = self._call(parts) if self.has("(") else self._index(parts)
                    continue
                if self.java and self.has("class"):
                    node = self.node("class_literal", [*parts, self.leaf("word", self.take())])
                    continue
                if self.java and self.has("new"):
                    made = self._java_new()
                    node = Node("object_creation", node.start, made.end, made.parts)
                    continue
                if self.java and self.has("<"):
                    parts += self._type_arguments()
                node = self.node("member", [*parts, self.leaf("identifier", self.take(kind="name"))])
            elif self.has("("):
                if self.java and node.kind not in ("identifier", "member", "constant"):
                    raise self.error()
                node = self._call([node])
            elif self.has("["):
                node = self._index([node])
            elif self.java and self.has("::"):
                parts = [node, self.sign("::")]
                node = self.node("method_reference", [*parts, self.leaf("word", self.take(kind="name"))])
            elif not self.java and self.token.kind == "template":
                node = self.node("call", [node, self.leaf("template", self.take())])
            else:
                return node

    def _index(self, parts: list[Node]) -> Node:
        return self.node("index", [*parts, self.sign("["), self.expression(), self.sign("]")])

    def _call(self, parts: list[Node]) -> Node:
        return self.node("call", [*parts, self._arguments()])

    def _arguments(self) -> Node:
        parts = [self.sign("(")]
        while not self.has(")"):
            if not self.java and self.has("..."):
                spread = [self.sign("..."), self.expression()]
                parts.append(self.node("spread", spread))
            elif not self.java and self.has(","):
                parts.append(self.sign(","))
                continue
            else:
                parts.append(self.expression())
            if not self.has(","):
                break
            parts.append(self.sign(","))
            if self.java and self.has(")"):
                raise self.error()
        return self.node("arguments", [*parts, self.sign(")")])

    # ------------------------------------------------------------------ JavaScript
    def _array(self) -> Node:
        parts = [self.sign("[")]
        while not self.has("]"):
            if self.has(","):
                parts.append(self.sign(","))
                continue
            if self.has("..."):
                parts.append(self.sign("..."))
            parts.append(self.expression())
            if not self.has(",", "]"):
                break
        return self.node("array", [*parts, self.sign("]")])

    def _object(self) -> Node:
        parts = [self.sign("{")]
        while not self.has("}"):
            parts.append(self._member())
            if not self.has(","):
                break
            while self.has(","):
                parts.append(self.sign(","))
        return self.node("object", [*parts, self.sign("}")])

    def _member(self) -> Node:
        if self.has("..."):
            return self.node("spread", [self.sign("..."), self.expression()])
        parts: list[Node] = []
        while self.has("async", "get", "set", "*") and self.ahead().text not in (":", ",", "}", "(", "="):
            parts.append(self.leaf("word", self.take()))
        if self.has("["):
            parts += [self.sign("["), self.expression(), self.sign("]")]
        elif self.token.kind in ("name", "string", "number"):
            parts.append(self.leaf("key", self.take()))
        else:
            raise self.error()
        if self.has("("):
            return self.node("method", [*parts, *self._balanced(), *self._block()])
        if self.has(":"):
            return self.node("pair", [*parts, self.sign(":"), self.expression()])
        if self.has("="):
            return self.node("pair", [*parts, self.sign("="), self.expression()])
        if self.text[parts[-1].start] in "\"'0123456789[":
            raise self.error()
        return self.node("key", parts)

    def _block(self) -> list[Node]:
        if not self.has("{"):
            raise self.error()
        return self._balanced()

    def _javascript_new(self) -> Node:
        parts = [self.leaf("word", self.take("new"))]
        node = self._primary()
        while self.has(".", "["):
            node = (
                self._index([node])
                if self.has("[")
                else self.node(
                    "member", [node, self.sign("."), self.leaf("identifier", self.take(kind="name"))]
                )
            )
        parts.append(node)
        if self.has("("):
            parts.append(self._arguments())
        return self.node("new", parts)

    # ------------------------------------------------------------------ Java
    def _type(self) -> Node:
        parts = [self.leaf("type", self.take(kind="name"))]
        while True:
            if self.has("<"):
                parts += self._type_arguments()
            elif self.has(".") and self.ahead().kind == "name" and self.ahead().text not in ("class", "new"):
                parts += [self.sign("."), self.leaf("type", self.take(kind="name"))]
            elif self.has("[") and self.ahead().text == "]":
                parts += [self.sign("["), self.sign("]")]
            else:
                return parts[0] if len(parts) == 1 else self.node("type", parts)

    def _type_arguments(self) -> list[Node]:
        parts = [self.sign("<")]
        while not self.token.text.startswith(">"):
            if self.has("?"):
                parts.append(self.sign("?"))
                if self.has("extends", "super"):
                    parts += [self.leaf("word", self.take()), self._type()]
            else:
                parts.append(self._type())
            if not self.token.text.startswith(">"):
                parts.append(self.sign(","))
        return [*parts, self.sign(">")]

    def _java_new(self) -> Node:
        word = self.leaf("word", self.take("new"))
        name = self._element_type()
        if self.has("["):
            dimensions: list[Node] = []
            while self.has("["):
                dimensions.append(self.sign("["))
                if not self.has("]"):
                    dimensions.append(self.expression())
                dimensions.append(self.sign("]"))
            value = [self._initializer()] if self.has("{") else []
            if not value and all(self.text[part.start] in "[]" for part in dimensions):
                raise self.error()
            return Node("array_creation", word.start, (value or dimensions)[-1].end, (name, *value))
        arguments = self._arguments()
        body = self._balanced() if self.has("{") else []
        return Node("object_creation", word.start, (body or [arguments])[-1].end, (name, arguments))

    def _element_type(self) -> Node:
        parts = [self.leaf("type", self.take(kind="name"))]
        while self.has("<", "."):
            parts += (
                self._type_arguments()
                if self.has("<")
                else [self.sign("."), self.leaf("type", self.take(kind="name"))]
            )
        return parts[0] if len(parts) == 1 else self.node("type", parts)

    def _initializer(self) -> Node:
        parts = [self.sign("{")]
        while not self.has("}"):
            parts.append(self._initializer() if self.has("{") else self.expression())
            if not self.has(","):
                break
            parts.append(self.sign(","))
        return self.node("initializer", [*parts, self.sign("}")])


# ----------------------------------------------------------------------
# The calls that the published code finds.
def _read_statements(text: str, *, java: bool) -> list[Node]:
    """The statements of a text: expressions, of which some are returned, thrown or given a name.

    Raises:
        SyntaxError: it is none of these.
    """
    parser = _Parser(text, java=java)
    statements: list[Node] = []
    while parser.token.kind != "end":
        if parser.has(";"):
            parser.sign(";")
            continue
        start = parser.token
        declared = parser.declared()
        node = parser.expression()
        while not java and parser.has(","):
            parser.sign(",")
            node = Node("sequence", node.start, parser.expression().end, (node,))
        statements.append(Node("declaration", start.start, node.end, (node,)) if declared else node)
        if parser.has(";"):
            parser.sign(";")
        elif java and len(statements) == 1:
            # A semicolon that is not there costs tree-sitter more than to take so few bytes for an error.
            written = text[start.start : node.end]
            lone = node.kind in ("identifier", "member", "string", "constant", "number")
            if (
                lone
                or len(written.encode("utf-8", "surrogatepass")) + 30 * written.count("\n") <= _SMALLEST_JAVA
            ):
                raise parser.error()
        elif parser.token.kind != "end" and "\n" not in text[node.end : parser.token.start]:
            raise parser.error()
    return statements


def _first_call(nodes: Iterable[Node]) -> Node | None:
    """The first call in some parts, the outer one before those in it."""
    for node in nodes:
        call = node if node.kind == "call" else _first_call(node.parts)
        if call is not None:
            return call
    return None


def read_java_call(text: str) -> Any:
    """The call that a text in Java is, with its named arguments as texts; an empty object without one.

    Raises:
        SyntaxError: the text is no Java.
        Exception: an argument is given twice.

    >>> read_java_call('a.B.f(x="s", y=new int[]{1, 2}, z=5L)')
    [{'a.B.f': {'x': 's', 'y': 'new int[]{1,2}', 'z': '5L'}}]
    """
    node = _first_call(_read_statements(text, java=True))
    if node is None:
        return {}
    places = _byte_places(text)
    source = _JavaText(text, places)
    arguments: dict[Any, Any] = {}
    for argument in node.parts[-1].parts:
        if argument.kind == "assignment":
            name, value = argument.parts[0], argument.parts[2]
            _add_argument(arguments, source.slice(name.start, name.end), source.write(value, nested=False))
        elif argument.kind in ("identifier", "class_literal"):
            _add_argument(arguments, None, source.write(argument, nested=False))
    _refuse_repeated(arguments)
    target = node.parts[0]
    return [{source.slice(target.start, target.end): arguments}]


def read_javascript_call(text: str) -> Any:
    """The call that a text in JavaScript is, with its named arguments as texts; None where there is none.

    Raises:
        SyntaxError: the text is no JavaScript.
        Exception: an argument is given twice.

    >>> read_javascript_call("f(a='s', b=[1, 2], c=x => x)")
    [{'f': {'a': 's', 'b': '[1, 2]', 'c': 'x => x'}}]
    """
    node = next((node for node in _read_statements(text, java=False) if node.kind == "call"), None)
    if node is None:
        return None
    arguments: dict[Any, Any] = {}
    call_arguments = node.parts[1] if len(node.parts) == 2 else Node("sign", node.start, node.start)
    for argument in call_arguments.parts:
        if argument.kind == "assignment":
            name, value = argument.parts[0], argument.parts[2]
            written = text[value.start : value.end]
            quoted = any(written.startswith(quote) and written.endswith(quote) for quote in ('"', "'"))
            _add_argument(arguments, text[name.start : name.end], written[1:-1] if quoted else written)
        elif argument.kind == "identifier" or text[argument.start : argument.end] == "true":
            _add_argument(arguments, None, text[argument.start : argument.end])
    _refuse_repeated(arguments)
    target = node.parts[0]
    return [{text[target.start : target.end]: arguments}]


def _add_argument(arguments: dict[Any, Any], name: Any, value: Any) -> None:
    if name in arguments:
        before = arguments[name]
        arguments[name] = [*before, value] if isinstance(before, list) else [before, value]
    else:
        arguments[name] = value


def _refuse_repeated(arguments: dict[Any, Any]) -> None:
    if any(isinstance(value, list) for value in arguments.values()):
        raise Exception(_REPEATED)


def _byte_places(text: str) -> list[int] | None:
    """Of each character the byte that it begins at; None where that is its own place."""
    if text.isascii():
        return None
    places = [0]
    for sign in text:
        places.append(places[-1] + len(sign.encode("utf-8", "surrogatepass")))
    return places


class _JavaText:
    """Writes parts of an expression as the published code joins their texts.

    It takes places in bytes for places in the text, so that behind a letter of several bytes all is shifted.
    """

    def __init__(self, text: str, places: list[int] | None) -> None:
        self.text, self.places = text, places

    def slice(self, start: int, end: int) -> str:
        return (
            self.text[start:end] if self.places is None else self.text[self.places[start] : self.places[end]]
        )

    def write(self, node: Node, *, nested: bool) -> str:
        """A part's text; of literals without quotes where it is not nested."""
        text = self.slice(node.start, node.end)
        if node.kind in ("string", "character"):
            return text if nested else text[1:-1]
        if node.kind in ("identifier", "class_literal", "type_name", "call") or not node.parts:
            if node.kind == "array_creation":
                raise AttributeError("'NoneType' object has no attribute 'type'")
            return text
        if node.kind == "array_creation":
            if len(node.parts) == 1:
                raise AttributeError("'NoneType' object has no attribute 'type'")
            name, value = (self.write(part, nested=True) for part in node.parts)
            return f"new {name}[]{value}"
        if node.kind == "object_creation" and node.parts[-1].kind == "arguments":
            name = self.write(node.parts[0], nested=True)
            values = [self.write(p, nested=True) for p in node.parts[1].parts if p.kind != "sign"]
            return f"new {name}({', '.join(values)})"
        return "".join(self.write(part, nested=True) for part in node.parts)
