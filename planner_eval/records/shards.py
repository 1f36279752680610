"""The records of many files as one sequence, of which the large files are read when their turn comes."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from planner_eval.dialects.words import is_words
from planner_eval.records.decided import offers_several
from planner_eval.records.fields import filled
from planner_eval.records.ids import alone
from planner_eval.records.index import Folder, Index, Place, finish, making
from planner_eval.records.indexed import Indexed, Step
from planner_eval.records.indexing import lay, note_odd
from planner_eval.records.lines import BROKEN, SEVERAL, WORDS, id_key
from planner_eval.records.origins import Origin
from planner_eval.records.parts import Part
from planner_eval.records.record import Record
from planner_eval.records.stored import Stored

Row: TypeAlias = tuple[int, bytes, int | None, int | None, int | None, int]
"""What an index knows of a record: position, id, place of its first byte, size, line, marks."""

_COLUMNS = "pos, key, offset, size, line, marks"


class Shards(Indexed):
    """Records of several files, one file after another; those of small ones are held in memory.

    Args:
        base: Where they stand, and their ids.
        name: What messages call the files together.
        parts: The files.
        positions: Which of the records.
        steps: What is done to each.
    """

    of_several = True

    def __init__(
        self,
        base: Index,
        name: str,
        parts: tuple[Part, ...],
        positions: Sequence[int],
        steps: tuple[Step, ...] = (),
    ) -> None:
        super().__init__(base, positions, steps)
        self.name, self.parts, self.starts = name, parts, _starts(parts)

    @property
    def file(self) -> None:
        """There are several."""

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The large files, as they were when they were looked through."""
        return tuple(one.records.origin for one in self.parts if isinstance(one.records, Stored))

    def but(self, positions: Sequence[int], steps: tuple[Step, ...]) -> Shards:
        """Other records of the same files, or others done to them."""
        return Shards(self.base, self.name, self.parts, positions, steps)

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions, few of them, in the order asked for."""
        wanted: dict[int, list[Place]] = {}
        for place in self.base.places(positions):
            number = self._part_of(place.position)
            wanted.setdefault(number, []).append(
                place._replace(position=place.position - self.starts[number])
            )
        found: dict[int, Record] = {}
        for number, places in wanted.items():
            records = _made(self.parts[number], places)
            found |= {self.starts[number] + one.position: self._done(one) for one in records}
        return (found[position] for position in positions)

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        (record,) = self.at([position])
        return alone(record.file, record.position)

    def share_ids(self) -> bool:
        """Whether two of the files have a record of the same id."""
        twice = "SELECT key FROM line GROUP BY key HAVING count(*) > 1"
        found: dict[bytes, int] = {}
        return any(
            found.setdefault(key, number) != number
            for key, position in self.base.ask(f"SELECT key, pos FROM line WHERE key IN ({twice})")
            for number in [self._part_of(position)]
        )

    def prefixed(self) -> Shards:
        """The same records with their file's name before their id."""
        parts = tuple(one._replace(prefixed=True) for one in self.parts)
        known = self.base.ask(f"SELECT {_COLUMNS} FROM line ORDER BY pos")
        rows = (
            (position, id_key(parts[self._part_of(position)].id(str(key, *_TEXT), 0)), *place)
            for position, key, *place in known
        )
        made = _written(self.base.folder, self.name, parts, rows, self.base.about()["names"])
        return made.but(self.positions, self.steps)

    def _part_of(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


_TEXT = ("utf-8", "surrogatepass")
"""As ids stand in an index, see :func:`.lines.id_key`."""


def shards(name: str, parts: Sequence[Part], folder: Folder) -> Shards:
    """Put the records of several files together.

    Args:
        name: What messages call the files together.
        parts: The files; the indexes of large ones lie in `folder`, and are removed.
        folder: Where the index of all of them is kept.

    Raises:
        InputError: the index cannot be written.
    """
    names: Counter[str] = Counter()
    for part in parts:
        if isinstance(part.records, Stored):
            names.update(part.records.names())
        else:
            names.update(key for record in part.records for key in filled(record.fields))
    return _written(folder, name, tuple(parts), _rows(parts), dict(names))


def _written(
    folder: Folder, name: str, parts: tuple[Part, ...], rows: Iterable[Row], names: dict[str, int]
) -> Shards:
    """The records of files, after their index has been written."""
    told = repr((name, [(one.name, one.prefixed) for one in parts]))
    index = Index(folder, f"shards-{hashlib.blake2b(os.fsencode(told), digest_size=8).hexdigest()}.sqlite")
    starts = _starts(parts)

    def has_error(place: Place) -> bool:
        number = bisect_right(starts, place.position) - 1
        local = place._replace(position=place.position - starts[number])
        return any(one.error is not None for one in _made(parts[number], [local]))

    count = sum(len(one.records) for one in parts)
    with making(index.path) as made:
        lay(made)
        made.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        note_odd(made, has_error)
        finish(made, index.path, {"names": names, "records": count})
    return Shards(index, name, parts, range(count))


def _starts(parts: Sequence[Part]) -> list[int]:
    """The position of the first record of each file."""
    return [0, *accumulate(len(part.records) for part in parts)][:-1]


def _rows(parts: Sequence[Part]) -> Iterator[Row]:
    """What is known of each record; a file's own index is removed as soon as it stands in that of all."""
    for start, part in zip(_starts(parts), parts, strict=True):
        if isinstance(part.records, Stored):
            for at, key, *place in part.records.base.ask(f"SELECT {_COLUMNS} FROM line ORDER BY pos"):
                own = None if key is None else str(key, *_TEXT)
                yield (start + at, id_key(part.id(own, at)), *place)
            part.records.base.remove()
            continue
        for at, record in enumerate(part.records):
            key = id_key(part.id(record.id, record.position))
            yield start + at, key, None, None, None, _marks(record)


def _marks(record: Record) -> int:
    """The marks of a record that is held in memory."""
    source, error = record.source, record.error
    if error is not None and not record.fields and error.code != "parse.empty":
        return BROKEN
    if is_words(source):
        return WORDS
    return SEVERAL if isinstance(source, dict) and offers_several(source) else 0


def _made(part: Part, places: Sequence[Place]) -> Iterator[Record]:
    """The records at some places of a file, as they are called; the file is not left open."""
    records = part.records
    if not isinstance(records, Stored):
        return (part.called(records[place.position]) for place in places)
    try:
        return iter([part.called(record) for record in records.made(places)])
    finally:
        records.source.close()
