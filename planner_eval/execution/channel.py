"""Pipes to workers: framing, deadlines, bounded reading, killing. `sandbox` knows what is said in them."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.text import seconds
from planner_eval.execution.frames import DISK_FULL, ENDED, FRAME, TIMED_OUT, TOO_MANY_TASKS, TOO_MUCH_OUTPUT
from planner_eval.execution.trace import Failure

if TYPE_CHECKING:
    from planner_eval.execution.sandbox import Limits

_ROOT = str(Path(__file__).resolve().parents[2])
_START = """\
import sys
package = type(sys)("planner_eval")
package.__path__ = [sys.argv[1] + "/planner_eval"]
sys.modules["planner_eval"] = package
sys.path.append(sys.argv[1])
from planner_eval.execution.start import main
main()
"""
"""A bare stand-in for the package, whose own start imports what a worker does not need."""

GRACE = 5.0
"""Seconds beyond a plan's deadline after which even the server counts as lost."""


_READING = 1.0
"""Seconds beyond a plan's deadline in which a reply that lies in the pipe is read."""


_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # else each thread takes 64 MB of the address space, and 14 are all there can be
}


class Vanished(Exception):
    """The process at the other end is gone, and not because of a plan."""


@dataclass(frozen=True, slots=True)
class Raw:
    """One plan's output as it came, and why it stopped where it did not simply end."""

    output: bytes
    ended: Failure | None
    seconds: float


def _flags() -> list[str]:
    """No site, no user's packages, no script's folder; compiled files as this process has it."""
    flags = ["-P", "-s", "-S"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.pycache_prefix is not None:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return flags


def _start(setup: dict[str, Any]) -> subprocess.Popen[bytes]:
    needed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, *_flags(), "-c", _START, _ROOT],
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


def _framed(message: dict[str, Any]) -> bytes:
    data = marshal.dumps(message)
    return len(data).to_bytes(4, "little") + data


class _Pipe:
    """A child process and the two pipes to it; writing never blocks while there is something to read."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.process = _start(setup)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.into = self.process.stdin.fileno()
        self.out = self.process.stdout.fileno()
        self.unsent = bytearray(_framed(setup))
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
            return self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()


class Server:
    """The supervisor of level strict."""

    def __init__(self, setup: dict[str, Any], limits: Limits) -> None:
        self.limits = limits
        self.ahead = setup["jobs"] + 1
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="planeval-")) if setup["writes"] else None
        if self.folder is not None:
            os.chmod(self.folder, 0o300)  # a plan cannot list where the others' folders lie
        self.pipe = _Pipe({**setup, "mode": "server", "folder": self.folder})
        self.sent = 0
        self.expected = 0
        self.early: dict[int, Raw] = {}

    def send(self, request: dict[str, Any]) -> None:
        """Hand over one plan."""
        plan = _framed(request)  # for the child alone: the supervisor hands it on unread
        self.pipe.unsent.extend(_framed({"number": self.sent, "seconds": request["seconds"], "plan": plan}))
        self.sent += 1
        self.pipe.pump(0)

    def receive(self) -> Raw:
        """What the next plan in order gave.

        Raises:
            Vanished: the server is gone or silent.
        """
        under_way = self.sent - self.expected
        patience = time.monotonic() + self.limits.seconds * under_way + GRACE
        while self.expected not in self.early:
            if not self._frame():
                left = patience - time.monotonic()
                if left <= 0 or not self.pipe.pump(left):
                    raise Vanished("the server that starts the workers is gone; run the plans again")
        self.expected += 1
        return self.early.pop(self.expected - 1)

    def _frame(self) -> bool:
        data = self.pipe.received
        if len(data) < FRAME:
            return False
        number, status, micros, length = (
            int.from_bytes(data[a:b], "little") for a, b in ((0, 4), (4, 8), (8, 16), (16, 24))
        )
        if len(data) < FRAME + length:
            return False
        output = bytes(data[FRAME : FRAME + length])
        del data[: FRAME + length]
        self.early[number] = Raw(output, _why(status, self.limits), micros / 1e6)
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
            here = str(Path(__file__).parent)
            subprocess.run([sys.executable, *_flags(), "-c", code, here, self.folder], check=False)


def _why(status: int, limits: Limits) -> Failure | None:
    if status == ENDED:
        return None
    if status == TIMED_OUT:
        return Failure("timeout", f"stopped after {seconds(limits.seconds)}")
    if status == TOO_MUCH_OUTPUT:
        return Failure("output-limit", f"sent more than {limits.output_size:,} bytes")
    if status == DISK_FULL:
        return Failure("disk-limit", f"wrote more than {limits.disk_size:,} bytes, or too many files")
    if status == TOO_MANY_TASKS:
        return Failure("task-limit", f"started more than {limits.tasks} threads")
    number = status - 1000
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    return Failure("worker-died", f"killed by {name}")


class Worker:
    """The one confined process of level process, and one plan at a time in it.

    A plan can leave anything behind in the interpreter that it shares with the next. So no plan's data are
    in the pipe before the one before it has ended, and the worker is replaced where a plan kills it,
    outlives its deadline or says what nobody asked for. A plan that was handed to a used worker and did
    not begin there is handed to a fresh one.
    """

    ahead = 16

    def __init__(self, setup: dict[str, Any], limits: Limits) -> None:
        self.limits = limits
        self.setup = {**setup, "mode": "worker"}
        self.waiting: deque[tuple[bytes, bytes]] = deque()
        self._renew()

    def send(self, request: dict[str, Any]) -> None:
        """Hand over one plan, once those before it have ended."""
        self.waiting.append((f'["begin","{request["token"]}"]\n'.encode(), _framed(request)))
        if len(self.waiting) == 1:
            self._dispatch()

    def receive(self) -> Raw:
        """What the next plan in order gave; a worker that it ends is replaced.

        Raises:
            Vanished: the worker does not even start.
        """
        raw = None
        while raw is None:
            ended, why = self._ended(time.monotonic())
            raw = self._left(why) if ended is None else self._done(ended, None)
        return raw

    def distrust(self) -> None:
        """The last plan's reply was none: what comes next shall come from a fresh worker."""
        self.pipe.kill()
        self._renew()
        self._dispatch()

    def close(self) -> None:
        """End the worker at once."""
        self.pipe.kill()

    # ------------------------------------------------------------ one worker
    def _renew(self) -> None:
        self.pipe = _Pipe(self.setup)
        self.head = b""
        self.used = False
        self.begun = time.monotonic()

    def _dispatch(self) -> None:
        """Hand over the next plan; its time runs from now on, or from when the worker has started."""
        if self.waiting:
            self.begun = time.monotonic()
            self.pipe.unsent += self.waiting[0][1]
            self.pipe.pump(0)

    # ------------------------------------------------------------ one plan
    def _ended(self, entered: float) -> tuple[bytes | None, Failure | None]:
        """The lines of the plan that is under way; None and the reason where its end does not come."""
        scanned = 0
        while True:
            self._take_head()
            output, scanned = self._message(scanned)
            if output is not None:
                return output, None
            if len(self.pipe.received) > self.limits.output_size:
                return None, _why(TOO_MUCH_OUTPUT, self.limits)
            left = self._deadline(entered) - time.monotonic()
            before = len(self.pipe.received)
            if not self.pipe.pump(max(0.0, left)):
                return None, None
            if left <= -_READING or (left <= 0 and len(self.pipe.received) == before):
                return None, _why(TIMED_OUT, self.limits)

    def _deadline(self, entered: float) -> float:
        """When the plan must have ended; a worker that has not started yet knows nothing of it."""
        return max(self.begun + self.limits.seconds, entered) if self.head else entered + GRACE

    def _take_head(self) -> None:
        """The worker's first line, which it writes before it loads any tool: the time for that runs now."""
        end = -1 if self.head else self.pipe.received.find(b"\n")
        if end >= 0:
            self.head, self.begun = bytes(self.pipe.received[: end + 1]), time.monotonic()
            del self.pipe.received[: end + 1]

    def _message(self, scanned: int) -> tuple[bytes | None, int]:
        """The bytes up to and with the line that ends a plan, if it has come."""
        data = self.pipe.received
        while (end := data.find(b"\n", scanned)) >= 0:
            if data.startswith((b'["end"', b'["unloadable"'), scanned):
                output = bytes(data[: end + 1])
                del data[: end + 1]
                return output, 0
            scanned = end + 1
        return None, scanned

    def _done(self, output: bytes, ended: Failure | None) -> Raw | None:
        """What the plan gave; None where it did not begin, for the one before it was still at work."""
        raw = None
        output += self.pipe.received  # what came after the end spoils the reply
        if not self.used or output.startswith(self.waiting[0][0]):
            raw = Raw(self.head + output, ended, time.monotonic() - self.begun)
            self.waiting.popleft()
        self.used = raw is not None and ended is None and not self.pipe.received
        if not self.used:
            if ended is None:
                self.pipe.kill()
            self._renew()
        self._dispatch()
        return raw

    def _left(self, why: Failure | None) -> Raw | None:
        """The same where the worker has left, or has to."""
        if why is None:  # it left by itself: how, its supervisor tells
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.pipe.process.wait(0.5)
        output = bytes(self.pipe.received)
        self.pipe.received.clear()
        status = self.pipe.kill()
        if not self.head:
            raise Vanished(f"the worker does not start (exit status {status})")
        exited = Failure("worker-died", f"exited with {status}")
        died = _why(1000 - status, self.limits) if status < 0 else exited
        return self._done(output[: output.rfind(b"\n") + 1], why or died)
