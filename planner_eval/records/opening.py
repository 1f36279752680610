"""A path as text: packed files, pipes and devices, encodings; and what is no text at all.

What is packed is recognised by its first bytes, whatever the file is called. Everything is bounded: what
has no size beforehand (a pipe, a device, what a packed file holds) is counted as it comes.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Callable
from io import BytesIO
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError, ParseError
from planner_eval.records.broken import Item

FILE_LIMIT = 4_000_000_000
"""Bytes of one file."""

STREAM_LIMIT = 1_000_000_000
"""Bytes of a pipe or a device, and of what a packed file unpacks to."""

BLOCK = 1 << 16
"""Bytes that are read at once of what may have no end; what is no text is known by the first block."""

BOMB = (64_000_000, 500)
"""A packed file is refused that gives more bytes than the first number, and more than the second a byte."""

ODD = re.compile("[\udc80-\udcff]")
"""A byte that is no UTF-8, in a text that was decoded all the same."""

Bytes: TypeAlias = bytes | bytearray

_PACKED = ((b"\x1f\x8b\x08", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"(\xb5/\xfd", "zstd"))
_PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_BOMS = (  # of UTF-32 first: the mark of UTF-16 begins it
    (BOM_UTF32_LE, "UTF-32"),
    (BOM_UTF32_BE, "UTF-32"),
    (BOM_UTF16_LE, "UTF-16"),
    (BOM_UTF16_BE, "UTF-16"),
)
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


def open_path(path: str) -> Opened:
    """The bytes of a file, a pipe or a device, unpacked.

    Args:
        path: The file; ``-`` is standard input.

    Raises:
        InputError: it is missing, a directory, too large, damaged, or certainly no text.
    """
    name = "standard input" if path == "-" else path
    try:
        data = _stream(sys.stdin.buffer, name) if path == "-" else _file(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, expected a file of plans") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    packed = _packing(data)
    if packed is not None:
        data = _unpacked(data, packed, name)
    refuse_foreign(data, name)
    return Opened(name, bare_name(path), data)


def bare_name(path: str) -> str:
    """A file's name without the suffix of what it is packed in.

    >>> bare_name("runs/pred.jsonl.gz")
    'runs/pred.jsonl'
    """
    return path.removesuffix(next((s for s in _PACKED_SUFFIXES if path.endswith(s)), ""))


# ---------------------------------------------------------------- bytes
def _file(path: str) -> Bytes:
    # Without a buffer, so that a large file is not copied out of one.
    with open(path, "rb", buffering=0) as file:
        known = os.fstat(file.fileno())
        if not stat.S_ISREG(known.st_mode):
            return _stream(file, path)
        if known.st_size > FILE_LIMIT:
            raise InputError(f"{path} is larger than {FILE_LIMIT:,} bytes")
        refuse_foreign(file.read(BLOCK), path)
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
    if head.startswith((PARQUET, *(mark for mark, _ in _BOMS))) or _packing(head) is not None:
        return
    known = next((what for sign, what in _FOREIGN if head.startswith(sign)), None)
    if known is None and head[257:262] == b"ustar":
        known = "a tar archive; unpack it first"
    if known is not None:
        raise InputError(f"{name} is no file of plans but {known}")
    at = head.find(b"\0")
    if at < 0:
        return
    wide = next((f"UTF-16{end}" for end, odd in (("LE", 1), ("BE", 0)) if _is_wide(head, odd)), None)
    if wide is not None:
        raise InputError(
            f"{name} looks like {wide} text without a byte order mark; convert it to UTF-8 first: "
            f"iconv -f {wide} -t UTF-8"
        )
    raise InputError(
        f"{name} is no text: byte {at} is NUL; expected plans as text, Parquet, or either packed"
    )


def _is_wide(head: bytes, odd: int) -> bool:
    """Whether every second byte is NUL, and no other is, as in UTF-16 of Latin letters."""
    zeros, others = head[odd::2], head[1 - odd :: 2]
    return len(head) > 3 and zeros.count(0) * 10 > len(zeros) * 9 and not others.count(0)


# ---------------------------------------------------------------- packed
def _packing(data: Bytes) -> str | None:
    return next((name for sign, name in _PACKED if data[: len(sign)] == sign), None)


def _unpacked(data: Bytes, packed: str, name: str) -> bytearray:
    reader = _READERS[packed](BytesIO(data))
    found = bytearray()
    least, ratio = BOMB
    try:
        while block := reader.read(BLOCK):
            if not found:
                refuse_foreign(block, name)
            found += block
            if len(found) > least and len(found) > ratio * len(data):
                raise InputError(
                    f"{name}: {len(data):,} bytes of {packed} unpack to more than {ratio} times as many, "
                    "which no file of plans does; if you trust it, unpack it first"
                )
            if len(found) > STREAM_LIMIT:
                raise InputError(
                    f"{name} unpacks to more than {STREAM_LIMIT:,} bytes, the limit; "
                    "unpack it into a file first"
                )
    except InputError:
        raise
    except Exception as error:  # each of the packages has exceptions of its own for damaged data
        reason = str(error) or type(error).__name__
        raise InputError(
            f"{name}: the {packed} data is cut off or damaged after {len(found):,} bytes: {reason}"
        ) from None
    return found


def _gzip(data: BytesIO) -> Any:
    from gzip import GzipFile

    return GzipFile(fileobj=data)


def _bzip2(data: BytesIO) -> Any:
    from bz2 import BZ2File

    return BZ2File(data)


def _xz(data: BytesIO) -> Any:
    from lzma import LZMAFile

    return LZMAFile(data)


def _zstd(data: BytesIO) -> Any:
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


_READERS: dict[str, Callable[[BytesIO], Any]] = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}


# ---------------------------------------------------------------- text
def decoded(opened: Opened) -> tuple[str, bool]:
    r"""The text, and whether it has bytes that are no UTF-8; those stand in it as lone surrogates.

    Raises:
        InputError: a byte order mark says UTF-16 or UTF-32, and the rest is not.

    >>> decoded(Opened("p", "p", '"ä"'.encode("utf-16")))[0], decoded(Opened("p", "p", b'"\xe4"'))
    ('"ä"', ('"\udce4"', True))
    """
    name, _, data = opened
    encoding = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), None)
    try:
        return data.decode(encoding or "utf-8-sig"), False
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise InputError(
                f"{name} has the mark of {encoding}, but is none at byte {error.start}: {error.reason}"
            ) from None
    return data.decode("utf-8-sig", "surrogateescape"), True


def marked(text: str) -> str:
    """The text of :func:`decoded` with a NUL before each odd byte, so that JSON there is broken JSON."""
    return ODD.sub("\0\\g<0>", text)


def explained(items: list[Item], name: str) -> list[Item]:
    """The items of a marked text; those that are broken by a byte that is no UTF-8 say so.

    Raises:
        InputError: half of them are, and more than one: the whole file is in another encoding.
    """
    found = [_explained(item) for item in items]
    odd = [item for item in found if item.error is not None and item.error.code == "parse.encoding"]
    if len(odd) > 1 and len(odd) * 2 >= len(found):
        place = f"line {odd[0].line}: " if odd[0].line is not None else ""
        raise InputError(
            f"{name} is not UTF-8: {len(odd):,} of {len(found):,} records hold other bytes, the first in "
            f"{place}{odd[0].error}"
        )
    return found


def _explained(item: Item) -> Item:
    if item.error is None or not ODD.search(item.text):
        return item
    return item._replace(error=odd_byte(item.text))


def odd_byte(text: str) -> ParseError:
    r"""The error of a text with a byte that is no UTF-8.

    >>> odd_byte("f(x=\udce4)").reason.partition(";")[0]
    'column 5: the byte 0xe4 is not UTF-8 text'
    """
    match = ODD.search(text)
    assert match is not None
    before = text[: match.start()]
    row, column = before.count("\n"), len(before.rpartition("\n")[2].replace("\0", ""))
    place = f"line {row + 1}, column {column + 1}" if row else f"column {column + 1}"
    reason = (
        f"{place}: the byte 0x{ord(match.group()) - 0xDC00:02x} is not UTF-8 text; "
        "convert the file to UTF-8 first, e.g. iconv -f WINDOWS-1252 -t UTF-8"
    )
    return ParseError(reason, code="parse.encoding")
