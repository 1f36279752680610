"""The structure figures of one plan in one record; apart, so that a comparison does not load them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planner_eval.plan.model import Plan
from planner_eval.plan.shape import shape
from planner_eval.plan.structure import (
    argument_kinds,
    components,
    critical_path,
    fan_in,
    fan_out,
    nesting_patterns,
    scope,
    topological_generations,
)


@dataclass(frozen=True, slots=True)
class Stats:
    """The structure figures of one plan; see the functions of the same names.

    ``references`` counts every reference to another call, ``edges`` each pair of calls once, ``reused`` the
    calls whose output several calls use. ``fan_in`` and ``fan_out`` say how many calls use, and serve, how
    many others.
    ``scope`` is None where a call names no app.
    ``inferred`` counts the references that nobody wrote; they are in all figures, and 0 unless asked for.
    """

    calls: int
    apps: int
    tools: int
    arguments: int
    references: int
    edges: int
    components: int
    depth: int
    width: int
    max_fan_in: int
    max_fan_out: int
    reused: int
    parallel_scale: int
    sequential_scale: int
    roots: int
    sinks: int
    critical_path: tuple[str, ...]
    fan_in: dict[int, int]
    fan_out: dict[int, int]
    argument_kinds: dict[str, int]
    patterns: dict[str, int]
    shape: str
    scope: str | None = None
    inferred: int = 0


def stats(plan: Plan) -> Stats:
    r"""All structure figures of one plan.

    >>> from planner_eval.dialects.read import parse
    >>> s = stats(parse("a = f(#x='1')\nb = g(#y=a)"))
    >>> s.calls, s.depth, s.width, s.critical_path
    (2, 2, 1, ('c1', 'c2'))
    """
    generations = topological_generations(plan)
    groups = components(plan)
    ins, outs = fan_in(plan), fan_out(plan)
    return Stats(
        calls=len(plan.calls),
        apps=len({call.app for call in plan.calls if call.app}),
        tools=len({call.tool for call in plan.calls}),
        arguments=sum(len(call.arguments) for call in plan.calls),
        references=sum(edge.producer != edge.consumer for edge in plan.edges),
        edges=sum(ins),
        components=len(groups),
        depth=len(generations),
        width=max(map(len, generations), default=0),
        max_fan_in=max(ins, default=0),
        max_fan_out=max(outs, default=0),
        reused=sum(users > 1 for users in outs),
        parallel_scale=len(groups),
        sequential_scale=max(map(len, groups), default=0),
        roots=ins.count(0),
        sinks=outs.count(0),
        critical_path=tuple(plan.calls[i].id for i in critical_path(plan)),
        fan_in=dict(sorted(Counter(ins).items())),
        fan_out=dict(sorted(Counter(outs).items())),
        argument_kinds=argument_kinds(plan),
        patterns=nesting_patterns(plan),
        shape=shape(plan),
        scope=scope(plan),
        inferred=sum(edge.inferred for edge in plan.edges),
    )
