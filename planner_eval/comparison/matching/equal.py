"""Equal calls of two plans: partners before anything is searched, and which where nothing tells them."""

from __future__ import annotations

from collections import Counter

from planner_eval.comparison.matching.pairing import ALONE, Pairing

TIES = 50
"""Up to this many equal calls it is worth asking which stands for which; more are paired by rank."""


def pair_equal_calls(pairing: Pairing) -> None:
    """Pair calls of equal numbers; those of which there are several only when nobody uses them.

    Where a policy takes unequal values for right, an equal call need not be the best partner, so calls
    of one name are left to be weighed against one another.
    """
    pred_numbers, gold_numbers = pairing.pred.numbered.numbers, pairing.gold.numbered.numbers
    single = dict(zip(pred_numbers, range(len(pred_numbers)), strict=True))
    pairing.settled = (
        pairing.matcher is None
        and len(single) == len(pred_numbers)
        and len({*gold_numbers}) == len(gold_numbers)
        and None not in single
        and None not in gold_numbers
    )
    if not pairing.settled:
        _pair_tied(pairing, pred_numbers, gold_numbers)
        return
    for gold, number in enumerate(gold_numbers):
        if number in single:
            pairing.pair(single[number], gold)


def _pair_tied(pairing: Pairing, pred_numbers: list[int | None], gold_numbers: list[int | None]) -> None:
    """:func:`pair_equal_calls` where some plan has equal calls, or a policy has its say."""
    where: dict[int, list[int]] = {}
    for position in range(len(pred_numbers) - 1, -1, -1):
        number = pred_numbers[position]
        if number is not None:
            where.setdefault(number, []).append(position)
    equal: dict[int, list[int]] = {}
    for position, number in enumerate(gold_numbers):
        if number in where:
            equal.setdefault(number, []).append(position)
    counts = Counter((*pairing.pred.tools, *pairing.gold.tools)) if pairing.matcher is not None else None
    for number, golds in equal.items():
        preds = where[number]
        if counts is not None and counts[pairing.gold.tool(golds[0])] > 2:
            if counts[pairing.gold.tool(golds[0])] <= 2 * TIES:
                continue
            pairing.proved = False
        if len(golds) > 1 or len(preds) > 1:
            used = any(pairing.gold.users[g] for g in golds) or any(pairing.pred.users[p] for p in preds)
            if used and max(len(golds), len(preds)) <= TIES:
                continue
            pairing.proved = pairing.proved and not used
            preds, golds = _in_order(pairing, preds, golds, used=used)
        for gold in golds:
            if preds:
                pairing.pair(preds.pop(), gold)


def _in_order(
    pairing: Pairing, preds: list[int], golds: list[int], *, used: bool
) -> tuple[list[int], list[int]]:
    """Equal calls in an order in which they can be paired; the first of pred is the last of its list.

    Where it does not matter which stands for which, the first of pred do, for later ones repeat them; if gold
    has more of them, those at the same places.
    """
    if used or pairing.open or pairing.gold.numbered.producers(golds[0]):
        preds, golds = pairing.ranks.preds(preds)[::-1], pairing.ranks.golds(golds)
        return preds, sorted(golds, key=pairing.optional.__contains__)
    shared = {*preds}.intersection(golds) if len(golds) > len(preds) else ()
    for position in shared:
        pairing.pair(position, position)
    return [p for p in preds if p not in shared], [p for p in golds if p not in shared]


def pair_twins_as_written(pairing: Pairing) -> None:
    """Exchange partners of calls that nothing tells apart so that they come in one order in both plans.

    Where there are too few partners the first ones have them. No figure depends on it but those of order, and
    these are the better for it.
    """
    if not pairing.ranked:
        return
    for in_gold, groups in enumerate(pairing.ranks.twins()):
        partner = pairing.to_pred if in_gold else pairing.to_gold
        for calls in groups:
            partners = sorted(partner[position] for position in calls if partner[position] >= 0)
            for position, partner_position in zip(calls, partners, strict=False):
                pairing.pair(*((partner_position, position) if in_gold else (position, partner_position)))
            alone = calls[len(partners) :]
            pairing.release(() if in_gold else alone, alone if in_gold else (), ALONE)
