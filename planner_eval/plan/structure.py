"""The structure of one plan: small pure functions over plain adjacency lists.

Parallel references count once here: structure is about which call needs which. Self references and
circles occur in real data; where a figure needs an order, the calls of a circle are placed together
in the first generation whose earlier producers are all done (:mod:`planner_eval.plan.adjacency`).
"""

from __future__ import annotations

from collections import Counter

from planner_eval.plan.adjacency import in_levels, leaders, levels, levels_in_steps, longest_chain, producers
from planner_eval.plan.model import Plan, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds


def consumers(plan: Plan) -> list[list[int]]:
    """For each call the other calls that use its output, each once, in ascending order."""
    users: list[list[int]] = [[] for _ in plan.calls]
    for consumer, needed in enumerate(producers(plan)):
        for producer in needed:
            users[producer].append(consumer)
    return users


def components(plan: Plan) -> list[list[int]]:
    r"""The weakly connected components, each in ascending order, ordered by their first call.

    >>> from planner_eval.dialects.read import parse
    >>> components(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    [[0, 1], [2]]
    """
    groups: dict[int, list[int]] = {}
    for call, leader in enumerate(leaders(producers(plan))):
        groups.setdefault(leader, []).append(call)
    return list(groups.values())


def scope(plan: Plan) -> str | None:
    r"""AppBench's word for a plan: one or several apps, and one or several calls of an app.

    SS is one call, SM several calls of one app, MS one call each of several apps, MM any other; a repeated
    call counts again.

    Returns:
        None for a plan without calls, or with a call that names no app.

    Source: the AppBench paper, section 3.1; so the gold plans of its four parts are told apart.

    >>> from planner_eval.dialects.read import parse
    >>> scope(parse("Trams: [a = f(#x='1')]\nShops: [g(#y=a)]")), scope(parse("f(#x='1')"))
    ('MS', None)
    """
    apps = {call.app for call in plan.calls}
    if not apps or not all(apps):
        return None
    return ("S" if len(apps) == 1 else "M") + ("S" if len(apps) == len(plan.calls) else "M")


def topological_generations(plan: Plan) -> list[list[int]]:
    r"""The calls in generations: each needs only calls of earlier ones; in ascending order within one.

    Calls of a plan's ``steps`` come after all of earlier ones.

    >>> from planner_eval.dialects.read import parse
    >>> topological_generations(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    [[0, 2], [1]]
    """
    needs = producers(plan)
    return in_levels(levels_in_steps(needs, plan.steps) if plan.steps else levels(needs))


def topological_order(plan: Plan) -> list[int]:
    """One topological order: generation by generation, in written order within each."""
    return [i for generation in topological_generations(plan) for i in generation]


def depth(plan: Plan) -> int:
    r"""The number of generations: calls on the longest dependency path; 0 for an empty plan.

    >>> from planner_eval.dialects.read import parse
    >>> depth(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    2
    """
    return len(topological_generations(plan))


def width(plan: Plan) -> int:
    """The number of calls in the largest topological generation; 0 for an empty plan."""
    return max(map(len, topological_generations(plan)), default=0)


def critical_path(plan: Plan) -> list[int]:
    r"""The calls of one longest dependency path, producer first; the earliest where several tie.

    >>> from planner_eval.dialects.read import parse
    >>> critical_path(parse("h(#z='2')\na = f(#x='1')\nb = g(#y=a)"))
    [1, 2]
    """
    return longest_chain(producers(plan))


def roots(plan: Plan) -> list[int]:
    """The calls that use no other call's output."""
    return [i for i, needed in enumerate(producers(plan)) if not needed]


def sinks(plan: Plan) -> list[int]:
    """The calls whose output no other call uses."""
    return [i for i, users in enumerate(consumers(plan)) if not users]


def fan_in(plan: Plan) -> list[int]:
    """For each call the number of calls whose output it uses."""
    return [len(needed) for needed in producers(plan)]


def fan_out(plan: Plan) -> list[int]:
    """For each call the number of calls that use its output."""
    return [len(users) for users in consumers(plan)]


def parallel_scale(plan: Plan) -> int:
    """The number of weakly connected components (AppBench's parallel scale, section 3 of its paper)."""
    return len(components(plan))


def sequential_scale(plan: Plan) -> int:
    """The size of the largest weakly connected component (AppBench's sequential scale); 0 if empty."""
    return max(map(len, components(plan)), default=0)


def nesting_patterns(plan: Plan) -> dict[str, int]:
    r"""How the calls hang together, one pattern a meeting point, with its count.

    ``A→B``: one consumer of one producer that serves nobody else. ``{A,B}→C``: one call that uses
    several others. ``A→{B,C}``: one call that serves several. ``A``: a call that stands alone.

    >>> from planner_eval.dialects.read import parse
    >>> nesting_patterns(parse("a = f(#x='1')\nb = f(#x='2')\ng(#y=a, #z=b)\nh()"))
    {'A': 1, '{A,B}→C': 1}
    """
    needed, users = producers(plan), consumers(plan)
    patterns: Counter[str] = Counter()
    for i in range(len(plan.calls)):
        if not needed[i] and not users[i]:
            patterns["A"] += 1
        if len(needed[i]) > 1:
            patterns[f"{{{_letters(len(needed[i]))}}}→{_letter(len(needed[i]))}"] += 1
        if len(users[i]) > 1:
            patterns[f"A→{{{_letters(len(users[i]), 1)}}}"] += 1
        if len(needed[i]) == 1 and len(users[needed[i][0]]) == 1:
            patterns["A→B"] += 1
    return dict(sorted(patterns.items()))


def _letter(k: int) -> str:
    return chr(ord("A") + k) if k < 26 else f"A{k}"


def _letters(count: int, start: int = 0) -> str:
    return ",".join(_letter(k) for k in range(start, start + count)) if count <= 6 else f"{count} calls"


KINDS = (
    "reference", "ref in text", "ref in values", "unresolved",
    "string", "integer", "number", "boolean", "null", "array", "object",
)  # fmt: skip
"""The kinds of arguments: what refers to other calls, then the types of JSON."""

_JSON = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def argument_kinds(plan: Plan) -> dict[str, int]:
    r"""What the arguments hold, one of :data:`KINDS` each, with its count.

    An argument that is, or holds, a reference to no other call counts as unresolved.

    >>> from planner_eval.dialects.read import parse
    >>> argument_kinds(parse("a = f(#x='1')\nb = g(#y=a, #z='2')"))
    {'reference': 1, 'string': 2}
    """
    own = {(edge.consumer, edge.argument) for edge in plan.edges if edge.producer == edge.consumer}
    counts = Counter(
        "unresolved" if (position, name) in own else _kind(value)
        for position, call in enumerate(plan.calls)
        for name, value in call.arguments
    )
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _kind(value: Value) -> str:
    kind = type(value)
    if kind in _JSON:
        return _JSON[kind]
    if holds(value, Unresolved):
        return "unresolved"
    if kind is Ref:
        return "reference"
    inside = holds(value, Ref)
    if kind is Template:
        return "ref in text" if inside else "string"
    return "ref in values" if inside else "array" if kind is list else "object"
