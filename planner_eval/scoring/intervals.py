"""How sure a figure is: confidence intervals and paired tests, seeded and the same on every run.

They are written out here, for importing ``scipy.stats`` takes 0.6 to 0.9 s, more than a whole comparison of
small files; a test holds them equal to its ``binomtest`` and ``permutation_test`` on a grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, exp, lgamma, log, sqrt
from typing import Any, NamedTuple

from planner_eval.metrics.counts import Share, Tally
from planner_eval.scoring import draws
from planner_eval.scoring.columns import LARGE, Column, exact_sum
from planner_eval.scoring.pairs import LEVEL_Z

RESAMPLES = 1_000


class Interval(NamedTuple):
    """A confidence interval of 95 % and how it was made."""

    low: float
    high: float
    method: str


def wilson(hits: float, of: float) -> Interval | None:
    """The interval of a share of yes-or-no answers; None where nothing was asked.

    Source: Wilson, Probable inference, the law of succession, and statistical inference (JASA 22, 1927);
    ``scipy.stats.binomtest(…).proportion_ci(method="wilson")`` gives the same.

    >>> [round(x, 4) for x in wilson(8, 10)[:2]]
    [0.4902, 0.9433]
    """
    if not of:
        return None
    share, z2 = hits / of, LEVEL_Z**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = LEVEL_Z / (1 + z2 / of) * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return Interval(max(0.0, middle - half), min(1.0, middle + half), "wilson")


def intervals(
    columns: Mapping[str, Column], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Interval | None]:
    """The intervals of the figures that samples' counts add up to.

    Wilson's where every sample is a yes or a no. Else the percentile bootstrap over samples: samples
    are drawn again with replacement, their counts added up, and the middle 95 % of the figures taken;
    all figures from the same draws. Beyond 50,000 samples the normal approximation of a ratio.

    Args:
        columns: For each figure its counts, one a sample.
        seed: Where the random numbers start.
        resamples: How often samples are drawn again.

    Returns:
        None for a figure that does not exist.

    >>> intervals({"exact": Column([Share(1, 1)] * 8 + [Share(0, 1)] * 2)})["exact"].method
    'wilson'
    """
    found: dict[str, Interval | None] = {}
    drawn = {}
    for name, column in columns.items():
        if yes_or_no(column.values):
            asked = [(tally.part, count) for tally, count in column.each() if tally is not None]
            found[name] = wilson(sum(part * n for part, n in asked), sum(n for _, n in asked))
            continue
        found[name] = None
        if any(whole for _, whole in column.parts()):
            drawn[name] = column
    if any(len(column) > LARGE for column in drawn.values()):
        return found | {name: _normal(column) for name, column in drawn.items()}
    return found | (_bootstrap(drawn, seed, resamples) if drawn else {})


def yes_or_no(tallies: Sequence[Tally | None]) -> bool:
    """Whether all tallies that there are say yes or no."""
    return all(t is None or (isinstance(t, Share) and t.whole == 1 and t.part in (0, 1)) for t in tallies)


def _bootstrap(columns: Mapping[str, Column], seed: int, resamples: int) -> dict[str, Interval | None]:
    numbers = [[part[side] for part in column.parts()] for column in columns.values() for side in (0, 1)]
    codes = [column.codes or () for column in columns.values() for _ in (0, 1)]
    how = f"bootstrap {resamples} seed {seed}"
    count = len(codes[0])
    if draws.sooner(count) and all(float(x).is_integer() for column in numbers for x in column):
        each = [[column[code] for code in row] for column, row in zip(numbers, codes, strict=True)]
        pairs = zip(columns, each[::2], each[1::2], strict=True)
        return {
            name: Interval(*draws.middle(part, whole, seed, resamples), how) for name, part, whole in pairs
        }
    import numpy as np

    samples = matrix(numbers, codes)
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, samples.shape[1]))
    step = max(1, 4_000_000 // count)  # bounds the memory of one batch
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = generator.multinomial(count, np.full(count, 1 / count), size)
        sums[start : start + size] = weights @ samples
    found: dict[str, Interval | None] = {}
    for at, name in enumerate(columns):
        part, whole = sums[:, 2 * at], sums[:, 2 * at + 1]
        figures = part[whole > 0] / whole[whole > 0]
        found[name] = Interval(*draws.ends(figures.tolist()), how)
    return found


def matrix(numbers: Sequence[Sequence[float]], codes: Sequence[Sequence[int]]) -> Any:
    """A row a sample, a column of numbers a code stands for."""
    import numpy as np

    columns = zip(numbers, codes, strict=True)
    return np.array([np.array(known, dtype=float)[np.asarray(code)] for known, code in columns]).T


def _normal(column: Column) -> Interval:
    """The interval of a ratio of sums by linearisation."""
    ratio, whole = ratio_of(column)
    squares = ((part - ratio * of) ** 2 for part, of in column.parts())
    error = sqrt(exact_sum(zip(squares, column.counts, strict=True))) / whole
    return Interval(ratio - LEVEL_Z * error, ratio + LEVEL_Z * error, "normal")


def ratio_of(column: Column) -> tuple[float, float]:
    """A figure from summed counts, and its denominator."""
    sides = zip(*column.parts(), strict=True)
    part, whole = (exact_sum(zip(side, column.counts, strict=True)) for side in sides)
    return part / whole, whole


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
    changed = first + second
    if not changed:
        return 1.0
    fewer = min(first, second)
    if changed >= 1_000:
        return min(1.0, 2 * _tail(fewer, changed))
    return float(min(1.0, 2 * sum(comb(changed, k) for k in range(fewer + 1)) / 2**changed))


def _tail(most: int, tosses: int) -> float:
    """The probability of at most so many heads of a fair coin, to nine digits; integers would be slow."""
    logs = lgamma(tosses + 1) - lgamma(most + 1) - lgamma(tosses - most + 1)
    term, total = exp(logs - tosses * log(2)), 0.0
    for heads in range(most, -1, -1):
        total += term
        term *= heads / (tosses - heads + 1)
        if term < total * 1e-17:
            break
    return total


def holm(found: Sequence[float | None]) -> list[float | None]:
    """Probabilities of several tests, corrected so that by chance any is small as rarely as one would be.

    Args:
        found: The probabilities; None for a test that was not made, which counts for nothing.

    Source: Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of
    Statistics 6, 1979).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, at) for at, p in enumerate(found) if p is not None)
    adjusted, least = list(found), 0.0
    for rank, (p, at) in enumerate(order):
        least = max(least, min(1.0, p * (len(order) - rank)))
        adjusted[at] = least
    return adjusted
