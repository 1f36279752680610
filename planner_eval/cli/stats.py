"""planeval stats: structure figures of plans, and the papers' tables of published data sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import formats_of, shows
from planner_eval.cli.drawing import DrawingOptions, drawing_options, is_folder
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    LIST_ASPECTS,
    argument,
    emit,
    format_option,
    infer_option,
    note,
    option,
    output_options,
    picture_option,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.sources import (
    dataset_options,
    original_names,
    refuse_idle_places,
    refuse_runs,
    refuse_stdin_twice,
)
from planner_eval.cli.stats_views import (
    Pictures,
    StatsJob,
    StatsSums,
    each_table,
    glossary_table,
    is_unread,
    paper_blocks,
    summaries_json,
    summary_blocks,
)
from planner_eval.cli.workers import WorkOptions, run_job, storage_options, store_option, work_options
from planner_eval.results.runs.pairs import UnpairedRecords, is_large

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import Source
    from planner_eval.reading.files.record import Record
    from planner_eval.results.runs.folder import Input


@click.command("stats", cls=Command)
@argument("names", "FILE|DATASET...")
@reading_options
@dataset_options
@option("--each", "One row per plan instead of the summary.")
@option("--only [tables|structure]", "For data sets, only the paper's tables, or only the structure.")
@infer_option
@option("--explain", "Explain the terms below the tables.")
@format_option(*LIST_ASPECTS)
@picture_option(
    "--plot",
    "plot",
    "Plot distributions (.svg, .png, .pdf); shapes=FILE, tools=FILE and apps=FILE draw graphs.",
)
@picture_option("--shapes", "picture", "Draw the commonest shapes of plans.")
@picture_option("--tool-graph", "picture", "Draw which tools use which tools' outputs.")
@picture_option("--app-graph", "picture", "Draw which apps use which apps' outputs.")
@drawing_options
@work_options
@store_option
@output_options(folder=True, into="store the run in DIR/ and, if it is there already, resume it")
def command(
    names: tuple[str, ...],
    dialect: str | None,
    each: bool,
    only: str | None,
    explain: bool,
    infer: bool,
    form: str,
    output: str | None,
    plot: str | None,
    shapes: str | None,
    tool_graph: str | None,
    app_graph: str | None,
    look: DrawingOptions,
    running: WorkOptions,
    store: str | None,
    **fields: Any,
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
    pictured = {"plot": plot, "shapes": shapes, "tool_graph": tool_graph, "app_graph": app_graph}
    files = {kind: file for kind, file in pictured.items() if file}
    refuse_stdin_twice(*names)
    in_folder = is_folder(output)
    names = original_names(output, *names)
    refuse_runs(*names)
    sources = pe.open_sources(names, **fields, tell=note)
    refuse_idle_places(sources)
    published = any(source.dataset is not None for source in sources)
    people = shows(form, "document") and only != "tables"
    drawn = files.keys() - {"plot"}
    refuse_idle(
        ("only", published and not each, "to data sets, without --each"),
        ("infer", only != "tables", "to the structure of plans"),
        ("explain", people, "to the structure of plans as --format text or md"),
        ("theme deadline", bool(drawn), "to --plot shapes, tools and apps"),
        ("force", bool(drawn - {"shapes"}), "to --plot tools and apps"),
        ("store", in_folder, "with -o DIR/, which stores the run"),
    )
    pictures = Pictures(files, [source.title for source in sources], look)
    rows = each or (len(sources) == 1 and not sources[0].many)
    options = {"dialect": dialect, "infer": infer, **fields}
    records = [source.records for source in sources]
    job = _make_job(sources, records, options, sorted(drawn), with_figures=rows or in_folder)
    how = _storage_settings(names, sources, output, store, inferred=infer)
    opened = [source.file for source in sources if source.file is not None]
    with run_job(job, UnpairedRecords(records), running, large=is_large(*opened), what="plans", **how) as (
        results,
        lines,
    ):
        sums = results.all()
        _say_unread(sources, results, lines, job.starts)
        scenes = pictures.scenes(results.each) if sums.plans else {}
        text: Iterable[str] = (
            each_table(lines, _kinds(results), form, many_sources=len(sources) > 1, inferred=infer)
            if rows
            else [_summary(sources, results, form, only, inferred=infer)]
        )
        if explain:
            text = chain(text, ["\n\n", glossary_table(sums, form, summary=not rows, inferred=infer)])
        emit(text, None if in_folder else output)
    if sums.plans:
        pictures.write(scenes, [s.figures.summary() for s in results.each])
    return 0 if sums.plans and not sums.unread else 1 if sums.plans else 3


def _make_job(
    sources: Sequence[Source],
    records: Sequence[Sequence[Record]],
    options: dict[str, Any],
    drawn: Sequence[str],
    *,
    with_figures: bool,
) -> StatsJob:
    readers = tuple(source.reader(options["dialect"], infer=options["infer"]) for source in sources)
    starts = tuple(accumulate(map(len, records[:-1]), initial=0))
    where = {name: value for name, value in options.items() if name not in ("cache", "folder")}
    return StatsJob(
        readers, tuple(source.title for source in sources), starts, tuple(drawn), where, with_figures
    )


def _storage_settings(
    names: Sequence[str], sources: Sequence[Source], output: str | None, store: str | None, *, inferred: bool
) -> dict[str, Any]:
    """How a run is kept: in a folder with what tells its files from others, or nowhere."""

    def inputs() -> list[Input]:
        from planner_eval.results.runs.folder import data_input, inputs_of

        return [
            entry
            for source in sources
            for entry in (
                inputs_of("plans", source.file)
                if source.file is not None
                else [data_input("plans", source.name, source.samples)]
            )
        ]

    files = [source.file for source in sources if source.file is not None]
    return storage_options(
        output if is_folder(output) else None, store, *files, given=names, inputs=inputs,
        report=lambda results: _summary(sources, results, formats_of("data")[0], None, inferred=inferred),
    )  # fmt: skip


def _kinds(results: StatsSums) -> list[str]:
    """The kinds of rows of all sources, first come first."""
    return list(dict.fromkeys(kind for s in results.each for kind in s.kinds))


def _say_unread(
    sources: Sequence[Source], results: StatsSums, lines: Iterable[str], starts: Sequence[int]
) -> None:
    """Say of each source how many of its records hold no plan, and which cannot be read."""
    if not any(s.without or s.figures.unread for s in results.each):
        return
    left = iter(zip(sources, results.each, starts, strict=True))
    begins = next(left, None)
    for number, line in enumerate(lines):
        while begins is not None and number >= begins[2]:
            source, sums, _ = begins
            if sums.without:
                note(f"{source.name}: {sums.without:,} of {len(source):,} records hold no plan")
            begins = next(left, None)
        if is_unread(line):
            data = json.loads(line)
            note(f"{data['where']}: {data['error']}")


def _summary(
    sources: Sequence[Source], results: StatsSums, form: str, only: str | None, *, inferred: bool
) -> str:
    cells = [_cells(source) if only != "structure" else [] for source in sources]
    summaries = [s.figures.summary(inferred=inferred) for s in results.each]
    if shows(form, "data"):
        return summaries_json(sources, summaries, cells)
    blocks: list[str] = []
    for source, source_cells in zip(sources, cells, strict=True):
        if source.dataset is not None and only != "structure":
            blocks += paper_blocks(source, source_cells, form)
    if only != "tables":
        blocks += summary_blocks(sources, summaries, form)
    return "\n\n".join(blocks)


def _cells(source: Source) -> list[Any]:
    """The cells of the tables that a data set's paper has."""
    if source.dataset is None or source.dataset.benchmark is None:
        return []
    from planner_eval.benchmarks.benchmark import benchmark

    return benchmark(source.dataset.benchmark).tables(source.samples)
