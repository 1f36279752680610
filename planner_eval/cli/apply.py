"""planeval apply: repair plans with patches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.output_files import NOTATION_FORMATS
from planner_eval.base.text import format_count
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    dialect_option,
    emit,
    note,
    output_options,
    reading_options,
    repair_options,
)
from planner_eval.cli.sources import dataset_options, id_option, read_plans, refuse_stdin_twice, select_by_id

if TYPE_CHECKING:
    from planner_eval.comparison.patch_files import Patches, PatchResult
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


@click.command("apply", cls=Command)
@click.argument("patch", metavar="PATCHES")
@click.argument("plan", metavar="PLANS|DATASET")
@reading_options
@dataset_options
@repair_options
@id_option("Repair only the plan of this id")
@dialect_option("--to", "target", default="plan", show_default=True, help="The dialect to write in.")
@output_options(*NOTATION_FORMATS)
def command(
    patch: str,
    plan: str,
    dialect: str | None,
    repair: bool,
    compute: str | None,
    wanted: tuple[str, ...],
    target: str,
    output: str | None,
    **fields: Any,
) -> int:
    """Apply patches of planeval diff --patch or suggest --patch to the plans they were made for.

    PATCHES and PLANS are files; one of them may be - for standard input. A single plan is written as it is.
    Of several plans, each gets the patch with its id and becomes a JSON line of id and text, or of id and
    error; a plan without a patch is written unchanged, with a note.
    Exit code: 0 all plans written, 1 some not, or a patch without its plan, 2 usage, 3 none.
    """
    from planner_eval.plan.model import Plan

    refuse_stdin_twice(patch, plan)
    patches = pe.read_patches(patch)
    source = read_plans([plan], **fields)[0]
    wanted_id = wanted[0] if len(wanted) == 1 else None
    if len(wanted) > 1:
        records = select_by_id(source.records, wanted, lambda record: record.name, source.name)
        source = source._replace(records=tuple(records))
    try:
        patched = pe.apply(patches, source, id=wanted_id, dialect=dialect, repair=repair, compute=compute)
    except ParseError as error:
        note(f"{next(r.where for r in source.records if wanted_id in (None, r.name))}: {error}")
        return 3
    if isinstance(patched, Plan):
        emit(pe.write(patched, target), output)
        return 0
    rows = [_row(record, result, target) for record, result in zip(source.records, patched, strict=True)]
    emit("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), output)
    unmatched = 0 if wanted else _say_unmatched(patches, source)
    written = sum("text" in row for row in rows)
    _say_counts(rows, written)
    return 3 if not written else int(written < len(rows) or bool(unmatched) or bool(patches.broken))


def _row(record: Record, patched: PatchResult, target: str) -> dict[str, Any]:
    if patched.plan is None:
        return {"id": patched.id, "error": patched.error}
    try:
        text = pe.write(patched.plan, target)
    except WriteError as error:
        return {"id": patched.id, "error": f"{record.where}: {str(error).splitlines()[0]}"}
    return {"id": patched.id, "text": text} | ({"note": patched.note} if patched.note is not None else {})


def _say_unmatched(patches: Patches, source: PlanFile) -> int:
    """Name the patches that no plan took, and lines that are no patch; how many patches there are such."""
    for line in patches.broken[:5]:
        note(line)
    if len(patches.broken) > 5:
        note(f"… and {len(patches.broken) - 5} more lines that hold no patch with an id")
    unknown = patches.unknown(source.records)
    unapplied = [key for key in unknown if "operations" in patches.by_id[key]]
    for keys, what in (
        (unapplied, "patches"),
        ([k for k in unknown if k not in unapplied], "lines without a patch"),
    ):
        if keys:
            more = ", …" if len(keys) > 5 else ""
            note(f"{len(keys)} {what} match no plan of {source.name}: {', '.join(keys[:5])}{more}")
    return len(unapplied)


def _say_counts(rows: list[dict[str, Any]], written: int) -> None:
    """How many records became what."""
    unchanged = sum("note" in row for row in rows)
    message = f"{format_count(len(rows), 'record')}: {written} written" + (
        f" ({unchanged} unchanged)" if unchanged else ""
    )
    failed = len(rows) - written
    note(message + (f", {failed} not: see the field error of their lines" if failed else ""))
