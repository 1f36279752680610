"""A pair of plans that is made smaller, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from planner_eval.base.named import NamedTuple
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved, Value
from planner_eval.plan.rewire import plan_of

Side: TypeAlias = Plan | str
"""A plan; or a text, where none can be read of it, or it does not show the same when it is written anew."""


class Pair(NamedTuple):
    """A prediction and the gold plan."""

    pred: Side
    gold: Side


class Size(NamedTuple):
    """How large a plan or a pair is; each step makes it less, as tuples are compared.

    Args:
        calls: How many calls.
        arguments: How many arguments, values of the answer, declared outputs and recorded results.
        references: How many references, and steps of the ways into what they name.
        weight: Of all values and labels; of a text its characters.
    """

    calls: int = 0
    arguments: int = 0
    references: int = 0
    weight: int = 0

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(*(count + other_count for count, other_count in zip(self, other, strict=True)))


SIMPLE = "x"
"""The text that says nothing: what stands in the place of another, and of a reference."""


def bare(plan: Plan) -> Plan:
    """The plan without what the text that it was read from says beside it: places, notes, guessed edges.

    >>> from planner_eval.dialects.read import parse
    >>> bare(parse("a = f(#x='1')")).text is None
    True
    """
    return plan_of((replace(call, span=None, spans=()) for call in plan.calls), plan.answer)


def size_of(plan_or_text: Side) -> Size:
    r"""How large a side is.

    >>> from planner_eval.dialects.read import parse
    >>> size_of(parse("a = f(#x='Rome')\ng(#y=a)")), size_of("f(")
    (Size(calls=2, arguments=3, references=2, weight=13), Size(calls=0, arguments=0, references=0, weight=2))
    """
    if isinstance(plan_or_text, str):
        return Size(weight=len(plan_or_text))
    total = Size(calls=len(plan_or_text.calls), arguments=int(plan_or_text.answer is not None))
    for call in plan_or_text.calls:
        extra_values = len(call.returns) + bool(call.has_result)
        total = total.plus(Size(arguments=len(call.arguments) + extra_values, weight=len(call.id)))
        for _, value in call.arguments:
            total = total.plus(_size(value))
    for _, value in plan_or_text.answer or ():
        total = total.plus(_size(value)).plus(Size(arguments=1))
    return total


def size(pair: Pair) -> Size:
    """How large both sides are together."""
    return size_of(pair.pred).plus(size_of(pair.gold))


def _size(value: Value) -> Size:
    references = weight = 0
    for leaf in _parts(value):
        if isinstance(leaf, (Ref, Unresolved)):
            references += 1 + len(leaf.path)
        else:
            weight += leaf if isinstance(leaf, _Holds) else weight_of(leaf)
    return Size(references=references, weight=weight)


class _Holds(int):
    """What a list, an object or a template weighs beside what it holds."""


def _parts(value: Value) -> Iterator[Any]:
    if isinstance(value, dict):
        yield _Holds(1 + sum(1 + len(key) for key in value))
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        yield _Holds(1 + len(value))
        for item in value:
            yield from _parts(item)
    elif isinstance(value, Template):
        yield _Holds(1 + len(value.parts))
        yield from value.parts
    else:
        yield value


def weight_of(leaf: Any) -> int:
    """What a scalar weighs: 0 and 1 least of all numbers, and of texts the shortest.

    >>> weight_of(0) < weight_of(1) < weight_of(7) < weight_of(70), weight_of("x") < weight_of("y")
    (True, True)
    """
    if isinstance(leaf, bool) or leaf is None:
        return 1
    if isinstance(leaf, str):
        return 2 * len(leaf) + (leaf != SIMPLE)
    if isinstance(leaf, (int, float)):
        return 1 if leaf == 0 else 2 if leaf == 1 else 2 + number_length(leaf)
    return 1


def number_length(number: float) -> int:
    """How many characters a number takes; of whole numbers that are too long to write, about."""
    if isinstance(number, int) and number.bit_length() > 10_000:
        return number.bit_length() // 3
    return len(repr(number))


def with_calls(plan: Plan, calls: tuple[Call, ...]) -> Plan:
    """The plan with other calls."""
    return plan_of(calls, plan.answer)
