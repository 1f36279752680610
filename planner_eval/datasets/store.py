"""Where fetched files are kept, and whether they are what was published."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from planner_eval.base.errors import DatasetError, ParseError
from planner_eval.base.jsonfile import read_json
from planner_eval.datasets.published import Dataset, File

ACCEPTED = "accepted.json"
"""In a data set's folder: the checksums that a user has accepted for files whose own is not known."""

CHUNK = 1 << 20


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


def place(dataset: Dataset, *, cache: str | None = None, source: str | None = None) -> Path:
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
            while block := stream.read(CHUNK):
                hasher.update(block)
    except OSError as problem:
        raise DatasetError(f"{path}: {problem.strerror}") from None
    return hasher.hexdigest()


@dataclass(frozen=True, slots=True)
class State:
    """What is known of one file in a folder.

    Args:
        file: The published file.
        state: ``"ok"``, ``"missing"``, ``"differs"``, ``"accepted"`` (no published checksum, but the
            user accepted this one) or ``"unknown"`` (no checksum to compare with).
        sha256: The checksum found, unless it is missing.
    """

    file: File
    state: str
    sha256: str | None = None


def verify(dataset: Dataset, folder: Path) -> list[State]:
    """Compare a folder's files with the published checksums.

    Args:
        dataset: What should be there.
        folder: Where it should be.
    """
    checksums = accepted(folder)
    return [_state(file, folder, checksums) for file in dataset.files]


def _state(file: File, folder: Path, checksums: dict[str, str]) -> State:
    path = folder / file.path
    if not path.is_file():
        return State(file, "missing")
    checksum = digest(path)
    if file.sha256 is not None:
        return State(file, "ok" if checksum == file.sha256 else "differs", checksum)
    if file.path in checksums:
        return State(file, "accepted" if checksum == checksums[file.path] else "differs", checksum)
    return State(file, "unknown", checksum)


def accepted(folder: Path) -> dict[str, str]:
    """The checksums that the user has accepted in a folder: path → checksum.

    Raises:
        DatasetError: the list of them is broken.
    """
    path = folder / ACCEPTED
    if not path.is_file():
        return {}
    try:
        checksums = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ParseError) as problem:
        raise DatasetError(f"{path}: cannot be read ({problem}); delete it and fetch again") from None
    if not isinstance(checksums, dict) or not all(isinstance(value, str) for value in checksums.values()):
        raise DatasetError(f"{path}: expected file names with checksums; delete it and fetch again")
    return checksums


def accept(folder: Path, file: File, checksum: str) -> None:
    """Remember a checksum that the user has accepted."""
    checksums = {**accepted(folder), file.path: checksum}
    text = json.dumps(dict(sorted(checksums.items())), indent=1) + "\n"
    (folder / ACCEPTED).write_text(text, encoding="utf-8")
