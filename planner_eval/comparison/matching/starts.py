"""Where the search for a cheap pairing starts, other than from the blocks' own costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planner_eval.comparison.matching.pairing import Pairing, Side

if TYPE_CHECKING:
    from planner_eval.comparison.matching.blocks import Block


def pair_in_order(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair free calls where both plans, each call after those that it needs, agree in names; then by rank."""
    from difflib import SequenceMatcher  # few comparisons come this far

    preds = {pred for block in blocks for pred in block.preds}
    golds = {gold for block in blocks for gold in block.golds}
    ours = _after_needed(pairing.pred, pairing.ranks.preds(range(len(pairing.pred.known))))
    theirs = _after_needed(pairing.gold, pairing.ranks.golds(range(len(pairing.gold.known))))
    tools = [pairing.pred.tool(at) for at in ours], [pairing.gold.tool(at) for at in theirs]
    runs = SequenceMatcher(None, *tools, autojunk=False)
    for start, there, size in runs.get_matching_blocks():
        for pred, gold in zip(ours[start : start + size], theirs[there : there + size], strict=True):
            if pred in preds and gold in golds:
                pairing.pair(pred, gold)
    _pair_rest(pairing, blocks)


def _after_needed(side: Side, ranked: list[int]) -> list[int]:
    """The calls of a plan, each just after those that it needs: first what nobody uses, by rank."""
    order: dict[int, None] = {}
    work = [*reversed(ranked), *reversed([at for at in ranked if not side.users[at]])]
    entered: set[int] = set()
    while work:
        at = work[-1]
        if at in entered:
            order.setdefault(work.pop())
        else:
            entered.add(at)
            work += [one for one in reversed(side.numbered.producers(at)) if one not in entered]
    return [*order]


def pair_by_surroundings(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair free calls whose surroundings are alike, the widest surroundings first; then as they come."""
    for single in (True, False):
        for left, right in reversed(pairing.ranks.surroundings):
            for block in blocks:
                _pair_alike(pairing, block, left, right, single=single)
    _pair_rest(pairing, blocks)


def _pair_alike(pairing: Pairing, block: Block, left: list[int], right: list[int], *, single: bool) -> None:
    """Pair the block's free calls of one colour, by rank, where both plans have as many, or one each."""
    preds: dict[int, list[int]] = {}
    golds: dict[int, list[int]] = {}
    for pred in block.preds:
        if pairing.to_gold[pred] < 0:
            preds.setdefault(left[pred], []).append(pred)
    for gold in block.golds:
        if pairing.to_pred[gold] < 0:
            golds.setdefault(right[gold], []).append(gold)
    for colour, there in golds.items():
        here = preds.get(colour, ())
        if len(here) == len(there) and (len(here) == 1 or not single):
            for pred, gold in zip(here, there, strict=True):
                if pairing.to_gold[pred] < 0 and pairing.to_pred[gold] < 0:
                    pairing.pair(pred, gold)
                    _follow(pairing, pred, gold)


def _follow(pairing: Pairing, pred: int, gold: int) -> None:
    """Pair free calls that partners refer to at like places, or that alone refer to these, and so on."""
    work = [(pred, gold)]

    def pair(one: int, other: int) -> None:
        free = pairing.to_gold[one] < 0 and pairing.to_pred[other] < 0
        if free and pairing.pred.tool(one) == pairing.gold.tool(other):
            pairing.pair(one, other)
            work.append((one, other))

    while work:
        pred, gold = work.pop()
        ours = pairing.pred.arguments(pred)
        for name, (shape, producers, _) in pairing.gold.arguments(gold).items():
            if name in ours and ours[name][0] == shape:
                for one, other in zip(ours[name][1], producers, strict=True):
                    pair(one, other)
        here, there = (
            _free_users(pairing.pred, pred, pairing.to_gold),
            _free_users(pairing.gold, gold, pairing.to_pred),
        )
        for use in here.keys() & there.keys():
            if len(here[use]) == 1 == len(there[use]):
                pair(here[use][0], there[use][0])


def _free_users(side: Side, position: int, partner: list[int]) -> dict[Any, list[int]]:
    """The free consumers of a call by name, argument and which reference of it."""
    found: dict[Any, list[int]] = {}
    for consumer, argument, slot in side.users[position]:
        if partner[consumer] < 0:
            found.setdefault((side.tool(consumer), argument, slot), []).append(consumer)
    return found


def _pair_rest(pairing: Pairing, blocks: list[Block]) -> None:
    for block in blocks:
        left = [pred for pred in reversed(block.preds) if pairing.to_gold[pred] < 0]
        for gold in block.golds:
            if left and pairing.to_pred[gold] < 0:
                pairing.pair(left.pop(), gold)
