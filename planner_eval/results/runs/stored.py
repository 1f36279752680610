"""A run that is done, read from its folder again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, islice
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.results.runs.row_files import STORES, RowsChanged, verified_marks
from planner_eval.results.runs.run_file import (
    SCHEMA,
    damaged_run_error,
    orphaned_parts_error,
    read_run,
    run_file,
)
from planner_eval.results.runs.work import Mark, split_pairs, unusable_folder_error


class StoredLines(NamedTuple):
    """The rows of a run that are kept as JSON lines, a line a pair.

    Args:
        rows: Their file.
        part: How many pairs make a part.
        starts: Where the rows of each part begin in the file.
    """

    rows: str
    part: int
    starts: tuple[int, ...]

    def since(self, first: int) -> Iterator[bytes]:
        """The lines of a pair and of all that come after it.

        Args:
            first: The pair, counted from 0.

        Raises:
            OSError: the file cannot be read.
        """
        chunk_number, more = divmod(first, self.part)
        with open(self.rows, "rb") as stream:
            stream.seek(self.starts[chunk_number])
            yield from islice(stream, more, None)


class StoredRun(NamedTuple):
    """What a folder keeps of a run.

    Args:
        path: The folder.
        version: The version of this package that made it.
        options: The job's options.
        inputs: The files that were read, as JSON data.
        pairs: How many pairs there are.
        part: How many pairs make a part.
        store: In what all rows are kept.
    """

    path: str
    version: str
    options: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...]
    pairs: int
    part: int
    store: str

    @property
    def rows(self) -> str:
        """The file of all rows."""
        return os.path.join(self.path, STORES[self.store])

    def sums(self, fold: Callable[[Any], Any]) -> Any:
        """The sums of all parts, put together in their order; the rows are held against them.

        Args:
            fold: Makes sums of their data; of None those over nothing.

        Raises:
            InputError: the run is not done, or its files are not as it left them.
        """
        total = fold(None)
        for mark in self._marks():
            total.extend(fold(json.loads(mark.sums)))
        return total

    def lines(self) -> StoredLines:
        """Its rows as JSON lines, which are held against what the run knows of them.

        Raises:
            InputError: as :meth:`sums` does.
        """
        starts = accumulate((mark.size for mark in self._marks()), initial=0)
        return StoredLines(self.rows, self.part, tuple(starts))

    def _marks(self) -> Iterator[Mark]:
        """The marks of all parts, the rows held against them."""
        try:
            chunks = split_pairs(self.pairs, self.part)
            yield from verified_marks(self.store, self.rows, os.path.join(self.path, "parts"), chunks)
        except RowsChanged:
            reason = f"{STORES[self.store]} and parts/ are not as the run left them"
            raise InputError(f"{self.path}: {reason}; the command that made them does so again") from None
        except FileNotFoundError:
            reason = "the run is not done: the command that began it goes on with it"
            raise InputError(f"{self.path}: {reason}") from None
        except OSError as error:
            raise unusable_folder_error(self.rows, error) from None


def run_data(path: str) -> Mapping[str, Any]:
    """What a run of any kind wrote of itself.

    Args:
        path: Its folder.

    Raises:
        InputError: the folder is none of a run.
    """
    try:
        with open(os.path.join(path, "run.json"), encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        data = None
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected the folder of a run of planeval predict or score -o DIR/")
    return data


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
            raise InputError(f"{run_file(path)} is of the form {data['schema']!r}, expected {SCHEMA!r}")
        if data["kind"] != kind:
            hint = f"planeval {kind} with -o DIR/ makes one"
            raise InputError(f"{path} is a run of {data['kind']}, expected one of {kind}: {hint}")
        inputs = tuple(data["inputs"])
        pairs, chunk_size, store = int(data["pairs"]), int(data["part"]), data["store"]
        if store not in STORES:
            raise ValueError(store)
        return StoredRun(path, data["version"], data["options"], inputs, pairs, chunk_size, store)
    except (ValueError, KeyError, TypeError):
        raise damaged_run_error(path) from None
