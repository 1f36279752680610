"""planeval convert: write plans in another notation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.formats import NOTATIONS, formats_of, shows
from planner_eval.base.tables import table
from planner_eval.base.text import encodable, format_count, join_pieces, to_json
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    LIST_ASPECTS,
    argument,
    compute_option,
    dialect_option,
    emit,
    list_format,
    list_format_option,
    note,
    option,
    output_option,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.outcome import Tally, losses_text
from planner_eval.cli.pairs import missing_argument
from planner_eval.cli.sources import dataset_options, id_option, read_plans, refuse_stdin_twice, select_by_id
from planner_eval.cli.workers import PlansJob, WorkOptions, run_plans_job, work_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner_eval.comparison.patch_files import Patches, PatchResult
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


@click.command("convert", cls=Command)
@argument("files", "FILE|DATASET...", required=False)
@option("--list", "List the notations; with FILE, show an example of each one named.", "listing")
@list_format_option(*LIST_ASPECTS, help="With --list: output format.")
@reading_options
@dataset_options
@dialect_option("--to", "The notation to write; see --list.", "target")
@option("--repair", "Repair small syntax errors where strict reading fails, and list them.")
@compute_option
@option("--catalog FILE", "A tool catalog that gives the types of values in untyped notations.")
@option("--loss", "Drop what the notation cannot express, and list it.")
@option("--patch FILE", "Apply patches of diff --patch or suggest --patch, each to the plan with its id.")
@id_option("Write only the plan of this id")
@work_options
@output_option
def command(
    files: tuple[str, ...],
    listing: bool,
    form: str | None,
    dialect: str | None,
    target: str | None,
    repair: bool,
    compute: str | None,
    catalog: str | None,
    loss: bool,
    patch: str | None,
    wanted: tuple[str, ...],
    running: WorkOptions,
    output: str | None,
    **fields: Any,
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
    form = list_format(form, output, *(formats_of(*LIST_ASPECTS) if listing else NOTATIONS))
    if listing:
        emit("\n\n".join(_dialects_text(name, form) for name in files or (None,)), output)
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
    sources = read_plans(files, **fields)
    if wanted:
        sources = [_select_records(source, wanted) for source in sources]
    if patch is not None:
        reading = {"dialect": dialect, "repair": repair, "compute": compute}
        return write_patched(patch, sources[0], wanted, target, output, reading)
    many = len(sources) > 1 or (sources[0].many and len(wanted) != 1)
    how: dict[str, Any] = {"dialect": dialect, "repair": repair, "compute": compute}
    how["tools"] = catalog and types_of(catalog)
    job = _ConvertJob(how, target, loss, many, named=len(sources) > 1)
    with run_plans_job(sources, job, running) as (tally, lines):
        for message in (text for line in lines for text in json.loads(line)[1]):
            note(message)
        if many or tally.written:
            emit(join_pieces(json.loads(line)[0] for line in lines), output)
    written: int = tally.written
    if many:
        unsaid = tally.read - written
        cannot = f", {unsaid:,} cannot be expressed in it" if unsaid else ""
        note(f"{tally}; {written:,} written as {target}{cannot}{losses_text(tally.losses)}")
    return 0 if written == sum(len(source.records) for source in sources) else 1 if written else 3


def _select_records(source: PlanFile, wanted: tuple[str, ...]) -> PlanFile:
    """The records of some ids, in their own order."""
    records = select_by_id(source.records, wanted, lambda record: record.name, source.name)
    return source._replace(records=tuple(records))


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
        return json.dumps(self._written(record, fold))

    def _written(self, record: Record, tally: Tally) -> tuple[str, list[str]]:
        messages: list[str] = []
        try:
            plan = pe.parse(record, **self.reading)
            tally.took(plan)
            converted = pe.convert(plan, self.target, loss=self.loss, tools=self.reading["tools"])
            row = {"text": converted.text}
            tally.losses.update(loss.code for loss in converted.losses)
            tally.written += 1
            messages += [f"{record.where}: {loss.code}: {loss.message}" for loss in converted.losses]
        except (ParseError, WriteError) as error:
            if isinstance(error, ParseError):
                tally.missed(error)
            row = {"error": f"{record.where}: {str(error).partition(chr(10))[0]}"}
            if not self.many:  # in full where it is alone
                messages.append(f"{record.where}: {error}")
        if not self.many:
            return encodable(row.get("text", "")), messages
        head = {"file": record.file, "id": record.id} if self.named else {"id": record.id}
        return encodable(to_json(head | row)), messages


def _dialects_text(name: str | None, form: str) -> str:
    """The notations and the frameworks whose files are known, or one notation with its example."""
    from planner_eval.reading.files.frameworks import layout_rows

    entries = pe.list_dialects(name)
    plain = shows(form, "plain")
    if shows(form, "document") and not plain and name is None:
        from planner_eval.reading.dialects.listing import dialect_tables

        return dialect_tables()
    if shows(form, "data"):
        return to_json([entry._asdict() for entry in entries], 1)
    if name is not None and plain:
        entry = entries[0]
        remark = f"\n{entry.note}" if entry.note else ""
        return f"{entry.name}: {entry.title}{remark}\n\n{entry.example}"
    rows = [
        {"dialect": e.name, "what it is": e.title, "references": e.references, "seen": e.checked}
        for e in entries
    ]
    layouts = table(layout_rows(), form, width=100) if plain and name is None else ""
    return "\n\n".join(filter(None, (table(rows, form, width=80), layouts)))


# ----------------------------------------------------------------------
# planeval convert --patch: plans repaired with what ``planeval diff --patch`` wrote.
def write_patched(
    patch_file: str,
    source: PlanFile,
    wanted: Sequence[str],
    target: str,
    output: str | None,
    reading: Mapping[str, Any],
) -> int:
    """Write plans repaired: one as it is, of many a line each, with the patch of its id.

    Args:
        patch_file: The patches, a file's name.
        source: The plans.
        wanted: Ids of those to repair; all when empty.
        target: The notation to write.
        output: The file that is written; None for standard output.
        reading: How plans are read: ``dialect``, ``repair``, ``compute``.

    Returns:
        The exit code.
    """
    from planner_eval.plan.model import Plan

    patches = pe.read_patches(patch_file)
    wanted_id = wanted[0] if len(wanted) == 1 else None
    try:
        patched = pe.apply(patches, source, id=wanted_id, **reading)
    except ParseError as error:
        note(f"{next(r.where for r in source.records if wanted_id in (None, r.name))}: {error}")
        return 3
    if isinstance(patched, Plan):
        emit(pe.write(patched, target), output)
        return 0
    pairs = zip(source.records, patched, strict=True)
    rows = [_patched_row(record, source.content, result, target) for record, result in pairs]
    emit("\n".join(to_json(row) for row in rows), output)
    unmatched = 0 if wanted else _say_unmatched(patches, source)
    written = sum("text" in row for row in rows)
    _say_counts(rows, written)
    return 3 if not written else int(written < len(rows) or bool(unmatched) or bool(patches.broken))


def _patched_row(record: Record, content: str | None, patched: PatchResult, target: str) -> dict[str, Any]:
    """The record with the patched plan in the place of its own: its question and tools stay with it."""
    if patched.plan is None:
        return {"id": patched.id, "error": patched.error}
    try:
        text = pe.write(patched.plan, target)
    except WriteError as error:
        return {"id": patched.id, "error": f"{record.where}: {str(error).splitlines()[0]}"}
    others = {name: value for name, value in record.fields.items() if name not in (content, "id")}
    note = {"note": patched.note} if patched.note is not None else {}
    return {"id": patched.id, content if content and "text" in others else "text": text, **others, **note}


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
    note(message + (f", {failed} not: see the field 'error' of those lines" if failed else ""))
