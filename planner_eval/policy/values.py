"""How values may be brought into one form before they are compared: one small function a rule.

A normaliser maps a value to a form that equal-enough values share; it leaves alone what it does not
understand, so that nothing is guessed. References pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from planner_eval.plan.bag import Bag
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Value
from planner_eval.plan.walk import map_leaves


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
    "date": dates,
    "time": times,
    "numbers": numbers,
    "booleans": booleans,
    "casefold": casefold,
    "blankless": blankless,
    "typed": typed,
}
"""Rules that look at one leaf at a time, by their names, in the order in which they act: what is read as
something else first, then what is left of text."""

_READ = ("date", "time", "numbers", "booleans")


class Form:
    """How a rule brings a value into the form that it compares: aliases, :data:`LEAVES`, then collections.

    Args:
        compare: The names of :data:`planner_eval.policy.rule.COMPARE` that the rule has, in any order.
        aliases: Other names of a value: alias → name.
    """

    __slots__ = ("bag", "changes", "names", "read", "set")

    def __init__(self, compare: Collection[str], aliases: Mapping[str, str]) -> None:
        self.names = {casefold(name): casefold(name) for name in aliases.values()}
        self.names |= {casefold(alias): casefold(name) for alias, name in aliases.items()}
        named = (self._named,) if aliases else ()
        self.read = (*named, *(LEAVES[name] for name in _READ if name in compare))
        self.changes = (*named, *(change for name, change in LEAVES.items() if name in compare))
        self.set = not SETS.isdisjoint(compare)
        self.bag = "unordered" in compare

    def of(self, value: Value, own: Sequence[str] = ()) -> Value:
        """The form of a value; references stay as they are.

        Args:
            value: The value.
            own: The tools of its plan's calls.

        >>> Form(["numbers", "set"], {"nyc": "New York"}).of("2, NYC, 1, 1.0")
        ['new york', 1, 2]
        """
        if not self.set:
            made = map_leaves(self.leaf, value) if self.changes else value
            return Bag(_sorted(made, own)) if self.bag and type(made) is list else made
        items = self.items(value)
        if items is None:
            return map_leaves(self.leaf, value)
        kept = {repr(value_key(item, range(len(own)))): item for item in items}
        return Bag(_sorted(list(kept.values()), own))

    def items(self, value: Value) -> list[Value] | None:
        """The items of a list, of a text with commas between them, a scalar alone; None for anything else."""
        if type(value) is str:
            if "," not in value or self._whole(value):
                return [self.leaf(value)] if value.strip(" ,") else []
            return [self.leaf(part) for part in map(str.strip, value.split(",")) if part]
        if type(value) in (bool, int, float):
            return [self.leaf(value)]
        return [map_leaves(self.leaf, item) for item in value] if isinstance(value, list) else None

    def leaf(self, value: Value) -> Value:
        """The form of one leaf."""
        for change in self.changes:
            value = change(value)
        return value

    def _named(self, value: Value) -> Value:
        """A text by the name that it is an alias of."""
        return self.names.get(casefold(value), value) if type(value) is str else value

    def _whole(self, text: str) -> bool:
        """Whether a text with commas is read as one value, as a date is."""
        value: Value = text
        for change in self.read:
            value = change(value)
        return bool(value != text)


SETS = frozenset({"set", "subset", "superset"})
"""Rules that compare collections in which neither order nor repetition counts."""


def _sorted(items: list[Value], own: Sequence[str]) -> list[Value]:
    """Items in an order that depends on what they are, references by their tools; of equals as written."""
    blank = [0] * len(own)
    return sorted(items, key=lambda item: (repr(value_key(item, blank)), repr(value_key(item, own))))
