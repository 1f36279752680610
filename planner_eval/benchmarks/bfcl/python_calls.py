"""Calls written as Python expressions, as BFCL's prompts ask for them: read, never evaluated.

The published code evaluates sums and the like inside of arguments; here only arithmetic of what is written
out is computed, and a few functions without effects.

Source: package bfcl-eval 2026.3.23, ``model_handler/utils.py`` (``ast_parse``, ``resolve_ast_call``,
``resolve_ast_by_type``).
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from planner_eval.base.errors import LimitError

MAX_CHARS = 1 << 18
"""Longer texts are not read: Python's parser takes some thousand times their memory."""
_MAX_SIZE = 1 << 16
"""Bits of a number and items of a text or list that arithmetic may come to."""


def parse_expression(text: str) -> ast.expr:
    """The expression that a text is.

    Raises:
        SyntaxError: it is none.
        ValueError: it is too long, or holds what Python's parser refuses.
        RecursionError: it nests too deeply.
        MemoryError: the same, as the parser says it.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"the text has {len(text):,} characters, more than the limit of {MAX_CHARS:,}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def read_python_calls(text: str) -> list[dict[str, Any]]:
    """The calls of a list of them, or of one.

    Args:
        text: Python's text.

    Raises:
        Exception: the published code cannot read it either, in its words.

    >>> read_python_calls("[a.f(x=-1, y=[1 + 2]), g()]")
    [{'a.f': {'x': -1, 'y': [3]}}, {'g': {}}]
    """
    body: Any = parse_expression(text.strip().strip("'"))
    if isinstance(body, ast.Call):
        return [call_of(body)]
    calls = []
    for element in body.elts:
        if not isinstance(element, ast.Call):
            raise AssertionError
        calls.append(call_of(element))
    return calls


def call_of(node: ast.Call) -> dict[str, Any]:
    """A call with its named arguments; others are passed over, as published."""
    names: list[str] = []
    function = node.func
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        names.append(function.id)
    arguments: dict[Any, Any] = {}
    for keyword in node.keywords:
        arguments[keyword.arg] = value_of(keyword.value)
    return {".".join(reversed(names)): arguments}


def value_of(node: Any) -> Any:  # noqa: PLR0911 - one a kind of node
    """The value of an argument: constants, lists, dicts and tuples; names and calls without names as text.

    Raises:
        Exception: the published code cannot read it either, in its words.
    """
    if isinstance(node, ast.Constant):
        return "..." if node.value is Ellipsis else node.value
    if isinstance(node, ast.UnaryOp):
        operand: Any = node.operand
        return -operand.value  # whatever the operator is, as published
    if isinstance(node, ast.List):
        return [value_of(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {value_of(key): value_of(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.BinOp):
        return _compute(node)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return call_of(node) if node.keywords else ast.unparse(node)
    if isinstance(node, ast.Tuple):
        return tuple(value_of(item) for item in node.elts)
    if isinstance(node, ast.Lambda):
        raise TypeError(f"'{type(node.body).__name__}' object is not subscriptable")
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise Exception(f"Unsupported AST type: {type(node)}")


# ----------------------------------------------------------------------
# Arithmetic of what is written out.
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.inv,
    ast.Not: operator.not_,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function for function in (abs, float, int, len, max, min, round, str, sum)
}


def _compute(node: ast.expr) -> Any:
    """What Python makes of an expression.

    Raises:
        Exception: Python raises it, or it is more than arithmetic.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _compute(node.left), _compute(node.right)
        _check_size(node.op, left, right)
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_compute(node.operand))
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        return kind(map(_compute, node.elts))
    if isinstance(node, ast.Dict):
        keys = [_compute(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_compute, node.values), strict=True))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*map(_compute, node.args))
        raise NameError(f"name {node.func.id!r} is not defined")
    name: Any = node
    while isinstance(name, (ast.Attribute, ast.Subscript, ast.Call)):
        name = name.func if isinstance(name, ast.Call) else name.value
    if isinstance(name, ast.Name):
        raise NameError(f"name {name.id!r} is not defined")
    raise ValueError(f"{ast.unparse(node)} is not computed")


def _check_size(kind: ast.operator, left: Any, right: Any) -> None:
    """Refuse what would take the machine's time and memory."""
    number = isinstance(right, int) and not isinstance(left, float)
    if isinstance(kind, ast.Pow) and number and isinstance(left, int):
        size = left.bit_length() * abs(right)
    elif isinstance(kind, ast.LShift) and number:
        size = abs(right) + _size(left)
    elif isinstance(kind, ast.Mult):
        texts = [value for value in (left, right) if isinstance(value, (str, bytes, list, tuple))]
        factors = [value for value in (left, right) if isinstance(value, int)]
        size = len(texts[0]) * abs(factors[0]) if texts and factors else _size(left) + _size(right)
    elif isinstance(kind, ast.Mod) and isinstance(left, (str, bytes)):
        size = _MAX_SIZE + 1 if re.search(r"\d{4}|\*", str(left)) else len(left)
    else:
        size = max(_size(left), _size(right))
    if size > _MAX_SIZE:
        raise LimitError(f"arithmetic exceeds {_MAX_SIZE:,} bits or items")


def _size(value: Any) -> int:
    if isinstance(value, int):
        return value.bit_length()
    return len(value) if isinstance(value, (str, bytes, list, tuple, set, dict)) else 0


def read_literal(text: str) -> Any:
    """A literal of Python.

    Raises:
        Exception: it is none, in Python's words.

    >>> read_literal("[1, {'a': None}]")
    [1, {'a': None}]
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"the text has {len(text):,} characters, more than the limit of {MAX_CHARS:,}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(text)
