"""MLflow's spans of tools: inputs and outputs are attributes, each written as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from planner_eval.dialects.messages import plain
from planner_eval.dialects.spans import attributes_of, read_arguments, spans_in, told, unquoted
from planner_eval.dialects.writing import Written
from planner_eval.plan.model import Diagnostic, Plan, RawCall


def tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of tools in a trace.

    >>> [span["name"] for span in tool_spans({"name": "f", "attributes": {"mlflow.spanType": '"TOOL"'}})]
    ['f']
    """
    for item in spans_in(data):
        if unquoted(attributes_of(item).get("mlflow.spanType")) == "TOOL":
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
    name = str(item.get("name", ""))
    given = unquoted(attributes.get("mlflow.spanInputs"))
    if given is None:
        message = f"the span of call {position + 1} ({name}) does not record its arguments"
        notes.append(Diagnostic("trace.no_arguments", message, "warning", position))
    result = attributes.get("mlflow.spanOutputs")
    label = unquoted(attributes.get("tool_call_id"))
    return RawCall(
        name,
        read_arguments(given or {}, position),
        label=str(label) if label is not None else None,
        result=plain(told(unquoted(result))),
        has_result=result is not None,
    )


def write_tools(plan: Plan) -> str:
    """A trace of a span a call."""
    spans = []
    for i, call in enumerate(Written(plan).calls):
        attributes = {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": json.dumps(call.arguments, ensure_ascii=False),
            "tool_call_id": json.dumps(f"call_{i + 1}"),
        }
        if plan.calls[i].has_result:
            attributes["mlflow.spanOutputs"] = json.dumps(plan.calls[i].result, ensure_ascii=False)
        spans.append({"span_id": f"span_{i + 1}", "name": call.name, "attributes": attributes})
    return json.dumps({"info": {}, "data": {"spans": spans}}, ensure_ascii=False)
