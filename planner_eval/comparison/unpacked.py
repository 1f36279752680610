"""Calls whose arguments all stand in one object, ``f({"x": 1})``, compared as if each stood for itself."""

from __future__ import annotations

from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.matching.pairing import Argument, Pairing, Side
from planner_eval.plan.canonical import producers_of
from planner_eval.plan.model import Call

UNNAMED = ("", "0")
"""The names that readers give an argument without one."""


def one_object(call: Call) -> dict[str, Any] | None:
    """The object in which all arguments of a call stand; None where they stand for themselves.

    >>> one_object(Call("c", "f", (("0", {"x": 1}),))), one_object(Call("c", "f", (("x", {"y": 1}),)))
    ({'x': 1}, None)
    """
    (name, value), *other_arguments = call.arguments or ((None, None),)
    return value if name in UNNAMED and not other_arguments and isinstance(value, dict) else None


class Unpacked(NamedTuple):
    """A pairing with objects opened.

    Args:
        pairing: The same partners.
        objects: For each opened call of pred the name of its one argument.
    """

    pairing: Pairing
    objects: dict[int, str]


def unpacked(pairing: Pairing) -> Unpacked:
    """The pairing with such objects opened where gold gives what they hold by its names.

    Args:
        pairing: A pairing that is made.
    """
    objects: dict[int, dict[str, Any]] = {}
    for pred, call in enumerate(pairing.pred.numbered.plan.calls):
        gold = pairing.to_gold[pred]
        if gold < 0 or len(call.arguments) != 1 or (fields := one_object(call)) is None:
            continue
        gold_args = pairing.gold.arguments(gold)
        if call.arguments[0][0] not in gold_args and not gold_args.keys().isdisjoint(fields):
            objects[pred] = fields
    if not objects:
        return Unpacked(pairing, {})
    pred_calls = Side(pairing.pred.numbered)
    pred_calls.tools = pairing.pred.tools
    opened = Pairing(pred_calls, pairing.gold, pairing.matcher)
    opened.to_gold, opened.to_pred = pairing.to_gold, pairing.to_pred
    for pred, fields in objects.items():
        pred_calls.open(pred, {name: _argument(pred_calls, value) for name, value in fields.items()}, fields)
    return Unpacked(opened, {pred: pred_calls.numbered.plan.calls[pred].arguments[0][0] for pred in objects})


def _argument(plan_calls: Side, value: Any) -> Argument:
    return plan_calls.shape(value), tuple(producers_of(value)), value
