"""Values that a notation writes without types take them from a tool schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import decode_whole
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan, Value

ToolTypes: TypeAlias = Mapping[str, Mapping[str, str]]
"""Tool → parameter → its JSON type: null, boolean, integer, number, string, array or object."""

_LITERALS = {"true": True, "false": False, "null": None, "none": None}


def convert(text: str, kind: str) -> Value:
    """A text as a value of a JSON type; the text itself where it is none of that type.

    >>> convert("7", "integer"), convert("True", "boolean"), convert("[1]", "array"), convert("x", "integer")
    (7, True, [1], 'x')
    """
    if kind == "string":
        return text
    word = _LITERALS.get(text.strip().lower(), text)
    if isinstance(word, bool):
        return word if kind == "boolean" else text
    if word is None:
        return None
    try:
        value = decode_whole(text)
    except (ValueError, RecursionError):
        value = _python_literal(text) if kind in ("array", "object") else text
    return value if _has_type(value, kind) else text


def _python_literal(text: str) -> Any:
    """A list or a dict as Python writes it, by the readers of Python calls: nothing is evaluated."""
    from planner_eval.reading.dialects.programs.python_calls import read_calls

    if len(text) > 100_000:
        return text
    try:
        raw = read_calls(f"f(a={text})", DEFAULT_LIMITS)
    except ParseError:
        return text
    return raw.calls[0].arguments[0][1] if len(raw.calls) == 1 and len(raw.calls[0].arguments) == 1 else text


def _has_type(value: Any, kind: str) -> bool:
    if kind == "number":
        return type(value) in (int, float)
    if kind == "integer":
        return type(value) is int or (type(value) is float and value.is_integer())
    python_type = {"array": list, "object": dict, "boolean": bool, "null": type(None)}.get(kind)
    return python_type is not None and isinstance(value, python_type)


def apply_types(raw: RawPlan, tools: ToolTypes | None, *, dialect: str) -> RawPlan:
    """The calls with their text values as the tools' schema types them.

    Args:
        raw: Calls of a dialect that writes no types.
        tools: The schema; without it values stay texts, and a note says so.
        dialect: For the note.

    >>> raw = RawPlan((RawCall("f", (("a", "1"),)),))
    >>> apply_types(raw, {"f": {"a": "integer"}}, dialect="glm").calls[0].arguments
    (('a', 1),)
    """
    untyped = any(isinstance(value, str) for call in raw.calls for _, value in call.arguments)
    if not untyped:
        return raw
    calls = tuple(_apply_call_types(call, (tools or {}).get(call.name)) for call in raw.calls)
    lacking = [call.name for call in raw.calls if call.arguments and call.name not in (tools or {})]
    if not lacking:
        return raw._replace(calls=calls)
    message = (
        f"{dialect} writes values without types; those of {', '.join(dict.fromkeys(lacking))} stay texts: "
        "name a tool catalog with --catalog to type them"
    )
    return raw._replace(calls=calls, notes=(*raw.notes, Diagnostic("value.untyped", message, "info")))


def _apply_call_types(call: RawCall, types: Mapping[str, str] | None) -> RawCall:
    if types is None:
        return call
    return replace(
        call,
        arguments=tuple(
            (key, convert(value, types[key]) if isinstance(value, str) and key in types else value)
            for key, value in call.arguments
        ),
    )


def types_of(plan: Plan) -> dict[str, dict[str, str]]:
    """The types of a plan's own values, for reading it back from a notation without types."""
    kinds: dict[type, str] = {
        bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null",
    }  # fmt: skip
    types: dict[str, dict[str, str]] = {}
    for call in plan.calls:
        for key, value in call.arguments:
            kind = kinds.get(type(value), "string")
            stored = types.setdefault(call.name, {}).setdefault(key, kind)
            if stored != kind:
                types[call.name][key] = "number" if {stored, kind} == {"integer", "number"} else "string"
    return types
