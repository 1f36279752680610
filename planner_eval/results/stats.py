"""The structure of many plans: a row a plan as a run, what they come to, tables and distributions."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from planner_eval.base.counts import Counts
from planner_eval.base.formats import View, rows_view
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.tables import Rows, Style
from planner_eval.base.text import JsonObject, to_json
from planner_eval.plan.statistics import FIGURES, Stats, Sums, explain_words, plain_figure, plain_scope
from planner_eval.plan.statistics import stats as stats_of
from planner_eval.results.runs.model import JSON, Pair, Reiterable

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan
    from planner_eval.plan.statistics import Summary
    from planner_eval.reading.files.record import Record
    from planner_eval.results.drawing.charts import Bars
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
    figures: Sums

    def __init__(self, drawn: Sequence[str], data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.drawn: dict[str, Any] = {name: _count_for(name, (data or {}).get(name)) for name in drawn}

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
        for name, counts in self.drawn.items():
            counts.extend(other.drawn[name])

    def data(self) -> JsonObject:
        """The same as JSON data."""
        drawn = {name: counts.data() for name, counts in self.drawn.items()}
        return {**super().data(), **drawn}


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


_LONG_FIGURES = ("critical_path", "fan_in", "fan_out", "argument_kinds", "patterns", "shape")
_COUNT_KINDS = ("argument_kinds", "patterns", "shapes", "scopes")
_MAX_COUNTED = 12


def plans_view(lines: Iterable[str], kinds: Sequence[str], *, many_sources: bool, inferred: bool) -> View:
    """A row a plan; a single plan as a list of its figures.

    Args:
        lines: The rows of a :class:`StatsJob`, which can be gone through again.
        kinds: The kinds of rows that there are, first come first.
        many_sources: Whether there are several sources, which rows name.
        inferred: Whether edges were inferred, and it is said how many.
    """

    def rows(*, full: bool = False) -> Reiterable:
        keys = dict.fromkeys(
            key for kind in kinds for key in _row_keys(kind, many_sources, inferred, full=full)
        )
        return Reiterable(
            lambda: ({key: row.get(key) for key in keys} for row in _rows(lines, inferred, full=full))
        )

    view, data = rows_view(rows()), rows_view(rows(full=True)).data
    alone = list(islice(_rows(lines, inferred, full=True), 2))
    if len(alone) == 1 and alone[0]["error"] is None:
        figures = {key: value for key, value in alone[0].items() if key not in ("file", "record", "error")}
        if "scope" in figures:
            figures["scope"] = plain_scope(figures["scope"])
        listed = [
            {"figure": plain_figure(k.replace("_", " ")), "value": _value_text(v)} for k, v in figures.items()
        ]
        view = view._replace(document=rows_view(listed, 100).document)
    return view._replace(data=data)


def _rows(lines: Iterable[str], inferred: bool, *, full: bool) -> Iterator[dict[str, Any]]:
    """The rows of a table of plans; in full with figures that are lists or counts."""
    for line in lines:
        data = json.loads(line)
        if data["state"] == NO_PLAN:
            continue
        kind = UNREADABLE if "error" in data else "plain" if data.get("scope") is None else "scoped"
        data["record"] = data["number"] if data.get("id") is None else data["id"]
        data["error"] = data["error"].split("\n")[0] if "error" in data else None
        yield {key: data[key] for key in _row_keys(kind, "file" in data, inferred, full=full)}


@cache
def _row_keys(kind: str, many_sources: bool, inferred: bool, *, full: bool) -> tuple[str, ...]:
    """The keys of a row of a kind."""
    names: list[str] = []
    if kind != UNREADABLE:
        left_out = {*["inferred"] * (not inferred), *["scope"] * (kind != "scoped")}
        long = () if full else _LONG_FIGURES
        names = [f.name for f in fields(Stats) if f.name not in left_out.union(long)]
        names += ["shape"] if long else []
    return (*["file"] * many_sources, "record", *names, "error")


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return " → ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{k} ×{n}" for k, n in value.items())
    return str(value)


def summary_blocks(
    titles: Sequence[str], summaries: Sequence[Summary], style: Style, *, readable: bool
) -> list[str]:
    """The figures of all sources side by side, then kinds of arguments, patterns and shapes."""
    blocks = [style.table(_figure_rows(titles, summaries, readable=readable))]
    for kind in _COUNT_KINDS:
        counts = [Counter(getattr(summary, kind)) for summary in summaries]
        totals = sum(counts, Counter[str]())
        ranked = sorted(totals, key=lambda key: (-totals[key], key))
        named = [(key or "no calls", [key]) for key in ranked[:_MAX_COUNTED]]
        if remaining := ranked[_MAX_COUNTED:]:
            named.append((f"… {len(remaining)} more", remaining))
        columns = [title if len(titles) > 1 else "count" for title in titles]
        rows = [
            {kind.replace("_", " ").removesuffix("s"): name}
            | {column: sum(map(c.__getitem__, keys)) for column, c in zip(columns, counts, strict=True)}
            for name, keys in named
        ]
        if readable and kind == "scopes":
            rows = [{**row, "scope": plain_scope(row["scope"])} for row in rows]
        if rows:
            blocks.append(style.table(rows))
    return blocks


def _figure_rows(titles: Sequence[str], summaries: Sequence[Summary], *, readable: bool) -> Rows:
    """One row a figure; a group of columns a source, or one column each where they are many."""
    short = readable and len(titles) > 2
    heads = [f"{title} " if len(titles) > 1 else "" for title in titles]
    columns = [
        [head.rstrip()] if short else [f"{head}{name}" for name in ("total", "mean", "median", "max")]
        for head in heads
    ]
    rows: Rows = []

    def add(figure: str, values: Iterable[Sequence[Any]]) -> None:
        cells = (cell for pair in zip(columns, values, strict=True) for cell in zip_longest(*pair))
        rows.append({"figure": figure, **dict(cells)})

    for what in ("plans", "unread"):
        counts = [getattr(summary, what) for summary in summaries]
        if what == "plans" or any(counts):
            add(what, [[count] for count in counts])
    for k, figure in enumerate(summaries[0].figures):
        name = figure.name.replace("_", " ")
        name = plain_figure(name) if readable else name
        spread = [summary.figures[k] for summary in summaries]
        if short:
            add(
                f"{name}: mean, max", [[None if f.mean is None else f"{f.mean:.4g}, {f.max}"] for f in spread]
            )
        else:
            add(name, [(f.total, f.mean, f.median, f.max) for f in spread])
    return rows


def glossary_table(sums: Sums, style: Style, *, summary: bool, inferred: bool) -> str:
    """What the words above mean, a sentence each.

    Args:
        sums: What the plans of all sources come to.
        style: How it is written.
        summary: Whether plans are summed up; else each has a row.
        inferred: Whether edges were inferred.
    """
    totals, rows = sums.summary(), sums.plans + sums.unread
    names = [name.replace("_", " ") for name in FIGURES]
    if summary:
        names = ["total", "plans", *["unread"] * bool(sums.unread), *names]
    elif rows == 1:
        names += ["critical path", "fan in", "fan out"]
    names += ["scope"] * (not summary and bool(totals.scopes))
    names += ["inferred"] * inferred
    listed = summary or rows == 1
    kinds, patterns = (totals.argument_kinds, totals.patterns) if listed else ({}, {})
    words = explain_words(names, kinds, patterns, shapes=totals.shapes, scopes=totals.scopes)
    return style.table([{"word": word, "meaning": meaning} for word, meaning in words.items()], width=200)


_PANELS = (
    *((name, "", "plans", name) for name in ("calls", "depth", "width", "components")),
    ("fan-in", "calls whose output a call uses", "calls", "fan_in"),
    ("reuse", "calls that use a call's output", "calls", "fan_out"),
    ("data dependencies", "", "plans", "edges"),
    ("nesting patterns", "", "patterns", "patterns"),
    ("kinds of arguments", "", "arguments", "argument_kinds"),
)
"""The distributions of a plot: what is counted, what the numbers are, the whole of the shares, the figure."""


def panels(summaries: Mapping[str, Summary]) -> tuple[Bars, ...]:
    """What a plot shows of each source: distributions over plans, calls, patterns and arguments.

    Args:
        summaries: Source → its figures.
    """
    from planner_eval.results.drawing.charts import distribution

    def counts(summary: Summary, name: str) -> Any:
        return summary.figure(name).distribution if name in FIGURES else getattr(summary, name)

    distributions = (
        distribution(title, across, of, {key: counts(summary, name) for key, summary in summaries.items()})
        for title, across, of, name in _PANELS
    )
    return tuple(bars for bars in distributions if bars.ticks)
