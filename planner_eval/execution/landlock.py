"""Landlock: which files a process may read, list and write, told to the kernel."""

from __future__ import annotations

import os
import resource
import struct
import sys
from _stat import S_ISDIR

from planner_eval.execution.kernel import no_new_privileges, syscall
from planner_eval.execution.syscalls import ARCHITECTURES

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from typing import Any

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_REMOVE_DIR = 1 << 4
_OWN_FOLDER = _READ | (1 << 1) | _REMOVE_DIR | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 14)
"""Read, write, remove and make regular files and folders, truncate; no links, devices or sockets."""
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Landlock ABI → every file-system right that it knows."""


def landlock_abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it offers none."""
    if sys.platform != "linux" or os.uname().machine not in ARCHITECTURES:
        return 0
    try:
        return syscall(_CREATE, None, 0, 1)
    except OSError:
        return 0


def _rule(path: str, rights: int) -> tuple[int, bytes] | None:
    """An open descriptor for a place and the rule that names it; None where nothing is there.

    Paths come resolved; a link that has come into their place since is not followed.

    Raises:
        OSError: the place cannot be opened for want of descriptors.
    """
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    if not S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= ~_READ_DIR
    return descriptor, struct.pack("=Qi", rights, descriptor)


def _allow(ruleset: int, path: str, rights: int) -> None:
    opened = _rule(path, rights)
    if opened is not None:
        descriptor, rule = opened
        try:
            _add(ruleset, rule)
        finally:
            os.close(descriptor)


def _add(ruleset: int, rule: bytes) -> None:
    syscall(_ADD, ruleset, 1, rule, 0)


def _ruleset(abi: int) -> int:
    """An empty Landlock ruleset that forbids everything this version knows."""
    attributes = struct.pack("=QQQ", _HANDLED[min(abi, 5)], 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    return syscall(_CREATE, attributes, len(attributes), 0)


def _enforce(ruleset: int) -> None:
    syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _readable(rules: dict[str, Any]) -> list[tuple[str, int]]:
    """Each place that may be read or listed, with the rights; one inside another says nothing new."""
    readable_paths = set(rules["read"])
    outermost = [path for path in dict.fromkeys(rules["read"]) if readable_paths.isdisjoint(_above(path))]
    return [(path, _READ) for path in outermost] + [(path, _READ_DIR) for path in rules["names"]]


def _above(path: str) -> list[str]:
    """The folders that hold a place, from within outwards."""
    folders = []
    while (outer := os.path.dirname(path)) != path:
        folders.append(outer)
        path = outer
    return folders


def restrict_files(rules: dict[str, Any]) -> str:
    """Confine this process with Landlock: read some places, list others, write in one folder.

    Args:
        rules: ``read``: files and folders that may be read; ``names``: folders whose names may be
            listed, without their files' contents; ``folder``: the one folder that may be written and
            removed, or None.

    Returns:
        The Landlock version in force, in words.

    Raises:
        OSError: the kernel has no Landlock or refuses it.
    """
    abi = landlock_abi()
    if abi < 1:
        raise OSError("this kernel offers no Landlock (Linux 5.13 or newer, enabled at boot)")
    ruleset = _ruleset(abi)
    for path, rights in _readable(rules):
        _allow(ruleset, path, rights)
    if rules["folder"] is not None:
        _allow(ruleset, rules["folder"], _OWN_FOLDER & _HANDLED[min(abi, 5)])
        _allow(ruleset, os.path.dirname(rules["folder"]), _REMOVE_DIR)
    no_new_privileges()
    _enforce(ruleset)
    return f"ABI {abi}"


def prepared_rules(rules: dict[str, Any]) -> list[bytes]:
    """Rules for what may be read, for processes that the exact ones bind already.

    Here a folder stands for its files, which may be thousands and would cost each plan their time; but
    none that holds the folders of plans.

    Args:
        rules: As in `restrict_files`; ``folder`` holds the folders of all plans.

    Returns:
        What `confine_to` takes. Each rule keeps a descriptor open, so the limit on them is raised.
    """
    excluded = [rules["folder"], *_above(rules["folder"])] if rules["folder"] is not None else []
    gathered: dict[str, int] = {}
    for path, rights in _readable(rules):
        above = os.path.dirname(path)
        target = path if os.path.isdir(path) or above in excluded else above
        gathered[target] = gathered.get(target, 0) | rights
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    opened = [_rule(path, rights) for path, rights in gathered.items()]
    return [rule for _, rule in filter(None, opened)]


def confine_to(folder: str | None, rules: list[bytes], abi: int) -> None:
    """Confine this process once more: it may write in `folder` alone, or nowhere.

    Even where there is no folder this puts the process into a domain of its own, so that it can look into
    no process but itself.

    Args:
        folder: The folder.
        rules: From `prepared_rules`.
        abi: The version of Landlock.
    """
    ruleset = _ruleset(abi)
    for rule in rules:
        _add(ruleset, rule)
    if folder is not None:
        _allow(ruleset, folder, _OWN_FOLDER & _HANDLED[min(abi, 5)])
    _enforce(ruleset)
