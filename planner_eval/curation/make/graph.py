"""The graph of a catalog's tools: which output may go into which parameter, by name and type."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.catalogs.value_errors import is_compatible
from planner_eval.curation.coverage import MAX_LINKS, find_possible_links
from planner_eval.plan.graph import blocked_positions
from planner_eval.plan.model import WHOLE_RESULT_NAMES, Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

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
        self.consumers: tuple[tuple[int, ...], ...] = self._joined_to()

    def _joined_to(self) -> tuple[tuple[int, ...], ...]:
        consumers: list[list[int]] = [[] for _ in self.tools]
        for u, v in sorted(self._ways):
            consumers[u].append(v)
        return tuple(map(tuple, consumers))

    def _by_name(self) -> None:
        links = find_possible_links(self.tools)
        if links is None:
            raise InputError(
                f"{self.catalog.name}: more than {MAX_LINKS:,} outputs and parameters have one name"
            )
        positions = {tool.full_name: position for position, tool in enumerate(self.tools)}
        for link in links:
            if link.output not in WHOLE_RESULT_NAMES:
                u, v = positions[link.producer], positions[link.consumer]
                if not self.echoes(u, link.output):
                    self._add(u, v, ToolLink((link.output,), link.parameter, named=True))

    def _by_type(self, *, by_type_alone: bool) -> None:
        for u, tool in enumerate(self.tools):
            for output, kind in _joinable_outputs(tool, by_type_alone=by_type_alone):
                words = words_of(tool.name)
                for v, other in enumerate(self.tools):
                    for parameter in other.parameters:
                        same_name = (
                            not by_type_alone and u != v and words_of(parameter.name) in (words, words[-1:])
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
            raise InputError(f"{self.catalog.name}: more than {MAX_LINKS:,} ways from a tool to another")

    def echoes(self, tool: int, output: str) -> bool:
        """Whether a tool only gives back what it was given: then nothing has to be called for it."""
        return any(
            parameter.name == output and parameter.required for parameter in self.tools[tool].parameters
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
        circular = set(blocked_positions([list(consumers) for consumers in self.consumers]))
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

    @cached_property
    def most_in(self) -> int:
        """The most calls whose outputs one call can take."""
        return max((len(self.slots(v)) for v in range(len(self.tools))), default=0)

    def slots(self, tool: int) -> frozenset[str]:
        """The parameters of a tool that some output goes into."""
        return self._slots[tool]

    @cached_property
    def _slots(self) -> tuple[frozenset[str], ...]:
        slots: list[set[str]] = [set() for _ in self.tools]
        for (_, v), connections in self._ways.items():
            slots[v].update(connection.parameter for connection in connections)
        return tuple(map(frozenset, slots))


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
        or bool(output_kinds & parameter_kinds & _TYPES_JOINED_ALONE)
        or bool(output_kinds & _TYPES_JOINED_ALONE and parameter_kinds & _TYPES_JOINED_ALONE)
    )


def words_of(name: str) -> list[str]:
    """The words of a name or a sentence, however it is spelled.

    >>> words_of("getATMList"), words_of("bill_id")
    (['get', 'atm', 'list'], ['bill', 'id'])
    """
    return [word.lower() for word in _WORD.findall(name)]
