"""When two plans mean the same, decided by numbers that stand for calls.

Each call gets a number such that two calls of the two plans have equal numbers exactly when their
app, name and arguments are equal, a reference counting as its producer's number and the path into
its result. The numbers come from one table that both plans share, producers first, so equality is
exact and nothing is digested. Equal multisets of numbers settle the question unless equal calls
are told apart only by who uses them; then :mod:`planner_eval.plan.isomorphism` looks for a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from math import isnan
from operator import itemgetter
from typing import Any, TypeAlias

from planner_eval.base.text import text_hash
from planner_eval.plan.graph import circles, generations
from planner_eval.plan.isomorphism import DIFFERENT, ColouredGraph, Verdict, consumers, find_mapping
from planner_eval.plan.linking import SMALL_INTEGER
from planner_eval.plan.model import (
    Arguments,
    Bag,
    Call,
    Plan,
    RawPlan,
    RawRef,
    Ref,
    Template,
    Unresolved,
    Value,
    contains_kind,
    fold,
)

Key: TypeAlias = Any
"""Something hashable that stands for a value: equal keys, equal values."""

Normaliser: TypeAlias = Callable[[Plan, int, Arguments], Arguments]
"""What a policy does to a call's arguments before they are compared: (plan, position, arguments); the
position is the number of calls for the answer. It gives as many as it takes, :data:`LEFT_OUT` for the value
of one that does not count."""

LEFT_OUT = object()
"""In place of an argument's value: the argument does not count."""

BUDGET = 1_000_000
"""How many steps a search among equal calls may take (about a second) before it stops and says so."""

_first_item = itemgetter(0)
_TRUE, _FALSE, _NAN = ("true",), ("false",), ("nan",)
_SCALARS = (str, int, type(None))


class _UnnumberedCallError(Exception):
    """A reference to a call that has no number yet."""


OWN_POSITIONS = range(1 << 62)
"""In place of numbers: each call's own position, so that a reference is the call that it names."""


def value_key(  # noqa: PLR0911 - one return a kind is the shortest dispatch, and this is the hot path
    value: Value, numbers: Sequence[int | str | None]
) -> Key:
    """What stands for one value: equal keys mean equal values.

    Numbers count by value (7 is 7.0), booleans are not numbers, NaN equals NaN, the order of an
    object's fields is free and the order of a list is not. A reference is its producer's number.

    Args:
        value: JSON data with linked references as leaves.
        numbers: The number of each call of the plan; None where it has none yet.

    >>> value_key({"b": 7.0, "a": True}, []) == value_key({"a": True, "b": 7}, [])
    True
    >>> value_key(True, []) == value_key(1, [])
    False
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Ref:
        number = numbers[value.call]
        if number is None:
            raise _UnnumberedCallError
        return "ref", number, value.path
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is float:
        return int(value) if value.is_integer() else _NAN if isnan(value) else value
    if kind is list:
        return "list", *(value_key(item, numbers) for item in value)
    if kind is dict:
        items = sorted(value.items(), key=_first_item)
        return "dict", *((key, value_key(item, numbers)) for key, item in items)
    if kind is Bag:
        return "bag", *sorted([value_key(item, numbers) for item in value], key=repr)
    if kind is Template:
        return "text", *(value_key(piece, numbers) for piece in value.parts)
    if kind is Unresolved:
        return "unresolved", value.name, value.path
    return "other", kind.__qualname__, repr(value)


class NumberedPlan:
    """A plan with a number for each call, and one more for its answer where it names one.

    ``numbers`` holds None for what is part of a circle or needs one; ``forward`` says that some
    call is written before a call that it needs; ``arguments`` are those that are compared, ``written`` the
    same as the plan has them.

    Args:
        plan: The plan.
        table: Keys and their numbers, shared by the plans that are compared; None where nobody asks for them.
        normalise: What a policy does to arguments first; None for nothing.
    """

    __slots__ = ("arguments", "forward", "numbers", "plan", "written")

    def __init__(self, plan: Plan, table: dict[Key, int] | None, normalise: Normaliser | None = None) -> None:
        self.plan = plan
        self.arguments = [call.arguments for call in plan.calls]
        if plan.answer:
            self.arguments.append(plan.answer)
        self.written = self.arguments
        if normalise is not None:
            self._normalise(normalise)
        self.numbers: list[int | None] = [None] * len(self.arguments)
        self.forward = False
        if table is None:
            return
        try:
            self._number(range(len(self.arguments)), table)
        except _UnnumberedCallError:
            self.forward = True
            # Producers before consumers; calls in or behind a circle never come.
            needs = [self.producers(i) for i in range(len(self.arguments))]
            self._number((position for generation in generations(needs) for position in generation), table)

    def _normalise(self, normalise: Normaliser) -> None:
        normalised = [
            normalise(self.plan, position, arguments) for position, arguments in enumerate(self.written)
        ]
        self.arguments = [tuple(pair for pair in new if pair[1] is not LEFT_OUT) for new in normalised]
        self.written = [
            before
            if len(retained) == len(before)
            else tuple(pair for pair, (_, value) in zip(before, new, strict=True) if value is not LEFT_OUT)
            for before, new, retained in zip(self.written, normalised, self.arguments, strict=True)
        ]

    def key(self, position: int, numbers: list[int | None]) -> Key:
        """What stands for one call, or for the answer, when calls have these numbers."""
        keyed = [
            (name, value if type(value) is str else value_key(value, numbers))
            for name, value in self.arguments[position]
        ]
        if len(keyed) > 1:
            keyed.sort(key=_first_item)
        if position == len(self.plan.calls):
            return ("answer", *keyed)
        call = self.plan.calls[position]
        return (call.app, call.name, *keyed)

    def producers(self, position: int) -> list[int]:
        """The calls that one call refers to, in an order that depends on nothing but its key."""
        named = sorted(self.arguments[position], key=_first_item)
        return [producer for _, value in named for producer in producers_of(value, self.numbers)]

    def early(self, *, circling: bool = False) -> Iterator[tuple[int, int]]:
        """Calls that are written before one that they need, and that one.

        Args:
            circling: Those of which both are in one circle, in the place of all others.
        """
        circle: dict[int, int] = {}
        if None in self.numbers:
            needs = [self.producers(i) for i in range(len(self.arguments))]
            circle = {i: number for number, group in enumerate(circles(needs)) for i in group}
        for position in range(len(self.plan.calls)):
            for producer in sorted({*self.producers(position)}):
                if producer > position and circling is bool(circle and circle[producer] == circle[position]):
                    yield position, producer

    def coloured(self, table: dict[Key, int]) -> ColouredGraph:
        """The plan as the search for a mapping sees it."""
        numbers = [-1 if number is None else number for number in self.numbers]
        blank: list[int | None] = [*numbers]
        colours = [
            table.setdefault(("circle", self.key(position, blank)), len(table)) if number is None else number
            for position, number in enumerate(self.numbers)
        ]
        return ColouredGraph(colours, [self.producers(position) for position in range(len(colours))])

    def _number(self, positions: Iterable[int], table: dict[Key, int]) -> None:
        for position in positions:
            self.numbers[position] = table.setdefault(self.key(position, self.numbers), len(table))


def same(pred: Plan, gold: Plan) -> bool:
    """Whether two plans mean the same: same calls, same arguments, same data flow, same answer.

    Labels, the order of independent calls and the order of arguments carry no meaning. A call
    written before one that it needs counts against `pred` unless `gold` is written so too.

    Args:
        pred: The prediction.
        gold: What was wanted.

    >>> from planner_eval.plan.model import Call, Plan
    >>> same(Plan((Call("a", "f"), Call("b", "g"))), Plan((Call("1", "g"), Call("2", "f"))))
    True
    """
    return compare(pred, gold).same


def compare(
    pred: Plan,
    gold: Plan,
    *,
    normalise: Normaliser | None = None,
    ordered: bool = True,
    budget: int = BUDGET,
) -> Verdict:
    """Whether two plans mean the same, with the pairing that shows it and whether that is proved.

    Args:
        pred: The prediction.
        gold: What was wanted.
        normalise: What a policy does to arguments first; None compares them as they are.
        ordered: Whether a call written before one that it needs counts against `pred`.
        budget: How many steps to search for a mapping where equal calls differ only in who uses them.
    """
    if len(pred.calls) != len(gold.calls):
        return DIFFERENT
    if normalise is None:
        unlike = None if pred is gold else _first_unlike(pred, gold)
        if unlike is None and (pred is gold or _is_written_alike(pred, gold)):
            return Verdict(True, mapping=tuple(range(len(gold.calls))))
        if unlike is not None and not any(_can_equal(unlike, other) for other in gold.calls):
            return DIFFERENT
    table: dict[Key, int] = {}
    numbered_pred, numbered_gold = NumberedPlan(pred, table, normalise), NumberedPlan(gold, table, normalise)
    return compare_numbered(numbered_pred, numbered_gold, table, ordered=ordered, budget=budget)


def _first_unlike(pred: Plan, gold: Plan) -> Call | None:
    """The first call of pred that is not written as the call of gold at its place."""
    for call, other in zip(pred.calls, gold.calls, strict=True):
        if call.name != other.name or call.app != other.app or call.arguments != other.arguments:
            return call
    return None


def _can_equal(call: Call, other: Call) -> bool:
    """Whether a call may be another's equal, told without numbers; most calls with a mistake are no call's.

    A fifth of what the numbers of a pair take says so, where a text, a whole number or none is another.
    """
    if call.name != other.name or call.app != other.app or len(call.arguments) != len(other.arguments):
        return False
    return all(type(pair[1]) not in _SCALARS or pair in other.arguments for pair in call.arguments)


def _is_written_alike(pred: Plan, gold: Plan) -> bool:
    """Whether plans of which no call is written unlike are the same; False may be either.

    Most right answers are written as gold is, and this takes a third to a half of what their numbers take.
    """
    if pred.answer != gold.answer:
        return False
    # To Python 1 is True, and no two NaN are alike: of values of other types the numbers say more. What
    # equals a text, none or a reference is of its type.
    kinds = _value_types(pred)
    return kinds <= _PLAIN_TYPES and (int not in kinds or _value_types(gold) <= _PLAIN_TYPES)


def _value_types(plan: Plan) -> set[type]:
    """The types of a plan's arguments and of its answer's."""
    kinds = {type(value) for call in plan.calls for _, value in call.arguments}
    return kinds.union(type(value) for _, value in plan.answer) if plan.answer else kinds


_PLAIN_TYPES = frozenset({str, int, Ref, type(None)})


def compare_numbered(
    pred: NumberedPlan,
    gold: NumberedPlan,
    table: dict[Key, int],
    *,
    ordered: bool,
    budget: int = BUDGET,
) -> Verdict:
    """:func:`compare` for plans that are numbered already, from one table."""
    count = len(gold.plan.calls)
    if len(pred.plan.calls) != count or len(pred.numbers) != len(gold.numbers):
        return DIFFERENT
    where: dict[int | None, list[int]] = {}
    for position in range(len(gold.numbers) - 1, -1, -1):
        where.setdefault(gold.numbers[position], []).append(position)
    tied = len(where) < len(gold.numbers) or None in where
    mapping = []
    for number in pred.numbers:
        candidates = where.get(number)
        if not candidates:
            return DIFFERENT
        mapping.append(candidates.pop())
    if tied and not _keeps_references(pred, gold, mapping):
        search = find_mapping(pred.coloured(table), gold.coloured(table), budget=budget)
        if search.mapping is None:
            return search
        mapping = [*search.mapping]
        if not _keeps_references(pred, gold, mapping):
            return Verdict(False, proved=False)
    early = pred.early() if ordered and pred.forward else ()  # gold has to write these calls early too
    if any(mapping[producer] <= mapping[position] for position, producer in early):
        return DIFFERENT
    return Verdict(True, mapping=tuple(mapping[:count]))


def _keeps_references(pred: NumberedPlan, gold: NumberedPlan, mapping: list[int]) -> bool:
    """Whether every reference of pred, its producer mapped, is the one of gold."""
    images: list[int | None] = [*mapping]
    own: list[int | None] = [*range(len(mapping))]
    return all(
        pred.key(position, images) == gold.key(image, own)
        for position, image in enumerate(mapping)
        if pred.numbers[position] is None or pred.producers(position)
    )


def producers_of(value: Value, numbers: Sequence[int | None] = ()) -> Iterator[int]:
    """The calls that a value refers to, fields by name, what has no order by the numbers of its calls."""
    kind = type(value)
    if kind is Ref:
        yield value.call
    elif kind is list or kind is Bag:
        if kind is Bag and numbers:
            known_numbers = [-1 if number is None else number for number in numbers]
            value = sorted(value, key=lambda item: repr(value_key(item, known_numbers)))
        for item in value:
            yield from producers_of(item, numbers)
    elif kind is dict:
        for _, item in sorted(value.items(), key=_first_item):
            yield from producers_of(item, numbers)
    elif kind is Template:
        for piece in value.parts:
            yield from producers_of(piece)


# ----------------------------------------------------------------------
# What of a plan's calls is known before its references are followed: enough to tell most plans apart.
_REFERENCE = ("reference",)
_BOOLS = {True: ("true",), False: ("false",)}


def outline(raw: RawPlan) -> dict[Hashable, int] | None:
    """How often each call is made, every reference counting as any other; likewise the answer.

    Plans of different outlines do not mean the same, whatever their references mean.

    Args:
        raw: The calls as they were read.

    Returns:
        None where an argument is more than a word, a small whole number or a reference: only
        :func:`planner_eval.plan.linking.link` says whether a plan may hold it, and what it means.

    >>> from planner_eval.plan.model import RawCall
    >>> outline(RawPlan((RawCall("f", (("b", 2), ("a", RawRef("x")))),)))
    {(None, 'f', ('a', ('reference',)), ('b', 2)): 1}
    """
    counts: dict[Hashable, int] = {}
    for call in raw.calls:
        outlined = _outline_arguments(call.arguments)
        if outlined is None:
            return None
        key = (call.app, call.name, *outlined)
        counts[key] = counts.get(key, 0) + 1
    if raw.answer:
        outlined = _outline_arguments(raw.answer)
        if outlined is None:
            return None
        counts["answer", *outlined] = 1
    return counts


def _outline_arguments(arguments: Arguments) -> list[Any] | None:
    items: list[Any] = []
    for item in arguments:
        value = item[1]
        kind = type(value)
        if kind is str or value is None:
            items.append(item)
        elif kind is RawRef:
            items.append((item[0], _REFERENCE))
        elif kind is int and -SMALL_INTEGER < value < SMALL_INTEGER:
            items.append(item)
        elif kind is bool:
            items.append((item[0], _BOOLS[value]))
        else:
            return None
    if len(items) > 1:
        items.sort(key=_first_item)
    return items


# ----------------------------------------------------------------------
# A short text that all plans of one meaning share, for counting shapes and for caches.
DIGEST_BUDGET = 100_000
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
    return _digest_numbered(NumberedPlan(plan, Digests(), None if values else _blank_arguments))


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
        numbered = NumberedPlan(plan, Digests(), self._normalise)
        name = _digest_numbered(numbered)
        if None not in numbered.numbers and len({*numbered.numbers}) == len(numbered.numbers):
            return name
        class_plans = self._known.setdefault(name, [])
        for index, other in enumerate(class_plans):
            verdict = compare(plan, other, normalise=self._normalise, ordered=False, budget=DIGEST_BUDGET)
            if verdict.same or not verdict.proved or index == MAX_CLASS_NUMBER:
                self.unproved += not verdict.same
                return f"{name}.{index}" if index else name
        class_plans.append(plan)
        return f"{name}.{len(class_plans) - 1}" if len(class_plans) > 1 else name


def _digest_numbered(numbered: NumberedPlan) -> str:
    coloured = numbered.coloured(Digests())
    used = consumers(coloured)
    ends = sorted(
        text_hash(repr((colour, sorted([(coloured.colours[user], slot) for user, slot in used[position]]))))
        for position, colour in enumerate(coloured.colours)
    )
    return text_hash(repr(ends))


class Digests(dict[Key, Any]):
    """In place of a table of numbers: each key's number is its digest, and nothing is kept."""

    def setdefault(self, key: Key, _default: Any = None) -> str:
        """The digest of a key."""
        return text_hash(repr(key))


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
