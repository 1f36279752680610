"""planeval stats: structure figures of plans, the papers' tables of published data sets, and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.errors import RenderError
from planner_eval.base.formats import View, formats_of
from planner_eval.base.tables import CSV, Style
from planner_eval.cli.options import as_command, infer_option, note, option, refuse_idle
from planner_eval.cli.output import (
    LIST_ASPECTS,
    DrawingOptions,
    Output,
    drawing_options,
    emit,
    output_options,
    picture_format,
    picture_option,
)
from planner_eval.cli.sources import Input, input_options, original_names
from planner_eval.cli.workers import Work, run_job, stored_work_options
from planner_eval.results.runs.model import UnpairedRecords
from planner_eval.results.stats import (
    StatsJob,
    StatsSums,
    glossary_table,
    is_unread,
    plans_view,
    summary_blocks,
)

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import Source
    from planner_eval.benchmarks.report import Cell
    from planner_eval.plan.statistics import Summary
    from planner_eval.results.drawing.graphs import ToolGraph
    from planner_eval.results.drawing.scene import Scene
    from planner_eval.results.runs.folder import Input as RunInput
    from planner_eval.results.stats import SourceSums


# ----------------------------------------------------------------------
# The papers' tables beside the figures, in writing.
LEGEND = "recomputed (as printed in the paper); ≠ where all records are available and the two differ"


def summaries_data(
    sources: Sequence[Source], summaries: Sequence[Summary], cells: Sequence[Sequence[Cell]]
) -> Any:
    """Everything as JSON data: an object a source, in an array where there are several."""
    data = []
    for source, summary, source_cells in zip(sources, summaries, cells, strict=True):
        entry: dict[str, Any] = {"file" if source.dataset is None else "dataset": source.name}
        if source.dataset is not None:
            entry |= {"records": len(source), "published_records": source.dataset.records}
            entry["tables"] = [asdict(cell) | {"agrees": cell.agrees} for cell in source_cells]
        data.append(entry | asdict(summary))
    return data[0] if len(data) == 1 else data


def paper_blocks(source: Source, cells: Sequence[Cell], style: Style) -> list[str]:
    """A source's tables as its paper has them, each cell beside the printed one, and what differs.

    Args:
        source: A data set.
        cells: The cells of its tables.
        style: How they are written; for programs a row a cell.
    """
    assert source.dataset is not None
    if style is CSV:
        rows = [{"dataset": source.name} | asdict(cell) | {"agrees": cell.agrees} for cell in cells]
        return [style.table(rows)] if rows else []
    head = f"{source.name}: {len(source):,} of {source.dataset.records:,} published records available"
    if not cells:
        return [head]
    blocks = [f"{head}\n{LEGEND}"]
    for name in dict.fromkeys(cell.table for cell in cells):
        blocks.append(_matrix(name, [cell for cell in cells if cell.table == name], style))
    return blocks + _remarks(cells)


def _matrix(name: str, cells: Sequence[Cell], style: Style) -> str:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, Any]] = {}
    for cell in cells:
        row = rows.setdefault(cell.row, {name: cell.row} | dict.fromkeys(columns, ""))
        row[cell.column] = _cell_text(cell)
    return style.table(rows.values(), width=40)


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
PICTURES = ("plot", "shapes", "tool_graph", "app_graph")
"""Options that name a file to draw into."""


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
                from planner_eval.results.drawing.charts import Chart
                from planner_eval.results.stats import panels

                titled = dict(zip(self.titles, summaries, strict=True))
                emit(Chart(kind, panels(titled)).image(picture_format(file, "plot")), file)
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


# ----------------------------------------------------------------------
# planeval stats: structure figures of plans, and the papers' tables of published data sets.
@as_command("stats", names="FILE|DATASET...")
@input_options
@option("--each", "One row per plan instead of the summary.")
@option("--only [tables|structure]", "For data sets, only the paper's tables, or only the structure.")
@infer_option
@option("--explain", "Explain the terms below the tables.")
@picture_option(
    "--plot",
    "plot",
    "Plot distributions (.svg, .png, .pdf); shapes=FILE, tools=FILE and apps=FILE draw graphs.",
)
@picture_option("--shapes", "picture", "Draw the commonest shapes of plans.")
@picture_option("--tool-graph", "picture", "Draw which tools use which tools' outputs.")
@picture_option("--app-graph", "picture", "Draw which apps use which apps' outputs.")
@drawing_options
@stored_work_options
@output_options(
    *LIST_ASPECTS, folder=True, into="store the run in DIR/ and, if it is there already, resume it"
)
def command(
    names: tuple[str, ...],
    source: Input,
    each: bool,
    only: str | None,
    explain: bool,
    infer: bool,
    look: DrawingOptions,
    work: Work,
    output: Output,
    **pictures: str | None,
) -> int:
    """Show the structure of plans: components, depth, width, fan-in and fan-out, patterns, shapes.

    FILE is a plan, a file of records, a directory, a quoted pattern of files, or - for standard input.
    One plan gets its own numbers, several get a summary; several sources are shown side by side.

    DATASET is a name of 'planeval data show' or of a benchmark: appbench, nestful, callnavi … It first
    shows the tables of its paper, recomputed beside the printed values. If a file has that name,
    dataset:NAME is the data set.

    Large files are split among several processes. -o DIR/ stores one row per plan; the same command resumes
    it.
    """
    files = {kind: file for kind in PICTURES if (file := pictures[kind])}
    names = original_names(output.file, *names)
    sources = source.open(*names)
    published = any(s.dataset is not None for s in sources)
    drawn = files.keys() - {"plot"}
    refuse_idle(
        ("only", published and not each, "to data sets, without --each"),
        ("infer", only != "tables", "to the structure of plans"),
        (
            "explain",
            output.shows("document") and only != "tables",
            "to the structure of plans as --format text or md",
        ),
        ("theme deadline", bool(drawn), "to --plot shapes, tools and apps"),
        ("force", bool(drawn - {"shapes"}), "to --plot tools and apps"),
        ("store", output.folder is not None, "with -o DIR/, which stores the run"),
    )
    drawing = Pictures(files, [s.title for s in sources], look)
    rows = each or (len(sources) == 1 and not sources[0].many)
    records = [s.records for s in sources]
    job = StatsJob(
        tuple(s.reader(source.dialect, infer=infer) for s in sources),
        tuple(s.title for s in sources),
        tuple(accumulate(map(len, records[:-1]), initial=0)),
        tuple(sorted(drawn)),
        {**source.decisive, "infer": infer},
        rows or output.folder is not None,
    )

    def more() -> Iterable[RunInput]:
        from planner_eval.results.runs.folder import data_input

        return (data_input(s.name, s.samples) for s in sources if s.file is None)

    def report(results: StatsSums) -> str:
        return _summary_view(sources, results, None, inferred=infer).text(formats_of("data")[0])

    with run_job(
        job, UnpairedRecords(records), work, [("plans", s.file) for s in sources if s.file is not None],
        what="plans", folder=output.folder, given=names, more=more, report=report,
    ) as (results, lines):  # fmt: skip
        sums = results.all()
        _say_unread(sources, results, lines)
        scenes = drawing.scenes(results.each) if sums.plans else {}
        if rows:
            kinds = list(dict.fromkeys(kind for s in results.each for kind in s.kinds))
            view = plans_view(lines, kinds, many_sources=len(sources) > 1, inferred=infer)
        else:
            view = _summary_view(sources, results, only, inferred=infer)
        if explain and (document := view.document) is not None:

            def explained(style: Style) -> Iterable[str]:
                glossary = glossary_table(sums, style, summary=not rows, inferred=infer)
                return chain(document(style), ["\n\n", glossary])

            view = view._replace(document=explained)
        emit(view.write(output.form), None if output.folder else output.file)
    if sums.plans:
        drawing.write(scenes, [s.figures.summary() for s in results.each])
    return 0 if sums.plans and not sums.unread else 1 if sums.plans else 3


def _say_unread(sources: Sequence[Source], results: StatsSums, lines: Iterable[str]) -> None:
    """Say of each source how many of its records hold no plan, and which cannot be read."""
    if not any(s.without or s.figures.unread for s in results.each):
        return
    left = iter(lines)
    for source, sums in zip(sources, results.each, strict=True):
        if sums.without:
            note(f"{source.name}: {sums.without:,} of {len(source):,} records hold no plan")
        for data in map(json.loads, filter(is_unread, islice(left, len(source)))):
            note(f"{data['where']}: {data['error']}")


def _summary_view(sources: Sequence[Source], results: StatsSums, only: str | None, *, inferred: bool) -> View:
    cells = [_cells(source) if only != "structure" else [] for source in sources]
    summaries = [s.figures.summary(inferred=inferred) for s in results.each]

    def tables(style: Style) -> list[str]:
        blocks: list[str] = []
        for source, source_cells in zip(sources, cells, strict=True):
            if source.dataset is not None and only != "structure":
                blocks += paper_blocks(source, source_cells, style)
        if only != "tables":
            titles = [source.title for source in sources]
            blocks += summary_blocks(titles, summaries, style, readable=style is not CSV)
        return ["\n\n".join(blocks)]

    return View(tables, lambda: summaries_data(sources, summaries, cells), table=lambda: tables(CSV))


def _cells(source: Source) -> list[Any]:
    """The cells of the tables that a data set's paper has."""
    if source.dataset is None or source.dataset.benchmark is None:
        return []
    from planner_eval.benchmarks.benchmark import benchmark

    return benchmark(source.dataset.benchmark).tables(source.samples)
