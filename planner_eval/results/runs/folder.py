"""The folder of a run: taken, held against what it was made for, and which parts of it are done."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.frozen import replace
from planner_eval.base.output_files import find_write_problem, write
from planner_eval.base.temporary import TemporaryFolder, make_temporary_folder
from planner_eval.base.text import JsonObject, to_json
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.frameworks import unshipped_rows
from planner_eval.reading.files.record import digest_origin
from planner_eval.results.runs.model import Job, Part, StoredRun
from planner_eval.results.runs.stored import (
    SCHEMA,
    RowsChanged,
    damaged_run_error,
    orphaned_parts_error,
    read_run,
    verified_marks,
    write_all_rows,
    write_run,
)
from planner_eval.results.runs.work import (
    PARTIAL_SUFFIX,
    digest_of,
    has_marked_rows,
    mark_file,
    read_mark,
    rows_file,
    unusable_folder_error,
)

# ----------------------------------------------------------------------
# A folder taken for a run: refused where it holds something else, and locked against other processes.
fcntl: Any
try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None


def claim(
    run: StoredRun, difference: Callable[[StoredRun, Mapping[str, Any]], str | None] | None = None
) -> tuple[int | None, StoredRun]:
    """Take a folder for a run, or go on with the run that is there.

    Args:
        run: What is run; its folder is made where it is not there.
        difference: Says what makes it another one than that of a ``run.json``; :func:`find_difference` when
            left out.

    Returns:
        A file that is open as long as the folder is held, None where files cannot be locked; and the run,
        with parts as the folder has them.

    Raises:
        InputError: The folder holds something else, another run, or one that another process works on.
    """
    path = run.path
    if problem := find_write_problem(os.path.join(path, ""), folder=True):
        raise InputError(problem)
    lock = None
    try:
        _refuse_other(path)
        os.makedirs(os.path.join(path, "parts"), exist_ok=True)
        lock = _lock(path)
        return lock, _begin_run(run, difference or find_difference)
    except BaseException as error:
        if lock is not None:
            os.close(lock)
        if isinstance(error, OSError):
            raise unusable_folder_error(path, error) from None
        raise


def _begin_run(run: StoredRun, difference: Callable[[StoredRun, Mapping[str, Any]], str | None]) -> StoredRun:
    """Write down what is run, or compare it with what is written: the run, with parts as they are there.

    Raises:
        InputError: The folder holds another run.
    """
    path = run.path
    stored = read_run(path)
    if stored is None:
        write_run(path, run_data(run))
        return run
    try:
        why, chunk_size = difference(run, stored), int(stored["part"])
    except (KeyError, TypeError, ValueError):
        raise damaged_run_error(path) from None
    if why:
        raise InputError(
            f"{path} holds another run: {why}; use another folder, or remove this one to start again"
        )
    return run._replace(part=chunk_size)


def _refuse_other(path: str) -> None:
    """Refuse a folder that is not empty and holds no run.

    Raises:
        InputError: it holds something else.
    """
    if problem := orphaned_parts_error(path):
        raise problem
    names = [
        name
        for name in (os.listdir(path) if os.path.isdir(path) else ())
        if not name.endswith(PARTIAL_SUFFIX)
    ]
    if "run.json" not in names and set(names) - {"parts"}:
        raise InputError(f"{path} holds no run but other files, such as {min(names)}; use another folder")


def _lock(path: str) -> int | None:
    """Keep others away from a folder, for as long as this process lives.

    Raises:
        InputError: another process is there.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            f"another process works on the run in {path}; wait for it to end, or use another folder"
        ) from None
    except OSError:  # some network's file systems have no locks on folders
        os.close(descriptor)
        return None
    return descriptor


# ----------------------------------------------------------------------
# What makes a run another one than that of a folder, in the words that a user typed.
_OPTION_FLAGS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "id_field", "text_field", "gold_id_field", "gold_text_field", "turn", "compute", "infer",
            "repair", "policy", "places", "structure", "store", "benchmark", "seed", "isolation", "timeout",
            "concurrency", "retries", "backoff", "trace", "state", "initial", "allow_read", "tools",
            "format",
        )
    },
    "dialect": "--from",
    "gold_dialect": "--from gold",
    "by": "--pair",
    "ids": "--id",
    "metrics": "--metric",
    "keys": "--by",
    "binding": "--by",
    "compared": "what --policy says",
    "failures": "--only failures",
    "settings": "--set",
    "variants": "--official or --corrected",
    "deadline": "--record-deadline",
    "pairs": "the number of records",
    "spec": "--tools",
    "made_of": "what --tools means",
    "arguments": "--trace",
    "drawn": "what is drawn",
    "titles": "the names of the files",
    "about.file": "the name of the predictions",
    "about.read": "what is read of the files",
    "about.pairing": "how records are paired",
    "about.reading": "how plans are read",
    "about": "what is known about the files",
}  # fmt: skip
"""How options are called by those who type them, by their names in a job."""

_REPAIRING_KIND = "score"
"""The kind of run that repairs unless it is told otherwise."""


def option_flag(name: str, kind: str = "") -> str:
    """An option of a job as it is typed, of an inner name that may go on with dots.

    >>> (
    ...     option_flag("keys"), option_flag("by"), option_flag("settings.task"),
    ...     option_flag("repair", "score"), option_flag("note")
    ... )
    ('--by', '--pair', '--set task', '--strict', 'note')
    """
    if name == "repair" and kind == _REPAIRING_KIND:
        return "--strict"
    head, dot, suffix = name.partition(".")
    if name in _OPTION_FLAGS or not dot:
        return _OPTION_FLAGS.get(name, name)
    inner = f"{head}.{suffix.partition('.')[0]}"
    if inner in _OPTION_FLAGS:
        return _OPTION_FLAGS[inner]
    return f"{_OPTION_FLAGS[head]} {suffix}" if head == "settings" else _OPTION_FLAGS.get(head, name)


def changed_option(previous: Any, current: Mapping[str, Any], kind: str) -> str | None:
    """The first option that is not as it was, and how; None where there is none.

    Args:
        previous: What the options were.
        current: What they are.
        kind: What the run is called.

    >>> changed_option({"keys": [], "repair": True}, {"keys": [], "repair": False}, "score")
    '--strict was not given and is given'
    """
    previous = previous or {}
    for name in dict.fromkeys([*previous, *current]):
        if (was := previous.get(name)) != (now := current.get(name)):
            return _difference_text(name, was, now, kind)
    return None


def changed_input(previous: Any, current: Sequence[Input]) -> str | None:
    """The first file that is not as it was, and how; None where there is none.

    Args:
        previous: What the files were, as JSON data.
        current: What they are.
    """
    then = {(file["role"], number): file for number, file in enumerate(previous or ())}
    now = {(file.role, number): file for number, file in enumerate(current)}
    for key in [*then, *now]:
        if key not in then or key not in now:
            return f"it had {len(then):,} input files, now there are {len(now):,}"
        was, file = then[key], now[key]
        if (was["size"], was["digest"]) != (file.size, file.digest):
            changed = "has changed since" if was["path"] == file.path else f"is not {was['path']}"
            return f"the file {file.path} ({file.role}) {changed}"
    return None


def _difference_text(name: str, was: Any, now: Any, kind: str) -> str:
    """Where two values differ first, and how."""
    if name == "compared":
        return f"{option_flag(name)} has changed"
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        first_key = next(key for key in was if was[key] != now[key])
        return _difference_text(f"{name}.{first_key}", was[first_key], now[first_key], kind)
    return "{} was {} and is {}".format(*option_texts(name, was, now, kind))


def option_texts(name: str, first: Any, second: Any, kind: str) -> tuple[str, str, str]:
    """An option of a job as it is typed, and two values of it in words.

    >>> option_texts("gold_dialect", None, "json", "diff")
    ('--from gold', 'not given', '"json"')
    """
    option = option_flag(name, kind)
    if option == "--strict":
        first, second = not first, not second
    if name == "drawn":  # as --plot has it
        first, second = ([kind.replace("_graph", "s") for kind in kinds or ()] for kinds in (first, second))
    return option, _value_text(first), _value_text(second)


def refuse_unlike(
    first: StoredRun,
    other: StoredRun,
    problem: str = "cannot be compared",
    *,
    ignored: Collection[str],
    gold: bool = True,
) -> None:
    """Refuse two runs of other versions or of other gold, or that were made otherwise.

    Args:
        first: The one.
        other: The other.
        problem: What cannot be done with both.
        ignored: Options that may differ.
        gold: Whether they need the same gold plans.

    Raises:
        InputError: says what they do not have in common.
    """
    prefix = f"{first.path} and {other.path} {problem}"
    if first.version != other.version:
        raise InputError(f"{prefix}: they are of versions {first.version} and {other.version}")
    if gold and first.golds != other.golds:
        raise InputError(f"{prefix}: their gold plans are not the same")
    for name in dict.fromkeys([*first.options, *other.options]):
        values = first.options.get(name), other.options.get(name)
        if name not in ignored and values[0] != values[1]:
            texts = "{} is {} and {}".format(*option_texts(name, *values, first.kind or ""))
            raise InputError(f"{prefix}: they were scored differently: {texts}")


def _value_text(value: Any) -> str:
    if value is None or value is False or value == []:
        return "not given"
    if value is True:
        return "given"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        text = ", ".join(value)
    else:
        text = to_json(value)
    return text if len(text) < 200 else f"{text[:200]} …"


# ----------------------------------------------------------------------
# The folder of a run: what is run, which parts are done, and in the end all rows and the report.


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


def describe_run(
    job: Job, inputs: Sequence[Input], pairs: int, deadline: float | None, part: int, store: str
) -> StoredRun:
    """What is run, as it comes back from a file; where is not known yet."""
    options = json.loads(json.dumps(job.options()))
    notations = {row.name: digest_of(repr(row).encode()) for row in unshipped_rows()}
    files = tuple(file._asdict() for file in inputs)
    return StoredRun("", job.kind, __version__, options, files, pairs, deadline, part, notations, store)


def run_data(run: StoredRun) -> JsonObject:
    """What ``run.json`` says."""
    data = run._asdict()
    del data["path"]
    python = ".".join(map(str, sys.version_info[:3]))
    return {"schema": SCHEMA, "version": run.version, "python": python, **data}


def find_difference(run: StoredRun, stored: Mapping[str, Any]) -> str | None:
    """What makes a run another one than that of a ``run.json``, in words; None where nothing does."""
    current = run._asdict()
    if stored.get("schema") != SCHEMA:
        return f"it has the format {stored.get('schema')!r}, which this version does not support"
    for name, what in (("kind", "a run of"), ("version", "of version")):
        if stored.get(name) != current[name]:
            return f"it is {what} {stored.get(name)}, not {current[name]}"
    kind, names = run.kind or "", ("deadline", "pairs", "store")
    return (
        changed_input(stored.get("inputs"), [Input(**file) for file in run.inputs])
        or changed_option(_deciding_options(stored.get("options")), _deciding_options(run.options), kind)
        or changed_option(stored.get("notations"), run.notations, "")
        or changed_option(
            {name: stored.get(name) for name in names}, {name: current[name] for name in names}, kind
        )
    )


def _deciding_options(options: Any) -> Any:
    """Options without what was said of the files, as that one was left out: what was read are the inputs."""
    about = options.get("about") if isinstance(options, Mapping) else None
    if not isinstance(about, Mapping):
        return options
    return {**options, "about": {name: value for name, value in about.items() if name != "notes"}}


# ---------------------------------------------------------------- the folder
class RunFolder:
    """A folder with a run in it, which one process at a time may work on.

    Args:
        run: What is run; `part` as the folder has it, where the run was begun before.
        lock: The open folder that keeps others away.
        temporary: The folder, where it is removed in the end.
    """

    def __init__(
        self, run: StoredRun, lock: int | None = None, temporary: TemporaryFolder | None = None
    ) -> None:
        self.path, self.run, self.lock, self.temporary = run.path, run, lock, temporary
        self.parts = os.path.join(run.path, "parts")
        self.rows = run.rows

    @classmethod
    def open(cls, run: StoredRun) -> RunFolder:
        """Begin a run in a folder, or go on with the one that is there.

        Raises:
            InputError: The folder holds something else, another run, or one that another process works on.
        """
        lock, run = claim(run)
        home = cls(run, lock)
        home.sweep()
        return home

    @classmethod
    def throwaway(cls, run: StoredRun) -> RunFolder:
        """A folder for a run that nobody shall go on with."""
        directory = make_temporary_folder()
        os.mkdir(os.path.join(directory.path, "parts"))
        return cls(run._replace(path=directory.path), temporary=directory)

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
    def done(self, chunks: Sequence[Part]) -> dict[int, int]:
        """The parts that are done, whose files are whole: their numbers, and how many pairs failed."""
        if self.temporary or not os.listdir(self.parts):
            return {}
        if os.path.exists(self.rows):
            try:
                marks = verified_marks(self.run.store, self.rows, self.parts, chunks)
                return {number: mark.failed for number, mark in enumerate(marks)}
            except RowsChanged:
                os.unlink(self.rows)
        failed = {}
        for chunk in chunks:
            mark = read_mark(self.parts, chunk)
            name = rows_file(self.parts, chunk)
            if mark and os.path.exists(name):
                with open(name, "rb") as stream:
                    if has_marked_rows(stream, mark) and not stream.read(1):
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
                if name.endswith(PARTIAL_SUFFIX):
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
            try:
                sums = job.fold(json.loads(mark.sums))
            except (KeyError, TypeError, ValueError):
                problem = (
                    "cannot be read: another build of planeval wrote it; repeat the run in another folder"
                )
                raise InputError(f"{mark_file(self.parts, chunk)} {problem}") from None
            total.extend(sums)
        return total

    def join(self, job: Job, chunks: Sequence[Part], check: Callable[[], None]) -> None:
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
        file = os.path.join(self.path, "report.json")
        with (
            contextlib.suppress(OSError, ValueError),
            open(file, encoding="utf-8", newline="") as stream,
        ):
            if stream.read() == (text if text.endswith("\n") else f"{text}\n"):
                return
        write(file, text)


# ----------------------------------------------------------------------
# The files behind the pairs of a run, and what tells them from others.
def inputs_of(role: str, file: PlanFile) -> list[Input]:
    """A file of plans as what a run reads: each of its files, or its records where it comes from none.

    Args:
        role: What it is for: ``pred``, ``gold`` …
        file: The file, or directory, or what was read from standard input or a data set.

    Raises:
        InputError: a file cannot be read, or is not what it was when its records were read.
    """
    if not file.origins:
        digest = blake2b(digest_size=32)
        for record in file.records:
            text = repr((record.id, record.source, record.fields, record.error and str(record.error)))
            digest.update(text.encode("utf-8", errors="backslashreplace"))
        return [Input(role, file.name, len(file.records), digest.hexdigest())]
    return [Input(role, origin.path, origin.size, origin.digest) for origin in file.digested()]


def data_input(name: str, samples: Sequence[Any]) -> Input:
    """What was read of a published data set as what a run reads."""
    digest = blake2b(digest_size=32)
    for sample in samples:
        extra = {
            name: value for name, value in sample.extra.items() if name != "diagnostics"
        }  # of the whole set
        digest.update(repr(replace(sample, extra=extra)).encode("utf-8", errors="backslashreplace"))
    return Input("plans", name, len(samples), digest.hexdigest())


def input_of(role: str, name: str) -> Input:
    """One file that a run reads.

    Raises:
        InputError: it cannot be read.
    """
    origin = digest_origin(name)
    return Input(role, name, origin.size, origin.digest)
