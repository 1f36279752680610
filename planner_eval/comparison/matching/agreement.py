"""Whether two values agree under a rule, given which of their parts are alike: collections and tolerance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from planner_eval.plan.bag import Bag
from planner_eval.plan.model import Value

Alike: TypeAlias = Callable[[Value, Value], bool]
"""Whether two values are equal: (the prediction's, gold's)."""


class Items:
    """What a rule asks of collections, and of numbers.

    Args:
        compare: The names of :data:`planner_eval.policy.rule.COMPARE` that the rule has.
        tolerance: Numbers may differ by so much.
        relative: Numbers may differ by this share of gold's.
    """

    __slots__ = ("close", "relative", "set", "subset", "superset", "tolerance")

    def __init__(self, compare: Collection[str], tolerance: float | None, relative: float | None) -> None:
        self.set, self.subset, self.superset = (name in compare for name in ("set", "subset", "superset"))
        self.close = tolerance is not None or relative is not None
        self.tolerance, self.relative = tolerance or 0, relative or 0


def agree(ours: Value, theirs: Value, items: Items, alike: Alike) -> bool:
    """Whether two values, in their forms, agree.

    Args:
        ours: The prediction's.
        theirs: Gold's.
        items: What the rule asks of collections and numbers.
        alike: Which values are equal.
    """

    def near(one: Value, other: Value) -> bool:
        return alike(one, other) or (items.close and _near(one, other, items, alike))

    if near(ours, theirs):
        return True
    if type(ours) is dict and type(theirs) is dict:
        return (items.subset and _fields(ours, theirs, near)) or (
            items.superset and _fields(theirs, ours, lambda one, other: near(other, one))
        )
    if type(ours) is not Bag or type(theirs) is not Bag:
        return False
    if not (items.set or items.subset or items.superset):
        return len(ours) == len(theirs) and one_to_one(ours, theirs, near)
    within = all(any(near(one, other) for other in theirs) for one in ours)
    if within and items.subset:
        return True
    around = all(any(near(one, other) for one in ours) for other in theirs)
    return around and (within or items.superset)


def _fields(part: dict[str, Value], whole: dict[str, Value], near: Alike) -> bool:
    return all(key in whole and near(item, whole[key]) for key, item in part.items())


def one_to_one(ours: Sequence[Value], theirs: Sequence[Value], near: Alike) -> bool:
    """Whether each of some items has one of the others to itself: Kuhn's augmenting paths.

    >>> one_to_one([1, 2], [2, 3], lambda one, other: abs(one - other) <= 1)
    True
    """
    fits = [[at for at, other in enumerate(theirs) if near(one, other)] for one in ours]
    holder: dict[int, int] = {}
    for start in range(len(ours)):
        came: dict[int, tuple[int, int]] = {}  # place → (the item that reached it, the place it left)
        waiting, found = [(start, -1)], -1
        while waiting and found < 0:
            item, left = waiting.pop()
            for place in fits[item]:
                if place in came:
                    continue
                came[place] = item, left
                if place not in holder:
                    found = place
                    break
                waiting.append((holder[place], place))
        if found < 0:
            return False
        while found >= 0:
            holder[found], found = came[found]
    return True


def _near(ours: Value, theirs: Value, items: Items, alike: Alike) -> bool:
    """Whether two values are alike but for numbers within the rule's tolerance."""
    if type(ours) is list and type(theirs) is list:
        return len(ours) == len(theirs) and all(
            alike(one, other) or _near(one, other, items, alike)
            for one, other in zip(ours, theirs, strict=True)
        )
    if type(ours) is dict and type(theirs) is dict:
        return ours.keys() == theirs.keys() and all(
            alike(ours[key], theirs[key]) or _near(ours[key], theirs[key], items, alike) for key in theirs
        )
    return close(ours, theirs, items.tolerance, items.relative)


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
