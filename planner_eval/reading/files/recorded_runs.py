"""What a recorded run says of itself: its verdict, and what it cost."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.reading.dialects.conversations.spans import (
    END_TIME_KEYS,
    NANOSECONDS_PER_SECOND,
    PARENT_KEYS,
    START_TIME_KEYS,
    attributes_of,
    read_time,
)
from planner_eval.reading.files.record import (
    VERDICT_FIELDS,
    Record,
)

YES_WORDS = ("same", "equal", "equivalent", "true", "yes", "pass", "1", "1.0")
NO_WORDS = ("different", "unequal", "not equal", "false", "no", "fail", "0", "0.0")
"""A verdict in words."""


class RecordedVerdict(NamedTuple):
    """What a run recorded of an answer.

    Args:
        field: The field it stands in.
        value: From 0, wrong, to 1, right.
    """

    field: str
    value: float


def recorded_verdict(record: Record) -> RecordedVerdict | None:
    """The verdict that a record holds: yes, no (also in words), or a number from 0 to 1; None for none.

    >>> recorded_verdict(Record("p", 0, "a", None, fields={"reward": 1.0}))
    RecordedVerdict(field='reward', value=1.0)
    >>> recorded_verdict(Record("p", 0, "a", None, fields={"success": "No"}))
    RecordedVerdict(field='success', value=0.0)
    >>> recorded_verdict(Record("p", 0, "a", None, fields={"score": 7.5})) is None
    True
    """
    for field in VERDICT_FIELDS:
        value = None if field in record.scores else record.fields.get(field)
        if isinstance(value, str):
            word = value.strip().lower()
            value = True if word in YES_WORDS else False if word in NO_WORDS else None
        if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
            return RecordedVerdict(field, float(value))
    return None


# ----------------------------------------------------------------------
# What a recorded run cost: tokens, seconds and money, as APIs, tracers and agent benchmarks write them.
COST_NAMES = ("calls", "input_tokens", "output_tokens", "tokens", "seconds", "cost", "user_cost")
"""The figures in the order in which they are shown: calls are the prediction's, the others are recorded."""
UNUSABLE = "unusable"
"""In the place of a figure's name: figures are negative or no numbers, and do not count."""

_TABLE = tomllib.loads(read("data/costs.toml"))
_KEYS: Mapping[str, list[str]] = _TABLE["figures"]
_CACHED_KEYS: Mapping[str, list[str]] = _TABLE["cached"]
_MILLISECOND_KEYS, _USAGE_KEYS = _TABLE["millisecond_keys"], _TABLE["usage_keys"]
_ID_KEYS, _PART_KEYS, _SPAN_LIST_KEYS = _TABLE["id_keys"], _TABLE["part_keys"], _TABLE["span_list_keys"]
_ANSWER_KEYS, _ABOUT_KEYS = _TABLE["answer_keys"], _TABLE["about_keys"]
_ANSWER_SIGNS, _PART_SIGNS = frozenset(_TABLE["answer_signs"]), frozenset(_TABLE["part_signs"])
_UNSEEN_ROLES = frozenset(_TABLE["unseen_roles"])
_IN_USAGE = {"input_tokens": "input", "output_tokens": "output", "tokens": "total"}
"""Further keys within an object of usage."""

_MAX_DEPTH = 8


_OWN_KEYS = frozenset(
    {
        key
        for keys in (*_KEYS.values(), START_TIME_KEYS, END_TIME_KEYS, _MILLISECOND_KEYS, _USAGE_KEYS)
        for key in keys
    }
)

_TELLING_KEYS = _OWN_KEYS.union(_ABOUT_KEYS, _ANSWER_KEYS, _PART_KEYS, ("attributes",))
"""Without one of these keys an object says nothing of costs; most records have none."""


def recorded_costs(record: Record) -> dict[str, float]:
    """What a record says that its run cost; of each figure the outermost place where it stands counts.

    >>> usage = {"prompt_tokens": 9, "completion_tokens": 4}
    >>> recorded_costs(Record("p", 0, "a", None, fields={"usage": usage}))
    {'input_tokens': 9, 'output_tokens': 4, 'tokens': 13}
    >>> steps = [{"role": "assistant", "usage": {"input_tokens": count}} for count in (5, 7)]
    >>> recorded_costs(Record("p", 0, "a", steps, fields={"duration_ms": 1500, "cost": -1}))
    {'seconds': 1.5, 'input_tokens': 12, 'unusable': 1}
    >>> recorded_costs(Record("p", 0, "a", None, fields={"usage": {"input": 0, "counted": False}}))
    {'unusable': 1}
    """
    answers = _sum_costs([_costs_in(answer, 0) for answer in _source_values(record.source)])
    recorded = {} if _TELLING_KEYS.isdisjoint(record.fields) else _costs_in(record.fields, 0, record=True)
    recorded = _with_outer(answers, recorded)
    costs = {name: value for name, value in recorded.items() if isfinite(value)}
    if "tokens" not in costs and "input_tokens" in costs and "output_tokens" in costs:
        costs["tokens"] = costs["input_tokens"] + costs["output_tokens"]
    if not all(map(isfinite, recorded.values())):
        costs[UNUSABLE] = 1
    return costs


def _with_outer(inner: dict[str, float], outer: dict[str, float]) -> dict[str, float]:
    """What an object and what is within it say: the outer figure counts, unless only the inner is usable."""
    return outer | {name: value for name, value in inner.items() if not isfinite(outer.get(name, nan))}


def _source_values(source: Any) -> list[Any]:
    """A record's answer as data, of a text all values; a text is read only where it may say what it cost."""
    if not isinstance(source, str):
        return [_without_calls(source)]
    if '"usage' not in source and "oken" not in source and "_time" not in source:
        return []
    if source.lstrip()[:1] not in ("[", "{"):
        return []
    try:
        return [_without_calls(value) for value in loads_if_json(source, DEFAULT_LIMITS) or ()]
    except PlanevalError:
        return []


def _without_calls(answer: Any) -> Any:
    """An answer; of an object that may be a plan, whose keys may be names of tools, the parts of its run."""
    if isinstance(answer, Mapping) and _ANSWER_SIGNS.isdisjoint(answer):
        return {key: answer[key] for key in _PART_KEYS if key in answer}
    return answer


def _costs_in(data: Any, depth: int, *, record: bool = False) -> dict[str, float]:
    """What a record, a message, a request or a span says; of what it does not say itself its parts' sum.

    A figure is NaN where what stands there, or in one of the parts, is unusable.
    Arguments and answers of tools, gold, the question and the state of a world are never looked at.
    """
    if depth > _MAX_DEPTH:
        return {}
    if isinstance(data, list):
        items = list(_run_parts(data))
        costs = [_costs_in(item, depth + 1) for item in items]
        return _sum_costs(_without_nested(items, costs)) if any(costs) else {}
    if not isinstance(data, Mapping) or (not record and str(data.get("role")) in _UNSEEN_ROLES):
        return {}
    own = dict(_own_costs(data))
    for key in _ABOUT_KEYS:
        if isinstance(about := data.get(key), Mapping):
            own = _with_outer(dict(_own_costs(about)), own)
    for key in _ANSWER_KEYS:
        answer = data.get(key)
        if isinstance(answer, Mapping) and not _ANSWER_SIGNS.isdisjoint(answer):
            own = _with_outer(_costs_in(answer, depth + 1), own)
    parts = [_costs_in(data[key], depth + 1) for key in _PART_KEYS if isinstance(data.get(key), list)]
    return _with_outer(_sum_costs(parts), own)


def _run_parts(data: list[Any]) -> Iterator[Mapping[str, Any]]:
    """The messages, requests and spans of a list, and of lists that only hold spans."""
    for item in data:
        if not isinstance(item, Mapping):
            continue
        if _PART_SIGNS.isdisjoint(item):
            for key in _SPAN_LIST_KEYS:
                if isinstance(spans := item.get(key), list):
                    yield from _run_parts(spans)
        elif not item.keys() <= {*_USAGE_KEYS}:  # a call of a tool of that name, as keyed lists write it
            yield item


def _sum_costs(costs: list[dict[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for cost in costs:
        for name, value in cost.items():
            sums[name] = sums.get(name, 0) + value
    return sums


def _without_nested(items: list[Any], costs: list[dict[str, float]]) -> list[dict[str, float]]:
    """The costs of a list's items; a span says nothing of what a span around it says already."""
    ids = [_first(item, _ID_KEYS) or _first(item.get("context"), _ID_KEYS) for item in items]
    item_parents = [_first(item, PARENT_KEYS) for item in items]
    if not any(item_parents):
        return costs
    parents, by_id = dict(zip(ids, item_parents, strict=True)), dict(zip(ids, costs, strict=True))
    outermost = []
    for name, parent, cost in zip(ids, item_parents, costs, strict=True):
        if name is not None and cost is not by_id[name] and cost == by_id[name]:
            continue  # a span that was exported twice
        above: set[str] = set()
        seen = {name}
        while parent is not None and parent not in seen:
            above.update(by_id.get(parent, ()))
            seen.add(parent)
            parent = parents.get(parent)
        outermost.append({key: value for key, value in cost.items() if key not in above})
    return outermost


def _first(item: Any, keys: Sequence[str]) -> str | None:
    if not isinstance(item, Mapping):
        return None
    values = (item.get(key) for key in keys)
    return next((str(value) for value in values if isinstance(value, (str, int)) and value != ""), None)


def _own_costs(data: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The figures that an object says itself, under its own keys or in its object of usage."""
    if _OWN_KEYS.isdisjoint(data) and "attributes" not in data:
        return
    usage = [data[key] for key in _USAGE_KEYS if isinstance(data.get(key), Mapping)]
    usage.append(attributes_of(data))
    for name, keys in _KEYS.items():
        sources = [(data, keys), *((inner, (*keys, _IN_USAGE.get(name, ""))) for inner in usage)]
        numbers = [_number_of(source, key) for source, names in sources for key in names if key in source]
        value = next((number for number in numbers if number is not None and isfinite(number)), None)
        if name == "seconds" and value is None:
            value = _seconds(data)
        if value is None:
            value = next((number for number in numbers if number is not None), None)
        if value is not None:
            yield name, value


def _seconds(data: Mapping[str, Any]) -> float | None:
    numbers = [number for key in _MILLISECOND_KEYS if (number := _number(data.get(key))) is not None]
    if usable := [*filter(isfinite, numbers)]:
        return usable[0] / 1000
    start, stop = read_time(data, START_TIME_KEYS), read_time(data, END_TIME_KEYS)
    if start is not None and stop is not None and stop >= start:
        return round((stop - start) / NANOSECONDS_PER_SECOND, 6)
    return nan if numbers else None


def _number_of(source: Mapping[str, Any], key: str) -> float | None:
    """A figure of an object, with what its API does not count in it; NaN where it did not count at all."""
    if source.get("counted") is False:
        return nan
    if key in _IN_USAGE.values() and type(source[key]) not in (int, float):
        return None  # a trace's attributes may have the question as their input
    number = _number(source.get(key))
    if number is None or key not in _CACHED_KEYS:
        return number
    return number + sum(_number(source.get(name)) or 0 for name in _CACHED_KEYS[key])


def _number(value: Any) -> float | None:
    """A number from 0 on, which may be text, as in CSV and LangSmith's costs; NaN for anything else there is.

    >>> _number("0.2"), _number("12"), _number(-1), _number("cheap"), _number(True), _number(None)
    (0.2, 12, nan, nan, nan, None)
    """
    if value is None or value == "":
        return None
    if type(value) is str:
        try:
            value = int(value) if value.isdecimal() and len(value) < 16 else float(value)
        except ValueError:
            return nan
    if type(value) not in (int, float) or not 0 <= value < 1e15:
        return nan
    return float(value) if type(value) is float else int(value)
