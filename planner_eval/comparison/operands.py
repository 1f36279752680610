"""Operations whose operands may stand in either order: exchanging them is told, and does no harm."""

from __future__ import annotations

from planner_eval.plan.model import Call

EITHER_ORDER = frozenset({"add", "multiply", "max", "min", "max_number", "min_number", "gcd", "lcm"})
"""How such operations are called in the arithmetic plans that benchmarks have."""

OPERANDS = 2
"""So many arguments such an operation takes."""


def either_order(call: Call) -> bool:
    """Whether a call is such an operation, on two operands.

    >>> both = (("arg_0", 80), ("arg_1", 20))
    >>> either_order(Call("a", "add", both)), either_order(Call("a", "divide", both))
    (True, False)
    >>> either_order(Call("a", "add", (("item", "milk"),)))
    False
    """
    return call.name.casefold() in EITHER_ORDER and len(call.arguments) == OPERANDS
