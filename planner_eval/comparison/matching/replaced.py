"""Calls of another name that stand where a call of gold should: partners by what they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
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


def find_evidence(pairing: Pairing, golds: list[int], preds: list[int]) -> dict[tuple[int, int], float]:
    """What speaks for each pair of calls of two tools that has a ground, see :func:`pair_replaced`."""
    # for each call of gold the first that equals it: which of these is the partner is not known by now
    pred_marks = _Marks(pairing.pred, pairing.to_gold, _first_equals(pairing.gold), {})
    gold_marks = _Marks(pairing.gold, range(len(pairing.to_pred)), pred_marks.first, {})
    shared = _find_shared_marks(pairing, golds, preds, pred_marks, gold_marks)
    numbers, pred_tools, gold_tools = pairing.pred.numbered.numbers, pairing.pred.tools, pairing.gold.tools
    matched = {numbers[p] for p, gold in enumerate(pairing.to_gold) if gold >= 0 and p not in preds} - {None}

    def is_ground(pred: int, kinds: Iterable[str]) -> bool:
        return not (_REPEAT_GROUNDS if numbers[pred] in matched else _GROUNDS).isdisjoint(kinds)

    grounds = {
        pair: marks
        for pair, marks in shared.items()
        if pred_tools[pair[0]] != gold_tools[pair[1]] and is_ground(pair[0], [mark[0] for mark in marks])
    }
    if not grounds:
        return {}
    common = pred_marks.find_common() | gold_marks.find_common()
    required = [gold for gold in golds if gold not in pairing.optional]
    own_positions = [gold if pred >= 0 else pred for gold, pred in enumerate(pairing.to_pred)]
    gold_between = find_calls_between(pairing.gold, required, own_positions)
    pred_between = find_calls_between(pairing.pred, preds, pairing.to_gold)
    between = {(pred, gold_between[ends]) for ends, pred in pred_between.items() if ends in gold_between}
    evidence = {}
    for (pred, gold), marks in grounds.items():
        is_common = common and (
            pred_marks.values(pred).keys() <= common or gold_marks.values(gold).keys() <= common
        )
        kinds = [
            "held" if mark[1:] in common else mark[0]
            for mark in marks
            if not (is_common and mark[0] in _WHOLE_CALL_MARKS)
        ]
        if is_ground(pred, kinds):
            evidence[pred, gold] = sum(map(_WEIGHTS.__getitem__, kinds)) + ((pred, gold) in between)
    return evidence


def _find_shared_marks(
    pairing: Pairing, golds: list[int], preds: list[int], pred_marks: _Marks, gold_marks: _Marks
) -> dict[tuple[int, int], list[Any]]:
    """What calls share, pair by pair; what too many have tells none apart."""
    holders: dict[Any, list[int]] = {}
    for pred in preds:
        for mark in pred_marks.of(pred):
            holders.setdefault(mark, []).append(pred)
    names = {pairing.pred.tools[pred].name for pred in preds}
    shared: dict[tuple[int, int], list[Any]] = {}
    few = len(names) * len(golds) <= MAX_TABLE_CELLS
    for gold in golds:
        name = pairing.gold.tools[gold].name
        similar = {("name", other): None for other in names if few and is_similar_name(name, other)}
        for mark in gold_marks.of(gold) | similar:
            candidates = holders.get(mark, ())
            for pred in candidates if len(candidates) <= MAX_HOLDERS else ():
                shared.setdefault((pred, gold), []).append(mark)
    if len(preds) * len(golds) > MAX_TABLE_CELLS:
        return shared
    for gold in golds:
        for pred in preds:
            if is_related_name(pairing.pred.tools[pred].name, pairing.gold.tools[gold].name) and (
                pred_marks.neighbours(pred) & gold_marks.neighbours(gold)
            ):
                shared.setdefault((pred, gold), []).append(("akin",))
    return shared


class _Marks(NamedTuple):
    """What calls of a plan can share with others, in gold's positions.

    Args:
        plan_calls: The plan.
        images: The partner of each call; gold's calls stand for themselves.
        first: For each call of gold the first that equals it.
        stored: The values of calls that were looked at.
    """

    plan_calls: PlanCalls
    images: Sequence[int]
    first: list[int]
    stored: dict[int, dict[Any, str]]

    def of(self, position: int) -> dict[Any, None]:
        """What one call can share."""
        app, name = self.plan_calls.tools[position]
        values = self.values(position)
        marks = [("name", name), *((kind, *value) for value, kind in values.items())]
        marks += [("argument", argument) for argument, _, _ in values]
        if app is not None:
            marks.append(("app", app))
        if values:
            marks.append(("all", frozenset(values)))
        if len(values) > 1:
            marks.append(("exchanged", frozenset(value[1:] for value in values)))
        for consumer, argument, slot in self.plan_calls.users[position]:
            if self.images[consumer] >= 0:
                marks.append(("used", self.images[consumer], argument, slot))
        return dict.fromkeys(marks)

    def values(self, position: int) -> dict[Any, str]:
        """A call's arguments with their values, and whether such a value is a ground or is held by chance."""
        if position in self.stored:
            return self.stored[position]
        values = self.stored[position] = {}
        for argument, (shape, producers, value) in self.plan_calls.arguments(position).items():
            images = [self.images[producer] for producer in producers]
            taken = tuple([self.first[image] if image >= 0 else image for image in images])
            values[argument, shape, taken] = "value" if is_distinctive(value) else "held"
        return values

    def neighbours(self, position: int) -> set[tuple[str, int]]:
        """The calls that a call takes from and those that take from it."""
        links = [("from", self.images[call]) for call in self.plan_calls.numbered.producers(position)]
        links += [("to", self.images[use.consumer]) for use in self.plan_calls.users[position]]
        return {link for link in links if link[1] >= 0}

    def find_common(self) -> frozenset[Any]:
        """Values that most calls of the plan have, which are no evidence."""
        calls = range(len(self.plan_calls.tools))
        if len(calls) < MIN_COMMON_CALLS:
            return frozenset()
        counts = Counter(value for call in calls for value in self.values(call))
        return frozenset(v for v, n in counts.items() if n >= MIN_COMMON_CALLS and 2 * n > len(calls))


_WEIGHTS = {
    "value": 2.0, "all": 2.0, "exchanged": 2.0, "used": 2.0, "name": 1.0, "akin": 1.0, "app": 1.0,
    "held": 0.5, "argument": 0.5,
}  # fmt: skip
"""What counts how much of what two calls share."""

_WHOLE_CALL_MARKS = frozenset({"all", "exchanged"})
_REPEAT_GROUNDS = frozenset({"all", "used", "akin"})
_GROUNDS = _REPEAT_GROUNDS | {"name", "value", "exchanged"}


def _first_equals(plan_calls: PlanCalls) -> list[int]:
    numbers = plan_calls.numbered.numbers
    first: dict[int | None, int] = {}
    return [i if number is None else first.setdefault(number, i) for i, number in enumerate(numbers)]


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
