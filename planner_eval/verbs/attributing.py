"""What root causes cost over many compared pairs."""

from __future__ import annotations

from collections.abc import Iterable

from planner_eval.base.given import SEVERAL, expect, of
from planner_eval.records.rows import Row
from planner_eval.scoring.attribution import credits_of
from planner_eval.scoring.causes import Causes, CauseSums
from planner_eval.verbs.policies import AnyPolicy, policy_of


def attribute(rows: Iterable[Row], *, policy: AnyPolicy = "default") -> Causes:
    r"""Find what each root cause costs: undo it, compare again, and credit it with what is gained.

    A pair's credits are Shapley values and sum to 1 less its score; they are summed by code, tool, argument
    and depth. Of predictions that are absent or cannot be read the state has all.

    Args:
        rows: Compared pairs, as :func:`planner_eval.evaluate` gives them.
        policy: How they were compared, for predictions that there is nothing to compare of.

    Returns:
        What each group costs in ``exact`` and ``similarity``, and what mending it in all pairs would gain.

    Raises:
        InputError: there is no such policy.

    >>> from planner_eval import evaluate
    >>> rows = evaluate(["f(#x='1', #y='2')", "g(#x='1')"], ["f(#x='3', #y='4')", "g(#x='2')"])
    >>> found = attribute(rows)
    >>> [(row.name, row.pairs, row.exact, row.gain) for row in found.of("argument")]
    [('g(x)', 1, 0.5, 0.5), ('f(x)', 1, 0.25, 0.0), ('f(y)', 1, 0.25, 0.0)]
    """
    sums, chosen = CauseSums(), policy_of(policy)
    expect(SEVERAL, rows=rows)
    for row in rows:
        expect(of(Row, "a row that evaluate() gave"), row=row)
        sums.add(row.state, credits_of(row, chosen))
    return sums.causes
