"""What an expression of numbers comes to, bounded in length, depth and size; nothing runs as Python."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable

MAX_EXPRESSION_CHARS = 1_000
"""Longer expressions are not computed."""
MAX_EXPRESSION_DEPTH = 50
"""How deep parentheses, signs and powers may nest."""
MAX_NUMBER_BITS = 1_024
"""How large a number may become on the way; about as large as a float can be."""

_TOKEN = re.compile(
    r"\s*+(?:(\d[\d_]*+(?:\.[\d_]*+)?+(?:[eE][+\-]?\d++)?+|\.\d++(?:[eE][+\-]?\d++)?+)|(\*\*|//|[+\-*/%()]))"
)
_INTEGER = re.compile(r"0++|[1-9]\d*+")
_SUMS: dict[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub}
_PRODUCTS: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


class _NotComputed(Exception):
    pass


def compute(text: str) -> int | float | None:
    """The value of an expression of numbers, + - * / // % ** and parentheses, as Python has it.

    Args:
        text: The expression.

    Returns:
        The number; None where the text is something else, or longer, deeper or larger than the bounds.

    >>> compute("1/6"), compute("2 * (3 + 4) ** 2"), compute("ord('a')"), compute("9**9**9")
    (0.16666666666666666, 98, None, None)
    """
    if len(text) > MAX_EXPRESSION_CHARS:
        return None
    tokens: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        tokens.append(match[1] or match[2])
        position = match.end()
    reader = _Evaluator(tokens)
    try:
        value = reader.operation(_SUMS, 0)
        return value if reader.at == len(tokens) else None
    except (_NotComputed, ZeroDivisionError, OverflowError):
        return None


class _Evaluator:
    """Reads the tokens of an expression from the left, computing on the way."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def next(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def operation(self, operators: dict[str, Callable[[float, float], float]], depth: int) -> float:
        """A sum of products, or a product of signed powers."""
        value = self._operand(operators, depth)
        while self.next() in operators:
            apply = operators[self.next()]
            self.at += 1
            value = _check_bounds(apply(value, self._operand(operators, depth)))
        return value

    def _operand(self, operators: dict[str, Callable[[float, float], float]], depth: int) -> float:
        return self.operation(_PRODUCTS, depth) if operators is _SUMS else self.signed(depth)

    def signed(self, depth: int) -> float:
        """A power with the signs before it."""
        if depth > MAX_EXPRESSION_DEPTH:
            raise _NotComputed
        if self.next() in ("+", "-"):
            sign = self.next()
            self.at += 1
            value = self.signed(depth + 1)
            return -value if sign == "-" else value
        base = self.atom(depth)
        if self.next() != "**":
            return base
        self.at += 1
        return _power(base, self.signed(depth + 1))

    def atom(self, depth: int) -> float:
        """A number, or an expression in parentheses."""
        token = self.next()
        self.at += 1
        if token == "(":
            value = self.operation(_SUMS, depth + 1)
            if self.next() != ")":
                raise _NotComputed
            self.at += 1
            return value
        plain = token.replace("_", "")
        if _INTEGER.fullmatch(plain):
            return _check_bounds(int(plain))
        if plain.isdigit() or not (plain[:1].isdigit() or plain[:1] == "."):
            raise _NotComputed
        return _check_bounds(float(plain))


def _power(base: float, exponent: float) -> float:
    """A power, where it is a real number within the bounds."""
    if (
        isinstance(base, int)
        and isinstance(exponent, int)
        and base.bit_length() * abs(exponent) > 2 * MAX_NUMBER_BITS
    ):
        raise _NotComputed
    value = base**exponent
    if not isinstance(value, (int, float)):  # a root of a negative number
        raise _NotComputed
    return _check_bounds(value)


def _check_bounds(value: float) -> float:
    if isinstance(value, int):
        if value.bit_length() > MAX_NUMBER_BITS:
            raise _NotComputed
    elif not math.isfinite(value):
        raise _NotComputed
    return value
