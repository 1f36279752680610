"""An agreement in writing: for people, as JSON, CSV, Markdown or JUnit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from planner_eval.base.tables import md_cell, table
from planner_eval.base.text import counted, one_line
from planner_eval.scoring.agreed import Agreement
from planner_eval.scoring.junit import Case, junit, outcome

_NAMED = 5
_WIDEST = 10_000
"""Characters of one line beside the tables."""


def write_agreement(found: Agreement, form: str = "text", *, limits: Sequence[Case] = ()) -> str:
    """An agreement as text, ``md``, ``json``, ``jsonl`` (a record a line), ``csv`` (a figure) or ``junit``.

    Args:
        found: The agreement.
        form: The format.
        limits: Thresholds as test cases: where there are some they decide in JUnit.
    """
    if form == "json":
        return json.dumps({"schema": "planeval.agreement/1", **_data(found)}, ensure_ascii=False, indent=1)
    if form == "jsonl":
        return table([row._asdict() for row in found.rows], form)
    if form == "junit":
        return junit([*limits, *_cases(found, limited=bool(limits))])
    if form == "csv":
        return table(list(_figure_rows(found)), form)
    head = f"{found.names[0]} against {found.names[1]}: {counted(found.n, 'record')} with both verdicts"
    tables = (_figure_rows(found), _cell_rows(found), _shift_rows(found))
    lines = (*_rest(found), found.made)
    beside = [md_cell(line) if form == "md" else one_line(line, _WIDEST) for line in lines]
    blocks = [head, *(table(list(rows), form) for rows in tables), "\n".join(beside)]
    return "\n\n".join(block for block in blocks if block)


def _data(found: Agreement) -> dict[str, Any]:
    data = asdict(found)
    for name in ("figures", "shifts", "rows"):
        data[name] = [one._asdict() for one in getattr(found, name)]
    for one in data["figures"]:
        one["interval"] = one["interval"]._asdict() if one["interval"] else None
    return data | {"n": found.n, "left_over": found.left_over}


def _figure_rows(found: Agreement) -> Iterator[dict[str, Any]]:
    for one in found.figures:
        span = one.interval
        yield {
            "figure": one.name,
            "value": one.value,
            "95 %": f"{span.low:.3f}–{span.high:.3f}" if span is not None else None,
            "n": f"{one.hits}/{one.of}" if one.hits is not None else str(one.of),
            "note": one.note,
        }


def _cell_rows(found: Agreement) -> Iterator[dict[str, Any]]:
    """The counts of confusion: a row a class of the first, a column a class of the second."""
    for name, counts in zip(found.classes, found.cells, strict=True):
        yield {"first ↓ second →": name} | dict(zip(found.classes, counts, strict=True))


def _shift_rows(found: Agreement) -> Iterator[dict[str, Any]]:
    for one in found.shifts:
        yield {"class": one.name, "first": one.first, "second": one.second, "both": one.both, "p": one.p}


def _rest(found: Agreement) -> Iterator[str]:
    """Where they part, and what no figure counts."""
    for state, said in (
        ("different", "differ"),
        ("no verdict", "without a verdict on one side, not counted"),
        ("only in first", f"only in {found.names[0]}, not counted"),
        ("only in second", f"only in {found.names[1]}, not counted"),
        ("unreadable", "cannot be read, not counted"),
        ("repeated", "repeat the id of an earlier one, not counted"),
    ):
        rows = [row for row in found.rows if row.state == state]
        if rows:
            between = "; " if rows[0].error else ", "
            more = f"{between}…" if len(rows) > _NAMED else ""
            yield f"{len(rows):,} {said}: {between.join(row.error or row.id for row in rows[:_NAMED])}{more}"


def _cases(found: Agreement, *, limited: bool) -> Iterator[Case]:
    for row in found.rows:
        state = row.state if row.state in ("same", "different") else "unreadable"
        said = row.error or f"{row.first or 'no verdict'}, the reference says {row.second or 'nothing'}"
        yield Case(row.id, outcome(state, limited=limited), row.state, said, group="agree")
