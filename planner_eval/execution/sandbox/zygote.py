"""The zygote of level strict: forks a confined child for each plan, and knows nothing of any plan.

A forked child inherits all that the process that forks it can reach: frames, objects, descriptors. So
that process is not the supervisor (`server`), which holds every plan's data, folder and output, but this
one: it has the tools, its locks and one socket. Through the socket come two descriptors a child: where
the child reads its own plan, once it is confined, and where it writes.
"""

from __future__ import annotations

import gc
import os
import sys
from _socket import CMSG_SPACE, SCM_RIGHTS, SOL_SOCKET

from planner_eval.execution import tool_loading
from planner_eval.execution.printed import OutputCapture
from planner_eval.execution.sandbox import lockdown
from planner_eval.execution.sandbox.worker import (
    check_layers,
    receive,
    receive_bytes,
    run_plan,
    write_begin,
    write_unloadable,
    writer,
)
from planner_eval.execution.tool_loading import LoadError

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from _socket import socket

    from planner_eval.execution.sandbox.job import Message
    from planner_eval.execution.sandbox.worker import Write


_FORK_KIND, _EXIT_KIND = b"f", b"l"
"""What a request asks for and a reply tells: a child that was forked, a child that has left."""
_MESSAGE_SIZE = 5
"""Bytes of a request or reply: which of the two, and a process number or a status."""


class ForkReply(int):
    """A child was forked: its process number."""


class ExitReply(int):
    """A child has left: its status."""


class Zygote:
    """The supervisor's side: the process that forks, and what may be asked of it.

    Args:
        ends: A pair of sockets; the second is the zygote's.
        setup: The tools' ``source``, the ``required`` layers, ``threads``.
        own: Limits that each child sets for itself.
        base: The layers that hold already.
        rules: As in `lockdown.restrict_files`.
        counted: Whether each child's tasks are counted apart from the others'.
    """

    def __init__(
        self,
        ends: tuple[socket, socket],
        setup: Message,
        own: dict[str, int],
        base: lockdown.Report,
        rules: lockdown.Rules,
        *,
        counted: bool,
    ) -> None:
        self.link, link = ends
        self.file = self.link.fileno()
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                lockdown.die_with_parent(supervisor)
                self.link.close()
                os.dup2(2, 0)
                os.dup2(2, 1)
                filter_ = lockdown.prepare_filter("child", threads=setup["threads"])
                lock = lockdown.ChildLockdown(own, base, rules, filter_, counted=counted)
                child_setup = {"source": setup["source"], "required": setup["required"]}
                for settings in (setup, own, rules):
                    settings.clear()  # tools can climb to the frames that hold these
                _serve(link, child_setup, lock)
            finally:
                os._exit(1)
        link.close()

    def fork(self, plan: int, out: int) -> None:
        """Have a child forked that reads its plan from one descriptor and writes to the other.

        Its process number comes as a reply; it stays the child's own until a status has come as well.

        Raises:
            OSError: the zygote is gone.
        """
        descriptors = plan.to_bytes(4, sys.byteorder) + out.to_bytes(4, sys.byteorder)
        self.link.sendmsg([_FORK_KIND + bytes(4)], [(SOL_SOCKET, SCM_RIGHTS, descriptors)])

    def wait(self, pid: int) -> None:
        """Have a child waited for; the status with which it left comes as a reply.

        Raises:
            OSError: the zygote is gone.
        """
        os.write(self.file, _EXIT_KIND + pid.to_bytes(4, "little"))

    def reply(self) -> ForkReply | ExitReply:
        """The next reply; each of the two kinds comes in order.

        Raises:
            OSError: the zygote is gone.
        """
        data = os.read(self.file, _MESSAGE_SIZE)
        if len(data) < _MESSAGE_SIZE:
            raise BrokenPipeError("the process that starts workers has ended")
        return (ForkReply if data[:1] == _FORK_KIND else ExitReply).from_bytes(data[1:], "little")

    def close(self) -> None:
        """End the zygote; the kernel ends the children that it may have left."""
        self.link.close()
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


# ---------------------------------------------------------------- in the zygote
def _serve(link: socket, child_setup: Message, lock: lockdown.ChildLockdown) -> None:
    gc.disable()
    gc.freeze()  # a collection in a child would copy every page of it
    while True:
        message, passed, _, _ = link.recvmsg(_MESSAGE_SIZE, CMSG_SPACE(8))
        if len(message) < _MESSAGE_SIZE:
            return
        kind = message[:1]
        if kind == _FORK_KIND:
            value = _fork_child(link, passed[0][2], child_setup, lock)
        else:  # a child that does not leave, the supervisor kills
            _, value = os.waitpid(int.from_bytes(message[1:], "little"), 0)
        os.write(link.fileno(), kind + value.to_bytes(4, "little"))


def _fork_child(link: socket, passed: bytes, child_setup: Message, lock: lockdown.ChildLockdown) -> int:
    plan, out = (int.from_bytes(passed[offset : offset + 4], sys.byteorder) for offset in (0, 4))
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            link.detach()
            os.setsid()
            lockdown.die_with_parent(zygote)
            _run_child(plan, out, child_setup, lock)
        finally:
            os._exit(1)
    os.close(plan)
    os.close(out)
    return pid


# ---------------------------------------------------------------- in a child
def _run_child(plan: int, out: int, child_setup: Message, lock: lockdown.ChildLockdown) -> None:
    gc.enable()
    folder = os.fsdecode(receive_bytes(plan) or b"") or None
    if folder is not None:
        os.environ["HOME"] = os.environ["TMPDIR"] = folder
        os.chdir(folder)
    report = lock.apply(folder)
    write = writer(_close_other_descriptors(plan, out))
    request = receive(0)
    os.dup2(2, 0)
    if request is None:
        return
    if "planner_eval" in sys.modules and not hasattr(sys.modules["planner_eval"], "__version__"):
        del sys.modules["planner_eval"]  # the stand-in; tools that import the package get all of it
    if check_layers(child_setup, report, write, say=request["layers"]):
        _load_and_run(request, child_setup, write)
    os._exit(0)


def _load_and_run(request: Message, child_setup: Message, write: Write) -> None:
    printed = OutputCapture()
    try:
        with printed:
            tools = tool_loading.load(child_setup["source"])
    except LoadError as error:
        write_unloadable(error, write)
    else:
        write_begin(request, write)
        run_plan(request, tools, write, printed)


def _close_other_descriptors(plan: int, out: int) -> int:
    """Keep `plan` as descriptor 0, /dev/null, which is 2, as 1 too, and `out` as 3; no others."""
    os.dup2(plan, 0)
    os.dup2(out, 3)
    os.dup2(2, 1)
    os.closerange(4, 1 << 16)
    return 3
