"""Argument values into the world's types, and the database's values back out."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from planner_eval.base.days import day_of
from planner_eval.base.jsonfile import value_of
from planner_eval.worlds.definition import WrongType

LONGEST = 100_000
"""Characters of one argument."""

_EXPECTED = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "True or False",
    "date": "a date (yyyy-mm-dd)",
    "time": "a time (hh:mm)",
    "json": "JSON data",
}


def typed(name: str, value: Any, kind: str) -> Any:
    """An argument's value as the database holds it.

    Raises:
        WrongType: the value does not read as `kind`.

    >>> typed("seats", "4", "integer"), typed("outdoors", "True", "boolean"), typed("at", "9:30", "time")
    (4, 1, '09:30')
    """
    read = _read(value, kind)
    if read is None:
        value_text = f"{value!r:.60}"
        raise WrongType(f"{name}: expected {_EXPECTED[kind]}, found {value_text}")
    if isinstance(read, str):
        if len(read) > LONGEST:
            raise WrongType(f"{name}: {len(read):,} characters, more than the {LONGEST:,} that a world takes")
        try:
            read.encode()
        except UnicodeEncodeError as error:
            raise WrongType(f"{name}: character {error.start + 1} is no Unicode text") from None
    return read


def untyped(value: Any, kind: str) -> Any:
    """A value of the database as outputs hold it.

    >>> untyped(1, "boolean"), untyped('{"a":1}', "json")
    (True, {'a': 1})
    """
    if value is None:
        return None
    if kind == "boolean":
        return bool(value)
    if kind == "json" and isinstance(value, str):
        try:
            return value_of(value)
        except ValueError:
            return value
    return value


def _read(value: Any, kind: str) -> Any:
    if kind == "json":
        return _json(value)
    if kind == "text":
        return str(value).strip() if isinstance(value, (str, int, float)) else None
    if kind == "boolean":
        text = str(value).strip().lower()
        return {"true": 1, "false": 0}.get(text) if isinstance(value, (str, bool)) else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if kind in ("integer", "number"):
        return _number(value, is_integer=kind == "integer")
    return _moment(str(value).strip(), kind)


def _json(value: Any) -> str | None:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _number(value: str | int | float, *, is_integer: bool) -> int | float | None:
    """A number that SQLite can hold: finite, and within 64 bits when it is whole."""
    try:
        number = float(value)
        exact = value if isinstance(value, int) else int(number) if number.is_integer() else None
    except (ValueError, OverflowError):
        return None
    if exact is not None and abs(exact) >= 2**63:
        return None
    if not isfinite(number):
        return None
    return exact if is_integer else number


def _moment(text: str, kind: str) -> str | None:
    if kind == "time":
        match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)(?::00)?", text)
        return f"{int(match[1]):02d}:{match[2]}" if match else None
    day = day_of(text)
    return None if day is None else day.isoformat()
