"""Files of verdicts on the same records, a judge's and a person's, and their agreement."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner_eval.base.errors import NAME, NAMES, InputError, expect_or_none
from planner_eval.base.text import format_count, one_line
from planner_eval.comparison.policy.policy import DEFAULT_POLICY
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import JUDGED_STATES
from planner_eval.reading.files.fields import ABSENT, choose_id, has_field, id_text, table_rows, value_at
from planner_eval.reading.files.opening import open_path, read_content
from planner_eval.reading.files.record import VERDICT_FIELDS as RECORDED_FIELDS
from planner_eval.reading.files.shapes import Item
from planner_eval.results.agreement import Agreement, Verdict, Verdicts, agreement
from planner_eval.results.score import score
from planner_eval.results.trials import RIGHT_FROM

# ----------------------------------------------------------------------
# Files of verdicts: a yes or no, or a class, for each record of an evaluation.
VERDICT_FIELDS = (
    "verdict", "is_pass", "decision", "judgement", "judgment", "judged", "passed", "pass", "correct", "ok",
    "label", "class", "rating", "score", "human", "judge", "answer",
)  # fmt: skip
"""Fields that hold a verdict, the likeliest first."""

_REPORT_HEADER = b"#serial_num\tis_pass\t"
"""How FunctionChat-Bench's report files begin."""


def read_verdicts(source: Any, *, id_field: str | None = None, verdict_field: str | None = None) -> Verdicts:
    """The verdicts of a file, or the same in memory.

    Args:
        source: The path of a file (``"-"`` is standard input): JSON lines, a JSON array or a table of
            records, a JSON object from ids to verdicts, or FunctionChat-Bench's report; or a list of
            records, a frame, or a mapping from ids to verdicts.
        id_field: The field that names a record; recognised when left out.
        verdict_field: The field that holds its verdict; recognised when left out.

    Raises:
        InputError: the file is missing, holds no records, or a field cannot be told.

    >>> read_verdicts({"a": True, "b": "no"}).found[1]
    Verdict(id='b', value='no', where='verdicts, record 2 (id b)', error='')
    """
    if isinstance(source, (str, os.PathLike)):
        name, items = _read_items(os.fspath(source), verdict_field)
    else:
        name, items = "verdicts", [Item(row) for row in _list_records(table_rows(source))]
    if len(items) == 1 and isinstance(items[0].data, dict) and not _is_record(items[0].data, verdict_field):
        items = [Item({"id": key, "verdict": value}) for key, value in items[0].data.items()]
    records = [item.data for item in items if isinstance(item.data, dict)]
    if not records:
        raise InputError(
            f"{name} holds no records: expected JSON lines, a JSON array or a table of records, each with an "
            "id and a verdict, or an object from ids to verdicts"
        )
    if id_field is not None and not any(has_field(record, id_field) for record in records):
        raise InputError(f"{name}: no record has the id field {id_field!r}")
    key = id_field or choose_id(records)
    field = verdict_field or _find_field(name, records, key)
    if not any(has_field(record, field) for record in records):
        raise InputError(f"{name}: no record has the verdict field {field!r}")
    verdicts = tuple(_read_verdict(name, number, item, key, field) for number, item in enumerate(items, 1))
    return Verdicts(name, verdicts, f'field "{field}" of {format_count(len(verdicts), "record")}')


def _read_items(path: str, verdict_field: str | None) -> tuple[str, list[Item]]:
    opened = open_path(path, "verdicts")
    if opened.data.startswith(_REPORT_HEADER):
        from planner_eval.benchmarks.functionchat.official import read_report

        rows = read_report(opened.data.decode("utf-8", "replace"))
        return opened.name, [Item({"id": row.id, "verdict": row.verdict}, line=row.line) for row in rows]
    return opened.name, list(read_content(opened, verdict_field).found.items)


def _list_records(rows: Any) -> list[Any]:
    if isinstance(rows, Mapping):
        return [dict(rows)]
    if isinstance(rows, (list, tuple)):
        return list(rows)
    raise InputError(
        f"the verdicts are a {type(rows).__name__}, expected records or a mapping from ids to verdicts"
    )


def _is_record(data: Mapping[str, Any], verdict_field: str | None) -> bool:
    if verdict_field is not None and has_field(data, verdict_field):
        return True
    plain = all(isinstance(value, (str, bool, int, float, type(None))) for value in data.values())
    return not plain or any(field in data for field in VERDICT_FIELDS)


def _find_field(name: str, records: Iterable[Mapping[str, Any]], key: str | None) -> str:
    """The field of the verdicts: one that is known, else the only one beside the id."""
    fields = list(dict.fromkeys(field for record in records for field in record if field != key))
    candidates = [field for field in VERDICT_FIELDS if field in fields] or (
        fields if len(fields) == 1 else []
    )
    if candidates:
        return candidates[0]
    names = ", ".join(map(repr, fields[:6])) or "no field"
    raise InputError(
        f"{name}: no field looks like a verdict (fields: {names}): name it with --field verdict=NAME"
    )


def _read_verdict(file: str, number: int, item: Item, key: str | None, field: str) -> Verdict:
    name = id_text(value_at(item.data, key)) if isinstance(item.data, dict) and key else None
    line = f", line {item.line}" if item.line is not None else ""
    where = f"{file}{line}, record {number}" + (f" (id {one_line(name)})" if name is not None else "")
    if item.error is not None:
        return Verdict(name, None, where, one_line(str(item.error).split("\n")[0]))
    if not isinstance(item.data, dict):
        return Verdict(None, None, where, "the record is not an object; expected one with a verdict")
    value = value_at(item.data, field)
    if isinstance(value, (list, dict)):
        kind = "a list" if isinstance(value, list) else "an object"
        return Verdict(name, None, where, f"{field!r} is {kind}, expected a yes, a no or a class")
    if value is ABSENT or value is None or str(value).strip() == "":
        return Verdict(name, None, where)
    return Verdict(name, id_text(value) or str(value).strip(), where)


# ----------------------------------------------------------------------
# Two sets of verdicts on the same records, a judge's and a person's.
RECORDED_NAMES = ("same as gold", "recorded")
"""What the two verdicts on the answers of one file are called."""


def recorded_verdicts(source: Any, policy: AnyPolicy) -> tuple[Verdicts, Verdicts]:
    """Whether the answers of a file are the same as gold, and the verdicts that its run recorded of them.

    Args:
        source: A file whose records hold answers, gold and a recorded verdict; or the folder of a run that
            was scored.
        policy: How values compare.

    Raises:
        InputError: the file cannot be used, or no record holds a verdict.
    """
    is_folder = isinstance(source, (str, os.PathLike)) and os.path.isdir(source)
    source = Path(source) if isinstance(source, str) else source
    report = score(source) if is_folder else score(source, source, policy=policy, metrics=["exact"])
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "records"
    rows = tuple(report.rows)
    if not any(row.verdict for row in rows):
        raise InputError(
            f"{name}: no record has a verdict (yes, no or a number from 0 to 1) in a field "
            f"{', '.join(RECORDED_FIELDS)}; pass a second file of verdicts"
        )
    own_verdicts, recorded = [], []
    for row in rows:
        judged = row.state in JUDGED_STATES
        own_verdicts.append(Verdict(row.id, ("no", "yes")[row.state == "same"] if judged else None))
        verdict = None if row.verdict is None else ("no", "yes")[row.verdict.value >= RIGHT_FROM]
        recorded.append(Verdict(row.id, verdict))
    field = next(row.verdict.field for row in rows if row.verdict)
    return (
        Verdicts(RECORDED_NAMES[0], tuple(own_verdicts), f"policy {policy_of(policy).name}"),
        Verdicts(f"{RECORDED_NAMES[1]} {field}", tuple(recorded), f'field "{field}"'),
    )


def agree(
    first: Any,
    second: Any = None,
    *,
    id_field: str | None = None,
    verdict_field: str | None = None,
    positive: str | None = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    names: Sequence[str] | None = None,
) -> Agreement:
    """Say how far verdicts agree with a reference's: agreement, Cohen's kappa, errors of either kind.

    Args:
        first: The verdicts that are looked at, a judge's: a file, a list of records with an id and a verdict,
            or a mapping from ids to verdicts. A verdict is a yes or no in any of its words, or a class.
        second: The reference, a person's, likewise. When left out the first is a file of answers, with gold
            and what its run recorded of them, or a run that was scored: the verdicts are whether an answer
            is the same as gold, the reference is what was recorded.
        id_field: The field that names a record; recognised when left out.
        verdict_field: The field that holds its verdict; recognised when left out.
        positive: The class that counts as yes, all others as no.
        policy: How values compare, where the first stands alone and is no run that was scored.
        names: What the two are called; their files' names when left out.

    Raises:
        InputError: a file cannot be used, or a field cannot be told; PairingError where no record has a
            partner.

    >>> found = agree({"a": "pass", "b": "pass", "c": "fail"}, {"a": True, "b": False, "c": False})
    >>> found.figure("false positives"), found.cells
    (0.3333333333333333, ((1, 1), (0, 1)))
    """
    expect_or_none(NAME, positive=positive, id_field=id_field, verdict_field=verdict_field)
    expect_or_none(NAMES, names=names)
    if names is not None and (isinstance(names, str) or len(names) != 2):
        raise InputError(f"names is {names!r}, expected two names")
    verdicts = (
        [*recorded_verdicts(first, policy)]
        if second is None
        else [
            read_verdicts(source, id_field=id_field, verdict_field=verdict_field)
            for source in (first, second)
        ]
    )
    if names is not None or verdicts[0].name == verdicts[1].name:
        verdicts = [
            v._replace(name=name) for v, name in zip(verdicts, names or ("first", "second"), strict=True)
        ]
    return agreement(verdicts[0], verdicts[1], positive=positive)
