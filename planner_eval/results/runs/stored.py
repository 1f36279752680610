"""A run that is done, read from its folder again."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import accumulate, islice
from typing import Any, BinaryIO, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.output_files import write
from planner_eval.base.text import JsonObject, to_json
from planner_eval.results.runs.model import (
    COLUMNS,
    JSON,
    STORES,
    Job,
    Part,
    StoredRun,
    has_columns,
    is_run,
    run_file,
    run_of,
)
from planner_eval.results.runs.work import (
    Mark,
    digest_of,
    has_marked_rows,
    read_mark,
    replace_when_complete,
    rows_file,
    split_pairs,
    unusable_folder_error,
    unwritable_file_error,
)

# ----------------------------------------------------------------------
# The file ``run.json`` of a run's folder: what is run, with a digest of itself.
SCHEMA = "planeval.run/1"


def write_run(folder: str, data: Mapping[str, Any]) -> None:
    """Write down what is run.

    Args:
        folder: The run's folder.
        data: What is run, as JSON data.

    Raises:
        InputError: it cannot be written.
    """
    write(run_file(folder), run_text(data))


def run_text(data: Mapping[str, Any]) -> str:
    """What stands in the file of a run.

    Args:
        data: What is run, as JSON data.
    """
    return to_json({**data, "check": _digest(data)}, 1)


def read_run(folder: str) -> JsonObject | None:
    """What a folder says is run in it; None where it says nothing.

    What another version wrote in a form of its own is given as it stands.

    Raises:
        InputError: it cannot be read, or is not as a run wrote it.
    """
    name = run_file(folder)
    try:
        with open(name, "rb") as stream:
            data = json.loads(stream.read().decode())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise damaged_run_error(folder)
    if data.get("schema") == SCHEMA and data.pop("check", None) != _digest(data):
        raise InputError(f"{name} was changed since the run wrote it; {_ADVICE.format(folder)}")
    return data


def damaged_run_error(folder: str) -> InputError:
    """What is said of a ``run.json`` that no run can have written."""
    problem = "cannot be read, expected what a run wrote there"
    return InputError(f"{run_file(folder)} {problem}; {_ADVICE.format(folder)}")


def orphaned_parts_error(folder: str) -> InputError | None:
    """What is said of a folder that holds parts of a run, and nothing tells of which; None of others."""
    parts_path = os.path.join(folder, "parts")
    if is_run(folder) or not os.path.isdir(parts_path) or not os.listdir(parts_path):
        return None
    return InputError(f"{folder} holds parts of a run without its run.json; {_ADVICE.format(folder)}")


_ADVICE = "restore it from a copy, use another folder, or remove {} and repeat the command"


def _digest(data: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(data, sort_keys=True).encode())


# ----------------------------------------------------------------------
# Rows of a run as a Parquet file: written from their lines group by group, and read again.
_ROW_GROUP_SIZE = 10_000
"""Rows of a group, whatever the cut into parts was: it decides the file's bytes."""

_BATCH_SIZE = 1_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def write_rows(lines: Iterable[bytes], columns: Mapping[str, Any], out: BinaryIO) -> None:
    """Write rows, a column each of their keys, so many in memory as make a group.

    Args:
        lines: The rows as lines of JSON.
        columns: The type of each key: str, int, float or bool; ``[type]`` for a list, a mapping of names to
            types for an object, or :data:`JSON`. A key that a row has not is null.
        out: Where they are written.

    Raises:
        ValueError: a row has another shape.
    """
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])
    texts = [name for name, kind in columns.items() if kind is JSON]
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        rows = iter(lines)
        while batches := list(islice(_tables(rows, schema, texts), _ROW_GROUP_SIZE // _BATCH_SIZE)):
            writer.write_table(
                pyarrow.concat_tables(batches).combine_chunks(), row_group_size=_ROW_GROUP_SIZE
            )


def read_rows(path: str) -> Iterator[JsonObject]:
    """The rows of a file in either store as data; of columns a number without a fraction is an int.

    Raises:
        InputError: a file of columns cannot be read.
    """
    if not has_columns(path):
        with open(path, "rb") as lines:
            yield from map(json.loads, lines)
        return
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH_SIZE):
                yield from map(_restore_integers, batch.to_pylist())
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def _tables(rows: Iterator[bytes], schema: Any, texts: list[str]) -> Iterator[Any]:
    import pyarrow
    import pyarrow.json

    how = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    while lines := [_encode_line(line, texts) for line in islice(rows, _BATCH_SIZE)]:
        data = b"".join(lines)
        reading = pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        buffer = pyarrow.BufferReader(data)
        yield pyarrow.json.read_json(buffer, reading, how).select(schema.names)


def _encode_line(line: bytes, texts: list[str]) -> bytes:
    """A line as Parquet can hold it: keys of any shape as text, and no half of a character."""
    if not texts and b"\\ud" not in line:
        return line
    data = json.loads(line)
    for name in texts:
        if name in data:
            data[name] = to_json(data[name])
    text = to_json(data)
    return _LONE_SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text).encode() + b"\n"


def _arrow_type(kind: Any) -> Any:
    import pyarrow

    if isinstance(kind, Mapping):
        return pyarrow.struct([(name, _arrow_type(member)) for name, member in kind.items()])
    if isinstance(kind, list):
        return pyarrow.list_(_arrow_type(kind[0]))
    return {
        str: pyarrow.string(),
        JSON: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }[kind]


def _restore_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _restore_integers(item) for name, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


# ----------------------------------------------------------------------
# The file of all rows of a run: JSON lines or Parquet, written from the parts and held against them.
_CHUNK = 1 << 20


class RowsChanged(Exception):
    """The file of all rows is not as the run left it."""


def refuse_store(store: str, job: Job) -> None:
    """Refuse a store that cannot be written, before the work.

    Raises:
        InputError: there is no such store, what it needs is not installed, or the job has no columns.
    """
    if store not in STORES:
        raise InputError(f"unknown store {store!r}, expected one of {', '.join(STORES)}")
    if store == COLUMNS:
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise InputError("writing Parquet needs pyarrow: pip install 'planner_eval[parquet]'")
        if not hasattr(job, "columns"):
            raise InputError(f"the rows of a {job.kind} have no columns: expected the store jsonl")


def write_all_rows(
    store: str,
    job: Job,
    rows: str,
    folder: str,
    chunks: Sequence[Part],
    check: Callable[[], None],
    *,
    remove: bool,
) -> None:
    """Write the rows of all parts one after another.

    Args:
        store: One of :data:`STORES`.
        job: Whose rows they are.
        rows: The file; it takes its place when it is whole.
        folder: Where the parts stand.
        chunks: All of them.
        check: Raises to end the run.
        remove: Remove the rows of each part as soon as they are written, of JSON lines.

    Raises:
        InputError: a file cannot be read or written.
    """
    try:
        with replace_when_complete(rows) as out:
            if store == COLUMNS:
                columns: Any = job
                write_rows(_lines(folder, chunks, check), columns.columns(), out)
            else:
                for chunk in chunks:
                    check()
                    with open(rows_file(folder, chunk), "rb") as stream:
                        shutil.copyfileobj(stream, out, _CHUNK)
                    if remove:
                        os.unlink(rows_file(folder, chunk))
        if store == COLUMNS:
            digests = json.dumps(_compute_digests(rows, folder, chunks))
            with replace_when_complete(_digest_file(folder)) as out:
                out.write(digests.encode())
    except OSError as error:
        raise unwritable_file_error(rows, error) from None


def verified_marks(store: str, rows: str, folder: str, chunks: Iterable[Part]) -> Iterator[Mark]:
    """The marks of all parts, each when the rows that it speaks of are found to be those of the file.

    Args:
        store: One of :data:`STORES`.
        rows: The file.
        folder: Where the marks stand.
        chunks: All of them.

    Raises:
        Changed: the file, or a mark, is not as the run left it.
        OSError: the file cannot be read.
    """
    if store == COLUMNS:
        sealed = _compute_digests(rows, folder, chunks := list(chunks))
        try:
            with open(_digest_file(folder), encoding="ascii") as stream:
                stored = json.load(stream)
        except (FileNotFoundError, ValueError):
            stored = None
        if sealed != stored:
            raise RowsChanged
        yield from _marks(folder, chunks)
        return
    with open(rows, "rb") as stream:
        for mark in _marks(folder, chunks):
            if not has_marked_rows(stream, mark):
                raise RowsChanged
            yield mark
        if stream.read(1):
            raise RowsChanged


def _lines(folder: str, chunks: Iterable[Part], check: Callable[[], None]) -> Iterator[bytes]:
    for chunk in chunks:
        check()
        with open(rows_file(folder, chunk), "rb") as stream:
            yield from stream


def _marks(folder: str, chunks: Iterable[Part]) -> Iterator[Mark]:
    for chunk in chunks:
        mark = read_mark(folder, chunk)
        if mark is None:
            raise RowsChanged
        yield mark


# ---------------------------------------------------------------- what tells that a Parquet file is whole
def _compute_digests(rows: str, folder: str, chunks: Iterable[Part]) -> JsonObject:
    """The digests of a file of rows, and of the parts that it was made of."""
    chunk_digest = blake2b(digest_size=16)
    for mark in _marks(folder, chunks):
        chunk_digest.update(mark.digest.encode())
    rows_digest = blake2b(digest_size=16)
    with open(rows, "rb") as stream:
        while data := stream.read(_CHUNK):
            rows_digest.update(data)
    return {"digest": rows_digest.hexdigest(), "parts": chunk_digest.hexdigest()}


def _digest_file(folder: str) -> str:
    return os.path.join(folder, "rows.json")


# ----------------------------------------------------------------------
# A run that is done, read from its folder again.
class StoredLines(NamedTuple):
    """The rows of a run as JSON lines, a line a pair.

    Args:
        rows: Their file.
        part: How many pairs make a part.
        starts: Where the rows of each part begin in the file.
    """

    rows: str
    part: int
    starts: tuple[int, ...]

    def since(self, first: int) -> Iterator[JsonObject]:
        """The rows of a pair, counted from 0, and of all that come after it."""
        number, more = divmod(first, self.part)
        with open(self.rows, "rb") as stream:
            stream.seek(self.starts[number])
            yield from map(json.loads, islice(stream, more, None))


def sums_of(run: StoredRun, fold: Callable[[Any], Any]) -> Any:
    """The sums of all parts of a run, put together in their order; the rows are held against them.

    Args:
        run: The run.
        fold: Makes sums of their data; of None those over nothing.

    Raises:
        InputError: the run is not done, or its files are not as it left them.
    """
    total = fold(None)
    for mark in _marks_of(run):
        total.extend(fold(json.loads(mark.sums)))
    return total


def lines_of(run: StoredRun) -> StoredLines:
    """The rows of a run that are JSON lines, which are held against what it knows of them.

    Raises:
        InputError: as for :func:`sums_of`.
    """
    starts = accumulate((mark.size for mark in _marks_of(run)), initial=0)
    return StoredLines(run.rows, run.part, tuple(starts))


def _marks_of(run: StoredRun) -> Iterator[Mark]:
    """The marks of all parts, the rows held against them."""
    try:
        chunks = split_pairs(run.pairs, run.part)
        yield from verified_marks(run.store, run.rows, os.path.join(run.path, "parts"), chunks)
    except RowsChanged:
        reason = f"{STORES[run.store]} and parts/ were changed since the run"
        raise InputError(f"{run.path}: {reason}; repeat the command that made them") from None
    except FileNotFoundError:
        reason = "the run is not finished: repeat its command to resume it"
        raise InputError(f"{run.path}: {reason}") from None
    except OSError as error:
        raise unusable_folder_error(run.rows, error) from None


@contextmanager
def refuse_damaged(path: str) -> Iterator[None]:
    """Refuse a run whose files do not say what such a run says, where what is done with them fails.

    Args:
        path: Its folder.

    Raises:
        InputError: says so.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError):
        raise InputError(
            f"{path}: the run's files are damaged; repeat its command in another folder"
        ) from None


def read_stored_run(path: str, kind: str) -> StoredRun:
    """What the folder of a run keeps.

    Args:
        path: The folder.
        kind: What kind of run it has to be.

    Raises:
        InputError: there is no such run.
    """
    data = read_run(path)
    if data is None:
        raise orphaned_parts_error(path) or InputError(
            f"{run_file(path)} cannot be read: No such file or directory"
        )
    try:
        if data["schema"] != SCHEMA:
            raise InputError(f"{run_file(path)} has the format {data['schema']!r}, expected {SCHEMA!r}")
        if data["kind"] != kind:
            hint = f"planeval {kind} with -o DIR/ makes one"
            raise InputError(f"{path} is a run of {data['kind']}, expected one of {kind}: {hint}")
        numbers = {name: int(data[name]) for name in ("pairs", "part")}
        if data["store"] not in STORES:
            raise ValueError(data["store"])
        return run_of(path, {**data, **numbers, "inputs": tuple(data["inputs"])})
    except (ValueError, KeyError, TypeError):
        raise damaged_run_error(path) from None
