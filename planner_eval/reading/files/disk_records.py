"""Records of large files, read from disk when they are asked for."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from itertools import accumulate
from typing import Any, Self, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
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
    Lines,
    WholeFileNeededError,
    are_records,
    id_key,
    open_lines,
)
from planner_eval.reading.files.opening import refuse_foreign
from planner_eval.reading.files.record import (
    FilePart,
    Origin,
    Record,
    Store,
    current_origin,
    digest_origin,
    refuse_changed,
    unpaired_record_key,
)
from planner_eval.reading.files.record_index import (
    IndexFolder,
    LazySequence,
    RecordIndex,
    RecordLocation,
    SourceFile,
    create_database,
    create_tables,
    finish_database,
    open_folder,
    write_index,
    write_lookup_exceptions,
)
from planner_eval.reading.files.shapes import ChosenFields

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
        return self._where("key >= ? AND key < ? ORDER BY pos", key, key[:-1] + bytes([key[-1] + 1]))

    def repeated(self) -> Self:
        """Those that an earlier one has the id of."""
        return self._where("first IS NOT NULL ORDER BY pos", column="pos FROM odd")

    def firsts(self, some: int) -> Self:
        """The records that those of :meth:`repeated` repeat, of the first few."""
        return self._where("first IS NOT NULL ORDER BY pos LIMIT ?", some, column="first FROM odd")


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
        for location in locations:
            item = read(location.line, self.source.read(location))
            if item is None:
                raise InputError(f"{name} changed while it was read: line {location.line} is blank now")
            yield self._done(make_record(name, location.position, item))

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        return unpaired_record_key(self.name, position)


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
