"""Exact graph edit distance, on request: the least cost of turning one plan into the other.

A call costs 1, an argument 1 and a reference 1, but an argument that is nothing but a reference only what
that costs. Another tool, another value of an argument (or another text or list around its references) and
another output of the right call cost 1 each; a reference to another call costs 2, one removed and one
written; a call that stands against the order that is asked for costs 1. What a policy takes for right costs
nothing. So the distance is 0 where the plans mean the same, and nowhere else.

The pairing of calls that :mod:`planner_eval.comparison.matching.align` finds gives an upper bound; anything
cheaper is looked for until the time is over. Exact distances take exponential time: where a dozen calls of
one name differ in much, expect a bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.matching.likeness import assign
from planner_eval.comparison.matching.order import find_misplaced
from planner_eval.comparison.matching.pairing import Pairing, PlanCalls
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Path, Ref, Value, leaves, map_leaves

MAX_CALLS = 60
"""Calls of either plan beyond which nothing is searched: the first table of costs alone takes too long."""

_NO_PARTNER, _UNDECIDED = -1, -2


@dataclass(frozen=True, slots=True)
class EditDistance:
    """The distance between two plans.

    Args:
        value: The least cost found.
        proved: It is proved to be the least; False when the time was over first.
        seconds: How long it took.
    """

    value: float
    proved: bool
    seconds: float


def distance_of(matching: Matching, *, timeout: float = 5.0) -> EditDistance:
    """The graph edit distance between two plans that are compared already.

    Args:
        matching: The two plans.
        timeout: Seconds to search for something cheaper than the pairing that is known.

    Source: Abu-Aisheh, Raveaux, Ramel, Martineau, An exact graph edit distance algorithm for solving
    pattern recognition problems (ICPRAM 2015): depth first, bounded from below by an assignment.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.plan.model import Call, Plan
    >>> one, two = (Plan((Call("a", "f", (("x", value),)),)) for value in (1, 2))
    >>> distance_of(match(one, two)).value
    1.0
    """
    start = time.monotonic()
    costs = _Costs(matching)
    partner = [_NO_PARTNER] * costs.golds
    for pred, gold in matching.alignment.pairs:
        partner[gold] = pred
    search = _Search(costs, costs.total(partner), start + timeout)
    if max(costs.preds, costs.golds) > MAX_CALLS or timeout <= 0:
        search.proved = not search.best
    elif search.best:
        search.descend([_UNDECIDED] * costs.golds, 0)
    return EditDistance(float(search.best), search.proved, time.monotonic() - start)


class _Slot(NamedTuple):
    """A place where both of two calls have a reference: what it costs unless the producers are partners."""

    pred: int
    gold: int
    cost: int


class _Costs:
    """What edits cost, pair by pair; the answers are partners that come last."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.preds, self.golds = len(matching.pred.calls), len(matching.gold.calls)
        pred_numbered, gold_numbered = matching.numbered
        self.pairing = matching.pairing or Pairing(PlanCalls(pred_numbered), PlanCalls(gold_numbered))
        plan_sides = self.pairing.pred, self.pairing.gold
        self.given = [
            [
                {
                    name: _ArgumentValue(argument[2])
                    for name, argument in plan_calls.arguments(position).items()
                }
                for position in range(len(plan_calls.known))
            ]
            for plan_calls in plan_sides
        ]
        call_costs = [
            [1 + sum(value.cost for value in arguments.values()) for arguments in calls]
            for calls in self.given
        ]
        self.extra, self.missing = call_costs
        optional = matching.terms.optional
        for gold_position, call in enumerate(matching.gold.calls):
            if call.id in optional:
                self.missing[gold_position] = 0
        self.known: dict[tuple[int, int], tuple[int, list[_Slot]]] = {}
        self.answers = self._answers()

    def _answers(self) -> tuple[int, list[_Slot]]:
        pred_answers, gold_answers = len(self.given[0]) > self.preds, len(self.given[1]) > self.golds
        if pred_answers and gold_answers:
            return self.pair(self.preds, self.golds)
        return (self.extra[-1] - 1 if pred_answers else 0) + (self.missing[-1] - 1 if gold_answers else 0), []

    def pair(self, pred: int, gold: int) -> tuple[int, list[_Slot]]:
        """What two calls cost as partners, and the references whose cost depends on other partners."""
        if (pred, gold) not in self.known:
            self.known[pred, gold] = self._pair(pred, gold)
        return self.known[pred, gold]

    def _pair(self, pred: int, gold: int) -> tuple[int, list[_Slot]]:
        tools = self.pairing.pred.called, self.pairing.gold.called
        cost = int(pred < self.preds and tools[0][pred] != tools[1][gold])
        slots: list[_Slot] = []
        pred_args, gold_args = self.given[0][pred], self.given[1][gold]
        wrong = self.pairing.fixed(pred, gold)[0]
        for name in {**gold_args, **pred_args}:
            pred_arg, gold_arg = pred_args.get(name), gold_args.get(name)
            if (
                pred_arg is not None
                and gold_arg is not None
                and (name in wrong or pred_arg.shape == gold_arg.shape)
            ):
                cost += pred_arg.to(gold_arg, slots)
            elif name in wrong:
                cost += sum(argument.cost for argument in (pred_arg, gold_arg) if argument is not None)
        return cost, slots

    def total(self, partner: list[int]) -> int:
        """The cost of a mapping: gold's calls to pred's, or to none."""
        pairs = [(pred, gold) for gold, pred in enumerate(partner) if pred >= 0]
        matched = {pred for pred, _ in pairs}
        cost = sum(self.missing[gold] for gold, pred in enumerate(partner) if pred < 0)
        cost += sum(self.extra[pred] for pred in range(self.preds) if pred not in matched)
        for pair_cost, slots in (self.answers, *(self.pair(*pair) for pair in pairs)):
            cost += pair_cost + sum(slot.cost for slot in slots if partner[slot.gold] != slot.pred)
        return cost + self._order({pred: gold for pred, gold in pairs})

    def _order(self, image: dict[int, int]) -> int:
        """How many calls, and references to later ones, stand against the order that is asked for."""
        matching, pred_numbered = self.matching, self.matching.numbered[0]
        misplaced, _ = find_misplaced([*image.items()], matching.numbered, matching.policy, matching.terms)
        late = 0
        if pred_numbered.forward and matching.policy.order != "free":
            early = [
                (consumer, producer)
                for consumer, producer in pred_numbered.early()
                if consumer in image and producer in image
            ]
            late = sum(image[producer] < image[consumer] for consumer, producer in early)
        return len(misplaced) + late


class _ArgumentValue:
    """An argument's value: what stands around its references, and these by their places."""

    __slots__ = ("around", "cost", "references", "shape")

    def __init__(self, value: Value) -> None:
        self.references: dict[Path, Ref] = {path: leaf for path, leaf in leaves(value) if type(leaf) is Ref}
        self.around: Key = (
            None if type(value) is Ref else ("around", value_key(map_leaves(_blank, value), [0]))
        )
        self.cost = len(self.references) + (self.around is not None)
        self.shape = self.around, {path: ref.path for path, ref in self.references.items()}

    def to(self, other: _ArgumentValue, slots: list[_Slot]) -> int:
        """What it costs to make this value the other one; what depends on partners is put into `slots`."""
        cost = int(self.around != other.around)
        for path in {**self.references, **other.references}:
            ref, other_ref = self.references.get(path), other.references.get(path)
            if ref is None or other_ref is None:
                cost += 1
            else:
                moved = int(ref.path != other_ref.path)
                cost += moved
                slots.append(_Slot(ref.call, other_ref.call, 2 - moved))
        return cost


def _blank(leaf: Value) -> Value:
    return Ref(0) if type(leaf) is Ref else leaf


class _Search:
    """Depth first over all mappings, cutting off what cannot be cheaper than the best."""

    def __init__(self, costs: _Costs, best: int, end: float) -> None:
        self.costs, self.best, self.end, self.proved = costs, best, end, True

    def descend(self, partner: list[int], gold: int) -> None:
        """Try all mappings of the calls of gold from one on, given those before."""
        if time.monotonic() > self.end:
            self.proved = False
            return
        costs = self.costs
        bound, cells, mapping = self._bound(partner)
        if bound >= self.best:
            return
        self.best = min(self.best, costs.total(mapping))
        if bound >= self.best or gold == costs.golds:
            return
        for _, pred in sorted([*((cost, pred) for pred, cost in cells[gold].items())]):
            if not self.proved:
                return
            partner[gold] = pred
            self.descend(partner, gold + 1)
        partner[gold] = _UNDECIDED

    def _bound(self, partner: list[int]) -> tuple[int, dict[int, dict[int, int]], list[int]]:
        """The least that a mapping can cost, what each step adds to it, and the mapping that it speaks of."""
        costs = self.costs
        used = {pred: gold for gold, pred in enumerate(partner) if pred >= 0}
        free = [pred for pred in range(costs.preds) if pred not in used]
        open_golds = [gold for gold, pred in enumerate(partner) if pred == _UNDECIDED]
        bound = sum(costs.extra[pred] for pred in free)
        bound += sum(costs.missing[gold] for gold, pred in enumerate(partner) if pred == _NO_PARTNER)
        link_costs: dict[int, dict[int, int]] = {gold: {} for gold in open_golds}
        for pair_cost, slots in (costs.answers, *(costs.pair(*pair) for pair in used.items())):
            bound += pair_cost
            for slot in slots:
                if partner[slot.gold] != _UNDECIDED or slot.pred in used:
                    bound += slot.cost if partner[slot.gold] != slot.pred else 0
                else:
                    costs_by_pred = link_costs[slot.gold]
                    costs_by_pred[slot.pred] = costs_by_pred.get(slot.pred, 0) + slot.cost
        cells = {gold: self._cells(gold, partner, used, free, link_costs[gold]) for gold in open_golds}
        table = [
            [*(cells[gold][pred] for pred in free), *[cells[gold][_NO_PARTNER]] * len(open_golds)]
            for gold in open_golds
        ]
        mapping = [*partner]
        for row, column in assign(table):
            mapping[open_golds[row]] = free[column] if column < len(free) else _NO_PARTNER
            bound += table[row][column]
        return bound, cells, mapping

    def _cells(
        self, gold: int, partner: list[int], used: dict[int, int], free: list[int], link_costs: dict[int, int]
    ) -> dict[int, int]:
        """What each partner of an open call of gold costs, less what it would cost as an extra call."""
        link_total = sum(link_costs.values())
        cells = {}
        for pred in free:
            cost, slots = self.costs.pair(pred, gold)
            for slot in slots:
                partner_of_slot = pred if slot.gold == gold else partner[slot.gold]
                if slot.pred in used if partner_of_slot == _UNDECIDED else partner_of_slot != slot.pred:
                    cost += slot.cost
            cells[pred] = cost + link_total - link_costs.get(pred, 0) - self.costs.extra[pred]
        cells[_NO_PARTNER] = self.costs.missing[gold] + link_total
        return cells
