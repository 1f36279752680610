"""The text of a file of plans as its records, or as one plan: what is an element, a line, a plan.

A record that is no JSON is an item with an error; the records around it are read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.jsontext import decode
from planner_eval.dialects.messages import ARGUMENT_KEYS, WRAPPERS, is_call
from planner_eval.records.fields import ANSWER_FIELDS, GOLD_FIELDS, LATE_FIELDS, LISTS, is_id

LINE_SUFFIXES = (".jsonl", ".ndjson")
"""Names that say that a file holds a record a line, whatever its lines look like."""

_KNOWN = frozenset({*ANSWER_FIELDS, *LATE_FIELDS, *GOLD_FIELDS})


class Item(NamedTuple):
    """A value out of a file, or why there is none."""

    data: Any
    line: int | None = None
    error: ParseError | None = None
    text: str = ""
    key: str | None = None


# ---------------------------------------------------------------- from text to items
def split_items(text: str, name: str) -> list[Item] | None:
    """The records of a file; None where all of it is one plan."""
    at = len(text) - len(text.lstrip())
    lines = name.endswith(LINE_SUFFIXES)
    if text[at : at + 1] not in ("[", "{", '"') and not lines:
        return None
    try:
        data, end = decode(text, at)
        whole = _blank_end(text, end) == len(text)
    except (ValueError, RecursionError):
        whole = False
    if whole:
        return structured(data, lines=lines)
    found = _elements(text, at) if text[at : at + 1] == "[" else None
    return found or _lines(text, lines=lines)


def structured(data: Any, *, lines: bool = False) -> list[Item] | None:
    """The records of one JSON value; None where it is one plan."""
    if isinstance(data, list) and data and not _is_plan(data):
        return [Item(item) for item in data]
    if isinstance(data, dict) and not is_call(data):
        known = bool(_KNOWN & data.keys())
        if is_record(data) and not known and _maps_ids(data):
            return [Item(value, key=key) for key, value in data.items()]
        listed = any(isinstance(data.get(key), list) for key in LISTS)
        if lines or (is_record(data) and known and not listed and not calls_nothing(data)):
            return [Item(data)]
    return None


def _maps_ids(data: Mapping[str, Any]) -> bool:
    """Whether an object's keys are ids and its values plans."""
    return bool(data) and all(
        isinstance(v, list)
        or (isinstance(v, dict) and (not is_record(v) or any(isinstance(v.get(k), list) for k in LISTS)))
        for v in data.values()
    )


def _lines(text: str, *, lines: bool) -> list[Item] | None:
    """JSON lines of records, or None when the text is something else.

    Args:
        text: The text.
        lines: The file's name says that it holds a record a line.
    """
    items = [_line(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    good = [item.data for item in items if item.error is None]
    if not lines and (len(items) < 2 or len(good) * 2 < len(items)):
        return None
    if not lines and items[0].error is not None and sum(isinstance(v, (dict, list)) for v in good) < 2:
        return None
    return None if _is_plan(good) and not any("role" in item for item in good) else items


def _line(number: int, text: str) -> Item:
    start = len(text) - len(text.lstrip())
    try:
        data, end = decode(text, start)
    except (ValueError, RecursionError) as error:
        return Item(None, number, _refusal(error, "the line is no JSON", 0), text)
    if text[end:].strip():
        reason = f"the line is no JSON: column {end + 1}: expected the end of the line"
        return Item(None, number, ParseError(reason), text)
    return Item(data, number)


def _refusal(error: Exception, what: str, start: int) -> ParseError:
    """The error of a piece of JSON that begins at a place of its line."""
    if isinstance(error, RecursionError):
        return LimitError(f"{what}: it nests too deeply")
    position = getattr(error, "pos", None)
    if position is None:  # an integer of more digits than Python converts
        return LimitError(f"{what}: a number has too many digits")
    message = str(error.msg)  # type: ignore[attr-defined]
    return ParseError(f"{what}: column {position - start + 1}: {message[0].lower()}{message[1:]}")


_MARKS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},]', re.S)


def _elements(text: str, start: int) -> list[Item] | None:
    """The elements of an array of records of which some are broken; None when it is something else."""
    items: list[Item] = []
    at = counted = start + 1
    line = text.count("\n", 0, at) + 1
    while True:
        at = _blank_end(text, at)
        if text[at : at + 1] == "]" and not items:
            return None
        try:
            data, end = decode(text, at)
            items.append(Item(data))
        except (ValueError, RecursionError) as error:
            end = _element_end(text, at)
            line += text.count("\n", counted, at)
            counted, column = at, text.rfind("\n", 0, at) + 1
            items.append(Item(None, line, _refusal(error, "the record is no JSON", column), text[at:end]))
        end = _blank_end(text, end)
        if text[end : end + 1] != ",":
            break
        at = end + 1
    if text[end : end + 1] == "]":
        if _blank_end(text, end + 1) < len(text):
            return None
    elif items[-1].error is None:
        items.append(Item(None, None, ParseError("the array is cut off or broken here"), text[end:]))
    good = [item.data for item in items if item.error is None]
    records = [v for v in good if isinstance(v, list) or (isinstance(v, dict) and is_record(v))]
    return items if records and len(records) * 2 >= len(items) else None


def _blank_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _element_end(text: str, at: int) -> int:
    """Where a broken element of an array ends: at the comma or bracket of the array around it."""
    depth = 0
    for match in _MARKS.finditer(text, at):
        mark = match.group()
        if mark in "[{":
            depth += 1
        elif depth == 0 and mark in ",]":
            return match.start()
        elif mark in "]}":
            depth -= 1
    return len(text)


def may_have_id(data: Any, text_field: str | None) -> bool:
    """Whether an object can name its record; the id of a lone call names the call."""
    return isinstance(data, dict) and (not is_call(data) or is_record(data, text_field))


def _is_plan(data: Sequence[Any]) -> bool:
    """Whether JSON values are the calls or messages of one plan, not records that hold plans."""
    if not all(isinstance(item, dict) for item in data):
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
    if any(key in item for key in ("schema", "role", "api_results", "decided_api")):
        return False
    # A name beside an answer is a record's name; a call has arguments, or nothing that may be an answer.
    given = any(key in item for key in (*ARGUMENT_KEYS, *WRAPPERS))
    return not is_call(item) or (not given and bool(_KNOWN & item.keys()))


def calls_nothing(data: Mapping[str, Any]) -> bool:
    """Whether an object lists its calls and has null there: no call was made."""
    return any(key in data and data[key] is None for key in LISTS) and "role" not in data
