"""How sure a difference is between two systems on the same samples: intervals and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

from planner_eval.scoring.chance import Test, exchange_tests, sign_test
from planner_eval.scoring.columns import Column, Unit
from planner_eval.scoring.intervals import bounds, interval, least


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
    :func:`planner_eval.scoring.intervals.intervals`: a difference is a figure from -1 to 1. Samples of one
    cluster are added up first, and exchanged together; one cluster alone says nothing of others.

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
        if (split := _split(units_by_figure[name])) is not None:
            tests[name] = Test(sign_test(*split), "sign test")
    tests |= exchange_tests(
        {n: units_by_figure[n] for n in units_by_figure if n not in tests and n not in few}, seed
    )
    return {name: _difference(units_by_figure.get(name), least(name), tests.get(name)) for name in columns}


def _split(units: Sequence[Unit]) -> tuple[int, int] | None:
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
    value, low, high = gap(units, lowest)
    return Difference(value, low, high, *test) if test else Difference(value, None, None, None, "")


def gap(units: Sequence[Unit], lowest: int) -> tuple[float, float, float]:
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
