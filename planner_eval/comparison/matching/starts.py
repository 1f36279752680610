"""Where the search for a cheap pairing starts, other than from the blocks' own costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planner_eval.comparison.matching.pairing import Pairing, Side
from planner_eval.plan.isomorphism import Coloured, refine

if TYPE_CHECKING:
    from planner_eval.comparison.matching.blocks import Block

HOPS = 6
"""How far around a call its surroundings are looked at."""


def pair_as_written(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair free calls where the two plans, as lists of names, agree; then as they come."""
    from difflib import SequenceMatcher  # few comparisons come this far

    preds = {pred for block in blocks for pred in block.preds}
    golds = {gold for block in blocks for gold in block.golds}
    runs = SequenceMatcher(None, pairing.pred.tools, pairing.gold.tools, autojunk=False)
    for pred, gold, size in runs.get_matching_blocks():
        for step in range(size):
            if pred + step in preds and gold + step in golds:
                pairing.pair(pred + step, gold + step)
    _pair_rest(pairing, blocks)


def pair_by_surroundings(pairing: Pairing, blocks: list[Block]) -> None:
    """Pair free calls whose surroundings are alike, the widest surroundings first; then as they come.

    A call's surroundings at no hops are its name and its arguments but for which calls they refer
    to; at each further hop those of its producers and consumers are added.
    """
    table: dict[Any, int] = {}
    ours, theirs = _looks(pairing.pred, table), _looks(pairing.gold, table)
    seen = [(list(ours.colours), list(theirs.colours))]
    for _ in range(HOPS):
        refine(ours, theirs, rounds=1)
        seen.append((list(ours.colours), list(theirs.colours)))
    for left, right in reversed(seen):
        for block in blocks:
            _pair_alike(pairing, block, left, right)
    _pair_rest(pairing, blocks)


def _looks(side: Side, table: dict[Any, int]) -> Coloured:
    count = len(side.numbered.arguments)
    colours = []
    for at in range(count):
        shapes = frozenset((name, shape) for name, (shape, _, _) in side.arguments(at).items())
        colours.append(table.setdefault((side.tool(at), shapes), len(table)))
    return Coloured(colours, [side.numbered.producers(at) for at in range(count)])


def _pair_alike(pairing: Pairing, block: Block, left: list[int], right: list[int]) -> None:
    """Pair the block's free calls of one colour, as written, where both plans have as many."""
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
        if len(here) == len(there):
            for pred, gold in zip(here, there, strict=True):
                pairing.pair(pred, gold)


def _pair_rest(pairing: Pairing, blocks: list[Block]) -> None:
    for block in blocks:
        left = [pred for pred in reversed(block.preds) if pairing.to_gold[pred] < 0]
        for gold in block.golds:
            if left and pairing.to_pred[gold] < 0:
                pairing.pair(left.pop(), gold)
