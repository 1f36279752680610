"""Arguments with another name and another value: which that is too much stands for which that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.names import like
from planner_eval.comparison.matching.pairing import Argument
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.tries import ALMOST
from planner_eval.comparison.value_diff import kind_name

LOOKS = 400
"""Pairs of names up to which it is asked which is like which."""


def nearest_names(
    pred_args: Mapping[Any, Argument],
    surplus: Sequence[Any],
    gold_args: Mapping[Any, Argument],
    lacking: Sequence[Any],
) -> dict[Any, Any]:
    """For names that gold gives and the prediction does not, the name under which the prediction gives it.

    Two literals stand for one another where their names are alike and they are of one kind, or where they are
    almost equal themselves and say something; the likest first.

    Args:
        pred_args: The prediction's arguments.
        surplus: Those of them that gold does not give.
        gold_args: Gold's arguments.
        lacking: Those of them that the prediction does not give.

    >>> ours = {"town": ("Rome IT", (), "Rome IT"), "n": (2, (), 2)}
    >>> nearest_names(ours, ["town", "n"], {"city": ("Rome", (), "Rome"), "m": (7, (), 7)}, ["city", "m"])
    {'city': 'town'}
    """
    if len(surplus) * len(lacking) > LOOKS:
        return {}
    candidates = []
    for gold_index, gold_name in enumerate(lacking):
        for pred_index, pred_name in enumerate(surplus):
            score = _likeness(pred_name, pred_args[pred_name], gold_name, gold_args[gold_name])
            if score:
                candidates.append((-score, gold_index, pred_index))
    pred_by_gold: dict[Any, Any] = {}
    used: set[int] = set()
    for _, gold_index, pred_index in sorted(candidates):
        if lacking[gold_index] not in pred_by_gold and pred_index not in used:
            pred_by_gold[lacking[gold_index]] = surplus[pred_index]
            used.add(pred_index)
    return pred_by_gold


def _likeness(pred_name: Any, pred_arg: Argument, gold_name: Any, gold_arg: Argument) -> float:
    """How much speaks for one argument to stand for another; 0 for nothing."""
    pred_value, gold_value = pred_arg[2], gold_arg[2]
    kinds = kind_name(pred_value), kind_name(gold_value)
    if (
        pred_arg[1]
        or gold_arg[1]
        or None in kinds
        or type(pred_name) is not str
        or type(gold_name) is not str
    ):
        return 0.0
    score = likeness(pred_value, gold_value)
    same_name = kinds[0] == kinds[1] and like(pred_name, gold_name)
    if same_name or (score >= ALMOST and telling(gold_value)):
        return same_name + score
    return 0.0
