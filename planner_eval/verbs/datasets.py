"""The published data sets: what there is, where it lies, what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from planner_eval.base.errors import DatasetError
from planner_eval.base.given import PATH, expect_or_none
from planner_eval.datasets.published import Dataset, find, published, read
from planner_eval.datasets.sample import Sample
from planner_eval.datasets.store import State, place, verify


class Listed(NamedTuple):
    """One published data set.

    Args:
        dataset: What it is.
        folder: Where its files lie, or would.
        needed: How many files it is not complete without.
        there: How many of them are there.
    """

    dataset: Dataset
    folder: Path
    needed: int
    there: int


def list_datasets(*, cache: str | None = None, source: str | None = None) -> tuple[Listed, ...]:
    """The published data sets, and which of their files are there.

    Args:
        cache: The cache folder, where it is not the usual one.
        source: A folder that holds the files, instead of the cache.

    >>> [one.dataset.name for one in list_datasets()][:2]
    ['appbench', 'callnavi']
    """
    expect_or_none(PATH, cache=cache, source=source)
    listed = []
    for dataset in published().values():
        folder = place(dataset, cache=cache, source=source)
        needed = [file for file in dataset.files if file.needed]
        present = sum((folder / file.path).is_file() for file in needed)
        listed.append(Listed(dataset, folder, len(needed), present))
    return tuple(listed)


def read_dataset(name: str, *, cache: str | None = None, source: str | None = None) -> Iterator[Sample]:
    """The samples of a published data set.

    Args:
        name: Its name, e.g. ``"nestful"``.
        cache: The cache folder, where it is not the usual one.
        source: Its folder, one that holds it by name, or one of its files, instead of the cache.

    Raises:
        DatasetError: there is no data set of that name, or its files are not there or cannot be read.

    >>> from planner_eval.base.resources import folder
    >>> samples = read_dataset("nestful-v2", source=str(folder("data") / "samples"))
    >>> next(samples).query
    'Half of the sum of 3 and 5?'
    """
    expect_or_none(PATH, cache=cache, source=source)
    dataset = find(name)
    return read(dataset, place(dataset, cache=cache, source=source))


def verify_dataset(name: str, *, cache: str | None = None, source: str | None = None) -> list[State]:
    """Compare a data set's files with the published checksums.

    Args:
        name: Its name.
        cache: As for :func:`read_dataset`.
        source: Its folder, or one that holds it by name.

    Raises:
        DatasetError: there is no data set of that name, `source` is a file, or no file is there.

    >>> from planner_eval.base.resources import folder
    >>> samples = str(folder("data") / "samples")
    >>> [(state.file.path, state.state) for state in verify_dataset("nestful-v2", source=samples)]
    [('v2/nestful_data.jsonl', 'unknown')]
    """
    expect_or_none(PATH, cache=cache, source=source)
    dataset = find(name)
    folder = place(dataset, cache=cache, source=source)
    if folder.is_file():
        raise DatasetError(f"{source} is a file; verify compares the files of a folder")
    refuse_absent(dataset, folder)
    return verify(dataset, folder)


def refuse_absent(dataset: Dataset, folder: Path) -> None:
    """Say how to get a data set of which nothing is there.

    Raises:
        DatasetError: the folder is no file, and holds no file of the data set.
    """
    if not folder.is_file() and not any((folder / file.path).is_file() for file in dataset.files):
        raise DatasetError(
            f"{folder}: no file of {dataset.name} is here; "
            f"'planeval data fetch {dataset.name}' fetches them, or name their folder with --source"
        )
