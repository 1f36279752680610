"""What a plan's structure is, and whether two plans mean the same."""

from __future__ import annotations

from planner_eval.plan.canonical import same as same_plans
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


def same(pred: Source, gold: Source) -> bool:
    """Whether two plans mean the same: same calls, same arguments, same data flow, same answer.

    Labels, the order of independent calls and the order of arguments carry no meaning. A call
    written before one that it needs counts against `pred` unless `gold` is written so too.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise.

    Raises:
        ParseError: a plan cannot be read.

    >>> same("a = f(#x='1', #y='2')", "b = f(#y='2', #x='1')")
    True
    """
    return same_plans(parse(pred), parse(gold))
