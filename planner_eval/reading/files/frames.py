"""Tables in memory as records: frames, data sets and whatever gives one record after another.

No package is imported for it: a table is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import eq
from typing import Any

from planner_eval.base.errors import InputError

MAX_ROWS = 10_000_000
"""Records that are taken from what may have no end."""


class TableRow(dict[str, Any]):
    """A row of a table: a record, whatever its columns are called, and never a message of a conversation."""

    __slots__ = ()


def table_rows(source: Any) -> Any:
    """The rows of a table as a list of records; whatever is none is given back as it is.

    A table is a frame of pandas or polars, a table of pyarrow, a data set of Hugging Face, or any other
    iterable of records: a generator, a series of texts.

    Args:
        source: The table. Texts, objects and lists are data already.

    Raises:
        InputError: it holds several tables, is not computed yet, or has no end.

    >>> table_rows({"id": name, "output": "f()"} for name in "ab")
    [{'id': 'a', 'output': 'f()'}, {'id': 'b', 'output': 'f()'}]
    """
    if _holds_tables(source):
        names = ", ".join(map(repr, source))
        raise InputError(f"a {type(source).__name__} holds several tables: take one of {names}")
    if source is None or isinstance(source, (str, bytes, list, tuple, Mapping)):
        return source
    if hasattr(source, "iterrows") and hasattr(source, "to_dict"):  # pandas
        named = any(name is not None and name not in source.columns for name in source.index.names)
        frame = source.reset_index() if named else source
        return list(row_data(frame.to_dict("records"), nulls=True))
    for name in ("to_dicts", "to_pylist"):  # polars, pyarrow
        if hasattr(source, name):
            return list(row_data(getattr(source, name)()))
    if hasattr(source, "collect") and not hasattr(source, "__iter__"):
        raise InputError(f"a {type(source).__name__} is not computed yet: give its .collect()")
    if not isinstance(source, Iterable):
        return source
    typed = hasattr(source, "features")  # of a data set's columns
    rows = list(islice(source, MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise InputError(f"a {type(source).__name__} gives more than {MAX_ROWS:,} records, the limit")
    if typed and all(isinstance(row, Mapping) for row in rows):
        return list(row_data(rows))
    return rows


def is_table(source: Any) -> bool:
    """Whether a value is a table in memory: neither data, nor a plan, nor a path, but gives records."""
    if isinstance(source, (str, bytes, list, tuple, Mapping)):
        return _holds_tables(source)
    signs = ("__next__", "iterrows", "to_dicts", "to_pylist", "features")
    return any(hasattr(source, sign) for sign in signs)


def _holds_tables(source: Any) -> bool:
    """Whether an object is a data set's splits, or a mapping from name to frame."""
    return (
        isinstance(source, dict)
        and bool(source)
        and all(not isinstance(value, (dict, list, tuple)) and is_table(value) for value in source.values())
    )


def row_data(rows: Iterable[Mapping[str, Any]], *, nulls: bool = False) -> Iterator[dict[str, Any]]:
    """Rows out of a table as JSON data; a cell that holds nothing is left out.

    Args:
        rows: From column to value.
        nulls: Keep null inside a cell. Tables whose columns have types write null for whatever an object
            lacks that another one has.

    >>> list(row_data([{"id": 1, "gold": None, "plan": [{"name": "f", "arguments": {"a": 1, "b": None}}]}]))
    [{'id': 1, 'plan': [{'name': 'f', 'arguments': {'a': 1}}]}]
    """
    for row in rows:
        cells = {
            str(name): _json_value(value, nulls) for name, value in row.items() if not _is_missing(value)
        }
        yield TableRow(cells)


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, (str, int)) or hasattr(value, "__len__"):
        return value is None
    try:
        return not eq(value, value)  # NaN and NaT
    except TypeError:  # pandas' NA is neither equal nor unequal to anything
        return True


def _json_value(value: Any, nulls: bool) -> Any:
    """A value as JSON data: arrays as lists, and what JSON has no form for as text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(k): _json_value(v, nulls) for k, v in value.items() if nulls or v is not None}
    if isinstance(value, (list, tuple)):
        return [_json_value(item, nulls) for item in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _json_value(value.tolist(), nulls)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
