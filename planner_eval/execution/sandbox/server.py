"""The supervisor of level strict: has a confined child forked for each plan, watches it, ends it, tidies up.

It runs none of the tools itself. It holds every plan's data, folder and output, so it forks no child
either, which would inherit them: `zygote` does. What a child wrote it hands on unread, as one frame a
plan; it is the parent that reads it, and trusts none of it.
"""

from __future__ import annotations

import math
import os
import select
from _socket import socketpair
from time import monotonic

from planner_eval.execution import tool_loading
from planner_eval.execution.sandbox import lockdown
from planner_eval.execution.sandbox.folders import remove_tree, tree_size, unlinked_size
from planner_eval.execution.sandbox.frames import DISK_FULL, ENDED, TIMED_OUT, TOO_MANY_TASKS, TOO_MUCH_OUTPUT
from planner_eval.execution.sandbox.namespaces import mount_own_disks, task_count
from planner_eval.execution.sandbox.worker import prepare_environment, receive, wait_for_child
from planner_eval.execution.sandbox.zygote import ForkReply, Zygote

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from _socket import socket

    from planner_eval.execution.sandbox.job import Message


# ----------------------------------------------------------------------
# A forked process at work on one plan, as the supervisor of level strict sees it.
class Child:
    """A forked process at work on one plan."""

    def __init__(self, request: Message, disk: str | None, into: int, pipe: int) -> None:
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


def start_cleaner(folder: str) -> int:
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


def write_frame(child: Child) -> None:
    """Write what a child wrote, as one frame for the parent."""
    output = b"".join(child.output)
    seconds = int((monotonic() - child.started) * 1e6)
    fields = ((child.number, 4), (child.status or 0, 4), (seconds, 8), (len(output), 8))
    data = b"".join(value.to_bytes(size, "little") for value, size in fields) + output
    while data:
        data = data[os.write(1, data) :]


# ----------------------------------------------------------------------
# The supervisor of level strict: has a confined child forked for each plan, watches it, ends it, tidies up.
_CHILD_LIMITS = ("NOFILE", "CPU", "NPROC")
"""Limits that hold for each child and not for the supervisor and the zygote."""
_SPARE_DISKS = 2
"""Disks beyond those of the plans at work: others are being emptied."""
_WATCH_INTERVAL = 0.1
_COUNT_INTERVAL = 0.01
"""A thread takes a tenth of a millisecond to start."""
_EXIT_SECONDS = 0.5
"""Seconds in which a child that has closed its pipe should be gone."""


def run_server(setup: Message) -> None:
    """Have a confined child run each plan that comes in, until the parent closes the pipe or dies.

    This process confines itself first, as far as its work allows: the zygote and its children inherit
    that, and each child needs only the rest.
    """
    tool_loading.preload(setup["source"])
    disks, why = _fork_with_disks(setup)
    prepare_environment(setup["folder"] or "/")
    ends = socketpair()  # once confined, nobody here can make one
    supervisor = _Supervisor(setup, _start_confined_zygote(setup, ends, why), disks)
    try:
        while supervisor.turn():
            continue
    finally:
        supervisor.close()


def _fork_with_disks(setup: Message) -> tuple[list[str] | None, str | None]:
    """Go on with disks of a fixed size, in a child: whoever tried in vain could not go on at all.

    Returns:
        The disks, of which each plan at work has one; or None, and why this process goes on without.
    """
    needed = setup["jobs"] + _SPARE_DISKS if setup["folder"] is not None else 0
    disks = [f"{setup['folder']}/{number}" for number in range(needed)]
    if not disks and not setup["threads"]:
        return None, None
    own = os.getpid()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            mount_own_disks(disks, setup["disk_size"], threads=setup["threads"])
        except OSError as error:
            os.write(writer, (error.strerror or str(error)).encode()[:200])
            os._exit(0)
        lockdown.die_with_parent(own)
        os.write(writer, b"\n")
        os.close(reader)
        os.close(writer)
        setup["parent"] = own
        return disks, None
    os.close(writer)
    why = os.read(reader, 200).decode()
    os.close(reader)
    if why == "\n":
        wait_for_child(pid, setup["parent"], folder=setup["folder"])
    os.waitpid(pid, 0)
    return None, why or "the process that tried has ended"


def _start_confined_zygote(setup: Message, ends: tuple[socket, socket], why: str | None) -> Zygote:
    """Lock this process down, and start the zygote.

    Args:
        setup: What the parent says.
        ends: A pair of sockets, for the zygote and this process.
        why: There are no namespaces: why not.
    """
    own = {name: value for name, value in setup["limits"].items() if name in _CHILD_LIMITS}
    limits = {name: value for name, value in setup["limits"].items() if name not in _CHILD_LIMITS}
    rules = {name: setup[name] for name in ("read", "names", "folder")}
    counting = {**rules, "read": [*setup["read"], "/proc"]} if why is not None else rules
    base = lockdown.lock_down(limits, counting, lockdown.prepare_filter("server", threads=True))
    base["disk"] = _disk_layer(setup, why)
    base |= lockdown.tasks_layer(own, why)
    counted = setup["threads"] and why is None
    if setup["threads"] and not counted:
        del own["NPROC"]  # it would count all that the user runs
    return Zygote(ends, setup, own, base, rules, counted=counted)


def _disk_layer(setup: Message, why: str | None) -> tuple[bool, str]:
    if setup["folder"] is None:
        return True, "no folder to write in"
    size = f"{setup['disk_size'] / (1 << 20):g} MB"
    return why is None, f"tmpfs of {size}" if why is None else f"{size}, counted from outside: {why}"


class _Supervisor:
    """The children at work, and what is known of each."""

    def __init__(self, setup: Message, zygote: Zygote, disks: list[str] | None) -> None:
        self.setup, self.zygote = setup, zygote
        self.apart = disks is not None
        self.disks = disks or []
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.poll.register(zygote.file, select.POLLIN)
        self.children: dict[int, Child] = {}
        self.fed: dict[int, Child] = {}
        self.unborn: list[Child] = []
        self.leaving: list[Child] = []
        self.cleaners: dict[int, str] = {}

    def turn(self) -> bool:
        """Wait for what happens next and see to it; False where nothing will be asked any more."""
        room = len(self.children) + len(self.leaving) < self.setup["jobs"] and self._disk_is_free()
        self.poll.modify(0, select.POLLIN if room else 0)
        for file, _ in self.poll.poll(int(1000 * self._patience()) + 1):
            if file in self.children:
                self.children[file].take(self.setup["output_size"])
            elif file in self.fed:
                self._feed(self.fed[file])
            elif file == self.zygote.file:
                self._finish(self._hear())
            elif not room:
                return False  # nothing was asked of 0 but errors: the parent is gone
            else:
                request = receive(0)
                if request is None:
                    return False
                self._begin(request)
        self._watch()
        for child in [child for child in self.children.values() if child.status is not None]:
            self._let_go(child)
        for pid in [pid for pid in self.cleaners if os.waitpid(pid, os.WNOHANG)[0]]:
            self._give_back(self.cleaners.pop(pid))
        return bool(os.getppid() == self.setup["parent"])

    def _patience(self) -> float:
        waited_for = (*self.children.values(), *self.leaving)
        if not waited_for:
            return 1.0 if self._disk_is_free() else _WATCH_INTERVAL
        deadline: float = min(child.deadline for child in waited_for)
        interval = _COUNT_INTERVAL if self.setup["threads"] and not self.apart else _WATCH_INTERVAL
        return max(0.0, min(interval, deadline - monotonic()))

    def _disk_is_free(self) -> bool:
        return not self.apart or self.setup["folder"] is None or bool(self.disks)

    def _give_back(self, disk: str | None) -> None:
        if self.apart and disk is not None:
            self.disks.append(disk)

    # ------------------------------------------------------------ one child
    def _begin(self, request: Message) -> None:
        disk = self.disks.pop() if self.disks else self.setup["folder"]
        plan, into = os.pipe()
        pipe, out = os.pipe()
        os.set_blocking(into, False)
        child = Child(request, disk, into, pipe)
        if child.folder is not None:
            os.mkdir(child.folder, 0o700)
        self.zygote.fork(plan, out)
        os.close(plan)
        os.close(out)
        self.unborn.append(child)
        self.children[pipe] = child
        self.poll.register(pipe, select.POLLIN)
        self.fed[into] = child
        self.poll.register(into, select.POLLOUT)
        self._feed(child)

    def _feed(self, child: Child) -> None:
        """Send what fits of the plan's data; once all is sent, or nobody reads it, close the pipe."""
        try:
            child.unsent = child.unsent[os.write(child.into, child.unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            child.unsent = child.unsent[:0]
        if not child.unsent:
            self._stop_feeding(child)

    def _stop_feeding(self, child: Child) -> None:
        if self.fed.get(child.into) is child:  # not another one, whose pipe has the same number by now
            del self.fed[child.into]
            self.poll.unregister(child.into)
            os.close(child.into)

    def _watch(self) -> None:
        now = monotonic()
        for child in self.children.values():
            if child.status is not None:
                continue
            if now >= child.deadline:
                child.status = TIMED_OUT
            elif not self.apart and child.pid > 0:
                child.status = self._too_much(child, now)
        for child in self.leaving:
            if now >= child.deadline:
                kill(child.pid)

    def _too_much(self, child: Child, now: float) -> int | None:
        """What a child has too much of, where no kernel looks to it."""
        if self.setup["threads"] and task_count(child.pid) > self.setup["tasks"]:
            return TOO_MANY_TASKS
        if child.folder is None or now - child.looked < _WATCH_INTERVAL:
            return None
        child.looked = now
        used = tree_size(child.folder) + unlinked_size(child.pid, child.folder)
        return DISK_FULL if used > self.setup["disk_size"] else None

    def _let_go(self, child: Child) -> None:
        """See that a child leaves whose status is clear, as soon as its process number is known."""
        if child.pid < 0:
            return
        if child.status != ENDED:
            kill(child.pid)
        child.deadline = monotonic() + _EXIT_SECONDS  # it closed its pipe: so that a signal can be told
        self._stop_feeding(child)
        self.poll.unregister(child.pipe)
        del self.children[child.pipe]
        os.close(child.pipe)
        self.leaving.append(child)
        self.zygote.wait(child.pid)

    def _hear(self) -> Child | None:
        """Take in one thing that the zygote tells; the child that has left, if that is it."""
        reply = self.zygote.reply()
        if isinstance(reply, ForkReply):
            self.unborn.pop(0).begin(reply)
            return None
        child = self.leaving.pop(0)
        if child.status == ENDED and os.WIFSIGNALED(reply):
            child.status = 1000 + os.WTERMSIG(reply)
        return child

    def _finish(self, child: Child | None) -> None:
        if child is None:
            return
        if child.folder is not None:
            try:
                os.rmdir(child.folder)
                self._give_back(child.disk)
            except OSError:
                self.cleaners[start_cleaner(child.folder)] = child.disk or ""
        write_frame(child)

    def close(self) -> None:
        """End every child and the zygote, and remove every folder."""
        try:
            while self.unborn:
                self._hear()
            for child in list(self.children.values()):
                child.status = TIMED_OUT
                self._let_go(child)
            for child in self.leaving:
                kill(child.pid)
            while self.leaving:
                self._hear()
        finally:
            self.zygote.close()
            for pid in self.cleaners:
                os.waitpid(pid, 0)
            if self.setup["folder"] is not None and not self.apart:  # else it goes with the disks
                remove_tree(self.setup["folder"])
