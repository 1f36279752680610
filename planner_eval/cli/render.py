"""planeval render: draw a plan, or many."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner_eval.cli.drawing import drawing
from planner_eval.cli.options import emit, note, reading

if TYPE_CHECKING:
    from planner_eval.files import Record
    from planner_eval.model import Plan
    from planner_eval.render.layout import Drawing

FORMATS = ("text", "boxes", "svg", "png", "pdf", "dot", "mermaid")
SUFFIXES = {"txt": "text", "gv": "dot", "mmd": "mermaid"}
BINARY = ("png", "pdf")


def format_of(output: str | None, default: str) -> str:
    """The format that an output file's suffix names."""
    suffix = output.rpartition(".")[2].lower() if output and "." in output else ""
    return SUFFIXES.get(suffix, suffix if suffix in FORMATS else default)


@click.command("render")
@click.argument("plan", metavar="PLAN")
@reading
@click.option("--id", "wanted", metavar="ID", help="Draw only the record of this id.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to draw; by the suffix of -o when left out, else text.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write to FILE, or a file a record into a directory; standard output when left out.",
)
@click.option("--color/--no-color", default=None, help="Colours of text; on a terminal when left out.")
@drawing
def command(plan: str, form: str | None, output: str | None, wanted: str | None, **options: Any) -> int:
    """Draw a plan, or all plans of a file.

    PLAN is a plan, or a file of records; - is standard input. The format text lists a call a line by
    topological generation; boxes needs netext, and svg, png and pdf need pygraphviz or Graphviz.
    Exit code: 0 drawn, 1 a plan could not be read or drawn, 2 usage, 3 nothing could be drawn.
    """
    from planner_eval.files import read_file

    form = form or format_of(output, "text")
    file = read_file(plan, id_field=options["id_field"], text_field=options["text_field"])
    records = [r for r in file.records if wanted is None or r.id == wanted]
    if not records:
        reason = f"no record has the id {wanted!r}" if file.records else "it holds no records"
        raise click.UsageError(f"{file.name}: {reason}")
    color = options["color"]
    if color is None:
        color = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    look = {name: options[name] for name in ("theme", "deadline", "force")}
    drawn = _drawn(records, options["dialect"], form, {**look, "color": color})
    into_folder = output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())
    if into_folder:
        assert output is not None
        failed = _write_folder(drawn, Path(output), form, len(records))
    elif len(records) > 1 and form != "text":
        raise click.UsageError(
            f"{file.name} holds {len(records):,} plans, which do not fit one {form}: name one with --id, "
            "or a directory with -o"
        )
    else:
        if output is None and form in BINARY and sys.stdout.isatty():
            raise click.UsageError(f"{form} is not for a terminal: name a file with -o")
        failed = _write_one(drawn, output, len(records))
    return 0 if not failed else 3 if failed == len(records) > 1 else 1


def _drawn(
    records: list[Record], dialect: str | None, form: str, look: dict[str, Any]
) -> Iterator[tuple[Record, Drawing]]:
    """Each record with its drawing; one that cannot be read has a drawing that says why."""
    from planner_eval.errors import ParseError
    from planner_eval.render import render_many
    from planner_eval.render.layout import Drawing

    waiting: list[tuple[Record, str]] = []

    def plans() -> Iterator[Plan]:
        for record in records:
            try:
                plan = record.plan(dialect=dialect)
            except ParseError as error:
                waiting.append((record, str(error)))
                continue
            waiting.append((record, ""))
            if dialect is None and len(records) == 1:
                note(f"read as {plan.dialect}")
            yield plan

    for one in render_many(plans(), format=form, **look):
        while waiting[0][1]:
            yield waiting[0][0], Drawing(error=waiting.pop(0)[1])
        yield waiting.pop(0)[0], one
    for record, error in waiting:
        yield record, Drawing(error=error)


def _write_one(drawn: Iterator[tuple[Record, Drawing]], output: str | None, count: int) -> int:
    """Write all drawings one after another; how many failed."""
    from planner_eval.text import printable

    failed = 0
    parts = []
    for record, one in drawn:
        _say(record, one)
        failed += bool(one.error)
        if count > 1:
            state = ": not drawn" if one.error else ""
            parts.append(printable(f"# {record.where}{state}\n").encode())
        parts.append(one.data)
    if failed < count:
        emit(b"".join(parts), output)
    return failed


def _write_folder(drawn: Iterator[tuple[Record, Drawing]], folder: Path, form: str, count: int) -> int:
    """Write a file a record; how many failed. What is written stays when this is interrupted."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = {"text": "txt", "boxes": "txt", "mermaid": "mmd"}.get(form, form)
    failed = 0
    used: set[str] = set()
    hidden = not sys.stderr.isatty()
    with click.progressbar(drawn, length=count, label="drawing", file=sys.stderr, hidden=hidden) as bar:
        for record, one in bar:
            _say(record, one)
            failed += bool(one.error)
            if not one.error:
                (folder / f"{_file_name(record, used)}.{suffix}").write_bytes(one.data)
    note(f"{count - failed:,} of {count:,} plans drawn into {folder}")
    return failed


def _file_name(record: Record, used: set[str]) -> str:
    """A record's id as a file name, or its place where it has none or another has the same."""
    name = re.sub(r"[^\w.-]+", "_", record.id or "", flags=re.ASCII).strip("._")[:100]
    if not name or name.lower() in used:
        name = f"{name or 'plan'}-{record.position + 1}"
    used.add(name.lower())
    return name


def _say(record: Record, one: Drawing) -> None:
    """Errors and warnings of one drawing, on standard error."""
    if one.error:
        note(f"{record.where}: {one.error}")
    for diagnostic in one.diagnostics:
        if diagnostic.severity != "info":
            note(f"{record.where}: {diagnostic.message}")
