"""The records of many files as one sequence, of which the large files are read when their turn comes."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from planner_eval.reading.dialects.finding.plain_prose import is_prose
from planner_eval.reading.files.disk_index import (
    IndexFolder,
    RecordIndex,
    RecordLocation,
    create_database,
    create_tables,
    finish_database,
    write_lookup_exceptions,
)
from planner_eval.reading.files.disk_records import LazyRecords, RecordStep, StoredRecords
from planner_eval.reading.files.field_choice import has_several_choices
from planner_eval.reading.files.fields import non_null_fields
from planner_eval.reading.files.lines import BROKEN, PROSE, SEVERAL_ANSWERS, id_key
from planner_eval.reading.files.record import FilePart, Record, unpaired_record_key
from planner_eval.reading.files.storing import Origin

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
