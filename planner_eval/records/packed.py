"""Packed files unpacked, as far as the limits allow."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

from planner_eval.base.errors import InputError
from planner_eval.base.limits import STREAM_LIMIT

_BLOCK = 1 << 16

BOMB = (64_000_000, 500)
"""A packed file is refused that gives more bytes than the first number, and more than the second a byte."""


def unpacked(
    data: bytes | bytearray, packed: str, name: str, look: Callable[[bytes, str], None]
) -> bytearray:
    """What packed bytes hold.

    Args:
        data: The packed bytes.
        packed: How they are packed: ``"gzip"``, ``"bzip2"``, ``"xz"`` or ``"zstd"``.
        name: What to call them in a message.
        look: Refuses what is no text by its first bytes.

    Raises:
        InputError: as for :func:`unpacking`.

    >>> from gzip import compress
    >>> bytes(unpacked(compress(b"f()"), "gzip", "p.gz", lambda block, name: None))
    b'f()'
    """
    found = bytearray()
    for block in unpacking(BytesIO(data), len(data), packed, name, look):
        found += block
    return found


def inspect_log(data: bytes | bytearray, name: str) -> bytearray | None:
    """The text of an Inspect log that is a zip archive, as its JSON form has it; None for any other archive.

    Args:
        data: The archive's bytes.
        name: What to call it in a message.

    Raises:
        InputError: the archive is damaged, too large, or packed in a way that this Python cannot unpack.

    Source: inspect_ai, ``src/inspect_ai/log/_recorders/eval.py``.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            head = next((file for file in _INSPECT_HEADS if file in sizes), None)
            samples = sorted(f for f in sizes if f.startswith("samples/") and f.count("/") == 1)
            if head is None or not samples:
                return None
            if sum(sizes[file] for file in (head, *samples)) > STREAM_LIMIT:
                raise InputError(f"{name} unpacks to more than {STREAM_LIMIT:,} bytes, the limit")
            text = bytearray(archive.read(head).rstrip().removesuffix(b"}") + b',"samples":[')
            text += b",".join(map(archive.read, samples)) + b"]}"
            return text
    except NotImplementedError:
        reason = "is packed with Zstandard, which this Python does not unpack"
        raise InputError(f"{name} {reason}; {_AS_JSON}") from None
    except BadZipFile:
        return None
    except (OSError, EOFError, RuntimeError, zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked: {error}; {_AS_JSON}") from None


_INSPECT_HEADS = ("header.json", "_journal/start.json", "start.json")
"""What holds the task of a log, in today's logs, unfinished ones, and the first ones."""
_AS_JSON = "write the log as .json and read that"


def unpacking(
    file: Any, size: int, packed: str, name: str, look: Callable[[bytes, str], None]
) -> Iterator[bytes]:
    """What a packed file holds, a block at a time.

    Args:
        file: The packed file.
        size: Its bytes.
        packed: As for :func:`unpacked`, as all below.
        name: What to call it in a message.
        look: Refuses what is no text by its first bytes.

    Raises:
        InputError: it is damaged, unpacks to more than the limits allow or to no text, or the package that
            unpacks it is not there.
    """
    reader = _READERS[packed](file)
    found = 0
    least, ratio = BOMB
    try:
        while block := reader.read(_BLOCK):
            if not found:
                look(block, name)
            found += len(block)
            if found > least and found > ratio * size:
                raise InputError(
                    f"{name}: {size:,} bytes of {packed} unpack to more than {ratio} times as many, "
                    "which no file of plans does; if you trust it, unpack it first"
                )
            if found > STREAM_LIMIT:
                raise InputError(
                    f"{name} unpacks to more than {STREAM_LIMIT:,} bytes, the limit; "
                    "unpack it into a file first"
                )
            yield block
    except InputError:
        raise
    except Exception as error:  # each of the packages has exceptions of its own for damaged data
        reason = str(error) or type(error).__name__
        raise InputError(
            f"{name}: the {packed} data is cut off or damaged after {found:,} bytes: {reason}"
        ) from None


def _gzip(data: Any) -> Any:
    from gzip import GzipFile

    return GzipFile(fileobj=data)


def _bzip2(data: Any) -> Any:
    from bz2 import BZ2File

    return BZ2File(data)


def _xz(data: Any) -> Any:
    from lzma import LZMAFile

    return LZMAFile(data)


def _zstd(data: Any) -> Any:
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


_READERS: dict[str, Callable[[Any], Any]] = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}
