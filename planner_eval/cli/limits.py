"""Thresholds of ``--fail-under``: whether figures reach them, in words and as test cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planner_eval.base.named import NamedTuple
from planner_eval.cli.options import Threshold

if TYPE_CHECKING:
    from planner_eval.scoring.junit import Case


class Checked(NamedTuple):
    """A threshold beside the figure.

    Args:
        limit: The threshold.
        met: The figure reaches it.
        said: The figure and what is expected, in words.
    """

    limit: Threshold
    met: bool
    said: str

    def case(self, file: str) -> Case:
        """The threshold as a test case."""
        from planner_eval.scoring.junit import limit_case

        name = f"{self.limit.name}={self.limit.least:g}"
        return limit_case(name, met=self.met, said=self.said, file=file)


def check_limit(limit: Threshold, value: Any, *, lower: bool = False, of: str = "") -> Checked:
    """Whether a figure reaches a threshold.

    Args:
        limit: The threshold.
        value: The figure; what is no number does not exist.
        lower: Less is better, so that the threshold is the most that is allowed.
        of: What the figure is of, in words.
    """
    from planner_eval.scoring.limits import reach

    name = f"{limit.name} ({of})" if of else limit.name
    return Checked(limit, *reach(name, value, limit.least, lower=lower))
