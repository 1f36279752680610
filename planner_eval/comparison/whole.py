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
    unsettled = [i for i in range(len(pairing.pred.tools)) if i in preds or pairing.to_gold[i] < 0]
    gold_values: dict[Any, list[int]] = {}
    identity = range(len(pairing.to_pred))
    for gold in range(len(pairing.gold.tools)):
        if (gold in golds or pairing.to_pred[gold] < 0) and (key := _values(pairing.gold, gold, identity)):
            gold_values.setdefault(key, []).append(gold)
    images = [-1 if position in preds else image for position, image in enumerate(pairing.to_gold)]
    pairs: Pairs = []
    for pred in unsettled:
        candidates = gold_values.get(_values(pairing.pred, pred, images)) or ()
        partner = next(
            (position for position in candidates if pairing.gold.tools[position] != pairing.pred.tools[pred]),
            None,
        )
        if partner is not None:
            gold_values[_values(pairing.gold, partner, identity)].remove(partner)
            images[pred] = partner
            pairs.append((pred, partner))
    return pairs if any(pred in preds for pred, _ in pairs) else []


def pair_leftover(pairing: Pairing, pairs: Pairs) -> None:
    """Make pairs of calls, and of those of one tool that have lost their partners by it.

    Args:
        pairing: The pairing, which is changed.
        pairs: The calls.
    """
    preds = [pred for pred, _ in pairs] + [pairing.to_pred[gold] for _, gold in pairs]
    golds = [gold for _, gold in pairs] + [pairing.to_gold[pred] for pred, _ in pairs]
    pairing.release(
        [position for position in preds if position >= 0],
        [position for position in golds if position >= 0],
        ALONE,
    )
    for pred, gold in pairs:
        pairing.pair(pred, gold)
    unpaired: dict[Any, list[int]] = {}
    for pred, tool in enumerate(pairing.pred.tools):
        if pairing.to_gold[pred] < 0:
            unpaired.setdefault(tool, []).append(pred)
    for gold, tool in enumerate(pairing.gold.tools):
        if pairing.to_pred[gold] < 0 and unpaired.get(tool):
            pairing.pair(unpaired[tool].pop(0), gold)


def in_chain(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls without partners that alone stand between the same calls, on either side."""
    golds = [position for position in range(len(pairing.gold.tools)) if pairing.to_pred[position] < 0]
    preds = [position for position in range(len(pairing.pred.tools)) if pairing.to_gold[position] < 0]
    if not golds or not preds:
        return
    images = [position if partner >= 0 else partner for position, partner in enumerate(pairing.to_pred)]
    gold_between = between(pairing.gold, golds, images)
    for ends, pred in between(pairing.pred, preds, pairing.to_gold).items():
        if (
            all(ends)
            and ends in gold_between
            and pairing.pred.tools[pred] != pairing.gold.tools[gold_between[ends]]
        ):
            yield pred, gold_between[ends]


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
        earlier = free.get(numbers[gold]) if pred >= 0 else None
        if not earlier or earlier[0] > gold or _used(pairing.gold, gold, pairing.to_pred):
            continue
        first = earlier[0]
        if not pairing.optional.isdisjoint((gold, first)) or pairing.open.get(gold) != pairing.open.get(
            first
        ):
            continue
        between_them = (pairing.to_pred[position] for position in range(first + 1, gold))
        if not _used(pairing.gold, first, pairing.to_pred) and not any(0 <= i < pred for i in between_them):
            earlier[0] = gold
            earlier.sort()
            yield pred, first


def _used(plan_calls: Side, position: int, partner: Sequence[int]) -> bool:
    return any(partner[use.consumer] >= 0 for use in plan_calls.users[position])


def _nothing_right(pairing: Pairing, pred: int, gold: int) -> bool:
    wrong = pairing.final(pred, gold)
    return {*pairing.pred.arguments(pred), *pairing.gold.arguments(gold)} <= {*wrong}


def _values(plan_calls: Side, position: int, images: Sequence[int]) -> frozenset[Any] | None:
    """A call's arguments in gold's positions; None for few, or for one that takes from an unpaired call."""
    arguments = plan_calls.arguments(position)
    images_by_name = {
        name: tuple(images[producer] for producer in needed) for name, (_, needed, _) in arguments.items()
    }
    if len(arguments) < LEAST or any(image < 0 for images in images_by_name.values() for image in images):
        return None
    return frozenset((name, shape, images_by_name[name]) for name, (shape, _, _) in arguments.items())
