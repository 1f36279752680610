"""Tools for the calls of a skeleton, and tools that are offered beside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import NamedTuple, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.text import words_of_name
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.catalogs.value_errors import is_compatible
from planner_eval.curation.coverage import MAX_LINKS, find_possible_links
from planner_eval.curation.make.skeletons import Skeleton
from planner_eval.plan.graph import blocked_positions, levels
from planner_eval.plan.model import WHOLE_RESULT_NAMES, Path, Plan
from planner_eval.plan.structure import consumers_of

# ----------------------------------------------------------------------
# The graph of a catalog's tools: which output may go into which parameter, by name and type.
_TYPES_JOINED_ALONE = frozenset({"integer", "number", "array"})
"""Kinds by which alone an output without a telling name is joined: a text may be anything."""


class ToolLink(NamedTuple):
    """How one tool's output goes into another tool.

    Args:
        output: The way into the producer's result.
        parameter: The parameter that takes it.
        named: Whether the names say so too, and not the types alone.
    """

    output: Path
    parameter: str
    named: bool


class ToolGraph:
    """Tools, and the ways from one's outputs into another's parameters.

    Args:
        catalog: The tools; of several variants of one name the first.
        join: One of :data:`.wishes.JOINS`. ``"name"``: an output goes into a parameter of its name, however
            that is spelled, whose type may hold it. ``"type"``: the types alone decide. ``"auto"``: by name;
            an output that has none, as NESTful's ``result``, by the tool's own name, and numbers and lists
            by type.

    Raises:
        InputError: there are more ways than can be kept.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> pay = {"name": "pay", "parameters": {"bill_id": "int"}, "returnParameter": []}
    >>> find = {"name": "find", "parameters": {}, "returnParameter": {"billID": "int"}}
    >>> graph = ToolGraph(as_catalog([pay, find], "callnavi"))
    >>> graph.between(1, 0), graph.longest
    ((ToolLink(output=('billID',), parameter='bill_id', named=True),), 2)
    """

    def __init__(self, catalog: Catalog, join: str = "auto") -> None:
        self.catalog = catalog
        self.tools: tuple[Tool, ...] = tuple(
            {tool.full_name: tool for tool in reversed(catalog.tools)}.values()
        )[::-1]
        self._ways: dict[tuple[int, int], list[ToolLink]] = {}
        self._count = 0
        if join != "type":
            self._by_name()
        if join != "name":
            self._by_type(by_type_alone=join == "type")
        self.consumers: list[list[int]] = [[] for _ in self.tools]
        for u, v in sorted(self._ways):
            self.consumers[u].append(v)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each tool by its full name."""
        return {tool.full_name: position for position, tool in enumerate(self.tools)}

    @cached_property
    def topics(self) -> tuple[frozenset[str], ...]:
        """What each tool is about: the words of its name and its description that few others have."""
        words_by_tool = [
            {word for word in words_of_name(f"{tool.name} {tool.description}") if len(word) > 2}
            for tool in self.tools
        ]
        counts = Counter(word for words in words_by_tool for word in words)
        most = max(2, len(self.tools) * MAX_TOPIC_SHARE)
        return tuple(frozenset(word for word in words if counts[word] <= most) for words in words_by_tool)

    def _by_name(self) -> None:
        links = find_possible_links(self.tools)
        if links is None:
            raise InputError(
                f"{self.catalog.name}: more than {MAX_LINKS:,} outputs and parameters share one name"
            )
        for link in links:
            if link.output not in WHOLE_RESULT_NAMES:
                u, v = self.positions[link.producer], self.positions[link.consumer]
                # a tool that only gives back what it was given need not be called for it
                if not any(p.name == link.output and p.required for p in self.tools[u].parameters):
                    self._add(u, v, ToolLink((link.output,), link.parameter, named=True))

    def _by_type(self, *, by_type_alone: bool) -> None:
        for u, tool in enumerate(self.tools):
            for output, kind in _joinable_outputs(tool, by_type_alone=by_type_alone):
                words = words_of_name(tool.name)
                for v, other in enumerate(self.tools):
                    for parameter in other.parameters:
                        same_name = (
                            not by_type_alone
                            and u != v
                            and words_of_name(parameter.name) in (words, words[-1:])
                        )
                        if _can_join(kind, parameter.type, named=same_name, by_type_alone=by_type_alone):
                            self._add(u, v, ToolLink(output, parameter.name, named=same_name))

    def _add(self, u: int, v: int, connection: ToolLink) -> None:
        connections = self._ways.setdefault((u, v), [])
        if connection in connections:
            return
        connections.append(connection)
        self._count += 1
        if self._count > MAX_LINKS:
            raise InputError(
                f"{self.catalog.name}: more than {MAX_LINKS:,} connections from one tool to another"
            )

    def between(self, producer: int, consumer: int) -> tuple[ToolLink, ...]:
        """The ways from one tool to another."""
        return tuple(self._ways.get((producer, consumer), ()))

    @property
    def joined(self) -> bool:
        """Whether any output goes anywhere."""
        return bool(self._ways)

    @cached_property
    def heights(self) -> tuple[float, ...]:
        """For each tool the calls of the longest chain that begins with it; infinite where it comes back."""
        circular = blocked_positions(self.consumers)
        heights: dict[int, float] = dict.fromkeys(circular, math.inf)

        def height(index: int) -> float:
            if index not in heights:
                heights[index] = 1 + max((height(v) for v in self.consumers[index]), default=0)
            return heights[index]

        return tuple(height(index) for index in range(len(self.tools)))

    @property
    def longest(self) -> float:
        """The calls of the longest chain."""
        return max(self.heights, default=0)

    def chain(self) -> list[str]:
        """The tools of one longest chain, where it is finite."""
        if not self.tools or self.longest == math.inf:
            return []
        index = self.heights.index(self.longest)
        names = [self.tools[index].full_name]
        while self.consumers[index]:
            index = max(self.consumers[index], key=lambda v: (self.heights[v], -v))
            names.append(self.tools[index].full_name)
        return names

    @property
    def most_in(self) -> int:
        """The most calls whose outputs one call can take."""
        return max(map(len, self.slots), default=0)

    @cached_property
    def slots(self) -> list[set[str]]:
        """Of each tool the parameters that some output goes into."""
        slots: list[set[str]] = [set() for _ in self.tools]
        for (_, v), connections in self._ways.items():
            slots[v].update(connection.parameter for connection in connections)
        return slots


def _joinable_outputs(tool: Tool, *, by_type_alone: bool) -> list[tuple[Path, Type]]:
    """The outputs that types alone join: those without a telling name, or all."""
    fields = tool.returns.fields
    if by_type_alone and fields:
        return [((field.name,), field.type) for field in fields]
    only = tool.only_output
    if only is None or (only and only not in WHOLE_RESULT_NAMES):
        return []
    return [((only,) if only else (), fields[0].type if fields else tool.returns)]


def _can_join(output_type: Type, parameter_type: Type, *, named: bool, by_type_alone: bool) -> bool:
    output_kinds, parameter_kinds = set(output_type.unfolded.kinds), set(parameter_type.unfolded.kinds)
    if (
        not output_kinds
        or not parameter_kinds
        or parameter_type.enum is not None
        or not is_compatible(output_type, parameter_type)
    ):
        return False
    if output_kinds == {"number"} and "integer" in parameter_kinds and "number" not in parameter_kinds:
        return False  # few of them are whole
    return (
        named
        or by_type_alone
        or bool(output_kinds & _TYPES_JOINED_ALONE and parameter_kinds & _TYPES_JOINED_ALONE)
    )


# ----------------------------------------------------------------------
# Tools for the calls of a skeleton: each reference becomes an output that a parameter may take.
Fillable: TypeAlias = Container[tuple[int, str]]
"""The parameters that can be given a value that no call makes, each behind its tool's place."""

MAX_TOPIC_SHARE = 0.2
"""A word that a larger share of the tools have says nothing of a topic."""

TOPIC_RATE = 0.9
"""How often a call that needs no other is of the topic of one that is there."""

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


@dataclass
class ToolSearch:
    """Goes through the calls in order, tries tools at random, and takes back what leads nowhere.

    Args:
        needs: The skeleton.
        graph: The tools.
        fillable: Which parameters can be given a value.
        random: Where chance comes from.
        scope: One of AppBench's scopes that the plan must be of.
        pins: The tools of some calls, by place.
        without: Tools that no call may be of.
    """

    needs: Skeleton
    graph: ToolGraph
    fillable: Fillable
    random: Random
    scope: str | None
    pins: Mapping[int, int]
    without: Container[int]
    nodes: list[Node] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        self.users = consumers_of(self.needs)
        self.below = levels(self.users)

    def assign(self) -> tuple[Node, ...] | None:
        """Tools for the skeleton's calls; None where so many steps as :data:`MAX_STEPS` found none."""
        if not self._assign(0):
            return None
        apps = [self.graph.tools[node.tool].app for node in self.nodes]
        is_scoped = self.scope != "mm" or 1 < len(set(apps)) < len(apps)
        return tuple(self.nodes) if is_scoped else None

    def _assign(self, index: int) -> bool:
        """Find tools for a call and those behind it; whether there are any."""
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
            if self._assign(index + 1):
                return True
            self.nodes.pop()
        return False

    def _candidates(self, index: int) -> list[int]:
        if index in self.pins:
            return [self.pins[index]]
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
            if graph.heights[tool] > self.below[index]
            and len(graph.slots[tool]) >= len(producers)
            and (most < 2 or any(len(graph.slots[v]) >= most for v in graph.consumers[tool]))
            and self._in_scope(tool)
        ]
        self.random.shuffle(tools)
        if producers or not self.nodes:
            return tools
        related = [tool for tool in tools if self._shares_topic(tool)]
        if len(related) in (0, len(tools)) or self.random.random() > TOPIC_RATE:
            return tools
        return [*related, *(tool for tool in tools if tool not in related)]

    def _shares_topic(self, tool: int) -> bool:
        """Whether a tool is of the topic of one that is called already, by its words, or says its outputs.

        What tools say of their outputs makes plans by itself that a person would ask for.
        """
        graph = self.graph
        others = [node.tool for node in self.nodes]
        if graph.tools[tool].returns.fields and all(graph.tools[other].returns.fields for other in others):
            return True
        return any(graph.topics[tool] & graph.topics[other] for other in others)

    def _in_scope(self, tool: int) -> bool:
        app = self.graph.tools[tool].app
        if self.scope in ("ss", "sm"):
            return all(self.graph.tools[node.tool].app == app for node in self.nodes)
        if self.scope == "ms":
            return all(self.graph.tools[node.tool].app != app for node in self.nodes)
        return True

    def _links(self, index: int, tool: int) -> tuple[Link, ...] | None:
        """A parameter for each call whose output is needed; no two take one."""
        graph, needed = self.graph, list(self.needs[index])
        connections = {p: list(graph.between(self.nodes[p].tool, tool)) for p in needed}
        for p in needed:
            self.random.shuffle(connections[p])
        chosen: dict[str, Link] = {}
        for p in sorted(needed, key=lambda p: len(connections[p])):
            free = next((link for link in connections[p] if link.parameter not in chosen), None)
            if free is None:
                return None
            chosen[free.parameter] = Link(free.parameter, p, free.output)
        # further outputs of the same calls, by name alone: a number is not taken because it is there
        for p in sorted(connections):
            for connection in connections[p]:
                is_new = connection.named and connection.parameter not in chosen
                if is_new and self.random.random() < EXTRA_INPUT_RATE:
                    chosen[connection.parameter] = Link(connection.parameter, p, connection.output)
        order = {parameter.name: position for position, parameter in enumerate(graph.tools[tool].parameters)}
        return tuple(sorted(chosen.values(), key=lambda link: order.get(link.parameter, 0)))

    def _filled(self, tool: int, links: Sequence[Link]) -> bool:
        linked = {link.parameter for link in links}
        return all(
            parameter.name in linked or not parameter.required or (tool, parameter.name) in self.fillable
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
    compared = (
        (2, words_of_name(tool.name), words_of_name(other.name)),
        (1, words_of_name(tool.description), words_of_name(other.description)),
        (1, _signature(tool), _signature(other)),
    )
    return 0.5 * (tool.app is not None and tool.app == other.app) + sum(
        weight * len({*left} & {*right}) / max(1, len({*left, *right})) for weight, left, right in compared
    )


def _signature(tool: Tool) -> list[str]:
    return [f"{parameter.name} {parameter.type}" for parameter in tool.parameters]
