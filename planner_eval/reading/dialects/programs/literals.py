"""Data in Python text: lists and objects of nothing but literals, without a tree of them."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

from planner_eval.base.json_text import is_nested_too_deep
from planner_eval.base.limits import Limits

JSON_LITERALS = {"true": True, "false": False, "null": None}
"""Words of JSON, which are no variables."""
_DEPTH_LIMITS = Limits(depth=90)
"""Python's own parser reads few brackets in brackets."""


def has_leading_zero(number: str) -> bool:
    """Whether an integer has a zero before it, which languages refuse or take for octal: it may be a code.

    >>> has_leading_zero("02134"), has_leading_zero("-07"), has_leading_zero("0"), has_leading_zero("0.5")
    (True, True, False, False)
    """
    digits = number.lstrip("+-")
    return digits[:1] == "0" and digits.isdigit() and digits.strip("0") != ""


class NotDataError(Exception):
    """Something that is no literal of JSON's kind stands there."""


def _refuse_constant(word: str) -> None:
    raise NotDataError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_literal_items(text: str, *, pairs: bool) -> Any:
    r"""The items of a bracket, as a list or as an object, as Python's reader would have them.

    Args:
        text: What stands between the brackets, or a part of it that ends with a comma.
        pairs: Whether it is an object's.

    Raises:
        NoData: it is no data, or not surely.

    >>> parse_literal_items("1, {'a': None, 'b': -2.5},", pairs=False)
    [1, {'a': None, 'b': -2.5}]
    >>> parse_literal_items('"a": [true], 1: "x"', pairs=True)
    {'a': [True], '1': 'x'}
    """
    if is_nested_too_deep(text, _DEPTH_LIMITS) or text.strip() == ",":
        raise NotDataError
    if "\\" not in text:
        inside = text.rstrip(" \t\r\n").removesuffix(",")
        try:
            return _DECODER.decode(f"{{{inside}}}" if pairs else f"[{inside}]")
        except ValueError:
            pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(f"{{\n{text}\n}}" if pairs else f"[\n{text}\n]", mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise NotDataError from None
    if not isinstance(node, ast.Dict if pairs else ast.List):
        raise NotDataError
    return _literal_data(node)


def _literal_data(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if node.value is None or isinstance(node.value, (str, int, float)):
            return node.value
    elif isinstance(node, ast.Dict):
        return {
            object_key(key): _literal_data(item) for key, item in zip(node.keys, node.values, strict=True)
        }
    elif isinstance(node, (ast.List, ast.Tuple)):
        return [_literal_data(item) for item in node.elts]
    elif isinstance(node, ast.Name) and node.id in JSON_LITERALS:
        return JSON_LITERALS[node.id]
    elif isinstance(node, ast.UnaryOp):
        return signed_number(node)
    raise NotDataError


def signed_number(node: ast.UnaryOp) -> int | float:
    """A number with its sign.

    Raises:
        NoData: it is none.
    """
    number = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        if isinstance(node.op, ast.USub):
            return -number
        if isinstance(node.op, ast.UAdd):
            return number
    raise NotDataError


def object_key(node: ast.expr | None) -> str:
    """An object's key, as JSON has it.

    Raises:
        NoData: it is no literal.
    """
    if not isinstance(node, ast.Constant):
        raise NotDataError
    if isinstance(node.value, str):
        return node.value
    if node.value is None or isinstance(node.value, bool):
        return {True: "true", False: "false", None: "null"}[node.value]
    return str(node.value)
