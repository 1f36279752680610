"""Whether a type says all that a JSON Schema does: then a check of types is enough, and quick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator


_TYPED_KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "items", "properties", "required"),
        *("additionalProperties", "anyOf", "$ref", "nullable"),
    )
)
"""What a type has a place for."""
_UNTYPED_KEYWORDS = frozenset(
    (
        *("multipleOf", "pattern", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
        *("minProperties", "maxProperties", "patternProperties", "propertyNames", "dependentRequired"),
        *("dependentSchemas", "dependencies", "not", "if", "then", "else", "allOf", "oneOf", "$dynamicRef"),
        *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
    )
)
"""What it has none for."""
_CONTAINER_KEYWORDS = frozenset(("properties", "items", "additionalProperties", "required"))
_MAX_DEPTH = 64


def make_validator(schema: Mapping[str, Any]) -> ArgumentsValidator | None:
    """What holds arguments against a schema that says more than a type can; None where a type is enough.

    >>> make_validator({"type": "object", "properties": {"x": {"type": "integer"}}})
    """
    if is_plain(schema):
        return None
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator

    return ArgumentsValidator(schema)


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
        subschema, depth = left.pop()
        if subschema is True:
            continue
        if not isinstance(subschema, Mapping) or depth > _MAX_DEPTH or not _is_plain(subschema):
            return False
        left += [(inner, depth + 1) for inner in _inner_schemas(subschema)]
    return True


def _is_plain(schema: Mapping[str, Any]) -> bool:
    stated = {
        key
        for key in schema.keys() & (_TYPED_KEYWORDS | _UNTYPED_KEYWORDS)
        if schema[key] is not None or key == "const"
    }
    if "uniqueItems" in stated and schema["uniqueItems"] is False:
        stated.discard("uniqueItems")
    if stated & _UNTYPED_KEYWORDS or ("$ref" in stated and stated != {"$ref"}):
        return False
    if "anyOf" in stated and not stated <= {"anyOf", "type"}:
        return False
    if stated & _CONTAINER_KEYWORDS and (
        not schema.get("type") or {"array", "object"} <= set(schema["type"])
    ):
        return False
    if schema.get("additionalProperties") not in (None, True) and _has_undescribed_field(schema):
        return False
    if any(isinstance(value, (list, dict)) for value in schema.get("enum") or ()):
        return False
    if isinstance(schema.get("const"), (list, dict)) or {"enum", "const"} <= stated:
        return False
    return not any(
        {f"{end}imum", f"exclusive{end.capitalize()}imum"} <= stated
        and not isinstance(schema[f"exclusive{end.capitalize()}imum"], bool)
        for end in ("min", "max")
    )


def _has_undescribed_field(schema: Mapping[str, Any]) -> bool:
    """Whether a field is required that the schema does not list."""
    needed = schema.get("required")
    return isinstance(needed, list) and not set(needed) <= set(schema.get("properties") or ())


def _inner_schemas(schema: Mapping[str, Any]) -> list[Any]:
    subschemas = [*(schema.get("properties") or {}).values(), *(schema.get("anyOf") or ())]
    for key in ("$defs", "definitions"):
        if isinstance(schema.get(key), Mapping):
            subschemas += schema[key].values()
    subschemas += [schema["items"]] if schema.get("items") is not None else []
    additional = schema.get("additionalProperties")
    return [*subschemas, additional] if isinstance(additional, Mapping) else subschemas
