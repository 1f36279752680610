"""Traces written as exporters write them: a run of spans in the forms of six exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import md5
from typing import Any, NamedTuple

BEGUN = 1_795_401_014_474_936_112


class Span(NamedTuple):
    """A span of a scene: an agent's, a model's or a tool's; times are in milliseconds."""

    id: str
    parent: str | None
    kind: str
    name: str
    start: float
    end: float | None
    arguments: Any = None
    answer: Any = None
    error: str | None = None
    words: str | None = None
    calls: tuple[tuple[str, str, Any], ...] = ()
    heard: tuple[str, ...] = ()


def _hex(text: str, size: int) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()[:size]


def _ns(ms: float | None) -> int | None:
    return None if ms is None else BEGUN + round(ms * 1e6)


def _iso(ms: float | None, zone: str = "Z") -> str | None:
    ns = _ns(ms)
    return (
        None
        if ns is None
        else f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{ns % 10**9 // 1000:06d}{zone}"
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _genai(span: Span) -> tuple[str, dict[str, Any]]:
    if span.kind == "tool":
        found = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": span.name}
        found["gen_ai.tool.call.arguments"] = json.dumps(span.arguments)
        if span.error is None:
            found["gen_ai.tool.call.result"] = _text(span.answer)
        return f"execute_tool {span.name}", found
    if span.kind == "agent":
        return f"invoke_agent {span.name}", {"gen_ai.operation.name": "invoke_agent"}
    parts: list[Any] = [{"type": "text", "content": span.words}] if span.words else []
    parts += [
        {"type": "tool_call", "id": i, "name": name, "arguments": given} for i, name, given in span.calls
    ]
    found = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    found["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": parts}])
    heard = [
        {"role": "tool", "parts": [{"type": "tool_call_response", "result": text}]} for text in span.heard
    ]
    if heard:
        found["gen_ai.input.messages"] = json.dumps(heard)
    return "chat m", found


def _inferred(span: Span) -> tuple[str, dict[str, Any]]:
    found: dict[str, Any] = {
        "openinference.span.kind": {"tool": "TOOL", "agent": "AGENT", "model": "LLM"}[span.kind]
    }
    if span.kind == "tool":
        found |= {
            "tool.name": span.name,
            "input.value": json.dumps(span.arguments),
            "input.mime_type": "application/json",
        }
        if span.error is None:
            found["output.value"] = _text(span.answer)
    elif span.kind == "model":
        found["llm.output_messages.0.message.role"] = "assistant"
        if span.words:
            found["llm.output_messages.0.message.content"] = span.words
        for at, (call, name, given) in enumerate(span.calls):
            way = f"llm.output_messages.0.message.tool_calls.{at}.tool_call"
            found |= {
                f"{way}.id": call,
                f"{way}.function.name": name,
                f"{way}.function.arguments": json.dumps(given),
            }
        for at, text in enumerate(span.heard):
            found[f"llm.input_messages.{at}.message.role"] = "tool"
            found[f"llm.input_messages.{at}.message.content"] = text
    return "ChatModel" if span.kind == "model" else span.name, found


_Convention = Callable[[Span], tuple[str, dict[str, Any]]]


def _otlp(run: str, spans: Sequence[Span], convention: _Convention) -> str:
    made = []
    for span in spans:
        name, attributes = convention(span)
        made.append(
            {
                "traceId": _hex(run, 32),
                "spanId": _hex(run + span.id, 16),
                "name": name,
                "kind": 1,
                "parentSpanId": _hex(run + span.parent, 16) if span.parent else "",
                "startTimeUnixNano": str(_ns(span.start)),
                "endTimeUnixNano": str(_ns(span.end) or 0),
                "attributes": [
                    {"key": key, "value": {"stringValue": str(value)}} for key, value in attributes.items()
                ],
                "status": {"code": 2, "message": span.error} if span.error else {},
            }
        )
    return (
        json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": made}]}]})
        + "\n"
    )


def _console(run: str, spans: Sequence[Span], convention: _Convention) -> str:
    made = []
    for span in spans:
        name, attributes = convention(span)
        made.append(
            {
                "name": name,
                "context": {"trace_id": "0x" + _hex(run, 32), "span_id": "0x" + _hex(run + span.id, 16)},
                "kind": "SpanKind.INTERNAL",
                "parent_id": "0x" + _hex(run + span.parent, 16) if span.parent else None,
                "start_time": _iso(span.start),
                "end_time": _iso(span.end),
                "attributes": attributes,
                "status": {"status_code": "ERROR", "description": span.error}
                if span.error
                else {"status_code": "OK"},
                "events": [],
                "links": [],
                "resource": {"attributes": {}, "schema_url": ""},
            }
        )
    return "".join(json.dumps(one, indent=4) + "\n" for one in made)


def _asked(span: Span) -> dict[str, Any]:
    calls = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for call, name, given in span.calls
    ]
    return {"role": "assistant", "content": span.words, "tool_calls": calls}


def _agents(run: str, spans: Sequence[Span]) -> str:
    trace = "trace_" + _hex(run, 32)
    made: list[Any] = [{"object": "trace", "id": trace, "workflow_name": "w", "group_id": None}]
    for span in spans:
        data: dict[str, Any] = {"type": "agent", "name": span.name}
        if span.kind == "tool":
            output = None if span.error else _text(span.answer)
            data = {
                "type": "function",
                "name": span.name,
                "input": json.dumps(span.arguments),
                "output": output,
            }
        elif span.kind == "model":
            heard = [{"role": "tool", "content": text} for text in span.heard]
            data = {"type": "generation", "input": heard, "output": [_asked(span)], "model": "m"}
        failed = {"message": "Error running tool", "data": {"tool_name": span.name, "error": span.error}}
        made.append(
            {
                "object": "trace.span",
                "id": "span_" + _hex(run + span.id, 24),
                "trace_id": trace,
                "parent_id": "span_" + _hex(run + span.parent, 24) if span.parent else None,
                "started_at": _iso(span.start, "+00:00"),
                "ended_at": _iso(span.end, "+00:00"),
                "span_data": data,
                "error": failed if span.error else None,
            }
        )
    return "".join(json.dumps(one) + "\n" for one in made)


def _mlflow(run: str, spans: Sequence[Span]) -> str:
    made = []
    for span in spans:
        kind = {"tool": "TOOL", "agent": "AGENT", "model": "CHAT_MODEL"}[span.kind]
        attributes = {"mlflow.spanType": json.dumps(kind)}
        if span.kind == "tool":
            attributes["mlflow.spanInputs"] = json.dumps(span.arguments)
            if span.error is None:
                attributes["mlflow.spanOutputs"] = json.dumps(span.answer)
        elif span.kind == "model":
            attributes["mlflow.spanInputs"] = json.dumps(
                {"messages": [{"role": "tool", "content": t} for t in span.heard]}
            )
            attributes["mlflow.spanOutputs"] = json.dumps(
                {"choices": [{"index": 0, "message": _asked(span)}]}
            )
        status = (
            {"code": "STATUS_CODE_ERROR", "message": span.error} if span.error else {"code": "STATUS_CODE_OK"}
        )
        made.append(
            {
                "trace_id": _hex(run, 24),
                "span_id": _hex(run + span.id, 16),
                "name": span.name,
                "parent_span_id": _hex(run + span.parent, 16) if span.parent else None,
                "status": status,
                "start_time_unix_nano": _ns(span.start),
                "end_time_unix_nano": _ns(span.end),
                "attributes": attributes,
            }
        )
    return json.dumps({"info": {"trace_id": "tr-" + _hex(run, 32)}, "data": {"spans": made}}) + "\n"


FORMS: dict[str, Callable[[str, Sequence[Span]], str]] = {
    "OTLP JSON, GenAI conventions": lambda run, spans: _otlp(run, spans, _genai),
    "OTLP JSON, OpenInference": lambda run, spans: _otlp(run, spans, _inferred),
    "console exporter, GenAI conventions": lambda run, spans: _console(run, spans, _genai),
    "console exporter, OpenInference": lambda run, spans: _console(run, spans, _inferred),
    "Agents SDK": _agents,
    "MLflow": _mlflow,
}
"""Form → what writes a run in it."""
