"""A path as text: packed files, pipes and devices, encodings; and what is no text at all.

What is packed is recognised by its first bytes, whatever the file is called. Everything is bounded: what
has no size beforehand (a pipe, a device, what a packed file holds) is counted as it comes.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import MAX_FILE_BYTES, MAX_STREAM_BYTES
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.items import (
    BOMS,
    FileItems,
    decode_text,
    explain_items,
    invalid_byte_error,
    mark_invalid_bytes,
    split_items,
    unfold_items,
)
from planner_eval.reading.files.shapes import Item, shape_of

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
        from planner_eval.reading.files.tables import unpack

        data = unpack(data, packed, name, refuse_foreign)
    elif data[:4] == ZIP_SIGNATURE:
        from planner_eval.reading.files.tables import read_inspect_log

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
        from planner_eval.reading.files.tables import parquet_items

        return FileContent("", _shape_rows(parquet_items(opened.data, opened.name), text_field))
    text, odd = decode_text(opened.data, opened.name)
    delimiter = DELIMITERS.get(opened.inner[-4:].lower())
    if delimiter is not None and text.strip():
        from planner_eval.reading.files.tables import separated_items

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
