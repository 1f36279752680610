"""What a run is made of: a job over pairs of records, and the parts that they are cut into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.record import Record

Pair: TypeAlias = tuple[Record | None, Record | None]
"""A prediction and its gold plan, None for a missing partner; where there is no gold, (record, None)."""

Pairs: TypeAlias = Sequence[Pair]
"""The pairs of a run in the report's order. Slices give those of a part, read when they are asked for."""

JSON = "json"
"""The type of a column that holds JSON text, see `columns` of a job that has them."""


class Part(NamedTuple):
    """Neighbouring pairs that are done in one go.

    Args:
        number: Counted from 0.
        first: Its first pair, counted from 0.
        end: The pair after its last.
    """

    number: int
    first: int
    end: int


class Fold(Protocol):
    """Sums over rows. The sums of the parts, put together in their order, are those of the whole, exactly."""

    def extend(self, other: Any) -> None:
        """Add the sums over the rows that come next."""

    def data(self) -> Any:
        """The sums as JSON data."""


class Job(Protocol):
    """What is done with each pair; the same in every process, so it can be pickled."""

    @property
    def kind(self) -> str:
        """What the run is called: ``score``, ``diff`` and so on."""

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data: a run with other options is another run."""

    def fold(self, data: Any = None) -> Any:
        """Sums over no rows, or those that :meth:`Fold.data` gave."""

    def rows(self, pairs: Iterable[Pair], fold: Any) -> Iterator[str]:
        """A row a pair, in order, none left out, without line ends; adds each to the sums."""
