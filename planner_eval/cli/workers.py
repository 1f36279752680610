"""Work on many records: in this process, or in parts by several, and the options for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import planner_eval as pe
from planner_eval.base.counts import Counts
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, to_json
from planner_eval.cli.options import COUNT, Seconds, bundle_options, option
from planner_eval.cli.terminal import count_items, make_counter

if TYPE_CHECKING:
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record
    from planner_eval.results.runs.folder import Input
    from planner_eval.results.runs.model import Job, Pair, Pairs


# ----------------------------------------------------------------------
# The options of commands whose work several processes may do in parts, and what is said meanwhile.
class Work(NamedTuple):
    """How work is done, in this process or in parts by several.

    Args:
        jobs: How many processes; None for as many as there are cores, where the input is large.
        record_deadline: Seconds for a record; None for the usual.
        part: How many pairs make a part; None for what fits.
        engine: ``ray`` for a cluster; None for processes of this machine.
        address: The cluster's; None for one of this machine alone.
        quiet: Show no progress.
        store: In what a run that is kept in a folder has its rows; None for the usual.
    """

    jobs: int | None = None
    record_deadline: float | None = None
    part: int | None = None
    engine: str | None = None
    address: str | None = None
    quiet: bool = False
    store: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether the user asked for parts, so that a small input is done in parts too."""
        return any(getattr(self, name) is not None for name in PART_OPTIONS)

    def running(self, folder: str | None = None, deadline: float | None = None) -> pe.Running:
        """The same as the library takes it, for work in parts.

        Args:
            folder: Where the run is kept.
            deadline: Seconds for a record where the user names none; None for the usual.
        """
        engine = None
        if self.engine is not None or self.address is not None:
            from planner_eval.results.runs.ray import RayRunner

            engine = RayRunner.at(self.address)
        usual = pe.Running()
        return usual._replace(
            jobs=self.jobs or 0, deadline=self.record_deadline or deadline or usual.deadline, part=self.part,
            folder=folder, store=self.store or usual.store, engine=engine,
        )  # fmt: skip

    def progress(self, what: str = "pairs") -> Callable[[int, int, int], None] | None:
        """What tells how far work in parts is; `what` is counted, in the plural."""
        return None if self.quiet else make_counter(what, noted=True)

    def counted(self, items: Iterable[Any], total: int, what: str) -> Iterable[Any]:
        """The same items, counted; `what` they are, in the plural."""
        return items if self.quiet else count_items(items, total, what)


PART_OPTIONS = ("jobs", "record_deadline", "part", "engine", "address")
"""Options of work in parts."""

work_options, stored_work_options = (
    bundle_options(
        "work",
        Work,
        (*PART_OPTIONS, "quiet", *["store"] * stored),
        option("--jobs N", type=COUNT),
        option("--record-deadline SECONDS", type=Seconds()),
        option("--part RECORDS", type=COUNT),
        option("--quiet"),
        option("--engine [ray]"),
        option("--address HOST:PORT"),
        *[option("--store [jsonl|parquet]")] * stored,
    )
    for stored in (False, True)
)
"""Add ``--jobs`` and others, which the command takes as ``work``; also ``--store``, for a run in a folder."""


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
    work: Work,
    files: Sequence[tuple[str, PlanFile]],
    *,
    what: str = "pairs",
    folder: str | None = None,
    deadline: float | None = None,
    given: Sequence[str] = (),
    used: Sequence[tuple[str, str]] = (),
    more: Callable[[], Iterable[Input]] = tuple,
    report: Callable[[Any], str] = lambda sums: to_json(sums.report, 1),
) -> Iterator[WorkResult]:
    """Do a job over all pairs, before anything of it is written.

    Args:
        job: What is done.
        pairs: The pairs.
        work: How, as the user wants it.
        files: The files of records, each with what it is for.
        what: What is counted, in the plural.
        folder: Where the run is kept.
        deadline: Seconds for a record where the user names none; None for the usual.
        given: What the user named, so that it is told alike again.
        used: Files of code and of what it knows, likewise.
        more: Gives what else a run tells from others.
        report: Makes the text of the report from the sums.
    """
    from planner_eval.results.runs.model import Reiterable, has_columns, is_large, make_change_check

    plan_files = [file for _, file in files]
    if not (work.wanted or folder or is_large(*plan_files)):
        sums = job.fold()
        yield WorkResult(sums, list(work.counted(job.rows(pairs, sums), len(pairs), what)))
        return
    from planner_eval.results.runs.folder import input_of, inputs_of
    from planner_eval.results.runs.run import run

    run_options: dict[str, Any] = {}
    if folder is not None:
        read = [entry for role, file in files for entry in inputs_of(role, file)]
        inputs = [*read, *more(), *(input_of(role, name) for role, name in used)]
        run_options = {"given": given, "inputs": inputs, "report": report}
    unchanged = make_change_check(*plan_files, used=[name for _, name in used])
    running, progress = work.running(folder, deadline), work.progress(what)
    with run(job, pairs, running, what=what, progress=progress, unchanged=unchanged, **run_options) as result:
        lines = _column_lines if has_columns(result.rows) else _file_lines
        yield WorkResult(result.sums, Reiterable(lambda: lines(result.rows, job)))


def _column_lines(rows: str, job: Any) -> Iterator[str]:
    """The lines that were written as columns, without keys that were null."""
    from planner_eval.results.runs.model import JSON
    from planner_eval.results.runs.stored import read_rows

    texts = {name for name, kind in job.columns().items() if kind is JSON}
    for row in read_rows(rows):
        cells = {name: value for name, value in row.items() if value is not None}
        yield to_json({name: json.loads(value) if name in texts else value for name, value in cells.items()})


def _file_lines(rows: str, _job: Any) -> Iterator[str]:
    """The lines of a file, without their ends."""
    with open(rows, encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield line.removesuffix("\n")


# ----------------------------------------------------------------------
# Work on plans that have no gold beside them, and of which no run is kept.
class PlansJob:
    """A job over plans: a line each, and counts of the class ``counts``."""

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

    def run(self, files: Sequence[PlanFile], work: Work) -> AbstractContextManager[WorkResult]:
        """Do it over all plans of some files, as :func:`run_job`."""
        from planner_eval.results.runs.model import UnpairedRecords

        pairs = UnpairedRecords([file.records for file in files])
        return run_job(self, pairs, work, [("plans", file) for file in files], what="plans")


class Tally(Counts):
    """Counts plans as they are read and written in another notation, with what could not be said there."""

    dialects: Counter[str]
    states: Counter[str]
    written: int
    losses: Counter[str]

    def missed(self, error: pe.ParseError) -> str:
        """Count one that could not be read; gives the state that it is in."""
        from planner_eval.comparison.rows import unread_state

        state = unread_state(error)
        self.states[state] += 1
        return state

    @property
    def read(self) -> int:
        """How many were read."""
        return self.dialects.total()

    def __str__(self) -> str:
        """``13 plans: 12 read (7 appbench, 5 nestful), 1 unreadable``."""
        from planner_eval.comparison.rows import STATES

        total = self.read + self.states.total()
        named = f" ({counts_text(self.dialects)})" if self.dialects else ""
        phrases = [f"{self.read:,} read{named}"]
        phrases += [f"{self.states[state]:,} {state}" for state in STATES if self.states[state]]
        return f"{format_count(total, 'plan')}: {', '.join(phrases)}"


def counts_text(counts: Counter[str]) -> str:
    """The most frequent first, and as they came among those of one number."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())
