"""Several files as one: a directory of plans, or all files of a pattern.

A file of one plan is a record whose id is the file's name; a file of records gives all of its records.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.reading.files.files import PlanFile, read_file
from planner_eval.reading.files.opening import bare_name
from planner_eval.reading.files.pairing import format_repeated_ids
from planner_eval.reading.files.record import (
    DEFAULT_STORE,
    IN_MEMORY,
    FilePart,
    Origin,
    Record,
    Store,
    current_origins,
    have_ids,
    is_lazy,
    is_sharded,
    prefix_id,
)


class FileListing(NamedTuple):
    """The files that a directory or a pattern stands for.

    Args:
        files: Their paths, in order.
        notes: What is there and left out, in words.
    """

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_path(path: str, **named: Any) -> PlanFile:
    """Read a file of plans, a directory of such files, or all files of a pattern such as ``runs/*.json``.

    Args:
        path: The file, directory or pattern; ``-`` is standard input.
        named: As for :func:`planner_eval.reading.files.files.read_file`.

    Raises:
        InputError: as for :func:`planner_eval.reading.files.files.read_file`; no file is there; or none of
            them can be used.
    """
    listed = list_files(path)
    if listed is not None:
        return _join_files(path, listed, named)
    file = read_file(path, **named)
    mark = find_mark(path)
    return file._replace(mark=mark, notes=(*file.notes, f"{path}: {mark}")) if mark else file


def list_files(path: str) -> FileListing | None:
    """The files that a directory or a pattern stands for, in order; None where a path is itself a file.

    Raises:
        InputError: there is no file.
    """
    if os.path.isdir(path):
        try:
            with os.scandir(path) as entries:
                all_entries = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        # A link to nowhere is no directory: it is taken, and the row says that there is no such file.
        readable = [entry for entry in all_entries if entry.is_file() or not os.path.exists(entry.path)]
        plain = [entry for entry in readable if not entry.name.startswith(".")]
        skipped = [entry.name for entry in all_entries if entry not in plain]
        files = [entry.path for entry in plain]
        if not files and (results := _list_results(path)):
            return FileListing(results, ())
        nothing = f"{path} is a directory without files of plans"
    elif any(mark in path for mark in "*?[") and not os.path.lexists(path):
        from glob import glob

        matched = sorted(glob(path, recursive=True))
        files = [name for name in matched if not os.path.isdir(name)]
        skipped = [name for name in matched if os.path.isdir(name)]
        nothing = f"no such file or pattern: {path}"
    else:
        return None
    notes = _format_other_files(path, skipped)
    if not files:
        raise InputError(nothing + (f" ({notes[0].partition(': ')[2]})" if notes else ""))
    return FileListing(tuple(files), notes)


_RESULTS = "*_result.json"
"""What runners call a part's results."""


def _list_results(path: str) -> tuple[str, ...]:
    """The results of a model whose runner keeps them in folders below its own, a file a part; () for others.

    Raises:
        InputError: they are of several models.

    Source: bfcl-eval, ``utils.py`` (``get_directory_structure_by_category``).
    """
    from pathlib import Path

    files = sorted(Path(path).rglob(_RESULTS))
    if len({file.name for file in files}) < len(files):
        models = sorted({file.relative_to(path).parts[0] for file in files})
        raise InputError(
            f"{path} holds the results of several models ({', '.join(models[:3])}): name the folder of one"
        )
    return tuple(map(str, files))


def _format_other_files(path: str, names: Sequence[str]) -> tuple[str, ...]:
    """What a directory has besides files of plans, in words."""
    hidden = sum(name.startswith(".") for name in names)
    directory_count = len(names) - hidden
    phrases = [f"{hidden} hidden"] if hidden else []
    phrases += (
        [f"{directory_count} that {'is a directory' if directory_count == 1 else 'are directories'}"]
        if directory_count
        else []
    )
    examples = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (f"{path}: left out {' and '.join(phrases)}: {examples}",) if phrases else ()


_IN_MEMORY_BYTES = 64_000
"""Files of fewer bytes are held in memory, also where all of them are large together."""


def _join_files(path: str, listed: FileListing, named: Mapping[str, Any]) -> PlanFile:
    """The records of all files."""
    names = dict(zip(listed.files, _file_names(listed.files), strict=True))
    store = _choose_store(listed.files, named.get("store", DEFAULT_STORE))
    file_parts: list[FilePart] = []
    contents: dict[str, None] = {}
    placed: dict[str, int] = {}
    id_field = None
    refused: list[InputError] = []
    origins: list[Origin] = []
    for file, name in names.items():
        before = current_origins(file)
        try:
            read = read_file(file, **{**named, "store": store})
        except InputError as error:  # a file that cannot be used is a row, as a record is
            refused.append(error)
            reason = str(error).removeprefix(f"{file}: ").removeprefix(f"{file} ")
            unreadable = Record(file, 0, name, None, error=ParseError(reason, code="parse.shape"))
            file_parts.append(FilePart(name, (unreadable,), False))
            origins += before
            continue
        origins += read.origins
        ids = have_ids(read.records)
        if read.many and len(read.records) > 1 and not ids:
            placed[name] = len(read.records)
        if is_lazy(read.records):
            read.records.base.close()  # there may be more files than a process may have open
        unnamed = ("prediction " if named.get("role") == "answer" else "record ") if ids else ""
        file_parts.append(FilePart(name, read.records, read.many, unnamed=unnamed))
        contents |= {read.content: None} if read.content is not None else {}
        id_field = id_field or read.id_field
    if len(refused) == len(listed.files):
        raise refused[0]
    content = " or ".join(contents) or None
    records = _records_of(path, file_parts, store)
    return PlanFile(
        path, records, True, content, id_field, names, placed, listed.notes, origins=tuple(origins)
    )


def _choose_store(files: Sequence[str], store: Store) -> Store:
    """Where each of several files is kept: the larger ones on disk where all are large together."""
    if store.limit is None or sum(_size(file) for file in files) <= store.limit:
        return IN_MEMORY
    from planner_eval.reading.files.record_index import open_folder

    return store._replace(folder=open_folder(store.folder), limit=min(store.limit, _IN_MEMORY_BYTES))


def _size(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:  # it is said where the file is read
        return 0


def _records_of(path: str, file_parts: Sequence[FilePart], store: Store) -> Sequence[Record]:
    """The records of all files, held in memory where those of each file are."""
    if any(is_lazy(file_part.records) for file_part in file_parts):
        from planner_eval.reading.files.disk_records import join_shards
        from planner_eval.reading.files.record_index import open_folder

        return join_shards(path, file_parts, open_folder(store.folder))
    return tuple(file_part.called(record) for file_part in file_parts for record in file_part.records)


def _file_names(files: Sequence[str]) -> list[str]:
    """The files' paths below the directory that all of them are in, without their suffixes.

    >>> _file_names(["runs/a/pred.json", "runs/b/pred.json.gz"]), _file_names(["runs/q1.json"])
    (['a/pred', 'b/pred'], ['q1'])
    """
    folder = os.path.commonpath([os.path.dirname(file) or os.curdir for file in files])
    relative_paths = [os.path.relpath(file, folder) for file in files]
    return [os.path.splitext(bare_name(name))[0].replace(os.sep, "/") for name in relative_paths]


def prefix_ids_by_file(pred: PlanFile, gold: PlanFile) -> tuple[PlanFile, PlanFile]:
    """Two directories with the files' names before the ids, where gold's files use the same ids again.

    So files are paired by name, and inside of them records by id. Where either is one file, both stay.
    """
    if not (pred.parts and gold.parts):
        return pred, gold
    if is_sharded(gold.records):
        share_ids = gold.records.share_ids()
    else:
        files: dict[str, str] = {}
        named = ((record.id, record.file) for record in gold.records if record.id is not None)
        share_ids = any(files.setdefault(id, file) != file for id, file in named)
    return (_prefix_ids(pred), _prefix_ids(gold)) if share_ids else (pred, gold)


def _prefix_ids(file: PlanFile) -> PlanFile:
    """The records with their file's name before their id, so that none is given twice for that."""

    def own(record: Record) -> Record:
        named = record.id is None
        return record if named else record._replace(id=prefix_id(file.parts[record.file], str(record.id)))

    stale = format_repeated_ids(file.records)
    if is_sharded(file.records):
        records: Sequence[Record] = file.records.prefixed()
    else:
        records = tuple(map(own, file.records))
    notes = (*(note for note in file.notes if note not in stale), *format_repeated_ids(records))
    return file._replace(records=records, notes=notes)


# ----------------------------------------------------------------------
# The demonstrations of a run that asked a model, and what they show of its own gold.
DEMONSTRATIONS_FIELD = "demonstrations"
"""The field of a row, and of a run's ``report.json``, that says this."""

TEST_SET_MARK = "demonstrations: test set"
"""The mark in ``run.json`` of a run whose demonstrations come out of the test set."""

SHARED_ANSWERS_LABEL = "demonstrations share answers"
"""What a table adds to the name of such a run."""

ROWS_FILE, REPORT_FILE = "rows.jsonl", "report.json"
"""The answers of a run, and beside them what they come to."""


class Demonstrations(NamedTuple):
    """Where the demonstrations of a run come from, and how many gold calls they show to their own samples.

    Args:
        source: What the user named.
        records: How many demonstrations there are.
        tested: How many of them ask a question of the test set.
        samples: How many samples with a gold plan that can be read were asked.
        gold_calls: How many calls these plans have.
        shared: How many of the calls stand in a demonstration of their own sample.
        whole: Of how many samples all calls do.

    >>> Demonstrations("test.json", 9, 9).mark
    'demonstrations taken from the test set, test.json'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 5, 1).mark.partition("; ")[2]
    '5 of 20 gold calls occur in their own prompts, all calls of 1 of 8 samples'
    >>> Demonstrations("train.json", 9, 0, 8, 20, 0, 0).mark
    ''
    """

    source: str
    records: int
    tested: int
    samples: int = 0
    gold_calls: int = 0
    shared: int = 0
    whole: int = 0

    @property
    def mark(self) -> str:
        """What figures are marked with; "" where demonstrations share no answer with the test set."""
        if not (self.tested or self.shared):
            return ""
        origin = f", {self.source}" if self.source else ""
        if self.tested == self.records:
            sentence = f"demonstrations taken from the test set{origin}"
        elif self.tested:
            sentence = (
                f"{self.tested:,} of {format_count(self.records, 'demonstration')} out of the test "
                f"set{origin}"
            )
        else:
            sentence = f"demonstrations{origin.replace(',', ' out of', 1)}"
        if not self.gold_calls:
            return sentence
        calls = format_count(self.gold_calls, "gold call")
        if not self.shared:
            return f"{sentence}; none of {calls} occurs in its own prompt"
        sentence = f"{sentence}; {self.shared:,} of {calls} {_format_own_prompts(self.shared)}"
        complete_samples = f", all calls of {self.whole:,} of {format_count(self.samples, 'sample')}"
        return sentence + complete_samples * bool(self.whole)

    def with_rows(self, rows: Iterable[Mapping[str, Any]]) -> Demonstrations:
        """The same, with what rows say that they were shown; of a sample that was asked again the first row.

        Args:
            rows: Those of the run, or what would stand in their field alone.
        """
        entries = [
            row[DEMONSTRATIONS_FIELD]
            for row in rows
            if row.get(DEMONSTRATIONS_FIELD) and not row.get("repetition")
        ]
        pairs = [(entry["gold_calls"], entry["shared"]) for entry in entries if "shared" in entry]
        return self._replace(
            samples=len(pairs),
            gold_calls=sum(calls for calls, _ in pairs),
            shared=sum(shared for _, shared in pairs),
            whole=sum(0 < calls == shared for calls, shared in pairs),
        )


def _format_own_prompts(count: int) -> str:
    return "occurs in its own prompt" if count == 1 else "occur in their own prompts"


def find_mark(path: str) -> str:
    """What the figures of a file of answers are marked with; "" of one that no run with demonstrations wrote.

    Args:
        path: The file.

    >>> find_mark("pred.jsonl")
    ''
    """
    folder, name = os.path.split(path)
    if name != ROWS_FILE:
        return ""
    try:
        with open(os.path.join(folder, REPORT_FILE), encoding="utf-8") as stream:
            return Demonstrations(**read_json(stream.read())[DEMONSTRATIONS_FIELD]).mark
    except (OSError, ValueError, ParseError, KeyError, TypeError):  # of another run, or of none
        return ""
