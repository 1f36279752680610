"""Expressions of Java, read and never run.

Source: The Java Language Specification, SE 21, chapter 15.
"""

from __future__ import annotations

import re

from planner_eval.benchmarks.bfcl.expressions import BINARY, DIGITS, SIGNS, ExpressionParser, Node, Token

_NUMBER = (
    r"0[xX][0-9a-fA-F_]+(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9]+)?[lL]?|0[bB][01_]+[lL]?|0[oO][0-7_]+|"
    rf"(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?[0-9]+)?[fFdDlL]?"
)
_TYPES = frozenset({"int", "long", "short", "byte", "char", "float", "double", "boolean", "void"})


class JavaExpressionParser(ExpressionParser):
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

    def switch(self) -> Node:
        """``switch``, with the statements of its cases."""
        raise NotImplementedError

    def class_body(self, *, enum: bool = False) -> Node:
        """The members of a class in braces."""
        raise NotImplementedError

    def right_operand(self, operator: Token) -> Node:
        """What stands behind an operator: behind ``instanceof`` a type."""
        return self._type() if operator.text == "instanceof" else super().right_operand(operator)

    def prefix(self) -> Node | None:
        """A cast with what is cast."""
        return self.attempt(self._cast) if self.has("(") else None

    def _cast(self) -> Node:
        children = [self.sign("("), self._type(), self.sign(")")]
        primitive = self.text[children[1].start : children[1].end] in _TYPES
        token = self.token
        if not primitive and not (
            token.kind in ("name", "string", "number", "block") or token.text in ("(", "!", "~")
        ):
            raise self.error()
        return self.node("cast", [*children, self.unary()])

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
        return self.absent_operand() if absent is None else self.index([absent])

    def named(self) -> Node:
        """``new``, a class, a constant or an identifier."""
        if self.token.text == "new":
            return self._new()
        if self.token.text == "switch" and self.ahead().text == "(":
            return self.switch()
        if self.token.text in _TYPES:
            children = [self._type()]
            return self.node(
                "class_literal", [*children, self.sign("."), self.leaf("word", self.take("class"))]
            )
        return self.word()

    def postfix(self, node: Node) -> Node:
        """An operand with what follows it."""
        while True:
            if self.has(".", "?."):
                node = self._member([node, self.leaf("sign", self.take())])
            elif self.has("("):
                if node.kind not in ("identifier", "member", "constant"):
                    raise self.error()
                constructs = self.text[node.start : node.end] in ("this", "super")
                node = (
                    self.node("construction", [node, self.arguments()]) if constructs else self.call([node])
                )
            elif self.has("["):
                node = self.index([node])
            elif self.has("::"):
                children = [node, self.sign("::")]
                node = self.node("method_reference", [*children, self.leaf("word", self.take(kind="name"))])
            else:
                return node

    def _member(self, children: list[Node]) -> Node:
        if self.has("class"):
            return self.node("class_literal", [*children, self.leaf("word", self.take())])
        if self.has("new"):
            created = self._new()
            return Node("object_creation", children[0].start, created.end, created.children)
        if self.has("<"):
            children += self._type_arguments()
        return self.node("member", [*children, self.leaf("identifier", self.take(kind="name"))])

    def arguments(self) -> Node:
        """The arguments of a call."""
        children = [self.sign("(")]
        while not self.has(")"):
            children.append(self.expression())
            if not self.has(","):
                break
            children.append(self.sign(","))
            if self.has(")"):
                raise self.error()
        return self.node("arguments", [*children, self.sign(")")])

    # ------------------------------------------------------------------ types and what is created
    def _type(self) -> Node:
        children = [self.leaf("type", self.take(kind="name"))]
        while True:
            if self.has("<"):
                children += self._type_arguments()
            elif self.has(".") and self.ahead().kind == "name" and self.ahead().text not in ("class", "new"):
                children += [self.sign("."), self.leaf("type", self.take(kind="name"))]
            elif self.has("[") and self.ahead().text == "]":
                children += [self.sign("["), self.sign("]")]
            else:
                return children[0] if len(children) == 1 else self.node("type", children)

    def _type_arguments(self) -> list[Node]:
        children = [self.sign("<")]
        while not self.token.text.startswith(">"):
            if self.has("?"):
                children.append(self.sign("?"))
                if self.has("extends", "super"):
                    children += [self.leaf("word", self.take()), self._type()]
            else:
                children.append(self._type())
            if not self.token.text.startswith(">"):
                children.append(self.sign(","))
        return [*children, self.sign(">")]

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
            if not value and all(self.text[bracket.start] in "[]" for bracket in dimensions):
                raise self.error()
            return Node("array_creation", word.start, (value or dimensions)[-1].end, (name, *value))
        arguments = self.arguments()
        end = self.class_body().end if self.has("{") else arguments.end
        return Node("object_creation", word.start, end, (name, arguments))

    def _element_type(self) -> Node:
        children = [self.leaf("type", self.take(kind="name"))]
        while self.has("<", "."):
            children += (
                self._type_arguments()
                if self.has("<")
                else [self.sign("."), self.leaf("type", self.take(kind="name"))]
            )
        return children[0] if len(children) == 1 else self.node("type", children)

    def _initializer(self) -> Node:
        children = [self.sign("{")]
        while not self.has("}"):
            children.append(self._initializer() if self.has("{") else self.expression())
            if not self.has(","):
                break
            children.append(self.sign(","))
        return self.node("initializer", [*children, self.sign("}")])
