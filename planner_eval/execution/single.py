"""The one worker of level process, as its parent sees it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from planner_eval.execution.channel import GRACE, Pipe, Raw, Vanished, framed, why_ended
from planner_eval.execution.frames import TIMED_OUT, TOO_MUCH_OUTPUT
from planner_eval.execution.trace import Failure

if TYPE_CHECKING:
    from planner_eval.execution.sandbox import Limits

_SAID = b'["layers",null]\n'
"""What stands for the layers of a worker that has told of them already."""
_READING = 1.0
"""Seconds beyond a plan's deadline in which a reply that lies in the pipe is read."""


class Worker:
    """The one confined process of level process, and one plan at a time in it.

    A plan that begins in a state of its own has a worker of its own.

    A plan can leave anything behind in the interpreter that it shares with the next. So no plan's data are
    in the pipe before the one before it has ended, and the worker is replaced where a plan kills it,
    outlives its deadline or says what nobody asked for. A plan that was handed to a used worker and did
    not begin there is handed to a fresh one.
    """

    ahead = 16

    def __init__(self, setup: dict[str, Any], limits: Limits) -> None:
        self.limits = limits
        self.setup = {**setup, "mode": "worker"}
        self.waiting: deque[tuple[bytes, bytes, bool]] = deque()
        self._renew()

    def send(self, request: dict[str, Any]) -> None:
        """Hand over one plan, once those before it have ended."""
        begins = f'["begin","{request["token"]}"]\n'.encode()
        self.waiting.append((begins, framed(request), bool(request.get("fresh"))))
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
        self.pipe = Pipe(self.setup)
        self.head = b""
        self.used = False
        self.begun = time.monotonic()

    def _dispatch(self) -> None:
        """Hand over the next plan; its time runs from now on, or from when the worker has started."""
        if self.waiting:
            if self.waiting[0][2] and self.used:
                self.pipe.kill()
                self._renew()
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
                return None, why_ended(TOO_MUCH_OUTPUT, self.limits)
            left = self._deadline(entered) - time.monotonic()
            before = len(self.pipe.received)
            if not self.pipe.pump(max(0.0, left)):
                return None, None
            if left <= -_READING or (left <= 0 and len(self.pipe.received) == before):
                return None, why_ended(TIMED_OUT, self.limits)

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
            if data.startswith((b'["end', b'["unloadable"'), scanned):
                output = bytes(data[: end + 1])
                del data[: end + 1]
                return output, 0
            scanned = end + 1
        return None, scanned

    def _done(self, output: bytes, ended: Failure | None) -> Raw | None:
        """What the plan gave; None where it did not begin, for the one before it was still at work."""
        raw, alone = None, False
        output += self.pipe.received  # what came after the end spoils the reply
        if not self.used or output.startswith(self.waiting[0][0]):
            raw = Raw((_SAID if self.used else self.head) + output, ended, time.monotonic() - self.begun)
            alone = self.waiting.popleft()[2]
        self.used = raw is not None and ended is None and not self.pipe.received and not alone
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
        died = why_ended(1000 - status, self.limits) if status < 0 else exited
        return self._done(output[: output.rfind(b"\n") + 1], why or died)
