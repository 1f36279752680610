"""The layouts of NESTful's tool specs: version 2's, and older ones brought into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def usual_layout(tools: Any) -> Any:
    """Tool specs with outputs and parameters where version 2 has them.

    Older files say ``output_parameter``, or nest fields below ``properties``; the published executor
    fails on both.

    >>> usual_layout([{"output_parameter": {"result": {}}, "parameters": {"properties": {"a": {}}}}])
    [{'parameters': {'a': {}}, 'output_parameters': {'result': {}}}]
    """
    if not in_older_layout(tools):
        return tools
    return [_usual(spec) if isinstance(spec, dict) else spec for spec in tools]


def in_older_layout(tools: Any) -> bool:
    """Whether :func:`usual_layout` changes tool specs."""
    return isinstance(tools, list) and any(map(_is_older, tools))


def _is_older(spec: Any) -> bool:
    """Whether a spec is in another layout than version 2's."""
    if not isinstance(spec, dict):
        return False
    fields = (spec.get("parameters"), spec.get("output_parameters"))
    nested = [
        field for field in fields if isinstance(field, dict) and isinstance(field.get("properties"), dict)
    ]
    return bool(nested) or "output_parameter" in spec


def _usual(spec: Mapping[str, Any]) -> dict[str, Any]:
    changed = {key: value for key, value in spec.items() if key != "output_parameter"}
    outputs = spec.get("output_parameters", spec.get("output_parameter"))
    for key, fields in (("parameters", spec.get("parameters")), ("output_parameters", outputs)):
        if isinstance(fields, dict) and isinstance(fields.get("properties"), dict):
            fields = fields["properties"]
        if fields is not None:
            changed[key] = fields
    return changed
