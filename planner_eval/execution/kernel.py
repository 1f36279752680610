"""System calls that Python has no function for."""

from __future__ import annotations

import os
import sys
from _ctypes import (  # what `ctypes` itself builds on, without the 1.5 ms that it takes to build it
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    Array,
    CFuncPtr,
    _SimpleCData,
    dlopen,
    dlsym,
    get_errno,
)

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from typing import Any

_PR_SET_NO_NEW_PRIVS = 38


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


def syscall(number: int, *arguments: Any) -> int:
    """Make a system call; integers, bytes and None are its arguments.

    Raises:
        OSError: the kernel refuses.
    """
    result = int(_syscall_of_libc(*(_Long(a) if isinstance(a, int) else a for a in (number, *arguments))))
    if result < 0:
        code = get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, value: int) -> int:
    """Ask the kernel for something that concerns this process."""
    assert _prctl_of_libc is not None
    return int(_prctl_of_libc(option, _Long(value), _Long(0), _Long(0), _Long(0)))


def in_memory(program: bytes) -> Any:
    """A copy of a filter at an address that stays."""
    kind: Any = type("Filter", (Array,), {"_type_": _Byte, "_length_": len(program)})
    return kind.from_buffer_copy(program)


def no_new_privileges() -> None:
    """What the kernel wants to know before a process without privileges may confine itself."""
    if prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError(get_errno(), "the kernel refuses no_new_privs")
