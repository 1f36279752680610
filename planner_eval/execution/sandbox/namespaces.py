"""Namespaces of a worker's own, where the kernel allows them: disks of a fixed size, and a count of tasks.

A limit on what lies in a folder holds against everything only where the folder is a disk of that size: what
is unlinked, hidden or too deep to look at counts there too. To mount one takes a user and a mount namespace,
which Linux gives to ordinary users, unless it was told not to. A limit on tasks counts all tasks that a user
has, so each plan that may start threads gets a user namespace, where the count begins anew.
"""

from __future__ import annotations

import os
import sys

from planner_eval.execution.sandbox.folders import MAX_FILES
from planner_eval.execution.sandbox.syscalls import syscall

LINUX = sys.platform == "linux"
_UNSHARE = {"x86_64": 272, "aarch64": 97}
_MOUNT = {"x86_64": 165, "aarch64": 40}
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000
_NO_SUID, _NO_DEVICES = 2, 4
_NOBODY = 65534


def mount_own_disks(folders: list[str], size: int, *, threads: bool) -> None:
    """Give this process a mount namespace of its own, with a disk of a fixed size in each of these places.

    Args:
        folders: New folders.
        size: Bytes.
        threads: Whether children shall be able to have `separate_task_count`.

    Raises:
        OSError: the kernel refuses; this process is then of no use any more.
    """
    if threads:
        _become_nobody()
    user, group = os.geteuid(), os.getegid()
    _unshare(_NEW_USERS | _NEW_MOUNTS)
    _write_proc_self("setgroups", "deny")
    _write_proc_self("uid_map", f"{user} {user} 1")
    _write_proc_self("gid_map", f"{group} {group} 1")
    options = f"size={max(1, size)},nr_inodes={MAX_FILES},mode=0700".encode()
    for folder in folders:
        os.mkdir(folder, 0o700)
        number = _syscall_number(_MOUNT)
        syscall(number, b"tmpfs", os.fsencode(folder), b"tmpfs", _NO_SUID | _NO_DEVICES, options)


def separate_task_count() -> None:
    """Have the tasks of this process counted apart from all others of its user.

    It gets capabilities, in a namespace that has nothing, and has to drop them.

    Raises:
        OSError: the kernel refuses.
    """
    _unshare(_NEW_USERS)


def separate_worker_task_count() -> None:
    """The same for a process that was not made by one with `mount_own_disks`.

    Raises:
        OSError: the kernel refuses.
    """
    _become_nobody()
    separate_task_count()


def _become_nobody() -> None:
    """Nobody counts the tasks of root; whose they are is the real user, files go by the effective one."""
    if LINUX and os.geteuid() == 0:
        os.setresuid(_NOBODY, 0, 0)


def _unshare(what: int) -> None:
    syscall(_syscall_number(_UNSHARE), what)


def _syscall_number(table: dict[str, int]) -> int:
    number = table.get(os.uname().machine) if LINUX else None
    if number is None:
        raise OSError(f"no namespaces on {sys.platform} {os.uname().machine}")
    return number


def _write_proc_self(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)


def task_count(pid: int) -> int:
    """How many tasks a process has; 0 where it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except (FileNotFoundError, ProcessLookupError):
        return 0
