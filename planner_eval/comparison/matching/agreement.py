"""Whether two values agree under a rule, given which of their parts are alike: collections and tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from planner_eval.comparison.matching.likeness import assign
from planner_eval.comparison.policy.rule import Rule
from planner_eval.plan.model import Bag, Value

EqualityTest: TypeAlias = Callable[[Value, Value], bool]
"""Whether two values are equal: (the prediction's, gold's)."""


def agree(pred_value: Value, gold_value: Value, rule: Rule, equal: EqualityTest) -> bool:
    """Whether two values, in their forms, agree.

    Args:
        pred_value: The prediction's.
        gold_value: Gold's.
        rule: What is asked of collections and numbers.
        equal: Which values are equal.
    """
    measured = rule.tolerance is not None or rule.relative is not None

    def is_near(first: Value, second: Value) -> bool:
        return equal(first, second) or (measured and _is_near(first, second, rule, equal))

    if is_near(pred_value, gold_value):
        return True
    subset, superset = "subset" in rule.compare, "superset" in rule.compare
    if type(pred_value) is dict and type(gold_value) is dict:
        return (subset and _has_near_fields(pred_value, gold_value, is_near)) or (
            superset
            and _has_near_fields(
                gold_value, pred_value, lambda pred_item, gold_item: is_near(gold_item, pred_item)
            )
        )
    if type(pred_value) is not Bag or type(gold_value) is not Bag:
        return False
    if not rule.form.set:
        if len(pred_value) != len(gold_value):
            return False
        mismatches = [
            [not is_near(pred_item, gold_item) for gold_item in gold_value] for pred_item in pred_value
        ]
        return not any(mismatches[row][column] for row, column in assign(mismatches))
    within = all(any(is_near(pred_item, gold_item) for gold_item in gold_value) for pred_item in pred_value)
    if within and subset:
        return True
    return (within or superset) and all(
        any(is_near(pred_item, gold_item) for pred_item in pred_value) for gold_item in gold_value
    )


def _has_near_fields(fields: dict[str, Value], all_fields: dict[str, Value], is_near: EqualityTest) -> bool:
    return all(key in all_fields and is_near(item, all_fields[key]) for key, item in fields.items())


def _is_near(pred_value: Value, gold_value: Value, rule: Rule, equal: EqualityTest) -> bool:
    """Whether two values are alike but for numbers within the rule's tolerance."""
    if type(pred_value) is list and type(gold_value) is list:
        return len(pred_value) == len(gold_value) and all(
            equal(pred_item, gold_item) or _is_near(pred_item, gold_item, rule, equal)
            for pred_item, gold_item in zip(pred_value, gold_value, strict=True)
        )
    if type(pred_value) is dict and type(gold_value) is dict:
        return pred_value.keys() == gold_value.keys() and all(
            equal(pred_value[key], gold_value[key]) or _is_near(pred_value[key], gold_value[key], rule, equal)
            for key in gold_value
        )
    return is_close(pred_value, gold_value, rule.tolerance or 0, rule.relative or 0)


def is_close(pred_value: Value, gold_value: Value, tolerance: float, relative: float) -> bool:
    """Whether two values are numbers within a tolerance, or within a share of the second, as written.

    Args:
        pred_value: The prediction's value.
        gold_value: Gold's.
        tolerance: By how much they may differ.
        relative: By which share of gold's they may differ.

    >>> is_close(19.99, 20.00, 0.01, 0), is_close(1.1, 1, 0, 0.1), is_close(True, 1, 1, 0)
    (True, True, False)
    """
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal  # where a rule has a tolerance

    def exactly(number: Any) -> Decimal:
        return Decimal(repr(number)) if type(number) is float else Decimal(number)

    if any(type(value) not in (int, float, Decimal) for value in (pred_value, gold_value)):
        return False
    pred_number, gold_number, allowed = exactly(pred_value), exactly(gold_value), exactly(tolerance)
    if not (pred_number.is_finite() and gold_number.is_finite()):
        return False
    exact = Context(prec=DECIMAL_PRECISION, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    if relative and gold_number:
        allowed = max(allowed, exact.multiply(gold_number.copy_abs(), exactly(relative)))
    return exact.subtract(pred_number, gold_number).copy_abs() <= allowed


DECIMAL_PRECISION = 2000
"""Enough for the difference of any two floats."""
