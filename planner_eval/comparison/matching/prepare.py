"""What a policy does to whole plans before they are compared: outputs, inlined calls, repeats, the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.comparison.matching.names import Tool, respelled
from planner_eval.plan.canonical import Numbered
from planner_eval.plan.model import WHOLE_RESULT, Arguments, Call, Path, Plan, Ref, Value
from planner_eval.plan.rewire import moved, plan_of, with_arguments
from planner_eval.plan.walk import map_leaves
from planner_eval.policy import NO_TERMS, Policy, Terms

_ARGUMENTS = ("arguments", "parameters", "args")


class Prepared(NamedTuple):
    """Two plans as a policy compares them, and what gold leaves open of its calls as they are then."""

    pred: Plan
    gold: Plan
    terms: Terms


def prepare(policy: Policy, pred: Plan, gold: Plan, terms: Terms) -> Prepared:
    """The two plans as the policy compares them; the same two where it changes nothing."""
    if policy.names == "loose":
        pred = _respelled(pred, gold, policy)
    if policy.outputs:
        pred, gold = _whole(pred, policy), _whole(gold, policy)
    if policy.inline:
        pred, gold = _outlined(pred, gold), _outlined(gold, pred)
    if not policy.repeats:
        (pred, _), (gold, merged_ids) = _merged(pred, policy), _merged(gold, policy)
        terms = terms if terms is NO_TERMS else terms.merged(merged_ids)
    if not policy.answer:
        pred, gold = replace(pred, answer=None), replace(gold, answer=None)
    return Prepared(pred, gold, terms)


def _respelled(pred: Plan, gold: Plan, policy: Policy) -> Plan:
    """The prediction with its tools by gold's names, where these differ in spelling alone."""
    pred_tools, gold_tools = ([Tool(call.app, call.name) for call in plan.calls] for plan in (pred, gold))
    respellings = respelled(pred_tools, gold_tools, policy.tools)
    if not respellings:
        return pred
    new_tools = [respellings.get(tool, tool) for tool in pred_tools]
    calls = (
        replace(call, app=new.app, name=new.name) for call, new in zip(pred.calls, new_tools, strict=True)
    )
    return replace(pred, calls=tuple(calls))


def _whole(plan: Plan, policy: Policy) -> Plan:
    """The plan with the only output of a tool taken as its whole result, whatever it is called."""
    outputs = policy.outputs
    only_outputs = [outputs.get(call.tool, outputs.get(call.name)) for call in plan.calls]

    def remaining_path(producer: int, path: Path) -> Path:
        is_output = (
            only_outputs[producer] is not None and path and path[0] in (only_outputs[producer], *WHOLE_RESULT)
        )
        return path[1:] if is_output else path

    def change(leaf: Value) -> Value:
        return (
            replace(leaf, path=remaining_path(leaf.call, leaf.path))
            if type(leaf) is Ref and leaf.path
            else leaf
        )

    def changed(arguments: Arguments) -> Arguments:
        return tuple((name, map_leaves(change, value)) for name, value in arguments)

    calls = tuple(replace(call, arguments=changed(call.arguments)) for call in plan.calls)
    edges = tuple(edge._replace(path=remaining_path(edge.producer, edge.path)) for edge in plan.edges)
    answer = None if plan.answer is None else changed(plan.answer)
    return replace(plan, calls=calls, edges=edges, answer=answer)


class _Outliner:
    """Gives each call that is written as a value a place of its own, just before its consumer."""

    def __init__(self, plan: Plan, other: Plan) -> None:
        self.plan = plan
        self.known = {call.name for call in other.calls}
        self.paths = {
            (other.calls[e.consumer].name, e.argument, other.calls[e.producer].name): e.path
            for e in reversed(other.edges)
        }
        self.calls: list[Call] = []
        self.place: dict[int, int] = {}

    def run(self) -> Plan:
        for position, call in enumerate(self.plan.calls):
            arguments = tuple((name, self.value(call.name, name, v)) for name, v in call.arguments)
            self.place[position] = len(self.calls)
            self.calls.append(with_arguments(call, arguments))
        calls = [
            with_arguments(call, tuple((n, self.resolved(v)) for n, v in call.arguments))
            for call in self.calls
        ]
        answer = self.plan.answer
        moved_answer = None if answer is None else tuple((n, moved(v, self.place)) for n, v in answer)
        return replace(plan_of(calls, moved_answer), dialect=self.plan.dialect, text=self.plan.text)

    def value(self, consumer: str, argument: str, value: Value) -> Value:
        """A value with the calls in it taken out; references to these are negative until the end."""
        if isinstance(value, list):
            return [self.value(consumer, argument, item) for item in value]
        if not isinstance(value, dict):
            return value
        inlined = next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), dict)), None)
        name = value.get("name")
        if inlined is None or len(value) != 2 or name not in self.known:
            return {key: self.value(consumer, argument, item) for key, item in value.items()}
        arguments = tuple((key, self.value(name, key, item)) for key, item in inlined.items())
        self.calls.append(Call(f"inlined{len(self.calls) + 1}", name, arguments))
        return Ref(-len(self.calls), self.paths.get((consumer, argument, name), ()))

    def resolved(self, value: Value) -> Value:
        taken_out = {-index - 1: index for index in range(len(self.calls))}
        return moved(value, self.place | taken_out)


def _outlined(plan: Plan, other: Plan) -> Plan:
    """The plan with inlined calls as calls of their own, as far as the other plan makes such calls.

    A call written as a value stands for its whole result; where the other plan takes one output of
    that call at that place, this output is meant.
    """
    outlined = _Outliner(plan, other).run()
    return outlined if len(outlined.calls) > len(plan.calls) else plan


def _merged(plan: Plan, policy: Policy) -> tuple[Plan, dict[str, str]]:
    """The plan with equal calls of tools without state made once, and which call stands for each."""
    numbers = Numbered(plan, {}).numbers
    first: dict[Any, int] = {}
    new_positions: dict[int, int] = {}
    retained: list[int] = []
    for position, call in enumerate(plan.calls):
        number = numbers[position]
        if number is None or policy.is_stateful(call.app, call.name):
            key: Any = ("own", position)
        else:
            key = number
        if key not in first:
            first[key] = len(retained)
            retained.append(position)
        new_positions[position] = first[key]
    merged_ids = {call.id: plan.calls[retained[new_positions[i]]].id for i, call in enumerate(plan.calls)}
    if len(retained) == len(plan.calls):
        return plan, merged_ids
    calls = [plan.calls[position] for position in retained]
    calls = [with_arguments(c, tuple((n, moved(v, new_positions)) for n, v in c.arguments)) for c in calls]
    answer = None if plan.answer is None else tuple((n, moved(v, new_positions)) for n, v in plan.answer)
    return replace(plan_of(calls, answer), dialect=plan.dialect, text=plan.text), merged_ids
