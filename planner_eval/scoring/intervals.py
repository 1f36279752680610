"""How sure a figure is: confidence intervals and paired tests, seeded and the same on every run.

They are written out here, for importing ``scipy.stats`` takes 0.6 to 0.9 s, more than a whole comparison of
small files; a test holds them equal to its ``binomtest`` and ``permutation_test`` on a grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, exp, lgamma, log, sqrt
from typing import Any, NamedTuple

from planner_eval.base.ratios import f1_parts
from planner_eval.metrics.counts import Counts, Share, Tally
from planner_eval.scoring import draws
from planner_eval.scoring.pairs import LEVEL_Z, tango

RESAMPLES = 1_000
SWAPS = 10_000
ALL = 13
"""So many samples that differ are exchanged in all ways, which are fewer than :data:`SWAPS`."""
LARGE = 50_000
"""Samples beyond which intervals are by the normal approximation."""


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
    tallies: Mapping[str, Sequence[Tally | None]], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Interval | None]:
    """The intervals of the figures that samples' counts add up to.

    Wilson's where every sample is a yes or a no. Else the percentile bootstrap over samples: samples
    are drawn again with replacement, their counts added up, and the middle 95 % of the figures taken;
    all figures from the same draws. Beyond 50,000 samples the normal approximation of a ratio.

    Args:
        tallies: For each figure its counts, one a sample; None for a sample that has none.
        seed: Where the random numbers start.
        resamples: How often samples are drawn again.

    Returns:
        None for a figure that does not exist.

    >>> intervals({"exact": [Share(1, 1)] * 8 + [Share(0, 1)] * 2})["exact"].method
    'wilson'
    """
    found: dict[str, Interval | None] = {}
    drawn = {}
    for name, column in tallies.items():
        asked = [tally for tally in column if tally is not None]
        if _yes_or_no(asked):
            found[name] = wilson(sum(t.part for t in asked if isinstance(t, Share)), len(asked))
            continue
        found[name] = None
        columns = _columns(column)
        if sum(columns[1]):
            drawn[name] = columns
    if drawn:
        found |= _bootstrap(drawn, seed, resamples)
    return found


def _yes_or_no(tallies: Sequence[Tally | None]) -> bool:
    return all(isinstance(t, Share) and t.whole == 1 and t.part in (0, 1) for t in tallies)


def _bootstrap(
    columns: Mapping[str, tuple[list[float], list[float]]], seed: int, resamples: int
) -> dict[str, Interval | None]:
    few = all(draws.sooner(len(part)) for part, _ in columns.values())
    if few and all(float(x).is_integer() for pair in columns.values() for column in pair for x in column):
        how = f"bootstrap {resamples} seed {seed}"
        return {name: Interval(*draws.middle(*pair, seed, resamples), how) for name, pair in columns.items()}
    import numpy as np

    numbers = np.array([column for pair in columns.values() for column in pair], dtype=float).T
    count = len(numbers)
    if count > LARGE:
        return {name: _normal(*columns[name]) for name in columns}
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, numbers.shape[1]))
    step = max(1, 4_000_000 // count)  # bounds the memory of one batch
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = generator.multinomial(count, np.full(count, 1 / count), size)
        sums[start : start + size] = weights @ numbers
    found: dict[str, Interval | None] = {}
    for at, name in enumerate(columns):
        part, whole = sums[:, 2 * at], sums[:, 2 * at + 1]
        figures = part[whole > 0] / whole[whole > 0]
        found[name] = Interval(*draws.ends(figures.tolist()), f"bootstrap {resamples} seed {seed}")
    return found


def _normal(parts: list[float], wholes: list[float]) -> Interval:
    """The interval of a ratio of sums by linearisation."""
    whole = sum(wholes)
    ratio = sum(parts) / whole
    error = sqrt(sum((p - ratio * w) ** 2 for p, w in zip(parts, wholes, strict=True))) / whole
    return Interval(ratio - LEVEL_Z * error, ratio + LEVEL_Z * error, "normal")


def _columns(tallies: Sequence[Tally | None]) -> tuple[list[float], list[float]]:
    """Numerator and denominator of each sample's figure: of F1 for counts."""
    parts, wholes = [], []
    for tally in tallies:
        if isinstance(tally, Counts):  # not its `share`: an object for each figure of each sample
            part, whole = f1_parts(tally.hit, tally.pred, tally.gold)
        else:
            part, whole = (tally.part, tally.whole) if tally is not None else (0.0, 0.0)
        parts.append(part)
        wholes.append(whole)
    return parts, wholes


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


class Difference(NamedTuple):
    """A figure's difference between two systems on the same samples.

    Args:
        value: Second less first; None where one has no figure.
        low: Lower end of the interval of 95 %.
        high: Upper end.
        p: Probability of a difference at least as large if the systems were exchangeable.
        test: How `p` was found.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    test: str


Column = Sequence[Tally | None]


def differences(pairs: Mapping[str, tuple[Column, Column]], *, seed: int = 0) -> dict[str, Difference]:
    """Compare two systems, figure by figure, by the counts of the same samples.

    Yes-or-no answers by the exact sign test; other figures by the permutation test that exchanges the
    two systems' counts of single samples: in all ways where few samples differ, else as drawn. All
    figures from the same draws. Intervals likewise: Tango's of yes-or-no answers, else the bootstrap over
    samples; where no sample differs, which the bootstrap takes for sure, that of answers that all agree.

    Args:
        pairs: For each figure the first and the second system's counts, one a sample each.
        seed: Where the random numbers start.
    """
    found = {}
    drawn = {}
    for name, (first, second) in pairs.items():
        ours, theirs = _columns(first), _columns(second)
        if not sum(ours[1]) or not sum(theirs[1]):
            found[name] = Difference(None, None, None, None, "")
        else:
            drawn[name] = (ours, theirs)
    tested = _permuted(drawn, seed) if drawn else {}
    for name, result in tested.items():
        first, second = pairs[name]
        ours, theirs = drawn[name]
        if _yes_or_no([*first, *second]):
            both = [(x.value, y.value) for x, y in zip(first, second, strict=True) if x and y]
            lost, won = both.count((1, 0)), both.count((0, 1))
            result = result._replace(p=sign_test(lost, won), test="sign test")
            if len(both) == sum(ours[1]) == sum(theirs[1]):  # else the figures are not of the same samples
                low, high = tango(lost, won, len(both))
                result = result._replace(low=low, high=high)
        elif ours == theirs:
            low, high = tango(0, 0, sum(map(bool, ours[1])))
            result = result._replace(low=low, high=high)
        found[name] = result
    return {name: found[name] for name in pairs}


def _permuted(drawn: Mapping[str, Any], seed: int) -> dict[str, Difference]:
    """Differences with bootstrap intervals and permutation tests, batch by batch."""
    import numpy as np

    first, second = (
        np.array([column for both in drawn.values() for column in both[side]], dtype=float).T
        for side in (0, 1)
    )
    count, generator = len(first), np.random.default_rng(seed)
    delta, totals = second - first, (first.sum(axis=0), second.sum(axis=0))

    def gap(ours: Any, theirs: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return theirs[..., ::2] / theirs[..., 1::2] - ours[..., ::2] / ours[..., 1::2]

    value = gap(*totals)

    def extreme(chosen: Any, among: Any) -> Any:
        moved = chosen @ among
        shuffled = gap(totals[0] + moved, totals[1] - moved)
        return (np.abs(shuffled) >= np.abs(value) - 1e-12).sum(axis=0)

    changed = delta[(delta != 0).any(axis=1)]
    few = len(changed) <= ALL
    step = max(1, 4_000_000 // count)
    found, spread = np.zeros(len(value)), []
    for start in range(0, SWAPS, step):
        size = min(step, SWAPS - start)
        if not few:
            found += extreme(generator.integers(0, 2, (size, count)), delta)
        if start < RESAMPLES:
            again = generator.multinomial(count, np.full(count, 1 / count), min(size, RESAMPLES - start))
            spread.append(gap(again @ first, again @ second))
    if few:
        ways = np.arange(2 ** len(changed))[:, None] >> np.arange(len(changed)) & 1
        p, test = extreme(ways, changed) / len(ways), f"permutation all {len(ways)}"
    else:
        p, test = (found + 1) / (SWAPS + 1), f"permutation {SWAPS} seed {seed}"
    low, high = np.nanquantile(np.concatenate(spread), [0.025, 0.975], axis=0)
    return {
        name: Difference(float(value[at]), float(low[at]), float(high[at]), float(p[at]), test)
        for at, name in enumerate(drawn)
    }


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
