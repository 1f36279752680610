"""Types written in words, and schemas that use other words than JSON Schema's.

The benchmarks' specifications and Python annotations share one small language; what it does not
know stands for anything, for a catalog's prose is no ground to call a plan wrong.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import ANY, KINDS, Type
from planner_eval.catalogs.json_schema.keywords import can_hold
from planner_eval.catalogs.json_schema.types import schema_of

# ----------------------------------------------------------------------
# Types written in words: ``"int or float"``, ``"list of float"``, ``"Optional[list[str]]"``.
_TYPES_OF_WORDS: dict[str, Type] = {
    **dict.fromkeys(("str", "string", "text", "bytes", "path", "file"), Type(("string",))),
    **dict.fromkeys(("int", "integer"), Type(("integer",))),
    **dict.fromkeys(("float", "number", "double", "decimal", "numeric"), Type(("number",))),
    **dict.fromkeys(("bool", "boolean"), Type(("boolean",))),
    **dict.fromkeys(("list", "array", "tuple", "set", "sequence", "iterable", "frozenset"), Type(("array",))),
    **dict.fromkeys(("dict", "object", "mapping", "json", "map"), Type(("object",))),
    **dict.fromkeys(("none", "null", "nonetype"), Type(("null",))),
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


def type_of_annotation(text: str, unknown: Collection[str] = ()) -> Type:
    """The type that a Python annotation names; it is parsed, never evaluated.

    Args:
        text: The annotation.
        unknown: Names of classes that are not the ones known here, though they may be called alike.

    >>> str(type_of_annotation("Optional[List[int]]")), str(type_of_annotation("Literal['a', 'b']"))
    ('array of integer or null', "one of 'a', 'b'")
    """
    if len(text) > _MAX_CHARS:
        return ANY
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return _type_of_node(ast.parse(text.strip(), mode="eval").body, unknown)
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
    if outer in _LIST_NAMES:
        same = len(arguments) == 1 or (isinstance(arguments[-1], ast.Constant) and arguments[-1].value is ...)
        return Type(("array",), items=_type_of_node(arguments[0], unknown)) if same else Type(("array",))
    return Type(("object",)) if outer in _DICT_NAMES else ANY


def _outer_name(node: ast.expr) -> str:
    """The name that an annotation begins with, as it is written."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _class_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr.lower()
    return node.id.lower() if isinstance(node, ast.Name) else ""


# ----------------------------------------------------------------------
# Schemas with other words than JSON Schema's for types, written with its own: benchmarks' and Gemini's.
WordReader: TypeAlias = Callable[[str], Mapping[str, Any]]

_SCHEMA_KEYWORDS = ("items", "additionalProperties", "not")
_SCHEMA_LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_OBJECT_KEYWORDS = ("properties", "$defs", "definitions")
_COUNT_KEYWORDS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_SLOPPY = ("pattern", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "dependentRequired")
_GEMINI_KEYS = {
    "type_": "type",
    "format_": "format",
    "ref": "$ref",
    "defs": "$defs",
    "any_of": "anyOf",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "additional_properties": "additionalProperties",
    "property_ordering": "propertyOrdering",
}
_BFCL_TYPES = {
    **dict.fromkeys(("hashmap", "hashtable"), "object"),
    **dict.fromkeys(("arraylist", "queue", "stack"), "array"),
    **dict.fromkeys(("byte", "short", "long", "bigint"), "integer"),
    "char": "string",
}
"""Words of BFCL's Java and JavaScript parts that are no types elsewhere."""


def schema_from_words(schema: Any) -> Any:
    """A schema with types in any words as JSON Schema; a word that is no type stands for anything.

    >>> schema_from_words(
    ...     {"type": "dict", "properties": {"x": {"type": "tuple", "items": {"type": "float"}}}})
    {'type': 'object', 'properties': {'x': {'type': 'array', 'items': {'type': 'number'}}}}
    """
    return _respell(schema, _schema_of_word, {})


def schema_from_gemini(schema: Any) -> Any:
    """A ``Schema`` of Gemini's API, or of its Python library, as JSON Schema.

    Raises:
        CatalogError: it has a type that Gemini does not know.

    >>> schema_from_gemini({"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "2", "title": None})
    {'type': 'array', 'items': {'type': 'string'}, 'minItems': 2}
    """
    return _respell(schema, _schema_of_gemini_word, _GEMINI_KEYS)


def _respell(schema: Any, words: WordReader, keys: Mapping[str, str]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    respelled: dict[str, Any] = {}
    for spelled, value in schema.items():
        key = keys.get(spelled, spelled)
        if keys and value is None:  # its Python library writes what is not set
            continue
        if (
            not keys and key in _SLOPPY and not can_hold(key, value)
        ):  # data of benchmarks are taken as they are
            continue
        if key == "type":
            respelled = {**_respell_type(value, words), **respelled}
        elif key in _SCHEMA_KEYWORDS:
            respelled[key] = _respell(value, words, keys)
        elif key in _SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            respelled[key] = [_respell(item, words, keys) for item in value]
        elif key in _SCHEMA_OBJECT_KEYWORDS and isinstance(value, Mapping):
            respelled[key] = {name: _respell(inner, words, keys) for name, inner in value.items()}
        elif keys and key in _COUNT_KEYWORDS and isinstance(value, str) and value.isdecimal():
            respelled[key] = int(value)  # an int64 is a text in the JSON of a protocol buffer
        elif keys and key == "$ref" and isinstance(value, str):
            respelled[key] = value.replace("#/defs/", "#/$defs/")
        else:
            respelled[key] = value
    return respelled


def _respell_type(kind: Any, words: WordReader) -> Mapping[str, Any]:
    if isinstance(kind, str):
        return words(kind)
    if isinstance(kind, list) and all(isinstance(name, str) for name in kind):
        type_names = [words(name).get("type") for name in kind]
        return {"type": type_names} if all(isinstance(name, str) for name in type_names) else {}
    return {"type": kind}


def _schema_of_word(word: str) -> Mapping[str, Any]:
    standard_name = _BFCL_TYPES.get(word.lower())
    return {"type": standard_name} if standard_name else schema_of(type_of_words(word))


def _schema_of_gemini_word(word: str) -> Mapping[str, Any]:
    kind = word.removeprefix("Type.").lower()
    if kind == "type_unspecified":
        return {}
    if kind not in KINDS:
        raise CatalogError(f"unknown type {word!r:.60}; Gemini knows {', '.join(KINDS).upper()}")
    return {"type": kind}
