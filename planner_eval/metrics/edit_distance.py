"""Exact graph edit distance, on request: the least cost of turning one plan into the other.

A call costs 1 and 1 for each argument without a reference; a reference costs 1; another tool, another
value of an argument, a reference to another output cost 1 each. The pairing of calls that
:mod:`planner_eval.comparison.align` finds gives an upper bound; NetworkX looks for anything cheaper
until its time is over. Exact distances take exponential time: from about ten calls of one name on,
expect a bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner_eval.comparison.align import match
from planner_eval.metrics.facts import dependent
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    import networkx as nx

MOST = 60
"""Calls of either plan beyond which nothing is searched: the first table of costs alone takes too long."""


@dataclass(frozen=True, slots=True)
class EditDistance:
    """The distance between two plans.

    Args:
        value: The least cost found.
        proved: It is proved to be the least; False when the time was over first.
        seconds: How long it took.
    """

    value: float
    proved: bool
    seconds: float


def edit_distance(pred: Plan, gold: Plan, *, timeout: float = 5.0) -> EditDistance:
    """The graph edit distance between two plans.

    Args:
        pred: The prediction.
        gold: What was wanted.
        timeout: Seconds to search for something cheaper than the pairing that is known.

    Source: Abu-Aisheh, Raveaux, Ramel, Martineau, An exact graph edit distance algorithm for solving
    pattern recognition problems (ICPRAM 2015), as NetworkX implements it.

    >>> from planner_eval.plan.model import Call, Plan
    >>> one, two = (Plan((Call("a", "f", (("x", value),)),)) for value in (1, 2))
    >>> edit_distance(one, two).value
    1.0
    """
    start = time.monotonic()
    known = _known(pred, gold)
    if known == 0:
        return EditDistance(0.0, True, time.monotonic() - start)
    if max(len(pred.calls), len(gold.calls)) > MOST or timeout <= 0:
        return EditDistance(known, False, time.monotonic() - start)
    import networkx as nx

    best = known
    paths = nx.optimize_edit_paths(
        _graph(pred),
        _graph(gold),
        node_subst_cost=_changed_call,
        node_del_cost=_whole_call,
        node_ins_cost=_whole_call,
        edge_subst_cost=lambda one, other: _between(one["labels"], other["labels"]),
        edge_del_cost=lambda edge: float(len(edge["labels"])),
        edge_ins_cost=lambda edge: float(len(edge["labels"])),
        upper_bound=known,
        strictly_decreasing=True,
        timeout=timeout,
    )
    for _, _, cost in paths:
        best = min(best, float(cost))
    spent = time.monotonic() - start
    return EditDistance(best, spent < timeout, spent)


def _graph(plan: Plan) -> nx.DiGraph[int]:
    """A node a call with its literals, an edge a pair of calls with the labels of its references."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    for at, call in enumerate(plan.calls):
        literals: dict[Any, Any] = {}
        for name, value in call.arguments:
            if not dependent(value):
                literals[name, sum(key[0] == name for key in literals)] = value_key(value, [])
        graph.add_node(at, tool=(call.app, call.name), literals=literals)
    for edge in plan.edges:
        if edge.producer != edge.consumer and not edge.inferred:
            labels = graph.get_edge_data(edge.producer, edge.consumer, {"labels": ()})["labels"]
            label = (edge.argument, edge.at, edge.path)
            graph.add_edge(edge.producer, edge.consumer, labels=(*labels, label))
    return graph


def _whole_call(call: dict[str, Any]) -> float:
    return 1.0 + len(call["literals"])


def _changed_call(one: dict[str, Any], other: dict[str, Any]) -> float:
    ours, theirs = one["literals"], other["literals"]
    changed = sum(name not in ours or ours[name] != value for name, value in theirs.items())
    return float((one["tool"] != other["tool"]) + changed + sum(name not in theirs for name in ours))


def _between(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> float:
    """The cost between the references of two edges: those of one place to another output cost 1."""
    left, right = (
        dict(((a, at), path) for a, at, path in ours),
        dict(((a, at), path) for a, at, path in theirs),
    )
    places = {*left, *right}
    return float(sum(left.get(place) != right.get(place) for place in places))


def _known(pred: Plan, gold: Plan) -> float:
    """The cost of the pairing that the alignment found."""
    ours, theirs = _graph(pred), _graph(gold)
    image = dict(match(pred, gold).alignment.pairs)
    cost = sum(
        _changed_call(ours.nodes[at], theirs.nodes[image[at]]) if at in image else _whole_call(ours.nodes[at])
        for at in ours
    )
    cost += sum(_whole_call(theirs.nodes[at]) for at in theirs if at not in set(image.values()))
    met = set()
    for tail, head, data in ours.edges(data=True):
        pair = (image.get(tail, -1), image.get(head, -1))
        there = theirs.get_edge_data(*pair)
        cost += _between(data["labels"], there["labels"]) if there else len(data["labels"])
        met.add(pair)
    cost += sum(len(data["labels"]) for t, h, data in theirs.edges(data=True) if (t, h) not in met)
    return float(cost)
