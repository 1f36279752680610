"""Traces read as plans, with the tools' answers: agents' spans, OpenInference, MLflow, MCP, LangGraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans
from planner_eval.base.limits import Limits, check_calls
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.model import Arguments, Diagnostic, Plan, RawCall, RawPlan
from planner_eval.reading.dialects.conversations.answers import (
    Answer,
    assign_answers,
    decode_answer,
    says_failed,
)
from planner_eval.reading.dialects.conversations.spans import (
    are_linked,
    attributes_of,
    decode_attribute,
    find_span_error,
    has_tool_run,
    have_no_call_requests,
    nest_attributes,
    refuse_several_runs,
    sort_by_time,
    spans_in,
    tool_message,
    value_at_path,
)
from planner_eval.reading.dialects.dialect import Data, Dialect
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.notations.json_rows import write_calls
from planner_eval.reading.dialects.references import WrittenPlan, refuse_references
from planner_eval.reading.dialects.table import Wrapper, json_dialect


class TraceKind(NamedTuple):
    """How one framework's traces record the calls of tools.

    Args:
        is_call: Whether an object of a trace is a call.
        call: The call, given its position, for messages, and a list that takes what is worth saying.
        is_own_span: Whether a span is the framework's, be it no tool's; None where its traces have no spans.
    """

    is_call: Callable[[JsonObject], bool]
    call: Callable[[JsonObject, int, list[Diagnostic]], RawCall]
    is_own_span: Callable[[JsonObject], bool] | None = None

    def find(self, data: Any) -> Iterator[JsonObject]:
        """The objects of a trace that are calls."""
        if self.is_own_span is not None:
            items = spans_in(data)
        else:
            items = [item for item in _listed(data) if isinstance(item, dict)]
        return filter(self.is_call, items)

    def no_tool_reason(self, data: Any) -> str | None:
        """Why data is a trace in which no tool ran; None where it is none, or has tools."""
        spans = spans_in(data) if self.is_own_span is not None else []
        if has_tool_run(spans) or not (are_linked(spans) or have_no_call_requests(spans)):
            return None
        return "a trace in which no tool ran" if any(map(self.is_own_span or bool, spans)) else None


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row whose shape is one of the kinds of traces."""
    if row.shape == "langgraph":
        return _langgraph_dialect(row)
    kind = _KINDS[row.shape]

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
        notes: list[Diagnostic] = []
        if kind.is_own_span is not None:
            refuse_several_runs(data)
        items = sort_by_time(list(kind.find(data)))
        check_calls(len(items), limits)
        calls = tuple(
            replace(kind.call(item, i, notes), failed=find_span_error(item) is not None)
            for i, item in enumerate(items)
        )
        if not calls and kind.no_tool_reason(data) is None:
            raise ParseError(f"found no {row.title.split(':')[0]}", code="parse.shape", dialect=row.name)
        if row.shape == "mcp":
            calls = _assign_answers(calls, data)
        return RawPlan(calls, None, tuple(notes))

    def fits(data: Data) -> str | None:
        has_calls = next(kind.find(data.value), None) is not None
        return "a trace's spans" if has_calls else kind.no_tool_reason(data.value)

    return json_dialect(row, read_data, partial(write_calls, row), placed=False, fits=fits)


def spans_of(dialect: str | None, data: Any) -> list[JsonObject]:
    """The spans that are the calls of a trace, in the order of the calls; none where calls are no spans.

    Args:
        dialect: What the trace was read in.
        data: The trace.

    >>> [span["name"] for span in spans_of("opentelemetry", [{"name": "execute_tool f", "attributes": {}}])]
    ['execute_tool f']
    """
    kind = _KINDS.get(dialect or "")
    return sort_by_time(list(kind.find(data))) if kind is not None and kind.is_own_span is not None else []


def _listed(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


# ---------------------------------------------------------------- spans of tools
class RecordedCall(NamedTuple):
    """What a span of a tool records.

    Args:
        name: The tool's name.
        arguments: What it was given, as an object or as text; None where the span does not say.
        result: What it answered; None where the span does not say.
        label: The call's id; None where it has none.
        severity: How serious it is that the arguments are not recorded.
    """

    name: str
    arguments: Any
    result: Any
    label: Any
    severity: str = "warning"

    def read(self, position: int, notes: list[Diagnostic]) -> RawCall:
        """The call; `notes` takes that the span does not record the arguments.

        Raises:
            ParseError: the arguments are no object.
        """
        if self.arguments is None:
            message = f"the span of call {position + 1} ({self.name}) does not record its arguments"
            notes.append(Diagnostic("trace.no_arguments", message, self.severity, position))
        message_around = tool_message(self.result)
        return RawCall(
            self.name,
            _read_arguments(self.arguments or {}, position),
            label=str(self.label) if self.label is not None else None,
            result=decode_answer(self.result if message_around is None else message_around["content"]),
            has_result=self.result is not None,
        )


def _read_arguments(value: Any, position: int) -> Arguments:
    """Arguments as an object or as its JSON text; any other text is one positional argument."""
    if isinstance(value, str) and value.lstrip()[:1] != "{":
        return (("0", value),) if value.strip() else ()
    return arguments_of(value, position, "")


# OpenInference (Phoenix, Arize): the call is in the span's input, the answer in its output.
_REDACTED = "__REDACTED__"
"""What OpenInference writes in place of what users hide (OPENINFERENCE_HIDE_INPUTS and its like)."""


def _openinference_kind(span: JsonObject) -> Any:
    return value_at_path(nest_attributes(span), "openinference", "span", "kind")


def _openinference_call(span: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
    attributes = nest_attributes(span)
    arguments, output = (value_at_path(attributes, key, "value") for key in ("input", "output"))
    result = None if output == _REDACTED else output
    # LangChain's instrumentation writes no arguments where a tool takes none, and the answer beside them.
    hidden = result is None or arguments == _REDACTED
    recorded = RecordedCall(
        str(value_at_path(attributes, "tool", "name") or span.get("name") or ""),
        None if arguments == _REDACTED else arguments,
        result,
        value_at_path(attributes, "tool", "id") or value_at_path(attributes, "tool_call", "id") or None,
        "warning" if hidden else "info",
    )
    return recorded.read(position, notes)


# MLflow: inputs and outputs are attributes, each written as JSON text.
def _mlflow_call(span: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
    attributes = attributes_of(span)
    keys = ("mlflow.spanInputs", "mlflow.spanOutputs", "tool_call_id")
    values = (decode_attribute(attributes.get(key)) for key in keys)
    call = RecordedCall(str(span.get("name", "")), *values).read(position, notes)
    # null is an answer: it is written as text
    return replace(call, has_result=attributes.get("mlflow.spanOutputs") is not None)


# OpenTelemetry; Pydantic AI's older names stand behind today's.
def _is_tool_span(span: JsonObject) -> bool:
    named = isinstance(span.get("name"), str) and span["name"].startswith("execute_tool ")
    return named or attributes_of(span).get("gen_ai.operation.name") == "execute_tool"


def _tool_span_call(span: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
    attribute = attributes_of(span).get
    call = RecordedCall(
        str(attribute("gen_ai.tool.name") or str(span.get("name", "")).removeprefix("execute_tool ")),
        attribute("gen_ai.tool.call.arguments", attribute("tool_arguments")),
        attribute("gen_ai.tool.call.result", attribute("tool_response")),
        attribute("gen_ai.tool.call.id"),
    )
    return call.read(position, notes)


# OpenAI Agents.
def _is_agent_call(span: JsonObject) -> bool:
    data = span.get("span_data")
    return isinstance(data, dict) and data.get("type") == "function" and isinstance(data.get("name"), str)


def _agent_call(span: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
    data = span["span_data"]
    recorded = RecordedCall(data["name"], data.get("input") or {}, data.get("output"), span.get("id"))
    return recorded.read(position, notes)


# ---------------------------------------------------------------- MCP
def _is_request(item: JsonObject) -> bool:
    return item.get("method") == "tools/call" and isinstance(item.get("params"), dict)


def _request_call(item: JsonObject, position: int, notes: list[Diagnostic]) -> RawCall:
    params, label = item["params"], item.get("id")
    if not isinstance(params.get("name"), str):
        raise ParseError(f"request {position + 1} names no tool", code="parse.shape", dialect="mcp")
    others = params.keys() - {"name", "arguments", "_meta", "task"}
    if others and not params.get("arguments"):
        names = ", ".join(map(repr, sorted(others)))
        reason = f"request {position + 1} has {names} beside 'name', expected 'arguments'"
        raise ParseError(reason, code="parse.shape", dialect="mcp")
    arguments = arguments_of(params.get("arguments") or {}, position, "")
    return RawCall(params["name"], arguments, label=str(label) if label is not None else None)


def _assign_answers(calls: tuple[RawCall, ...], data: Any) -> tuple[RawCall, ...]:
    answers: list[Answer] = []
    seen: Counter[str] = Counter()
    for item in _listed(data):
        if not isinstance(item, dict) or "id" not in item:
            continue
        label = str(item["id"])
        if "method" in item:
            seen[label] += 1
            continue
        content = item.get("result", item.get("error"))
        failed = says_failed(item) or (isinstance(content, dict) and says_failed(content))
        if isinstance(content, dict):
            content = content.get("structuredContent", content.get("content", content))
        answers.append(Answer(decode_answer(content), label, range(seen[label]), seen[label], None, failed))
    return assign_answers(calls, answers)


# ---------------------------------------------------------------- LangGraph
def _langgraph_dialect(row: Wrapper) -> Dialect:
    """LangGraph's trajectories: the names of nodes."""

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
        names = _node_names(data)
        check_calls(len(names), limits)
        if not names and not any(isinstance(item, dict) and "steps" in item for item in _listed(data)):
            raise ParseError(f"found no {row.title.split(':')[0]}", code="parse.shape", dialect=row.name)
        return RawPlan(tuple(map(RawCall, names)))

    def fits(data: Data) -> str | None:
        return "a trace's spans" if _node_names(data.value) else None

    return json_dialect(row, read_data, partial(_write_nodes, row), placed=False, fits=fits)


def _node_names(data: Any) -> list[str]:
    items = (
        item["steps"]
        for item in _listed(data)
        if isinstance(item, dict) and isinstance(item.get("steps"), list)
    )
    turns = (turn for steps in items for turn in steps if isinstance(turn, list))
    return [name for turn in turns for name in turn if isinstance(name, str) and not name.startswith("__")]


def _write_nodes(row: Wrapper, plan: Plan) -> str:
    refuse_references(plan, row.name)
    for call in plan.calls:
        if call.arguments or call.name.startswith("__"):
            raise WriteError(
                f"call {call.id} ({call.name}) has arguments; LangGraph's trajectories hold names only"
            )
    names = [call.name for call in WrittenPlan(plan).calls]
    return to_json({"inputs": [], "results": [], "steps": [["__start__", *names]]})


_KINDS = {
    "openai-agents": TraceKind(_is_agent_call, _agent_call, lambda span: "span_data" in span),
    "opentelemetry": TraceKind(
        _is_tool_span,
        _tool_span_call,
        lambda span: isinstance(value_at_path(nest_attributes(span), "gen_ai", "operation", "name"), str),
    ),
    "openinference": TraceKind(
        lambda span: _openinference_kind(span) == "TOOL",
        _openinference_call,
        lambda span: _openinference_kind(span) is not None,
    ),
    "mlflow": TraceKind(
        lambda span: decode_attribute(attributes_of(span).get("mlflow.spanType")) == "TOOL",
        _mlflow_call,
        lambda span: "mlflow.spanType" in attributes_of(span),
    ),
    "mcp": TraceKind(_is_request, _request_call),
}
