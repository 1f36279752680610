"""Plans of a structure that given plans have: their calls and references, to be filled with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner_eval.base.text import shortened
from planner_eval.making.assigning import Link, Node
from planner_eval.making.graph import ToolGraph
from planner_eval.plan.model import Plan, Unresolved
from planner_eval.plan.structure import topological_order
from planner_eval.plan.walk import holds


class Unfollowed(NamedTuple):
    """Why a plan cannot be followed.

    Args:
        why: In a few words that are counted.
        what: What of the plan it is; "" where that says no more.
    """

    why: str
    what: str = ""


def nodes_of(plan: Plan, graph: ToolGraph, positions: Mapping[str, int]) -> tuple[Node, ...] | Unfollowed:
    r"""The calls of a plan without its values, or why they cannot be had.

    Args:
        plan: The plan, with edges that are written or inferred.
        graph: The tools.
        positions: Each tool's position in the graph by its full name.

    >>> from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
    >>> from planner_eval.dialects.read import parse
    >>> graph = ToolGraph(Catalog((Tool("f"), Tool("g", parameters=(Parameter("y"),)))))
    >>> nodes_of(parse("a = f()\ng(#y=a)"), graph, {"f": 0, "g": 1})
    (Node(tool=0, links=()), Node(tool=1, links=(Link(parameter='y', producer=0, output=('a',)),)))
    """
    backwards = any(edge.producer >= edge.consumer for edge in plan.edges)
    order = topological_order(plan) if backwards else list(range(len(plan)))
    new_positions = {old: new for new, old in enumerate(order)}
    nodes = []
    for old in order:
        call = plan.calls[old]
        tools = [tool for tool in graph.catalog.find(call.name, call.app) if tool.full_name in positions]
        if not tools:
            return Unfollowed("the catalog has no such tool", shortened(repr(call.tool), 60))
        for name, value in call.arguments:
            if holds(value, Unresolved):
                return Unfollowed("a reference leads to no call", f"{name!r} of {call.tool}")
        links = []
        for edge in plan.edges:
            if edge.consumer == old:
                if edge.at or new_positions[edge.producer] >= new_positions[old]:
                    return Unfollowed(
                        "only a part of a value comes from a call", f"{edge.argument!r} of {call.tool}"
                    )
                links.append(Link(edge.argument, new_positions[edge.producer], edge.path))
        nodes.append(Node(positions[tools[0].full_name], tuple(links)))
    return tuple(nodes) or Unfollowed("it makes no call")


def ends_of(nodes: Sequence[Node]) -> int:
    """How many calls give what no other takes.

    >>> ends_of((Node(0), Node(1, (Link("y", 0, ()),)), Node(0)))
    2
    """
    return len(nodes) - len({link.producer for node in nodes for link in node.links})
