"""System calls: those that Python has no function for, and those that a confined process may make.

A list of what is allowed, not of what is refused: a call that a newer kernel adds is refused until
somebody thinks about it. Refused on purpose: sockets, new processes, signals to others, ptrace,
io_uring, memory that no limit counts (memfd, shm), and what Landlock does not see (chmod, chown,
utime, xattr).
"""

from __future__ import annotations

import os
import struct
import sys
from _ctypes import (
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


# ----------------------------------------------------------------------
# The system calls that a confined process may make, and the seccomp filters that say so.
_ALLOWED_CALLS = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
pwritev 296 70, lseek 8 62, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
pipe 22 -, pipe2 293 59, creat 85 -, access 21 -, faccessat 269 48, faccessat2 439 439, stat 4 -,
lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44,
readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49,
fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36,
fsync 74 82, fdatasync 75 83, ftruncate 77 46, fadvise64 221 223, flock 73 32,
umask 95 166, sendfile 40 71, copy_file_range 326 285, mmap 9 222, munmap 11 215,
mprotect 10 226, mremap 25 216, madvise 28 233, brk 12 214, msync 26 227, rt_sigaction 13 134,
rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137,
rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -, poll 7 -, ppoll 271 73, select 23 -,
pselect6 270 72, epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -,
epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19, timerfd_create 283 85,
timerfd_settime 286 86, timerfd_gettime 287 87, clock_gettime 228 113, clock_getres 229 114,
clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169, time 201 -, times 100 153,
getrusage 98 165, setitimer 38 103, getitimer 36 102, alarm 37 -, getpid 39 172, getppid 110 173,
gettid 186 178, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177,
getresuid 118 148, getresgid 120 150, getgroups 115 158, getpgrp 111 -, getpgid 121 155,
getsid 124 156, getpriority 140 141, getrlimit 97 163, uname 63 160, sysinfo 99 179,
getrandom 318 278, getcpu 309 168, sched_yield 24 124, sched_getaffinity 204 123,
sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, arch_prctl 158 -, set_tid_address 218 96,
set_robust_list 273 99, get_robust_list 274 100, rseq 334 293, futex 202 98,
futex_waitv 449 449, restart_syscall 219 128, exit 60 93, exit_group 231 94, membarrier 324 283
"""
_CHECKED_CALLS = """
open 2 -, openat 257 56, clone 56 220, clone3 435 435, ioctl 16 29, fcntl 72 25, prctl 157 167,
prlimit64 302 261, fallocate 285 47
"""
_SERVER_ONLY_CALLS = """
clone 56 220, prctl 157 167, wait4 61 260, kill 62 129, setsid 112 157, chmod 90 -, fchmodat 268 53,
seccomp 317 277, capset 126 91, unshare 272 97, landlock_create_ruleset 444 444, landlock_add_rule 445 445,
landlock_restrict_self 446 446, sendmsg 46 211, recvmsg 47 212
"""
"""What the supervisor and the zygote, which forks, do besides; the children give it up."""
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine name → column of the tables above and the kernel's audit number."""
HIGHEST_REVIEWED_NUMBER = 450
"""The highest system call number that the tables' author has looked at."""

_ALLOW, _EPERM, _ENOSYS, _EOPNOTSUPP = 0x7FFF0000, 0x00050001, 0x00050026, 0x0005005F
_IOCTLS = (0x5401, 0x5450, 0x5451, 0x5421, 0x541B)
"""TCGETS, FIONCLEX, FIOCLEX, FIONBIO, FIONREAD."""
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
"""Duplicate, flags, locks, pipe size; not F_SETOWN, which can send signals."""
_PRCTLS = (15, 16, 0x53564D41)
"""PR_SET_NAME, PR_GET_NAME, PR_SET_VMA."""
_CLONE_THREAD = 0x00010000


def syscall_numbers(table: str, column: int) -> dict[str, int]:
    """Name → number on one architecture, of the calls that exist there."""
    rows = [entry.split() for entry in table.replace("\n", " ").split(",")]
    return {row[0]: int(row[1 + column]) for row in rows if row[1 + column] != "-"}


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _load(offset: int) -> bytes:
    return _instruction(0x20, offset)


def _load_argument(index: int) -> bytes:
    return _load(16 + 8 * index)  # both architectures are little-endian: the low word comes first


def _return(action: int) -> bytes:
    return _instruction(0x06, action)


def _when_equal(value: int, body: bytes) -> bytes:
    return _instruction(0x15, value, 0, len(body) // 8) + body


def _allow_only_values(argument: int, values: tuple[int, ...]) -> bytes:
    return (
        _load_argument(argument)
        + b"".join(_when_equal(value, _return(_ALLOW)) for value in values)
        + _return(_EPERM)
    )


def _refuse_read_only_truncation(argument: int) -> bytes:
    """Landlock before ABI 3 lets a readable file be opened with O_RDONLY | O_TRUNC, which empties it."""
    masked = _instruction(0x54, 0x203)
    refused = _when_equal(0x200, _return(_EPERM)) + _when_equal(0x203, _return(_EPERM))
    return _load_argument(argument) + masked + refused + _return(_ALLOW)


def _argument_checks(threads: bool) -> dict[str, bytes]:
    """What decides on the calls whose arguments matter."""
    thread = _load_argument(0) + _instruction(0x45, _CLONE_THREAD, 0, 1) + _return(_ALLOW) + _return(_EPERM)
    return {
        "open": _refuse_read_only_truncation(1),
        "openat": _refuse_read_only_truncation(2),
        "clone": thread if threads else _return(_EPERM),
        "clone3": _return(_ENOSYS),  # its flags lie in memory; libc falls back to clone
        "fallocate": _return(_EOPNOTSUPP),  # it can take space that no size tells; libc then writes instead
        "ioctl": _allow_only_values(1, _IOCTLS),
        "fcntl": _allow_only_values(1, _FCNTLS),
        "prctl": _allow_only_values(0, _PRCTLS),
        "prlimit64": _allow_only_values(0, (0,)),
    }


def seccomp_filter(machine: str, role: str, *, threads: bool) -> bytes:
    """The filter as an array of `struct sock_filter`, 8 bytes each.

    Args:
        machine: ``"x86_64"`` or ``"aarch64"``.
        role: ``"worker"``: everything a confined process may do; ``"server"``: the same and what
            starting and ending children takes, passing descriptors on included;
            ``"child"``: short, on top of the server's, takes the difference away (the kernel
            needs 0.3 ms for the long one).
        threads: Whether a worker or child may start threads.

    Raises:
        KeyError: no table for this machine.
    """
    column, audit = ARCHITECTURES[machine]
    checks = _argument_checks(threads)
    extra = syscall_numbers(_SERVER_ONLY_CALLS, column)
    if role == "child":
        table = {number: checks.get(name, _return(_EPERM)) for name, number in extra.items()}
        fallback = _return(_ALLOW)
    else:
        table = {number: _return(_ALLOW) for number in syscall_numbers(_ALLOWED_CALLS, column).values()}
        table |= {number: checks[name] for name, number in syscall_numbers(_CHECKED_CALLS, column).items()}
        if role == "server":
            table |= {number: _return(_ALLOW) for number in extra.values()}
        fallback = _instruction(0x35, HIGHEST_REVIEWED_NUMBER + 1, 0, 1) + _return(_ENOSYS) + _return(_EPERM)
    # another architecture's numbers mean other calls: kill
    head = _load(4) + _instruction(0x15, audit, 1, 0) + _return(0x80000000) + _load(0)
    return head + b"".join(_when_equal(number, body) for number, body in table.items()) + fallback


# ----------------------------------------------------------------------
# System calls that Python has no function for.
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


def copy_to_memory(program: bytes) -> Any:
    """A copy of a filter at an address that stays."""
    kind: Any = type("Filter", (Array,), {"_type_": _Byte, "_length_": len(program)})
    return kind.from_buffer_copy(program)


def forbid_new_privileges() -> None:
    """What the kernel wants to know before a process without privileges may confine itself."""
    if prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError(get_errno(), "the kernel refuses no_new_privs")
