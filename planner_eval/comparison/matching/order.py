"""Order beyond data flow: gold's written order, where a policy asks for it, and single precedences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import assign
from planner_eval.comparison.policy.policy import Policy, Terms
from planner_eval.plan.canonical import NumberedPlan
from planner_eval.plan.isomorphism import refine_colours
from planner_eval.plan.model import Plan

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


def find_misplaced(
    pairs: Pairs, numbered: tuple[NumberedPlan, NumberedPlan], policy: Policy, terms: Terms
) -> tuple[Misplaced, ...]:
    """The calls that stand against an order that is asked for, as written in pred.

    What gold itself writes otherwise is not asked for.

    Args:
        pairs: Partners (in pred, in gold).
        numbered: The two plans.
        policy: Its order "written", and "flat" where gold has no references, ask for gold's order.
        terms: Asks for single precedences; names groups whose order does not count.
    """
    gold = numbered[1].plan
    misplaced_calls: dict[int, Misplaced] = {}
    for first, then, pred in _find_broken_precedences(pairs, numbered, terms) if terms.before else ():
        misplaced_calls[then] = Misplaced(pred, then, first, True)
    if policy.order == "written" or (policy.order == "flat" and not gold.edges):
        for misplaced in _find_out_of_order(sorted(pairs), _allowed_positions(gold, terms)):
            misplaced_calls.setdefault(misplaced.gold, misplaced)
    return tuple(sorted(misplaced_calls.values()))


def _find_broken_precedences(
    pairs: Pairs, numbered: tuple[NumberedPlan, NumberedPlan], terms: Terms
) -> Iterator[tuple[int, int, int]]:
    """Precedences that pred breaks: first and second call in gold, and where pred makes the second.

    Calls that nothing tells apart stand for one another as it suits the precedences.
    """
    position = {call.id: i for i, call in enumerate(numbered[1].plan.calls)}
    position_pairs = ((position.get(first, -1), position.get(then, -1)) for first, then in terms.before)
    precedences = [(first, then) for first, then in dict.fromkeys(position_pairs) if 0 <= first < then]
    to_pred = {gold: pred for pred, gold in pairs}
    if any(_is_reversed(to_pred, *pair) for pair in precedences):
        groups = _find_twins(pairs, numbered)
        group = {gold: number for number, twins in enumerate(groups) for gold in twins}
        precedences = [
            (first, then)
            for first, then in _follow_precedences(precedences)
            if group.get(first, -1) != group.get(then, -2)
        ]
        for twins in groups:
            _exchange_twins(to_pred, precedences, twins)
    for first, then in precedences:
        if _is_reversed(to_pred, first, then):
            yield first, then, to_pred[then]


def _follow_precedences(precedences: Pairs) -> list[tuple[int, int]]:
    """Precedences with those that follow from them: what bounds one of several twins bounds the next too."""
    then_of: dict[int, dict[int, None]] = {}
    for first, then in sorted(precedences, reverse=True):  # calls that come later are done
        then_of.setdefault(first, {}).update({then: None, **then_of.get(then, {})})
    return [(first, then) for first, followers in then_of.items() for then in followers]


def _is_reversed(to_pred: Mapping[int, int], first: int, then: int) -> bool:
    """Whether pred makes the second of two calls before the first."""
    return first in to_pred and then in to_pred and to_pred[then] < to_pred[first]


def _find_twins(pairs: Pairs, numbered: tuple[NumberedPlan, NumberedPlan]) -> list[list[int]]:
    """Calls of gold that nothing tells apart, nor their partners: not what they are, nor who uses them."""
    table: dict[Any, int] = {}
    pred_colours, gold_colours = (plan.coloured(table) for plan in numbered)
    refine_colours(pred_colours, gold_colours)
    groups: dict[tuple[int, int], list[int]] = {}
    for pred, gold in pairs:
        groups.setdefault((pred_colours.colours[pred], gold_colours.colours[gold]), []).append(gold)
    return [twins for twins in groups.values() if len(twins) > 1]


def _exchange_twins(to_pred: dict[int, int], precedences: Pairs, twins: Sequence[int]) -> None:
    """Give twins the partners with which the fewest precedences are broken."""
    if not any(gold in pair for pair in precedences for gold in twins):
        return

    def broken(gold: int, pred: int) -> int:
        exchanged = {**to_pred, gold: pred}
        return sum(_is_reversed(exchanged, *pair) for pair in precedences if gold in pair)

    pred_calls = sorted(to_pred[gold] for gold in twins)
    chosen = assign([[broken(gold, pred) for pred in pred_calls] for gold in twins])
    for row, column in chosen:
        to_pred[twins[row]] = pred_calls[column]


def _allowed_positions(gold: Plan, terms: Terms) -> list[Sequence[int]]:
    """The places in gold's written order that each call may take, the last first: those of its group."""
    allowed: list[Sequence[int]] = [(i,) for i in range(len(gold.calls))]
    if terms.unordered:
        position_by_id = {call.id: i for i, call in enumerate(gold.calls)}
        group_positions: dict[int, set[int]] = {}
        for names in terms.unordered:
            group = {position_by_id[name] for name in names if name in position_by_id}
            for position in group:
                group_positions.setdefault(position, set()).update(group)
        for position, group in group_positions.items():
            allowed[position] = sorted(group, reverse=True)
    return allowed


def _find_out_of_order(pairs: Pairs, allowed: list[Sequence[int]]) -> list[Misplaced]:
    """The fewest calls without which each of the rest has a place of its own, in order."""
    tails: list[int] = []  # the least place that ends an ordered subsequence of each length
    holder: list[tuple[int, int]] = []  # the call there, and which of its places it takes
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for index, (_, gold) in enumerate(pairs):
        for position in allowed[gold]:  # the last first, so that no call follows itself
            length = bisect_left(tails, position)
            before[index, position] = holder[length - 1] if length else None
            if length == len(tails):
                tails.append(position)
                holder.append((index, position))
            else:
                tails[length], holder[length] = position, (index, position)
    in_order: dict[int, int] = {}
    last = holder[-1] if holder else None
    while last is not None:
        in_order[last[0]] = last[1]
        last = before[last]
    misplaced_calls = []
    for index, (pred, gold) in enumerate(pairs):
        if index not in in_order:
            other, after = _find_crossed_call(in_order, allowed[gold], index)
            misplaced_calls.append(Misplaced(pred, gold, pairs[other][1], after))
    return misplaced_calls


def _find_crossed_call(in_order: Mapping[int, int], allowed: Sequence[int], index: int) -> tuple[int, bool]:
    """A call in order that the misplaced one is on the wrong side of, and whether it should come after it."""
    return next(  # there is one: the calls in order could not be more
        (other, in_order[other] < position)
        for position in allowed
        if position not in in_order.values()
        for other in sorted(in_order)
        if (in_order[other] < position and other > index) or (in_order[other] > position and other < index)
    )
