"""The parent's side of isolation: starts workers, bounds what they say and how long they take, ends them.

A `Sandbox` belongs to one set of tools and one level:

* ``strict``: each plan in a fresh confined process, forked from a lean one that has seen no plan;
* ``process``: one confined process for many plans, for tools that we ship and that are pure;
* ``inline``: no isolation, in this process, for one's own tools.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import ExecutionError
from planner_eval.base.text import one_line
from planner_eval.execution import core, tool_loading
from planner_eval.execution.printed import OutputCapture
from planner_eval.execution.sandbox.channel import (
    GRACE_SECONDS,
    Pipe,
    ProcessLost,
    RawOutput,
    Server,
    frame_message,
    status_failure,
)
from planner_eval.execution.sandbox.frames import TIMED_OUT, TOO_MUCH_OUTPUT
from planner_eval.execution.sandbox.job import Program, Row
from planner_eval.execution.sandbox.reply import Reply, ReplyReader
from planner_eval.execution.tool_sources import ToolSource
from planner_eval.execution.trace import Failure, Layer

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.job import Message

# ----------------------------------------------------------------------
# The one worker of level process, as its parent sees it.
_LAYERS_SENT_LINE = b'["layers",null]\n'
"""What stands for the layers of a worker that has told of them already."""
_READING_SECONDS = 1.0
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

    def __init__(self, setup: Message, limits: Limits) -> None:
        self.limits = limits
        self.setup = {**setup, "mode": "worker"}
        self.waiting: deque[tuple[bytes, bytes, bool]] = deque()
        self._renew()

    def send(self, request: Message) -> None:
        """Hand over one plan, once those before it have ended."""
        begins = f'["begin","{request["token"]}"]\n'.encode()
        self.waiting.append((begins, frame_message(request), bool(request.get("fresh"))))
        if len(self.waiting) == 1:
            self._dispatch()

    def receive(self) -> RawOutput:
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
                return None, status_failure(TOO_MUCH_OUTPUT, self.limits)
            left = self._deadline(entered) - time.monotonic()
            before = len(self.pipe.received)
            if not self.pipe.pump(max(0.0, left)):
                return None, None
            if left <= -_READING_SECONDS or (left <= 0 and len(self.pipe.received) == before):
                return None, status_failure(TIMED_OUT, self.limits)

    def _deadline(self, entered: float) -> float:
        """When the plan must have ended; a worker that has not started yet knows nothing of it."""
        return max(self.begun + self.limits.seconds, entered) if self.head else entered + GRACE_SECONDS

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

    def _done(self, output: bytes, ended: Failure | None) -> RawOutput | None:
        """What the plan gave; None where it did not begin, for the one before it was still at work."""
        raw, alone = None, False
        output += self.pipe.received  # what came after the end spoils the reply
        if not self.used or output.startswith(self.waiting[0][0]):
            raw = RawOutput(
                (_LAYERS_SENT_LINE if self.used else self.head) + output, ended, time.monotonic() - self.begun
            )
            alone = self.waiting.popleft()[2]
        self.used = raw is not None and ended is None and not self.pipe.received and not alone
        if not self.used:
            if ended is None:
                self.pipe.kill()
            self._renew()
        self._dispatch()
        return raw

    def _left(self, why: Failure | None) -> RawOutput | None:
        """The same where the worker has left, or has to."""
        if why is None:  # it left by itself: how, its supervisor tells
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.pipe.process.wait(0.5)
        output = bytes(self.pipe.received)
        self.pipe.received.clear()
        status = self.pipe.kill()
        if not self.head:
            raise ProcessLost(f"the worker does not start (exit status {status})")
        exited = Failure("worker-died", f"exited with {status}")
        died = status_failure(1000 - status, self.limits) if status < 0 else exited
        return self._done(output[: output.rfind(b"\n") + 1], why or died)


# ----------------------------------------------------------------------
# The parent's side of isolation: starts workers, bounds what they say and how long they take, ends them.
LEVELS = ("strict", "process", "inline")
REQUIRED_LAYERS = {
    "strict": ("limits", "capabilities", "landlock", "seccomp"),
    "process": ("limits",),
    "inline": (),
}
"""The layers without which a level refuses to run; a level uses every other layer that there is."""

MEGABYTE = 1 << 20
_CLOCK_TOLERANCE = 0.1
"""Seconds by which the worker's clock and this process's may differ over one plan."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one plan may use.

    Args:
        seconds: Wall time, per plan.
        memory: Address space in bytes.
        file_size: The largest file in bytes.
        disk_size: All files of the plan's own folder together, in bytes.
        output_size: All values that the plan sends back, in bytes of JSON.
        value_size: One such value, in characters of JSON; a larger one is described.
        open_files: Open descriptors.
        tasks: Threads, where there may be any.
        read: Further files and folders that the tools may read.
    """

    seconds: float = 10.0
    memory: int = 512 * MEGABYTE
    file_size: int = 10 * MEGABYTE
    disk_size: int = 64 * MEGABYTE
    output_size: int = 8 * MEGABYTE
    value_size: int = 1_000_000
    open_files: int = 64
    tasks: int = 64
    read: tuple[str, ...] = ()


class _Ticket:
    """A program that was sent, what tells its reply from others, and that reply once it has come."""

    __slots__ = ("program", "reply", "token")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.token = os.urandom(16).hex()
        self.reply: Reply | None = None


class Sandbox:
    """Tools, ready to run plans, at a level of isolation; use it as a context manager.

    Args:
        source: From `planner_eval.execution.tool_source`.
        level: ``"strict"``, ``"process"`` or ``"inline"``; None takes the source's own default.
        limits: What one plan may use; inline enforces nothing.
        threads: Whether tools may start threads (concurrent calls need them); None: as the source says.
        jobs: How many plans may run side by side under ``strict``; None: one a processor, at most 4.

    Raises:
        ExecutionError: the level is unknown, or needs a process while the tools are objects of this one.

    >>> from planner_eval.execution import tool_source
    >>> with Sandbox(tool_source("nestful"), level="process") as box:
    ...     box.level
    'process'
    """

    def __init__(
        self,
        source: ToolSource,
        *,
        level: str | None = None,
        limits: Limits | None = None,
        threads: bool | None = None,
        jobs: int | None = None,
    ) -> None:
        self.source = source
        self.level = level or source.level
        self.limits = limits or Limits()
        self.threads = source.threads if threads is None else threads
        self.jobs = jobs or min(4, _cpus())
        self.layers: tuple[Layer, ...] = ()
        self._backend: Server | Worker | None = None
        self._owner = os.getpid()
        self._tools: Any = None
        self._printed = OutputCapture()
        self._waiting: deque[_Ticket] = deque()
        self._lock = threading.RLock()
        if self.level not in LEVELS:
            raise ExecutionError(
                f"unknown isolation level {self.level!r}; expected one of {', '.join(LEVELS)}"
            )
        if self.level != "inline" and not hasattr(os, "fork"):
            raise ExecutionError(f"level {self.level!r} needs a system with fork: use --isolation inline")
        if source.objects is not None and self.level != "inline":
            raise ExecutionError(
                "tools passed as Python objects run in this process: pass "
                "isolation='inline', or name them as 'package.module:attribute'"
            )

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every worker; nothing of them is left."""
        if self._backend is not None and self._owner == os.getpid():
            self._backend.close()
        self._backend = None
        self._waiting.clear()

    def anew(self, source: ToolSource) -> Sandbox:
        """Another one like this, for these tools."""
        return Sandbox(source, level=self.level, limits=self.limits, threads=self.threads, jobs=self.jobs)

    # ------------------------------------------------------------ running
    def run(self, program: Program) -> Reply:
        """Run one program of `compile_plan`."""
        return next(self.map([program]))

    def map(self, programs: Iterable[Program]) -> Iterator[Reply]:
        """Run programs and give their replies in order, sending some ahead.

        Raises:
            ExecutionError: the tools do not load, or fewer layers hold than the level asks for.
        """
        if self.level == "inline":
            yield from (self._inline(program) for program in programs)
            return
        tickets: deque[_Ticket] = deque()
        source = iter(programs)
        try:
            while True:
                while len(tickets) < self._started().ahead and (program := next(source, None)) is not None:
                    tickets.append(self._send(program))
                if not tickets:
                    return
                yield self._collect(tickets.popleft())
        finally:
            if tickets and all(ticket in tickets for ticket in self._waiting):
                self.close()  # somebody stopped half-way, and nobody else is waiting

    def _send(self, program: Program) -> _Ticket:
        ticket = _Ticket(program)
        with self._lock:
            try:
                self._started().send(self._request(ticket))
            except ValueError as error:  # arguments that nest deeper than a message can
                unsendable = Failure("unsendable", f"the plan cannot be sent to a worker: {error}")
                ticket.reply = Reply((), unsendable)
            else:
                self._waiting.append(ticket)
        return ticket

    def _collect(self, ticket: _Ticket) -> Reply:
        """The reply to one program; they come in order, whoever asks, so earlier ones are kept for theirs."""
        with self._lock:
            while ticket.reply is None:
                if not self._waiting or self._backend is None:
                    raise ExecutionError("the sandbox was closed while plans were running")
                first = self._waiting.popleft()
                first.reply = self._reply(self._backend, first)
        return ticket.reply

    def _request(self, ticket: _Ticket) -> Message:
        limits = self.limits
        return {
            "program": ticket.program.plain(),
            "token": ticket.token,
            "fresh": ticket.program.initial is not None,
            "seconds": limits.seconds,
            "value_size": limits.value_size,
            "layers": not self.layers,
        }

    def _inline(self, program: Program) -> Reply:
        started = time.perf_counter()
        rows: list[Row] = []
        turns: list[tuple[int, Any]] = []
        if self._tools is None or self.source.stateful:
            try:
                self._tools = self._load()
            except tool_loading.LoadError as error:
                raise ExecutionError(tool_loading.unloadable_message(self.source.name, error)) from error
        tools, state, ended, kind = self._tools, None, None, "initial-state"

        def turned(turn: int) -> None:
            turns.append((turn, core.copy_containers(tool_loading.state_of(tools))))

        try:
            with self._printed as printed:
                tools = self._own(program.initial)
                tool_loading.set_initial_state(tools, core.copy_containers(program.initial))
                kind, wants_state = "worker-died", program.manner.state
                core.run(
                    program, tools, rows.append, printed, turned=turned if wants_state else None, inline=True
                )
                state = core.copy_containers(tool_loading.state_of(tools)) if wants_state else None
        except tool_loading.StateError as error:
            ended = Failure(kind, str(error))
        return Reply(tuple(rows), ended, state, time.perf_counter() - started, tuple(turns))

    def _own(self, initial: Any) -> Any:
        """The tools, for a plan that begins in a state of its own: those that another finds stay as they are.

        Raises:
            StateError: there are no others of them in this process.
        """
        remade = self.source.make is not None or self.source.data.get("kind") not in (None, "module")
        if initial is None or remade or not hasattr(self._tools, "owners"):
            return self._tools
        try:
            return deepcopy(self._tools)
        except Exception as error:  # the tools' own code; modules cannot be copied
            reason = (
                "tools in this process keep it for the next plan: pass a class or the tools' "
                "file, and drop --isolation inline"
            )
            raise tool_loading.StateError(reason) from error

    def _load(self) -> Any:
        """The tools, in this process; what they print while they are loaded is no call's."""
        if self.source.objects is not None:
            return self.source.objects if self.source.make is None else self.source.make()
        with self._printed as printed:
            printed.begin()
            try:
                return tool_loading.load(self.source.data)
            finally:
                printed.end()

    def _started(self) -> Server | Worker:
        if self._owner != os.getpid():  # after a fork the workers are the other process's
            self._backend, self._owner = None, os.getpid()
            self._waiting, self._lock = deque(), threading.RLock()
        if self._backend is None:
            kind = Server if self.level == "strict" else Worker
            self._backend = kind(self._setup(), self.limits)
        return self._backend

    def _setup(self) -> Message:
        limits = self.limits
        kernel = {"AS": limits.memory, "FSIZE": limits.file_size, "NOFILE": limits.open_files, "CORE": 0}
        if self.level == "strict":
            kernel["CPU"] = math.ceil(limits.seconds) + 1
        kernel["NPROC"] = limits.tasks if self.threads else 0
        return {
            "parent": os.getpid(),
            "source": self.source.data,
            "stateful": self.source.stateful,
            "limits": kernel,
            "read": [*self.source.read, *map(os.path.realpath, limits.read)],
            "names": list(self.source.names),
            "required": list(REQUIRED_LAYERS[self.level]),
            "threads": self.threads,
            "writes": self.source.writes,
            "jobs": self.jobs,
            "output_size": limits.output_size,
            "disk_size": limits.disk_size,
            "tasks": limits.tasks,
        }

    # ------------------------------------------------------------ reading replies
    def _reply(self, backend: Server | Worker, ticket: _Ticket) -> Reply:
        try:
            raw = backend.receive()
        except ProcessLost as error:
            self.close()
            raise ExecutionError(str(error)) from error
        read = ReplyReader(ticket.program, ticket.token, raw.seconds + _CLOCK_TOLERANCE)
        trouble = read.all(raw.output)
        if read.layers:
            self.layers = read.layers
            self._insist()
        if read.unloadable is not None and trouble is None:
            self.close()
            reason = one_line(read.unloadable, len(read.unloadable))
            raise ExecutionError(tool_loading.unloadable_message(self.source.name, reason))
        if trouble is not None and raw.ended is None:
            backend.distrust()
        early = None if read.complete else Failure("worker-died", "the worker ended early")
        ended = raw.ended or trouble or read.stopped or early
        return Reply(tuple(read.rows), ended, read.state, raw.seconds, tuple(read.turns))

    def _insist(self) -> None:
        """Refuse to go on where fewer layers hold than the level asks for."""
        by_name = {layer.name: layer for layer in self.layers}
        lacking = [
            f"{name} ({by_name[name].found})"
            for name in REQUIRED_LAYERS[self.level]
            if not by_name[name].held
        ]
        if lacking:
            self.close()
            raise ExecutionError(self._refusal(", ".join(lacking)))

    def _refusal(self, lacking: str) -> str:
        lower = LEVELS[LEVELS.index(self.level) + 1]
        return (
            f"isolation level {self.level!r} needs {', '.join(REQUIRED_LAYERS[self.level])}; "
            f"missing here: {lacking}. Nothing was run. See planeval "
            f"doctor; for trusted tools use --isolation {lower}"
        )


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
