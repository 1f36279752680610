"""What a plan's structure is."""

from __future__ import annotations

from planner_eval.plan.statistics import Stats
from planner_eval.plan.statistics import stats as stats_of
from planner_eval.verbs.reading import Source, parse


def stats(plan: Source) -> Stats:
    r"""All structure figures of one plan.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.

    Raises:
        ParseError: the plan cannot be read.

    >>> found = stats("a = f(#x='1')\nb = g(#y=a)")
    >>> found.calls, found.depth, found.width
    (2, 2, 1)
    """
    return stats_of(parse(plan))
