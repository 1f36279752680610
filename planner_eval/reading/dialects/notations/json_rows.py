"""JSON notations of the table: read by the shape "JSON calls" or by a row's template, and written by it.

Also the JSON notations with references or with a form of their own that is a few lines: NesTools,
live references, ComplexFuncBench's steps, one-key objects.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import count
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import ObjectSpans, decode_whole, loads
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, check_calls
from planner_eval.base.text import JsonObject, lazy_pattern, to_json
from planner_eval.plan.model import Arguments, Call, Diagnostic, Plan, RawCall, RawPlan, RawRef, map_leaves
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    WRAPPER_KEYS,
    call_items,
    format_value,
    is_call,
    is_keyed_call_list,
    may_be_keyed_call,
)
from planner_eval.reading.dialects.dialect import Data, Dialect
from planner_eval.reading.dialects.notations.json_calls import arguments_of, read_call, read_values
from planner_eval.reading.dialects.references import (
    NOTATIONS,
    WrittenCall,
    WrittenPlan,
    read_uri_references,
    refuse_references,
)
from planner_eval.reading.dialects.table import Wrapper, json_dialect

# ----------------------------------------------------------------------
# Calls as the object that a row's template describes: written from it, and read back by it.
#
#     call = '{"fn": "$name", "kw": "$arguments"}'    around = '{"plan": "$calls"}'
#
# Most templates are spellings that the reader of JSON calls knows. Where it does not read what the
# template writes, objects of the template's form become calls in the usual keys first.
USUAL_TEMPLATE = '{"name": "$name", "arguments": "$arguments"}'
_CALL_KEYS = frozenset({*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPER_KEYS})


@cache
def _parse_template(text: str) -> Any:
    return decode_whole(text)


def _call_template(row: Wrapper) -> Any:
    """The object that a row describes; empty where it describes none."""
    return _parse_template(row.call) if isinstance(row.call, str) and row.call else {}


# ---------------------------------------------------------------- writing
def write_calls(row: Wrapper, plan: Plan) -> str:
    """A plan without references as the objects that the row's template describes."""
    return write_items(row, call_objects(row, plan))


def call_objects(row: Wrapper, plan: Plan) -> list[Any]:
    """The calls of a plan without references as such objects."""
    refuse_references(plan, row.name)
    written = WrittenPlan(plan).calls
    return [fill_call_template(row, *numbered) for numbered in zip(written, count(1), plan.calls)]


def fill_call_template(row: Wrapper, call: WrittenCall, number: int = 1, answered: Call | None = None) -> Any:
    """A call as the object that the row's template describes.

    Args:
        row: The row.
        call: What is written of it.
        number: Its place in the plan, counted from 1.
        answered: The call with its result, where the template may want it.
    """
    has_result = answered is not None and answered.has_result
    result = answered.result if answered is not None and has_result else None
    encoded = to_json(result) if has_result else _NOT_WRITTEN
    values = {
        "$name": call.name,
        "$arguments": call.arguments,
        "$text": to_json(call.arguments),
        "$id": call.id,
        "$number": number,
        "$responses": _NOT_WRITTEN,
        "$result": result,
        "$result_json": encoded,
        "$result_text": result if isinstance(result, str) else encoded,
    }
    return _fill_template(_parse_template(str(row.call or USUAL_TEMPLATE)), values)


_PLACEHOLDER = lazy_pattern(r"\$(?:name|number)\b")
_NOT_WRITTEN: Any = object()
"""Stands for what a call lacks: its key is left out."""


def _fill_template(template: Any, values: JsonObject) -> Any:
    if isinstance(template, dict):
        filled = {
            _fill_template(key, values): _fill_template(inner, values) for key, inner in template.items()
        }
        return {key: value for key, value in filled.items() if value is not _NOT_WRITTEN}
    if isinstance(template, list):
        return [_fill_template(inner, values) for inner in template]
    if not isinstance(template, str):
        return template
    if template in values:
        return values[template]
    return _PLACEHOLDER.sub(lambda match: str(values.get(match.group(), match.group())), template)


def write_items(row: Wrapper, items: list[Any]) -> str:
    """The whole text of some calls' objects, by the row's ``around``."""
    if row.around == "$each":
        return "\n".join(map(to_json, items))
    around = _parse_template(row.around) if row.around else "$calls"
    return to_json(_fill_template(around, {"$calls": items}))


# ---------------------------------------------------------------- recognition
def count_matching_keys(row: Wrapper, item: Any) -> int:
    """How many keys of the row's call template an object has; 0 when it has not the row's form.

    >>> from planner_eval.reading.dialects.table import table
    >>> count_matching_keys(table()["vercel"], {"type": "tool-call", "toolName": "f", "input": {}})
    3
    """
    return _count_matching_keys(_call_template(row), item, {})


def required_keys(row: Wrapper) -> frozenset[str]:
    """The keys that every object of the row's form has.

    >>> from planner_eval.reading.dialects.table import table
    >>> sorted(required_keys(table()["langchain"]))
    ['args', 'name', 'type']
    """
    return frozenset(key for key, expected in _call_template(row).items() if not _may_lack(key, expected))


def _may_lack(key: str, expected: Any) -> bool:
    """Whether an object of a form may be without a key of it."""
    return expected in ("$id", "$responses") or expected is None or key == "role"


def _count_matching_keys(template: Any, item: Any, bindings: JsonObject) -> int:
    """How many keys of a template an object has; `bindings` takes what stands for its $names."""
    if not isinstance(item, dict):
        return 0
    score = 0
    for key, expected in template.items():
        if key not in item:
            if _may_lack(key, expected):
                continue
            return 0
        value = item[key]
        if isinstance(expected, dict):
            inner = _count_matching_keys(expected, value, bindings)
            if not inner:
                return 0
            score += inner
        elif isinstance(expected, str):
            is_text = isinstance(value, str) or expected != "$name"
            if not (is_text if expected.startswith("$") else value == expected):
                return 0
            bindings[expected] = value
        score += 1
    return score


def holds_row_calls(row: Wrapper, data: Any) -> bool:
    """Whether data holds calls of a row's form that the reader of JSON calls does not know."""
    originals: list[Any] = []
    if _call_template(row) and not has_usual_template(row):
        _restore_usual_keys(row, data, originals)
    return bool(originals)


# ---------------------------------------------------------------- reading
def read_by_template(
    row: Wrapper, values: list[Any], limits: Limits, locations: ObjectSpans | None = None, text: str = ""
) -> RawPlan:
    """Read the calls of JSON values by a row's template.

    Args:
        row: The row.
        values: The values.
        limits: How many calls there may be.
        locations: Where their objects stand, when that was asked for.
        text: The text that they stand in, for errors.

    Raises:
        ParseError: something in them is no call.
    """
    if has_usual_template(row):
        return read_values(values, limits, text=text, locations=locations)
    originals: list[Any] = []
    usual = [_restore_usual_keys(row, value, originals) for value in values]
    try:
        raw = read_values(usual, limits, text=text, locations=locations)
    except ParseError:
        if originals:
            raise
        reason = f"found {format_value(values[0])}, expected calls of the form {row.call}"
        raise ParseError(reason, code="parse.shape", dialect=row.name) from None
    if locations is None or len(originals) != len(raw.calls):
        return raw
    calls = zip(raw.calls, originals, strict=True)
    return RawPlan(tuple(replace(call, span=locations.span(item)) for call, item in calls), None, raw.notes)


def restore_usual_keys(row: Wrapper, data: Any) -> Any:
    """Data in which the objects of a row's form are calls in the usual keys."""
    return data if has_usual_template(row) else _restore_usual_keys(row, data, [])


@cache
def has_usual_template(row: Wrapper) -> bool:
    """Whether the reader of JSON calls reads what a row's template writes.

    >>> from planner_eval.reading.dialects.table import make_row
    >>> call = '{"fn": "$name", "kw": "$arguments"}'
    >>> has_usual_template(
    ...     make_row({"name": "own", "shape": "json", "example": "-", "call": call}, "own.toml"))
    False
    """
    call = WrittenCall("c1", "f", {"a": {"b": 1}})
    try:
        raw = read_values(
            loads(write_items(row, [fill_call_template(row, call)] * 2), DEFAULT_LIMITS), DEFAULT_LIMITS
        )
    except ParseError:
        return False
    return [(c.name, c.arguments) for c in raw.calls] == [(call.name, tuple(call.arguments.items()))] * 2


def _restore_usual_keys(row: Wrapper, data: Any, originals: list[Any]) -> Any:
    path = _path_to_calls(_parse_template(row.around)) if row.around not in ("", "$each") else ()
    return _convert_to_usual_keys(
        _parse_template(str(row.call or USUAL_TEMPLATE)), _value_at_path(path, data), originals
    )


def _convert_to_usual_keys(template: Any, value: Any, originals: list[Any]) -> Any:
    """A value with objects of the template's form in the usual keys; `originals` takes them as they were."""
    if isinstance(value, list):
        return [_convert_to_usual_keys(template, item, originals) for item in value]
    if not isinstance(value, dict):
        return value
    bindings: JsonObject = {}
    if not _count_matching_keys(template, value, bindings) or "$name" not in bindings:
        return (
            value
            if is_call(value)
            else {k: _convert_to_usual_keys(template, v, originals) for k, v in value.items()}
        )
    originals.append(value)
    call = {
        k: v
        for k, v in value.items()
        if k not in _CALL_KEYS and template.get(k, "$responses") == "$responses"
    }
    call |= {"name": bindings["$name"], "arguments": bindings.get("$arguments", bindings.get("$text"))}
    return call | ({"id": bindings["$id"]} if "$id" in bindings else {})


def _path_to_calls(around: Any) -> tuple[str, ...]:
    """The keys that lead to ``$calls``; none where it is the whole text."""
    if isinstance(around, dict):
        for key, value in around.items():
            if value == "$calls" or _path_to_calls(value):
                return (key, *_path_to_calls(value))
    return ()


def _value_at_path(path: tuple[str, ...], data: Any) -> Any:
    """What stands at the end of a way, or of what is left of it: a record's field may hold the inner part."""
    if isinstance(data, list):
        return [_value_at_path(path, item) for item in data]
    for position, key in enumerate(path):
        if isinstance(data, dict) and key in data:
            return _value_at_path(path[position + 1 :], data[key])
    return data


# ----------------------------------------------------------------------
# JSON dialects out of the table: read by the shape "JSON calls", written from the row's template.
def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``json``, ``live``, ``nestools``, ``complexfuncbench`` or ``keyed``."""
    read_data, write, fits = _SHAPES[row.shape]
    return json_dialect(row, partial(read_data, row), partial(write, row), fits=fits)


def _read_plain(row: Wrapper, data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
    return read_by_template(row, [data], limits, locations)


def _read_live(row: Wrapper, data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
    raw = read_by_template(row, [data], limits, locations)
    names = _turn_names(data) if row.references == "toolturn" else []
    calls = []
    for i, call in enumerate(raw.calls):
        if row.references == "uri":
            call = replace(call, arguments=tuple((k, read_uri_references(v)) for k, v in call.arguments))
        bound = NOTATIONS[row.references].bind(call, i)
        calls.append(replace(bound, binds=((names[i], ()),)) if i < len(names) else bound)
    return raw._replace(calls=tuple(calls))


def _write_live(row: Wrapper, plan: Plan) -> str:
    notation = NOTATIONS[row.references]
    labels = [f"call_{i + 1}" for i in range(len(plan.calls))]
    names = list(map(notation.name, range(len(labels)), labels))
    calls = WrittenPlan(plan, names, notation, as_object=row.references == "uri").calls
    labelled = (replace(call, id=label) for call, label in zip(calls, labels, strict=True))
    return write_items(row, [fill_call_template(row, call) for call in labelled])


def _turn_names(data: Any) -> list[str]:
    """The names ``tool<i>turn<n>`` of the calls: each message that has calls is a turn."""
    items = data if isinstance(data, list) else [data]
    sizes = [len(list(call_items(item))) for item in items if isinstance(item, (dict, list))]
    messages = any(isinstance(item, dict) and "tool_calls" in item for item in items)
    turns = filter(None, sizes) if messages else [sum(sizes)]
    return [f"tool{i}turn{n}" for n, size in enumerate(turns) for i in range(size)]


def _read_nestools(row: Wrapper, data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
    notes: list[Diagnostic] = []
    items = list(call_items(restore_usual_keys(row, data)))
    check_calls(len(items), limits)
    named = {r for item in items for r in _responses(item)}

    def leaf(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return RawRef(value) if value in named else NOTATIONS["api_call"].text(value)

    calls = []
    for i, item in enumerate(items):
        call = read_call(item, i, notes, locations=locations, convert=partial(map_leaves, leaf))
        responses = _responses(item)
        paths = [()] if len(responses) == 1 else [(k,) for k in range(len(responses))]
        calls.append(replace(call, binds=tuple(zip(responses, paths, strict=True))))
    return RawPlan(tuple(calls), None, tuple(notes))


def _write_nestools(row: Wrapper, plan: Plan) -> str:
    names = [f"API_call_{i}" for i in range(len(plan.calls))]
    calls = WrittenPlan(plan, names, NOTATIONS["api_call"]).calls
    pairs = zip(calls, names, strict=True)
    return write_items(row, [fill_call_template(row, call) | {"responses": [name]} for call, name in pairs])


def _responses(item: JsonObject) -> list[str]:
    names = item.get("responses")
    return [r for r in names if isinstance(r, str)] if isinstance(names, list) else []


def _read_complexfuncbench(row: Wrapper, data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
    if isinstance(data, list) and data and all(isinstance(step, list) for step in data):
        data = [{"role": "assistant", "function_call": step} for step in data]
    return read_values([data], limits, locations=locations)


def _read_keyed(row: Wrapper, data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
    items = data if isinstance(data, list) else [data]
    check_calls(len(items), limits)
    calls = []
    for i, item in enumerate(items):
        if not isinstance(item, dict) or len(item) != 1:
            raise ParseError(
                f"found {format_value(item)}, expected an object of one key, the tool's name",
                code="parse.shape",
                dialect=row.name,
            )
        ((name, content),) = item.items()
        spans = locations.members(content) if locations and isinstance(content, dict) else ()
        span = locations.span(item) if locations else None
        calls.append(RawCall(name, _read_keyed_arguments(name, content, i), span=span, spans=spans))
    return RawPlan(tuple(calls))


def _read_keyed_arguments(name: str, content: Any, position: int) -> Arguments:
    """The arguments that stand under a tool's name."""
    try:
        return arguments_of(content, position, "")
    except ParseError as error:
        reason = error.reason.replace(f"call {position + 1}", repr(name), 1)
        key = "the key of each object names a tool, its value holds the arguments"
        raise ParseError(f"{reason} ({key})", code=error.code, dialect="keyed") from None


def _has_responses(data: Data) -> str | None:
    named = any(isinstance(item.get("responses"), list) for item in call_items(data.value))
    return "responses name the results" if named else None


def _has_observations(data: Data) -> str | None:
    messages = data.value if isinstance(data.value, list) else []
    has_observations = any(isinstance(m, dict) and m.get("role") == "observation" for m in messages)
    return "steps with observations" if has_observations else None


def _is_keyed(data: Data) -> str | None:
    value = data.value
    # What is wrong with one of a list its reader says.
    if isinstance(value, list) and not data.calls and all(map(may_be_keyed_call, value)):
        value = [item for item in value if is_keyed_call_list([item])]
    return "objects of one key, the tool's name" if is_keyed_call_list(value) else None


RowDataReader: TypeAlias = Callable[[Wrapper, Any, Limits, "ObjectSpans | None"], RawPlan]
"""Reads JSON data by a row, given the places of its objects where they are known."""

_SHAPES: dict[str, tuple[RowDataReader, Callable[[Wrapper, Plan], str], Callable[[Data], str | None] | None]]
_SHAPES = {
    "json": (_read_plain, write_calls, None),
    "live": (_read_live, _write_live, None),
    "nestools": (_read_nestools, _write_nestools, _has_responses),
    "complexfuncbench": (_read_complexfuncbench, write_calls, _has_observations),
    "keyed": (_read_keyed, write_calls, _is_keyed),
}
"""How the data of each shape is read, how a plan is written, and why data has the shape."""
