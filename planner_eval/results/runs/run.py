"""A run from its pairs to rows and sums: begun or gone on with, done by workers, put together."""

from __future__ import annotations

import json
import os
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.reading.files import frameworks
from planner_eval.results.runs.folder import Input, Run, RunFolder
from planner_eval.results.runs.local import count_cores, run_in_workers
from planner_eval.results.runs.pairs import Job, Pairs
from planner_eval.results.runs.stored import refuse_store
from planner_eval.results.runs.work import mark_file, split_pairs, unusable_folder_error
from planner_eval.results.runs.worker import Interrupted, InterruptOnSignal, SignalWatch, StopRequested, Task

if TYPE_CHECKING:
    from planner_eval.results.runs.ray import RayRunner


DEADLINE = 60.0
"""Seconds for a pair."""

_LARGEST_PART = 2_000
_PARTS_PER_JOB = 4
_MAX_JOBS_PER_CORE = 4  # more take longer to start than they save
_TICK = 0.1

Progress = Callable[[int, int, int], None]
"""Told how many pairs are done, of how many, and how many failed as a whole; ten times a second at most."""


class FinishedRun:
    """A run that is done. In a ``with`` block TERM and HUP end it as an interrupt does.

    Args:
        home: Its folder; one that is temporary is removed when this is closed, or not used any more.
        sums: The job's sums over all rows.
        failed: How many pairs were left out, because they took too long or ended their process.
    """

    def __init__(self, home: RunFolder, sums: Any, failed: int) -> None:
        self.sums, self.failed = sums, failed
        self.rows = home.rows
        self.pairs = home.run.pairs
        self.folder = None if home.temporary else home.path
        self._end = weakref.finalize(self, home.close)
        self._ending = InterruptOnSignal()

    def close(self) -> None:
        """Remove what is temporary."""
        self._end()

    def __enter__(self) -> FinishedRun:
        self._ending.__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
        self._ending.__exit__()


def run(  # noqa: PLR0913
    job: Job,
    pairs: Pairs,
    *,
    folder: str | None = None,
    inputs: Sequence[Input] = (),
    jobs: int | None = None,
    deadline: float | None = DEADLINE,
    part: int | None = None,
    store: str = "jsonl",
    given: Sequence[str] = (),
    engine: RayRunner | None = None,
    progress: Progress | None = None,
    report: Callable[[Any], str] | None = None,
    unchanged: Callable[[], None] | None = None,
    what: str = "pairs",
) -> FinishedRun:
    """Run a job over pairs. Rows and sums are the same for any number of workers and any cut.

    A pair that takes longer than the deadline, or ends its worker, is done as one whose prediction has an
    error, and where that is not enough its gold plan too.

    Args:
        job: What is done with each pair.
        pairs: The pairs.
        folder: Where the run is kept: what is done there already is not done again. A temporary one when
            left out.
        inputs: The files behind the pairs; a run with others is another run.
        jobs: How many processes, four a core at most; as many as there are cores when 0 or left out. With 1
            and no deadline this one.
        deadline: Seconds for a pair; None for as long as it takes.
        part: How many pairs make a part; a folder that is there keeps its own.
        store: In what a folder keeps all rows, one of :data:`.stores.STORES`.
        given: What the user named as predictions, gold and so on, so that it is told alike again.
        engine: Where it is done, when not by processes of this machine.
        progress: Told what is done.
        report: Makes the text of the folder's ``report.json`` from the sums; the sums' data when left out.
        unchanged: Raises where a file was changed while it was read; asked before anything counts as done.
        what: What the pairs are called where it is said how far an interrupted run came, in the plural.

    Raises:
        InputError: The folder cannot be used, a file cannot be read or written, or a pair ends every worker.
        Interrupted: INT, TERM or HUP came; in a folder, what is done stays.
    """
    if engine is not None and engine.address and folder is None:
        raise InputError("a run on a cluster needs a folder that its machines share: -o DIR/")
    refuse_store(store, job)
    count = len(pairs)
    jobs = jobs or None
    if jobs and engine is None:
        jobs = min(jobs, _MAX_JOBS_PER_CORE * count_cores())
    part = part or max(1, min(_LARGEST_PART, -(-count // ((jobs or count_cores()) * _PARTS_PER_JOB))))
    spec = Run.of(job, inputs, count, deadline, part, store, given)
    with SignalWatch() as stopping:
        try:
            home = RunFolder.throwaway(spec) if folder is None else RunFolder.open(folder, spec)
        except OSError as error:
            raise unusable_folder_error(folder or tempfile.gettempdir(), error) from None
        doing = _ActiveRun(job, pairs, home, stopping, progress)
        try:
            doing.parts(engine or run_in_workers, jobs, unchanged)
            return doing.put_together(report)
        except StopRequested:
            stored = doing.kept()
            home.close()
            raise Interrupted(doing.done, count, folder, what, stored) from None
        except OSError as error:
            home.close()
            raise unusable_folder_error(home.path, error) from None
        except BaseException:
            home.close()
            raise


class _ActiveRun:
    """A run at work."""

    def __init__(
        self, job: Job, pairs: Pairs, home: RunFolder, stopping: SignalWatch, progress: Progress | None
    ) -> None:
        self.job, self.pairs, self.home, self.stopping, self.progress = job, pairs, home, stopping, progress
        self.told = 0.0
        self.said: tuple[int, int, int] | None = None
        self.done = self.failed = 0

    def parts(self, engine: Any, jobs: int | None, unchanged: Callable[[], None] | None) -> None:
        """Do the parts that are not done."""
        home = self.home
        finished = home.done(self._cut())
        left = [chunk for chunk in self._cut() if chunk.number not in finished]
        before = self.home.run.pairs - sum(chunk.end - chunk.first for chunk in left)
        failed = sum(finished.values())

        def tell(count: int, more: int) -> None:
            self.done, self.failed = before + count, failed + more
            self._tell()
            self.stopping.check()

        tell(0, 0)
        locks = () if home.lock is None else (home.lock,)
        try:
            task = Task(self.job, self.pairs, home.parts, frameworks.added_rows())
            engine(task, left, jobs=jobs, deadline=home.run.deadline, tell=tell, closed=locks)
        finally:
            home.sweep()
            if unchanged is not None:
                try:
                    unchanged()
                except BaseException:
                    home.forget(left)
                    raise
        self._tell(last=True)

    def put_together(self, report: Callable[[Any], str] | None) -> FinishedRun:
        """The sums of all parts and the rows of all."""
        home, check = self.home, self.stopping.check
        sums = home.sums(self.job, self._cut(), check)
        home.join(self.job, self._cut(), check)
        if not home.temporary:
            home.write_report(report(sums) if report else json.dumps(sums.data(), indent=1))
            home.unlock()
        return FinishedRun(home, sums, self.failed)

    def kept(self) -> int:
        """How many pairs lie in parts that are done: of one that was interrupted nothing is kept."""
        marked = (chunk for chunk in self._cut() if os.path.exists(mark_file(self.home.parts, chunk)))
        return sum(chunk.end - chunk.first for chunk in marked)

    def _cut(self) -> Any:
        return split_pairs(self.home.run.pairs, self.home.run.part)

    def _tell(self, *, last: bool = False) -> None:
        now = time.monotonic()
        state = (self.done, self.home.run.pairs, self.failed)
        if self.progress is not None and state != self.said and (last or now - self.told > _TICK):
            self.told, self.said = now, state
            self.progress(*state)
