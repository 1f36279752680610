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
    messages: list[Any] = []
    heard: list[Any] = []
    for span, attributes in zip(spans, trees, strict=True):
        output, before = _said(attributes), _listed(inside(attributes, "gen_ai", "input", "messages"))
        if output is None:
            output, before = _inferred(attributes, "output_messages"), _inferred(attributes, "input_messages")
        if output is None and inside(attributes, "openinference", "span", "kind") == "LLM":
            status = span.get("status")
            if isinstance(status, dict) and "ERROR" in str(status.get("status_code", status.get("code"))):
                output = [{"error": status.get("description") or status.get("message") or "status ERROR"}]
        if output is not None:  # several are choices
            messages += (
                output if len(output) < 2 else [{"choices": [{"message": message} for message in output]}]
            )
            heard = [m for m in before or () if isinstance(m, dict) and m.get("role") in ("tool", "function")]
    return [*messages, *heard] if messages else None


SIGNS = frozenset({"attributes", "resourceSpans", "scopeSpans", "spans", "data"})
"""Keys of which the objects of all traces have one."""


def _said(attributes: dict[str, Any]) -> list[Any] | None:
    """The messages of OpenTelemetry's span of a model, in today's attribute or in the older numbered ones."""
    messages = _listed(inside(attributes, "gen_ai", "output", "messages"))
    older = inside(attributes, "gen_ai", "completion")
    if messages is None and isinstance(older, dict):
        messages = [
            {**message, "tool_calls": _listed(message.get("tool_calls")) or []}
            for message in older.values()
            if isinstance(message, dict)
        ]
    return messages


def _inferred(attributes: dict[str, Any], key: str) -> list[Any] | None:
    """The messages of OpenInference's span of a model."""
    entries = _listed(inside(attributes, "llm", key))
    if entries is None:
        return None
    return [_message(inside(entry, "message") or entry) for entry in entries if isinstance(entry, dict)]


def _message(entry: Any) -> dict[str, Any]:
    message = _nested(entry) if isinstance(entry, dict) else {}
    calls = [inside(entry, "tool_call") or entry for entry in _listed(message.get("tool_calls")) or ()]
    contents = [inside(entry, "message_content") or entry for entry in _listed(message.get("contents")) or ()]
    plain_message: dict[str, Any] = {
        key: message[key] for key in ("role", "content", "tool_call_id", "name") if key in message
    }
    if contents and "content" not in plain_message:
        plain_message["content"] = contents
    if calls:
        plain_message["tool_calls"] = [_nested(call) if isinstance(call, dict) else call for call in calls]
    if isinstance(message.get("function_call_name"), str):
        arguments = message.get("function_call_arguments_json", "")
        plain_message["function_call"] = {"name": message["function_call_name"], "arguments": arguments}
    return plain_message


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """An object whose keys may be ways: ``{"function.name": "f"}``, and may begin with what it is."""
    nested = tree({"attributes": flat})
    return next(
        (nested[key] for key in ("message", "tool_call") if isinstance(nested.get(key), dict)), nested
    )


def _listed(value: Any) -> list[Any] | None:
    """A list, written as one, as an object of numbers or as JSON text; None where it is none of them."""
    if isinstance(value, str):
        try:
            values = loads(value, Limits())
        except ParseError:
            return None
        value = values[0] if len(values) == 1 else values
    if isinstance(value, dict) and value and all(key.isdecimal() for key in value):
        return [value[key] for key in sorted(value, key=lambda key: (len(key), key))]
    return value if isinstance(value, list) else None
