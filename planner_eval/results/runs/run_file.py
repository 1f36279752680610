"""What the folder of a run says of itself in its file ``run.json``: of what it was made, and how."""

from __future__ import annotations

import json
import os

from planner_eval.base.named_tuple import NamedTuple

TYPE_CHECKING = False  # typing's own costs start-up, and many commands come here

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LINES, COLUMNS = "jsonl", "parquet"
STORES = {LINES: "rows.jsonl", COLUMNS: "rows.parquet"}
"""The file of all rows, by the store's name."""


class StoredRun(NamedTuple):
    """What the folder of a run says of itself; of another path nothing but the path is known.

    Args:
        path: The folder.
        kind: What the run is called: ``"score"``, ``"diff"``, ``"predict"`` and so on.
        version: The version of this package that made it.
        options: The job's options.
        inputs: The files that are read, as JSON data.
        pairs: How many pairs there are.
        deadline: Seconds for a pair; None for as long as it takes.
        part: How many pairs make a part, which decides nothing.
        notations: Those that are not shipped, by name, and a digest of each.
        store: In what all rows are kept in the end.
        given: What was named as predictions, gold and so on, which decides nothing.
    """

    path: str
    kind: str | None = None
    version: str = ""
    options: Mapping[str, Any] = {}
    inputs: tuple[Mapping[str, Any], ...] = ()
    pairs: int = 0
    deadline: float | None = None
    part: int = 0
    notations: Mapping[str, str] = {}
    store: str = LINES
    given: Any = None

    @property
    def benchmark(self) -> str | None:
        """The benchmark under which it was scored; None where the figures are our own."""
        return self.options.get("benchmark")

    @property
    def about(self) -> Mapping[str, Any]:
        """What it knows of its files."""
        return self.options.get("about") or {}

    @property
    def settings(self) -> dict[str, str]:
        """The benchmark's own options that it was scored with."""
        return {str(name): str(value) for name, value in (self.options.get("settings") or {}).items()}

    @property
    def golds(self) -> list[tuple[Any, Any]]:
        """The size and digest of each file of gold plans."""
        return [(i["size"], i["digest"]) for i in self.inputs if i["role"] == "gold"]

    @property
    def rows(self) -> str:
        """The file of all rows."""
        return os.path.join(self.path, STORES[self.store])


def has_columns(rows: str) -> bool:
    """Whether a file of rows keeps columns, and not lines."""
    return rows.endswith(STORES[COLUMNS])


def run_file(folder: str) -> str:
    """Where a folder says what is run in it."""
    return os.path.join(folder, "run.json")


def is_run(path: str) -> bool:
    """Whether a path is the folder of a run."""
    return os.path.lexists(run_file(path))


def run_of(path: str, data: Mapping[str, Any]) -> StoredRun:
    """What a folder says of its run, from the data of its file."""
    return StoredRun(path, **{name: data[name] for name in StoredRun._fields if name in data})


def open_run(path: str) -> StoredRun:
    """What any path says of a run, which need not be whole."""
    try:
        with open(run_file(path), encoding="utf-8") as stream:
            return run_of(path, json.load(stream))
    except (OSError, ValueError, RecursionError, TypeError):
        return StoredRun(path)
