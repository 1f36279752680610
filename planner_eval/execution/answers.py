"""Whether what a plan came to is the answer that was wanted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from math import isclose
from typing import Any


def answers_match(answer: Any, gold: Any, text: str | None = None, *, rounding: bool = True) -> bool:
    """Whether an answer is the gold answer.

    Numbers are compared by value, rounded to the gold's decimals where gold is a float; a truth value
    is no number, a tuple is a list.

    Args:
        answer: What the calls gave.
        gold: The gold answer.
        text: The gold answer as released, which a text may equal.
        rounding: Whether a number may be rounded to gold's decimals.

    >>> answers_match(16.3636, 16.36), answers_match(27, 27.0), answers_match((1,), [1])
    (True, True, True)
    >>> answers_match(1e-05, 1e-05), answers_match(3.0000000000000004, 3), answers_match("002", 2, "002")
    (True, True, True)
    >>> answers_match(False, 0), answers_match(16.3636, 16.36, rounding=False)
    (False, False)
    """
    numbers_match = _match_rounded if rounding else _match_closely
    return _match(answer, gold, numbers_match) or (isinstance(answer, str) and answer == text)


def is_rounded(answer: Any, exact: Any) -> bool:
    """Whether an answer is a value, or that value rounded to the decimals that the answer has.

    >>> is_rounded(91.67, 91.66666666666667), is_rounded(91.74, 91.66666666666667)
    (True, False)
    """
    return _match(exact, answer, _match_rounded)


def _match(answer: Any, gold: Any, numbers_match: Callable[[float, float], bool]) -> bool:
    if isinstance(answer, list | tuple) and isinstance(gold, list | tuple):
        return len(answer) == len(gold) and all(
            _match(item, gold_item, numbers_match) for item, gold_item in zip(answer, gold, strict=True)
        )
    if isinstance(answer, dict) and isinstance(gold, dict):
        items, gold_items = ({str(key): item for key, item in value.items()} for value in (answer, gold))
        return items.keys() == gold_items.keys() and all(
            _match(items[key], gold_items[key], numbers_match) for key in items
        )
    if isinstance(answer, bool) or isinstance(gold, bool):
        return answer is gold
    if isinstance(answer, int | float) and isinstance(gold, int | float):
        return numbers_match(answer, gold)
    return bool(answer == gold)


def _match_closely(answer: float, gold: float) -> bool:
    try:
        return isclose(answer, gold, rel_tol=1e-9)
    except OverflowError:
        return False


def _match_rounded(answer: float, gold: float) -> bool:
    try:
        if isclose(answer, gold, rel_tol=1e-9):
            return True
        if isinstance(gold, int):
            return False
        exponent = Decimal(repr(gold)).as_tuple().exponent
        return isinstance(exponent, int) and exponent < 0 and round(answer, -exponent) == gold
    except (OverflowError, InvalidOperation):
        return False
