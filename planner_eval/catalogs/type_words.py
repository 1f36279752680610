"""Types written in words, ``"int or float"``, ``"list of float"``, and as Python annotations.

The benchmarks' specifications and Python annotations share one small language; what it does not know
stands for anything, for a catalog's prose is no ground to call a plan wrong.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Sequence

from planner_eval.catalogs.catalog import ANY, Type

_WORDS_OF_KINDS = {
    "string": "str string text bytes path file",
    "integer": "int integer",
    "number": "float number double decimal numeric",
    "boolean": "bool boolean",
    "array": "list array tuple set sequence iterable frozenset",
    "object": "dict object mapping json map",
    "null": "none null nonetype",
}
_TYPES_OF_WORDS: dict[str, Type] = {
    **{word: Type((kind,)) for kind, words in _WORDS_OF_KINDS.items() for word in words.split()},
    "date": Type(("string",), format="date"),
    "time": Type(("string",), format="time"),
    "datetime": Type(("string",), format="date-time"),
}
_LIST_NAMES = frozenset(
    {"list", "tuple", "set", "sequence", "iterable", "frozenset", "collection", "iterator"}
)
_DICT_NAMES = frozenset({"dict", "mapping", "mutablemapping", "defaultdict", "ordereddict"})
_MAX_CHARS = 2000


def type_of_words(text: str) -> Type:
    """The type that a specification's words name.

    >>> str(type_of_words("list of float")), str(type_of_words("int or float")), str(type_of_words("Enum"))
    ('array of number', 'integer or number', 'anything')
    """
    words = re.sub(r"\s*\(.*\)\s*$", "", text.strip()).lower()
    if (known_type := _TYPES_OF_WORDS.get(words)) is not None:
        return known_type
    if " or " in words:
        return union_type([type_of_words(option) for option in words.split(" or ")])
    if match := re.fullmatch(r"(?:list|array|tuple|set) of (.+?)s?", words):
        return Type(("array",), items=type_of_words(match[1]))
    return type_of_annotation(text) if "[" in text or "|" in text else ANY


def union_type(types: Sequence[Type]) -> Type:
    """The union of types: joined kinds when all are plain, alternatives otherwise.

    >>> str(union_type([Type(("integer",)), Type(("null",))]))
    'integer or null'
    """
    distinct: list[Type] = []
    for candidate in types:
        if candidate not in distinct:
            distinct.append(candidate)
    if len(distinct) == 1:
        return distinct[0]
    if any(t == ANY for t in distinct):
        return ANY
    if all(t == Type(t.kinds) for t in distinct):
        return Type(tuple(dict.fromkeys(kind for t in distinct for kind in t.kinds)))
    return Type(any_of=tuple(distinct))


def any_item(array: Type) -> Type:
    """What every item of an array may be; of a tuple, what one of its items may.

    >>> str(any_item(Type(("array",), items=Type(("boolean",)), first=(Type(("integer",)),))))
    'boolean or integer'
    """
    items = array.items or ANY
    return union_type([items, *(item for item in array.first if item not in items.any_of)])


def type_of_annotation(annotation: str | ast.expr, unknown: Collection[str] = ()) -> Type:
    """The type that a Python annotation names; it is parsed, never evaluated.

    Args:
        annotation: The annotation, as text or parsed.
        unknown: Names of classes that are not the ones known here, though they may be called alike.

    >>> str(type_of_annotation("Optional[List[int]]")), str(type_of_annotation("Literal['a', 'b']"))
    ('array of integer or null', "one of 'a', 'b'")
    """
    try:
        if isinstance(annotation, ast.expr):
            return _type_of_node(annotation, unknown)
        if len(annotation) > _MAX_CHARS:
            return ANY
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return _type_of_node(ast.parse(annotation.strip(), mode="eval").body, unknown)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ANY


def _type_of_node(node: ast.expr, unknown: Collection[str]) -> Type:
    if isinstance(node, ast.Constant):
        if node.value is None:
            return Type(("null",))
        return type_of_annotation(node.value, unknown) if isinstance(node.value, str) else ANY
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return union_type([_type_of_node(node.left, unknown), _type_of_node(node.right, unknown)])
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ANY if _outer_name(node) in unknown else _TYPES_OF_WORDS.get(_class_name(node), ANY)
    if isinstance(node, ast.Subscript) and _outer_name(node.value) not in unknown:
        return _type_of_generic(_class_name(node.value), node.slice, unknown)
    return ANY


def _type_of_generic(outer: str, inner: ast.expr, unknown: Collection[str]) -> Type:
    arguments = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
    if outer == "optional":
        return union_type([_type_of_node(arguments[0], unknown), Type(("null",))])
    if outer == "union":
        return union_type([_type_of_node(argument, unknown) for argument in arguments])
    if outer == "annotated":
        return _type_of_node(arguments[0], unknown)
    if outer == "literal":
        values = tuple(argument.value for argument in arguments if isinstance(argument, ast.Constant))
        return Type(enum=values) if len(values) == len(arguments) else ANY
    if any(isinstance(argument, ast.Starred) for argument in arguments):  # any number of items
        return _TYPES_OF_WORDS.get(outer, ANY)
    types = [_type_of_node(argument, unknown) for argument in arguments]
    if outer in _LIST_NAMES:
        last = arguments[-1] if arguments else None
        endless = outer != "tuple" or (isinstance(last, ast.Constant) and last.value is ...)
        if endless:
            return Type(("array",), items=types[0])
        size, items = (len(types), len(types)), union_type(types) if types else None
        return Type(("array",), size=size, items=items, first=tuple(types) if len(set(types)) > 1 else ())
    of_values = types[1] if len(types) == 2 and types[1] != ANY else None
    return Type(("object",), others=of_values) if outer in _DICT_NAMES else ANY


def _outer_name(node: ast.expr) -> str:
    """The name that an annotation begins with, as it is written."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _class_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr.lower()
    return node.id.lower() if isinstance(node, ast.Name) else ""
