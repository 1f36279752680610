"""How sure a figure is: one closed form for every interval, which no seed and no order of samples moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, exp, floor, fsum, lgamma, log, log1p, sqrt

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.metrics import METRICS
from planner_eval.results.columns import Column, Unit

# ----------------------------------------------------------------------
# Quantiles of the beta distribution: ``scipy.special`` has them, and takes half a second to be imported.
_TOLERANCE = 1e-15
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
        over = _beta_cdf(point, first, second) - chance
        low, high = (low, point) if over > 0 else (point, high)
        steep = exp(_log_beta_term(point, first, second)) / (point * (1 - point))
        step = point - over / steep if steep else low
        last, point = point, step if low < step < high else (low + high) / 2
        if abs(point - last) <= _TOLERANCE * point or high - low <= _TOLERANCE * high:
            break
    return point


def _log_beta_term(point: float, first: float, second: float) -> float:
    """The logarithm of ``x**a * (1 - x)**b / B(a, b)``."""
    log_beta = lgamma(first + second) - lgamma(first) - lgamma(second)
    return log_beta + first * log(point) + second * log1p(-point)


def _beta_cdf(point: float, first: float, second: float) -> float:
    """The probability of a smaller number."""
    if point > (first + 1) / (first + second + 2):  # the fraction converges fast on the other side
        return 1 - _beta_cdf(1 - point, second, first) if point < 1 else 1.0
    if point <= 0:
        return 0.0
    return exp(_log_beta_term(point, first, second)) * _continued_fraction(point, first, second) / first


def _continued_fraction(point: float, first: float, second: float) -> float:
    lower = 1 / _avoid_zero(1 - (first + second) * point / (first + 1))
    upper, fraction = 1.0, lower
    for m in range(1, 100_000):
        double = first + 2 * m
        for term in (
            m * (second - m) * point / ((double - 1) * double),
            -(first + m) * (first + second + m) * point / (double * (double + 1)),
        ):
            lower = 1 / _avoid_zero(1 + term * lower)
            upper = _avoid_zero(1 + term / upper)
            fraction *= lower * upper
        if abs(lower * upper - 1) < _TOLERANCE:
            break
    return fraction


def _avoid_zero(number: float) -> float:
    """Not 0, by which is divided."""
    return number if abs(number) > _TINY else _TINY


# ----------------------------------------------------------------------
# How sure a figure is: one closed form for every interval, which no seed and no order of samples moves.
_TAIL_PROBABILITY = 0.025
"""The probability on either side of an interval of 95 %."""


class Interval(NamedTuple):
    """A confidence interval of 95 % and how it was made."""

    low: float
    high: float
    method: str


def proportion(hits: float, of: float) -> Interval | None:
    """The interval of a share of yes-or-no answers; None where nothing was asked.

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial (Biometrika 26, 1934); ``scipy.stats.binomtest(…).proportion_ci()`` gives the same.

    >>> [round(x, 4) for x in proportion(8, 10)[:2]]
    [0.4439, 0.9748]
    """
    return Interval(*_clopper_pearson(hits / of, of), _method_name(of)) if of else None


def intervals(columns: Mapping[str, Column]) -> dict[str, Interval | None]:
    """The intervals of the figures that samples' counts add up to.

    Clopper's and Pearson's, on as many samples as would be as sure if each were a yes or a no. For yes-or-no
    answers that is how many there are. Else it is found from how far samples lie from the figure, each by
    its weight, as if one sample more lay off by the whole range: without it samples that happen to be all
    right would be sure for ever. Samples of one cluster are added up first.

    Args:
        columns: For each figure its counts.

    Returns:
        None for a figure that does not exist, or that lies in one cluster.

    Source: Korn and Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data (Survey Methodology 24, 1998), of the effective number of samples. That
    one sample more is supposed was found by simulation: ``tests/certainty.py``.

    >>> from planner_eval.comparison.metrics.counts import Share
    >>> found = intervals({"calls": Column([Share(3, 4), Share(2, 2), Share(5, 5)])})["calls"]
    >>> round(found.low, 2), round(found.high, 2), found.method
    (0.25, 1.0, 'clopper-pearson, effective n 3.2')
    """
    return {name: _interval(column, lowest_value(name)) for name, column in columns.items()}


def lowest_value(name: str) -> int:
    """The least that a figure can be."""
    return METRICS[name].least if name in METRICS else 0


def _interval(column: Column, lowest: int) -> Interval | None:
    counted = [unit for unit in column.units() if unit.sides[1]]
    if not counted or (column.clusters and len(counted) < 2):
        return None
    low, size = bounds(counted, lowest)
    weights = [
        (numerator - low * denominator, size * denominator, count)
        for (numerator, denominator), count in counted
    ]
    numerator, denominator = (fsum(row[column_index] * row[2] for row in weights) for column_index in (0, 1))
    mean = numerator / denominator
    off = fsum(count * ((p - mean * w) / denominator) ** 2 for p, w, count in weights)
    share = fsum(count * (w / denominator) ** 2 for _, w, count in weights)
    lower, upper, method = interval(mean, off, share, sum(count for *_, count in weights))
    return Interval(low + size * lower, low + size * upper, method)


def bounds(units: Sequence[Unit], lowest: int) -> tuple[int, int]:
    """From where and over which range a figure lies: from 0 to 1, unless samples lie outside."""
    pairs = (pair for numbers, _ in units for pair in zip(numbers[::2], numbers[1::2], strict=True))
    ratios = [numerator / denominator for numerator, denominator in pairs if denominator]
    low, high = min(lowest, floor(min(ratios))), max(1, ceil(max(ratios)))
    return low, high - low


def interval(mean: float, off: float, share: float, count: int) -> Interval:
    """The interval of a figure from 0 to 1.

    Args:
        mean: The figure.
        off: The sum of squares of how far each sample lies off, times its part of all weight.
        share: The sum of squares of these parts.
        count: How many samples there are.
    """
    supposed = share / count  # one sample more, of usual weight, off by the whole range
    number = (mean * (1 - mean) * share + supposed) / (off + supposed) / share
    return Interval(*_clopper_pearson(mean, number), _method_name(number))


def _clopper_pearson(mean: float, number: float) -> tuple[float, float]:
    hits, misses = mean * number, (1 - mean) * number
    low = quantile(_TAIL_PROBABILITY, hits, misses + 1) if mean > 0 else 0.0
    return low, 1 - quantile(_TAIL_PROBABILITY, misses, hits + 1) if mean < 1 else 1.0


def _method_name(number: float) -> str:
    return f"clopper-pearson, effective n {number:.{1 if number < 1000 else 0}f}".removesuffix(".0")
