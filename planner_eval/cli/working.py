"""Work on many records: in this process, or in parts by several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.cli.running import Running
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from planner_eval.engine.job import Job, Pairs


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
    job: Job, pairs: Pairs, running: Running, *, large: bool, what: str = "pairs", **kept: Any
) -> Iterator[Done]:
    """Do a job over all pairs, before anything of it is written.

    Args:
        job: What is done.
        pairs: The pairs.
        running: How, as the user wants it.
        large: Whether the input is large enough for parts.
        what: What is counted, in the plural.
        kept: What else :func:`planner_eval.engine.run.run` takes: a folder, its inputs …
    """
    if not (large or running.wanted or kept.get("folder")):
        sums = job.fold()
        lines: Iterable[str] = job.rows(pairs, sums)
        yield Done(sums, list(lines if running.quiet else counting(lines, len(pairs), what)))
        return
    from planner_eval.engine.run import run

    with run(job, pairs, **kept, **running.options(what)) as made:
        yield Done(made.sums, _Lines(made.rows))


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
