"""What a plan's structure is, or that of many plans."""

from __future__ import annotations

from typing import Any, overload

from planner_eval.base.arguments import FLAG, expect
from planner_eval.base.errors import ParseError
from planner_eval.plan.model import Plan
from planner_eval.plan.statistics import Stats, Sums
from planner_eval.plan.statistics import stats as stats_of
from planner_eval.reading.files.plans import read_plan
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import Source, enable_inference, may_hold_many_plans, parse, read


@overload
def stats(plan: Plan | str, *, infer: bool = ...) -> Stats: ...


@overload
def stats(plan: Source, *, infer: bool = ...) -> Any: ...


def stats(plan: Source, *, infer: bool = False) -> Any:
    r"""All structure figures of one plan, or of many summed up.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``. Or many: a
            file of records, what :func:`planner_eval.read` gave or takes, a frame, an iterable of records.
        infer: Infer edges first, see :func:`planner_eval.parse`; all figures count them, and written steps
            are generations. A plan that is given as one stays as it is.

    Returns:
        Of one plan its figures. Of many a :class:`planner_eval.plan.statistics.Summary`, which counts the
        plans that could not be read.

    Raises:
        ParseError: the one plan cannot be read.
        InputError: a file or a table cannot be used.

    >>> found = stats("a = f(#x='1')\nb = g(#y=a)")
    >>> found.calls, found.depth, found.width
    (2, 2, 1)
    >>> many = stats([{"id": "a", "output": "f()"}, {"id": "b", "output": "g(#x="}])
    >>> many.plans, many.unread
    (1, 1)
    """
    expect(FLAG, infer=infer)
    if not may_hold_many_plans(plan):
        return stats_of(parse(plan, infer=infer))
    file = enable_inference(read(plan)) if infer else read(plan)
    if not file.many:
        return stats_of(read_plan(file.records[0]))
    sums = Sums()
    for record in file.records:
        if (figures := _stats(record)) is None:
            sums.unread += 1
        else:
            sums.add(figures)
    return sums.summary(inferred=infer)


def _stats(record: Record) -> Stats | None:
    try:
        return stats_of(read_plan(record))
    except ParseError:
        return None
