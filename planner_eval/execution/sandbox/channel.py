"""Pipes to workers: framing, deadlines, bounded reading, killing. `sandbox` knows what is said in them."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import format_seconds
from planner_eval.execution.sandbox.frames import (
    DISK_FULL,
    ENDED,
    FRAME_HEAD_SIZE,
    TIMED_OUT,
    TOO_MANY_TASKS,
    TOO_MUCH_OUTPUT,
)
from planner_eval.execution.trace import TIMEOUT, Failure

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.job import Message
    from planner_eval.execution.sandbox.sandbox import Limits


_ROOT = str(Path(__file__).resolve().parents[3])
_START_CODE = """\
import sys
package = type(sys)("planner_eval")
package.__path__ = [sys.argv[1] + "/planner_eval"]
sys.modules["planner_eval"] = package
sys.path.append(sys.argv[1])
from planner_eval.execution.sandbox.start import main
main()
"""
"""A bare stand-in for the package, whose own start imports what a worker does not need."""

GRACE_SECONDS = 5.0
"""Seconds beyond a plan's deadline after which even the server counts as lost."""


_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # else each thread takes 64 MB of the address space, and 14 are all there can be
}


class ProcessLost(Exception):
    """The process at the other end is gone, and not because of a plan."""


@fast_frozen
class RawOutput:
    """One plan's output as it came, and why it stopped where it did not simply end."""

    output: bytes
    ended: Failure | None
    seconds: float


def _interpreter_flags() -> list[str]:
    """No site, no user's packages, no script's folder; compiled files as this process has it."""
    flags = ["-P", "-s", "-S"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.pycache_prefix is not None:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return flags


def _start_process(setup: Message) -> subprocess.Popen[bytes]:
    needed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, *_interpreter_flags(), "-c", _START_CODE, _ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**_ENVIRONMENT, **needed},
        start_new_session=True,
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    os.set_blocking(process.stdin.fileno(), False)
    return process


def frame_message(message: Message) -> bytes:
    """A message as `worker.receive` takes it."""
    data = marshal.dumps(message)
    return len(data).to_bytes(4, "little") + data


class Pipe:
    """A child process and the two pipes to it; writing never blocks while there is something to read."""

    def __init__(self, setup: Message) -> None:
        self.process = _start_process(setup)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.into = self.process.stdin.fileno()
        self.out = self.process.stdout.fileno()
        self.unsent = bytearray(frame_message(setup))
        self.received = bytearray()
        self.poll = select.poll()
        self.poll.register(self.out, select.POLLIN)
        self.pump(0)

    def pump(self, seconds: float) -> bool:
        """Send what can be sent and read what has come, waiting at most `seconds`; False at the end."""
        self._send()
        if self.unsent:
            self.poll.register(self.into, select.POLLOUT)
        events = self.poll.poll(max(0, int(seconds * 1000) + (seconds > 0)))
        if self.unsent:
            self.poll.unregister(self.into)
        for file, _ in events:
            if file == self.into:
                self._send()
            else:
                data = os.read(self.out, 1 << 18)
                if not data:
                    return False
                self.received += data
        return True

    def _send(self) -> None:
        if self.unsent:
            with contextlib.suppress(BlockingIOError, BrokenPipeError):
                del self.unsent[: os.write(self.into, self.unsent)]

    def kill(self) -> int:
        """Kill the whole group and wait for it; the exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """Close both pipes and wait for the process; the exit status."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            return self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()


class Server:
    """The supervisor of level strict."""

    def __init__(self, setup: Message, limits: Limits) -> None:
        self.limits = limits
        self.ahead = setup["jobs"] + 1
        self.folder: str | None = None
        if setup["writes"]:
            from tempfile import mkdtemp

            self.folder = os.path.realpath(mkdtemp(prefix="planeval-"))
            os.chmod(self.folder, 0o300)  # a plan cannot list where the others' folders lie
        self.pipe = Pipe({**setup, "mode": "server", "folder": self.folder})
        self.sent = 0
        self.expected = 0
        self.early: dict[int, RawOutput] = {}

    def send(self, request: Message) -> None:
        """Hand over one plan."""
        plan = frame_message(request)  # for the child alone: the supervisor hands it on unread
        self.pipe.unsent.extend(
            frame_message({"number": self.sent, "seconds": request["seconds"], "plan": plan})
        )
        self.sent += 1
        self.pipe.pump(0)

    def receive(self) -> RawOutput:
        """What the next plan in order gave.

        Raises:
            Vanished: the server is gone or silent.
        """
        under_way = self.sent - self.expected
        patience = time.monotonic() + self.limits.seconds * under_way + GRACE_SECONDS
        while self.expected not in self.early:
            if not self._frame():
                left = patience - time.monotonic()
                if left <= 0 or not self.pipe.pump(left):
                    raise ProcessLost("the server that starts the workers stopped; run the plans again")
        self.expected += 1
        return self.early.pop(self.expected - 1)

    def _frame(self) -> bool:
        data = self.pipe.received
        if len(data) < FRAME_HEAD_SIZE:
            return False
        number, status, micros, length = (
            int.from_bytes(data[a:b], "little") for a, b in ((0, 4), (4, 8), (8, 16), (16, 24))
        )
        if len(data) < FRAME_HEAD_SIZE + length:
            return False
        output = bytes(data[FRAME_HEAD_SIZE : FRAME_HEAD_SIZE + length])
        del data[: FRAME_HEAD_SIZE + length]
        self.early[number] = RawOutput(output, status_failure(status, self.limits), micros / 1e6)
        return True

    def distrust(self) -> None:
        """A plan's reply was none: nothing to do, for the next plan has a process of its own."""

    def close(self) -> None:
        """Close the pipe: the server kills its children, tidies up and leaves."""
        self.pipe.wait()
        if self.folder is not None and os.path.isdir(self.folder):  # the server is gone before its time
            code = (
                "import sys; sys.path.append(sys.argv[1]); import folders; folders.remove_tree(sys.argv[2])"
            )
            folder = str(Path(__file__).parent)
            subprocess.run(
                [sys.executable, *_interpreter_flags(), "-c", code, folder, self.folder], check=False
            )


def status_failure(status: int, limits: Limits) -> Failure | None:
    """Why a plan was cut short, by a status of `frames`; None where it was not."""
    if status == ENDED:
        return None
    reasons = {
        TIMED_OUT: (TIMEOUT, f"stopped after {format_seconds(limits.seconds)}"),
        TOO_MUCH_OUTPUT: ("output-limit", f"sent more than {limits.output_size:,} bytes"),
        DISK_FULL: ("disk-limit", f"wrote more than {limits.disk_size:,} bytes, or too many files"),
        TOO_MANY_TASKS: ("task-limit", f"started more than {limits.tasks} threads"),
    }
    if status in reasons:
        return Failure(*reasons[status])
    number = status - 1000
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    return Failure("worker-died", f"killed by {name}")
