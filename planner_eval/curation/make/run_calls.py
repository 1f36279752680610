"""A plan's values, call by call: each is run as soon as it has them, and kept only if it is worth making."""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.text import words_of_name
from planner_eval.catalogs.catalog import ANY, Parameter, Tool, Type
from planner_eval.catalogs.value_errors import find_problem
from planner_eval.curation.make.tools import Link, Node
from planner_eval.curation.make.values import (
    NO_VALUE,
    as_text,
    describe_worthless_value,
    draw_literal,
    draw_world_arguments,
    find_other_values,
    is_different,
    order_values,
    replace_result,
)
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import follow_path
from planner_eval.execution.program import sink_calls
from planner_eval.execution.trace import TIMEOUT, CallTrace, Trace
from planner_eval.execution.worlds.world import World
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Ref, Value
from planner_eval.plan.structure import consumers_of

MAX_TRIES = 10
"""How often the values of one call are drawn."""

SHARED_TEXT_RATE = 0.9
"""How often a text that a plan has under a name is taken for an argument of that name."""

MAX_CHANGES = 3
"""How many other values are tried in the place of one, to see whether a call depends on it."""

OPTIONAL_ARGUMENT_RATE = 0.2
"""How often a call gives an argument that it need not."""


TIMEOUT_REASON = "a call timed out"
"""Why an attempt is given up whose call did not end in time: other values would take as long."""


class Refusal(NamedTuple):
    """Why a plan was not kept, or cannot be imitated.

    Args:
        why: In a few words that are counted.
        what: What of the plan it is; "" where that says no more.
    """

    why: str
    what: str = ""


@dataclass(frozen=True)
class MakingContext:
    """What plans are made of.

    Args:
        tools: The tools, as nodes name them.
        texts: Whether literals are written as text.
        runs: Whether there are tools to run.
        stateful: Whether a call may find what those before it left.
        world: The world whose rows the values come from.
    """

    tools: tuple[Tool, ...]
    texts: bool
    runs: bool
    stateful: bool
    world: World | None


class FilledPlan(NamedTuple):
    """A plan with its values, and what each call came to where it was run."""

    plan: Plan
    values: tuple[Any, ...]


FillGenerator: TypeAlias = Generator[list[Plan], list[Trace], FilledPlan | Refusal]
"""Asks for plans to be run, and is sent their traces; the last call of each is the one in question."""


@dataclass
class _FillState:
    """One plan under way."""

    nodes: Sequence[Node]
    ground: MakingContext
    random: Random
    forced: tuple[int, str] | None
    calls: list[Call] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    shared: dict[str, Value] = field(default_factory=dict)


def fill_plan(
    nodes: Sequence[Node], ground: MakingContext, random: Random, forced: tuple[int, str] | None
) -> FillGenerator:
    """Give each call its values.

    A call is run with the values that calls before it gave; where it fails, gives nothing of worth, or gives
    the same whatever it takes, other values are drawn. At the end the whole plan is run once more, and has to
    give the same.
    """
    state = _FillState(nodes, ground, random, forced)
    users = consumers_of(tuple(tuple(sorted({link.producer for link in node.links})) for node in nodes))
    for index, node in enumerate(nodes):
        why = Refusal("no values for its arguments")
        for _ in range(MAX_TRIES):
            call = _fill_call(state, index)
            if call is None:
                continue
            if call.arguments in [
                previous.arguments for previous in state.calls if previous.tool == call.tool
            ]:
                why = Refusal("it makes a call twice")
                continue
            if not ground.runs:
                state.calls.append(call)
                break
            outcome = yield from _try_call(state, call, [nodes[user] for user in users[index]], index)
            if not isinstance(outcome, Refusal):
                state.calls.append(call)
                state.values += outcome
                break
            why = outcome
            if why.why == TIMEOUT_REASON:
                return why
        else:
            return why
        _share_values(state, node, state.calls[index])
    plan = build_plan(state.calls)
    if ground.runs:
        refused = yield from _rerun_plan(state, plan)
        if refused is not None:
            return refused
    return FilledPlan(plan, tuple(state.values))


def _fill_call(state: _FillState, index: int) -> Call | None:
    """The call with values for what it does not take of others; None where there are none."""
    node = state.nodes[index]
    tool = state.ground.tools[node.tool]
    values: dict[str, Value] = {link.parameter: Ref(link.producer, link.output) for link in node.links}
    used = {
        str(link.output[0])
        for other in state.nodes
        for link in other.links
        if link.producer == index and link.output
    }
    parameters = [
        parameter
        for parameter in tool.parameters
        if parameter.name not in values
        and (
            parameter.required
            or (node.tool, parameter.name) == state.forced
            or (parameter.name not in used and state.random.random() < OPTIONAL_ARGUMENT_RATE)
        )
    ]
    literals = _draw_literals(state, tool, parameters, values)
    for parameter in parameters:
        if literals.get(parameter.name, NO_VALUE) is not NO_VALUE:
            values[parameter.name] = literals[parameter.name]
        elif parameter.required:
            return None
    arguments = tuple(
        (parameter.name, values[parameter.name]) for parameter in tool.parameters if parameter.name in values
    )
    returns = tuple(field.name for field in tool.returns.fields)
    return Call(f"var_{index + 1}", tool.name, arguments, tool.app, returns)


def _draw_literals(
    state: _FillState, tool: Tool, parameters: Sequence[Parameter], references: Mapping[str, Value]
) -> dict[str, Value]:
    """Values for the arguments that no call makes; one name stands for one text in all of a plan."""
    ground, random = state.ground, state.random
    shared = {
        parameter.name: state.shared[parameter.name]
        for parameter in parameters
        if parameter.name in state.shared and random.random() < SHARED_TEXT_RATE
        and not find_problem(state.shared[parameter.name], parameter.type, texts=ground.texts)
    }  # fmt: skip
    remaining = [parameter for parameter in parameters if parameter.name not in shared]
    if ground.world is None:
        return order_values(
            shared
            | {
                parameter.name: draw_literal(tool, parameter, random, texts=ground.texts)
                for parameter in remaining
            }
        )
    api = ground.world.definition.find(tool.name, tool.app)
    seen = {name: _observed_value(state, value) for name, value in references.items()}
    world_values = draw_world_arguments(
        ground.world, api, {**shared, **seen}, frozenset(parameter.name for parameter in remaining), random
    )
    return order_values(
        shared | {name: as_text(value) if ground.texts else value for name, value in world_values.items()}
    )


def _share_values(state: _FillState, node: Node, call: Call) -> None:
    """Let later calls take a value under its name: one trip is to one city."""
    if any(len(words_of_name(name)) > 1 or len(name) > 3 for name, _ in call.arguments):
        for name, value in call.arguments:
            if isinstance(value, str) and not name[-1].isdigit():
                state.shared.setdefault(name, value)


def _observed_value(state: _FillState, value: Value) -> Any:
    """What a reference came to."""
    if not isinstance(value, Ref):
        return value
    outputs = list(state.calls[value.call].returns)
    return follow_path(state.values[value.call], list(value.path), outputs)


# ---------------------------------------------------------------- run
def _try_call(
    state: _FillState, call: Call, users: Sequence[Node], index: int
) -> Generator[list[Plan], list[Trace], tuple[Any] | Refusal]:
    """Run one call, and again with each of its inputs changed; what it gives alone in a tuple."""
    ground = state.ground
    seen = [(name, _observed_value(state, value)) for name, value in call.arguments]
    kinds = _parameter_types(ground, state.nodes[index])
    (trace,) = yield [_trial_plan(state, call, dict(seen))]
    last = trace.calls[-1]
    if not trace.ok:
        return Refusal(TIMEOUT_REASON if _has_timed_out(trace) else "a call fails")
    earlier_values = [value for earlier in state.calls for _, value in earlier.arguments] + state.values
    why = describe_worthless_value(last.value, [value for _, value in seen] + earlier_values)
    if why is not None:
        return Refusal(why)
    for node in users:
        for link in node.links:
            if link.producer == index and (
                why := _describe_unusable_value(ground, node, link, last.value, call, dict(seen))
            ):
                return Refusal(why)
    changed = {
        name: find_other_values(value, kinds.get(name, ANY), state.random)[:MAX_CHANGES]
        for name, value in seen
    }
    if (yield from _has_ignored_input(state, call, dict(seen), changed, last.value)):
        return Refusal("a result does not depend on an input")
    return (last.value,)


def _has_ignored_input(
    state: _FillState, call: Call, seen: Mapping[str, Any], changed: Mapping[str, Sequence[Any]], value: Any
) -> Generator[list[Plan], list[Trace], bool]:
    """Whether an input may be changed as one likes, and the call gives the same.

    One change may not show, as of what is no maximum; then others may. A call that fails says that it
    looked at the input, unless it gives the same where it does not fail.
    """
    trials = [(name, other) for name, new_values in changed.items() for other in new_values]
    traces = yield [_trial_plan(state, call, {**seen, name: other}, {name}) for name, other in trials]
    results: dict[str, list[CallTrace]] = {name: [] for name in changed}
    for (name, _), trace in zip(trials, traces, strict=True):
        results[name].append(trace.calls[-1])
    return any(
        not any(result.status == "ok" and is_different(result.value, value) for result in of_input)
        and (not of_input or any(result.status == "ok" for result in of_input))
        for of_input in results.values()
    )


def _rerun_plan(state: _FillState, plan: Plan) -> Generator[list[Plan], list[Trace], Refusal | None]:
    """Run the whole plan once more, and with each result that others use replaced by another.

    What a call gives may cancel out further on: ``(a + b) - a`` needs no ``a``.
    """
    ends, trials = sink_calls(plan), [plan]
    for index in range(0 if state.ground.stateful else len(plan)):
        if index not in ends:
            changed = find_other_values(state.values[index], ANY, state.random)[:2]
            trials.append(replace_result(plan, index, changed[-1]))
    first, *replaced = yield trials
    if _has_timed_out(first):
        return Refusal(TIMEOUT_REASON)
    if not first.ok or [call.value for call in first] != state.values:
        return Refusal("it returns another value when run again")
    for trace in replaced:
        ran = [trace.calls[end] for end in ends]
        pairs = zip(ran, (state.values[end] for end in ends), strict=True)
        if all(call.status == "ok" and not is_different(call.value, value) for call, value in pairs):
            return Refusal("an answer does not depend on a call")
    return None


def _parameter_types(ground: MakingContext, node: Node) -> dict[str, Type]:
    return {parameter.name: parameter.type for parameter in ground.tools[node.tool].parameters}


def _has_timed_out(trace: Trace) -> bool:
    return trace.ended is not None and trace.ended.kind == TIMEOUT


def _trial_plan(
    state: _FillState, call: Call, inputs: Mapping[str, Any], changed: Container[str] = ()
) -> Plan:
    """What has to be run to see what a call gives: itself alone, or after all that may matter to it."""
    if not state.ground.stateful:
        return Plan((Call(call.id, call.name, tuple(inputs.items()), call.app, call.returns),))
    arguments = tuple((name, inputs[name] if name in changed else value) for name, value in call.arguments)
    return build_plan((*state.calls, Call(call.id, call.name, arguments, call.app, call.returns)))


def _describe_unusable_value(
    ground: MakingContext, user: Node, link: Link, value: Any, call: Call, inputs: Mapping[str, Any]
) -> str | None:
    """Why a value is none that another call can use, or need not be had from this one; None where it is."""
    try:
        output = follow_path(value, list(link.output), list(call.returns))
    except CallFailed:
        return "a required output is missing"
    if describe_worthless_value(output, ()) is not None:
        return "a required output is missing"
    kind = _parameter_types(ground, user).get(link.parameter, ANY)
    if find_problem(output, kind, texts=True) is not None:
        return "a value is not accepted by the next call"
    repeats = link.output and not isinstance(output, bool) and str(output) in map(str, inputs.values())
    return "an output only repeats an input" if repeats else None
