"""Quantities that a text says with their units, and in which other units a number is the same quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.curation.audit.words import TABLES, Ground

# ----------------------------------------------------------------------
# Units, by what they measure: how many of the smallest one of the row each is.
_UNITS: list[dict[str, float]] = TABLES["units"]
_QUANTITY = re.compile(
    r"(?<![\w.])(?P<number>\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,9})?)[ -]?"
    r"(?P<unit>cubic (?:centi)?met(?:er|re)s?|[A-Za-zµμ]{1,12}(?:/[hs]|[3³])?|['’\"”])(?![A-Za-z])"
)
_BETWEEN = re.compile(r"[ ,]{0,2}(?:and )?")
"""What stands between the parts of one quantity: "6 feet 2 inches", "1 hour and 30 minutes"."""
_MAX_QUANTITIES = 100
_SCIENTIFIC = re.compile(
    r"(?<![\w.])(?P<mantissa>\d{1,15}(?:\.\d{1,15})?)"
    r"(?:\s?[x×*·⋅]\s?10\s?(?:\^|\*\*)?\s?[({]?(?P<power>[+\-−–⁻⁺]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})"
    r"|[eE](?P<exponent>[+\-−]?\d{1,3}))(?![\w.]\d)"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")


class Quantity(NamedTuple):
    """A quantity that a text says.

    Args:
        size: How many of the smallest unit of its kind it is.
        kind: The row of units.
        span: Where it stands.
    """

    size: float
    kind: int
    span: Span


@lru_cache(maxsize=256)
def _find_unit(unit: str) -> tuple[tuple[int, float], ...]:
    """What a unit measures, and its factor; one that measures several things is given for each."""
    names = (unit, unit.lower(), unit.lower().removesuffix("s"))
    return tuple(
        (kind, units[name]) for kind, units in enumerate(_UNITS)
        for name in dict.fromkeys(names) if name in units
    )  # fmt: skip


def quantities(text: str) -> Iterator[Quantity]:
    """The quantities that a text says, those behind one another also as one.

    >>> [round(quantity.size / 25.4) for quantity in quantities("6 feet 2 inches")]
    [72, 2, 74]
    """
    open_parts: dict[int, tuple[float, float, Span]] = {}  # of each kind the sum so far, and its last factor
    for count, match in enumerate(_QUANTITY.finditer(text)):
        if count == _MAX_QUANTITIES:
            return
        number = float(match["number"].replace(",", ""))
        for kind, factor in _find_unit(match["unit"]):
            size, span = number * factor, match.span()
            yield Quantity(size, kind, span)
            total, last, before = open_parts.get(kind, (0.0, 0.0, (0, 0)))
            if factor < last and _BETWEEN.fullmatch(text, before[1], span[0]):
                size, span = total + size, (before[0], span[1])
                yield Quantity(size, kind, span)
            open_parts[kind] = (size, factor, span)


def find_quantity(number: float, text: str) -> Ground | None:
    """Where a text says a number in another unit, rounded to as many digits as it has.

    Args:
        number: The number.
        text: The question.

    >>> [find_quantity(number, "a man 6 feet 2 inches tall") is not None for number in (74, 188, 1.88, 75)]
    [True, True, True, False]
    """
    shown = f"{number:.12g}"
    decimals = len(shown.partition(".")[2]) if "e" not in shown else 12
    for quantity in quantities(text):
        for factor in _UNITS[quantity.kind].values():
            other = quantity.size / factor
            if other and (
                abs(other - number) <= 1e-6 * abs(number) or (decimals < 3 and abs(number) >= 1
                and abs(other - number) <= 0.5000001 * 10.0**-decimals)
            ):  # fmt: skip
                return Ground("unit", quantity.span)
    return None


def scientific_numbers(text: str) -> Iterator[tuple[float, Span]]:
    """Numbers that a text writes with a power of ten.

    >>> [number for number, _ in scientific_numbers("5 x 10^-12 C, 1e-9 and 2.5×10⁶")]
    [5e-12, 1e-09, 2500000.0]
    """
    for match in _SCIENTIFIC.finditer(text):
        power = int((match["power"] or match["exponent"]).translate(_SUPERSCRIPTS))
        if abs(power) <= 300:
            yield float(f"{match['mantissa']}e{power}"), match.span()


# ----------------------------------------------------------------------
# Counts and years that a text says by its days and decades.
_SPANS = re.compile(
    r"(?i)\b(?:next|last|coming|upcoming|past|this|following|previous|the|one|a|per)\s(?P<unit>week|month|year|hour|day"
    r"|fortnight|quarter)s?\b"
)
_LENGTHS: dict[str, list[int]] = TABLES["lengths"]
_YEAR_IN_SHORT = re.compile(r"(?:(?<=\s)|^)['’‘](?P<year>\d\d)s?\b")
_BOUND = re.compile(
    r"(?i)\b(?:less|fewer|more|greater|under|over|above|below|at least|at most|up to|no more|within"
    r"|exceed\w*)(?: than)?\s(?:\$\s?)?(?P<number>\d{1,9})(?![\d.,]\d)"
)


def find_implied_number(number: float, text: str) -> Ground | None:
    """Where a text implies a number: days of "the next week", the year of "the '10s", "less than 5".

    Args:
        number: The number.
        text: The question.

    >>> [find_implied_number(n, "songs of the '10s for the next week, fewer than 5")[0] for n in (2010, 7, 4)]
    ['year', 'relative', 'bound']
    """
    for match in _YEAR_IN_SHORT.finditer(text):
        if number in (1900 + int(match["year"]), 2000 + int(match["year"])):
            return Ground("year", match.span())
    for match in _SPANS.finditer(text):
        if number in _LENGTHS[match["unit"].lower()]:
            return Ground("relative", match.span(), sure=False)
    for match in _BOUND.finditer(text):
        if number in (int(match["number"]) - 1, int(match["number"]) + 1):
            return Ground("bound", match.span(), sure=False)
    return None


def find_difference(number: float, days: Sequence[float], minutes: Sequence[float]) -> bool:
    """Whether a number is the length between two days or two times that are said.

    Args:
        number: The number: days, nights or weeks, or hours, minutes or seconds.
        days: The days said, as ordinals.
        minutes: The times said, in minutes.

    >>> find_difference(2, [15, 17], []), find_difference(10800, [], [720, 900])
    (True, True)
    """
    lengths, hours = (
        {abs(first - last) for first in values[:20] for last in values[:20]} - {0}
        for values in (days, minutes)
    )
    return any(number in (length, length + 1, length / 7) for length in lengths) or any(
        number in (length / 60, length, length * 60) for length in hours
    )
