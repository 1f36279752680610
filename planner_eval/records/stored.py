"""The records of a large file as a sequence that is read when it is asked for, by an index on disk."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, overload

from planner_eval.base.errors import InputError
from planner_eval.base.named import NamedTuple
from planner_eval.records.decided import Decided, How, decide
from planner_eval.records.ids import alone
from planner_eval.records.index import Folder, Index, Place, Source, folder_at
from planner_eval.records.indexed import Indexed, Step
from planner_eval.records.indexing import write_index
from planner_eval.records.items import LINE_SUFFIXES
from planner_eval.records.lines import Lines, Unfit, are_records, lines_of
from planner_eval.records.origins import Origin, origin_of, refuse_changed, seen
from planner_eval.records.record import Record
from planner_eval.records.shapes import Chosen
from planner_eval.records.spooled import spool
from planner_eval.records.storing import Store


class Kept(NamedTuple):
    """Records of a large file, and what was decided of it."""

    records: Stored
    decided: Decided


class Stored(Indexed):
    """Records of a large file.

    Args:
        base: Where they stand.
        origin: The file, as it was when it was looked through.
        lines: The file.
        decided: Which field is what.
        positions: Which of its records; all when left out.
        steps: What is done to each.
    """

    def __init__(
        self,
        base: Index,
        origin: Origin,
        lines: Lines,
        decided: Decided,
        positions: Sequence[int],
        steps: tuple[Step, ...] = (),
    ) -> None:
        super().__init__(base, positions, steps)
        self.origin, self.lines, self.decided = origin, lines, decided
        self.source = Source(lines.path)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.origin.path

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The file, as it was when it was looked through."""
        return (self.origin,)

    def but(self, positions: Sequence[int], steps: tuple[Step, ...]) -> Stored:
        """Other records of the same file, or others done to them."""
        return Stored(self.base, self.origin, self.lines, self.decided, positions, steps)

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions of the file, few of them, in the order asked for."""
        return self.made(self.base.places(positions))

    def made(self, locations: Iterable[Place]) -> Iterator[Record]:
        """The records that stand at some places of the file."""
        name, read, make_record = self.name, self.lines.item, self.decided.record
        for location, raw in self.source.texts(locations):
            item = read(location.line, raw)
            if item is None:
                raise InputError(f"{name} changed while it was read: line {location.line} is blank now")
            yield self._done(make_record(name, location.position, item))

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        return alone(self.name, position)


class Chain(Sequence[Record]):
    """Two sequences of records as one."""

    def __init__(self, first: Sequence[Record], second: Sequence[Record]) -> None:
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        selection = range(len(self))[index]
        if isinstance(selection, range):
            return tuple(self[position] for position in selection)
        return (
            self.first[selection] if selection < len(self.first) else self.second[selection - len(self.first)]
        )

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
    own = store.folder is None or isinstance(store.folder, Folder)
    folder = folder_at(store.folder)
    origin = seen(path) if own else origin_of(path)
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
        stored_origin = Index(index.folder, index.name).about()["origin"]
    except (sqlite3.Error, ValueError, LookupError, TypeError):
        return False
    return bool(stored_origin == [origin.size, origin.mtime, origin.digest])


def _spooled(folder: Folder, origin: Origin, kind: str, limit: int) -> str | None:
    """What a packed file holds, in a file of its own; None where it is little."""
    target = os.path.join(folder.path, _name("spool", os.path.abspath(origin.path), origin) + ".jsonl")
    if origin.digest and os.path.exists(target):
        return target
    return target if spool(origin.path, kind, target, limit) else None
