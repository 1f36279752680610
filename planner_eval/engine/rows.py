"""Rows on their way into a file, and files that take their place when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from io import FileIO

from planner_eval.base.errors import InputError

LEFT_OVER = ".part"
"""How the names of files end that are being written; of a process that was killed they stay behind."""

_CHUNK = 1 << 16


class Rows:
    """Lines on their way into a file, with their size and digest."""

    def __init__(self, stream: FileIO, name: str) -> None:
        self.stream, self.name = stream, name
        self.waiting: list[bytes] = []
        self.held = self.added = 0
        self.size, self.found = 0, blake2b(digest_size=16)
        self.begun = 0, self.found

    def add(self, row: str) -> None:
        """Write one row."""
        line = row.encode("utf-8", "backslashreplace") + b"\n"
        if line.find(b"\n") != len(line) - 1:
            raise ValueError("a row holds a line end")
        self.waiting.append(line)
        self.added += 1
        self.held += len(line)
        if self.held > _CHUNK:
            self.flush()

    def flush(self) -> None:
        """Hand over what waits."""
        data = b"".join(self.waiting)
        try:
            write_all(self.stream, data)
        except OSError as error:
            raise unwritable(self.name, error) from None
        self.found.update(data)
        self.size += len(data)
        self.waiting.clear()
        self.held = 0

    def begin(self) -> None:
        """Remember this place."""
        self.flush()
        self.added = 0
        self.begun = self.size, self.found.copy()

    def back(self) -> None:
        """Take back what was added since the place that was remembered."""
        self.waiting.clear()
        self.held = 0
        self.size, self.found = self.begun
        self.stream.seek(self.size)
        self.stream.truncate()


@contextmanager
def placing(name: str) -> Iterator[FileIO]:
    """A file that takes its place when it is whole."""
    temporary = f"{name}.{os.urandom(6).hex()}{LEFT_OVER}"  # workers may be on several machines
    try:
        with FileIO(temporary, "w") as stream:
            yield stream
        os.replace(temporary, name)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def write_all(stream: FileIO, data: bytes) -> None:
    """Write all of it: the last that fits on a full disk is less."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


def unwritable(name: str, error: OSError) -> InputError:
    """What is said of a file that cannot be written."""
    return InputError(f"{name} cannot be written: {error.strerror or error}")


def unusable(path: str, error: OSError) -> InputError:
    """What is said of a run's folder in which a file, or another folder, cannot be read or written."""
    name = error.filename or path
    if isinstance(error, IsADirectoryError):
        problem = "is a folder in the place of a file of the run: remove it, and give the run's command again"
        return InputError(f"{name} {problem}")
    return InputError(f"{name} cannot be read or written: {error.strerror or error}")


def digest_of(data: bytes) -> str:
    """A digest of some bytes, as the engine's files give it."""
    return blake2b(data, digest_size=16).hexdigest()
