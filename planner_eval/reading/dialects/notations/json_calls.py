"""The shape "JSON calls": objects with a name and arguments, in the usual spellings and wrappings.

Used as it is by the dialect `json`; `nestful` and `plan` read the same shape and add references.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import LimitError, ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans, RepeatedKeyDict, loads, object_items, unwrap_single
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, check_calls
from planner_eval.base.text import JsonObject, shorten, to_json
from planner_eval.plan.model import Arguments, Diagnostic, Plan, RawCall, RawPlan, Value, references
from planner_eval.reading.dialects.conversations.answers import (
    assign_recorded_answers,
    decode_answer,
    note_repeated_keys,
    says_failed,
)
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    CALL_METADATA_KEYS,
    ID_KEYS,
    WRAPPER_KEYS,
    call_items,
    find_name_key,
    holds_call,
    is_call,
    is_plain_call,
    plain_call_label,
    tool_of_ui_part,
)
from planner_eval.reading.dialects.dialect import Dialect, json_grammar_reader

_FREE_TEXT_TYPES = ("custom", "custom_tool_call")
"""Types of calls whose input is a text of any form."""

ValueConverter = Callable[[Value], Value]


def read(text: str, limits: Limits) -> RawPlan:
    """Read a text of JSON calls.

    Raises:
        ParseError: the text is not JSON, or its JSON holds something that is no call.

    >>> read('{"name": "f", "arguments": {"a": 1}}', Limits()).calls[0].arguments
    (('a', 1),)
    """
    return read_values(loads(text, limits), limits, text=text)


def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
    """Read calls from data that is JSON already; see :func:`read`."""
    return read_values([data], limits, locations=locations)


def read_values(
    values: list[Any], limits: Limits, *, text: str = "", locations: ObjectSpans | None = None
) -> RawPlan:
    """Read the calls of JSON values: one value with all calls, or one call a value."""
    data: Any = unwrap_single(values)
    notes: list[Diagnostic] = []
    listed = type(data) is list
    plain: list[Any] = data if listed else [data]
    if locations is None and all(map(is_plain_call, plain)) and (listed or "(" not in data["name"]):
        return read_plain(plain, limits)
    items = list(call_items(data, text))
    check_calls(len(items), limits)
    calls = tuple(read_call(item, i, notes, text=text, locations=locations) for i, item in enumerate(items))
    raw = RawPlan(assign_recorded_answers(calls, data), None, tuple(notes))
    return note_repeated_keys(data, raw, limits)


def read_plain(items: list[JsonObject], limits: Limits) -> RawPlan:
    """Read calls that are a name, arguments and perhaps a label, and no more; see :func:`read`."""
    check_calls(len(items), limits)
    return RawPlan(
        tuple([RawCall(c["name"], object_items(c["arguments"]), None, plain_call_label(c)) for c in items])
    )


def bind_label(call: RawCall, label: str) -> RawCall:
    """A call whose result a label names."""
    return RawCall(
        call.name, call.arguments, call.app, label, ((label, ()),), call.returns,
        call.span, call.spans, call.result, call.has_result, call.turn, call.failed,
    )  # fmt: skip


def read_call(
    item: JsonObject,
    position: int,
    notes: list[Diagnostic],
    *,
    text: str = "",
    locations: ObjectSpans | None = None,
    convert: ValueConverter | None = None,
) -> RawCall:
    """One call out of its object.

    Args:
        item: The object.
        position: The call's position, for messages.
        notes: Takes what is worth saying.
        text: The whole text, for the error.
        locations: Where objects stand, when that was asked for.
        convert: Applied to each argument's value (references).

    Raises:
        ParseError: the object is no call.
    """
    inner, label = _unwrap(item)
    name_key = _name_key(item, inner, position, notes, text)
    argument_key = _argument_key(inner, name_key)
    outer_key = _argument_key(item, None) if inner is not item else None
    outer = item.get(outer_key or "")
    if outer_key is not None and outer is not inner.get(outer_key) and _holds_some(outer):
        if argument_key is None or _is_empty(inner[argument_key]):
            inner = {name_key: inner[name_key], outer_key: outer}
            argument_key = outer_key
        else:
            message = f"call {position + 1} has other keys, not read: {outer_key!r}"
            notes.append(Diagnostic("shape.ignored", message, "warning", position))
    if argument_key is None and inner is not item:
        _refuse_unknown(inner, name_key, position, text)
    content = inner[argument_key] if argument_key else {}
    if isinstance(content, str) and item.get("type") in _FREE_TEXT_TYPES:
        content = {"input": content}
    if argument_key == "action_input" and isinstance(content, str) and content.lstrip()[:1] != "{":
        content = {"0": content} if content else {}
    arguments = arguments_of(content, position, text)
    keys: tuple[str | None, ...] = (name_key, argument_key)
    if argument_key == "args" and isinstance(content, list) and isinstance(inner.get("kwargs"), dict):
        arguments, keys = (*arguments, *object_items(inner["kwargs"])), (*keys, "kwargs")
    _note_ignored(inner, keys, position, notes)
    name, arguments = _split_call_name(inner[name_key], arguments, position, notes)
    answer = _result_key(item, argument_key)
    return RawCall(
        name,
        tuple((key, convert(value)) for key, value in arguments) if convert else arguments,
        app=inner.get("app") if isinstance(inner.get("app"), str) else None,
        label=label,
        returns=tuple([r for r in inner.get("returns") or () if isinstance(r, str)]),
        span=locations.span(item) if locations else None,
        spans=locations.members(content) if locations else (),
        result=item.get("result") if answer == "result" else decode_answer(item[answer]),
        has_result=answer in item,
        failed=says_failed(item),
    )


def _split_call_name(
    name: str, arguments: Arguments, position: int, notes: list[Diagnostic]
) -> tuple[str, Arguments]:
    """A tool's name and its arguments, which may both stand in the place of the name."""
    if arguments or "(" not in name:
        return name, arguments
    from planner_eval.reading.dialects.programs.python_ast import read_call_in_name

    call = read_call_in_name(name, position, notes)
    return (name, arguments) if call is None else (call.name, call.arguments)


def _argument_key(item: JsonObject, name_key: str | None) -> str | None:
    """The key of a call's arguments: the first, unless only another holds some."""
    first = None
    for key in ARGUMENT_KEYS:  # as next() in half of its time
        if key in item and key != name_key:
            if first is None:
                first = key
                if not _is_empty(item[key]):
                    break
            elif _holds_some(item[key]):
                return key
    return first


def _is_empty(content: Any) -> bool:
    return not content or (isinstance(content, str) and content.strip() in ("", "{}", "[]", "null"))


def _holds_some(content: Any) -> bool:
    """Whether what may be arguments is an object with some, or its text."""
    is_object = isinstance(content, dict) or (isinstance(content, str) and content.lstrip()[:1] == "{")
    return is_object and not _is_empty(content)


def _result_key(item: JsonObject, argument_key: str | None) -> str:
    """The key under which a call holds its result: `output` in DeepEval's and in calls of MCP's tools.

    Where one of these failed, it has an error in its place.
    """
    if item.keys().isdisjoint(_OUTPUT_KEYS):
        return "result"
    has_output = (
        item.get("type") in ("mcp_call", "dynamic-tool")
        or argument_key in ("input_parameters", "inputParameters")
        or tool_of_ui_part(item) is not None
    )
    keys = (key for key in _OUTPUT_KEYS if item.get(key) is not None) if has_output else iter(())
    return next(keys, "result")


_OUTPUT_KEYS = ("output", "error", "errorText")


def _describe_missing(item: JsonObject, name_key: str | None) -> str:
    """What an object has, and lacks for a call."""
    keys = ", ".join(repr(k) for k in list(item)[:6]) or "no keys"
    if name_key is None and "name" in item:
        return f"its 'name' is {_shorten_json(item['name'])}; expected a tool's name"
    other_keys = [repr(k) for k in item if k != name_key and k not in CALL_METADATA_KEYS]
    if name_key is not None and other_keys and not any(key in item for key in ARGUMENT_KEYS):
        return f"{', '.join(other_keys[:6])} beside {name_key!r}; expected arguments in an object 'arguments'"
    argument_key = _argument_key(item, name_key)
    if name_key is not None and argument_key is not None and isinstance(item[argument_key], (int, float)):
        return f"its {argument_key!r} is {_shorten_json(item[argument_key])}; expected an object"
    return f"it has {keys}; expected 'name' and 'arguments'"


def _unwrap(item: JsonObject) -> tuple[JsonObject, str | None]:
    """The object with the name and the arguments, and the label of the call."""
    label = _label(item)
    for key in WRAPPER_KEYS if not _WRAPPERS.isdisjoint(item) else ():
        wrapped = item.get(key)
        if isinstance(wrapped, dict):
            return wrapped, label if label is not None else _label(wrapped)
    tool = tool_of_ui_part(item) if "toolCallId" in item else None
    if tool is not None:
        return {"toolName": tool, **{key: item[key] for key in ("input", "rawInput") if key in item}}, label
    return item, label


def _name_key(item: JsonObject, inner: JsonObject, position: int, notes: list[Diagnostic], text: str) -> str:
    """The key of the tool's name, in an object that is a call."""
    key = find_name_key(inner)
    if key is None or not is_call(item):
        raise _call_error(f"is not a call: {_describe_missing(inner, key)}", position, inner, text)
    if type(item) is RepeatedKeyDict or type(inner) is RepeatedKeyDict:
        _note_repeats(item, inner, position, notes, text)
    return key


def _refuse_unknown(inner: JsonObject, name_key: str, position: int, text: str) -> None:
    """Refuse the object of a call that has no arguments and other keys, which may be them."""
    known = (*CALL_METADATA_KEYS, "description", "strict", name_key)
    if any(value is not None for key, value in inner.items() if key not in known):
        raise _call_error(f"is not a call: {_describe_missing(inner, name_key)}", position, inner, text)


def _call_error(what: str, position: int, inner: JsonObject, text: str) -> ParseError:
    reason = f"item {position + 1} {what}"
    first = next(iter(inner), None)  # its first appearance is probably where the object starts
    offset = 0 if first is None else max(text.find(to_json(first)), 0)
    return ParseError(reason, text=text, offset=offset, code="parse.shape")


def _note_ignored(
    inner: JsonObject, read: tuple[str | None, ...], position: int, notes: list[Diagnostic]
) -> None:
    ignored = [key for key in inner if key not in CALL_METADATA_KEYS and key not in read]
    ignored = [
        k for k in ignored if inner[k] is not None and not (k in ARGUMENT_KEYS and _is_empty(inner[k]))
    ]
    if ignored:
        message = f"call {position + 1} has other keys, not read: {', '.join(map(repr, ignored))}"
        is_loss = any(key in ARGUMENT_KEYS or holds_call(inner[key]) for key in ignored)
        notes.append(Diagnostic("shape.ignored", message, "warning" if is_loss else "info", position))


def _note_repeats(
    item: JsonObject, inner: JsonObject, position: int, notes: list[Diagnostic], text: str
) -> None:
    """Say which keys of a call repeat; of a name, or of what holds one, a second is another call."""
    for holder in (item,) if inner is item else (item, inner):
        counts = Counter(key for key, _ in object_items(holder))
        for key in [key for key, count in counts.items() if count > 1]:
            if key == find_name_key(holder) or key in WRAPPER_KEYS:
                what = "has two names in one object: a bracket is missing between two calls"
                raise _call_error(what, position, inner, text)
            message = f"call {position + 1} gives {key!r} {counts[key]} times; the last value counts"
            notes.append(Diagnostic("value.duplicate", message, "error", position))


_WRAPPERS = frozenset(WRAPPER_KEYS)
_IDS = frozenset(ID_KEYS)


def _label(item: JsonObject) -> str | None:
    for key in () if _IDS.isdisjoint(item) else ID_KEYS:
        value = item.get(key)
        if isinstance(value, str) or (type(value) is int):
            return str(value)
    return None


def arguments_of(content: Any, position: int, text: str) -> Arguments:
    """Arguments as pairs; some servers send the object as a JSON string, some of those doubly."""
    for is_second in (False, True):
        if not isinstance(content, str):
            break
        if is_second and content.strip() not in ("", "null") and content.lstrip()[:1] not in ("{", "["):
            break  # of a text in JSON a second reading would say that it is none
        content = _decode_arguments(content, position, text) if content.strip() else {}
    if content is None:
        return ()
    if isinstance(content, dict):
        return object_items(content)
    if isinstance(content, list):
        if all(isinstance(p, list) and len(p) == 2 and isinstance(p[0], str) for p in content):
            return tuple((p[0], p[1]) for p in content)
        return tuple((str(k), value) for k, value in enumerate(content))
    raise ParseError(
        f"the arguments of call {position + 1} are {_shorten_json(content)}, expected an object",
        text=text,
        code="parse.shape",
    )


def _decode_arguments(content: str, position: int, text: str) -> Any:
    """The one JSON value of a text that stands for arguments."""
    kind: type[ParseError] = ParseError
    try:
        values = loads(content, DEFAULT_LIMITS)
        if len(values) == 1:
            return values[0]
        reason = f"of {len(values)} JSON values, expected one"
    except LimitError as error:
        kind, reason = LimitError, f"beyond a limit: {error.reason}"
    except ParseError as error:
        reason = f"that is not JSON: {error.reason}"
    offset = max(text.find(json.dumps(content)[1:40]), 0)
    raise kind(f"the arguments of call {position + 1} are a text {reason}", text=text, offset=offset)


def write(plan: Plan) -> str:
    """Write a plan as a JSON list of name and arguments.

    Raises:
        WriteError: the plan has references, which this dialect cannot say.

    >>> from planner_eval.plan.model import Call
    >>> write(Plan((Call("c1", "f", (("a", 1),)),)))
    '[{"name": "f", "arguments": {"a": 1}}]'
    """
    items = []
    for call in plan.calls:
        for argument, value in call.arguments:
            if next(references(value), None) is not None:
                raise WriteError(
                    f"call {call.id} ({call.name}): argument {argument!r} is a reference, "
                    "which the dialect 'json' cannot express: use --to nestful or plan"
                )
        item = {"name": call.name, "arguments": arguments_data(call.arguments)}
        items.append({"app": call.app, **item} if call.app else item)
    return to_json(items)


def arguments_data(arguments: Arguments) -> Any:
    """Arguments as an object, or as pairs where a name repeats."""
    data = dict(arguments)
    return data if len(data) == len(arguments) else [list(pair) for pair in arguments]


def _shorten_json(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False, default=str), 40)


DIALECT = Dialect(
    name="json",
    title="JSON calls: objects of name and arguments, alone, in a list, in lines or in messages",
    example='[{"name": "get_weather", "arguments": {"city": "Rome"}}, '
    '{"name": "roll", "arguments": {"sides": 6}}]',
    read=read,
    write=write,
    read_data=read_data,
    read_plain=read_plain,
    reference=json_grammar_reader(
        "json",
        lambda values, limits, text, locations: read_values(values, limits, text=text, locations=locations),
    ),
    note="the usual spellings of the keys; lists, lines, messages",
)
