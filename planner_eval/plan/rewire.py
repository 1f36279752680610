"""Building a plan from another one's calls, references following their producers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner_eval.plan.model import Arguments, Call, Edge, Plan, Ref, Unresolved, Value, references
from planner_eval.plan.walk import map_leaves


def moved(value: Value, positions: Mapping[int, int], lost_names: Mapping[int, str] | None = None) -> Value:
    """A value whose references point to the new places of their producers.

    Args:
        value: A linked value.
        positions: Old position → new position.
        lost_names: Names for producers that have no new place; a reference to one is unresolved.

    >>> moved([Ref(3), "text"], {3: 0})
    [Ref(call=0, path=()), 'text']
    """

    def change(leaf: Value) -> Value:
        if type(leaf) is not Ref:
            return leaf
        if leaf.call in positions:
            return Ref(positions[leaf.call], leaf.path)
        return Unresolved((lost_names or {}).get(leaf.call, f"c{leaf.call + 1}"), leaf.path)

    return map_leaves(change, value)


def plan_of(calls: Iterable[Call], answer: Arguments | None = None) -> Plan:
    """The plan of linked calls, its edges read off their references."""
    calls = tuple(calls)
    edges = tuple(
        Edge(ref.call, position, name, path, ref.path)
        for position, call in enumerate(calls)
        for name, value in call.arguments
        for path, ref in references(value)
        if isinstance(ref, Ref)
    )
    return Plan(calls, edges, answer)


def with_arguments(call: Call, arguments: Arguments) -> Call:
    """The call with other arguments; their places in the text are lost."""
    return Call(call.id, call.name, arguments, call.app, call.returns, call.span)
