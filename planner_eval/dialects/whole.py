"""Texts that are a plan from end to end, in the notations that need no search.

Most records of most files are such texts. What this module accepts, the search of
:mod:`planner_eval.dialects.find` reads to the same calls (tested); it is only dearer, and it imports
every shape that a text may have.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from planner_eval import dialects
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.jsontext import Repeated, loads
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import RawPlan


class Candidate(NamedTuple):
    """A dialect that a text may be in, and why."""

    dialect: str
    reason: str


NESTFUL = re.compile(r'"label"\s*+:|\$[A-Za-z_]\w*+(?:\.[^$"]++|\[\d++\])*+\$')
_PLAIN = frozenset({"name", "arguments"})
_LABELLED = frozenset({"name", "arguments", "label", "id"})
_ELSEWHERE = ("result://", "$`", "{{tool", "code_execution")
"""Marks of notations that look like plain JSON calls and are decided by the search."""


def read_whole(source: str, limits: Limits) -> tuple[str, RawPlan] | None:
    """The dialect and the calls of a text that is nothing but a plan; None where a search has to decide.

    Raises:
        LimitError: it nests too deeply, or holds too long a number.

    >>> read_whole("a = f(#x='1')", Limits())[0]
    'appbench'
    >>> read_whole('Sure: [{"name": "f", "arguments": {}}]', Limits())
    """
    start = source[: len(source) - len(source.lstrip()) + 1][-1:]
    if start in ("[", "{"):
        return _json(source, limits)
    if "#" in source and "<" not in source and "```" not in source:
        from planner_eval.dialects.appbench import read_fast

        raw = read_fast(source)
        if raw is not None:
            check_calls(len(raw.calls), limits)
            return "appbench", raw
    return None


def _json(source: str, limits: Limits) -> tuple[str, RawPlan] | None:
    try:
        values = loads(source, limits)
    except LimitError:
        raise
    except ParseError:
        return None
    value = values[0] if len(values) == 1 else values
    ours = value if isinstance(value, dict) and value.get("schema") == "planeval.plan/1" else None
    items = value if ours is None else ours.get("calls")
    calls: list[Any] = items if isinstance(items, list) else [items]
    if ours is None and not (calls and all(_is_plain(call) for call in calls)):
        return None
    if any(mark in source for mark in _ELSEWHERE):
        return None
    dialect = "plan" if ours is not None else of_calls(calls).dialect
    if dialect == "json" and not all(call.keys() <= _PLAIN for call in calls):
        return None
    reader = dialects.get(dialect).read_data
    assert reader is not None
    try:
        raw = reader(value, limits, None)
    except (ParseError, RecursionError):
        return None
    return (dialect, raw) if raw.calls else None


def _is_plain(item: Any) -> bool:
    return (
        type(item) is dict
        and item.keys() <= _LABELLED
        and isinstance(item.get("name"), str)
        and type(item.get("arguments")) in (dict, Repeated)
    )


def of_calls(calls: list[dict[str, Any]]) -> Candidate:
    """The dialect of objects with names and arguments, by their references.

    >>> of_calls([{"name": "f", "arguments": {"a": "$v1.x$"}}]).dialect
    'nestful'
    """
    if any(_has_ref(call) for call in calls):
        if '"$ref": "result://' in json.dumps(calls, default=str):
            return Candidate("result-uri", "references to live results")
        return Candidate("plan", "$ref references")
    if any(isinstance(call.get("label"), str) or _has_dollar(call) for call in calls):
        return Candidate("nestful", "labels or $name$ references")
    return Candidate("json", "objects with names and arguments")


def _has_ref(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or any(_has_ref(item) for item in value.values())
    return isinstance(value, list) and any(_has_ref(item) for item in value)


def _has_dollar(value: Any) -> bool:
    if isinstance(value, str):
        return "$" in value and NESTFUL.search(value) is not None
    if isinstance(value, dict):
        return any(_has_dollar(item) for item in value.values())
    return isinstance(value, list) and any(_has_dollar(item) for item in value)
