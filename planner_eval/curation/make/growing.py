"""A plan's values, call by call: each is run as soon as it has them, and kept only if it is worth making."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, TypeAlias

from planner_eval.catalogs.catalog import ANY, Parameter, Tool
from planner_eval.catalogs.values import problem
from planner_eval.curation.make.graph import words_of
from planner_eval.curation.make.skeletons import users_of
from planner_eval.curation.make.tools import Link, Node
from planner_eval.curation.make.values import (
    NOTHING,
    as_text,
    asked,
    differs,
    literal,
    ordered,
    other,
    replaced,
    worthless,
)
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import follow
from planner_eval.execution.program import outcomes
from planner_eval.execution.trace import TIMEOUT, Trace
from planner_eval.execution.worlds.world import World
from planner_eval.plan.linking import plan_of
from planner_eval.plan.model import Call, Plan, Ref, Value

TRIES = 10
"""How often the values of one call are drawn."""

SHARED = 0.9
"""How often a text that a plan has under a name is taken for an argument of that name."""

CHANGES = 3
"""How many other values are tried in the place of one, to see whether a call depends on it."""

OPTIONAL = 0.2
"""How often a call gives an argument that it need not."""


LATE = "a call runs out of time"
"""Why an attempt is given up whose call did not end in time: other values would take as long."""


class Refused(NamedTuple):
    """Why a plan was not kept, in a few words that are counted."""

    why: str


@dataclass(frozen=True)
class Ground:
    """What plans are made of.

    Args:
        tools: The tools, as nodes name them.
        texts: Whether literals are written as text.
        runs: Whether there are tools to run.
        stateful: Whether a call may find what those before it left.
        world: The world whose rows the values come from.
    """

    tools: tuple[Tool, ...]
    texts: bool = False
    runs: bool = False
    stateful: bool = False
    world: World | None = None


class Grown(NamedTuple):
    """A plan with its values, and what each call came to where it was run."""

    plan: Plan
    values: tuple[Any, ...]


Growth: TypeAlias = Generator[list[Plan], list[Trace], Grown | Refused]
"""Asks for plans to be run, and is sent their traces; the last call of each is the one in question."""


@dataclass
class _Growing:
    """One plan under way."""

    nodes: Sequence[Node]
    ground: Ground
    random: Random
    forced: tuple[int, str] | None = None
    calls: list[Call] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    shared: dict[str, Value] = field(default_factory=dict)


def grown(
    nodes: Sequence[Node], ground: Ground, random: Random, forced: tuple[int, str] | None = None
) -> Growth:
    """Give each call its values.

    A call is run with the values that calls before it gave; where it fails, gives nothing of worth, or gives
    the same whatever it takes, other values are drawn. At the end the whole plan is run once more, and has to
    give the same.
    """
    state = _Growing(nodes, ground, random, forced)
    users = users_of(tuple(tuple(sorted({link.producer for link in node.links})) for node in nodes))
    for index, node in enumerate(nodes):
        why = Refused("no values for its arguments")
        for _ in range(TRIES):
            call = _call(state, index)
            if call is None:
                continue
            if call.arguments in [
                previous.arguments for previous in state.calls if previous.tool == call.tool
            ]:
                why = Refused("it makes a call twice")
                continue
            if not ground.runs:
                state.calls.append(call)
                break
            outcome = yield from _tried(state, call, [nodes[user] for user in users[index]], index)
            if not isinstance(outcome, Refused):
                state.calls.append(call)
                state.values.append(outcome.value)
                break
            why = outcome
            if why.why == LATE:
                return why
        else:
            return why
        _share(state, node, state.calls[index])
    plan = plan_of(state.calls)
    if ground.runs:
        refused = yield from _again(state, plan)
        if refused is not None:
            return refused
    return Grown(plan, tuple(state.values))


class _Value(NamedTuple):
    value: Any


def _call(state: _Growing, index: int) -> Call | None:
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
            or (parameter.name not in used and state.random.random() < OPTIONAL)
        )
    ]
    literals = _literals(state, tool, parameters, values)
    for parameter in parameters:
        if literals.get(parameter.name, NOTHING) is not NOTHING:
            values[parameter.name] = literals[parameter.name]
        elif parameter.required:
            return None
    arguments = tuple(
        (parameter.name, values[parameter.name]) for parameter in tool.parameters if parameter.name in values
    )
    returns = tuple(field.name for field in tool.returns.fields)
    return Call(f"var_{index + 1}", tool.name, arguments, tool.app, returns)


def _literals(
    state: _Growing, tool: Tool, parameters: Sequence[Parameter], references: Mapping[str, Value]
) -> dict[str, Value]:
    """Values for the arguments that no call makes; one name stands for one text in all of a plan."""
    ground, random = state.ground, state.random
    shared = {
        parameter.name: state.shared[parameter.name]
        for parameter in parameters
        if parameter.name in state.shared and random.random() < SHARED
        and not problem(state.shared[parameter.name], parameter.type, texts=ground.texts)
    }  # fmt: skip
    remaining = [parameter for parameter in parameters if parameter.name not in shared]
    if ground.world is None:
        return ordered(
            shared
            | {
                parameter.name: literal(tool, parameter, random, texts=ground.texts)
                for parameter in remaining
            }
        )
    api = ground.world.definition.find(tool.name, tool.app)
    seen = {name: _observed(state, value) for name, value in references.items()}
    world_values = asked(
        ground.world, api, {**shared, **seen}, frozenset(parameter.name for parameter in remaining), random
    )
    return ordered(
        shared | {name: as_text(value) if ground.texts else value for name, value in world_values.items()}
    )


def _share(state: _Growing, node: Node, call: Call) -> None:
    """Let later calls take a value under its name: one trip is to one city."""
    if any(len(words_of(name)) > 1 or len(name) > 3 for name, _ in call.arguments):
        for name, value in call.arguments:
            if isinstance(value, str) and not name[-1].isdigit():
                state.shared.setdefault(name, value)


def _observed(state: _Growing, value: Value) -> Any:
    """What a reference came to."""
    if not isinstance(value, Ref):
        return value
    outputs = list(state.calls[value.call].returns)
    return follow(state.values[value.call], list(value.path), outputs)


# ---------------------------------------------------------------- run
def _tried(
    state: _Growing, call: Call, users: Sequence[Node], index: int
) -> Generator[list[Plan], list[Trace], _Value | Refused]:
    """Run one call, and again with each of its inputs changed."""
    ground = state.ground
    seen = [(name, _observed(state, value)) for name, value in call.arguments]
    kinds = {parameter.name: parameter.type for parameter in ground.tools[state.nodes[index].tool].parameters}
    (trace,) = yield [_trial(state, call, dict(seen))]
    last = trace.calls[-1]
    if not trace.ok:
        return Refused(LATE if _is_late(trace) else "a call fails")
    earlier_values = [value for earlier in state.calls for _, value in earlier.arguments] + state.values
    why = worthless(last.value, [value for _, value in seen] + earlier_values)
    if why is not None:
        return Refused(why)
    for node in users:
        for link in node.links:
            if link.producer == index:
                if lacks := _lacking(ground, node, link, last.value, call):
                    return Refused(lacks)
                output = follow(last.value, list(link.output), list(call.returns))
                if (
                    link.output
                    and not isinstance(output, bool)
                    and str(output) in map(str, dict(seen).values())
                ):
                    return Refused("an output only gives back what was given")
    changed = {name: other(value, kinds.get(name, ANY), state.random)[:CHANGES] for name, value in seen}
    free = yield from _free(state, call, dict(seen), changed, last.value)
    if free:
        return Refused("a result does not depend on an input")
    return _Value(last.value)


def _free(
    state: _Growing, call: Call, seen: Mapping[str, Any], changed: Mapping[str, Sequence[Any]], value: Any
) -> Generator[list[Plan], list[Trace], list[str]]:
    """The inputs that may be changed as they like, and the call gives the same.

    One change may not show, as of what is no maximum; then the next is tried. A call that fails says that it
    looked at the input, unless it gives the same where it does not fail.
    """
    open_, same = list(changed), set[str]()
    for turn in range(CHANGES):
        names = [name for name in open_ if turn < len(changed[name])]
        if not names:
            break
        trials = [_trial(state, call, {**seen, name: changed[name][turn]}, {name}) for name in names]
        if not state.ground.stateful:  # calls that know nothing of one another can be sent together
            trials = [Plan(tuple(plan.calls[0] for plan in trials))]
        traces = yield trials
        traced_calls = [
            traced_call
            for trace in traces
            for traced_call in (trace.calls[-1:] if state.ground.stateful else trace.calls)
        ]
        for name, traced_call in zip(names, traced_calls, strict=True):
            if traced_call.status == "ok" and differs(traced_call.value, value):
                open_.remove(name)
            elif traced_call.status == "ok":
                same.add(name)
    return [name for name in open_ if name in same or not changed[name]]


def _again(state: _Growing, plan: Plan) -> Generator[list[Plan], list[Trace], Refused | None]:
    """Run the whole plan once more, and with each result that others use replaced by another.

    What a call gives may cancel out further on: ``(a + b) - a`` needs no ``a``.
    """
    needs = [
        frozenset(edge.producer for edge in plan.edges if edge.consumer == index)
        for index in range(len(plan))
    ]
    ends = outcomes(plan)
    trials, end_pairs = [plan], []
    for index in range(len(plan)) if not state.ground.stateful else ():
        changed = other(state.values[index], ANY, state.random)[:2]
        if index not in ends and changed:
            copied, new_positions = replaced(plan, needs, index, changed[-1])
            trials.append(copied)
            end_pairs.append([(new_positions[end], end) for end in ends if end in new_positions])
    traces = yield trials
    if _is_late(traces[0]):
        return Refused(LATE)
    if not traces[0].ok or [call.value for call in traces[0]] != state.values:
        return Refused("it gives another value when it is run again")
    for trace, pairs in zip(traces[1:], end_pairs, strict=True):
        ran = trace.calls
        if all(
            ran[new].status == "ok" and not differs(ran[new].value, state.values[old]) for new, old in pairs
        ):
            return Refused("an answer does not depend on a call")
    return None


def _is_late(trace: Trace) -> bool:
    return trace.ended is not None and trace.ended.kind == TIMEOUT


def _trial(
    state: _Growing, call: Call, inputs: Mapping[str, Any], changed: frozenset[str] | set[str] = frozenset()
) -> Plan:
    """What has to be run to see what a call gives: itself alone, or after all that may matter to it."""
    if not state.ground.stateful:
        return Plan((Call(call.id, call.name, tuple(inputs.items()), call.app, call.returns),))
    arguments = tuple((name, inputs[name] if name in changed else value) for name, value in call.arguments)
    return plan_of((*state.calls, Call(call.id, call.name, arguments, call.app, call.returns)))


def _lacking(ground: Ground, user: Node, link: Link, value: Any, call: Call) -> str | None:
    """Why a value is none that another call can use; None where it can."""
    try:
        output = follow(value, list(link.output), list(call.returns))
    except CallFailed:
        return "an output that is needed is not given"
    if worthless(output, ()) is not None:
        return "an output that is needed is not given"
    kind = next(
        (
            parameter.type
            for parameter in ground.tools[user.tool].parameters
            if parameter.name == link.parameter
        ),
        ANY,
    )
    return None if problem(output, kind, texts=True) is None else "a value is none that the next call takes"
