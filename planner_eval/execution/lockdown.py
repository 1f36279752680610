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

from planner_eval.execution.kernel import in_memory, no_new_privileges, prctl, syscall
from planner_eval.execution.landlock import confine_to, landlock_abi, prepared_rules, restrict_files
from planner_eval.execution.namespaces import own_count
from planner_eval.execution.syscalls import ARCHITECTURES, seccomp_filter

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Report: TypeAlias = dict[str, tuple[bool, str]]
    """Layer → whether it is in force, and what was found."""

LINUX = sys.platform.startswith("linux")
LAYERS = ("limits", "capabilities", "landlock", "seccomp")
"""In the order in which they are applied."""

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


def _limit(kind: int, value: int) -> tuple[int, tuple[int, int]]:
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
            resource.setrlimit(*_limit(kind, value))
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


def prepared_filter(role: str, *, threads: bool) -> bytes:
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
    buffer = in_memory(program)
    no_new_privileges()
    _install(struct.pack("@HP", len(program) // 8, addressof(buffer)))
    return os.uname().machine


def _install(head: bytes) -> None:
    syscall(_SECCOMP[os.uname().machine], 1, 0, head)


def _try(layer: str, apply: Callable[[], str]) -> tuple[bool, str]:
    if layer != "limits" and sys.platform != "linux":
        return False, f"{sys.platform} has none"
    try:
        return True, apply()
    except (OSError, KeyError, ValueError) as error:
        return False, str(error)


def lock_down(limits: dict[str, int], rules: dict[str, Any], program: bytes) -> Report:
    """Apply every layer that this machine offers to this process.

    Args:
        limits: As in `set_limits`.
        rules: As in `restrict_files`.
        program: From `prepared_filter`.

    Returns:
        Each layer of `LAYERS` with whether it is in force; a layer that fails does not stop the next.
    """
    return {
        "limits": _try("limits", lambda: set_limits(limits)),
        "capabilities": _try("capabilities", drop_capabilities),
        "landlock": _try("landlock", lambda: restrict_files(rules)),
        "seccomp": _try("seccomp", lambda: restrict_syscalls(program)),
    }


def tasks_layer(limits: dict[str, int], why: str | None) -> Report:
    """What is reported of the limit on tasks; `why` says why they are only counted from outside."""
    if not limits.get("NPROC"):
        return {"tasks": (True, "no threads, no processes")}
    if why is not None:
        return {"tasks": (False, f"counted from outside: {why}")}
    return {"tasks": (True, f"{limits['NPROC']} threads")}


class SecondLock:
    """What each child of the locked-down zygote adds for itself, prepared before the fork.

    A forked child pays for every page of memory that it touches, so it should have little left to do.

    Args:
        limits: Those that hold for a child and not for the zygote.
        base: What holds for the zygote.
        rules: As in `restrict_files`. They hold for the zygote and allow it the folders of all plans, so
            each child names anew what it may read, and of those folders its own.
        program: The filter for children, from `prepared_filter`.
        counted: Whether each child's tasks are counted apart from the others'.
    """

    def __init__(
        self, limits: dict[str, int], base: Report, rules: dict[str, Any], program: bytes, *, counted: bool
    ) -> None:
        self.counted = counted
        self.limits = [_limit(getattr(resource, f"RLIMIT_{name}"), value) for name, value in limits.items()]
        self.held = in_memory(program)
        self.head = struct.pack("@HP", len(program) // 8, addressof(self.held))
        self.abi = landlock_abi() if base["landlock"][0] else 0
        self.rules = prepared_rules(rules) if self.abi else []
        self.report = dict(base)
        if base["limits"][0]:
            self.report["limits"] = (True, ", ".join([base["limits"][1], *limits]))

    def apply(self, folder: str | None) -> Report:
        """Lock this process down for good; it may write in `folder` alone, or nowhere."""
        try:
            layer = "limits"
            if self.counted:
                own_count()
                drop_capabilities()
            layer = "landlock"
            if self.abi:
                confine_to(folder, self.rules, self.abi)
            layer = "limits"  # after the rules, whose descriptors may be more than a child may open
            for kind, pair in self.limits:
                resource.setrlimit(kind, pair)
            layer = "seccomp"
            if self.report["seccomp"][0]:
                _install(self.head)
        except (OSError, ValueError) as error:
            return {**self.report, layer: (False, str(error))}
        return self.report
