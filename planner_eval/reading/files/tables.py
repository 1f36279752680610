"""Tables as records: CSV, TSV and Parquet, of which each row is a record.

CSV and TSV are read here and not by the module csv: its limit on cells and its leniency are for the whole
process, and a quote that is never closed costs it the rest of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import MAX_STREAM_BYTES
from planner_eval.reading.files.encoding import INVALID_BYTE, invalid_byte_error
from planner_eval.reading.files.frames import TableRow, row_data
from planner_eval.reading.files.shapes import Item

_BATCH_ROWS = 100
"""Rows of a Parquet file that are decoded at once: few, for each may be large."""

_BUFFER_BYTES = 1 << 16
"""Bytes of a column that are read at once of one that is not held in memory."""


# ---------------------------------------------------------------- CSV and TSV
class CellRow(NamedTuple):
    """A row of cells: the line on which it begins, its cells, and why there are no more."""

    line: int
    cells: list[str]
    error: str | None = None


def separated_items(text: str, delimiter: str, name: str) -> Iterator[Item]:
    r"""The rows of a table with a header, each an object from column to cell; empty cells are left out.

    Args:
        text: The table.
        delimiter: What stands between cells.
        name: What to call it in a message.

    Raises:
        InputError: the header is broken, names a column twice, or no row follows it.

    >>> [item.data for item in separated_items('id,output\nq1,"f(a=""x"")"\nq2,\n', ",", "p.csv")]
    [{'id': 'q1', 'output': 'f(a="x")'}, {'id': 'q2'}]
    """
    rows = read_separated_rows(text, delimiter)
    header = next(rows)
    if header.error is not None:
        raise InputError(f"{name}, line {header.line}: {header.error}; expected the names of the columns")
    columns = header.cells
    twice = next((column for column in columns if column and columns.count(column) > 1), None)
    if twice is not None:
        raise InputError(f"{name}, line {header.line}: two columns are called {twice!r}")
    row = next(rows, None)
    if row is None:
        raise InputError(f"{name} has a line of column names and no rows")
    while row is not None:
        yield _row_item(row, columns)
        row = next(rows, None)


def _row_item(row: CellRow, columns: Sequence[str]) -> Item:
    line, cells, error = row
    # Of a row that is broken the first cell is certain, and may be its id.
    first = json.dumps(dict(zip(columns, cells[:1], strict=False))) if error is None or cells else ""
    if error is None and len(cells) != len(columns):
        error = f"cells in the row: {len(cells)}, columns in the header: {len(columns)}"
    if error is not None:
        return Item(None, line=line, error=ParseError(error), text=first)
    odd = next((cell for cell in cells if re.search(INVALID_BYTE, cell)), None)
    if odd is not None:
        return Item(None, line=line, error=invalid_byte_error(odd), text="" if odd is cells[0] else first)
    record = {column: cell for column, cell in zip(columns, cells, strict=True) if cell}
    return Item(TableRow(record), line=line)


def read_separated_rows(text: str, delimiter: str) -> Iterator[CellRow]:
    r"""The rows of a text of separated values; one with broken quotes ends with its line, and has an error.

    A cell in quotes may hold delimiters, line ends, and quotes written twice. Empty lines are passed over.

    Args:
        text: The text.
        delimiter: What stands between cells.

    >>> [(row.line, row.cells, row.error) for row in read_separated_rows('a,"b\n,c\nd,e', ",")][1:]
    [(2, ['', 'c'], None), (3, ['d', 'e'], None)]
    """
    cell = re.compile(rf'"((?:[^"]++|"")*+)"|([^"{delimiter}\r\n][^{delimiter}\r\n]*+)?+')
    ends = "\n" if "\n" in text else "\r"
    offset, line, spent, width = 0, 1, 0, None
    while offset < len(text):
        if text[offset] in "\r\n":
            line += text[offset] == ends
            offset += 1
            continue
        cells, end, error = _read_cells(text, offset, cell, delimiter)
        lines = text.count(ends, offset, end)
        misread = lines and width is not None and len(cells) != width  # a quote that another row's closed
        yield CellRow(line, cells, error or ("a quote is not closed where it should be" if misread else None))
        width = width or len(cells)
        if error or misread:
            spent += end - offset
            if spent > 4 * len(text) + 1_000_000:
                yield CellRow(line + 1, [], "too many unclosed quotes; the rest is not read")
                return
            stop = text.find(ends, offset)
            end, lines = (len(text), 0) if stop < 0 else (stop, 0)
        offset, line = end, line + lines


def _read_cells(
    text: str, offset: int, cell: re.Pattern[str], delimiter: str
) -> tuple[list[str], int, str | None]:
    """The cells of the row at a place, the place after it, and what is wrong with its quotes."""
    cells: list[str] = []
    while True:
        match = cell.match(text, offset)
        assert match is not None
        quoted, plain = match.groups()
        end = match.end()
        if text[end : end + 1] not in (delimiter, "\r", "\n", ""):
            where = f"cell {len(cells) + 1}"
            if quoted is None:
                return cells, len(text), f"the quote that begins {where} is never closed"
            excerpt = text[end : end + 20].splitlines()[0]
            return (
                cells,
                end,
                f"{where}: found {excerpt!r} after the closing quote; double the quotes inside it",
            )
        cells.append((plain or "") if quoted is None else quoted.replace('""', '"'))
        if text[end : end + 1] != delimiter:
            return cells, end, None
        offset = end + 1


# ---------------------------------------------------------------- Parquet
def parquet_items(data: bytes | bytearray | str, name: str) -> Iterator[Item]:
    """The rows of a Parquet file, each an object from column to value; null is left out.

    Args:
        data: The file's bytes, or its path, where it is not to be held in memory.
        name: What to call it in a message.

    Raises:
        InputError: pyarrow is not installed, or the file is damaged or too large.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("reading Parquet needs pyarrow: pip install 'planner_eval[parquet]'") from None
    size = 0
    try:
        source = data if isinstance(data, str) else pyarrow.BufferReader(data)
        file = pyarrow.parquet.ParquetFile(
            source, buffer_size=_BUFFER_BYTES if source is data else 0, pre_buffer=False
        )
        for batch in file.iter_batches(batch_size=_BATCH_ROWS):
            size += batch.nbytes
            if size > MAX_STREAM_BYTES:
                raise InputError(f"{name} unpacks to more than {MAX_STREAM_BYTES:,} bytes, the limit")
            yield from map(Item, row_data(batch.to_pylist(maps_as_pydicts="strict")))
    except InputError:
        raise
    except Exception as error:  # pyarrow's own, OSError, KeyError: whatever is damaged
        reason = str(error).partition("\n")[0]
        raise InputError(f"{name} is a Parquet file that cannot be read: {reason}") from None
    if not size:
        raise InputError(f"{name} has columns and no rows")
