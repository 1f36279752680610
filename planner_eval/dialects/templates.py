"""Calls as the object that a row's template describes: written from it, and read back by it.

    call = '{"fn": "$name", "kw": "$arguments"}'    around = '{"plan": "$calls"}'

Most templates are spellings that the reader of JSON calls knows. Where it does not read what the
template writes, objects of the template's form become calls in the usual keys first.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.jsontext import Places, loads, whole
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.dialects.json_calls import read_values
from planner_eval.dialects.messages import ARGUMENT_KEYS, NAME_KEYS, WRAPPERS, is_call, shown
from planner_eval.dialects.table import Wrapper
from planner_eval.plan.model import RawPlan
from planner_eval.plan.walk import map_leaves

USUAL = '{"name": "$name", "arguments": "$arguments"}'
_READ = frozenset({*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPERS})


@cache
def _template(text: str) -> Any:
    return whole(text)


# ---------------------------------------------------------------- writing
def item_of(row: Wrapper, call: Any) -> dict[str, Any]:
    """A call as the object that the row's template describes."""
    values = {
        "$name": call.name,
        "$arguments": call.arguments,
        "$text": json.dumps(call.arguments, ensure_ascii=False),
        "$id": call.id,
    }
    filled = _filled(_template(str(row.call or USUAL)), values)
    assert isinstance(filled, dict)
    return {k: v for k, v in filled.items() if v != "$responses"}


def _filled(template: Any, values: dict[str, Any]) -> Any:
    return map_leaves(lambda leaf: values.get(leaf, leaf) if isinstance(leaf, str) else leaf, template)


def fill_all(row: Wrapper, items: list[dict[str, Any]]) -> str:
    """The whole text of some calls' objects, by the row's ``around``."""
    if row.around == "$each":
        return "\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    around = _template(row.around) if row.around else "$calls"
    return json.dumps(_filled(around, {"$calls": items}), ensure_ascii=False)


# ---------------------------------------------------------------- recognition
def fit(row: Wrapper, item: Any) -> int:
    """How many keys of the row's call template an object has; 0 when it has not the row's form.

    >>> from planner_eval.dialects.table import table
    >>> fit(table()["vercel"], {"type": "tool-call", "toolName": "f", "input": {}})
    3
    """
    return _fit(_template(row.call), item, {}) if isinstance(row.call, str) and row.call else 0


def keys_of(row: Wrapper) -> frozenset[str]:
    """The keys that every object of the row's form has.

    >>> from planner_eval.dialects.table import table
    >>> sorted(keys_of(table()["langchain"]))
    ['args', 'name', 'type']
    """
    template = _template(row.call) if isinstance(row.call, str) and row.call else {}
    return frozenset(key for key, expected in template.items() if not _may_lack(key, expected))


def _may_lack(key: str, expected: Any) -> bool:
    """Whether an object of a form may be without a key of it."""
    return expected in ("$id", "$responses") or expected is None or key == "role"


def _fit(template: Any, item: Any, bindings: dict[str, Any]) -> int:
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
            inner = _fit(expected, value, bindings)
            if not inner:
                return 0
            score += inner
        elif isinstance(expected, str):
            if not _matches(expected, value):
                return 0
            bindings[expected] = value
        score += 1
    return score


def _matches(expected: str, value: Any) -> bool:
    if expected.startswith("$"):
        return not (expected == "$name" and not isinstance(value, str))
    return bool(value == expected)


def holds(row: Wrapper, data: Any) -> bool:
    """Whether data holds calls of a row's form that the reader of JSON calls does not know."""
    originals: list[Any] = []
    if isinstance(row.call, str) and row.call and not is_usual(row):
        _restored(row, data, originals)
    return bool(originals)


# ---------------------------------------------------------------- reading
def read_by(
    row: Wrapper, values: list[Any], limits: Limits, locations: Places | None = None, text: str = ""
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
    if is_usual(row):
        return read_values(values, limits, text=text, locations=locations)
    originals: list[Any] = []
    usual = [_restored(row, value, originals) for value in values]
    try:
        raw = read_values(usual, limits, text=text, locations=locations)
    except ParseError:
        if originals:
            raise
        reason = f"found {shown(values[0])}, expected calls of the form {row.call}"
        raise ParseError(reason, code="parse.shape", dialect=row.name) from None
    if locations is None or len(originals) != len(raw.calls):
        return raw
    calls = zip(raw.calls, originals, strict=True)
    return RawPlan(tuple(replace(call, span=locations.span(item)) for call, item in calls), None, raw.notes)


def restored(row: Wrapper, data: Any) -> Any:
    """Data in which the objects of a row's form are calls in the usual keys."""
    return data if is_usual(row) else _restored(row, data, [])


@cache
def is_usual(row: Wrapper) -> bool:
    """Whether the reader of JSON calls reads what a row's template writes.

    >>> from planner_eval.dialects.table import make
    >>> call = '{"fn": "$name", "kw": "$arguments"}'
    >>> is_usual(make({"name": "own", "shape": "json", "example": "-", "call": call}, "own.toml"))
    False
    """
    call = SimpleNamespace(name="f", arguments={"a": {"b": 1}}, id="c1")
    try:
        raw = read_values(loads(fill_all(row, [item_of(row, call)] * 2), DEFAULT_LIMITS), DEFAULT_LIMITS)
    except ParseError:
        return False
    return [(c.name, c.arguments) for c in raw.calls] == [(call.name, tuple(call.arguments.items()))] * 2


def _restored(row: Wrapper, data: Any, originals: list[Any]) -> Any:
    path = _way(_template(row.around)) if row.around not in ("", "$each") else ()
    return _usual(_template(str(row.call or USUAL)), _inside(path, data), originals)


def _usual(template: Any, value: Any, originals: list[Any]) -> Any:
    """A value with objects of the template's form in the usual keys; `originals` takes them as they were."""
    if isinstance(value, list):
        return [_usual(template, item, originals) for item in value]
    if not isinstance(value, dict):
        return value
    bindings: dict[str, Any] = {}
    if not _fit(template, value, bindings) or "$name" not in bindings:
        return value if is_call(value) else {k: _usual(template, v, originals) for k, v in value.items()}
    originals.append(value)
    call = {
        k: v for k, v in value.items() if k not in _READ and template.get(k, "$responses") == "$responses"
    }
    call |= {"name": bindings["$name"], "arguments": bindings.get("$arguments", bindings.get("$text"))}
    return call | ({"id": bindings["$id"]} if "$id" in bindings else {})


def _way(around: Any) -> tuple[str, ...]:
    """The keys that lead to ``$calls``; none where it is the whole text."""
    if isinstance(around, dict):
        for key, value in around.items():
            if value == "$calls" or _way(value):
                return (key, *_way(value))
    return ()


def _inside(path: tuple[str, ...], data: Any) -> Any:
    """What stands at the end of a way, or of what is left of it: a record's field may hold the inner part."""
    if isinstance(data, list):
        return [_inside(path, item) for item in data]
    for position, key in enumerate(path):
        if isinstance(data, dict) and key in data:
            return _inside(path[position + 1 :], data[key])
    return data
