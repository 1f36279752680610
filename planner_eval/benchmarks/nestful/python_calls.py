"""The two readers of Python-like answers in the published NESTful scorer.

One cuts text at commas; the other reads Python's syntax tree, and the published one evaluates what
stands around an arithmetic operator. Here nothing is evaluated: arithmetic on literals is computed from
the tree, within limits, and an answer with any other expression there counts as unreadable.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Any

MAX_CHARS = 256 * 1024
"""Longer texts are refused: Python's parser needs hundreds of bytes a character."""

MAX_BITS = 4096
"""Integers beyond this size, and texts beyond as many characters, are refused as results of arithmetic."""

UNREADABLE = (SyntaxError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""What reading an answer raises; also RecursionError and MemoryError, see ``formats``."""


# ---------------------------------------------------------------- cut at commas
def cut_calls(text: str, calls: list[dict[str, Any]]) -> None:
    """Read ``[f(a="1"), g(b="2")]`` by cutting; every value is a string.

    Args:
        text: The trimmed answer, with its outer brackets.
        calls: Filled as far as reading goes: calls before an unreadable piece stay.

    Raises:
        IndexError: a piece without ``(`` or an argument without ``=``, so also a call without arguments.

    Source: the second try of ``parse_llama_3_70b_instruct``: calls end at ``),`` even inside quotes, names
    keep their blanks, and the character after each comma is lost.

    >>> found = []
    >>> cut_calls('[f(a="1", b=2), g(c=3,dd=4)]', found)
    >>> found
    [{'name': 'f', 'arguments': {'a': '1', 'b': '2'}}, {'name': ' g', 'arguments': {'c': '3', 'd': '4'}}]
    """
    for piece in text[1:-1].split("),"):
        call_text = piece if piece.strip().endswith(")") else piece + ")"
        name, inside = call_text.split("(", 1)[0], call_text.split("(", 1)[1][:-1]
        arguments = {}
        for argument in _cut_at_commas(inside):
            halves = argument.split("=")
            arguments[halves[0].strip()] = _unquoted(halves[1].strip())
        calls.append({"name": name, "arguments": arguments})


def _cut_at_commas(text: str) -> list[str]:
    """The parts between commas that have an even number of ``"`` before them, minus one character each."""
    arguments = []
    start = 0
    quoted = False
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            arguments.append(text[start:position].strip())
            start = position + 2
    return [*arguments, text[start:].strip()]


def _unquoted(value: str) -> str:
    """Without one ``'`` and then one ``"`` at each end; inner ``"`` become ``'``."""
    value = value.removeprefix("'").removesuffix("'")
    if not value.startswith('"'):
        value = '"' + value
    if not value.endswith('"'):
        value += '"'
    return value[1:-1].replace('"', "'")


# ---------------------------------------------------------------- Python's syntax tree
def tree_calls(text: str) -> list[dict[str, Any]]:
    """Read a call or a tuple of calls as Python syntax; positional arguments are dropped.

    Args:
        text: The answer; ``[``, ``]`` and ``'`` at its ends are stripped, blanks are not.

    Raises:
        One of `UNREADABLE`, RecursionError or MemoryError.

    Source: ``ast_utils.ast_parse``, called by ``parse_ToolAce``.

    >>> tree_calls("[f(a='x', b=-2), m.g(c=[1 + 1, h(d=true)])]")[1]
    {'name': 'm.g', 'arguments': {'c': [2, {'name': 'h', 'arguments': {'d': 'true'}}]}}
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"the answer has {len(text)} characters; at most {MAX_CHARS} are read as Python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd escapes in the text
        body: Any = ast.parse(text.strip("[]'"), mode="eval").body
    nodes = [body] if isinstance(body, ast.Call) else body.elts
    if not all(isinstance(node, ast.Call) for node in nodes):
        raise TypeError("an element is no call")
    return [_call(node) for node in nodes]


def _call(node: ast.Call) -> dict[str, Any]:
    names: list[str] = []
    function: ast.expr = node.func
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        names.append(function.id)
    arguments = {keyword.arg: _value(keyword.value) for keyword in node.keywords}
    return {"name": ".".join(reversed(names)), "arguments": arguments}


def _value(node: Any) -> Any:
    read = _VALUES.get(type(node))
    if read is None:
        raise TypeError(f"{type(node).__name__} is no value")
    return read(node)


def _object(node: ast.Dict) -> dict[Any, Any]:
    keys = [_value(key) for key in node.keys]
    return dict(zip(keys, [_value(value) for value in node.values], strict=True))


_VALUES: dict[type[ast.expr], Callable[[Any], Any]] = {
    ast.Constant: lambda node: "..." if node.value is ... else node.value,
    ast.UnaryOp: lambda node: -node.operand.value,  # any operator negates a literal, as published
    ast.List: lambda node: [_value(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(_value(item) for item in node.elts),
    ast.Dict: _object,
    ast.Name: lambda node: node.id,
    ast.Call: lambda node: _call(node) if node.keywords else ast.unparse(node),
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
    ast.BinOp: lambda node: _computed(node),
}


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def _computed(node: ast.expr) -> Any:
    """The value of arithmetic on literals, as Python has it; anything else is unreadable."""
    match node:
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.UnaryOp():
            return _UNARY[type(node.op)](_computed(node.operand))
        case ast.BinOp():
            left, right = _computed(node.left), _computed(node.right)
            _refuse_growth(node.op, left, right)
            return _BINARY[type(node.op)](left, right)
    raise TypeError(f"{type(node).__name__} is no arithmetic on literals")


def _refuse_growth(operation: ast.operator, left: Any, right: Any) -> None:
    """Raise before a result would pass `MAX_BITS` bits or characters."""
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        raise ValueError("text formatting is not computed")
    if isinstance(operation, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        size = left.bit_length() * max(right, 0)
    elif isinstance(operation, ast.Mult) and (isinstance(left, str) or isinstance(right, str)):
        text, times = (left, right) if isinstance(left, str) else (right, left)
        size = len(text) * max(times, 0) if isinstance(times, int) else 0
    else:
        size = sum(operand.bit_length() if isinstance(operand, int) else 0 for operand in (left, right))
    if size > MAX_BITS:
        raise ValueError("the result of arithmetic is too large")
