"""Expressions of Java and JavaScript, read and never run: what both languages have in common.

The published code parses them with tree-sitter, which goes on where a text is broken: it puts a token where
one is absent, unless to take what stands before for an error is cheaper. Here a small parser finds the calls
of expressions, and one token of a text may be absent where models leave one out. The languages
add statements, in which models wrap calls.

Source: package bfcl-eval 2026.3.23, ``model_handler/parser/java_parser.py``, ``js_parser.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

MAX_CHARS = 1 << 18
_MAX_DEPTH = 150
_REPEATED = "Error: Multiple arguments with the same name are not supported."
SMALLEST = 10
"""Bytes of a statement without its semicolon, up to which tree-sitter takes it for an error and goes on."""
DIGITS = r"[0-9]+(?:_[0-9]+)*"
SIGNS = (
    ">>>=|<<=|>>=|>>>|===|!==|\\*\\*=|\\.\\.\\.|&&=|\\|\\|=|\\?\\?=|->|=>|::|\\+\\+|--|&&|\\|\\||\\?\\?|\\?\\.|"
    "\\*\\*|==|!=|<=|>=|<<|\\+=|-=|\\*=|/=|%=|&=|\\|=|\\^=|[-+*/%=<>!&|^~?:;,.(){}\\[\\]@]"
)
BINARY: Mapping[str, int] = {
    sign: level
    for level, signs in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >= instanceof", "<< >> >>>", "+ -", "* / %"), 2
    )
    for sign in signs.split()
}
"""How strongly operators bind that both languages have."""
_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= >>>= **= &&= ||= ??=".split())  # noqa: SIM905


class Node(NamedTuple):
    """A part of an expression.

    Args:
        kind: What it is.
        start: Where it begins.
        end: Where it ends.
        children: What it is made of.
    """

    kind: str
    start: int
    end: int
    children: tuple[Node, ...] = ()


class Token(NamedTuple):
    """A token of a text.

    Args:
        kind: ``"name"``, ``"sign"``, ``"string"``, ``"number"``, ``"template"``, ``"block"``, ``"stray"`` or
            ``"end"``.
        text: The token.
        start: Where it begins.
        end: Where it ends.
    """

    kind: str
    text: str
    start: int
    end: int


class ExpressionParser:
    """A parser of expressions; raises SyntaxError where there is none.

    Args:
        text: What is read.
    """

    TOKENS: ClassVar[re.Pattern[str]]
    ERROR: ClassVar[str]
    OPERATORS: ClassVar[Mapping[str, int]]
    ARROW: ClassVar[str]
    CONSTANTS: ClassVar[tuple[str, ...]]

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARS:
            raise ValueError(f"the text has {len(text):,} characters, more than the limit of {MAX_CHARS:,}")
        self.text, self.depth = text, 0
        self.tokens = self._tokens()
        self.position = 0
        self.repaired = False
        self.unended: list[Node] = []
        self.following = self._signs_behind()

    def _tokens(self) -> list[Token]:
        tokens, position = [], 0
        while position < len(self.text):
            matched = self.TOKENS.match(self.text, position)
            if matched is None or matched.end() == position:  # wrong but in the text of an element
                tokens.append(Token("stray", self.text[position], position, position + 1))
                position += 1
                continue
            kind = str(matched.lastgroup)
            if kind != "blank":
                tokens.append(Token(kind, matched.group(), matched.start(), matched.end()))
            position = matched.end()
        end = len(self.text)
        return [*tokens, Token("end", "", end, end)]

    def error(self) -> SyntaxError:
        """The published complaint."""
        return SyntaxError(f"Error {self.ERROR} the source code.")

    # ------------------------------------------------------------------ statements of both languages
    def _word(self, *texts: str) -> Node:
        if texts and not self.has(*texts):
            raise self.error()
        return self.leaf("word", self.take(kind="name"))

    def _if(self) -> Node:
        children = [self._word(), *self._condition(), self.body()]
        if self.has("else"):
            children += [self._word(), self.body()]
        return self.node("statement", children)

    def _while(self) -> Node:
        return self.node("statement", [self._word(), *self._condition(), self.body()])

    # ------------------------------------------------------------------ what a language adds
    def _condition(self) -> list[Node]:
        raise NotImplementedError

    def statement(self) -> Node:
        """A statement with its semicolon."""
        raise NotImplementedError

    def block(self) -> Node:
        """Statements in braces."""
        raise NotImplementedError

    def prefix(self) -> Node | None:
        """What stands before an operand and is no sign: a cast, a word."""
        raise NotImplementedError

    def operand(self) -> Node:
        """An operand that begins with a sign or a literal of the language."""
        raise NotImplementedError

    def named(self) -> Node:
        """An operand that begins with a word."""
        raise NotImplementedError

    def postfix(self, node: Node) -> Node:
        """An operand with what follows it: members, indices, calls."""
        raise NotImplementedError

    def arguments(self) -> Node:
        """The arguments of a call, with their brackets."""
        raise NotImplementedError

    # ------------------------------------------------------------------ tokens
    @property
    def token(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.position]

    def ahead(self, count: int = 1) -> Token:
        """A token behind it."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def take(self, text: str | None = None, kind: str | None = None) -> Token:
        """The next token, which has to be this one, or of this kind."""
        token = self.token
        if (text is not None and token.text != text) or (kind is not None and token.kind != kind):
            raise self.error()
        if token.kind in ("end", "stray"):
            raise self.error()
        self.position += 1
        return token

    def has(self, *texts: str) -> bool:
        """Whether the next token is one of these signs or words."""
        return self.token.kind in ("sign", "name") and self.token.text in texts

    def leaf(self, kind: str, token: Token) -> Node:
        """A token as a node."""
        return Node(kind, token.start, token.end)

    def absent(self, kind: str) -> Node | None:
        """A node for a token that is absent before the next one; None where the text lacked one already."""
        if self.repaired:
            return None
        self.repaired = True
        end = self.tokens[self.position - 1].end if self.position else self.token.start
        return Node(kind, end, end)

    def absent_operand(self) -> Node:
        """An operand that is absent behind a sign that asks for one."""
        before = self.tokens[self.position - 1].text if self.position else ""
        asks = before in ("?", self.ARROW) and self.token.text in (";", ":", ")")
        node = self.absent("identifier") if asks else None
        if node is None:
            raise self.error()
        return node

    def sign(self, text: str) -> Node:
        """A sign; of several that were read as one only the first.

        One closing bracket of a text may be absent where more follows.
        """
        token = self.token
        closes = text in (")", "]", "}") and token.kind == "sign" and token.text != ","
        if closes and not token.text.startswith(text):
            node = self.absent("sign")
            if node is not None:
                return node
        if token.kind == "sign" and token.text != text and token.text.startswith(text):
            self.tokens[self.position] = Token(
                "sign", token.text[len(text) :], token.start + len(text), token.end
            )
            return Node("sign", token.start, token.start + len(text))
        return self.leaf("sign", self.take(text))

    def closing_brace(self) -> Node:
        """``}``, which may be absent at the end of a text that lacks nothing else."""
        return self._absent_at_end() or self.sign("}")

    def body(self) -> Node:
        """The statement that an ``if``, a loop or a label is of; absent as the closing brace may be."""
        return self._absent_at_end() or self.statement()

    def _absent_at_end(self) -> Node | None:
        return self.absent("sign") if self.token.kind == "end" and not self.unended else None

    def is_assigned(self) -> bool:
        """Whether the next token begins the value of a named argument."""
        before = self.tokens[self.position - 1] if self.position else None
        return before is not None and before.text == "=" and self.depth > 1

    def node(self, kind: str, children: list[Node]) -> Node:
        """A node of children."""
        return Node(kind, children[0].start, children[-1].end, tuple(children))

    def attempt(self, read: Callable[[], Node]) -> Node | None:
        """What `read` reads; None, and nothing is taken, where it cannot."""
        start, tokens, repaired = self.position, list(self.tokens), self.repaired
        unended = len(self.unended)
        self.repaired = True  # a guess is not repaired
        try:
            return read()
        except SyntaxError:
            self.position, self.tokens = start, tokens
            del self.unended[unended:]
            return None
        finally:
            self.repaired = repaired

    # ------------------------------------------------------------------ expressions
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
                children = [left, self.sign("?"), self.expression(), self.sign(":"), self.expression()]
                return self.node("conditional", children)
            if self.token.kind == "sign" and self.token.text in _ASSIGNMENTS:
                return self._assignment(left)
            return left
        finally:
            self.depth -= 1

    def _assignment(self, left: Node) -> Node:
        """An assignment; of ``a < b = c`` the right operand is one."""
        if left.kind == "binary":
            return self.node("binary", [*left.children[:-1], self._assignment(left.children[-1])])
        if left.kind not in ("identifier", "member", "index", "object", "array"):
            raise self.error()
        sign = self.leaf("sign", self.take())
        return self.node(self.assignment_kind(sign), [left, sign, self.expression()])

    def assignment_kind(self, sign: Node) -> str:
        """What an assignment with such a sign is."""
        return "assignment"

    def _function(self) -> Node | None:
        """A lambda or an arrow function; None where none begins here."""
        start = self.position
        children: list[Node] = []
        if self.has("async") and self.ARROW == "=>" and self.ahead().text != self.ARROW:
            children.append(self.leaf("word", self.take()))
        if self.token.kind == "name" and self.ahead().text == self.ARROW:
            children.append(self.leaf("identifier", self.take()))
        elif self.has("(") and self.following.get(self.token.start) == self.ARROW:
            children += self.balanced()
        else:
            self.position = start
            return None
        children.append(self.sign(self.ARROW))
        is_block = self.has("{") and not (self.ahead().kind == "string" and self.ahead(2).text == ":")
        children.append(self.block() if is_block else self.expression())
        return self.node("lambda", children)

    def _signs_behind(self) -> dict[int, str]:
        """For the start of each opening bracket what stands behind the one that closes it."""
        behind, opened = {}, []
        for token, following in pairwise(self.tokens):
            if token.kind == "sign" and token.text in ("(", "[", "{"):
                opened.append(token.start)
            elif token.kind == "sign" and token.text in (")", "]", "}") and opened:
                behind[opened.pop()] = following.text
        return behind

    def balanced(self) -> list[Node]:
        """All tokens from a bracket to the one that closes it."""
        closing = {"(": ")", "[": "]", "{": "}"}
        children, stack = [], []
        while True:
            token = self.take()
            children.append(self.leaf("token", token))
            if token.kind == "sign" and token.text in closing:
                stack.append(closing[token.text])
            elif (
                token.kind == "sign"
                and token.text in closing.values()
                and (not stack or stack.pop() != token.text)
            ):
                raise self.error()
            if not stack:
                return children

    def right_operand(self, operator: Token) -> Node:
        """What stands behind an operator."""
        return self._binary(self.OPERATORS[operator.text] + 1)

    def _binary(self, lowest: int) -> Node:
        left = self.unary()
        while self.token.kind in ("sign", "name") and self.OPERATORS.get(self.token.text, -1) >= max(
            lowest, 1
        ):
            operator = self.take()
            left = self.node("binary", [left, self.leaf("sign", operator), self.right_operand(operator)])
        return left

    def unary(self) -> Node:
        """An operand with the signs before and behind it."""
        if self.token.kind == "sign" and self.token.text in ("+", "-", "!", "~", "++", "--"):
            sign = self.leaf("sign", self.take())
            return self.node("unary", [sign, self.unary()])
        node = self.prefix()
        if node is not None:
            return node
        node = self.postfix(self.primary())
        if self.token.kind == "sign" and self.token.text in ("++", "--"):
            node = self.node("update", [node, self.leaf("sign", self.take())])
        return node

    def primary(self) -> Node:
        """An operand."""
        token = self.token
        if token.kind in ("number", "template", "block"):
            return self.leaf("string" if token.kind == "block" else token.kind, self.take())
        return self.named() if token.kind == "name" else self.operand()

    def word(self) -> Node:
        """A constant or an identifier."""
        return self.leaf(
            "constant" if self.token.text in self.CONSTANTS else "identifier", self.take(kind="name")
        )

    def index(self, children: list[Node]) -> Node:
        """An index of what stands before it."""
        return self.node("index", [*children, self.sign("["), self.expression(), self.sign("]")])

    def call(self, children: list[Node]) -> Node:
        """A call of what stands before it."""
        return self.node("call", [*children, self.arguments()])


# ----------------------------------------------------------------------
# The arguments of the calls that the published code finds.
def add_argument(arguments: dict[Any, Any], name: Any, value: Any) -> None:
    """Put an argument to others; one of a name that is there becomes a list with it."""
    if name in arguments:
        before = arguments[name]
        arguments[name] = [*before, value] if isinstance(before, list) else [before, value]
    else:
        arguments[name] = value


def refuse_repeated(arguments: dict[Any, Any]) -> None:
    """Refuse arguments of one name.

    Raises:
        Exception: the published one.
    """
    if any(isinstance(value, list) for value in arguments.values()):
        raise Exception(_REPEATED)
