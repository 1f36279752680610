"""The layers that confine a worker: limits, capabilities, Landlock, seccomp. Applied by the worker to itself.

Nothing here starts or watches a process; see `worker` (the child's side) and `sandbox` (the parent's).
Linux does the work; elsewhere only the resource limits hold, and the report says so.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from _ctypes import (  # what `ctypes` itself builds on, without the 1.5 ms that it takes to build it
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    Array,
    CFuncPtr,
    _SimpleCData,
    addressof,
    dlopen,
    dlsym,
    get_errno,
)

from planner_eval.execute.syscalls import ARCHITECTURES, seccomp_filter

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Report: TypeAlias = dict[str, tuple[bool, str]]
    """Layer → whether it is in force, and what was found."""

LINUX = sys.platform.startswith("linux")
LAYERS = ("limits", "capabilities", "landlock", "seccomp")
"""In the order in which they are applied."""

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPABILITY_VERSION = 0x20080522

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_REMOVE_DIR = 1 << 4
_OWN_FOLDER = _READ | (1 << 1) | _REMOVE_DIR | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 14)
"""Read, write, remove and make regular files and folders, truncate; no links, devices or sockets."""
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Landlock ABI → every file-system right that it knows."""


class _Long(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "l"


class _Byte(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "B"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_LIBC = dlopen(None, 0)  # type: ignore[arg-type]
_syscall_of_libc = _Function(dlsym(_LIBC, "syscall"))
_prctl_of_libc = _Function(dlsym(_LIBC, "prctl")) if sys.platform == "linux" else None


def _syscall(number: int, *arguments: Any) -> int:
    result = int(_syscall_of_libc(*(_Long(a) if isinstance(a, int) else a for a in (number, *arguments))))
    if result < 0:
        code = get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, value: int) -> int:
    assert _prctl_of_libc is not None
    return int(_prctl_of_libc(option, _Long(value), _Long(0), _Long(0), _Long(0)))


def _in_memory(program: bytes) -> Any:
    """A copy of the filter at an address that stays."""
    kind: Any = type("Filter", (Array,), {"_type_": _Byte, "_length_": len(program)})
    return kind.from_buffer_copy(program)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent goes; leave at once where it has gone already."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(0)


def set_limits(limits: dict[str, int]) -> str:
    """Set resource limits, hard and soft; the names are those of `resource` without ``RLIMIT_``."""
    held = []
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (ValueError, OSError):
            if LINUX:
                raise
            continue  # macOS refuses some: those that hold are named
        held.append(name)
    return ", ".join(held)


def drop_capabilities() -> str:
    """Give up every capability, so that root is bound by the limits too."""
    head = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _syscall(_CAPSET[os.uname().machine], head, bytes(24))
    return "dropped"


def landlock_abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it offers none."""
    if sys.platform != "linux" or os.uname().machine not in ARCHITECTURES:
        return 0
    try:
        return _syscall(_LANDLOCK_CREATE, None, 0, 1)
    except OSError:
        return 0


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read
    try:
        if not os.path.isdir(path):
            rights &= ~_READ_DIR
        rule = struct.pack("=Qi", rights, place)
        _syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0)
    finally:
        os.close(place)


def _ruleset(abi: int) -> int:
    """An empty Landlock ruleset that forbids everything this version knows."""
    attributes = struct.pack("=QQQ", _HANDLED[min(abi, 5)], 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    return _syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0)


def _enforce(ruleset: int) -> None:
    _syscall(_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


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
    for path in rules["read"]:
        _allow(ruleset, path, _READ)
    for path in rules["names"]:
        _allow(ruleset, path, _READ_DIR)
    if rules["folder"] is not None:
        _allow(ruleset, rules["folder"], _OWN_FOLDER & _HANDLED[min(abi, 5)])
        _allow(ruleset, os.path.dirname(rules["folder"]), _REMOVE_DIR)
    _no_new_privileges()
    _enforce(ruleset)
    return f"ABI {abi}"


def _no_new_privileges() -> None:
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError(get_errno(), "the kernel refuses no_new_privs")


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
    held = _in_memory(program)
    _no_new_privileges()
    _install(struct.pack("@HP", len(program) // 8, addressof(held)))
    return os.uname().machine


def _install(head: bytes) -> None:
    _syscall(_SECCOMP[os.uname().machine], 1, 0, head)


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


class SecondLock:
    """What each child of a locked-down server adds for itself, prepared before the fork.

    A forked child pays for every page of memory that it touches, so it should have little left to do.

    Args:
        limits: Those that hold for a child and not for the server.
        base: What holds for the server.
        program: The filter for children, from `prepared_filter`.
    """

    def __init__(self, limits: dict[str, int], base: Report, program: bytes) -> None:
        self.limits = [
            (getattr(resource, f"RLIMIT_{name}"), (value, value)) for name, value in limits.items()
        ]
        self.held = _in_memory(program)
        self.head = struct.pack("@HP", len(program) // 8, addressof(self.held))
        self.abi = landlock_abi() if base["landlock"][0] else 0
        self.report = dict(base)
        if base["limits"][0]:
            self.report["limits"] = (True, ", ".join([base["limits"][1], *limits]))

    def apply(self, folder: str | None) -> Report:
        """Lock this process down for good; it may write in `folder` alone, or nowhere.

        What may be read at all is settled by the server's own rules.
        """
        try:
            layer = "limits"
            for kind, pair in self.limits:
                resource.setrlimit(kind, pair)
            layer = "landlock"
            if folder is not None and self.abi:
                ruleset = _ruleset(self.abi)
                _allow(ruleset, "/", _READ)
                _allow(ruleset, folder, _OWN_FOLDER & _HANDLED[min(self.abi, 5)])
                _enforce(ruleset)
            layer = "seccomp"
            if self.report["seccomp"][0]:
                _install(self.head)
        except (OSError, ValueError) as error:
            return {**self.report, layer: (False, str(error))}
        return self.report
