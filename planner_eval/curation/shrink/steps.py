"""Steps that make a pair smaller: over calls and what stands beside them, and over values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from planner_eval.base.errors import is_number
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.curation.shrink.pairs import (
    SIMPLE_TEXT,
    Pair,
    Partners,
    nested_values,
    number_length,
    weight_of,
)
from planner_eval.plan.graph import reach
from planner_eval.plan.linking import build_plan, move_arguments
from planner_eval.plan.model import (
    Arguments,
    Call,
    Path,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    fold,
    map_leaves,
    references,
)
from planner_eval.plan.structure import consumers

# ----------------------------------------------------------------------
# Steps over values: arguments dropped, references cut, lists, objects, texts and numbers made simple.
ANSWER_POSITION = -1
"""Where a call's position is told: the plan's answer, whose values are as arguments are."""
MAX_WORDS = 50
"""Of texts of more words none is left out alone; halves are."""


DROPPED: Any = object()
"""What stands for nothing, where null is a value."""


class Change(NamedTuple):
    """Another value in one place, or nothing.

    Args:
        side: 0 the prediction, 1 gold.
        call: The call's position, or :data:`ANSWER_POSITION`.
        argument: Which of its arguments, counted from 0.
        at: The way into its value; () is the whole value.
        value: What stands there instead, :data:`DROPPED` for nothing.
    """

    side: int
    call: int
    argument: int
    at: Path
    value: Any


Changes: TypeAlias = tuple[Change, ...]
"""What is changed in one step: on one side, or in the same place on both."""

Simplifier: TypeAlias = Callable[[Value], Iterable[Any]]
"""What could stand in a value's place."""


# ---------------------------------------------------------------- what is simpler
def drop_value(_value: Value) -> Iterable[Any]:
    """Arguments, values of an answer, items of lists, fields of objects, parts of templates: none of it."""
    return (DROPPED,)


def simplify_reference(value: Value) -> Iterator[Any]:
    """Of a reference a plain text, or a shorter way into what it names."""
    if isinstance(value, (Ref, Unresolved)):
        yield SIMPLE_TEXT
        if value.path:
            yield replace(value, path=value.path[:-1])


def simplify_value(value: Value) -> Iterator[Any]:
    """The simplest of what is like it: a plain text, 0 or 1, the only item of a list or an object."""
    if isinstance(value, (list, dict, Template)):
        if not isinstance(value, Template) and len(value) == 1:
            yield from value if isinstance(value, list) else value.values()
        yield SIMPLE_TEXT
    elif isinstance(value, str):
        yield from (SIMPLE_TEXT,) if len(value) > 1 else ()
    elif is_number(value):
        yield from (type(value)(n) for n in (0, 1) if weight_of(n) < weight_of(value))


def shorten_value(value: Value) -> Iterator[Any]:
    """A part of a text or of a number's digits: halves, all but one word or digit, all but one end."""
    if isinstance(value, str) and len(value) > 1:
        yield from (*_shorter_texts(value, value.split(" "), " "), value[1:], value[:-1])
    elif is_number(value) and number_length(value) <= 400:
        kind, text = type(value), repr(abs(value))
        sign = "-" if value < 0 else ""
        rounded = [f"{value:.{digits}f}" for digits in range(3)] if kind is float else []
        mantissa = [text.partition("e")[0]] if "e" in text else []
        shorter = [f"{sign}{digits}" for digits in (*mantissa, *_shorter_texts(text, text, ""))]
        for digits in (text, *rounded, *shorter):
            with suppress(ValueError):  # a point or an e alone, or nothing
                yield from filter(math.isfinite, (kind(digits),))


def _shorter_texts(text: str, pieces: Sequence[str], joiner: str) -> Iterator[str]:
    """Halves of a text, and all of it but one of its pieces."""
    middle = len(text) // 2
    yield from (text[:middle], text[middle:])
    if 1 < len(pieces) <= MAX_WORDS:
        yield from (joiner.join([*pieces[:i], *pieces[i + 1 :]]) for i in range(len(pieces)))


# ---------------------------------------------------------------- places
def find_values(plan: Plan, *, outer: bool = False) -> dict[tuple[int, int, Path], Value]:
    """Each value of a plan, and unless outer ones alone are asked for, what it holds; outer ones first."""
    return {
        (call, number, path): item
        for call, arguments in _all_arguments(plan)
        for number, (_, value) in enumerate(arguments)
        for path, item in ([((), value)] if outer else nested_values(value))
    }


def _all_arguments(plan: Plan) -> Iterator[tuple[int, Arguments]]:
    yield from ((position, call.arguments) for position, call in enumerate(plan.calls))
    if plan.answer is not None:
        yield ANSWER_POSITION, plan.answer


# ---------------------------------------------------------------- steps
def paired_changes(pair: Pair, partners: Partners, simpler: Simplifier, outer: bool) -> list[Changes]:
    """The same change in the same place of calls that stand for one another, where both have one value there.

    Of what is dropped the values may differ.
    """
    pred, gold = pair
    if isinstance(pred, str) or isinstance(gold, str):
        return []
    to_gold = dict(partners) | {ANSWER_POSITION: ANSWER_POSITION}
    pred_arguments, gold_arguments = dict(_all_arguments(pred)), dict(_all_arguments(gold))
    gold_values = find_values(gold, outer=outer)
    changes: list[Changes] = []
    for (call, number, path), value in find_values(pred, outer=outer).items():
        gold_call = to_gold.get(call)
        names = [name for name, _ in gold_arguments.get(gold_call, ())] if gold_call is not None else []
        name = pred_arguments[call][number][0]
        gold_place = (gold_call, names.index(name), path) if gold_call is not None and name in names else None
        if gold_place is None or gold_place not in gold_values:
            continue
        gold_value = gold_values[gold_place]
        are_alike = _can_change_alike(value, gold_value, to_gold)
        changes += [
            (Change(0, call, number, path, new), Change(1, *gold_place, gold_new))
            for new, gold_new in zip(simpler(value), simpler(gold_value), strict=False)
            if are_alike or new is DROPPED
        ]
    return changes


def single_changes(pair: Pair, _partners: Partners, simpler: Simplifier, outer: bool) -> list[Changes]:
    """One change on one side."""
    return [
        (Change(number, *place, new),)
        for number, plan in enumerate(pair)
        if not isinstance(plan, str)
        for place, value in find_values(plan, outer=outer).items()
        for new in simpler(value)
    ]


def _can_change_alike(value: Value, other: Value, to_gold: Mapping[int, int]) -> bool:
    """Whether two values can be made simpler in one way: equal ones, and those that hold others.

    References are equal where they name the same output of calls that stand for one another.
    """
    if isinstance(value, Ref) and isinstance(other, Ref):
        return to_gold.get(value.call) == other.call and value.path == other.path
    if type(value) is not type(other):
        return False
    if isinstance(value, (list, dict)):
        return (len(value) == 1) == (len(other) == 1)
    return isinstance(value, Template) or bool(value == other)


def apply_changes(pair: Pair, units: Iterable[Changes]) -> Pair:
    """The pair with some changes; of two in one place, or in one that another changes, the first holds."""
    new_values: list[dict[tuple[int, int], dict[Path, Any]]] = [{}, {}]
    for change in (change for unit in units for change in unit):
        new_values[change.side].setdefault((change.call, change.argument), {}).setdefault(
            change.at, change.value
        )
    changed_plans = [
        _change_plan(plan, new_values[number]) if new_values[number] and not isinstance(plan, str) else plan
        for number, plan in enumerate(pair)
    ]
    return Pair(*changed_plans)


def _change_plan(plan: Plan, new_values: Mapping[tuple[int, int], Mapping[Path, Any]]) -> Plan:
    new_arguments: dict[int, Arguments] = {}
    for call, arguments in _all_arguments(plan):
        values = (
            (name, replace_values(value, new_values.get((call, number), {})))
            for number, (name, value) in enumerate(arguments)
        )
        new_arguments[call] = tuple((name, value) for name, value in values if value is not DROPPED)
    calls = (replace(call, arguments=new_arguments[i]) for i, call in enumerate(plan.calls))
    return build_plan(calls, new_arguments.get(ANSWER_POSITION))


def replace_values(value: Value, new_values: Mapping[Path, Any], path: Path = ()) -> Any:
    """The value with other values in some places, or without what is dropped there.

    >>> replace_values({"a": [1, 2], "b": 3}, {("a", 0): 7, ("b",): DROPPED})
    {'a': [7, 2]}
    """
    if path in new_values:
        return new_values[path]
    if isinstance(value, dict):
        fields = ((key, replace_values(item, new_values, (*path, key))) for key, item in value.items())
        return {key: item for key, item in fields if item is not DROPPED}
    if isinstance(value, (list, Template)):
        old_items = value if isinstance(value, list) else value.parts
        items = [replace_values(item, new_values, (*path, number)) for number, item in enumerate(old_items)]
        items = [item for item in items if item is not DROPPED]
        return items if isinstance(value, list) else collapse_templates(Template(tuple(items)))
    return value


def collapse_templates(value: Value) -> Value:
    """The value, whose templates without a reference are texts.

    >>> collapse_templates([Template(("a", "x")), 7])
    ['ax', 7]
    """

    def collapse(parts: tuple[Any, ...]) -> Value:
        return "".join(parts) if all(isinstance(part, str) for part in parts) else Template(parts)

    return fold(value, lambda leaf: leaf, text=collapse)


# ----------------------------------------------------------------------
# Steps over calls: one fewer on one side, or on both sides the calls that stand for one another.
CallPair: TypeAlias = tuple[int | None, int | None]
"""A call of the prediction and the call of gold that it stands for; None where there is none."""


def partnered_calls(pair: Pair, partners: Partners) -> list[CallPair]:
    """All calls, those of both sides that stand for one another together; last ones first.

    Consumers mostly stand behind what they need: so few others go with a call.
    """
    paired = {gold: pred for pred, gold in partners}
    pred_count, gold_count = (0 if isinstance(content, str) else len(content.calls) for content in pair)
    units: list[CallPair] = [(paired.get(position), position) for position in range(gold_count)]
    units += [(position, None) for position in range(pred_count) if position not in paired.values()]
    return units[::-1]


def single_calls(pair: Pair, partners: Partners) -> list[CallPair]:
    """The calls of each side that stand for one of the other side, each for itself."""
    units: list[CallPair] = [(position, None) for position, _ in partners]
    return [*units, *((None, position) for _, position in partners)][::-1]


def drop_calls(pair: Pair, units: Collection[CallPair], *, cut: bool) -> Pair:
    """The pair without some calls.

    Args:
        pair: The pair.
        units: The calls.
        cut: Calls that need them stay, and take a plain text in the place of what they took; else they go
            as well, and whatever needs them.
    """
    drop = _cut_references if cut else _drop_with_consumers
    contents: list[Any] = list(pair)
    for number, plan in enumerate(pair):
        removed = {unit[number] for unit in units} - {None}
        contents[number] = drop(plan, removed) if removed and not isinstance(plan, str) else plan
    return Pair(*contents)


def _drop_with_consumers(plan: Plan, removed: set[Any]) -> Plan:
    removed = reach(removed, consumers(plan).__getitem__)
    answer = plan.answer and tuple(  # it consumes, too; values without what they need go, never the whole
        (name, value)
        for name, value in plan.answer
        if not any(isinstance(ref, Ref) and ref.call in removed for _, ref in references(value))
    )
    return _keep_remaining_calls(replace(plan, answer=answer), removed)


def _cut_references(plan: Plan, removed: set[Any]) -> Plan:
    def literal(leaf: Value) -> Value:
        return SIMPLE_TEXT if isinstance(leaf, Ref) and leaf.call in removed else leaf

    def changed(arguments: Arguments) -> Arguments:
        return tuple((name, collapse_templates(map_leaves(literal, value))) for name, value in arguments)

    calls = tuple(replace(call, arguments=changed(call.arguments)) for call in plan.calls)
    answer = plan.answer and changed(plan.answer)
    return _keep_remaining_calls(replace(plan, calls=calls, answer=answer), removed)


def _keep_remaining_calls(plan: Plan, removed: Collection[int]) -> Plan:
    """The calls that are left, their references following them."""
    remaining = [position for position in range(len(plan.calls)) if position not in removed]
    new_positions = {position: new for new, position in enumerate(remaining)}
    calls = [
        replace(plan.calls[position], arguments=move_arguments(plan.calls[position].arguments, new_positions))
        for position in remaining
    ]
    answer = plan.answer
    return build_plan(calls, None if answer is None else move_arguments(answer, new_positions))


# ----------------------------------------------------------------------
# Steps over what stands beside calls: declared outputs, recorded results, long labels, an empty answer.
PlanChange: TypeAlias = tuple[int, Callable[[Plan], Plan]]
"""What leaves something out: a side, 0 the prediction and 1 gold, and the change of its plan."""

MAX_LABEL_CHARACTERS = 8
"""Labels of so many characters stay as they are."""


def find_extras(pair: Pair, _partners: Partners) -> list[PlanChange]:
    """What can be left out beside calls."""
    return [
        (number, change)
        for number, plan in enumerate(pair)
        if not isinstance(plan, str)
        for change in _plan_extras(plan)
    ]


def _plan_extras(plan: Plan) -> Iterator[Callable[[Plan], Plan]]:
    if plan.answer is not None and not plan.answer:
        yield partial(replace, answer=None)
    if any(len(call.id) > MAX_LABEL_CHARACTERS for call in plan.calls):
        yield _shorten_labels
    for position, call in enumerate(plan.calls):
        if call.has_result:
            yield partial(_change_call, position, lambda call: replace(call, result=None, has_result=False))
        yield from (partial(_change_call, position, partial(_drop_output, name)) for name in call.returns)


def drop_extras(pair: Pair, units: Iterable[PlanChange]) -> Pair:
    """The pair without some of it."""
    plans: list[Any] = list(pair)
    for number, change in units:
        plans[number] = change(plans[number])
    return Pair(*plans)


def _change_call(position: int, change: Callable[[Call], Call], plan: Plan) -> Plan:
    calls = (change(call) if index == position else call for index, call in enumerate(plan.calls))
    return build_plan(calls, plan.answer)


def _drop_output(name: str, call: Call) -> Call:
    return replace(call, returns=tuple(other for other in call.returns if other != name))


def _shorten_labels(plan: Plan) -> Plan:
    """The plan with short labels, none of which another call has."""
    ids = [call.id for call in plan.calls]
    free = (name for number in range(1, 2 * len(ids) + 1) if (name := f"c{number}") not in ids)
    calls = (
        replace(call, id=next(free)) if len(call.id) > MAX_LABEL_CHARACTERS else call for call in plan.calls
    )
    return build_plan(calls, plan.answer)
