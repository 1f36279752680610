"""Arguments that one plan names and the other gives by position: which name stands for which position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from planner_eval.comparison.edits import Edit
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import Argument
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.renamed import LOOKS
from planner_eval.dialects.dialect import AFTER
from planner_eval.plan.canonical import Key, producers_of, value_key
from planner_eval.plan.model import Value


def by_position(
    pred_args: Mapping[Any, Argument],
    surplus: Collection[Any],
    gold_args: Mapping[Any, Argument],
    lacking: Sequence[Any],
    same: Callable[[Any, Any], bool],
) -> dict[Any, Any]:
    """For gold's arguments the prediction's, where one of the two names them and the other does not.

    Names have no order: equal values stand for one another, then those that are like, then what is left in
    the order in which it is written.

    Args:
        pred_args: The prediction's arguments.
        surplus: Those of them that gold does not give.
        gold_args: Gold's arguments.
        lacking: Those of them that the prediction does not give.
        same: Whether an argument of the one is equal to one of the other.

    >>> ours = {"tone": ("warm", (), "warm"), "of": ("a.wav", (), "a.wav")}
    >>> theirs = {"0": ("b.txt", (), "b.txt"), "1": ("warm", (), "warm")}
    >>> by_position(ours, ["tone", "of"], theirs, ["0", "1"], lambda one, other: ours[one] == theirs[other])
    {'1': 'tone', '0': 'of'}
    """
    pred_names = [name for name in surplus if name != AFTER]
    gold_names = [name for name in lacking if name != AFTER]
    kinds = {_numbered(name) for name in pred_names}, {_numbered(name) for name in gold_names}
    if any(type(name) is not str for name in (*pred_names, *gold_names)):
        return {}
    if kinds not in (({True}, {False}), ({False}, {True})) or len(pred_names) * len(gold_names) > LOOKS:
        return {}
    pred_by_gold: dict[Any, Any] = {}
    for name in gold_names:
        equal = next((pred_name for pred_name in pred_names if same(pred_name, name)), None)
        if equal is not None:
            pred_by_gold[name] = equal
            pred_names.remove(equal)
    candidates = [
        (-score, index, pred_name)
        for index, name in enumerate(gold_names)
        for pred_name in pred_names
        if name not in pred_by_gold and (score := _likeness(pred_args[pred_name], gold_args[name]))
    ]
    for _, index, pred_name in sorted(candidates):
        if gold_names[index] not in pred_by_gold and pred_name in pred_names:
            pred_by_gold[gold_names[index]] = pred_name
            pred_names.remove(pred_name)
    pred_by_gold.update(
        zip([name for name in gold_names if name not in pred_by_gold], pred_names, strict=False)
    )
    return pred_by_gold


def form_only(edit: Edit) -> str | None:
    """What a value is given by where gold gives the same otherwise: ``named`` or ``positional``, or None."""
    if edit.code != "argument.renamed" or edit.pred is None or edit.gold is None:
        return None
    if _shape(edit.pred_value) != _shape(edit.gold_value):
        return None
    numbered = str(edit.pred.argument).isdecimal(), str(edit.gold.argument).isdecimal()
    if numbered[0] == numbered[1]:
        return None
    return "positional" if numbered[0] else "named"


def _shape(value: Value) -> Key:
    """A value but for which calls it takes from: those of two plans have other positions."""
    return value_key(value, [0] * (max(producers_of(value), default=-1) + 1))


def _numbered(name: Any) -> bool:
    return type(name) is str and name.isdecimal()


def _likeness(pred_arg: Argument, gold_arg: Argument) -> float:
    if pred_arg[1] or gold_arg[1] or not telling(gold_arg[2]):
        return 0.0
    return likeness(pred_arg[2], gold_arg[2])
