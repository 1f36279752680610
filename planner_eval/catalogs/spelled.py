"""Schemas with other words than JSON Schema's for types, written with its own: benchmarks' and Gemini's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import KINDS
from planner_eval.catalogs.keywords import holds
from planner_eval.catalogs.schema import schema_of
from planner_eval.catalogs.words import type_of_words

Words: TypeAlias = Callable[[str], Mapping[str, Any]]

_ONE = ("items", "additionalProperties", "not")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_SLOPPY = ("pattern", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "dependentRequired")
_CAMEL = {
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
_BFCL = {
    **dict.fromkeys(("hashmap", "hashtable"), "object"),
    **dict.fromkeys(("arraylist", "queue", "stack"), "array"),
    **dict.fromkeys(("byte", "short", "long", "bigint"), "integer"),
    "char": "string",
}
"""Words of BFCL's Java and JavaScript parts that are no types elsewhere."""


def from_words(schema: Any) -> Any:
    """A schema with types in any words as JSON Schema; a word that is no type stands for anything.

    >>> from_words({"type": "dict", "properties": {"x": {"type": "tuple", "items": {"type": "float"}}}})
    {'type': 'object', 'properties': {'x': {'type': 'array', 'items': {'type': 'number'}}}}
    """
    return _respelled(schema, _any_word, {})


def from_gemini(schema: Any) -> Any:
    """A ``Schema`` of Gemini's API, or of its Python library, as JSON Schema.

    Raises:
        CatalogError: it has a type that Gemini does not know.

    >>> from_gemini({"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "2", "title": None})
    {'type': 'array', 'items': {'type': 'string'}, 'minItems': 2}
    """
    return _respelled(schema, _gemini_word, _CAMEL)


def _respelled(schema: Any, words: Words, keys: Mapping[str, str]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    respelled: dict[str, Any] = {}
    for spelled, value in schema.items():
        key = keys.get(spelled, spelled)
        if keys and value is None:  # its Python library writes what is not set
            continue
        if not keys and key in _SLOPPY and not holds(key, value):  # data of benchmarks are taken as they are
            continue
        if key == "type":
            respelled = {**_typed(value, words), **respelled}
        elif key in _ONE:
            respelled[key] = _respelled(value, words, keys)
        elif key in _MANY and isinstance(value, list):
            respelled[key] = [_respelled(item, words, keys) for item in value]
        elif key in _NAMED and isinstance(value, Mapping):
            respelled[key] = {name: _respelled(inner, words, keys) for name, inner in value.items()}
        elif keys and key in _COUNTS and isinstance(value, str) and value.isdecimal():
            respelled[key] = int(value)  # an int64 is a text in the JSON of a protocol buffer
        elif keys and key == "$ref" and isinstance(value, str):
            respelled[key] = value.replace("#/defs/", "#/$defs/")
        else:
            respelled[key] = value
    return respelled


def _typed(kind: Any, words: Words) -> Mapping[str, Any]:
    if isinstance(kind, str):
        return words(kind)
    if isinstance(kind, list) and all(isinstance(name, str) for name in kind):
        type_names = [words(name).get("type") for name in kind]
        return {"type": type_names} if all(isinstance(name, str) for name in type_names) else {}
    return {"type": kind}


def _any_word(word: str) -> Mapping[str, Any]:
    standard_name = _BFCL.get(word.lower())
    return {"type": standard_name} if standard_name else schema_of(type_of_words(word))


def _gemini_word(word: str) -> Mapping[str, Any]:
    kind = word.removeprefix("Type.").lower()
    if kind == "type_unspecified":
        return {}
    if kind not in KINDS:
        raise CatalogError(f"unknown type {word!r:.60}; Gemini knows {', '.join(KINDS).upper()}")
    return {"type": kind}
