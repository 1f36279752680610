"""How values may be brought into one form before they are compared: one small function a rule.

A normaliser maps a value to a form that equal-enough values share; it leaves alone what it does not
understand, so that nothing is guessed. References pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from planner_eval.plan.bag import Bag
from planner_eval.plan.model import Value


@dataclass(frozen=True, slots=True)
class Typed:
    """A number that equals only numbers of its own type."""

    value: float


def casefold(value: Value) -> Value:
    """Text without case, without blanks at its ends, and with single blanks within.

    >>> casefold("  New   YORK ")
    'new york'
    """
    return " ".join(value.casefold().split()) if type(value) is str else value


def blankless(value: Value) -> Value:
    """Text without case and without any blank, as FunctionChat-Bench compares texts.

    >>> blankless("New York")
    'newyork'
    """
    return value.casefold().replace(" ", "") if type(value) is str else value


def typed(value: Value) -> Value:
    """A float that no longer equals the integer of the same value.

    >>> typed(7.0) == typed(7)
    False
    """
    return Typed(value) if type(value) is float else value


_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def numbers(value: Value) -> Value:
    """Text that is a number becomes the number; ``True`` stays what it is.

    >>> numbers(" 7 "), numbers("2.50"), numbers("1,5"), numbers("7 pm")
    (7, 2.5, '1,5', '7 pm')
    """
    if type(value) is not str or len(value) > 400 or not _NUMBER.fullmatch(text := value.strip()):
        return value
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def booleans(value: Value) -> Value:
    """True and false become 1 and 0, and so do their names as text.

    >>> booleans(True), booleans("False"), booleans("yes")
    (1, 0, 'yes')
    """
    if type(value) is str:
        return {"true": 1, "false": 0}.get(value.strip().casefold(), value)
    return int(value) if type(value) is bool else value


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_SHORT = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})")
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_LONG_US = re.compile(rf"{_WEEKDAY}([a-z]+)\.?\s+{_DAY},?\s+(\d{{4}})")
_LONG = re.compile(rf"{_WEEKDAY}(?:the\s+)?{_DAY}\s+(?:of\s+)?([a-z]+)\.?,?\s+(\d{{4}})")


def dates(value: Value) -> Value:
    """A date in ISO, US or long form becomes its ISO form; an ambiguous one is left as it is.

    ``03/04/2024`` may be March or April and is not guessed; ``03/14/2024`` can only be March.

    >>> [dates(text) for text in ("May 1, 2024", "1st of May 2024", "2024/5/1", "05/31/2024", "03/04/2024")]
    ['2024-05-01', '2024-05-01', '2024-05-01', '2024-05-31', '03/04/2024']
    """
    if type(value) is not str or not 8 <= len(text := value.strip().casefold()) <= 40:
        return value
    if found := _ISO.fullmatch(text):
        return _iso(value, *map(int, found.groups()))
    if found := _SHORT.fullmatch(text):
        first, second, year = map(int, found.groups())
        if first == second or second > 12:
            return _iso(value, year, first, second)
        return _iso(value, year, second, first) if first > 12 else value
    if found := _LONG_US.fullmatch(text):
        month, day, year_text = found.groups()
    elif found := _LONG.fullmatch(text):
        day, month, year_text = found.groups()
    else:
        return value
    return _iso(value, int(year_text), _MONTHS.get(month, 0), int(day))


def _iso(value: str, year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return value


_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::00)?\s*([ap])?\.?(?:m\.?)?")


def times(value: Value) -> Value:
    """A time of day becomes its 24-hour form; a bare number is left as it is.

    >>> [times(text) for text in ("6:30 pm", "18:30:00", "12 am", "7")]
    ['18:30', '18:30', '00:00', '7']
    """
    if type(value) is not str or len(value) > 12:
        return value
    found = _TIME.fullmatch(value.strip().casefold())
    if found is None or (found[2] is None and found[3] is None):
        return value
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3] is not None:
        if not 1 <= hour <= 12:
            return value
        hour = hour % 12 + (12 if found[3] == "p" else 0)
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else value


LEAVES: dict[str, Callable[[Value], Value]] = {
    "exact": lambda value: value,
    "typed": typed,
    "casefold": casefold,
    "blankless": blankless,
    "numbers": numbers,
    "booleans": booleans,
    "date": dates,
    "time": times,
}
"""Rules that look at one leaf at a time, by the name that a policy calls them."""


def as_set(value: Value, order: Callable[[Value], Any]) -> Value:
    """A list, or a text of items with commas between, as a set: neither order nor repetition counts.

    >>> as_set("b, a,b", repr) == as_set(["a", "b"], repr)
    True
    """
    items = split(value)
    if items is None:
        return value
    found: dict[Any, Value] = {order(item): item for item in items}
    return Bag(found[key] for key in sorted(found))


def as_bag(value: Value, order: Callable[[Value], Any]) -> Value:
    """A list whose order does not count, though repetition does.

    >>> as_bag([2, 1], repr) == as_bag([1, 2], repr), as_bag([1, 1], repr) == as_bag([1], repr)
    (True, False)
    """
    return Bag(sorted(value, key=order)) if isinstance(value, list) else value


def split(value: Value) -> list[Value] | None:
    """The items of a list or of a text with commas between them; None for anything else."""
    if isinstance(value, list):
        return value
    return [part.strip() for part in value.split(",") if part.strip()] if type(value) is str else None
