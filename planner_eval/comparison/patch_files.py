"""Plans repaired with patches: each patch goes to the plan of its id.

A file of patches is what ``planeval diff --patch`` writes: one patch, or a JSON line a pair with the
pair's id and the patch, or with why there is none.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.text import format_count
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.patch import SCHEMA, apply_patch, make_patch
from planner_eval.plan.model import Plan
from planner_eval.reading.files.fields import ANSWER_FIELDS, id_text
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.frameworks import framework_of
from planner_eval.reading.files.items import decode_text, invalid_byte_error
from planner_eval.reading.files.opening import open_path
from planner_eval.reading.files.pairing import refuse_unknown_ids
from planner_eval.reading.files.record import Record, read_plan
from planner_eval.reading.files.shapes import shape_of
from planner_eval.reading.files.trials import trial_of
from planner_eval.reading.parse import Source, is_one_plan, parse, read, text_as_record


# ----------------------------------------------------------------------
# Many patches for many plans: each goes to the plan of its id, and no record is lost.
class Patches(NamedTuple):
    """The patches of one file.

    Args:
        name: The file.
        one: The patch, where the file is one without an id.
        by_id: Id → what the file holds under it: a patch, or why there is none.
        repeated: Ids that several patches have.
        broken: Places and reasons of lines that hold no patch with an id.
    """

    name: str
    one: Any = None
    by_id: Mapping[str, Any] = {}
    repeated: frozenset[str] = frozenset()
    broken: tuple[str, ...] = ()

    def unknown(self, records: Sequence[Record]) -> list[str]:
        """Ids of patches that are for none of some records."""
        names = {_named_as_patched(record, self).name for record in records}
        return [key for key in self.by_id if key not in names]


class PatchResult(NamedTuple):
    """What became of one plan.

    Args:
        id: What the record is called: its id, or its place.
        plan: The plan, repaired or as it was; None where there is an error.
        error: Why nothing can be written.
        note: Why the plan is unchanged; None where a patch was applied.
    """

    id: str
    plan: Plan | None = None
    error: str | None = None
    note: str | None = None

    def record(
        self, text: str, fields: Mapping[str, Any], content: str | None, *, in_place: bool = False
    ) -> dict[str, Any]:
        """The record of the plan: what stood beside it stays, unless that is itself read as a plan.

        Args:
            text: The plan's text.
            fields: The fields of the record that it was read from.
            content: The field of the plan there.
            in_place: Write the plan there too, as where records of the file have a `text` of their own.
        """
        answers = {content} if content in fields else ANSWER_FIELDS  # where a message has its calls
        kept_fields = {name: value for name, value in fields.items() if name != "id" and name not in answers}
        remark = {"note": self.note} if self.note is not None else {}
        key = content if content and (in_place or "text" in kept_fields) else "text"
        record = {"id": self.id, key: text, **kept_fields, **remark}
        keeps = shape_of(record).holds and framework_of(record) is None
        return record if keeps else {"id": self.id, key: text, **remark}


def read_patch_text(text: str, name: str) -> Patches:
    """The patches that a text holds: one JSON value, or JSON lines.

    Args:
        text: One patch, an array of patches with ids, or a line each.
        name: What to call the text in a message.

    Raises:
        InputError: the text holds no patch at all.

    >>> read_patch_text('{"id": 7, "operations": []}', "patches.jsonl").by_id["7"]["operations"]
    []
    """
    try:
        return patches_of(read_json(text), name)
    except ParseError as error:
        lines = list(read_json_lines(text))
        if not any(isinstance(line.data, dict) for line in lines):
            raise InputError(f"{name}: not a patch: {error.brief}") from None
    return _group_by_id([_Entry(f"line {line.number}", line.data, line.error) for line in lines], name)


def patches_of(data: Any, name: str) -> Patches:
    """The patches that data holds: one, or a list of them with ids.

    Args:
        data: What :func:`planner_eval.comparison.patch.make_patch` gives, a list of it, or what a file of
            either holds.
        name: What to call it in a message.

    Raises:
        InputError: it holds no patch at all.
    """
    if isinstance(data, list):
        return _group_by_id([_Entry(f"patch {n}", value) for n, value in enumerate(data, 1)], name)
    if isinstance(data, dict) and "id" in data:
        return _group_by_id([_Entry("line 1", data)], name)
    return Patches(name, data)


class _Entry(NamedTuple):
    """One value of a file of patches: its place, and why it is none."""

    place: str
    data: Any
    error: ParseError | None = None

    @property
    def id(self) -> str | None:
        data = self.data
        own = data.get("id") if isinstance(data, dict) and _is_patch(data) else None
        return id_text(own)

    @property
    def problem(self) -> str:
        if self.error is None:
            return f"{self.place}: expected an object with an id and operations"
        return self.error.brief


def _group_by_id(entries: Sequence[_Entry], name: str) -> Patches:
    patches: dict[str, Any] = {}
    times: Counter[str] = Counter()
    broken = []
    for entry in entries:
        key = entry.id
        if key is None:
            broken.append(entry)
        else:
            times[key] += 1
            patches[key] = entry.data
    if not patches:
        worst = [entry for entry in broken if entry.error is not None] or broken
        raise InputError(f"{name}: not a patch: {worst[0].problem if worst else 'it is empty'}")
    messages = tuple(f"{name}, {entry.problem}" for entry in broken)
    return Patches(name, None, patches, frozenset(k for k, n in times.items() if n > 1), messages)


def _is_patch(value: Mapping[str, Any]) -> bool:
    return "operations" in value or "error" in value or value.get("schema") == SCHEMA


def apply_entry(plan: Plan, patch: Any) -> Plan:
    """The plan after one entry of a file of patches.

    Raises:
        InputError: the entry says why there is no patch; or as for
        :func:`planner_eval.comparison.patch.apply_patch`.
    """
    if isinstance(patch, dict) and "operations" not in patch and "error" in patch:
        raise InputError(f"no patch was made: {patch['error']}")
    return apply_patch(plan, patch)


def apply_patches(records: Sequence[Record], patches: Patches, **reading: Any) -> Iterator[PatchResult]:
    """Apply to each plan the patch of its id.

    A plan for which there is no patch stays as it is. Where several plans or several patches have one
    id, nothing says which belongs to which, and each such plan is an error.

    Args:
        records: The plans.
        patches: The patches, by id.
        reading: How the plans are read, as for :func:`planner_eval.reading.files.record.read_plan`.

    Returns:
        One entry a record, in order.
    """
    times = Counter(record.name for record in records)
    for record in records:
        name = record.name
        if times[name] > 1:
            yield PatchResult(name, error=f"{record.where}: {times[name]} plans have the id {name!r}")
        elif name in patches.repeated:
            yield PatchResult(name, error=f"{record.where}: several patches have the id {name!r}")
        else:
            yield _patch_record(record, name, patches, reading)


def _patch_record(record: Record, name: str, patches: Patches, reading: dict[str, Any]) -> PatchResult:
    patch = patches.by_id.get(name)
    try:
        plan = read_plan(record, **reading)
        if patch is None and patches.broken:
            unreadable = f"{len(patches.broken)} lines of {patches.name} cannot be read"
            return PatchResult(name, error=f"{record.where}: no readable patch has this id, but {unreadable}")
        if patch is None:
            return PatchResult(
                name, plan, note=f"{patches.name} has no patch of this id; the plan is unchanged"
            )
        repaired = apply_entry(plan, patch)
    except ParseError as error:
        return PatchResult(name, error=f"{record.where}: {str(error).split(chr(10))[0]}")
    except InputError as error:
        return PatchResult(name, error=f"{record.where}: {error}")
    return PatchResult(name, repaired, note=None if patch["operations"] else "the patch changes nothing")


# ----------------------------------------------------------------------
# Plans repaired.
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
        return patches_of(source, "patches")
    opened = open_path(os.fspath(source), "patches")
    text, odd = decode_text(opened.data, opened.name)
    if odd:
        raise InputError(f"{opened.name}: not a patch: {invalid_byte_error(text)}")
    return read_patch_text(text, opened.name)


def apply(
    patch: Any,
    plan: Source,
    *,
    dialect: str | None = None,
    id: str | None = None,
    repair: bool = False,
    compute: str | None = None,
) -> Plan | Iterator[PatchResult]:
    """Apply the repairs that a diff makes to the plans they were made for.

    Args:
        patch: A patch, a diff, or what :func:`planner_eval.read_patches` takes or gave.
        plan: The plan: itself, its text or data. Or many: the path of a file, what
            :func:`planner_eval.read` gave, or a list.
        dialect: The notation of the plans; recognised when left out.
        id: Repair only the plan of this id.
        repair: Mend small faults of plans that cannot be read strictly.
        compute: ``"arithmetic"``: expressions of numbers become the numbers they come to.

    Returns:
        One plan repaired, where there is one plan and one patch, or `id` is given; else what became of
        each record, in order, each with the patch of its id.

    Raises:
        InputError: this is no patch, it does not fit the plan, or no patch is for any of the plans.

    >>> from planner_eval.comparison.evaluate import diff
    >>> found = diff("f(#x='1')", "f(#x='2')")
    >>> apply(found, "f(#x='1')").calls[0].arguments
    (('x', '2'),)
    """
    patches = read_patches(patch)
    reading: dict[str, Any] = {"dialect": dialect, "repair": repair, "compute": compute}
    if is_one_plan(plan) and not patches.by_id:
        return apply_entry(parse(plan, **reading), patches.one)
    file = read(text_as_record(plan))
    file = file._replace(records=tuple(_named_as_patched(record, patches) for record in file.records))
    records = _choose_records(file, id)
    if id is not None or _is_single(patches, file):
        record_patch = _find_patch(patches, records[0], alone=not file.many)
        plan = read_plan(records[0], **reading)
        try:
            return apply_entry(plan, record_patch)
        except InputError as error:
            raise InputError(f"{patches.name}, for {records[0].where}: {error}") from None
    # Patches of which none is for any of the plans are those of another file.
    if len(patches.unknown(file.records)) == len(patches.by_id):
        patch_id, plan_id = next(iter(patches.by_id)), file.records[0].name
        raise InputError(
            f"no patch has the id of a plan: {patches.name} has {patch_id!r}, {file.name} {plan_id!r}; "
            "name the field of the id with --field id=NAME"
        )
    return apply_patches(records, patches, **reading)


def _named_as_patched(record: Record, patches: Patches) -> Record:
    """The record, by the id of its trial where patches know it by that."""
    trial = None if record.name in patches.by_id else trial_of(record)
    return record if trial is None or str(trial) not in patches.by_id else record._replace(id=str(trial))


def _choose_records(file: PlanFile, id: str | None) -> list[Record]:
    chosen = [record for record in file.records if id is None or record.name == id]
    if id is not None:
        refuse_unknown_ids([id], dict.fromkeys(record.name for record in file.records), file.name)
        if len(chosen) > 1:
            raise InputError(f"{file.name}: {len(chosen)} records have the id {id!r}")
    return chosen


def _is_single(patches: Patches, file: PlanFile) -> bool:
    """Whether this is one plan and one patch, so that no id is needed to bring them together.

    Raises:
        InputError: it is one of the one and many of the other.
    """
    named = len(patches.by_id) + len(patches.broken)
    if not named and len(file.records) != 1:
        raise InputError(
            f"{patches.name} holds one patch without an id, "
            f"{file.name} {format_count(len(file.records), 'plan')}: "
            "name the plan with --id, or write one patch per plan with planeval diff --patch"
        )
    if not file.many and named > 1:
        raise InputError(
            f"{patches.name} holds {named} patches with ids, {file.name} one plan without an id: "
            "name a file of records, or give that plan's patch alone"
        )
    return not named or not file.many


def _find_patch(patches: Patches, record: Record, *, alone: bool) -> Any:
    """The only patch or, where plans and patches have ids, that of the record's id."""
    name = record.name
    if alone or not patches.by_id:
        return next(iter(patches.by_id.values()), patches.one)
    if name in patches.repeated or name not in patches.by_id:
        problem = "several patches have" if name in patches.repeated else "no patch has"
        raise InputError(f"{patches.name}: {problem} the id {name!r}")
    return patches.by_id[name]
