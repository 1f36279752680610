"""planeval render: draw a plan, or many."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.formats import shows
from planner_eval.base.text import format_count, printable
from planner_eval.cli.drawing import (
    DrawingOptions,
    NamedDrawing,
    drawing_options,
    is_folder,
    say_drawing,
    write_folder,
)
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    argument,
    emit,
    format_condition,
    format_option,
    infer_option,
    note,
    output_options,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.sources import (
    dataset_options,
    id_option,
    refuse_idle_places,
    refuse_runs,
    refuse_stdin_twice,
    select_by_id,
)
from planner_eval.cli.terminal import count_items, is_colored
from planner_eval.comparison.turns import may_have_turns
from planner_eval.reading.files.record import JoinedTurns

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import PlanRecord, Source
    from planner_eval.plan.model import Plan
    from planner_eval.results.drawing.layout import Drawing
    from planner_eval.results.drawing.scene import Scene


@click.command("render", cls=Command)
@argument("plans", "PLAN|DATASET...")
@reading_options
@dataset_options
@id_option("Draw only the record with this id")
@infer_option
@format_option("plain", "boxes", "picture")
@drawing_options
@output_options(folder=True)
def command(
    plans: tuple[str, ...],
    dialect: str | None,
    wanted: tuple[str, ...],
    infer: bool,
    form: str,
    output: str | None,
    look: DrawingOptions,
    **fields: Any,
) -> int:
    """Draw a plan, all plans of a file, or the gold plans of a data set.

    PLAN is a plan, a file of records, a directory, a quoted pattern of files, the name of a data set, or -
    for standard input. The format text lists one call per line by topological generation; boxes needs
    netext; svg, png and pdf need pygraphviz or Graphviz.
    Exit code: 0 drawn; 1 a plan could not be read or drawn; 2 usage error; 3 nothing could be drawn.
    """
    refuse_idle(
        ("deadline", *format_condition(form, "plot")),
        ("force", *format_condition(form, "picture", more="; text lists all calls")),
    )
    refuse_stdin_twice(*plans)
    refuse_runs(*plans)
    sources = pe.open_sources(plans, **fields, tell=note)
    refuse_idle_places(sources)
    selection = _select_plans(" ".join(plans), sources, wanted, dialect=dialect, infer=infer)
    count = selection.number
    empty: list[PlanRecord] = []
    drawn = _draw_records(
        _skip_empty(selection.reads, empty), form, {**look._asdict(), "color": is_colored(output)}
    )
    if output is not None and is_folder(output):
        failed = write_folder(drawn, Path(output), form, count, inputs=_source_files(sources))
    elif count > 1 and not shows(form, "plain"):
        raise click.UsageError(
            f"{' '.join(plans)} holds {count:,} plans, too many for one {form}: choose one with "
            "--id, or name a directory with -o"
        )
    elif output is None and shows(form, "binary") and sys.stdout.isatty():
        raise click.UsageError(f"{form} cannot be shown on a terminal: name a file with -o")
    else:
        failed = _write_one(drawn, output, count)
    if empty:
        note(f"{len(empty):,} of {format_count(count, 'record')} hold no plan")
    left = count - len(empty)
    return 3 if failed == left else min(failed, 1)


class _Selection(NamedTuple):
    """The plans that are asked for, and how many."""

    reads: Iterable[PlanRecord]
    number: int


def _select_plans(
    names: str, sources: Sequence[Source], wanted_ids: Sequence[str], *, dialect: str | None, infer: bool
) -> _Selection:
    all_reads = chain.from_iterable(source.read(dialect, infer=infer) for source in sources)
    count = sum(map(len, sources))
    if wanted_ids:
        named = select_by_id(all_reads, wanted_ids, lambda read: str(read.record), names)
        return _Selection(named, len(named))
    if count == 0:
        raise click.UsageError(f"{names} holds no records")
    if count == 1 and dialect is None:
        reads = list(all_reads)
        if reads[0].plan is not None and reads[0].plan.dialect is not None:
            note(f"read as {reads[0].plan.dialect}")
        return _Selection(reads, 1)
    return _Selection(all_reads, count)


def _skip_empty(reads: Iterable[PlanRecord], empty: list[PlanRecord]) -> Iterator[PlanRecord]:
    """The records but those that hold no plan, which are put into `empty`."""
    for read in reads:
        if read.plan is None and read.error is None:
            empty.append(read)
        else:
            yield read


def _draw_records(reads: Iterable[PlanRecord], form: str, look: dict[str, Any]) -> Iterator[NamedDrawing]:
    """Each record with its drawing; one that cannot be read has a drawing that says why."""
    from planner_eval.results.drawing.layout import Drawing

    waiting: deque[PlanRecord] = deque()

    def plans() -> Iterator[Plan | Scene]:
        for read in reads:
            waiting.append(read)
            if read.plan is not None:
                yield _with_lanes(read.plan, read)

    def unread() -> Iterator[NamedDrawing]:
        while waiting and waiting[0].plan is None:
            read = waiting.popleft()
            yield _name_drawing(read, Drawing(error=read.error or ""))

    for picture in pe.render_many(plans(), format=form, **look):
        yield from unread()
        yield _name_drawing(waiting.popleft(), picture)
    yield from unread()


def _with_lanes(plan: Plan, read: PlanRecord) -> Plan | Scene:
    """The plan; of a conversation in which the user speaks several times a scene with the turns as lanes."""
    if read.source is None:
        return plan
    if type(read.source.source) is not JoinedTurns and not may_have_turns(plan, plan):
        return plan
    from planner_eval.reading.conversation import find_lanes
    from planner_eval.results.drawing.overlay import lanes_scene, plan_scene

    turns, titles = find_lanes(read.source, plan)
    return lanes_scene(plan_scene(plan), [titles[turn] for turn in turns]) if turns else plan


def _name_drawing(read: PlanRecord, picture: Drawing) -> NamedDrawing:
    return NamedDrawing(read.record if isinstance(read.record, str) else "", read.where, picture)


def _write_one(drawn: Iterator[NamedDrawing], output: str | None, count: int) -> int:
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
        emit(b"".join(pieces), output)
    return failed


def _source_files(sources: Sequence[Source]) -> frozenset[str]:
    """The files that are read, wherever links to them lie."""
    files = (source.file for source in sources if source.file is not None)
    return frozenset(os.path.realpath(name) for file in files for name in file.parts or (file.name,))
