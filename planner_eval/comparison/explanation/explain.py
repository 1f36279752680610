"""Finding edits: what differs, given which call stands for which."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.text import one_line
from planner_eval.comparison.explanation.argument_names import (
    is_commutative,
    match_by_position,
    match_nearest_names,
)
from planner_eval.comparison.explanation.call_edits import CallEdits
from planner_eval.comparison.explanation.compound_edits import merge_edits
from planner_eval.comparison.explanation.edits import Edit, Place, kind_difference_code
from planner_eval.comparison.explanation.multi_call_edits import find_exchange_cycles
from planner_eval.comparison.explanation.sentences import (
    MAX_VALUE_LENGTH,
    CallNames,
    Contrast,
    links_of,
    path_name,
    place_name,
    value_name,
)
from planner_eval.comparison.gold_alternatives import NO_ALTERNATIVES, AcceptedValues, AlternativeValues
from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.matching.order import Misplaced
from planner_eval.comparison.matching.pairing import MISSING, PlanCalls
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.model import Path, Plan, Ref, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


def find_edits(matching: Matching, alternatives: AlternativeValues = NO_ALTERNATIVES) -> list[Edit]:
    """All differences, call by call in gold's order, then pred's extra calls, then order and answer."""
    edits: list[Edit] = []
    if matching.pairing is not None:
        waived = {Place(call) for call in matching.waived}
        open_to = AcceptedValues(matching.policy, matching.terms, alternatives)
        finder = _EditFinder(matching.pairing, open_to, ordered=matching.policy.order != "free")
        edits = [e for e in finder.all() if e.code != "call.missing" or e.gold not in waived]
        edits = merge_edits(edits, finder.names) if len(edits) > 1 else edits
    if matching.misplaced:
        names = CallNames.of(matching.pred, matching.gold, matching.alignment.pairs)
        edits += [_make_misplaced_edit(names, misplaced) for misplaced in matching.misplaced]
    return edits


def _make_misplaced_edit(names: CallNames, misplaced: Misplaced) -> Edit:
    pred_name, gold_name = names.ours(misplaced.pred), names.theirs(misplaced.other)
    message = (
        f"{pred_name} is out of order: gold wants it {'after' if misplaced.after else 'before'} {gold_name}"
    )
    return Edit("order.broken", message, Place(misplaced.pred), Place(misplaced.gold))


class _EditFinder(CallEdits):
    """Edits about calls, their arguments and the answer."""

    def all(self) -> Iterator[Edit]:
        for gold in range(len(self.gold.calls)):
            pred = self.pairing.to_pred[gold]
            if pred < 0:
                call_text = self.given_to(self.gold, gold, self.names.theirs(gold), self.names.their_number)
                repetition = self.again(gold)
                message = f"gold's {call_text} is missing{repetition}"
                yield Edit("call.missing", message, None, Place(gold), own=repetition)
            elif not self.pairing.equal(pred, gold):
                yield from self.name(pred, gold)
                yield from self.arguments(pred, gold)
        for pred in range(len(self.pred.calls)):
            if self.pairing.to_gold[pred] < 0:
                yield self.extra(pred)
        yield from self.order()
        yield from self.answer()

    def again(self, gold: int) -> str:
        """Which call that is right a missing one repeats; empty for none."""
        if self.made is None:
            self.made = self.right_twins()
        first = self.made.get(self.pairing.gold.numbered.numbers[gold])
        return "" if first is None else f": gold makes {self.names.their_number(first)} again"

    def right_twins(self) -> dict[int | None, int]:
        """The first call that is right of those of gold that are equal to a missing one, by their number."""
        numbers, twins = self.pairing.gold.numbered.numbers, dict[int | None, int]()
        partners = [*enumerate(self.pairing.to_pred[: len(self.gold.calls)])]
        missing = {numbers[gold] for gold, pred in partners if pred < 0}
        for gold, pred in partners:
            number = numbers[gold]
            if pred < 0 or number is None or number in twins or number not in missing:
                continue
            same = self.pairing.pred.tools[pred] == self.pairing.gold.tools[gold]
            if same and not self.pairing.final(pred, gold):
                twins[number] = gold
        return twins

    def answer(self) -> Iterator[Edit]:
        pred_answer, gold_answer = self.pred.answer or (), self.gold.answer or ()
        if pred_answer and gold_answer:
            yield from self.arguments(len(self.pred.calls), len(self.gold.calls))
            return
        for name, value in gold_answer:
            message = f"the answer lacks {name!r}, gold gives {value_name(value, self.names.their_number)}"
            yield Edit("answer.missing", message, None, Place(None, name), None, value)
        for name, value in pred_answer:
            value_text = value_name(value, self.names.our_number)
            message = f"the answer names {name!r} = {value_text}, gold names none"
            yield Edit("answer.extra", message, Place(None, name), None, value)

    def arguments(self, pred: int, gold: int) -> Iterator[Edit]:
        """The differing arguments of two partners, gold's first."""
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        differing = self.pairing.final(pred, gold)
        if pred in self.objects:
            yield self.object(pred, gold)
        if gold in self.listed:
            listed = self.listed[gold]
            yield self.many(pred, gold, listed)
            listed_names = {name for pair in listed.names for name in pair}
            differing = {
                name: difference for name, difference in differing.items() if name not in listed_names
            }
        if not differing:
            return
        gold_names = [name for name in gold_args if name in differing]
        for circles in self.exchanged(pred_args, gold_args, gold_names) if len(gold_names) > 1 else ():
            yield self.swapped(pred, gold, circles)
            gold_names = [name for name in gold_names if not any(name in names for names in circles)]
        yield from self.unlike_names(pred, gold, [*differing], gold_names)

    def unlike_names(
        self, pred: int, gold: int, differing: list[Any], gold_names: list[Any]
    ) -> Iterator[Edit]:
        """The differing arguments of two partners, of which one may stand for another of another name.

        Args:
            pred: A call of pred.
            gold: Its partner.
            differing: The names under which the two differ.
            gold_names: Those of gold, but for what is told already.
        """
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        surplus = dict.fromkeys(name for name in differing if name not in gold_args)
        absent = [name for name in gold_names if name not in pred_args]
        pred_by_gold = (
            match_by_position(pred_args, surplus, gold_args, absent, self.same(pred_args, gold_args))
            if surplus and absent
            else {}
        )
        linked = (
            self.linked(pred_args, gold_args, gold_names, pred_by_gold)
            if DEPENDENCY_ARGUMENT in differing
            else {}
        )
        if linked:
            surplus.pop(DEPENDENCY_ARGUMENT, None)
            gold_names = [name for name in gold_names if name != DEPENDENCY_ARGUMENT]
        surplus_by_key = self.doubles(pred_args, (name for name in surplus if name != DEPENDENCY_ARGUMENT))
        entries: list[Edit | str] = []
        for name in gold_names:
            if name in pred_by_gold and self.same(pred_args, gold_args)(pred_by_gold[name], name):
                new_edits = [self.renamed(pred, gold, pred_by_gold[name], name)]
            else:
                new_edits = [*self.values(pred, gold, name, linked.get(name), pred_by_gold.get(name))]
            surplus.pop(pred_by_gold.get(name), None)
            equal_names = surplus_by_key.get(gold_args[name][:2]) if name not in linked else None
            if new_edits or name in pred_args:
                entries += new_edits
            elif equal_names:
                equal_name = equal_names.popleft()
                del surplus[equal_name]
                entries.append(self.renamed(pred, gold, equal_name, name))
            else:
                entries.append(name)
        lacking = [entry for entry in entries if not isinstance(entry, Edit)]
        nearest = (
            match_nearest_names(pred_args, [*surplus], gold_args, lacking) if surplus and lacking else {}
        )
        for entry in entries:
            if isinstance(entry, Edit):
                yield entry
            elif entry in nearest:
                del surplus[nearest[entry]]
                yield self.renamed(pred, gold, nearest[entry], entry)
            else:
                yield self.beside(self.lacking(pred, gold, entry), linked.get(entry))
        for name in surplus:
            for edit in [*self.values(pred, gold, name)] or [self.surplus(pred, gold, name)]:
                yield self.beside(edit, linked.get(name))

    def same(self, pred_args: Mapping[Any, Any], gold_args: Mapping[Any, Any]) -> Callable[[Any, Any], bool]:
        """Whether an argument of the prediction is equal to one of gold's, whatever their names."""
        return lambda pred_name, gold_name: bool(self.key(pred_args[pred_name]) == gold_args[gold_name][:2])

    def exchanged(
        self, pred_args: Mapping[Any, Any], gold_args: Mapping[Any, Any], gold_names: list[Any]
    ) -> Iterable[list[list[str]]]:
        """Arguments whose values go round among them, those that take from the same calls together."""
        shared = [name for name in gold_names if name in pred_args and type(name) is str]
        pred_values = {
            name: (
                pred_args[name][0],
                tuple(self.images[producer] for producer in pred_args[name][1]),
            )
            for name in shared
        }
        circles: dict[Any, list[list[str]]] = {}
        for names in find_exchange_cycles(pred_values, {name: gold_args[name][:2] for name in shared}):
            producers = frozenset(producer for name in names for producer in gold_args[name][1])
            circles.setdefault(producers or names[0], []).append(names)
        return circles.values()

    def swapped(self, pred: int, gold: int, circles: list[list[str]]) -> Edit:
        names = [name for circle in circles for name in circle]
        value_pairs = {name: self.written_values(pred, gold, name, name) for name in names}
        place_pairs = [self.places(pred, gold, name, name) for name in names]
        pred_place = place_pairs[0][0]
        kind = "values" if pred_place.call is None else "arguments"
        quoted_circles = [[repr(name) for name in circle] for circle in circles]
        names_text = ", ".join(f"{', '.join(c[:-1])} and {c[-1]}" for c in quoted_circles)
        message = f"{self.names.ours(pred_place.call)}: {kind} {names_text} are exchanged"
        calls = pred_place.call is not None and (self.pred.calls[pred], self.gold.calls[gold])
        if calls and all(map(is_commutative, calls)):
            message += ", which gives the same result"
        values = [{name: pair[side] for name, pair in value_pairs.items()} for side in (0, 1)]
        edit = self.edit("arguments.swapped", message, *place_pairs[0], *values)
        return edit._replace(also=tuple(place_pairs[1:]))

    def linked(
        self,
        pred_args: Mapping[Any, Any],
        gold_args: Mapping[Any, Any],
        gold_names: Sequence[Any],
        pred_by_gold: Mapping[Any, Any],
    ) -> dict[Any, int]:
        """Wrong arguments for which a link without an argument, of one plan only, is right → its producer.

        The producer is by the prediction's position. Nothing unless each such link is for one of them.
        """
        if DEPENDENCY_ARGUMENT in pred_args and DEPENDENCY_ARGUMENT in gold_args:
            return {}
        in_pred = DEPENDENCY_ARGUMENT in pred_args
        value = (pred_args if in_pred else gold_args)[DEPENDENCY_ARGUMENT][2]
        links = value if type(value) is list else [value]
        if any(type(link) is not Ref for link in links):
            return {}
        images = self.pairing.to_pred
        free = {self.images[link.call] if in_pred else images[link.call]: link.call for link in links}
        if min(free, default=-1) < 0:
            return {}
        producers: dict[Any, int] = {}
        pred_names = {name: pred_by_gold.get(name, name) for name in gold_names}
        for name in (
            gold_names
            if in_pred
            else dict.fromkeys([*gold_names, *(name for name in pred_args if name not in gold_args)])
        ):
            argument = gold_args[name] if in_pred else pred_args.get(pred_names.get(name, name))
            if (
                argument is not None
                and name != DEPENDENCY_ARGUMENT
                and type(argument[2]) is Ref
                and argument[2].call in free
            ):
                position = free.pop(argument[2].call)
                producers[name] = position if in_pred else argument[2].call
        return {} if free else producers

    def key(self, argument: Any) -> tuple[Any, tuple[Any, ...]]:
        """What makes an argument of the prediction equal to one of gold's under the pairing."""
        return argument[0], tuple(self.images[producer] for producer in argument[1])

    def doubles(self, pred_args: dict[Any, Any], names: Iterable[Any]) -> dict[Any, deque[Any]]:
        """Arguments by what makes two of them equal under the pairing, whatever their names."""
        groups: dict[Any, deque[Any]] = {}
        for name in names:
            groups.setdefault(self.key(pred_args[name]), deque()).append(name)
        return groups

    def edit(self, code: str, message: str, pred: Place | None, gold: Place | None, *values: Value) -> Edit:
        """An edit of an argument, or of the answer where the place is the answer's."""
        location = pred or gold
        if location is not None and location.call is None:
            code = "answer." + code.partition(".")[2]
        return Edit(code, message, pred, gold, *values)

    def named(self, location: Place) -> str:
        """A place in the prediction."""
        if location.call in self.objects:
            return place_name(self.names.ours(location.call), location.at[0], location.at[1:])
        return place_name(
            None if location.call is None else self.names.ours(location.call), location.argument, location.at
        )

    def lacking(self, pred: int, gold: int, name: Any) -> Edit:
        place_pair, value = self.places(pred, gold, name, name), self.written(self.pairing.gold, gold, name)
        if name == DEPENDENCY_ARGUMENT and (links := self.links(self.gold, gold, value)):
            message = f"{self.names.ours(place_pair[0].call)}: {links} is missing"
            return self.edit("argument.missing", message, *place_pair, None, value)
        clause = self.contrast(gold, name).half("argument.missing", MISSING, value)
        message = f"{self.named(place_pair[0])} {clause}{self.right(gold, name) if self.open_to else ''}"
        return self.edit("argument.missing", message, *place_pair, None, value)

    def surplus(self, pred: int, gold: int, name: Any) -> Edit:
        place_pair, value = self.places(pred, gold, name, name), self.written(self.pairing.pred, pred, name)
        links = self.links(self.pred, pred, value) if name == DEPENDENCY_ARGUMENT else ""
        message = f"{self.named(place_pair[0])} = {self.said.ours(value)}"
        if links:
            message = f"{self.names.ours(place_pair[0].call)}: {links}"
        message += " is not in gold" + self.elsewhere(pred, gold, name)
        return self.edit("argument.extra", message, *place_pair, value, None)

    def elsewhere(self, pred: int, gold: int, name: Any) -> str:
        """Which other call of gold's tool is given, under that name, what a call has too much."""
        argument = self.pairing.pred.arguments(pred).get(name)
        if (
            argument is None
            or type(name) is not str
            or gold >= len(self.gold.calls)
            or not is_distinctive(argument[2])
        ):
            return ""
        holders = self.holders(self.pairing.gold.tools[gold], name, self.key(argument))
        holder = next((holder for holder in holders if holder != gold), None)
        return "" if holder is None else f"; gold gives it in {self.names.their_number(holder)}"

    def links(self, plan: Plan, position: int, value: Value) -> str:
        """Links that no argument has: ``the link Look → Draw``; empty for anything else."""
        refs = links_of(DEPENDENCY_ARGUMENT, value) if position < len(plan.calls) else []
        if not refs:
            return ""
        tools = [plan.calls[ref.call].tool for ref in refs]
        return f"the link {' and '.join(tools)} → {plan.calls[position].tool}"

    def renamed(self, pred: int, gold: int, pred_name: Any, gold_name: Any) -> Edit:
        place_pair = self.places(pred, gold, pred_name, gold_name)
        values = self.written_values(pred, gold, pred_name, gold_name)
        message = f"{self.named(place_pair[0])} holds what gold gives as {place_pair[1].argument!r}"
        if not self.unlike.alike(*values):
            clause = self.contrast(gold, gold_name).values(kind_difference_code(*values), *values)
            message = f"{self.named(place_pair[0])} stands for gold's {place_pair[1].argument!r} and {clause}"
            message += self.right(gold, gold_name) if self.open_to else ""
        return self.edit("argument.renamed", message, *place_pair, *values)

    def values(
        self, pred: int, gold: int, name: Any, producer: int | None = None, pred_name: Any = None
    ) -> Iterator[Edit]:
        """Where the values of one argument differ that both give, be it only as a default.

        Args:
            pred: A call of pred.
            gold: Its partner.
            name: The argument.
            producer: Gold's producer in pred, where a link without an argument has it.
            pred_name: What the prediction calls it.
        """
        pred_name = name if pred_name is None else pred_name
        pred_compared = self.compared(self.pairing.pred, pred, pred_name)
        gold_compared = self.compared(self.pairing.gold, gold, name)
        if pred_compared is MISSING or gold_compared is MISSING:
            return
        for path, code, pred_value, gold_value in self.unlike.walk(pred_compared, gold_compared, ()):
            if not path:  # a policy may have changed what is compared; show what was written
                pred_value, gold_value = self.written_values(pred, gold, pred_name, name)
            pred_place, gold_place = self.places(pred, gold, pred_name, name, path)
            clause = self.contrast(gold, name).half(code, pred_value, gold_value)
            if type(pred_value) is Ref and pred_value.call == pred:
                _, _, remainder = clause.partition(self.said.ours(pred_value))
                clause = f"names this call itself{remainder if producer is None else ''}"
            elif (
                type(pred_value) is str
                and not path
                and (pred, name) in self.computed
                and clause.startswith("is ")
            ):
                _, _, remainder = clause.partition(self.said.ours(pred_value))
                clause = (
                    f"is the expression {one_line(pred_value, MAX_VALUE_LENGTH)}{remainder}"
                    if remainder
                    else clause
                )
            if pred_name != name:
                clause = f"(gold's {name!r}) {clause}"
            if self.open_to:
                clause += self.right(gold, name, path)
            message = f"{self.named(pred_place)} {clause}"
            if (
                name == DEPENDENCY_ARGUMENT
                and pred_place.call is not None
                and type(pred_value) is Ref
                and type(gold_value) is Ref
            ):
                message = f"{self.names.ours(pred_place.call)} {clause}"
            inside = pred_place.at and pred_place.call is not None and pred_place.call not in self.objects
            own = f"{path_name(pred_place.at)} {clause}" if inside else None
            pred_value, gold_value = (
                None if pred_value is MISSING else pred_value,
                None if gold_value is MISSING else gold_value,
            )
            edit = self.edit(code, message, pred_place, gold_place, pred_value, gold_value)
            yield self.beside(edit if own is None else edit._replace(own=own), producer)

    def beside(self, edit: Edit, producer: int | None) -> Edit:
        """An edit of an argument whose link stands, right, beside it; as it is without a producer."""
        if producer is None or edit.also:
            return edit
        calls = [
            location.call
            for location in (edit.pred, edit.gold)
            if location is not None and location.call is not None
        ]
        link_text = f"{self.pred.calls[producer].tool} → {self.pred.calls[calls[0]].tool}"
        link_places = Place(calls[0], DEPENDENCY_ARGUMENT), Place(calls[1], DEPENDENCY_ARGUMENT)
        return edit._replace(message=f"{edit.message}; the link {link_text} is right", also=(link_places,))

    def contrast(self, gold: int, name: Any) -> Contrast:
        """How values of an argument of gold are told beside others."""
        optional = gold < len(self.gold.calls) and self.open_to.is_optional(self.gold.calls[gold], name)
        return self.said_of_optional if optional else self.said

    def right(self, gold: int, name: Any, path: Path = ()) -> str:
        """What would be right besides gold's value, in brackets; empty where nothing would."""
        if not isinstance(name, str) or gold >= len(self.gold.calls):
            return ""
        call, value = self.gold.calls[gold], self.written(self.pairing.gold, gold, name)
        values = self.open_to.said(call, name, value, self.names.their_number)
        notes = [f"or {name!r} {values}" if path else f"or {values}"] if values else []
        if self.open_to.is_optional(call, name):
            notes.append(f"{name!r} is optional" if path else "optional")
        return f" ({', '.join(notes)})" if notes else ""

    def compared(self, plan_calls: PlanCalls, position: int, name: Any) -> Value:
        """An argument's value as the policy compares it, or as written where that takes it for left out."""
        arguments = plan_calls.arguments(position)
        return arguments[name][2] if name in arguments else self.written(plan_calls, position, name)
