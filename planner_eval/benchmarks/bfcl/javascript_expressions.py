"""Expressions of JavaScript, read and never run.

Source: ECMA-262, 15th edition, chapter 13.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from planner_eval.benchmarks.bfcl.expressions import BINARY, DIGITS, SIGNS, ExpressionParser, Node

_NUMBER = (
    r"0[xX][0-9a-fA-F_]+n?|0[bB][01_]+n?|0[oO][0-7_]+n?|[0-9]+(?:_[0-9]+)*n|"
    rf"(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?[0-9]+)?"
)
_BLANK = r"[\s\ufeff\u2060\u200b]+"
_FIRST = r"[^\x00-\x1f\s0-9:;`\"'@#.,|^&<=>+\-*/\\%?!~()\[\]{}\ufeff\u2060\u200b]|\\u[0-9a-fA-F]{4}"
_PATTERN = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*(?![\w$])")
_OPENING_TAG = re.compile(r"<(\w+)[^<>{}]*?(/?)>")
_BRACES = re.compile(r"\{[^{}]*\}")
_ELEMENT_TEXT = re.compile(r"[^<>{}]+")


class JavaScriptExpressionParser(ExpressionParser):
    """A parser of JavaScript's expressions."""

    TOKENS = re.compile(
        rf"(?P<blank>{_BLANK}|//[^\n]*|/\*.*?\*/)"
        r"|(?P<string>\"(?:[^\"\\\n]|\\.)*(?:\n\s*)?\"|'(?:[^'\\\n]|\\.)*(?:\n\s*)?')|(?P<template>`(?:[^`\\]|\\.)*`)"
        rf"|(?P<number>{_NUMBER})|(?P<name>(?:{_FIRST})(?:{_FIRST}|[0-9])*)|(?P<sign>{SIGNS})",
        re.DOTALL,
    )
    ERROR = "js parsing"
    OPERATORS: ClassVar[Mapping[str, int]] = {**BINARY, "===": 7, "!==": 7, "??": 1, "in": 8, "**": 12}
    ARROW = "=>"
    CONSTANTS = ("true", "false", "null", "this", "undefined")

    def class_body(self) -> Node:
        """The members of a class in braces."""
        raise NotImplementedError

    def assignment_kind(self, sign: Node) -> str:
        """Whether something is computed of what was there."""
        return "assignment" if sign.end - sign.start == 1 else "augmented"

    def prefix(self) -> Node | None:
        """``typeof x`` and the like."""
        if self.has("typeof", "void", "delete", "await"):
            return self.node("unary", [self.leaf("word", self.take()), self.unary()])
        following = self.ahead()
        if self.has("yield") and (following.kind not in ("sign", "end") or following.text in ("[", "{", "*")):
            word, delegated = self.leaf("word", self.take()), [self.sign("*")] if self.has("*") else []
            return self.node("unary", [word, *delegated, self.expression()])
        return None

    def operand(self) -> Node:
        """A text, an expression in brackets, an array, an object, a pattern or an element."""
        token = self.token
        if token.kind == "string":
            return self.leaf("string", self.take())
        if token.text == "(":
            children = [self.sign("("), self.expression()]
            while self.has(","):
                children += [self.sign(","), self.expression()]
            return self.node("parenthesized", [*children, self.sign(")")])
        if token.text == "[":
            return self._array()
        if token.text == "{":
            return self._object()
        if token.text in ("/", "<"):
            matched = _PATTERN.match(self.text, token.start) if token.text == "/" else None
            end = self._element_end(token.start) if token.text == "<" else matched.end() if matched else -1
            return self._leap("element" if token.text == "<" else "pattern", end)
        return self.absent_operand()

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
        is_class = self.has("class")
        children = [self.leaf("word", self.take())]
        if self.has("*"):
            children.append(self.sign("*"))
        if self.token.kind == "name" and not (is_class and self.has("extends")):
            children.append(self.leaf("identifier", self.take()))
        if is_class:
            if self.has("extends"):
                children += [self.leaf("word", self.take()), self.postfix(self.primary())]
            return self.node("class", [*children, self.class_body()])
        if not self.has("("):
            raise self.error()
        return self.node("function", [*children, *self.balanced(), self.block()])

    def _leap(self, kind: str, end: int) -> Node:
        """A part that is not made of tokens, up to its end; -1 where it has none."""
        if end < 0:
            raise self.error()
        start = self.token.start
        while self.token.start < end and self.token.kind != "end":
            self.position += 1
        return Node(kind, start, end)

    def _element_end(self, start: int) -> int:
        """Where an element of JSX ends that begins here; -1 where none does."""
        opening = _OPENING_TAG.match(self.text, start)
        if opening is None:
            return -1
        name, closed = opening.groups()
        position = opening.end()
        while not closed:
            if self.text.startswith("</", position):
                end = position + len(name) + 3
                return end if self.text[position:end] == f"</{name}>" else -1
            if self.text.startswith("{", position):
                position = self._expression_end(position)
            elif self.text.startswith("<", position):
                position = self._element_end(position)
            else:
                words = _ELEMENT_TEXT.match(self.text, position)
                position = words.end() if words else -1
            if position < 0:
                return -1
        return position

    def _expression_end(self, start: int) -> int:
        """Where the braces end that begin here, if expressions are in them; else -1."""
        depth = 0
        for token in self.tokens:
            if token.start >= start and token.kind == "sign" and token.text in ("{", "}"):
                depth += 1 if token.text == "{" else -1
                if depth == 0:
                    return self._inner_end(start, token.end)
        matched = _BRACES.match(self.text, start)  # in quotes, as other tokens are told
        return self._inner_end(start, matched.end()) if matched else -1

    def _inner_end(self, start: int, end: int) -> int:
        return end if type(self)(self.text[start + 1 : end - 1]).is_sequence() else -1

    def is_sequence(self) -> bool:
        """Whether the text is empty, or expressions with commas."""
        while self.token.kind != "end":
            try:
                self.expression()
            except SyntaxError:
                return False
            if self.token.kind != "end" and not self.has(","):
                return False
            self.position += self.token.kind != "end"
        return True

    def postfix(self, node: Node) -> Node:
        """An operand with what follows it."""
        while True:
            if self.has(".", "?."):
                children = [node, self.leaf("sign", self.take())]
                if self.has("(", "["):
                    node = self.call(children) if self.has("(") else self.index(children)
                else:
                    node = self.node("member", [*children, self.leaf("identifier", self.take(kind="name"))])
            elif self.has("("):
                node = self.call([node])
            elif self.has("["):
                node = self.index([node])
            elif self.token.kind == "template":
                node = self.node("call", [node, self.leaf("template", self.take())])
            else:
                return node

    def index(self, children: list[Node]) -> Node:
        """An index, which may be absent: ``char[]``, or several expressions."""
        children = [*children, self.sign("[")]
        inner = self.absent("identifier") if self.has("]") else self.expression()
        if inner is None:
            raise self.error()
        children.append(inner)
        while self.has(","):
            children += [self.sign(","), self.expression()]
        return self.node("index", [*children, self.sign("]")])

    def arguments(self) -> Node:
        """The arguments of a call; some may be absent."""
        children = [self.sign("(")]
        while not self.has(")"):
            if self.has(","):
                children.append(self.sign(","))
                continue
            if self.has("..."):
                children.append(self.node("spread", [self.sign("..."), self.expression()]))
            else:
                children.append(self.expression())
            if not self.has(","):
                break
            children.append(self.sign(","))
        return self.node("arguments", [*children, self.sign(")")])

    def _array(self) -> Node:
        children = [self.sign("[")]
        while not self.has("]"):
            if self.has(","):
                children.append(self.sign(","))
                continue
            if self.has(")"):
                break
            if self.has("..."):
                children.append(self.sign("..."))
            children.append(self.expression())
            if not self.has(",", "]"):
                break
        return self.node("array", [*children, self.sign("]")])

    def _object(self) -> Node:
        children = [self.sign("{")]
        while not self.has("}"):
            children.append(self.member())
            if not self.has(","):
                break
            while self.has(","):
                children.append(self.sign(","))
        return self.node("object", [*children, self.sign("}")])

    def member(self, *, static: bool = False) -> Node:
        """A member of an object or, if some may be static, of a class."""
        if self.has("..."):
            return self.node("spread", [self.sign("..."), self.expression()])
        children: list[Node] = []
        words = ("async", "get", "set", "*", "static") if static else ("async", "get", "set", "*")
        while self.has(*words) and self.ahead().text not in (":", ",", "}", "(", "="):
            children.append(self.leaf("word", self.take()))
        if self.has("["):
            children += [self.sign("["), self.expression(), self.sign("]")]
        elif self.token.kind in ("name", "string", "number"):
            children.append(self.leaf("key", self.take()))
        else:
            raise self.error()
        if self.has("("):
            return self.node("method", [*children, *self.balanced(), self.block()])
        if self.has(":"):
            return self.node("pair", [*children, self.sign(":"), self.expression()])
        if self.has("="):
            return self.node("pair", [*children, self.sign("="), self.expression()])
        if self.text[children[-1].start] in "\"'0123456789[":
            raise self.error()
        return self.node("key", children)

    def _new(self) -> Node:
        children = [self.leaf("word", self.take("new"))]
        node = self.primary()
        while self.has(".", "["):
            if self.has("["):
                node = self.index([node])
            else:
                parts_of_member = [node, self.sign("."), self.leaf("identifier", self.take(kind="name"))]
                node = self.node("member", parts_of_member)
        children.append(node)
        if self.has("("):
            children.append(self.arguments())
        return self.node("new", children)
