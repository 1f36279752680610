"""The structure of many plans as a run: a row a plan, and what they come to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from planner_eval.base.counts import Counts
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.statistics import Stats, Sums
from planner_eval.plan.statistics import stats as stats_of
from planner_eval.results.runs.pairs import JSON, Pair

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan
    from planner_eval.reading.files.record import Record
    from planner_eval.results.drawing.graphs import Shapes, ToolGraph


UNREADABLE, NO_PLAN = "unreadable", "no plan"
"""States of a record beside ``"read"``."""


def _count_for(picture: str, data: Mapping[str, Any] | None) -> Shapes | ToolGraph:
    """What a picture is drawn of: nothing yet, or what was kept as data."""
    from planner_eval.results.drawing.graphs import Shapes, ToolGraph

    if picture == "shapes":
        return Shapes.of(data) if data else Shapes()
    return ToolGraph.of(data) if data else ToolGraph(picture.removesuffix("_graph"))


class SourceSums(Counts):
    """What the plans of one source come to.

    Args:
        drawn: What is drawn of them: ``"shapes"`` and others.
        data: What :meth:`data` gave.
    """

    without: int
    kinds: list[str]

    def __init__(self, drawn: Sequence[str], data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        stored: Mapping[str, Any] = data or {}
        self.figures = Sums(stored.get("figures"))
        self.drawn: dict[str, Any] = {name: _count_for(name, stored.get(name)) for name in drawn}

    def add(self, plan: Plan, stats: Stats) -> None:
        """Add a plan and its figures."""
        self.figures.add(stats)
        self.saw("scoped" if stats.scope is not None else "plain")
        for counts in self.drawn.values():
            counts.add(plan)

    def saw(self, kind: str) -> None:
        """Take note of the keys that a row has: those of a kind are alike."""
        if kind not in self.kinds:
            self.kinds.append(kind)

    def extend(self, other: SourceSums) -> None:
        """Add those of the plans that come next."""
        super().extend(other)
        self.figures.extend(other.figures)
        for name, counts in self.drawn.items():
            counts.extend(other.drawn[name])

    def data(self) -> JsonObject:
        """The same as JSON data."""
        drawn = {name: counts.data() for name, counts in self.drawn.items()}
        return {**super().data(), "figures": self.figures.data(), **drawn}


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


class PlanReader(Protocol):
    """Reads the plans of a source."""

    def read(self, record: Record) -> Any:
        """The ``plan`` of a record, or the ``error`` why there is none, and ``where`` that is."""


@fast_frozen
class StatsJob:
    """How plans are read and counted.

    Args:
        readers: How the plans of each source are read.
        titles: What the sources are called.
        starts: The number of the first record of each.
        drawn: What is drawn of the plans.
        said: The options that say how the files are read.
        told: Rows say the figures; else only whether there are any.
    """

    kind = "stats"

    readers: tuple[PlanReader, ...]
    titles: tuple[str, ...]
    starts: tuple[int, ...]
    drawn: tuple[str, ...]
    said: Mapping[str, Any]
    told: bool

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.said, "titles": list(self.titles), "drawn": list(self.drawn)}

    def columns(self) -> dict[str, Any]:
        """The types of a row's keys, see :func:`planner_eval.results.runs.stored.write_rows`."""
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
        for number, (record, _) in enumerate(pairs, getattr(pairs, "first", 0)):
            assert record is not None
            source = bisect_right(self.starts, number) - 1
            read, sums = self.readers[source].read(record), fold.each[source]
            row: dict[str, Any] = {"file": self.titles[source]} if len(self.titles) > 1 else {}
            row |= {"id": record.id, "number": record.position + 1}
            if read.plan is not None:
                stats = stats_of(read.plan)
                sums.add(read.plan, stats)
                state = "read"
                row |= {name: getattr(stats, name) for name in stats.__dataclass_fields__}
            elif read.error is None:
                sums.without += 1
                state = NO_PLAN
            else:
                sums.figures.unread += 1
                sums.saw(UNREADABLE)
                state = UNREADABLE
                row |= {"error": read.error, "where": read.where}
            yield to_json({"state": state, **(row if self.told or state == UNREADABLE else {})})


def is_unread(line: str) -> bool:
    """Whether a row is that of a record that could not be read."""
    return line.startswith('{"state": "unreadable"')
