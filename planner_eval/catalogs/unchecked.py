"""What the JSON Schemas of a catalog ask for and no check looks at, so that it can be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.catalogs.catalog import Catalog

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
        for keyword in dict.fromkeys(_left(tool.schema)):
            found.setdefault(keyword, []).append(tool.full_name)
    return found


def _left(schema: Any, depth: int = 0) -> Iterator[str]:
    if schema is False:
        yield "false"
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return
    yield from (keyword for keyword in _LEFT if schema.get(keyword) not in (None, False))
    if depth == 0:  # alternatives for all arguments together are read as none
        yield from (keyword for keyword in ("anyOf", "oneOf") if schema.get(keyword))
    if schema.get("additionalProperties") not in (None, True, False, {}):
        yield "additionalProperties"
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), Mapping):
            for inner in schema[keyword].values():
                yield from _left(inner, depth + 1)
    for keyword in _LISTS:
        if isinstance(schema.get(keyword), list):
            for inner in schema[keyword]:
                yield from _left(inner, depth + 1)
    yield from _left(schema.get("items") or None, depth + 1)
