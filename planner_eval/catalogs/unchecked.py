"""What the JSON Schemas of a catalog ask for and no check looks at, so that it can be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.schema import target

_LEFT = (
    *("pattern", "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
    *("not", "if", "patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties"),
)
_LISTS = ("anyOf", "oneOf", "allOf")
_NAMED = ("properties", "$defs", "definitions")
_DEPTH = 64


def unchecked(catalog: Catalog) -> dict[str, list[str]]:
    """Keywords of JSON Schema that nothing holds values against, with the tools that have them.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> digits = {"type": "object", "properties": {"pin": {"type": "string", "pattern": "^[0-9]+$"}}}
    >>> unchecked(as_catalog([{"name": "login", "parameters": digits}]))
    {'pattern': ['login']}
    """
    found: dict[str, list[str]] = {}
    for tool in catalog.tools:
        for keyword in dict.fromkeys((*_left(tool.schema), *_again(tool.schema))):
            found.setdefault(keyword, []).append(tool.full_name)
    return found


def _again(schema: Any) -> Iterator[str]:
    """Whether a type is read as any: one that is said to be itself is, and nothing more."""
    if not isinstance(schema, Mapping):
        return
    followed: dict[str, set[str]] = {}
    left = list(_references(schema))
    while left:
        reference = left.pop()
        if reference not in followed:
            try:
                followed[reference] = set(_references(target(reference, schema), same=True))
            except CatalogError:  # an example of a value may look like a reference
                followed[reference] = set()
            left += followed[reference]
    try:
        TopologicalSorter(followed).prepare()
    except CycleError:
        yield "a $ref to nothing but itself"


def _references(schema: Any, *, same: bool = False) -> Iterator[str]:
    """The references in a schema, at any depth; or only those that say of the `same` value what it is."""
    left = [schema]
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            if isinstance(each.get("$ref"), str):
                yield each["$ref"]
            left += (each.get(key) for key in _LISTS) if same else each.values()
        elif isinstance(each, list):
            left += each


def _left(schema: Any, depth: int = 0) -> Iterator[str]:
    if schema is False:
        yield "false"
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return
    yield from (keyword for keyword in _LEFT if schema.get(keyword) not in (None, False))
    if depth == 0:  # alternatives for all arguments together are read as none
        yield from (keyword for keyword in ("anyOf", "oneOf") if schema.get(keyword))
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), Mapping):
            for inner in schema[keyword].values():
                yield from _left(inner, depth + 1)
    for keyword in _LISTS:
        if isinstance(schema.get(keyword), list):
            for inner in schema[keyword]:
                yield from _left(inner, depth + 1)
    for keyword in ("items", "additionalProperties"):
        yield from _left(schema.get(keyword) or None, depth + 1)
