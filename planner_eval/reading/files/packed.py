"""Packed files unpacked, as far as the limits allow."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from struct import error as StructError
from struct import unpack_from
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from planner_eval.base.errors import InputError
from planner_eval.base.limits import MAX_STREAM_BYTES

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
