"""What OpenAI's strict mode takes of JSON Schema."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any


def beyond_strict(schema: Any) -> str:
    """What keeps a schema out of the part that OpenAI's strict mode takes; "" where nothing does.

    >>> fields = {"a": {"type": "string"}}
    >>> beyond_strict({"type": "object", "properties": fields, "additionalProperties": False})
    'arguments that may be left out'
    """
    for each in _objects(schema):
        if each.get("prefixItems") is not None:
            return "rules for each call by its place"
        if each.get("type") != "object":
            continue
        if each.get("additionalProperties") is not False or "patternProperties" in each:
            return "objects with any fields"
        if set(each.get("required", ())) != each.get("properties", {}).keys():
            return "arguments that may be left out"
    return ""


def _objects(data: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in data, outer ones first."""
    left = deque([data])
    while left:
        each = left.popleft()
        if isinstance(each, dict):
            yield each
            left += each.values()
        elif isinstance(each, list):
            left += each
