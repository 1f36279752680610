"""JSON dialects out of the table: read by the shape "JSON calls", written from the row's template.

Also the JSON notations with references or with a form of their own that is a few lines: NesTools,
live references, ComplexFuncBench's steps, one-key objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import Places
from planner_eval.base.limits import Limits, check_calls
from planner_eval.dialects.dialect import Data, Dialect
from planner_eval.dialects.json_calls import arguments_of, read_call, read_values
from planner_eval.dialects.messages import call_items, is_keyed, may_be_keyed, shown
from planner_eval.dialects.notations import NOTATIONS, uri_value
from planner_eval.dialects.table import Wrapper, json_dialect
from planner_eval.dialects.templates import fill_all, item_of, read_by, restored
from planner_eval.dialects.writing import Written, refuse_references
from planner_eval.plan.model import Arguments, Diagnostic, Plan, RawCall, RawPlan, RawRef
from planner_eval.plan.walk import map_leaves

Reader = Callable[[Any, Limits, "Places | None"], RawPlan]


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``json``, ``live``, ``nestools``, ``complexfuncbench`` or ``keyed``."""
    read_data, write = _KINDS[row.shape](row)

    return json_dialect(row, read_data, write, fits=_FITS.get(row.shape))


Pair = tuple[Reader, Callable[[Plan], str]]


def _plain(row: Wrapper) -> Pair:
    def read_data(data: Any, limits: Limits, locations: Places | None) -> RawPlan:
        return read_by(row, [data], limits, locations)

    def write(plan: Plan) -> str:
        refuse_references(plan, row.name)
        return fill_all(row, [item_of(row, call) for call in Written(plan).calls])

    return read_data, write


def _live(row: Wrapper) -> Pair:
    notation = NOTATIONS[row.references]

    def read_data(data: Any, limits: Limits, locations: Places | None) -> RawPlan:
        raw = read_by(row, [data], limits, locations)
        calls = [
            replace(c, arguments=tuple((k, uri_value(v)) for k, v in c.arguments))
            if row.references == "uri"
            else c
            for c in raw.calls
        ]
        names = _turns(data) if row.references == "toolturn" else None
        bound = []
        for i, call in enumerate(calls):
            named = notation.bind(call, i)
            if names and i < len(names):
                named = replace(named, binds=((names[i], ()),))
            bound.append(named)
        return RawPlan(tuple(bound), None, raw.notes)

    def write(plan: Plan) -> str:
        labels = [f"call_{i + 1}" for i in range(len(plan.calls))]
        names = [notation.name(i, label) for i, label in enumerate(labels)]
        calls = Written(plan, names, notation, as_object=row.references == "uri").calls
        return fill_all(
            row, [item_of(row, replace(call, id=label)) for call, label in zip(calls, labels, strict=True)]
        )

    return read_data, write


def _turns(data: Any) -> list[str]:
    """The names ``tool<i>turn<n>`` of the calls: each message that has calls is a turn."""
    items = data if isinstance(data, list) else [data]
    sizes = [len(list(call_items(item))) for item in items if isinstance(item, (dict, list))]
    messages = any(isinstance(item, dict) and "tool_calls" in item for item in items)
    if not messages:
        return [f"tool{i}turn0" for i in range(sum(sizes))]
    turns = [size for size in sizes if size]
    return [f"tool{i}turn{n}" for n, size in enumerate(turns) for i in range(size)]


def _nestools(row: Wrapper) -> Pair:
    notation = NOTATIONS["api_call"]

    def read_data(data: Any, limits: Limits, locations: Places | None) -> RawPlan:
        notes: list[Diagnostic] = []
        items = list(call_items(restored(row, data)))
        check_calls(len(items), limits)
        named = {r for item in items for r in _responses(item)}

        def leaf(value: Any) -> Any:
            if not isinstance(value, str):
                return value
            return RawRef(value) if value in named else notation.text(value)

        calls = []
        for i, item in enumerate(items):
            call = read_call(item, i, notes, locations=locations, convert=partial(map_leaves, leaf))
            responses = _responses(item)
            paths = [()] if len(responses) == 1 else [(k,) for k in range(len(responses))]
            calls.append(replace(call, binds=tuple(zip(responses, paths, strict=True))))
        return RawPlan(tuple(calls), None, tuple(notes))

    def write(plan: Plan) -> str:
        names = [f"API_call_{i}" for i in range(len(plan.calls))]
        items = [
            item_of(row, call) | {"responses": [names[i]]}
            for i, call in enumerate(Written(plan, names, notation).calls)
        ]
        return fill_all(row, items)

    return read_data, write


def _responses(item: dict[str, Any]) -> list[str]:
    names = item.get("responses")
    return [r for r in names if isinstance(r, str)] if isinstance(names, list) else []


def _complexfuncbench(row: Wrapper) -> Pair:
    def read_data(data: Any, limits: Limits, locations: Places | None) -> RawPlan:
        if isinstance(data, list) and data and all(isinstance(step, list) for step in data):
            data = [{"role": "assistant", "function_call": step} for step in data]
        return read_values([data], limits, locations=locations)

    def write(plan: Plan) -> str:
        refuse_references(plan, row.name)
        calls = [{"name": c.name, "arguments": c.arguments} for c in Written(plan).calls]
        steps = [{"role": "assistant", "function_call": [call]} for call in calls]
        return json.dumps(steps, ensure_ascii=False)

    return read_data, write


def _keyed(row: Wrapper) -> Pair:
    def read_data(data: Any, limits: Limits, locations: Places | None) -> RawPlan:
        items = data if isinstance(data, list) else [data]
        check_calls(len(items), limits)
        calls = []
        for i, item in enumerate(items):
            if not isinstance(item, dict) or len(item) != 1:
                raise ParseError(
                    f"found {shown(item)}, expected an object of one key, the tool's name",
                    code="parse.shape",
                    dialect=row.name,
                )
            ((name, content),) = item.items()
            spans = locations.members(content) if locations and isinstance(content, dict) else ()
            span = locations.span(item) if locations else None
            calls.append(RawCall(name, _given(name, content, i), span=span, spans=spans))
        return RawPlan(tuple(calls))

    def write(plan: Plan) -> str:
        refuse_references(plan, row.name)
        return json.dumps([{c.name: c.arguments} for c in Written(plan).calls], ensure_ascii=False)

    return read_data, write


_KINDS: dict[str, Callable[[Wrapper], Pair]] = {
    "json": _plain,
    "live": _live,
    "nestools": _nestools,
    "complexfuncbench": _complexfuncbench,
    "keyed": _keyed,
}


def _given(name: str, content: Any, position: int) -> Arguments:
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
    if not is_keyed(value) and isinstance(value, list):  # what is wrong with one of them, its reader says
        named = all(map(may_be_keyed, value)) and not data.calls
        value = [item for item in value if is_keyed([item])] if named else None
    return "objects of one key, the tool's name" if is_keyed(value) else None


_FITS: dict[str, Callable[[Data], str | None]] = {
    "nestools": _has_responses,
    "complexfuncbench": _has_observations,
    "keyed": _is_keyed,
}
