"""Whether a type says all that a JSON Schema does: then a check of types is enough, and quick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.catalogs.judge import Judge

_SAYS = frozenset(
    (
        *("type", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "items", "properties", "required"),
        *("additionalProperties", "anyOf", "$ref", "nullable"),
    )
)
"""What a type has a place for."""
_ASSERTS = frozenset(
    (
        *("multipleOf", "pattern", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
        *("minProperties", "maxProperties", "patternProperties", "propertyNames", "dependentRequired"),
        *("dependentSchemas", "dependencies", "not", "if", "then", "else", "allOf", "oneOf", "$dynamicRef"),
        *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
    )
)
"""What it has none for."""
_PARTS = frozenset(("properties", "items", "additionalProperties", "required"))
_DEPTH = 64


def judge_of(schema: Mapping[str, Any]) -> Judge | None:
    """What holds arguments against a schema that says more than a type can; None where a type is enough.

    >>> judge_of({"type": "object", "properties": {"x": {"type": "integer"}}})
    """
    if is_plain(schema):
        return None
    from planner_eval.catalogs.judge import Judge

    return Judge(schema)


def is_plain(schema: Any) -> bool:
    """Whether a check of types finds all that a schema of arguments asks for, and nothing else.

    >>> is_plain({"type": "object", "properties": {"x": {"type": ["integer", "null"]}}})
    True
    >>> is_plain({"type": "object", "properties": {"x": {"type": "string", "pattern": "^[a-z]+$"}}})
    False
    """
    top = {"type": "object", **schema} if isinstance(schema, Mapping) else schema
    left = [(top, 0)]
    while left:
        each, depth = left.pop()
        if each is True:
            continue
        if not isinstance(each, Mapping) or depth > _DEPTH or not _is_plain(each):
            return False
        left += [(inner, depth + 1) for inner in _inside(each)]
    return True


def _is_plain(schema: Mapping[str, Any]) -> bool:
    said = {key for key in schema.keys() & (_SAYS | _ASSERTS) if schema[key] is not None or key == "const"}
    if "uniqueItems" in said and schema["uniqueItems"] is False:
        said.discard("uniqueItems")
    if said & _ASSERTS or ("$ref" in said and said != {"$ref"}):
        return False
    if "anyOf" in said and not said <= {"anyOf", "type"}:
        return False
    if said & _PARTS and (not schema.get("type") or {"array", "object"} <= set(schema["type"])):
        return False
    if schema.get("additionalProperties") not in (None, True) and _undescribed(schema):
        return False
    if any(isinstance(each, (list, dict)) for each in schema.get("enum") or ()):
        return False
    if isinstance(schema.get("const"), (list, dict)) or {"enum", "const"} <= said:
        return False
    return not any(
        {f"{end}imum", f"exclusive{end.capitalize()}imum"} <= said
        and not isinstance(schema[f"exclusive{end.capitalize()}imum"], bool)
        for end in ("min", "max")
    )


def _undescribed(schema: Mapping[str, Any]) -> bool:
    """Whether a field is required that the schema does not list."""
    needed = schema.get("required")
    return isinstance(needed, list) and not set(needed) <= set(schema.get("properties") or ())


def _inside(schema: Mapping[str, Any]) -> list[Any]:
    found = [*(schema.get("properties") or {}).values(), *(schema.get("anyOf") or ())]
    for key in ("$defs", "definitions"):
        if isinstance(schema.get(key), Mapping):
            found += schema[key].values()
    found += [schema["items"]] if schema.get("items") is not None else []
    others = schema.get("additionalProperties")
    return [*found, others] if isinstance(others, Mapping) else found
