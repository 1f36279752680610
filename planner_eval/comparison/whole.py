"""Partners that a person takes first: by all values, by the place in a chain, the earliest of equals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from planner_eval.comparison.matching.pairing import ALONE, Pairing, Side
from planner_eval.comparison.matching.replaced import between

Pairs = list[tuple[int, int]]
"""Positions in pred and in gold."""

LEAST = 2
"""So many arguments that are all equal say that another tool was called for the same."""


def same_values(pairing: Pairing, doubtful: Iterable[tuple[int, int]]) -> Pairs:
    """Calls with exactly the values of gold's of another tool, of which nothing is right as they are paired.

    So of ``add(100, 6)`` and ``multiply(‹add›, 100)`` a ``multiply(100, 6)`` stands for the former.

    Args:
        pairing: The pairing.
        doubtful: Partners of one tool, half of whose arguments or more are wrong.
    """
    nothing = [(pred, gold) for pred, gold in doubtful if _nothing_right(pairing, pred, gold)]
    if not nothing:
        return []
    preds, golds = {pred for pred, _ in nothing}, {gold for _, gold in nothing}
    asked = [at for at in range(len(pairing.pred.tools)) if at in preds or pairing.to_gold[at] < 0]
    wanted: dict[Any, list[int]] = {}
    own = range(len(pairing.to_pred))
    for gold in range(len(pairing.gold.tools)):
        if (gold in golds or pairing.to_pred[gold] < 0) and (key := _values(pairing.gold, gold, own)):
            wanted.setdefault(key, []).append(gold)
    images = [-1 if at in preds else image for at, image in enumerate(pairing.to_gold)]
    found: Pairs = []
    for pred in asked:
        there = wanted.get(_values(pairing.pred, pred, images)) or ()
        meant = next((at for at in there if pairing.gold.tools[at] != pairing.pred.tools[pred]), None)
        if meant is not None:
            wanted[_values(pairing.gold, meant, own)].remove(meant)
            images[pred] = meant
            found.append((pred, meant))
    return found if any(pred in preds for pred, _ in found) else []


def pair_leftover(pairing: Pairing, pairs: Pairs) -> None:
    """Make pairs of calls, and of those of one tool that have lost their partners by it.

    Args:
        pairing: The pairing, which is changed.
        pairs: The calls.
    """
    preds = [pred for pred, _ in pairs] + [pairing.to_pred[gold] for _, gold in pairs]
    golds = [gold for _, gold in pairs] + [pairing.to_gold[pred] for pred, _ in pairs]
    pairing.release([at for at in preds if at >= 0], [at for at in golds if at >= 0], ALONE)
    for pred, gold in pairs:
        pairing.pair(pred, gold)
    left: dict[Any, list[int]] = {}
    for pred, tool in enumerate(pairing.pred.tools):
        if pairing.to_gold[pred] < 0:
            left.setdefault(tool, []).append(pred)
    for gold, tool in enumerate(pairing.gold.tools):
        if pairing.to_pred[gold] < 0 and left.get(tool):
            pairing.pair(left[tool].pop(0), gold)


def in_chain(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls without partners that alone stand between the same calls, on either side."""
    golds = [at for at in range(len(pairing.gold.tools)) if pairing.to_pred[at] < 0]
    preds = [at for at in range(len(pairing.pred.tools)) if pairing.to_gold[at] < 0]
    if not golds or not preds:
        return
    images = [at if to >= 0 else to for at, to in enumerate(pairing.to_pred)]
    theirs = between(pairing.gold, golds, images)
    for ends, pred in between(pairing.pred, preds, pairing.to_gold).items():
        if all(ends) and ends in theirs and pairing.pred.tools[pred] != pairing.gold.tools[theirs[ends]]:
            yield pred, theirs[ends]


def earliest(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls with an earlier one of equal calls of gold as partner, where nothing speaks for the later one.

    Neither of the two is used by a call with a partner, and the prediction's order is as right.
    """
    numbers = pairing.gold.numbered.numbers
    free: dict[Any, list[int]] = {}
    for gold in range(len(pairing.gold.tools)):
        if pairing.to_pred[gold] < 0 and numbers[gold] is not None:
            free.setdefault(numbers[gold], []).append(gold)
    for gold in range(len(pairing.gold.tools)) if free else ():
        pred = pairing.to_pred[gold]
        there = free.get(numbers[gold]) if pred >= 0 else None
        if not there or there[0] > gold or _used(pairing.gold, gold, pairing.to_pred):
            continue
        first = there[0]
        if not pairing.optional.isdisjoint((gold, first)) or pairing.open.get(gold) != pairing.open.get(
            first
        ):
            continue
        between_them = (pairing.to_pred[at] for at in range(first + 1, gold))
        if not _used(pairing.gold, first, pairing.to_pred) and not any(0 <= at < pred for at in between_them):
            there[0] = gold
            there.sort()
            yield pred, first


def _used(side: Side, at: int, partner: Sequence[int]) -> bool:
    return any(partner[use.consumer] >= 0 for use in side.users[at])


def _nothing_right(pairing: Pairing, pred: int, gold: int) -> bool:
    wrong = pairing.final(pred, gold)
    return {*pairing.pred.arguments(pred), *pairing.gold.arguments(gold)} <= {*wrong}


def _values(side: Side, at: int, images: Sequence[int]) -> frozenset[Any] | None:
    """A call's arguments in gold's positions; None for few, or for one that takes from an unpaired call."""
    given = side.arguments(at)
    taken = {name: tuple(images[producer] for producer in needed) for name, (_, needed, _) in given.items()}
    if len(given) < LEAST or any(image < 0 for images in taken.values() for image in images):
        return None
    return frozenset((name, shape, taken[name]) for name, (shape, _, _) in given.items())
