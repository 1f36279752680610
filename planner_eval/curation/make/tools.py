"""Tools for the calls of a skeleton, and tools that are offered beside them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, TypeAlias

from planner_eval.catalogs.catalog import Parameter, Tool
from planner_eval.curation.make.graph import ToolGraph, ToolLink, words_of
from planner_eval.curation.make.skeletons import Skeleton, consumers_of
from planner_eval.plan.model import Path, Plan

# ----------------------------------------------------------------------
# Tools for the calls of a skeleton: each reference becomes an output that a parameter may take.
Fillable: TypeAlias = Callable[[int, Parameter], bool]
"""Whether a tool's parameter can be given a value that no call makes."""

MAX_STEPS = 300
"""How many tools one search tries."""

EXTRA_INPUT_RATE = 0.5
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
    ways: Mapping[tuple[int, int], ToolLink] = field(default_factory=dict)


def assign_tools(
    needs: Skeleton,
    graph: ToolGraph,
    fillable: Fillable,
    random: Random,
    *,
    scope: str | None = None,
    pins: Pins | None = None,
    without: Container[int] = (),
) -> tuple[Node, ...] | None:
    """Tools for a skeleton's calls; None where a search of so many steps as :data:`MAX_STEPS` found none.

    Args:
        needs: The skeleton.
        graph: The tools.
        fillable: Which parameters can be given a value.
        random: Where chance comes from.
        scope: One of AppBench's scopes that the plan must be of.
        pins: What it must hold.
        without: Tools that no call may be of.
    """
    return _ToolSearch(needs, graph, fillable, random, scope, pins or Pins(), without).found()


class _ToolSearch:
    """Goes through the calls in order, tries tools at random, and takes back what leads nowhere."""

    def __init__(
        self,
        needs: Skeleton,
        graph: ToolGraph,
        fillable: Fillable,
        random: Random,
        scope: str | None,
        pins: Pins,
        without: Container[int],
    ) -> None:
        self.needs, self.graph, self.fillable, self.random = needs, graph, fillable, random
        self.scope, self.pins, self.without = scope, pins, without
        self.users = consumers_of(needs)
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
            if self.steps > MAX_STEPS:
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

    def _more(self, connections: Mapping[int, list[ToolLink]], chosen: dict[str, Link]) -> None:
        """Further outputs of the same calls, by name alone: a number is not taken because it is there."""
        for producer, producer_connections in sorted(connections.items()):
            for connection in producer_connections:
                if (
                    connection.named
                    and connection.parameter not in chosen
                    and self.random.random() < EXTRA_INPUT_RATE
                ):
                    chosen[connection.parameter] = Link(connection.parameter, producer, connection.output)

    def _filled(self, tool: int, links: Sequence[Link]) -> bool:
        linked = {link.parameter for link in links}
        return all(
            parameter.name in linked or not parameter.required or self.fillable(tool, parameter)
            for parameter in self.graph.tools[tool].parameters
        )


# ----------------------------------------------------------------------
# The tools that are offered beside those a plan needs: such as could be mistaken for them, or any.
OFFER_KINDS = ("close", "random")
"""Which tools are offered besides: those most like the needed ones, or any."""


class Offer(NamedTuple):
    """Which tools are offered beside those that a plan needs.

    Args:
        number: How many; all that there are where there are fewer.
        which: One of :data:`OFFER_KINDS`.
    """

    number: int = 0
    which: str = "close"


def choose_offered_tools(plan: Plan, graph: ToolGraph, offer: Offer, random: Random) -> tuple[Tool, ...]:
    """The tools of a plan and others, in an order that does not tell which are which.

    Args:
        plan: The plan.
        graph: All tools.
        offer: How many others, and which.
        random: Where chance comes from.
    """
    called = {(call.app, call.name) for call in plan.calls}
    needed = [tool for tool in graph.tools if (tool.app, tool.name) in called]
    tools = [*needed, *choose_distractors(needed, graph.tools, offer, random)]
    random.shuffle(tools)
    return tuple(tools)


def choose_distractors(
    needed: Sequence[Tool], tools: Sequence[Tool], offer: Offer, random: Random
) -> list[Tool]:
    """Tools to be offered beside some.

    >>> tools = [Tool(name) for name in ("find_bus", "find_train", "pay")]
    >>> [tool.name for tool in choose_distractors(tools[:1], tools, Offer(1), Random(0))]
    ['find_train']
    """
    candidates = [
        tool for tool in tools if all(tool.full_name != needed_tool.full_name for needed_tool in needed)
    ]
    random.shuffle(candidates)
    if offer.which == "close" and offer.number:
        candidates.sort(
            key=lambda tool: -max((_similarity(tool, needed_tool) for needed_tool in needed), default=0.0)
        )
    return candidates[: offer.number]


def _similarity(tool: Tool, other: Tool) -> float:
    """How like two tools are: by the words of names and descriptions, by parameters and by app."""
    return (
        2 * _word_overlap(words_of(tool.name), words_of(other.name))
        + _word_overlap(words_of(tool.description), words_of(other.description))
        + _word_overlap(_signature(tool), _signature(other))
        + 0.5 * (tool.app is not None and tool.app == other.app)
    )


def _signature(tool: Tool) -> list[str]:
    return [f"{parameter.name} {parameter.type}" for parameter in tool.parameters]


def _word_overlap(left_words: Sequence[str], right_words: Sequence[str]) -> float:
    """The part of all words that both have."""
    all_words = {*left_words, *right_words}
    return len({*left_words} & {*right_words}) / len(all_words) if all_words else 0.0
