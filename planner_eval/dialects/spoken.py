"""What a model said in the spans of a trace: its messages, of which the calls of tools are taken."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.limits import Limits
from planner_eval.dialects.spans import in_time, inside, objects, tools_run, tree


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
