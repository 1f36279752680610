"""planeval convert: write plans in another notation."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.formats import NOTATED
from planner_eval.cli.options import computing, dialect_option, emit, note, outputs, reading
from planner_eval.cli.sources import dataset_places, read_plans
from planner_eval.cli.tally import Tally, losses_said
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from planner_eval.records.files import Record


@click.command("convert")
@click.argument("files", nargs=-1, required=True, metavar="FILE|DATASET...")
@reading
@dataset_places
@dialect_option("--to", "target", required=True, help="The notation to write; see planeval dialects.")
@click.option("--repair", is_flag=True, help="Mend small faults where strict reading fails; each is listed.")
@computing
@click.option("--catalog", metavar="FILE", help="A tool catalog that types the values of untyped notations.")
@click.option("--loss", is_flag=True, help="Give up what the notation cannot say, and say what was lost.")
@outputs(*NOTATED)
def command(
    files: tuple[str, ...],
    dialect: str | None,
    target: str,
    repair: bool,
    compute: str | None,
    catalog: str | None,
    loss: bool,
    output: str | None,
    **fields: Any,
) -> int:
    """Write plans in another notation: one plan as it is, many as JSON lines of id and text.

    FILE may be a directory or a quoted pattern of files; lines of several files say
    which. One of many that cannot be read or written is a line of id and error.
    What the notation cannot say is an error; with --loss it is given up, and each loss is listed.
    Exit code: 0 all written, 1 some not, 2 usage, 3 none.
    """
    from planner_eval import dialects
    from planner_eval.verbs.reading import types_of

    dialects.get(target)
    sources = read_plans(files, **fields)
    many = len(sources) > 1 or sources[0].many
    records = [record for source in sources for record in source.records]
    how: dict[str, Any] = {"dialect": dialect, "repair": repair, "compute": compute}
    how["tools"] = catalog and types_of(catalog)
    lines: list[str] = []
    tally, losses, written = Tally(), Counter[str](), 0
    for record in counting(records, len(records)):
        try:
            plan = pe.parse(record, **how)
            tally.took(plan)
            done = pe.convert(plan, target, loss=loss)
            row = {"text": done.text}
            losses.update(lost.code for lost in done.losses)
            for lost in done.losses:
                note(f"{record.where}: {lost.code}: {lost.message}")
        except ParseError as error:
            tally.missed(error)
            row = {"error": _said(error, record, many=many)}
        except WriteError as error:
            row = {"error": _said(error, record, many=many)}
        if many:
            head = {"file": record.file, "id": record.id} if len(sources) > 1 else {"id": record.id}
            lines.append(json.dumps(head | row, ensure_ascii=False))
        elif "text" in row:
            lines.append(row["text"])
        written += "text" in row
    if lines or written == len(records):
        emit("\n".join(lines), output)
    if many:
        unsaid = tally.read - written
        cannot = f", {unsaid:,} cannot be said in it" if unsaid else ""
        note(f"{tally}; {written:,} written as {target}{cannot}{losses_said(losses)}")
    return 0 if written == len(records) else 1 if written else 3


def _said(error: Exception, record: Record, *, many: bool) -> str:
    """Why a record is not written, in one line for its row; in full on standard error where it is alone."""
    if not many:
        note(f"{record.where}: {error}")
    return f"{record.where}: {str(error).partition(chr(10))[0]}"
