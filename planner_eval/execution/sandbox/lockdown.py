"""The layers that confine a worker: limits, capabilities, Landlock, seccomp. Applied by the worker to itself.

Nothing here starts or watches a process; see `worker` (the child's side) and `sandbox` (the parent's).
Linux does the work; elsewhere only the resource limits hold, and the report says so.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from _ctypes import addressof
from _stat import S_ISDIR

from planner_eval.execution.sandbox.namespaces import separate_task_count
from planner_eval.execution.sandbox.syscalls import (
    ARCHITECTURES,
    copy_to_memory,
    forbid_new_privileges,
    prctl,
    seccomp_filter,
    syscall,
)

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Rules: TypeAlias = dict[str, Any]
    """Which files may be read, listed and written, see `restrict_files`."""
    Report: TypeAlias = dict[str, tuple[bool, str]]
    """Layer → whether it is in force, and what was found."""


# ----------------------------------------------------------------------
# Landlock: which files a process may read, list and write, told to the kernel.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_REMOVE_DIR = 1 << 4
_OWN_FOLDER_RIGHTS = _READ | (1 << 1) | _REMOVE_DIR | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 14)
"""Read, write, remove and make regular files and folders, truncate; no links, devices or sockets."""
_HANDLED_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Landlock ABI → every file-system right that it knows."""


def landlock_abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it offers none."""
    if sys.platform != "linux" or os.uname().machine not in ARCHITECTURES:
        return 0
    try:
        return syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def _open_rule(path: str, rights: int) -> tuple[int, bytes] | None:
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


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    opened = _open_rule(path, rights)
    if opened is not None:
        descriptor, rule = opened
        try:
            _add_rule(ruleset, rule)
        finally:
            os.close(descriptor)


def _add_rule(ruleset: int, rule: bytes) -> None:
    syscall(_ADD_RULE, ruleset, 1, rule, 0)


def _create_ruleset(abi: int) -> int:
    """An empty Landlock ruleset that forbids everything this version knows."""
    attributes = struct.pack("=QQQ", _HANDLED_RIGHTS[min(abi, 5)], 3, 3)[
        : 8 if abi < 4 else 16 if abi < 6 else 24
    ]
    return syscall(_CREATE_RULESET, attributes, len(attributes), 0)


def _enforce(ruleset: int) -> None:
    syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _readable_paths(rules: Rules) -> list[tuple[str, int]]:
    """Each place that may be read or listed, with the rights; one inside another says nothing new."""
    readable_paths = set(rules["read"])
    outermost = [
        path for path in dict.fromkeys(rules["read"]) if readable_paths.isdisjoint(_parent_folders(path))
    ]
    return [(path, _READ) for path in outermost] + [(path, _READ_DIR) for path in rules["names"]]


def _parent_folders(path: str) -> list[str]:
    """The folders that hold a place, from within outwards."""
    folders = []
    while (outer := os.path.dirname(path)) != path:
        folders.append(outer)
        path = outer
    return folders


def restrict_files(rules: Rules) -> str:
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
    ruleset = _create_ruleset(abi)
    for path, rights in _readable_paths(rules):
        _allow_path(ruleset, path, rights)
    if rules["folder"] is not None:
        _allow_path(ruleset, rules["folder"], _OWN_FOLDER_RIGHTS & _HANDLED_RIGHTS[min(abi, 5)])
        _allow_path(ruleset, os.path.dirname(rules["folder"]), _REMOVE_DIR)
    forbid_new_privileges()
    _enforce(ruleset)
    return f"ABI {abi}"


def prepare_rules(rules: Rules) -> list[bytes]:
    """Rules for what may be read, for processes that the exact ones bind already.

    Here a folder stands for its files, which may be thousands and would cost each plan their time; but
    none that holds the folders of plans.

    Args:
        rules: As in `restrict_files`; ``folder`` holds the folders of all plans.

    Returns:
        What `confine_to_folder` takes. Each rule keeps a descriptor open, so the limit on them is raised.
    """
    excluded = [rules["folder"], *_parent_folders(rules["folder"])] if rules["folder"] is not None else []
    gathered: dict[str, int] = {}
    for path, rights in _readable_paths(rules):
        above = os.path.dirname(path)
        target = path if os.path.isdir(path) or above in excluded else above
        gathered[target] = gathered.get(target, 0) | rights
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    opened = [_open_rule(path, rights) for path, rights in gathered.items()]
    return [rule for _, rule in filter(None, opened)]


def confine_to_folder(folder: str | None, rules: list[bytes], abi: int) -> None:
    """Confine this process once more: it may write in `folder` alone, or nowhere.

    Even where there is no folder this puts the process into a domain of its own, so that it can look into
    no process but itself.

    Args:
        folder: The folder.
        rules: From `prepare_rules`.
        abi: The version of Landlock.
    """
    ruleset = _create_ruleset(abi)
    for rule in rules:
        _add_rule(ruleset, rule)
    if folder is not None:
        _allow_path(ruleset, folder, _OWN_FOLDER_RIGHTS & _HANDLED_RIGHTS[min(abi, 5)])
    _enforce(ruleset)


# ----------------------------------------------------------------------
# The layers that confine a worker: limits, capabilities, Landlock, seccomp. Applied by the worker to
# itself.
LINUX = sys.platform.startswith("linux")

_PR_SET_PDEATHSIG = 1
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPABILITY_VERSION = 0x20080522


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent goes; leave at once where it has gone already."""
    if sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(0)


def _bounded_limit(kind: int, value: int) -> tuple[int, tuple[int, int]]:
    """A limit and its two values: hard and soft, and not above what this process may have."""
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return kind, (value, value)


def set_limits(limits: dict[str, int]) -> str:
    """Set resource limits, hard and soft; the names are those of `resource` without ``RLIMIT_``."""
    applied = []
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        try:
            resource.setrlimit(*_bounded_limit(kind, value))
        except (ValueError, OSError):
            if LINUX:
                raise
            continue  # macOS refuses some: those that hold are named
        applied.append(name)
    return ", ".join(applied)


def drop_capabilities() -> str:
    """Give up every capability, so that root is bound by the limits too."""
    head = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    syscall(_CAPSET[os.uname().machine], head, bytes(24))
    return "dropped"


def prepare_filter(role: str, *, threads: bool) -> bytes:
    """The seccomp filter for a role on this machine; empty where there is no table for the machine."""
    machine = os.uname().machine if sys.platform == "linux" else ""
    return seccomp_filter(machine, role, threads=threads) if machine in ARCHITECTURES else b""


def restrict_syscalls(program: bytes) -> str:
    """Confine this process to the system calls that the filter `program` allows.

    Raises:
        OSError: the kernel refuses, or the filter is empty.
    """
    if not program:
        raise OSError(f"no table of system calls for {os.uname().machine}")
    buffer = copy_to_memory(program)
    forbid_new_privileges()
    _install_filter(struct.pack("@HP", len(program) // 8, addressof(buffer)))
    return os.uname().machine


def _install_filter(head: bytes) -> None:
    syscall(_SECCOMP[os.uname().machine], 1, 0, head)


def _try_layer(layer: str, apply: Callable[[], str]) -> tuple[bool, str]:
    if layer != "limits" and sys.platform != "linux":
        return False, f"{sys.platform} has none"
    try:
        return True, apply()
    except (OSError, KeyError, ValueError) as error:
        return False, str(error)


def lock_down(limits: dict[str, int], rules: Rules, program: bytes) -> Report:
    """Apply every layer that this machine offers to this process.

    Args:
        limits: As in `set_limits`.
        rules: As in `restrict_files`.
        program: From `prepare_filter`.

    Returns:
        Each layer, in the order in which they are applied, with whether it is in force; one that fails does
        not stop the next.
    """
    return {
        "limits": _try_layer("limits", lambda: set_limits(limits)),
        "capabilities": _try_layer("capabilities", drop_capabilities),
        "landlock": _try_layer("landlock", lambda: restrict_files(rules)),
        "seccomp": _try_layer("seccomp", lambda: restrict_syscalls(program)),
    }


def tasks_layer(limits: dict[str, int], why: str | None) -> Report:
    """What is reported of the limit on tasks; `why` says why they are only counted from outside."""
    if not limits.get("NPROC"):
        return {"tasks": (True, "no threads, no processes")}
    if why is not None:
        return {"tasks": (False, f"counted from outside: {why}")}
    return {"tasks": (True, f"{limits['NPROC']} threads")}


class ChildLockdown:
    """What each child of the locked-down zygote adds for itself, prepared before the fork.

    A forked child pays for every page of memory that it touches, so it should have little left to do.

    Args:
        limits: Those that hold for a child and not for the zygote.
        base: What holds for the zygote.
        rules: As in `restrict_files`. They hold for the zygote and allow it the folders of all plans, so
            each child names anew what it may read, and of those folders its own.
        program: The filter for children, from `prepare_filter`.
        counted: Whether each child's tasks are counted apart from the others'.
    """

    def __init__(
        self, limits: dict[str, int], base: Report, rules: Rules, program: bytes, *, counted: bool
    ) -> None:
        self.counted = counted
        self.limits = [
            _bounded_limit(getattr(resource, f"RLIMIT_{name}"), value) for name, value in limits.items()
        ]
        self.held = copy_to_memory(program)
        self.head = struct.pack("@HP", len(program) // 8, addressof(self.held))
        self.abi = landlock_abi() if base["landlock"][0] else 0
        self.rules = prepare_rules(rules) if self.abi else []
        self.report = dict(base)
        if base["limits"][0]:
            self.report["limits"] = (True, ", ".join([base["limits"][1], *limits]))

    def apply(self, folder: str | None) -> Report:
        """Lock this process down for good; it may write in `folder` alone, or nowhere."""
        try:
            layer = "limits"
            if self.counted:
                separate_task_count()
                drop_capabilities()
            layer = "landlock"
            if self.abi:
                confine_to_folder(folder, self.rules, self.abi)
            layer = "limits"  # after the rules, whose descriptors may be more than a child may open
            for kind, pair in self.limits:
                resource.setrlimit(kind, pair)
            layer = "seccomp"
            if self.report["seccomp"][0]:
                _install_filter(self.head)
        except (OSError, ValueError) as error:
            return {**self.report, layer: (False, str(error))}
        return self.report
