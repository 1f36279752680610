"""Calls that stand for one another, with their arguments made comparable; plans with changed arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from planner_eval.comparison.align import align
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Arguments, Plan, Value
from planner_eval.plan.rewire import plan_of
from planner_eval.plan.walk import map_leaves

Keys: TypeAlias = "dict[tuple[str, int], Key]"
"""What stands for each argument, by its name and which of that name it is."""


@dataclass(frozen=True, slots=True)
class Match:
    """A call of the prediction that stands for a call of gold with the same name.

    Two keys are equal where the values are: a reference where the calls referred to stand for one
    another and the same output is meant.

    Args:
        pred: Position in the prediction.
        gold: Position in gold.
        given: The prediction's arguments.
        wanted: Gold's arguments.
    """

    pred: int
    gold: int
    given: Keys
    wanted: Keys

    @property
    def equal(self) -> bool:
        """Whether all arguments are right, with none missing or extra."""
        return self.given == self.wanted


def matches(pred: Plan, gold: Plan) -> Iterator[Match]:
    r"""The calls that stand for one another, by position in gold; calls of another name do not.

    >>> from planner_eval.dialects.read import parse
    >>> pred, gold = parse("a = f(#x='1')\nb = g(#y=a)"), parse("a = f(#x='2')\nb = g(#y=a)")
    >>> [match.equal for match in matches(pred, gold)]
    [False, True]
    """
    alignment = align(pred, gold)
    stands_for: list[int | str | None] = [f"extra {i}" for i in range(len(pred.calls))]
    for ours, theirs in alignment.pairs:
        stands_for[ours] = theirs
    places: list[int | str | None] = list(range(len(gold.calls)))
    for ours, theirs in alignment.pairs:
        call, other = pred.calls[ours], gold.calls[theirs]
        if call.name == other.name:
            yield Match(ours, theirs, _keyed(call.arguments, stands_for), _keyed(other.arguments, places))


def _keyed(arguments: Arguments, numbers: Sequence[int | str | None]) -> Keys:
    keys: Keys = {}
    for name, value in arguments:
        copy = 1
        while (name, copy) in keys:
            copy += 1
        keys[name, copy] = value_key(value, numbers)
    return keys


def with_leaves(plan: Plan, change: Callable[[int, Value], Value]) -> Plan:
    r"""The plan with each leaf of its calls' arguments changed, and the edges that its references then make.

    Args:
        plan: A linked plan.
        change: From a call's position and a leaf to what stands in its place.

    >>> from planner_eval.dialects.read import parse
    >>> from planner_eval.plan.model import Ref
    >>> plan = parse("a = f()\nb = g(#x='a')")
    >>> with_leaves(plan, lambda at, leaf: Ref(0, ("a",)) if leaf == "a" else leaf).edges
    (Edge(producer=0, consumer=1, argument='x', at=(), path=('a',), inferred=False),)
    """
    calls = tuple(
        replace(call, arguments=tuple((k, map_leaves(partial(change, i), v)) for k, v in call.arguments))
        for i, call in enumerate(plan.calls)
    )
    return replace(plan, calls=calls, edges=plan_of(calls).edges)
