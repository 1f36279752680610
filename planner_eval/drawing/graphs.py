"""Drawings of many plans at once: how tools feed one another, and the commonest shapes.

Both are scenes; :func:`planner_eval.drawing.render` draws them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from planner_eval.drawing.labels import name_text
from planner_eval.drawing.scene import MAX_BOXES, Arrow, Box, Scene
from planner_eval.plan.adjacency import producers
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import shape

NODES = ("tool", "app")
_SIDEWAYS = (("rankdir", "LR"), ("nodesep", "0.15"), ("ranksep", "0.6"))
"""Unconnected parts stand below one another, and labels have room."""

FEW = 60
_GRID = (("pack", "8"), ("packmode", "array_ut5"))
_PACKED = (("pack", "12"), ("packmode", "array_ut4"))
"""Five boxes, or four frames a row, in the order in which they are written."""


@dataclass(slots=True)
class ToolGraph:
    """The tools, or apps, of many plans: how often each is called, and which uses which one's output.

    Args:
        nodes: ``"tool"`` or ``"app"``; a call that names no app stands for its tool.
        plans: How many plans were added.
        calls: (app, name) → number of calls, in order of first appearance; for apps the name is "".
        references: (producer, consumer) → number of references.
    """

    nodes: str = "tool"
    plans: int = 0
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    references: Counter[tuple[tuple[str, str], tuple[str, str]]] = field(default_factory=Counter)

    def add(self, plan: Plan) -> None:
        r"""Count one plan.

        >>> from planner_eval.dialects.read import parse
        >>> graph = ToolGraph()
        >>> graph.add(parse("a = f(#x='1')\nb = g(#y=a, #z=a)"))
        >>> dict(graph.references)
        {(('', 'f'), ('', 'g')): 2}
        """
        keys = [self._key(call.app, call.name) for call in plan.calls]
        self.plans += 1
        self.calls.update(keys)
        self.references.update((keys[edge.producer], keys[edge.consumer]) for edge in plan.edges)

    def _key(self, app: str | None, name: str) -> tuple[str, str]:
        return (app, "") if self.nodes == "app" and app else (app or "", name)

    def scene(self, *, most: int = MAX_BOXES) -> Scene:
        """The graph as a scene: a box a tool with its calls, an arrow a pair with its references.

        Args:
            most: Draw so many boxes, and twice as many arrows, at the utmost: those that are used most.
                What is left out is counted in the notes. Where no call uses another's output, only
                the :data:`FEW` called most are drawn.
        """
        linked = {key for pair in self.references for key in pair}
        ranked = sorted(self.calls, key=lambda key: (key not in linked, -self.calls[key], key))
        kept = sorted(key for key in ranked[: most if linked else FEW] if key in linked or not linked)
        place = {key: position for position, key in enumerate(kept)}
        pairs = [(pair, n) for pair, n in self.references.items() if pair[0] in place and pair[1] in place]
        arrows = sorted(pairs, key=lambda item: (-item[1], item[0]))[: 2 * most]
        drawn = tuple(
            Arrow(place[tail], place[head], "plain", f"×{n:,}", n)
            for (tail, head), n in sorted(arrows, key=lambda item: (place[item[0][0]], place[item[0][1]]))
        )
        boxes = tuple(self._box(key) for key in kept)
        notes = self._notes(kept, arrows, linked)
        return Scene(boxes, drawn, self._summary(), notes=notes, layout=_SIDEWAYS if linked else _GRID)

    def _box(self, key: tuple[str, str]) -> Box:
        title = name_text(".".join(part for part in key if part))
        # No frame an app: frames pull tools of one app together that feed other apps, and arrows cross.
        return Box(title, "plain", title, count=self.calls[key])

    def _summary(self) -> str:
        references = sum(self.references.values())
        return (
            f"{self.plans:,} plans: {self.calls.total():,} calls of {len(self.calls):,} {self.nodes}s, "
            f"{references:,} references between {len(self.references):,} pairs"
        )

    def _notes(
        self,
        kept: Sequence[tuple[str, str]],
        arrows: Sequence[object],
        linked: set[tuple[str, str]],
    ) -> tuple[str, ...]:
        notes = []
        lone = len(self.calls) - len(linked) if linked else 0
        if lone:
            notes.append(f"left out: {lone:,} {self.nodes}s that use no other's output and serve none")
        rare = len(self.calls) - lone - len(kept)
        if rare:
            notes.append(f"left out: {rare:,} {self.nodes}s that are called least")
        if len(arrows) < len(self.references):
            few = len(self.references) - len(arrows)
            notes.append(f"left out: the {few:,} rarest pairs, and those of {self.nodes}s left out")
        return tuple(notes)


def tool_graph(plans: Iterable[Plan], *, nodes: str = "tool", most: int = MAX_BOXES) -> Scene:
    r"""How the tools, or the apps, of many plans feed one another.

    Args:
        plans: The plans, e.g. all gold plans of a data set.
        nodes: ``"tool"`` or ``"app"``.
        most: As for :meth:`ToolGraph.scene`.

    >>> from planner_eval.dialects.read import parse
    >>> scene = tool_graph([parse("a = f(#x='1')\nb = g(#y=a)\nc = g(#y=a)")])
    >>> [(box.title, box.count) for box in scene.boxes], [arrow.label for arrow in scene.arrows]
    ([('f', 1), ('g', 2)], ['×2'])
    """
    graph = ToolGraph(nodes)
    for plan in plans:
        graph.add(plan)
    return graph.scene(most=most)


@dataclass(slots=True)
class Shapes:
    """The shapes of many plans, each with the first plan that has it.

    Args:
        counts: Shape → number of plans.
        examples: Shape → its first plan's producers, a list a call.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[list[int]]] = field(default_factory=dict)

    def add(self, plan: Plan) -> None:
        """Count one plan."""
        key = shape(plan)
        self.counts[key] += 1
        if key not in self.examples:
            self.examples[key] = producers(plan)

    def scene(self, *, most: int = 12) -> Scene:
        r"""The commonest shapes side by side, each in a frame with its count and share.

        Args:
            most: How many shapes; fewer where they have more calls than one drawing holds.

        >>> from planner_eval.dialects.read import parse
        >>> shapes = Shapes()
        >>> shapes.add(parse("a = f(#x='1')\nb = g(#y=a)"))
        >>> [(box.title, box.app) for box in shapes.scene().boxes]
        [('A', '1. ×1 (100.0 %)'), ('B', '1. ×1 (100.0 %)')]
        """
        total = self.counts.total()
        ranked = sorted(self.counts, key=lambda key: (-self.counts[key], len(key), key))
        boxes: list[Box] = []
        arrows: list[Arrow] = []
        drawn = 0
        for number, key in enumerate(ranked[:most], 1):
            needed, start = self.examples[key], len(boxes)
            if start + len(needed) > MAX_BOXES:
                break
            frame = f"{number}. ×{self.counts[key]:,} ({100 * self.counts[key] / total:.1f} %)"
            letters = [_letter(k) for k in range(len(needed))]
            boxes += [Box(letter, "plain", letter, frame) for letter in letters]
            arrows += [Arrow(start + p, start + i, "plain") for i, found in enumerate(needed) for p in found]
            drawn += self.counts[key]
        shown = len({box.app for box in boxes})
        summary = f"the {shown} commonest of {len(self.counts):,} shapes: {drawn:,} of {total:,} plans"
        return Scene(tuple(boxes), tuple(arrows), summary, layout=_PACKED)


def _letter(k: int) -> str:
    """A, B, … Z, A1, B1, …: a call whose name plays no part.

    >>> _letter(1), _letter(27)
    ('B', 'B1')
    """
    return chr(ord("A") + k % 26) + (str(k // 26) if k >= 26 else "")
