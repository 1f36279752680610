"""What was written is read again: what a dialect cannot say is told, and is never another plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import decode_whole
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import shorten
from planner_eval.plan.canonical import same
from planner_eval.plan.model import (
    Call,
    Diagnostic,
    Plan,
    RawCall,
    RawPlan,
    Ref,
    Unresolved,
    Value,
    fold,
    references,
)
from planner_eval.reading import dialects
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT, Dialect


# ----------------------------------------------------------------------
# What was written is read again: what a dialect cannot say is an error, never another plan.
def check(
    plan: Plan,
    text: str,
    target: Dialect,
    tools: ToolTypes | None,
    parse: Callable[..., Plan],
    *,
    recognised: bool = True,
) -> None:
    """Refuse a text that does not read as the plan that it was written of.

    Args:
        plan: The plan.
        text: What was written of it.
        target: The dialect it was written in.
        tools: What types the values of dialects without types.
        parse: :func:`planner_eval.reading.dialects.read.parse`.
        recognised: Whether the text has to read so where its notation is not named, too.

    Raises:
        WriteError: with the call and the argument, and what would be read.
    """
    if not plan.calls:
        _check_empty(plan, text, target.name, parse)
        return
    other = "" if target.name == "plan" else "; 'plan' can"
    try:
        back = parse(text, dialect=target.name, tools=tools)
    except ParseError as error:
        what = _describe_unreadable(plan, target, parse)
        raise WriteError(
            f"the dialect {target.name!r} cannot express {what}: read again, {error.reason}{other}"
        ) from None
    if same(back, plan):
        if recognised:
            _check_recognised(plan, text, target, tools, parse)
        return
    for written_call, read_call in zip(plan.calls, back.calls, strict=False):
        call_text = f"call {written_call.id} ({written_call.name})"
        if written_call.tool != read_call.tool or _argument_names(written_call) != _argument_names(read_call):
            raise WriteError(f"the dialect {target.name!r} cannot express {call_text}{other}")
        for (key, value), (_, read) in zip(written_call.arguments, read_call.arguments, strict=True):
            if repr(value) != repr(read):
                why = other if target.typed else _explain_untyped(written_call.name, key, tools)
                raise WriteError(
                    f"the dialect {target.name!r} cannot express {key!r} of {call_text}: "
                    f"{_shorten_value(value)} would read as {_shorten_value(read)}{why}"
                )
    raise WriteError(f"the dialect {target.name!r} cannot express this plan{other}")


def _check_recognised(
    plan: Plan, text: str, target: Dialect, tools: ToolTypes | None, parse: Callable[..., Plan]
) -> None:
    """Refuse a text that is read as another plan where its notation is not named.

    One that is not read at all then is no danger: whoever reads it is told.

    Raises:
        WriteError: names the notation that it is taken for.
    """
    try:
        recognised = parse(text, tools=tools)
    except ParseError:
        return
    if same(recognised, plan):
        return
    pairs = zip(plan.calls, recognised.calls, strict=False)
    different = (a for a, b in pairs if (a.tool, a.arguments) != (b.tool, b.arguments))
    calls = [f"call {call.id} ({call.name})" for call in different] or ["this plan"]
    other = "" if target.name == "plan" else "; 'plan' can"
    raise WriteError(
        f"the dialect {target.name!r} cannot express {calls[0]}: where the notation is not named, the text "
        f"is read as another plan, in {recognised.dialect!r}{other}"
    )


def _shorten_value(value: Value) -> str:
    return shorten(repr(value), 60)


def _argument_names(call: Call) -> list[str]:
    return [key for key, _ in call.arguments]


def _describe_unreadable(plan: Plan, target: Dialect, parse: Callable[..., Plan]) -> str:
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


def _explain_untyped(tool: str, argument: str, tools: ToolTypes | None) -> str:
    """Why a dialect that writes values without types reads another one, and what there is to do."""
    kind = (tools or {}).get(tool, {}).get(argument)
    if kind is not None:
        return f", because the tools give it the type {kind!r}"
    return ", because it writes values without types: " + (
        "name a tool catalog with --catalog" if tools is None else "the tools do not give this type"
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
        f"the plan calls no tool, which the dialect {dialect!r} cannot express; 'json' writes []"
    )


# ----------------------------------------------------------------------
# A plan cut down to what a dialect can say, each loss said.
class ConvertedText(NamedTuple):
    """A text that a dialect can hold, and what was lost on the way."""

    text: str
    losses: tuple[Diagnostic, ...]


def write_lossy(
    plan: Plan, dialect: str, write: Callable[..., str], *, tools: ToolTypes | None = None
) -> ConvertedText:
    """Write a plan, giving up what the dialect cannot say, piece by piece, until it can be written.

    Args:
        plan: The plan.
        dialect: The target.
        write: :func:`planner_eval.reading.dialects.read.write_text`.
        tools: As for that.

    Raises:
        WriteError: it cannot be written even so, a name that the notation has no way to say for instance.

    >>> from planner_eval.reading.dialects.read import parse, write_text
    >>> chain = '[{"id":"a","name":"f","arguments":{}},{"id":"b","name":"g","arguments":{"x":{"$ref":"a"}}}]'
    >>> done = write_lossy(parse(chain), "json", write_text)
    >>> done.text, [note.code for note in done.losses]
    ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"x": "$a$"}}]', ['loss.reference'])
    """
    losses: list[Diagnostic] = []
    steps: list[Callable[[Plan], _StepResult]] = [
        _drop_answer,
        partial(_change_calls, "loss.app", _move_app_into_name),
        partial(_change_calls, "loss.argument", _drop_repeated_arguments),
        _drop_dependencies,
        _replace_references,
    ]
    if not dialects.get(dialect).typed:
        steps.append(partial(_change_calls, "loss.type", partial(_drop_types, tools or {})))
    for step in (None, *steps):
        if step is not None:
            plan, step_losses = step(plan)
            losses += step_losses
            if not step_losses:
                continue
        recognised = all(loss.code != "loss.reference" for loss in losses)
        try:
            text: str = write(plan, dialect, tools=tools, recognised=recognised)
            return ConvertedText(text, tuple(losses))
        except WriteError as error:
            last = error
    raise last


_StepResult = tuple[Plan, list[Diagnostic]]
_ChangedCall: TypeAlias = tuple[Call, dict[str | None, str]]
"""A changed call, and what is lost by it: a message, by the argument."""


def _change_calls(code: str, change: Callable[[Call, str], _ChangedCall], plan: Plan) -> _StepResult:
    losses, calls = [], []
    for i, call in enumerate(plan.calls):
        changed, messages = change(call, f"call {i + 1}")
        calls.append(changed)
        losses += [Diagnostic(code, message, call=i, argument=key) for key, message in messages.items()]
    return replace(plan, calls=tuple(calls)), losses


def _drop_answer(plan: Plan) -> _StepResult:
    if plan.answer is None:
        return plan, []
    named = ", ".join(key for key, _ in plan.answer)
    return replace(plan, answer=None), [Diagnostic("loss.answer", f"the plan's answer was dropped: {named}")]


def _move_app_into_name(call: Call, called: str) -> _ChangedCall:
    message = f"the app of {called} became part of its name: {call.tool}"
    return replace(call, name=call.tool, app=None), {None: message} if call.app else {}


def _drop_repeated_arguments(call: Call, called: str) -> _ChangedCall:
    last_values = dict(call.arguments)
    message = f"repeated arguments of {called}: the last is kept"
    is_lost = len(last_values) < len(call.arguments)
    return replace(call, arguments=tuple(last_values.items())), {None: message} if is_lost else {}


def _drop_dependencies(plan: Plan) -> _StepResult:
    def drop(call: Call, called: str) -> _ChangedCall:
        arguments = tuple(pair for pair in call.arguments if pair[0] != DEPENDENCY_ARGUMENT)
        is_lost = len(arguments) < len(call.arguments)
        message = f"what {called} depends on was dropped"
        return replace(call, arguments=arguments), {None: message} if is_lost else {}

    plan, losses = _change_calls("loss.dependency", drop, plan)
    edges = tuple(edge for edge in plan.edges if edge.argument != DEPENDENCY_ARGUMENT)
    return replace(plan, edges=edges), losses


def _replace_references(plan: Plan) -> _StepResult:
    def change(call: Call, called: str) -> _ChangedCall:
        arguments = []
        messages: dict[str | None, str] = {}
        for key, value in call.arguments:
            if next(references(value), None) is not None:
                messages[key] = f"{key!r} of {called} ({call.name}) is a reference; it is written as text"
                value = _write_references_as_text(value, plan)
            arguments.append((key, value))
        return replace(call, arguments=tuple(arguments)), messages

    changed, losses = _change_calls("loss.reference", change, plan)
    return replace(changed, edges=()), losses


def _drop_types(tools: ToolTypes, call: Call, called: str) -> _ChangedCall:
    """The values as a notation without types has them: texts, or what the tools make of these."""
    types = tools.get(call.name, {})
    arguments = []
    messages: dict[str | None, str] = {}
    for key, value in call.arguments:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        converted = convert(text, types.get(key, "string"))
        if repr(converted) != repr(value):
            was, reads = _shorten_value(value), _shorten_value(converted)
            messages[key] = f"{key!r} of {called} ({call.name}) is {was} and reads as {reads}"
        arguments.append((key, converted))
    return replace(call, arguments=tuple(arguments)), messages


def _write_references_as_text(value: Value, plan: Plan) -> Value:
    def leaf(value: Value) -> Value:
        if not isinstance(value, (Ref, Unresolved)):
            return value
        name = plan.calls[value.call].id if isinstance(value, Ref) else value.name
        path_text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in value.path)
        return f"${name}{path_text}$"

    return fold(value, leaf, text=lambda pieces: "".join(map(leaf, pieces)))


# ----------------------------------------------------------------------
# Values that a notation writes without types take them from a tool schema.
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
    match raw.calls:
        case (RawCall(arguments=((_, value),)),):
            return value
    return text


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
