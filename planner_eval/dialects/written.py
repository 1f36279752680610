"""What was written is read again: what a dialect cannot say is an error, never another plan."""

from __future__ import annotations

from collections.abc import Callable

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.text import shortened
from planner_eval.dialects.dialect import Dialect
from planner_eval.dialects.types import ToolTypes
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Call, Plan, Value, references


def check(
    plan: Plan, text: str, target: Dialect, tools: ToolTypes | None, parse: Callable[..., Plan]
) -> None:
    """Refuse a text that does not read as the plan that it was written of.

    Args:
        plan: The plan.
        text: What was written of it.
        target: The dialect it was written in.
        tools: What types the values of dialects without types.
        parse: :func:`planner_eval.dialects.read.parse`.

    Raises:
        WriteError: with the call and the argument, and what would be read.
    """
    if plan.calls:
        _check_calls(plan, text, target, tools, parse)
    else:
        _check_empty(plan, text, target.name, parse)


def _check_calls(
    plan: Plan, text: str, target: Dialect, tools: ToolTypes | None, parse: Callable[..., Plan]
) -> None:
    other = "" if target.name == "plan" else "; 'plan' can"
    try:
        back = parse(text, dialect=target.name, tools=tools)
    except ParseError as error:
        what = _unreadable(plan, target, parse)
        raise WriteError(
            f"the dialect {target.name!r} cannot say {what}: read again, {error.reason}{other}"
        ) from None
    if same(back, plan):
        return
    for written_call, read_call in zip(plan.calls, back.calls, strict=False):
        call_text = f"call {written_call.id} ({written_call.name})"
        if written_call.tool != read_call.tool or _keys(written_call) != _keys(read_call):
            raise WriteError(f"the dialect {target.name!r} cannot say {call_text}{other}")
        for (key, value), (_, read) in zip(written_call.arguments, read_call.arguments, strict=True):
            if repr(value) != repr(read):
                why = other if target.typed else _untyped(written_call.name, key, tools)
                raise WriteError(
                    f"the dialect {target.name!r} cannot say {key!r} of {call_text}: "
                    f"{_shown(value)} would read as {_shown(read)}{why}"
                )
    raise WriteError(f"the dialect {target.name!r} cannot say this plan{other}")


def _shown(value: Value) -> str:
    return shortened(repr(value), 60)


def _keys(call: Call) -> list[str]:
    return [key for key, _ in call.arguments]


def _unreadable(plan: Plan, target: Dialect, parse: Callable[..., Plan]) -> str:
    """What of a plan a text cannot be read for: the first call that cannot be said alone, if there is one."""
    assert target.write is not None
    for call in plan.calls:
        if not any(next(references(value), None) for _, value in call.arguments):
            try:
                parse(target.write(Plan((call,))), dialect=target.name)
            except WriteError:
                continue
            except ParseError:
                return f"call {call.id} ({call.name})"
    return "this plan"


def _untyped(tool: str, argument: str, tools: ToolTypes | None) -> str:
    """Why a dialect that writes values without types reads another one, and what there is to do."""
    kind = (tools or {}).get(tool, {}).get(argument)
    if kind is not None:
        return f", for the tools say that it is of type {kind!r}"
    return ", for it writes values without types: " + (
        "give a tool schema that types them" if tools is None else "the tools given do not type this one"
    )


def _check_empty(plan: Plan, text: str, dialect: str, parse: Callable[..., Plan]) -> None:
    """Refuse a text of no calls that is not read as an answer without calls, its notation named or not.

    Raises:
        WriteError: in the dialect it takes words, or no text at all, to say that no tool is called.
    """
    try:
        if same(parse(text, dialect=dialect), plan) and not parse(text).calls:
            return
    except ParseError:
        pass
    raise WriteError(
        f"the plan calls no tool, which the dialect {dialect!r} has no way to say; 'json' has: []"
    )
