"""The text of a file of plans as its records, or as one plan: what is an element, a line, a plan.

What is broken is taken apart in :mod:`planner_eval.records.broken`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.jsontext import Repeated, decode
from planner_eval.dialects.messages import ARGUMENT_KEYS, WRAPPERS, is_call
from planner_eval.records.broken import Item, blank_end, elements, line_item, sequence
from planner_eval.records.fields import ANSWER_FIELDS, GOLD_FIELDS, ID_FIELDS, LATE_FIELDS, LISTS, is_id
from planner_eval.records.frames import TableRow

LINE_SUFFIXES = (".jsonl", ".ndjson")
"""Names that say that a file holds a record a line, whatever its lines look like."""

_KNOWN = frozenset({*ANSWER_FIELDS, *LATE_FIELDS, *GOLD_FIELDS})


# ---------------------------------------------------------------- from text to items
def split_items(text: str, name: str) -> list[Item] | None:
    """The records of a file; None where all of it is one plan.

    Args:
        text: The file's text.
        name: Its name, whose end may say that it holds a record a line.

    >>> [item.data for item in split_items('[{"id": 1, "plan": "f()"}, {"id": 2, "plan": "g()"}]', "p.json")]
    [{'id': 1, 'plan': 'f()'}, {'id': 2, 'plan': 'g()'}]
    """
    at = blank_end(text, 0)
    lines = name.endswith(LINE_SUFFIXES)
    if text[at : at + 1] not in ("[", "{", '"') and not lines:
        return None
    try:
        data, end = decode(text, at)
        whole = blank_end(text, end) == len(text)
    except (ValueError, RecursionError):
        whole = False
    if whole:
        return structured(data, lines=lines)
    found = elements(text, at) if text[at : at + 1] == "[" else None
    if found is not None and _are_records(found):
        return found
    items = _lines(text, lines=lines)
    broken = items is None or sum(item.error is not None for item in items) * 2 > len(items)
    if broken and text[at : at + 1] == "{" and line_item(1, text[at:].partition("\n")[0]).error:
        # Objects over several lines, or several on one.
        found = sequence(text, at)
        bad = sum(item.error is not None for item in found)
        # Where the name promises lines, few faults must be left before the lines are not taken as such.
        few = bad * 10 <= len(found) or bad == 1 if lines else True
        items = found if len(found) - bad > 1 and few and _are_records(found) else items
    return items


def _are_records(items: Sequence[Item]) -> bool:
    """Whether at least half of what was found are records; what is broken counts against it."""
    good = [item.data for item in items if item.error is None]
    records = [v for v in good if isinstance(v, list) or is_record(v)]
    return bool(records) and len(records) * 2 >= len(items)


def structured(data: Any, *, lines: bool = False) -> list[Item] | None:
    """The records of one JSON value; None where it is one plan."""
    if isinstance(data, list) and data and not _is_plan(data):
        return [Item(item) for item in data]
    if isinstance(data, dict) and not is_call(data):
        known = bool(_KNOWN & data.keys())
        if is_record(data) and not known and _maps_ids(data):
            pairs = data.pairs if isinstance(data, Repeated) else data.items()
            return [Item(value, key=key) for key, value in pairs]
        listed = any(isinstance(data.get(key), list) for key in LISTS)
        if lines or (is_record(data) and known and not listed and not calls_nothing(data)):
            return [Item(data)]
    return None


def _maps_ids(data: Mapping[str, Any]) -> bool:
    """Whether an object's keys are ids and its values plans; fewer than half of them may be missing."""
    if any(key in data for key in ID_FIELDS):
        return False  # a record, in a field that is not known
    plans = [_looks_like_plan(value) for value in data.values()]
    return sum(plans) * 2 > len(plans) and all(
        plan or value is None or isinstance(value, str)
        for plan, value in zip(plans, data.values(), strict=True)
    )


def _looks_like_plan(value: Any) -> bool:
    if isinstance(value, dict):
        return not is_record(value) or any(isinstance(value.get(key), list) for key in LISTS)
    return isinstance(value, list) or (isinstance(value, str) and value.lstrip()[:1] in ("[", "{"))


def _lines(text: str, *, lines: bool) -> list[Item] | None:
    """JSON lines of records, or None when the text is something else.

    Args:
        text: The text.
        lines: The file's name says that it holds a record a line.
    """
    if "\r" in text:  # in JSON a bare one is white space too; in a file of lines it ends one
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    items = [line_item(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    good = [item.data for item in items if item.error is None]
    if not lines and (len(items) < 2 or len(good) * 2 < len(items)):
        return None
    if not lines and items[0].error is not None and sum(isinstance(v, (dict, list)) for v in good) < 2:
        return None
    plan = bool(good) and _is_plan(good) and not any("role" in item for item in good)
    return None if plan or not items else items


def may_have_id(data: Any, text_field: str | None) -> bool:
    """Whether an object can name its record; the id of a lone call names the call."""
    return isinstance(data, dict) and (not is_call(data) or is_record(data, text_field))


def _is_plan(data: Sequence[Any]) -> bool:
    """Whether JSON values are the calls or messages of one plan, not records that hold plans."""
    if not all(isinstance(item, dict) and not isinstance(item, TableRow) for item in data):
        return False
    calls = [is_call(item) for item in data]
    if all(call or "role" in item for call, item in zip(calls, data, strict=True)):
        answers = {item["id"] for item in data if item.get("role") == "assistant" and is_id(item.get("id"))}
        several = len(answers) == len(data) > 1  # as many models' answers, not one conversation
        return not data or not (several or all(map(is_record, data)))
    # Among calls, an object without any field that may hold a plan is a broken call.
    return any(calls) and not any(_KNOWN & item.keys() for item in data)


def is_record(item: Any, text_field: str | None = None) -> bool:
    """Whether a value is an object that holds a plan in one of its fields, and is none itself."""
    if not isinstance(item, dict):
        return False
    if text_field is not None and text_field in item:
        return True
    if not isinstance(item, TableRow) and any(key in item for key in ("schema", "role", "api_results")):
        return False
    # A name beside an answer is a record's name; a call has arguments, or nothing that may be an answer.
    given = any(key in item for key in (*ARGUMENT_KEYS, *WRAPPERS))
    return not is_call(item) or (not given and bool(_KNOWN & item.keys()))


def calls_nothing(data: Mapping[str, Any]) -> bool:
    """Whether an object lists its calls and has null there: no call was made."""
    return any(key in data and data[key] is None for key in LISTS) and "role" not in data
