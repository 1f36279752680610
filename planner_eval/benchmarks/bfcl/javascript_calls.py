"""Calls written in JavaScript, as BFCL's prompts ask for them: read, never run.

Values are texts as they stand there.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/js_parser.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

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
    r"0[xX][0-9a-fA-F_]+n?|0[bB][01_]+n?|0[oO][0-7_]+n?|[0-9]+(?:_[0-9]+)*n|"
    rf"(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?[0-9]+)?"
)
_BLANK = r"[\s\ufeff\u2060\u200b]+"
_FIRST = r"[^\x00-\x1f\s0-9:;`\"'@#.,|^&<=>+\-*/\\%?!~()\[\]{}\ufeff\u2060\u200b]|\\u[0-9a-fA-F]{4}"
_PATTERN = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*(?![\w$])")
_CONTROL_WORDS = ("if", "for", "while", "switch", "with")
"""Words whose statements are not read, and that are no names of tools."""
_ELEMENT = re.compile(r"<(\w+)[^<>{}]*>(?:[^<>{}]|\{[\w\s,.]*\})*</\1>|<\w+[^<>{}]*/>")


class JavaScriptParser(ExpressionParser):
    """A parser of JavaScript's expressions."""

    TOKENS = re.compile(
        rf"(?P<blank>{_BLANK}|//[^\n]*|/\*.*?\*/)"
        r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|(?P<template>`(?:[^`\\]|\\.)*`)"
        rf"|(?P<number>{_NUMBER})|(?P<name>(?:{_FIRST})(?:{_FIRST}|[0-9])*)|(?P<sign>{SIGNS})",
        re.DOTALL,
    )
    ERROR = "js parsing"
    OPERATORS: ClassVar[Mapping[str, int]] = {**BINARY, "===": 7, "!==": 7, "??": 1, "in": 8, "**": 12}
    ARROW = "=>"
    CONSTANTS = ("true", "false", "null", "this", "undefined")

    def statement(self) -> Node:
        """An expression, of which some are returned, thrown or given a name."""
        if self.has(*_CONTROL_WORDS):
            raise self.error()
        start, declared = self.token, self._is_declared()
        node = self.expression()
        while self.has(","):
            self.sign(",")
            node = Node("sequence", node.start, self.expression().end, (node,))
        return Node("declaration", start.start, node.end, (node,)) if declared else node

    def _is_declared(self) -> bool:
        """Whether an expression is given away or a name, which is passed over."""
        if self.has("return", "throw"):
            self.take()
            return True
        if self.token.kind == "name" and self.ahead().text == ":":
            self.take()
            self.sign(":")
            return True
        if not self.has("const", "let", "var"):
            return False
        self.take()
        self.take(kind="name")
        if self.has("="):
            self.sign("=")
        else:
            self.tokens.insert(self.position, Token("name", "undefined", self.token.start, self.token.start))
        return True

    def assignment_kind(self, sign: Node) -> str:
        """Whether something is computed of what was there."""
        return "assignment" if sign.end - sign.start == 1 else "augmented"

    def prefix(self) -> Node | None:
        """``typeof x`` and the like."""
        if self.has("typeof", "void", "delete", "await"):
            return self.node("unary", [self.leaf("word", self.take()), self.unary()])
        return None

    def operand(self) -> Node:
        """A text, an expression in brackets, an array, an object, a pattern or an element."""
        token = self.token
        if token.kind == "string":
            return self.leaf("string", self.take())
        if token.text == "(":
            parts = [self.sign("("), self.expression()]
            while self.has(","):
                parts += [self.sign(","), self.expression()]
            return self.node("parenthesized", [*parts, self.sign(")")])
        if token.text == "[":
            return self._array()
        if token.text == "{":
            return self._object()
        if token.text in ("/", "<"):
            return self._leap(*(("pattern", _PATTERN) if token.text == "/" else ("element", _ELEMENT)))
        raise self.error()

    def named(self) -> Node:
        """``new``, a function, a class, a constant or an identifier."""
        token = self.token
        if token.text == "new":
            return self._new()
        if token.text == "async" and self.ahead().text == "function":
            return self.node("function", [self.leaf("word", self.take()), self._definition()])
        if token.text in ("function", "class"):
            return self._definition()
        return self.word()

    def _definition(self) -> Node:
        parts = [self.leaf("word", self.take())]
        while not self.has("(", "{"):
            if self.token.kind != "name" and self.token.text not in ("*", "."):
                raise self.error()
            parts.append(self.leaf("token", self.take()))
        if self.has("("):
            parts += self.balanced()
        parts += self.balanced() if self.has("{") else [self.sign("{")]
        return self.node("function", parts)

    def _leap(self, kind: str, pattern: re.Pattern[str]) -> Node:
        """A part that is not made of tokens."""
        matched = pattern.match(self.text, self.token.start)
        if matched is None:
            raise self.error()
        while self.token.start < matched.end() and self.token.kind != "end":
            self.position += 1
        return Node(kind, matched.start(), matched.end())

    def postfix(self, node: Node) -> Node:
        """An operand with what follows it."""
        while True:
            if self.has(".", "?."):
                parts = [node, self.leaf("sign", self.take())]
                if self.has("(", "["):
                    node = self.call(parts) if self.has("(") else self.index(parts)
                else:
                    node = self.node("member", [*parts, self.leaf("identifier", self.take(kind="name"))])
            elif self.has("("):
                node = self.call([node])
            elif self.has("["):
                node = self.index([node])
            elif self.token.kind == "template":
                node = self.node("call", [node, self.leaf("template", self.take())])
            else:
                return node

    def index(self, parts: list[Node]) -> Node:
        """An index, which may be absent: ``char[]``."""
        if self.ahead().text != "]":
            return super().index(parts)
        opening = self.sign("[")
        absent = self.absent("identifier")
        if absent is None:
            raise self.error()
        return self.node("index", [*parts, opening, absent, self.sign("]")])

    def arguments(self) -> Node:
        """The arguments of a call; some may be absent."""
        parts = [self.sign("(")]
        while not self.has(")"):
            if self.has(","):
                parts.append(self.sign(","))
                continue
            if self.has("..."):
                parts.append(self.node("spread", [self.sign("..."), self.expression()]))
            else:
                parts.append(self.expression())
            if not self.has(","):
                break
            parts.append(self.sign(","))
        return self.node("arguments", [*parts, self.sign(")")])

    def _array(self) -> Node:
        parts = [self.sign("[")]
        while not self.has("]"):
            if self.has(","):
                parts.append(self.sign(","))
                continue
            if self.has(")"):
                break
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
            return self.node("method", [*parts, *self.balanced(), *self._block()])
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
        return self.balanced()

    def _new(self) -> Node:
        parts = [self.leaf("word", self.take("new"))]
        node = self.primary()
        while self.has(".", "["):
            if self.has("["):
                node = self.index([node])
            else:
                parts_of_member = [node, self.sign("."), self.leaf("identifier", self.take(kind="name"))]
                node = self.node("member", parts_of_member)
        parts.append(node)
        if self.has("("):
            parts.append(self.arguments())
        return self.node("new", parts)


def _read_statements(text: str) -> list[Node]:
    """The statements of a text.

    Raises:
        SyntaxError: it is none.
    """
    parser = JavaScriptParser(text)
    statements: list[Node] = []
    while parser.token.kind != "end":
        if parser.has(";"):
            parser.sign(";")
            continue
        node = parser.statement()
        statements.append(node)
        if parser.has(";"):
            parser.sign(";")
        elif (
            parser.token.kind != "end"
            and "\n" not in text[node.end : parser.token.start]
            and not (_may_end(node, parser) and parser.absent("sign"))
        ):
            raise parser.error()
    return statements


def _may_end(node: Node, parser: JavaScriptParser) -> bool:
    """Whether tree-sitter takes a semicolon for absent behind a call, and the next token for no error."""
    alone = parser.ahead().kind == "end"
    return (
        node.kind == "call"
        and node.end - node.start > SMALLEST
        and (alone or len(parser.token.text) >= SMALLEST)
    )


def read_javascript_call(text: str) -> Any:
    """The call that a text in JavaScript is, with its named arguments as texts; None where there is none.

    Raises:
        SyntaxError: the text is no JavaScript.
        Exception: an argument is given twice.

    >>> read_javascript_call("f(a='s', b=[1, 2], c=x => x)")
    [{'f': {'a': 's', 'b': '[1, 2]', 'c': 'x => x'}}]
    """
    node = next((node for node in _read_statements(text) if node.kind == "call"), None)
    if node is None:
        return None
    arguments: dict[Any, Any] = {}
    call_arguments = node.parts[1] if len(node.parts) == 2 else Node("sign", node.start, node.start)
    for argument in call_arguments.parts:
        if argument.kind == "assignment":
            name, value = argument.parts[0], argument.parts[2]
            written = text[value.start : value.end]
            quoted = any(written.startswith(quote) and written.endswith(quote) for quote in ('"', "'"))
            add_argument(arguments, text[name.start : name.end], written[1:-1] if quoted else written)
        elif argument.kind == "identifier" or text[argument.start : argument.end] == "true":
            add_argument(arguments, None, text[argument.start : argument.end])
    refuse_repeated(arguments)
    target = node.parts[0]
    return [{text[target.start : target.end]: arguments}]
