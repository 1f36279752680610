"""The folder of a run: what is run, which parts are done, and in the end all rows and the report."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.writing import write
from planner_eval.dialects.table import own
from planner_eval.engine.claiming import claim
from planner_eval.engine.job import Job, Part
from planner_eval.engine.rows import LEFT_OVER, digest_of
from planner_eval.engine.work import holds, mark_file, read_mark, rows_file

SCHEMA = "planeval.run/1"
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
    """

    kind: str
    options: Mapping[str, Any]
    inputs: Sequence[Input]
    pairs: int
    deadline: float | None
    part: int
    notations: Mapping[str, str]

    @classmethod
    def of(cls, job: Job, inputs: Sequence[Input], pairs: int, deadline: float | None, part: int) -> Run:
        """What is run, as it comes back from a file."""
        options = json.loads(json.dumps(job.options()))
        notations = {row.name: digest_of(repr(row).encode()) for row in own()}
        return cls(job.kind, options, tuple(inputs), pairs, deadline, part, notations)

    def data(self) -> dict[str, Any]:
        """What ``run.json`` says."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **self._asdict(),
            "inputs": [one._asdict() for one in self.inputs],
        }

    def differs(self, known: Mapping[str, Any]) -> str | None:
        """What makes a run another one than that of a ``run.json``, in words; None where nothing does."""
        ours = self.data()
        if known.get("schema") != SCHEMA:
            return f"it is of the form {known.get('schema')!r}, which this version does not know"
        for name, what in (("kind", "a run of"), ("version", "of version")):
            if known.get(name) != ours[name]:
                return f"it is {what} {known.get(name)}, not {ours[name]}"
        return (
            _other_input(known.get("inputs"), self.inputs)
            or _other_option(known.get("options"), self.options)
            or _other_option(known.get("notations"), self.notations)
            or _other_option(
                {name: known.get(name) for name in ("deadline", "pairs")},
                {"deadline": self.deadline, "pairs": self.pairs},
            )
        )


def _other_input(known: Any, ours: Sequence[Input]) -> str | None:
    then = {(one["role"], number): one for number, one in enumerate(known or ())}
    now = {(one.role, number): one for number, one in enumerate(ours)}
    for place in [*then, *now]:
        if place not in then or place not in now:
            return f"it had {len(then):,} input files, now there are {len(now):,}"
        was, one = then[place], now[place]
        if (was["size"], was["digest"]) != (one.size, one.digest):
            changed = "has changed since" if was["path"] == one.path else f"is not {was['path']}"
            return f"the file {one.path} ({one.role}) {changed}"
    return None


def _other_option(known: Any, ours: Mapping[str, Any]) -> str | None:
    known = known or {}
    for name in [*known, *ours]:
        if (was := known.get(name)) != (now := ours.get(name)):
            return f"{name} was {_short(was)} and is {_short(now)}"
    return None


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else f"{text[:200]} …"


# ---------------------------------------------------------------- the folder
class RunFolder:
    """A folder with a run in it, which one process at a time may work on.

    Args:
        path: The folder.
        run: What is run; `part` as the folder has it, where the run was begun before.
        lock: The open folder that keeps others away.
        temporary: Whether the folder is removed in the end.
    """

    def __init__(self, path: str, run: Run, lock: int | None, *, temporary: bool = False) -> None:
        self.path, self.run, self.lock, self.temporary = path, run, lock, temporary
        self.parts = os.path.join(path, "parts")
        self.rows = os.path.join(path, "rows.jsonl")
        self.report = os.path.join(path, "report.json")

    @classmethod
    def open(cls, path: str, run: Run) -> RunFolder:
        """Begin a run in a folder, or go on with the one that is there.

        Raises:
            InputError: The folder holds something else, another run, or one that another process works on.
        """
        lock, part = claim(path, run)
        home = cls(path, run._replace(part=part), lock)
        home.sweep()
        return home

    @classmethod
    def throwaway(cls, run: Run) -> RunFolder:
        """A folder for a run that nobody shall go on with."""
        path = tempfile.mkdtemp(prefix="planeval-")
        os.mkdir(os.path.join(path, "parts"))
        return cls(path, run, None, temporary=True)

    def unlock(self) -> None:
        """Let others work on it."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def close(self) -> None:
        """Let others work on it; what is temporary is removed."""
        self.unlock()
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)

    # ------------------------------------------------------------ what is done
    def done(self, parts: Iterable[Part]) -> dict[int, int]:
        """The parts that are done, whose files are whole: their numbers, and how many pairs failed."""
        if self.temporary or not os.listdir(self.parts):
            return {}
        joined = os.path.exists(self.rows)
        found = self._in_rows(parts) if joined else self._in_parts(parts)
        if joined and not found:
            os.unlink(self.rows)
        return found

    def _in_parts(self, parts: Iterable[Part]) -> dict[int, int]:
        found = {}
        for part in parts:
            mark = read_mark(self.parts, part)
            name = rows_file(self.parts, part)
            if mark and os.path.exists(name):
                with open(name, "rb") as stream:
                    if holds(stream, mark) and not stream.read(1):
                        found[part.number] = mark.failed
        return found

    def _in_rows(self, parts: Iterable[Part]) -> dict[int, int]:
        """All parts where the file of all rows is whole, else none."""
        found = {}
        with open(self.rows, "rb") as stream:
            for part in parts:
                mark = read_mark(self.parts, part)
                if mark is None or not holds(stream, mark):
                    return {}
                found[part.number] = mark.failed
            return {} if stream.read(1) else found

    def forget(self, parts: Iterable[Part]) -> None:
        """Take parts for not done."""
        for part in parts:
            for name in (mark_file(self.parts, part), rows_file(self.parts, part)):
                if os.path.exists(name):
                    os.unlink(name)

    def sweep(self) -> None:
        """Remove what killed processes left behind."""
        for folder in (self.path, self.parts):
            for name in os.listdir(folder):
                if name.endswith(LEFT_OVER):
                    os.unlink(os.path.join(folder, name))

    # ------------------------------------------------------------ the end
    def sums(self, job: Job, parts: Iterable[Part], check: Callable[[], None]) -> Any:
        """The sums of all parts, put together in their order."""
        whole = job.fold()
        for part in parts:
            check()
            mark = read_mark(self.parts, part)
            if mark is None:
                raise InputError(f"{mark_file(self.parts, part)} was changed or removed during the run")
            whole.extend(job.fold(json.loads(mark.sums)))
        return whole

    def join(self, parts: Iterable[Part], check: Callable[[], None]) -> None:
        """Write the rows of all parts one after another, and remove the parts' own."""
        if not os.path.exists(self.rows):
            temporary = f"{self.rows}{LEFT_OVER}"
            try:
                with open(temporary, "wb") as out:
                    for part in parts:
                        check()
                        with open(rows_file(self.parts, part), "rb") as stream:
                            shutil.copyfileobj(stream, out, _CHUNK)
                        if self.temporary:  # nobody goes on with it: both need not fit on the disk
                            os.unlink(rows_file(self.parts, part))
                os.replace(temporary, self.rows)
            except OSError as error:
                raise InputError(f"{self.rows} cannot be written: {error.strerror or error}") from None
            finally:
                if os.path.lexists(temporary):
                    os.unlink(temporary)
        for name in os.listdir(self.parts):
            if name.endswith(".jsonl"):
                os.unlink(os.path.join(self.parts, name))

    def write_report(self, text: str) -> None:
        """Write the report, unless it stands there."""
        with (
            contextlib.suppress(OSError, ValueError),
            open(self.report, encoding="utf-8", newline="") as known,
        ):
            if known.read() == (text if text.endswith("\n") else f"{text}\n"):
                return
        write(self.report, text)
