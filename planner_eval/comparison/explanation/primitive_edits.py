"""Primitive edits: what differs, call by call and argument by argument, given which calls are partners."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from planner_eval.comparison.explanation.edits import (
    Draft,
    Place,
    PlacePair,
    ValueData,
    ValueDiff,
    kind_name,
)
from planner_eval.comparison.explanation.names import is_commutative
from planner_eval.comparison.gold_alternatives import AcceptedValues
from planner_eval.comparison.matching.likeness import (
    assign,
    has_prefix_more,
    is_similar_name,
    likeness,
)
from planner_eval.comparison.matching.pairing import MISSING, Argument, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import (
    MIN_LIKENESS,
    Arguments,
    ListedCalls,
    find_listed_calls,
    find_nearest_call,
    is_distinctive,
)
from planner_eval.plan.canonical import Key, producers_of
from planner_eval.plan.model import Path, Plan, Ref, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


class PrimitiveEdits:
    """The edits of two plans: call by call in gold's order, then pred's extra calls, then order and answer.

    Args:
        pairing: Which calls are partners.
        accepted: What is right beside gold's own values.
        ordered: Whether it counts that a call is written after those it needs.
    """

    def __init__(self, pairing: Pairing, accepted: AcceptedValues, *, ordered: bool) -> None:
        self.pairing, self.objects = unpack_objects(pairing)
        self.accepted, self.ordered = accepted, ordered
        self.pred: Plan = pairing.pred.numbered.plan
        self.gold: Plan = pairing.gold.numbered.plan
        self.to_gold, self.to_pred = pairing.to_gold, pairing.to_pred
        self.values = ValueDiff(pairing.to_gold)
        self.listed = find_listed_calls(pairing)
        notes = (note for note in self.pred.diagnostics if note.code == "value.computed")
        self.computed = {(note.call, note.argument) for note in notes}

    def __iter__(self) -> Iterator[Draft]:
        for gold in range(len(self.gold.calls)):
            pred = self.to_pred[gold]
            if pred < 0:
                twin = self.right_twins.get(self.pairing.gold.numbered.numbers[gold])
                yield Draft("missing call", "call.missing", None, Place(gold), data=twin)
            elif not self.pairing.equal(pred, gold):
                yield from self.compare_tools(pred, gold)
                yield from self.compare_arguments(pred, gold)
        for pred in range(len(self.pred.calls)):
            if self.to_gold[pred] < 0:
                yield self.describe_extra(pred)
        yield from self.find_early_calls()
        yield from self.compare_answers()

    # ------------------------------------------------------------ whole calls
    @cached_property
    def right_twins(self) -> dict[int | None, int]:
        """Of equal calls of gold the first that is right, by their number."""
        numbers, tools = self.pairing.gold.numbered.numbers, self.pairing.gold.tools
        return {
            numbers[gold]: gold
            for pred, gold in reversed(self.pairing.pairs())
            if numbers[gold] is not None
            and self.pairing.pred.tools[pred] == tools[gold]
            and not self.pairing.final(pred, gold)
        }

    @cached_property
    def first_equals(self) -> dict[int | None, int]:
        """Of equal calls of the prediction the first that has a partner, else the first, by their number."""
        numbers = self.pairing.pred.numbered.numbers
        by_partner = sorted(range(len(self.pred.calls)), key=lambda pred: (self.to_gold[pred] >= 0, -pred))
        return {numbers[pred]: pred for pred in by_partner if numbers[pred] is not None}

    def describe_extra(self, pred: int) -> Draft:
        """A call that gold does not make: a repeat, a try of another call, or neither."""
        twin = self.first_equals.get(self.pairing.pred.numbered.numbers[pred], pred)
        if twin != pred:
            return Draft(
                "repeated call", "call.duplicated", Place(pred), data=(twin, self.to_gold[twin] >= 0)
            )
        used = any(self.to_gold[use.consumer] >= 0 for use in self.pairing.pred.users[pred])
        nearest = None if used else find_nearest_call(self.pairing, pred)
        if nearest is None:
            return Draft("extra call", "call.extra", Place(pred))
        args, near_args = (self.pairing.pred.written(position) for position in (pred, nearest.call))
        values = [(name, args[name], near_args.get(name, MISSING)) for name in nearest.names]
        return Draft("try", "call.extra", Place(pred), data=(nearest.call, values))

    def compare_tools(self, pred: int, gold: int) -> Iterator[Draft]:
        """The difference of the tools of two partners."""
        pred_call, gold_call = self.pred.calls[pred], self.gold.calls[gold]
        if (pred_call.app, pred_call.name) == (gold_call.app, gold_call.name):
            return
        places, tools = (Place(pred), Place(gold)), (pred_call.tool, gold_call.tool)
        pred_tool, gold_tool = self.pairing.pred.tools[pred], self.pairing.gold.tools[gold]
        if pred_tool == gold_tool or has_prefix_more(pred_tool, gold_tool):
            yield Draft("spelling", "name.spelling", *places, *tools)
            return
        if pred_call.name == gold_call.name:
            yield Draft("replaced call", "app.changed", *places, pred_call.app, gold_call.app)
        else:
            yield Draft("replaced call", "call.replaced", *places, *tools)

    def describe_list(self, pred: int, gold: int, listed_calls: ListedCalls) -> Draft:
        """A call that asks in lists what gold asks call by call, or the other way round."""
        names = listed_calls.pred_name, listed_calls.gold_name
        alone = [Place(position) for position in listed_calls.parts]
        also = tuple((None, place) if listed_calls.merged else (place, None) for place in alone)
        code = "call.merged" if listed_calls.merged else "call.split"
        places, values = self.places(pred, gold, *names), self.written_values(pred, gold, *names)
        return Draft(code, code, *places, *values, also=also, data=(pred, gold, listed_calls))

    def find_early_calls(self) -> Iterator[Draft]:
        """Calls written before one they need, where gold does not write them so; circles aside.

        What the call should not need, and needs nothing that comes as late, is the prediction's value. Of a
        circle some argument is wrong, unless a policy takes any: then it counts where gold needs it, too.
        """
        pred_numbered, gold_numbered = self.pairing.pred.numbered, self.pairing.gold.numbered
        if not pred_numbered.forward or not self.ordered:
            return
        for pred, producer in pred_numbered.early(circling=True) if self.pairing.matcher is not None else ():
            gold, image = self.to_gold[pred], self.to_gold[producer]
            needs = 0 <= image < gold and gold_numbered.numbers[gold] is not None
            if needs and image in gold_numbered.producers(gold):
                yield Draft("early call", "order.broken", Place(pred), Place(gold), data=producer)
        for pred, producer in pred_numbered.early():
            gold, image = self.to_gold[pred], self.to_gold[producer]
            if gold >= 0 and (image < 0 or image < gold):
                needed = gold_numbered.producers(gold)
                late = image in needed or any(self.to_pred[position] > pred for position in needed)
                value = None if late else Ref(producer)
                yield Draft("early call", "order.broken", Place(pred), Place(gold), value, data=producer)

    # ------------------------------------------------------------ arguments
    def compare_answers(self) -> Iterator[Draft]:
        """The differences of the answers; where one plan has none, the names of the other's."""
        pred_answer, gold_answer = self.pred.answer or (), self.gold.answer or ()
        if pred_answer and gold_answer:
            yield from self.compare_arguments(len(self.pred.calls), len(self.gold.calls))
            return
        for name, value in gold_answer:
            yield Draft("missing answer", "answer.missing", None, Place(None, name), None, value)
        for name, value in pred_answer:
            yield Draft("extra answer", "answer.extra", Place(None, name), None, value)

    def compare_arguments(self, pred: int, gold: int) -> Iterator[Draft]:
        """The differing arguments of two partners, gold's first."""
        differing: Collection[Any] = self.pairing.final(pred, gold)
        if pred in self.objects:
            name = self.objects[pred]
            value = self.pred.calls[pred].arguments[0][1]
            yield Draft("argument.object", "argument.object", Place(pred, name), Place(gold, name), value)
        if gold in self.listed:
            yield self.describe_list(pred, gold, self.listed[gold])
            listed_names = self.listed[gold].pred_name, self.listed[gold].gold_name
            differing = dict.fromkeys(name for name in differing if name not in listed_names)
        if not differing:
            return
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        gold_names = [name for name in gold_args if name in differing]
        if len(gold_names) > 1:
            shared = [name for name in gold_names if name in pred_args and type(name) is str]
            pred_values = {name: self.key(pred_args[name]) for name in shared}
            for names in find_exchange_cycles(pred_values, {name: gold_args[name][:2] for name in shared}):
                yield self.describe_exchange(pred, gold, names)
                gold_names = [name for name in gold_names if name not in names]
        if len(gold_names) == 2 == len(gold_args) and self.takes_any_order(pred, gold, gold_names):
            yield from self.compare_commuted(pred, gold, gold_names)
            return
        yield from self.compare_names(pred, gold, differing, gold_names)

    def compare_names(
        self, pred: int, gold: int, differing: Collection[Any], gold_names: list[Any]
    ) -> Iterator[Draft]:
        """The differing arguments of two partners, of which one may stand for another of another name.

        Args:
            pred: A call of pred.
            gold: Its partner.
            differing: The names under which the two differ.
            gold_names: Those of gold, but for what is told already.
        """
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        surplus = [name for name in differing if name not in gold_args]
        lacking = [name for name in gold_names if name not in pred_args]
        renamed: dict[Any, Any] = {}
        if surplus and lacking:
            renamed = match_names(
                pred_args, surplus, gold_args, lacking,
                lambda pred_name, gold_name: self.key(pred_args[pred_name]) == gold_args[gold_name][:2],
            )  # fmt: skip
        linked: dict[Any, int] = {}
        if DEPENDENCY_ARGUMENT in differing:
            linked = self.find_linked_arguments(pred_args, gold_args, gold_names, renamed)
        if linked:
            surplus, gold_names = (
                [name for name in names if name != DEPENDENCY_ARGUMENT] for names in (surplus, gold_names)
            )
        for name in gold_names:
            pred_name = renamed.get(name, name)
            if pred_name != name and (
                pred_name.isdecimal() == name.isdecimal()
                or self.key(pred_args[pred_name]) == gold_args[name][:2]
            ):
                yield self.describe_renamed(pred, gold, pred_name, name)
            else:
                yield from self.compare_values(pred, gold, name, linked.get(name), pred_name)
        for name in surplus:
            if name not in renamed.values():
                yield from self.compare_values(pred, gold, name, linked.get(name), name)

    def key(self, argument: Argument) -> tuple[Any, tuple[int, ...]]:
        """What makes an argument of the prediction equal to one of gold's under the pairing."""
        return argument[0], tuple(self.to_gold[producer] for producer in argument[1])

    def takes_any_order(self, pred: int, gold: int, names: list[Any]) -> bool:
        """Whether two calls are of one tool that takes its two arguments, of these names, in any order."""
        name = self.gold.calls[gold].name if gold < len(self.gold.calls) else ""
        if not is_commutative(name) or name != self.pred.calls[pred].name:
            return False
        return self.pairing.pred.arguments(pred).keys() == {*names} and {*map(type, names)} == {str}

    def compare_commuted(self, pred: int, gold: int, names: list[Any]) -> Iterator[Draft]:
        """The difference of two sums or products: where they have one term in common, of the other one."""
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        for name, other in (names, names[::-1]):
            if self.key(pred_args[other]) == gold_args[name][:2]:
                for draft in self.compare_values(pred, gold, other, None, name):
                    yield draft._replace(also=(self.places(pred, gold, other, name),))
                return
        for name in names:
            yield from self.compare_values(pred, gold, name, None, name)

    def find_linked_arguments(
        self,
        pred_args: Arguments,
        gold_args: Arguments,
        gold_names: Sequence[Any],
        renamed: Mapping[Any, Any],
    ) -> dict[Any, int]:
        """Wrong arguments for which a link without an argument, of one plan only, is right → its producer.

        The producer is by the prediction's position. Nothing unless each such link is for one of them.
        """
        in_pred = DEPENDENCY_ARGUMENT in pred_args
        if in_pred and DEPENDENCY_ARGUMENT in gold_args:
            return {}
        value = (pred_args if in_pred else gold_args)[DEPENDENCY_ARGUMENT][2]
        links = value if type(value) is list else [value]
        if any(type(link) is not Ref for link in links):
            return {}
        images = self.to_gold if in_pred else self.to_pred
        free = {images[link.call]: link.call for link in links}
        if min(free, default=-1) < 0:
            return {}
        producers: dict[Any, int] = {}
        pred_only = () if in_pred else [name for name in pred_args if name not in gold_args]
        for name in dict.fromkeys([*gold_names, *pred_only]):
            argument = gold_args[name] if in_pred else pred_args.get(renamed.get(name, name))
            if argument is None or name == DEPENDENCY_ARGUMENT or type(argument[2]) is not Ref:
                continue
            if argument[2].call in free:
                position = free.pop(argument[2].call)
                producers[name] = position if in_pred else argument[2].call
        return {} if free else producers

    def describe_exchange(self, pred: int, gold: int, names: list[str]) -> Draft:
        """Arguments of one call that have one another's values."""
        value_pairs = {name: self.written_values(pred, gold, name, name) for name in names}
        first, *others = [self.places(pred, gold, name, name) for name in names]
        values = [{name: pair[side] for name, pair in value_pairs.items()} for side in (0, 1)]
        exchange = _describe_argument("exchange", "arguments.swapped", first, values, also=tuple(others))
        return exchange._replace(data=self.takes_any_order(pred, gold, names))

    def describe_renamed(self, pred: int, gold: int, pred_name: Any, gold_name: Any) -> Draft:
        """An argument that stands for another of another name."""
        values = self.written_values(pred, gold, pred_name, gold_name)
        name = "renamed" if self.values.alike(*values) else "renamed and wrong"
        places, data = self.places(pred, gold, pred_name, gold_name), self.data(gold, gold_name)
        return _describe_argument(name, "argument.renamed", places, values, data)

    def compare_values(
        self, pred: int, gold: int, name: Any, producer: int | None, pred_name: Any
    ) -> Iterator[Draft]:
        """Where the values of one argument differ, be it a default; or that only one of two calls gives it.

        Args:
            pred: A call of pred.
            gold: Its partner.
            name: The argument.
            producer: Gold's producer in pred, where a link without an argument has it.
            pred_name: What the prediction calls it.
        """
        compared = (
            self.compared(self.pairing.pred, pred, pred_name),
            self.compared(self.pairing.gold, gold, name),
        )
        written = self.written_values(pred, gold, pred_name, name)
        known = self.data(gold, name)
        left_out = written[1] == "" and known.optional and not known.accepted  # as BFCL writes it
        lacks = left_out or MISSING is compared[0] or MISSING is compared[1]
        differences = [] if lacks else [*self.values.walk(*compared, ())]
        for path, code, *values in differences:
            # a policy may have changed what is compared; show what was written
            pred_value, gold_value = values if path else written
            kind = "value"
            if pred_value is MISSING or gold_value is MISSING:
                kind = "missing field" if pred_value is MISSING else "extra field"
            data = self.data(gold, name, producer, path)._replace(
                renamed=pred_name != name,
                computed=not path and (pred, pred_name) in self.computed,
            )
            places = self.places(pred, gold, pred_name, name, path)
            yield _describe_argument(kind, code, places, (pred_value, gold_value), data)
        given = [name in arguments for arguments in self.pairing.arguments(pred, gold)]
        if not differences and (left_out or not all(given)):
            kind = "extra" if given[0] else "missing"
            values = [written[0], MISSING] if given[0] else [MISSING, written[1]]
            places, data = self.places(pred, gold, name, name), self.data(gold, name, producer)
            yield _describe_argument(f"{kind} argument", f"argument.{kind}", places, values, data)

    def data(self, gold: int, name: Any, producer: int | None = None, path: Path = ()) -> ValueData:
        """What is to be told of an argument beside its values."""
        if not self.accepted or not isinstance(name, str) or gold >= len(self.gold.calls):
            return ValueData(name, producer)
        call, value = self.gold.calls[gold], self.written(self.pairing.gold, gold, name)
        optional = self.accepted.is_optional(call, name)
        return ValueData(name, producer, self.accepted.values(call, name, value), optional, within=bool(path))

    def compared(self, plan_calls: PlanCalls, position: int, name: Any) -> Value:
        """An argument's value as the policy compares it, or as written where that takes it for left out."""
        arguments = plan_calls.arguments(position)
        return arguments[name][2] if name in arguments else self.written(plan_calls, position, name)

    def places(
        self, pred: int, gold: int, pred_name: Any, gold_name: Any, path: Path = ()
    ) -> tuple[Place, Place]:
        """Where an argument of two partners stands in either plan: in its call's one object, if there is."""
        pred_place, gold_place = (
            Place(call if call < len(plan.calls) else None, name if isinstance(name, str) else name[0], path)
            for plan, call, name in ((self.pred, pred, pred_name), (self.gold, gold, gold_name))
        )
        if pred in self.objects:
            pred_place = Place(pred, self.objects[pred], (pred_name, *path))
        return pred_place, gold_place

    def written_values(self, pred: int, gold: int, pred_name: Any, gold_name: Any) -> tuple[Value, Value]:
        """What either plan gives as an argument of two partners, see :meth:`written`."""
        pred_value = self.written(self.pairing.pred, pred, pred_name)
        return pred_value, self.written(self.pairing.gold, gold, gold_name)

    def written(self, plan_calls: PlanCalls, position: int, name: Any) -> Value:
        """An argument's value as the plan has it, before any policy; MISSING where it has none."""
        by_name = plan_calls.written(position)
        if name in by_name:
            return by_name[name]
        plan = plan_calls.numbered.plan  # a policy may leave out what is written
        arguments = plan.calls[position].arguments if position < len(plan.calls) else plan.answer or ()
        base_name, copy = (name, 1) if isinstance(name, str) else name
        values = [value for argument, value in arguments if argument == base_name]
        return values[copy - 1] if copy <= len(values) else MISSING


def _describe_argument(
    kind: str,
    code: str,
    places: tuple[Place, Place],
    values: Iterable[Value],
    data: ValueData | None = None,
    also: tuple[PlacePair, ...] = (),
) -> Draft:
    """An edit of an argument, or of the answer where it stands there; also of a right link beside it."""
    if places[0].call is None:
        code = "answer." + code.partition(".")[2]
    if data is not None and data.producer is not None:
        pred, gold = (Place(place.call, DEPENDENCY_ARGUMENT) for place in places)
        also = ((pred, gold),)
    pred_value, gold_value = (None if value is MISSING else value for value in values)
    return Draft(kind, code, *places, pred_value, gold_value, also, data)


def find_exchange_cycles(values: Mapping[str, Key], right_values: Mapping[str, Key]) -> Iterator[list[str]]:
    """Names of which each has in `values` what the next has in `right_values`, the last what the first has.

    Args:
        values: Names and values, none of them right.
        right_values: The same names with the right values.

    >>> list(find_exchange_cycles({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 4}))
    [['a', 'b']]
    """
    holders: dict[Key, list[str]] = {}
    for name in reversed([*right_values]):
        holders.setdefault(right_values[name], []).append(name)
    next_names = {name: names.pop() for name, key in values.items() if (names := holders.get(key))}
    seen: set[str] = set()
    for start in right_values:
        circle: list[str] = []
        current: str | None = start
        while current is not None and current not in seen:
            seen.add(current)
            circle.append(current)
            current = next_names.get(current)
        if current == start and len(circle) > 1:
            yield circle


# ----------------------------------------------------------------------
# Arguments of other names: which that is too much stands for which that is missing.
MAX_NAME_PAIRS = 400
"""Pairs of names up to which it is asked which is like which."""

EQUAL_VALUE, POSITION, ORDER = 4.0, 1.0, 0.01
"""What speaks for two arguments beside names and values that are alike: one value, a position for a name; and
what speaks against it that they are written in another order."""


def match_names(
    pred_args: Arguments,
    surplus: Iterable[Any],
    gold_args: Arguments,
    lacking: Iterable[Any],
    same: Callable[[Any, Any], bool],
) -> dict[Any, Any]:
    """For gold's arguments the prediction's of another name, those with most in common.

    Equal values stand for one another. So do, where one plan names what the other gives by position, any two;
    else literals of one kind whose names are alike, or that are almost equal themselves and say something.

    Args:
        pred_args: The prediction's arguments.
        surplus: Those of them that gold does not give.
        gold_args: Gold's arguments.
        lacking: Those of them that the prediction does not give.
        same: Whether an argument of the one is equal to one of the other.

    >>> pred = {"town": ("Rome IT", (), "Rome IT"), "n": (2, (), 2)}
    >>> gold = {"city": ("Rome", (), "Rome"), "m": (7, (), 7)}
    >>> match_names(pred, pred, gold, gold, lambda one, other: pred[one] == gold[other])
    {'city': 'town'}
    """
    pred_names, gold_names = (
        [name for name in names if type(name) is str and name != DEPENDENCY_ARGUMENT]
        for names in (surplus, lacking)
    )
    if not 0 < len(pred_names) * len(gold_names) <= MAX_NAME_PAIRS:
        return {}
    forms = {name.isdecimal() for name in pred_names}, {name.isdecimal() for name in gold_names}
    by_position = len(forms[0]) == 1 == len(forms[1]) and forms[0] != forms[1]

    def cost(row: int, column: int) -> float:
        names = pred_names[column], gold_names[row]
        if same(*names):
            return -EQUAL_VALUE
        score = _likeness(names, pred_args[names[0]], gold_args[names[1]])
        return -score - by_position * (POSITION - ORDER * abs(row - column))

    table = [[cost(row, column) for column in range(len(pred_names))] for row in range(len(gold_names))]
    pairs = ((row, column) for row, column in assign(table) if table[row][column] < 0)
    return {gold_names[row]: pred_names[column] for row, column in pairs}


def _likeness(names: tuple[str, str], pred_arg: Argument, gold_arg: Argument) -> float:
    """How much speaks for one literal argument to stand for another; 0 for nothing."""
    kinds = kind_name(pred_arg[2]), kind_name(gold_arg[2])
    if pred_arg[1] or gold_arg[1] or None in kinds:
        return 0.0
    score = likeness(pred_arg[2], gold_arg[2])
    same_name = kinds[0] == kinds[1] and is_similar_name(*names)
    return same_name + score if same_name or (score >= MIN_LIKENESS and is_distinctive(gold_arg[2])) else 0.0


# ----------------------------------------------------------------------
# Calls whose arguments all stand in one object, ``f({"x": 1})``, compared as if each stood for itself.
UNNAMED_ARGUMENT_NAMES = ("", "0")
"""The names that readers give an argument without one."""


def unpack_objects(pairing: Pairing) -> tuple[Pairing, dict[int, str]]:
    """The pairing with such objects opened where gold gives what they hold by its names.

    Also the name of the one argument of each of these calls of pred.
    """
    objects: dict[int, str] = {}
    pred_calls = PlanCalls(pairing.pred.numbered)
    for pred, gold in pairing.pairs():
        arguments = pairing.pred.numbered.plan.calls[pred].arguments
        if len(arguments) != 1 or arguments[0][0] not in UNNAMED_ARGUMENT_NAMES:
            continue
        name, fields = arguments[0]
        gold_args = pairing.gold.arguments(gold)
        if isinstance(fields, dict) and name not in gold_args and not gold_args.keys().isdisjoint(fields):
            objects[pred] = name
            opened = {
                field: (pred_calls.shape(value), tuple(producers_of(value)), value)
                for field, value in fields.items()
            }
            pred_calls.open(pred, opened, fields)
    if not objects:
        return pairing, objects
    pred_calls.tools = pairing.pred.tools
    unpacked = Pairing(pred_calls, pairing.gold, pairing.matcher)
    unpacked.to_gold, unpacked.to_pred = pairing.to_gold, pairing.to_pred
    return unpacked, objects
