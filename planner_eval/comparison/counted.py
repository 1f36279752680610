"""Two compared plans as figures count them: what a policy takes for right is the same on both sides.

An argument that does not count, or that a policy or gold's terms let be left out or added, is as if neither
plan had it. An argument that is right is gold's own in both; where it is right without all of gold's
references, or with others, those count that both have, and the argument is of gold's kind. So plans that are
the same under a policy are one plan to every figure, and no figure asks a policy itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.comparison.align import Matching
from planner_eval.plan.bag import Bag
from planner_eval.plan.model import Arguments, Path, Plan, Ref, Template, Unresolved, Value, references
from planner_eval.plan.rewire import moved, plan_of, with_arguments
from planner_eval.plan.walk import holds
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS


def as_counted(matching: Matching) -> Matching:
    r"""A matching with its plans as figures count them; calls keep their positions.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.dialects.read import parse
    >>> from planner_eval.policy import Policy
    >>> gold = parse("f(#x='$$$')")
    >>> found = as_counted(match(parse("a = g()\nf(#x=a)"), gold, Policy(wildcards=("$$$",))))
    >>> found.pred.edges, found.pred.calls[1].arguments
    ((), (('x', '$$$'),))
    """
    if matching.counted or (matching.policy is DEFAULT_POLICY and matching.terms is NO_TERMS):
        return matching
    ours, theirs = matching.numbered
    pairing = matching.pairing
    if pairing is None:
        whole = _with(matching.gold, theirs.written)
        pairs = matching.alignment.pairs
        if all(pred == image for pred, image in pairs):
            return matching._replace(pred=whole, gold=whole, counted=True)
        place = {image: pred for pred, image in pairs}
        made = [*ours.written]
        for pred, image in pairs:
            made[pred] = tuple((name, moved(value, place)) for name, value in theirs.written[image])
        return matching._replace(pred=_with(matching.pred, made), gold=whole, counted=True)
    if pairing.matcher is None and ours.written is ours.arguments:
        return matching._replace(counted=True)
    to_pred = {gold: pred for pred, gold in matching.alignment.pairs}
    mine, wanted = [*ours.written], [*theirs.written]
    for pred, gold in matching.alignment.pairs:
        wrong = pairing.final(pred, gold)
        both = pairing.pred.written(pred), pairing.gold.written(gold)
        bags = {name for name, (_, _, value) in pairing.gold.arguments(gold).items() if type(value) is Bag}
        mine[pred], wanted[gold] = _pair(*both, wrong, bags, to_pred)
    return matching._replace(pred=_with(matching.pred, mine), gold=_with(matching.gold, wanted), counted=True)


def _with(plan: Plan, arguments: Sequence[Arguments]) -> Plan:
    """The plan with other arguments, where they are others."""
    pairs = zip(plan.calls, arguments, strict=False)  # the answer's stand behind those of the calls
    calls = [call if call.arguments is given else with_arguments(call, given) for call, given in pairs]
    if all(one is other for one, other in zip(calls, plan.calls, strict=True)):
        return plan
    return replace(plan, calls=tuple(calls), edges=plan_of(calls).edges)


def _pair(
    ours: Mapping[Any, Value],
    theirs: Mapping[Any, Value],
    wrong: Mapping[Any, float],
    bags: set[Any],
    to_pred: Mapping[int, int],
) -> tuple[Arguments, Arguments]:
    """The arguments of two partners that count, pred's and gold's."""
    mine: list[tuple[str, Value]] = []
    wanted: list[tuple[str, Value]] = []
    for key, value in ours.items():
        if key not in theirs:
            if key in wrong:
                mine.append((_name(key), value))
        elif key in wrong:
            both = key in bags and type(value) is list and type(theirs[key]) is list
            mine.append((_name(key), _lined_up(value, theirs[key], to_pred) if both else value))
        elif type(theirs[key]) in _PLAIN and type(value) in _PLAIN:
            mine.append((_name(key), theirs[key]))
        else:
            mine.append((_name(key), moved(_shared(value, theirs[key], to_pred), to_pred)))
    for key, value in theirs.items():
        if key in ours:
            plain = type(value) in _PLAIN and type(ours[key]) in _PLAIN
            own = plain or key in wrong
            wanted.append((_name(key), value if own else _shared(ours[key], value, to_pred)))
        elif key in wrong:
            wanted.append((_name(key), value))
    return tuple(mine), tuple(wanted)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _name(key: Any) -> str:
    """The name of an argument; a repeated one's key has its number beside it."""
    return str(key if type(key) is str else key[0])


def _shared(ours: Value, theirs: Value, to_pred: Mapping[int, int]) -> Value:
    """What a right argument counts as, in gold's positions: its value, or the references that both have."""
    mine: Counter[tuple[int | None, Path]] = Counter(_ends(ours))
    wanted = Counter((to_pred.get(producer), path) for producer, path in _ends(theirs))
    if mine == wanted:
        return theirs
    left = mine & wanted
    shared = []
    for producer, path in _ends(theirs):
        end = to_pred.get(producer), path
        if left[end] > 0:
            left[end] -= 1
            shared.append(Ref(producer, path))
    return shared or (Unresolved("") if holds(theirs, (Ref, Unresolved, Template)) else theirs)


def _ends(value: Value) -> list[tuple[int, Path]]:
    """What each reference of a value takes: the producer, and the way into its result."""
    return [(ref.call, ref.path) for _, ref in references(value) if type(ref) is Ref]


def _lined_up(ours: list[Value], theirs: list[Value], to_pred: Mapping[int, int]) -> list[Value]:
    """Items whose order does not count, those that refer to what an item of gold does at that one's place."""
    left: list[Value] = [*ours]
    made: list[Value] = [None] * len(theirs)
    for at, item in enumerate(theirs):
        if type(item) is Ref and item.call in to_pred:
            wanted = Ref(to_pred[item.call], item.path)
            if wanted in left:
                left.remove(wanted)
                made[at] = wanted
    return made + left
