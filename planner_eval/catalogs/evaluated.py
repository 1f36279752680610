"""Which fields of an object a schema describes, for ``unevaluatedProperties`` of JSON Schema 2020-12.

``jsonschema`` has such a search, but matches the names of fields with Python's engine, which may never end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SAME = ("allOf", "anyOf", "oneOf")


def evaluated(validator: Any, value: Mapping[str, Any], schema: Any) -> set[str]:
    """The fields that a schema describes, or may where a pattern is undecided.

    Args:
        validator: Holds values against schemas; its checker of formats is the run.
        value: The object.
        schema: The schema as the judge holds it, without its ``unevaluatedProperties``.
    """
    run = validator.format_checker
    if not isinstance(schema, Mapping):
        return set()
    run.step()
    names = set(value.keys() & (schema.get("properties") or {}).keys())
    patterns = schema.get("patternProperties") or ()
    names |= {key for key in value for pattern in patterns if run.matches(pattern, key) is not False}
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            inner = validator.evolve(schema=schema[keyword])
            names |= {key for key in value if key not in names and inner.is_valid(value[key])}
    for subschema in _applied(validator, value, schema):
        names |= evaluated(validator, value, subschema)
    return names


def _applied(validator: Any, value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas in another one that count for the same value."""
    if "$ref" in schema:
        yield validator.format_checker.named[schema["$ref"].rpartition("/")[2]]
    yield from (
        dependent for name, dependent in (schema.get("dependentSchemas") or {}).items() if name in value
    )
    for keyword in _SAME:
        yield from (
            alternative
            for alternative in schema.get(keyword) or ()
            if validator.evolve(schema=alternative).is_valid(value)
        )
    if "if" in schema:
        good, sure = validator.format_checker.surely(validator.evolve(schema=schema["if"]), value)
        if good:
            yield schema["if"]
            yield schema.get("then", True)
        if not (good and sure):
            yield schema.get("else", True)
