"""Partners as they are told: calls of one tool that have nothing in common but their name are none.

Figures count calls of one tool as partners wherever both plans have one left. A person who explains a plan
does so, too, but where a call of that tool cannot be meant: gold's calls that take its result are written
without it before it, and no value, producer or consumer is shared. Then the one call is missing, and the
other is too much. And of calls of one tool that have exactly one another's values, with their results taken
for one another as well, the partners are those of equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from planner_eval.comparison.align import Alignment, Matching
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.order import find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, Pairing, Side
from planner_eval.comparison.matching.replaced import pair_replaced, telling
from planner_eval.comparison.meant import (
    crossed,
    emptied,
    in_doubt,
    needing,
    neighbours,
    no_replacement,
    regroup,
    told_values,
)
from planner_eval.comparison.several import gathered, listed
from planner_eval.comparison.whole import earliest, in_chain, pair_leftover, same_values

Pairs = list[tuple[int, int]]
"""Positions in pred and in gold."""


def as_told(matching: Matching) -> Matching:
    r"""A matching with partners as a person takes them; with what figures count beside it where they differ.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.dialects.read import parse
    >>> gold = parse("a = add(#x='20', #y='30')\nb = root(#of=a)")
    >>> found = match(parse("b = root(#of='81')\nc = add(#x=b, #y='17')"), gold)
    >>> found.alignment.pairs, as_told(found).alignment.pairs
    (((1, 0), (0, 1)), ((0, 1),))
    """
    pairing = matching.pairing
    if pairing is None:
        return matching
    made = _changed_round(_anew(pairing, emptied))
    if matching.pred.edges or matching.gold.edges:  # some call takes from another
        made = _in_chain(_gathered(_by_flow(made)))
    made = _led(_anew(made, earliest))
    if made is pairing:
        return matching
    alignment = Alignment.of(made)
    terms, policy = matching.terms, matching.policy
    misplaced = find_misplaced(alignment.pairs, matching.numbered, policy, terms)
    return matching._replace(alignment=alignment, pairing=made, misplaced=misplaced, by_name=matching)


def _anew(pairing: Pairing, found: Callable[[Pairing], Iterable[tuple[int, int]]]) -> Pairing:
    """The pairing with the partners that are found: calls of pred that had none take those of others."""
    if ALONE not in pairing.to_pred:
        return pairing
    pairs = [*found(pairing)]
    made = _copy(pairing) if pairs else pairing
    for pred, gold in pairs:
        made.release([], [made.to_gold[pred]], ALONE)
        made.pair(pred, gold)
    return made


def _changed_round(given: Pairing) -> Pairing:
    """The pairing with two calls' partners the other way round, where a person takes them so."""
    found = [*crossed(given)]
    made = _copy(given) if found else given
    for (one, gold), (other, theirs) in found:
        made.pair(one, theirs)
        made.pair(other, gold)
    return made


def _led(pairing: Pairing) -> Pairing:
    """The pairing with a call that holds several others' values as the partner of the first of these."""
    if ALONE not in pairing.to_pred and ALONE not in pairing.to_gold:
        return pairing
    made = pairing
    for gold, many in listed(pairing, pairing.to_gold, told=True).items():
        pred, first = pairing.to_pred[gold], many.parts[0]
        one, other = (pred, first) if many.merged else (first, gold)
        used = pairing.pred.users[pred] or pairing.pred.users[one]
        if used or pairing.gold.users[gold] or pairing.gold.users[other]:
            continue
        if first < (gold if many.merged else pred):
            tried = _copy(made)
            tried.release([pred], [gold], ALONE)
            tried.pair(one, other)
            now = listed(tried, tried.to_gold, told=True).get(other)
            if now is not None and len(now.parts) == len(many.parts):
                made = tried
    return made


def _in_chain(pairing: Pairing) -> Pairing:
    """The pairing with calls of another tool in the place of gold's between the same calls."""
    if ALONE not in pairing.to_pred or ALONE not in pairing.to_gold:
        return pairing
    found = [both for both in in_chain(pairing) if not no_replacement(pairing, *both)]
    made = _copy(pairing) if found else pairing
    for pred, gold in found:
        made.pair(pred, gold)
    return made


def _by_flow(given: Pairing) -> Pairing:
    """The pairing with partners by what they share and where they stand in the flow."""
    doubtful = [*_doubtful(given)]
    if doubtful and (same := same_values(given, doubtful)):
        given = _copy(given)
        pair_leftover(given, same)
        doubtful = [*_doubtful(given)]
    pairing = given
    wrong = [pair for pair in _replaced(given) if no_replacement(given, *pair)]
    if wrong:
        pairing = _copy(given)
        pairing.release([pred for pred, _ in wrong], [gold for _, gold in wrong], ALONE)
    groups = [*in_doubt(pairing, doubtful)] if doubtful else []
    if groups:
        made = _copy(pairing)
        if regroup(made, groups):
            pairing = made
    if pairing is not given:
        doubtful = [*_doubtful(pairing)]
    apart = [pair for pair in doubtful if _apart(pairing, pairing, *pair)]
    turned = _turned(pairing, doubtful) if len(doubtful) > 1 else []
    if pairing is given and not apart and not turned:
        return given
    made = _copy(pairing)
    for pred, gold in turned:
        made.pair(pred, gold)
    for pred, gold in sorted(apart, key=lambda pair: (-_own(pairing, apart, *pair), pair[1])):
        if _apart(pairing, made, pred, gold):  # the others that are apart say nothing any more
            made.release([pred], [gold], ALONE)
    if apart or wrong:
        never = _copy(made)
        for _ in range(2):  # what has been paired is a neighbour to what has not
            pair_replaced(made, lambda pred, gold: no_replacement(never, pred, gold))
    return made


_JOINS = 1_000
"""Pairs of a call that gold has not and one in which gold's join that are looked at: each look takes time in
proportion to the plans."""


def _gathered(given: Pairing) -> Pairing:
    """The pairing with a call made for several of gold's as the partner of the one in which they join."""
    ours, theirs = given.pred, given.gold
    wanted = {*theirs.tools}
    free = [at for at, tool in enumerate(ours.tools) if tool not in wanted]
    joins = [at for at in range(len(theirs.tools)) if len({*theirs.numbered.producers(at)}) > 1]
    if len(free) * len(joins) > _JOINS:
        return given
    for pred, gold in ((pred, gold) for gold in joins for pred in free):
        calls = gathered(given, pred, gold)
        if len(calls) > 1:
            return _joined(given, pred, gold, calls)
    return given


def _joined(given: Pairing, pred: int, gold: int, calls: list[int]) -> Pairing:
    """The pairing with a call of pred in the place of several of gold's."""
    made = _copy(given)
    preds = [pred, *(at for each in calls if (at := made.to_pred[each]) >= 0)]
    made.release(preds, [*calls, *(at for each in preds if (at := made.to_gold[each]) >= 0)], ALONE)
    made.pair(pred, gold)
    never = _copy(made)
    pair_replaced(made, lambda one, other: other in calls or no_replacement(never, one, other))
    return made


def _replaced(pairing: Pairing) -> Pairs:
    """Partners of two tools."""
    ours, theirs = pairing.pred.tools, pairing.gold.tools
    pairs = [(pairing.to_pred[gold], gold) for gold in range(len(theirs))]
    return [(pred, gold) for pred, gold in pairs if pred >= 0 and ours[pred] != theirs[gold]]


def _copy(pairing: Pairing) -> Pairing:
    made = Pairing(pairing.pred, pairing.gold, pairing.matcher)
    made.to_gold, made.to_pred = [*pairing.to_gold], [*pairing.to_pred]
    made.settled, made.proved = pairing.settled, pairing.proved
    made.optional, made.open = pairing.optional, pairing.open
    return made


def _doubtful(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Partners of one tool of whose arguments half or more are wrong."""
    ours, theirs = pairing.pred.tools, pairing.gold.tools
    for gold, tool in enumerate(theirs):
        pred = pairing.to_pred[gold]
        if pred < 0 or ours[pred] != tool or pairing.equal(pred, gold):
            continue
        wrong = pairing.final(pred, gold)
        if wrong and 2 * len(wrong) >= len(pairing.gold.arguments(gold)):
            yield pred, gold


def _apart(pairing: Pairing, made: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls of one tool are two things: what uses the one comes before the other.

    Args:
        pairing: The pairing, which says what is wrong.
        made: The same, without what is known to be apart.
        pred: A call of pred.
        gold: Its partner.
    """
    ours, theirs = made.pred, made.gold
    if made.to_gold[pred] != gold or not (
        _overtaken(theirs, gold, made.to_pred, ours, pred)
        or _overtaken(ours, pred, made.to_gold, theirs, gold)
    ):
        return False
    own = range(len(made.to_pred))
    if neighbours(ours, pred, made.to_gold) & neighbours(theirs, gold, own):
        return False
    moved = _handed_on(made, pred, gold) and not _contrary(pairing, pred, gold)
    return not (moved or _like(pairing, pred, gold))


def _contrary(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls have, under one name, two values that say something and nothing like one another."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    return any(
        name in ours
        and not (theirs[name][1] or ours[name][1])
        and telling(ours[name][2])
        and telling(theirs[name][2])
        and not likeness(ours[name][2], theirs[name][2])
        for name in theirs
    )


def _own(pairing: Pairing, apart: Pairs, pred: int, gold: int) -> int:
    """How many arguments of two calls are wrong that do not take from other calls which may be apart."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    preds, golds = {one for one, _ in apart}, {other for _, other in apart}
    return sum(
        not (name in ours and preds.intersection(ours[name][1]))
        and not (name in theirs and golds.intersection(theirs[name][1]))
        for name in pairing.final(pred, gold)
    )


def _overtaken(side: Side, at: int, partner: Sequence[int], there_side: Side, other: int) -> bool:
    """Whether the other plan has a call that needs this one's result before its call in this one's place.

    Written before it does not mean before it where that plan has the call need that one, too.
    """
    later = needing(there_side, other) if there_side.numbered.forward else frozenset[int]()
    calls, waiting, seen = len(side.tools), [at], {at}
    while waiting:
        for use in side.users[waiting.pop()]:
            if use.consumer in seen or use.consumer >= calls:
                continue
            seen.add(use.consumer)
            there = partner[use.consumer]
            if there < 0:
                waiting.append(use.consumer)
            elif there < other and there not in later:
                return True
    return False


def _handed_on(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether what takes one call's result has in the other plan what that call is given: a step moved."""
    ours, theirs = _keys(pairing, pred, ours=True), _keys(pairing, gold, ours=False)
    for consumer, name, _ in pairing.gold.users[gold]:
        there = pairing.to_pred[consumer]
        if there >= 0 and (key := _keys(pairing, there, ours=True).get(name)) and key in theirs.values():
            return True
    for consumer, name, _ in pairing.pred.users[pred]:
        there = pairing.to_gold[consumer]
        if there >= 0 and (key := _keys(pairing, there, ours=False).get(name)) and key in ours.values():
            return True
    return False


def _keys(pairing: Pairing, at: int, *, ours: bool) -> dict[Any, Any]:
    """A call's values by what they take, in gold's positions, or by what they are."""
    side = pairing.pred if ours else pairing.gold
    images = pairing.to_gold if ours else range(len(pairing.to_pred))
    return {
        name: tuple(images[each] for each in producers) if producers else ("literal", shape)
        for name, (shape, producers, _) in side.arguments(at).items()
    }


def _like(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls share a value that says something, be it under another name."""
    ours, theirs = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
    if not ours or not theirs:
        return True
    wrong = pairing.final(pred, gold)
    if any(telling(theirs[name][2]) for name in theirs if name in ours and name not in wrong):
        return True
    for name in wrong:
        if name in ours and name in theirs:
            one, other = ours[name][2], theirs[name][2]
            if telling(other) and likeness(one, other):
                return True
    return bool(told_values(ours) & told_values(theirs))


def _turned(pairing: Pairing, doubtful: Pairs) -> Pairs:
    """Calls with partners anew: those of one tool that are one another's, and whose results are both used.

    They stand in one order in both plans, so that it is their results that are taken for one another.
    """
    if all(one[0] < other[0] for one, other in pairwise(doubtful)):
        return []
    given: dict[Any, list[int]] = {}
    for place, (pred, gold) in enumerate(doubtful):
        given.setdefault((pairing.gold.tools[gold], _given(pairing.pred, pred)), []).append(place)
    found: Pairs = []
    for place, (pred, gold) in enumerate(doubtful):
        if not pairing.gold.users[gold] or not pairing.pred.users[pred]:
            continue
        there = given.get((pairing.gold.tools[gold], _given(pairing.gold, gold)), ())
        if len(there) != 1 or there[0] <= place:
            continue
        other, theirs = doubtful[there[0]]
        used = pairing.gold.users[theirs] and pairing.pred.users[other]
        if used and other < pred and _given(pairing.pred, pred) == _given(pairing.gold, theirs):
            found += [(other, gold), (pred, theirs)]
    return found


def _given(side: Side, at: int) -> frozenset[Any]:
    """What a call is given, but for which calls it takes from."""
    return frozenset((name, shape) for name, (shape, _, _) in side.arguments(at).items())
