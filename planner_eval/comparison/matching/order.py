"""Order beyond data flow: gold's written order, where a policy asks for it, and single precedences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.policy.policy import NO_TERMS, Policy, Terms
from planner_eval.plan.canonical import NumberedPlan, producers_of
from planner_eval.plan.model import Plan

Pairs = Sequence[tuple[int, int]]
MAX_STEPS = 20_000
"""Steps of a search among equal calls for partners that are in order."""
MAX_CALLS = 500
"""Calls up to which it searches."""


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
) -> tuple[tuple[Misplaced, ...], bool]:
    """The calls that stand against an order that is asked for, as written in pred; whether that is proved.

    What gold itself writes otherwise is not asked for. Equal calls stand for one another as suits the order.

    Args:
        pairs: Partners (in pred, in gold).
        numbered: The two plans.
        policy: Its order "written", and "flat" where gold has no references, ask for gold's order.
        terms: Asks for single precedences; names groups whose order does not count.
    """
    gold = numbered[1].plan
    position = {call.id: i for i, call in enumerate(gold.calls)}
    position_pairs = ((position.get(first, -1), position.get(then, -1)) for first, then in terms.before)
    precedences = [(first, then) for first, then in dict.fromkeys(position_pairs) if 0 <= first < then]
    to_pred = {gold_call: pred_call for pred_call, gold_call in pairs}
    misplaced_calls = {
        then: Misplaced(to_pred[then], then, first, True)
        for first, then in precedences
        if first in to_pred and to_pred.get(then, to_pred[first]) < to_pred[first]
    }
    allowed = None
    if policy.order == "written" or (policy.order == "flat" and not gold.edges):
        allowed = _allowed_positions(gold, terms)
        for misplaced in _find_out_of_order(sorted(pairs), allowed):
            misplaced_calls.setdefault(misplaced.gold, misplaced)
    proved = True
    if misplaced_calls and terms is not NO_TERMS:
        search = _OrderSearch(pairs, numbered, precedences, allowed, terms)
        if any(len(golds) > 1 for golds in search.twins.values()):
            if search.run():
                return (), True
            proved = search.steps >= 0
    return tuple(sorted(misplaced_calls.values())), proved


class _OrderSearch:
    """Looks for partners among equal calls with which all stand in the order that is asked for."""

    def __init__(
        self,
        pairs: Pairs,
        numbered: tuple[NumberedPlan, NumberedPlan],
        precedences: Pairs,
        allowed: Sequence[Sequence[int]] | None,
        terms: Terms,
    ) -> None:
        self.numbered, self.allowed = numbered, allowed
        self.partner = dict(sorted(pairs))
        self.preds = list(self.partner)
        self.to_pred: dict[int, int] = {}
        self.steps = MAX_STEPS if len(pairs) <= MAX_CALLS else 0
        self.failed: set[tuple[frozenset[int], int]] = set()
        calls = numbered[1].plan.calls
        self.needed = {gold for gold in self.partner.values() if calls[gold].id not in terms.optional}
        self.followers: list[set[int]] = [set() for _ in calls]
        self.preceding: list[set[int]] = [set() for _ in calls]
        for first, then in sorted(precedences, reverse=True):  # calls that come later are done
            self.followers[first] |= {then, *self.followers[then]} if then in self.needed else {then}
            self.preceding[then].add(first)
        twins: dict[Any, list[int]] = {}
        for gold in sorted(range(len(calls)), key=lambda gold: -len(self.followers[gold])):
            number = numbered[1].numbers[gold]
            twins.setdefault(calls[gold].id if number is None else number, []).append(gold)
        self.twins = {gold: golds for golds in twins.values() for gold in golds}
        self.open = [(repr(terms.accepted.get(call.id)), terms.omittable.get(call.id)) for call in calls]
        self.strays = self._strays(self.partner)

    def run(self, last: int = -1) -> bool:
        """Find partners for the rest of pred's calls, in places of gold's order behind the last; bounded."""
        if len(self.to_pred) == len(self.preds):
            to_gold = {pred: gold for gold, pred in self.to_pred.items()}
            self.steps -= len(self.preds)
            return self.needed <= self.to_pred.keys() and self._strays(to_gold) <= self.strays
        state = frozenset(self.to_pred), last
        missed = self.allowed and any(self.allowed[gold][0] <= last for gold in self.needed - state[0])
        if missed or state in self.failed:
            return False
        pred = self.preds[len(self.to_pred)]
        for gold in self._partners(pred):
            self.steps -= 1
            position = self._position(gold, last)
            if self.steps < 0 or gold in self.to_pred or position is None:
                continue
            self.to_pred[gold] = pred
            if self.run(position):
                return True
            del self.to_pred[gold]
        if not self.numbered[1].plan.edges:  # else the state is also which calls the references mean
            self.failed.add(state)
        return False

    def _position(self, gold: int, last: int) -> int | None:
        """The first place behind the last that a call may take; None where something has to come first."""
        is_late = not self.followers[gold].isdisjoint(self.to_pred)
        if is_late or not (self.preceding[gold] & self.needed) <= self.to_pred.keys():
            return None
        if self.allowed is None:
            return last
        return min((position for position in self.allowed[gold] if position > last), default=None)

    def _partners(self, pred: int) -> Iterator[int]:
        """The calls of gold that a call of pred may stand for: those equal to its partner, and as open."""
        partner = self.partner[pred]
        is_gold = self.numbered[0].numbers[pred] == self.numbered[1].numbers[partner]
        for gold in self.twins[partner]:
            if is_gold or self.open[gold] == self.open[partner]:
                yield gold

    def _strays(self, to_gold: Mapping[int, int]) -> set[tuple[int, str]]:
        """Arguments of pred that refer to others than the partners of the calls that gold's refer to."""
        pred, gold = self.numbered
        partners = [to_gold.get(position, -1) for position in range(len(pred.plan.calls))]
        answers = [(-1, -1)] if pred.plan.answer and gold.plan.answer else []
        strays = set()
        for pred_call, gold_call in (*to_gold.items(), *answers):
            gold_values = dict(gold.arguments[gold_call])
            for name, value in pred.arguments[pred_call]:
                producers = [partners[producer] for producer in producers_of(value, partners)]
                if producers != [*producers_of(gold_values.get(name), range(len(gold.plan.calls)))]:
                    strays.add((pred_call, name))
        return strays


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
