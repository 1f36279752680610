"""Quantiles of the beta distribution: ``scipy.special`` has them, and takes half a second to be imported."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt

_CLOSE = 1e-15
_TINY = 1e-300


@lru_cache(4096)
def quantile(chance: float, first: float, second: float) -> float:
    """Below which number a beta variable lies with a probability.

    Source: the continued fraction of Abramowitz and Stegun, 26.5.8, by Lentz's method; Newton's steps between
    bounds that close in. ``scipy.special.betaincinv`` gives the same.

    Args:
        chance: The probability, in (0, 1).
        first: The first parameter, above 0.
        second: The second parameter, above 0.

    >>> round(quantile(0.025, 3, 2), 6)
    0.19412
    """
    low, high = 0.0, 1.0
    mean = first / (first + second)
    away = sqrt(mean * (1 - mean) / (first + second + 1))
    place = min(max(mean - 2 * away if chance < 0.5 else mean + 2 * away, mean / 9), 1 - (1 - mean) / 9)
    for _ in range(200):
        over = _below(place, first, second) - chance
        low, high = (low, place) if over > 0 else (place, high)
        steep = exp(_height(place, first, second)) / (place * (1 - place))
        step = place - over / steep if steep else low
        last, place = place, step if low < step < high else (low + high) / 2
        if abs(place - last) <= _CLOSE * place or high - low <= _CLOSE * high:
            break
    return place


def _height(place: float, first: float, second: float) -> float:
    """The logarithm of ``x**a * (1 - x)**b / B(a, b)``."""
    whole = lgamma(first + second) - lgamma(first) - lgamma(second)
    return whole + first * log(place) + second * log1p(-place)


def _below(place: float, first: float, second: float) -> float:
    """The probability of a smaller number."""
    if place > (first + 1) / (first + second + 2):  # the fraction converges fast on the other side
        return 1 - _below(1 - place, second, first) if place < 1 else 1.0
    if place <= 0:
        return 0.0
    return exp(_height(place, first, second)) * _fraction(place, first, second) / first


def _fraction(place: float, first: float, second: float) -> float:
    lower = 1 / _apart(1 - (first + second) * place / (first + 1))
    upper, found = 1.0, lower
    for m in range(1, 100_000):
        double = first + 2 * m
        for term in (
            m * (second - m) * place / ((double - 1) * double),
            -(first + m) * (first + second + m) * place / (double * (double + 1)),
        ):
            lower = 1 / _apart(1 + term * lower)
            upper = _apart(1 + term / upper)
            found *= lower * upper
        if abs(lower * upper - 1) < _CLOSE:
            break
    return found


def _apart(number: float) -> float:
    """Not 0, by which is divided."""
    return number if abs(number) > _TINY else _TINY
