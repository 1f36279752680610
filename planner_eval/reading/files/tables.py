"""Tables as records: CSV, TSV and Parquet, of which each row is a record.

CSV and TSV are read here and not by the module csv: its limit on cells and its leniency are for the whole
process, and a quote that is never closed costs it the rest of the file.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from struct import error as StructError
from struct import unpack_from
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import MAX_STREAM_BYTES
from planner_eval.reading.files.fields import TableRow, row_data
from planner_eval.reading.files.items import INVALID_BYTE, invalid_byte_error
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
                f"{where}: found {excerpt!r} after the closing quote; write a quote inside a cell twice",
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


# ----------------------------------------------------------------------
# Packed files unpacked, as far as the limits allow.
_BLOCK = 1 << 16

BOMB_LIMITS = (64_000_000, 500)
"""A packed file is refused that gives more bytes than the first number, and more than the second a byte."""


def unpack(data: bytes | bytearray, packed: str, name: str, look: Callable[[bytes, str], None]) -> bytearray:
    """What packed bytes hold.

    Args:
        data: The packed bytes.
        packed: How they are packed: ``"gzip"``, ``"bzip2"``, ``"xz"`` or ``"zstd"``.
        name: What to call them in a message.
        look: Refuses what is no text by its first bytes.

    Raises:
        InputError: as for :func:`unpack_blocks`.

    >>> from gzip import compress
    >>> bytes(unpack(compress(b"f()"), "gzip", "p.gz", lambda block, name: None))
    b'f()'
    """
    content = bytearray()
    for block in unpack_blocks(BytesIO(data), len(data), packed, name, look):
        content += block
    return content


def read_inspect_log(data: bytes | bytearray, name: str) -> bytearray | None:
    """The text of an Inspect log that is a zip archive, as its JSON form has it; None for any other archive.

    Args:
        data: The archive's bytes.
        name: What to call it in a message.

    Raises:
        InputError: the archive is damaged or too large, samples of it are stored in pieces, or nothing is
            there that unpacks it.

    Source: inspect_ai, ``src/inspect_ai/log/_recorders/eval.py`` and ``chunked/format.py``.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            members = {info.filename: info for info in archive.infolist()}
            head = next((file for file in _INSPECT_HEADS if file in members), None)
            samples = sorted(file for file in members if _SAMPLE_FILE.fullmatch(file))
            if head is None or not (samples or any(map(_SPLIT_SAMPLE_FILE.fullmatch, members))):
                return None
            if any(map(_SPLIT_SAMPLE_FILE.fullmatch, members)):
                raise InputError(
                    f"{name} is an Inspect log whose samples are stored in pieces; {_CONVERT_ADVICE}"
                )
            if sum(members[file].file_size for file in (head, *samples)) > MAX_STREAM_BYTES:
                raise InputError(f"{name} unpacks to more than {MAX_STREAM_BYTES:,} bytes, the limit")
            texts = (_read_member(archive, data, members[file], name) for file in (head, *samples))
            text = bytearray(next(texts).rstrip().removesuffix(b"}") + b',"samples":[')
            text += b",".join(texts) + b"]}"
            return text
    except BadZipFile as error:
        if data[-_MAX_ZIP_END_BYTES:].find(b"PK\x05\x06") < 0:
            return None
        raise InputError(f"{name} cannot be unpacked: {error}; {_CONVERT_ADVICE}") from None
    except (OSError, EOFError, RuntimeError, zlib.error, StructError) as error:
        raise InputError(f"{name} cannot be unpacked: {error}; {_CONVERT_ADVICE}") from None


def _read_member(archive: ZipFile, data: bytes | bytearray, info: ZipInfo, name: str) -> bytes | bytearray:
    """What a member of an archive holds, also where it is packed with Zstandard, as Inspect does today."""
    if info.compress_type != _ZSTANDARD_METHOD:
        return archive.read(info)
    start = info.header_offset
    names = sum(unpack_from("<HH", data, start + 26))  # of the file's name and of the extra fields
    packed = data[start + 30 + names : start + 30 + names + info.compress_size]
    text = unpack(packed, "zstd", f"{name}: {info.filename}", lambda block, where: None)
    if len(text) != info.file_size or zlib.crc32(text) != info.CRC:
        raise BadZipFile(f"{info.filename} is damaged")
    return text


_ZSTANDARD_METHOD = 93
"""The number of Zstandard among the ways in which members of an archive are packed."""
_MAX_ZIP_END_BYTES = 65_557
"""Within how many of its last bytes an archive ends its list of members."""
_SAMPLE_FILE = re.compile(r"samples/.+_epoch_\d+\.json")
_SPLIT_SAMPLE_FILE = re.compile(r"samples/.+_epoch_\d+/sample\.json")
_INSPECT_HEADS = ("header.json", "_journal/start.json", "start.json")
"""What holds the task of a log, in today's logs, unfinished ones, and the first ones."""
_CONVERT_ADVICE = "write the log as .json (inspect log convert) and read that"


def unpack_blocks(
    file: Any, size: int, packed: str, name: str, look: Callable[[bytes, str], None]
) -> Iterator[bytes]:
    """What a packed file holds, a block at a time.

    Args:
        file: The packed file.
        size: Its bytes.
        packed: As for :func:`unpack`, as all below.
        name: What to call it in a message.
        look: Refuses what is no text by its first bytes.

    Raises:
        InputError: it is damaged, unpacks to more than the limits allow or to no text, or the package that
            unpacks it is not there.
    """
    reader = _READERS[packed](file)
    total = 0
    least, ratio = BOMB_LIMITS
    try:
        while block := reader.read(_BLOCK):
            if not total:
                look(block, name)
            total += len(block)
            if total > least and total > ratio * size:
                raise InputError(
                    f"{name}: {size:,} bytes of {packed} unpack to more than {ratio} times as many, "
                    "more than files of plans do; if you trust it, unpack it first"
                )
            if total > MAX_STREAM_BYTES:
                raise InputError(
                    f"{name} unpacks to more than {MAX_STREAM_BYTES:,} bytes, the limit; "
                    "unpack it into a file first"
                )
            yield block
    except InputError:
        raise
    except Exception as error:  # each of the packages has exceptions of its own for damaged data
        reason = str(error) or type(error).__name__
        raise InputError(
            f"{name}: the {packed} data is cut off or damaged after {total:,} bytes: {reason}"
        ) from None


def _open_gzip(data: Any) -> Any:
    from gzip import GzipFile

    return GzipFile(fileobj=data)


def _open_bzip2(data: Any) -> Any:
    from bz2 import BZ2File

    return BZ2File(data)


def _open_xz(data: Any) -> Any:
    from lzma import LZMAFile

    return LZMAFile(data)


def _open_zstd(data: Any) -> Any:
    try:
        from compression.zstd import ZstdFile  # since Python 3.14
    except ImportError:
        pass
    else:
        return ZstdFile(data)
    try:
        from zstandard import ZstdDecompressor
    except ImportError:
        raise InputError(
            "reading zstd needs Python 3.14 or the package zstandard: pip install 'planner_eval[zstd]'"
        ) from None
    return ZstdDecompressor().stream_reader(data, read_across_frames=True)


_READERS: dict[str, Callable[[Any], Any]] = {
    "gzip": _open_gzip,
    "bzip2": _open_bzip2,
    "xz": _open_xz,
    "zstd": _open_zstd,
}
