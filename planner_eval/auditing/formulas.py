"""Numbers that nobody has to say: arithmetic, and what its formulas hold of themselves."""

from __future__ import annotations

from math import pi

from planner_eval.plan.model import Call, Ref, Unresolved, Value
from planner_eval.plan.walk import leaves
from planner_eval.policy.values import numbers

CONSTANTS = frozenset(
    (
        *(0.2, 0.25, 0.2778, 0.3, 0.33, 0.3333, 0.3937, 0.4535, 0.4536, 0.5, 0.6, 0.6214, 0.75, 1.34e-05),
        *(
            1.6,
            1.609,
            2.2046,
            2.54,
            3.14,
            3.1416,
            pi,
            3.6,
            9.8,
            9.81,
            15,
            24,
            26,
            30,
            36,
            50,
            52,
            60,
            90,
            100,
        ),
        *(144, 180, 200, 360, 365, 366, 400, 500, 600, 1000, 1024, 1440, 1760, 2000, 3600, 5280, 10_000),
        *(60_000, 86_400, 100_000, 1_000_000),
    )
)
"""Numbers that formulas hold of themselves: percent, units, angles. So are integers up to 12."""


def arithmetic(call: Call) -> bool:
    """Whether a call is given nothing but numbers and references."""
    return all(
        isinstance(value, (int, float, Ref, Unresolved))
        or (isinstance(value, str) and not isinstance(numbers(value), str))
        for _, argument in call.arguments
        for _, value in leaves(argument)
    )


def constant(value: Value) -> bool:
    """Whether a number is one that formulas hold of themselves.

    >>> constant(100), constant("7"), constant(137)
    (True, True, False)
    """
    number = numbers(value)
    if not isinstance(number, (int, float)):
        return False
    size = abs(float(number)) if abs(number) < 1e15 else 0.0
    return size in CONSTANTS or (size <= 12 and size == int(size)) or abs(size - pi) < 0.01
