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
    point = min(max(mean - 2 * away if chance < 0.5 else mean + 2 * away, mean / 9), 1 - (1 - mean) / 9)
    for _ in range(200):
        over = _below(point, first, second) - chance
        low, high = (low, point) if over > 0 else (point, high)
        steep = exp(_height(point, first, second)) / (point * (1 - point))
        step = point - over / steep if steep else low
        last, point = point, step if low < step < high else (low + high) / 2
        if abs(point - last) <= _CLOSE * point or high - low <= _CLOSE * high:
            break
    return point


def _height(point: float, first: float, second: float) -> float:
    """The logarithm of ``x**a * (1 - x)**b / B(a, b)``."""
    log_beta = lgamma(first + second) - lgamma(first) - lgamma(second)
    return log_beta + first * log(point) + second * log1p(-point)


def _below(point: float, first: float, second: float) -> float:
    """The probability of a smaller number."""
    if point > (first + 1) / (first + second + 2):  # the fraction converges fast on the other side
        return 1 - _below(1 - point, second, first) if point < 1 else 1.0
    if point <= 0:
        return 0.0
    return exp(_height(point, first, second)) * _fraction(point, first, second) / first


def _fraction(point: float, first: float, second: float) -> float:
    lower = 1 / _apart(1 - (first + second) * point / (first + 1))
    upper, fraction = 1.0, lower
    for m in range(1, 100_000):
        double = first + 2 * m
        for term in (
            m * (second - m) * point / ((double - 1) * double),
            -(first + m) * (first + second + m) * point / (double * (double + 1)),
        ):
            lower = 1 / _apart(1 + term * lower)
            upper = _apart(1 + term / upper)
            fraction *= lower * upper
        if abs(lower * upper - 1) < _CLOSE:
            break
    return fraction


def _apart(number: float) -> float:
    """Not 0, by which is divided."""
    return number if abs(number) > _TINY else _TINY
