"""What a run is: its pairs, parts and job, how it is worked on, and what its folder says of itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, overload

from planner_eval.base.errors import (
    COUNT,
    PATH,
    POSITIVE_COUNT,
    SECONDS,
    ArgumentKind,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import Origin, Record, current_origin, refuse_changed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner_eval.results.runs.ray import RayRunner


LINES, COLUMNS = "jsonl", "parquet"
STORES = {LINES: "rows.jsonl", COLUMNS: "rows.parquet"}
"""The file of all rows, by the store's name."""


class StoredRun(NamedTuple):
    """What the folder of a run says of itself; of another path nothing but the path is known.

    Args:
        path: The folder.
        kind: What the run is called: ``"score"``, ``"diff"``, ``"predict"`` and so on.
        version: The version of this package that made it.
        options: The job's options.
        inputs: The files that are read, as JSON data.
        pairs: How many pairs there are.
        deadline: Seconds for a pair; None for as long as it takes.
        part: How many pairs make a part, which decides nothing.
        notations: Those that are not shipped, by name, and a digest of each.
        store: In what all rows are kept in the end.
        given: What was named as predictions, gold and so on, which decides nothing.
    """

    path: str
    kind: str | None = None
    version: str = ""
    options: Mapping[str, Any] = {}
    inputs: tuple[Mapping[str, Any], ...] = ()
    pairs: int = 0
    deadline: float | None = None
    part: int = 0
    notations: Mapping[str, str] = {}
    store: str = LINES
    given: Any = None

    @property
    def benchmark(self) -> str | None:
        """The benchmark under which it was scored; None where the figures are our own."""
        return self.options.get("benchmark")

    @property
    def about(self) -> Mapping[str, Any]:
        """What it knows of its files."""
        return self.options.get("about") or {}

    @property
    def settings(self) -> dict[str, str]:
        """The benchmark's own options that it was scored with."""
        return {str(name): str(value) for name, value in (self.options.get("settings") or {}).items()}

    @property
    def golds(self) -> list[tuple[Any, Any]]:
        """The size and digest of each file of gold plans."""
        return [(i["size"], i["digest"]) for i in self.inputs if i["role"] == "gold"]

    @property
    def rows(self) -> str:
        """The file of all rows."""
        return os.path.join(self.path, STORES[self.store])


def has_columns(rows: str) -> bool:
    """Whether a file of rows keeps columns, and not lines."""
    return rows.endswith(STORES[COLUMNS])


def run_file(folder: str) -> str:
    """Where a folder says what is run in it."""
    return os.path.join(folder, "run.json")


def is_run(path: str) -> bool:
    """Whether a path is the folder of a run."""
    return os.path.lexists(run_file(path))


def run_of(path: str, data: Mapping[str, Any]) -> StoredRun:
    """What a folder says of its run, from the data of its file."""
    return StoredRun(path, **{name: data[name] for name in StoredRun._fields if name in data})


def open_run(path: str) -> StoredRun:
    """What any path says of a run, which need not be whole."""
    try:
        with open(run_file(path), encoding="utf-8") as stream:
            return run_of(path, json.load(stream))
    except (OSError, ValueError, RecursionError, TypeError):
        return StoredRun(path)


# ----------------------------------------------------------------------
# What a run is made of: a job over pairs of records, and the parts that they are cut into.
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

    @property
    def size(self) -> int:
        """How many pairs it has."""
        return self.end - self.first


class Job(Protocol):
    """What is done with each pair; the same in every process, so it can be pickled."""

    @property
    def kind(self) -> str:
        """What the run is called: ``score``, ``diff`` and so on."""

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data: a run with other options is another run."""

    def fold(self, data: Any = None) -> Any:
        """Sums over no rows, or those that their ``data()`` gave.

        The sums of parts, put together in their order with ``extend()``, are those of the whole, exactly.
        """

    def rows(self, pairs: Iterable[Pair], fold: Any) -> Iterator[str]:
        """A row a pair, in order, none left out, without line ends; adds each to the sums."""


# ----------------------------------------------------------------------
# How the work on the pairs is done: what the verbs take as ``running``.
DEADLINE = 60.0
"""Seconds for a pair."""


class Running(NamedTuple):
    """How the work on many pairs is done: by how many processes, for how long, and where it is kept.

    Args:
        jobs: How many processes, four a core at most, or as many as there are cores with 0. When left out
            this one alone does the work, as long as no folder keeps it.
        deadline: Seconds for a pair in a process; one that takes longer counts as unreadable. None for as
            long as it takes.
        part: How many pairs are done in one go, which changes nothing in the results.
        folder: Where the run is kept; what an earlier call has done there is not done again.
        store: In what a folder keeps the rows: JSON lines, or ``parquet``, which needs pyarrow.
        engine: Does the parts in the place of processes of this machine: those of a Ray cluster.

    >>> import planner_eval as pe
    >>> pe.score(["f()"] * 9, ["f()"] * 9, running=pe.Running(jobs=2), metrics=["exact"]).figure("exact")
    1.0
    """

    jobs: int | None = None
    deadline: float | None = DEADLINE
    part: int | None = None
    folder: str | os.PathLike[str] | None = None
    store: str = LINES
    engine: RayRunner | None = None

    @property
    def in_parts(self) -> bool:
        """Whether the work is cut into parts, by processes or for a folder."""
        return self.jobs is not None or self.folder is not None

    @property
    def home(self) -> str | None:
        """The folder as text."""
        return None if self.folder is None else os.fspath(self.folder)


DEFAULT_RUNNING = Running()
"""In this process, and kept nowhere."""


_ENGINE = ArgumentKind(
    "RayRunner(…) of planner_eval.results.runs.ray",
    lambda value: callable(value) and hasattr(value, "address"),
)


def check_running(running: Any) -> None:
    """Refuse what says nothing of how work is done.

    Raises:
        InputError: says what is expected.
    """
    expect(instance_of(Running, "pe.Running(…)"), running=running)
    expect_or_none(SECONDS, deadline=running.deadline)
    expect_or_none(COUNT, jobs=running.jobs)
    expect_or_none(POSITIVE_COUNT, part=running.part)
    expect_or_none(PATH, folder=running.folder)
    expect_or_none(_ENGINE, engine=running.engine)


# ----------------------------------------------------------------------
# The files behind records: whether they are large enough for work in parts, and whether they change.
LARGE_BYTES = 8_000_000
"""From so many bytes on it pays to start other processes."""


def is_large(*files: PlanFile) -> bool:
    """Whether the files behind some records have that many bytes together."""
    return sum(origin.size for file in files for origin in file.origins) >= LARGE_BYTES


def make_change_check(*files: PlanFile, used: Iterable[str | Origin] = ()) -> Callable[[], None]:
    """What refuses the files behind some records, where they are not what was read.

    Args:
        files: The files of records.
        used: Files of code and of what it knows, and data, as they were or as they are now.
    """
    origins = [(origin, "read") for file in files for origin in file.origins]
    origins += [(current_origin(item) if isinstance(item, str) else item, "used") for item in used]

    def check() -> None:
        for origin, action in origins:
            refuse_changed(origin, action)

    return check


# ----------------------------------------------------------------------
# Pairs that are made when they are asked for.
class LazyPairs(Sequence[Pair]):
    """Pairs of which slices are some neighbouring ones; whoever inherits goes from the first to the end.

    Args:
        end: How many there are.
    """

    def __init__(self, end: int) -> None:
        self.first, self.end = 0, end

    def of(self, first: int, end: int) -> Self:
        """Others of the same pairs."""
        other = copy(self)
        other.first, other.end = first, end
        return other

    def __len__(self) -> int:
        return self.end - self.first

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | Sequence[Pair]:
        selected = range(self.first, self.end)[index]
        if isinstance(selected, int):
            return next(iter(self.of(selected, selected + 1)))
        if selected.step != 1:
            return [self[position - self.first] for position in selected]
        return self.of(selected.start, max(selected.start, selected.stop))


# ----------------------------------------------------------------------
# Records without gold as the pairs of a run.
class UnpairedRecords(LazyPairs):
    """The records of some files one after another, each without a partner; read when they are asked for.

    Args:
        files: The records of each file.

    >>> one, two = (Record("a", at, None, "f()") for at in (0, 1))
    >>> (
    ...     len(UnpairedRecords([[one], [two]])),
    ...     [pair[0].position for pair in UnpairedRecords([[one], [two], [one]])[1:]]
    ... )
    (2, [1, 0])
    """

    def __init__(self, files: Sequence[Sequence[Record]]) -> None:
        self.files = files
        self.starts = [0, *accumulate(map(len, files))]
        super().__init__(self.starts[-1])

    def __iter__(self) -> Iterator[Pair]:
        for records, start in zip(self.files, self.starts, strict=False):
            selected = records[max(0, self.first - start) : max(0, self.end - start)]
            yield from ((record, None) for record in selected)


# ----------------------------------------------------------------------
# What a job wrote, for whoever reads it more than once.
def ignore(*_told: object) -> None:
    """Hear what is told of work on pairs, where nobody wants to know."""


class Reiterable:
    """What can be gone through again, for it is made anew each time.

    Args:
        make: Makes it.

    >>> twice = Reiterable(lambda: iter("ab"))
    >>> [*twice, *twice]
    ['a', 'b', 'a', 'b']
    """

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Any]:
        return self.make()
