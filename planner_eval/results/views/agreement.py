"""An agreement in writing: what each format shows of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from planner_eval.base.formats import DEFAULT, View, write_view
from planner_eval.base.tables import Style, md_cell
from planner_eval.base.text import JsonObject, format_count, one_line
from planner_eval.results.agreement import Agreement, Shift
from planner_eval.results.intervals import span_text
from planner_eval.results.views.junit import Case, outcome

_MAX_NAMED = 5
_MAX_LINE_LENGTH = 10_000
"""Characters of one line beside the tables."""


def write_agreement(agreement: Agreement, form: str = DEFAULT, *, limits: Sequence[Case] = ()) -> str:
    """An agreement in a format: records a line, a row a figure, a test case a record.

    Args:
        agreement: The agreement.
        form: The format.
        limits: Thresholds as test cases: where there are some they decide.
    """
    view = View(
        document=lambda style: _document(agreement, style),
        data=lambda: {"schema": "planeval.agreement/1", **_data(agreement)},
        records=lambda: (row._asdict() for row in agreement.rows),
        table=lambda: _figure_rows(agreement),
        cases=lambda: ([*limits, *_cases(agreement, limited=bool(limits))], None),
    )
    return "".join(write_view(view, form))


def _document(agreement: Agreement, style: Style) -> Iterator[str]:
    first, second = agreement.names
    head = f"{first} against {second}: {format_count(agreement.n, 'record')} with both verdicts"
    shifts = (dict(zip(("class", *Shift._fields[1:]), shift, strict=True)) for shift in agreement.shifts)
    tables = (_figure_rows(agreement), _cell_rows(agreement), shifts)
    lines = (*_disagreement_lines(agreement), agreement.made)
    clipped = [md_cell(line) if style.markup else one_line(line, _MAX_LINE_LENGTH) for line in lines]
    blocks = [head, *(style.table(rows) for rows in tables), "\n".join(clipped)]
    yield "\n\n".join(filter(None, blocks))


def _data(agreement: Agreement) -> JsonObject:
    data = asdict(agreement)
    for name in ("figures", "shifts", "rows"):
        data[name] = [item._asdict() for item in getattr(agreement, name)]
    for figure in data["figures"]:
        figure["interval"] = figure["interval"]._asdict() if figure["interval"] else None
    return data | {"n": agreement.n, "left_over": agreement.left_over}


def _figure_rows(agreement: Agreement) -> Iterator[JsonObject]:
    for share in agreement.figures:
        yield {
            "figure": share.name,
            "value": share.value,
            "95 %": span_text(share.interval),
            "n": f"{share.hits}/{share.of}" if share.hits is not None else str(share.of),
            "note": share.note,
        }


def _cell_rows(agreement: Agreement) -> Iterator[JsonObject]:
    """The counts of confusion: a row a class of the first, a column a class of the second."""
    for name, counts in zip(agreement.classes, agreement.cells, strict=True):
        yield {"first ↓ second →": name} | dict(zip(agreement.classes, counts, strict=True))


def _disagreement_lines(agreement: Agreement) -> Iterator[str]:
    """Where they part, and what no figure counts."""
    for state, description in (
        ("different", "different"),
        ("no verdict", "without a verdict on one side, not counted"),
        ("only in first", f"only in {agreement.names[0]}, not counted"),
        ("only in second", f"only in {agreement.names[1]}, not counted"),
        ("unreadable", "unreadable, not counted"),
        ("repeated", "with the id of an earlier record, not counted"),
    ):
        rows = [row for row in agreement.rows if row.state == state]
        if rows:
            between = "; " if rows[0].error else ", "
            more = f"{between}…" if len(rows) > _MAX_NAMED else ""
            listed = between.join(row.error or row.id for row in rows[:_MAX_NAMED])
            yield f"{len(rows):,} {description}: {listed}{more}"


def _cases(agreement: Agreement, *, limited: bool) -> Iterator[Case]:
    for row in agreement.rows:
        state = row.state if row.state in ("same", "different") else "unreadable"
        message = row.error or f"{row.first or 'no verdict'}, the reference says {row.second or 'nothing'}"
        yield Case(row.id, outcome(state, limited=limited), row.state, message, group="agree")
