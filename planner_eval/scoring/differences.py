"""How sure a difference is between two systems on the same samples: paired tests and intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import erfc, sqrt
from typing import Any, NamedTuple

from planner_eval.scoring.columns import LARGE, Column, exact_sum, parts
from planner_eval.scoring.intervals import RESAMPLES, matrix, ratio_of, sign_test, yes_or_no
from planner_eval.scoring.pairs import LEVEL_Z, tango

SWAPS = 10_000
ALL = 13
"""So many samples that differ are exchanged in all ways, which are fewer than :data:`SWAPS`."""


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


def differences(columns: Mapping[str, Column], *, seed: int = 0) -> dict[str, Difference]:
    """Compare two systems, figure by figure, by the counts of the same samples.

    Yes-or-no answers by the exact sign test; other figures by the permutation test that exchanges the
    two systems' counts of single samples: in all ways where few samples differ, else as drawn. All
    figures from the same draws. Intervals likewise: Tango's of yes-or-no answers, else the bootstrap over
    samples; where no sample differs, which the bootstrap takes for sure, that of answers that all agree.
    Beyond 50,000 samples the normal approximation takes the place of permutation and bootstrap.

    Args:
        columns: For each figure the first and the second system's counts, a pair a sample.
        seed: Where the random numbers start.
    """
    found = {}
    drawn = {}
    for name, column in columns.items():
        ours, theirs = _side(column, 0), _side(column, 1)
        if any(whole for _, whole in ours) and any(whole for _, whole in theirs):
            drawn[name] = column
        else:
            found[name] = Difference(None, None, None, None, "")
    large = any(len(column) > LARGE for column in drawn.values())
    tested = {n: _approximated(c) for n, c in drawn.items()} if large else _permuted(drawn, seed)
    return {name: found.get(name) or _sharpened(tested[name], columns[name]) for name in columns}


def _side(column: Column, at: int) -> list[tuple[float, float]]:
    return [parts(pair[at]) for pair in column.values]


def _sharpened(found: Difference, column: Column) -> Difference:
    """The same difference, with the exact test and interval where there is one."""
    ours, theirs = _side(column, 0), _side(column, 1)
    whole = sum(column.counts)
    asked = [sum(n for (_, of), n in zip(side, column.counts, strict=True) if of) for side in (ours, theirs)]
    if yes_or_no([tally for pair in column.values for tally in pair]):
        both: Counter[Any] = Counter()
        for (one, other), count in column.each():
            both[one and other and (one.part, other.part)] += count
        lost, won = both[1, 0], both[0, 1]
        samples = whole - both[None]
        found = found._replace(p=sign_test(lost, won), test="sign test")
        if samples == asked[0] == asked[1]:  # else the figures are not of the same samples
            low, high = tango(lost, won, samples)
            found = found._replace(low=low, high=high)
    elif ours == theirs:
        low, high = tango(0, 0, asked[0])
        found = found._replace(low=low, high=high)
    return found


def _approximated(column: Column) -> Difference:
    """A difference of ratios by linearisation, which the sum of many samples is nearly."""
    sides = [ratio_of(column.side(at)) for at in (0, 1)]
    value = sides[1][0] - sides[0][0]
    each = zip(_side(column, 0), _side(column, 1), strict=True)
    (first, ours), (second, theirs) = sides
    squares = (((q - second * v) / theirs - (p - first * w) / ours) ** 2 for (p, w), (q, v) in each)
    error = sqrt(exact_sum(zip(squares, column.counts, strict=True)))
    p = erfc(abs(value) / error / sqrt(2)) if error else float(not value)
    return Difference(value, value - LEVEL_Z * error, value + LEVEL_Z * error, p, "normal")


def _permuted(drawn: Mapping[str, Column], seed: int) -> dict[str, Difference]:
    """Differences with bootstrap intervals and permutation tests, batch by batch."""
    if not drawn:
        return {}
    import numpy as np

    codes = [column.codes or () for column in drawn.values() for _ in (0, 1)]
    first, second = (
        matrix([n for c in drawn.values() for n in zip(*_side(c, at), strict=True)], codes) for at in (0, 1)
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
