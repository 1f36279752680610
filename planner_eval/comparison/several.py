"""Mistakes that concern several calls or arguments: a list for calls, one call for a chain, exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.matching.pairing import Pairing
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Value

LOOKS = 10_000
"""Pairs of calls that are looked at for one that asks for several."""


class Listed(NamedTuple):
    """Calls that ask one by one what a call of the other plan asks in a list.

    Args:
        merged: The list is the prediction's; else gold's.
        parts: The calls that have no partner, by position in their plan; one more is the partner.
        ours: The argument, by the prediction's name.
        theirs: The argument, by gold's name.
    """

    merged: bool
    parts: tuple[int, ...]
    ours: str
    theirs: str


def listed(pairing: Pairing, images: Sequence[Any]) -> dict[int, Listed]:
    """Partners of which one asks in a list what the other asks with more calls, by position in gold.

    All other arguments are equal, and the items of the list are those of the calls, neither more nor less.

    Args:
        pairing: The pairing.
        images: For each call of pred its partner.
    """
    found: dict[int, Listed] = {}
    if min((*pairing.to_gold, *pairing.to_pred), default=0) >= 0:  # all have partners, as in most plans
        return found
    own = range(len(pairing.to_pred))
    alone = _alone(pairing.pred.tools, pairing.to_gold), _alone(pairing.gold.tools, pairing.to_pred)
    looks = 0
    for gold, pred in enumerate(pairing.to_pred[: len(pairing.gold.tools)]):
        tool = pairing.gold.tools[gold]
        if pred < 0 or pairing.pred.tools[pred] != tool or not (tool in alone[0] or tool in alone[1]):
            continue
        names = _varying(pairing, pred, gold)
        if names is None:
            continue
        one, other = (
            side.arguments(at)[name][2]
            for side, at, name in ((pairing.pred, pred, names[0]), (pairing.gold, gold, names[1]))
        )
        for merged, whole in ((True, one), (False, other)):
            rest = alone[merged].get(tool, [])
            if type(whole) is not list or not rest:
                continue
            left = Counter(_items(whole, images if merged else own))
            parts = []
            for at in (gold if merged else pred, *rest):
                looks += 1
                pair = (pred, at) if merged else (at, gold)
                if looks > LOOKS or _varying(pairing, *pair) != names:
                    continue
                side, name = (pairing.gold, names[1]) if merged else (pairing.pred, names[0])
                items = Counter(_items(side.arguments(at)[name][2], own if merged else images))
                if items <= left:
                    left -= items
                    parts.append(at)
            if not left and len(parts) > 1 and parts[0] == (gold if merged else pred):
                found[gold] = Listed(merged, tuple(parts[1:]), *names)
                alone[merged][tool] = [at for at in rest if at not in parts]
                break
    return found


def _alone(tools: Sequence[Any], partner: Sequence[int]) -> dict[Any, list[int]]:
    """The calls without a partner, by their tool."""
    found: dict[Any, list[int]] = {}
    for at, tool in enumerate(tools):
        if partner[at] < 0:
            found.setdefault(tool, []).append(at)
    return found


def _varying(pairing: Pairing, pred: int, gold: int) -> tuple[str, str] | None:
    """The one argument in which two calls differ, by its name in pred and in gold."""
    wrong = pairing.differing(pred, gold, strict=True)
    if not 0 < len(wrong) <= 2:
        return None
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    mine, wanted = [name for name in wrong if name in ours], [name for name in wrong if name in theirs]
    if len(mine) == len(wanted) == 1 and len({*mine, *wanted}) == len(wrong):
        names = mine[0], wanted[0]
        return names if all(type(name) is str for name in names) else None
    return None


def _items(value: Value, numbers: Any) -> Iterator[Key]:
    return (value_key(item, numbers) for item in (value if type(value) is list else [value]))


def chain(pairing: Pairing, pred: int, gold: int) -> list[int]:
    """Calls of gold, each of which alone takes the former's output, in whose place one call of pred stands.

    All but `gold` are missing, and the call of pred has the producers of the first and the consumers of
    the last, which are some: a plan that ends early has left calls out.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: Its partner, of another tool.

    Returns:
        The calls in their order; `gold` alone where there is no such chain.
    """
    side, images = pairing.gold, pairing.to_gold

    def before(at: int) -> set[int]:
        return {*side.numbered.producers(at)}

    def after(at: int) -> set[int]:
        return {use.consumer for use in side.users[at]}

    def follow(onward: Callable[[int], set[int]], back: Callable[[int], set[int]]) -> list[int]:
        calls = [gold]
        while len(there := onward(calls[-1])) == 1:
            (at,) = there
            if at == len(side.tools) or pairing.to_pred[at] >= 0 or back(at) != {calls[-1]} or at in calls:
                break
            calls.append(at)
        return calls

    calls = [*follow(before, after)[:0:-1], *follow(after, before)]
    ends = (
        {images[at] for at in pairing.pred.numbered.producers(pred)},
        {images[use.consumer] for use in pairing.pred.users[pred]},
    )
    if not ends[1] or ends != (before(calls[0]), after(calls[-1])):
        return [gold]
    return calls


def exchanged(ours: Mapping[str, Key], theirs: Mapping[str, Key]) -> Iterator[list[str]]:
    """Names of which each has in `ours` what the next one has in `theirs`, and the last what the first has.

    Args:
        ours: Names and values, none of them right.
        theirs: The same names with the right values.

    >>> list(exchanged({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 4}))
    [['a', 'b']]
    """
    holders: dict[Key, list[str]] = {}
    for name in reversed([*theirs]):
        holders.setdefault(theirs[name], []).append(name)
    meant = {name: there.pop() for name, key in ours.items() if (there := holders.get(key))}
    seen: set[str] = set()
    for start in theirs:
        circle: list[str] = []
        at: str | None = start
        while at is not None and at not in seen:
            seen.add(at)
            circle.append(at)
            at = meant.get(at)
        if at == start and len(circle) > 1:
            yield circle
