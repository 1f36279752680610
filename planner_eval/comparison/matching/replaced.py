"""Calls of another name that stand where a call of gold should: partners by what they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from planner_eval.comparison.matching.likeness import assign, is_related_name, is_similar_name
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls
from planner_eval.plan.model import Value

MAX_TABLE_CELLS = 2_500
"""Cells of the largest table that is solved exactly; above it the best evidence is taken first."""

MAX_HOLDERS = 32

MIN_COMMON_CALLS = 3
"""So many calls of a plan, and more than half of all, have a value that says nothing about which they are."""

MIN_DISTINCTIVE_NUMBER = 10
"""Whole numbers below it say nothing by themselves."""

MIN_DISTINCTIVE_LENGTH = 3
"""Nor do texts of fewer characters, or these:"""
TRUTH_WORDS = frozenset({"true", "false", "yes", "none", "null"})


def pair_replaced(pairing: Pairing) -> bool:
    """Pair calls that are left over on both sides where they share something that speaks for it.

    A pair is made only on a ground: a value that says something under one argument name (counts 2), all
    arguments equal (2), also under one another's names (2), a paired consumer that uses both at one place
    (2), one name or a like one (1), or an akin name of a call that takes from one paired call or gives to
    one as well (1). Among pairs with a ground a value that says nothing by itself, an equal argument name and
    an equal app count too (0.5 each, the app 1), and so does standing alone between the same paired producers
    and consumers (1). A call that repeats one with a partner is made twice rather than for another: names and
    single values are no ground there.
    Calls of one tool are no partners here: where both plans have one left they were found to be apart.

    Args:
        pairing: A pairing that is made; what it leaves over is paired.

    Returns:
        Whether a pair was made.
    """
    if ALONE not in pairing.to_pred or ALONE not in pairing.to_gold:
        return False
    golds = [gold for gold in range(len(pairing.gold.tools)) if pairing.to_pred[gold] == ALONE]
    preds = [pred for pred in range(len(pairing.pred.tools)) if pairing.to_gold[pred] == ALONE]
    if not golds or not preds:
        return False
    if len(golds) + len(preds) == 2 and _is_renamed(pairing, preds[0], golds[0]):
        pairing.pair(preds[0], golds[0])
        return True
    evidence = find_evidence(pairing, golds, preds)
    tools = pairing.pred.tools, pairing.gold.tools
    repeated = any(len({*plan_tools}) < len(plan_tools) for plan_tools in tools)  # then ranks tell twins, too
    if len(golds) + len(preds) > 2 and (evidence or repeated):
        preds, golds = pairing.ranks.preds(preds), pairing.ranks.golds(golds)
    if not evidence:
        return False
    if len(golds) * len(preds) <= MAX_TABLE_CELLS:
        table = [[-evidence.get((pred, gold), 0.0) for pred in preds] for gold in golds]
        pairs = [(preds[column], golds[row]) for row, column in assign(table)]
    else:
        pairing.proved = False
        pred_order, gold_order = (
            {position: index for index, position in enumerate(calls)} for calls in (preds, golds)
        )
        pairs = sorted(evidence, key=lambda pair: (-evidence[pair], gold_order[pair[1]], pred_order[pair[0]]))
    paired = False
    for pred, gold in pairs:
        free = pairing.to_gold[pred] == ALONE and pairing.to_pred[gold] == ALONE
        if free and (pred, gold) in evidence:
            pairing.pair(pred, gold)
            paired = True
    return paired


def _is_renamed(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether the names are ground enough to pair the one call that is left over on either side."""
    pred_tool, gold_tool = pairing.pred.tools[pred], pairing.gold.tools[gold]
    if pred_tool == gold_tool or not (
        pred_tool.name == gold_tool.name or is_similar_name(pred_tool.name, gold_tool.name)
    ):
        return False
    numbers = pairing.pred.numbered.numbers
    repeats = (numbers[i] == numbers[pred] for i, partner in enumerate(pairing.to_gold) if partner >= 0)
    return numbers[pred] is None or not any(repeats)


def find_evidence(pairing: Pairing, golds: list[int], preds: list[int]) -> dict[tuple[int, int], float]:
    """What speaks for each pair of calls of two tools that has a ground, see :func:`pair_replaced`."""
    evidence = _Evidence(pairing)
    if not evidence.find(golds, preds, weak=False):  # as of most plans; what is no ground may wait
        return {}
    evidence.common = evidence.find_common(of_pred=True) | evidence.find_common(of_pred=False)
    return evidence.find(golds, preds)


class _Evidence:
    """What speaks for each pair that has a ground, from what the two share; too many share nothing."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        # for each call of gold the first that equals it: which of these is the partner is not known by now
        self.first = _first_equals(pairing.gold)
        self.names: set[str] = set()
        self.common: frozenset[Any] = frozenset()
        self._stored: dict[tuple[bool, int], dict[Any, tuple[str, float]]] = {}

    def find(self, golds: list[int], preds: list[int], *, weak: bool = True) -> dict[tuple[int, int], float]:
        """What speaks for each pair of those calls that has a ground; `weak` evidence is none."""
        pairing = self.pairing
        found: dict[tuple[int, int], float] = {}
        names = {pairing.pred.tools[pred].name for pred in preds}
        self.names = names if len(names) * len(golds) <= MAX_TABLE_CELLS else set()
        holders: dict[Any, list[int]] = {}
        for pred in preds:
            for mark in self.marks(pred, of_pred=True, weak=weak):
                holders.setdefault(mark, []).append(pred)
        numbers = pairing.pred.numbered.numbers
        matched = [
            position for position, gold in enumerate(pairing.to_gold) if gold >= 0 and position not in preds
        ]
        matched_numbers = {numbers[position] for position in matched} - {None}
        repeated = {pred for pred in preds if numbers[pred] in matched_numbers}
        grounds: set[tuple[int, int]] = set()
        for gold in golds:
            for mark, weight in self.marks(gold, of_pred=False, weak=weak).items():
                candidates = holders.get(mark, ())
                for pred in candidates if len(candidates) <= MAX_HOLDERS else ():
                    found[pred, gold] = found.get((pred, gold), 0.0) + weight
                    if mark[0] in (_REPEAT_GROUNDS if pred in repeated else _GROUNDS):
                        grounds.add((pred, gold))
        self.akin(preds, golds, found, grounds)
        pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
        grounds = {(pred, gold) for pred, gold in grounds if pred_tools[pred] != gold_tools[gold]}
        if not grounds or not weak:
            return dict.fromkeys(grounds, 0.0)
        required = [gold for gold in golds if gold not in pairing.optional]
        gold_between = find_calls_between(
            pairing.gold,
            required,
            [position if partner >= 0 else partner for position, partner in enumerate(pairing.to_pred)],
        )
        for ends, pred in find_calls_between(pairing.pred, preds, pairing.to_gold).items():
            if ends in gold_between:
                found[pred, gold_between[ends]] = found.get((pred, gold_between[ends]), 0.0) + 1
        return {pair: found[pair] for pair in found if pair in grounds}

    def akin(
        self,
        preds: list[int],
        golds: list[int],
        found: dict[tuple[int, int], float],
        grounds: set[tuple[int, int]],
    ) -> None:
        """Akin names are a ground for calls that have a neighbour in common."""
        if len(preds) * len(golds) > MAX_TABLE_CELLS:
            return
        tools = self.pairing.pred.tools, self.pairing.gold.tools
        akin_pairs = {
            (pred, gold)
            for pred in preds
            for gold in golds
            if is_related_name(tools[0][pred].name, tools[1][gold].name)
        }
        pred_neighbours = {
            pred: _neighbours(self.pairing.pred, pred, self.pairing.to_gold) for pred, _ in akin_pairs
        }
        for pred, gold in akin_pairs:
            if pred_neighbours[pred] & _neighbours(self.pairing.gold, gold, None):
                found[pred, gold] = found.get((pred, gold), 0.0) + 1
                grounds.add((pred, gold))

    def marks(self, position: int, *, of_pred: bool, weak: bool) -> dict[Any, float]:
        """What a call can share with another, in gold's positions, with what it counts."""
        plan_calls = self.pairing.pred if of_pred else self.pairing.gold
        app, name = plan_calls.tools[position]
        marks: dict[Any, float] = {("name", name): 1.0}
        if not of_pred:
            marks |= {
                ("name", pred_name): 1.0 for pred_name in self.names if is_similar_name(name, pred_name)
            }
        if app is not None and weak:
            marks["app", app] = 1.0
        values = self._values(position, of_pred=of_pred)
        for value, (mark, weight) in values.items():
            mark, weight = (mark, weight) if value not in self.common else ("held", 0.5)
            if weak or mark != "held":
                marks[mark, *value] = weight
            if weak:
                marks["argument", value[0]] = 0.5
        if any(value not in self.common for value in values):
            marks["all", frozenset(values)] = 2.0
            if len(values) > 1:
                marks["exchanged", frozenset(value[1:] for value in values)] = 2.0
        for consumer, argument, slot in plan_calls.users[position]:
            image = self.pairing.to_gold[consumer] if of_pred else consumer
            if image >= 0:
                marks["used", image, argument, slot] = 2.0
        return marks

    def _values(self, position: int, *, of_pred: bool) -> Mapping[Any, tuple[str, float]]:
        """A call's arguments with their values, in gold's positions, and what one that is shared counts."""
        stored = self._stored.get((of_pred, position))
        if stored is not None:
            return stored
        plan_calls = self.pairing.pred if of_pred else self.pairing.gold
        values = self._stored[of_pred, position] = {}
        for argument, (shape, producers, value) in plan_calls.arguments(position).items():
            images = [self.pairing.to_gold[p] for p in producers] if of_pred else producers
            taken = tuple([self.first[image] if image >= 0 else image for image in images])
            values[argument, shape, taken] = ("value", 2.0) if is_distinctive(value) else ("held", 0.5)
        return values

    def find_common(self, *, of_pred: bool) -> frozenset[Any]:
        """Values that most calls of a plan have, which are no evidence."""
        calls = len((self.pairing.pred if of_pred else self.pairing.gold).tools)
        if calls < MIN_COMMON_CALLS:
            return frozenset()
        counts = Counter(
            argument_value
            for position in range(calls)
            for argument_value in self._values(position, of_pred=of_pred)
        )
        return frozenset(
            argument_value
            for argument_value, count in counts.items()
            if count >= MIN_COMMON_CALLS and 2 * count > calls
        )


_REPEAT_GROUNDS = frozenset({"all", "used"})
_GROUNDS = _REPEAT_GROUNDS | {"name", "value", "exchanged"}


def _first_equals(plan_calls: PlanCalls) -> list[int]:
    numbers = plan_calls.numbered.numbers
    first: dict[int | None, int] = {}
    return [i if number is None else first.setdefault(number, i) for i, number in enumerate(numbers)]


def _neighbours(plan_calls: PlanCalls, position: int, images: list[int] | None) -> set[tuple[str, int]]:
    """The calls that a call takes from and those that take from it, in gold's positions."""
    links = {("from", call) for call in plan_calls.numbered.producers(position)}
    links |= {("to", use.consumer) for use in plan_calls.users[position]}
    return links if images is None else {(end, images[call]) for end, call in links if images[call] >= 0}


def is_distinctive(value: Value) -> bool:
    """Whether a value says something by itself: true, 1 and "" stand in two calls by chance.

    >>> is_distinctive("Rome"), is_distinctive(250), is_distinctive(0.25), is_distinctive([True, ["Rome"]])
    (True, True, True, True)
    >>> (
    ...     is_distinctive("km"), is_distinctive("True"), is_distinctive(7), is_distinctive({"all": None}),
    ...     is_distinctive([])
    ... )
    (False, False, False, False, False)
    """
    if isinstance(value, str):
        return len(value) >= MIN_DISTINCTIVE_LENGTH and value.casefold() not in TRUTH_WORDS
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return not (-MIN_DISTINCTIVE_NUMBER < value < MIN_DISTINCTIVE_NUMBER and value == int(value))
    if isinstance(value, list | tuple):
        return any(map(is_distinctive, value))
    return any(map(is_distinctive, value.values())) if isinstance(value, dict) else True


def find_calls_between(
    plan_calls: PlanCalls, calls: list[int], image: list[int]
) -> dict[tuple[frozenset[int], ...], int]:
    """Unpaired calls that stand alone between paired ones, by these: producers, consumers.

    Args:
        plan_calls: A plan.
        calls: Its calls without a partner.
        image: For each call of it its partner, in gold's positions.
    """
    groups: dict[tuple[frozenset[int], ...], list[int]] = {}
    for position in calls:
        producers = frozenset(image[producer] for producer in plan_calls.numbered.producers(position))
        ends = producers, frozenset(image[use.consumer] for use in plan_calls.users[position])
        if all(call >= 0 for end in ends for call in end):
            groups.setdefault(ends, []).append(position)
    return {ends: calls[0] for ends, calls in groups.items() if len(calls) == 1}
