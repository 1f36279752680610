"""Whether figures reach what is expected of them, and whether a system is worse than a user allows."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.ratios import gap_text
from planner_eval.base.text import did_you_mean
from planner_eval.results.contrast import Contrast, values_text

# ----------------------------------------------------------------------
# Whether a system is worse than the first by more than a user allows.
_EPSILON = 1e-12
"""Differences of sums of floats that are smaller are none."""


class Allowance(NamedTuple):
    """What ``--fail-if-worse`` allows.

    Args:
        metric: The figure.
        margin: How much worse it may be for sure; None where only the figure itself counts.
    """

    metric: str
    margin: float | None = None

    @property
    def said(self) -> str:
        """As the user writes it."""
        return self.metric if self.margin is None else f"{self.metric}:{self.margin:g}"


class AllowanceResult(NamedTuple):
    """Whether a system keeps to what is allowed.

    Args:
        met: It does.
        said: Figures, difference and what was expected, in words.
    """

    met: bool
    said: str


def check_allowance(contrast: Contrast, allowed: Allowance) -> AllowanceResult:
    """Whether the second system is not worse than the first in a figure.

    Without a margin the figure itself decides: it may not be worse. With one, that of a test of
    non-inferiority: the end of the interval of 95 % on the worse side may not lie beyond the margin, so
    that too few samples fail as well.

    Raises:
        InputError: the comparison has no such figure.
    """
    line = next((candidate for candidate in contrast.lines if candidate.name == allowed.metric), None)
    if line is None:
        names = [candidate.name for candidate in contrast.lines]
        hint = did_you_mean(allowed.metric, names, f"it has {', '.join(names)}")
        raise InputError(f"the comparison has no figure {allowed.metric!r}; {hint}")
    first, second = contrast.names
    gap = line.difference
    if line.gain is None:
        return AllowanceResult(False, f"{allowed.metric} does not exist under both {first} and {second}")
    differ = f"difference {gap_text(gap.value or 0.0)}"
    message = f"{allowed.metric} of {second} is {values_text(line)} of {first}, {differ}"
    direction = "higher" if line.lower else "lower"
    if allowed.margin is None:
        return AllowanceResult(line.gain >= -_EPSILON, f"{message}, expected none {direction}")
    if gap.low is None or gap.high is None:
        return AllowanceResult(False, f"{message}, without an interval, for all samples lie in one cluster")
    worst = -gap.high if line.lower else gap.low
    span = f"95 % {gap.low:+.4f}…{gap.high:+.4f}"
    return AllowanceResult(
        worst >= -allowed.margin - _EPSILON,
        f"{message}, {span}, expected for sure at most {allowed.margin:g} {direction}",
    )


# ----------------------------------------------------------------------
# Whether a figure reaches what is wanted of it, in words.
_PERCENT = 100


class ThresholdResult(NamedTuple):
    """A figure beside what is wanted of it.

    Args:
        met: The figure reaches it.
        said: The figure and what is expected, in words.
    """

    met: bool
    said: str


def check_threshold(name: str, value: Any, least: float, *, lower: bool = False) -> ThresholdResult:
    """Whether a figure reaches what is wanted.

    Args:
        name: What the figure is called.
        value: The figure; what is no number does not exist.
        least: What it must reach.
        lower: Less is better, so that it is the most that is allowed.

    >>> check_threshold("exact", 0.899999, 0.9)
    ThresholdResult(met=False, said='exact is 0.899999, expected at least 0.9')
    >>> check_threshold("exact", 0.95, 90).said
    'exact is 0.9500, expected at least 90; figures end at 1: 90 % is 0.9'
    """
    expectation = f"expected at {'most' if lower else 'least'} {least:g}"
    if not isinstance(value, (int, float)):
        return ThresholdResult(False, f"{name} does not exist, {expectation}")
    met = value <= least if lower else value >= least
    if not lower and 0 <= value <= 1 < least <= _PERCENT:
        expectation += f"; figures end at 1: {least:g} % is {least / _PERCENT:g}"
    value_text = f"{value:.4f}"
    if value != least and float(value_text) == least:  # rounded it would say that it is the threshold
        value_text = repr(value)
    return ThresholdResult(met, f"{name} is {value_text}, {expectation}")
