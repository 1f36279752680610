"""The file of all rows of a run: JSON lines or Parquet, written from the parts and held against them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.engine import parquet
from planner_eval.engine.job import Job, Part
from planner_eval.engine.rows import LEFT_OVER
from planner_eval.engine.work import Mark, holds, read_mark, rows_file

STORES = {"jsonl": "rows.jsonl", "parquet": "rows.parquet"}
"""The file of all rows, by the store's name."""

_CHUNK = 1 << 20


class Changed(Exception):
    """The file of all rows is not as the run left it."""


def refuse_store(store: str, job: Job) -> None:
    """Refuse a store that cannot be written, before the work.

    Raises:
        InputError: there is no such store, what it needs is not installed, or the job has no columns.
    """
    if store not in STORES:
        raise InputError(f"there is no store {store!r}, expected one of {', '.join(STORES)}")
    if store == "parquet":
        parquet.refuse_missing()
        if not hasattr(job, "columns"):
            raise InputError(f"the rows of a {job.kind} have no columns: expected the store jsonl")


def write_all_rows(
    store: str,
    job: Job,
    rows: str,
    folder: str,
    chunks: Iterable[Part],
    check: Callable[[], None],
    *,
    remove: bool = False,
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
    temporary = f"{rows}{LEFT_OVER}"
    chunks = list(chunks)
    try:
        with open(temporary, "wb") as out:
            if store == "parquet":
                columns: Any = job
                parquet.write_rows(_lines(folder, chunks, check), columns.columns(), out)
            else:
                for chunk in chunks:
                    check()
                    with open(rows_file(folder, chunk), "rb") as stream:
                        shutil.copyfileobj(stream, out, _CHUNK)
                    if remove:
                        os.unlink(rows_file(folder, chunk))
        if store == "parquet":
            _write_seal(temporary, folder, chunks)
        os.replace(temporary, rows)
    except OSError as error:
        raise InputError(f"{rows} cannot be written: {error.strerror or error}") from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def whole_marks(store: str, rows: str, folder: str, chunks: Iterable[Part]) -> Iterator[Mark]:
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
    if store == "parquet":
        sealed = _seal(rows, folder, chunks := list(chunks))
        if sealed is None or sealed != _known_seal(folder):
            raise Changed
        yield from _marks(folder, chunks)
        return
    with open(rows, "rb") as stream:
        for mark in _marks(folder, chunks):
            if not holds(stream, mark):
                raise Changed
            yield mark
        if stream.read(1):
            raise Changed


def _lines(folder: str, chunks: Iterable[Part], check: Callable[[], None]) -> Iterator[bytes]:
    for chunk in chunks:
        check()
        with open(rows_file(folder, chunk), "rb") as stream:
            yield from stream


def _marks(folder: str, chunks: Iterable[Part]) -> Iterator[Mark]:
    for chunk in chunks:
        mark = read_mark(folder, chunk)
        if mark is None:
            raise Changed
        yield mark


# ---------------------------------------------------------------- what tells that a Parquet file is whole
def _seal(rows: str, folder: str, chunks: Iterable[Part]) -> dict[str, Any]:
    """The digests of a file of rows, and of the parts that it was made of."""
    chunk_digest = blake2b(digest_size=16)
    for mark in _marks(folder, chunks):
        chunk_digest.update(mark.digest.encode())
    rows_digest = blake2b(digest_size=16)
    with open(rows, "rb") as stream:
        while data := stream.read(_CHUNK):
            rows_digest.update(data)
    return {"digest": rows_digest.hexdigest(), "parts": chunk_digest.hexdigest()}


def _seal_file(folder: str) -> str:
    return os.path.join(folder, "rows.json")


def _write_seal(rows: str, folder: str, chunks: Iterable[Part]) -> None:
    temporary = f"{_seal_file(folder)}{LEFT_OVER}"
    with open(temporary, "w", encoding="ascii") as out:
        json.dump(_seal(rows, folder, chunks), out)
    os.replace(temporary, _seal_file(folder))


def _known_seal(folder: str) -> Mapping[str, Any] | None:
    try:
        with open(_seal_file(folder), encoding="ascii") as stream:
            seal = json.load(stream)
    except (FileNotFoundError, ValueError):
        return None
    return seal if isinstance(seal, dict) else None
