"""Which call a person takes for which: of one tool the one that shares most, of another only for a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from planner_eval.comparison.matching.assignment import assign
from planner_eval.comparison.matching.pairing import ALONE, Pairing, Side
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.tries import identifies
from planner_eval.plan.model import Value
from planner_eval.plan.walk import leaves

LOOKS = 400
"""Pairs of calls of one tool up to which it is asked which share most."""

ROUNDS = 3
"""So often partners are looked for anew: what neighbours are depends on what their partners are."""

PLACED, MOVED, NEAR = 4, 3, 2
"""What two calls have in common counts: a value that says something, one under another name, a neighbour."""


ID = 8
"""An id says as much about which thing a call is for as so many other texts."""


def no_replacement(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one call is not to be told as standing for another of another tool.

    A call of a tool that gold calls, too, is first of all that: it stands for nothing else while gold's call
    of its tool is missing, nor for what it shares no value with, nor for what it follows. The same holds of
    gold's. And what ends the flow is not put for what begins it, unless they share a value or a neighbour.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: A call of gold, of another tool.
    """
    ours, theirs = pairing.pred, pairing.gold
    if ours.tools[pred].name == theirs.tools[gold].name:
        return False
    share = bool(told_values(ours.arguments(pred)) & told_values(theirs.arguments(gold)))
    share = share or _same(pairing, pred, gold)
    for mine, other, tool, partner in (
        (ours, theirs, ours.tools[pred], pairing.to_pred),
        (theirs, ours, theirs.tools[gold], pairing.to_gold),
    ):
        own = [at for at, called in enumerate(other.tools) if called == tool]
        if own and (not share or (mine is ours and any(partner[at] < 0 for at in own))):
            return True
        if own and _turns(pairing, pred, gold):
            return True
    if share or neighbours(ours, pred, pairing.to_gold) & neighbours(
        theirs, gold, range(len(pairing.to_pred))
    ):
        return False
    begins = [not side.numbered.producers(at) for side, at in ((ours, pred), (theirs, gold))]
    ends = [not side.users[at] for side, at in ((ours, pred), (theirs, gold))]
    return begins[0] != begins[1] and ends[0] != ends[1]


def _same(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls take the same under one name, or have all arguments, or all neighbours, in common."""
    images, own = pairing.to_gold, range(len(pairing.to_pred))
    near = neighbours(pairing.pred, pred, images), neighbours(pairing.gold, gold, own)
    if near[0] and near[0] == near[1]:
        return True
    given = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    mine = {name: (shape, [images[at] for at in needed]) for name, (shape, needed, _) in given[0].items()}
    wanted = {name: (shape, [*needed]) for name, (shape, needed, _) in given[1].items()}
    taken = any(needed and mine.get(name) == (shape, needed) for name, (shape, needed) in wanted.items())
    return taken or (bool(mine) and mine == wanted)


def _turns(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one call needs the partner of what needs the other, so that the flow would turn round."""
    images = pairing.to_gold
    after = {images[at] for at in needing(pairing.pred, pred) if at < len(pairing.pred.tools)}
    later = needing(pairing.gold, gold)
    waiting, seen = [pred], {pred}
    while waiting:
        new = {*pairing.pred.numbered.producers(waiting.pop())} - seen
        if any(images[at] in later for at in new):
            return True
        seen |= new
        waiting += new
    waiting, known = [gold], {gold}
    while waiting and after:
        more = {*pairing.gold.numbered.producers(waiting.pop())} - known
        if more & after:
            return True
        known |= more
        waiting += more
    return False


def needing(side: Side, at: int) -> set[int]:
    """The calls that need a call's result, or what needs it."""
    found: set[int] = set()
    waiting = [at]
    while waiting:
        new = {use.consumer for use in side.users[waiting.pop()]} - found
        found |= new
        waiting += [consumer for consumer in new if consumer < len(side.tools)]
    return found


Group = tuple[list[int], list[int]]
"""Calls of one tool, of pred and of gold."""


def in_doubt(pairing: Pairing, doubtful: Iterable[tuple[int, int]]) -> Iterator[Group]:
    """Calls of one tool, but those that are right in all, of which partners have no value in common.

    Args:
        pairing: The pairing.
        doubtful: Partners of one tool, half of whose arguments or more are wrong.
    """
    ours, theirs = pairing.pred.tools, pairing.gold.tools
    for tool in {theirs[gold]: None for pred, gold in doubtful if not _placed(pairing, pred, gold)}:
        if ours.count(tool) * theirs.count(tool) < 2:
            continue
        golds = [at for at, called in enumerate(theirs) if called == tool and not _right(pairing, at)]
        right = {pairing.to_pred[at] for at in range(len(theirs))} - {pairing.to_pred[at] for at in golds}
        preds = [at for at, called in enumerate(ours) if called == tool and at not in right]
        within = {pairing.to_gold[at] for at in preds} <= {*golds, ALONE}
        within = within and {pairing.to_pred[at] for at in golds} <= {*preds, ALONE}
        if within and 1 < len(preds) * len(golds) <= LOOKS:
            yield preds, golds


def regroup(pairing: Pairing, groups: Iterable[Group]) -> bool:
    """Pair calls of one tool anew where others share more; whether any were.

    Args:
        pairing: The pairing, which is changed.
        groups: The calls.
    """
    changed = False
    for _ in range(ROUNDS):
        again = [_pair_anew(pairing, preds, golds) for preds, golds in groups]
        if not any(again):
            break
        changed = True
    return changed


def _right(pairing: Pairing, gold: int) -> bool:
    pred = pairing.to_pred[gold]
    return pred >= 0 and not pairing.differing(pred, gold, strict=True)


def _pair_anew(pairing: Pairing, preds: list[int], golds: list[int]) -> bool:
    """Pair calls of one tool by what they share; whether they share more than they did."""
    table = [[-float(_score(pairing, pred, gold)) for pred in preds] for gold in golds]
    now = {
        (row, preds.index(partner))
        for row, gold in enumerate(golds)
        if (partner := pairing.to_pred[gold]) in preds
    }
    found = {*assign(table)}
    if sum(table[row][at] for row, at in found) >= sum(table[row][at] for row, at in now):
        return False
    pairing.release(preds, golds, ALONE)
    for row, at in sorted(found):
        pairing.pair(preds[at], golds[row])
    return True


def _score(pairing: Pairing, pred: int, gold: int) -> int:
    near = neighbours(pairing.pred, pred, pairing.to_gold)
    near &= neighbours(pairing.gold, gold, range(len(pairing.to_pred)))
    return _shared(pairing, pred, gold) + NEAR * len(near)


def _placed(pairing: Pairing, pred: int, gold: int) -> list[Any]:
    """The arguments under which two calls have the same value that says something."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    return [
        name
        for name, (shape, needed, value) in theirs.items()
        if not needed and telling(value) and name in ours and ours[name][0] == shape
    ]


def _shared(pairing: Pairing, pred: int, gold: int) -> int:
    """How much two calls share in values that say something, under whatever name."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    placed = _placed(pairing, pred, gold)
    rest = [
        told_values({name: given for name, given in arguments.items() if name not in placed})
        for arguments in (ours, theirs)
    ]
    return PLACED * len(placed) + MOVED * len(rest[0] & rest[1])


def emptied(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls with a partner anew: an empty argument is rather too much than contrary to another value.

    Where gold has a call of the tool left that gives the argument no value at all, and is no dearer, the one
    that gives another value is the missing one.
    """
    left: dict[Any, list[int]] = {}
    for gold, tool in enumerate(pairing.gold.tools):
        if pairing.to_pred[gold] < 0:
            left.setdefault(tool, []).append(gold)
    for gold, tool in enumerate(pairing.gold.tools) if left else ():
        pred = pairing.to_pred[gold]
        if pred < 0 or tool not in left or pairing.pred.tools[pred] != tool:
            continue
        ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
        wrong = pairing.differing(pred, gold, strict=True)
        contrary = [name for name in wrong if name in ours and name in theirs and _empty(ours[name][2])]
        for other in left[tool] if contrary else ():
            given = pairing.gold.arguments(other)
            if not any(name in given for name in contrary) and pairing.cost(
                pred, other, strict=True
            ) <= pairing.cost(pred, gold, strict=True):
                left[tool].remove(other)
                yield pred, other
                break


def crossed(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Two pairs of one tool that are as right the other way round, or hold their own values in exchange.

    Of what is as right a person takes what says which thing is meant: an id rather than another text, and a
    text rather than a number or a list. And a call that holds exactly the values of another, under one
    another's names, is that one. Only calls are meant whose results nothing takes.
    """
    unlike: dict[Any, list[tuple[int, int]]] = {}
    for gold, tool in enumerate(pairing.gold.tools):
        pred = pairing.to_pred[gold]
        if pred >= 0 and pairing.pred.tools[pred] == tool and not pairing.equal(pred, gold):
            unlike.setdefault(tool, []).append((pred, gold))
    for several in unlike.values():
        if len(several) < 2:  # as of most tools: nobody asks who uses them, and what is wrong
            continue
        pairs = [
            (pred, gold)
            for pred, gold in several
            if not (pairing.pred.users[pred] or pairing.gold.users[gold]) and pairing.final(pred, gold)
        ]
        done: set[int] = set()
        for (one, gold), (other, theirs) in combinations(pairs, 2) if len(pairs) ** 2 <= LOOKS else ():
            if gold in done or theirs in done:
                continue
            now = zip(_meaning(pairing, one, gold), _meaning(pairing, other, theirs), strict=True)
            then = zip(_meaning(pairing, one, theirs), _meaning(pairing, other, gold), strict=True)
            if [*map(sum, now)] < [*map(sum, then)]:
                done |= {gold, theirs}
                yield (one, gold), (other, theirs)


def _meaning(pairing: Pairing, pred: int, gold: int) -> tuple[int, int, int]:
    """What speaks for two calls: all values are the same, how few are wrong, what the right ones say."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    wrong = pairing.differing(pred, gold, strict=True)
    held = [sorted(repr(shape) for shape, _, _ in given.values()) for given in (ours, theirs)]
    turned = held[0] == held[1] and len(theirs) > 1 and all(telling(value) for _, _, value in theirs.values())
    return int(turned), -len(wrong), sum(_says(name, theirs[name][2]) for name in theirs if name not in wrong)


def _says(name: Any, value: Value) -> int:
    """How much a value says about which thing a call is for."""
    if type(value) is not str or not telling(value):
        return 0
    return ID if type(name) is str and identifies(name, value) else 1


def _empty(value: Value) -> bool:
    """Whether a value says no more than none: ``false`` does not, ``0`` may."""
    return value is False or value is None or (type(value) in (str, list, dict) and not value)


def told_values(arguments: dict[Any, Any]) -> set[str]:
    """The values, and parts of values, that say something."""
    given = (leaf for _, _, value in arguments.values() for _, leaf in leaves(value))
    return {repr(leaf) for leaf in given if isinstance(leaf, (str, int, float)) and telling(leaf)}


def neighbours(side: Side, at: int, image: Sequence[int]) -> set[tuple[str, int]]:
    """Where a call's values come from and go to, in gold's positions."""
    found = {("from", image[call]) for call in side.numbered.producers(at)}
    found |= {("to", image[use.consumer]) for use in side.users[at]}
    return {(end, call) for end, call in found if call >= 0}
