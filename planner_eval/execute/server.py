"""The server of level strict: forks a confined child for each plan, watches it, ends it, tidies up.

It runs none of the tools itself. What a child wrote it hands on unread, as one frame a plan; it is the
parent that reads it, and trusts none of it.
"""

from __future__ import annotations

import gc
import os
import select
import sys
from time import monotonic, sleep

from planner_eval.execute import load, lockdown
from planner_eval.execute.folders import remove_tree, tree_size
from planner_eval.execute.frames import DISK_FULL, ENDED, TIMED_OUT, TOO_MUCH_OUTPUT
from planner_eval.execute.worker import all_hold, answer, receive, refuse, settle_in, writer

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OWN_LIMITS = ("CPU", "NPROC")
"""Limits that hold for each child and not for the server."""
_WATCH_EVERY = 0.1


class _Child:
    """A forked process at work on one plan."""

    __slots__ = (
        "deadline",
        "folder",
        "number",
        "output",
        "pid",
        "pipe",
        "size",
        "started",
        "status",
    )

    def __init__(self, number: int, pid: int, pipe: int, folder: str | None, seconds: float) -> None:
        self.number, self.pid, self.pipe, self.folder = number, pid, pipe, folder
        self.started = monotonic()
        self.deadline = self.started + seconds
        self.output: list[bytes] = []
        self.size = 0
        self.status: int | None = None


def server(setup: dict[str, Any]) -> None:
    """Fork a confined child for each plan that comes in, until the parent closes the pipe or dies.

    The server confines itself first, as far as its work allows: its children inherit that, and each
    needs only the rest.
    """
    load.preload(setup["source"])
    settle_in(setup["folder"] or "/")
    lock = _confined(setup)
    gc.disable()
    gc.freeze()  # a collection in a child would copy every page of it
    poll = select.poll()
    poll.register(0, select.POLLIN)
    children: dict[int, _Child] = {}
    cleaners: list[int] = []
    try:
        while True:
            room = len(children) < setup["jobs"]
            poll.modify(0, select.POLLIN if room else 0)
            for file, _ in poll.poll(int(1000 * _patience(children)) + 1):
                if file == 0 and room:
                    request = receive(0)
                    if request is None:
                        return
                    child = _fork(request, setup, lock)
                    children[child.pipe] = child
                    poll.register(child.pipe, select.POLLIN)
                elif file == 0:
                    return  # nothing was asked of 0 but errors: the parent is gone
                else:
                    _take(children[file], setup)
            _watch(children, setup)
            for child in [c for c in children.values() if c.status is not None]:
                poll.unregister(child.pipe)
                del children[child.pipe]
                _finish(child, cleaners)
            cleaners = [pid for pid in cleaners if not os.waitpid(pid, os.WNOHANG)[0]]
            if os.getppid() != setup["parent"]:
                return
    finally:
        for child in children.values():
            _end(child)
        for cleaner in cleaners:
            os.waitpid(cleaner, 0)
        if setup["folder"] is not None:
            remove_tree(setup["folder"])


def _confined(setup: dict[str, Any]) -> lockdown.SecondLock:
    """Lock the server down, and prepare what its children add."""
    limits: dict[str, int] = {}
    own: dict[str, int] = {}
    for name, value in setup["limits"].items():
        (own if name in _OWN_LIMITS else limits)[name] = value
    rules = {"read": setup["read"], "names": setup["names"], "folder": setup["folder"]}
    base = lockdown.lock_down(limits, rules, lockdown.prepared_filter("server", threads=True))
    return lockdown.SecondLock(own, base, lockdown.prepared_filter("child", threads=setup["threads"]))


def _patience(children: dict[int, _Child]) -> float:
    if not children:
        return 1.0
    return max(0.0, min(_WATCH_EVERY, min(child.deadline for child in children.values()) - monotonic()))


def _fork(request: dict[str, Any], setup: dict[str, Any], lock: lockdown.SecondLock) -> _Child:
    folder = None
    if setup["folder"] is not None:
        folder = f"{setup['folder']}/{os.urandom(16).hex()}"  # no plan can guess where another one's lies
        os.mkdir(folder, 0o700)
    read_end, write_end = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            lockdown.die_with_parent(parent)
            _be_child(request, setup, lock, folder, writer(only_keep(write_end)))
        finally:
            os._exit(1)
    os.close(write_end)
    return _Child(request["number"], pid, read_end, folder, request["seconds"])


def _be_child(
    request: dict[str, Any],
    setup: dict[str, Any],
    lock: lockdown.SecondLock,
    folder: str | None,
    write: Callable[[str], object],
) -> None:
    gc.enable()
    if folder is not None:
        os.environ["HOME"] = os.environ["TMPDIR"] = folder
        os.chdir(folder)
    report = lock.apply(folder)
    if "planner_eval" in sys.modules and not hasattr(sys.modules["planner_eval"], "__version__"):
        del sys.modules["planner_eval"]  # the stand-in; tools that import the package get all of it
    if all_hold(setup, report, write, say=request["layers"]):
        try:
            tools = load.load(setup["source"])
        except load.LoadError as error:
            refuse("tools", str(error), write)
        else:
            answer(request, tools, write)
    os._exit(0)


def _cleaner(folder: str) -> int:
    """Start removing a folder in a process of its own: the next plan shall not wait for a million files."""
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            lockdown.die_with_parent(server)
            remove_tree(folder)
        finally:
            os._exit(0)  # what could not be removed, the parent finds when everything is over
    return pid


def only_keep(out: int) -> int:
    """Keep `out` as descriptor 3 and /dev/null, which the parent gives as 2, as 0, 1 and 2; no others."""
    os.dup2(out, 3)
    os.dup2(2, 0)
    os.dup2(2, 1)
    os.closerange(4, 1 << 16)
    return 3


def _take(child: _Child, setup: dict[str, Any]) -> None:
    data = os.read(child.pipe, 1 << 16)
    child.output.append(data)
    child.size += len(data)
    if not data:
        child.status = ENDED
    elif child.size > setup["output_size"]:
        child.status = TOO_MUCH_OUTPUT


def _watch(children: dict[int, _Child], setup: dict[str, Any]) -> None:
    now = monotonic()
    for child in children.values():
        if child.status is not None:
            continue
        if now >= child.deadline:
            child.status = TIMED_OUT
        elif child.folder is not None and now - child.started > _WATCH_EVERY:
            full = tree_size(child.folder) > setup["disk_size"]
            child.status = DISK_FULL if full else None


def _end(child: _Child) -> int:
    """Kill a child with all that it may have started, wait for it, and give its status."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child.pid, 9)
        except OSError:
            continue
    _, status = os.waitpid(child.pid, 0)
    os.close(child.pipe)
    return status


def _finish(child: _Child, cleaners: list[int]) -> None:
    if child.status == ENDED:  # it closed its pipe: let it leave by itself, so that a signal can be told
        gone, status = os.waitpid(child.pid, os.WNOHANG)
        patience = monotonic() + 0.5
        while not gone and monotonic() < patience:
            sleep(0.00005)
            gone, status = os.waitpid(child.pid, os.WNOHANG)
        if gone:
            os.close(child.pipe)
        else:
            status = _end(child)
        if os.WIFSIGNALED(status):
            child.status = 1000 + os.WTERMSIG(status)
    else:
        _end(child)
    if child.folder is not None:
        try:
            os.rmdir(child.folder)
        except OSError:
            cleaners.append(_cleaner(child.folder))
    output = b"".join(child.output)
    seconds = int((monotonic() - child.started) * 1e6)
    fields = ((child.number, 4), (child.status or 0, 4), (seconds, 8), (len(output), 8))
    data = b"".join(value.to_bytes(size, "little") for value, size in fields) + output
    while data:
        data = data[os.write(1, data) :]
