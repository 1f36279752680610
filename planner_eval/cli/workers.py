"""Work on many records: in this process, or in parts by several, and the options for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import planner_eval as pe
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import to_json
from planner_eval.cli.options import COUNT, Seconds, bundle_options, note, option
from planner_eval.cli.terminal import Counter, count_items, make_counter

if TYPE_CHECKING:
    from planner_eval.base.counts import Counts
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record
    from planner_eval.results.runs.folder import Input
    from planner_eval.results.runs.pairs import Job, Pair, Pairs


# ----------------------------------------------------------------------
# The options of commands whose work several processes may do in parts, and what is said meanwhile.
_PROGRESS_SECONDS = 10.0
"""Seconds between the lines that tell of progress where there is no terminal."""


class WorkOptions(NamedTuple):
    """How work is done in parts.

    Args:
        jobs: How many processes; None for as many as there are cores, where the input is large.
        record_deadline: Seconds for a record; None for the usual.
        part: How many pairs make a part; None for what fits.
        engine: ``ray`` for a cluster; None for processes of this machine.
        address: The cluster's; None for one of this machine alone.
        quiet: Show no progress.
    """

    jobs: int | None
    record_deadline: float | None
    part: int | None
    engine: str | None
    address: str | None
    quiet: bool

    @property
    def wanted(self) -> bool:
        """Whether the user asked for parts, so that a small input is done in parts too."""
        return any(value is not None for value in self[:-1])

    def running(
        self, folder: str | None = None, store: str | None = None, deadline: float | None = None
    ) -> pe.Running:
        """The same as the library takes it, for work in parts.

        Args:
            folder: Where the run is kept.
            store: In what that keeps the rows; None for the usual.
            deadline: Seconds for a record where the user names none; None for the usual.
        """
        engine = None
        if self.engine is not None or self.address is not None:
            from planner_eval.results.runs.ray import RayRunner

            engine = RayRunner.at(self.address)
        usual = pe.Running()
        return usual._replace(
            jobs=self.jobs or 0, deadline=self.record_deadline or deadline or usual.deadline, part=self.part,
            folder=folder, store=store or usual.store, engine=engine,
        )  # fmt: skip

    def progress(self, what: str = "pairs") -> Progress | None:
        """What tells how far work in parts is; `what` is counted, in the plural."""
        return None if self.quiet else Progress(what)


DEFAULT_WORK_OPTIONS = WorkOptions(None, None, None, None, None, quiet=False)
"""As the size of the input says."""


work_options = bundle_options(
    "running",
    WorkOptions,
    WorkOptions._fields,
    option(
        "--jobs N", "Worker processes, at most 4 per core (default for large inputs: all cores).", type=COUNT
    ),
    option(
        "--record-deadline SECONDS",
        "Time limit per record (default for large inputs: 60); longer is an error.",
        type=Seconds(),
    ),
    option("--part RECORDS", "Records per batch; results do not depend on it.", type=COUNT),
    option("--quiet", "Show no progress."),
    option("--engine [ray]", "Run on a Ray cluster instead of local processes."),
    option("--address HOST:PORT", "The Ray cluster (default: one on this machine)."),
)
"""Add ``--jobs`` and others, which the command takes as ``running``, a `WorkOptions`."""

store_option = option(
    "--store [jsonl|parquet]", "Storage format of a run's rows (default: jsonl); parquet needs pyarrow."
)
"""Add ``--store``, which applies to a run that is kept in a folder."""


class Progress:
    """What is done, how fast, and how long it will take: a line on a terminal, elsewhere one now and then.

    Args:
        what: What is counted, in the plural.
    """

    def __init__(self, what: str) -> None:
        self.counter: Counter = make_counter(what)
        self.what = what
        self.begun = self.said = time.monotonic()
        self.first: int | None = None

    def __call__(self, completed: int, total: int, failed: int) -> None:
        """Say so, where it is time to."""
        now = time.monotonic()
        if self.first is None:  # what an earlier run did tells nothing of the speed
            self.first = completed
        text = progress_line(completed, total, failed, completed - self.first, now - self.begun, self.what)
        if not self.counter.hidden:
            if completed == total:
                self.counter.clear()
            elif now - self.begun > 1:
                self.counter.show(text)
        elif now - self.said > _PROGRESS_SECONDS:
            self.said = now
            note(text)


def progress_line(completed: int, total: int, failed: int, lately: int, seconds: float, what: str) -> str:
    """How far a run is, in words.

    Args:
        completed: How many are done.
        total: Of how many.
        failed: How many of these failed as a whole.
        lately: How many were done in these seconds.
        seconds: Since when they are counted.
        what: What is counted, in the plural.

    >>> progress_line(5_000, 1_000_000, 2, 4_000, 2.0, "pairs")
    '5,000 of 1,000,000 pairs, 2,000/s, 8:17 left, 2 failed'
    """
    phrases = [f"{completed:,} of {total:,} {what}"]
    if lately > 0 and seconds > 0:
        rate = lately / seconds
        left = int((total - completed) / rate)
        phrases.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
        hours, minutes = divmod(left // 60, 60)
        phrases.append(
            f"{hours}:{minutes:02}:{left % 60:02} left" if hours else f"{minutes}:{left % 60:02} left"
        )
    if failed:
        phrases.append(f"{failed:,} failed")
    return ", ".join(phrases)


# ----------------------------------------------------------------------
# Work on many records: in this process, or in parts by several.
class WorkResult(NamedTuple):
    """What became of all records.

    Args:
        sums: The job's sums.
        lines: The job's lines, which can be asked for again.
    """

    sums: Any
    lines: Iterable[str]


@contextmanager
def run_job(
    job: Job,
    pairs: Pairs,
    work: WorkOptions,
    *,
    large: bool,
    what: str = "pairs",
    folder: str | None = None,
    store: str | None = None,
    deadline: float | None = None,
    **run_options: Any,
) -> Iterator[WorkResult]:
    """Do a job over all pairs, before anything of it is written.

    Args:
        job: What is done.
        pairs: The pairs.
        work: How, as the user wants it.
        large: Whether the input is large enough for parts.
        what: What is counted, in the plural.
        folder: Where the run is kept.
        store: In what it keeps the rows; None for the usual.
        deadline: Seconds for a record where the user names none; None for the usual.
        run_options: What else :func:`planner_eval.results.runs.run.run` takes: inputs, report …
    """
    if not (large or work.wanted or folder):
        sums = job.fold()
        lines: Iterable[str] = job.rows(pairs, sums)
        yield WorkResult(sums, list(lines if work.quiet else count_items(lines, len(pairs), what)))
        return
    from planner_eval.results.runs.run import run

    running = work.running(folder, store, deadline)
    with run(job, pairs, running, what=what, progress=work.progress(what), **run_options) as result:
        packed = result.rows.endswith(".parquet")
        yield WorkResult(
            result.sums,
            Reiterable(lambda: _column_lines(result.rows, job)) if packed else _Lines(result.rows),
        )


def _column_lines(rows: str, job: Any) -> Iterator[str]:
    """The lines that were written as columns, without keys that were null."""
    from planner_eval.results.runs.pairs import JSON
    from planner_eval.results.runs.stored import read_rows

    texts = {name for name, kind in job.columns().items() if kind is JSON}
    for row in read_rows(rows):
        cells = {name: value for name, value in row.items() if value is not None}
        data = {name: json.loads(value) if name in texts else value for name, value in cells.items()}
        yield to_json(data)


def storage_options(
    folder: str | None,
    store: str | None,
    *files: PlanFile,
    given: Sequence[str],
    inputs: Callable[[], Sequence[Input]],
    report: Callable[[Any], str],
    used: Sequence[str] = (),
) -> dict[str, Any]:
    """How a run is kept: in a folder with what tells its files from others, or nowhere.

    Args:
        folder: The folder; None for nowhere.
        store: In what it keeps the rows; None for the usual.
        files: The files of records.
        given: What the user named, so that it is told alike again.
        inputs: Gives the files behind the records.
        report: Makes the text of the report from the sums.
        used: Files of code and of what it knows.
    """
    from planner_eval.results.runs.pairs import make_change_check

    options: dict[str, Any] = {"unchanged": make_change_check(*files, used=used)}
    if folder is not None:
        options |= {"folder": folder, "store": store, "given": given, "inputs": inputs(), "report": report}
    return options


class PlansJob:
    """A job over plans of which no run is kept: a line each, and counts of the class ``counts``."""

    kind = ""
    counts: ClassVar[type[Counts]]

    def options(self) -> dict[str, Any]:
        """Nothing: no run of it is kept."""
        return {}

    def fold(self, data: Any = None) -> Any:
        """Counts over no plans, or those that were kept as data."""
        return self.counts(data)

    def rows(self, pairs: Iterable[Pair], fold: Any) -> Iterator[str]:
        """A line a plan."""
        return (self.line(record, fold) for record, _ in pairs if record is not None)

    def line(self, record: Record, fold: Any) -> str:
        """The line of a plan, which is added to the counts."""
        raise NotImplementedError


def run_plans_job(
    sources: Sequence[PlanFile], job: Job, work: WorkOptions
) -> AbstractContextManager[WorkResult]:
    """Do a job over all plans of some files, as :func:`run_job`."""
    from planner_eval.results.runs.pairs import UnpairedRecords, is_large, make_change_check

    pairs = UnpairedRecords([source.records for source in sources])
    large = is_large(*sources)
    return run_job(job, pairs, work, large=large, what="plans", unchanged=make_change_check(*sources))


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


class _Lines:
    """The lines of a file, without their ends."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __iter__(self) -> Iterator[str]:
        with open(self.file, encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield line.removesuffix("\n")
