"""Edges inferred from recorded results: an argument that repeats a value of an earlier answer.

Such an edge is a guess and is marked so; nothing infers unless it is asked to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner_eval.plan.model import Edge, Path, Plan, Value

SHORT = 2
"""Texts of fewer characters, and numbers of one digit, occur everywhere and say nothing."""


def infer_edges(plan: Plan) -> Plan:
    """The plan with an inferred edge for each argument value that an earlier result holds.

    The nearest earlier result wins. A number and its text are one value, for results hold numbers
    where calls pass texts.

    >>> from planner_eval.plan.model import Call
    >>> producer = Call("c1", "find", result={"id": "SYD"}, has_result=True)
    >>> infer_edges(Plan((producer, Call("c2", "book", (("to", "SYD"),))))).edges
    (Edge(producer=0, consumer=1, argument='to', at=(), path=('id',), inferred=True),)
    """
    known: dict[str, tuple[int, Path]] = {}
    edges: list[Edge] = []
    for i, call in enumerate(plan.calls):
        for argument, value in call.arguments:
            for at, leaf in _leaves(value):
                found = known.get(leaf)
                if found is not None:
                    edges.append(Edge(found[0], i, argument, at, found[1], inferred=True))
        if call.has_result:
            found_here: dict[str, tuple[int, Path]] = {}
            for path, leaf in _leaves(call.result):
                found_here.setdefault(leaf, (i, path))
            known.update(found_here)
    return replace(plan, edges=(*plan.edges, *edges)) if edges else plan


def _leaves(value: Value, at: Path = (), depth: int = 0) -> Iterator[tuple[Path, str]]:
    """The texts and numbers in a value that say something, as texts, with the way to each."""
    if depth > 100:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*at, key), depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _leaves(item, (*at, position), depth + 1)
    else:
        text = _text(value)
        if text is not None:
            yield at, text


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value if len(value) >= SHORT else None
    if type(value) in (int, float):
        text = repr(value)
        return text if len(text.lstrip("-")) >= SHORT else None
    return None
