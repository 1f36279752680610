"""What each root cause costs one pair: undo it, compare again, and credit it with what is gained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import factorial
from typing import Any

from planner_eval.comparison.align import match
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.edits import Edit
from planner_eval.comparison.mending import Mending
from planner_eval.metrics import measure, measure_none
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import topological_generations
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.records.rows import NO_ANSWER, Row
from planner_eval.scoring.credits import ALONE, EVEN, SHAPLEY, Cause, Credits

MOST = 8
"""Root causes up to which every set of them is mended."""

_MOST_ALONE = 64
_MOST_CALLS = 40_000
"""Calls of mended plans that one pair may take: some seconds' worth."""

_DIGITS = 9
"""Credits are rounded, so that sums of them are the same in any order."""


_SCORES = ("exact", "similarity")


def credits_of(row: Row, policy: Policy = DEFAULT_POLICY) -> Credits | None:
    """What the root causes of a pair cost; None where the pair is right, or there is no gold plan.

    Credits are Shapley values: what mending a cause gains, as a mean over all orders in which the causes can
    be mended (Shapley, A value for n-person games, 1953). Beyond eight causes, and for very large plans, a
    cause has the mean of what it gains mended first and mended last, and what is over or lacks is shared;
    beyond 64, and for larger ones, they have equal shares.

    Args:
        row: The compared pair.
        policy: How plans are compared, where there is no prediction to compare.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.plan.model import Call
    >>> gold, pred = (Plan((Call("a", "f", (("x", x), ("y", y))),)) for x, y in ((1, "s"), (2, "t")))
    >>> found = credits_of(Row("1", "different", diff(pred, gold), pred, gold))
    >>> [(cause.code, cause.argument, cause.exact) for cause in found.causes]
    [('argument.value', 'x', 0.5), ('argument.value', 'y', 0.5)]
    >>> found.right
    (('code', 'argument.value'), ('tool', 'f'), ('depth', '1'))
    """
    if row.state in NO_ANSWER and row.gold is not None:
        lost = _lost_without(row.gold, policy)
        return Credits((Cause(row.state, exact=lost[0], similarity=lost[1]),), (("code", row.state),))
    found = row.diff
    if found is None or found.same or found.matching is None:
        return None
    causes = _places(found)
    how = _how(found, len(causes))
    if how == EVEN:
        games: Sequence[Sequence[float]] = [_even(len(causes), lost) for lost in _lost(_scores(found))]
        rights = _right(causes, None)
    else:
        worth = _worth(found)
        of_game = _shapley if how == SHAPLEY else _alone
        games = [of_game(len(causes), lambda some, at=at: worth(some)[at]) for at in (0, 1)]  # type: ignore[misc]
        rights = _right(causes, worth if how == SHAPLEY else None)
    credited = tuple(
        cause._replace(exact=round(exact, _DIGITS), similarity=round(similar, _DIGITS))
        for cause, exact, similar in zip(causes, *games, strict=True)
    )
    return Credits(credited, rights, how)


def _how(found: Diff, roots: int) -> str:
    """How credits can be found in reasonable time."""
    calls = len(found.pred.calls) + len(found.gold.calls)
    if roots <= MOST and calls * (1 << roots) <= _MOST_CALLS:
        return SHAPLEY
    return ALONE if roots <= _MOST_ALONE and calls * 2 * roots <= _MOST_CALLS else EVEN


Scores = tuple[float, float]
"""``exact`` and ``similarity`` of one pair."""


def _scores(found: Diff) -> Scores:
    assert found.matching is not None
    exact, similarity = measure(found.matching, _SCORES).values()
    return _value(exact), _value(similarity)


def _value(tally: Any) -> float:
    return 1.0 if tally is None or tally.value is None else float(tally.value)


def _lost(scores: Scores) -> Scores:
    return 1 - scores[0], 1 - scores[1]


def _lost_without(gold: Plan, policy: Policy) -> Scores:
    """What is lost where nothing was answered, as a score counts it."""
    if not gold.calls:  # to answer nothing would be right
        return 1.0, 1.0
    return 1.0, 1 - _value(measure_none(gold, ("similarity",), policy)["similarity"])


def _worth(found: Diff) -> Callable[[int], Scores]:
    """The scores once some of the root causes, a bit each, are mended."""
    mending, matching = Mending(found), found.matching
    assert matching is not None
    every = (1 << len(mending.mends)) - 1

    @cache
    def after(operations: int) -> Scores:
        plan = mending.plan(operations)
        exact, similarity = measure(
            match(plan, found.gold, matching.policy, matching.terms), _SCORES
        ).values()
        return _value(exact), _value(similarity)

    @cache
    def worth(some: int) -> Scores:
        if some == 0:
            return _scores(found)
        if some == every:  # the whole patch: what that makes means the same as gold
            return 1.0, 1.0
        operations = 0
        for at, mend in enumerate(mending.mends):
            if some >> at & 1:
                operations |= mend.operations
        return after(operations)

    return worth


def _shapley(count: int, worth: Callable[[int], float]) -> list[float]:
    """The Shapley values of a game, for whose players a bit each stands.

    >>> _shapley(2, lambda some: float(some == 3))
    [0.5, 0.5]
    """
    values = [worth(some) for some in range(1 << count)]
    weights = [factorial(size) * factorial(count - 1 - size) for size in range(count)]
    found = []
    for at in range(count):
        bit = 1 << at
        without = (some for some in range(1 << count) if not some & bit)
        gained = sum(weights[some.bit_count()] * (values[some | bit] - values[some]) for some in without)
        found.append(gained / factorial(count))
    return found


def _alone(count: int, worth: Callable[[int], float]) -> list[float]:
    """What each player gains as the mean of coming first and last, what is over or lacks shared.

    Where players meet in twos alone, that is the Shapley value.
    """
    every = (1 << count) - 1
    none, whole = worth(0), worth(every)
    found = [(worth(1 << at) - none + whole - worth(every ^ 1 << at)) / 2 for at in range(count)]
    over = (whole - none - sum(found)) / count
    return [each + over for each in found]


def _even(count: int, lost: float) -> list[float]:
    return [lost / count] * count


def _right(causes: Sequence[Cause], worth: Callable[[int], Scores] | None) -> tuple[tuple[str, ...], ...]:
    """The groups of causes that, mended alone, make the pair right.

    Without `worth` only those that hold all causes: each of these is there when all others are mended.
    """
    groups: dict[tuple[str, ...], int] = {}
    for at, cause in enumerate(causes):
        for group in cause.groups:
            groups[group] = groups.get(group, 0) | 1 << at
    every = (1 << len(causes)) - 1
    right = (lambda some: some == every) if worth is None else (lambda some: worth(some)[0] == 1)
    return tuple(group for group, some in groups.items() if right(some))


def _places(found: Diff) -> list[Cause]:
    """The root causes and where they are."""
    levels = _Levels(found.pred), _Levels(found.gold)
    return [_place(found, edit, levels) for edit in found.roots]


class _Levels:
    """The generations of a plan's calls, worked out when they are first asked for."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[int, int] = {}

    def of(self, call: int) -> int | None:
        if not self._known:
            generations = topological_generations(self.plan)
            self._known = {at: level for level, every in enumerate(generations, 1) for at in every}
        return self._known.get(call)


def _place(found: Diff, edit: Edit, levels: tuple[_Levels, _Levels]) -> Cause:
    for place, side in ((edit.gold, levels[1]), (edit.pred, levels[0])):
        if place is None or place.call is None:
            continue
        other = edit.pred if place is edit.gold else edit.gold
        argument = place.argument if place.argument is not None else other and other.argument
        return Cause(edit.code, side.plan.calls[place.call].tool, argument, side.of(place.call))
    return Cause(edit.code)
