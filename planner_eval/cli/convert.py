"""planeval convert: write plans in another notation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import WriteError
from planner_eval.base.formats import NOTATIONS, View, formats_of, rows_view
from planner_eval.base.text import encodable, format_count, join_pieces, to_json
from planner_eval.cli.options import (
    as_command,
    compute_option,
    dialect_option,
    missing_argument,
    note,
    option,
    refuse_idle,
    repair_option,
    types_option,
)
from planner_eval.cli.output import LIST_ASPECTS, Output, output_options
from planner_eval.cli.sources import Input, id_option, input_options, refuse_stdin_twice
from planner_eval.cli.workers import PlansJob, Tally, Work, counts_text, work_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.base.tables import Style
    from planner_eval.comparison.patch_files import Patches, PatchResult
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


@as_command("convert", files="FILE|DATASET...?")
@option("--list", "List the notations; with FILE, show an example of each one named.", "listing")
@input_options
@dialect_option("--to", "The notation to write; see --list.", "target")
@repair_option
@compute_option
@types_option
@option("--loss", "Drop what the notation cannot express, and list it.")
@option("--patch FILE", "Apply patches of diff --patch or suggest --patch, each to the plan with its id.")
@id_option("Write only the plan of this id")
@work_options
@output_options(*LIST_ASPECTS, help="With --list: output format.", late=True)
def command(
    files: tuple[str, ...],
    listing: bool,
    source: Input,
    target: str | None,
    repair: bool,
    compute: str | None,
    catalog: str | None,
    loss: bool,
    patch: str | None,
    wanted: tuple[str, ...],
    work: Work,
    output: Output,
) -> int:
    """Convert plans to another notation, or apply patches: one plan as text, several as JSON lines.

    FILE may be a directory or a quoted pattern of files; lines of several files name their file. A record
    that cannot be read or written becomes a line of id and error. What the notation cannot express is an
    error; --loss drops and lists it. In notations without types values are texts unless --catalog gives
    their types. With --patch each plan is written as its patch makes it, by default in the notation plan; one
    without a patch is written unchanged, with a note. --list shows the notations.
    Exit code: 0 all written, 1 some not, or a patch without its plan, 2 usage error, 3 none.
    """
    refuse_idle(
        ("form", listing, "with --list"),
        (
            "target repair compute catalog loss patch wanted",
            not listing,
            "without --list",
        ),
        (
            "catalog loss record_deadline part engine address",
            patch is None,
            "without --patch",
        ),
    )
    output = output.choose(*(formats_of(*LIST_ASPECTS) if listing else NOTATIONS))
    if listing:
        output.emit("\n\n".join(_list_dialects(name).text(output.form) for name in files or (None,)))
        return 0
    click.get_current_context().params["form"] = "plans"  # which no colours are for
    target = "plan" if target is None and patch is not None else target
    if not files or target is None:
        raise missing_argument("files") if not files else click.UsageError("Missing option '--to'.")
    if patch is not None and len(files) > 1:
        raise click.UsageError("--patch takes one file of plans")
    from planner_eval.reading import dialects
    from planner_eval.reading.parse import types_of

    dialects.get(target)
    if patch is not None:
        refuse_stdin_twice(*files, patch)
    sources = source.read(*files, wanted=wanted)
    reading: dict[str, Any] = {"dialect": source.dialect, "repair": repair, "compute": compute}
    if patch is not None:
        return _write_patched(pe.read_patches(patch), sources[0], wanted, target, output, reading)
    many = len(sources) > 1 or (sources[0].many and len(wanted) != 1)
    reading["tools"] = catalog and types_of(catalog)
    job = _ConvertJob(reading, target, loss, many, named=len(sources) > 1)
    with job.run(sources, work) as (tally, lines):
        note(*(text for line in lines for text in json.loads(line)[1]))
        if many or tally.written:
            output.emit(join_pieces(json.loads(line)[0] for line in lines))
    written: int = tally.written
    if many:
        unsaid = tally.read - written
        message = f"{tally}; {written:,} written as {target}"
        message += f", {unsaid:,} cannot be expressed in it" if unsaid else ""
        if total := tally.losses.total():
            message += f"; {total:,} loss{'es' * (total != 1)} ({counts_text(tally.losses)})"
        note(message)
    return 0 if written == sum(len(file.records) for file in sources) else 1 if written else 3


@dataclass(frozen=True)
class _ConvertJob(PlansJob):
    """How plans are read, and written in another notation."""

    kind, counts = "convert", Tally

    reading: dict[str, Any]
    target: str
    loss: bool
    many: bool
    named: bool

    def line(self, record: Record, fold: Tally) -> str:
        """What is written of a plan, and what is said beside."""
        messages: list[str] = []
        try:
            plan = pe.parse(record, **self.reading)
            fold.dialects[plan.dialect or "?"] += 1
            converted = pe.convert(plan, self.target, loss=self.loss, tools=self.reading["tools"])
            row = {"text": converted.text}
            fold.losses.update(loss.code for loss in converted.losses)
            fold.written += 1
            messages += [f"{record.where}: {loss.code}: {loss.message}" for loss in converted.losses]
        except (pe.ParseError, WriteError) as error:
            if isinstance(error, pe.ParseError):
                fold.missed(error)
            row = {"error": f"{record.where}: {str(error).partition(chr(10))[0]}"}
            if not self.many:  # in full where it is alone
                messages.append(f"{record.where}: {error}")
        text = row.get("text", "")
        if self.many:
            head = {"file": record.file, "id": record.id} if self.named else {"id": record.id}
            text = to_json(head | row)
        return json.dumps((encodable(text), messages))


def _list_dialects(name: str | None) -> View:
    """The notations and the frameworks whose files are known, or one notation with its example."""
    entries = pe.list_dialects(name)
    rows = [
        {"dialect": e.name, "what it is": e.title, "references": e.references, "seen": e.checked}
        for e in entries
    ]

    def document(style: Style) -> Iterator[str]:
        if style.markup:
            from planner_eval.reading.dialects.listing import dialect_tables

            yield style.table(rows, width=80) if name is not None else dialect_tables()
        elif name is not None:
            entry = entries[0]
            remark = f"\n{entry.note}" if entry.note else ""
            yield f"{entry.name}: {entry.title}{remark}\n\n{entry.example}"
        else:
            from planner_eval.reading.files.frameworks import layout_rows

            tables = ((rows, 80), (layout_rows(), 100))
            yield "\n\n".join(style.table(table, width=width) for table, width in tables)

    return rows_view(rows)._replace(document=document, data=lambda: [entry._asdict() for entry in entries])


# ----------------------------------------------------------------------
# planeval convert --patch: plans repaired with what ``planeval diff --patch`` wrote.
def _write_patched(
    patches: Patches,
    source: PlanFile,
    wanted: tuple[str, ...],
    target: str,
    output: Output,
    reading: dict[str, Any],
) -> int:
    """Write plans repaired: one as it is, of many a line each, with the patch of its id; the exit code."""
    wanted_id = wanted[0] if len(wanted) == 1 else None
    try:
        patched = pe.apply(patches, source, id=wanted_id, **reading)
    except pe.ParseError as error:
        note(f"{next(r.where for r in source.records if wanted_id in (None, r.name))}: {error}")
        return 3
    if isinstance(patched, pe.Plan):
        output.emit(pe.write(patched, target))
        return 0
    in_place = source.content != "text" and any("text" in record.fields for record in source.records)
    rows: list[str] = []
    failed = unchanged = 0
    for record, result in zip(source.records, patched, strict=True):
        row, is_error = _patched_row(record, source.content, result, target, in_place=in_place)
        rows.append(to_json(row))
        failed += is_error
        unchanged += not is_error and result.note is not None
    output.emit("\n".join(rows))
    unmatched = 0 if wanted else _say_unmatched(patches, source)
    written = len(rows) - failed
    message = f"{format_count(len(rows), 'record')}: {written} written"
    message += f" ({unchanged} unchanged)" if unchanged else ""
    note(message + (f", {failed} not: see the field 'error' of those lines" if failed else ""))
    return 3 if not written else int(bool(failed or unmatched or patches.broken))


def _patched_row(
    record: Record, content: str | None, patched: PatchResult, target: str, *, in_place: bool
) -> tuple[dict[str, Any], bool]:
    """The record with the patched plan in the place of its own, beside its question and tools; or an error.

    Returns:
        The record, and whether it is an error.
    """
    if patched.plan is None:
        return {"id": patched.id, "error": patched.error}, True
    try:
        text = pe.write(patched.plan, target)
    except WriteError as error:
        return {"id": patched.id, "error": f"{record.where}: {str(error).splitlines()[0]}"}, True
    return patched.record(text, record.fields, content, in_place=in_place), False


def _say_unmatched(patches: Patches, source: PlanFile) -> int:
    """Name the patches that no plan took, and lines that are no patch; how many patches there are such."""
    note(*patches.broken[:_MAX_NAMED])
    if len(patches.broken) > _MAX_NAMED:
        note(f"… and {len(patches.broken) - _MAX_NAMED} more lines that hold no patch with an id")
    unknown = patches.unknown(source.records)
    unapplied = [key for key in unknown if "operations" in patches.by_id[key]]
    others = [key for key in unknown if key not in unapplied]
    for keys, what in ((unapplied, "patches"), (others, "lines without a patch")):
        if keys:
            more = ", …" if len(keys) > _MAX_NAMED else ""
            named = ", ".join(keys[:_MAX_NAMED])
            note(f"{len(keys)} {what} match no plan of {source.name}: {named}{more}")
    return len(unapplied)


_MAX_NAMED = 5
"""Patches without a plan that are named."""
