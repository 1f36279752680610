"""Spans of traces: their attributes, the traces that they belong to, and what a model said in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import loads, unwrap_single
from planner_eval.base.limits import Limits
from planner_eval.base.text import JsonObject, lazy_pattern

# ----------------------------------------------------------------------
# Spans of traces: the objects among them, their attributes, and what a model said in them.
_MAX_DEPTH = 12
"""How deep a trace nests its spans: resource, scope, span, attribute and some to spare."""


def trace_objects(data: Any) -> Iterator[JsonObject]:
    """The objects of a trace at any depth, outermost first."""
    return _parts(data, lambda item: [item[key] for key in _SPAN_HOLDER_KEYS if key in item], dict)


def _parts(
    data: Any, inside: Callable[[JsonObject], Iterable[Any]], kind: type[T], depth: int = 0
) -> Iterator[T]:
    """What is of a type in lists, and in what of objects is looked into, outermost first."""
    if isinstance(data, kind):
        yield data
    items = data if isinstance(data, list) else inside(data) if isinstance(data, dict) else ()
    for item in items if depth < _MAX_DEPTH else ():
        yield from _parts(item, inside, kind, depth + 1)


T = TypeVar("T")


_SPAN_HOLDER_KEYS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data",
    "children", "items",
    "traces")  # fmt: skip
"""Keys under which spans stand, in the files of exporters and in what is built of them."""


def spans_in(data: Any) -> list[JsonObject]:
    """The spans of a trace, without what only holds spans, and each once though it was exported twice.

    >>> [span["spanId"] for span in spans_in({"spans": [{"spanId": "a", "attributes": {}}] * 2})]
    ['a']
    """
    met: set[tuple[str | None, str]] = set()
    spans = []
    for item in exported_spans(data):
        name = normalize_id(id_of(item))
        if name is not None:
            key = normalize_id(trace_id_of(item)), name
            if key in met:
                continue
            met.add(key)
        spans.append(item)
    return spans


def exported_spans(data: Any) -> Iterator[JsonObject]:
    """The spans of a trace as they were exported, each as often as that was."""
    for item in trace_objects(data):
        if "span_data" in item or ("attributes" in item and item.keys().isdisjoint(_SPAN_HOLDER_KEYS)):
            yield item


def normalize_id(name: str | None) -> str | None:
    """What the id of a trace or a span is compared as: exporters write one with 0x or without, in any case.

    >>> normalize_id("0x00F067AA0BA902B7"), normalize_id("Trip-7")
    ('00f067aa0ba902b7', 'Trip-7')
    """
    match = None if name is None else _HEX_ID.fullmatch(name)
    return name if match is None else match[1].lower()


_HEX_ID = lazy_pattern(r"(?:0[xX])?((?:[0-9a-fA-F]{16}){1,2})")
"""An id of 8 or 16 bytes."""


def id_of(item: JsonObject) -> str | None:
    """The id of a span; None where it has none."""
    span_id = item.get("span_id", item.get("spanId", value_at_path(item, "context", "span_id")))
    if span_id is None and "span_data" in item:
        span_id = item.get("id")
    return span_id if isinstance(span_id, str) and span_id else None


def parent_of(item: JsonObject) -> str | None:
    """The id of the span in which a span ran; None where it began by itself.

    >>> parent_of({"parentSpanId": "a1"}), parent_of({"parentSpanId": ""})
    ('a1', None)
    """
    parent = next((item[key] for key in PARENT_KEYS if item.get(key)), None)
    return parent if isinstance(parent, str) and parent.strip("0") else None


PARENT_KEYS = (
    "parentSpanId", "parent_span_id", "parent_id", "parentId", "parent_run_id", "parentObservationId",
)  # fmt: skip
"""Keys under which exporters write in which span another ran."""


def are_linked(spans: list[JsonObject]) -> bool:
    """Whether a span among some ran inside another of them: they are runs, and no list of models' answers."""
    span_ids = {normalize_id(id_of(span)) for span in spans} - {None}
    return any(normalize_id(parent_of(span)) in span_ids for span in spans)


def have_no_call_requests(spans: list[JsonObject]) -> bool:
    """Whether spans certainly say nothing of a call: no model's answer in them may ask for one.

    >>> have_no_call_requests([{"attributes": {"gen_ai.operation.name": "chat"}}])
    True
    >>> have_no_call_requests([{"attributes": {"mlflow.spanOutputs": '{"tool_calls": []}'}}])
    False
    """
    return all(_CALL_REQUEST.search(text) is None for span in spans for text in span_texts(span))


_CALL_REQUEST = lazy_pattern(r"tool[_.]?calls?|function_?calls?|tool_?use", re.I)
"""What stands in the answers of all models' APIs that ask for a tool."""


def span_texts(data: Any) -> Iterator[str]:
    """The keys and texts of a span, at any depth."""
    return _parts(data, lambda item: (*item, *item.values()), str)


def has_agent_run(items: list[JsonObject]) -> bool:
    """Whether an agent's run is among the spans of traces, or what the Agents SDK exports before them.

    >>> has_agent_run([{"name": "a", "attributes": {"gen_ai.operation.name": "invoke_agent"}}])
    True
    """
    return any(
        item.get("object") == "trace" or _is_of_kind(item, "agent", "invoke_agent", "AGENT")
        for item in trace_objects(items)
    )


def _is_of_kind(span: JsonObject, data_type: str, operation: str, kind: str) -> bool:
    """Whether a span is of a kind, by the names that exporters have for it."""
    data = span.get("span_data")
    if isinstance(data, dict):
        return data.get("type") == data_type
    attributes = nest_attributes(span) if "attributes" in span else None
    return bool(
        value_at_path(attributes, "gen_ai", "operation", "name") == operation
        or value_at_path(attributes, "openinference", "span", "kind") == kind
        or decode_attribute(value_at_path(attributes, "mlflow", "spanType")) == kind
    )


def sort_by_time(items: list[JsonObject]) -> list[JsonObject]:
    """The spans by their start where all say it alike; exporters write spans when they end."""
    for key in START_TIME_KEYS:
        starts = [item.get(key) for item in items]
        if items and all(isinstance(s, str) for s in starts):
            return sorted(items, key=lambda item: (len(item[key]) if item[key].isdigit() else 0, item[key]))
        if items and all(isinstance(s, (int, float)) for s in starts):
            return sorted(items, key=lambda item: item[key])
    return items


START_TIME_KEYS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "started_at", "startTime")
"""Keys under which exporters write when a span began."""

END_TIME_KEYS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "ended_at", "endTime", "finished_at",
    "completed_at")  # fmt: skip
"""Keys under which exporters write when a span ended."""


NANOSECONDS_PER_SECOND = 1_000_000_000
"""Times are whole nanoseconds."""

_TIME_UNITS = ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000), (0, NANOSECONDS_PER_SECOND))
"""From which size on a number of a time counts nanoseconds, microseconds, milliseconds, seconds."""


def read_time(item: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    """A time in nanoseconds since 1970; None where it is not said, or 0, as of a span that has not ended."""
    value = next((item[key] for key in keys if item.get(key)), None)
    if isinstance(value, str) and value.isdecimal() and len(value) < 25:
        value = int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e19:
        return int(value * next(unit for least, unit in _TIME_UNITS if value >= least))
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value)
            return int(when.timestamp()) * NANOSECONDS_PER_SECOND + when.microsecond * 1000
        except (ValueError, OverflowError, OSError):
            return None
    return None


def attributes_of(item: Mapping[str, Any]) -> JsonObject:
    """A span's attributes, as an object or as a list of keys with typed values."""
    attributes = item.get("attributes")
    if isinstance(attributes, dict):
        return attributes
    by_key: JsonObject = {}
    for pair in attributes if isinstance(attributes, list) else []:
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            value = pair.get("value")
            by_key[pair["key"]] = next(iter(value.values()), None) if isinstance(value, dict) else value
    return by_key


def tool_message(result: Any) -> JsonObject | None:
    """LangChain's message of a tool, where a result is one, be it as text or in its own wrapping."""
    if isinstance(result, str):
        if '"tool_call_id"' not in result or result.lstrip()[:1] != "{":
            return None
        result = decode_attribute(result.lstrip())
    inner = result.get("data", result.get("kwargs")) if isinstance(result, dict) else None
    message = inner if isinstance(inner, dict) else result
    return (
        message if isinstance(message, dict) and "content" in message and "tool_call_id" in message else None
    )


def nest_attributes(item: JsonObject) -> JsonObject:
    """A span's attributes as objects in objects; some exporters write ``{"a.b": 1}`` for ``{"a": {"b": 1}}``.

    >>> nest_attributes({"attributes": {"llm.output_messages.0.message.role": "assistant"}})
    {'llm': {'output_messages': {'0': {'message': {'role': 'assistant'}}}}}
    """
    nested: JsonObject = {}
    for key, value in attributes_of(item).items():
        node = nested
        *parents, last = key.split(".")[:_MAX_DEPTH]
        for step in parents:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node[last] = value
    return nested


def decode_attribute(value: Any) -> Any:
    """An attribute that MLflow wrote as JSON: what the text says, or the text itself.

    >>> decode_attribute('"TOOL"'), decode_attribute("TOOL"), decode_attribute('{"a": 1}')
    ('TOOL', 'TOOL', {'a': 1})
    """
    if not isinstance(value, str) or (value[:1] not in ('"', "{", "[") and value not in _JSON_CONSTANTS):
        return value
    try:
        values = loads(value, Limits())
    except ParseError:
        return value
    return values[0] if len(values) == 1 else value


_JSON_CONSTANTS = ("null", "true", "false")


def decode_json(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        values = loads(text, Limits())
    except ParseError:
        return None
    return unwrap_single(values)


def value_at_path(data: Any, *keys: str) -> Any:
    """What stands at the end of a way of keys; None where nothing does."""
    for step in keys:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def has_tool_run(items: list[JsonObject]) -> bool:
    """Whether spans of the tools' runs are among the spans of a trace.

    >>> has_tool_run([{"name": "execute_tool f", "attributes": {}}, {"name": "chat", "attributes": {}}])
    True
    """
    return any(
        _is_of_kind(span, "function", "execute_tool", "TOOL")
        or (
            "attributes" in span
            and str(span.get("name")).startswith("execute_tool ")
            and not isinstance(span.get("span_data"), dict)
        )
        for span in trace_objects(items)
    )


def is_span(item: JsonObject) -> bool:
    """Whether an object is a span of a trace, or holds spans.

    >>> is_span({"name": "execute_tool f", "attributes": {}}), is_span({"name": "f", "args": {}})
    (True, False)
    """
    if _SPAN_KEYS.isdisjoint(item):
        data = item.get("data")
        return item.get("object") == "trace" or (
            isinstance(data, dict) and "info" in item and isinstance(data.get("spans"), list)
        )
    return any(isinstance(item.get(key), (dict, list)) for key in _SPAN_KEYS) and "calls" not in item


_SPAN_KEYS = frozenset(
    {"attributes", "span_data", "resourceSpans", "resource_spans", "scopeSpans", "scope_spans"}
)


QUOTED_SPAN_KEYS = ('"attributes"', '"span_data"', '"resourceSpans"', '"resource_spans"')
"""What stands in the text of each trace: most texts are none, and are not decoded to know that."""


def trace_id_of(item: JsonObject) -> str | None:
    """The trace that a span belongs to; None where it does not say."""
    trace_id = item.get("trace_id", item.get("traceId", value_at_path(item, "context", "trace_id")))
    if trace_id is None and item.get("object") == "trace":  # what the Agents SDK exports before the spans
        trace_id = item.get("id")
    return trace_id if isinstance(trace_id, str) and trace_id else None


def find_span_error(item: JsonObject) -> str | None:
    """How a span failed; None where it did not.

    >>> find_span_error({"name": "execute_tool f", "status": {"code": 2, "message": "no such city"}})
    'no such city'
    """
    status = item.get("status")
    code = status.get("status_code", status.get("code")) if isinstance(status, dict) else None
    if code == 2 or "ERROR" in str(code).upper():
        words = status.get("message") or status.get("description") if isinstance(status, dict) else None
        return str(words or _exception_message(item) or "its status is ERROR")
    error = item.get("error")
    if isinstance(error, dict):
        return str(value_at_path(error, "data", "error") or error.get("message") or error)
    if error:
        return str(error)
    attribute_tree = nest_attributes(item)
    output = value_at_path(attribute_tree, "output", "value")
    answer = tool_message(
        decode_attribute(
            output if output is not None else value_at_path(attribute_tree, "mlflow", "spanOutputs")
        )
    )
    return str(answer["content"]) if answer is not None and answer.get("status") == "error" else None


def _exception_message(item: JsonObject) -> str | None:
    """What the exception that a span recorded says."""
    for event in reversed(item.get("events") or ()) if isinstance(item.get("events"), list) else ():
        if isinstance(event, dict) and event.get("name") == "exception":
            message = attributes_of(event).get("exception.message")
            return str(message) if message else None
    return None


# ----------------------------------------------------------------------
# Spans taken apart by the traces that they belong to.
def group_by_trace(items: Iterable[JsonObject]) -> dict[str | None, list[JsonObject]]:
    """Spans by the trace that they belong to, in the order in which the traces are met.

    Args:
        items: Spans, and objects that hold some.

    Returns:
        The spans of each trace by its id as it is first written.

    >>> list(group_by_trace([{"traceId": "a", "attributes": {}}, {"traceId": "b", "attributes": {}}]))
    ['a', 'b']
    """
    traces: dict[str | None, list[JsonObject]] = {}
    names: dict[str | None, str | None] = {}
    for item in items:
        own = value_at_path(item, "info", "trace_id")  # under which MLflow shows it: not that of its spans
        for span in spans_in(item) or [item]:
            name = own if isinstance(own, str) and own else trace_id_of(span)
            traces.setdefault(names.setdefault(normalize_id(name), name), []).append(span)
    return traces


def refuse_several_runs(data: Any) -> None:
    """Calls of different runs are no plan together, and say nothing of each other.

    Args:
        data: A trace, as JSON data.

    Raises:
        ParseError: its spans are of several traces.

    >>> span = {"name": "execute_tool f", "attributes": {}}
    >>> refuse_several_runs([span | {"traceId": "a"}, span | {"traceId": "b"}])
    Traceback (most recent call last):
    planner_eval.base.errors.ParseError: found spans of 2 traces, expected those of one: several runs \
are not one plan; put each trace in its own record
    """
    listed: Iterator[JsonObject] = _parts(data, lambda item: (), dict)
    traces = group_by_trace(item for item in listed if spans_in(item))
    count = len(traces.keys() - {None})  # one that does not say its own may be of any
    if count > 1:
        raise ParseError(
            f"found spans of {count:,} traces, expected those of one: several runs are not one "
            "plan; put each trace in its own record",
            code="parse.traces",
        )


# ----------------------------------------------------------------------
# What a model said in the spans of a trace: its messages, of which the calls of tools are taken.
def messages_of(items: list[JsonObject]) -> list[Any] | None:
    """The messages of the model's spans in a trace, in time; None where there are none, or spans of tools.

    Where a trace has spans of the tools' runs, those are the calls.

    >>> said = '[{"role": "assistant", "parts": []}]'
    >>> messages_of([{"attributes": {"gen_ai.output.messages": said}}])
    [{'role': 'assistant', 'parts': []}]
    """
    if all(item.keys().isdisjoint(TRACE_KEYS) for item in items) or has_tool_run(items):
        return None
    messages: list[Any] = []
    heard: list[Any] = []
    for span in sort_by_time([span for span in trace_objects(items) if "attributes" in span]):
        attributes = nest_attributes(span)
        output, before = (
            _opentelemetry_messages(attributes),
            _read_list(value_at_path(attributes, "gen_ai", "input", "messages")),
        )
        if output is None:
            output, before = (
                _openinference_messages(attributes, "output_messages"),
                _openinference_messages(attributes, "input_messages"),
            )
        if output is None and value_at_path(attributes, "openinference", "span", "kind") == "LLM":
            status = span.get("status")
            if isinstance(status, dict) and "ERROR" in str(status.get("status_code", status.get("code"))):
                output = [{"error": status.get("description") or status.get("message") or "status ERROR"}]
        if output is not None:  # several are choices
            messages += (
                output if len(output) < 2 else [{"choices": [{"message": message} for message in output]}]
            )
            heard = [m for m in before or () if isinstance(m, dict) and m.get("role") in ("tool", "function")]
    return [*messages, *heard] if messages else None


TRACE_KEYS = frozenset({"attributes", "resourceSpans", "scopeSpans", "spans", "data"})
"""Keys of which the objects of all traces have one."""


def _opentelemetry_messages(attributes: JsonObject) -> list[Any] | None:
    """The messages of OpenTelemetry's span of a model, in today's attribute or in the older numbered ones."""
    messages = _read_list(value_at_path(attributes, "gen_ai", "output", "messages"))
    older = value_at_path(attributes, "gen_ai", "completion")
    if messages is None and isinstance(older, dict):
        messages = [
            {**message, "tool_calls": _read_list(message.get("tool_calls")) or []}
            for message in older.values()
            if isinstance(message, dict)
        ]
    return messages


def _openinference_messages(attributes: JsonObject, key: str) -> list[Any] | None:
    """The messages of OpenInference's span of a model."""
    entries = _read_list(value_at_path(attributes, "llm", key))
    if entries is None:
        return None
    return [
        _message(value_at_path(entry, "message") or entry) for entry in entries if isinstance(entry, dict)
    ]


def _message(entry: Any) -> JsonObject:
    message = _nest_keys(entry) if isinstance(entry, dict) else {}
    calls = [
        value_at_path(entry, "tool_call") or entry for entry in _read_list(message.get("tool_calls")) or ()
    ]
    contents = [
        value_at_path(entry, "message_content") or entry
        for entry in _read_list(message.get("contents")) or ()
    ]
    plain_message: JsonObject = {
        key: message[key] for key in ("role", "content", "tool_call_id", "name") if key in message
    }
    if contents and "content" not in plain_message:
        plain_message["content"] = contents
    if calls:
        plain_message["tool_calls"] = [_nest_keys(call) if isinstance(call, dict) else call for call in calls]
    if isinstance(message.get("function_call_name"), str):
        arguments = message.get("function_call_arguments_json", "")
        plain_message["function_call"] = {"name": message["function_call_name"], "arguments": arguments}
    return plain_message


def _nest_keys(flat: JsonObject) -> JsonObject:
    """An object whose keys may be ways: ``{"function.name": "f"}``, and may begin with what it is."""
    nested = nest_attributes({"attributes": flat})
    return next(
        (nested[key] for key in ("message", "tool_call") if isinstance(nested.get(key), dict)), nested
    )


def _read_list(value: Any) -> list[Any] | None:
    """A list, written as one, as an object of numbers or as JSON text; None where it is none of them."""
    if isinstance(value, str):
        value = decode_json(value)
    if isinstance(value, dict) and value and all(key.isdecimal() for key in value):
        return [value[key] for key in sorted(value, key=lambda key: (len(key), key))]
    return value if isinstance(value, list) else None
