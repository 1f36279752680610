"""Parts done by this process, where no pair may hang or die."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from planner_eval.results.runs.job import Part
from planner_eval.results.runs.work import work
from planner_eval.results.runs.worker import Task

Tell = Callable[[int, int], None]
"""Told how many pairs are done, and how many of them are left out as broken; it may raise to end the run."""

_TICK = 0.1


def in_turn(task: Task, chunks: Iterable[Part], tell: Tell) -> None:
    """Do parts in this process."""
    progress = _Here(tell)
    for chunk in chunks:
        progress.first = chunk.first
        progress.failed += work(task.job, task.pairs, chunk, task.folder, None, progress.watch)
        progress.done += chunk.end - chunk.first
        tell(progress.done, progress.failed)


class _Here:
    """How far this process is with its parts."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.done = self.failed = self.first = 0
        self.told = time.monotonic()

    def watch(self, number: int) -> None:
        """Take note of the pair that begins."""
        if number >= 0 and (now := time.monotonic()) - self.told > _TICK:
            self.told = now
            self.tell(self.done + number - self.first, self.failed)
