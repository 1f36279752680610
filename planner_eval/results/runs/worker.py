"""A process that works on parts: it is told their numbers by a pipe, and ends with its parent."""

from __future__ import annotations

import gc
import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from planner_eval.base.errors import PlanevalError
from planner_eval.base.text import JsonObject
from planner_eval.execution.sandbox.lockdown import die_with_parent
from planner_eval.reading.files import frameworks
from planner_eval.results.runs.model import Job, Pairs, Part
from planner_eval.results.runs.work import BrokenPair, run_part

_START_CODE = """\
import sys
sys.path[:] = sys.argv[2:]
from planner_eval.results.runs.worker import started
started(sys.argv[1])
"""


class Task(NamedTuple):
    """What a worker does.

    Args:
        job: What is done with each pair.
        pairs: All pairs of the run.
        folder: Where parts are written.
        notations: Those of the user, which a process that is started afresh does not know.
    """

    job: Job
    pairs: Pairs
    folder: str
    notations: tuple[frameworks.UserRow, ...] = ()


class PipeEnds(NamedTuple):
    """What a worker has of what joins it to its parent: files by their numbers.

    Args:
        orders: The parts to do come from here.
        answers: What became of them goes here.
        life: Ends when the parent ends.
        cells: Numbers that both share: which pair each worker is on.
        cell: Which of them is this worker's.
        parent: The parent's process.
    """

    orders: int
    answers: int
    life: int
    cells: int
    cell: int
    parent: int


def can_fork() -> bool:
    """Whether a fork is safe: no thread but this one runs, which can be told on Linux alone."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def fork(task: Task, ends: PipeEnds, other_ends: Sequence[int]) -> int:
    """Start a worker as a copy of this process, which shares what is read already.

    Args:
        task: What it does.
        ends: What joins it to this process.
        other_ends: Files that it shall not hold: other workers' and locks.

    Returns:
        Its process.
    """
    child = os.fork()
    if child:
        return child
    try:
        for other in other_ends:
            os.close(other)
        serve(task, ends)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def spawn(pickled: int, ends: PipeEnds) -> subprocess.Popen[bytes]:
    """Start a worker afresh.

    Args:
        pickled: The file with what it does.
        ends: What joins it to this process.
    """
    files = (ends.orders, ends.answers, ends.life, ends.cells, pickled)
    arguments = json.dumps([pickled, *ends])
    return subprocess.Popen(
        [sys.executable, "-c", _START_CODE, arguments, *sys.path], stdin=subprocess.DEVNULL, pass_fds=files
    )


def started(arguments: str) -> None:
    """Work as a process that was started afresh."""
    gc.set_threshold(50_000, 20, 20)  # as in the command, which a worker that it forks has it from
    pickled, *numbers = json.loads(arguments)
    ends = PipeEnds(*numbers)
    try:
        with mmap.mmap(pickled, 0, access=mmap.ACCESS_READ) as data:
            task = Task(*pickle.loads(data))
        frameworks.add_rows(task.notations)
    except Exception as error:
        _send_answer(ends, error_data(error))
        raise
    serve(task, ends)


def serve(task: Task, ends: PipeEnds) -> None:
    """Do parts until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all; the parent decides
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    die_with_parent(ends.parent)
    gc.freeze()  # what is read already stays
    threading.Thread(target=_exit_with_parent, args=(ends.life,), daemon=True).start()
    cells = memoryview(mmap.mmap(ends.cells, 0)).cast("q")
    cell = ends.cell

    def watch(number: int) -> None:
        cells[cell] = number

    with os.fdopen(ends.orders, encoding="ascii") as orders:
        for order in orders:
            number, first, end, broken = json.loads(order)
            left_out = {pair: BrokenPair(*why) for pair, why in broken}
            try:
                failed = run_part(*task[:2], Part(number, first, end), task.folder, left_out, watch)
            except Exception as error:
                _send_answer(ends, error_data(error))
            else:
                _send_answer(ends, {"failed": failed})
    os._exit(0)


def send_line(pipe: int, data: Any) -> None:
    """Write data into a pipe, as a line of JSON."""
    line = json.dumps(data).encode("ascii") + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


def _send_answer(ends: PipeEnds, data: JsonObject) -> None:
    try:
        send_line(ends.answers, data)
    except BrokenPipeError:  # the parent was killed: there is nobody to tell, on the terminal neither
        os._exit(1)


def error_data(error: Exception) -> JsonObject:
    """What a parent is told of an error that ends the run."""
    if isinstance(error, PlanevalError):
        return {"error": type(error).__name__, "said": str(error)}
    return {"error": None, "said": "".join(traceback.format_exception(error))}


def _exit_with_parent(life: int) -> None:
    """End this process when nobody holds the other end any more."""
    os.read(life, 1)
    os._exit(1)


# ----------------------------------------------------------------------
# Signals that end a run gently: noted, and acted on where nothing is half done.
_SIGNALS = [
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
]


class Interrupted(KeyboardInterrupt):
    """A run was asked to end before all pairs were done.

    Args:
        finished: How many are done.
        total: Of how many.
        folder: Where the run is kept; None where it is not.
        what: What is counted, in the plural.
        stored: How many of those done lie in the folder; all of them when left out.
    """

    def __init__(
        self, finished: int, total: int, folder: str | None, what: str = "pairs", stored: int | None = None
    ) -> None:
        super().__init__(finished, total, folder)
        self.done, self.total, self.folder = finished, total, folder
        stored_note = "" if stored in (None, finished) or folder is None else f", {stored:,} of them"
        self.add_note(f"after {finished:,} of {total:,} {what}{stored_note or ' and' * (folder is not None)}")
        if folder is not None:
            self.add_note("stored: the same command resumes from there")


class InterruptOnSignal:
    """Has what ends this process at once end it as an interrupt does: what is temporary is removed."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if self._replaces(signal.getsignal(number)):
                    self.before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _replaces(self, handler: Any) -> bool:
        return handler is signal.SIG_DFL

    def _handle(self, _number: int, _frame: object) -> None:
        raise KeyboardInterrupt


class StopRequested(BaseException):
    """A signal came; no error of a pair."""


class SignalWatch(InterruptOnSignal):
    """Takes note of signals while a run is at work; those that are ignored stay so."""

    asked = False

    def _replaces(self, handler: Any) -> bool:
        return handler not in (signal.SIG_IGN, None)

    def _handle(self, _number: int, _frame: object) -> None:
        self.asked = True

    def check(self) -> None:
        """End the run where that was asked for.

        Raises:
            Stop: it was.
        """
        if self.asked:
            raise StopRequested
