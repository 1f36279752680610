"""Records of which an index on disk knows the ids, read when they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self, TypeAlias, overload

from planner_eval.records.index import BATCH, Index
from planner_eval.records.lines import BROKEN, SEVERAL, WORDS, id_key
from planner_eval.records.origins import Origin
from planner_eval.records.record import Record

Step: TypeAlias = Callable[[Record], Record]
"""What is done to each record when it is read; it leaves ids alone, and can be pickled."""


class Indexed(Sequence[Record]):
    """Records that are made anew whenever they are asked for; slices are as lazy.

    They can be pickled and forked: other processes read the same files and index.

    Args:
        base: What is known of all of them, by their positions.
        positions: Which of them these are.
        steps: What is done to each.
    """

    by_index = True

    def __init__(self, base: Index, positions: Sequence[int], steps: tuple[Step, ...]) -> None:
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
    def but(self, positions: Sequence[int], steps: tuple[Step, ...]) -> Self:
        """Other records of the same files, or others done to them."""

    @abstractmethod
    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions, few of them, in the order asked for."""

    @abstractmethod
    def lone(self, position: int) -> str:
        """What a record without a partner is found by, see :func:`planner_eval.records.ids.alone`."""

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
        for first in range(0, len(self.positions), BATCH):
            yield from self.at(self.positions[first : first + BATCH])

    def of(self, positions: Sequence[int]) -> Self:
        """The records at other positions."""
        return self.but(positions, self.steps)

    def each(self, step: Step) -> Self:
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
        return self._count(f"marks & {SEVERAL}")

    def words(self) -> Self:
        """Those whose plan is a text in which nothing could be a call."""
        return self._marked(WORDS)

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
