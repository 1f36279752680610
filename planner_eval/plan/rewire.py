"""Building a plan from another one's calls, references following their producers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner_eval.plan.model import Arguments, Call, Edge, Plan, Ref, Template, Unresolved, Value, references


def moved(value: Value, place: Mapping[int, int], lost: Mapping[int, str] | None = None) -> Value:
    """A value whose references point to the new places of their producers.

    Args:
        value: A linked value.
        place: Old position → new position.
        lost: Names for producers that have no new place; a reference to one is unresolved.

    >>> moved([Ref(3), "text"], {3: 0})
    [Ref(call=0, path=()), 'text']
    """
    kind = type(value)
    if kind is Ref:
        if value.call in place:
            return Ref(place[value.call], value.path)
        return Unresolved((lost or {}).get(value.call, f"c{value.call + 1}"), value.path)
    if kind is list:
        return [moved(item, place, lost) for item in value]
    if kind is dict:
        return {key: moved(item, place, lost) for key, item in value.items()}
    if kind is Template:
        return Template(tuple(p if isinstance(p, str) else moved(p, place, lost) for p in value.parts))
    return value


def plan_of(calls: Iterable[Call], answer: Arguments | None = None) -> Plan:
    """The plan of linked calls, its edges read off their references."""
    calls = tuple(calls)
    edges = tuple(
        Edge(ref.call, position, name, at, ref.path)
        for position, call in enumerate(calls)
        for name, value in call.arguments
        for at, ref in references(value)
        if isinstance(ref, Ref)
    )
    return Plan(calls, edges, answer)


def with_arguments(call: Call, arguments: Arguments) -> Call:
    """The call with other arguments; their places in the text are lost."""
    return Call(call.id, call.name, arguments, call.app, call.returns, call.span)
