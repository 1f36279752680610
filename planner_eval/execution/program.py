"""From a plan to the plain data that `core` runs: order, arguments as small trees, refused calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.plan.model import Plan, Ref, Template, Unresolved, references
from planner_eval.plan.topological import generations as topological
from planner_eval.plan.topological import stuck

_SCALARS = frozenset({type(None), bool, int, float, str})


def compile_plan(
    plan: Plan,
    *,
    binding: str = "name",
    workers: int = 1,
    retries: int = 0,
    backoff: float = 0.1,
    outputs: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """The program that runs `plan`.

    Calls in a cycle are refused; with one worker the others run in written order wherever that order
    is possible, with several they run by topological generation.

    Args:
        plan: The plan.
        binding: ``"name"``, or ``"position"`` for values in written order whatever their names.
        workers: How many independent calls may run at once.
        retries: How often a failing call is tried again.
        backoff: Seconds before the first retry; doubled for each further one.
        outputs: Tool → the names of its outputs, where they are known.

    >>> from planner_eval.plan.model import Call
    >>> compile_plan(Plan((Call("a", "now"), Call("b", "add", (("x", Ref(0)),)))))["groups"]
    [[0], [1]]
    """
    needs = producers(plan)
    generations, looped = _generations(needs)
    known = outputs or {}
    calls = [
        (
            call.tool,
            call.name,
            [(name, tree(value)) for name, value in call.arguments],
            needs[position],
            list(known.get(call.tool, known.get(call.name, call.returns))),
        )
        for position, call in enumerate(plan.calls)
    ]
    groups = generations if workers > 1 else [[position] for position in _written_order(needs, looped)]
    names = ", ".join(plan.calls[position].id for position in looped)
    return {
        "calls": calls,
        "groups": groups,
        "refused": [(position, ("cycle", f"calls depend on one another: {names}")) for position in looped],
        "binding": binding,
        "workers": workers,
        "retries": retries,
        "backoff": backoff,
        "arguments": False,
        "shared": False,
        "state": False,
        "inline": False,
    }


def producers(plan: Plan) -> list[list[int]]:
    """For each call the calls whose values its arguments hold; guessed edges of the plan do not count."""
    return [
        sorted({r.call for _, value in call.arguments for _, r in references(value) if isinstance(r, Ref)})
        for call in plan.calls
    ]


def outcomes(plan: Plan) -> list[int]:
    """The calls whose values no other call takes."""
    taken = {producer for needed in producers(plan) for producer in needed}
    return [position for position in range(len(plan.calls)) if position not in taken]


def running_order(plan: Plan) -> list[int]:
    """Every call once: producers before consumers, in written order where that is free."""
    needs = producers(plan)
    looped = _generations(needs)[1]
    return sorted(looped) + _written_order(needs, looped)


def tree(value: Any) -> Any:
    """One argument's value for `core`: scalars as they are, the rest tagged."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Ref:
        return ("ref", value.call, list(value.path))
    if kind is Unresolved:
        return ("unresolved", value.name)
    if kind is Template:
        return ("text", [tree(part) for part in value.parts])
    if not any(True for _ in references(value)):
        return ("value", value)
    if kind is list:
        return ("list", [tree(item) for item in value])
    return ("dict", [(key, tree(item)) for key, item in value.items()])


def _generations(needs: list[list[int]]) -> tuple[list[list[int]], list[int]]:
    """Topological generations, and the positions of calls that wait for themselves for ever.

    A call that only depends on a cycle is put after it: it is skipped for its producer's sake.
    """
    looped = _looped(needs)
    if not looped:
        return list(topological(needs)), looped
    out = set(looped)
    rest = [[p] if p in out else [q for q in needed if q not in out] for p, needed in enumerate(needs)]
    return list(topological(rest)), looped


def _looped(needs: list[list[int]]) -> list[int]:
    """The calls that lie on a cycle: strongly connected components of more than one call, or self-loops."""
    if all(producer < position for position, producers in enumerate(needs) for producer in producers):
        return []
    behind = set(stuck(needs))  # what depends on a cycle too; of it, what no cycle depends on is taken away
    users: list[list[int]] = [[] for _ in needs]
    for position in behind:
        for producer in needs[position]:
            users[producer].append(position)
    return [position for position in stuck(users) if position in behind]


def _written_order(needs: list[list[int]], looped: list[int]) -> list[int]:
    """Each call as early as it is written, but after its producers."""
    done = set(looped)
    order: list[int] = []
    for start in range(len(needs)):
        stack = [start]
        while stack:
            position = stack[-1]
            lacking = [producer for producer in needs[position] if producer not in done]
            if position in done or not lacking:
                stack.pop()
                if position not in done:
                    done.add(position)
                    order.append(position)
            else:
                stack.extend(reversed(lacking))
    return order
