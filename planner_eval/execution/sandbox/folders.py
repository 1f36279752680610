"""Folders that a hostile child may have filled: how much lies there, and how to be rid of it."""

from __future__ import annotations

import os

MAX_FILES = 10_000
"""How many files and folders a plan's folder may hold."""
_ABOVE_ANY_LIMIT = 1 << 62
"""More than any limit."""


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
    """Bytes on disk below a folder; more than any limit where some cannot be counted, or files are many."""
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
                    if seen > MAX_FILES:
                        return _ABOVE_ANY_LIMIT
        except FileNotFoundError:
            continue  # gone already
        except OSError:  # a folder that may not be listed, or a path too long to follow
            return _ABOVE_ANY_LIMIT
    return total


def unlinked_size(pid: int, folder: str) -> int:
    """Bytes on disk of what a process has open or mapped of a folder and no folder shows any more."""
    total = 0
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                status = os.stat(f"/proc/{pid}/fd/{name}")
            except FileNotFoundError:
                continue
            if not status.st_nlink and status.st_mode & 0o170000 == 0o100000:
                total += status.st_blocks * 512
        with open(f"/proc/{pid}/maps", "rb") as file:
            lines = file.read().split(b"\n")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except OSError:
        return _ABOVE_ANY_LIMIT if _is_alive(pid) else 0
    within = b" " + os.fsencode(folder) + b"/"
    mapped = any(within in line and line.endswith(b" (deleted)") for line in lines)
    return _ABOVE_ANY_LIMIT if mapped else total


def _is_alive(pid: int) -> bool:
    """Whether a process is still at work: one that ends gives its memory back first, then belongs to root."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[20] != b"0"
    except OSError:
        return False
