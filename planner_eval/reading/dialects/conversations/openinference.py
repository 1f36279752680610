"""OpenInference's spans of tools (Phoenix, Arize): the call in the span's input, the answer in its output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from planner_eval.plan.model import Diagnostic, Plan, RawCall
from planner_eval.reading.dialects.conversations.spans import (
    call_of_span,
    nest_attributes,
    spans_in,
    value_at_path,
)
from planner_eval.reading.dialects.references import WrittenPlan


def tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of tools in a trace.

    >>> kind = {"openinference.span.kind": "TOOL"}
    >>> [span["name"] for span in tool_spans({"name": "f", "attributes": kind})]
    ['f']
    """
    for item in spans_in(data):
        if (
            "attributes" in item
            and value_at_path(nest_attributes(item), "openinference", "span", "kind") == "TOOL"
        ):
            yield item


_REDACTED = "__REDACTED__"
"""What OpenInference writes in place of what users hide (OPENINFERENCE_HIDE_INPUTS and its like)."""


def tool_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    """The call of a span.

    Args:
        item: The span.
        position: The call's position, for messages.
        notes: Takes what is worth saying.

    Raises:
        ParseError: its arguments are no object.
    """
    attributes = nest_attributes(item)
    arguments, result = (
        None if value == _REDACTED else value
        for value in (
            value_at_path(attributes, "input", "value"),
            value_at_path(attributes, "output", "value"),
        )
    )
    label = next(
        (
            value_at_path(attributes, *keys)
            for keys in (("tool", "id"), ("tool_call", "id"))
            if value_at_path(attributes, *keys)
        ),
        None,
    )
    # LangChain's instrumentation writes no arguments where a tool takes none, and the answer beside them.
    hidden = result is None or value_at_path(attributes, "input", "value") == _REDACTED
    return call_of_span(
        position,
        notes,
        name=str(value_at_path(attributes, "tool", "name") or item.get("name") or ""),
        arguments=arguments,
        result=result,
        label=label,
        severity="warning" if hidden else "info",
    )


def write_tools(plan: Plan) -> str:
    """A span a call, as JSON lines."""
    lines = []
    for i, call in enumerate(WrittenPlan(plan).calls):
        attributes = {
            "openinference.span.kind": "TOOL",
            "tool.name": call.name,
            "tool.id": f"call_{i + 1}",
            "input.value": json.dumps(call.arguments, ensure_ascii=False),
            "input.mime_type": "application/json",
        }
        if plan.calls[i].has_result:
            result = plan.calls[i].result
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            attributes["output.value"] = text
        lines.append(json.dumps({"name": call.name, "attributes": attributes}, ensure_ascii=False))
    return "\n".join(lines)
