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


def said_number(number: float, amounts: Sequence[Amount]) -> Ground | None:
    """What says a number itself, or as a percentage.

    Args:
        number: The number.
        amounts: The numbers that the question says.

    >>> said_number(0.05, [Amount(5.0, (0, 1))]).how
    'unit'
    """
    for amount in amounts:
        if equal(amount.value, number):
            return Ground("number", amount.span)
    for amount in amounts:
        share = min(abs(amount.value), abs(number)) <= _SHARE
        scaled_numbers = (100 * number, number / 100) if share else ()
        if any(
            equal(amount.value, other) for other in (*scaled_numbers, *((-number,) if number < 0 else ()))
        ):
            return Ground("unit", amount.span)
    return None


def inferred_number(number: float, amounts: Sequence[Amount], text: str) -> Ground | None:
    """What a number may be inferred from: counts that make it together, or another unit.

    Args:
        number: The number.
        amounts: The numbers that the question says.
        text: The question.

    >>> text = "for 2 adults and 3 children, half a year"
    >>> said = [Amount(2.0, (4, 5)), Amount(3.0, (17, 18)), Amount(0.5, (29, 33))]
    >>> inferred_number(5, said, text).how, inferred_number(6, said, text).how
    ('sum', 'unit')
    """
    return _counted(number, amounts, text) or _converted(number, amounts, text)


def _counted(number: float, amounts: Sequence[Amount], text: str) -> Ground | None:
    """A sum of counts that stand near one another, or of them and who asks."""
    if number != int(number) or not 2 <= number <= 50:
        return None
    for amount, next_amount in pairwise(amounts):
        is_near = amount.span != next_amount.span and next_amount.span[0] - amount.span[1] < _NEAR
        if is_near and amount.value + next_amount.value == number and _alike(text, amount, next_amount):
            return Ground("sum", (amount.span[0], next_amount.span[1]))
    company = _COMPANY.search(text)
    if company is None:
        return None
    for amount in amounts:
        if amount.value == number - 1:
            return Ground("sum", amount.span, sure=False)
    return Ground("sum", company.span(), sure=False) if number <= 5 and not amounts else None


def _alike(text: str, amount: Amount, next_amount: Amount) -> bool:
    """Whether two numbers add up: "2 adults and 3 kids" do, "5 miles in 40 minutes" do not."""
    if _ADDED.fullmatch(text, amount.span[1], next_amount.span[0]) is None:
        return False
    first, second = _unit(text, amount), _unit(text, next_amount)
    behind = _NOUN.match(text, next_amount.span[1])
    elided = second is None and (behind is None or behind[0].strip(" -").casefold() in FUNCTION)
    return first == second or elided


def _unit(text: str, amount: Amount) -> str | None:
    """The unit of a number: what stands before or behind it, without its plural."""
    before = _PRICED.search(text, max(0, amount.span[0] - 5), amount.span[0])
    behind = _NOUN.match(text, amount.span[1])
    if before is not None:
        return before[0].strip().casefold()
    match = behind and (_UNIT_WORDS.search(behind[0]) or _PRICE.search(behind[0]))
    return match[0].casefold().rstrip("s") if match else None


def _converted(number: float, amounts: Sequence[Amount], text: str) -> Ground | None:
    if _UNIT_WORDS.search(text) is None:
        return None
    units = [unit for unit in _UNITS if unit != 1000 or _METRIC.search(text)]
    for amount in amounts:
        for unit in units:
            if equal(amount.value * unit, number) or equal(amount.value / unit, number):
                return Ground("unit", amount.span)
    return None


def equal(left: float, right: float) -> bool:
    """Whether two numbers are one, up to what rounding does.

    >>> equal(0.1 + 0.2, 0.3), equal(3.0, 3.001)
    (True, False)
    """
    return left == right or abs(left - right) <= 1e-6 * max(abs(left), abs(right))
