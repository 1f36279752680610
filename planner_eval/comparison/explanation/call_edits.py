"""Edits about whole calls: another tool, a call too much, lists for calls, a call that comes too early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from planner_eval.comparison.explanation.argument_names import unpack_objects
from planner_eval.comparison.explanation.edits import Edit, Place, ValueDiff
from planner_eval.comparison.explanation.multi_call_edits import (
    ListedCalls,
    find_chain,
    find_collected_calls,
    find_gathered_calls,
    find_listed_calls,
    find_nearest_call,
)
from planner_eval.comparison.explanation.sentences import (
    CallNames,
    Contrast,
    call_number,
    calls_numbers,
    links_of,
    value_name,
)
from planner_eval.comparison.gold_alternatives import AcceptedValues
from planner_eval.comparison.matching.pairing import MISSING, Pairing, PlanCalls
from planner_eval.plan.model import Path, Plan, Ref, Value


class CallEdits:
    """The two plans and the pairing, while edits are collected.

    Args:
        pairing: Which call stands for which.
        open_to: What is right beside gold's own values.
        ordered: Whether it counts that a call is written after those it needs.
    """

    def __init__(self, pairing: Pairing, open_to: AcceptedValues, *, ordered: bool) -> None:
        self.pairing, self.objects = unpack_objects(pairing)
        self.open_to, self.ordered = open_to, ordered
        self.pred: Plan = pairing.pred.numbered.plan
        self.gold: Plan = pairing.gold.numbered.plan
        self.names = CallNames(self.pred, self.gold, pairing.to_gold, pairing.to_pred)
        self.first: dict[int | None, int] = {}
        self.images: list[Any] = [*pairing.to_gold]
        self.unlike = ValueDiff(pairing.to_gold)
        self.said = Contrast(self.names, self.unlike)
        self.said_of_optional = self.said._replace(verb="expected")  # gold gives it, and nothing will do too
        self.listed = find_listed_calls(pairing, self.images, as_explained=True)
        notes = (note for note in self.pred.diagnostics if note.code == "value.computed")
        self.computed = {(note.call, note.argument) for note in notes}
        self.given: dict[tuple[int, int], dict[str, list[Value]]] = {}
        self.lost = [position for position in range(len(self.gold.calls)) if pairing.to_pred[position] < 0]
        self.made: dict[int | None, int] | None = None
        self.held: dict[tuple[Any, Any, Any], list[int]] = {}

    def name(self, pred: int, gold: int) -> Iterator[Edit]:
        """The difference of the tools of two partners."""
        pred_call, gold_call = self.pred.calls[pred], self.gold.calls[gold]
        if (pred_call.app, pred_call.name) == (gold_call.app, gold_call.name):
            return
        call_name = self.names.ours(pred)
        values: tuple[str | None, str | None] = pred_call.tool, gold_call.tool
        if self.pairing.pred.tools[pred] == self.pairing.gold.tools[gold]:
            message = f"{call_name} is gold's {gold_call.tool}"
            yield Edit("name.spelling", message, Place(pred), Place(gold), *values)
            return
        message, calls = f"{call_name} stands for gold's {gold_call.tool}", [gold]
        code = "app.changed" if pred_call.name == gold_call.name else "call.replaced"
        if code == "app.changed":
            values = pred_call.app, gold_call.app
        else:
            calls = find_chain(self.pairing, pred, gold)
        if len(calls) > 1:
            tools = " → ".join(self.gold.calls[position].tool for position in calls)
        elif len(calls := self.gathered(pred, gold)) > 1:
            *first_tools, last_tool = [self.gold.calls[position].tool for position in calls]
            tools = f"{', '.join(first_tools)} and {last_tool}"
        if len(calls) > 1:
            message = f"{call_name} stands for gold's {tools} (gold's {calls_numbers(calls)})"
        elif (
            collected := find_collected_calls(self.pairing, pred, gold, self.lost)
            if code == "call.replaced"
            else None
        ):
            calls, tool = [*collected.parts], self.gold.calls[collected.parts[0]].tool
            numbers = calls_numbers(calls, "gold's ")
            description = f"{call_name} holds in {collected.name!r} what gold asks with {tool} ({numbers})"
            message = (
                description if gold in calls else f"{description}, and stands for gold's {gold_call.tool}"
            )
        also = tuple((None, Place(position)) for position in calls if position != gold)
        yield Edit(code, message, Place(pred), Place(gold), *values, also=also)

    def holders(self, tool: Any, name: str, key: Any) -> Sequence[int]:
        """The calls of gold of a tool that are given a value, as a pairing compares it, under a name."""
        if not self.held:
            for position, gold_tool in enumerate(self.pairing.gold.tools):
                for argument, value in self.pairing.gold.arguments(position).items():
                    self.held.setdefault((gold_tool, argument, value[:2]), []).append(position)
        return self.held.get((tool, name, key), ())

    def gathered(self, pred: int, gold: int) -> list[int]:
        """The calls of gold that one call is made for, the others of which are missing."""
        calls = find_gathered_calls(self.pairing, pred, gold)
        return (
            calls
            if all(self.pairing.to_pred[position] < 0 for position in calls if position != gold)
            else [gold]
        )

    def extra(self, pred: int) -> Edit:
        """A call that gold does not make."""
        twin = self.twin(pred)
        if twin is None:
            if (message := self.tried(pred)) is not None:
                return Edit("call.extra", message, Place(pred), None)
            call_text = self.given_to(self.pred, pred, self.names.ours(pred), self.names.our_number)
            message = f"{call_text} is not in gold"
            return Edit("call.extra", message, Place(pred), None, own="")
        contrast = "gold makes it less often" if self.images[twin] >= 0 else "gold has neither"
        message = f"{self.names.ours(pred)} repeats {self.names.our_number(twin)}; {contrast}"
        return Edit("call.duplicated", message, Place(pred), None)

    def tried(self, pred: int) -> str | None:
        """What an extra call is that is made again, or was before, with nearly the same arguments."""
        used = any(self.images[use.consumer] >= 0 for use in self.pairing.pred.users[pred])
        nearest = None if used else find_nearest_call(self.pairing, pred)
        if nearest is None:
            return None
        call_name, try_name = self.names.ours(pred), call_number(nearest.call, None)
        call_args, try_args = self.pairing.pred.written(pred), self.pairing.pred.written(nearest.call)
        if nearest.names[0] not in try_args:
            added = ", ".join(f"{name}={self.said.ours(call_args[name])}" for name in nearest.names)
            if nearest.call < pred:
                return f"{call_name} is not in gold: it repeats {try_name} with {added} added"
            return f"{call_name} is not in gold: {try_name} repeats it without {added}"
        later_args, earlier_args = (call_args, try_args) if nearest.call < pred else (try_args, call_args)
        changes = ", ".join(
            self.said.instead(name, later_args[name], earlier_args[name]) for name in nearest.names
        )
        repetition = f"it repeats {try_name}" if nearest.call < pred else f"{try_name} repeats it"
        return f"{call_name} is not in gold: {repetition} with {changes}"

    def given_to(self, plan: Plan, position: int, name: str, number: Callable[[int], str]) -> str:
        """A call with all that it is given."""
        arguments = [
            (argument, value, links_of(argument, value)) for argument, value in plan.calls[position].arguments
        ]
        after = [number(ref.call) for _, _, links in arguments for ref in links]
        arguments_text = ", ".join(
            f"{argument}={value_name(value, number)}" for argument, value, links in arguments if not links
        )
        message = f"{name} with {arguments_text}" if arguments_text else name
        return f"{message}, which takes the result of {' and '.join(after)}," if after else message

    def twin(self, pred: int) -> int | None:
        """The call that an extra one repeats: an equal one with a partner, else the first of all."""
        numbers = self.pairing.pred.numbered.numbers
        if not self.first:
            for position in sorted(
                range(len(self.pred.calls)), key=lambda position: (self.images[position] >= 0, -position)
            ):
                if numbers[position] is not None:
                    self.first[numbers[position]] = position
        first = self.first.get(numbers[pred])
        return None if first == pred else first

    def object(self, pred: int, gold: int) -> Edit:
        """A call whose arguments all stand in one object."""
        name = self.objects[pred]
        value = self.pred.calls[pred].arguments[0][1]
        message = f"{self.names.ours(pred)}: all arguments stand in one object, {self.said.ours(value)}"
        return Edit("argument.object", message, Place(pred, name), Place(gold, name), value, None)

    def many(self, pred: int, gold: int, listed_calls: ListedCalls) -> Edit:
        """A call that asks in lists what gold asks call by call, or the other way round."""
        place_pairs = [self.places(pred, gold, *argument_names) for argument_names in listed_calls.names]
        names_text = " and ".join(repr(pair[not listed_calls.merged]) for pair in listed_calls.names)
        if listed_calls.merged:
            calls = calls_numbers((gold, *listed_calls.parts))
            message = f"{self.names.ours(pred)} holds in {names_text} what gold asks in its {calls}"
        else:
            calls, tool = calls_numbers((pred, *listed_calls.parts)), self.pred.calls[pred].tool
            call_name = f"gold's {self.gold.calls[gold].tool} (gold's call {gold + 1})"
            message = f"{tool} ({calls}) asks one by one what {call_name} asks in {names_text}"
        alone = (Place(p) for p in listed_calls.parts)
        return Edit(
            "call.merged" if listed_calls.merged else "call.split", message, *place_pairs[0],
            *self.written_values(pred, gold, *listed_calls.names[0]),
            also=(*place_pairs[1:], *((None, p) if listed_calls.merged else (p, None) for p in alone)),
        )  # fmt: skip

    def order(self) -> Iterator[Edit]:
        """Calls written before one they need, where gold does not write them so; circles aside.

        What the call should not need, and needs nothing that comes as late, is the prediction's value. Of a
        circle some argument is wrong, unless a policy takes any: then it counts where gold needs it, too.
        """
        numbered = self.pairing.pred.numbered
        if not numbered.forward or not self.ordered:
            return
        if self.pairing.matcher is not None:
            yield from self._circling()
        for pred, producer in numbered.early():
            gold, image = self.pairing.to_gold[pred], self.pairing.to_gold[producer]
            if gold >= 0 and (image < 0 or image < gold):
                needed = self.pairing.gold.numbered.producers(gold)
                late = image in needed or any(self.pairing.to_pred[position] > pred for position in needed)
                yield self._early(pred, producer, None if late else Ref(producer))

    def _circling(self) -> Iterator[Edit]:
        """Calls of a circle that are written before one that they, and gold's, need; where gold has none."""
        gold = self.pairing.gold.numbered
        for pred, producer in self.pairing.pred.numbered.early(circling=True):
            partner, image = self.pairing.to_gold[pred], self.pairing.to_gold[producer]
            if (
                0 <= image < partner
                and gold.numbers[partner] is not None
                and image in gold.producers(partner)
            ):
                yield self._early(pred, producer, None)

    def _early(self, pred: int, producer: int, value: Ref | None) -> Edit:
        message = (
            f"{self.names.ours(pred)} is written before {self.names.ours(producer)}, whose output it needs"
        )
        return Edit("order.broken", message, Place(pred), Place(self.pairing.to_gold[pred]), value)

    def places(
        self, pred: int, gold: int, pred_name: Any, gold_name: Any, path: Path = ()
    ) -> tuple[Place, Place]:
        """Where an argument of two partners stands in either plan."""
        return self.place(self.pred, pred, pred_name, path), self.place(self.gold, gold, gold_name, path)

    def written_values(self, pred: int, gold: int, pred_name: Any, gold_name: Any) -> tuple[Value, Value]:
        """What either plan gives as an argument of two partners, see :meth:`written`."""
        pairing = self.pairing
        return self.written(pairing.pred, pred, pred_name), self.written(pairing.gold, gold, gold_name)

    def place(self, plan: Plan, position: int, name: Any, path: Path = ()) -> Place:
        """Where an argument stands: in its call's one object, where there is one."""
        call = position if position < len(plan.calls) else None
        if plan is self.pred and call in self.objects:
            return Place(call, self.objects[call], (name, *path))
        return Place(call, name if isinstance(name, str) else name[0], path)

    def written(self, plan_calls: PlanCalls, position: int, name: Any) -> Value:
        """An argument's value as the plan has it, before any policy; MISSING where it has none."""
        if plan_calls is self.pairing.pred and position in self.objects:
            return plan_calls.written(position).get(name, MISSING)
        values_by_name = self.given.get((id(plan_calls), position))
        if values_by_name is None:
            values_by_name = self.given[id(plan_calls), position] = _group_values_by_name(
                plan_calls.numbered.plan, position
            )
        base_name, copy = (name, 1) if isinstance(name, str) else name
        values = values_by_name.get(base_name, ())
        if copy <= len(values):
            return values[copy - 1]
        arguments = plan_calls.arguments(position)
        return arguments[name][2] if name in arguments else MISSING


def _group_values_by_name(plan: Plan, position: int) -> dict[str, list[Value]]:
    """The values of each argument of a call, or of each name of the answer."""
    values_by_name: dict[str, list[Value]] = {}
    for name, value in plan.calls[position].arguments if position < len(plan.calls) else plan.answer or ():
        values_by_name.setdefault(name, []).append(value)
    return values_by_name
