"""The tables that papers print of their data, of ``data/papers.toml``, beside what the data at hand gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from planner_eval.base.resources import read
from planner_eval.benchmarks.report import Cell


@cache
def printed_table(benchmark: str, table: str) -> Mapping[str, tuple[Any, ...]]:
    """A table that a paper prints, of ``data/papers.toml``: the cells of each row, None for an empty one.

    >>> printed_table("appbench", "table_2")["# Samples"]
    ('200', '200', '200', '200')
    """
    import tomllib

    rows = tomllib.loads(read("data/papers.toml"))[benchmark][table]
    return {row: tuple([None if cell == "" else cell for cell in cells]) for row, cells in rows.items()}


def paper_cell(
    place: tuple[str, str, str],
    published: Any,
    value: float | None,
    sizes: tuple[int, int],
    *,
    unit: str = "samples",
    note: str = "",
) -> Cell:
    """A cell of a table of the data; its note says where not all records are at hand.

    Args:
        place: The table, the row's heading, the column's.
        published: The cell as printed; None where the paper prints none.
        value: What the records at hand give.
        sizes: How many records these are, and how many the paper has.
        unit: What the records are called.
        note: What is to be said of the cell where all are at hand.

    >>> paper_cell(("Table 1", "a", "b"), 7, 5, (4, 5)).note
    '4 of 5 samples available'
    """
    n, of = sizes
    number = float(value) if n and value is not None else None
    note = note if n == of else f"{n} of {of} {unit} available"
    return Cell(*place, None if published is None else str(published), number, n, of, note)


def paper_grid(
    table: str,
    printed: Mapping[str, Sequence[Any]],
    columns: Mapping[str, Sequence[Any]],
    measures: Mapping[str, Callable[[Any], float]],
) -> Iterator[Cell]:
    """A table of measures of several parts of the data, row by row.

    Args:
        table: The table.
        printed: Measure → its printed cells, one a column; the first is how many records each part has.
        columns: Part → its records.
        measures: Measure → how it is computed from records, one at least.
    """
    for row, cells in printed.items():
        for (column, records), published, of in zip(
            columns.items(), cells, next(iter(printed.values())), strict=True
        ):
            value = measures[row](records) if records else None
            yield paper_cell((table, row, column), published, value, (len(records), int(of)))
