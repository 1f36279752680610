"""Where large files are kept while they are read, and from which size on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

from planner_eval.base.named_tuple import NamedTuple

if TYPE_CHECKING:
    from planner_eval.reading.files.disk_index import IndexFolder
    from planner_eval.reading.files.disk_pairs import LazyPairs
    from planner_eval.reading.files.disk_records import LazyRecords
    from planner_eval.reading.files.shards import Shards


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
