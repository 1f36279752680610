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
    found = set(value.keys() & (schema.get("properties") or {}).keys())
    patterns = schema.get("patternProperties") or ()
    found |= {key for key in value for each in patterns if run.matches(each, key) is not False}
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            inner = validator.evolve(schema=schema[keyword])
            found |= {key for key in value if key not in found and inner.is_valid(value[key])}
    for each in _applied(validator, value, schema):
        found |= evaluated(validator, value, each)
    return found


def _applied(validator: Any, value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas in another one that count for the same value."""
    if "$ref" in schema:
        yield validator.format_checker.named[schema["$ref"].rpartition("/")[2]]
    yield from (each for name, each in (schema.get("dependentSchemas") or {}).items() if name in value)
    for keyword in _SAME:
        yield from (
            each for each in schema.get(keyword) or () if validator.evolve(schema=each).is_valid(value)
        )
    if "if" in schema:
        good, sure = validator.format_checker.surely(validator.evolve(schema=schema["if"]), value)
        if good:
            yield schema["if"]
            yield schema.get("then", True)
        if not (good and sure):
            yield schema.get("else", True)
