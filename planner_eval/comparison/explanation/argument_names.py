"""Which argument stands for which: given by position, in one object, or exchanged without harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.edits import Draft, Edit, kind_name
from planner_eval.comparison.explanation.multi_call_edits import MIN_LIKENESS
from planner_eval.comparison.matching.likeness import assign, is_similar_name, likeness
from planner_eval.comparison.matching.pairing import Argument, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import Key, producers_of, value_key
from planner_eval.plan.model import Call, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

# ----------------------------------------------------------------------
# Arguments of other names: which that is too much stands for which that is missing.
MAX_NAME_PAIRS = 400
"""Pairs of names up to which it is asked which is like which."""

EQUAL_VALUE, POSITION, ORDER = 4.0, 1.0, 0.01
"""What speaks for two arguments beside names and values that are alike: one value, a position for a name; and
what speaks against it that they are written in another order."""


def match_names(
    pred_args: Mapping[Any, Argument],
    surplus: Iterable[Any],
    gold_args: Mapping[Any, Argument],
    lacking: Iterable[Any],
    same: Callable[[Any, Any], bool],
) -> dict[Any, Any]:
    """For gold's arguments the prediction's of another name, those with most in common.

    Equal values stand for one another. So do, where one plan names what the other gives by position, any two;
    else literals of one kind whose names are alike, or that are almost equal themselves and say something.

    Args:
        pred_args: The prediction's arguments.
        surplus: Those of them that gold does not give.
        gold_args: Gold's arguments.
        lacking: Those of them that the prediction does not give.
        same: Whether an argument of the one is equal to one of the other.

    >>> pred = {"town": ("Rome IT", (), "Rome IT"), "n": (2, (), 2)}
    >>> gold = {"city": ("Rome", (), "Rome"), "m": (7, (), 7)}
    >>> match_names(pred, pred, gold, gold, lambda one, other: pred[one] == gold[other])
    {'city': 'town'}
    """
    pred_names, gold_names = (
        [name for name in names if type(name) is str and name != DEPENDENCY_ARGUMENT]
        for names in (surplus, lacking)
    )
    if not 0 < len(pred_names) * len(gold_names) <= MAX_NAME_PAIRS:
        return {}
    forms = {name.isdecimal() for name in pred_names}, {name.isdecimal() for name in gold_names}
    by_position = len(forms[0]) == 1 == len(forms[1]) and forms[0] != forms[1]

    def cost(row: int, column: int) -> float:
        names = pred_names[column], gold_names[row]
        if same(*names):
            return -EQUAL_VALUE
        score = _likeness(names, pred_args[names[0]], gold_args[names[1]])
        return -score - by_position * (POSITION - ORDER * abs(row - column))

    table = [[cost(row, column) for column in range(len(pred_names))] for row in range(len(gold_names))]
    pairs = ((row, column) for row, column in assign(table) if table[row][column] < 0)
    return {gold_names[row]: pred_names[column] for row, column in pairs}


def _likeness(names: tuple[str, str], pred_arg: Argument, gold_arg: Argument) -> float:
    """How much speaks for one literal argument to stand for another; 0 for nothing."""
    kinds = kind_name(pred_arg[2]), kind_name(gold_arg[2])
    if pred_arg[1] or gold_arg[1] or None in kinds:
        return 0.0
    score = likeness(pred_arg[2], gold_arg[2])
    same_name = kinds[0] == kinds[1] and is_similar_name(*names)
    return same_name + score if same_name or (score >= MIN_LIKENESS and is_distinctive(gold_arg[2])) else 0.0


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
