"""The cheapest pairing of the calls that share a name, block by block.

Each block is an assignment problem once the other blocks are decided. So blocks are solved in
turn, producers first, until nothing gets cheaper; the result is proved when it meets the sum of the
blocks' optimistic costs, and where it does not and the plan is small, everything is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from operator import itemgetter
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import assign
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls


# ----------------------------------------------------------------------
# Where the search for a cheap pairing starts, other than from the blocks' own costs.
def pair_in_order(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair free calls where both plans, each call after those that it needs, agree in names; then by rank."""
    from difflib import SequenceMatcher  # few comparisons come this far

    preds = {pred for block in blocks for pred in block.preds}
    golds = {gold for block in blocks for gold in block.golds}
    pred_order = _order_after_producers(pairing.pred, pairing.ranks.preds(range(len(pairing.pred.known))))
    gold_order = _order_after_producers(pairing.gold, pairing.ranks.golds(range(len(pairing.gold.known))))
    tools = [pairing.pred.tool(call) for call in pred_order], [pairing.gold.tool(call) for call in gold_order]
    runs = SequenceMatcher(None, *tools, autojunk=False)
    for start, gold_start, size in runs.get_matching_blocks():
        for pred, gold in zip(
            pred_order[start : start + size], gold_order[gold_start : gold_start + size], strict=True
        ):
            if pred in preds and gold in golds:
                pairing.pair(pred, gold)
    _pair_rest(pairing, blocks)


def _order_after_producers(plan_calls: PlanCalls, ranked: list[int]) -> list[int]:
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
    preds, golds = (
        _group_free(block.preds, pairing.to_gold, left),
        _group_free(block.golds, pairing.to_pred, right),
    )
    for colour, gold_calls in golds.items():
        pred_calls = preds.get(colour, ())
        if len(pred_calls) == len(gold_calls) and (len(pred_calls) == 1 or not single):
            for pred, gold in zip(pred_calls, gold_calls, strict=True):
                if pairing.to_gold[pred] < 0 and pairing.to_pred[gold] < 0:
                    pairing.pair(pred, gold)
                    _pair_neighbours(pairing, pred, gold)


def _group_free(calls: list[int], partner: list[int], colours: list[int]) -> dict[int, list[int]]:
    """The free ones of some calls by their colours."""
    groups: dict[int, list[int]] = {}
    for call in calls:
        if partner[call] < 0:
            groups.setdefault(colours[call], []).append(call)
    return groups


def _pair_neighbours(pairing: Pairing, pred: int, gold: int) -> None:
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


def _free_users(plan_calls: PlanCalls, position: int, partner: list[int]) -> dict[Any, list[int]]:
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


# ----------------------------------------------------------------------
# The cheapest pairing of the calls that share a name, block by block.
MAX_TABLE_CELLS = 40_000
"""Cells of the largest table of costs that is filled; larger blocks are paired by what they share."""

MAX_PLAIN_CELLS = 2_500
"""Cells from which on calls with equal arguments are paired first."""

MAX_PROOF_STEPS = 20_000
"""Steps to fill all tables once, from which on each block is solved once, and nothing is proved."""

MAX_CONSUMER_STEPS = 1_000_000
"""The same, from which on nobody asks which calls use a call."""

MAX_ROUNDS = 4
MAX_NODES = 10_000
"""Pairs of calls that the exhaustive search tries before it gives up the proof."""

STARTS = (pair_by_surroundings, pair_in_order)
MAX_CALLS_FOR_STARTS = 400
"""Undecided calls of gold up to which other starts are tried."""

MAX_EXHAUSTIVE_CALLS = 40
"""Undecided calls of gold up to which everything is tried."""

MAX_HOLDERS = 32
"""A value that more calls than this share says nothing about which of them are partners."""

TOLERANCE = 1e-5
_SURROUNDINGS_WEIGHT, _OPTIONAL_WEIGHT, _RANK_WEIGHT = 2.0**-41, 2.0**-43, 2.0**-48
"""What speaks among equals for calls of like surroundings, a hop; what then makes an optional call of gold
the last choice, and calls of like ranks partners."""


class Block(NamedTuple):
    """The undecided calls of one name, by rank."""

    golds: list[int]
    preds: list[int]


def solve(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair the calls of each block; the rest of a block stays alone."""
    small = []
    for block in blocks:
        if len(block.golds) * len(block.preds) > MAX_PLAIN_CELLS:
            block = _pair_equal(pairing, block)
        if len(block.golds) * len(block.preds) > MAX_TABLE_CELLS:
            _pair_by_shared_values(pairing, block)
        elif block.golds and block.preds:
            small.append(block)
        else:
            pairing.release(block.preds, block.golds, ALONE)
    work = sum(_count_steps(pairing, block) for block in small)
    if work > MAX_PROOF_STEPS:
        pairing.proved = False
        for block in small:
            _assign(pairing, block, consumers=work <= MAX_CONSUMER_STEPS)
    elif small:
        _solve_small(pairing, small)


def _count_steps(pairing: Pairing, block: Block) -> int:
    """About how many steps it takes to fill a block's table: a cell, and who uses its call of gold."""
    users = pairing.gold.users
    return len(block.preds) * sum(1 + len(users[gold]) for gold in block.golds)


def _solve_small(pairing: Pairing, blocks: list[Block]) -> None:
    free = [gold for block in blocks for gold in block.golds]
    all_paired = _all_have_partners(pairing, blocks)
    pairs: list[tuple[int, int]] = []
    touched = sorted({*free, *_consumers(pairing, blocks, all_paired=all_paired)})
    bound = pairing.total(touched, strict=False)
    for block in blocks:
        pairs = _find_cheapest_pairs(pairing, block)
        bound += sum(pairing.cost(*pair) for pair in pairs)
    if all_paired and bound < TOLERANCE and _all_else_equal(pairing, touched):
        bound = 1.0  # the plans differ, so somewhere one argument must

    def proved(cost: float) -> bool:
        return cost <= bound + TOLERANCE or (all_paired and ceil(cost - TOLERANCE) <= ceil(bound - TOLERANCE))

    if len(blocks) == 1 and len(touched) == len(free):  # nobody else uses its calls
        _restore(pairing, blocks, pairs)
        best = pairing.total(touched)
    else:
        best = _settle(pairing, blocks, touched)
    if proved(best):
        return
    pairs = _pairs(pairing, blocks)
    for start in STARTS if len(free) <= MAX_CALLS_FOR_STARTS else ():
        _restore(pairing, blocks, [])
        start(pairing, blocks)
        cost = _settle(pairing, blocks, touched, from_here=True)
        if cost < best - TOLERANCE:
            best, pairs = cost, _pairs(pairing, blocks)
        if proved(best):
            break
    _restore(pairing, blocks, pairs)
    if proved(best):
        return
    if len(free) > MAX_EXHAUSTIVE_CALLS or not _try_all(pairing, blocks, touched):
        pairing.proved = False


def _consumers(pairing: Pairing, blocks: list[Block], *, all_paired: bool) -> Iterator[int]:
    """The calls of gold whose cost depends on how the blocks are paired, but for those of the blocks.

    Where calls stay alone, it counts less to take a call without partner for one that has none.
    """
    for block in blocks:
        for gold in block.golds:
            for use in pairing.gold.users[gold]:
                yield use.consumer
        for pred in block.preds if not all_paired else ():
            for use in pairing.pred.users[pred]:
                if (consumer := pairing.to_gold[use.consumer]) >= 0:
                    yield consumer


def _settle(pairing: Pairing, blocks: list[Block], touched: list[int], *, from_here: bool = False) -> float:
    """Solve block after block, the others held fixed, until the whole gets no cheaper; its cost."""
    best = pairing.total(touched) if from_here else float("inf")
    for _ in range(MAX_ROUNDS if len(blocks) > 1 else 1):  # a lone block would be solved as before
        before = _pairs(pairing, blocks)
        for block in blocks:
            _assign(pairing, block)
        cost = pairing.total(touched)
        if cost >= best - TOLERANCE:
            if cost > best:
                _restore(pairing, blocks, before)
            break
        best = cost
    return best


def _pairs(pairing: Pairing, blocks: list[Block]) -> list[tuple[int, int]]:
    return [(pairing.to_pred[gold], gold) for block in blocks for gold in block.golds]


def _restore(pairing: Pairing, blocks: list[Block], pairs: list[tuple[int, int]]) -> None:
    """Bring back a pairing of the blocks."""
    for block in blocks:
        pairing.release(block.preds, block.golds, ALONE)
    for pred, gold in pairs:
        if pred >= 0:
            pairing.pair(pred, gold)


def _all_have_partners(pairing: Pairing, blocks: list[Block]) -> bool:
    """Whether every call will be paired; then costs are whole numbers but for trifles."""
    if ALONE in pairing.to_pred or ALONE in pairing.to_gold:
        return False
    return all(len(block.golds) == len(block.preds) for block in blocks)


def _all_else_equal(pairing: Pairing, touched: list[int]) -> bool:
    """Whether nothing but arguments of the blocks and their consumers can tell the plans apart."""
    pred_numbered, gold_numbered = pairing.pred.numbered, pairing.gold.numbered
    if (
        len(pred_numbered.arguments) != len(gold_numbered.arguments)
        or pred_numbered.forward
        or pairing.matcher is not None
    ):
        return False
    if pairing.pred.tools is not pairing.pred.called:
        return False
    counted = set(touched)
    return not pairing.total(gold for gold in range(len(gold_numbered.arguments)) if gold not in counted)


def _weight_table(pairing: Pairing, block: Block, *, consumers: bool) -> list[list[float]]:
    """Weights by gold and pred; what is equal in all else goes to calls of like ranks in their blocks."""
    users = pairing.gold.users if consumers else ()
    likeness = pairing.ranks.alike
    return [
        [
            pairing.weight(pred, gold)
            + (pairing.broken(pred, gold) if consumers and users[gold] else 0.0)
            + _RANK_WEIGHT * abs(column - row)
            - _SURROUNDINGS_WEIGHT * likeness(pred, gold)
            + (_OPTIONAL_WEIGHT if gold in pairing.optional else 0.0)
            for column, pred in enumerate(block.preds)
        ]
        for row, gold in enumerate(block.golds)
    ]


def _find_cheapest_pairs(pairing: Pairing, block: Block, *, consumers: bool = False) -> list[tuple[int, int]]:
    """The pairs of the block, whose calls are free, that cost least; without its consumers a bound of it."""
    pairs = assign(_weight_table(pairing, block, consumers=consumers))
    return [(block.preds[column], block.golds[row]) for row, column in pairs]


def _assign(pairing: Pairing, block: Block, *, consumers: bool = True) -> None:
    """Pair the block at the least cost, all other pairs as they are."""
    pairing.release(block.preds, block.golds)
    _restore(pairing, [block], _find_cheapest_pairs(pairing, block, consumers=consumers))


def _try_all(pairing: Pairing, blocks: list[Block], touched: list[int]) -> bool:
    """Depth-first over all pairings of the blocks, cutting off what cannot beat the best; proved?"""
    block_of = {gold: block for block in blocks for gold in block.golds}
    golds = [(gold, block_of[gold]) for gold in pairing.ranks.golds(block_of)]
    spare_golds = {id(block): max(0, len(block.golds) - len(block.preds)) for block in blocks}
    best_pairs = _pairs(pairing, blocks)
    best = pairing.total(touched)
    for block in blocks:
        pairing.release(block.preds, block.golds)
    floor = [min(pairing.cost(pred, gold) for pred in block.preds) for gold, block in golds]
    floor = [0.0 if spare_golds[id(block)] else low for low, (_, block) in zip(floor, golds, strict=True)]
    floor_left = [sum(floor[start:]) for start in range(len(floor) + 1)]
    floor_left = [low + pairing.total(touched, strict=False) for low in floor_left]
    nodes = MAX_NODES

    def descend(index: int, cost: float) -> None:
        nonlocal best, best_pairs, nodes
        if index == len(golds):
            nodes -= len(touched)
            total = pairing.total(touched)
            if total < best - TOLERANCE:
                best, best_pairs = total, _pairs(pairing, blocks)
            return
        gold, block = golds[index]
        free = [pred for pred in block.preds if pairing.to_gold[pred] < 0]
        nodes -= len(free)
        steps = [(_cost_increase(pairing, pred, gold), pred) for pred in free]
        for step, pred in sorted(steps, key=itemgetter(0)):
            if nodes > 0 and cost + step + floor_left[index + 1] < best - TOLERANCE:
                pairing.pair(pred, gold)
                descend(index + 1, cost + step)
                pairing.release([pred], [gold])
        if spare_golds[id(block)] and nodes > 0:
            spare_golds[id(block)] -= 1
            pairing.release([], [gold], ALONE)
            descend(index + 1, cost)
            pairing.release([], [gold])
            spare_golds[id(block)] += 1

    descend(0, 0.0)
    _restore(pairing, blocks, best_pairs)
    return nodes > 0


def _cost_increase(pairing: Pairing, pred: int, gold: int) -> float:
    """By how much what differs in any case grows when two free calls become partners.

    An argument counts once, by whatever it goes wrong: bounds that count it again cut off what is best.
    """
    affected = {use.consumer for use in pairing.gold.users[gold] if pairing.to_pred[use.consumer] >= 0}
    affected.update(to for use in pairing.pred.users[pred] if (to := pairing.to_gold[use.consumer]) >= 0)
    before = pairing.total(affected, strict=False)
    pairing.pair(pred, gold)
    after = pairing.total({*affected, gold}, strict=False)
    pairing.release([pred], [gold])
    return after - before


def lower_bound(pairing: Pairing, blocks: list[Block]) -> float:
    """What any pairing of the blocks costs at least; what else is paired stays so."""
    total = pairing.total(range(len(pairing.to_pred)), strict=False)
    for block in blocks:
        table = [[pairing.cost(pred, gold) for pred in block.preds] for gold in block.golds]
        total += sum(table[row][column] for row, column in assign(table))
    return total


def _pair_equal(pairing: Pairing, block: Block) -> Block:
    """Pair calls whose arguments are equal but for which of several producers of one name is meant."""
    waiting: dict[Any, list[int]] = {}
    for pred in reversed(block.preds):
        waiting.setdefault(_call_key(pairing.pred, pred), []).append(pred)
    golds = []
    for gold in block.golds:
        candidates = waiting.get(_call_key(pairing.gold, gold))
        if candidates:
            pairing.proved = pairing.proved and len(candidates) == 1
            pairing.pair(candidates.pop(), gold)
        else:
            golds.append(gold)
    unpaired = {pred for preds in waiting.values() for pred in preds}
    return Block(golds, [pred for pred in block.preds if pred in unpaired])


def _call_key(plan_calls: PlanCalls, position: int) -> Any:
    return frozenset(
        (name, shape, tuple(map(plan_calls.tool, producers)))
        for name, (shape, producers, _) in plan_calls.arguments(position).items()
    )


def _pair_by_shared_values(pairing: Pairing, block: Block) -> None:
    """Pair a large block by how many rare arguments two calls share, the rest as written; not proved."""
    pairing.proved = False
    holders: dict[Any, list[int]] = {}
    for pred in block.preds:
        for name, (shape, _, _) in pairing.pred.arguments(pred).items():
            holders.setdefault((name, shape), []).append(pred)
    paired: set[int] = set()
    unpaired = []
    rank = {pred: index for index, pred in enumerate(block.preds)}
    for gold in block.golds:
        shared: dict[int, int] = {}
        for name, (shape, _, _) in pairing.gold.arguments(gold).items():
            candidates = holders.get((name, shape), ())
            for pred in candidates if len(candidates) <= MAX_HOLDERS else ():
                if pred not in paired:
                    shared[pred] = shared.get(pred, 0) + 1
        if shared:
            partner = max(shared, key=lambda pred: (shared[pred], -rank[pred]))
            paired.add(partner)
            pairing.pair(partner, gold)
        else:
            unpaired.append(gold)
    free = [pred for pred in block.preds if pred not in paired]
    for gold, pred in zip(unpaired, free, strict=False):
        pairing.pair(pred, gold)
    pairing.release(free[len(unpaired) :], unpaired[len(free) :], ALONE)
