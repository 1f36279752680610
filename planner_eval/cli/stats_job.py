"""The structure of many plans as a job: a row a plan, and what they come to."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import planner_eval as pe
from planner_eval.plan.statistics import Sums

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import PlanReader
    from planner_eval.plan.model import Plan
    from planner_eval.plan.statistics import Stats
    from planner_eval.results.drawing.graphs import Shapes, ToolGraph
    from planner_eval.results.runs.job import Pair


GRAPHS = {"tool_graph": "tool", "app_graph": "app"}
"""Options that draw a graph, and of what."""

UNREADABLE, NO_PLAN = "unreadable", "no plan"
"""States of a record beside ``"read"``."""

_STATE_LINES = {state: json.dumps({"state": state}) for state in ("read", NO_PLAN)}
"""The rows where nobody looks at them."""


class SourceSums:
    """What the plans of one source come to.

    Args:
        drawn: What is drawn of them: ``"shapes"`` and others.
        data: What :meth:`data` gave.
    """

    def __init__(self, drawn: Sequence[str], data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        self.figures = Sums(stored.get("figures"))
        self.without: int = stored.get("without", 0)
        self.kinds: list[str] = list(stored.get("kinds", ()))
        self.shapes: Shapes | None = None
        self.graphs: dict[str, ToolGraph] = {}
        if drawn:
            from planner_eval.results.drawing.graphs import Shapes, ToolGraph

            if "shapes" in drawn:
                self.shapes = Shapes.of(stored["shapes"]) if data else Shapes()
            graphs = stored.get("graphs", {})
            for name, nodes in GRAPHS.items():
                if name in drawn:
                    self.graphs[name] = ToolGraph.of(graphs[name]) if data else ToolGraph(nodes)

    def add(self, plan: Plan, stats: Stats) -> None:
        """Add a plan and its figures."""
        self.figures.add(stats)
        self.saw("scoped" if stats.scope is not None else "plain")
        if self.shapes is not None:
            self.shapes.add(plan)
        for graph in self.graphs.values():
            graph.add(plan)

    def saw(self, kind: str) -> None:
        """Take note of the keys that a row has: those of a kind are alike."""
        if kind not in self.kinds:
            self.kinds.append(kind)

    def extend(self, other: SourceSums) -> None:
        """Add those of the plans that come next."""
        self.figures.extend(other.figures)
        self.without += other.without
        for kind in other.kinds:
            self.saw(kind)
        if self.shapes is not None and other.shapes is not None:
            self.shapes.extend(other.shapes)
        for name, graph in self.graphs.items():
            graph.extend(other.graphs[name])

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "figures": self.figures.data(),
            "without": self.without,
            "kinds": self.kinds,
            "shapes": self.shapes and self.shapes.data(),
            "graphs": {name: graph.data() for name, graph in self.graphs.items()},
        }


class StatsSums:
    """What the plans of all sources come to, each for itself.

    Args:
        drawn: What is drawn of them.
        sources: How many there are.
        data: What :meth:`data` gave.
    """

    def __init__(self, drawn: Sequence[str], sources: int, data: Any = None) -> None:
        self.each = [SourceSums(drawn, stored) for stored in data or [None] * sources]

    def extend(self, other: StatsSums) -> None:
        """Add those of the plans that come next."""
        for left, right in zip(self.each, other.each, strict=True):
            left.extend(right)

    def data(self) -> list[dict[str, Any]]:
        """The same as JSON data."""
        return [s.data() for s in self.each]

    def all(self) -> Sums:
        """Those of all sources together."""
        total = Sums()
        for source_sums in self.each:
            total.extend(source_sums.figures)
        return total


class StatsJob(NamedTuple):
    """How plans are read and counted.

    Args:
        readers: How the plans of each source are read.
        titles: What the sources are called.
        starts: The number of the first record of each.
        drawn: What is drawn of the plans.
        said: The options that say how the files are read.
        told: Rows say the figures; else only whether there are any.
    """

    readers: tuple[PlanReader, ...]
    titles: tuple[str, ...]
    starts: tuple[int, ...]
    drawn: tuple[str, ...]
    said: Mapping[str, Any]
    told: bool

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "stats"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {**self.said, "titles": list(self.titles), "drawn": list(self.drawn)}

    def columns(self) -> dict[str, Any]:
        """The types of a row's keys, see :func:`planner_eval.results.runs.row_files.write_rows`."""
        from planner_eval.plan.statistics import Stats
        from planner_eval.results.runs.job import JSON

        of = {"tuple[str, ...]": [str], "dict[int, int]": JSON, "dict[str, int]": JSON, "int": int}
        return {
            **dict.fromkeys(("state", "file", "id"), str),
            "number": int,
            **{f.name: of.get(str(f.type), str) for f in fields(Stats)},
            **dict.fromkeys(("error", "where"), str),
        }

    def fold(self, data: Any = None) -> StatsSums:
        """Sums over no plans, or those that were kept as data."""
        return StatsSums(self.drawn, len(self.titles), data)

    def rows(self, pairs: Iterable[Pair], fold: StatsSums) -> Iterator[str]:
        """A line a record: its figures, or why it has none.

        Args:
            pairs: Neighbouring records; those of a part know the number of their first, which tells whose
                they are.
            fold: The sums.
        """
        number = getattr(pairs, "first", 0)
        for record, _ in pairs:
            assert record is not None
            source = bisect_right(self.starts, number) - 1
            number += 1
            read, sums = self.readers[source].read(record), fold.each[source]
            named = {"file": self.titles[source]} if len(self.titles) > 1 else {}
            head = {**named, "id": record.id, "number": record.position + 1}
            if read.plan is not None:
                stats = pe.stats(read.plan)
                sums.add(read.plan, stats)
                yield _line("read", head, _data(stats)) if self.told else _STATE_LINES["read"]
            elif read.error is None:
                sums.without += 1
                yield _line(NO_PLAN, head, {}) if self.told else _STATE_LINES[NO_PLAN]
            else:
                sums.figures.unread += 1
                sums.saw(UNREADABLE)
                yield _line(UNREADABLE, head, {"error": read.error, "where": read.where})


def _data(stats: Stats) -> dict[str, Any]:
    return {name: getattr(stats, name) for name in stats.__dataclass_fields__}


def _line(state: str, head: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    return json.dumps({"state": state, **head, **more}, ensure_ascii=False)


def is_unread(line: str) -> bool:
    """Whether a row is that of a record that could not be read."""
    return line.startswith('{"state": "unreadable"')
