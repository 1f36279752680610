"""A run from its pairs to rows and sums, done by processes that may hang or die without harm to it."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import pickle
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, cast

from planner_eval.base import errors
from planner_eval.base.errors import InputError
from planner_eval.base.text import JsonObject, format_seconds
from planner_eval.reading.files import frameworks
from planner_eval.results.runs.folder import Input, RunFolder, describe_run
from planner_eval.results.runs.model import DEFAULT_RUNNING, Job, Pairs, Part, Running
from planner_eval.results.runs.stored import refuse_store
from planner_eval.results.runs.work import BrokenPair, mark_file, run_part, split_pairs, unusable_folder_error
from planner_eval.results.runs.worker import (
    Interrupted,
    InterruptOnSignal,
    PipeEnds,
    SignalWatch,
    StopRequested,
    Task,
    can_fork,
    fork,
    send_line,
    spawn,
)

# ----------------------------------------------------------------------
# Parts done by this process, where no pair may hang or die.
ProgressCallback = Callable[[int, int], None]
"""Told how many pairs are done, and how many of them are left out as broken; it may raise to end the run."""

_TICK = 0.1


def run_in_process(task: Task, chunks: Iterable[Part], tell: ProgressCallback) -> None:
    """Do parts in this process."""
    first = done = failed = 0
    told = time.monotonic()

    def watch(number: int) -> None:
        nonlocal told
        if number >= 0 and (now := time.monotonic()) - told > _TICK:
            told = now
            tell(done + number - first, failed)

    for chunk in chunks:
        first = chunk.first
        failed += run_part(task.job, task.pairs, chunk, task.folder, None, watch)
        done += chunk.size
        tell(done, failed)


# ----------------------------------------------------------------------
# Parts done by processes of this machine, which may hang or die without harm to the run.
_MAX_IDLE_DEATHS = 3
_MAX_IDLE_SECONDS = 240.0
"""What a worker may take before a part's first pair and after its last: one was seen to wait for ever."""

_POSIX = os.name == "posix"


def run_in_workers(
    task: Task,
    chunks: Sequence[Part],
    *,
    jobs: int | None,
    deadline: float | None,
    tell: ProgressCallback,
    closed: Sequence[int] = (),
) -> None:
    """Do parts, in any order.

    Args:
        task: What is done.
        chunks: Those to do.
        jobs: How many processes work on them, as many as there are cores when None; with one and no
            deadline it is this one.
        deadline: Seconds for a pair; one that takes longer is left out as broken.
        tell: Told of progress about ten times a second, also where there is none.
        closed: Files of this process that its workers shall not hold.

    Raises:
        InputError: A file cannot be read or written, or the job refuses to go on.
        RuntimeError: The job fails, or workers end, whatever is left out.
    """
    jobs = min(jobs or count_cores(), len(chunks)) or 1
    if not _POSIX or (jobs == 1 and deadline is None):
        run_in_process(task, chunks, tell)
        return
    with _WorkerPool(task, iter(chunks), jobs, deadline or float("inf"), closed) as crew:
        crew.run(tell)


def count_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------- workers
class _Worker:
    """A process, the part it does, and how long it has been on one pair."""

    def __init__(self, cell: int, process: int | subprocess.Popen[bytes], orders: int, answers: int) -> None:
        self.cell, self.process = cell, process
        self.orders, self.answers = orders, answers
        self.heard = b""
        self.part: Part | None = None
        self.pair, self.spent = -1, 0.0

    @property
    def id(self) -> int:
        """The process's number."""
        return self.process if isinstance(self.process, int) else self.process.pid

    def kill(self) -> None:
        """End it now."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.id, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end: its exit status, or minus the signal that ended it."""
        os.close(self.orders)
        os.close(self.answers)
        if isinstance(self.process, int):
            return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return self.process.wait()


class _WorkerPool:
    """The workers of a run, what waits, and which pairs are left out."""

    def __init__(
        self, task: Task, chunks: Iterator[Part], jobs: int, deadline: float, closed: Sequence[int]
    ) -> None:
        self.task, self.parts, self.deadline, self.closed = task, chunks, deadline, closed
        self.again: list[Part] = []
        self.free = list(range(jobs))
        self.workers: dict[int, _Worker] = {}
        self.broken: dict[int, BrokenPair] = {}
        self.strikes: Counter[int] = Counter()
        self.idle_deaths = 0
        self.done = self.failed = 0
        self.poll = select.poll()

    def __enter__(self) -> _WorkerPool:
        self.shared = _open_unnamed_file()
        self.shared.write(bytes(8 * len(self.free)))
        self.shared.flush()
        self.cells = memoryview(mmap.mmap(self.shared.fileno(), 0)).cast("q")
        self.life, self.hold = os.pipe()
        self.pickled: BinaryIO | None = None
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in self.workers.values():
            worker.kill()
        for worker in self.workers.values():
            worker.wait()
        os.close(self.life)
        os.close(self.hold)
        self.shared.close()
        if self.pickled is not None:
            self.pickled.close()

    def run(self, tell: ProgressCallback) -> None:
        """Do all parts."""
        tick = min(_TICK, self.deadline / 4)
        last = time.monotonic()
        while self._employ():
            for file, _ in self.poll.poll(tick * 1000):
                self._hear(self.workers[file])
            now = time.monotonic()
            # Where this process was stopped for a while, so were the others.
            self._look(min(now - last, 10 * tick))
            last = now
            positions = [(self.cells[w.cell], w.part) for w in self.workers.values()]
            running = sum(pair - chunk.first for pair, chunk in positions if chunk and pair >= chunk.first)
            tell(self.done + running, self.failed)

    def _employ(self) -> bool:
        """Give each worker a part, and start those that are missing; whether any is at work."""
        for worker in self.workers.values():
            if worker.part is None and (chunk := self._next()):
                self._order(worker, chunk)
        while self.free and (chunk := self._next()):
            self._order(self._start(self.free.pop()), chunk)
        return any(worker.part for worker in self.workers.values())

    def _next(self) -> Part | None:
        return self.again.pop() if self.again else next(self.parts, None)

    def _order(self, worker: _Worker, chunk: Part) -> None:
        broken = [(number, why) for number, why in self.broken.items() if chunk.first <= number < chunk.end]
        self.cells[worker.cell] = -1
        worker.part, worker.pair, worker.spent = chunk, -1, 0.0
        with contextlib.suppress(BrokenPipeError):  # it has died; its answers' end says so
            send_line(worker.orders, [*chunk, broken])

    # ---------------------------------------------------------------- their lives
    def _start(self, cell: int) -> _Worker:
        orders_read, orders = os.pipe()
        answers, answers_write = os.pipe()
        self.cells[cell] = -1
        ends = PipeEnds(orders_read, answers_write, self.life, self.shared.fileno(), cell, os.getpid())
        process: int | subprocess.Popen[bytes]
        if can_fork():
            own_ends = [end for w in self.workers.values() for end in (w.orders, w.answers)]
            process = fork(self.task, ends, [*own_ends, orders, answers, self.hold, *self.closed])
        else:
            if self.pickled is None:
                self.pickled = _open_unnamed_file()
                pickle.dump(tuple(self.task), self.pickled)
                self.pickled.flush()
            process = spawn(self.pickled.fileno(), ends)
        os.close(orders_read)
        os.close(answers_write)
        worker = self.workers[answers] = _Worker(cell, process, orders, answers)
        self.poll.register(answers, select.POLLIN)
        return worker

    def _hear(self, worker: _Worker) -> None:
        """Take what a worker says, or its death."""
        data = os.read(worker.answers, 1 << 16)
        if not data:
            self._bury(worker)
            return
        *lines, worker.heard = (worker.heard + data).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if "error" in answer:
                raise worker_error(answer)
            assert worker.part is not None
            self.done += worker.part.size
            self.failed += answer["failed"]
            self.idle_deaths = 0
            worker.part = None

    def _look(self, passed: float) -> None:
        """See how long each is on its pair, and end those that take too long."""
        for worker in list(self.workers.values()):
            pair = self.cells[worker.cell]
            if worker.part is None or pair != worker.pair:
                worker.pair, worker.spent = pair, 0.0
            else:
                worker.spent += passed
                if worker.spent > (self.deadline if pair >= 0 else max(self.deadline, _MAX_IDLE_SECONDS)):
                    self._bury(worker, pair if pair >= 0 else None)

    def _bury(self, worker: _Worker, late: int | None = None) -> None:
        """See to the part of a worker that died, or is `late` with a pair, and to the pair it was on."""
        self.poll.unregister(worker.answers)
        del self.workers[worker.answers]
        worker.kill()
        status = worker.wait()
        self.free.append(worker.cell)
        if worker.part is None:
            return
        self.again.append(worker.part)
        pair = self.cells[worker.cell] if late is None else late
        if pair < 0:
            self.idle_deaths += 1
            if self.idle_deaths == _MAX_IDLE_DEATHS:
                raise RuntimeError(f"workers stop before they begin a pair: {_status_text(status)}")
        elif late is None:
            self._blame(pair, 1, "parse.crash", f"crashed the worker each time: {_status_text(status)}")
        else:
            self._blame(pair, 2, "parse.deadline", f"took longer than {format_seconds(self.deadline)}")

    def _blame(self, pair: int, strikes: int, code: str, what: str) -> None:
        """Leave out a pair at two strikes, and its gold plan at four.

        A worker that dies is one strike, for it may have been ended from outside.
        """
        self.strikes[pair] += strikes
        if self.strikes[pair] >= 6:
            raise InputError(
                f"pair {pair + 1:,} crashes or blocks every worker, even without its prediction and gold plan"
            )
        previous = self.broken.get(pair)
        if self.strikes[pair] >= 4 and previous is not None:
            self.broken[pair] = previous._replace(both=True)
        elif self.strikes[pair] >= 2 and previous is None:
            self.broken[pair] = BrokenPair(code, f"working on it {what}")


def _open_unnamed_file() -> BinaryIO:
    """A file that ends with those who have it open; in memory where there is such a thing."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("planeval"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def _status_text(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"


def worker_error(answer: JsonObject) -> Exception:
    """The error that a worker told of, see :func:`.worker.stopped`."""
    message = answer["said"]
    if answer["error"] is None:
        return RuntimeError(f"a worker failed:\n{message}")
    kind = getattr(errors, answer["error"], InputError)
    return kind(message) if issubclass(kind, InputError) else InputError(message)


# ----------------------------------------------------------------------
# A run from its pairs to rows and sums: begun or gone on with, done by workers, put together.
_LARGEST_PART = 2_000
_PARTS_PER_JOB = 4
_MAX_JOBS_PER_CORE = 4  # more take longer to start than they save

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
    running: Running = DEFAULT_RUNNING,
    *,
    inputs: Sequence[Input] = (),
    given: Sequence[str] = (),
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
        running: How the work is done; by as many processes as there are cores when it says no number. A
            temporary folder is used when none is named, and one that is there keeps its own size of parts.
        inputs: The files behind the pairs; a run with others is another run.
        given: What the user named as predictions, gold and so on, so that it is told alike again.
        progress: Told what is done.
        report: Makes the text of the folder's ``report.json`` from the sums; the sums' data when left out.
        unchanged: Raises where a file was changed while it was read; asked before anything counts as done.
        what: What the pairs are called where it is said how far an interrupted run came, in the plural.

    Raises:
        InputError: The folder cannot be used, a file cannot be read or written, or a pair ends every worker.
        Interrupted: INT, TERM or HUP came; in a folder, what is done stays.
    """
    folder, engine, store = running.home, running.engine, running.store
    if engine is not None and engine.address and folder is None:
        raise InputError("a run on a cluster needs a folder that its machines share: add -o DIR/")
    refuse_store(store, job)
    count = len(pairs)
    jobs = running.jobs or None
    if jobs and engine is None:
        jobs = min(jobs, _MAX_JOBS_PER_CORE * count_cores())
    part = running.part or max(1, min(_LARGEST_PART, -(-count // ((jobs or count_cores()) * _PARTS_PER_JOB))))
    spec = describe_run(job, inputs, count, running.deadline, part, store)._replace(given=tuple(given))
    with SignalWatch() as stopping:
        try:
            home = RunFolder.throwaway(spec) if folder is None else RunFolder.open(spec._replace(path=folder))
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
        self.chunks = list(split_pairs(home.run.pairs, home.run.part))
        self.told = 0.0
        self.said: tuple[int, int, int] | None = None
        self.done = self.failed = 0

    def parts(self, engine: Any, jobs: int | None, unchanged: Callable[[], None] | None) -> None:
        """Do the parts that are not done."""
        home = self.home
        finished = home.done(self.chunks)
        left = [chunk for chunk in self.chunks if chunk.number not in finished]
        before = home.run.pairs - sum(chunk.size for chunk in left)
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
        sums = home.sums(self.job, self.chunks, check)
        home.join(self.job, self.chunks, check)
        if not home.temporary:
            home.write_report(report(sums) if report else json.dumps(sums.data(), indent=1))
            home.unlock()
        return FinishedRun(home, sums, self.failed)

    def kept(self) -> int:
        """How many pairs lie in parts that are done: of one that was interrupted nothing is kept."""
        marked = (chunk for chunk in self.chunks if os.path.exists(mark_file(self.home.parts, chunk)))
        return sum(chunk.size for chunk in marked)

    def _tell(self, *, last: bool = False) -> None:
        now = time.monotonic()
        state = (self.done, self.home.run.pairs, self.failed)
        if self.progress is not None and state != self.said and (last or now - self.told > _TICK):
            self.told, self.said = now, state
            self.progress(*state)
