"""Files of plans: one plan, or many records of which each holds one; and their pairing.

A file is a plan in any dialect, a JSON array or JSON lines of records, an object from ids to plans,
or a benchmark's own gold file. A record that cannot be read stays a record and carries its error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_eval.dialects.base import DEFAULT_LIMITS, Limits
from planner_eval.dialects.json_calls import LISTS, is_call
from planner_eval.errors import InputError, ParseError
from planner_eval.model import Plan

ID_FIELDS = ("id", "sample_id", "idx", "index", "question_id", "task_id", "serial_num", "uuid")
"""Fields that name a record, the likeliest first."""

TEXT_FIELDS = (
    "generated_text", "prediction", "pred", "response", "completion", "model_output", "raw", "text",
    "plan", "output", "answer", "result", "ground_truth", "gold", "reference", "expected",
)  # fmt: skip
"""Fields that hold a record's plan in a file of predictions, the likeliest first."""

GOLD_FIELDS = ("gold", "ground_truth", "reference", "expected", "output", *TEXT_FIELDS)
"""The same for a file of gold plans: a file of results often holds both."""

FILE_LIMIT = 4_000_000_000
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: where it stands, and its plan as text or structure.

    Args:
        file: The file's name as the user wrote it.
        position: Counted from 0.
        id: Its own name, when it has one.
        source: The plan's text, or structure that is JSON already.
        line: The line it starts on, counted from 1, when known.
        error: Why its source could not be taken out of the file.
        fields: The record's other fields.
    """

    file: str
    position: int
    id: str | None
    source: Any
    line: int | None = None
    error: ParseError | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The record's place for a message: ``pred.jsonl, record 3 (id q7)``."""
        named = f" (id {self.id})" if self.id is not None else ""
        line = f", line {self.line}" if self.line is not None else ""
        return f"{self.file}{line}, record {self.position + 1}{named}"

    def plan(self, *, dialect: str | None = None, limits: Limits = DEFAULT_LIMITS, **options: Any) -> Plan:
        """Parse the record's plan.

        Raises:
            ParseError: the record holds no readable plan.
        """
        from planner_eval.read import parse

        if self.error is not None:
            raise self.error
        return parse(self.source, dialect=dialect, limits=limits, **options)


class PlanFile(NamedTuple):
    """The records of one file; ``many`` is False for a plan in a file of its own."""

    name: str
    records: tuple[Record, ...]
    many: bool


def read_file(
    path: str, *, id_field: str | None = None, text_field: str | None = None, gold: bool = False
) -> PlanFile:
    """Read a file of plans.

    Args:
        path: The file; ``-`` is standard input.
        id_field: The field that names a record; recognised when left out.
        text_field: The field that holds its plan; recognised when left out.
        gold: Whether gold plans are wanted, where a file holds predictions too.

    Raises:
        InputError: the file is missing, a directory, or a field named is in no record.
    """
    name = "standard input" if path == "-" else path
    try:
        text = _text(path)
    except UnicodeDecodeError as error:
        reason = (
            f"byte {error.start} (0x{error.object[error.start]:02x}) is not UTF-8 text; "
            "convert the file to UTF-8 first"
        )
        broken = ParseError(reason, code="parse.encoding")
        return PlanFile(name, (Record(name, 0, None, "", error=broken),), False)
    fields = (text_field,) if text_field else (GOLD_FIELDS if gold else TEXT_FIELDS)
    ids = (id_field,) if id_field else ID_FIELDS
    found = _split(text, name, fields, ids)
    named = [(id_field, "id"), (text_field, "text")]
    for wanted, kind in named:
        if wanted and not any(wanted in r.fields for r in found.records):
            raise InputError(f"{name}: no record has the {kind} field {wanted!r}")
    return found


def _text(path: str) -> str:
    try:
        if path == "-":
            data = sys.stdin.buffer.read()
        else:
            if os.path.isdir(path):
                raise InputError(f"{path} is a directory, expected a file of plans")
            if os.stat(path).st_size > FILE_LIMIT:
                raise InputError(f"{path} is larger than {FILE_LIMIT:,} bytes")
            with open(path, "rb") as file:
                data = file.read()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return data.decode("utf-8-sig")


def _split(text: str, name: str, fields: Sequence[str], ids: Sequence[str]) -> PlanFile:
    start = text.lstrip()[:1]
    if start in ("[", "{", '"'):
        try:
            data = json.loads(text)
        except RecursionError:
            return _single(name, text)
        except ValueError:
            return _lines(text, name, fields, ids) or _single(name, text)
        return _structured(data, text, name, fields, ids)
    return _single(name, text)


def _single(name: str, text: Any) -> PlanFile:
    return PlanFile(name, (Record(name, 0, None, text),), False)


def _structured(data: Any, text: str, name: str, fields: Sequence[str], ids: Sequence[str]) -> PlanFile:
    """One JSON value: a plan, or an array or object of records."""
    if isinstance(data, list) and data and not _is_plan(data, fields):
        return PlanFile(name, tuple(_record(name, i, item, fields, ids) for i, item in enumerate(data)), True)
    if isinstance(data, dict) and not _is_plan(data, fields):
        if _content(data, fields) is not None:
            return PlanFile(name, (_record(name, 0, data, fields, ids),), True)
        if data and all(isinstance(v, list) or _is_plan(v, fields) for v in data.values()):
            records = tuple(Record(name, i, key, v) for i, (key, v) in enumerate(data.items()))
            return PlanFile(name, records, True)
    return _single(name, text)


def _is_plan(data: Any, fields: Sequence[str]) -> bool:
    """Whether JSON data is one plan, not records that hold plans."""
    if isinstance(data, dict):
        if "schema" in data or "role" in data or "api_results" in data or is_call(data):
            return True
        return any(isinstance(data.get(key), list) for key in LISTS) and _content(data, fields) is None
    if isinstance(data, list):
        return all(isinstance(item, dict) and (is_call(item) or "role" in item) for item in data)
    return False


def _content(record: Mapping[str, Any], fields: Sequence[str]) -> str | None:
    """The field of a record that holds its plan."""
    return next((key for key in fields if isinstance(record.get(key), (str, list, dict))), None)


def _record(
    name: str, position: int, item: Any, fields: Sequence[str], ids: Sequence[str], line: int | None = None
) -> Record:
    if not isinstance(item, dict) or _is_plan(item, fields):
        return Record(name, position, None, item, line)
    key = next((k for k in ids if isinstance(item.get(k), (str, int))), None)
    own = str(item[key]) if key else None
    content = _content(item, fields)
    if content is None:
        shown = ", ".join(map(repr, list(item)[:6])) or "no fields"
        error = ParseError(
            f"the record has {shown}; none of them is known to hold a plan: name it with --text-field",
            code="parse.shape",
        )
        return Record(name, position, own, None, line, error, item)
    return Record(name, position, own, item[content], line, None, item)


def _lines(text: str, name: str, fields: Sequence[str], ids: Sequence[str]) -> PlanFile | None:
    """JSON lines of records, or None when the text is something else."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    values: list[Any] = []
    good = 0
    for n, line in lines:
        try:
            values.append(json.loads(line))
            good += 1
        except (ValueError, RecursionError) as error:
            values.append(ParseError(f"the line is no JSON: {error}", code="parse.syntax"))
        if n == lines[0][0] and not good:
            return None
    if len(lines) < 2 or good * 2 < len(lines):
        return None
    if all(isinstance(v, dict) and is_call(v) for v in values):
        return _single(name, text)
    records = tuple(
        Record(name, i, None, None, n, value)
        if isinstance(value, ParseError)
        else _record(name, i, value, fields, ids, n)
        for i, ((n, _), value) in enumerate(zip(lines, values, strict=True))
    )
    return PlanFile(name, records, True)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which prediction belongs to which gold plan.

    Args:
        by: ``"id"``, ``"position"`` or ``"file"`` (one plan each).
        pairs: (prediction, gold) in gold's order; None stands for a missing partner; predictions
            without gold follow at the end.
        repeated: Predictions and gold plans left out because an earlier record has their id.
    """

    by: str
    pairs: tuple[tuple[Record | None, Record | None], ...]
    repeated: tuple[Record, ...] = ()

    def __iter__(self) -> Iterator[tuple[Record | None, Record | None]]:
        return iter(self.pairs)


def pair(pred: PlanFile, gold: PlanFile) -> Pairing:
    """Pair predictions with gold plans: by id where all records have one, else by position.

    >>> one = PlanFile("a", (Record("a", 0, "x", "f()"), Record("a", 1, "y", "g()")), True)
    >>> two = PlanFile("b", (Record("b", 0, "y", "g()"),), True)
    >>> [(p and p.id, g and g.id) for p, g in pair(one, two)]
    [('y', 'y'), ('x', None)]
    """
    if not pred.many and not gold.many:
        return Pairing("file", ((pred.records[0], gold.records[0]),))
    known = {r.id for r in gold.records}
    with_ids = all(r.id is not None for r in (*pred.records, *gold.records) if r.error is None)
    if with_ids and any(r.id in known for r in pred.records):
        predictions, repeated = _by_id(pred.records)
        golds, more = _by_id(gold.records)
        pairs = [(predictions.get(key), record) for key, record in golds.items()]
        extra = [(record, None) for key, record in predictions.items() if key not in golds]
        return Pairing("id", (*pairs, *extra), (*repeated, *more))
    longest = max(len(pred.records), len(gold.records))
    lone: tuple[None, ...] = (None,) * longest
    left = (*pred.records, *lone)[:longest]
    right = (*gold.records, *lone)[:longest]
    return Pairing("position", tuple(zip(left, right, strict=True)))


def _by_id(records: Sequence[Record]) -> tuple[dict[str, Record], list[Record]]:
    found: dict[str, Record] = {}
    repeated = []
    for record in records:
        key = record.id if record.id is not None else f"\0{record.file}\0{record.position}"
        if key in found:
            repeated.append(record)
        else:
            found[key] = record
    return found, repeated
