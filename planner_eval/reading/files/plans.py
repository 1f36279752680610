"""From a record to its plan."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import Decoded
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.record import Record


def read_repaired_plan(record: Record, error: ParseError, **options: Any) -> Plan | None:
    """The plan that repair would make of a record which strict reading refused; None where none.

    Args:
        record: The record.
        error: Why strict reading refused it; where that says that repair does too, nothing is read.
        options: As for :func:`planner_eval.reading.dialects.read.parse`, ``repair`` aside.
    """
    if error.beyond_repair and isinstance(record.source, str):
        return None
    try:
        return read_plan(record, repair=True, **options)
    except ParseError:
        return None


def read_plan(record: Record, **options: Any) -> Plan:
    """The plan of a record.

    Args:
        record: What :func:`planner_eval.reading.files.files.read_file` gave.
        options: As for :func:`planner_eval.reading.dialects.read.parse`.

    Raises:
        ParseError: the record holds no readable plan.

    >>> len(read_plan(Record("p.json", 0, None, "a = f(#x='1')")))
    1
    """
    if record.error is not None:
        raise record.error
    source = record.source
    if record.dialect is not None:
        options["dialect"] = record.dialect
    if record.turn is not None and options.get("turn") is None:
        options["turn"] = record.turn
    if record.infer is not False and not options.get("infer"):
        options["infer"] = record.infer
    return parse(source if record.values is None else Decoded(source, record.values), **options)
