"""The published data sets: what there is, where its files lie, and whether they are what was published.

The table is a data file, ``data/datasets.json``; a new data set is an entry there and a reader in
this package.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import PATH, CatalogError, DatasetError, InputError, ParseError, expect_or_none
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import JsonLine, read_json, read_json_lines
from planner_eval.base.resources import load
from planner_eval.base.resources import read as read_resource
from planner_eval.base.text import close_names, shorten
from planner_eval.plan.model import Diagnostic, Plan
from planner_eval.reading.dialects.read import parse

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures


# ----------------------------------------------------------------------
# One task of a benchmark: what was asked, with which tools, and the plan that solves it.
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class Audit:
    """What is irregular in a record, found when it is asked for: scoring never asks.

    Args:
        find: Says it, ``"package.module:name"``; imported then, and called anew each time.
        material: What it is given.

    >>> list(Audit("builtins:reversed", ["repeated", "dataset"]))
    ['dataset', 'repeated']
    """

    __slots__ = ("find", "material")

    def __init__(self, find: str, *material: Any) -> None:
        self.find, self.material = find, material

    def __iter__(self) -> Iterator[Any]:
        return iter(load(self.find)(*self.material))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass
class ToolSpecs:
    """Tools as released, which an audit reads as a catalog; scoring has no need of one.

    Args:
        tools: The data; None where there are none.
        dialect: Their format.
        name: What messages call them.
        where: Where they stand.
    """

    tools: Any
    dialect: str
    name: str
    where: str

    @cached_property
    def catalog(self) -> Any:
        """The catalog; None without tools.

        Raises:
            DatasetError: they are none.
        """
        if self.tools is None:
            return None
        try:
            return load("planner_eval.catalogs.formats:as_catalog")(self.tools, self.dialect, name=self.name)
        except CatalogError as problem:
            raise DatasetError(f"{self.where}: {problem}") from None


def gold_findings(
    gold: Any, dialect: str, find: Callable[[Plan], Iterable[Diagnostic]]
) -> Iterator[Diagnostic]:
    """What is irregular in a gold plan: how it reads, and what is found in it.

    Args:
        gold: The plan as the data has it.
        dialect: Its notation.
        find: Finds what is irregular in a plan that can be read.
    """
    try:
        plan = parse(gold, dialect=dialect)
    except ParseError as problem:
        yield Diagnostic("dataset.record", f"the gold plan cannot be read: {problem.reason}", "error")
        return
    yield from plan.diagnostics
    yield from find(plan)


@fast_frozen
class Sample:
    """One record of a benchmark's data.

    Args:
        id: Unique in its data set.
        query: What the user asks.
        tools: The tools on offer, as released; None where the record names none.
        gold: The gold record or gold calls, as released.
        dialect: The notation of `gold`, a name that :func:`planner_eval.parse` knows.
        category: The part of the data set that the record belongs to.
        extra: Whatever else the record holds, by name.
    """

    id: str
    query: str = ""
    tools: Any = None
    gold: Any = None
    dialect: str = ""
    category: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: _NO_FIELDS)


# ----------------------------------------------------------------------
# The gold plan of a sample.
def holds_plan(sample: Sample) -> bool:
    """Whether the right answer is a plan, not free text."""
    return bool(sample.dialect) and sample.extra.get("type_of_output", "call") == "call"


def gold_plan(sample: Sample, *, infer: Signatures | bool = False) -> Plan | None:
    """Read a sample's gold plan.

    Args:
        sample: Of any reader.
        infer: Add inferred edges, by what is known of tools.

    Returns:
        The plan; None where the right answer is free text.

    Raises:
        ParseError: no parser reads it.

    >>> plan = gold_plan(Sample("a", gold='[{"name": "f", "arguments": {}}]', dialect="json"))
    >>> plan is not None and plan.calls[0].name
    'f'
    """
    if not holds_plan(sample):
        return None
    try:
        return parse(sample.gold, dialect=sample.dialect, infer=infer)
    except InputError as problem:
        raise ParseError(str(problem), code="parse.shape") from None


# ----------------------------------------------------------------------
# Opening the files of data sets: JSON and JSON lines, with errors that say file and place.
_FETCH_ADVICE = "fetch the data set, or name the folder that holds it"


def load_json(path: Path) -> Any:
    """The data of a JSON file.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8 or not JSON.
    """
    try:
        return read_json(read_text(path, advice=_FETCH_ADVICE, error=DatasetError))
    except ParseError as problem:
        raise DatasetError(f"{path}: {problem.brief}") from None


def load_records(path: Path) -> list[Any]:
    """The list that a published file holds as JSON.

    Raises:
        DatasetError: the file cannot be read, is no JSON, or holds no list.
    """
    records = load_json(path)
    if not isinstance(records, list):
        raise DatasetError(f"{path}: expected a list of records, found a {type(records).__name__}")
    return records


def choose_parts(folder: Path, title: str, files: Mapping[str, str], part: str | None) -> list[str]:
    """The parts of a data set to read: one, or all whose files a folder holds.

    Args:
        folder: Where they lie.
        title: What the data set is called.
        files: Part → its file.
        part: The part that is asked for; None for all that are there.

    Raises:
        DatasetError: there is no such part, or none of the files.
    """
    if part is not None and part not in files:
        raise DatasetError(f"{title} has no part {part!r}; expected one of {', '.join(files)}")
    names = [part] if part else [name for name, file in files.items() if (folder / file).is_file()]
    if not names:
        raise DatasetError(f"{folder}: no file named {', '.join(files.values())}")
    return names


def message_content(messages: Any, position: int) -> str:
    """The content of the message at a position of a record's conversation; "" where it has none."""
    if isinstance(messages, list) and messages and isinstance(messages[position], dict):
        return str(messages[position].get("content", ""))
    return ""


def load_jsonl(path: Path) -> Iterator[JsonLine]:
    """The lines of a JSON lines file; empty lines are passed over.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8, or a line is not JSON.
    """
    for line in read_json_lines(read_text(path, advice=_FETCH_ADVICE, error=DatasetError)):
        if line.error is not None:
            raise DatasetError(f"{path}: {line.error.brief}")
        yield line


# ----------------------------------------------------------------------
# The published data sets: what they are called, where their files lie, and how to read them.
@dataclass(frozen=True, slots=True)
class PublishedFile:
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
        reader: The module of :mod:`planner_eval.benchmarks.datasets` that reads it.
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
    files: tuple[PublishedFile, ...]
    note: str = ""
    tools: str = ""

    def url(self, file: PublishedFile, mirror: str | None = None) -> str:
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
def published_datasets() -> dict[str, Dataset]:
    """All data sets by name.

    >>> list(published_datasets())[:2]
    ['appbench', 'bfcl']
    """
    entries = json.loads(read_resource("data/datasets.json"))
    return {
        entry["name"]: Dataset(
            **{
                **entry,
                "parts": tuple(entry["parts"]),
                "files": tuple(PublishedFile(**f) for f in entry["files"]),
            }
        )
        for entry in entries
    }


DATASET_PREFIX = "dataset:"
"""Before the name of a data set, where a file could have it."""


def datasets_of(name: str) -> list[Dataset]:
    """The data sets of a name, their own or their benchmark's; none where it is none of either."""
    return [dataset for dataset in published_datasets().values() if name in (dataset.name, dataset.benchmark)]


def find_dataset(name: str) -> Dataset:
    """The data set of a name.

    Raises:
        DatasetError: there is none; names the closest.
    """
    if not isinstance(name, str):
        raise DatasetError(f"the data set is {shorten(repr(name), 40)}, expected a name")
    if name in published_datasets():
        return published_datasets()[name]
    matching = [other for other in published_datasets() if other.startswith(name)]
    close = matching or close_names(name, published_datasets())
    names = ", ".join(published_datasets())
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected one of {names}"
    raise DatasetError(f"there is no data set {name!r}; {hint}")


_READERS = {"mathqa": "datasets.mathqa"}
"""Modules of readers that are no benchmark's."""


def read(dataset: Dataset, folder: Path) -> Iterator[Sample]:
    """The samples of a data set.

    Args:
        dataset: What to read.
        folder: Holds its files; or one file, where the reader takes one.

    Raises:
        DatasetError: the files are not there, or cannot be read.
    """
    reader = import_module(
        f"planner_eval.benchmarks.{_READERS.get(dataset.reader, f'{dataset.reader}.data')}"
    )
    samples = getattr(reader, f"read_{dataset.reader}")
    if not dataset.parts or folder.is_file():
        yield from samples(folder)
        return
    for part_name in dataset.parts:
        yield from samples(folder, part=part_name)


def read_available(
    datasets: Sequence[tuple[Dataset, Path]],
    read_set: Callable[[Dataset, Path], Iterable[Sample]] = read,
    advice: str = "or name its folder",
) -> tuple[list[tuple[Dataset, list[Sample]]], list[str]]:
    """The samples of the data sets that are there, and why others cannot be read.

    Args:
        datasets: The data sets with their folders.
        read_set: Reads one.
        advice: What else can be done where none is there.

    Raises:
        DatasetError: none can be read.
    """
    available, missing = [], []
    for dataset, folder in datasets:
        try:
            available.append((dataset, list(read_set(dataset, folder))))
        except DatasetError as problem:
            missing.append(str(problem))
    if not available:
        names = " ".join(dataset.name for dataset, _ in datasets)
        raise DatasetError(f"{'; '.join(missing)}\nfetch it with planeval data fetch {names}, {advice}")
    return available, missing


# ----------------------------------------------------------------------
# Where fetched files are kept, and whether they are what was published.
ACCEPTED_FILE = "accepted.json"
"""In a data set's folder: the checksums that a user has accepted for files whose own is not known."""

CHUNK_BYTES = 1 << 20


def cache_folder(named: str | None = None) -> Path:
    """The folder below which data sets are kept.

    Args:
        named: A folder that the user named; else ``$PLANEVAL_CACHE``, else the platform's custom:
            ``$XDG_CACHE_HOME`` or ``~/.cache``, ``~/Library/Caches``, ``%LOCALAPPDATA%``.

    >>> cache_folder("here").as_posix()
    'here'
    """
    if named or os.environ.get("PLANEVAL_CACHE"):
        return Path(named or os.environ["PLANEVAL_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME")
    if not base or not Path(base).is_absolute():
        base = None
    if base is None and sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    if base is None and sys.platform == "darwin":
        base = "~/Library/Caches"
    return Path(base or "~/.cache").expanduser() / "planner_eval"


def dataset_folder(dataset: Dataset, *, cache: str | None = None, source: str | None = None) -> Path:
    """The folder of a data set's files.

    Args:
        dataset: The data set.
        cache: The cache folder that the user named.
        source: What the user named: the data set's folder, one that holds it by name, or a file.

    Raises:
        DatasetError: there is no `source`.
    """
    if source is None:
        return cache_folder(cache) / dataset.name
    folder = Path(source)
    if not folder.exists():
        raise DatasetError(f"{source}: there is no such folder or file")
    for name in (dataset.name, dataset.reader):
        if (folder / name).is_dir():
            return folder / name
    return folder


def digest(path: Path) -> str:
    """The SHA-256 checksum of a file, in hexadecimal.

    Raises:
        DatasetError: the file cannot be read.
    """
    from hashlib import sha256  # OpenSSL, which takes 2 ms

    hasher = sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(CHUNK_BYTES):
                hasher.update(block)
    except OSError as problem:
        raise DatasetError(f"{path}: {problem.strerror}") from None
    return hasher.hexdigest()


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of one file in a folder.

    Args:
        file: The published file.
        state: ``"ok"``, ``"missing"``, ``"differs"``, ``"accepted"`` (no published checksum, but the
            user accepted this one) or ``"unknown"`` (no checksum to compare with).
        sha256: The checksum found, unless it is missing.
    """

    file: PublishedFile
    state: str
    sha256: str | None = None


def verify(dataset: Dataset, folder: Path) -> list[FileState]:
    """Compare a folder's files with the published checksums.

    Args:
        dataset: What should be there.
        folder: Where it should be.
    """
    states, accepted = [], read_accepted_checksums(folder)
    for file in dataset.files:
        path, known = folder / file.path, file.sha256 or accepted.get(file.path)
        checksum = digest(path) if path.is_file() else None
        if checksum is None:
            state = "missing"
        elif known is None:
            state = "unknown"
        else:
            state = "differs" if checksum != known else "ok" if file.sha256 else "accepted"
        states.append(FileState(file, state, checksum))
    return states


def read_accepted_checksums(folder: Path) -> dict[str, str]:
    """The checksums that the user has accepted in a folder: path → checksum.

    Raises:
        DatasetError: the list of them is broken.
    """
    path = folder / ACCEPTED_FILE
    if not path.is_file():
        return {}
    try:
        checksums = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ParseError) as problem:
        raise DatasetError(f"{path}: cannot be read ({problem}); delete it and fetch again") from None
    if not isinstance(checksums, dict) or not all(isinstance(value, str) for value in checksums.values()):
        raise DatasetError(f"{path}: expected file names with checksums; delete it and fetch again")
    return checksums


def accept_checksum(folder: Path, file: PublishedFile, checksum: str) -> None:
    """Remember a checksum that the user has accepted."""
    checksums = {**read_accepted_checksums(folder), file.path: checksum}
    text = json.dumps(dict(sorted(checksums.items())), indent=1) + "\n"
    (folder / ACCEPTED_FILE).write_text(text, encoding="utf-8")


# ----------------------------------------------------------------------
# The published data sets: what there is, where it lies, what it holds.
class ListedDataset(NamedTuple):
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


def list_datasets(*, cache: str | None = None, folder: str | None = None) -> tuple[ListedDataset, ...]:
    """The published data sets, and which of their files are there.

    Args:
        cache: The cache folder, where it is not the usual one.
        folder: A folder that holds the files, instead of the cache.

    >>> [one.dataset.name for one in list_datasets()][:2]
    ['appbench', 'bfcl']
    """
    expect_or_none(PATH, cache=cache, folder=folder)
    listed = []
    for dataset in published_datasets().values():
        home = dataset_folder(dataset, cache=cache, source=folder)
        needed = [file for file in dataset.files if file.needed]
        present = sum((home / file.path).is_file() for file in needed)
        listed.append(ListedDataset(dataset, home, len(needed), present))
    return tuple(listed)


def read_dataset(name: str, *, cache: str | None = None, folder: str | None = None) -> Iterator[Sample]:
    """The samples of a published data set.

    Args:
        name: Its name, e.g. ``"nestful"``.
        cache: The cache folder, where it is not the usual one.
        folder: Its folder, one that holds it by name, or one of its files, instead of the cache.

    Raises:
        DatasetError: there is no data set of that name, or its files are not there or cannot be read.

    >>> samples = read_dataset("nestful-v2", folder="data/samples")
    >>> next(samples).query
    'Half of the sum of 3 and 5?'
    """
    expect_or_none(PATH, cache=cache, folder=folder)
    dataset = find_dataset(name)
    return read(dataset, dataset_folder(dataset, cache=cache, source=folder))


def verify_dataset(name: str, *, cache: str | None = None, folder: str | None = None) -> list[FileState]:
    """Compare a data set's files with the published checksums.

    Args:
        name: Its name.
        cache: As for :func:`read_dataset`.
        folder: Its folder, or one that holds it by name.

    Raises:
        DatasetError: there is no data set of that name, `folder` is a file, or no file is there.

    >>> [(file.file.path, file.state) for file in verify_dataset("nestful-v2", folder="data/samples")]
    [('v2/nestful_data.jsonl', 'unknown')]
    """
    expect_or_none(PATH, cache=cache, folder=folder)
    dataset = find_dataset(name)
    home = dataset_folder(dataset, cache=cache, source=folder)
    if home.is_file():
        raise DatasetError(f"{folder} is a file; verify compares the files of a folder")
    refuse_absent(dataset, home)
    return verify(dataset, home)


def refuse_absent(dataset: Dataset, folder: Path) -> None:
    """Say how to get a data set of which nothing is there.

    Raises:
        DatasetError: the folder is no file, and holds no file of the data set.
    """
    if not folder.is_file() and not any((folder / file.path).is_file() for file in dataset.files):
        raise DatasetError(
            f"{folder}: no file of {dataset.name} is here; "
            f"fetch them with planeval data fetch {dataset.name}, or name their folder with --source"
        )
