"""How like one another two values are that are not equal: which of several a person would take for which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from planner_eval.plan.model import Value

LONGEST = 200
"""Characters of a text, and digits of a number, that are looked at."""

EXACT = 10_000
"""Whole numbers nearer to zero are one word as they are; longer ones have parts."""

ITEMS = 8
"""Items of a list that are looked at."""

EIGHTHS = 8
"""Likeness is counted in eighths, so that sums of it are exact."""

LEAST = 3
"""Eighths below which two values have a part in common by chance."""

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_NOTHING: frozenset[str] = frozenset()
_PART = 4
"""Of words that are longer, each run of so many letters counts, and of mixed names and ids."""


def likeness(pred_value: Value, gold_value: Value) -> float:
    """How much two values have in common, in eighths: words, numbers, parts of long words.

    A list is as like each of its parts as it is like another.

    >>> likeness("Boston, MA", "Boston"), likeness("450", 450.0), likeness("May 4 2026", "2026-05-04")
    (0.875, 1.0, 0.625)
    >>> likeness("Rome", "Oslo"), likeness(["Rome", "Oslo"], "Rome"), likeness(7, 8)
    (0.0, 1.0, 0.0)
    """
    listed = type(pred_value) is list or type(gold_value) is list
    return in_common(features(pred_value), features(gold_value), listed=listed)


def in_common(first: frozenset[str], second: frozenset[str], *, listed: bool) -> float:
    """:func:`likeness` of two values by their features.

    Args:
        first: What is compared of the one.
        second: What is compared of the other.
        listed: Whether one of them is a list.
    """
    shared = len(first & second)
    if not shared:
        return 0.0
    total = 2 * min(len(first), len(second)) if listed else len(first) + len(second)
    shared = EIGHTHS * 2 * shared // total
    return shared / EIGHTHS if shared >= LEAST else 0.0


def features(value: Value) -> frozenset[str]:
    """What is compared of a value; nothing of objects and references."""
    kind = type(value)
    if kind is str:
        return _of_text(value[:LONGEST])
    if kind is int and -EXACT < value < EXACT:
        return frozenset((str(abs(value)),))
    return _of_text((" " if kind is list else "").join(_texts(value if kind is list else [value]))[:LONGEST])


def _texts(items: list[Value]) -> Iterator[str]:
    for item in items[:ITEMS]:
        kind = type(item)
        if kind is str:
            yield item[:LONGEST]
        elif kind is float or kind is bool or (kind is int and item.bit_length() <= LONGEST):
            yield str(item)


@lru_cache(maxsize=4096)
def _of_text(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return _of_word(words[0]) if len(words) == 1 else _NOTHING.union(*map(_of_word, words))


@lru_cache(maxsize=4096)
def _of_word(word: str) -> frozenset[str]:
    if word[0].isdecimal():
        integer, _, decimals = word.partition(".")
        decimals = decimals.rstrip("0")
        word = (integer.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
    return frozenset((word, *[word[start : start + _PART] for start in range(len(word) - _PART + 1)]))
