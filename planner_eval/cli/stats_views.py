"""How planeval stats writes and draws its figures."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import planner_eval as pe
from planner_eval.base.counts import Counts
from planner_eval.base.errors import RenderError
from planner_eval.base.formats import formats_of, shows
from planner_eval.base.tables import Rows, table, table_pieces
from planner_eval.base.text import JsonObject, to_json
from planner_eval.cli.options import note
from planner_eval.cli.output import emit, picture_format
from planner_eval.cli.workers import Reiterable
from planner_eval.plan.statistics import FIGURES, Sums, plain_figure, plain_scope

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import PlanReader, Source
    from planner_eval.benchmarks.report import Cell
    from planner_eval.cli.drawing import DrawingOptions
    from planner_eval.plan.statistics import Stats, Summary
    from planner_eval.results.drawing.charts import Panel
    from planner_eval.results.drawing.graphs import Shapes, ToolGraph
    from planner_eval.results.drawing.scene import Scene
    from planner_eval.results.runs.pairs import Pair


# ----------------------------------------------------------------------
# The structure of many plans as a job: a row a plan, and what they come to.
PICTURES = ("plot", "shapes", "tool_graph", "app_graph")
"""Options that name a file to draw into."""

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

    def add(self, plan: pe.Plan, stats: Stats) -> None:
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

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.said, "titles": list(self.titles), "drawn": list(self.drawn)}

    def columns(self) -> dict[str, Any]:
        """The types of a row's keys, see :func:`planner_eval.results.runs.stored.write_rows`."""
        from planner_eval.plan.statistics import Stats
        from planner_eval.results.runs.pairs import JSON

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
                stats = pe.stats(read.plan)
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


# ----------------------------------------------------------------------
# How planeval stats writes its figures: plans, summaries side by side, the papers' tables.
_LONG_FIGURES = ("critical_path", "fan_in", "fan_out", "argument_kinds", "patterns", "shape")
_COUNT_KINDS = ("argument_kinds", "patterns", "shapes", "scopes")
_MAX_COUNTED = 12
LEGEND = "recomputed (as printed in the paper); ≠ where all records are available and the two differ"


def each_table(
    lines: Iterable[str], kinds: Sequence[str], form: str, *, many_sources: bool, inferred: bool
) -> Iterator[str]:
    """A row a plan; a single plan as a list of its figures.

    Args:
        lines: The rows of a :class:`~planner_eval.cli.stats_views.StatsJob`, which can be gone through again.
        kinds: The kinds of rows that there are, first come first.
        form: A format of :mod:`planner_eval.base.tables`.
        many_sources: Whether there are several sources, which rows name.
        inferred: Whether edges were inferred, and it is said how many.
    """
    alone = list(islice(_rows(lines, formats_of("data")[0], inferred), 2))
    if len(alone) == 1 and shows(form, "document") and alone[0]["error"] is None:
        figures = {key: value for key, value in alone[0].items() if key not in ("file", "record", "error")}
        if "scope" in figures:
            figures["scope"] = plain_scope(figures["scope"])
        listed = [
            {"figure": plain_figure(k.replace("_", " ")), "value": _value_text(v)} for k, v in figures.items()
        ]
        return table_pieces(listed, form, width=100)
    keys = dict.fromkeys(key for kind in kinds for key in _row_keys(kind, form, many_sources, inferred))
    rows = Reiterable(lambda: ({key: row.get(key) for key in keys} for row in _rows(lines, form, inferred)))
    return table_pieces(rows, form)


def _rows(lines: Iterable[str], form: str, inferred: bool) -> Iterator[dict[str, Any]]:
    """The rows of a table of plans."""
    for line in lines:
        data = json.loads(line)
        if data["state"] == NO_PLAN:
            continue
        kind = UNREADABLE if "error" in data else "plain" if data.get("scope") is None else "scoped"
        data["record"] = data["number"] if data.get("id") is None else data["id"]
        data["error"] = data["error"].split("\n")[0] if "error" in data else None
        yield {key: data[key] for key in _row_keys(kind, form, "file" in data, inferred)}


@cache
def _row_keys(kind: str, form: str, many_sources: bool, inferred: bool) -> tuple[str, ...]:
    """The keys of a row of a kind."""
    from planner_eval.plan.statistics import Stats

    names: list[str] = []
    if kind != UNREADABLE:
        left_out = {*["inferred"] * (not inferred), *["scope"] * (kind != "scoped")}
        long = () if shows(form, "data") else _LONG_FIGURES
        names = [f.name for f in fields(Stats) if f.name not in left_out.union(long)]
        names += ["shape"] if long else []
    return (*["file"] * many_sources, "record", *names, "error")


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return " → ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{k} ×{n}" for k, n in value.items())
    return str(value)


def summaries_json(
    sources: Sequence[Source], summaries: Sequence[Summary], cells: Sequence[Sequence[Cell]]
) -> str:
    """Everything as JSON: an object a source, in an array where there are several."""
    data = []
    for source, summary, source_cells in zip(sources, summaries, cells, strict=True):
        entry: dict[str, Any] = {"file" if source.dataset is None else "dataset": source.name}
        if source.dataset is not None:
            entry |= {"records": len(source), "published_records": source.dataset.records}
            entry["tables"] = [asdict(cell) | {"agrees": cell.agrees} for cell in source_cells]
        data.append(entry | asdict(summary))
    return to_json(data[0] if len(data) == 1 else data, 1)


def summary_blocks(sources: Sequence[Source], summaries: Sequence[Summary], form: str) -> list[str]:
    """The figures of all sources side by side, then kinds of arguments, patterns and shapes."""
    readable = shows(form, "document")
    blocks = [table(_figure_rows(sources, summaries, readable=readable), form)]
    for kind in _COUNT_KINDS:
        rows = _count_rows(sources, summaries, kind)
        if readable and kind == "scopes":
            rows = [{**row, "scope": plain_scope(row["scope"])} for row in rows]
        if rows:
            blocks.append(table(rows, form))
    return blocks


def _figure_rows(sources: Sequence[Source], summaries: Sequence[Summary], *, readable: bool) -> Rows:
    """One row a figure; a group of columns a source, or one column each where they are many."""
    short = readable and len(sources) > 2
    heads = [f"{source.title} " if len(sources) > 1 else "" for source in sources]
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


def _count_rows(sources: Sequence[Source], summaries: Sequence[Summary], kind: str) -> Rows:
    """The commonest kinds, patterns or shapes, a column of counts a source; the others in one row."""
    counts = [Counter(getattr(summary, kind)) for summary in summaries]
    totals = sum(counts, Counter[str]())
    ranked = sorted(totals, key=lambda key: (-totals[key], key))
    named = [(key or "no calls", [key]) for key in ranked[:_MAX_COUNTED]]
    if rest := ranked[_MAX_COUNTED:]:
        named.append((f"… {len(rest)} more", rest))
    columns = [source.title if len(sources) > 1 else "count" for source in sources]
    return [
        {kind.replace("_", " ").removesuffix("s"): name}
        | {column: sum(map(c.__getitem__, keys)) for column, c in zip(columns, counts, strict=True)}
        for name, keys in named
    ]


def glossary_table(sums: Sums, form: str, *, summary: bool, inferred: bool) -> str:
    """What the words above mean, a sentence each.

    Args:
        sums: What the plans of all sources come to.
        form: A format of documents.
        summary: Whether plans are summed up; else each has a row.
        inferred: Whether edges were inferred.
    """
    from planner_eval.plan.statistics import FIGURES, explain_words

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
    return table([{"word": word, "meaning": meaning} for word, meaning in words.items()], form, width=200)


def paper_blocks(source: Source, cells: Sequence[Cell], form: str) -> list[str]:
    """A source's tables as its paper has them, each cell beside the printed one, and what differs.

    Args:
        source: A data set.
        cells: The cells of its tables.
        form: A format of :mod:`planner_eval.base.tables`; other than for people, a row a cell.
    """
    assert source.dataset is not None
    if not shows(form, "document"):
        rows = [{"dataset": source.name} | asdict(cell) | {"agrees": cell.agrees} for cell in cells]
        return [table(rows, form)] if rows else []
    head = f"{source.name}: {len(source):,} of {source.dataset.records:,} published records available"
    if not cells:
        return [head]
    blocks = [f"{head}\n{LEGEND}"]
    for name in dict.fromkeys(cell.table for cell in cells):
        blocks.append(_matrix(name, [cell for cell in cells if cell.table == name], form))
    return blocks + _remarks(cells)


def _matrix(name: str, cells: Sequence[Cell], form: str) -> str:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, Any]] = {}
    for cell in cells:
        row = rows.setdefault(cell.row, {name: cell.row} | dict.fromkeys(columns, ""))
        row[cell.column] = _cell_text(cell)
    return table(list(rows.values()), form, width=40)


def _cell_text(cell: Cell) -> str:
    value = "–" if cell.value is None else f"{cell.value:.3f}".rstrip("0").rstrip(".")
    if cell.published is None:
        return value
    differs = cell.agrees is False and not _is_partial(cell)
    return f"{value} ({'≠ ' if differs else ''}{cell.published})"


def _remarks(cells: Iterable[Cell]) -> list[str]:
    """Why cells differ or are missing, a line a reason."""
    reasons: dict[str, list[Cell]] = {}
    compared: dict[str, list[bool]] = {}
    for cell in cells:
        if cell.agrees is not None and not _is_partial(cell):
            compared.setdefault(cell.table, []).append(cell.agrees)
        if cell.agrees is False or (cell.note and cell.agrees is None) or _is_partial(cell):
            why = f"{cell.n:,} of {cell.of:,} records available" if _is_partial(cell) else cell.note
            reasons.setdefault(why or "the reason is not known", []).append(cell)
    lines = [f"{name}: {sum(a)} of {len(a)} printed cells agree" for name, a in compared.items()]
    lines += [f"- {why}: {_cell_locations(group)}" for why, group in reasons.items()]
    return ["\n".join(lines)] if lines else []


def _cell_locations(cells: Sequence[Cell]) -> str:
    """Which cells; of data that is not all there only their rows or their columns, whichever are fewer."""
    labels = [f"{cell.row} {cell.column}" for cell in cells]
    if all(map(_is_partial, cells)):
        rows, columns = [cell.row for cell in cells], [cell.column for cell in cells]
        labels = min(rows, columns, key=lambda names: len(set(names)))
    return ", ".join(dict.fromkeys(labels))


def _is_partial(cell: Cell) -> bool:
    return cell.n is not None and cell.of is not None and cell.n < cell.of


# ----------------------------------------------------------------------
# The pictures that planeval stats draws: distributions, the commonest shapes, graphs of tools and apps.
class Pictures:
    """Draws the pictures asked for, and writes them.

    Args:
        files: One of :data:`PICTURES` → the file to write.
        titles: The sources' names.
        look: How the drawings look, and whether graphs show every tool.
    """

    def __init__(self, files: Mapping[str, str], titles: Sequence[str], look: DrawingOptions) -> None:
        if files.keys() - {"plot"}:
            from planner_eval.results.drawing.themes import theme

            theme(look.theme)  # one that there is not is told before the work
        self.files, self.titles, self.look = files, titles, look
        self.graphs: dict[str, ToolGraph] = {}

    def scenes(self, source_sums: Sequence[SourceSums]) -> dict[str, Scene]:
        """What is drawn of the plans.

        Args:
            source_sums: What those of each source come to.

        Raises:
            InputError: there is nothing to draw: no plan names an app, or no plan has a call.
        """
        drawn = self.files.keys() - {"plot"}
        if not drawn:
            return {}
        from planner_eval.results.drawing.graphs import MAX_NODES, shapes_scene

        self.graphs = {name: source_sums[0].drawn[name] for name in PICTURES[2:] if name in drawn}
        for sums in source_sums[1:]:
            for name, graph in self.graphs.items():
                graph.extend(sums.drawn[name])
        most = None if self.look.force else MAX_NODES
        scenes = {name: graph.scene(most=most) for name, graph in self.graphs.items()}
        if "shapes" in drawn:
            shapes = (sums.drawn["shapes"] for sums in source_sums)
            scenes["shapes"] = shapes_scene(dict(zip(self.titles, shapes, strict=True)))
        return scenes

    def write(self, scenes: Mapping[str, Scene], summaries: Sequence[Summary]) -> None:
        """Write the files.

        Args:
            scenes: What :meth:`scenes` gave.
            summaries: The figures of each source's plans.

        Raises:
            RenderError: matplotlib or Graphviz is missing, or took too long.
        """
        for kind, file in self.files.items():
            if kind == "plot":
                from planner_eval.results.drawing.charts import plot

                titled = dict(zip(self.titles, summaries, strict=True))
                emit(plot(panels(titled), format=picture_format(file, "plot")), file)
                continue
            scene = scenes[kind]
            look = self.look._replace(force=True)  # a graph is small enough already, or wanted whole
            try:
                drawing = pe.render(scene, format=picture_format(file, "picture"), **look._asdict())
            except RenderError as error:
                raise RenderError(f"{file}: {error}") from error
            emit(drawing, file)
            pruned = kind in self.graphs and not self.graphs[kind].whole(scene)
            hint = "; --force draws them all" if pruned else ""
            note(f"{file}: {'; '.join([scene.summary, *scene.notes])}{hint}")


_PANELS = (
    *((name, "plans", name) for name in ("calls", "depth", "width", "components")),
    ("fan-in: number of calls whose output a call uses", "calls", "fan_in"),
    ("reuse: number of calls that use a call's output", "calls", "fan_out"),
    ("data dependencies", "plans", "edges"),
    ("nesting patterns", "patterns", "patterns"),
    ("kinds of arguments", "arguments", "argument_kinds"),
)
"""The distributions of a plot: what is counted, of what these are shares, and the figure."""


def panels(summaries: Mapping[str, Summary]) -> list[Panel]:
    """What a plot shows of each source: distributions over plans, calls, patterns and arguments.

    Args:
        summaries: Source → its figures.
    """
    from planner_eval.results.drawing.charts import Panel

    def counts(summary: Summary, name: str) -> Any:
        return summary.figure(name).distribution if name in FIGURES else getattr(summary, name)

    return [
        Panel(title, of, {key: counts(s, name) for key, s in summaries.items()})
        for title, of, name in _PANELS
    ]
