"""Calls written in Java, as BFCL's prompts ask for them: read, never run.

The text of each value is as the published code joins it: without blanks but inside of calls.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/java_parser.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from planner_eval.benchmarks.bfcl.expressions import (
    BINARY,
    DIGITS,
    SIGNS,
    SMALLEST,
    ExpressionParser,
    Node,
    Token,
    add_argument,
    refuse_repeated,
)

_NUMBER = (
    r"0[xX][0-9a-fA-F_]+(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9]+)?[lL]?|0[bB][01_]+[lL]?|0[oO][0-7_]+|"
    rf"(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?[0-9]+)?[fFdDlL]?"
)
_TYPES = frozenset({"int", "long", "short", "byte", "char", "float", "double", "boolean", "void"})


class JavaParser(ExpressionParser):
    """A parser of Java's expressions; a text may go on in the next line."""

    TOKENS = re.compile(
        r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<block>\"\"\".*?\"\"\")"
        r"|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
        rf"|(?P<number>{_NUMBER})|(?P<name>[^\W\d][\w$]*|[$][\w$]*)|(?P<sign>{SIGNS})",
        re.DOTALL,
    )
    ERROR = "parsing java"
    OPERATORS = BINARY
    ARROW = "->"
    CONSTANTS = ("true", "false", "null", "this", "super")

    def statement(self) -> Node:
        """An expression, of which some are returned, thrown or given a name; or a name of a type."""
        start = self.token
        if self.has("return", "throw"):
            self.take()
        elif self.token.kind == "name" and self.ahead().text == ":":
            self.take()
            self.sign(":")
        elif self.attempt(self._declaration) is None:
            return self.attempt(self._declared_name) or self.expression()
        node = self.expression()
        return Node("declaration", start.start, node.end, (node,))

    def _declaration(self) -> Node:
        parts = [self._type(), self.leaf("identifier", self.take(kind="name")), self.sign("=")]
        return self.node("declaration", parts)

    def _declared_name(self) -> Node:
        """A type and a name, and nothing behind it."""
        parts = [self._type(), self.leaf("identifier", self.take(kind="name"))]
        if self.token.kind != "end" and not self.has(";"):
            raise self.error()
        return self.node("declared", parts)

    def right_operand(self, operator: Token) -> Node:
        """What stands behind an operator: behind ``instanceof`` a type."""
        return self._type() if operator.text == "instanceof" else super().right_operand(operator)

    def prefix(self) -> Node | None:
        """A cast with what is cast."""
        return self.attempt(self._cast) if self.has("(") else None

    def _cast(self) -> Node:
        parts = [self.sign("("), self._type(), self.sign(")")]
        primitive = self.text[parts[1].start : parts[1].end] in _TYPES
        token = self.token
        if not primitive and not (
            token.kind in ("name", "string", "number", "block") or token.text in ("(", "!", "~")
        ):
            raise self.error()
        return self.node("cast", [*parts, self.unary()])

    def operand(self) -> Node:
        """A text, a character or an expression in brackets; an index of what is absent."""
        token = self.token
        if token.kind == "string":
            if token.text[0] == '"':
                return self.leaf("string", self.take())
            if token.text == "''":
                raise self.error()
            return self.leaf("character", self.take())
        if token.text == "(":
            return self.node("parenthesized", [self.sign("("), self.expression(), self.sign(")")])
        absent = self.absent("identifier") if token.text == "[" and not self.is_assigned() else None
        if absent is None:
            raise self.error()
        return self.index([absent])

    def named(self) -> Node:
        """``new``, a class, a constant or an identifier."""
        if self.token.text == "new":
            return self._new()
        if self.token.text in _TYPES:
            parts = [self._type()]
            return self.node("class_literal", [*parts, self.sign("."), self.leaf("word", self.take("class"))])
        return self.word()

    def postfix(self, node: Node) -> Node:
        """An operand with what follows it."""
        while True:
            if self.has(".", "?."):
                node = self._member([node, self.leaf("sign", self.take())])
            elif self.has("("):
                if node.kind not in ("identifier", "member", "constant"):
                    raise self.error()
                node = self.call([node])
            elif self.has("["):
                node = self.index([node])
            elif self.has("::"):
                parts = [node, self.sign("::")]
                node = self.node("method_reference", [*parts, self.leaf("word", self.take(kind="name"))])
            else:
                return node

    def _member(self, parts: list[Node]) -> Node:
        if self.has("class"):
            return self.node("class_literal", [*parts, self.leaf("word", self.take())])
        if self.has("new"):
            created = self._new()
            return Node("object_creation", parts[0].start, created.end, created.parts)
        if self.has("<"):
            parts += self._type_arguments()
        return self.node("member", [*parts, self.leaf("identifier", self.take(kind="name"))])

    def arguments(self) -> Node:
        """The arguments of a call."""
        parts = [self.sign("(")]
        while not self.has(")"):
            parts.append(self.expression())
            if not self.has(","):
                break
            parts.append(self.sign(","))
            if self.has(")"):
                raise self.error()
        return self.node("arguments", [*parts, self.sign(")")])

    # ------------------------------------------------------------------ types and what is created
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

    def _new(self) -> Node:
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
        arguments = self.arguments()
        body = self.balanced() if self.has("{") else []
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
# The call that the published code finds.
def _read_statements(parser: JavaParser, *, nested: bool = False) -> list[Node]:
    """The statements of a text, or of a block.

    Raises:
        SyntaxError: it is none.
    """
    statements: list[Node] = []
    open_ended: list[Node] = []
    while parser.token.kind != "end" and not (nested and parser.has("}")):
        if parser.has(";"):
            parser.sign(";")
            continue
        if parser.has("{") and not nested:
            opening = parser.sign("{")
            inner = _read_statements(parser, nested=True)
            statements.append(parser.node("block", [opening, *inner, parser.sign("}")]))
            continue
        start, node = parser.token, parser.statement()
        statements.append(node)
        if parser.has(";"):
            parser.sign(";")
            continue
        open_ended.append(node)
        if len(statements) == 1 and node.kind != "declared":
            # A semicolon that is not there costs tree-sitter more than to take so few bytes for an error.
            written = parser.text[start.start : node.end]
            size = len(written.encode("utf-8", "surrogatepass")) + 30 * written.count("\n")
            if node.kind == "member" or size <= SMALLEST:
                raise parser.error()
    if len(open_ended) > 2 or (
        len(open_ended) == 2 and any(n.kind not in ("call", "declared") for n in open_ended)
    ):
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
    node = _first_call(_read_statements(JavaParser(text)))
    if node is None:
        return {}
    source = _JavaText(text, _byte_positions(text))
    arguments: dict[Any, Any] = {}
    for argument in node.parts[-1].parts:
        if argument.kind == "assignment":
            name, value = argument.parts[0], argument.parts[2]
            add_argument(arguments, source.slice(name.start, name.end), source.write(value, nested=False))
        elif argument.kind in ("identifier", "class_literal"):
            add_argument(arguments, None, source.write(argument, nested=False))
    refuse_repeated(arguments)
    target = node.parts[0]
    return [{source.slice(target.start, target.end): arguments}]


def _byte_positions(text: str) -> list[int] | None:
    """Of each character the byte that it begins at; None where that is its own position."""
    if text.isascii():
        return None
    positions = [0]
    for sign in text:
        positions.append(positions[-1] + len(sign.encode("utf-8", "surrogatepass")))
    return positions


class _JavaText:
    """Writes parts of an expression as the published code joins their texts.

    It takes positions in bytes for positions in the text, so that behind a letter of several bytes all is
    shifted.
    """

    def __init__(self, text: str, positions: list[int] | None) -> None:
        self.text, self.positions = text, positions

    def slice(self, start: int, end: int) -> str:
        if self.positions is None:
            return self.text[start:end]
        return self.text[self.positions[start] : self.positions[end]]

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
