"""From a plan to the program that `core` runs: order, arguments as small trees, refused calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.execution.sandbox.job import CallSettings, Program, Step
from planner_eval.plan.graph import circles, generations
from planner_eval.plan.model import Plan, Ref, Template, Unresolved, Value, references

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.job import Tree


_SCALARS = frozenset({type(None), bool, int, float, str})


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made.

    Args:
        binding: ``"name"``: arguments by name (``arg_0`` … also stand for positions);
            ``"position"``: values in written order whatever their names, as NESTful's own executor does.
        concurrency: How many independent calls may run at once.
        retries: How often a failing call is tried again.
        backoff: Seconds before the first retry; doubled for each further one.
        arguments: Keep in the trace the values that each call was made with.
        state: Ask the tools for their state afterwards.
        outputs: Tool → the names of its outputs, where they are known.
    """

    binding: str = "name"
    concurrency: int = 1
    retries: int = 0
    backoff: float = 0.1
    arguments: bool = False
    state: bool = False
    outputs: Mapping[str, Sequence[str]] | None = None


class PlanWithState(NamedTuple):
    """A plan and the state in which its tools begin.

    Args:
        plan: The plan.
        initial: JSON data that the tools take as their state; None for their own first one.
    """

    plan: Plan
    initial: Any = None


def compile_plan(plan: Plan, options: Options | None = None, initial: Any = None) -> Program:
    """The program that runs `plan`.

    Calls in a cycle are refused; with one worker the others run in written order wherever that order
    is possible, with several they run by topological generation, one turn of a conversation after the other.

    Args:
        plan: The plan.
        options: How calls are made.
        initial: The state that the tools begin in; None for their own first one.

    >>> from planner_eval.plan.model import Call
    >>> compile_plan(Plan((Call("a", "now"), Call("b", "add", (("x", Ref(0)),))))).groups
    [[0], [1]]
    """
    settings = options or Options()
    needs = producers(plan)
    looped = _cyclic_calls(needs)
    outputs = settings.outputs or {}
    steps = [
        Step(
            call.tool,
            call.name,
            [(name, tree(value)) for name, value in call.arguments],
            needs[position],
            list(outputs.get(call.tool, outputs.get(call.name, call.returns))),
        )
        for position, call in enumerate(plan.calls)
    ]
    at_once = settings.concurrency > 1
    groups = _generations(needs, looped) if at_once else [[p] for p in _written_order(needs, looped)]
    groups, turns = _split_by_turn(plan, needs, groups)
    names = ", ".join(plan.calls[position].id for position in looped)
    return Program(
        steps,
        groups,
        looped,
        f"calls depend on one another: {names}",
        CallSettings(
            settings.binding,
            settings.concurrency,
            settings.retries,
            settings.backoff,
            arguments=settings.arguments,
            state=settings.state,
        ),
        initial,
        turns,
    )


def _split_by_turn(
    plan: Plan, needs: list[list[int]], groups: list[list[int]]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The groups parted and ordered by turn, and where each turn ends; as they are where there is one turn.

    So they stay as well where a call takes the value of one in a later turn: no turn could be run whole.
    """
    turn_of = [call.turn or 0 for call in plan.calls]
    if len(set(turn_of)) < 2 or any(
        turn_of[p] > turn_of[q] for q, producers in enumerate(needs) for p in producers
    ):
        return groups, []
    ordered: list[list[int]] = []
    ends = []
    for turn in sorted(set(turn_of)):
        before = len(ordered)
        ordered += filter(None, ([p for p in group if turn_of[p] == turn] for group in groups))
        if len(ordered) > before:
            ends.append((turn, len(ordered)))
    return ordered, ends


def producers(plan: Plan) -> list[list[int]]:
    """For each call the calls whose values its arguments hold; guessed edges of the plan do not count."""
    return [
        sorted({r.call for _, value in call.arguments for _, r in references(value) if isinstance(r, Ref)})
        for call in plan.calls
    ]


def sink_calls(plan: Plan) -> list[int]:
    """The calls whose values no other call takes."""
    used = {producer for needed in producers(plan) for producer in needed}
    return [position for position in range(len(plan.calls)) if position not in used]


def running_order(plan: Plan) -> list[int]:
    """Every call once: producers before consumers, in written order where that is free."""
    needs = producers(plan)
    looped = _cyclic_calls(needs)
    return sorted(looped) + _written_order(needs, looped)


def tree(value: Value) -> Tree:
    """One argument's value for `core`: scalars as they are, the rest as a tag and its content."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Ref:
        return ("ref", (value.call, list(value.path)))
    if kind is Unresolved:
        return ("unresolved", value.name)
    if kind is Template:
        return ("text", [tree(piece) for piece in value.parts])
    if kind is list:
        items = [tree(item) for item in value]
        return ("value", value) if all(map(_is_literal, items)) else ("list", items)
    if kind is dict:
        fields = [(key, tree(item)) for key, item in value.items()]
        return ("value", value) if all(_is_literal(item) for _, item in fields) else ("dict", fields)
    return ("value", value)


def _is_literal(inner: Tree) -> bool:
    """Whether a tree is the value itself, with nothing in it to resolve."""
    return type(inner) is not tuple or inner[0] == "value"


def _generations(needs: list[list[int]], looped: list[int]) -> list[list[int]]:
    """Topological generations, in which a call that depends on a cycle comes after it: it is skipped."""
    if not looped:
        return list(generations(needs))
    out = set(looped)
    acyclic = [[p] if p in out else [q for q in needed if q not in out] for p, needed in enumerate(needs)]
    return list(generations(acyclic))


def _cyclic_calls(needs: list[list[int]]) -> list[int]:
    """The calls that lie on a cycle: strongly connected components of more than one call, or self-loops."""
    if all(producer < position for position, producers in enumerate(needs) for producer in producers):
        return []
    return sorted(i for group in circles(needs) for i in group if len(group) > 1 or i in needs[i])


def _written_order(needs: list[list[int]], looped: list[int]) -> list[int]:
    """Each call as early as it is written, but after its producers."""
    placed = set(looped)
    order: list[int] = []
    for start in range(len(needs)):
        stack = [start]
        while stack:
            position = stack[-1]
            lacking = [producer for producer in needs[position] if producer not in placed]
            if position in placed or not lacking:
                stack.pop()
                if position not in placed:
                    placed.add(position)
                    order.append(position)
            else:
                stack.extend(reversed(lacking))
    return order
