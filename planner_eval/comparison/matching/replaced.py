"""Calls of another name that stand where a call of gold should: partners by what surrounds them."""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.matching.assignment import assign
from planner_eval.comparison.matching.pairing import ALONE, Pairing

LIMIT = 2_500
"""Cells of the largest table that is solved exactly; above it the best evidence is taken first."""

BUCKET = 32


def pair_replaced(pairing: Pairing) -> None:
    """Pair calls that are left over on both sides where something speaks for it.

    Evidence, per pair: an argument of equal name and value counts 2, a paired consumer that uses
    both at one place 2, an equal argument name 0.5, one app or one name 1, and standing alone
    between the same paired neighbours 1. Pairs with less than 1 are not made.
    """
    if ALONE not in pairing.to_pred or ALONE not in pairing.to_gold:
        return
    golds = [gold for gold in range(len(pairing.gold.tools)) if pairing.to_pred[gold] == ALONE]
    preds = [pred for pred in range(len(pairing.pred.tools)) if pairing.to_gold[pred] == ALONE]
    if not golds or not preds:
        return
    _choose_twins(pairing, golds, preds)
    evidence = _evidence(pairing, golds, preds)
    if not evidence:
        return
    if len(golds) * len(preds) <= LIMIT:
        table = [[-evidence.get((pred, gold), 0.0) for pred in preds] for gold in golds]
        pairs = [(preds[column], golds[row]) for row, column in assign(table)]
    else:
        pairing.proved = False
        pairs = sorted(evidence, key=lambda pair: (-evidence[pair], pair[1], pair[0]))
    for pred, gold in pairs:
        free = pairing.to_gold[pred] == ALONE and pairing.to_pred[gold] == ALONE
        if free and evidence.get((pred, gold), 0.0) >= 1:
            pairing.pair(pred, gold)


def _evidence(pairing: Pairing, golds: list[int], preds: list[int]) -> dict[tuple[int, int], float]:
    """What speaks for each pair, from what the two share; what too many share is no evidence."""
    holders: dict[Any, list[int]] = {}
    for pred in preds:
        for mark in _marks(pairing, pred, ours=True):
            holders.setdefault(mark, []).append(pred)
    found: dict[tuple[int, int], float] = {}
    for gold in golds:
        for mark, weight in _marks(pairing, gold, ours=False).items():
            there = holders.get(mark, ())
            for pred in there if len(there) <= BUCKET else ():
                found[pred, gold] = found.get((pred, gold), 0.0) + weight
    for pred, gold in _between(pairing, golds, preds):
        found[pred, gold] = found.get((pred, gold), 0.0) + 1
    return found


def _marks(pairing: Pairing, position: int, *, ours: bool) -> dict[Any, float]:
    """What a call can share with another, in gold's positions, with what it counts."""
    side = pairing.pred if ours else pairing.gold
    app, name = side.tools[position]
    marks: dict[Any, float] = {("name", name): 1.0}
    if app is not None:
        marks["app", app] = 1.0
    for argument, (shape, producers, _) in side.arguments(position).items():
        marks["argument", argument] = 0.5
        images = tuple(pairing.to_gold[p] for p in producers) if ours else producers
        marks["value", argument, shape, images] = 2.0
    for consumer, argument, slot in side.users[position]:
        image = pairing.to_gold[consumer] if ours else consumer
        if image >= 0:
            marks["used", image, argument, slot] = 2.0
    return marks


def _between(pairing: Pairing, golds: list[int], preds: list[int]) -> list[tuple[int, int]]:
    """Pairs that are each the only unpaired call between the same paired neighbours."""
    theirs = _gaps(pairing, golds)
    ours = {}
    for pred in preds:
        ends = _neighbours(pairing.to_gold, pred, len(pairing.pred.tools))
        if ALONE not in ends:
            ours[ends] = pred
    return [(ours[ends], gold) for ends, gold in theirs.items() if ends in ours]


def _gaps(pairing: Pairing, golds: list[int]) -> dict[tuple[int, int], int]:
    """The unpaired calls of gold that stand between paired ones, by these."""
    count = len(pairing.gold.tools)
    own = [gold if pairing.to_pred[gold] >= 0 else ALONE for gold in range(count)]
    found = ((_neighbours(own, gold, count), gold) for gold in golds)
    return {ends: gold for ends, gold in found if ALONE not in ends}


def _neighbours(image: list[int], at: int, count: int) -> tuple[int, int]:
    """What the calls before and after one stand for; -1 for the ends of the plan."""
    return image[at - 1] if at else -1, image[at + 1] if at + 1 < count else -1


def _choose_twins(pairing: Pairing, golds: list[int], preds: list[int]) -> None:
    """Where an extra call has equals that nobody uses, call extra the one that stands in gold's gap."""
    numbers, users = pairing.pred.numbered.numbers, pairing.pred.users
    wanted = {numbers[pred] for pred in preds} - {None}
    twins: dict[int | None, list[int]] = {}
    for pred, number in enumerate(numbers[: len(pairing.pred.tools)]):
        if number in wanted and pairing.to_gold[pred] >= 0 and not users[pred]:
            twins.setdefault(number, []).append(pred)
    gaps = _gaps(pairing, golds) if twins else {}
    for place, pred in enumerate(preds):
        for twin in twins.get(numbers[pred], ()) if not users[pred] else ():
            image = [*pairing.to_gold]
            image[pred], image[twin] = image[twin], ALONE
            if _neighbours(image, twin, len(pairing.pred.tools)) in gaps:
                pairing.to_gold[twin] = ALONE
                pairing.pair(pred, image[pred])
                preds[place] = twin
                twins[numbers[pred]].remove(twin)
                break
