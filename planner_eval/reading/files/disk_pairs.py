"""Pairs of which a side is stored: which record belongs to which is kept on disk, and read when asked for."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias, overload

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.lines import (
    id_key,
)
from planner_eval.reading.files.record import (
    Record,
    have_ids,
    index_by_id,
    is_stored,
    pair_name,
    parse_position_name,
)
from planner_eval.reading.files.record_index import (
    IndexFolder,
    LazySequence,
    RecordIndex,
    create_database,
    finish_database,
    open_folder,
    read_only_uri,
)

Pair: TypeAlias = tuple[Record | None, Record | None]
Link: TypeAlias = tuple[int | None, int | None]
Records: TypeAlias = Sequence[Record]


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

    def but(self, positions: Sequence[int], steps: tuple[Callable[[Pair], Pair], ...]) -> LazyPairs:
        """Other pairs of the same records, or others done to them."""
        return LazyPairs(self.pred, self.gold, self.base, positions, steps)

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
