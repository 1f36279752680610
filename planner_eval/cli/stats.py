"""planeval stats: structure figures of plans, and the papers' tables of published data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import DRAWN, PICTURES, WHOLE
from planner_eval.cli.drawing import Look, drawing
from planner_eval.cli.options import (
    Applies,
    emit,
    inferring,
    note,
    output,
    picture,
    reading,
    refuse_idle,
    written,
)
from planner_eval.cli.sources import dataset_places, refuse_idle_places, refuse_stdin_twice
from planner_eval.cli.stats_pictures import Pictures
from planner_eval.cli.stats_tables import (
    each_table,
    paper_blocks,
    summaries_json,
    summary_blocks,
    words_table,
)
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from planner_eval.datasets.sources import Read, Source
    from planner_eval.plan.statistics import Stats


@click.command("stats")
@click.argument("names", nargs=-1, required=True, metavar="FILE|DATASET...")
@reading
@dataset_places
@click.option("--each", is_flag=True, help="A row for each plan instead of the summary.")
@click.option(
    "--only",
    type=click.Choice(["tables", "structure"]),
    help="Of data sets, only the paper's tables, or only the structure.",
)
@inferring
@click.option("--explain", is_flag=True, help="Say below the tables what their words mean.")
@written("text", *WHOLE, help="How to write the figures.")
@picture("--plot", PICTURES, "Plot distributions into FILE (.svg, .png, .pdf), the sources side by side.")
@picture("--shapes", DRAWN, "Draw the commonest shapes of plans into FILE (.svg, .png, .pdf, .dot …).")
@picture("--tool-graph", DRAWN, "Draw which tools use the output of which into FILE.")
@picture("--app-graph", DRAWN, "Draw the same for apps.")
@drawing
@output
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
    look: Look,
    **fields: Any,
) -> int:
    """Show the structure of plans: components, depth, width, fan-in and fan-out, patterns, shapes.

    FILE is a plan, an array, lines or a table of records, a directory or a quoted pattern of files, or - for
    standard input. One plan gives its own figures, many give a summary; several sources stand side by side.

    DATASET is a name of 'planeval data list' or of a benchmark: appbench, nestful, callnavi … Its
    figures come after its paper's tables, each cell beside the printed one. A file of that name comes
    first; dataset:NAME is always the data set.
    """
    pictured = {"plot": plot, "shapes": shapes, "tool_graph": tool_graph, "app_graph": app_graph}
    files = {kind: file for kind, file in pictured.items() if file}
    refuse_stdin_twice(*names)
    sources = pe.open_sources(names, **fields, tell=note)
    refuse_idle_places(sources)
    published = any(source.dataset is not None for source in sources)
    people = form in ("text", "md") and only != "tables"
    drawn = files.keys() - {"plot"}
    refuse_idle(
        [
            Applies(("only",), published and not each, "to data sets, and not with --each"),
            Applies(("infer",), only != "tables", "to the structure of plans"),
            Applies(("explain",), people, "to the structure of plans as --format text or md"),
            Applies(("theme", "deadline"), bool(drawn), "to --shapes, --tool-graph and --app-graph"),
            Applies(("force",), bool(drawn - {"shapes"}), "to --tool-graph and --app-graph"),
        ]
    )
    pictures = Pictures(files, [source.title for source in sources], look)
    read = [_read(source, pictures, dialect=dialect, infer=infer) for source in sources]
    _say(sources, read)
    good = any(stats is not None for rows in read for _, stats in rows)
    scenes = pictures.scenes() if good else {}
    rows = each or (len(sources) == 1 and not sources[0].many)
    text = (
        each_table(sources, read, form, inferred=infer)
        if rows
        else _summary(sources, read, form, only, inferred=infer)
    )
    if explain:
        every = [one for found in read for one in found]
        text += "\n\n" + words_table(every, form, summary=not rows, inferred=infer)
    emit(text, output)
    if good:
        pictures.write(scenes, [_figures(rows) for rows in read])
    unread = any(one.error for rows in read for one, _ in rows)
    return 0 if good and not unread else 1 if good else 3


def _read(
    source: Source, pictures: Pictures, *, dialect: str | None, infer: bool
) -> list[tuple[Read, Stats | None]]:
    """The records of a source with the figures of their plans; records that hold none are left out."""
    rows: list[tuple[Read, Stats | None]] = []
    for one in counting(source.read(dialect, infer=infer), len(source), f"plans of {source.title}"):
        if one.plan is not None:
            pictures.add(one.plan, source.title)
            rows.append((replace(one, plan=None), pe.stats(one.plan)))  # the plan itself is not kept
        elif one.error is not None:
            rows.append((one, None))
    return rows


def _say(sources: Sequence[Source], read: Sequence[Sequence[tuple[Read, Stats | None]]]) -> None:
    for source, rows in zip(sources, read, strict=True):
        without = len(source) - len(rows)
        if without:
            note(f"{source.name}: {without:,} of {len(source):,} records hold no plan but free text")
        for one, _ in rows:
            if one.error is not None:
                note(f"{one.where}: {one.error}")


def _summary(
    sources: Sequence[Source],
    read: Sequence[Sequence[tuple[Read, Stats | None]]],
    form: str,
    only: str | None,
    *,
    inferred: bool,
) -> str:
    from planner_eval.plan.summary import summarise

    cells = [_cells(source) if only != "structure" else [] for source in sources]
    summaries = [
        summarise(_figures(rows), unread=sum(stats is None for _, stats in rows), inferred=inferred)
        for rows in read
    ]
    if form == "json":
        return summaries_json(sources, summaries, cells)
    blocks: list[str] = []
    for source, found in zip(sources, cells, strict=True):
        if source.dataset is not None and only != "structure":
            blocks += paper_blocks(source, found, form)
    if only != "tables":
        blocks += summary_blocks(sources, summaries, form)
    return "\n\n".join(blocks)


def _cells(source: Source) -> list[Any]:
    """The cells of the tables that a data set's paper has."""
    if source.dataset is None or source.dataset.benchmark is None:
        return []
    from planner_eval.benchmarks.registry import benchmark

    return benchmark(source.dataset.benchmark).tables(source.samples)


def _figures(rows: Sequence[tuple[Read, Stats | None]]) -> list[Stats]:
    return [stats for _, stats in rows if stats is not None]
