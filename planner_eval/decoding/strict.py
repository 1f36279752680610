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
    for node in _objects(schema):
        if node.get("prefixItems") is not None:
            return "rules for each call by its place"
        if node.get("type") != "object":
            continue
        if node.get("additionalProperties") is not False or "patternProperties" in node:
            return "objects with any fields"
        if set(node.get("required", ())) != node.get("properties", {}).keys():
            return "arguments that may be left out"
    return ""


def _objects(data: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in data, outer ones first."""
    left = deque([data])
    while left:
        node = left.popleft()
        if isinstance(node, dict):
            yield node
            left += node.values()
        elif isinstance(node, list):
            left += node
