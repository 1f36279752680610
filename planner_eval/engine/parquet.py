"""Rows of a run as a Parquet file: written from their lines group by group, and read again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

from planner_eval.base.errors import InputError
from planner_eval.engine.job import JSON

_GROUP = 10_000
"""Rows of a group, whatever the cut into parts was: it decides the file's bytes."""

_BATCH = 1_000
_LONE = re.compile("[\ud800-\udfff]")


def refuse_missing() -> None:
    """Refuse to write Parquet where that cannot be done, before the work.

    Raises:
        InputError: pyarrow is not installed.
    """
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise InputError("writing Parquet needs pyarrow: pip install 'planner_eval[parquet]'")


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

    schema = pyarrow.schema([(name, _type(kind)) for name, kind in columns.items()])
    texts = [name for name, kind in columns.items() if kind is JSON]
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        rows = iter(lines)
        while batches := list(islice(_tables(rows, schema, texts), _GROUP // _BATCH)):
            writer.write_table(pyarrow.concat_tables(batches).combine_chunks(), row_group_size=_GROUP)


def read_rows(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a file as data; a number without a fraction is an int.

    Raises:
        InputError: the file cannot be read.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from map(_whole, batch.to_pylist())
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def _tables(rows: Iterator[bytes], schema: Any, texts: list[str]) -> Iterator[Any]:
    import pyarrow
    import pyarrow.json

    how = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    while lines := [_plain(line, texts) for line in islice(rows, _BATCH)]:
        data = b"".join(lines)
        reading = pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        buffer = pyarrow.BufferReader(data)
        yield pyarrow.json.read_json(buffer, reading, how).select(schema.names)


def _plain(line: bytes, texts: list[str]) -> bytes:
    """A line as Parquet can hold it: keys of any shape as text, and no half of a character."""
    if not texts and b"\\ud" not in line:
        return line
    data = json.loads(line)
    for name in texts:
        if name in data:
            data[name] = json.dumps(data[name], ensure_ascii=False)
    text = json.dumps(data, ensure_ascii=False)
    return _LONE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text).encode() + b"\n"


def _type(kind: Any) -> Any:
    import pyarrow

    if isinstance(kind, Mapping):
        return pyarrow.struct([(name, _type(member)) for name, member in kind.items()])
    if isinstance(kind, list):
        return pyarrow.list_(_type(kind[0]))
    return {
        str: pyarrow.string(),
        JSON: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }[kind]


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
