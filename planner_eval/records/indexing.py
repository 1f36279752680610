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

    def has_error(place: Place) -> bool:
        ((_, raw),) = source.texts([place])
        item = lines.item(place.line, raw)
        return item is None or decided.record("", 0, item).error is not None

    with making(index.path) as made:
        lay(made)
        count, names = _filled(made, lines, decided, store)
        note_odd(made, has_error)
        known = [origin.size, origin.mtime, origin.digest]
        finish(made, index.path, {"origin": known, "names": names, "records": count})


def lay(made: sqlite3.Connection) -> None:
    """Make the tables of an index of records."""
    made.execute("CREATE TABLE line (pos INTEGER PRIMARY KEY, key BLOB, offset, size, line, marks)")
    made.execute("CREATE TABLE odd (pos INTEGER PRIMARY KEY, first INTEGER)")


def _filled(
    made: sqlite3.Connection, lines: Lines, decided: Decided, store: Store
) -> tuple[int, dict[str, int]]:
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
    if broken * 2 > count or (odd > 1 and odd * 2 >= count) or (count < 2 and not lines.table):
        raise Unfit
    return count, dict(names)


def note_odd(made: sqlite3.Connection, has_error: Callable[[Place], bool]) -> None:
    """Write which of the records that are known are not found by their id.

    Args:
        made: Their index, with all their lines.
        has_error: Whether the record at a place cannot be read.
    """
    made.execute("CREATE INDEX line_key ON line (key)")
    made.executemany("INSERT INTO odd VALUES (?, ?)", _odd(made, has_error))


def _odd(made: sqlite3.Connection, has_error: Callable[[Place], bool]) -> Iterator[tuple[int, int | None]]:
    """Records that are not found by their id: with the first one of that id, or without where each is alone.

    One that cannot be read, and of whose id nothing is certain, stays alone where another has that id.
    """
    twice = "SELECT key FROM line WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
    columns = f"key, marks, pos, offset, size, line FROM line WHERE key IN ({twice})"
    for _, group in groupby(made.execute(f"SELECT {columns} ORDER BY key, pos"), key=lambda row: row[0]):
        lone, whole = array("q"), array("q")
        for _key, marks, *place in group:
            bad = marks & BROKEN or has_error(Place._make(place))
            (lone if bad else whole).append(place[0])
        if whole:
            yield from ((position, None) for position in lone)
        first, *others = whole or lone
        yield from ((position, first) for position in others)
