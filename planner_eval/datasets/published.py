"""The published data sets: what they are called, where their files lie, and how to read them.

The table is a data file, ``data/datasets.json``; a new data set is an entry there and a reader in
this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from planner_eval.base.errors import DatasetError
from planner_eval.base.resources import read as read_resource
from planner_eval.base.text import close_names, shortened
from planner_eval.datasets.sample import Sample


@dataclass(frozen=True, slots=True)
class File:
    """One published file.

    Args:
        path: Where it lies below the data set's folder.
        url: Where it is fetched from: an address, or a path below the data set's; None where it can
            only be taken from a folder, and is not needed for reading.
        bytes: Its size, when known.
        sha256: Its checksum in hexadecimal, when known.
    """

    path: str
    url: str | None
    bytes: int | None = None
    sha256: str | None = None

    @property
    def needed(self) -> bool:
        """The data set is not complete without it."""
        return self.url is not None


@dataclass(frozen=True, slots=True)
class Dataset:
    """One published data set.

    Args:
        name: What the command line calls it.
        title: One line for a person.
        paper: Where it was published.
        licence: What its publishers state.
        records: How many samples its reader gives.
        reader: The module of :mod:`planner_eval.datasets` that reads it.
        benchmark: The benchmark that scores its predictions, if one does.
        parts: The reader's parts that belong to it; all where empty.
        address: Where its files lie, at a pinned commit.
        files: Its files.
        note: What a user should know before fetching it.
        tools: What its gold plans run with, of the tools that come along; "" where there are none.
    """

    name: str
    title: str
    paper: str
    licence: str
    records: int
    reader: str
    benchmark: str | None
    parts: tuple[str, ...]
    address: str
    files: tuple[File, ...]
    note: str = ""
    tools: str = ""

    def url(self, file: File, mirror: str | None = None) -> str:
        """Where a file is fetched from.

        Args:
            file: A file that can be fetched.
            mirror: Take ``MIRROR/<data set>/<path>`` instead of the published address.
        """
        from urllib.parse import quote, urljoin

        if mirror is not None:
            return f"{mirror.rstrip('/')}/{quote(self.name)}/{quote(file.path)}"
        return urljoin(self.address, file.url or "")


@cache
def published() -> dict[str, Dataset]:
    """All data sets by name.

    >>> list(published())[:2]
    ['appbench', 'callnavi']
    """
    entries = json.loads(read_resource("data/datasets.json"))
    return {
        entry["name"]: Dataset(
            **{**entry, "parts": tuple(entry["parts"]), "files": tuple(File(**f) for f in entry["files"])}
        )
        for entry in entries
    }


def find(name: str) -> Dataset:
    """The data set of a name.

    Raises:
        DatasetError: there is none; names the closest.
    """
    if not isinstance(name, str):
        raise DatasetError(f"the data set is {shortened(repr(name), 40)}, expected a name")
    if name in published():
        return published()[name]
    matching = [other for other in published() if other.startswith(name)]
    close = matching or close_names(name, published())
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(published())}"
    raise DatasetError(f"there is no data set {name!r}; {hint}")


def read(dataset: Dataset, folder: Path) -> Iterator[Sample]:
    """The samples of a data set.

    Args:
        dataset: What to read.
        folder: Holds its files; or one file, where the reader takes one.

    Raises:
        DatasetError: the files are not there, or cannot be read.
    """
    reader = import_module(f"planner_eval.datasets.{dataset.reader}")
    samples = getattr(reader, f"read_{dataset.reader}")
    if not dataset.parts or folder.is_file():
        yield from samples(folder)
        return
    for part_name in dataset.parts:
        yield from samples(folder, part=part_name)
