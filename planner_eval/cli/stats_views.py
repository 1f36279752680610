"""How planeval stats writes and draws its figures."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import planner_eval as pe
from planner_eval.base.counts import Counts
from planner_eval.base.errors import RenderError
from planner_eval.base.formats import formats_of, shows
from planner_eval.base.tables import Rows, table, table_pieces
from planner_eval.base.text import JsonObject, to_json
from planner_eval.cli.options import emit, note, picture_format
from planner_eval.cli.workers import Reiterable
from planner_eval.plan.statistics import Sums, plain_figure, plain_scope

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import PlanReader, Source
    from planner_eval.benchmarks.report import Cell
    from planner_eval.cli.drawing import DrawingOptions
    from planner_eval.plan.model import Plan
    from planner_eval.plan.statistics import Stats, Summary
    from planner_eval.results.drawing.charts import Panel
    from planner_eval.results.drawing.graphs import Shapes, ToolGraph
    from planner_eval.results.drawing.scene import Scene
    from planner_eval.results.runs.pairs import Pair


# ----------------------------------------------------------------------
# The structure of many plans as a job: a row a plan, and what they come to.
GRAPHS = {"tool_graph": "tool", "app_graph": "app"}
"""Options that draw a graph, and of what."""

UNREADABLE, NO_PLAN = "unreadable", "no plan"
"""States of a record beside ``"read"``."""

_STATE_LINES = {state: json.dumps({"state": state}) for state in ("read", NO_PLAN)}
"""The rows where nobody looks at them."""


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
        super().extend(other)
        self.figures.extend(other.figures)
        if self.shapes is not None and other.shapes is not None:
            self.shapes.extend(other.shapes)
        for name, graph in self.graphs.items():
            graph.extend(other.graphs[name])

    def data(self) -> JsonObject:
        """The same as JSON data."""
        return {
            **super().data(),
            "figures": self.figures.data(),
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


def _data(stats: Stats) -> JsonObject:
    return {name: getattr(stats, name) for name in stats.__dataclass_fields__}


def _line(state: str, head: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    return to_json({"state": state, **head, **more})


def is_unread(line: str) -> bool:
    """Whether a row is that of a record that could not be read."""
    return line.startswith('{"state": "unreadable"')


# ----------------------------------------------------------------------
# How planeval stats writes its figures: plans, summaries side by side, the papers' tables.
_LONG_FIGURES = ("critical_path", "fan_in", "fan_out", "argument_kinds", "patterns", "shape")
_COUNT_KINDS = ("argument_kinds", "patterns", "shapes", "scopes")
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
    rows = Reiterable(lambda: _rows(lines, form, inferred=inferred))
    alone = list(islice(_rows(lines, formats_of("data")[0], inferred=inferred), 2))
    if len(alone) == 1 and shows(form, "document") and alone[0]["error"] is None:
        figures = {key: value for key, value in alone[0].items() if key not in ("file", "record", "error")}
        if "scope" in figures:
            figures["scope"] = plain_scope(figures["scope"])
        listed = [
            {"figure": plain_figure(k.replace("_", " ")), "value": _value_text(v)} for k, v in figures.items()
        ]
        return table_pieces(listed, form, width=100)
    keys = list(dict.fromkeys(key for kind in kinds for key in _keys(kind, form, many_sources, inferred)))
    return table_pieces(Reiterable(lambda: ({key: row.get(key) for key in keys} for row in rows)), form)


def _rows(lines: Iterable[str], form: str, *, inferred: bool) -> Iterator[dict[str, Any]]:
    """The rows of a table of plans."""
    for line in lines:
        data = json.loads(line)
        if data["state"] == NO_PLAN:
            continue
        row: dict[str, Any] = {"file": data["file"]} if "file" in data else {}
        row["record"] = data["number"] if data.get("id") is None else data["id"]
        kind = UNREADABLE if "error" in data else "plain" if data.get("scope") is None else "scoped"
        row |= {name: data[name] for name in _figure_keys(kind, form, inferred)}
        row["error"] = data["error"].split("\n")[0] if "error" in data else None
        yield row


def _keys(kind: str, form: str, many_sources: bool, inferred: bool) -> list[str]:
    """The keys of a row of a kind."""
    return [*["file"] * many_sources, "record", *_figure_keys(kind, form, inferred), "error"]


def _figure_keys(kind: str, form: str, inferred: bool) -> list[str]:
    """The figures that a row of a kind has."""
    from planner_eval.plan.statistics import Stats

    if kind == UNREADABLE:
        return []
    left_out = {*["inferred"] * (not inferred), *["scope"] * (kind != "scoped")}
    whole = shows(form, "data")
    left_out |= set() if whole else set(_LONG_FIGURES)
    names = [f.name for f in fields(Stats) if f.name not in left_out]
    return names if whole else [*names, "shape"]


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
    if readable and len(sources) > 2:
        return _short_figure_rows(sources, summaries)
    many_sources = len(sources) > 1
    columns = [_columns(source, many_sources) for source in sources]
    rows = []
    for what in ("plans", "unread"):
        counts = [getattr(summary, what) for summary in summaries]
        if what == "plans" or any(counts):
            row: dict[str, Any] = {"figure": what}
            for names, count in zip(columns, counts, strict=True):
                row |= dict.fromkeys(names) | {names[0]: count}
            rows.append(row)
    for k, figure in enumerate(summaries[0].figures):
        name = figure.name.replace("_", " ")
        row = {"figure": plain_figure(name) if readable else name}
        for names, summary in zip(columns, summaries, strict=True):
            f = summary.figures[k]
            row |= dict(zip(names, (f.total, f.mean, f.median, f.max), strict=True))
        rows.append(row)
    return rows


def _columns(source: Source, many_sources: bool) -> list[str]:
    names = ["total", "mean", "median", "max"]
    return [f"{source.title} {name}" for name in names] if many_sources else names


def _short_figure_rows(sources: Sequence[Source], summaries: Sequence[Summary]) -> Rows:
    titles = [source.title for source in sources]
    rows: Rows = [{"figure": "plans"} | {title: s.plans for title, s in zip(titles, summaries, strict=True)}]
    if any(s.unread for s in summaries):
        unread = {title: s.unread for title, s in zip(titles, summaries, strict=True)}
        rows.append({"figure": "unread"} | unread)
    for k, figure in enumerate(summaries[0].figures):
        row: dict[str, Any] = {"figure": f"{plain_figure(figure.name.replace('_', ' '))}: mean, max"}
        for title, summary in zip(titles, summaries, strict=True):
            f = summary.figures[k]
            row[title] = None if f.mean is None else f"{f.mean:.4g}, {f.max}"
        rows.append(row)
    return rows


def _count_rows(sources: Sequence[Source], summaries: Sequence[Summary], kind: str, most: int = 12) -> Rows:
    """The commonest kinds, patterns or shapes, a column of counts a source; the others in one row."""
    totals: dict[str, int] = {}
    for summary in summaries:
        for key, count in getattr(summary, kind).items():
            totals[key] = totals.get(key, 0) + count
    ranked = sorted(totals, key=lambda key: (-totals[key], key))
    named = [(key or "no calls", [key]) for key in ranked[:most]]
    named += [(f"… {len(ranked) - most} more", ranked[most:])] if len(ranked) > most else []
    return [
        {kind.replace("_", " ").removesuffix("s"): name}
        | {
            (source.title if len(sources) > 1 else "count"): sum(
                getattr(summary, kind).get(key, 0) for key in keys
            )
            for source, summary in zip(sources, summaries, strict=True)
        }
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
        files: ``"plot"``, ``"shapes"``, ``"tool_graph"`` or ``"app_graph"`` → the file to write.
        titles: The sources' names.
        look: How the drawings look, and whether graphs show every tool.
    """

    def __init__(self, files: Mapping[str, str], titles: Sequence[str], look: DrawingOptions) -> None:
        if files.keys() - {"plot"}:
            from planner_eval.results.drawing.themes import theme

            theme(look.theme)  # one that there is not is told before the work
        self.files, self.titles, self.look = files, titles, look
        self.forms = {
            kind: picture_format(file, "plot" if kind == "plot" else "picture")
            for kind, file in files.items()
        }
        self.graphs: dict[str, ToolGraph] = {}

    def scenes(self, source_sums: Sequence[SourceSums]) -> dict[str, Scene]:
        """What is drawn of the plans.

        Args:
            source_sums: What those of each source come to.

        Raises:
            InputError: there is nothing to draw: no plan names an app, or no plan has a call.
        """
        if not self.files.keys() - {"plot"}:
            return {}
        from planner_eval.results.drawing.graphs import MAX_NODES, shapes_scene

        self.graphs = dict(source_sums[0].graphs)
        for sums in source_sums[1:]:
            for kind, graph in self.graphs.items():
                graph.extend(sums.graphs[kind])
        most = None if self.look.force else MAX_NODES
        drawn = {kind: graph.scene(most=most) for kind, graph in self.graphs.items()}
        shapes = zip(self.titles, (s.shapes for s in source_sums), strict=True)
        titled_shapes = {title: s for title, s in shapes if s is not None}
        return {"shapes": shapes_scene(titled_shapes), **drawn} if titled_shapes else drawn

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
                emit(plot(panels(titled), format=self.forms[kind]), file)
            else:
                from planner_eval.results.drawing import render

                scene = scenes[kind]
                look = self.look._replace(force=True)  # a graph is small enough already, or wanted whole
                try:
                    drawn = render(scene, format=self.forms[kind], **look._asdict())
                except RenderError as error:
                    raise RenderError(f"{file}: {error}") from error
                emit(drawn, file)
                graph = self.graphs.get(kind)
                pruned = graph is not None and not graph.whole(scene)
                hint = "; --force draws them all" if pruned else ""
                note(f"{file}: {'; '.join([scene.summary, *scene.notes])}{hint}")


def panels(summaries: Mapping[str, Summary]) -> list[Panel]:
    """What a plot shows of each source: distributions over plans, calls, patterns and arguments.

    Args:
        summaries: Source → its figures.
    """
    from planner_eval.results.drawing.charts import Panel

    def figure(title: str, name: str) -> Panel:
        return Panel(title, "plans", {key: s.figure(name).distribution for key, s in summaries.items()})

    return [
        figure("calls", "calls"),
        figure("depth", "depth"),
        figure("width", "width"),
        figure("components", "components"),
        Panel(
            "fan-in: number of calls whose output a call uses",
            "calls",
            {k: s.fan_in for k, s in summaries.items()},
        ),
        Panel(
            "reuse: number of calls that use a call's output",
            "calls",
            {k: s.fan_out for k, s in summaries.items()},
        ),
        figure("data dependencies", "edges"),
        Panel("nesting patterns", "patterns", {k: s.patterns for k, s in summaries.items()}),
        Panel("kinds of arguments", "arguments", {k: s.argument_kinds for k, s in summaries.items()}),
    ]
