"""Plans that differ in a call or a few, each where gold has it: the pairing that the search would find.

Most predictions that are wrong are so in one argument. Then the search for the cheapest pairing, which fills
a table of costs for each name that is called twice, ends where it began.
"""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.matching.names import Tool
from planner_eval.comparison.matching.pairing import FREE, Argument, Pairing

MOST = 50
"""Calls up to which the search looks at each pair of calls of one name."""

WORK = 20_000
"""Steps up to which it proves what it finds."""


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

    Args:
        pairing: Plans whose calls all have numbers of their own; calls of equal numbers are paired.

    Returns:
        Whether it has been done; else nothing more is paired than was.
    """
    pred, gold = pairing.pred, pairing.gold
    count = len(pairing.to_pred)
    if count > MOST or count != len(pairing.to_gold) or pred.tools != gold.tools:
        return False
    changed: set[Tool] = set()
    for place, partner in enumerate(pairing.to_pred):
        if partner == place:
            continue
        if partner != FREE or pairing.to_gold[place] != FREE:
            return False
        same = _same(pred.arguments(place), gold.arguments(place))
        if same is None:
            return False
        if not same:
            tool = gold.tool(place)
            if tool in changed:
                return False
            changed.add(tool)
    uses = len(gold.numbered.plan.edges)
    if count > len(gold.tools):  # the answer refers, too
        uses += sum(len(producers) for _, producers, _ in gold.arguments(count - 1).values())
    if count * (count + uses) > WORK:
        return False
    pairing.to_gold, pairing.to_pred = [*range(count)], [*range(count)]
    return True


def _same(ours: dict[Any, Argument], theirs: dict[Any, Argument]) -> bool | None:
    """Whether the arguments of two calls are the same; None where what they refer to is not."""
    same = len(ours) == len(theirs)
    for name, (shape, producers, _) in theirs.items():
        mine = ours.get(name)
        if mine is None or mine[0] != shape:
            same = False
        elif mine[1] != producers:
            return None
    return same
