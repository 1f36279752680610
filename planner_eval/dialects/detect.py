"""Which dialect a text is in: a ranked decision with a reason for each candidate."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from planner_eval.dialects.json_calls import is_call


class Candidate(NamedTuple):
    """A dialect that a text may be in, and why."""

    dialect: str
    reason: str


_APPBENCH = re.compile(
    r"\s*+(?:[^\W\d][\w.\- ]*+:\s*+\[\s*+)?+"
    r"(?:\w++(?:\s*+,\s*+\w++)*+\s*+=\s*+)?+[^\W\d][\w.\-]*+\s*+\(\s*+(?:#\w|\))"
)
_NESTFUL = re.compile(r'"label"\s*+:|\$[A-Za-z_]\w*+(?:\.[^$"]++|\[\d++\])*+\$')


def detect(text: str) -> list[Candidate]:
    """The dialects that a text may be in, the likeliest first.

    Args:
        text: The whole text; it is looked at, not parsed.

    Returns:
        At least one candidate; a text that looks like none is taken for JSON calls, whose reader
        says best what is wrong with it.

    >>> detect("a = f(#x='1')")
    [Candidate(dialect='appbench', reason='calls with #name= arguments')]
    """
    found = []
    if _APPBENCH.match(text):
        found.append(Candidate("appbench", "calls with #name= arguments"))
    start = text.lstrip()[:1]
    if start in ("[", "{"):
        if '"$ref"' in text or '"planeval.plan/' in text:
            found.append(Candidate("plan", "JSON with $ref references or our schema"))
        if _NESTFUL.search(text):
            found.append(Candidate("nestful", "JSON with labels or $name$ references"))
    if start in ("[", "{", '"') or not found:
        found.append(Candidate("json", "JSON"))
    return found


def detect_data(data: Any) -> Candidate:
    """The dialect of structure that is JSON already.

    >>> detect_data([{"name": "f", "label": "v1", "arguments": {}}]).dialect
    'nestful'
    """
    if isinstance(data, dict):
        if str(data.get("schema", "")).startswith("planeval.plan/"):
            return Candidate("plan", "our schema")
        if "api_results" in data:
            return Candidate("appbench", "a gold record's api_results")
    items = data.get("calls", data) if isinstance(data, dict) else data
    items = items if isinstance(items, list) else [items]
    if items and all(isinstance(item, str) for item in items):
        return Candidate("appbench", "a list of lines")
    calls = [item for item in items if is_call(item)]
    if any(_has_ref(call) for call in calls):
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
        return "$" in value and _NESTFUL.search(value) is not None
    if isinstance(value, dict):
        return any(_has_dollar(item) for item in value.values())
    return isinstance(value, list) and any(_has_dollar(item) for item in value)
