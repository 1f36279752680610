"""What makes a call's value worth asking for, and whether anything depends on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.plan.model import Call, Plan, Ref, Value
from planner_eval.plan.rewire import plan_of

LEAST, MOST = 1e-6, 1e9
"""The numbers between which a value is one that a person might ask for."""


def worthless(value: Any, inputs: Sequence[Any]) -> str | None:
    """Why a value is not worth asking for; None where it is."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or (value and not LEAST <= abs(value) <= MOST):
            return "a number is out of all proportion"
        if value in (0, 1, -1):
            return "a number is 0 or 1"
    elif not isinstance(value, (str, list, dict)) or _empty(value):
        return "a call gives nothing"
    if isinstance(value, (int, float, str)) and any(_alike(value, one) for one in inputs):
        return "a call gives what is known already"
    return None


def _empty(value: Any) -> bool:
    """Whether nothing is in a value that would tell anything, or something that JSON cannot hold."""
    if isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return all(one is None or _empty(one) for one in inner)
    return (
        value == ""
        or not isinstance(value, (str, int, float))
        or not (isinstance(value, str) or math.isfinite(value))
    )


def _alike(value: Any, other: Any) -> bool:
    if isinstance(other, bool) or isinstance(value, str) != isinstance(other, str):
        return False
    return isinstance(other, (int, float, str)) and not differs(value, other)


def differs(one: Any, other: Any) -> bool:
    """Whether two values are no rounding apart."""
    if (
        isinstance(one, (int, float))
        and isinstance(other, (int, float))
        and bool not in (type(one), type(other))
    ):
        return not math.isclose(one, other, rel_tol=1e-9)
    return type(one) is not type(other) or bool(one != other)


class Replaced(NamedTuple):
    """A part of a plan, and where the calls of the whole stand in it."""

    plan: Plan
    places: Mapping[int, int]


def replaced(plan: Plan, needs: Sequence[frozenset[int]], at: int, value: Any) -> Replaced:
    """What depends on a call, its result replaced."""
    tainted = {at}
    for later in range(at + 1, len(plan)):
        if needs[later] & tainted:
            tainted.add(later)
    kept = sorted({*tainted, *(p for one in tainted - {at} for p in _ancestors(needs, one))} - {at})
    place = {old: new for new, old in enumerate(kept)}

    def written(given: Value) -> Value:
        if not isinstance(given, Ref):
            return given
        return value if given.call == at else Ref(place[given.call], given.path)

    calls = [
        Call(
            call.id,
            call.name,
            tuple((name, written(one)) for name, one in call.arguments),
            call.app,
            call.returns,
        )
        for call in (plan.calls[old] for old in kept)
    ]
    return Replaced(plan_of(calls), place)


def _ancestors(needs: Sequence[frozenset[int]], at: int) -> set[int]:
    found: set[int] = set()
    waiting = [*needs[at]]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += needs[one]
    return found
