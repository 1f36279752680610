"""The records of a large file as a sequence that is read when it is asked for, by an index on disk."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple, TypeAlias, overload

from planner_eval.base.errors import InputError
from planner_eval.records.decided import Decided, How, decide
from planner_eval.records.index import BATCH, Folder, Index, Place, Source
from planner_eval.records.indexing import write_index
from planner_eval.records.items import LINE_SUFFIXES
from planner_eval.records.lines import (
    BROKEN,
    SEVERAL,
    WORDS,
    Lines,
    Unfit,
    are_records,
    id_key,
    lines_of,
)
from planner_eval.records.origins import Origin, origin_of, refuse_changed, seen
from planner_eval.records.record import Record
from planner_eval.records.shapes import Chosen
from planner_eval.records.spooled import spool
from planner_eval.records.storing import Store

Step: TypeAlias = Callable[[Record], Record]
"""What is done to each record when it is read; it leaves ids alone, and can be pickled."""


class Kept(NamedTuple):
    """Records of a large file, and what was decided of it."""

    records: Stored
    decided: Decided


class Stored(Sequence[Record]):
    """Records of a large file, each made anew whenever it is asked for; slices are as lazy.

    It can be pickled and forked: other processes read the same file and index.

    Args:
        base: Where they stand.
        origin: The file, as it was when it was looked through.
        lines: The file.
        decided: Which field is what.
        positions: Which of its records; all when left out.
        steps: What is done to each.
    """

    by_index = True

    def __init__(
        self,
        base: Index,
        origin: Origin,
        lines: Lines,
        decided: Decided,
        positions: Sequence[int],
        steps: tuple[Step, ...] = (),
    ) -> None:
        self.base, self.origin, self.lines, self.decided = base, origin, lines, decided
        self.positions, self.steps = positions, steps
        self.source = Source(lines.path)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.origin.path

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Stored: ...
    def __getitem__(self, at: int | slice) -> Record | Stored:
        if isinstance(at, slice):
            return self.of(self.positions[at])
        return next(self.at((self.positions[at],)))

    def __iter__(self) -> Iterator[Record]:
        for first in range(0, len(self.positions), BATCH):
            yield from self.at(self.positions[first : first + BATCH])

    def of(self, positions: Sequence[int]) -> Stored:
        """The records at other positions of the same file."""
        return Stored(self.base, self.origin, self.lines, self.decided, positions, self.steps)

    def each(self, step: Step) -> Stored:
        """The same records, something done to each when it is read."""
        return Stored(self.base, self.origin, self.lines, self.decided, self.positions, (*self.steps, step))

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions of the file, few of them, in the order asked for."""
        return self.made(self.base.places(positions))

    def made(self, places: Iterable[Place]) -> Iterator[Record]:
        """The records that stand at some places of the file."""
        for place, raw in self.source.texts(places):
            item = self.lines.item(place.line, raw)
            if item is None:
                raise InputError(f"{self.name} changed while it was read: line {place.line} is blank now")
            record = self.decided.record(self.name, place.position, item)
            for step in self.steps:
                record = step(record)
            yield record

    # ------------------------------------------------------------ what the index knows
    @property
    def whole(self) -> bool:
        """Whether these are all records of the file."""
        return self.positions == range(self.base.about()["records"])

    def _count(self, wanted: str) -> int:
        return int(self.base.ask(f"SELECT count(*) FROM line WHERE {wanted}").fetchone()[0])

    def _marked(self, mark: int) -> Stored:
        found = self.base.ask("SELECT pos FROM line WHERE marks & ? ORDER BY pos", (mark,))
        return self.of(array("q", (row[0] for row in found)))

    @property
    def has_ids(self) -> bool:
        """Whether any record of the file has an id."""
        return self.base.ask("SELECT 1 FROM line WHERE key IS NOT NULL LIMIT 1").fetchone() is not None

    def several(self) -> int:
        """How many offer several answers."""
        return self._count(f"marks & {SEVERAL}")

    def words(self) -> Stored:
        """Those whose plan is a text in which nothing could be a call."""
        return self._marked(WORDS)

    def broken(self) -> Stored:
        """Those that are no JSON."""
        return self._marked(BROKEN)

    def names(self) -> Mapping[str, int]:
        """How many have a field of each name, in the order in which these are met."""
        found: dict[str, int] = self.base.about()["names"]
        return found

    def of_id(self, id: str) -> Stored:
        """Those of an id."""
        found = self.base.ask("SELECT pos FROM line WHERE key = ? ORDER BY pos", (id_key(id),))
        return self.of(array("q", (row[0] for row in found)))

    def repeated(self) -> Stored:
        """Those that an earlier one has the id of."""
        found = self.base.ask("SELECT pos FROM odd WHERE first IS NOT NULL ORDER BY pos")
        return self.of(array("q", (row[0] for row in found)))

    def firsts(self, some: int) -> Stored:
        """The records that those of :meth:`repeated` repeat, of the first few."""
        found = self.base.ask("SELECT first FROM odd WHERE first IS NOT NULL ORDER BY pos LIMIT ?", (some,))
        return self.of([row[0] for row in found])


class Chain(Sequence[Record]):
    """Two sequences of records as one."""

    def __init__(self, first: Sequence[Record], second: Sequence[Record]) -> None:
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        places = range(len(self))[at]
        if isinstance(places, range):
            return tuple(self[place] for place in places)
        return self.first[places] if places < len(self.first) else self.second[places - len(self.first)]

    def __iter__(self) -> Iterator[Record]:
        yield from self.first
        yield from self.second


def stored(path: str, inner: str, kind: str, store: Store, how: How) -> Kept | None:
    """The records of a large file of JSON lines; None where it has to be read whole.

    Args:
        path: The file.
        inner: Its name without the suffix of what it is packed in.
        kind: ``"text"``, ``"parquet"``, or how it is packed.
        store: Where its index is kept.
        how: As :func:`.decided.decide` is told.

    Raises:
        InputError: as for :func:`planner_eval.records.files.read_file`; or the file changes meanwhile.
    """
    folder = Folder(store.folder)
    origin = seen(path) if store.folder is None else origin_of(path)
    laid = path if kind == "text" else _spooled(folder, origin, kind, store.limit or 0)
    if laid is None:
        return None
    refused: InputError | None = None
    try:
        lines = lines_of(
            laid, promised=inner.endswith(LINE_SUFFIXES), text_field=how[0][1], table=kind == "parquet"
        )
        if not are_records(lines):
            return None
        try:
            decided = decide(path, lines, *how)
        except InputError as error:  # of a file that is none of lines something else may be said
            refused, decided = error, Decided(Chosen())
        index = Index(folder, _name("lines", os.path.abspath(path), astuple(lines), decided))
        if not _is_of(index, origin):
            write_index(index, lines, decided, store, origin)
    except Unfit:
        return None
    refuse_changed(origin)
    if refused is not None:
        raise refused
    return Kept(Stored(index, origin, lines, decided, range(index.about()["records"])), decided)


def _name(kind: str, *what: Any) -> str:
    """The name of what is kept in a folder for those who read the same file in the same way."""
    return f"{kind}-{hashlib.blake2b(json.dumps(what).encode(), digest_size=8).hexdigest()}"


def _is_of(index: Index, origin: Origin) -> bool:
    """Whether an index is there already, and of the same file."""
    if not origin.digest or not os.path.exists(index.path):
        return False
    try:
        known = Index(index.folder, index.name).about()["origin"]
    except (sqlite3.Error, ValueError, LookupError, TypeError):
        return False
    return bool(known == [origin.size, origin.mtime, origin.digest])


def _spooled(folder: Folder, origin: Origin, kind: str, limit: int) -> str | None:
    """What a packed file holds, in a file of its own; None where it is little."""
    target = os.path.join(folder.path, _name("spool", os.path.abspath(origin.path), origin) + ".jsonl")
    if origin.digest and os.path.exists(target):
        return target
    return target if spool(origin.path, kind, target, limit) else None
