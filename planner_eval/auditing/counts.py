"""Whether a question says a number: itself, in another unit, or as a sum of counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from planner_eval.auditing.amounts import Amount
from planner_eval.auditing.ground import Ground
from planner_eval.auditing.words import FUNCTION

_UNITS = (2.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 1440.0, 3600.0, 86400.0)
_UNIT_WORDS = re.compile(
    r"\b(?:second|sec|minute|min|hour|hr|day|night|week|month|year|decade|annual\w{0,2}|yearly|monthly|weekly"
    r"|daily|km|kilomet\w{1,3}|met(?:er|re)|cm|mm|mile|kg|kilo|gram|pound|lb|lit(?:er|re)|ml|cent|dollar"
    r"|percent|degree|mb|gb|pair|couple|double|twice)s?\b|%|(?<=\d)(?:km|m|cm|mm|kg|g|h|min|s)\b",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"(?:\b|(?<=\d))(?:k?m|mm|k?g|ml|[kmg]b|ms|s|(?:kilo|milli)?(?:met(?:er|re)|gram|lit(?:er|re)|second|watt)s?|kilos?)\b",
    re.IGNORECASE,
)
"""Units of which a thousand make another."""
_COMPANY = re.compile(
    r"\b(?:me|myself|and i|my|us|our|friends?|famil(?:y|ies)|parents|wife|husband|partner|spouse|kids?"
    r"|children|(?:girl|boy)(?:friend)?|colleagues?|someone)\b",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"(?:[ -]?[\w'’-]{1,20}){0,4}?(?:,? (?:and|plus|with|as well as)|,|\ ?[+&])"
    r"\ (?:[\w'’]{1,12}\ ){0,2}(?:[$€£¥₹]\ ?)?",
    re.IGNORECASE,
)
"""What stands between counts that add up."""
_NOUN = re.compile(r"[ -]?[\w'’-]{1,20}")
_PRICED = re.compile(r"(?:[$€£¥₹]|\b(?:usd|eur|gbp))\ ?$", re.IGNORECASE)
_PRICE = re.compile(r"[$€£¥₹]|\b(?:euro|buck|dollar|pound|rupee|yen|usd|eur|gbp)s?\b", re.IGNORECASE)
_SHARE = 2.0
"""Of a percentage no share is larger."""
_NEAR = 40
"""Counts that many characters apart may be of one party."""


def said_number(number: float, said: Sequence[Amount]) -> Ground | None:
    """What says a number itself, or as a percentage.

    Args:
        number: The number.
        said: The numbers that the question says.

    >>> said_number(0.05, [Amount(5.0, (0, 1))]).how
    'unit'
    """
    for one in said:
        if equal(one.value, number):
            return Ground("number", one.span)
    for one in said:
        share = min(abs(one.value), abs(number)) <= _SHARE
        others = (100 * number, number / 100) if share else ()
        if any(equal(one.value, other) for other in (*others, *((-number,) if number < 0 else ()))):
            return Ground("unit", one.span)
    return None


def inferred_number(number: float, said: Sequence[Amount], text: str) -> Ground | None:
    """What a number may be inferred from: counts that make it together, or another unit.

    Args:
        number: The number.
        said: The numbers that the question says.
        text: The question.

    >>> text = "for 2 adults and 3 children, half a year"
    >>> said = [Amount(2.0, (4, 5)), Amount(3.0, (17, 18)), Amount(0.5, (29, 33))]
    >>> inferred_number(5, said, text).how, inferred_number(6, said, text).how
    ('sum', 'unit')
    """
    return _counted(number, said, text) or _converted(number, said, text)


def _counted(number: float, said: Sequence[Amount], text: str) -> Ground | None:
    """A sum of counts that stand near one another, or of them and who asks."""
    if number != int(number) or not 2 <= number <= 50:
        return None
    for one, other in pairwise(said):
        near = one.span != other.span and other.span[0] - one.span[1] < _NEAR
        if near and one.value + other.value == number and _alike(text, one, other):
            return Ground("sum", (one.span[0], other.span[1]))
    company = _COMPANY.search(text)
    if company is None:
        return None
    for one in said:
        if one.value == number - 1:
            return Ground("sum", one.span, sure=False)
    return Ground("sum", company.span(), sure=False) if number <= 5 and not said else None


def _alike(text: str, one: Amount, other: Amount) -> bool:
    """Whether two numbers add up: "2 adults and 3 kids" do, "5 miles in 40 minutes" do not."""
    if _ADDED.fullmatch(text, one.span[1], other.span[0]) is None:
        return False
    first, second = _unit(text, one), _unit(text, other)
    behind = _NOUN.match(text, other.span[1])
    elided = second is None and (behind is None or behind[0].strip(" -").casefold() in FUNCTION)
    return first == second or elided


def _unit(text: str, one: Amount) -> str | None:
    """The unit of a number: what stands before or behind it, without its plural."""
    before = _PRICED.search(text, max(0, one.span[0] - 5), one.span[0])
    behind = _NOUN.match(text, one.span[1])
    if before is not None:
        return before[0].strip().casefold()
    found = behind and (_UNIT_WORDS.search(behind[0]) or _PRICE.search(behind[0]))
    return found[0].casefold().rstrip("s") if found else None


def _converted(number: float, said: Sequence[Amount], text: str) -> Ground | None:
    if _UNIT_WORDS.search(text) is None:
        return None
    units = [unit for unit in _UNITS if unit != 1000 or _METRIC.search(text)]
    for one in said:
        for unit in units:
            if equal(one.value * unit, number) or equal(one.value / unit, number):
                return Ground("unit", one.span)
    return None


def equal(one: float, other: float) -> bool:
    """Whether two numbers are one, up to what rounding does.

    >>> equal(0.1 + 0.2, 0.3), equal(3.0, 3.001)
    (True, False)
    """
    return one == other or abs(one - other) <= 1e-6 * max(abs(one), abs(other))
