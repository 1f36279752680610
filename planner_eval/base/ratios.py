"""Ratios made from counts; here because the metrics and the benchmarks' figures both need them."""

from __future__ import annotations


def f1_parts(hit: float, pred: float, gold: float) -> tuple[float, float]:
    """The numerator and the denominator of F1: twice the hits, over pred + gold.

    Args:
        hit: What both sides have.
        pred: What the prediction has.
        gold: What gold has.

    >>> f1_parts(1, 2, 2)
    (2, 4)
    """
    return 2 * hit, pred + gold
