"""What coverage says that no plan touches, as wishes that made plans should fill one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from planner_eval.making.assigning import Node, Pins
from planner_eval.making.graph import ToolGraph
from planner_eval.making.skeletons import Needs, figures

KINDS = ("tools", "parameters", "pairs", "edges", "shapes", "depths")
"""What of a file of wishes made plans can fill."""


class Wish(NamedTuple):
    """One thing that no plan touches.

    Args:
        kind: One of :data:`KINDS`.
        tools: The tools that it names, by their places in the graph.
        output: Of an edge the output, as a way into the result.
        parameter: Of an edge or a parameter.
        shape: Of a shape its text.
        depth: Of a depth.
    """

    kind: str
    tools: tuple[int, ...] = ()
    output: str = ""
    parameter: str = ""
    shape: str = ""
    depth: int = 0

    def pins(self, needs: Needs, graph: ToolGraph, random: Random) -> Pins | None:
        """What a plan of a skeleton must hold to fill it; None where no such plan can."""
        if not self.tools:
            return Pins() if not self.depth or figures(needs)["depth"] == self.depth else None
        if len(self.tools) == 1:
            return Pins({random.randrange(len(needs)): self.tools[0]})
        pairs = [(p, consumer) for consumer, producers in enumerate(needs) for p in producers]
        if not pairs:
            return None
        pair = random.choice(pairs)
        tools = dict(zip(pair, self.tools, strict=True))
        connections = [
            connection
            for connection in graph.between(*self.tools)
            if not self.parameter or self._is(connection)
        ]
        if not connections:
            return None
        return Pins(tools, {pair: random.choice(connections)} if self.parameter else {})

    def _is(self, connection: Any) -> bool:
        return connection.parameter == self.parameter and ".".join(map(str, connection.output)) == self.output

    def filled(
        self, nodes: Sequence[Node], arguments: Iterable[tuple[int, str]], shape: str, depth: int
    ) -> bool:
        """Whether a plan has it.

        Args:
            nodes: The plan's calls.
            arguments: Each call's tool and each argument that it gives.
            shape: The plan's shape.
            depth: Its depth.
        """
        if self.kind in ("pairs", "edges"):
            return any(
                (nodes[link.producer].tool, node.tool) == self.tools
                and (
                    self.kind == "pairs"
                    or (link.parameter == self.parameter and ".".join(map(str, link.output)) == self.output)
                )
                for node in nodes
                for link in node.links
            )
        if self.kind == "parameters":
            return (self.tools[0], self.parameter) in set(arguments)
        if self.kind == "tools":
            return any(node.tool == self.tools[0] for node in nodes)
        return shape == self.shape if self.kind == "shapes" else depth == self.depth


class Asked(NamedTuple):
    """The wishes of a file, and how many of it name tools that there are not."""

    wishes: list[Wish]
    strangers: int


def wishes_in(data: Mapping[str, Any], graph: ToolGraph) -> Asked:
    """The wishes of a file that ``planeval data coverage --to-make`` wrote.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> graph = ToolGraph(as_catalog([{"name": "f", "parameters": {}}], "callnavi"))
    >>> [wish.kind for wish in wishes_in({"tools": ["f", "g"], "depths": [2]}, graph).wishes]
    ['tools', 'depths']
    """
    positions = {tool.full_name: position for position, tool in enumerate(graph.tools)}
    wishes: list[Wish] = []
    strangers = 0
    for kind in ("edges", "pairs", "parameters", "tools"):
        for entry in data.get(kind, ()):
            fields = entry if isinstance(entry, Mapping) else {"tool": entry}
            names = [str(fields[key]) for key in ("producer", "consumer", "tool") if key in fields]
            if any(name not in positions for name in names):
                strangers += 1
                continue
            tools = tuple(positions[name] for name in names)
            wishes.append(Wish(kind, tools, str(fields.get("output", "")), str(fields.get("parameter", ""))))
    wishes += [Wish("shapes", shape=str(text)) for text in data.get("shapes", ())]
    wishes += [Wish("depths", depth=int(depth)) for depth in data.get("depths", ())]
    return Asked(wishes, strangers)


def reachable(wish: Wish, graph: ToolGraph) -> bool:
    """Whether the tools are joined as a wish has it."""
    return len(wish.tools) < 2 or any(
        wish.kind == "pairs" or wish._is(connection) for connection in graph.between(*wish.tools)
    )
