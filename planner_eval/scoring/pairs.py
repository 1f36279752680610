"""The interval of a difference between two shares of the same samples, which few samples make wide."""

from __future__ import annotations

from math import sqrt

LEVEL_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution, for intervals of 95 %."""

_HALVINGS = 60
"""After so many the place is known to the last digit of a float."""


def tango(lost: int, won: int, of: int) -> tuple[float, float]:
    """The interval of 95 % of the second system's share of right samples less the first's.

    What Wilson's interval is for one share. A bootstrap over samples would say that two systems that are
    both right on the only sample do not differ for sure; this one says by how much they may.

    Args:
        lost: Samples that only the first gets right.
        won: Samples that only the second gets right.
        of: All samples.

    Source: Tango, Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design (Statistics in Medicine 17, 1998).

    >>> [round(end, 4) for end in tango(0, 0, 1)], [round(end, 4) for end in tango(2, 12, 50)]
    ([-0.7935, 0.7935], [0.0611, 0.3447])
    """
    return -_upper(won, lost, of), _upper(lost, won, of)


def _upper(lost: int, won: int, of: int) -> float:
    """The largest difference that the score test does not refuse."""
    inner, outer = (won - lost) / of, 1.0
    if _score(lost, won, of, outer) <= LEVEL_Z:
        return outer
    for _ in range(_HALVINGS):
        half = (inner + outer) / 2
        if _score(lost, won, of, half) <= LEVEL_Z:
            inner = half
        else:
            outer = half
    return inner


def _score(lost: int, won: int, of: int, gap: float) -> float:
    """How many standard errors the difference that was found lies from a supposed one."""
    away = abs(won - lost - of * gap)
    if not away:
        return 0.0
    b = -won - lost + (2 * of - won + lost) * gap
    root = sqrt(max(0.0, b * b + 8 * of * lost * gap * (1 - gap)))
    share = max(0.0, (root - b) / (4 * of))
    variance = of * (2 * share + gap * (1 - gap))
    return away / sqrt(variance) if variance > 0 else float("inf")
