"""Whether two values agree under a rule, given which of their parts are alike: collections and tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from planner_eval.comparison.matching.assignment import assign
from planner_eval.plan.bag import Bag
from planner_eval.plan.model import Value
from planner_eval.policy.rule import Rule

Alike: TypeAlias = Callable[[Value, Value], bool]
"""Whether two values are equal: (the prediction's, gold's)."""


def agree(ours: Value, theirs: Value, rule: Rule, alike: Alike) -> bool:
    """Whether two values, in their forms, agree.

    Args:
        ours: The prediction's.
        theirs: Gold's.
        rule: What is asked of collections and numbers.
        alike: Which values are equal.
    """
    measured = rule.tolerance is not None or rule.relative is not None

    def near(one: Value, other: Value) -> bool:
        return alike(one, other) or (measured and _near(one, other, rule, alike))

    if near(ours, theirs):
        return True
    subset, superset = "subset" in rule.compare, "superset" in rule.compare
    if type(ours) is dict and type(theirs) is dict:
        return (subset and _fields(ours, theirs, near)) or (
            superset and _fields(theirs, ours, lambda one, other: near(other, one))
        )
    if type(ours) is not Bag or type(theirs) is not Bag:
        return False
    if not rule.form.set:
        if len(ours) != len(theirs):
            return False
        apart = [[not near(one, other) for other in theirs] for one in ours]
        return not any(apart[row][at] for row, at in assign(apart))
    within = all(any(near(one, other) for other in theirs) for one in ours)
    if within and subset:
        return True
    return (within or superset) and all(any(near(one, other) for one in ours) for other in theirs)


def _fields(part: dict[str, Value], whole: dict[str, Value], near: Alike) -> bool:
    return all(key in whole and near(item, whole[key]) for key, item in part.items())


def _near(ours: Value, theirs: Value, rule: Rule, alike: Alike) -> bool:
    """Whether two values are alike but for numbers within the rule's tolerance."""
    if type(ours) is list and type(theirs) is list:
        return len(ours) == len(theirs) and all(
            alike(one, other) or _near(one, other, rule, alike)
            for one, other in zip(ours, theirs, strict=True)
        )
    if type(ours) is dict and type(theirs) is dict:
        return ours.keys() == theirs.keys() and all(
            alike(ours[key], theirs[key]) or _near(ours[key], theirs[key], rule, alike) for key in theirs
        )
    return close(ours, theirs, rule.tolerance or 0, rule.relative or 0)


def close(ours: Value, theirs: Value, tolerance: float, relative: float) -> bool:
    """Whether two values are numbers within a tolerance, or within a share of the second, as written.

    Args:
        ours: The prediction's value.
        theirs: Gold's.
        tolerance: By how much they may differ.
        relative: By which share of gold's they may differ.

    >>> close(19.99, 20.00, 0.01, 0), close(1.1, 1, 0, 0.1), close(True, 1, 1, 0)
    (True, True, False)
    """
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal  # where a rule has a tolerance

    def exactly(number: Any) -> Decimal:
        return Decimal(repr(number)) if type(number) is float else Decimal(number)

    if any(type(value) not in (int, float, Decimal) for value in (ours, theirs)):
        return False
    one, other, allowed = exactly(ours), exactly(theirs), exactly(tolerance)
    if not (one.is_finite() and other.is_finite()):
        return False
    exact = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    if relative and other:
        allowed = max(allowed, exact.multiply(other.copy_abs(), exactly(relative)))
    return exact.subtract(one, other).copy_abs() <= allowed


DIGITS = 2000
"""Enough for the difference of any two floats."""
