"""Spans of traces: the objects among them, their attributes, and what a model said in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.later import later
from planner_eval.base.limits import Limits
from planner_eval.dialects.json_calls import arguments_of
from planner_eval.dialects.messages import plain
from planner_eval.plan.model import Arguments, Diagnostic, RawCall

DEPTH = 12
"""How deep a trace nests its spans: resource, scope, span, attribute and some to spare."""


def objects(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects of a trace at any depth, outermost first."""
    if depth > DEPTH:
        return
    if isinstance(data, list):
        for item in data:
            yield from objects(item, depth + 1)
    elif isinstance(data, dict):
        yield data
        for key in _HELD:
            if isinstance(data.get(key), (list, dict)):
                yield from objects(data[key], depth + 1)


_HELD = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data", "children", "items",
    "traces")  # fmt: skip
"""Keys under which spans stand, in the files of exporters and in what is built of them."""


def spans_in(data: Any) -> list[dict[str, Any]]:
    """The spans of a trace, without what only holds spans, and each once though it was exported twice.

    >>> [span["spanId"] for span in spans_in({"spans": [{"spanId": "a", "attributes": {}}] * 2})]
    ['a']
    """
    met: set[tuple[str | None, str]] = set()
    spans = []
    for item in spans_written(data):
        name = plain_id(id_of(item))
        if name is not None:
            key = plain_id(trace_of(item)), name
            if key in met:
                continue
            met.add(key)
        spans.append(item)
    return spans


def spans_written(data: Any) -> Iterator[dict[str, Any]]:
    """The spans of a trace as they were exported, each as often as that was."""
    for item in objects(data):
        if "span_data" in item or ("attributes" in item and item.keys().isdisjoint(_HELD)):
            yield item


def plain_id(name: str | None) -> str | None:
    """What the id of a trace or a span is compared as: exporters write one with 0x or without, in any case.

    >>> plain_id("0x00F067AA0BA902B7"), plain_id("Trip-7")
    ('00f067aa0ba902b7', 'Trip-7')
    """
    match = None if name is None else _NUMBER.fullmatch(name)
    return name if match is None else match[1].lower()


_NUMBER = later(r"(?:0[xX])?((?:[0-9a-fA-F]{16}){1,2})")
"""An id of 8 or 16 bytes."""


def id_of(item: dict[str, Any]) -> str | None:
    """The id of a span; None where it has none."""
    context = item.get("context")
    inner = context.get("span_id") if isinstance(context, dict) else None
    span_id = item.get("span_id", item.get("spanId", inner))
    if span_id is None and "span_data" in item:
        span_id = item.get("id")
    return span_id if isinstance(span_id, str) and span_id else None


def parent_of(item: dict[str, Any]) -> str | None:
    """The id of the span in which a span ran; None where it began by itself.

    >>> parent_of({"parentSpanId": "a1"}), parent_of({"parentSpanId": ""})
    ('a1', None)
    """
    parent = next((item[key] for key in _PARENTS if item.get(key)), None)
    return parent if isinstance(parent, str) and parent.strip("0") else None


_PARENTS = ("parentSpanId", "parent_span_id", "parent_id", "parentId")


def linked(spans: list[dict[str, Any]]) -> bool:
    """Whether a span among some ran inside another of them: they are runs, and no list of models' answers."""
    span_ids = {plain_id(id_of(span)) for span in spans} - {None}
    return any(plain_id(parent_of(span)) in span_ids for span in spans)


def asks_nothing(spans: list[dict[str, Any]]) -> bool:
    """Whether spans certainly say nothing of a call: no model's answer in them may ask for one.

    >>> asks_nothing([{"attributes": {"gen_ai.operation.name": "chat"}}])
    True
    >>> asks_nothing([{"attributes": {"mlflow.spanOutputs": '{"tool_calls": []}'}}])
    False
    """
    return all(_ASKED.search(text) is None for span in spans for text in texts(span))


_ASKED = later(r"tool[_.]?calls?|function_?calls?|tool_?use", re.I)
"""What stands in the answers of all models' APIs that ask for a tool."""


def texts(data: Any, depth: int = 0) -> Iterator[str]:
    """The keys and texts of a span, at any depth."""
    if depth > DEPTH:
        return
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for item in data:
            yield from texts(item, depth + 1)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from texts(value, depth + 1)


def agents_run(items: list[dict[str, Any]]) -> bool:
    """Whether an agent's run is among the spans of traces, or what the Agents SDK exports before them.

    >>> agents_run([{"name": "a", "attributes": {"gen_ai.operation.name": "invoke_agent"}}])
    True
    """
    return any(_is_agent(item) or item.get("object") == "trace" for item in objects(items))


def _is_agent(span: dict[str, Any]) -> bool:
    data = span.get("span_data")
    if isinstance(data, dict):
        return data.get("type") == "agent"
    attributes = tree(span) if "attributes" in span else None
    return bool(
        inside(attributes, "gen_ai", "operation", "name") == "invoke_agent"
        or inside(attributes, "openinference", "span", "kind") == "AGENT"
        or unquoted(inside(attributes, "mlflow", "spanType")) == "AGENT"
    )


def in_time(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans by their start where all say it alike; exporters write spans when they end."""
    for key in STARTS:
        starts = [item.get(key) for item in items]
        if items and all(isinstance(s, str) for s in starts):
            return sorted(items, key=lambda item: (len(item[key]) if item[key].isdigit() else 0, item[key]))
        if items and all(isinstance(s, (int, float)) for s in starts):
            return sorted(items, key=lambda item: item[key])
    return items


STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "started_at", "startTime")
"""Keys under which exporters write when a span began."""


def attributes_of(item: dict[str, Any]) -> dict[str, Any]:
    """A span's attributes, as an object or as a list of keys with typed values."""
    attributes = item.get("attributes")
    if isinstance(attributes, dict):
        return attributes
    by_key: dict[str, Any] = {}
    for pair in attributes if isinstance(attributes, list) else []:
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            value = pair.get("value")
            by_key[pair["key"]] = next(iter(value.values()), None) if isinstance(value, dict) else value
    return by_key


def read_arguments(value: Any, position: int) -> Arguments:
    """Arguments as an object or as its JSON text; any other text is one positional argument."""
    if isinstance(value, str) and value.lstrip()[:1] != "{":
        return (("0", value),) if value.strip() else ()
    return arguments_of(value, position, "")


def call_of_span(
    position: int,
    notes: list[Diagnostic],
    *,
    name: str,
    arguments: Any,
    result: Any,
    label: Any,
    severity: str = "warning",
) -> RawCall:
    """The call that a span of a tool records.

    Args:
        position: The call's position, for messages.
        notes: Takes that the span does not record the arguments.
        name: The tool's name.
        arguments: What it was given, as an object or as text; None where the span does not say.
        result: What it answered; None where the span does not say.
        label: The call's id; None where it has none.
        severity: How serious it is that the arguments are not recorded.

    Raises:
        ParseError: the arguments are no object.
    """
    if arguments is None:
        message = f"the span of call {position + 1} ({name}) does not record its arguments"
        notes.append(Diagnostic("trace.no_arguments", message, severity, position))
    return RawCall(
        name,
        read_arguments(arguments or {}, position),
        label=str(label) if label is not None else None,
        result=plain(told(result)),
        has_result=result is not None,
    )


def told(result: Any) -> Any:
    """What a tool answered, out of LangChain's message around it.

    >>> told({"type": "tool", "data": {"content": "1.09", "tool_call_id": "c1"}})
    '1.09'
    """
    return message["content"] if (message := tool_message(result)) is not None else result


def tool_message(result: Any) -> dict[str, Any] | None:
    """LangChain's message of a tool, where a result is one, be it as text or in its own wrapping."""
    if isinstance(result, str):
        if '"tool_call_id"' not in result or result.lstrip()[:1] != "{":
            return None
        result = unquoted(result.lstrip())
    inner = result.get("data", result.get("kwargs")) if isinstance(result, dict) else None
    message = inner if isinstance(inner, dict) else result
    return (
        message if isinstance(message, dict) and "content" in message and "tool_call_id" in message else None
    )


def tree(item: dict[str, Any]) -> dict[str, Any]:
    """A span's attributes as objects in objects; some exporters write ``{"a.b": 1}`` for ``{"a": {"b": 1}}``.

    >>> tree({"attributes": {"llm.output_messages.0.message.role": "assistant"}})
    {'llm': {'output_messages': {'0': {'message': {'role': 'assistant'}}}}}
    """
    nested: dict[str, Any] = {}
    for key, value in attributes_of(item).items():
        node = nested
        *parents, last = key.split(".")[:DEPTH]
        for step in parents:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node[last] = value
    return nested


def unquoted(value: Any) -> Any:
    """An attribute that MLflow wrote as JSON: what the text says, or the text itself.

    >>> unquoted('"TOOL"'), unquoted("TOOL"), unquoted('{"a": 1}')
    ('TOOL', 'TOOL', {'a': 1})
    """
    if not isinstance(value, str) or (value[:1] not in ('"', "{", "[") and value not in _CONSTANTS):
        return value
    try:
        values = loads(value, Limits())
    except ParseError:
        return value
    return values[0] if len(values) == 1 else value


_CONSTANTS = ("null", "true", "false")


def inside(data: Any, *keys: str) -> Any:
    """What stands at the end of a way of keys; None where nothing does."""
    for step in keys:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def tools_run(items: list[dict[str, Any]]) -> bool:
    """Whether spans of the tools' runs are among the spans of a trace.

    >>> tools_run([{"name": "execute_tool f", "attributes": {}}, {"name": "chat", "attributes": {}}])
    True
    """
    return any(_is_tool(span) for span in objects(items))


def _is_tool(span: dict[str, Any]) -> bool:
    data = span.get("span_data")
    if isinstance(data, dict):
        return data.get("type") == "function"
    if "attributes" not in span:
        return False
    attributes = tree(span)
    return (
        inside(attributes, "gen_ai", "operation", "name") == "execute_tool"
        or inside(attributes, "openinference", "span", "kind") == "TOOL"
        or unquoted(inside(attributes, "mlflow", "spanType")) == "TOOL"
        or str(span.get("name")).startswith("execute_tool ")
    )


def is_span(item: dict[str, Any]) -> bool:
    """Whether an object is a span of a trace, or holds spans.

    >>> is_span({"name": "execute_tool f", "attributes": {}}), is_span({"name": "f", "args": {}})
    (True, False)
    """
    if _SPANS.isdisjoint(item):
        data = item.get("data")
        return item.get("object") == "trace" or (
            isinstance(data, dict) and "info" in item and isinstance(data.get("spans"), list)
        )
    return any(isinstance(item.get(key), (dict, list)) for key in _SPANS) and "calls" not in item


_SPANS = frozenset(
    {"attributes", "span_data", "resourceSpans", "resource_spans", "scopeSpans", "scope_spans"}
)


SIGNED = ('"attributes"', '"span_data"', '"resourceSpans"', '"resource_spans"')
"""What stands in the text of each trace: most texts are none, and are not decoded to know that."""


def trace_of(item: dict[str, Any]) -> str | None:
    """The trace that a span belongs to; None where it does not say."""
    context = item.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    trace_id = item.get("trace_id", item.get("traceId", inner))
    if trace_id is None and item.get("object") == "trace":  # what the Agents SDK exports before the spans
        trace_id = item.get("id")
    return trace_id if isinstance(trace_id, str) and trace_id else None
