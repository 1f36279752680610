"""Files of plans: one plan, or many records of which each holds one; a directory, a pattern or one file.

A file is a plan in any dialect, a JSON array or JSON lines of records, an object from ids to plans,
or a benchmark's own gold or result file. A record that cannot be read stays a record and carries its
error; it takes no other with it. What the records' fields mean is decided in
:mod:`planner_eval.reading.files.fields`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import methodcaller
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.plan.model import leaves
from planner_eval.reading.dialects.dialect import TurnChoice
from planner_eval.reading.files.context import find_mark
from planner_eval.reading.files.field_choice import DecisionInputs, decide_fields, has_several_choices
from planner_eval.reading.files.fields import (
    ID_FIELDS,
    Role,
    id_text,
    non_null_fields,
)
from planner_eval.reading.files.items import FileItems, has_null_calls, split_json_value
from planner_eval.reading.files.opening import (
    FileContent,
    bare_name,
    large_file_kind,
    open_path,
    read_content,
)
from planner_eval.reading.files.record import (
    DEFAULT_STORE,
    IN_MEMORY,
    FilePart,
    Origin,
    Record,
    Records,
    Store,
    current_origins,
    digest_origin,
    have_ids,
    is_lazy,
    is_stored,
    mark_among_ids,
    mark_records_among_ids,
)
from planner_eval.reading.files.shapes import Item, are_texts

MAX_INSPECTED_RECORDS = 10
"""So many records are looked at for whether they are the calls of one plan."""


class PlanFile(NamedTuple):
    """The records of one file.

    Args:
        name: The file's name as the user wrote it.
        records: Its records, none left out; those of a large file are read whenever they are asked for.
        many: False for a plan in a file of its own.
        content: The field that was taken for the plan; None where records are plans themselves.
        id_field: The field that was taken for the id.
        parts: Of a directory or a pattern its files, and what each is called in it.
        placed: Of these the files whose records have no ids: what each is called, and how many it has.
        notes: What the user should know: what was left out, which ids are given twice.
        published: Whether it is a published data set, of which nothing has to be recognised.
        origins: The files on disk behind the records, each as it was before it was read.
        mark: What figures of these answers are marked with, see :class:`.several.Demonstrations`.
    """

    name: str
    records: Records
    many: bool
    content: str | None = None
    id_field: str | None = None
    parts: Mapping[str, str] = {}
    placed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    published: bool = False
    origins: tuple[Origin, ...] = ()
    mark: str = ""

    def of_turn(self, turn: TurnChoice) -> PlanFile:
        """The same file, of whose conversations one turn of the assistant is read."""
        if turn is None:
            return self
        return self.each(methodcaller("_replace", turn=turn))

    def each(self, step: Callable[[Record], Record]) -> PlanFile:
        """The same file, something done to each record: it leaves ids alone, and can be pickled."""
        records = self.records
        return self._replace(records=records.each(step) if is_lazy(records) else tuple(map(step, records)))

    @property
    def several(self) -> int:
        """How many records hold an API's answer that offers several choices, of which the first is read."""
        if is_stored(self.records):
            return self.records.several()
        return sum(
            isinstance(record.source, dict) and has_several_choices(record.source) for record in self.records
        )

    def digested(self) -> tuple[Origin, ...]:
        """The files on disk behind the records with their digests; none of what is no file there.

        Raises:
            InputError: a file cannot be read any more, or is not what it was when its records were read.
        """
        return tuple(
            origin if origin.digest else digest_origin(origin.path, origin) for origin in self.origins
        )

    @property
    def said(self) -> str:
        """What was read as the plans, in words.

        >>> PlanFile("r.json", (Record("r.json", 0, None, "f()"),), True, "predict").said
        'field "predict" of 1 record'
        """
        records = format_count(len(self.records), "record")
        if self.parts:
            records += f" in {format_count(len(self.parts), 'file')}"
        if self.published:
            return f"{records} of the data set {self.name}"
        if not self.many:
            return "one plan"
        if self.content:
            return f'field "{self.content}" of {records}'
        return f"{records}, each read whole as a plan{self._told_as_one()}"

    def _told_as_one(self) -> str:
        """What to do if the records are the calls of one plan; empty where nothing looks like it.

        It does where none of the first has an id, each is one call, and one takes what one before it returns.
        """
        first = self.records[:MAX_INSPECTED_RECORDS]
        labels: list[str] = []
        for record in first:
            source = record.source
            if record.id is not None or type(source) is not dict or type(source.get("label")) is not str:
                return ""
            texts = [text for _, text in leaves(source.get("arguments")) if type(text) is str]
            if any(text == label or text.startswith(f"{label}.") for text in texts for label in labels):
                return (
                    f" (record {record.position + 1} takes what one before it returns: "
                    "if they are one plan, write it as one array, [call, call])"
                )
            labels.append(source["label"])
        return ""


def read_file(
    path: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    role: Role = "plan",
    never: Mapping[str, str] | None = None,
    spare: tuple[str | None, str | None] = (None, None),
    store: Store = DEFAULT_STORE,
) -> PlanFile:
    """Read a file of plans.

    Args:
        path: The file; ``-`` is standard input.
        id_field: The field that names a record; recognised when left out.
        text_field: The field that holds its plan; recognised when left out.
        role: Whether answers or gold plans are wanted, where a file holds both.
        never: Fields that are not to be taken for the plan, see :func:`.fields.choose_content`.
        spare: The fields of the id and of the plan in the file beside this one: the id's is taken where it
            stands in this file too, the plan's where no known field does.
        store: From which size on, and where, its records are kept on disk.

    Raises:
        InputError: the file is missing, a directory, no text, or too large; a field named is in no record,
            two fields may hold the plan, or none is known to.
    """
    how = ((id_field, text_field), role, never, spare)
    large = _read_large_file(path, store, how)
    if large is not None:
        return large
    origins = current_origins(path)
    opened = open_path(path)
    return _read_whole_file(opened.name, read_content(opened, text_field), how)._replace(origins=origins)


def _read_whole_file(name: str, content: FileContent, how: DecisionInputs) -> PlanFile:
    """What a file holds that was read whole."""
    text, contents, error = content
    if error is not None:
        return PlanFile(name, (Record(name, 0, None, "", error=error),), False)
    if not contents.many:
        return _read_single_plan(name, contents, text)
    return _build_plan_file(name, contents.items, how)


def _read_large_file(path: str, store: Store, how: DecisionInputs) -> PlanFile | None:
    """A large file of which a record a line is read when it is asked for; None where it is another."""
    kind = large_file_kind(path, store.limit) if store.limit is not None and path != "-" else None
    if kind is None:
        return None
    from planner_eval.reading.files.disk_records import open_stored_records

    records = open_stored_records(path, bare_name(path), kind, store, how)
    if records is None:
        return None
    decided = records.decided
    notes = decided.notes(path, len(records), records.names)
    chosen = decided.chosen
    if records.has_ids and len(records.without_ids()):
        records = records.each(mark_among_ids)
    return PlanFile(path, records, True, chosen.content, chosen.id, notes=notes, origins=records.origins)


def read_data(
    data: Any,
    name: str,
    *,
    id_field: str | None = None,
    text_field: str | None = None,
    role: Role = "plan",
    spare: tuple[str | None, str | None] = (None, None),
) -> PlanFile:
    """What a list or an object in memory holds, by the rules for a file of the same JSON.

    Args:
        data: A list of records, each an object, a text, a plan's data or a :class:`Plan`; an object from
            ids to plans; or the data of one plan.
        name: What messages call it.
        id_field: As for :func:`read_file`.
        text_field: As for :func:`read_file`.
        role: As for :func:`read_file`.
        spare: As for :func:`read_file`.

    Raises:
        InputError: as for :func:`read_file`.

    >>> read_data(["f()", "g()"], "answers").records[1].where
    'answers, record 2'
    """
    contents = split_json_value(data, text_field)
    if not contents.many:
        return _read_single_plan(name, contents, data)
    return _build_plan_file(name, contents.items, ((id_field, text_field), role, None, spare))


def _build_plan_file(name: str, items: Sequence[Item], how: DecisionInputs) -> PlanFile:
    decided = decide_fields(name, items, *how)
    records = mark_records_among_ids(
        [decided.record(name, position, item) for position, item in enumerate(items)]
    )
    notes = decided.notes(name, len(records), partial(_count_fields, records))
    if how[0][1] is None and are_texts(items):
        notes = (*notes, f"{name}: {_TEXT_OBJECTS_NOTE.format(len(records))}")
    return PlanFile(name, records, True, decided.chosen.content, decided.chosen.id, notes=notes)


_TEXT_OBJECTS_NOTE = (
    "{0:,} objects of the type 'text' are read as {0:,} answers; if they belong to one message, write "
    '{{"role": "assistant", "content": [...]}} around them'
)
"""What is said of several texts that may be the parts of one message."""


def _count_fields(records: Records) -> Counter[str]:
    """How many records have a field of each name."""
    return Counter(key for record in records for key in non_null_fields(record.fields))


# ---------------------------------------------------------------- from items to records
def _read_single_plan(name: str, contents: FileItems, source: Any) -> PlanFile:
    """A plan in a file of its own, with the fields beside its calls."""
    (item,) = contents.items
    # What a program writes that had nothing to write.
    null = isinstance(source, str) and source.strip() == "null"
    if null or (contents.whole and item.data == {}):
        value = "null" if null else "an empty object"
        reason = f"there is no plan: the file holds {value}, expected a plan; one without calls is []"
        return PlanFile(
            name, (Record(name, 0, None, "", error=ParseError(reason, code="parse.empty")),), False
        )
    values = [item.data] if contents.whole and isinstance(source, str) else None
    record = Record(name, 0, None, source, values=values)
    if item.shape.named:
        own = next(filter(None, (id_text(item.data.get(key)) for key in ID_FIELDS)), None)
        record = record._replace(id=own, fields=item.data)
        if has_null_calls(item.data):
            record = record._replace(source=[], values=None)
    return PlanFile(name, (record,), False)


# ----------------------------------------------------------------------
# Several files as one: a directory of plans, or all files of a pattern.
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


def _records_of(path: str, file_parts: Sequence[FilePart], store: Store) -> Records:
    """The records of all files, held in memory where those of each file are."""
    if any(is_lazy(file_part.records) for file_part in file_parts):
        from planner_eval.reading.files.disk_joins import join_shards
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
