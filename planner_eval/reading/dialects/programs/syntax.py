"""The syntax tree of programs: names, ways and texts in it, and what the grammars make of the same kind."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from planner_eval.base.errors import strip_traceback
from planner_eval.base.json_text import build_object, is_nested_too_deep
from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern, remembered
from planner_eval.plan.model import Path

_WARNING_CAUSE = lazy_pattern(r"\\(?!['\"\\\nabfnrtv0-3x])|[0-9]\.?(?:[jJxX]|and|else|for|i[fns]|not|or)")
"""What Python's parser may warn of, escapes and words after digits; silence costs more than the parse."""
LINE_END = lazy_pattern(r"[\r\n](?:(?<=\r)\n)?+")
_FORMATTED_STRING = lazy_pattern(r"[FTft](?:(?<!\w.)[Rr]?|(?<=[Rr].)(?<!\w..))['\"]")
"""A text that holds expressions. A letter to begin with is looked for eight times as quickly as what must not
stand before it.
"""
CONDITION_CODE = "parse.condition"
"""The code of a program that calls a tool where it is not known whether that is run."""
MAX_PARSED_CHARS = 256_000
"""Characters that Python's parser gets at most, those in quotes not counted: they are one node."""
_QUOTED_OR_COMMENT = lazy_pattern(
    r"""'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?|\"""(?:[^"\\]++|\\.|"(?!""))*+(?:\""")?|"""
    r"""'(?:[^'\\\r\n]++|\\.)*+'?|"(?:[^"\\\r\n]++|\\.)*+"?|\#[^\r\n]*+""",
    re.S,
)
"""Texts, those that nothing closes too, where parsing ends; and comments."""


def parse_anew(text: str) -> ast.Module | SyntaxError | None:
    """The syntax tree, Python's syntax error, or None where ast.parse cannot say, or would take too much.

    >>> type(parse_anew("f(a=1)")).__name__, parse_anew("f(").msg
    ('Module', "'(' was never closed")
    """
    if is_too_long(text):
        return None
    try:
        if not _WARNING_CAUSE.search(text):
            return ast.parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return strip_traceback(error)
    except (ValueError, RecursionError, MemoryError):
        return None


parse_syntax = remembered(2_000)(parse_anew)  # a tree takes a thousand times the memory of its text
"""The same, for those who change nothing in it: short texts are asked for again and again."""


def is_too_long(text: str) -> bool:
    r"""Whether a text is longer than what Python's parser gets.

    >>> is_too_long("f(a=1)\n" * 40_000), is_too_long(f"f(a='{'x' * 300_000}')")
    (True, False)
    """
    return len(text) > MAX_PARSED_CHARS and bool(
        _FORMATTED_STRING.search(text) or len(_QUOTED_OR_COMMENT.sub("", text)) > MAX_PARSED_CHARS
    )


def is_long_program(text: str) -> bool:
    r"""Whether a text that is too long for Python's parser begins as a program does.

    >>> is_long_program("x = f(a=1)\n" * 40_000), is_long_program("I call f(a=1)\n" * 40_000)
    (True, False)
    """
    if not is_too_long(text):
        return False
    head = text[:_HEAD_CHARS].lstrip("\n\r")
    ends = [match.start() for match in _STATEMENT_START.finditer(head)][-3:] or [0]
    return any(isinstance(parse_syntax(head[:end]), ast.Module) for end in ends)


_HEAD_CHARS = 64_000
_STATEMENT_START = lazy_pattern(r"(?<=[\r\n])(?=[^\s)\]}#])")
"""Where a statement may begin that belongs to no other."""


class GrammarModule(ast.Module):
    """A tree that a grammar has made: its columns are places in the text."""


class JavaScriptModule(GrammarModule):
    """One of JavaScript: one positional mapping is the named arguments."""


class KnownNode(NamedTuple):
    """A value that was read already; a node of Python's own takes four times as long to make."""

    value: Any
    col_offset: int = 0
    end_col_offset: int = 0


class ObjectNode(NamedTuple):
    """An object that a grammar has read."""

    fields: dict[str, Any]
    col_offset: int
    end_col_offset: int


class CallNode(NamedTuple):
    """A call that a grammar has read."""

    name: str
    args: list[Any]
    keywords: list[KeywordNode]
    col_offset: int
    end_col_offset: int


class KeywordNode(NamedTuple):
    """A named argument that a grammar has read."""

    arg: str
    value: Any


ONE_STRING = lazy_pattern(
    r"[A-Za-z]{0,2}+(?:\"\"\".*\"\"\"|'''.*'''"
    r"|\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+')",
    re.S,
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DESCRIPTIONS: dict[type, str] = {
    ast.Compare: "a comparison", ast.IfExp: "a conditional", ast.BoolOp: "found 'and' or 'or'",
    ast.Set: "a set", ast.JoinedStr: "a format",
}  # fmt: skip


class PlacedTree:
    """Where the nodes of a tree stand in its text.

    Args:
        tree: The tree.
        text: The text.
    """

    def __init__(self, tree: ast.Module, text: str) -> None:
        self.text = text
        self.by_offset = isinstance(tree, GrammarModule)
        self.starts = [] if self.by_offset else [0, *(match.end() for match in LINE_END.finditer(text))]
        self.ascii = text.isascii()

    def place(self, line: int, column: int) -> int:
        """A character's place from ast's line and column, which counts bytes."""
        start = self.starts[min(line, len(self.starts)) - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        encoded = self.text[start:end].encode("utf-8", "surrogatepass")
        return start + len(encoded[:column].decode("utf-8", "ignore"))

    def span(self, node: Any) -> Span:
        """Where a node stands."""
        if self.by_offset:
            return node.col_offset, node.end_col_offset
        if self.ascii:  # as most: asked for each argument
            starts, last = self.starts, len(self.starts)
            return (
                starts[min(node.lineno, last) - 1] + node.col_offset,
                starts[min(node.end_lineno, last) - 1] + node.end_col_offset,
            )
        return self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)

    def source(self, node: Any) -> str:
        """The text of a node."""
        return self.text[slice(*self.span(node))]


def dotted_name(node: ast.AST) -> str | None:
    """A name with the fields behind it; None of anything else."""
    if type(node) is ast.Name:
        return node.id
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def call_name(node: Any) -> str | None:
    """The name that a call calls, also in quotes; None where it is computed."""
    if type(node) is CallNode:
        return node.name
    quoted = isinstance(node.func, ast.Constant) and isinstance(node.func.value, str)
    return str(node.func.value) if quoted else dotted_name(node.func)


def root_of(node: ast.expr) -> tuple[ast.expr, Path]:
    """What fields and constant positions lead into, and the way; the node itself where a step is no constant.

    >>> root_of(ast.parse("x.a[0]", mode="eval").body)[1]
    ('a', 0)
    """
    path: list[str | int] = []
    root = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        step = constant_step(root)
        if step is None:
            return node, ()
        path.append(step)
        root = root.value
    while path and isinstance(root, ast.Await):
        root = root.value
    return root, tuple(reversed(path))


def is_text(node: ast.expr) -> bool:
    """Whether an expression is text around values: an f-string without formats, or strings joined by '+'."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        if _is_string(node.right):
            return True
        node = node.left
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return True
    return isinstance(node, ast.JoinedStr) and not any(
        isinstance(item, ast.FormattedValue) and (item.format_spec or item.conversion not in (-1, 115))
        for item in node.values
    )


def _is_string(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and isinstance(node.value, str)) or is_text(node)


def text_parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that :func:`is_text` joins."""
    if isinstance(node, ast.JoinedStr):
        return [item.value if isinstance(item, ast.FormattedValue) else item for item in node.values]
    assert isinstance(node, ast.BinOp)
    return [node.left, node.right]


def merge_texts(pieces: list[Any]) -> list[Any]:
    """Pieces of a text, those that are texts joined where they follow one another."""
    merged: list[Any] = []
    for piece in filter(None, pieces):
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def inner_expressions(node: ast.AST) -> list[ast.expr]:
    """The expressions inside of one; of a method's call what it is called on, then what it is given."""
    children: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        is_method = isinstance(node, ast.Call) and child is node.func and isinstance(child, ast.Attribute)
        if is_method or isinstance(child, (ast.FormattedValue, ast.keyword)):
            children.append(child.value)  # type: ignore[attr-defined]
        elif isinstance(child, ast.expr):
            children.append(child)
    return children


_PROSE_NODES = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Set, ast.Starred, ast.Attribute,
    ast.Subscript,
)  # fmt: skip


def may_be_prose(node: ast.expr) -> bool:
    """Whether an expression is none that is followed: words with signs between them may be as well."""
    root = root_of(node)[0]
    if isinstance(node, ast.Dict):
        return not all(isinstance(key, ast.Constant) for key in node.keys)
    while isinstance(root, ast.Call) and call_name(root) is None and isinstance(root.func, ast.Attribute):
        root = root_of(root.func.value)[0]
    if isinstance(root, ast.Call):
        return False
    if root is not node:
        return not isinstance(root, ast.Name)
    return isinstance(node, _PROSE_NODES) and not is_text(node)


def constant_step(node: ast.Attribute | ast.Subscript) -> str | int | None:
    """A step of a way, where it is a field or a constant."""
    if isinstance(node, ast.Attribute):
        return node.attr
    step = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return step if isinstance(step, (str, int)) else None


def has_keyword_arguments(node: ast.AST) -> bool:
    """Whether a call with named arguments stands in an expression: then it is surely of a tool."""
    return any(
        isinstance(part, ast.Call) and any(word.arg for word in part.keywords) for part in ast.walk(node)
    )


STUB = lazy_pattern(
    r"[^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^:\n]*+:(?:\s*+(?:\"\"\"(?:[^\"]++|\"(?!\"\"))*+\"\"\"|\"[^\"\n]++\""
    r"|'''(?:[^']++|'(?!''))*+'''|'[^'\n]++'|\.\.\.|pass\b|raise NotImplementedError\b[^\n]*+|\#[^\n]*+))++"
    r"(?:\s*+\Z|(?:[ \t]*+\r?\n)++(?!\s))"
)
"""A function of Python's without a body, from its parameters on: it only says what a tool takes."""


# ----------------------------------------------------------------------
# Data in Python text: lists and objects of nothing but literals.
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


def read_literal(text: str) -> Any:
    r"""The data that a text is, as JSON or as Python writes it.

    Raises:
        NotDataError: it is no data, or not surely.

    >>> read_literal("[1, {'a': None, 'b': -2.5}]"), read_literal('{"a": [true], 1: "x"}')
    ([1, {'a': None, 'b': -2.5}], {'a': [True], '1': 'x'})
    """
    if is_nested_too_deep(text, _DEPTH_LIMITS):
        raise NotDataError
    tree = parse_syntax(f"[\n{text},\n]")
    body = tree.body if isinstance(tree, ast.Module) else []
    items = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(items, ast.List) or len(items.elts) != 1:
        raise NotDataError
    return _literal_data(items.elts[0])


def _literal_data(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if node.value is None or isinstance(node.value, (str, int, float)):
            return node.value
    elif isinstance(node, ast.Dict):
        keys = map(object_key, node.keys)
        return build_object([*zip(keys, map(_literal_data, node.values), strict=True)])
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
        NotDataError: it is none.
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
        NotDataError: it is no literal.
    """
    if not isinstance(node, ast.Constant):
        raise NotDataError
    if isinstance(node.value, str):
        return node.value
    if node.value is None or isinstance(node.value, bool):
        return {True: "true", False: "false", None: "null"}[node.value]
    return str(node.value)
