"""Stored records put together: those of many files one after another, and predictions with gold plans."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias, overload

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.files.disk_records import StoredRecords
from planner_eval.reading.files.field_choice import (
    has_several_choices,
)
from planner_eval.reading.files.fields import non_null_fields
from planner_eval.reading.files.record import (
    FilePart,
    Origin,
    Record,
    Records,
    have_ids,
    index_by_id,
    is_stored,
    pair_name,
    parse_position_name,
    unpaired_record_key,
)
from planner_eval.reading.files.record_index import (
    BROKEN,
    PROSE,
    SEVERAL_ANSWERS,
    IndexFolder,
    LazyRecords,
    LazySequence,
    RecordIndex,
    RecordLocation,
    RecordStep,
    create_database,
    create_tables,
    finish_database,
    id_key,
    open_folder,
    read_only_uri,
    write_lookup_exceptions,
)

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
# Pairs of which a side is stored: which record belongs to which is kept on disk, and read when asked for.
Pair: TypeAlias = tuple[Record | None, Record | None]
Link: TypeAlias = tuple[int | None, int | None]


class LazyPairs(LazySequence[Pair]):
    """Pairs of records that are made anew whenever they are asked for; slices are as lazy.

    Args:
        pred: The predictions.
        gold: The gold plans.
        base: Which belongs to which; by position when left out.
        positions: The numbers of these pairs among all.
        steps: What is done to each pair when it is read.
    """

    def __init__(
        self,
        pred: Records,
        gold: Records,
        base: RecordIndex | None,
        positions: Sequence[int],
        steps: tuple[Callable[[Pair], Pair], ...] = (),
    ) -> None:
        super().__init__(positions, steps)
        self.pred, self.gold, self.base = pred, gold, base

    def at(self, positions: Sequence[int]) -> Iterator[Pair]:
        """The pairs of some numbers, few of them, in the order asked for."""
        links = self._links(positions)
        lefts = _read_records_at(self.pred, [left for left, _ in links if left is not None])
        rights = _read_records_at(self.gold, [right for _, right in links if right is not None])
        for left, right in links:
            yield self._done((None if left is None else next(lefts), None if right is None else next(rights)))

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
        return self.of(array("q", sorted(numbers)))

    def _of(self, pred_positions: Sequence[int], gold_positions: Sequence[int]) -> Collection[int]:
        """The numbers of the pairs of which a record stands at one of some places."""
        if self.base is None:
            return {*pred_positions, *gold_positions}.intersection(self.positions)
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
            for number, records in zip(numbers, self.at(numbers), strict=True):
                if pair_name(position, *records, gold_named=True) == name:
                    yield number

    @property
    def ids(self) -> PairIds:
        """The ids of all records, in the order of the pairs."""
        return PairIds(self)


class RecordChain(Sequence[Record]):
    """Two sequences of records as one.

    >>> chain = RecordChain("ab", "c")  # sequences of any kind
    >>> chain[0], chain[2], chain[-1], chain[1:], len(chain), [*chain]
    ('a', 'c', 'c', ('b', 'c'), 3, ['a', 'b', 'c'])
    """

    def __init__(self, first: Records, second: Records) -> None:
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: int | slice) -> Record | Records:
        selection = range(len(self))[index]
        if isinstance(selection, range):
            return tuple(self[position] for position in selection)
        return (
            self.first[selection] if selection < len(self.first) else self.second[selection - len(self.first)]
        )

    def __iter__(self) -> Iterator[Record]:
        yield from self.first
        yield from self.second


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


def find_moved_predictions(pred: Records, gold: Records) -> tuple[int, Record] | None:
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
    return (count, pred[first]) if count else None
