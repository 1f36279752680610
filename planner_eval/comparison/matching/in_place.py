"""Plans that differ in a call or a few, each where gold has it: the pairing that the search would find.

Most predictions that are wrong are so in one argument. Then the search for the cheapest pairing, which fills
a table of costs for each name that is called twice, ends where it began.
"""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.matching.names import Tool
from planner_eval.comparison.matching.pairing import ALONE, FREE, Argument, Pairing

MOST = 50
"""Calls up to which the search looks at each pair of calls of one name."""

WORK = 20_000
"""Steps up to which it proves what it finds."""


NOWHERE = -1
"""The place of no call."""


def pair_in_place(pairing: Pairing) -> bool:
    """Pair each call with the one at its place in gold, where that is what the search would do, and proves.

    It is so where the plans call the same tools in the same order, all references go to the same places, and
    of the calls of one tool at most one differs in anything else. For then

    - the number of arguments that differ is a distance, for it is counted name by name. Let a call of gold
      be the one that differs from its partner. Any other pairing of its tool's calls leads from it, by
      calls that are the same on both sides, to that partner: the distances on this way are no less in sum;
    - so are, counted alike, those of argument names, references and values, by which the search breaks ties,
      and no other pairing has more calls that are right in all: it finds this one for each name by itself,
      and proves it, for no reference of it is broken.

    And where one call is of a tool that gold never calls, and nothing differs in the others: that call and
    gold's at its place stay alone. For it is alone in any pairing, and each argument that takes its output
    counts as much in any, but where it counts more; here nothing else counts.

    A plan may hold equal calls. Then another pairing may be as good in all this, and stands for another order
    of what nothing tells apart: the search ends with the one as written. What would tell equal calls apart
    but does not count in the search, references of arguments that differ, is left to it.

    Args:
        pairing: Plans whose equal calls are paired, as far as nobody uses several of one number.

    Returns:
        Whether it has been done; else nothing more is paired than was.
    """
    pred, gold = pairing.pred, pairing.gold
    count = len(pairing.to_pred)
    if count > MOST or count != len(pairing.to_gold) or pairing.matcher is not None or not pairing.proved:
        return False
    renamed = _renamed(pred.tools, gold.tools)
    if renamed is None or not _stands(pairing, renamed):
        return False
    uses = len(gold.numbered.plan.edges)
    if count > len(gold.tools):  # the answer refers, too
        uses += sum(len(producers) for _, producers, _ in gold.arguments(count - 1).values())
    if count * (count + uses) > WORK:
        return False
    pairing.to_gold, pairing.to_pred = [*range(count)], [*range(count)]
    if renamed != NOWHERE:
        pairing.release([renamed], [renamed], ALONE)
    return True


def _stands(pairing: Pairing, renamed: int) -> bool:
    """Whether each call may be paired with the one at its place, but for one that calls another tool."""
    pred, gold, settled = pairing.pred, pairing.gold, pairing.settled
    if not settled and None in gold.numbered.numbers:
        return False
    changed: set[Tool] = set()
    for position, partner in enumerate(pairing.to_pred):
        if partner == position and settled:
            continue
        if partner != position and (partner != FREE or pairing.to_gold[position] != FREE):
            return False
        same = _same(pred.arguments(position), gold.arguments(position), strict=not settled)
        if same is None:
            return False
        if not same and position != renamed:
            tool = gold.tool(position)
            if tool in changed or renamed != NOWHERE:
                return False
            changed.add(tool)
    return True


def _renamed(pred_tools: list[Tool], gold_tools: list[Tool]) -> int | None:
    """The only place at which pred calls another tool, one that gold never calls; None where it is not so."""
    if pred_tools == gold_tools:
        return NOWHERE
    if len(pred_tools) != len(gold_tools):
        return None
    differing = [
        i
        for i, (pred_tool, gold_tool) in enumerate(zip(pred_tools, gold_tools, strict=True))
        if pred_tool != gold_tool
    ]
    return differing[0] if len(differing) == 1 and pred_tools[differing[0]] not in gold_tools else None


def _same(pred_args: dict[Any, Argument], gold_args: dict[Any, Argument], *, strict: bool) -> bool | None:
    """Whether the arguments of two calls are the same; None where what they refer to is not.

    Args:
        pred_args: Those of pred's call.
        gold_args: Those of gold's.
        strict: Arguments that differ have to refer to the same calls, too, all together.
    """
    same = len(pred_args) == len(gold_args)
    for name, (shape, producers, _) in gold_args.items():
        pred_arg = pred_args.get(name)
        if pred_arg is None or pred_arg[0] != shape:
            same = False
        elif pred_arg[1] != producers:
            return None
    if strict and not same and _producers(pred_args) != _producers(gold_args):
        return None
    return same


def _producers(arguments: dict[Any, Argument]) -> list[int]:
    return sorted(producer for _, producers, _ in arguments.values() for producer in producers)
