"""Mistakes that concern several calls or arguments: a list for calls, one call for a chain, exchanges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.matching.pairing import ALONE, Pairing, Side
from planner_eval.comparison.matching.replaced import telling
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Value

LOOKS = 10_000
"""Pairs of calls that are looked at for one that asks for several."""

GATHERED = 5
"""So many calls at most are told to be made in one."""


IN_ONE = 100
"""Of more missing calls it is not asked which of them a call of another tool holds in a list."""


class Listed(NamedTuple):
    """Calls that ask one by one what a call of the other plan asks in a list, or in several.

    Args:
        merged: The lists are the prediction's; else gold's.
        parts: The calls that have no partner, by position in their plan; one more is the partner.
        names: The arguments, by the prediction's names and by gold's.
    """

    merged: bool
    parts: tuple[int, ...]
    names: tuple[tuple[str, str], ...]


def lead_lists(pairing: Pairing) -> None:
    """Let a call that holds lists stand for the first of the calls that ask one by one, if none is used."""
    for gold, many in listed(pairing, pairing.to_gold).items():
        pred, first = pairing.to_pred[gold], many.parts[0]
        one, other = (pred, first) if many.merged else (first, gold)
        ours, theirs = pairing.pred.users, pairing.gold.users
        used = ours[pred] or ours[one] or theirs[gold] or theirs[other]
        if not used and first < (gold if many.merged else pred):
            pairing.release([pred], [gold], ALONE)
            pairing.pair(one, other)


def listed(pairing: Pairing, images: Sequence[Any], *, told: bool = False) -> dict[int, Listed]:
    """Partners of which one asks in lists what the other asks with more calls, by position in gold.

    The items of the lists are those of the calls, neither more nor less; what else differs does so in each of
    the calls alike, or else, where it is told, not in the first.

    Args:
        pairing: The pairing.
        images: For each call of pred its partner.
        told: What is wanted is what a person says of the calls, not which are partners.
    """
    found: dict[int, Listed] = {}
    if min((*pairing.to_gold, *pairing.to_pred), default=0) >= 0:  # all have partners, as in most plans
        return found
    alone = _alone(pairing.pred.tools, pairing.to_gold), _alone(pairing.gold.tools, pairing.to_pred)
    if alone[0].keys().isdisjoint(pairing.gold.tools) and alone[1].keys().isdisjoint(pairing.pred.tools):
        return found
    looks = 0
    for gold, pred in enumerate(pairing.to_pred[: len(pairing.gold.tools)]):
        tool = pairing.gold.tools[gold]
        if pred < 0 or pairing.pred.tools[pred] != tool:
            continue
        for merged in (True, False):
            rest = alone[merged].get(tool, [])
            looks += len(rest)
            if rest and looks <= LOOKS:
                many = _listed(pairing, images, pred, gold, merged, rest, told)
                if many is None and told:
                    many = _beside(pairing, pred, gold, merged, rest)
                    many = many or _in_lists(pairing, pred, gold, merged, rest)
                if many is not None:
                    found[gold] = many
                    alone[merged][tool] = [at for at in rest if at not in many.parts]
                    break
    return found


def _listed(
    pairing: Pairing,
    images: Sequence[Any],
    pred: int,
    gold: int,
    merged: bool,
    rest: list[int],
    told: bool,
) -> Listed | None:
    """The calls of `rest` that ask with a partner what the other holds in lists."""
    varying = _varying(pairing, pred, gold, merged)
    if varying is None:
        return None
    names, _ = varying
    own = range(len(pairing.to_pred))
    whole, single = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    held = whole.arguments(pred if merged else gold)
    left = [Counter(_items(held[pair[not merged]][2], images if merged else own)) for pair in names]
    parts = []
    for at in (gold if merged else pred, *rest):
        other = _varying(pairing, *((pred, at) if merged else (at, gold)), merged)
        if other != varying and not (told and not varying[1] and other and other[0] == names):
            continue
        given = single.arguments(at)
        items = [Counter(_items(given[pair[merged]][2], own if merged else images)) for pair in names]
        if all(one <= more for one, more in zip(items, left, strict=True)):
            left = [more - one for one, more in zip(items, left, strict=True)]
            parts.append(at)
    if any(left) or len(parts) < 2 or parts[0] != (gold if merged else pred):
        return None
    return Listed(merged, tuple(parts[1:]), names)


def _beside(pairing: Pairing, pred: int, gold: int, merged: bool, rest: list[int]) -> Listed | None:
    """Calls of `rest` that ask with a partner, under one name, what the other holds beside one another.

    So a call on 90 and 120 stands for one on 15 and 90 and one on 15 and 120, whatever these two share: all
    that is wrong of it is where it holds what they differ in.
    """
    whole, single = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    held = whole.arguments(pred if merged else gold)
    first, *others = (single.arguments(at) for at in (gold if merged else pred, *rest))
    wrong = pairing.differing(pred, gold, strict=True)
    holders = {shape: name for name, (shape, _, _) in reversed(held.items()) if type(name) is str}
    for name, (shape, taken, value) in first.items():
        if taken or type(name) is not str or shape not in holders or not telling(value):
            continue
        names, parts = [holders[shape]], []
        for at, given in zip(rest, others, strict=True):
            differ = [one for one in {**first, **given} if first.get(one) != given.get(one)]
            if differ != [name] or name not in given or given[name][1] or not telling(given[name][2]):
                continue
            there = holders.get(given[name][0])
            if there is not None and there not in names:
                names.append(there)
                parts.append(at)
        if parts and {*wrong} <= {*names}:
            pairs = [(one, name) if merged else (name, one) for one in sorted(names, key=[*held].index)]
            return Listed(merged, tuple(parts), tuple(pairs))
    return None


def _in_lists(pairing: Pairing, pred: int, gold: int, merged: bool, rest: list[int]) -> Listed | None:
    """Calls of `rest` of which the other holds two arguments or more in lists.

    What of them is in no list of its own items, as a rate written as per cent, is another mistake.
    """
    whole, single = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    held = whole.arguments(pred if merged else gold)
    first = gold if merged else pred
    given = single.arguments(first)
    lists = {
        name: [whole.shape(item) for item in value]
        for name, (_, taken, value) in held.items()
        if type(value) is list and not taken and name in given and type(given[name][2]) is not list
    }
    if len(lists) < 2 or not {*pairing.differing(pred, gold, strict=True)} <= {*lists}:
        return None
    names = [name for name, items in lists.items() if type(name) is str and given[name][0] in items]
    parts = []
    for at in rest:
        other = single.arguments(at)
        same = all(name in held and (name in lists or other[name][:2] == held[name][:2]) for name in other)
        if same and all(name in other and other[name][0] in lists[name] for name in names):
            parts.append(at)
    calls = [single.arguments(at) for at in (first, *parts)]
    names = [name for name in names if {call[name][0] for call in calls} == {*lists[name]}]
    if len(names) < 2 or not parts:
        return None
    return Listed(merged, tuple(parts), tuple((name, name) for name in names))


def _varying(
    pairing: Pairing, pred: int, gold: int, merged: bool
) -> tuple[tuple[tuple[str, str], ...], dict[str, Key]] | None:
    """The arguments in which one of two calls has lists, by their names in pred and gold; what else differs.

    None where no list differs, or more else than lists.
    """
    wrong = pairing.differing(pred, gold, strict=True)
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    mine = [name for name in wrong if name not in theirs]
    wanted = [name for name in wrong if name not in ours]
    pairs = [(name, name) for name in wrong if name in ours and name in theirs]
    pairs += [(mine[0], wanted[0])] if len(mine) == 1 == len(wanted) else []
    whole = ours if merged else theirs
    names = tuple(pair for pair in pairs if type(whole[pair[not merged]][2]) is list)
    if not names or not all(type(name) is str for pair in names for name in pair):
        return None
    single = theirs if merged else ours
    known = {name for pair in names for name in pair}
    rest = {name: single[name][:2] if name in single else None for name in wrong if name not in known}
    return (names, rest) if len(rest) <= len(names) else None


def _alone(tools: Sequence[Any], partner: Sequence[int]) -> dict[Any, list[int]]:
    """The calls without a partner, by their tool."""
    found: dict[Any, list[int]] = {}
    for at, tool in enumerate(tools):
        if partner[at] < 0:
            found.setdefault(tool, []).append(at)
    return found


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


def gathered(pairing: Pairing, pred: int, gold: int) -> list[int]:
    """Calls of gold that join in one, in whose place one call of pred stands, which holds their values.

    The call of pred takes from no other, its tool is none of gold's, and each value it has that says
    something is of one of two or more calls of gold, which are all that gold's needs; none of them has a
    partner of its own tool, nor feeds any other call, nor has a value more.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: The call in which gold's join.

    Returns:
        The calls in gold's order; `gold` alone where there are none such.
    """
    ours, theirs = pairing.pred, pairing.gold
    needed, waiting = {gold}, [gold]
    while waiting and len(needed) <= GATHERED:
        more = {*theirs.numbered.producers(waiting.pop())} - needed
        needed |= more
        waiting += more
    if not 2 < len(needed) <= GATHERED or ours.tools[pred] in theirs.tools:
        return [gold]
    if any(use.consumer not in needed for at in needed - {gold} for use in theirs.users[at]):
        return [gold]
    if any(theirs.tools[at] in ours.tools for at in needed):
        return [gold]
    given, wanted = _told(ours, pred), [_told(theirs, at) for at in sorted(needed)]
    if ours.numbered.producers(pred) or sum(map(bool, wanted)) < 2 or given != sum(wanted, Counter()):
        return [gold]
    return sorted(needed)


class Collected(NamedTuple):
    """Calls of one tool that a call of a tool that gold has not holds in a list.

    Args:
        name: The argument that holds the list.
        parts: The calls, by position in gold.
    """

    name: str
    parts: tuple[int, ...]


def in_one(pairing: Pairing, pred: int, gold: int, lost: Sequence[int]) -> Collected | None:
    """The calls, two or more, that differ by what another has as items of a list; None for none.

    The tool of the call is none of gold's, it has all other arguments of theirs with equal values, at least
    one of which says something, and the items are those of the calls, neither more nor less. The calls are
    missing, but one may be its partner.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: Its partner.
        lost: The calls of gold that are missing; of more than a hundred nothing is told.
    """
    ours, theirs = pairing.pred, pairing.gold
    if not 0 < len(lost) <= IN_ONE or ours.tools[pred] in theirs.tools:
        return None
    held = ours.arguments(pred)
    alone: dict[Any, list[int]] = {}
    for at in (*lost, gold):
        alone.setdefault(theirs.tools[at], []).append(at)
    for name, (_, taken, value) in held.items():
        if type(name) is not str or type(value) is not list or taken or len(value) < 2:
            continue
        items = {ours.shape(item): at for at, item in enumerate(value) if telling(item)}
        found: dict[Any, dict[Key, int]] = {}
        for tool, calls in alone.items() if len(items) == len(value) else ():
            for at in calls:
                given = theirs.arguments(at)
                other = [one for one in given if one not in held or given[one][:2] != held[one][:2]]
                shared = any(telling(given[one][2]) for one in given if one not in other)
                if len(other) == 1 and shared and not given[other[0]][1] and given[other[0]][0] in items:
                    found.setdefault((tool, other[0]), {}).setdefault(given[other[0]][0], at)
        for parts in found.values():
            if parts.keys() == items.keys():
                return Collected(name, tuple(sorted(parts.values())))
    return None


def _told(side: Side, at: int) -> Counter[Key]:
    """The values of a call that say something, but for what it takes."""
    given = side.arguments(at).values()
    return Counter(shape for shape, needed, value in given if telling(value) and not needed)


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
