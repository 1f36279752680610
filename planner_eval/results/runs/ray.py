"""Parts done on a Ray cluster, whose machines share the run's folder and the files that are read."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import JsonObject
from planner_eval.reading.files import frameworks
from planner_eval.results.runs.model import Part, ignore
from planner_eval.results.runs.run import ProgressCallback, run_in_workers, worker_error
from planner_eval.results.runs.work import read_mark
from planner_eval.results.runs.worker import Task, error_data

ray: Any  # most of what is asked of it has no types
try:
    ray = import_module("ray")
except ImportError:  # said when somebody asks for it
    ray = None

_MAX_PARTS_PER_TASK = 8
"""Parts of one task at most: its process starts in 0.3 s, a part takes 1 to 3."""

_RETRIES = 5
_CONNECT_SECONDS = 10.0
_TICK = 0.1


class RayRunner(NamedTuple):
    """Does parts on a cluster, see :func:`planner_eval.results.runs.run.run_in_workers`.

    Each task does a few parts with one worker of its own, so that a record that hangs or kills it costs
    itself alone. A task whose machine is lost is done again elsewhere, without the parts that are done.

    Args:
        address: The cluster; one of this machine alone, which ends with the run, when left out.
    """

    address: str | None = None

    @classmethod
    def at(cls, address: str | None) -> RayRunner:
        """The engine, where there is one.

        Raises:
            InputError: Ray is not installed.
        """
        if ray is None:
            raise InputError("--engine ray needs Ray: pip install 'planner_eval[ray]'")
        return cls(address)

    def __call__(
        self,
        task: Task,
        chunks: Sequence[Part],
        *,
        jobs: int | None,
        deadline: float | None,
        tell: ProgressCallback,
        closed: Sequence[int] = (),
    ) -> None:
        """Do parts, in any order; `jobs` tasks at once, as many as the cluster has processors when None."""
        is_own = not ray.is_initialized()
        with redirect_stdout(sys.stderr):  # where Ray prints what befalls its tasks, rows may go
            if is_own:
                _connect(self.address, jobs)
            try:
                at_once = jobs or int(ray.cluster_resources().get("CPU", 1))
                many = max(1, min(_MAX_PARTS_PER_TASK, len(chunks) // (4 * at_once)))
                task = task._replace(folder=os.path.abspath(task.folder))
                _run_tasks(task, chunks, at_once, many, deadline, tell)
            finally:
                if is_own:
                    ray.shutdown()


def _connect(address: str | None, jobs: int | None) -> None:
    """Join a cluster, or start one.

    Raises:
        InputError: There is none at the address.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        host, _, port = (address or "").removeprefix("ray://").rpartition(":")
        if host and port.isdigit():  # Ray itself asks for minutes
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(
            address=address or "local",
            num_cpus=None if address else jobs,
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"no Ray cluster answers at {address or 'this machine'}: {error}") from None
    if threading.current_thread() is threading.main_thread():  # Ray puts its own in the place of ours
        signal.signal(signal.SIGTERM, handler)


def _run_tasks(
    task: Task,
    chunks: Sequence[Part],
    at_once: int,
    many: int,
    deadline: float | None,
    tell: ProgressCallback,
) -> None:
    remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(run_parts)
    shared = ray.put(tuple(task))
    batches = (chunks[first : first + many] for first in range(0, len(chunks), many))
    at_work: dict[Any, Sequence[Part]] = {}
    finished = failed = 0
    try:
        while True:
            for batch in islice(batches, at_once - len(at_work)):
                at_work[remote.remote(shared, batch, deadline)] = batch
            if not at_work:
                return
            ready, _ = ray.wait(list(at_work), timeout=_TICK)
            for reference in ready:
                answer = _get_answer(reference)
                finished += sum(chunk.size for chunk in at_work.pop(reference))
                failed += answer["failed"]
            tell(finished, failed)
    finally:
        for reference in at_work:
            ray.cancel(reference, force=True)


def _get_answer(reference: Any) -> JsonObject:
    try:
        answer: JsonObject = ray.get(reference)
    except ray.exceptions.RayError as error:
        raise RuntimeError(f"a task of Ray failed {_RETRIES + 1} times: {error}") from None
    if "error" in answer:
        raise worker_error(answer)
    return answer


def run_parts(task: tuple[Any, ...], chunks: Sequence[Part], deadline: float | None) -> JsonObject:
    """Do some parts on a machine of the cluster, but for those that an earlier try has done.

    Args:
        task: What is done, the fields of a `Task`.
        chunks: Those to do.
        deadline: Seconds for a pair.

    Returns:
        What a worker answers: how many pairs failed, or the error that ends the run.
    """
    what = Task(*task)
    frameworks.add_rows(what.notations)
    try:
        left = [chunk for chunk in map(Part._make, chunks) if read_mark(what.folder, chunk) is None]
        run_in_workers(what, left, jobs=1, deadline=deadline, tell=ignore)
        marks = [read_mark(what.folder, chunk) for chunk in map(Part._make, chunks)]
    except Exception as error:
        return error_data(error)
    return {"failed": sum(mark.failed for mark in marks if mark)}
