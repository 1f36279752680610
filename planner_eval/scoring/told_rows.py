"""Many compared pairs in writing, row by row: for people, as JSON, CSV, Markdown, JUnit or repairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from planner_eval.base.formats import CI
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import encodable, one_line, printable
from planner_eval.records.files import Record
from planner_eval.records.rows import STATES, Row, row_data
from planner_eval.scoring.diff_sums import DiffSums
from planner_eval.scoring.junit import Case, junit_pieces
from planner_eval.scoring.row_formats import case, explanation, flat, in_short

PATCH = "patch"
"""The form of repairs: what ``planeval apply`` takes."""

COLUMNS = tuple(flat(Row("", "absent")))
"""The columns of a table of pairs."""

EFFECTS = ("effects", "reached")
"""Those of pairs that were run."""

_WIDTH = 200
"""The longest line that is told of one of many pairs."""


class Told(NamedTuple):
    """How compared pairs are told.

    Args:
        form: One of :data:`~planner_eval.base.formats.WRITTEN` or :data:`~planner_eval.base.formats.CI`, or
            :data:`PATCH`; "" tells nothing.
        many: False for one pair, which is told in full instead of on one line.
        places: Tell line and column of each edit of one pair as well.
        structure: Tell, as text of one pair or as JSON, how the structure differs, call by call.
        each: Tell all edits of one pair, each on a line.
    """

    form: str = "text"
    many: bool = True
    places: bool = False
    structure: bool = False
    each: bool = False

    @property
    def by_line(self) -> bool:
        """Whether the result is a line of JSON a pair."""
        return self.form == "jsonl" or (self.form == PATCH and self.many)


def told_row(row: Row, record: Record | None, settings: Told) -> str:
    """What is told of one pair, as a line of JSON; :func:`told_rows` puts them together.

    Args:
        row: What became of the pair.
        record: The record that it is about, for JUnit.
        settings: How it is told.
    """
    if not settings.form:
        return ""
    if settings.by_line:
        return _json(_data(row, settings))
    if settings.form == "text" and settings.many:  # no more of either is shown
        return _json([row.id[: _WIDTH + 1], printable(in_short(row)[: _WIDTH + 1])])
    if settings.form == "junit":
        return _json(case(row, record))
    if settings.form in CI:
        from planner_eval.scoring.findings import findings_of

        return _json(findings_of(row, record, many=settings.many))
    return _json(encodable(_piece(row, settings)))


def _piece(row: Row, settings: Told) -> str:
    """What stands of one pair in the result."""
    if settings.form == "text":
        return explanation(row, places=settings.places, structure=settings.structure, each=settings.each)
    if settings.form in ("csv", "md"):
        from planner_eval.base.tables import table_line

        return table_line(list(flat(row).values()), settings.form)
    return json.dumps(_data(row, settings), ensure_ascii=False, indent=1)


def told_rows(lines: Iterable[str], settings: Told, sums: DiffSums) -> Iterator[str]:
    """All pairs in one form, in pieces, without a last line end.

    Args:
        lines: What :func:`told_row` gave of each pair; "" of one that is left out.
        settings: How they are told.
        sums: The sums over all of them.
    """
    lines = filter(None, lines)
    if settings.by_line:
        return _joined(lines, "\n")
    rows: Iterator[Any] = map(json.loads, lines)
    if settings.form == "text" and settings.many:
        width = min(sums.width, _WIDTH + 1)
        short_lines = (one_line(f"{id.ljust(width)}  {short}", _WIDTH) + "\n" for id, short in rows)
        return chain(short_lines, [sums.said])
    if settings.form == "json" and (settings.many or sums.pairs != 1):
        from planner_eval.base.tables import json_array

        return json_array(rows)
    if settings.form == "junit":
        return junit_pieces(map(Case._make, rows), sums.outcomes)
    if settings.form in ("csv", "md") and sums.shown:
        from planner_eval.base.tables import table_head

        ran = EFFECTS if sums.effects else ()
        rows = chain(table_head((*COLUMNS, *ran), settings.form), rows)
    return _joined(rows, "\n")


def _data(row: Row, settings: Told) -> dict[str, Any]:
    if settings.form != PATCH:
        return row_data(row, structure=settings.structure)
    from planner_eval.comparison.patch import make_patch

    head = {"id": row.id} if settings.many else {}
    if row.diff is None:
        return {**head, "state": row.state, "error": (row.error or STATES[row.state]).split("\n")[0]}
    return head | make_patch(row.diff)


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _joined(pieces: Iterable[str], between: str) -> Iterator[str]:
    lead = ""
    for piece in pieces:
        yield lead + piece
        lead = between
