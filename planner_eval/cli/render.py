"""planeval render: draw a plan, or many."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import click

import planner_eval as pe
from planner_eval.base.text import format_count, printable
from planner_eval.cli.options import as_command, format_condition, infer_option, note, refuse_idle
from planner_eval.cli.output import (
    DrawingOptions,
    NamedDrawing,
    Output,
    draw_each,
    drawing_options,
    output_options,
    say_drawing,
    write_folder,
)
from planner_eval.cli.sources import Input, id_option, input_options, select_by_id
from planner_eval.cli.terminal import count_items
from planner_eval.plan.model import may_have_turns
from planner_eval.reading.files.record import JoinedTurns

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import PlanRecord, Source
    from planner_eval.results.drawing.scene import Scene


@as_command("render", plans="PLAN|DATASET...")
@input_options
@id_option("Draw only the record with this id")
@infer_option
@drawing_options
@output_options("plain", "boxes", "picture", folder=True)
def command(
    plans: tuple[str, ...],
    source: Input,
    wanted: tuple[str, ...],
    infer: bool,
    look: DrawingOptions,
    output: Output,
) -> int:
    """Draw a plan, all plans of a file, or the gold plans of a data set.

    PLAN is a plan, a file of records, a directory, a quoted pattern of files, the name of a data set, or -
    for standard input. The format text lists one call per line by topological generation; boxes needs
    netext; svg, png and pdf need pygraphviz or Graphviz.
    Exit code: 0 drawn; 1 a plan could not be read or drawn; 2 usage error; 3 nothing could be drawn.
    """
    form = output.form
    refuse_idle(
        ("deadline", *format_condition(form, "plot")),
        ("force", *format_condition(form, "picture", more="; text lists all calls")),
    )
    sources = source.open(*plans)
    names, dialect = " ".join(plans), source.dialect
    reads: Iterable[PlanRecord] = chain.from_iterable(s.read(dialect, infer=infer) for s in sources)
    count = sum(map(len, sources))
    if wanted:
        reads = select_by_id(reads, wanted, lambda read: str(read.record), names)
        count = len(reads)
    elif count == 0:
        raise click.UsageError(f"{names} holds no records")
    elif count == 1 and dialect is None:
        reads = list(reads)
        if reads[0].plan is not None and reads[0].plan.dialect is not None:
            note(f"read as {reads[0].plan.dialect}")
    empty: list[PlanRecord] = []
    drawn = draw_each(_drawn_records(reads, empty), form, look, output.file)
    if output.folder:
        failed = write_folder(drawn, output.folder, form, count, inputs=_source_files(sources))
    elif count > 1 and not output.shows("plain"):
        raise click.UsageError(
            f"{names} holds {count:,} plans, too many for one {form}: choose one with "
            "--id, or name a directory with -o"
        )
    elif output.file is None and output.shows("binary") and sys.stdout.isatty():
        raise click.UsageError(f"{form} cannot be shown on a terminal: name a file with -o")
    else:
        failed = _write_all(drawn, output, count)
    if empty:
        note(f"{len(empty):,} of {format_count(count, 'record')} hold no plan")
    return 3 if failed == count - len(empty) else min(failed, 1)


def _drawn_records(
    reads: Iterable[PlanRecord], empty: list[PlanRecord]
) -> Iterator[tuple[str, str, pe.Plan | Scene | None, str]]:
    """Each record as it is drawn, or why it cannot be read; those without a plan are put into `empty`."""
    for read in reads:
        if read.plan is None and read.error is None:
            empty.append(read)
            continue
        name = read.record if isinstance(read.record, str) else ""
        scene = None if read.plan is None else _with_lanes(read.plan, read)
        yield name, read.where, scene, read.error or ""


def _with_lanes(plan: pe.Plan, read: PlanRecord) -> pe.Plan | Scene:
    """The plan; of a conversation in which the user speaks several times a scene with the turns as lanes."""
    if read.source is None:
        return plan
    if type(read.source.source) is not JoinedTurns and not may_have_turns(plan, plan):
        return plan
    from planner_eval.reading.conversation import find_lanes
    from planner_eval.results.drawing.overlay import lanes_scene, plan_scene

    turns, titles = find_lanes(read.source, plan)
    return lanes_scene(plan_scene(plan), [titles[turn] for turn in turns]) if turns else plan


def _write_all(drawn: Iterator[NamedDrawing], output: Output, count: int) -> int:
    """Write all drawings one after another; how many failed."""
    failed = 0
    pieces = []
    for named in count_items(drawn, count):
        say_drawing(named)
        failed += bool(named.drawing.error)
        if count > 1:
            state = ": not drawn" if named.drawing.error else ""
            pieces.append(printable(f"# {named.where}{state}\n").encode())
        pieces.append(named.drawing.data)
    if failed < count:
        output.emit(b"".join(pieces))
    return failed


def _source_files(sources: Sequence[Source]) -> frozenset[str]:
    """The files that are read, wherever links to them lie."""
    files = (source.file for source in sources if source.file is not None)
    return frozenset(os.path.realpath(name) for file in files for name in file.parts or (file.name,))
