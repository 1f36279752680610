"""Calls that stand for one another, with their arguments made comparable; plans with changed arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from planner_eval.base.frozen import fast_frozen
from planner_eval.comparison.matching.align import match
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Arguments, Plan, Value, map_leaves

Keys: TypeAlias = "dict[tuple[str, int], Key]"
"""What stands for each argument, by its name and which of that name it is."""


@fast_frozen
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


def match_calls(pred: Plan, gold: Plan) -> list[Match] | None:
    r"""The calls that stand for one another, by position in gold; None where the plans mean the same.

    Calls of another name stand for none.

    >>> from planner_eval.reading.dialects.read import parse
    >>> pred, gold = parse("a = f(#x='1')\nb = g(#y=a)"), parse("a = f(#x='2')\nb = g(#y=a)")
    >>> [match.equal for match in match_calls(pred, gold)], match_calls(gold, gold)
    ([False, True], None)
    """
    pairs = pair_calls(pred, gold)
    return None if pairs is None else matches_of(pred, gold, pairs)


def pair_calls(pred: Plan, gold: Plan) -> Sequence[tuple[int, int]] | None:
    """The positions of calls that stand for one another, of any name; None of plans that mean the same."""
    if pred is gold:
        return None
    pairs_by_name = _pair_by_name(pred, gold)
    if pairs_by_name is not None:
        matches = matches_of(pred, gold, pairs_by_name)
        if len(pairs_by_name) < max(len(pred), len(gold)) or not all(m.equal for m in matches):
            return pairs_by_name
    result = match(pred, gold)
    return None if result.pairing is None else result.alignment.pairs


def _pair_by_name(pred: Plan, gold: Plan) -> list[tuple[int, int]] | None:
    """The pairs of plans that call no tool twice, where only one has calls left over: there is no choice."""
    pred_positions = {(call.app, call.name): position for position, call in enumerate(pred.calls)}
    gold_positions = {(call.app, call.name): position for position, call in enumerate(gold.calls)}
    repeated = len(pred_positions) < len(pred) or len(gold_positions) < len(gold)
    if repeated or not (
        pred_positions.keys() <= gold_positions.keys() or gold_positions.keys() <= pred_positions.keys()
    ):
        return None
    return [
        (pred_positions[tool], position)
        for tool, position in gold_positions.items()
        if tool in pred_positions
    ]


def matches_of(pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]) -> list[Match]:
    """The partners of one name, with their arguments.

    Args:
        pred: The prediction.
        gold: What was wanted.
        pairs: Partners, by position in pred and in gold; each call has one at most.
    """
    stands_for: list[int | str | None] = [f"extra {i}" for i in range(len(pred.calls))]
    for pred_index, gold_index in pairs:
        stands_for[pred_index] = gold_index
    gold_positions: list[int | str | None] = list(range(len(gold.calls)))
    return [
        Match(
            pred_index,
            gold_index,
            argument_keys(call.arguments, stands_for),
            argument_keys(other.arguments, gold_positions),
        )
        for pred_index, gold_index in pairs
        if (call := pred.calls[pred_index]).name == (other := gold.calls[gold_index]).name
    ]


def count_shared(first: list[Any], second: list[Any]) -> int:
    """How many items two lists share, each as often as both have it.

    >>> count_shared(["a", "a", "b"], ["b", "a", "c"])
    2
    """
    return len(second) if first == second else (Counter(first) & Counter(second)).total()


def argument_keys(arguments: Arguments, numbers: Sequence[int | str | None]) -> Keys:
    """What stands for each argument of a call, when the calls that it refers to have these numbers."""
    keys: Keys = {}
    for name, value in arguments:
        copy = 1
        while (name, copy) in keys:
            copy += 1
        keys[name, copy] = value_key(value, numbers)
    return keys


def change_leaves(plan: Plan, change: Callable[[int, Value], Value]) -> Plan:
    r"""The plan with each leaf of its calls' arguments changed, and the edges that its references then make.

    Args:
        plan: A linked plan.
        change: From a call's position and a leaf to what stands in its place.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.plan.model import Ref
    >>> plan = parse("a = f()\nb = g(#x='a')")
    >>> change_leaves(plan, lambda at, leaf: Ref(0, ("a",)) if leaf == "a" else leaf).edges
    (Edge(producer=0, consumer=1, argument='x', at=(), path=('a',), inferred=False),)
    """
    calls = tuple(
        replace(call, arguments=tuple((k, map_leaves(partial(change, i), v)) for k, v in call.arguments))
        for i, call in enumerate(plan.calls)
    )
    return replace(plan, calls=calls, edges=build_plan(calls).edges)
