"""Where the grammar found calls, arguments and references, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.base.limits import Span
    from planner_eval.plan.model import Call, Plan, Value


def places_said(plan: Plan, call: Call) -> Iterator[str]:
    """A line for the call and one an argument, places as line:column-column, the last one past the end.

    ``total at 2:38-62, ← add at 2:49-60``
    """
    from planner_eval.plan.model import Ref, references

    text = plan.text or ""
    if call.span is not None:
        yield f"at {_said(text, call.span)}"
    for (name, value), span in zip(call.arguments, call.spans, strict=False):
        phrases = [f"{name} at {_said(text, span)}"]
        for _, ref in references(value):
            if ref.span is not None:
                producer = plan.calls[ref.call].id if isinstance(ref, Ref) else f"?{ref.name}"
                phrases.append(f"← {producer} at {_said(text, ref.span)}")
        yield ", ".join(phrases)


def _said(text: str, span: Span) -> str:
    (line, column), (last, end) = _place(text, span[0]), _place(text, span[1])
    return f"{line}:{column}-{end}" if line == last else f"{line}:{column}-{last}:{end}"


def _place(text: str, offset: int) -> tuple[int, int]:
    """The line and the column, counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def places_data(call: Call) -> dict[str, Any]:
    """A call's places as JSON data: characters [start, end) of the text, null where they are not known."""
    spans = call.spans or (None,) * len(call.arguments)
    return {
        "id": call.id,
        "span": call.span,
        "arguments": [
            {"name": name, "span": span, "references": list(_references(value))}
            for (name, value), span in zip(call.arguments, spans, strict=True)
        ],
    }


def _references(value: Value) -> Iterator[dict[str, Any]]:
    from planner_eval.plan.model import references

    for path, ref in references(value):
        yield {"at": path, "span": ref.span}
