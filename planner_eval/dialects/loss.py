"""A plan cut down to what a dialect can say, each loss said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from planner_eval import dialects
from planner_eval.base.errors import WriteError
from planner_eval.base.text import shortened
from planner_eval.dialects.dialect import AFTER
from planner_eval.dialects.types import ToolTypes, convert
from planner_eval.plan.model import Call, Diagnostic, Plan, Ref, Unresolved, Value, references
from planner_eval.plan.walk import fold


class Simplified(NamedTuple):
    """A text that a dialect can hold, and what was lost on the way."""

    text: str
    losses: tuple[Diagnostic, ...]


def write_lossy(
    plan: Plan, dialect: str, write: Callable[..., str], *, tools: ToolTypes | None = None
) -> Simplified:
    """Write a plan, giving up what the dialect cannot say, piece by piece, until it can be written.

    Args:
        plan: The plan.
        dialect: The target.
        write: :func:`planner_eval.dialects.read.write`.
        tools: As for that.

    Raises:
        WriteError: it cannot be written even so, a name that the notation has no way to say for instance.

    >>> from planner_eval.dialects.read import parse, write
    >>> chain = '[{"id":"a","name":"f","arguments":{}},{"id":"b","name":"g","arguments":{"x":{"$ref":"a"}}}]'
    >>> done = write_lossy(parse(chain), "json", write)
    >>> done.text, [note.code for note in done.losses]
    ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"x": "$a$"}}]', ['loss.reference'])
    """
    losses: list[Diagnostic] = []
    for step in (None, _answer, _apps, _repeated, _after, _references, partial(_types, dialect, tools or {})):
        if step is not None:
            plan, step_losses = step(plan)
            losses += step_losses
            if not step_losses:
                continue
        try:
            return Simplified(write(plan, dialect, tools=tools), tuple(losses))
        except WriteError as error:
            last = error
    raise last


_Step = tuple[Plan, list[Diagnostic]]


def _answer(plan: Plan) -> _Step:
    if plan.answer is None:
        return plan, []
    named = ", ".join(key for key, _ in plan.answer)
    return replace(plan, answer=None), [Diagnostic("loss.answer", f"what the user gets is not said: {named}")]


def _apps(plan: Plan) -> _Step:
    losses = [
        Diagnostic("loss.app", f"the app of call {i + 1} became part of its name: {call.tool}", call=i)
        for i, call in enumerate(plan.calls)
        if call.app
    ]
    return replace(plan, calls=tuple(replace(c, name=c.tool, app=None) for c in plan.calls)), losses


def _repeated(plan: Plan) -> _Step:
    losses = []
    calls = []
    for i, call in enumerate(plan.calls):
        last_values = dict(call.arguments)
        if len(last_values) < len(call.arguments):
            losses.append(
                Diagnostic("loss.argument", f"repeated arguments of call {i + 1}: the last is kept", call=i)
            )
        calls.append(replace(call, arguments=tuple(last_values.items())))
    return replace(plan, calls=tuple(calls)), losses


def _after(plan: Plan) -> _Step:
    losses = []
    calls = []
    for i, call in enumerate(plan.calls):
        if any(key == AFTER for key, _ in call.arguments):
            losses.append(Diagnostic("loss.dependency", f"what call {i + 1} comes after is not said", call=i))
        calls.append(replace(call, arguments=tuple(pair for pair in call.arguments if pair[0] != AFTER)))
    edges = tuple(edge for edge in plan.edges if edge.argument != AFTER)
    return replace(plan, calls=tuple(calls), edges=edges), losses


def _references(plan: Plan) -> _Step:
    losses = []
    calls: list[Call] = []
    for i, call in enumerate(plan.calls):
        arguments = []
        for key, value in call.arguments:
            if next(references(value), None) is not None:
                message = f"{key!r} of call {i + 1} ({call.name}) is a reference; it is written as text"
                losses.append(Diagnostic("loss.reference", message, call=i, argument=key))
                value = _plain(value, plan)
            arguments.append((key, value))
        calls.append(replace(call, arguments=tuple(arguments)))
    return replace(plan, calls=tuple(calls), edges=()), losses


def _types(dialect: str, tools: ToolTypes, plan: Plan) -> _Step:
    """The values as a notation without types has them: texts, or what the tools make of these."""
    if dialects.get(dialect).typed:
        return plan, []
    losses = []
    calls: list[Call] = []
    for i, call in enumerate(plan.calls):
        types = tools.get(call.name, {})
        arguments = []
        for key, value in call.arguments:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            converted = convert(text, types.get(key, "string"))
            if repr(converted) != repr(value):
                was, reads = shortened(repr(value), 60), shortened(repr(converted), 60)
                message = f"{key!r} of call {i + 1} ({call.name}) is {was} and reads as {reads}"
                losses.append(Diagnostic("loss.type", message, call=i, argument=key))
            arguments.append((key, converted))
        calls.append(replace(call, arguments=tuple(arguments)))
    return replace(plan, calls=tuple(calls)), losses


def _plain(value: Value, plan: Plan) -> Value:
    def leaf(value: Value) -> Value:
        if not isinstance(value, (Ref, Unresolved)):
            return value
        name = plan.calls[value.call].id if isinstance(value, Ref) else value.name
        path_text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in value.path)
        return f"${name}{path_text}$"

    return fold(value, leaf, text=lambda pieces: "".join(map(leaf, pieces)))
