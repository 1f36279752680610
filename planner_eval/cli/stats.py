"""planeval stats: structure figures of plans, and the papers' tables of published data sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

from planner_eval.base.formats import View, formats_of
from planner_eval.base.tables import CSV
from planner_eval.cli.drawing import DrawingOptions, drawing_options
from planner_eval.cli.options import as_command, infer_option, note, option, refuse_idle
from planner_eval.cli.output import LIST_ASPECTS, Output, emit, output_options, picture_option
from planner_eval.cli.sources import Input, input_options, original_names
from planner_eval.cli.stats_views import PICTURES, Pictures, paper_blocks, summaries_data
from planner_eval.cli.workers import Work, run_job, stored_work_options
from planner_eval.results.runs.pairs import UnpairedRecords
from planner_eval.results.runs.stats_job import StatsJob, StatsSums, is_unread
from planner_eval.results.views.stats import glossary_table, plans_view, summary_blocks

if TYPE_CHECKING:
    from planner_eval.base.tables import Style
    from planner_eval.benchmarks.datasets.sources import Source
    from planner_eval.results.runs.folder import Input as RunInput


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

        return (data_input("plans", s.name, s.samples) for s in sources if s.file is None)

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
