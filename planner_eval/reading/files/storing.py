"""Where large files are kept while they are read, and whether a file changed meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple

if TYPE_CHECKING:
    from planner_eval.reading.files.disk_index import IndexFolder
    from planner_eval.reading.files.disk_pairs import LazyPairs
    from planner_eval.reading.files.disk_records import LazyRecords, Shards


# ----------------------------------------------------------------------
# Where large files are kept while they are read, and from which size on.
class Store(NamedTuple):
    """How files are read that are too large to be held in memory: by an index of their records on disk.

    Args:
        folder: Where indexes are kept, to be used again by those who read the same file there; a
            :class:`.index.Folder` is removed with the last of its records, or at the end, as is the temporary
            one when left out.
        limit: Files of more bytes than that are read so; None: none is.
        piece: About how many bytes are looked through in one go.
        spread: Does that for all pieces, in order, as ``map`` does: a pool's ``imap`` in several processes.
    """

    folder: str | IndexFolder | None = None
    limit: int | None = 8_000_000
    piece: int = 4_000_000
    spread: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map


DEFAULT_STORE = Store()
"""What is large lies in a temporary folder."""

IN_MEMORY = Store(limit=None)
"""Files are read whole, whatever their size."""


def is_lazy(records: Any) -> TypeGuard[LazyRecords]:
    """Whether records are read when they are asked for, by an index of their files.

    >>> is_lazy(())
    False
    """
    return getattr(type(records), "by_index", False)


def is_stored(records: Any) -> TypeGuard[LazyRecords]:
    """Whether they are, and are all those of their files, for which the index can answer.

    >>> is_stored(())
    False
    """
    return is_lazy(records) and records.whole


def is_sharded(records: Any) -> TypeGuard[Shards]:
    """Whether they are those of several files together, of which some are read when they are asked for.

    >>> is_sharded(())
    False
    """
    return getattr(type(records), "of_several", False)


def is_lazy_pairs(pairs: Any) -> TypeGuard[LazyPairs]:
    """Whether pairs are read when they are asked for.

    >>> is_lazy_pairs(())
    False
    """
    return getattr(type(pairs), "by_index", False)


# ----------------------------------------------------------------------
# Which file it was: size and digest of what is read, and whether it changed meanwhile.
_BLOCK = 1 << 20


class Origin(NamedTuple):
    """A file as it was when it was read.

    Args:
        path: The file.
        size: Its bytes.
        mtime: When it was written last, in nanoseconds.
        inode: Its number on its disk.
        digest: BLAKE2b of its bytes; empty where nobody asked for it.
    """

    path: str
    size: int
    mtime: int
    inode: int
    digest: str = ""

    def same(self, other: Origin) -> bool:
        """Whether another file holds the same bytes, wherever it lies."""
        return bool(self.digest) and (self.size, self.digest) == (other.size, other.digest)


def current_origin(path: str) -> Origin:
    """A file as it is now, without its digest.

    Raises:
        InputError: there is no such file.
    """
    try:
        file_stat = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return Origin(path, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ino)


def current_origins(path: str) -> tuple[Origin, ...]:
    """A file on disk as it is now, alone; nothing where a path is none: standard input, a pipe, a device.

    >>> current_origins("-")
    ()
    """
    return (current_origin(path),) if path != "-" and os.path.isfile(path) else ()


def digest_origin(path: str, before: Origin | None = None) -> Origin:
    """A file with the digest of its bytes, for which it is read once.

    Args:
        path: The file.
        before: As it was when something else was read of it; as it is now when left out.

    Raises:
        InputError: it cannot be read, or is not what it was before.
    """
    from hashlib import blake2b

    before = before or current_origin(path)
    digest = blake2b(digest_size=32)
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    refuse_changed(before)
    return before._replace(digest=digest.hexdigest())


def refuse_changed(origin: Origin, action: str = "read") -> None:
    """Refuse a file that is no longer what it was: what was read of it may be of neither.

    Args:
        origin: The file as it was.
        action: What was done with it meanwhile.

    Raises:
        InputError: it was written, replaced or removed meanwhile.
    """
    now = current_origin(origin.path)
    if now != origin._replace(digest=""):
        raise InputError(
            f"{origin.path} changed while it was {action}: {origin.size:,} bytes then, {now.size:,} now; "
            "do it again when nobody writes it"
        )
