"""A short text that all plans of one meaning share, for counting shapes and for caches."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from planner_eval.plan.canonical import LEFT_OUT, Key, NumberedPlan, compare
from planner_eval.plan.isomorphism import consumers
from planner_eval.plan.model import Arguments, Plan, Ref, Value
from planner_eval.plan.values import contains_kind, fold

BUDGET = 100_000
"""How many steps a search among equal calls may take (about a tenth of a second) where plans are classed."""

MAX_CLASS_NUMBER = 32
"""The number of the last class that plans of one digest are told apart into."""


def digest(plan: Plan, *, values: bool = True) -> str:
    """32 hexadecimal digits that plans of one meaning share, stable across runs and machines.

    For counting and caching: plans with different digests differ; that plans with one digest are
    the same is a matter for :func:`same`, for this looks at users of calls one step far only.

    Args:
        plan: The plan.
        values: False leaves literal values out, so that plans of one shape share the digest.

    >>> from planner_eval.plan.model import Call, Plan
    >>> digest(Plan((Call("a", "f", (("x", 7),)),))) == digest(Plan((Call("b", "f", (("x", 7.0),)),)))
    True
    """
    return _digest_numbered(NumberedPlan(plan, _Digests(), None if values else _blank_arguments))


class EquivalenceClasses:
    """Plans that mean the same share a class: exactly so, where :func:`digest` is only nearly right.

    Args:
        values: False leaves literal values out, so that plans equal up to values share a class.
        literals: False leaves out all arguments that hold no reference, so that plans share a class that
            make the same calls with the same references.

    >>> from planner_eval.plan.model import Call, Plan
    >>> rome, oslo, other = (Plan((Call("a", tool, (("x", at),)),)) for tool, at in zip("ffg", "rom"))
    >>> up_to_values = EquivalenceClasses(values=False)
    >>> [up_to_values.of(plan) == up_to_values.of(rome) for plan in (rome, oslo, other)]
    [True, True, False]
    """

    __slots__ = ("_known", "_normalise", "unproved")

    def __init__(self, *, values: bool = True, literals: bool = True) -> None:
        self._normalise = _drop_literals if not literals else None if values else _blank_arguments
        self._known: dict[str, list[Plan]] = {}
        """One plan of each class of which the digest does not settle it, for some calls are alike."""
        self.unproved = 0
        """Plans that were put into the class of their digest unproved, for the search would take too long."""

    def of(self, plan: Plan) -> str:
        """The name of a plan's class: its digest, and where several share that, a number behind it."""
        numbered = NumberedPlan(plan, _Digests(), self._normalise)
        name = _digest_numbered(numbered)
        if None not in numbered.numbers and len({*numbered.numbers}) == len(numbered.numbers):
            return name
        class_plans = self._known.setdefault(name, [])
        for index, other in enumerate(class_plans):
            verdict = compare(plan, other, normalise=self._normalise, ordered=False, budget=BUDGET)
            if verdict.same or not verdict.proved or index == MAX_CLASS_NUMBER:
                self.unproved += not verdict.same
                return f"{name}.{index}" if index else name
        class_plans.append(plan)
        return f"{name}.{len(class_plans) - 1}" if len(class_plans) > 1 else name


def _digest_numbered(numbered: NumberedPlan) -> str:
    coloured = numbered.coloured(_Digests())
    used = consumers(coloured)
    ends = sorted(
        _hash((colour, sorted([(coloured.colours[user], slot) for user, slot in used[position]])))
        for position, colour in enumerate(coloured.colours)
    )
    return _hash(ends)


class _Digests(dict[Key, Any]):
    """In place of a table of numbers: each key's number is its digest, and nothing is kept."""

    def setdefault(self, key: Key, _default: Any = None) -> str:
        return _hash(key)


def _hash(value: object) -> str:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _blank_arguments(_plan: Plan, _position: int, arguments: Arguments) -> Arguments:
    return tuple((name, _blank_value(value)) for name, value in arguments)


def _drop_literals(plan: Plan, position: int, arguments: Arguments) -> Arguments:
    blanked = _blank_arguments(plan, position, arguments)
    return tuple((name, value if contains_kind(value, Ref) else LEFT_OUT) for name, value in blanked)


def _blank_value(value: Value) -> Value:
    """A value whose literals are all alike: references and the containers that hold them remain."""
    return fold(
        value,
        _keep_reference,
        items=lambda blanked_items: (
            blanked_items if any(item is not None for item in blanked_items) else None
        ),
        fields=lambda blanked_fields: (
            blanked_fields if any(item is not None for item in blanked_fields.values()) else None
        ),
        text=lambda pieces: [_keep_reference(piece) for piece in pieces],
    )


def _keep_reference(leaf: Value) -> Ref | None:
    return leaf if type(leaf) is Ref else None
