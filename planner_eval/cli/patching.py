"""planeval convert --patch: plans repaired with what ``planeval diff --patch`` wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.text import format_count
from planner_eval.cli.options import emit, note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner_eval.comparison.patch_files import Patches, PatchResult
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


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
    rows = [_row(record, source.content, result, target) for record, result in pairs]
    emit("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), output)
    unmatched = 0 if wanted else _say_unmatched(patches, source)
    written = sum("text" in row for row in rows)
    _say_counts(rows, written)
    return 3 if not written else int(written < len(rows) or bool(unmatched) or bool(patches.broken))


def _row(record: Record, content: str | None, patched: PatchResult, target: str) -> dict[str, Any]:
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
    note(message + (f", {failed} not: see the field error of their lines" if failed else ""))
