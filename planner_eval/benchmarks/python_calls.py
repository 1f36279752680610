"""Calls written as Python expressions, as prompts of BFCL and NESTful ask for them: read, never evaluated.

The published code, which NESTful took over from BFCL, evaluates sums and the like inside of arguments; here
only arithmetic of what is written out is computed, and a few functions without effects.

Source: ``ast_parse``, ``resolve_ast_call`` and ``resolve_ast_by_type`` of the package bfcl-eval 2026.3.23,
``model_handler/utils.py``, and of NESTful's ``ast_utils.py``.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

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
        warnings.simplefilter("ignore")  # of escapes that Python does not know
        return ast.parse(text, mode="eval").body


def read_literal(text: str) -> Any:
    """A literal of Python.

    Raises:
        Exception: it is none, in Python's words.

    >>> read_literal("[1, {'a': None}]")
    [1, {'a': None}]
    """
    return ast.literal_eval(parse_expression(text.lstrip(" \t")))


class CallReader(NamedTuple):
    """Reads calls.

    Args:
        make: The data of a call, of its name and its named arguments; others are passed over, as published.

    >>> CallReader(lambda name, arguments: {name: arguments}).read("[a.f(x=-1, y=[1 + 2]), g()]")
    [{'a.f': {'x': -1, 'y': [3]}}, {'g': {}}]
    """

    make: Callable[[str, dict[Any, Any]], Any]

    def read(self, text: str) -> list[Any]:
        """The calls of a list of them, or of one.

        Raises:
            Exception: the published code cannot read it either, in its words.
        """
        body: Any = parse_expression(text)
        if isinstance(body, ast.Call):
            return [self.call(body)]
        calls = []
        for element in body.elts:
            if not isinstance(element, ast.Call):
                raise AssertionError
            calls.append(self.call(element))
        return calls

    def call(self, node: ast.Call) -> Any:
        """A call."""
        names: list[str] = []
        function = node.func
        while isinstance(function, ast.Attribute):
            names.append(function.attr)
            function = function.value
        if isinstance(function, ast.Name):
            names.append(function.id)
        arguments = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        return self.make(".".join(reversed(names)), arguments)

    def value(self, node: Any) -> Any:
        """The value of an argument: names, and calls without named arguments, are text.

        Raises:
            Exception: the published code cannot read it either, in its words.
        """
        if isinstance(node, ast.Constant):
            return "..." if node.value is Ellipsis else node.value
        if isinstance(node, ast.UnaryOp):
            operand: Any = node.operand
            return -operand.value  # whatever the operator is, as published
        if isinstance(node, (ast.List, ast.Tuple)):
            return (list if isinstance(node, ast.List) else tuple)(map(self.value, node.elts))
        if isinstance(node, ast.Dict):
            return dict(zip(map(self.value, node.keys), map(self.value, node.values), strict=True))
        if isinstance(node, ast.BinOp):
            return _compute(node)
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Call):
            return self.call(node) if node.keywords else ast.unparse(node)
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
