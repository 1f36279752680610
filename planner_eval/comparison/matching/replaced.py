"""Calls of another name that stand where a call of gold should: partners by what surrounds them."""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.matching.assignment import assign
from planner_eval.comparison.matching.pairing import ALONE, Pairing, Side

LIMIT = 2_500
"""Cells of the largest table that is solved exactly; above it the best evidence is taken first."""

BUCKET = 32


def pair_replaced(pairing: Pairing) -> None:
    """Pair calls that are left over on both sides where something speaks for it.

    Evidence, per pair: an argument of equal name and value counts 2, a paired consumer that uses
    both at one place 2, an equal argument name 0.5, one app or one name 1, and standing alone
    between the same paired producers and consumers 1. Pairs with less than 1 are not made.
    """
    if ALONE not in pairing.to_pred or ALONE not in pairing.to_gold:
        return
    golds = [gold for gold in range(len(pairing.gold.tools)) if pairing.to_pred[gold] == ALONE]
    preds = [pred for pred in range(len(pairing.pred.tools)) if pairing.to_gold[pred] == ALONE]
    if not golds or not preds:
        return
    if len(golds) + len(preds) > 2:
        preds, golds = pairing.ranks.preds(preds), pairing.ranks.golds(golds)
    evidence = _evidence(pairing, golds, preds)
    if not evidence:
        return
    if len(golds) * len(preds) <= LIMIT:
        table = [[-evidence.get((pred, gold), 0.0) for pred in preds] for gold in golds]
        pairs = [(preds[column], golds[row]) for row, column in assign(table)]
    else:
        pairing.proved = False
        ours, theirs = ({at: place for place, at in enumerate(calls)} for calls in (preds, golds))
        pairs = sorted(evidence, key=lambda pair: (-evidence[pair], theirs[pair[1]], ours[pair[0]]))
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
    due = [gold for gold in golds if gold not in pairing.optional]
    theirs = _ends(pairing.gold, due, [at if to >= 0 else to for at, to in enumerate(pairing.to_pred)])
    for ends, pred in _ends(pairing.pred, preds, pairing.to_gold).items():
        if ends in theirs:
            found[pred, theirs[ends]] = found.get((pred, theirs[ends]), 0.0) + 1
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


def _ends(side: Side, calls: list[int], image: list[int]) -> dict[tuple[frozenset[int], ...], int]:
    """Unpaired calls that stand alone between paired ones, by these: producers, consumers."""
    found: dict[tuple[frozenset[int], ...], list[int]] = {}
    for at in calls:
        producers = frozenset(image[producer] for producer in side.numbered.producers(at))
        ends = producers, frozenset(image[use.consumer] for use in side.users[at])
        if all(call >= 0 for end in ends for call in end):
            found.setdefault(ends, []).append(at)
    return {ends: there[0] for ends, there in found.items() if len(there) == 1}
