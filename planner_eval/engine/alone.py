"""Records without gold as the pairs of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from planner_eval.engine.job import Pair
from planner_eval.engine.lazy import LazyPairs
from planner_eval.records.files import Record


class Alone(LazyPairs):
    """The records of some files one after another, each without a partner; read when they are asked for.

    Args:
        files: The records of each file.
        first: The first of them, counted from 0.
        end: The one after the last; all when left out.

    >>> one, two = (Record("a", at, None, "f()") for at in (0, 1))
    >>> len(Alone([[one], [two]])), [pair[0].position for pair in Alone([[one], [two], [one]])[1:]]
    (2, [1, 0])
    """

    def __init__(self, files: Sequence[Sequence[Record]], first: int = 0, end: int | None = None) -> None:
        self.files = files
        self.starts = [0, *accumulate(map(len, files))]
        super().__init__(first, self.starts[-1] if end is None else end)

    def of(self, first: int, end: int) -> Alone:
        """Others of the same records."""
        return Alone(self.files, first, end)

    def __iter__(self) -> Iterator[Pair]:
        for records, start in zip(self.files, self.starts, strict=False):
            selected = records[max(0, self.first - start) : max(0, self.end - start)]
            yield from ((record, None) for record in selected)
