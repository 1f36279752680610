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
from planner_eval.base.limits import FILE_LIMIT, STREAM_LIMIT
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.encoding import BOMS, decoded, explained, marked, odd_byte
from planner_eval.reading.files.items import Contents, split_items, unfold_items
from planner_eval.reading.files.shapes import Item, shape_of

BLOCK = 1 << 16
"""Bytes that are read at once of what may have no end; what is no text is known by the first block."""

Bytes: TypeAlias = bytes | bytearray

_PACKED = ((b"\x1f\x8b\x08", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"(\xb5/\xfd", "zstd"))
_PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_FOREIGN = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or an office document; unpack it, or write it as text, first"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ARROW1", "an Arrow file; write it as Parquet or as JSON lines"),
    (b"\x89HDF", "an HDF5 file"),
)
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""Names that say that a file is a table, and what stands between its cells; it is never guessed."""


class Opened(NamedTuple):
    """What a path holds.

    Args:
        name: What messages call it.
        inner: The name without the suffix of what it is packed in.
        data: Its bytes, unpacked.
    """

    name: str
    inner: str
    data: Bytes


def open_path(path: str, expected: str = "plans") -> Opened:
    """The bytes of a file, a pipe or a device, unpacked.

    Args:
        path: The file; ``-`` is standard input.
        expected: What it should hold, for messages.

    Raises:
        InputError: it is missing, a directory, too large, damaged, or certainly no text.
    """
    name = "standard input" if path == "-" else path
    try:
        data = _standard_input() if path == "-" else _file(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, expected a file of {expected}") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    packed = _packing(data)
    if packed is not None:
        from planner_eval.reading.files.packed import unpacked

        data = unpacked(data, packed, name, refuse_foreign)
    elif data[:4] == ZIP:
        from planner_eval.reading.files.packed import inspect_log

        data = inspect_log(data, name) or data
    refuse_foreign(data, name)
    return Opened(name, bare_name(path), data)


def bare_name(path: str) -> str:
    """A file's name without the suffix of what it is packed in.

    >>> bare_name("runs/pred.jsonl.gz")
    'runs/pred.jsonl'
    """
    return path.removesuffix(next((s for s in _PACKED_SUFFIXES if path.endswith(s)), ""))


def large(path: str, limit: int) -> str | None:
    """What a large file is: ``"text"``, ``"parquet"``, or how it is packed; None where it is read whole.

    Args:
        path: The file.
        limit: It is large from more bytes on; one that is packed sooner, for it holds more than it has.

    Raises:
        InputError: it is certainly no text.
    """
    try:
        file_stat = os.stat(path)
        if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_size * _FOLDS <= limit:
            return None
        with open(path, "rb", buffering=0) as file:
            head = file.read(BLOCK)
    except OSError:  # it is said where the file is read
        return None
    if bare_name(path)[-4:].lower() in DELIMITERS or head.startswith(tuple(mark for mark, _ in BOMS)):
        return None
    refuse_foreign(head, path)
    packed = "parquet" if head.startswith(PARQUET) else _packing(head)
    return packed or ("text" if file_stat.st_size > limit else None)


_FOLDS = 100
"""How many times as many bytes a packed file is taken to hold."""


class Content(NamedTuple):
    """What a file holds.

    Args:
        text: Its text, where it is one plan.
        found: Its records, or its one plan.
        error: Why the one plan cannot be read.
    """

    text: str
    found: Contents
    error: ParseError | None = None


def content_of(opened: Opened, text_field: str | None = None) -> Content:
    r"""The records of a file, or its one plan.

    Args:
        opened: The file.
        text_field: The field that holds a record's plan, where the user named it.

    Raises:
        InputError: it is a table that cannot be read, or in another encoding than UTF-8 throughout.

    >>> content_of(Opened("p.csv", "p.csv", b'id,output\na,f()\n')).found.items[0].data
    {'id': 'a', 'output': 'f()'}
    """
    if opened.data[: len(PARQUET)] == PARQUET:
        from planner_eval.reading.files.tables import parquet_items

        return Content("", _shaped(parquet_items(opened.data, opened.name), text_field))
    text, odd = decoded(opened.data, opened.name)
    delimiter = DELIMITERS.get(opened.inner[-4:].lower())
    if delimiter is not None and text.strip():
        from planner_eval.reading.files.tables import separated_items

        rows = _shaped(separated_items(text, delimiter, opened.name), text_field)
        return Content("", Contents(explained(rows.items, opened.name)))
    contents = split_items(marked(text) if odd else text, opened.inner, text_field)
    if not odd:
        return Content(text, contents)
    if not contents.many:
        return Content(text, contents, odd_byte(text))
    return Content(text, Contents(explained(contents.items, opened.name)))


def _shaped(rows: Iterable[Item], text_field: str | None) -> Contents:
    shaped = [row._replace(shape=shape_of(row.data, text_field)) for row in rows]
    return Contents(unfold_items(shaped, text_field) or shaped)


# ---------------------------------------------------------------- bytes
def _standard_input() -> Bytes:
    if sys.stdin is None:
        raise InputError("standard input is closed")
    return _stream(sys.stdin.buffer, "standard input")


def _file(path: str) -> Bytes:
    # Without a buffer, so that a large file is not copied out of one.
    with open(path, "rb", buffering=0) as file:
        file_stat = os.fstat(file.fileno())
        if not stat.S_ISREG(file_stat.st_mode):
            return _stream(file, path)
        if file_stat.st_size > FILE_LIMIT:
            raise InputError(f"{path} is larger than {FILE_LIMIT:,} bytes")
        if (head := file.read(BLOCK))[:4] != ZIP:  # which may be a log
            refuse_foreign(head, path)
        file.seek(0)
        return file.readall()


def _stream(file: Any, name: str) -> bytearray:
    """What comes out of a pipe or a device, as long as it may be a text of bounded size."""
    data = bytearray()
    read = getattr(file, "read1", file.read)  # what is there, not a full block: a pipe may be slow
    while block := read(BLOCK):
        if not data:
            refuse_foreign(block, name)
        data += block
        if len(data) > STREAM_LIMIT:
            raise InputError(
                f"{name} gives more than {STREAM_LIMIT:,} bytes, the limit for what is no file; "
                "if it has an end, write it to a file first"
            )
    return data


def refuse_foreign(data: Bytes, name: str) -> None:
    """Refuse what is certainly neither text nor packed text, by its first bytes.

    Raises:
        InputError: says what it is.
    """
    head = bytes(data[:BLOCK])
    if head.startswith((PARQUET, *(mark for mark, _ in BOMS))) or _packing(head) is not None:
        return
    kind = next((what for sign, what in _FOREIGN if head.startswith(sign)), None)
    if kind is None and head[257:262] == b"ustar":
        kind = "a tar archive; unpack it first"
    if kind is not None:
        raise InputError(f"{name} is no file of plans but {kind}")
    offset = head.find(b"\0")
    if offset < 0:
        return
    wide = next((f"UTF-16{end}" for end, odd in (("LE", 1), ("BE", 0)) if _is_wide(head, odd)), None)
    if wide is not None:
        raise InputError(
            f"{name} looks like {wide} text without a byte order mark; convert it to UTF-8 first: "
            f"iconv -f {wide} -t UTF-8"
        )
    raise InputError(
        f"{name} is no text: byte {offset} is NUL; expected plans as text, Parquet, or either packed"
    )


def _is_wide(head: bytes, odd: int) -> bool:
    """Whether every second byte is NUL, and no other is, as in UTF-16 of Latin letters."""
    zeros, other_bytes = head[odd::2], head[1 - odd :: 2]
    return len(head) > 3 and zeros.count(0) * 10 > len(zeros) * 9 and not other_bytes.count(0)


# ---------------------------------------------------------------- packed
def _packing(data: Bytes) -> str | None:
    return next((name for sign, name in _PACKED if data[: len(sign)] == sign), None)
