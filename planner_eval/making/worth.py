"""What makes a call's value worth asking for, and whether anything depends on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.plan.model import Call, Plan, Ref, Value
from planner_eval.plan.rewire import plan_of

LEAST, MOST = 1e-6, 1e9
"""The numbers between which a value is one that a person might ask for."""


def worthless(value: Any, inputs: Sequence[Any]) -> str | None:
    """Why a value is not worth asking for; None where it is.

    Args:
        value: What a call gives: worth something if anything in it is.
        inputs: What is known already.

    >>> worthless({"peak": float("inf"), "of": "Oslo"}, ())
    'a number is infinite or none'
    >>> worthless([0, " ", None], ()), worthless([3, 4], [[3, 4]])
    ('a call gives nothing', 'a call gives what is known already')
    """
    if not finite(value):
        return "a number is infinite or none"
    if isinstance(value, (list, dict)):
        if all(_scalar(leaf) is not None for leaf in _leaves(value)):
            return "a call gives nothing"
    elif (why := _scalar(value)) is not None:
        return why
    if not isinstance(value, bool) and any(_alike(value, known_value) for known_value in inputs):
        return "a call gives what is known already"
    return None


def _scalar(value: Any) -> str | None:
    """Why a single value is not worth asking for."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if value in (0, 1, -1):
            return "a number is 0 or 1"
        return None if LEAST <= abs(value) <= MOST else "a number is out of all proportion"
    return None if isinstance(value, str) and value.strip() else "a call gives nothing"


def finite(value: Any) -> bool:
    """Whether every number in a value is one that JSON can hold.

    >>> finite({"a": [1, 2.5]}), finite({"a": [float("nan")]})
    (True, False)
    """
    return all(not isinstance(leaf, float) or math.isfinite(leaf) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    """What lists and objects hold that is neither, whatever it is and however deep."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, (list, tuple)):
            waiting += item
        else:
            yield item


def _alike(value: Any, other: Any) -> bool:
    """Whether two values are the same to whoever asks: a flag tells nothing of a number."""
    if isinstance(other, bool) or not isinstance(other, (int, float, str, list, dict)):
        return False
    return not differs(value, other)


def differs(left: Any, right: Any) -> bool:
    """Whether two values are more than roundings apart, in all that they hold.

    >>> differs([0.1 + 0.2], [0.3]), differs({"a": 1}, {"a": True})
    (False, True)
    """
    if isinstance(left, list) and isinstance(right, list):
        return len(left) != len(right) or any(map(differs, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() != right.keys() or any(differs(left[key], right[key]) for key in left)
    if (
        isinstance(left, (int, float))
        and isinstance(right, (int, float))
        and bool not in (type(left), type(right))
    ):
        return not math.isclose(left, right, rel_tol=1e-9)
    return type(left) is not type(right) or bool(left != right)


class Replaced(NamedTuple):
    """A part of a plan, and where the calls of the whole stand in it."""

    plan: Plan
    places: Mapping[int, int]


def replaced(plan: Plan, needs: Sequence[frozenset[int]], index: int, value: Any) -> Replaced:
    """What depends on a call, its result replaced."""
    tainted = {index}
    for later in range(index + 1, len(plan)):
        if needs[later] & tainted:
            tainted.add(later)
    retained = sorted(
        {*tainted, *(p for descendant in tainted - {index} for p in _ancestors(needs, descendant))} - {index}
    )
    new_positions = {old: new for new, old in enumerate(retained)}

    def written(argument: Value) -> Value:
        if not isinstance(argument, Ref):
            return argument
        return value if argument.call == index else Ref(new_positions[argument.call], argument.path)

    calls = [
        Call(
            call.id,
            call.name,
            tuple((name, written(argument)) for name, argument in call.arguments),
            call.app,
            call.returns,
        )
        for call in (plan.calls[old] for old in retained)
    ]
    return Replaced(plan_of(calls), new_positions)


def _ancestors(needs: Sequence[frozenset[int]], index: int) -> set[int]:
    ancestors: set[int] = set()
    waiting = [*needs[index]]
    while waiting:
        producer = waiting.pop()
        if producer not in ancestors:
            ancestors.add(producer)
            waiting += needs[producer]
    return ancestors
