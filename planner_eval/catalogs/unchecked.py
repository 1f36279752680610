"""What the JSON Schemas of a catalog ask for and types, or no check, have no place for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.keywords import misspelt
from planner_eval.catalogs.schema import target

_LEFT = (
    *("pattern", "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
    *("not", "if", "patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems"),
    "oneOf",
)
_SAYS = frozenset(
    (
        *("type", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "items", "properties", "required"),
        *("additionalProperties", "anyOf", "oneOf", "allOf", "$ref"),
    )
)
_LISTS = ("anyOf", "oneOf", "allOf")
_NAMED = ("properties", "$defs", "definitions")
_DEPTH = 64


def untyped(catalog: Catalog) -> dict[str, list[str]]:
    """Keywords of JSON Schema that types have no place for, with the tools that have them.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> digits = {"type": "object", "properties": {"pin": {"type": "string", "pattern": "^[0-9]+$"}}}
    >>> untyped(as_catalog([{"name": "login", "parameters": digits}]))
    {'pattern': ['login']}
    """
    tools_by_keyword: dict[str, list[str]] = {}
    for tool in catalog.tools:
        for keyword in dict.fromkeys((*_left(tool.schema), *_again(tool.schema))):
            tools_by_keyword.setdefault(keyword, []).append(tool.full_name)
    return tools_by_keyword


def remarks(catalog: Catalog) -> list[str]:
    """What is worth saying of a catalog itself before plans are held against it, a sentence each.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> pin = {"type": "object", "properties": {"pin": {"type": "string", "minlength": 4}}}
    >>> remarks(as_catalog([{"name": "login", "parameters": pin}]))
    ["login: pin: 'minlength' is no keyword of JSON Schema and is not looked at; did you mean 'minLength'?"]
    """
    messages: dict[str, None] = {}
    for tool in catalog.tools:
        tool_messages = [*misspelt(tool.schema), *misspelt(tool.returns_schema)]
        tool_messages += [f"{keyword} says nothing, and is not looked at" for keyword in _again(tool.schema)]
        messages |= dict.fromkeys(f"{tool.full_name}: {message}" for message in tool_messages)
    names = Counter(tool.full_name for tool in catalog.tools)
    for name in dict.fromkeys(tool.full_name for tool in catalog.tools if tool.schema is not None):
        if names[name] > 1:  # benchmarks have variants of a name on purpose
            messages[f"{name} stands {names[name]} times: the one that a call breaks least counts"] = None
    return list(messages)


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
        node = left.pop()
        if isinstance(node, Mapping):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            left += (node.get(key) for key in _LISTS) if same else node.values()
        elif isinstance(node, list):
            left += node


def _merged(schema: Mapping[str, Any]) -> Iterator[str]:
    """What several schemas say of one thing, of which a type has one."""
    if isinstance(schema.get("$ref"), str) and schema.keys() & _SAYS - {"$ref"}:
        yield "what stands beside a $ref"
    if _overlaid(schema):
        yield "allOf"


def _overlaid(schema: Mapping[str, Any]) -> bool:
    """Whether several parts under allOf say something of one thing: of these a type has the last."""
    subschemas = [schema, *(s for s in schema.get("allOf") or () if isinstance(s, Mapping))]
    counts = Counter(key for s in subschemas if s is not schema or schema.get("allOf") for key in s)
    fields = Counter(name for s in subschemas for name in s.get("properties") or ())
    return bool(schema.get("allOf")) and (
        any(count > 1 for key, count in counts.items() if key in _SAYS - {"properties", "required", "type"})
        or any(count > 1 for count in fields.values())
    )


def _left(schema: Any, depth: int = 0) -> Iterator[str]:
    if schema is False:
        yield "false"
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return
    yield from (keyword for keyword in _LEFT if schema.get(keyword) not in (None, False))
    yield from _merged(schema)
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
