"""Plans repaired."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import counted
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.patch import make_patch
from planner_eval.plan.model import Plan
from planner_eval.records import patches as patching
from planner_eval.records.encoding import decoded, odd_byte
from planner_eval.records.files import PlanFile, Record
from planner_eval.records.opening import open_path
from planner_eval.records.pairing import refuse_unknown
from planner_eval.records.patches import Patched, Patches, apply_one, apply_patches
from planner_eval.records.plans import read_plan
from planner_eval.verbs.reading import Source, is_one, no_text, parse, read


def read_patches(source: Any) -> Patches:
    """The patches of a file, or in memory.

    Args:
        source: The path of a file that ``planeval diff --patch`` wrote (``"-"`` is standard input); one
            patch as data, a list of them with ids, or a diff, whose repair is meant.

    Raises:
        InputError: the file is missing or a directory, or holds no patch.

    >>> read_patches([{"id": "q1", "operations": []}]).by_id["q1"]["operations"]
    []
    """
    if isinstance(source, Patches):
        return source
    if isinstance(source, Diff):
        return Patches("the diff", make_patch(source))
    if not isinstance(source, (str, os.PathLike)):
        return patching.patches_of(source, "patches")
    opened = open_path(os.fspath(source), "patches")
    text, odd = decoded(opened.data, opened.name)
    if odd:
        raise InputError(f"{opened.name}: this is no patch: {odd_byte(text)}")
    return patching.read_patches(text, opened.name)


def apply(
    patch: Any,
    plan: Source,
    *,
    id: str | None = None,
    dialect: str | None = None,
    repair: bool = False,
    compute: str | None = None,
) -> Plan | Iterator[Patched]:
    """Apply the repairs that a diff makes to the plans they were made for.

    Args:
        patch: A patch, a diff, or what :func:`planner_eval.read_patches` takes or gave.
        plan: The plan: itself, its text or data. Or many: the path of a file, what
            :func:`planner_eval.read` gave, or a list.
        id: Repair only the plan of this id.
        dialect: The notation of the plans; recognised when left out.
        repair: Mend small faults of plans that cannot be read strictly.
        compute: ``"arithmetic"``: expressions of numbers become the numbers they come to.

    Returns:
        One plan repaired, where there is one plan and one patch, or `id` is given; else what became of
        each record, in order, each with the patch of its id.

    Raises:
        InputError: this is no patch, it does not fit the plan, or no patch is for any of the plans.

    >>> from planner_eval.verbs.evaluating import diff
    >>> found = diff("f(#x='1')", "f(#x='2')")
    >>> apply(found, "f(#x='1')").calls[0].arguments
    (('x', '2'),)
    """
    patches = read_patches(patch)
    reading: dict[str, Any] = {"dialect": dialect, "repair": repair, "compute": compute}
    if is_one(plan) and not patches.by_id:
        return apply_one(parse(plan, **reading), patches.one)
    file = read(no_text(plan))
    records = _chosen(file, id)
    if id is not None or _single(patches, file):
        record_patch = _patch_of(patches, records[0], alone=not file.many)
        plan = read_plan(records[0], **reading)
        try:
            return apply_one(plan, record_patch)
        except InputError as error:
            raise InputError(f"{patches.name}, for {records[0].where}: {error}") from None
    _refuse_strangers(patches, file)
    return apply_patches(records, patches, **reading)


def _chosen(file: PlanFile, id: str | None) -> list[Record]:
    chosen = [record for record in file.records if id is None or record.name == id]
    if id is not None:
        refuse_unknown([id], dict.fromkeys(record.name for record in file.records), file.name)
        if len(chosen) > 1:
            raise InputError(f"{file.name}: {len(chosen)} records have the id {id!r}")
    return chosen


def _single(patches: Patches, file: PlanFile) -> bool:
    """Whether this is one plan and one patch, so that no id is needed to bring them together.

    Raises:
        InputError: it is one of the one and many of the other.
    """
    named = len(patches.by_id) + len(patches.broken)
    if not named and len(file.records) != 1:
        raise InputError(
            f"{patches.name} holds one patch without an id, "
            f"{file.name} {counted(len(file.records), 'plan')}: "
            "name the plan with --id, or write a patch a plan with planeval diff --patch"
        )
    if not file.many and named > 1:
        raise InputError(
            f"{patches.name} holds {named} patches with ids, {file.name} one plan without an id: "
            "name a file of records, or give that plan's patch alone"
        )
    return not named or not file.many


def _refuse_strangers(patches: Patches, file: PlanFile) -> None:
    """Patches of which none is for any of the plans are those of another file."""
    if len(patches.unknown(file.records)) == len(patches.by_id):
        patch_id, plan_id = next(iter(patches.by_id)), file.records[0].name
        raise InputError(
            f"no patch's id is a plan's id: {patches.name} has {patch_id!r}, {file.name} {plan_id!r}. "
            "Are they of other plans? --id-field names the field of the id"
        )


def _patch_of(patches: Patches, record: Record, *, alone: bool) -> Any:
    """The only patch or, where plans and patches have ids, that of the record's id."""
    name = record.name
    if alone or not patches.by_id:
        return next(iter(patches.by_id.values()), patches.one)
    if name in patches.repeated or name not in patches.by_id:
        problem = "several patches have" if name in patches.repeated else "no patch has"
        raise InputError(f"{patches.name}: {problem} the id {name!r}")
    return patches.by_id[name]
