"""The records of a large file as a sequence that is read when it is asked for, by an index on disk."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias, overload

from planner_eval.base.errors import InputError
from planner_eval.records.decided import Decided, How, decide
from planner_eval.records.index import BATCH, Folder, Index, Place, Source, finish, writing
from planner_eval.records.items import LINE_SUFFIXES
from planner_eval.records.lines import (
    BROKEN,
    ODD,
    SEVERAL,
    WORDS,
    Lines,
    Scanned,
    Unfit,
    are_records,
    cut,
    id_key,
    lines_of,
    scan,
)
from planner_eval.records.record import Record
from planner_eval.records.shapes import Chosen
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
        lines: The file.
        name: What messages call it.
        decided: Which field is what.
        positions: Which of its records; all when left out.
        steps: What is done to each.
    """

    by_index = True

    def __init__(
        self,
        base: Index,
        lines: Lines,
        name: str,
        decided: Decided,
        positions: Sequence[int],
        steps: tuple[Step, ...] = (),
    ) -> None:
        self.base, self.lines, self.name, self.decided = base, lines, name, decided
        self.positions, self.steps = positions, steps
        self.source = Source(lines.path)

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
        return Stored(self.base, self.lines, self.name, self.decided, positions, self.steps)

    def each(self, step: Step) -> Stored:
        """The same records, something done to each when it is read."""
        return Stored(self.base, self.lines, self.name, self.decided, self.positions, (*self.steps, step))

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


def stored(name: str, path: str, store: Store, inner: str, how: How, *, table: bool = False) -> Kept | None:
    """The records of a large file of JSON lines; None where it has to be read whole.

    Args:
        name: What messages call it.
        path: Where its lines stand.
        store: Where its index is kept.
        inner: Its name without the suffix of what it is packed in.
        how: As :func:`.decided.decide` is told.
        table: Its lines are the rows of a table.

    Raises:
        InputError: as for :func:`planner_eval.records.files.read_file`.
    """
    refused: InputError | None = None
    try:
        lines = lines_of(path, promised=inner.endswith(LINE_SUFFIXES), text_field=how[0][1], table=table)
        if not are_records(lines):
            return None
        try:
            decided = decide(name, lines, *how)
        except InputError as error:  # of a file that is none of lines something else may be said
            refused, decided = error, Decided(Chosen())
        folder = Folder(store.folder)
        what = json.dumps([os.path.abspath(path), astuple(lines), decided])
        known = f"lines-{hashlib.blake2b(what.encode(), digest_size=8).hexdigest()}.sqlite"
        index = Index(folder, known)
        count = _indexed(index, lines, decided, store)
    except Unfit:
        return None
    if count is None:
        return None
    if refused is not None:
        raise refused
    found = Stored(index, lines, name, decided, range(count))
    return Kept(found, decided)


def _indexed(index: Index, lines: Lines, decided: Decided, store: Store) -> int | None:
    """Write the index of a file; how many records it has, or None where it has to be read whole."""
    part = f"{index.path}.part"
    made = writing(part)
    try:
        made.execute("CREATE TABLE line (pos INTEGER PRIMARY KEY, key BLOB, offset, size, line, marks)")
        made.execute("CREATE TABLE odd (pos INTEGER PRIMARY KEY, first INTEGER)")
        count, names = _filled(made, lines, decided, store)
        if count is None:
            return None
        made.execute("CREATE INDEX line_key ON line (key)")
        made.executemany("INSERT INTO odd VALUES (?, ?)", _odd(made, lines, decided))
        finish(made, index.path, {"names": names, "records": count})
    except sqlite3.Error as error:
        raise InputError(f"{index.path}: {error}; the environment's TMPDIR names another folder") from None
    finally:
        made.close()
        with suppress(FileNotFoundError):
            os.unlink(part)
    return count


def _filled(
    made: sqlite3.Connection, lines: Lines, decided: Decided, store: Store
) -> tuple[int | None, dict[str, int]]:
    count = passed = broken = odd = 0
    names: Counter[str] = Counter()
    found: Scanned
    for found in store.spread(partial(scan, lines, decided), cut(lines, store.piece)):
        rows = (
            (count + at, key, offset, size, passed + line, marks)
            for at, (offset, size, line, key, marks) in enumerate(found.rows)
        )
        made.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        broken += sum(row[4] & BROKEN for row in found.rows)
        odd += sum(row[4] & ODD > 0 for row in found.rows)
        count, passed = count + len(found.rows), passed + found.lines
        for fields, number in found.names.items():
            names.update(dict.fromkeys(fields, number))
    # What a record a line is no likely reading of is taken apart with all of it at hand.
    unlike = broken * 2 > count or (odd > 1 and odd * 2 >= count) or (count < 2 and not lines.table)
    return (None if unlike else count), dict(names)


def _odd(made: sqlite3.Connection, lines: Lines, decided: Decided) -> Iterator[tuple[int, int | None]]:
    """Records that are not found by their id: with the first one of that id, or without where each is alone.

    One that cannot be read, and of whose id nothing is certain, stays alone where another has that id.
    """
    twice = "SELECT key FROM line WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
    columns = f"key, marks, pos, offset, size, line FROM line WHERE key IN ({twice})"
    source = Source(lines.path)
    for _, group in groupby(made.execute(f"SELECT {columns} ORDER BY key, pos"), key=lambda row: row[0]):
        lone, whole = array("q"), array("q")
        for _key, marks, *place in group:
            bad = marks & BROKEN or _has_error(source, lines, decided, Place._make(place))
            (lone if bad else whole).append(place[0])
        if whole:
            yield from ((position, None) for position in lone)
        first, *others = whole or lone
        yield from ((position, first) for position in others)


def _has_error(source: Source, lines: Lines, decided: Decided, place: Place) -> bool:
    ((_, raw),) = source.texts([place])
    item = lines.item(place.line, raw)
    return item is None or decided.record("", 0, item).error is not None
