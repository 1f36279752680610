"""Traces read as plans, with the tools' answers: agents' spans, OpenInference, MLflow, MCP, LangGraph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.recorded_answers import Answer, assign_answers, decode_answer
from planner_eval.reading.dialects.conversations.spans import (
    are_linked,
    attributes_of,
    call_of_span,
    decode_attribute,
    has_tool_run,
    have_no_call_requests,
    nest_attributes,
    read_arguments,
    refuse_several_runs,
    sort_by_time,
    spans_in,
    value_at_path,
)
from planner_eval.reading.dialects.dialect import Data, Dialect
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, json_dialect


# ---------------------------------------------------------------- OpenInference (Phoenix, Arize)
# The call is in the span's input, the answer in its output.
def openinference_tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of tools in a trace.

    >>> kind = {"openinference.span.kind": "TOOL"}
    >>> [span["name"] for span in openinference_tool_spans({"name": "f", "attributes": kind})]
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


def openinference_tool_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
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


def write_openinference_tools(plan: Plan) -> str:
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


# ---------------------------------------------------------------- MLflow
# Inputs and outputs are attributes, each written as JSON text.
def mlflow_tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of tools in a trace.

    >>> kind = {"mlflow.spanType": '"TOOL"'}
    >>> [span["name"] for span in mlflow_tool_spans({"name": "f", "attributes": kind})]
    ['f']
    """
    for item in spans_in(data):
        if decode_attribute(attributes_of(item).get("mlflow.spanType")) == "TOOL":
            yield item


def mlflow_tool_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
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


def write_mlflow_tools(plan: Plan) -> str:
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


# ---------------------------------------------------------------- all kinds
def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row whose shape is one of the kinds of traces."""
    find, call_of, write = _KINDS[row.shape]

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
        notes: list[Diagnostic] = []
        if row.shape in _FRAMEWORK_SPAN_CHECKS:
            refuse_several_runs(data)
        items = sort_by_time(list(find(data)))
        check_calls(len(items), limits)
        calls = tuple(call_of(item, i, notes) for i, item in enumerate(items))
        if not calls and not _is_run_without_calls(row.shape, data):
            raise ParseError(f"found no {row.title.split(':')[0]}", code="parse.shape", dialect=row.name)
        if row.shape == "mcp":
            calls = _assign_answers(calls, data)
        return RawPlan(calls, None, tuple(notes))

    def write_plan(plan: Plan) -> str:
        refuse_references(plan, row.name)
        return write(plan)

    def fits(data: Data) -> str | None:
        return (
            "a trace's spans"
            if next(find(data.value), None) is not None
            else _find_no_tool_reason(row.shape, data.value)
        )

    return json_dialect(row, read_data, write_plan, placed=False, fits=fits)


def spans_of(dialect: str | None, data: Any) -> list[dict[str, Any]]:
    """The spans that are the calls of a trace, in the order of the calls; none where calls are no spans.

    Args:
        dialect: What the trace was read in.
        data: The trace.

    >>> [span["name"] for span in spans_of("opentelemetry", [{"name": "execute_tool f", "attributes": {}}])]
    ['execute_tool f']
    """
    return sort_by_time(list(_KINDS[dialect][0](data))) if dialect in _FRAMEWORK_SPAN_CHECKS else []


def _is_run_without_calls(shape: str, data: Any) -> bool:
    """Whether data without a call is a run all the same, in which no tool was called."""
    if shape in _FRAMEWORK_SPAN_CHECKS:
        return _find_no_tool_reason(shape, data) is not None
    items = data if isinstance(data, list) else [data]
    return shape == "langgraph" and any(isinstance(item, dict) and "steps" in item for item in items)


def _find_no_tool_reason(shape: str, data: Any) -> str | None:
    """Why data is a trace in which no tool ran; None where it is none, or has tools."""
    sign = _FRAMEWORK_SPAN_CHECKS.get(shape)
    spans = spans_in(data) if sign is not None else []
    if sign is None or has_tool_run(spans) or not (are_linked(spans) or have_no_call_requests(spans)):
        return None
    return "a trace in which no tool ran" if any(map(sign, spans)) else None


_FRAMEWORK_SPAN_CHECKS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "openai-agents": lambda span: "span_data" in span,
    "opentelemetry": lambda span: isinstance(
        value_at_path(nest_attributes(span), "gen_ai", "operation", "name"), str
    ),
    "openinference": lambda span: (
        value_at_path(nest_attributes(span), "openinference", "span", "kind") is not None
    ),
    "mlflow": lambda span: "mlflow.spanType" in attributes_of(span),
}
"""What shows of a span that a framework wrote it, be it no tool's."""


# ---------------------------------------------------------------- OpenAI Agents
def _agent_spans(data: Any) -> Iterator[dict[str, Any]]:
    for item in spans_in(data):
        span = item.get("span_data")
        if isinstance(span, dict) and span.get("type") == "function" and isinstance(span.get("name"), str):
            yield item


def _agent_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    span = item["span_data"]
    label = item.get("id")
    output = span.get("output")
    return RawCall(
        span["name"],
        read_arguments(span.get("input") or {}, position),
        label=str(label) if label is not None else None,
        result=decode_answer(output),
        has_result=output is not None,
    )


def _write_agents(plan: Plan) -> str:
    return json.dumps(
        [
            {
                "object": "trace.span",
                "id": f"span_{i + 1}",
                "span_data": {
                    "type": "function",
                    "name": call.name,
                    "input": json.dumps(call.arguments, ensure_ascii=False),
                    "output": plan.calls[i].result if plan.calls[i].has_result else None,
                },
            }
            for i, call in enumerate(WrittenPlan(plan).calls)
        ],
        ensure_ascii=False,
    )


# ---------------------------------------------------------------- OpenTelemetry
_TOOL_ATTRIBUTE_PREFIX = "gen_ai.tool."


def _tool_spans(data: Any) -> Iterator[dict[str, Any]]:
    for item in spans_in(data):
        attributes = attributes_of(item)
        named = isinstance(item.get("name"), str) and item["name"].startswith("execute_tool ")
        if attributes.get("gen_ai.operation.name") == "execute_tool" or named:
            yield item


def _tool_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    attributes = attributes_of(item)
    name = attributes.get(_TOOL_ATTRIBUTE_PREFIX + "name") or str(item.get("name", "")).removeprefix(
        "execute_tool "
    )
    # Pydantic AI's older names stand behind today's.
    return call_of_span(
        position,
        notes,
        name=str(name),
        arguments=attributes.get(_TOOL_ATTRIBUTE_PREFIX + "call.arguments", attributes.get("tool_arguments")),
        result=attributes.get(_TOOL_ATTRIBUTE_PREFIX + "call.result", attributes.get("tool_response")),
        label=attributes.get(_TOOL_ATTRIBUTE_PREFIX + "call.id"),
    )


def _write_spans(plan: Plan) -> str:
    lines = []
    for i, call in enumerate(WrittenPlan(plan).calls):
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": f"call_{i + 1}",
            "gen_ai.tool.call.arguments": json.dumps(call.arguments, ensure_ascii=False),
        }
        if plan.calls[i].has_result:
            attributes["gen_ai.tool.call.result"] = json.dumps(plan.calls[i].result, ensure_ascii=False)
        lines.append(
            json.dumps({"name": f"execute_tool {call.name}", "attributes": attributes}, ensure_ascii=False)
        )
    return "\n".join(lines)


# ---------------------------------------------------------------- MCP
def _request_messages(data: Any) -> Iterator[dict[str, Any]]:
    for item in data if isinstance(data, list) else [data]:
        if (
            isinstance(item, dict)
            and item.get("method") == "tools/call"
            and isinstance(item.get("params"), dict)
        ):
            yield item


def _request_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    params = item["params"]
    if not isinstance(params.get("name"), str):
        raise ParseError(f"request {position + 1} names no tool", code="parse.shape", dialect="mcp")
    label = item.get("id")
    return RawCall(
        params["name"],
        arguments_of(params.get("arguments") or {}, position, ""),
        label=str(label) if label is not None else None,
    )


def _assign_answers(calls: tuple[RawCall, ...], data: Any) -> tuple[RawCall, ...]:
    answers: list[Answer] = []
    seen: Counter[str] = Counter()
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict) and "id" in item and "method" in item:
            seen[str(item["id"])] += 1
        elif isinstance(item, dict) and "id" in item:
            result = item.get("result", item.get("error"))
            content = (
                result.get("structuredContent", result.get("content", result))
                if isinstance(result, dict)
                else result
            )
            label = str(item["id"])
            answers.append(Answer(decode_answer(content), label, range(seen[label]), seen[label]))
    return assign_answers(calls, answers)


def _write_requests(plan: Plan) -> str:
    lines = []
    for i, call in enumerate(WrittenPlan(plan).calls):
        params = {"name": call.name, "arguments": call.arguments}
        lines.append(
            json.dumps(
                {"jsonrpc": "2.0", "id": i + 1, "method": "tools/call", "params": params}, ensure_ascii=False
            )
        )
    return "\n".join(lines)


# ---------------------------------------------------------------- LangGraph
def _step_calls(data: Any) -> Iterator[dict[str, Any]]:
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict) and isinstance(item.get("steps"), list):
            for turn in item["steps"]:
                for name in turn if isinstance(turn, list) else []:
                    if isinstance(name, str) and not name.startswith("__"):
                        yield {"name": name}


def _step_call(item: dict[str, Any], position: int, notes: list[Diagnostic]) -> RawCall:
    return RawCall(item["name"])


def _write_steps(plan: Plan) -> str:
    for call in plan.calls:
        if call.arguments or call.name.startswith("__"):
            raise WriteError(
                f"call {call.id} ({call.name}) has arguments; LangGraph's trajectories hold names only"
            )
    names = [call.name for call in WrittenPlan(plan).calls]
    return json.dumps({"inputs": [], "results": [], "steps": [["__start__", *names]]}, ensure_ascii=False)


_TraceKind = tuple[
    Callable[[Any], Iterator[dict[str, Any]]],
    Callable[[dict[str, Any], int, list[Diagnostic]], RawCall],
    Callable[[Plan], str],
]
_KINDS: dict[str, _TraceKind] = {
    "openai-agents": (_agent_spans, _agent_call, _write_agents),
    "opentelemetry": (_tool_spans, _tool_call, _write_spans),
    "openinference": (openinference_tool_spans, openinference_tool_call, write_openinference_tools),
    "mlflow": (mlflow_tool_spans, mlflow_tool_call, write_mlflow_tools),
    "mcp": (_request_messages, _request_call, _write_requests),
    "langgraph": (_step_calls, _step_call, _write_steps),
}
