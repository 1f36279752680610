"""The state in which the tools of a record begin: a field of the record, or what a file says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line_json
from planner_eval.reading.files.fields import (
    choose_id,
    has_field,
    id_text,
    value_at,
)
from planner_eval.reading.files.items import decode_text
from planner_eval.reading.files.opening import (
    open_path,
)
from planner_eval.reading.files.record import (
    Record,
)

STATE_FIELDS = ("state", "initial_state", "initial_config")
"""Fields that hold the state in which a record begins; BFCL has the last. A text in the first is none."""

NO_STATE = "none"
"""What the user says who wants none of these read."""


class StateSource(NamedTuple):
    """Where the states are that records begin in.

    Args:
        fields: The fields that may hold it.
        named: The user named the field: a text in it is no other thing's.
        shared: One for all records.
        listed: By the id of a record.
        file: The file that it is from.
    """

    fields: tuple[str, ...] = STATE_FIELDS
    named: bool = False
    shared: Any = None
    listed: Mapping[str, Any] | None = None
    file: str = ""

    def of(self, record: Record | None) -> Any:
        """The state in which a record begins; None for the tools' own.

        What is no object is given too: tools refuse it, so that the plan runs from no other state.

        Args:
            record: The record.

        Raises:
            InputError: the file of states has none for it.

        >>> StateSource().of(Record("p.jsonl", 0, "q1", "f()", fields={"state": {"rows": []}}))
        {'rows': []}
        """
        if self.listed is not None:
            named = record.id if record is not None else None
            if named is None or named not in self.listed:
                raise InputError(f"{self.file} has no state for the id {named}")
            return self.listed[named]
        if self.shared is not None or record is None:
            return self.shared
        values = {
            field: value_at(record.fields, field) for field in self.fields if has_field(record.fields, field)
        }
        if not self.named and isinstance(values.get("state"), str):
            del values["state"]  # of an address, of an order
        present = [value for value in values.values() if value is not None]
        return next((value for value in present if isinstance(value, dict)), present[0] if present else None)


def find_states(source: Any, records: Sequence[Record] = ()) -> StateSource:
    """Where the states are, from what a user gives.

    Args:
        source: None for :data:`STATE_FIELDS` of the records; the path of a file, the name of a field, or
            :data:`NO_STATE`; or the one state of all, as JSON data that is no text.
        records: The records, of which one at least must have a field that is named.

    Raises:
        InputError: there is no such file or field, or the file holds no states.

    >>> find_states({"rows": []}).of(None)
    {'rows': []}
    """
    if source is None or isinstance(source, StateSource):
        return source or StateSource()
    if source == NO_STATE:
        return StateSource(())
    if not isinstance(source, (str, os.PathLike)):
        return StateSource((), shared=source)
    name = os.fspath(source)
    if os.path.exists(name) or name == "-":
        return _read_states(name)
    if not any(has_field(record.fields, name) for record in records):
        raise InputError(
            f"there is no file {name}, and no record has a field of that name: pass a JSON "
            "object, a .jsonl file of records with id and state, or a field"
        )
    return StateSource((name,), named=True)


def _read_states(name: str) -> StateSource:
    opened = open_path(name, "states")
    text = decode_text(opened.data, name).text
    if opened.inner.endswith((".jsonl", ".ndjson")):
        lines = list(read_json_lines(text))
        broken = next((line.error for line in lines if line.error is not None), None)
        if broken is not None:
            raise InputError(f"{name}, {broken.brief}")
        return _build_states(name, [(f"{name}, line {line.number}", line.data) for line in lines])
    try:
        data = read_json(text)
    except ParseError as error:
        raise InputError(f"{name}, {error.brief}") from None
    if isinstance(data, list):
        return _build_states(name, [(f"{name}, record {n}", item) for n, item in enumerate(data, 1)])
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: expected an object, the state of all records, found {one_line_json(data, 60)}"
        )
    return StateSource((), shared=data, file=name)


def _build_states(name: str, rows: Sequence[tuple[str, Any]]) -> StateSource:
    """The states of records with ids."""
    key = choose_id([row for _, row in rows if isinstance(row, dict)])
    listed: dict[str, Any] = {}
    for where, row in rows:
        named = id_text(value_at(row, key)) if key is not None and isinstance(row, dict) else None
        field = next(
            (
                candidate
                for candidate in STATE_FIELDS
                if isinstance(row, dict) and row.get(candidate) is not None
            ),
            None,
        )
        if named is None or field is None:
            lacking = "an id" if named is None else "a state"
            raise InputError(
                f"{where}: expected a record with an id and {' or '.join(STATE_FIELDS)}, found none "
                f"with {lacking}: {one_line_json(row, 60)}"
            )
        if named in listed:
            raise InputError(f"{where}: the id {named} already has a state")
        listed[named] = row[field]
    if not listed:
        raise InputError(f"{name}: there is no state in it")
    return StateSource((), listed=listed, file=name)
