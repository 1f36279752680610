"""A path as text, or as the rows of a table: packed files, pipes, devices, encodings, CSV, TSV and Parquet.

What is packed is recognised by its first bytes, whatever the file is called. Everything is bounded: what
has no size beforehand (a pipe, a device, what a packed file holds) is counted as it comes.

CSV and TSV are read here and not by the module csv: its limit on cells and its leniency are for the whole
process, and a quote that is never closed costs it the rest of the file.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from io import BytesIO
from struct import error as StructError
from struct import unpack_from
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import MAX_FILE_BYTES, MAX_STREAM_BYTES
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern
from planner_eval.reading.files.fields import TableRow, row_data
from planner_eval.reading.files.items import (
    BOMS,
    INVALID_BYTE,
    FileItems,
    decode_text,
    explain_items,
    invalid_byte_error,
    mark_invalid_bytes,
    split_items,
    unfold_items,
)
from planner_eval.reading.files.shapes import Item, shape_of

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

BLOCK_BYTES = 1 << 16
"""Bytes that are read at once of what may have no end; what is no text is known by the first block."""

Bytes: TypeAlias = bytes | bytearray

_COMPRESSION_SIGNATURES = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"(\xb5/\xfd", "zstd"),
)
_COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_FOREIGN_SIGNATURES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or an office document; unpack it, or write it as text, first"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ARROW1", "an Arrow file; write it as Parquet or as JSON lines"),
    (b"\x89HDF", "an HDF5 file"),
)
PARQUET_SIGNATURE = b"PAR1"
ZIP_SIGNATURE = b"PK\x03\x04"

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""Names that say that a file is a table, and what stands between its cells; it is never guessed."""


class OpenedFile(NamedTuple):
    """What a path holds.

    Args:
        name: What messages call it.
        inner: The name without the suffix of what it is packed in.
        data: Its bytes, unpacked.
    """

    name: str
    inner: str
    data: Bytes


def open_path(path: str, expected: str = "plans") -> OpenedFile:
    """The bytes of a file, a pipe or a device, unpacked.

    Args:
        path: The file; ``-`` is standard input.
        expected: What it should hold, for messages.

    Raises:
        InputError: it is missing, a directory, too large, damaged, or certainly no text.
    """
    name = "standard input" if path == "-" else path
    try:
        data = _read_standard_input() if path == "-" else _read_file_bytes(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, expected a file of {expected}") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    packed = _detect_compression(data)
    if packed is not None:
        data = unpack(data, packed, name)
    elif data[:4] == ZIP_SIGNATURE:
        data = read_inspect_log(data, name) or data
    refuse_foreign(data, name)
    return OpenedFile(name, bare_name(path), data)


def bare_name(path: str) -> str:
    """A file's name without the suffix of what it is packed in.

    >>> bare_name("runs/pred.jsonl.gz")
    'runs/pred.jsonl'
    """
    return path.removesuffix(next((s for s in _COMPRESSION_SUFFIXES if path.endswith(s)), ""))


def large_file_kind(path: str, limit: int) -> str | None:
    """What a large file is: ``"text"``, ``"parquet"``, or how it is packed; None where it is read whole.

    Args:
        path: The file.
        limit: It is large from more bytes on; one that is packed sooner, for it holds more than it has.

    Raises:
        InputError: it is certainly no text.
    """
    try:
        file_stat = os.stat(path)
        if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_size * _MAX_COMPRESSION_RATIO <= limit:
            return None
        with open(path, "rb", buffering=0) as file:
            head = file.read(BLOCK_BYTES)
    except OSError:  # it is said where the file is read
        return None
    if bare_name(path)[-4:].lower() in DELIMITERS or head.startswith(tuple(mark for mark, _ in BOMS)):
        return None
    refuse_foreign(head, path)
    packed = "parquet" if head.startswith(PARQUET_SIGNATURE) else _detect_compression(head)
    return packed or ("text" if file_stat.st_size > limit else None)


_MAX_COMPRESSION_RATIO = 100
"""How many times as many bytes a packed file is taken to hold."""


class FileContent(NamedTuple):
    """What a file holds.

    Args:
        text: Its text, where it is one plan.
        found: Its records, or its one plan.
        error: Why the one plan cannot be read.
    """

    text: str
    found: FileItems
    error: ParseError | None = None


def read_content(opened: OpenedFile, text_field: str | None = None) -> FileContent:
    r"""The records of a file, or its one plan.

    Args:
        opened: The file.
        text_field: The field that holds a record's plan, where the user named it.

    Raises:
        InputError: it is a table that cannot be read, or in another encoding than UTF-8 throughout.

    >>> read_content(OpenedFile("p.csv", "p.csv", b'id,output\na,f()\n')).found.items[0].data
    {'id': 'a', 'output': 'f()'}
    """
    if opened.data[: len(PARQUET_SIGNATURE)] == PARQUET_SIGNATURE:
        return FileContent("", _shape_rows(parquet_items(opened.data, opened.name), text_field))
    text, odd = decode_text(opened.data, opened.name)
    delimiter = DELIMITERS.get(opened.inner[-4:].lower())
    if delimiter is not None and text.strip():
        rows = _shape_rows(separated_items(text, delimiter, opened.name), text_field)
        return FileContent("", FileItems(explain_items(rows.items, opened.name)))
    contents = split_items(mark_invalid_bytes(text) if odd else text, opened.inner, text_field)
    if not odd:
        return FileContent(text, contents)
    if not contents.many:
        return FileContent(text, contents, invalid_byte_error(text))
    return FileContent(text, FileItems(explain_items(contents.items, opened.name)))


def _shape_rows(rows: Iterable[Item], text_field: str | None) -> FileItems:
    shaped = [row._replace(shape=shape_of(row.data, text_field)) for row in rows]
    return FileItems(unfold_items(shaped, text_field) or shaped)


# ---------------------------------------------------------------- bytes
def _read_standard_input() -> Bytes:
    if sys.stdin is None:
        raise InputError("standard input is closed")
    return _read_stream(sys.stdin.buffer, "standard input")


def _read_file_bytes(path: str) -> Bytes:
    # Without a buffer, so that a large file is not copied out of one.
    with open(path, "rb", buffering=0) as file:
        file_stat = os.fstat(file.fileno())
        if not stat.S_ISREG(file_stat.st_mode):
            return _read_stream(file, path)
        if file_stat.st_size > MAX_FILE_BYTES:
            raise InputError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        if (head := file.read(BLOCK_BYTES))[:4] != ZIP_SIGNATURE:  # which may be a log
            refuse_foreign(head, path)
        file.seek(0)
        return file.readall()


def _read_stream(file: Any, name: str) -> bytearray:
    """What comes out of a pipe or a device, as long as it may be a text of bounded size."""
    data = bytearray()
    read = getattr(file, "read1", file.read)  # what is there, not a full block: a pipe may be slow
    while block := read(BLOCK_BYTES):
        if not data:
            refuse_foreign(block, name)
        data += block
        if len(data) > MAX_STREAM_BYTES:
            raise InputError(
                f"{name} gives more than {MAX_STREAM_BYTES:,} bytes, the limit for a "
                "stream; write it to a file first"
            )
    return data


def refuse_foreign(data: Bytes, name: str) -> None:
    """Refuse what is certainly neither text nor packed text, by its first bytes.

    Raises:
        InputError: says what it is.
    """
    head = bytes(data[:BLOCK_BYTES])
    if (
        head.startswith((PARQUET_SIGNATURE, *(mark for mark, _ in BOMS)))
        or _detect_compression(head) is not None
    ):
        return
    kind = next((what for sign, what in _FOREIGN_SIGNATURES if head.startswith(sign)), None)
    if kind is None and head[257:262] == b"ustar":
        kind = "a tar archive; unpack it first"
    if kind is not None:
        raise InputError(f"{name} is not a file of plans but {kind}")
    offset = head.find(b"\0")
    if offset < 0:
        return
    wide = next((f"UTF-16{end}" for end, odd in (("LE", 1), ("BE", 0)) if _is_utf_16(head, odd)), None)
    if wide is not None:
        raise InputError(
            f"{name} looks like {wide} text without a byte order mark; convert it to UTF-8 first: "
            f"iconv -f {wide} -t UTF-8"
        )
    raise InputError(
        f"{name} is not text: byte {offset} is NUL; expected plans as text, Parquet, or either packed"
    )


def _is_utf_16(head: bytes, odd: int) -> bool:
    """Whether every second byte is NUL, and no other is, as in UTF-16 of Latin letters."""
    zeros, other_bytes = head[odd::2], head[1 - odd :: 2]
    return len(head) > 3 and zeros.count(0) * 10 > len(zeros) * 9 and not other_bytes.count(0)


# ---------------------------------------------------------------- packed
def _detect_compression(data: Bytes) -> str | None:
    return next((name for sign, name in _COMPRESSION_SIGNATURES if data[: len(sign)] == sign), None)


# ----------------------------------------------------------------------
# Tables as records: CSV, TSV and Parquet, of which each row is a record.
_BATCH_ROWS = 100
"""Rows of a Parquet file that are decoded at once: few, for each may be large."""


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
            source, buffer_size=BLOCK_BYTES if source is data else 0, pre_buffer=False
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

BOMB_LIMITS = (64_000_000, 500)
"""A packed file is refused that gives more bytes than the first number, and more than the second a byte."""


def unpack(data: bytes | bytearray, packed: str, name: str) -> bytearray:
    """What packed bytes hold.

    Args:
        data: The packed bytes.
        packed: How they are packed: ``"gzip"``, ``"bzip2"``, ``"xz"`` or ``"zstd"``.
        name: What to call them in a message.

    Raises:
        InputError: as for :func:`unpack_blocks`.

    >>> from gzip import compress
    >>> bytes(unpack(compress(b"f()"), "gzip", "p.gz"))
    b'f()'
    """
    content = bytearray()
    for block in unpack_blocks(BytesIO(data), len(data), packed, name):
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
    from zipfile import BadZipFile, ZipFile

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
    text = unpack(packed, "zstd", f"{name}: {info.filename}")
    if len(text) != info.file_size or zlib.crc32(text) != info.CRC:
        raise zlib.error(f"{info.filename} is damaged")
    return text


_ZSTANDARD_METHOD = 93
"""The number of Zstandard among the ways in which members of an archive are packed."""
_MAX_ZIP_END_BYTES = 65_557
"""Within how many of its last bytes an archive ends its list of members."""
_SAMPLE_FILE = lazy_pattern(r"samples/.+_epoch_\d+\.json")
_SPLIT_SAMPLE_FILE = lazy_pattern(r"samples/.+_epoch_\d+/sample\.json")
_INSPECT_HEADS = ("header.json", "_journal/start.json", "start.json")
"""What holds the task of a log, in today's logs, unfinished ones, and the first ones."""
_CONVERT_ADVICE = "write the log as .json (inspect log convert) and read that"


_MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}
"""What unpacks each, in the standard library."""


def unpack_blocks(file: Any, size: int, packed: str, name: str) -> Iterator[bytes]:
    """What a packed file holds, a block at a time.

    Args:
        file: The packed file.
        size: Its bytes.
        packed: As for :func:`unpack`, as all below.
        name: What to call it in a message.

    Raises:
        InputError: it is damaged, unpacks to more than the limits allow or to no text, or the package that
            unpacks it is not there.
    """
    module = _MODULES.get(packed)
    reader = _open_zstd(file) if module is None else import_module(module).open(file)
    total = 0
    least, ratio = BOMB_LIMITS
    try:
        while block := reader.read(BLOCK_BYTES):
            if not total:
                refuse_foreign(block, name)
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
