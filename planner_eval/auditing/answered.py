"""Whether what a gold plan came to is the gold answer beside it, as people write answers down."""

from __future__ import annotations

import math
import re
from typing import Any

from planner_eval.auditing.finding import CONFIDENCES, Confidence
from planner_eval.auditing.options import offered
from planner_eval.execution.answers import answers_match

_LONGEST = 2_000
"""Of a longer text the end is read, where the answer stands."""
_UNIT = 2
"""More words than these beside a number are a sentence, which may count something else."""
_MARK = re.compile(r"####|\banswer(?: is|\s*[:=])", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{([^{}]{1,200})\}")
_PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,4})?", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[-−–]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d++)(?:\.\d++)?")


def number_of(value: Any) -> float | None:
    """A value as a number; None where it is none that a float holds, or a truth value.

    Args:
        value: The value.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_given(answer: Any) -> bool:
    """Whether a record's field holds an answer: null and blanks are none.

    Args:
        answer: What stands in the field.
    """
    return bool(answer.strip()) if isinstance(answer, str) else answer is not None


def doubt(value: Any, gold: Any, text: str | None = None) -> Confidence | None:
    """How sure it is that a value is not the gold answer.

    Args:
        value: What the plan gives.
        gold: The gold answer.
        text: The gold answer as released.

    Returns:
        None where it is, or may be; ``"low"`` where the two cannot be compared: an answer in words beside a
        number, a list beside a text.

    >>> [doubt(12, gold) for gold in ("$12", "1 2/3", "#### 12", [12], "The answer is 12.", "it depends")]
    [None, 'medium', None, None, None, 'low']
    """
    if answers_match(value, gold, text):
        return None
    value, gold = _only(value), _only(gold)
    if answers_match(value, gold, text):
        return None
    if isinstance(gold, str) or isinstance(value, str):
        return _of_texts(value, gold)
    if isinstance(value, (list, tuple)) and isinstance(gold, (list, tuple)):
        return _surest(zip(value, gold, strict=True)) if len(value) == len(gold) else "high"
    if isinstance(value, dict) and isinstance(gold, dict):
        texts = {str(key): item for key, item in value.items()}
        return _surest((texts[key], gold[key]) for key in gold) if texts.keys() == gold.keys() else "high"
    return "high" if _kind(value) is _kind(gold) else "low"


def _only(value: Any) -> Any:
    """What a list or an object of one holds."""
    while isinstance(value, (list, tuple, dict)) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value


def _surest(pairs: Any) -> Confidence | None:
    doubts = [confidence for value, gold in pairs if (confidence := doubt(value, gold)) is not None]
    return min(doubts, key=CONFIDENCES.index, default=None)


def _kind(value: Any) -> type:
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def _of_texts(value: Any, gold: Any) -> Confidence | None:
    """The same where one of the two is a text, or both are."""
    if isinstance(value, str) and isinstance(gold, str):
        return None if value.strip().casefold() == gold.strip().casefold() else "high"
    text, other = (gold, value) if isinstance(gold, str) else (value, gold)
    number = number_of(other)
    return "low" if number is None else _of_number(other, number, text)


def _of_number(exact: float, number: float, answer_text: str) -> Confidence | None:
    """How sure it is that a text does not say a number."""
    answer_text = answer_text[-_LONGEST:].strip()
    boxed = _BOXED.findall(answer_text)
    marked = boxed[-1] if boxed else _MARK.split(answer_text)[-1]
    text = marked.strip().strip("$:=* ").removesuffix(".").strip() if marked.strip() else answer_text
    plain = text.replace(",", "") if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text
    if _PLAIN.fullmatch(plain):
        is_integer = plain.lstrip("+-").isdecimal() and len(plain) <= 300
        return None if answers_match(exact, int(plain) if is_integer else float(plain)) else "high"
    option, sure = offered(text), True
    if option is None:
        numbers = _NUMBER.findall(text)
        option, sure = (offered(numbers[0]) if len(numbers) == 1 else None), False
    if option is None:
        return "low"
    if option.is_value(number) or option.is_rounded(number):
        return None
    named = option.plain and len(option.unit.split()) <= _UNIT
    return "high" if sure and named and not option.is_near(number) else "medium"
