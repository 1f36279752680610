"""Statements and declarations of JavaScript, in which models wrap their calls.

The published code takes calls that are statements; of others it matters whether they are JavaScript.

Source: ECMA-262, 15th edition, chapters 14 to 16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from planner_eval.benchmarks.bfcl.expressions import SMALLEST, Node
from planner_eval.benchmarks.bfcl.javascript_expressions import JavaScriptExpressionParser

_DECLARING = ("const", "let", "var")


class JavaScriptParser(JavaScriptExpressionParser):
    """A parser of JavaScript's statements."""

    def program(self) -> list[Node]:
        """The statements of the whole text.

        Raises:
            SyntaxError: the text is no JavaScript.
        """
        nodes: list[Node] = []
        while self.token.kind != "end":
            nodes.append(self.statement())
        return nodes

    def block(self) -> Node:
        """Statements in braces."""
        children = [self.sign("{")]
        while self.token.kind != "end" and not self.has("}"):
            children.append(self.statement())
        return self.node("block", [*children, self.closing_brace()])

    def statement(self) -> Node:
        """A statement with its semicolon."""
        token = self.token
        if token.kind == "sign" and token.text in (";", "{"):
            return self.sign(";") if token.text == ";" else self._block_or_object()
        if token.kind != "name":
            return self._expressions()
        if self.ahead().text == ":":
            return self.node("labeled", [self._word(), self.sign(":"), self.body()])
        read = self.STATEMENTS.get(token.text)
        following = self.ahead()
        called = token.text == "import" and following.text in ("(", ".")
        if read is not None and not called and not (token.text == "export" and following.kind == "end"):
            return read(self)
        if self._declares():
            return self._declaration()
        return self._expressions()

    def _block_or_object(self) -> Node:
        return self.attempt(self.block) or self.attempt(self._expressions) or self.block()

    def _expressions(self) -> Node:
        node = self.expression()
        while self.has(","):
            self.sign(",")
            node = Node("sequence", node.start, self.expression().end, (node,))
        return self._end(node)

    def _end(self, node: Node) -> Node:
        """A statement and its semicolon, which may be absent at the end of a line, a block or the text."""
        if self.has(";"):
            self.sign(";")
        elif not self._ends_line(node) and not (self._may_end(node) and self.absent("sign")):
            raise self.error()
        return node

    def _ends_line(self, node: Node) -> bool:
        token = self.token
        return token.kind == "end" or self.has("}") or "\n" in self.text[node.end : token.start]

    def _may_end(self, node: Node) -> bool:
        """Whether tree-sitter takes a semicolon for absent behind a call, and the next token for no error."""
        alone = self.ahead().kind == "end"
        return (
            node.kind == "call"
            and node.end - node.start > SMALLEST
            and (alone or len(self.token.text) >= SMALLEST)
        )

    def _condition(self) -> list[Node]:
        return [self.sign("("), *self._sequence(), self.sign(")")]

    def _sequence(self) -> list[Node]:
        children = [self.expression()]
        while self.has(","):
            children += [self.sign(","), self.expression()]
        return children

    # ------------------------------------------------------------------ statements that begin with a word
    def _do(self) -> Node:
        node = self.node("statement", [self._word(), self.body(), self._word("while"), *self._condition()])
        if self.has(";"):
            self.sign(";")
        return node

    def _for(self) -> Node:
        children = [self._word()]
        if self.has("await"):
            children.append(self._word())
        children.append(self.sign("("))
        head = self.attempt(self._loop_head)
        if head is not None:
            return self.node("statement", [*children, head, *self._sequence(), self.sign(")"), self.body()])
        if self.has(*_DECLARING):
            children += self._variables()
        elif not self.has(";"):
            children += self._sequence()
        for closing in (";", ")"):
            children.append(self.sign(";"))
            children += [] if self.has(closing) else self._sequence()
        return self.node("statement", [*children, self.sign(")"), self.body()])

    def _loop_head(self) -> Node:
        children = [self._word()] if self.has(*_DECLARING) else []
        return self.node("head", [*children, self.postfix(self.primary()), self._word("in", "of")])

    def _switch(self) -> Node:
        children = [self._word(), *self._condition(), self.sign("{")]
        while self.has("case", "default"):
            children += [self._word(), *([] if self.has(":") else self._sequence()), self.sign(":")]
            while not self.has("case", "default", "}") and self.token.kind != "end":
                children.append(self.statement())
        return self.node("statement", [*children, self.closing_brace()])

    def _try(self) -> Node:
        children = [self._word(), self.block()]
        if self.has("catch"):
            children.append(self._word())
            children += [self.sign("("), self.primary(), self.sign(")")] if self.has("(") else []
            children.append(self.block())
        if self.has("finally"):
            children += [self._word(), self.block()]
        return self.node("statement", children)

    def _jump(self) -> Node:
        """``break``, ``continue``, ``return``, ``throw`` and what may stand behind it."""
        labels, thrown = self.has("break", "continue"), self.has("throw")
        children = [self._word()]
        if thrown or not (self.has(";") or self._ends_line(children[0])):
            children += [self._word()] if labels else self._sequence()
        return self._end(self.node("statement", children))

    def _debugger(self) -> Node:
        return self._end(self.node("statement", [self._word()]))

    def _import(self) -> Node:
        children = [self._word()]
        if self.token.kind != "string":
            children += self._names()
            children.append(self._word("from"))
        return self._end(self.node("statement", [*children, self.leaf("string", self.take(kind="string"))]))

    def _names(self) -> list[Node]:
        """What is imported or exported: a name, all, or several in braces."""
        children: list[Node] = []
        while True:
            if self.has("{"):
                children += self.balanced()
            else:
                children.append(self.sign("*") if self.has("*") else self._word())
                children += [self._word(), self._word()] if self.has("as") else []
            if not self.has(","):
                return children
            children.append(self.sign(","))

    def _export(self) -> Node:
        children = [self._word()]
        if self.has("default"):
            children.append(self._word())
            if not self._declares():
                return self._end(self.node("statement", [*children, self.expression()]))
        if self._declares():
            return self.node("statement", [*children, self._declaration()])
        children += self._names()
        if self.has("from"):
            children += [self._word(), self.leaf("string", self.take(kind="string"))]
        return self._end(self.node("statement", children))

    STATEMENTS: ClassVar[dict[str, Callable[[JavaScriptParser], Node]]] = {
        "if": JavaScriptExpressionParser._if,
        "while": JavaScriptExpressionParser._while,
        "with": JavaScriptExpressionParser._while,
        "do": _do,
        "for": _for,
        "switch": _switch,
        "try": _try,
        "return": _jump,
        "throw": _jump,
        "break": _jump,
        "continue": _jump,
        "debugger": _debugger,
        "import": _import,
        "export": _export,
    }

    # ------------------------------------------------------------------ declarations
    def _declares(self) -> bool:
        following = self.ahead()
        if self.has(*_DECLARING):
            return following.kind == "name" or following.text in ("[", "{")
        if self.has("class", "function"):
            return following.kind == "name" or following.text == "*"
        return self.has("async") and following.text == "function"

    def _declaration(self) -> Node:
        """Names and their values, a function or a class."""
        if not self.has(*_DECLARING):
            return self.node("declaration", [self.named()])
        return self._end(self.node("declaration", self._variables()))

    def _variables(self) -> list[Node]:
        children = [self._word()]
        while True:
            children.append(self.primary())
            if self.has("="):
                children += [self.sign("="), self.expression()]
            if not self.has(","):
                return children
            children.append(self.sign(","))

    def class_body(self) -> Node:
        """The members of a class in braces."""
        children = [self.sign("{")]
        while self.token.kind != "end" and not self.has("}"):
            if self.has(";"):
                children.append(self.sign(";"))
            elif self.has("static") and self.ahead().text == "{":
                children += [self._word(), self.block()]
            else:
                member = self.member(static=True)
                children.append(member if member.kind == "method" else self._end(member))
        return self.node("class_body", [*children, self.closing_brace()])
