"""Work on many records: in this process, or in parts by several."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from planner_eval.base.named import NamedTuple
from planner_eval.cli.running import Running
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from planner_eval.engine.job import Job, Pairs
    from planner_eval.records.files import PlanFile


class Done(NamedTuple):
    """What became of all records.

    Args:
        sums: The job's sums.
        lines: The job's lines, which can be asked for again.
    """

    sums: Any
    lines: Iterable[str]


@contextmanager
def working(
    job: Job, pairs: Pairs, running: Running, *, large: bool, what: str = "pairs", **run_options: Any
) -> Iterator[Done]:
    """Do a job over all pairs, before anything of it is written.

    Args:
        job: What is done.
        pairs: The pairs.
        running: How, as the user wants it.
        large: Whether the input is large enough for parts.
        what: What is counted, in the plural.
        run_options: What else :func:`planner_eval.engine.run.run` takes: a folder, its inputs …
    """
    if not (large or running.wanted or run_options.get("folder")):
        sums = job.fold()
        lines: Iterable[str] = job.rows(pairs, sums)
        yield Done(sums, list(lines if running.quiet else counting(lines, len(pairs), what)))
        return
    from planner_eval.engine.run import run

    with run(job, pairs, what=what, **run_options, **running.options(what)) as result:
        packed = result.rows.endswith(".parquet")
        yield Done(
            result.sums, Again(lambda: _of_columns(result.rows, job)) if packed else _Lines(result.rows)
        )


def _of_columns(rows: str, job: Any) -> Iterator[str]:
    """The lines that were written as columns, without keys that were null."""
    from planner_eval.engine.job import JSON
    from planner_eval.engine.parquet import read_rows

    texts = {name for name, kind in job.columns().items() if kind is JSON}
    for row in read_rows(rows):
        cells = {name: value for name, value in row.items() if value is not None}
        data = {name: json.loads(value) if name in texts else value for name, value in cells.items()}
        yield json.dumps(data, ensure_ascii=False)


class PlansJob:
    """A job over plans of which no run is kept."""

    kind = ""

    def options(self) -> dict[str, Any]:
        """Nothing: no run of it is kept."""
        return {}


def plans_of(sources: Sequence[PlanFile], job: Job, running: Running) -> AbstractContextManager[Done]:
    """Do a job over all plans of some files, as :func:`working`."""
    from planner_eval.engine.alone import Alone
    from planner_eval.engine.large import is_large, unchanged

    pairs = Alone([source.records for source in sources])
    large = is_large(*sources)
    return working(job, pairs, running, large=large, what="plans", unchanged=unchanged(*sources))


class Again:
    """What can be gone through again, for it is made anew each time.

    Args:
        make: Makes it.

    >>> twice = Again(lambda: iter("ab"))
    >>> [*twice, *twice]
    ['a', 'b', 'a', 'b']
    """

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Any]:
        return self.make()


class _Lines:
    """The lines of a file, without their ends."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __iter__(self) -> Iterator[str]:
        with open(self.file, encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield line.removesuffix("\n")


def joined(pieces: Iterable[str]) -> Iterator[str]:
    r"""The pieces with a line end between two.

    >>> "".join(joined(["a", "b"]))
    'a\nb'
    """
    lead = ""
    for piece in pieces:
        yield lead + piece
        lead = "\n"
