"""Tools for the calls of a skeleton: each reference becomes an output that a parameter may take."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, TypeAlias

from planner_eval.catalogs.catalog import Parameter
from planner_eval.making.graph import ToolGraph, Way
from planner_eval.making.skeletons import Needs, users_of
from planner_eval.plan.model import Path

Fillable: TypeAlias = Callable[[int, Parameter], bool]
"""Whether a tool's parameter can be given a value that no call makes."""

STEPS = 300
"""How many tools one search tries."""

MORE = 0.5
"""How often a parameter takes an output of a call that is needed anyway."""


class Link(NamedTuple):
    """A parameter that takes an output of an earlier call."""

    parameter: str
    producer: int
    output: Path


@dataclass(frozen=True, slots=True)
class Node:
    """A call without its values: the tool's place in the graph, and what it takes of other calls."""

    tool: int
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Pins:
    """What a plan must hold.

    Args:
        tools: The tools of some calls, by place.
        ways: How one call's output goes into another, by their places.
    """

    tools: Mapping[int, int] = field(default_factory=dict)
    ways: Mapping[tuple[int, int], Way] = field(default_factory=dict)


def assigned(
    needs: Needs,
    graph: ToolGraph,
    fillable: Fillable,
    random: Random,
    *,
    scope: str | None = None,
    pins: Pins | None = None,
    without: Container[int] = (),
) -> tuple[Node, ...] | None:
    """Tools for a skeleton's calls; None where a search of so many steps as :data:`STEPS` found none.

    Args:
        needs: The skeleton.
        graph: The tools.
        fillable: Which parameters can be given a value.
        random: Where chance comes from.
        scope: One of AppBench's scopes that the plan must be of.
        pins: What it must hold.
        without: Tools that no call may be of.
    """
    return _Search(needs, graph, fillable, random, scope, pins or Pins(), without).found()


class _Search:
    """Goes through the calls in order, tries tools at random, and takes back what leads nowhere."""

    def __init__(
        self,
        needs: Needs,
        graph: ToolGraph,
        fillable: Fillable,
        random: Random,
        scope: str | None,
        pins: Pins,
        without: Container[int],
    ) -> None:
        self.needs, self.graph, self.fillable, self.random = needs, graph, fillable, random
        self.scope, self.pins, self.without = scope, pins, without
        self.users = users_of(needs)
        self.below = [0] * len(needs)
        for index in reversed(range(len(needs))):  # consumers come after their producers
            self.below[index] = 1 + max((self.below[user] for user in self.users[index]), default=0)
        self.nodes: list[Node] = []
        self.steps = 0

    def found(self) -> tuple[Node, ...] | None:
        if self._place(0) and self._scoped():
            return tuple(self.nodes)
        return None

    def _place(self, index: int) -> bool:
        if index == len(self.needs):
            return True
        for tool in self._candidates(index):
            self.steps += 1
            if self.steps > STEPS:
                return False
            if tool in self.without:
                continue
            links = self._links(index, tool)
            if links is None or not self._filled(tool, links):
                continue
            self.nodes.append(Node(tool, links))
            if self._place(index + 1):
                return True
            self.nodes.pop()
        return False

    def _candidates(self, index: int) -> list[int]:
        if index in self.pins.tools:
            return [self.pins.tools[index]]
        graph = self.graph
        producers = [self.nodes[p].tool for p in self.needs[index]]
        if producers:
            consumers = set(graph.consumers[producers[0]]).intersection(
                *(graph.consumers[p] for p in producers[1:])
            )
            tools = sorted(consumers)
        else:
            tools = list(range(len(graph.tools)))
        most = max((len(self.needs[user]) for user in self.users[index]), default=0)
        tools = [
            tool
            for tool in tools
            if graph.heights[tool] >= self.below[index]
            and len(graph.slots(tool)) >= len(producers)
            and (most < 2 or any(len(graph.slots(v)) >= most for v in graph.consumers[tool]))
            and self._in_scope(tool)
        ]
        self.random.shuffle(tools)
        return tools

    def _in_scope(self, tool: int) -> bool:
        app = self.graph.tools[tool].app
        if self.scope in ("ss", "sm"):
            return all(self.graph.tools[node.tool].app == app for node in self.nodes)
        if self.scope == "ms":
            return all(self.graph.tools[node.tool].app != app for node in self.nodes)
        return True

    def _scoped(self) -> bool:
        if self.scope != "mm":
            return True
        apps = [self.graph.tools[node.tool].app for node in self.nodes]
        return 1 < len(set(apps)) < len(apps)

    def _links(self, index: int, tool: int) -> tuple[Link, ...] | None:
        """A parameter for each call whose output is needed; no two take one."""
        graph, needed = self.graph, list(self.needs[index])
        connections = {p: list(graph.between(self.nodes[p].tool, tool)) for p in needed}
        for p in needed:
            pinned = self.pins.ways.get((p, index))
            if pinned is not None:
                connections[p] = [pinned] if pinned in connections[p] else []
            self.random.shuffle(connections[p])
        needed.sort(key=lambda p: len(connections[p]))
        chosen: dict[str, Link] = {}

        def settle(remaining: Sequence[int]) -> bool:
            if not remaining:
                return True
            for connection in connections[remaining[0]]:
                if connection.parameter not in chosen:
                    chosen[connection.parameter] = Link(connection.parameter, remaining[0], connection.output)
                    if settle(remaining[1:]):
                        return True
                    del chosen[connection.parameter]
            return False

        if not settle(needed):
            return None
        self._more(connections, chosen)
        order = {parameter.name: position for position, parameter in enumerate(graph.tools[tool].parameters)}
        return tuple(sorted(chosen.values(), key=lambda link: order.get(link.parameter, 0)))

    def _more(self, connections: Mapping[int, list[Way]], chosen: dict[str, Link]) -> None:
        """Further outputs of the same calls, by name alone: a number is not taken because it is there."""
        for producer, producer_connections in sorted(connections.items()):
            for connection in producer_connections:
                if connection.named and connection.parameter not in chosen and self.random.random() < MORE:
                    chosen[connection.parameter] = Link(connection.parameter, producer, connection.output)

    def _filled(self, tool: int, links: Sequence[Link]) -> bool:
        linked = {link.parameter for link in links}
        return all(
            parameter.name in linked or not parameter.required or self.fillable(tool, parameter)
            for parameter in self.graph.tools[tool].parameters
        )
