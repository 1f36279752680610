"""The index of a large file written: its lines looked through once, and what of their ids is odd."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby

from planner_eval.records.decided import Decided
from planner_eval.records.index import Index, Place, Source, finish, making
from planner_eval.records.lines import BROKEN, ODD, Lines, Scanned, Unfit, cut, scan
from planner_eval.records.origins import Origin
from planner_eval.records.storing import Store


def write_index(index: Index, lines: Lines, decided: Decided, store: Store, origin: Origin) -> None:
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
    source = Source(lines.path)

    def has_error(location: Place) -> bool:
        ((_, raw),) = source.texts([location])
        item = lines.item(location.line, raw)
        return item is None or decided.record("", 0, item).error is not None

    with making(index.path) as database:
        lay(database)
        count, names = _filled(database, lines, decided, store)
        note_odd(database, has_error)
        origin_fields = [origin.size, origin.mtime, origin.digest]
        finish(database, index.path, {"origin": origin_fields, "names": names, "records": count})


def lay(database: sqlite3.Connection) -> None:
    """Make the tables of an index of records."""
    database.execute("CREATE TABLE line (pos INTEGER PRIMARY KEY, key BLOB, offset, size, line, marks)")
    database.execute("CREATE TABLE odd (pos INTEGER PRIMARY KEY, first INTEGER)")


def _filled(
    database: sqlite3.Connection, lines: Lines, decided: Decided, store: Store
) -> tuple[int, dict[str, int]]:
    count = passed = broken = odd = 0
    names: Counter[str] = Counter()
    scanned: Scanned
    for scanned in store.spread(partial(scan, lines, decided), cut(lines, store.piece)):
        rows = (
            (count + index, key, offset, size, passed + line, marks)
            for index, (offset, size, line, key, marks) in enumerate(scanned.rows)
        )
        database.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        broken += sum(row[4] & BROKEN for row in scanned.rows)
        odd += sum(row[4] & ODD > 0 for row in scanned.rows)
        count, passed = count + len(scanned.rows), passed + scanned.lines
        for fields, number in scanned.names.items():
            names.update(dict.fromkeys(fields, number))
    # What a record a line is no likely reading of is taken apart with all of it at hand.
    if broken * 2 > count or (odd > 1 and odd * 2 >= count) or (count < 2 and not lines.table):
        raise Unfit
    return count, dict(names)


def note_odd(database: sqlite3.Connection, has_error: Callable[[Place], bool]) -> None:
    """Write which of the records that are known are not found by their id.

    Args:
        database: Their index, with all their lines.
        has_error: Whether the record at a place cannot be read.
    """
    database.execute("CREATE INDEX line_key ON line (key)")
    database.executemany("INSERT INTO odd VALUES (?, ?)", _odd(database, has_error))


def _odd(
    database: sqlite3.Connection, has_error: Callable[[Place], bool]
) -> Iterator[tuple[int, int | None]]:
    """Records that are not found by their id: with the first one of that id, or without where each is alone.

    One that cannot be read, and of whose id nothing is certain, stays alone where another has that id.
    """
    twice = "SELECT key FROM line WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
    columns = f"key, marks, pos, offset, size, line FROM line WHERE key IN ({twice})"
    for _, group in groupby(database.execute(f"SELECT {columns} ORDER BY key, pos"), key=lambda row: row[0]):
        lone, readable = array("q"), array("q")
        for _key, marks, *location in group:
            bad = marks & BROKEN or has_error(Place._make(location))
            (lone if bad else readable).append(location[0])
        if readable:
            yield from ((position, None) for position in lone)
        first, *repeats = readable or lone
        yield from ((position, first) for position in repeats)
