"""Spans of traces: the objects among them, their attributes, and what a model said in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.limits import Limits
from planner_eval.dialects.json_calls import arguments_of
from planner_eval.plan.model import Arguments

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
        for key in ("resourceSpans", "scopeSpans", "spans", "data", "children", "items"):
            if isinstance(data.get(key), (list, dict)):
                yield from objects(data[key], depth + 1)


def in_time(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans by their start where all say it alike; exporters write spans when they end."""
    for key in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "started_at", "startTime"):
        starts = [item.get(key) for item in items]
        if items and all(isinstance(s, str) for s in starts):
            return sorted(items, key=lambda item: (len(item[key]) if item[key].isdigit() else 0, item[key]))
        if items and all(isinstance(s, (int, float)) for s in starts):
            return sorted(items, key=lambda item: item[key])
    return items


def attributes_of(item: dict[str, Any]) -> dict[str, Any]:
    """A span's attributes, as an object or as a list of keys with typed values."""
    given = item.get("attributes")
    if isinstance(given, dict):
        return given
    found: dict[str, Any] = {}
    for pair in given if isinstance(given, list) else []:
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            value = pair.get("value")
            found[pair["key"]] = next(iter(value.values()), None) if isinstance(value, dict) else value
    return found


def read_arguments(value: Any, position: int) -> Arguments:
    """Arguments as an object or as its JSON text; any other text is one positional argument."""
    if isinstance(value, str) and value.lstrip()[:1] != "{":
        return (("0", value),) if value.strip() else ()
    return arguments_of(value, position, "")


def tree(item: dict[str, Any]) -> dict[str, Any]:
    """A span's attributes as objects in objects; some exporters write ``{"a.b": 1}`` for ``{"a": {"b": 1}}``.

    >>> tree({"attributes": {"llm.output_messages.0.message.role": "assistant"}})
    {'llm': {'output_messages': {'0': {'message': {'role': 'assistant'}}}}}
    """
    found: dict[str, Any] = {}
    for key, value in attributes_of(item).items():
        at = found
        *way, last = key.split(".")[:DEPTH]
        for step in way:
            inner = at.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            at = inner
        else:
            at[last] = value
    return found


def inside(data: Any, *way: str) -> Any:
    """What stands at the end of a way of keys; None where nothing does."""
    for step in way:
        data = data.get(step) if isinstance(data, dict) else None
    return data


# ---------------------------------------------------------------- what a model said
def messages_of(items: list[dict[str, Any]]) -> list[Any] | None:
    """The messages of the model's spans in a trace, in time; None where there are none, or spans of tools.

    Where a trace has spans of the tools' runs, those are the calls.

    >>> said = '[{"role": "assistant", "parts": []}]'
    >>> messages_of([{"attributes": {"gen_ai.output.messages": said}}])
    [{'role': 'assistant', 'parts': []}]
    """
    for item in items:
        if not item.keys().isdisjoint(SIGNS):
            break
    else:
        return None
    spans = in_time([span for span in objects(items) if "attributes" in span])
    trees = [tree(span) for span in spans]
    if tools_run(items):
        return None
    found: list[Any] = []
    heard: list[Any] = []
    for span, there in zip(spans, trees, strict=True):
        said, before = _said(there), _listed(inside(there, "gen_ai", "input", "messages"))
        if said is None:
            said, before = _inferred(there, "output_messages"), _inferred(there, "input_messages")
        if said is None and inside(there, "openinference", "span", "kind") == "LLM":
            status = span.get("status")
            if isinstance(status, dict) and "ERROR" in str(status.get("status_code", status.get("code"))):
                said = [{"error": status.get("description") or status.get("message") or "status ERROR"}]
        if said is not None:  # several are choices
            found += said if len(said) < 2 else [{"choices": [{"message": one} for one in said]}]
            heard = [m for m in before or () if isinstance(m, dict) and m.get("role") in ("tool", "function")]
    return [*found, *heard] if found else None


SIGNS = frozenset({"attributes", "resourceSpans", "scopeSpans", "spans", "data"})
"""Keys of which the objects of all traces have one."""


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
    there = tree(span)
    return (
        inside(there, "gen_ai", "operation", "name") == "execute_tool"
        or inside(there, "openinference", "span", "kind") == "TOOL"
        or str(span.get("name")).startswith("execute_tool ")
    )


def _said(there: dict[str, Any]) -> list[Any] | None:
    """The messages of OpenTelemetry's span of a model, in today's attribute or in the older numbered ones."""
    said = _listed(inside(there, "gen_ai", "output", "messages"))
    older = inside(there, "gen_ai", "completion")
    if said is None and isinstance(older, dict):
        said = [
            {**message, "tool_calls": _listed(message.get("tool_calls")) or []}
            for message in older.values()
            if isinstance(message, dict)
        ]
    return said


def _inferred(there: dict[str, Any], key: str) -> list[Any] | None:
    """The messages of OpenInference's span of a model."""
    entries = _listed(inside(there, "llm", key))
    if entries is None:
        return None
    return [_message(inside(entry, "message") or entry) for entry in entries if isinstance(entry, dict)]


def _message(given: Any) -> dict[str, Any]:
    message = _nested(given) if isinstance(given, dict) else {}
    calls = [inside(entry, "tool_call") or entry for entry in _listed(message.get("tool_calls")) or ()]
    parts = [inside(entry, "message_content") or entry for entry in _listed(message.get("contents")) or ()]
    found: dict[str, Any] = {
        key: message[key] for key in ("role", "content", "tool_call_id", "name") if key in message
    }
    if parts and "content" not in found:
        found["content"] = parts
    if calls:
        found["tool_calls"] = [_nested(call) if isinstance(call, dict) else call for call in calls]
    if isinstance(message.get("function_call_name"), str):
        arguments = message.get("function_call_arguments_json", "")
        found["function_call"] = {"name": message["function_call_name"], "arguments": arguments}
    return found


def _nested(given: dict[str, Any]) -> dict[str, Any]:
    """An object whose keys may be ways: ``{"function.name": "f"}``, and may begin with what it is."""
    found = tree({"attributes": given})
    return next((found[key] for key in ("message", "tool_call") if isinstance(found.get(key), dict)), found)


def _listed(given: Any) -> list[Any] | None:
    """A list, written as one, as an object of numbers or as JSON text; None where it is none of them."""
    if isinstance(given, str):
        try:
            values = loads(given, Limits())
        except ParseError:
            return None
        given = values[0] if len(values) == 1 else values
    if isinstance(given, dict) and given and all(key.isdecimal() for key in given):
        return [given[key] for key in sorted(given, key=lambda key: (len(key), key))]
    return given if isinstance(given, list) else None


def is_span(item: dict[str, Any]) -> bool:
    """Whether an object is a span of a trace, or holds spans.

    >>> is_span({"name": "execute_tool f", "attributes": {}}), is_span({"name": "f", "args": {}})
    (True, False)
    """
    if _SPANS.isdisjoint(item):
        return False
    return any(isinstance(item.get(key), (dict, list)) for key in _SPANS) and "calls" not in item


_SPANS = frozenset({"attributes", "span_data", "resourceSpans", "scopeSpans"})


def trace_of(item: dict[str, Any]) -> str | None:
    """The trace that a span belongs to; None where it does not say."""
    context = item.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    found = item.get("trace_id", item.get("traceId", inner))
    return found if isinstance(found, str) and found else None
