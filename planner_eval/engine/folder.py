"""The folder of a run: what is run, which parts are done, and in the end all rows and the report."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.temporary import Held, temporary_folder
from planner_eval.base.writing import write
from planner_eval.engine.claiming import claim
from planner_eval.engine.differing import other_input, other_option
from planner_eval.engine.job import Job, Part
from planner_eval.engine.rows import LEFT_OVER, digest_of
from planner_eval.engine.run_file import SCHEMA
from planner_eval.engine.stores import STORES, Changed, whole_marks, write_all_rows
from planner_eval.engine.work import holds, mark_file, read_mark, rows_file
from planner_eval.records.own_rows import own

_CHUNK = 1 << 20


class Input(NamedTuple):
    """A file that a run reads.

    Args:
        role: What it is for: ``pred``, ``gold`` …
        path: Its name as the user wrote it.
        size: Bytes.
        digest: Of all of them.
    """

    role: str
    path: str
    size: int
    digest: str


class Run(NamedTuple):
    """All that decides what the rows of a run are, and how it is cut.

    Args:
        kind: The job's.
        options: The job's.
        inputs: The files that are read.
        pairs: How many pairs there are.
        deadline: Seconds for a pair; None for as long as it takes.
        part: How many pairs make a part, which decides nothing.
        notations: Those that are not shipped, by name, and a digest of each.
        store: In what all rows are kept in the end, see :data:`.stores.STORES`.
        given: What was named as predictions, gold and so on, which decides nothing.
    """

    kind: str
    options: Mapping[str, Any]
    inputs: Sequence[Input]
    pairs: int
    deadline: float | None
    part: int
    notations: Mapping[str, str]
    store: str = "jsonl"
    given: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        job: Job,
        inputs: Sequence[Input],
        pairs: int,
        deadline: float | None,
        chunk_size: int,
        store: str = "jsonl",
        file_names: Sequence[str] = (),
    ) -> Run:
        """What is run, as it comes back from a file."""
        options = json.loads(json.dumps(job.options()))
        notations = {row.name: digest_of(repr(row).encode()) for row in own()}
        return cls(
            job.kind, options, tuple(inputs), pairs, deadline, chunk_size, notations, store, tuple(file_names)
        )

    def data(self) -> dict[str, Any]:
        """What ``run.json`` says."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **self._asdict(),
            "inputs": [i._asdict() for i in self.inputs],
            "given": list(self.given),
        }

    def differs(self, stored: Mapping[str, Any]) -> str | None:
        """What makes a run another one than that of a ``run.json``, in words; None where nothing does."""
        current = self.data()
        if stored.get("schema") != SCHEMA:
            return f"it is of the form {stored.get('schema')!r}, which this version does not know"
        for name, what in (("kind", "a run of"), ("version", "of version")):
            if stored.get(name) != current[name]:
                return f"it is {what} {stored.get(name)}, not {current[name]}"
        return (
            other_input(stored.get("inputs"), self.inputs)
            or other_option(_deciding(stored.get("options")), _deciding(self.options), self.kind)
            or other_option(stored.get("notations"), self.notations, "")
            or other_option(
                {name: stored.get(name) for name in ("deadline", "pairs", "store")},
                {"deadline": self.deadline, "pairs": self.pairs, "store": self.store},
                self.kind,
            )
        )


def _deciding(options: Any) -> Any:
    """Options without what was said of the files, as that one was left out: what was read are the inputs."""
    about = options.get("about") if isinstance(options, Mapping) else None
    if not isinstance(about, Mapping):
        return options
    return {**options, "about": {name: value for name, value in about.items() if name != "notes"}}


# ---------------------------------------------------------------- the folder
class RunFolder:
    """A folder with a run in it, which one process at a time may work on.

    Args:
        path: The folder.
        run: What is run; `part` as the folder has it, where the run was begun before.
        lock: The open folder that keeps others away.
        temporary: The folder, where it is removed in the end.
    """

    def __init__(self, path: str, run: Run, lock: int | None, *, temporary: Held | None = None) -> None:
        self.path, self.run, self.lock, self.temporary = path, run, lock, temporary
        self.parts = os.path.join(path, "parts")
        self.rows = os.path.join(path, STORES[run.store])
        self.report = os.path.join(path, "report.json")

    @classmethod
    def open(cls, path: str, run: Run) -> RunFolder:
        """Begin a run in a folder, or go on with the one that is there.

        Raises:
            InputError: The folder holds something else, another run, or one that another process works on.
        """
        lock, chunk_size = claim(path, run)
        home = cls(path, run._replace(part=chunk_size), lock)
        home.sweep()
        return home

    @classmethod
    def throwaway(cls, run: Run) -> RunFolder:
        """A folder for a run that nobody shall go on with."""
        directory = temporary_folder()
        os.mkdir(os.path.join(directory.path, "parts"))
        return cls(directory.path, run, None, temporary=directory)

    def unlock(self) -> None:
        """Let others work on it."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def close(self) -> None:
        """Let others work on it; what is temporary is removed."""
        self.unlock()
        if self.temporary is not None:
            self.temporary.remove()

    # ------------------------------------------------------------ what is done
    def done(self, chunks: Iterable[Part]) -> dict[int, int]:
        """The parts that are done, whose files are whole: their numbers, and how many pairs failed."""
        if self.temporary or not os.listdir(self.parts):
            return {}
        chunks = list(chunks)
        if os.path.exists(self.rows):
            try:
                marks = whole_marks(self.run.store, self.rows, self.parts, chunks)
                return {number: mark.failed for number, mark in enumerate(marks)}
            except Changed:
                os.unlink(self.rows)
        return self._in_parts(chunks)

    def _in_parts(self, chunks: Iterable[Part]) -> dict[int, int]:
        failed = {}
        for chunk in chunks:
            mark = read_mark(self.parts, chunk)
            name = rows_file(self.parts, chunk)
            if mark and os.path.exists(name):
                with open(name, "rb") as stream:
                    if holds(stream, mark) and not stream.read(1):
                        failed[chunk.number] = mark.failed
        return failed

    def forget(self, chunks: Iterable[Part]) -> None:
        """Take parts for not done."""
        for chunk in chunks:
            for name in (mark_file(self.parts, chunk), rows_file(self.parts, chunk)):
                if os.path.exists(name):
                    os.unlink(name)

    def sweep(self) -> None:
        """Remove what killed processes left behind."""
        for folder in (self.path, self.parts):
            for name in os.listdir(folder):
                if name.endswith(LEFT_OVER):
                    os.unlink(os.path.join(folder, name))

    # ------------------------------------------------------------ the end
    def sums(self, job: Job, chunks: Iterable[Part], check: Callable[[], None]) -> Any:
        """The sums of all parts, put together in their order."""
        total = job.fold()
        for chunk in chunks:
            check()
            mark = read_mark(self.parts, chunk)
            if mark is None:
                raise InputError(f"{mark_file(self.parts, chunk)} was changed or removed during the run")
            total.extend(job.fold(json.loads(mark.sums)))
        return total

    def join(self, job: Job, chunks: Iterable[Part], check: Callable[[], None]) -> None:
        """Write the rows of all parts one after another, and remove the parts' own."""
        if not os.path.exists(self.rows):
            # Nobody goes on with what is temporary: both need not fit on the disk.
            write_all_rows(
                self.run.store, job, self.rows, self.parts, chunks, check, remove=self.temporary is not None
            )
        for name in os.listdir(self.parts):
            if name.endswith(".jsonl"):
                os.unlink(os.path.join(self.parts, name))

    def write_report(self, text: str) -> None:
        """Write the report, unless it stands there."""
        with (
            contextlib.suppress(OSError, ValueError),
            open(self.report, encoding="utf-8", newline="") as stream,
        ):
            if stream.read() == (text if text.endswith("\n") else f"{text}\n"):
                return
        write(self.report, text)
