"""Hostile tools: each returns normally only where its attack worked. Given to workers as a tools file.

Run as a script (``attacks.py NAME [JSON arguments]``) an attack meets no confinement: the tests' control.
"""

import contextlib
import ctypes
import fcntl
import gc
import json
import mmap
import os
import re
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any


def read_file(path: str) -> str:
    with open(path) as file:
        return file.read()[:20]


def write_file(path: str) -> None:
    with open(path, "w") as file:
        file.write("was here")


def write_in_own_folder() -> str:
    write_file("notes.txt")
    with tempfile.TemporaryFile() as file:
        file.write(b"b")
    os.mkdir("inner")
    os.rename("notes.txt", "kept.txt")
    return f"{os.path.getsize('kept.txt')} bytes"


def _fill(name: str, megabytes: int = 8) -> None:
    with open(name, "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))


def many_files() -> None:
    for number in range(1_000_000):
        _fill(f"{number}", 1)


def open_by_ctypes(path: str) -> None:
    if ctypes.CDLL(None).open(path.encode(), os.O_RDONLY) < 0:
        raise PermissionError(path)


def symlink_out(path: str) -> str:
    os.symlink(path, "link")
    return read_file("link")


def _fill_all(folder: str = "") -> None:
    """Write 128 MB."""
    for number in range(16):
        _fill(f"{folder}{number}")
    time.sleep(0.5)


def fill_a_folder_that_nobody_lists() -> None:
    os.umask(0o477)
    os.mkdir("shut")
    os.umask(0o077)
    _fill_all("shut/")


def fill_unlinked_files() -> str:
    kept = []
    for number in range(16):
        with open("file", "wb") as file:
            kept.append(os.dup(file.fileno()))
            for _ in range(8):
                file.write(bytes(1 << 20))
        os.unlink("file")
        if number == 8:
            time.sleep(0.5)
    time.sleep(0.5)
    return f"{len(kept)} files of 8 MB"


def fill_mapped_files() -> str:
    kept = []
    for _ in range(16):
        with open("file", "w+b") as file:
            for _ in range(8):
                file.write(bytes(1 << 20))
            file.flush()
            kept.append(mmap.mmap(file.fileno(), 4096))
        os.unlink("file")
    time.sleep(0.5)
    return f"{len(kept)} files of 8 MB"


def fill_too_deep_a_folder() -> None:
    for _ in range(40):
        os.mkdir("x" * 200)
        os.chdir("x" * 200)
    _fill_all()


def reserve_3_gb() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with open("file", "wb") as file:
        if libc.fallocate(file.fileno(), 1, ctypes.c_long(0), ctypes.c_long(3 << 30)) != 0:
            raise OSError(ctypes.get_errno(), "fallocate")


def _threads(number: int, seconds: float) -> int:
    started = [threading.Thread(target=time.sleep, args=(seconds,), daemon=True) for _ in range(number)]
    for thread in started:
        thread.start()
    return len(started)


def thousand_threads() -> None:
    threading.stack_size(64 << 10)
    _threads(1281, 2)
    time.sleep(0.5)


def fork_forty() -> None:
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)


def environment_of(pid: int) -> str:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return f"{len(file.read())} bytes"


def memory_of(pid: int) -> str:
    class Piece(ctypes.Structure):
        _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))

    libc = ctypes.CDLL(None, use_errno=True)
    mine = ctypes.create_string_buffer(8)
    here = Piece(ctypes.addressof(mine), 8)
    there = Piece(ctypes.addressof(mine), 8)  # after a fork the same address is likely mapped; errno tells
    done = libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if done < 0 and ctypes.get_errno() in (1, 3, 38):
        raise PermissionError(ctypes.get_errno(), "process_vm_readv")
    return "asked"


def _call(number: int, *arguments: Any) -> None:
    """One system call by its number on this machine's kind, x86_64."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    done = libc.syscall(ctypes.c_long(number), *given)
    if done < 0 and ctypes.get_errno() in (1, 38):
        raise PermissionError(ctypes.get_errno(), f"system call {number}")


SYSTEM_CALLS = {
    "abstract socket": (41, 1, 1, 0), "shared memory": (29, 0, 4096, 0o1600),
    "semaphores": (64, 0, 1, 0o1600), "message queue": (240, b"planeval", 0o102, 0o600, 0),
    "kernel's key ring": (250, 0, -3, 1), "a kernel ring": (425, 1, bytes(256)),
    "trace the parent": (101, 16, 1, 0, 0), "a handle of the parent": (434, 1, 0), "fork without libc": (57,),
    "user namespace": (272, 0x10000000), "mount": (165, b"none", b".", b"tmpfs", 0, b""),
    "new root": (161, b"."), "slow the parent": (141, 0, 1, 0), "core dumps": (157, 4, 1, 0, 0, 0),
    "filters of its own": (317, 1, 0, b""), "programs in the kernel": (321, 0, bytes(128), 128),
    "page faults": (323, 0), "watch files": (253,), "fork of another architecture": (0x40000000 + 57,),
}  # fmt: skip


def system_calls() -> str:
    """Every one of them; the first that is not refused is the attack."""
    for name, (number, *given) in SYSTEM_CALLS.items():
        with contextlib.suppress(PermissionError):
            _call(number, *given)
            return name
    raise PermissionError("each is refused")


def shared_folder() -> None:
    write_file("/dev/shm/planeval-attack")
    os.unlink("/dev/shm/planeval-attack")


def hard_link_out(path: str) -> None:
    try:
        os.link(path, "link")
    except OSError as error:
        raise PermissionError(error.errno, error.strerror) from error  # another disk is as good
    os.unlink("link")


def change_files(paths: list[str]) -> str:
    """The tools' own file, planeval's: opened to add to, as an attack would that adds something."""
    for path in paths:
        with contextlib.suppress(OSError), open(path, "a"):
            return path
    raise PermissionError("none can be written")


def raise_own_limits() -> str:
    for name in ("AS", "FSIZE", "NOFILE", "NPROC", "CPU", "CORE"):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (resource.RLIM_INFINITY,) * 2)
            return name
    raise PermissionError("each is refused")


def look_around() -> str:
    """A secret of the environment, by whatever name, in what Python, libc and the kernel say of it."""
    found = [str(os.environ)]
    pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    while (entry := pointers[len(found) - 1]) is not None:
        found.append(entry.decode())
    with contextlib.suppress(OSError), open(f"/proc/{os.getppid()}/environ") as file:
        found.append(file.read())
    if "SECRET_TOKEN" not in str(found):
        raise PermissionError("there is none")
    return "found"


def descriptors_that_lead_out() -> str:
    """What lies behind an open descriptor that is no file of the own folder and no pipe."""
    for number in range(1 << 10):
        with contextlib.suppress(OSError):
            kind = os.fstat(number).st_mode & 0o170000
            if kind not in (0o020000, 0o010000):
                return f"descriptor {number} is of kind {kind:o}"
            if kind == 0o020000 and os.isatty(number):
                return f"descriptor {number} is a terminal"
    raise PermissionError("there is none")


def twelve_thousand_files() -> str:
    """Small ones, folders, and other names of the same file."""
    made = 0
    for make in (lambda name: os.close(os.open(name, os.O_CREAT)), os.mkdir, lambda name: os.link("0", name)):
        for _ in range(4_000):
            make(str(made))
            made += 1
    time.sleep(0.5)
    return f"{made} made"


def fill_nameless_files() -> None:
    for _ in range(16):
        os.write(os.open(".", os.O_TMPFILE | os.O_RDWR), bytes(8 << 20))
    time.sleep(0.5)


def keep(secret: str) -> str:
    """What the plan does that the others spy on; no attack."""
    with open("kept.txt", "w") as file:
        file.write(secret)
    return secret


def _reachable(roots: list[Any]) -> Iterator[Any]:
    """Everything that can be reached from some objects."""
    seen: set[int] = {id(roots)}
    waiting = list(roots)
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting += gc.get_referents(found)


def _frames() -> list[Any]:
    """The frames up to the outermost one, and what they hold."""
    frame, held = sys._getframe(), []
    while frame is not None:
        held += [frame, frame.f_locals, frame.f_globals]
        frame = frame.f_back
    return held


def _secret(head: str, objects: Iterator[Any]) -> str:
    """The secret among some objects; its head alone, which the plan that spies was given, is none."""
    pattern = re.compile(head.encode() + b"[0-9a-f]{32}")
    for found in objects:
        data = found.encode(errors="replace") if isinstance(found, str) else found
        if isinstance(data, (bytes, bytearray)) and (hit := pattern.search(data)):
            return hit[0].decode()
    raise PermissionError("there is no secret")


def spy_in_folders(head: str) -> str:
    """Try every path that is known here, and what lies beside the own folder."""
    known = {found for found in _reachable([*_frames(), *gc.get_objects()]) if type(found) is str}
    known |= {os.getcwd()}
    with contextlib.suppress(OSError):
        known |= {os.path.join("..", name) for name in os.listdir("..")}
    kept = []
    for folder in known:
        with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, "kept.txt"), "rb") as file:
            kept.append(file.read(1000))
    return _secret(head, iter(kept))


def _told_of(process: str) -> Iterator[Any]:
    """What /proc tells of a process: its start, its working folder, its descriptors, its memory."""
    place = f"/proc/{process}"
    for name in ("environ", "cmdline", "cwd/kept.txt"):
        with contextlib.suppress(OSError), open(f"{place}/{name}", "rb") as file:
            yield file.read(1 << 20)
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{place}/fd"):
            with contextlib.suppress(OSError):
                opened = os.open(f"{place}/fd/{name}", os.O_RDONLY | os.O_NONBLOCK)
                yield os.read(opened, 1 << 16)
    with contextlib.suppress(OSError), open(f"{place}/maps") as maps, open(f"{place}/mem", "rb", 0) as memory:
        for line in maps.readlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            with contextlib.suppress(OSError, ValueError, OverflowError):
                for start in range(first, last if "rw" in line else first, 1 << 20):
                    memory.seek(start)
                    yield memory.read(min(last - start, (1 << 20) + 100))


def _parent_of(process: str) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[1]
    return ""


def spy_in_other_processes(head: str) -> str:
    """Look into the nearest ancestors and into all that they started."""
    above = [str(os.getppid())]
    above += filter(None, [_parent_of(above[0])])
    own = str(os.getpid())
    found = [name for name in os.listdir("/proc") if name.isdecimal() and name != own]
    near = [name for name in found if name in above or _parent_of(name) in above]
    return _secret(head, (piece for process in near for piece in _told_of(process)))


def descriptors() -> list[int]:
    """The open ones; no attack."""
    found = []
    for number in range(1 << 10):
        with contextlib.suppress(OSError):
            os.fstat(number)
            found.append(number)
    return found


def close_and_sleep() -> None:
    os.close(3)
    while True:
        time.sleep(1000)


def swallow_everything() -> None:
    while True:
        try:
            while True:
                time.sleep(0.001)
        except BaseException:
            continue


def deep_folders() -> None:
    for _ in range(2000):
        os.mkdir("inner")
        os.chdir("inner")


def locked_folder() -> None:
    os.makedirs("locked/inner")
    write_file("locked/inner/file")
    os.umask(0o777)
    os.mkdir("locked/inner/shut")
    os.mkdir("shut")


TOOLS: dict[str, Callable[..., Any]] = {
    "tcp_connect": lambda port: socket.create_connection(("127.0.0.1", port), timeout=2),
    "udp_send": lambda port: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
    "unix_socketpair": lambda: socket.socketpair(),
    "list_folder": lambda path: os.listdir(path),
    "large_file": lambda: _fill("large", 20),
    "change_mode": lambda path: os.chmod(path, 0o777),
    "empty_by_truncating_open": lambda path: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
    "some_threads": lambda: _threads(20, 0.01),
    "two_hundred_threads": lambda: _threads(200, 1),
    "replace_by_program": lambda: os.execv("/bin/true", ["true"]),
    "signal_process": lambda pid, number: os.kill(pid, number),
    "signal_by_descriptor": lambda pid: fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, pid),
    "limit_process": lambda pid: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
    "wait": lambda seconds: time.sleep(seconds),
    "spy_in_frames": lambda head: _secret(head, _reachable(_frames())),
    "spy_in_objects": lambda head: _secret(head, _reachable(gc.get_objects())),
    "spy_in_own_process": lambda head: _secret(head, _told_of("self")),
    "allocate_4_gb": lambda: f"{len(bytearray(4 << 30))} bytes",
    "memory_without_mapping": lambda: os.memfd_create("hidden"),
    "huge_power": lambda: str(9**9**8),
    "sleep_forever": lambda: time.sleep(1_000_000),
    "segfault": lambda: ctypes.string_at(8),
    "leave": lambda: os._exit(0),
    "not_a_number": lambda: float("nan"),
    # "some_threads", "wait", "leave" and "not_a_number" are no attacks.
    **{name: one for name, one in globals().items() if getattr(one, "__module__", "") == __name__},
}


if __name__ == "__main__":
    outcome = TOOLS[sys.argv[1]](**json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
    print("WORKED", outcome)
