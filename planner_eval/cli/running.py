"""The options of commands whose work several processes may do in parts, and what is said meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from planner_eval.base.named import NamedTuple
from planner_eval.cli.numbers import Seconds
from planner_eval.cli.options import bundled, note
from planner_eval.cli.terminal import Counter, counted

_SAY_EVERY = 10.0
"""Seconds between the lines that tell of progress where there is no terminal."""


class Running(NamedTuple):
    """How work is done in parts.

    Args:
        jobs: How many processes; None for as many as there are cores, where the input is large.
        record_deadline: Seconds for a record; None for the usual.
        part: How many pairs make a part; None for what fits.
        engine: ``ray`` for a cluster; None for processes of this machine.
        address: The cluster's; None for one of this machine alone.
        quiet: Say nothing of progress.
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

    def options(self, what: str = "pairs") -> dict[str, Any]:
        """What :func:`planner_eval.engine.run.run` takes.

        Args:
            what: What is counted, in the plural.
        """
        settings = {"jobs": self.jobs, "deadline": self.record_deadline, "part": self.part}
        options: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
        if self.engine is not None or self.address is not None:
            from planner_eval.engine.ray import OnRay

            options["engine"] = OnRay.at(self.address)
        return options if self.quiet else {**options, "progress": Progress(what)}


AS_USUAL = Running(None, None, None, None, None, quiet=False)
"""As the size of the input says."""


def running(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--jobs`` and others, which the command takes as ``running``, a `Running`."""
    for option in (
        click.option(
            "--address", metavar="HOST:PORT", help="The Ray cluster; one of this machine when left out."
        ),
        click.option(
            "--engine",
            type=click.Choice(["ray"]),
            help="Do the work on a Ray cluster, not by processes of this machine.",
        ),
        click.option("--quiet", is_flag=True, help="Say nothing of progress."),
        click.option(
            "--part",
            metavar="RECORDS",
            type=click.IntRange(min=1),
            help="How many records are done in one go; the results are the same.",
        ),
        click.option(
            "--record-deadline",
            metavar="SECONDS",
            type=Seconds(),
            help="Time for one record, of large inputs 60 when left out; one that takes longer is an error.",
        ),
        click.option(
            "--jobs",
            metavar="N",
            type=click.IntRange(min=1),
            help="Processes at work, at most 4 a core; all cores for large inputs, when left out.",
        ),
    ):
        command = option(command)
    return bundled("running", Running, Running._fields)(command)


store_option = click.option(
    "--store",
    type=click.Choice(["jsonl", "parquet"]),
    help="In what a run's folder keeps its rows, jsonl when left out; parquet needs pyarrow.",
)
"""Add ``--store``, which applies to a run that is kept in a folder."""


class Progress:
    """What is done, how fast, and how long it will take: a line on a terminal, elsewhere one now and then.

    Args:
        what: What is counted, in the plural.
    """

    def __init__(self, what: str) -> None:
        self.counter: Counter = counted(what)
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
        elif now - self.said > _SAY_EVERY:
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
