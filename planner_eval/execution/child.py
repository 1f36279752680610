"""A forked process at work on one plan, as the supervisor of level strict sees it."""

from __future__ import annotations

import math
import os
from time import monotonic

from planner_eval.execution import lockdown
from planner_eval.execution.folders import remove_tree
from planner_eval.execution.frames import ENDED, TOO_MUCH_OUTPUT

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from typing import Any


class Child:
    """A forked process at work on one plan."""

    __slots__ = (
        "deadline",
        "disk",
        "folder",
        "into",
        "looked",
        "number",
        "output",
        "pid",
        "pipe",
        "seconds",
        "size",
        "started",
        "status",
        "unsent",
    )

    def __init__(self, request: dict[str, Any], disk: str | None, into: int, pipe: int) -> None:
        self.number, self.disk, self.into, self.pipe = request["number"], disk, into, pipe
        # no plan can guess another one's folder
        self.folder = None if disk is None else f"{disk}/{os.urandom(16).hex()}"
        self.seconds: float = request["seconds"]
        self.started, self.deadline = monotonic(), math.inf
        self.looked = self.started
        name = os.fsencode(self.folder or "")
        self.unsent = memoryview(len(name).to_bytes(4, "little") + name + request["plan"])
        self.output: list[bytes] = []
        self.size = 0
        self.status: int | None = None
        self.pid = -1

    def begin(self, pid: int) -> None:
        """The process is there: its time runs from now on."""
        self.pid = pid
        self.started = self.looked = monotonic()
        self.deadline = self.started + self.seconds

    def take(self, most: int) -> None:
        """Read what the child has written; `most` bytes are allowed."""
        if self.status is not None:
            return  # it is about to be let go
        data = os.read(self.pipe, 1 << 16)
        self.output.append(data)
        self.size += len(data)
        if not data:
            self.status = ENDED
        elif self.size > most:
            self.status = TOO_MUCH_OUTPUT


def kill(pid: int) -> None:
    """Kill a child that was not waited for yet, with all that it may have started."""
    for send in (os.killpg, os.kill):
        try:
            send(pid, 9)
        except OSError:
            continue


def cleaner(folder: str) -> int:
    """Start removing a folder in a process of its own: the next plan shall not wait for a million files."""
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            lockdown.die_with_parent(supervisor)
            remove_tree(folder)
        finally:
            os._exit(0)  # what could not be removed, the parent finds when everything is over
    return pid


def hand_on(child: Child) -> None:
    """Write what a child wrote, as one frame for the parent."""
    output = b"".join(child.output)
    seconds = int((monotonic() - child.started) * 1e6)
    fields = ((child.number, 4), (child.status or 0, 4), (seconds, 8), (len(output), 8))
    data = b"".join(value.to_bytes(size, "little") for value, size in fields) + output
    while data:
        data = data[os.write(1, data) :]
