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


def round_ratio(value: float, digits: int = 4) -> float:
    """A ratio to some digits; to more where these would say that it is 0 or 1, and it is not.

    Args:
        value: The ratio, or a difference of two.
        digits: Digits after the point.

    >>> round_ratio(2 / 3), round_ratio(1.0), round_ratio(29_999 / 30_000), round_ratio(-0.00002)
    (0.6667, 1.0, 0.99997, -2e-05)
    """
    ratio = round(value, digits)
    while ratio.is_integer() and ratio != value and digits < _DIGITS:
        digits += 1
        ratio = round(value, digits)
    return ratio


def ratio_text(value: float, digits: int = 4) -> str:
    """A ratio as text, to so many digits that count; to more where these would say 0 or 1 of what is not.

    >>> ratio_text(2 / 3), ratio_text(1.0), ratio_text(29_999 / 30_000)
    ('0.6667', '1', '0.99997')
    """
    text = f"{value:.{digits}g}"
    while text in ("1", "-1") and float(text) != value and digits < _DIGITS:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def gap_text(value: float) -> str:
    """A difference with its sign, to four digits after the point; to more where these would say that it is 0.

    >>> gap_text(0.5), gap_text(0.0), gap_text(-1 / 30_000)
    ('+0.5000', '+0.0000', '-0.00003')
    """
    digits = 4
    while value and not float(f"{value:.{digits}f}") and digits < _DIGITS:
        digits += 1
    return f"{value:+.{digits}f}"


_DIGITS = 9
"""Digits after which a sum of floats may say of 1 that it is not."""
