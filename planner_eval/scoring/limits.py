"""Whether a figure reaches what is wanted of it, in words."""

from __future__ import annotations

from typing import Any

from planner_eval.base.named import NamedTuple

_PERCENT = 100


class Reached(NamedTuple):
    """A figure beside what is wanted of it.

    Args:
        met: The figure reaches it.
        said: The figure and what is expected, in words.
    """

    met: bool
    said: str


def reach(name: str, value: Any, least: float, *, lower: bool = False) -> Reached:
    """Whether a figure reaches what is wanted.

    Args:
        name: What the figure is called.
        value: The figure; what is no number does not exist.
        least: What it must reach.
        lower: Less is better, so that it is the most that is allowed.

    >>> reach("exact", 0.899999, 0.9)
    Reached(met=False, said='exact is 0.899999, expected at least 0.9')
    >>> reach("exact", 0.95, 90).said
    'exact is 0.9500, expected at least 90; figures end at 1: 90 % is 0.9'
    """
    expectation = f"expected at {'most' if lower else 'least'} {least:g}"
    if not isinstance(value, (int, float)):
        return Reached(False, f"{name} does not exist, {expectation}")
    met = value <= least if lower else value >= least
    if not lower and 0 <= value <= 1 < least <= _PERCENT:
        expectation += f"; figures end at 1: {least:g} % is {least / _PERCENT:g}"
    value_text = f"{value:.4f}"
    if value != least and float(value_text) == least:  # rounded it would say that it is the threshold
        value_text = repr(value)
    return Reached(met, f"{name} is {value_text}, {expectation}")
