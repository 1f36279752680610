"""Packed files and Parquet written out once as JSON lines, so that each record can be read on its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress

from planner_eval.base.errors import InputError
from planner_eval.records.opening import refuse_foreign


def spool(path: str, kind: str, target: str, limit: int) -> bool:
    """Write out what a packed file or a table holds, where that is more than some bytes.

    Args:
        path: The file.
        kind: How it is packed, or ``"parquet"``.
        target: The file to be written; it is there when all of it is.
        limit: The bytes.

    Returns:
        Whether it is more, and was written.

    Raises:
        InputError: the file is damaged or too large, or cannot be written out.
    """
    partial_path = f"{target}.part"
    buffer = bytearray()
    try:
        with open(partial_path, "wb") as file:
            for block in _rows(path) if kind == "parquet" else _unpacked(path, kind):
                buffer += block
                if file.tell() or len(buffer) > limit:
                    file.write(buffer)
                    buffer.clear()
            large = file.tell() > 0
        if large:
            os.replace(partial_path, target)
        return large
    except OSError as error:
        raise InputError(
            f"{path} cannot be unpacked into {target}: {error.strerror or error}; the environment's TMPDIR "
            "names another folder"
        ) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial_path)


def _unpacked(path: str, packed: str) -> Iterator[bytes]:
    from planner_eval.records.packed import unpacking

    with open(path, "rb") as file:
        yield from unpacking(file, os.path.getsize(path), packed, path, refuse_foreign)


def _rows(path: str) -> Iterator[bytes]:
    from planner_eval.records.tables import parquet_items

    for item in parquet_items(path, path):
        yield json.dumps(item.data).encode() + b"\n"
