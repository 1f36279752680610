"""An index of records in SQLite: where each stands, and its id; written once, then asked; lazy sequences."""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from itertools import groupby
from typing import Any, Self, TypeAlias, TypeVar, overload
from urllib.parse import quote

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.temporary import TemporaryFolder, make_temporary_folder
from planner_eval.base.text import JsonObject
from planner_eval.reading.files.record import (
    Origin,
    Record,
)

BROKEN, UNDECODABLE, PROSE, SEVERAL_ANSWERS = 1, 2, 4, 8
"""Of a line: it is no JSON; for a byte that is no UTF-8; its plan is words; it offers several answers."""


T = TypeVar("T")

LOOKUP_BATCH = 256
"""Records that are looked up at once."""


class RecordLocation(NamedTuple):
    """Where a record stands in its file.

    Args:
        position: Counted from 0.
        offset: Its first byte.
        size: Its bytes.
        line: Its line, counted from 1.
    """

    position: int
    offset: int
    size: int
    line: int


class IndexFolder:
    """A folder for what is kept while files are read.

    Args:
        path: The folder of those who keep it; when left out one of our own, which is removed when nobody
            reads there any more. A copy of this process never removes it.
    """

    def __init__(self, path: str | None = None) -> None:
        if path is None:
            temporary = make_temporary_folder()
            self.path = temporary.path
            weakref.finalize(self, _remove_own_folder, temporary, os.getpid())
        else:
            self.path = path
            os.makedirs(path, exist_ok=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_adopt_folder, (self.path,))


def open_folder(where: str | IndexFolder | None) -> IndexFolder:
    """The folder of a name, or one that is there; without either a new one of our own."""
    return where if isinstance(where, IndexFolder) else IndexFolder(where)


def _adopt_folder(path: str) -> IndexFolder:
    """A folder that another process made, and takes care of."""
    folder = IndexFolder.__new__(IndexFolder)
    folder.path = path
    return folder


def _remove_own_folder(temporary: TemporaryFolder, owner: int) -> None:
    if os.getpid() == owner:
        temporary.remove()


@contextmanager
def create_database(path: str) -> Iterator[sqlite3.Connection]:
    """A new database that is written once: there after :func:`finish_database`, and else nothing is.

    Args:
        path: Its name, once it is complete.

    Raises:
        InputError: it cannot be written.
    """
    partial_path = f"{path}.part"
    try:
        with suppress(FileNotFoundError):
            os.unlink(partial_path)
        database = sqlite3.connect(partial_path, isolation_level=None, uri=True)
        try:
            # Workers inherit what was in memory: 4 MB of it; with 16 an index takes 5 % less time.
            for pragma in (
                "journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "cache_size=-4000",
            ):  # fmt: skip
                database.execute(f"PRAGMA {pragma}")
            database.execute("CREATE TABLE about (value TEXT)")
            database.execute("BEGIN")
            yield database
        finally:
            database.close()
            with suppress(FileNotFoundError):
                os.unlink(partial_path)
    except sqlite3.Error as error:
        raise InputError(f"{path}: {error}; the environment's TMPDIR names another folder") from None


def finish_database(database: sqlite3.Connection, path: str, about: JsonObject) -> None:
    """Say what a database holds, and give it its name.

    Args:
        database: The database, as :func:`create_database` gave it.
        path: Its name from now on.
        about: What it says of itself.
    """
    database.execute("INSERT INTO about VALUES (?)", (json.dumps(about),))
    database.execute("COMMIT")
    database.close()
    os.replace(f"{path}.part", path)


class RecordIndex:
    """An index that is complete. It travels to other processes as its path; each opens it anew.

    Args:
        folder: Where it lies.
        name: The database's name there.
    """

    def __init__(self, folder: IndexFolder, name: str) -> None:
        self.folder, self.name = folder, name
        self._owner = -1
        self._base: sqlite3.Connection | None = None
        self._about: JsonObject | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (RecordIndex, (self.folder, self.name))

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; it is opened again when something is asked."""
        base, self._base = self._base, None
        if base is not None:
            base.close()

    @property
    def path(self) -> str:
        """The database's path."""
        return os.path.join(self.folder.path, self.name)

    def remove(self) -> None:
        """Remove it, for all that it knows stands elsewhere."""
        self.close()
        os.unlink(self.path)

    def ask(self, question: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """The rows that answer a question in SQL."""
        if self._base is None or self._owner != os.getpid():  # after a fork the parent's is left alone
            self._base = sqlite3.connect(
                f"{read_only_uri(self.path)}&immutable=1", uri=True, check_same_thread=False
            )
            self._owner = os.getpid()
        return self._base.execute(question, parameters)

    def about(self) -> JsonObject:
        """What it says of itself."""
        if self._about is None:
            self._about = json.loads(self.ask("SELECT value FROM about").fetchone()[0])
        return self._about

    def places(self, positions: Sequence[int]) -> list[RecordLocation]:
        """Where some records stand, few of them, in the order asked for."""
        if not positions:
            return []
        first, last = positions[0], positions[-1]
        columns = "SELECT pos, offset, size, line FROM line WHERE pos"
        if isinstance(positions, range) and last - first + 1 == len(positions):
            return list(
                map(RecordLocation._make, self.ask(f"{columns} BETWEEN ? AND ? ORDER BY pos", (first, last)))
            )
        marks = ",".join("?" * len(positions))
        by_position = {
            row[0]: RecordLocation._make(row) for row in self.ask(f"{columns} IN ({marks})", list(positions))
        }
        return [by_position[position] for position in positions]


class LazySequence(Sequence[T]):
    """What is made anew whenever it is asked for; slices are as lazy.

    Args:
        positions: Which of all there are.
        steps: What is done to each as it is made.
    """

    by_index = True

    def __init__(self, positions: Sequence[int], steps: tuple[Callable[[T], T], ...]) -> None:
        self.positions, self.steps = positions, steps

    def but(self, positions: Sequence[int], steps: tuple[Callable[[T], T], ...]) -> Self:
        """Others of the same, or others done to them."""
        other = copy(self)
        other.positions, other.steps = positions, steps
        return other

    @abstractmethod
    def at(self, positions: Sequence[int]) -> Iterator[T]:
        """Those at some positions, few of them, in the order asked for."""

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        if isinstance(index, slice):
            return self.of(self.positions[index])
        return next(self.at((self.positions[index],)))

    def __iter__(self) -> Iterator[T]:
        for first in range(0, len(self.positions), LOOKUP_BATCH):
            yield from self.at(self.positions[first : first + LOOKUP_BATCH])

    def of(self, positions: Sequence[int]) -> Self:
        """Those at other positions."""
        return self.but(positions, self.steps)

    def each(self, step: Callable[[T], T]) -> Self:
        """The same, something done to each as it is made; it can be pickled."""
        return self.but(self.positions, (*self.steps, step))

    def _done(self, item: T) -> T:
        for step in self.steps:
            item = step(item)
        return item


def read_only_uri(path: str) -> str:
    """The address by which SQLite opens a database only to read it."""
    return f"file:{quote(os.path.abspath(path))}?mode=ro"


class SourceFile:
    """A file out of which pieces are read by their places. It travels as its path.

    Args:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = -1

    def __reduce__(self) -> tuple[Any, ...]:
        return (SourceFile, (self.path,))

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it is opened again when something is read of it."""
        file, self._file = self._file, -1  # so that an interrupt in between closes no file twice
        if file >= 0:
            os.close(file)

    def read(self, location: RecordLocation) -> bytes:
        """The bytes of a record.

        Raises:
            InputError: the file became shorter meanwhile.
        """
        try:
            if self._file < 0:
                self._file = os.open(self.path, os.O_RDONLY)
            # Needs no place of its own in the file, so that forks and threads may share it.
            block = os.pread(self._file, location.size, location.offset)
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None
        if len(block) < location.size:
            raise InputError(f"{self.path} changed while it was read: it became shorter")
        return block


def create_tables(database: sqlite3.Connection) -> None:
    """Make the tables of an index of records."""
    database.execute("CREATE TABLE line (pos INTEGER PRIMARY KEY, key BLOB, offset, size, line, marks)")
    database.execute("CREATE TABLE odd (pos INTEGER PRIMARY KEY, first INTEGER)")


def write_lookup_exceptions(
    database: sqlite3.Connection, has_error: Callable[[RecordLocation], bool]
) -> None:
    """Write which of the records that are known are not found by their id.

    Args:
        database: Their index, with all their lines.
        has_error: Whether the record at a place cannot be read.
    """
    database.execute("CREATE INDEX line_key ON line (key)")
    database.executemany("INSERT INTO odd VALUES (?, ?)", _find_lookup_exceptions(database, has_error))


def _find_lookup_exceptions(
    database: sqlite3.Connection, has_error: Callable[[RecordLocation], bool]
) -> Iterator[tuple[int, int | None]]:
    """Records that are not found by their id: with the first one of that id, or without where each is alone.

    One that cannot be read, and of whose id nothing is certain, stays alone where another has that id.
    """
    twice = "SELECT key FROM line WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
    columns = f"key, marks, pos, offset, size, line FROM line WHERE key IN ({twice})"
    for _, group in groupby(database.execute(f"SELECT {columns} ORDER BY key, pos"), key=lambda row: row[0]):
        lone, readable = array("q"), array("q")
        for _key, marks, *location in group:
            bad = marks & BROKEN or has_error(RecordLocation._make(location))
            (lone if bad else readable).append(location[0])
        if readable:
            yield from ((position, None) for position in lone)
        first, *repeats = readable or lone
        yield from ((position, first) for position in repeats)


def id_key(id: str) -> bytes:
    """An id as it stands in an index: also one that is no valid text."""
    return id.encode("utf-8", "surrogatepass")


# ----------------------------------------------------------------------
# Records of which an index on disk knows the ids, read when they are asked for.
RecordStep: TypeAlias = Callable[[Record], Record]
"""What is done to each record when it is read; it leaves ids alone, and can be pickled."""


class LazyRecords(LazySequence[Record]):
    """Records that are made anew whenever they are asked for; slices are as lazy.

    They can be pickled and forked: other processes read the same files and index.

    Args:
        base: What is known of all of them, by their positions.
        positions: Which of them these are.
        steps: What is done to each.
    """

    def __init__(self, base: RecordIndex, positions: Sequence[int], steps: tuple[RecordStep, ...]) -> None:
        super().__init__(positions, steps)
        self.base = base

    @property
    @abstractmethod
    def origins(self) -> tuple[Origin, ...]:
        """The files, as they were when they were looked through."""

    @property
    def file(self) -> str | None:
        """The only file of all of them; None where there are several."""
        return self.origins[0].path if len(self.origins) == 1 else None

    @abstractmethod
    def lone(self, position: int) -> str:
        """What a record without a partner is found by, see :func:`.ids.unpaired_record_key`."""

    # ------------------------------------------------------------ what the index knows
    @property
    def whole(self) -> bool:
        """Whether these are all of them."""
        return self.positions == range(self.base.about()["records"])

    def _count(self, condition: str) -> int:
        return int(self.base.ask(f"SELECT count(*) FROM line WHERE {condition}").fetchone()[0])

    def _where(self, condition: str, *parameters: Any, column: str = "pos FROM line") -> Self:
        """Those of which a condition in SQL holds."""
        rows = self.base.ask(f"SELECT {column} WHERE {condition}", parameters)
        return self.of(array("q", (row[0] for row in rows)))

    @property
    def has_ids(self) -> bool:
        """Whether any of them has an id."""
        return self.base.ask("SELECT 1 FROM line WHERE key IS NOT NULL LIMIT 1").fetchone() is not None

    def nameless(self, field: str) -> Self:
        """Those without an id; none where each that has the field has an id."""
        named = self._count(f"key IS NOT NULL AND NOT marks & {BROKEN}")
        if self.names().get(field, named + 1) <= named:
            return self.of(())
        return self.without_ids()

    def without_ids(self) -> Self:
        """Those without an id."""
        return self._where("key IS NULL ORDER BY pos")

    def several(self) -> int:
        """How many offer several answers."""
        return self._count(f"marks & {SEVERAL_ANSWERS}")

    def words(self) -> Self:
        """Those whose plan is a text in which nothing could be a call."""
        return self._where("marks & ? ORDER BY pos", PROSE)

    def broken(self) -> Self:
        """Those that are no JSON."""
        return self._where("marks & ? ORDER BY pos", BROKEN)

    def names(self) -> Mapping[str, int]:
        """How many have a field of each name, in the order in which these are met."""
        counts: dict[str, int] = self.base.about()["names"]
        return counts

    def of_id(self, id: str) -> Self:
        """Those of an id."""
        return self._where("key = ? ORDER BY pos", id_key(id))

    def beginning(self, text: str) -> Self:
        """Those whose ids begin with a text, which is ASCII."""
        key = id_key(text)
        return self._where("key >= ? AND key < ? ORDER BY pos", key, key + b"\xff")  # which is in no text

    def repeated(self) -> Self:
        """Those that an earlier one has the id of."""
        return self._where("first IS NOT NULL ORDER BY pos", column="pos FROM odd")

    def firsts(self, some: int) -> Self:
        """The records that those of :meth:`repeated` repeat, of the first few."""
        return self._where("first IS NOT NULL ORDER BY pos LIMIT ?", some, column="first FROM odd")
