"""MLflow's spans of tools: inputs and outputs are attributes, each written as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner_eval.plan.model import Diagnostic, Plan, RawCall
from planner_eval.reading.dialects.conversations.spans import (
    attributes_of,
    call_of_span,
    decode_attribute,
    spans_in,
)
from planner_eval.reading.dialects.references import WrittenPlan


def tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of tools in a trace.

    >>> [span["name"] for span in tool_spans({"name": "f", "attributes": {"mlflow.spanType": '"TOOL"'}})]
    ['f']
    """
    for item in spans_in(data):
        if decode_attribute(attributes_of(item).get("mlflow.spanType")) == "TOOL":
            yield item


def tool_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    """The call of a span.

    Args:
        item: The span.
        position: The call's position, for messages.
        notes: Takes what is worth saying.

    Raises:
        ParseError: its arguments are no object.
    """
    attributes = attributes_of(item)
    output = attributes.get("mlflow.spanOutputs")
    call = call_of_span(
        position,
        notes,
        name=str(item.get("name", "")),
        arguments=decode_attribute(attributes.get("mlflow.spanInputs")),
        result=decode_attribute(output),
        label=decode_attribute(attributes.get("tool_call_id")),
    )
    return replace(call, has_result=output is not None)  # null is an answer: it is written as text


def write_tools(plan: Plan) -> str:
    """A trace of a span a call."""
    spans = []
    for i, call in enumerate(WrittenPlan(plan).calls):
        attributes = {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": json.dumps(call.arguments, ensure_ascii=False),
            "tool_call_id": json.dumps(f"call_{i + 1}"),
        }
        if plan.calls[i].has_result:
            attributes["mlflow.spanOutputs"] = json.dumps(plan.calls[i].result, ensure_ascii=False)
        spans.append({"span_id": f"span_{i + 1}", "name": call.name, "attributes": attributes})
    return json.dumps({"info": {}, "data": {"spans": spans}}, ensure_ascii=False)
