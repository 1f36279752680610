"""Operations whose operands may stand in either order: exchanging them is told, and does no harm."""

from __future__ import annotations

import re

from planner_eval.plan.model import Call, Ref, Unresolved

EITHER_ORDER = frozenset({"add", "multiply", "max", "min", "max_number", "min_number", "gcd", "lcm"})
"""How such operations are called in the arithmetic plans that benchmarks have."""

OPERANDS = 2
"""So many arguments such an operation takes."""

_COUNTED = re.compile(r"[a-z]|[a-z]*_?[0-9]+")
"""Names of operands, which say nothing but which one it is: ``a``, ``arg_0``, ``1``."""


def either_order(call: Call) -> bool:
    """Whether a call is such an operation, on two operands: numbers or results, under names that only count.

    >>> both = (("arg_0", 80), ("arg_1", 20))
    >>> either_order(Call("a", "add", both)), either_order(Call("a", "divide", both))
    (True, False)
    >>> either_order(Call("a", "add", (("item", "milk"), ("list", "shopping"))))
    False
    >>> either_order(Call("a", "add", (("start", 5), ("days", 3))))
    False
    """
    return (
        call.name.casefold() in EITHER_ORDER
        and len(call.arguments) == OPERANDS
        and all(_COUNTED.fullmatch(name) for name, _ in call.arguments)
        and all(type(value) in _OPERANDS for _, value in call.arguments)
    )


_OPERANDS = (int, float, Ref, Unresolved)
