"""Records of large files, read from disk when they are asked for."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import weakref
from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from functools import partial
from itertools import accumulate, groupby
from typing import Any, Self, TypeAlias, overload
from urllib.parse import quote

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.temporary import TemporaryFolder, make_temporary_folder
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.files.field_choice import (
    DecisionInputs,
    FieldDecision,
    decide_fields,
    has_several_choices,
)
from planner_eval.reading.files.fields import non_null_fields
from planner_eval.reading.files.items import LINE_SUFFIXES
from planner_eval.reading.files.lines import (
    BROKEN,
    PROSE,
    SEVERAL_ANSWERS,
    UNDECODABLE,
    ChunkScan,
    Lines,
    WholeFileNeededError,
    are_records,
    id_key,
    open_lines,
    scan_chunk,
    split_chunks,
)
from planner_eval.reading.files.opening import refuse_foreign
from planner_eval.reading.files.record import (
    FilePart,
    Origin,
    Record,
    Store,
    current_origin,
    digest_origin,
    have_ids,
    index_by_id,
    is_stored,
    pair_name,
    parse_position_name,
    refuse_changed,
    unpaired_record_key,
)
from planner_eval.reading.files.shapes import ChosenFields

# ----------------------------------------------------------------------
# Records of which an index on disk knows the ids, read when they are asked for.
RecordStep: TypeAlias = Callable[[Record], Record]
"""What is done to each record when it is read; it leaves ids alone, and can be pickled."""


class LazyRecords(Sequence[Record]):
    """Records that are made anew whenever they are asked for; slices are as lazy.

    They can be pickled and forked: other processes read the same files and index.

    Args:
        base: What is known of all of them, by their positions.
        positions: Which of them these are.
        steps: What is done to each.
    """

    by_index = True

    def __init__(self, base: RecordIndex, positions: Sequence[int], steps: tuple[RecordStep, ...]) -> None:
        self.base, self.positions, self.steps = base, positions, steps

    @property
    @abstractmethod
    def origins(self) -> tuple[Origin, ...]:
        """The files, as they were when they were looked through."""

    @property
    def file(self) -> str | None:
        """The only file of all of them; None where there are several."""
        return self.origins[0].path if len(self.origins) == 1 else None

    @abstractmethod
    def but(self, positions: Sequence[int], steps: tuple[RecordStep, ...]) -> Self:
        """Other records of the same files, or others done to them."""

    @abstractmethod
    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions, few of them, in the order asked for."""

    @abstractmethod
    def lone(self, position: int) -> str:
        """What a record without a partner is found by, see :func:`.ids.unpaired_record_key`."""

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Record | Self:
        if isinstance(index, slice):
            return self.of(self.positions[index])
        return next(self.at((self.positions[index],)))

    def __iter__(self) -> Iterator[Record]:
        for first in range(0, len(self.positions), LOOKUP_BATCH):
            yield from self.at(self.positions[first : first + LOOKUP_BATCH])

    def of(self, positions: Sequence[int]) -> Self:
        """The records at other positions."""
        return self.but(positions, self.steps)

    def each(self, step: RecordStep) -> Self:
        """The same records, something done to each when it is read."""
        return self.but(self.positions, (*self.steps, step))

    def _done(self, record: Record) -> Record:
        for step in self.steps:
            record = step(record)
        return record

    # ------------------------------------------------------------ what the index knows
    @property
    def whole(self) -> bool:
        """Whether these are all of them."""
        return self.positions == range(self.base.about()["records"])

    def _count(self, condition: str) -> int:
        return int(self.base.ask(f"SELECT count(*) FROM line WHERE {condition}").fetchone()[0])

    def _marked(self, mark: int) -> Self:
        rows = self.base.ask("SELECT pos FROM line WHERE marks & ? ORDER BY pos", (mark,))
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
        rows = self.base.ask("SELECT pos FROM line WHERE key IS NULL ORDER BY pos")
        return self.of(array("q", (row[0] for row in rows)))

    def several(self) -> int:
        """How many offer several answers."""
        return self._count(f"marks & {SEVERAL_ANSWERS}")

    def words(self) -> Self:
        """Those whose plan is a text in which nothing could be a call."""
        return self._marked(PROSE)

    def broken(self) -> Self:
        """Those that are no JSON."""
        return self._marked(BROKEN)

    def names(self) -> Mapping[str, int]:
        """How many have a field of each name, in the order in which these are met."""
        counts: dict[str, int] = self.base.about()["names"]
        return counts

    def of_id(self, id: str) -> Self:
        """Those of an id."""
        rows = self.base.ask("SELECT pos FROM line WHERE key = ? ORDER BY pos", (id_key(id),))
        return self.of(array("q", (row[0] for row in rows)))

    def beginning(self, text: str) -> Self:
        """Those whose ids begin with a text, which is ASCII."""
        key = id_key(text)
        end = key[:-1] + bytes([key[-1] + 1])
        rows = self.base.ask("SELECT pos FROM line WHERE key >= ? AND key < ? ORDER BY pos", (key, end))
        return self.of(array("q", (row[0] for row in rows)))

    def repeated(self) -> Self:
        """Those that an earlier one has the id of."""
        rows = self.base.ask("SELECT pos FROM odd WHERE first IS NOT NULL ORDER BY pos")
        return self.of(array("q", (row[0] for row in rows)))

    def firsts(self, some: int) -> Self:
        """The records that those of :meth:`repeated` repeat, of the first few."""
        rows = self.base.ask("SELECT first FROM odd WHERE first IS NOT NULL ORDER BY pos LIMIT ?", (some,))
        return self.of([row[0] for row in rows])


# ----------------------------------------------------------------------
# Packed files and Parquet written out once as JSON lines, so that each record can be read on its own.
def spool(path: str, kind: str, target: str, limit: int) -> bool:
    """Write out what a packed file or a table holds, where that is more than some bytes.

    Args:
        path: The file.
        kind: How it is packed, or ``"parquet"``.
        target: The file to be written; it is there when all of it is.
        limit: The bytes.

    Returns:
        Whether it is more, and was written.

    Raises:
        InputError: the file is damaged or too large, or cannot be written out.
    """
    partial_path = f"{target}.part"
    buffer = bytearray()
    try:
        with open(partial_path, "wb") as file:
            for block in _read_table_lines(path) if kind == "parquet" else _unpack_blocks(path, kind):
                buffer += block
                if file.tell() or len(buffer) > limit:
                    file.write(buffer)
                    buffer.clear()
            large = file.tell() > 0
        if large:
            os.replace(partial_path, target)
        return large
    except OSError as error:
        raise InputError(
            f"{path} cannot be unpacked into {target}: {error.strerror or error}; the environment's TMPDIR "
            "names another folder"
        ) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial_path)


def _unpack_blocks(path: str, packed: str) -> Iterator[bytes]:
    from planner_eval.reading.files.tables import unpack_blocks

    with open(path, "rb") as file:
        yield from unpack_blocks(file, os.path.getsize(path), packed, path, refuse_foreign)


def _read_table_lines(path: str) -> Iterator[bytes]:
    from planner_eval.reading.files.tables import parquet_items

    for item in parquet_items(path, path):
        yield json.dumps(item.data).encode() + b"\n"


# ----------------------------------------------------------------------
# The records of a large file as a sequence that is read when it is asked for, by an index on disk.
class LoadedRecords(NamedTuple):
    """Records of a large file, and what was decided of it."""

    records: StoredRecords
    decided: FieldDecision


class StoredRecords(LazyRecords):
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
        base: RecordIndex,
        origin: Origin,
        lines: Lines,
        decided: FieldDecision,
        positions: Sequence[int],
        steps: tuple[RecordStep, ...] = (),
    ) -> None:
        super().__init__(base, positions, steps)
        self.origin, self.lines, self.decided = origin, lines, decided
        self.source = SourceFile(lines.path)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.origin.path

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The file, as it was when it was looked through."""
        return (self.origin,)

    def but(self, positions: Sequence[int], steps: tuple[RecordStep, ...]) -> StoredRecords:
        """Other records of the same file, or others done to them."""
        return StoredRecords(self.base, self.origin, self.lines, self.decided, positions, steps)

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions of the file, few of them, in the order asked for."""
        return self.made(self.base.places(positions))

    def made(self, locations: Iterable[RecordLocation]) -> Iterator[Record]:
        """The records that stand at some places of the file."""
        name, read, make_record = self.name, self.lines.item, self.decided.record
        for location, raw in self.source.texts(locations):
            item = read(location.line, raw)
            if item is None:
                raise InputError(f"{name} changed while it was read: line {location.line} is blank now")
            yield self._done(make_record(name, location.position, item))

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        return unpaired_record_key(self.name, position)


class RecordChain(Sequence[Record]):
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


def open_stored_records(
    path: str, inner: str, kind: str, store: Store, how: DecisionInputs
) -> LoadedRecords | None:
    """The records of a large file of JSON lines; None where it has to be read whole.

    Args:
        path: The file.
        inner: Its name without the suffix of what it is packed in.
        kind: ``"text"``, ``"parquet"``, or how it is packed.
        store: Where its index is kept.
        how: As :func:`.decided.decide` is told.

    Raises:
        InputError: as for :func:`planner_eval.reading.files.files.read_file`; or the file changes meanwhile.
    """
    own = store.folder is None or isinstance(store.folder, IndexFolder)
    folder = open_folder(store.folder)
    origin = current_origin(path) if own else digest_origin(path)
    laid = path if kind == "text" else _spool_packed_file(folder, origin, kind, store.limit or 0)
    if laid is None:
        return None
    refused: InputError | None = None
    try:
        lines = open_lines(
            laid, promised=inner.endswith(LINE_SUFFIXES), text_field=how[0][1], table=kind == "parquet"
        )
        if not are_records(lines):
            return None
        try:
            decided = decide_fields(path, lines, *how)
        except InputError as error:  # of a file that is none of lines something else may be said
            refused, decided = error, FieldDecision(ChosenFields())
        index = RecordIndex(
            folder, _stored_file_name("lines", os.path.abspath(path), astuple(lines), decided)
        )
        if not _is_index_of(index, origin):
            write_index(index, lines, decided, store, origin)
    except WholeFileNeededError:
        return None
    refuse_changed(origin)
    if refused is not None:
        raise refused
    return LoadedRecords(
        StoredRecords(index, origin, lines, decided, range(index.about()["records"])), decided
    )


def _stored_file_name(kind: str, *what: Any) -> str:
    """The name of what is kept in a folder for those who read the same file in the same way."""
    return f"{kind}-{hashlib.blake2b(json.dumps(what).encode(), digest_size=8).hexdigest()}"


def _is_index_of(index: RecordIndex, origin: Origin) -> bool:
    """Whether an index is there already, and of the same file."""
    if not origin.digest or not os.path.exists(index.path):
        return False
    try:
        stored_origin = RecordIndex(index.folder, index.name).about()["origin"]
    except (sqlite3.Error, ValueError, LookupError, TypeError):
        return False
    return bool(stored_origin == [origin.size, origin.mtime, origin.digest])


def _spool_packed_file(folder: IndexFolder, origin: Origin, kind: str, limit: int) -> str | None:
    """What a packed file holds, in a file of its own; None where it is little."""
    target = os.path.join(
        folder.path, _stored_file_name("spool", os.path.abspath(origin.path), origin) + ".jsonl"
    )
    if origin.digest and os.path.exists(target):
        return target
    return target if spool(origin.path, kind, target, limit) else None


# ----------------------------------------------------------------------
# The records of many files as one sequence, of which the large files are read when their turn comes.
IndexRow: TypeAlias = tuple[int, bytes, int | None, int | None, int | None, int]
"""What an index knows of a record: position, id, place of its first byte, size, line, marks."""

_COLUMNS = "pos, key, offset, size, line, marks"


class Shards(LazyRecords):
    """Records of several files, one file after another; those of small ones are held in memory.

    Args:
        base: Where they stand, and their ids.
        name: What messages call the files together.
        file_parts: The files.
        positions: Which of the records.
        steps: What is done to each.
    """

    of_several = True

    def __init__(
        self,
        base: RecordIndex,
        name: str,
        file_parts: tuple[FilePart, ...],
        positions: Sequence[int],
        steps: tuple[RecordStep, ...] = (),
    ) -> None:
        super().__init__(base, positions, steps)
        self.name, self.parts, self.starts = name, file_parts, _start_positions(file_parts)

    @property
    def file(self) -> None:
        """There are several."""

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The large files, as they were when they were looked through."""
        return tuple(
            file_part.records.origin
            for file_part in self.parts
            if isinstance(file_part.records, StoredRecords)
        )

    def but(self, positions: Sequence[int], steps: tuple[RecordStep, ...]) -> Shards:
        """Other records of the same files, or others done to them."""
        return Shards(self.base, self.name, self.parts, positions, steps)

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions, few of them, in the order asked for."""
        by_part: dict[int, list[RecordLocation]] = {}
        for location in self.base.places(positions):
            number = self._part_of(location.position)
            by_part.setdefault(number, []).append(
                location._replace(position=location.position - self.starts[number])
            )
        by_position: dict[int, Record] = {}
        for number, locations in by_part.items():
            records = _load_records(self.parts[number], locations)
            by_position |= {self.starts[number] + record.position: self._done(record) for record in records}
        return (by_position[position] for position in positions)

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        (record,) = self.at([position])
        return unpaired_record_key(record.file, record.position)

    def share_ids(self) -> bool:
        """Whether two of the files have a record of the same id."""
        twice = "SELECT key FROM line GROUP BY key HAVING count(*) > 1"
        number_of_key: dict[bytes, int] = {}
        return any(
            number_of_key.setdefault(key, number) != number
            for key, position in self.base.ask(f"SELECT key, pos FROM line WHERE key IN ({twice})")
            for number in [self._part_of(position)]
        )

    def prefixed(self) -> Shards:
        """The same records with their file's name before their id."""
        file_parts = tuple(file_part._replace(prefixed=True) for file_part in self.parts)
        index_rows = self.base.ask(f"SELECT {_COLUMNS} FROM line ORDER BY pos")
        rows = (
            (position, id_key(file_parts[self._part_of(position)].id(str(key, *_ID_ENCODING), 0)), *location)
            for position, key, *location in index_rows
        )
        result = _write_shards(self.base.folder, self.name, file_parts, rows, self.base.about()["names"])
        return result.but(self.positions, self.steps)

    def _part_of(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


_ID_ENCODING = ("utf-8", "surrogatepass")
"""As ids stand in an index, see :func:`.lines.id_key`."""


def join_shards(name: str, file_parts: Sequence[FilePart], folder: IndexFolder) -> Shards:
    """Put the records of several files together.

    Args:
        name: What messages call the files together.
        file_parts: The files; the indexes of large ones lie in `folder`, and are removed.
        folder: Where the index of all of them is kept.

    Raises:
        InputError: the index cannot be written.
    """
    names: Counter[str] = Counter()
    for file_part in file_parts:
        if isinstance(file_part.records, StoredRecords):
            names.update(file_part.records.names())
        else:
            names.update(key for record in file_part.records for key in non_null_fields(record.fields))
    return _write_shards(folder, name, tuple(file_parts), _index_rows(file_parts), dict(names))


def _write_shards(
    folder: IndexFolder,
    name: str,
    file_parts: tuple[FilePart, ...],
    rows: Iterable[IndexRow],
    names: dict[str, int],
) -> Shards:
    """The records of files, after their index has been written."""
    identity = repr((name, [(file_part.name, file_part.prefixed) for file_part in file_parts]))
    index = RecordIndex(
        folder, f"shards-{hashlib.blake2b(os.fsencode(identity), digest_size=8).hexdigest()}.sqlite"
    )
    starts = _start_positions(file_parts)

    def has_error(location: RecordLocation) -> bool:
        number = bisect_right(starts, location.position) - 1
        local = location._replace(position=location.position - starts[number])
        return any(record.error is not None for record in _load_records(file_parts[number], [local]))

    count = sum(len(file_part.records) for file_part in file_parts)
    with create_database(index.path) as database:
        create_tables(database)
        database.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        write_lookup_exceptions(database, has_error)
        finish_database(database, index.path, {"names": names, "records": count})
    return Shards(index, name, file_parts, range(count))


def _start_positions(file_parts: Sequence[FilePart]) -> list[int]:
    """The position of the first record of each file."""
    return [0, *accumulate(len(file_part.records) for file_part in file_parts)][:-1]


def _index_rows(file_parts: Sequence[FilePart]) -> Iterator[IndexRow]:
    """What is known of each record; a file's own index is removed as soon as it stands in that of all."""
    for start, file_part in zip(_start_positions(file_parts), file_parts, strict=True):
        if isinstance(file_part.records, StoredRecords):
            for index, key, *location in file_part.records.base.ask(
                f"SELECT {_COLUMNS} FROM line ORDER BY pos"
            ):
                own_id = None if key is None else str(key, *_ID_ENCODING)
                yield (start + index, id_key(file_part.id(own_id, index)), *location)
            file_part.records.base.remove()
            continue
        for index, record in enumerate(file_part.records):
            key = id_key(file_part.id(record.id, record.position))
            yield start + index, key, None, None, None, _record_marks(record)


def _record_marks(record: Record) -> int:
    """The marks of a record that is held in memory."""
    source = record.source
    if record.is_broken:
        return BROKEN
    if is_prose(source):
        return PROSE
    return SEVERAL_ANSWERS if isinstance(source, dict) and has_several_choices(source) else 0


def _load_records(file_part: FilePart, locations: Sequence[RecordLocation]) -> Iterator[Record]:
    """The records at some places of a file, as they are called; the file is not left open."""
    records = file_part.records
    if not isinstance(records, StoredRecords):
        return (file_part.called(records[location.position]) for location in locations)
    try:
        return iter([file_part.called(record) for record in records.made(locations)])
    finally:
        records.source.close()


# ----------------------------------------------------------------------
# An index of a large file's records in SQLite: where each stands, and its id.
LOOKUP_BATCH = 256
"""Records that are looked up at once."""
_MAX_READ_BYTES = 4_000_000
"""Bytes that are read at once, and held until their records are made."""
_MAX_GAP_BYTES = 4_096
"""Bytes between two records that are read with them: cheaper than to read twice."""


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


def finish_database(database: sqlite3.Connection, path: str, about: dict[str, Any]) -> None:
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
        self._about: dict[str, Any] | None = None

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

    def about(self) -> dict[str, Any]:
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

    def texts(self, locations: Iterable[RecordLocation]) -> Iterator[tuple[RecordLocation, bytes]]:
        """The bytes of some records, in the order asked for; a few megabytes of them are held at a time.

        Raises:
            InputError: the file became shorter meanwhile.
        """
        run: list[RecordLocation] = []
        run_size = 0
        for location in locations:
            if run and run_size + location.size > _MAX_READ_BYTES:
                yield from self._run(run)
                run, run_size = [], 0
            run.append(location)
            run_size += location.size
        yield from self._run(run)

    def _run(self, locations: Sequence[RecordLocation]) -> Iterator[tuple[RecordLocation, bytes]]:
        texts: dict[int, bytes] = {}
        neighbours: list[RecordLocation] = []
        for location in sorted(locations, key=lambda location: location.offset):
            if neighbours and location.offset - neighbours[-1].offset - neighbours[-1].size > _MAX_GAP_BYTES:
                texts.update(self._block(neighbours))
                neighbours = []
            neighbours.append(location)
        texts.update(self._block(neighbours))
        for location in locations:
            yield location, texts[location.position]

    def _block(self, neighbours: Sequence[RecordLocation]) -> Iterator[tuple[int, bytes]]:
        """The bytes of neighbouring records, read in one go."""
        if not neighbours:
            return
        start, end = neighbours[0].offset, neighbours[-1].offset + neighbours[-1].size
        block = self._bytes(start, end - start)
        for location in neighbours:
            offset = location.offset - start
            yield location.position, block[offset : offset + location.size]

    def _bytes(self, start: int, size: int) -> bytes:
        try:
            if self._file < 0:
                self._file = os.open(self.path, os.O_RDONLY)
            block = os.pread(
                self._file, size, start
            )  # which needs no place of its own, so forks may share it
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None
        if len(block) < size:
            raise InputError(f"{self.path} changed while it was read: it became shorter")
        return block


# ----------------------------------------------------------------------
# The index of a large file written: its lines looked through once, and what of their ids is odd.
def write_index(
    index: RecordIndex, lines: Lines, decided: FieldDecision, store: Store, origin: Origin
) -> None:
    """Write the index of a file.

    Args:
        index: What it is to be.
        lines: The file's lines.
        decided: Which field is what.
        store: How the lines are looked through.
        origin: The file, as it was before it was read.

    Raises:
        Unfit: it has to be read whole.
        InputError: the index cannot be written.
    """
    source = SourceFile(lines.path)

    def has_error(location: RecordLocation) -> bool:
        ((_, raw),) = source.texts([location])
        item = lines.item(location.line, raw)
        return item is None or decided.record("", 0, item).error is not None

    with create_database(index.path) as database:
        create_tables(database)
        count, names = _fill_tables(database, lines, decided, store)
        write_lookup_exceptions(database, has_error)
        origin_fields = [origin.size, origin.mtime, origin.digest]
        finish_database(database, index.path, {"origin": origin_fields, "names": names, "records": count})


def create_tables(database: sqlite3.Connection) -> None:
    """Make the tables of an index of records."""
    database.execute("CREATE TABLE line (pos INTEGER PRIMARY KEY, key BLOB, offset, size, line, marks)")
    database.execute("CREATE TABLE odd (pos INTEGER PRIMARY KEY, first INTEGER)")


def _fill_tables(
    database: sqlite3.Connection, lines: Lines, decided: FieldDecision, store: Store
) -> tuple[int, dict[str, int]]:
    count = passed = broken = odd = 0
    names: Counter[str] = Counter()
    scanned: ChunkScan
    for scanned in store.spread(partial(scan_chunk, lines, decided), split_chunks(lines, store.piece)):
        rows = (
            (count + index, key, offset, size, passed + line, marks)
            for index, (offset, size, line, key, marks) in enumerate(scanned.rows)
        )
        database.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        broken += sum(row[4] & BROKEN for row in scanned.rows)
        odd += sum(row[4] & UNDECODABLE > 0 for row in scanned.rows)
        count, passed = count + len(scanned.rows), passed + scanned.lines
        for fields, number in scanned.names.items():
            names.update(dict.fromkeys(fields, number))
    # What a record a line is no likely reading of is taken apart with all of it at hand.
    if broken * 2 > count or (odd > 1 and odd * 2 >= count) or (count < 2 and not lines.table):
        raise WholeFileNeededError
    return count, dict(names)


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


# ----------------------------------------------------------------------
# Pairs of which a side is stored: which record belongs to which is kept on disk, and read when asked for.
Pair: TypeAlias = tuple[Record | None, Record | None]
Link: TypeAlias = tuple[int | None, int | None]
Records: TypeAlias = Sequence[Record]


class LazyPairs(Sequence[Pair]):
    """Pairs of records that are made anew whenever they are asked for; slices are as lazy.

    Args:
        pred: The predictions.
        gold: The gold plans.
        base: Which belongs to which; by position when left out.
        numbers: Which of the pairs.
        steps: What is done to each pair when it is read.
    """

    by_index = True

    def __init__(
        self,
        pred: Records,
        gold: Records,
        base: RecordIndex | None,
        numbers: Sequence[int],
        steps: tuple[Callable[[Pair], Pair], ...] = (),
    ) -> None:
        self.pred, self.gold, self.base, self.numbers, self.steps = pred, gold, base, numbers, steps

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> LazyPairs: ...
    def __getitem__(self, index: int | slice) -> Pair | LazyPairs:
        if isinstance(index, slice):
            return LazyPairs(self.pred, self.gold, self.base, self.numbers[index], self.steps)
        return next(self._at((self.numbers[index],)))

    def __iter__(self) -> Iterator[Pair]:
        for first in range(0, len(self.numbers), LOOKUP_BATCH):
            yield from self._at(self.numbers[first : first + LOOKUP_BATCH])

    def each(self, step: Callable[[Pair], Pair]) -> LazyPairs:
        """The same pairs, something done to each when it is read; it can be pickled."""
        return LazyPairs(self.pred, self.gold, self.base, self.numbers, (*self.steps, step))

    def _at(self, numbers: Sequence[int]) -> Iterator[Pair]:
        links = self._links(numbers)
        lefts = _read_records_at(self.pred, [left for left, _ in links if left is not None])
        rights = _read_records_at(self.gold, [right for _, right in links if right is not None])
        for left, right in links:
            pair = (None if left is None else next(lefts), None if right is None else next(rights))
            for step in self.steps:
                pair = step(pair)
            yield pair

    def _links(self, numbers: Sequence[int]) -> list[Link]:
        if self.base is None:
            pred_count, gold_count = len(self.pred), len(self.gold)
            return [(n if n < pred_count else None, n if n < gold_count else None) for n in numbers]
        marks = ",".join("?" * len(numbers))
        rows = self.base.ask(f"SELECT n, pred, gold FROM pair WHERE n IN ({marks})", list(numbers))
        links = {n: (left, right) for n, left, right in rows}
        return [links[n] for n in numbers]

    def of_ids(self, ids: Collection[str]) -> LazyPairs:
        """The pairs of which a record has one of some ids, or which are called so where gold has ids."""
        pred_positions, gold_positions = (
            _positions_of_ids(records, ids) for records in (self.pred, self.gold)
        )
        numbers = {*self._of(pred_positions, gold_positions), *self._called(ids)}
        return LazyPairs(self.pred, self.gold, self.base, array("q", sorted(numbers)), self.steps)

    def _of(self, pred_positions: Sequence[int], gold_positions: Sequence[int]) -> Collection[int]:
        """The numbers of the pairs of which a record stands at one of some places."""
        if self.base is None:
            return {*pred_positions, *gold_positions}.intersection(self.numbers)
        parameters = (json.dumps(pred_positions), json.dumps(gold_positions))
        rows = self.base.ask(
            f"SELECT n FROM pair WHERE pred IN {_JSON_LIST_QUERY} OR gold IN {_JSON_LIST_QUERY}", parameters
        )
        return [row[0] for row in rows]

    def _called(self, ids: Collection[str]) -> Iterator[int]:
        """The numbers of the pairs that are called by their place, as :func:`.ids.pair_name` does it."""
        locations = {name: location for name in ids if (location := parse_position_name(name)) is not None}
        if not locations or not have_ids(self.gold):
            return
        for name, (kind, position) in locations.items():
            pred_positions = _positions_in_file(self.pred, position) if kind == "prediction" else []
            gold_positions = _positions_in_file(self.gold, position) if kind == "record" else []
            numbers = sorted(self._of(pred_positions, gold_positions))
            for number, records in zip(numbers, self._at(numbers), strict=True):
                if pair_name(position, *records, gold_named=True) == name:
                    yield number

    @property
    def ids(self) -> PairIds:
        """The ids of all records, in the order of the pairs."""
        return PairIds(self)


class PairIds(Collection[str]):
    """The ids of some pairs' records."""

    def __init__(self, pairs: LazyPairs) -> None:
        self.pairs = pairs

    def __contains__(self, id: object) -> bool:
        return len(self.pairs.of_ids((str(id),))) > 0

    def __iter__(self) -> Iterator[str]:
        return (
            record.id
            for pair in self.pairs
            for record in pair
            if record is not None and record.id is not None
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


_JSON_LIST_QUERY = "(SELECT value FROM json_each(?))"


def _positions_of_ids(records: Records, ids: Collection[str]) -> list[int]:
    """The places of the records of some ids."""
    if not is_stored(records):
        return [index for index, record in enumerate(records) if record.id in ids]
    return [position for id in ids for position in records.of_id(id).positions]


def _positions_in_file(records: Records, position: int) -> list[int]:
    """The places of the records that stand at a position of their file."""
    if is_stored(records):
        return [position] if position < len(records) else []
    return [index for index, record in enumerate(records) if record.position == position]


def _read_records_at(records: Records, positions: Sequence[int]) -> Iterator[Record]:
    return records.at(positions) if is_stored(records) else (records[position] for position in positions)


# ---------------------------------------------------------------- which belongs to which
class IdPairs(NamedTuple):
    """Pairs by id.

    Args:
        pairs: The pairs, in gold's order; predictions without gold follow at the end.
        repeated: Records left out because an earlier one has their id.
    """

    pairs: LazyPairs
    repeated: Records


def pair_by_position(pred: Records, gold: Records) -> LazyPairs:
    """The pairs of records in their order."""
    return LazyPairs(pred, gold, None, range(max(len(pred), len(gold))))


def pair_by_id(pred: Records, gold: Records, folder: str | IndexFolder | None = None) -> IdPairs | None:
    """The pairs of records by their ids; None where no id is on both sides.

    Args:
        pred: The predictions, of which at least one side is stored.
        gold: The gold plans.
        folder: Where it is kept which belongs to which; when left out in a temporary folder.

    Raises:
        InputError: it cannot be written there.
    """
    index_folder = open_folder(folder)
    sources = (_PairSide.of("pred", pred), _PairSide.of("gold", gold))
    name = hashlib.blake2b(repr([source.what for source in sources]).encode(), digest_size=8).hexdigest()
    index = RecordIndex(index_folder, f"pairs-{name}.sqlite")
    with create_database(index.path) as database:
        for source in sources:
            source.lay(database)
        if database.execute("SELECT 1 FROM pred_line JOIN gold_line USING (key) LIMIT 1").fetchone() is None:
            return None
        count = _link_records(database, *sources)
        finish_database(database, index.path, {"pairs": count})
    repeated: list[Records] = [source.repeated for source in sources]
    pairs = LazyPairs(pred, gold, index, range(1, count + 1))
    return IdPairs(pairs, RecordChain(*repeated) if all(map(len, repeated)) else max(repeated, key=len))


class _PairSide(NamedTuple):
    """A side of the pairs: its tables, what they are made of, what is left out; of a stored one its file."""

    name: str
    records: Records
    what: str
    repeated: Records
    file: str | None = None
    keys: Sequence[tuple[int, str]] = ()

    @classmethod
    def of(cls, name: str, records: Records) -> _PairSide:
        if is_stored(records):
            return cls(name, records, records.base.path, records.repeated(), records.file)
        lookup = index_by_id(records)
        keys = [(position, key) for key, position in lookup.places.items()]
        return cls(name, records, repr(keys), [records[position] for position in lookup.repeated], None, keys)

    def lay(self, database: sqlite3.Connection) -> None:
        """Make its tables known: of each record that counts what it is found by, and which are odd."""
        name, columns = self.name, "SELECT pos, key FROM"
        if is_stored(self.records):
            database.execute("COMMIT")
            database.execute(f"ATTACH ? AS {name}", (read_only_uri(self.records.base.path),))
            database.execute("BEGIN")
            database.execute(f"CREATE TEMP VIEW {name}_line AS {columns} {name}.line")
            database.execute(f"CREATE TEMP VIEW {name}_odd AS SELECT pos, first FROM {name}.odd")
            return
        database.execute(f"CREATE TEMP TABLE {name}_line (pos INTEGER PRIMARY KEY, key BLOB)")
        database.execute(f"CREATE TEMP TABLE {name}_odd (pos INTEGER PRIMARY KEY, first INTEGER)")
        database.executemany(
            f"INSERT INTO {name}_line VALUES (?, ?)", ((position, id_key(key)) for position, key in self.keys)
        )
        database.execute(f"CREATE INDEX {name}_key ON {name}_line (key)")

    def lone(self, database: sqlite3.Connection) -> Iterator[tuple[str, int]]:
        """What records without a partner are found by, and their places."""
        if is_stored(self.records):
            rows = database.execute(
                f"SELECT pos FROM {self.name}_line WHERE key IS NULL "
                f"UNION SELECT pos FROM {self.name}_odd WHERE first IS NULL"
            )
            return ((self.records.lone(row[0]), row[0]) for row in rows)
        return ((key, position) for position, key in self.keys if key.startswith("\0"))


def _link_records(database: sqlite3.Connection, pred: _PairSide, gold: _PairSide) -> int:
    """Write which records belong together; how many pairs there are."""
    database.execute("CREATE TABLE pair (n INTEGER PRIMARY KEY, pred INTEGER, gold INTEGER)")
    plain = "p.pos NOT IN (SELECT pos FROM pred_odd) AND g.pos NOT IN (SELECT pos FROM gold_odd)"
    database.execute(
        "INSERT INTO pair (pred, gold) SELECT p.pos, g.pos FROM gold_line g "
        f"LEFT JOIN pred_line p ON p.key = g.key AND {plain} "
        "WHERE g.pos NOT IN (SELECT pos FROM gold_odd WHERE first IS NOT NULL) ORDER BY g.pos"
    )
    database.execute("CREATE TEMP TABLE met (pred INTEGER PRIMARY KEY, gold INTEGER)")
    # What has no id is found by its file and place: where one file is both sides it meets itself.
    if pred.file is None or gold.file is None or pred.file == gold.file:
        database.execute("CREATE TEMP TABLE lone (key TEXT PRIMARY KEY, pos INTEGER)")
        database.executemany("INSERT INTO lone VALUES (?, ?)", pred.lone(database))
        meets = ((position, key) for key, position in gold.lone(database))
        database.executemany("INSERT INTO met SELECT pos, ? FROM lone WHERE key = ?", meets)
        database.execute("UPDATE pair SET pred = met.pred FROM temp.met AS met WHERE met.gold = pair.gold")
    database.execute(
        "INSERT INTO pair (pred) SELECT p.pos FROM pred_line p "
        "WHERE p.pos NOT IN (SELECT pos FROM pred_odd WHERE first IS NOT NULL) "
        "AND p.pos NOT IN (SELECT pred FROM met) "
        f"AND NOT EXISTS (SELECT 1 FROM gold_line g WHERE g.key = p.key AND {plain}) ORDER BY p.pos"
    )
    return int(database.execute("SELECT count(*) FROM pair").fetchone()[0])


class MovedPredictions(NamedTuple):
    """How many predictions stand elsewhere than the gold plan of their id, and the first of them."""

    number: int
    first: Record


def find_moved_predictions(pred: Records, gold: Records) -> MovedPredictions | None:
    """How many predictions stand elsewhere than the gold plan of their id, and the first; None without one.

    Args:
        pred: The predictions, of which at least one side is stored.
        gold: The gold plans.
    """
    base = sqlite3.connect(":memory:", isolation_level=None, uri=True)
    try:
        for name, records in (("pred", pred), ("gold", gold)):
            if is_stored(records):
                base.execute(f"ATTACH ? AS {name}", (read_only_uri(records.base.path),))
            else:
                base.execute(f"ATTACH ':memory:' AS {name}")
                base.execute(f"CREATE TABLE {name}.line (pos INTEGER PRIMARY KEY, key BLOB)")
                keys = (
                    (position, record.id and id_key(record.id)) for position, record in enumerate(records)
                )
                base.executemany(f"INSERT INTO {name}.line VALUES (?, ?)", keys)
        clause = (
            "FROM pred.line p LEFT JOIN gold.line g ON p.pos = g.pos WHERE p.key IS NOT g.key "
            "AND p.key IN (SELECT key FROM gold.line WHERE key IS NOT NULL)"
        )
        count, first = base.execute(f"SELECT count(*), min(p.pos) {clause}").fetchone()
    finally:
        base.close()
    return MovedPredictions(count, pred[first]) if count else None
