"""Folders that a hostile child may have filled: how much lies there, and how to be rid of it."""

from __future__ import annotations

import os

_MOST_FILES = 10_000


def remove_tree(folder: str) -> None:
    """Remove a folder however deep it nests and whatever its permissions, following no links.

    It goes down by changing this process's working folder, one step at a time, so that neither the
    depth nor the length of a path matters; nothing else may be at work in the folder.

    Raises:
        OSError: something cannot be removed.
    """
    back = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY)
    try:
        os.chmod(folder, 0o700)
        os.chdir(folder)
        above: list[str] = []
        while True:
            inner = _remove_files()
            if inner is not None:
                os.chmod(inner, 0o700)
                os.chdir(inner)
                above.append(inner)
            elif above:
                os.chdir("..")
                os.rmdir(above.pop())
            else:
                break
    finally:
        os.fchdir(back)
        os.close(back)
    os.rmdir(folder)


def _remove_files() -> str | None:
    """Remove the files of the working folder; one of its folders, if it has any."""
    inner = None
    with os.scandir(".") as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner = entry.name
            else:
                os.unlink(entry.name)
    return inner


def tree_size(folder: str) -> int:
    """Bytes on disk below a folder; more than any limit where there are more files than allowed."""
    total = seen = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if seen > _MOST_FILES:
                        return 1 << 62
        except OSError:
            continue  # a file or folder that is gone already, or whose path is too long to follow
    return total
