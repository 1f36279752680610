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

from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.matching.pairing import Pairing
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS
from planner_eval.plan.linking import build_plan, move_arguments, move_references, replace_arguments
from planner_eval.plan.model import (
    Arguments,
    Bag,
    Path,
    Plan,
    Ref,
    Unresolved,
    Value,
    is_dependent,
    references,
)


def prepare_for_counting(matching: Matching) -> Matching:
    r"""A matching with its plans as figures count them; calls keep their positions.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.comparison.policy.policy import Policy
    >>> gold = parse("f(#x='$$$')")
    >>> found = prepare_for_counting(match(parse("a = g()\nf(#x=a)"), gold, Policy(wildcards=("$$$",))))
    >>> found.pred.edges, found.pred.calls[1].arguments
    ((), (('x', '$$$'),))
    """
    if matching.counted or (matching.policy is DEFAULT_POLICY and matching.terms is NO_TERMS):
        return matching
    pred_numbered, gold_numbered = matching.numbered
    pairing, pairs = matching.pairing, matching.alignment.pairs
    to_pred = {gold: pred for pred, gold in pairs}
    pred_arguments, gold_arguments = [*pred_numbered.written], [*gold_numbered.written]
    if pairing is None:
        gold_plan = _replace_arguments(matching.gold, gold_arguments)
        if all(pred == gold for pred, gold in pairs):
            return matching._replace(pred=gold_plan, gold=gold_plan, counted=True)
        for pred, gold in pairs:
            pred_arguments[pred] = move_arguments(gold_arguments[gold], to_pred)
    elif pairing.matcher is None and pred_numbered.written is pred_numbered.arguments:
        return matching._replace(counted=True)
    else:
        for pred, gold in pairs:
            pred_arguments[pred], gold_arguments[gold] = _select_counted_arguments(
                pairing, pred, gold, to_pred
            )
        gold_plan = _replace_arguments(matching.gold, gold_arguments)
    pred_plan = _replace_arguments(matching.pred, pred_arguments)
    return matching._replace(pred=pred_plan, gold=gold_plan, counted=True)


def _replace_arguments(plan: Plan, arguments: Sequence[Arguments]) -> Plan:
    """The plan with other arguments, where they are others."""
    pairs = zip(plan.calls, arguments, strict=False)  # the answer's stand behind those of the calls
    calls = [
        call if call.arguments is new_arguments else replace_arguments(call, new_arguments)
        for call, new_arguments in pairs
    ]
    if all(call is original for call, original in zip(calls, plan.calls, strict=True)):
        return plan
    return replace(plan, calls=tuple(calls), edges=build_plan(calls).edges)


def _select_counted_arguments(
    pairing: Pairing, pred: int, gold: int, to_pred: Mapping[int, int]
) -> tuple[Arguments, Arguments]:
    """The arguments of two partners that count, pred's and gold's."""
    wrong = pairing.final(pred, gold)
    pred_args, gold_args = pairing.pred.written(pred), pairing.gold.written(gold)
    right = {
        key: _find_counted_value(pred_args[key], value, to_pred)
        for key, value in gold_args.items()
        if key in pred_args and key not in wrong
    }
    pred_counted = []
    for key, value in pred_args.items():
        if key in right:
            pred_counted.append((_argument_name(key), move_references(right[key], to_pred)))
        elif key in wrong:
            gold_value = gold_args.get(key)
            if type(value) is list is type(gold_value) and _is_bag(pairing, gold, key):
                value = _align_items(value, gold_value, to_pred)
            pred_counted.append((_argument_name(key), value))
    gold_counted = [
        (_argument_name(key), right.get(key, value))
        for key, value in gold_args.items()
        if key in right or key in wrong
    ]
    return tuple(pred_counted), tuple(gold_counted)


def _is_bag(pairing: Pairing, gold: int, key: Any) -> bool:
    """Whether the order of an argument's items does not count."""
    return type(pairing.gold.arguments(gold)[key][2]) is Bag


def _argument_name(key: Any) -> str:
    """The name of an argument; a repeated one's key has its number beside it."""
    return str(key if type(key) is str else key[0])


def _find_counted_value(pred_value: Value, gold_value: Value, to_pred: Mapping[int, int]) -> Value:
    """What a right argument counts as, in gold's positions: its value, or the references that both have."""
    pred_ends: Counter[tuple[int | None, Path]] = Counter(_reference_sources(pred_value))
    gold_ends = Counter((to_pred.get(producer), path) for producer, path in _reference_sources(gold_value))
    if pred_ends == gold_ends:
        return gold_value
    remaining = pred_ends & gold_ends
    shared = []
    for producer, path in _reference_sources(gold_value):
        end = to_pred.get(producer), path
        if remaining[end] > 0:
            remaining[end] -= 1
            shared.append(Ref(producer, path))
    return shared or (Unresolved("") if is_dependent(gold_value) else gold_value)


def _reference_sources(value: Value) -> list[tuple[int, Path]]:
    """What each reference of a value takes: the producer, and the way into its result."""
    return [(ref.call, ref.path) for _, ref in references(value) if type(ref) is Ref]


def _align_items(pred_items: list[Value], gold_items: list[Value], to_pred: Mapping[int, int]) -> list[Value]:
    """Items whose order does not count, those that refer to what an item of gold does at that one's place."""
    remaining: list[Value] = [*pred_items]
    aligned: list[Value] = [None] * len(gold_items)
    for index, item in enumerate(gold_items):
        if type(item) is Ref and item.call in to_pred:
            pred_item = Ref(to_pred[item.call], item.path)
            if pred_item in remaining:
                remaining.remove(pred_item)
                aligned[index] = pred_item
    return aligned + remaining
