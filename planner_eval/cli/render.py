"""planeval render: draw a plan, or many."""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import DRAWN
from planner_eval.base.text import printable
from planner_eval.base.writing import write
from planner_eval.cli.drawing import Look, colorful, drawing
from planner_eval.cli.options import Applies, emit, note, outputs, reading, refuse_idle, written
from planner_eval.cli.sources import dataset_places, refuse_idle_places, refuse_stdin_twice

if TYPE_CHECKING:
    from planner_eval.datasets.sources import Read, Source
    from planner_eval.drawing.layout import Drawing
    from planner_eval.plan.model import Plan

FORMATS = ("text", "boxes", *DRAWN)
BINARY = ("png", "pdf")


@click.command("render")
@click.argument("plans", nargs=-1, required=True, metavar="PLAN|DATASET...")
@reading
@dataset_places
@click.option("--id", "wanted", metavar="ID", help="Draw only the record of this id.")
@written(*FORMATS, help="How to draw.")
@click.option("--color/--no-color", default=None, help="Colours of text; on a terminal when left out.")
@drawing
@outputs(folder=True)
def command(
    plans: tuple[str, ...],
    dialect: str | None,
    wanted: str | None,
    form: str,
    output: str | None,
    color: bool | None,
    look: Look,
    **fields: Any,
) -> int:
    """Draw a plan, all plans of a file, or the gold plans of a data set.

    PLAN is a plan, a file of records, a directory or a quoted pattern of files, or the name of a data set;
    - is standard input. The format text
    lists a call a line by topological generation; boxes needs netext, and svg, png and pdf need
    pygraphviz or Graphviz. Exit code: 0 drawn, 1 a plan could not be read or drawn, 2 usage, 3 nothing
    could be drawn.
    """
    refuse_idle([Applies(("color",), form == "text", "to --format text")])
    refuse_stdin_twice(*plans)
    sources = pe.open_sources(plans, **fields, tell=note)
    refuse_idle_places(sources)
    chosen = _chosen(" ".join(plans), sources, dialect, wanted)
    count = chosen.number
    color = output is None and colorful() if color is None else color
    empty: list[Read] = []
    drawn = _drawn(_with_plans(chosen.reads, empty), form, {**look._asdict(), "color": color})
    if output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        failed = _write_folder(drawn, Path(output), form, count, _files(sources))
    elif count > 1 and form != "text":
        raise click.UsageError(
            f"{' '.join(plans)} holds {count:,} plans, which do not fit one {form}: name one with --id, "
            "or a directory with -o"
        )
    elif output is None and form in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not for a terminal: name a file with -o")
    else:
        failed = _write_one(drawn, output, count)
    if empty:
        note(f"{len(empty):,} of {count:,} records hold no plan")
    left = count - len(empty)
    return 3 if left == 0 or failed == left > 1 else min(failed, 1)


class _Chosen(NamedTuple):
    """The plans that are asked for, and how many."""

    reads: Iterable[Read]
    number: int


def _chosen(names: str, sources: Sequence[Source], dialect: str | None, wanted: str | None) -> _Chosen:
    every = chain.from_iterable(source.read(dialect) for source in sources)
    count = sum(map(len, sources))
    if wanted is not None:
        named = [read for read in every if str(read.record) == wanted]
        if not named:
            raise click.UsageError(f"{names}: no record has the id {wanted!r}")
        return _Chosen(named, len(named))
    if count == 0:
        raise click.UsageError(f"{names} holds no records")
    if count == 1 and dialect is None:
        one = list(every)
        if one[0].plan is not None and one[0].plan.dialect is not None:
            note(f"read as {one[0].plan.dialect}")
        return _Chosen(one, 1)
    return _Chosen(every, count)


def _with_plans(reads: Iterable[Read], empty: list[Read]) -> Iterator[Read]:
    """The records but those that hold no plan, which are put into `empty`."""
    for read in reads:
        if read.plan is None and read.error is None:
            empty.append(read)
        else:
            yield read


def _drawn(reads: Iterable[Read], form: str, look: dict[str, Any]) -> Iterator[tuple[Read, Drawing]]:
    """Each record with its drawing; one that cannot be read has a drawing that says why."""
    from planner_eval.drawing.layout import Drawing

    waiting: deque[Read] = deque()

    def plans() -> Iterator[Plan]:
        for read in reads:
            waiting.append(read)
            if read.plan is not None:
                yield read.plan

    def unread() -> Iterator[tuple[Read, Drawing]]:
        while waiting and waiting[0].plan is None:
            read = waiting.popleft()
            yield read, Drawing(error=read.error or "")

    for one in pe.render_many(plans(), format=form, **look):
        yield from unread()
        yield waiting.popleft(), one
    yield from unread()


def _write_one(drawn: Iterator[tuple[Read, Drawing]], output: str | None, count: int) -> int:
    """Write all drawings one after another; how many failed."""
    failed = 0
    parts = []
    for read, one in drawn:
        _say(read, one)
        failed += bool(one.error)
        if count > 1:
            state = ": not drawn" if one.error else ""
            parts.append(printable(f"# {read.where}{state}\n").encode())
        parts.append(one.data)
    if failed < count:
        emit(b"".join(parts), output)
    return failed


def _files(sources: Sequence[Source]) -> frozenset[str]:
    """The files that are read, wherever links to them lie."""
    files = (source.file for source in sources if source.file is not None)
    return frozenset(os.path.realpath(name) for file in files for name in file.parts or (file.name,))


def _write_folder(
    drawn: Iterator[tuple[Read, Drawing]], folder: Path, form: str, count: int, inputs: frozenset[str]
) -> int:
    """Write a file a record; how many failed. What is written stays when this is interrupted."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = {"text": "txt", "boxes": "txt", "mermaid": "mmd"}.get(form, form)
    failed = 0
    used: set[str] = set()
    hidden = not sys.stderr.isatty()
    with click.progressbar(drawn, length=count, label="drawing", file=sys.stderr, hidden=hidden) as bar:
        for read, one in bar:
            _say(read, one)
            failed += bool(one.error)
            if not one.error:
                file = folder / f"{_file_name(read, used)}.{suffix}"
                if os.path.realpath(file) in inputs and not file.is_symlink():
                    raise InputError(f"{file} is read by this command: name another folder")
                write(file, one.data, follow=False)  # a link in the folder may lead anywhere
    note(f"{len(used):,} of {count:,} plans drawn into {folder}")
    return failed


def _file_name(read: Read, used: set[str]) -> str:
    """A record's id as a file name; its place where it has none, both where another has the same."""
    own = read.record if isinstance(read.record, str) else ""
    name = re.sub(r"[^\w.-]+", "_", own, flags=re.ASCII).strip("._")[:100] or f"plan-{len(used) + 1}"
    while name.lower() in used:
        name = f"{name}-{len(used) + 1}"
    used.add(name.lower())
    return name


def _say(read: Read, one: Drawing) -> None:
    """Errors and warnings of one drawing, on standard error."""
    if one.error:
        note(f"{read.where}: {one.error}")
    for diagnostic in one.diagnostics:
        if diagnostic.severity != "info":
            note(f"{read.where}: {diagnostic.message}")
