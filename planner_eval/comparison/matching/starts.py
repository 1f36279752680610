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
    pred_order = _after_needed(pairing.pred, pairing.ranks.preds(range(len(pairing.pred.known))))
    gold_order = _after_needed(pairing.gold, pairing.ranks.golds(range(len(pairing.gold.known))))
    tools = [pairing.pred.tool(call) for call in pred_order], [pairing.gold.tool(call) for call in gold_order]
    runs = SequenceMatcher(None, *tools, autojunk=False)
    for start, gold_start, size in runs.get_matching_blocks():
        for pred, gold in zip(
            pred_order[start : start + size], gold_order[gold_start : gold_start + size], strict=True
        ):
            if pred in preds and gold in golds:
                pairing.pair(pred, gold)
    _pair_rest(pairing, blocks)


def _after_needed(plan_calls: Side, ranked: list[int]) -> list[int]:
    """The calls of a plan, each just after those that it needs: first what nobody uses, by rank."""
    order: dict[int, None] = {}
    work = [*reversed(ranked), *reversed([call for call in ranked if not plan_calls.users[call]])]
    entered: set[int] = set()
    while work:
        call = work[-1]
        if call in entered:
            order.setdefault(work.pop())
        else:
            entered.add(call)
            work += [
                producer
                for producer in reversed(plan_calls.numbered.producers(call))
                if producer not in entered
            ]
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
    for colour, gold_calls in golds.items():
        pred_calls = preds.get(colour, ())
        if len(pred_calls) == len(gold_calls) and (len(pred_calls) == 1 or not single):
            for pred, gold in zip(pred_calls, gold_calls, strict=True):
                if pairing.to_gold[pred] < 0 and pairing.to_pred[gold] < 0:
                    pairing.pair(pred, gold)
                    _follow(pairing, pred, gold)


def _follow(pairing: Pairing, pred: int, gold: int) -> None:
    """Pair free calls that partners refer to at like places, or that alone refer to these, and so on."""
    work = [(pred, gold)]

    def pair(pred_call: int, gold_call: int) -> None:
        free = pairing.to_gold[pred_call] < 0 and pairing.to_pred[gold_call] < 0
        if free and pairing.pred.tool(pred_call) == pairing.gold.tool(gold_call):
            pairing.pair(pred_call, gold_call)
            work.append((pred_call, gold_call))

    while work:
        pred, gold = work.pop()
        pred_args = pairing.pred.arguments(pred)
        for name, (shape, producers, _) in pairing.gold.arguments(gold).items():
            if name in pred_args and pred_args[name][0] == shape:
                for pred_call, gold_call in zip(pred_args[name][1], producers, strict=True):
                    pair(pred_call, gold_call)
        pred_users, gold_users = (
            _free_users(pairing.pred, pred, pairing.to_gold),
            _free_users(pairing.gold, gold, pairing.to_pred),
        )
        for use in pred_users.keys() & gold_users.keys():
            if len(pred_users[use]) == 1 == len(gold_users[use]):
                pair(pred_users[use][0], gold_users[use][0])


def _free_users(plan_calls: Side, position: int, partner: list[int]) -> dict[Any, list[int]]:
    """The free consumers of a call by name, argument and which reference of it."""
    free_users: dict[Any, list[int]] = {}
    for consumer, argument, slot in plan_calls.users[position]:
        if partner[consumer] < 0:
            free_users.setdefault((plan_calls.tool(consumer), argument, slot), []).append(consumer)
    return free_users


def _pair_rest(pairing: Pairing, blocks: list[Block]) -> None:
    for block in blocks:
        left = [pred for pred in reversed(block.preds) if pairing.to_gold[pred] < 0]
        for gold in block.golds:
            if left and pairing.to_pred[gold] < 0:
                pairing.pair(left.pop(), gold)
