"""Statements and declarations of Java, in which models wrap their calls: read for the calls in them.

Source: The Java Language Specification, SE 21, chapters 8 to 10 and 14.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from planner_eval.benchmarks.bfcl.expressions import SMALLEST, Node
from planner_eval.benchmarks.bfcl.java_expressions import JavaExpressionParser

_MODIFIERS = (
    *("public", "protected", "private", "abstract", "static", "final", "strictfp", "default"),
    *("synchronized", "native", "transient", "volatile", "sealed"),
)
_BEGINNING = ("final", "import", "package", "public", "static", "try", "throw", "new", "return", "do")
"""Words that end what stands before them, as no type goes on with one."""


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class JavaParser(JavaExpressionParser):
    """A parser of Java's statements."""

    def program(self) -> list[Node]:
        """The statements of the whole text.

        Raises:
            SyntaxError: the text is no Java.
        """
        nodes: list[Node] = []
        while self.token.kind != "end":
            nodes.append(self.statement(first=not nodes, declares=True))
        if len(self.unended) > 2 or (
            len(self.unended) == 2 and any(n.kind not in ("call", "declared") for n in self.unended)
        ):
            raise self.error()
        return nodes

    def block(self) -> Node:
        """Statements in braces."""
        children = [self.sign("{")]
        while self.token.kind != "end" and not self.has("}"):
            children.append(self.statement(first=len(children) == 1))
        return self.node("block", [*children, self.closing_brace()])

    def statement(self, *, first: bool = False, declares: bool = False) -> Node:
        """A statement with its semicolon.

        Args:
            first: It is the first one of a list of them.
            declares: Methods may be declared beside it.
        """
        token = self.token
        if token.kind == "sign" and token.text in (";", "{"):
            return self.block() if token.text == "{" else self.sign(";")
        if token.kind == "name" and self.ahead().text == ":":
            return self.node("labeled", [self._word(), self.sign(":"), self.body()])
        read = self.STATEMENTS.get(token.text) if token.kind == "name" else None
        if read is not None and not self._names_no_statement():
            return read(self)
        if token.text in ("import", "package") and self.ahead().kind == "name":
            return self._import()
        declaration = self._declaration(member=declares)
        if declaration is not None:
            return declaration
        return self._end([self.expression()], first=first)

    def _names_no_statement(self) -> bool:
        """Whether a word that may begin a statement is a modifier or a name here."""
        if self.has("synchronized"):
            return self.ahead().text != "("
        return self.has("yield") and self.ahead().text in (";", "=", "<", ".", ",", "")

    def _end(self, children: list[Node], *, first: bool = False) -> Node:
        """A statement of children and a semicolon, which may be absent.

        An absent one costs tree-sitter more than to take so few bytes for an error.
        """
        node = children[0] if len(children) == 1 else self.node("statement", children)
        if self.has(";"):
            return self.node("statement", [*children, self.sign(";")])
        if node.kind == "identifier" and self.has(*_BEGINNING):
            node = node._replace(kind="declared")  # a type, its name being absent
        elif node.kind == "member" or (node.kind == "identifier" and self.token.kind != "end"):
            raise self.error()
        elif self.token.kind == "name" and self.ahead().text == "." and not self.has("this", "super"):
            if node.kind != "call" or _byte_count(self.token.text) < SMALLEST:
                raise self.error()
        elif first and node.kind != "declared":
            written = self.text[node.start : node.end]
            if _byte_count(written) + 30 * written.count("\n") <= SMALLEST:
                raise self.error()
        self.unended.append(node)
        return node

    def _condition(self) -> list[Node]:
        return [self.sign("("), self.expression(), self.sign(")")]

    # ------------------------------------------------------------------ statements that begin with a word
    def _synchronized(self) -> Node:
        return self.node("statement", [self._word(), *self._condition(), self.block()])

    def _do(self) -> Node:
        return self._end([self._word(), self.body(), self._word("while"), *self._condition()])

    def _for(self) -> Node:
        children = [self._word(), self.sign("(")]
        head = self.attempt(self._typed_name)
        if head is not None and self.has(":"):
            children += [head, self.sign(":"), self.expression(), self.sign(")")]
            return self.node("statement", [*children, self.body()])
        children += [] if head is None else [self._variables([head])]
        for closing in (";", ";", ")"):
            while not self.has(closing):
                children.append(self.expression())
                if not self.has(","):
                    break
                children.append(self.sign(","))
            children.append(self.sign(closing))
        return self.node("statement", [*children, self.body()])

    def _jump(self) -> Node:
        """``break``, ``continue``, ``return`` and what may stand behind it."""
        labels, children = self.has("break", "continue"), [self._word()]
        if not self.has(";", "}") and self.token.kind != "end":
            children.append(self._word() if labels else self.expression())
        return self._end(children)

    def _throw(self) -> Node:
        return self._end([self._word(), self.expression()])

    def _assert(self) -> Node:
        children = [self._word(), self.expression()]
        return self._end([*children, self.sign(":"), self.expression()] if self.has(":") else children)

    def _try(self) -> Node:
        behind_type = bool(self.unended) and not self.text[self.unended[-1].end : self.token.start].strip()
        children = [self._word()]
        resources = self.has("(")
        if resources:
            children.append(self.sign("("))
            while not self.has(")"):
                head = self.attempt(self._typed_name)
                children += [self.expression()] if head is None else [head, self.sign("="), self.expression()]
                if not self.has(";"):
                    break
                children.append(self.sign(";"))
            children.append(self.sign(")"))
        children.append(self.block())
        handled = len(children)
        caught = self.has("catch")
        while self.has("catch"):
            children += [self._word(), self.sign("("), *self._modifiers(), self._type()]
            while self.has("|"):
                children += [self.sign("|"), self._type()]
            children += [self._word(), self.sign(")"), self.block()]
        if self.has("finally"):
            children += [self._word(), self.block()]
        # Behind a word in the place of a type, tree-sitter takes the block for one without "try".
        if caught if behind_type else len(children) == handled and not resources:
            raise self.error()
        return self.node("statement", children)

    def _import(self) -> Node:
        children = [self._word()]
        if self.has("static"):
            children.append(self._word())
        children.append(self._word())
        while self.has("."):
            children += [self.sign("."), self.sign("*") if self.has("*") else self._word()]
        return self._end([self.node("import", children)])

    STATEMENTS: ClassVar[dict[str, Callable[[JavaParser], Node]]] = {
        "if": JavaExpressionParser._if,
        "while": JavaExpressionParser._while,
        "for": _for,
        "do": _do,
        "try": _try,
        "switch": lambda parser: parser.switch(),
        "synchronized": _synchronized,
        "return": _jump,
        "break": _jump,
        "continue": _jump,
        "throw": _throw,
        "yield": _throw,
        "assert": _assert,
    }

    def switch(self) -> Node:
        """``switch``, with the statements of its cases."""
        children = [self._word(), *self._condition(), self.sign("{")]
        while self.has("case", "default"):
            children.append(self._word())
            while not self.has(":", "->"):
                children.append(self.attempt(self._typed_name) or self._binary(0))
                if self.has("when"):
                    children += [self._word(), self.expression()]
                if not self.has(","):
                    break
                children.append(self.sign(","))
            if self.has("->"):
                children += [self.sign("->"), self.statement()]
                continue
            children.append(self.sign(":"))
            while not self.has("case", "default", "}") and self.token.kind != "end":
                children.append(self.statement())
        return self.node("switch", [*children, self.closing_brace()])

    # ------------------------------------------------------------------ declarations
    def _modifiers(self) -> list[Node]:
        children: list[Node] = []
        while True:
            if self.has("@") and self.ahead().text != "interface":
                children += [self.sign("@"), self._word()]
                while self.has("."):
                    children += [self.sign("."), self._word()]
                children += self.balanced() if self.has("(") else []
            elif self.has(*_MODIFIERS):
                children.append(self._word())
            else:
                return children

    def _typed_name(self) -> Node:
        """A type and the name of what has it."""
        children = [*self._modifiers(), self._type()]
        if self.has("..."):
            children.append(self.sign("..."))
        return self.node("declared", [*children, self.leaf("identifier", self.take(kind="name"))])

    def _variable_head(self) -> Node:
        node = self._typed_name()
        if self.token.kind != "end" and not self.has("=", ";", ",", "["):
            raise self.error()
        return node

    def _variables(self, children: list[Node]) -> Node:
        """Names and their values behind a type and the first name."""
        while True:
            while self.has("["):
                children += [self.sign("["), self.sign("]")]
            if self.has("="):
                children.append(self.sign("="))
                children.append(self._initializer() if self.has("{") else self.expression())
            if not self.has(","):
                return children[0] if len(children) == 1 else self.node("declaration", children)
            children += [self.sign(","), self.leaf("identifier", self.take(kind="name"))]

    def _declaration(self, *, member: bool) -> Node | None:
        """A class, variables or, if a member may stand here, a method; None where nothing is declared."""
        if self._declares_class():
            return self._class(self._modifiers())
        head = self.attempt(self._variable_head)
        if head is not None:
            return self._end([self._variables([head])])
        return self._method() if member and self.attempt(self._method_head) is not None else None

    def _constructor(self) -> Node | None:
        return self.block() if self.attempt(self._constructor_head) is not None else None

    def _declares_class(self) -> bool:
        start = self.position
        self.attempt(lambda: self.node("modifiers", [*self._modifiers(), self.leaf("token", self.token)]))
        is_class = self.has("class", "interface", "enum") and self.ahead().kind == "name"
        is_class = is_class or (self.has("@") and self.ahead().text == "interface")
        is_class = is_class or (
            self.has("record") and self.ahead().kind == "name" and self.ahead(2).text in ("(", "<")
        )
        self.position = start
        return is_class

    def _class(self, children: list[Node]) -> Node:
        children += [self.sign("@")] if self.has("@") else []
        enum = self.has("enum")
        children += [self._word(), self._word()]
        children += self._type_parameters() if self.has("<") else []
        children += self._parameters() if self.has("(") else []
        while self.has("extends", "implements", "permits"):
            children += [self._word(), self._type()]
            while self.has(","):
                children += [self.sign(","), self._type()]
        return self.node("class", [*children, self.class_body(enum=enum)])

    def class_body(self, *, enum: bool = False) -> Node:
        """The members of a class in braces."""
        children = [self.sign("{")]
        while enum and not self.has("}", ";"):
            children += [*self._modifiers(), self._word()]
            children += [self.arguments()] if self.has("(") else []
            children += [self.class_body()] if self.has("{") else []
            if not self.has(","):
                break
            children.append(self.sign(","))
        if enum and not self.has("}"):
            children.append(self.sign(";"))
        while self.token.kind != "end" and not self.has("}"):
            children.append(self._member_of_class())
        return self.node("class_body", [*children, self.closing_brace()])

    def _member_of_class(self) -> Node:
        if self.has(";"):
            return self.sign(";")
        if self.has("{") or (self.has("static") and self.ahead().text == "{"):
            return self.node("initializer", [*([self._word()] if self.has("static") else []), self.block()])
        declaration = self._declaration(member=True) or self._constructor()
        if declaration is None:
            raise self.error()
        return declaration

    def _constructor_head(self) -> Node:
        children = self._modifiers()
        is_compact = self.token.kind == "name" and self.ahead().text == "{"  # a record's, without parameters
        children += [self._word()] if is_compact else self._method_name()
        if not self.has("{"):
            raise self.error()
        return self.node("constructor", children)

    def _method_head(self) -> Node:
        children = self._modifiers()
        children += self._type_parameters() if self.has("<") else []
        children += [self._type(), *self._method_name()]
        if self.token.kind != "end" and not self.has("{", ";", "default"):
            raise self.error()
        return self.node("method", children)

    def _method_name(self) -> list[Node]:
        """The name of a method, its parameters and what it throws."""
        children = [self.leaf("identifier", self.take(kind="name")), *self._parameters()]
        while self.has("["):
            children += [self.sign("["), self.sign("]")]
        if self.has("throws"):
            children += [self._word(), self._type()]
            while self.has(","):
                children += [self.sign(","), self._type()]
        return children

    def _method(self) -> Node:
        """What stands behind the head of a method."""
        if self.has("default"):
            return self._end([self._word(), self.expression()])
        if self.has("{"):
            return self.block()
        return self._absent_at_end() or self.sign(";")

    def _parameters(self) -> list[Node]:
        children = [self.sign("(")]
        while not self.has(")"):
            children.append(self._typed_name())
            while self.has("["):
                children += [self.sign("["), self.sign("]")]
            if not self.has(","):
                break
            children.append(self.sign(","))
        return [*children, self.sign(")")]

    def _type_parameters(self) -> list[Node]:
        children = [self.sign("<")]
        while not self.has(">"):
            children += [*self._modifiers(), self._word()]
            if self.has("extends"):
                children += [self._word(), self._type()]
                while self.has("&"):
                    children += [self.sign("&"), self._type()]
            if not self.has(","):
                break
            children.append(self.sign(","))
        return [*children, self.sign(">")]
