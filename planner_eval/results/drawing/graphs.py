"""Drawings of many plans at once: how tools feed one another, and the most common shapes.

Both are scenes; :func:`planner_eval.render` draws them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.text import JsonObject, format_count, shorten
from planner_eval.plan.graph import producers
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import shape
from planner_eval.results.drawing.scene import MAX_BOXES, Arrow, Box, Scene, name_text, visible_text

_LEFT_TO_RIGHT = (("rankdir", "LR"), ("nodesep", "0.15"), ("ranksep", "0.6"))
"""Unconnected parts stand below one another, and labels have room."""

Key: TypeAlias = tuple[str, str]
MAX_NODES = 60
_SHAPES = 12
"""Shapes that are drawn of one source."""
_BOX_GRID = (("pack", "8"), ("packmode", "array_ut5"))
_FRAME_GRID = (("pack", "12"), ("packmode", "array_ut4"))
"""Five boxes, or four frames a row, in the order in which they are written."""


@dataclass(slots=True)
class ToolGraph:
    """The tools, or apps, of many plans: how often each is called, and which uses which one's output.

    Args:
        nodes: ``"tool"`` or ``"app"``.
        plans: How many plans were added.
        unnamed: Of apps, how many calls name none; these are in no other count.
        calls: (app, name) → number of calls, in order of first appearance; for apps the name is "".
        references: (producer, consumer) → number of references.
    """

    nodes: str = "tool"
    plans: int = 0
    unnamed: int = 0
    calls: Counter[Key] = field(default_factory=Counter)
    references: Counter[tuple[Key, Key]] = field(default_factory=Counter)

    def add(self, plan: Plan) -> None:
        r"""Count one plan.

        >>> from planner_eval.reading.dialects.read import parse
        >>> graph = ToolGraph()
        >>> graph.add(parse("a = f(#x='1')\nb = g(#y=a, #z=a)"))
        >>> dict(graph.references)
        {(('', 'f'), ('', 'g')): 2}
        """
        keys = [self._key(call.app or "", call.name) for call in plan.calls]
        self.plans += 1
        self.calls.update(key for key in keys if key is not None)
        self.unnamed += keys.count(None)
        for edge in plan.edges:
            producer, consumer = keys[edge.producer], keys[edge.consumer]
            if producer is not None and consumer is not None and edge.producer != edge.consumer:
                self.references[producer, consumer] += 1

    def _key(self, app: str, name: str) -> Key | None:
        if self.nodes == "tool":
            return (app, name)
        return (app, "") if app else None

    def extend(self, other: ToolGraph) -> None:
        """Add what another counted of the plans that come next."""
        self.plans += other.plans
        self.unnamed += other.unnamed
        self.calls.update(other.calls)
        self.references.update(other.references)

    def data(self) -> JsonObject:
        """The same as JSON data."""
        return {
            "nodes": self.nodes,
            "plans": self.plans,
            "unnamed": self.unnamed,
            "calls": [[*key, count] for key, count in self.calls.items()],
            "references": [[*tail, *head, count] for (tail, head), count in self.references.items()],
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ToolGraph:
        """What :meth:`data` gave."""
        calls = Counter({(app, name): count for app, name, count in data["calls"]})
        references = Counter({((a, b), (c, d)): count for a, b, c, d, count in data["references"]})
        return cls(data["nodes"], data["plans"], data["unnamed"], calls, references)

    def scene(self, *, most: int | None = MAX_NODES) -> Scene:
        """The graph as a scene: a box a tool with its calls, an arrow a pair with its references.

        Args:
            most: Draw so many boxes, and twice as many arrows, at the utmost: the most connected, or
                called most where no call uses another's output. A note says what is left out; None
                draws everything.

        Raises:
            InputError: there is nothing to draw.
        """
        if not self.calls:
            why = "no plan names an app" if self.nodes == "app" else "no plan has a call"
            raise InputError(f"{why}: there is no graph of {self.nodes}s to draw")
        selected, arrows = (
            self._heaviest(most) if most is not None else (set(self.calls), dict(self.references))
        )
        positions = {key: position for position, key in enumerate(sorted(selected))}
        drawn = tuple(
            Arrow(positions[tail], positions[head], "plain", f"×{n:,}", n)
            for (tail, head), n in sorted(arrows.items(), key=lambda item: item[0])
        )
        boxes = tuple(self._box(key) for key in positions)
        notes = self._notes(selected, arrows)
        return Scene(
            boxes, drawn, self._summary(), notes=notes, layout=_LEFT_TO_RIGHT if arrows else _BOX_GRID
        )

    def whole(self, scene: Scene) -> bool:
        """Whether a scene of it leaves nothing out."""
        return (len(scene.boxes), len(scene.arrows)) == (len(self.calls), len(self.references))

    def _heaviest(self, most: int) -> tuple[set[Key], dict[tuple[Key, Key], int]]:
        """The tools that are connected most, and the pairs of them with the most references."""
        weight: Counter[Key] = Counter()
        for (tail, head), n in self.references.items():
            weight.update({key: n for key in (tail, head)})
        linked = [key for key in self.calls if key in weight]
        ranked = sorted(linked or self.calls, key=lambda key: (-weight[key], -self.calls[key], key))
        selected = set(ranked[:most])
        pairs = [item for item in self.references.items() if selected.issuperset(item[0])]
        arrows = dict(sorted(pairs, key=lambda item: (-item[1], item[0]))[: 2 * most])
        return {key for pair in arrows for key in pair} or selected, arrows

    def _box(self, key: Key) -> Box:
        title = name_text(".".join(word for word in key if word))
        # No frame an app: frames pull tools of one app together that feed other apps, and arrows cross.
        return Box(title, "plain", title, count=self.calls[key])

    def _summary(self) -> str:
        references = sum(self.references.values())
        return (
            f"{format_count(self.plans, 'plan')}: {format_count(self.calls.total(), 'call')} of "
            f"{format_count(len(self.calls), self.nodes)}, {format_count(references, 'reference')} between "
            f"{format_count(len(self.references), 'pair')}"
        )

    def _notes(self, selected: Collection[Key], arrows: Collection[object]) -> tuple[str, ...]:
        notes = [f"calls that name no app, left out: {self.unnamed:,}"] if self.unnamed else []
        if len(selected) < len(self.calls) or len(arrows) < len(self.references):
            linked = {key for pair in self.references for key in pair}
            why = "the most connected" if len(selected) < len(linked) else "the connected ones"
            pairs = len(self.references) - len(arrows)
            which = f"{len(selected):,} of {len(self.calls):,} {self.nodes}s"
            note = f"{which}: {why if linked else 'the most called'}"
            notes.append(f"{note}; {format_count(pairs, 'pair')} left out" if pairs else note)
        return tuple(notes)


def tool_graph(plans: Iterable[Plan], *, nodes: str = "tool", most: int | None = MAX_NODES) -> Scene:
    r"""How the tools, or the apps, of many plans feed one another.

    Args:
        plans: The plans, e.g. all gold plans of a data set.
        nodes: ``"tool"`` or ``"app"``.
        most: As for :meth:`ToolGraph.scene`.

    Raises:
        InputError: there is nothing to draw.

    >>> from planner_eval.reading.dialects.read import parse
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

    def extend(self, other: Shapes) -> None:
        """Add what another counted of the plans that come next."""
        self.counts.update(other.counts)
        self.examples = {**other.examples, **self.examples}

    def data(self) -> JsonObject:
        """The same as JSON data."""
        return {"counts": self.counts, "examples": self.examples}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Shapes:
        """What :meth:`data` gave."""
        return cls(Counter(data["counts"]), dict(data["examples"]))

    def drawn(self, most: int, room: int) -> tuple[list[Box], list[Arrow], str]:
        """The commonest shapes, each in a frame, and in words how many of how many they are.

        Args:
            most: How many shapes.
            room: How many calls they may have together; the commonest is drawn in any case.
        """
        total = self.counts.total()
        named = [key for key in self.counts if self.examples[key]]  # no calls, no frame
        ranked = sorted(named, key=lambda key: (-self.counts[key], len(key), key))
        boxes: list[Box] = []
        arrows: list[Arrow] = []
        plans = shown_count = 0
        for number, key in enumerate(ranked[:most], 1):
            needed, start = self.examples[key], len(boxes)
            if start and start + len(needed) > room:
                break
            frame = f"{number}. ×{self.counts[key]:,} ({100 * self.counts[key] / total:.1f} %)"
            letters = [_letter_name(k) for k in range(len(needed))]
            boxes += [Box(letter, "plain", letter, frame) for letter in letters]
            arrows += [
                Arrow(start + p, start + i, "plain") for i, producers in enumerate(needed) for p in producers
            ]
            plans, shown_count = plans + self.counts[key], number
        empty = sum(n for key, n in self.counts.items() if not self.examples[key])
        caption = f"{shown_count} of {len(named):,} shapes, {plans:,} of {total:,} plans"
        return boxes, arrows, f"{caption}; {empty:,} without calls" if empty else caption


def shapes_scene(sources: Mapping[str, Shapes]) -> Scene:
    r"""The commonest shapes, each in a frame with its count and share; several sources in a panel each.

    Args:
        sources: Title → the shapes of its plans.

    Of one source twelve at most, of several half as many each, one below the other; fewer where they have
    more calls than one drawing holds.

    >>> from planner_eval.reading.dialects.read import parse
    >>> shapes = Shapes()
    >>> shapes.add(parse("a = f(#x='1')\nb = g(#y=a)"))
    >>> [(box.title, box.app) for box in shapes_scene({"mine": shapes}).boxes]
    [('A', '1. ×1 (100.0 %)'), ('B', '1. ×1 (100.0 %)')]
    >>> shapes_scene({"mine": shapes, "yours": shapes}).boxes[-1].panel
    'yours: 1 of 1 shapes, 1 of 1 plans'
    """
    if len(sources) == 1:
        boxes, arrows, caption = next(iter(sources.values())).drawn(_SHAPES, MAX_BOXES)
        return Scene(tuple(boxes), tuple(arrows), f"the most common shapes: {caption}", layout=_FRAME_GRID)
    all_boxes: list[Box] = []
    lines: list[Arrow] = []
    notes: list[str] = []
    for title, shapes in sources.items():
        boxes, arrows, caption = shapes.drawn(_SHAPES // 2, MAX_BOXES // len(sources))
        lines += [replace(a, tail=a.tail + len(all_boxes), head=a.head + len(all_boxes)) for a in arrows]
        panel = f"{shorten(visible_text(title), 40)}: {caption}"
        all_boxes += [replace(box, panel=panel) for box in boxes]
        notes += [] if boxes else [panel]
    summary = f"the most common shapes of {len(sources)} sources"
    return Scene(tuple(all_boxes), tuple(lines), summary, notes=tuple(notes), layout=_FRAME_GRID)


def _letter_name(k: int) -> str:
    """A, B, … Z, A1, B1, …: a call whose name plays no part.

    >>> _letter_name(1), _letter_name(27)
    ('B', 'B1')
    """
    return chr(ord("A") + k % 26) + (str(k // 26) if k >= 26 else "")
