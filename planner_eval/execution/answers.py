"""Whether what a plan came to is the answer that was wanted."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from math import isclose
from typing import Any


def answers_match(answer: Any, gold: Any, text: str | None = None) -> bool:
    """Whether an answer is the gold answer.

    Numbers are compared by value, rounded to the gold's decimals where gold is a float; a truth value
    is no number, a tuple is a list.

    Args:
        answer: What the calls gave.
        gold: The gold answer.
        text: The gold answer as released, which a text may equal.

    >>> answers_match(16.3636, 16.36), answers_match(27, 27.0), answers_match((1,), [1])
    (True, True, True)
    >>> answers_match(1e-05, 1e-05), answers_match(3.0000000000000004, 3), answers_match("002", 2, "002")
    (True, True, True)
    >>> answers_match(False, 0)
    False
    """
    if isinstance(answer, list | tuple) and isinstance(gold, list):
        return len(answer) == len(gold) and all(map(answers_match, answer, gold))
    if isinstance(answer, dict) and isinstance(gold, dict):
        texts = {str(key): value for key, value in answer.items()}
        return texts.keys() == gold.keys() and all(answers_match(texts[key], gold[key]) for key in gold)
    if isinstance(answer, bool) or isinstance(gold, bool):
        return answer is gold
    if isinstance(answer, int | float) and isinstance(gold, int | float):
        return _numbers_match(answer, gold)
    return bool(answer == gold) or (isinstance(answer, str) and answer == text)


def _numbers_match(answer: float, gold: float) -> bool:
    try:
        if isclose(answer, gold, rel_tol=1e-9):
            return True
        if isinstance(gold, int):
            return False
        exponent = Decimal(repr(gold)).as_tuple().exponent
        return isinstance(exponent, int) and exponent < 0 and round(answer, -exponent) == gold
    except (OverflowError, InvalidOperation):
        return False
