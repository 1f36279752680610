"""Parts done by this process, where no pair may hang or die."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from planner_eval.results.runs.job import Part
from planner_eval.results.runs.work import run_part
from planner_eval.results.runs.worker import Task

ProgressCallback = Callable[[int, int], None]
"""Told how many pairs are done, and how many of them are left out as broken; it may raise to end the run."""

_TICK = 0.1


def run_in_process(task: Task, chunks: Iterable[Part], tell: ProgressCallback) -> None:
    """Do parts in this process."""
    progress = _ProgressWatch(tell)
    for chunk in chunks:
        progress.first = chunk.first
        progress.failed += run_part(task.job, task.pairs, chunk, task.folder, None, progress.watch)
        progress.done += chunk.end - chunk.first
        tell(progress.done, progress.failed)


class _ProgressWatch:
    """How far this process is with its parts."""

    def __init__(self, tell: ProgressCallback) -> None:
        self.tell = tell
        self.done = self.failed = self.first = 0
        self.told = time.monotonic()

    def watch(self, number: int) -> None:
        """Take note of the pair that begins."""
        if number >= 0 and (now := time.monotonic()) - self.told > _TICK:
            self.told = now
            self.tell(self.done + number - self.first, self.failed)
