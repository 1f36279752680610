"""Order beyond data flow: gold's written order, where a policy asks for it, and single precedences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from planner_eval.plan.model import Plan
from planner_eval.policy import Policy, Terms

Pairs = Sequence[tuple[int, int]]


class Misplaced(NamedTuple):
    """A call that stands against an order that is asked for.

    Args:
        pred: Its position in pred.
        gold: Its position in gold.
        other: Position in gold of a call that it is on the wrong side of.
        after: Whether it should come after that call.
    """

    pred: int
    gold: int
    other: int
    after: bool


def find_misplaced(pairs: Pairs, gold: Plan, policy: Policy, terms: Terms) -> tuple[Misplaced, ...]:
    """The calls that stand against an order that is asked for, as written in pred.

    Args:
        pairs: Partners (in pred, in gold).
        gold: The gold plan.
        policy: Its order "written", and "flat" where gold has no references, ask for gold's order.
        terms: Asks for single precedences; names groups whose order does not count.
    """
    found: dict[int, Misplaced] = {}
    if terms.before:
        position = {call.id: at for at, call in enumerate(gold.calls)}
        to_pred = {gold_call: pred for pred, gold_call in pairs}
        for first, then in terms.before:
            one, other = position.get(first, -1), position.get(then, -1)
            if one in to_pred and other in to_pred and to_pred[other] < to_pred[one]:
                found[other] = Misplaced(to_pred[other], other, one, True)
    if policy.order == "written" or (policy.order == "flat" and not gold.edges):
        for misplaced in _out_of_order(sorted(pairs), _ranks(gold, terms)):
            found.setdefault(misplaced.gold, misplaced)
    return tuple(sorted(found.values()))


def _ranks(gold: Plan, terms: Terms) -> list[int]:
    """Each call's place in gold's written order; calls of an unordered group share the first one's."""
    group = {name: number for number, names in enumerate(terms.unordered) for name in names}
    first: dict[int, int] = {}
    ranks = []
    for at, call in enumerate(gold.calls):
        ranks.append(first.setdefault(group[call.id], at) if call.id in group else at)
    return ranks


def _out_of_order(pairs: Pairs, ranks: list[int]) -> list[Misplaced]:
    """The fewest calls without which the rest is in order: all but a longest ordered subsequence."""
    tails: list[int] = []  # the least rank that ends an ordered subsequence of each length
    holder: list[int] = []
    before = [-1] * len(pairs)
    for index, (_, gold) in enumerate(pairs):
        length = bisect_right(tails, ranks[gold])
        before[index] = holder[length - 1] if length else -1
        if length == len(tails):
            tails.append(ranks[gold])
            holder.append(index)
        else:
            tails[length], holder[length] = ranks[gold], index
    kept = set()
    index = holder[-1] if holder else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    found = []
    for index, (pred, gold) in enumerate(pairs):
        if index not in kept:
            other = _crossed(pairs, ranks, sorted(kept), index)
            found.append(Misplaced(pred, gold, other, ranks[other] < ranks[gold]))
    return found


def _crossed(pairs: Pairs, ranks: list[int], kept: list[int], index: int) -> int:
    """A call in order that the misplaced one stands on the wrong side of."""
    rank = ranks[pairs[index][1]]
    return next(  # there is one: the calls in order could not be more
        pairs[other][1]
        for other in kept
        if (ranks[pairs[other][1]] < rank and other > index)
        or (ranks[pairs[other][1]] > rank and other < index)
    )
