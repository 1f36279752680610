"""Which argument stands for which: given by position, in one object, or exchanged without harm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.edits import Draft, Edit, kind_name
from planner_eval.comparison.explanation.multi_call_edits import MIN_LIKENESS
from planner_eval.comparison.matching.likeness import is_similar_name, likeness
from planner_eval.comparison.matching.pairing import Argument, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import Key, producers_of, value_key
from planner_eval.plan.model import Call, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


# ----------------------------------------------------------------------
# Arguments that one plan names and the other gives by position: which name stands for which position.
def match_by_position(
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
    >>> match_by_position(ours, ["tone", "of"], theirs, ["0", "1"], lambda one,
    ...     other: ours[one] == theirs[other])
    {'1': 'tone', '0': 'of'}
    """
    pred_names = [name for name in surplus if name != DEPENDENCY_ARGUMENT]
    gold_names = [name for name in lacking if name != DEPENDENCY_ARGUMENT]
    kinds = {_is_position_name(name) for name in pred_names}, {_is_position_name(name) for name in gold_names}
    if any(type(name) is not str for name in (*pred_names, *gold_names)):
        return {}
    if (
        kinds not in (({True}, {False}), ({False}, {True}))
        or len(pred_names) * len(gold_names) > MAX_NAME_PAIRS
    ):
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


def find_form_difference(edit: Edit | Draft) -> str | None:
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


def _is_position_name(name: Any) -> bool:
    return type(name) is str and name.isdecimal()


def _likeness(pred_arg: Argument, gold_arg: Argument) -> float:
    if pred_arg[1] or gold_arg[1] or not is_distinctive(gold_arg[2]):
        return 0.0
    return likeness(pred_arg[2], gold_arg[2])


# ----------------------------------------------------------------------
# Arguments with another name and another value: which that is too much stands for which that is missing.
MAX_NAME_PAIRS = 400
"""Pairs of names up to which it is asked which is like which."""


def match_nearest_names(
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
    >>> match_nearest_names(ours, ["town", "n"], {"city": ("Rome", (), "Rome"), "m": (7, (), 7)},
    ...     ["city", "m"])
    {'city': 'town'}
    """
    if len(surplus) * len(lacking) > MAX_NAME_PAIRS:
        return {}
    candidates = []
    for gold_index, gold_name in enumerate(lacking):
        for pred_index, pred_name in enumerate(surplus):
            score = _name_likeness(pred_name, pred_args[pred_name], gold_name, gold_args[gold_name])
            if score:
                candidates.append((-score, gold_index, pred_index))
    pred_by_gold: dict[Any, Any] = {}
    used: set[int] = set()
    for _, gold_index, pred_index in sorted(candidates):
        if lacking[gold_index] not in pred_by_gold and pred_index not in used:
            pred_by_gold[lacking[gold_index]] = surplus[pred_index]
            used.add(pred_index)
    return pred_by_gold


def _name_likeness(pred_name: Any, pred_arg: Argument, gold_name: Any, gold_arg: Argument) -> float:
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
    same_name = kinds[0] == kinds[1] and is_similar_name(pred_name, gold_name)
    if same_name or (score >= MIN_LIKENESS and is_distinctive(gold_value)):
        return same_name + score
    return 0.0


# ----------------------------------------------------------------------
# Calls whose arguments all stand in one object, ``f({"x": 1})``, compared as if each stood for itself.
UNNAMED_ARGUMENT_NAMES = ("", "0")
"""The names that readers give an argument without one."""


def find_arguments_object(call: Call) -> dict[str, Any] | None:
    """The object in which all arguments of a call stand; None where they stand for themselves.

    >>> (
    ...     find_arguments_object(Call("c", "f", (("0", {"x": 1}),))),
    ...     find_arguments_object(Call("c", "f", (("x", {"y": 1}),)))
    ... )
    ({'x': 1}, None)
    """
    (name, value), *other_arguments = call.arguments or ((None, None),)
    return (
        value if name in UNNAMED_ARGUMENT_NAMES and not other_arguments and isinstance(value, dict) else None
    )


class UnpackedPairing(NamedTuple):
    """A pairing with objects opened.

    Args:
        pairing: The same partners.
        objects: For each opened call of pred the name of its one argument.
    """

    pairing: Pairing
    objects: dict[int, str]


def unpack_objects(pairing: Pairing) -> UnpackedPairing:
    """The pairing with such objects opened where gold gives what they hold by its names.

    Args:
        pairing: A pairing that is made.
    """
    objects: dict[int, dict[str, Any]] = {}
    for pred, call in enumerate(pairing.pred.numbered.plan.calls):
        gold = pairing.to_gold[pred]
        if gold < 0 or len(call.arguments) != 1 or (fields := find_arguments_object(call)) is None:
            continue
        gold_args = pairing.gold.arguments(gold)
        if call.arguments[0][0] not in gold_args and not gold_args.keys().isdisjoint(fields):
            objects[pred] = fields
    if not objects:
        return UnpackedPairing(pairing, {})
    pred_calls = PlanCalls(pairing.pred.numbered)
    pred_calls.tools = pairing.pred.tools
    opened = Pairing(pred_calls, pairing.gold, pairing.matcher)
    opened.to_gold, opened.to_pred = pairing.to_gold, pairing.to_pred
    for pred, fields in objects.items():
        pred_calls.open(
            pred, {name: _make_argument(pred_calls, value) for name, value in fields.items()}, fields
        )
    return UnpackedPairing(
        opened, {pred: pred_calls.numbered.plan.calls[pred].arguments[0][0] for pred in objects}
    )


def _make_argument(plan_calls: PlanCalls, value: Any) -> Argument:
    return plan_calls.shape(value), tuple(producers_of(value)), value
