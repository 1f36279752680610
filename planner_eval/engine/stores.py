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
    parts: Iterable[Part],
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
        parts: All of them.
        check: Raises to end the run.
        remove: Remove the rows of each part as soon as they are written, of JSON lines.

    Raises:
        InputError: a file cannot be read or written.
    """
    temporary = f"{rows}{LEFT_OVER}"
    parts = list(parts)
    try:
        with open(temporary, "wb") as out:
            if store == "parquet":
                columns: Any = job
                parquet.write_rows(_lines(folder, parts, check), columns.columns(), out)
            else:
                for part in parts:
                    check()
                    with open(rows_file(folder, part), "rb") as stream:
                        shutil.copyfileobj(stream, out, _CHUNK)
                    if remove:
                        os.unlink(rows_file(folder, part))
        if store == "parquet":
            _write_seal(temporary, folder, parts)
        os.replace(temporary, rows)
    except OSError as error:
        raise InputError(f"{rows} cannot be written: {error.strerror or error}") from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def whole_marks(store: str, rows: str, folder: str, parts: Iterable[Part]) -> Iterator[Mark]:
    """The marks of all parts, each when the rows that it speaks of are found to be those of the file.

    Args:
        store: One of :data:`STORES`.
        rows: The file.
        folder: Where the marks stand.
        parts: All of them.

    Raises:
        Changed: the file, or a mark, is not as the run left it.
        OSError: the file cannot be read.
    """
    if store == "parquet":
        sealed = _seal(rows, folder, parts := list(parts))
        if sealed is None or sealed != _known_seal(folder):
            raise Changed
        yield from _marks(folder, parts)
        return
    with open(rows, "rb") as stream:
        for mark in _marks(folder, parts):
            if not holds(stream, mark):
                raise Changed
            yield mark
        if stream.read(1):
            raise Changed


def _lines(folder: str, parts: Iterable[Part], check: Callable[[], None]) -> Iterator[bytes]:
    for part in parts:
        check()
        with open(rows_file(folder, part), "rb") as stream:
            yield from stream


def _marks(folder: str, parts: Iterable[Part]) -> Iterator[Mark]:
    for part in parts:
        mark = read_mark(folder, part)
        if mark is None:
            raise Changed
        yield mark


# ---------------------------------------------------------------- what tells that a Parquet file is whole
def _seal(rows: str, folder: str, parts: Iterable[Part]) -> dict[str, Any]:
    """The digests of a file of rows, and of the parts that it was made of."""
    made = blake2b(digest_size=16)
    for mark in _marks(folder, parts):
        made.update(mark.digest.encode())
    found = blake2b(digest_size=16)
    with open(rows, "rb") as stream:
        while data := stream.read(_CHUNK):
            found.update(data)
    return {"digest": found.hexdigest(), "parts": made.hexdigest()}


def _seal_file(folder: str) -> str:
    return os.path.join(folder, "rows.json")


def _write_seal(rows: str, folder: str, parts: Iterable[Part]) -> None:
    temporary = f"{_seal_file(folder)}{LEFT_OVER}"
    with open(temporary, "w", encoding="ascii") as out:
        json.dump(_seal(rows, folder, parts), out)
    os.replace(temporary, _seal_file(folder))


def _known_seal(folder: str) -> Mapping[str, Any] | None:
    try:
        with open(_seal_file(folder), encoding="ascii") as stream:
            known = json.load(stream)
    except (FileNotFoundError, ValueError):
        return None
    return known if isinstance(known, dict) else None
