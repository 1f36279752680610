"""Folders for as long as a process lives; what killed processes left of theirs is removed by the next one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from typing import Any, NamedTuple

fcntl: Any
try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None

_LOCK = "lock"
_FOLDER_NAME = re.compile(r"planeval-tmp-\w{8}")
_UNLOCKED_PREFIX = ".planeval-new-"
"""How a folder is called until it is locked: nobody takes it for one that was left."""


class TemporaryFolder(NamedTuple):
    """A folder of ours.

    Args:
        path: Where it lies.
        lock: A file that is open, and locked, as long as it is used; None where files cannot be locked.
    """

    path: str
    lock: int | None

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)


def make_temporary_folder() -> TemporaryFolder:
    """A new folder among the temporary ones, of this process.

    Folders of that kind, of this user and this machine, that no process holds any more are removed first.

    Raises:
        OSError: it cannot be made.
    """
    home = tempfile.gettempdir()
    _remove_abandoned(home)
    unlocked = tempfile.mkdtemp(prefix=_UNLOCKED_PREFIX, dir=home)
    try:
        lock = _open_locked(os.path.join(unlocked, _LOCK), new=True)
        path = os.path.join(home, f"planeval-tmp-{unlocked[-8:]}")
        os.rename(unlocked, path)
    except BaseException:
        shutil.rmtree(unlocked, ignore_errors=True)
        raise
    return TemporaryFolder(path, lock)


def _remove_abandoned(home: str) -> None:
    """Remove the folders that nobody holds any more."""
    if fcntl is None:
        return
    try:
        folders = [
            entry.path for entry in os.scandir(home) if _FOLDER_NAME.fullmatch(entry.name) and _is_ours(entry)
        ]
    except OSError:
        return
    for path in folders:
        lock = _open_locked(os.path.join(path, _LOCK))
        if lock is not None:
            TemporaryFolder(path, lock).remove()


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
    return own and entry.is_dir(follow_symlinks=False)


def _open_locked(name: str, *, new: bool = False) -> int | None:
    """A file that nobody else holds, open and locked; None where that cannot be.

    It names its machine: on a disk that several share, locks of another one may not be seen.
    """
    if fcntl is None:
        return None
    machine = os.uname().nodename.encode()
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if new else 0), 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if new:
            os.write(descriptor, machine)
            return descriptor
        if os.read(descriptor, len(machine) + 1) == machine:
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
