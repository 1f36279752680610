"""planeval apply: repair plans with patches."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from planner_eval.base.errors import InputError, WriteError
from planner_eval.cli.options import emit, note, output, reading, repairing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.records.files import PlanFile, Record
    from planner_eval.records.patches import Patches


@click.command("apply")
@click.argument("patch", metavar="PATCHES")
@click.argument("plan", metavar="PLANS")
@reading
@repairing
@click.option("--id", "wanted", metavar="ID", help="Repair only the plan of this id.")
@click.option(
    "--to", "target", metavar="DIALECT", default="plan", show_default=True, help="The dialect to write in."
)
@output
def command(patch: str, plan: str, target: str, output: str | None, **options: Any) -> int:
    """Apply the repairs that `planeval diff --patch` made to the plans they were made for.

    PATCHES and PLANS are files; one of them may be - for standard input. One plan is written as it is.
    Of many each takes the patch of its id, and is a JSON line of id and text, or of id and error; a plan
    for which there is no patch is written unchanged, with a note. Exit code: 0 every plan written, 1 some
    not or a patch without its plan, 2 usage, 3 none.
    """
    from planner_eval import dialects
    from planner_eval.records.files import read_file

    dialects.get(target)
    patches = _read(patch)
    read_as = {"dialect": options["dialect"], "repair": options["repair"]}
    source = read_file(plan, id_field=options["id_field"], text_field=options["text_field"])
    records = _chosen(source, options["wanted"])
    if options["wanted"] is not None or _single(patches, source):
        emit(_repaired(patches, records[0], target, read_as, alone=not source.many), output)
        return 0
    _refuse_strangers(patches, source)
    rows = list(_rows(records, patches, target, read_as))
    emit("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), output)
    unmatched = _say_unmatched(patches, source)
    written = sum("text" in row for row in rows)
    _say(rows, written)
    return 3 if not written else int(written < len(rows) or bool(unmatched) or bool(patches.broken))


def _read(name: str) -> Patches:
    from pathlib import Path

    from planner_eval.records.patches import read_patches

    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return read_patches(data.decode("utf-8-sig"), "standard input" if name == "-" else name)
    except FileNotFoundError:
        raise InputError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a directory, expected a file of patches") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: this is no patch: byte {error.start} is not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None


def _chosen(source: PlanFile, wanted: str | None) -> list[Record]:
    from planner_eval.records.patches import name_of

    chosen = [record for record in source.records if wanted is None or name_of(record) == wanted]
    if wanted is not None and len(chosen) != 1:
        found = f"{len(chosen)} records have" if chosen else "no record has"
        raise InputError(f"{source.name}: {found} the id {wanted!r}")
    return chosen


def _single(patches: Patches, source: PlanFile) -> bool:
    """Whether this is one plan and one patch, so that no id is needed to bring them together.

    Raises:
        UsageError: it is one of the one and many of the other.
    """
    named = bool(patches.by_id or patches.broken)
    if not named and len(source.records) != 1:
        raise click.UsageError(
            f"{patches.name} holds one patch without an id, {source.name} {len(source.records)} plans: "
            "name the plan with --id, or write a patch a plan with planeval diff --patch"
        )
    if named and not source.many and len(patches.by_id) + len(patches.broken) > 1:
        raise click.UsageError(
            f"{patches.name} holds {len(patches.by_id) + len(patches.broken)} patches with ids, "
            f"{source.name} one plan without an id: name a file of records, or give that plan's patch alone"
        )
    return not named or not source.many


def _refuse_strangers(patches: Patches, source: PlanFile) -> None:
    """Patches of which none is for any of the plans are those of another file."""
    from planner_eval.records.patches import name_of

    if len(patches.unknown(source.records)) == len(patches.by_id):
        one, other = next(iter(patches.by_id)), name_of(source.records[0])
        raise InputError(
            f"no patch's id is a plan's id: {patches.name} has {one!r}, {source.name} {other!r}. "
            "Are they of other plans? --id-field names the field of the id"
        )


def _repaired(patches: Patches, record: Record, target: str, read_as: dict[str, Any], *, alone: bool) -> str:
    """One plan, repaired by the only patch or, where plans and patches have ids, by that of its id."""
    from planner_eval.dialects.read import write
    from planner_eval.records.patches import apply_one, name_of

    name = name_of(record)
    if alone or not patches.by_id:
        patch = next(iter(patches.by_id.values()), patches.one)
    elif name in patches.repeated or name not in patches.by_id:
        found = "several patches have" if name in patches.repeated else "no patch has"
        raise InputError(f"{patches.name}: {found} the id {name!r}")
    else:
        patch = patches.by_id[name]
    return write(apply_one(record.plan(**read_as), patch), target)


def _rows(
    records: list[Record], patches: Patches, target: str, read_as: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    from planner_eval.dialects.read import write
    from planner_eval.records.patches import apply_patches

    for record, one in zip(records, apply_patches(records, patches, **read_as), strict=True):
        if one.plan is None:
            yield {"id": one.id, "error": one.error}
            continue
        try:
            text = write(one.plan, target)
        except WriteError as error:
            yield {"id": one.id, "error": f"{record.where}: {str(error).splitlines()[0]}"}
            continue
        yield {"id": one.id, "text": text} | ({"note": one.note} if one.note is not None else {})


def _say_unmatched(patches: Patches, source: PlanFile) -> int:
    """Name the patches that no plan took, and lines that are no patch; how many patches there are such."""
    for place in patches.broken[:5]:
        note(place)
    if len(patches.broken) > 5:
        note(f"… and {len(patches.broken) - 5} more lines that hold no patch with an id")
    unknown = patches.unknown(source.records)
    lost = [key for key in unknown if "operations" in patches.by_id[key]]
    for ids, what in ((lost, "patches"), ([k for k in unknown if k not in lost], "lines without a patch")):
        if ids:
            more = ", …" if len(ids) > 5 else ""
            note(f"{len(ids)} {what} for no plan of {source.name}: {', '.join(ids[:5])}{more}")
    return len(lost)


def _say(rows: list[dict[str, Any]], written: int) -> None:
    """How many records became what."""
    kept = sum("note" in row for row in rows)
    said = f"{len(rows)} records: {written} written" + (f" ({kept} unchanged)" if kept else "")
    failed = len(rows) - written
    note(said + (f", {failed} not: the field error of their lines says why" if failed else ""))
