"""How sure a figure is, and a difference between two systems on the same samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, comb, erfc, exp, floor, fsum, lgamma, log, log1p, pi, prod, sqrt
from typing import Any

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


def span_text(interval: Interval | None) -> str | None:
    """An interval as a cell of a table; None where there is none."""
    return None if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"


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
        None for a figure that is undefined, or that lies in one cluster.

    Source: Korn and Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data (Survey Methodology 24, 1998), of the effective number of samples. That
    one sample more is supposed was found by simulation: ``tests/certainty.py``.

    >>> from planner_eval.comparison.metrics.facts import Share
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


# ----------------------------------------------------------------------
# How sure a difference is between two systems on the same samples: intervals and paired tests.
#
# They are written out here, for importing ``scipy.stats`` takes 0.6 to 0.9 s, more than a whole comparison
# of small files; a test holds them equal to its ``binomtest`` and ``permutation_test`` on a grid.
# ----------------------------------------------------------------------
# How likely chance alone makes a difference: paired tests of two systems on the same samples.
PERMUTATIONS = 10_000
"""So many ways of exchanging the two systems' samples are drawn where they are not all counted."""

MAX_SAMPLED_CHANGES = 2_000
"""Samples that differ up to which they are drawn; the normal distribution is nearer to all ways beyond."""

_MAX_EXACT_SUMS = 50_000
"""So many sums are made of all ways, which takes less than to load NumPy."""

_MAX_EXACT_TOSSES = 1_000
"""Beyond them the chances of so few heads are summed from the largest on, to the last digits of a float."""

_TEST_TOLERANCE = 1e-12
"""Figures that differ by no more are the same, summed in another order."""


class Test(NamedTuple):
    """A probability and how it was found."""

    p: float
    how: str


def sign_test(first: int, second: int) -> float:
    """The exact two-sided probability that a fair coin splits the changed samples at least so unevenly.

    Args:
        first: Samples that only the first system gets right.
        second: Samples that only the second gets right.

    Source: McNemar, Note on the sampling error of the difference between correlated proportions
    (Psychometrika 12, 1947), in its exact binomial form; ``scipy.stats.binomtest`` gives the same.

    >>> sign_test(1, 9)
    0.021484375
    """
    changed, fewer = first + second, min(first, second)
    if first == second:
        return 1.0
    if changed < _MAX_EXACT_TOSSES:
        return float(min(1.0, 2 * sum(comb(changed, k) for k in range(fewer + 1)) / 2**changed))
    terms, term = [], _binomial_probability(fewer, changed)
    for heads in range(fewer, -1, -1):
        terms.append(term)
        term *= heads / (changed - heads + 1)
        if term < terms[0] * 1e-17:
            break
    return min(1.0, 2 * fsum(terms))


def _binomial_probability(heads: int, tosses: int) -> float:
    """The probability of so many heads of a fair coin, to the last digits of a float.

    Source: Loader, Fast and accurate computation of binomial probabilities (2000): the logarithms of
    factorials would cancel one another, so that only what Stirling's formula leaves over is taken.
    """
    if not heads:
        return exp(-tosses * log(2))
    tails = tosses - heads
    uneven = (tails - heads) / tosses
    far = tosses * ((1 + uneven) * log1p(uneven) + (1 - uneven) * log1p(-uneven)) / 2
    left = _stirling_error(tosses) - _stirling_error(heads) - _stirling_error(tails)
    return exp(left - far) * sqrt(tosses / (2 * pi * heads * tails))


def _stirling_error(number: int) -> float:
    """By how much Stirling's formula misses the logarithm of a factorial."""
    if number < 16:
        return lgamma(number + 1) - (number + 0.5) * log(number) + number - log(2 * pi) / 2
    correction = 0.0
    for below in (1188, -1680, 1260, -360, 12):
        correction = correction / (number * number) + 1 / below
    return correction / number


# ---------------------------------------------------------------- figures that are no yes or no
def exchange_tests(columns: Mapping[str, Sequence[Unit]], seed: int) -> dict[str, Test]:
    """The permutation test that exchanges the two systems' counts of single samples, for several figures.

    All ways are counted where their sums are few, else some are drawn; of very many samples that differ the
    normal distribution takes their place, which lies nearer to all ways than those that are drawn. Samples
    are taken by what they count, so that their order means nothing, nor what other figures there are.

    Args:
        columns: For each figure what samples count, both sides of which have a figure.
        seed: Where the random numbers start.
    """
    tests: dict[str, Test] = {}
    drawn: dict[str, _ExchangeDifference] = {}
    for name, pairs in columns.items():
        gap = _ExchangeDifference(pairs)
        if (counted := gap.counted()) is not None:
            tests[name] = counted
        elif gap.changed > MAX_SAMPLED_CHANGES:
            tests[name] = Test(gap.normal(), "normal")
        else:
            drawn[name] = gap
    return tests | (_sample_tests(drawn, seed) if drawn else {})


class _ExchangeDifference:
    """How a difference changes as samples are exchanged."""

    def __init__(self, pairs: Sequence[Unit]) -> None:
        sums = [fsum(numbers[index] * count for numbers, count in pairs) for index in range(4)]
        self.first, self.second = sums[:2], sums[2:]
        self.value = self.between(0.0, 0.0)
        moves: Counter[tuple[float, float]] = Counter()
        for (numerator, denominator, other_numerator, other_denominator), count in pairs:
            if (numerator, denominator) != (other_numerator, other_denominator):
                moves[other_numerator - numerator, other_denominator - denominator] += count
        self.moves = sorted(moves.items())
        self.changed = moves.total()

    def between(self, numerator: Any, denominator: Any) -> Any:
        """The difference, when so much of the second's counts is the first's and the reverse."""
        first_value = (self.first[0] + numerator) / (self.first[1] + denominator)
        return (self.second[0] - numerator) / (self.second[1] - denominator) - first_value

    def _extreme(self, numerator: float, denominator: float) -> bool:
        if not (self.first[1] + denominator and self.second[1] - denominator):
            return False
        return bool(abs(self.between(numerator, denominator)) >= abs(self.value) - _TEST_TOLERANCE)

    def counted(self) -> Test | None:
        """The probability from all ways; None where they are too many."""
        if self._sums() > _MAX_EXACT_SUMS:
            return None
        sums: dict[tuple[float, float], float] = {(0.0, 0.0): 1.0}
        work = 0
        for (numerator, denominator), count in self.moves:
            work += len(sums) * (count + 1)
            if work > _MAX_EXACT_SUMS:
                return None
            chances = [comb(count, k) / 2**count for k in range(count + 1)]
            more: dict[tuple[float, float], float] = {}
            for (p, w), likely in sums.items():
                for k, chance in enumerate(chances):
                    key = (p + k * numerator, w + k * denominator)
                    more[key] = more.get(key, 0.0) + likely * chance
            sums = more
        p = fsum(
            likely
            for (numerator, denominator), likely in sums.items()
            if self._extreme(numerator, denominator)
        )
        exchanges = 2**self.changed if self.changed <= 20 else f"2^{self.changed}"
        return Test(min(1.0, p), f"permutation all {exchanges}")

    def _sums(self) -> float:
        """How many sums there are at most: of whole numbers those of their range."""
        combinations = prod(count + 1 for _, count in self.moves)
        if any(number != int(number) for move, _ in self.moves for number in move):
            return combinations
        wide = (sum(abs(move[index]) * count for move, count in self.moves) + 1 for index in (0, 1))
        return min(combinations, prod(wide))

    def normal(self) -> float:
        """The probability by the normal distribution, the difference made linear at both systems' figure."""
        mean_denominator = (self.first[1] + self.second[1]) / 2
        ratio = (self.first[0] + self.second[0]) / 2 / mean_denominator
        moves = [
            ((numerator - ratio * denominator) / mean_denominator, count)
            for (numerator, denominator), count in self.moves
        ]
        error = sqrt(fsum(count * move * move for move, count in moves))
        return erfc(abs(fsum(count * move for move, count in moves)) / error / sqrt(2)) if error else 1.0


def _sample_tests(gaps: Mapping[str, _ExchangeDifference], seed: int) -> dict[str, Test]:
    """The probabilities from drawn ways, batch by batch; which sample is drawn is known by its rank alone."""
    import numpy as np

    generator = np.random.default_rng(seed)
    moves = {n: np.array([move for move, k in gap.moves for _ in range(k)]) for n, gap in gaps.items()}
    moved = {name: np.zeros((2, PERMUTATIONS)) for name in gaps}
    for start in range(0, max(map(len, moves.values())), _BATCH):
        bits = np.frombuffer(generator.bytes(_BATCH * PERMUTATIONS // 8), dtype=np.uint8)
        chosen = np.unpackbits(bits.reshape(_BATCH, -1), axis=1).astype(float)
        for name, figure_moves in moves.items():
            some = figure_moves[start : start + _BATCH]
            moved[name] += some.T @ chosen[: len(some)]
    tests = {}
    for name, gap in gaps.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            shuffled = np.abs(gap.between(*moved[name]))
        more = int((shuffled >= abs(gap.value) - _TEST_TOLERANCE).sum())
        tests[name] = Test((more + 1) / (PERMUTATIONS + 1), f"permutation {PERMUTATIONS} seed {seed}")
    return tests


_BATCH = 200
"""Samples whose exchanges are held at once."""


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Probabilities of several tests, corrected so that by chance any is small as rarely as one would be.

    Args:
        p_values: The probabilities; None for a test that was not made, which counts for nothing.

    Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of
    Statistics 6, 1979).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted, least = list(p_values), 0.0
    for rank, (p, index) in enumerate(order):
        least = max(least, min(1.0, p * (len(order) - rank)))
        adjusted[index] = least
    return adjusted


# ----------------------------------------------------------------------
# How sure a difference is between two systems on the same samples: intervals and paired tests.
class Difference(NamedTuple):
    """A figure's difference between two systems on the same samples.

    Args:
        value: Second less first; None where one has no figure.
        low: Lower end of the interval of 95 %; None where there is none.
        high: Upper end.
        p: Probability of a difference at least as large if the systems were exchangeable.
        test: How `p` was found.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    test: str


def differences(columns: Mapping[str, Column], *, seed: int = 0) -> dict[str, Difference]:
    """Compare two systems, figure by figure, by the counts of the same samples.

    Yes-or-no answers by the exact sign test; other figures by the permutation test that exchanges the
    two systems' counts of single samples. Intervals of all by the one form that figures have, see
    :func:`planner_eval.results.intervals.intervals`: a difference is a figure from -1 to 1. Samples of one
    cluster are added up first, and exchanged together; one cluster alone allows none.

    Args:
        columns: For each figure the first and the second system's counts, a pair a sample.
        seed: Where the random numbers start.
    """
    units_by_figure: dict[str, Sequence[Unit]] = {}
    tests: dict[str, Test] = {}
    for name, column in columns.items():
        units = [unit for unit in column.units() if any(unit.sides[1::2])]
        if all(any(numbers[index] for numbers, _ in units) for index in (1, 3)):
            units_by_figure[name] = units
    few = {name for name in units_by_figure if columns[name].clusters and len(units_by_figure[name]) < 2}
    for name in units_by_figure.keys() - few:
        if (split := _count_discordant(units_by_figure[name])) is not None:
            tests[name] = Test(sign_test(*split), "sign test")
    tests |= exchange_tests(
        {n: units_by_figure[n] for n in units_by_figure if n not in tests and n not in few}, seed
    )
    return {
        name: _difference(units_by_figure.get(name), lowest_value(name), tests.get(name)) for name in columns
    }


def _count_discordant(units: Sequence[Unit]) -> tuple[int, int] | None:
    """How many samples only the first gets right, and only the second; None where some are no yes or no."""
    losses = wins = 0
    for (numerator, denominator, other_numerator, other_denominator), count in units:
        if not (denominator == other_denominator == 1 and numerator in (0, 1) and other_numerator in (0, 1)):
            return None
        losses += count * (numerator > other_numerator)
        wins += count * (numerator < other_numerator)
    return losses, wins


def _difference(units: Sequence[Unit] | None, lowest: int, test: Test | None) -> Difference:
    if units is None:
        return Difference(None, None, None, None, "")
    value, low, high = difference_interval(units, lowest)
    return Difference(value, low, high, *test) if test else Difference(value, None, None, None, "")


def difference_interval(units: Sequence[Unit], lowest: int) -> tuple[float, float, float]:
    """The second system's figure less the first's, and its interval.

    Args:
        units: What samples count under both; of each system some count something.
        lowest: The least that the figure can be.
    """
    _, size = bounds(units, lowest)
    sums = [fsum(numbers[index] * count for numbers, count in units) for index in range(4)]
    first, second = sums[0] / sums[1], sums[2] / sums[3]
    off, share, number = [], [], 0
    for (numerator, denominator, other_numerator, other_denominator), count in units:
        first_off, second_off = (
            (numerator - first * denominator) / sums[1],
            (other_numerator - second * other_denominator) / sums[3],
        )
        off.append(count * ((second_off - first_off) / 2 / size) ** 2)
        share.append(count * ((denominator / sums[1] + other_denominator / sums[3]) / 2) ** 2)
        number += count
    middle = ((second - first) / size + 1) / 2
    span = interval(middle, fsum(off), fsum(share), number)
    return second - first, (2 * span.low - 1) * size, (2 * span.high - 1) * size
