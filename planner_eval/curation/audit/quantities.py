"""Quantities that a text says with their units, and in which other units a number is the same quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.curation.audit.words import Ground

# ----------------------------------------------------------------------
# Units, by what they measure: how many of the smallest one of the row each is.
_UNITS: tuple[dict[str, float], ...] = (
    {"mm": 1, "millimeter": 1, "millimetre": 1, "cm": 10, "centimeter": 10, "centimetre": 10, "in": 25.4,
     "inch": 25.4, "inche": 25.4, '"': 25.4, "”": 25.4, "ft": 304.8, "foot": 304.8, "feet": 304.8,
     "'": 304.8,
     "’": 304.8, "yd": 914.4, "yard": 914.4, "m": 1e3, "meter": 1e3, "metre": 1e3, "km": 1e6,
     "kilometer": 1e6, "kilometre": 1e6, "mi": 1609344.0, "mile": 1609344.0},
    {"mg": 1, "g": 1e3, "gram": 1e3, "oz": 28349.523125, "ounce": 28349.523125, "lb": 453592.37,
     "pound": 453592.37, "kg": 1e6, "kilo": 1e6, "kilogram": 1e6, "ton": 1e9, "tonne": 1e9},
    {"ml": 1, "milliliter": 1, "millilitre": 1, "cl": 10, "l": 1e3, "liter": 1e3, "litre": 1e3,
     "gallon": 3785.411784, "quart": 946.352946, "pint": 473.176473, "cc": 1, "cm3": 1, "cm³": 1,
     "cubic centimeter": 1, "cubic centimetre": 1, "dm3": 1e3, "dm³": 1e3, "m3": 1e6, "m³": 1e6,
     "cubic meter": 1e6, "cubic metre": 1e6},
    {"ms": 1, "millisecond": 1, "s": 1e3, "sec": 1e3, "second": 1e3, "min": 6e4, "minute": 6e4, "h": 36e5,
     "hr": 36e5, "hour": 36e5, "day": 864e5, "week": 6048e5},
    {"pf": 1, "picofarad": 1, "nf": 1e3, "nanofarad": 1e3, "µf": 1e6, "μf": 1e6, "uf": 1e6, "microfarad": 1e6,
     "mf": 1e9, "farad": 1e12},
    {"µh": 1, "μh": 1, "uh": 1, "microhenry": 1, "mh": 1e3, "millihenry": 1e3, "henry": 1e6},
    {"nm": 1, "nanometer": 1, "µm": 1e3, "μm": 1e3, "um": 1e3, "micrometer": 1e3, "mm": 1e6, "cm": 1e7,
     "m": 1e9},
    {"µc": 1, "μc": 1, "microcoulomb": 1, "mc": 1e3, "millicoulomb": 1e3, "coulomb": 1e6},
    {"mw": 1, "milliwatt": 1, "w": 1e3, "watt": 1e3, "kw": 1e6, "kilowatt": 1e6, "megawatt": 1e9},
    {"hz": 1, "hertz": 1, "khz": 1e3, "kilohertz": 1e3, "mhz": 1e6, "megahertz": 1e6, "ghz": 1e9},
    {"pa": 1, "pascal": 1, "hpa": 100, "kpa": 1e3, "kilopascal": 1e3, "mpa": 1e6, "bar": 1e5, "psi": 6894.757,
     "atm": 101325},
    {"j": 1, "joule": 1, "kj": 1e3, "kilojoule": 1e3, "cal": 4.184, "kcal": 4184, "kwh": 3.6e6},
    {"byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"m/s": 1, "km/h": 1 / 3.6, "kmh": 1 / 3.6, "kph": 1 / 3.6, "mph": 0.44704},
)  # fmt: skip
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
    r"\b(?:next|last|coming|upcoming|past|this|following|previous|the|one|a|per)\s(?P<unit>week|month|year|hour|day"
    r"|fortnight|quarter)s?\b",
    re.IGNORECASE,
)
_LENGTHS = {
    "week": (7, 168), "month": (1, 4, 28, 30, 31), "year": (12, 52, 365, 366), "hour": (60, 3600),
    "day": (24, 1440, 86400), "fortnight": (14, 2), "quarter": (3, 90),
}  # fmt: skip
_YEAR_IN_SHORT = re.compile(r"(?:(?<=\s)|^)['’‘](?P<year>\d\d)s?\b")
_BOUND = re.compile(
    r"\b(?:less|fewer|more|greater|under|over|above|below|at least|at most|up to|no more|within|exceed\w*)"
    r"(?: than)?\s(?:\$\s?)?(?P<number>\d{1,9})(?![\d.,]\d)",
    re.IGNORECASE,
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
    lengths = {abs(first - last) for first in days[:20] for last in days[:20]} - {0}
    hours = {abs(first - last) for first in minutes[:20] for last in minutes[:20]} - {0}
    return any(number in (length, length + 1, length / 7) for length in lengths) or any(
        number in (length / 60, length, length * 60) for length in hours
    )
