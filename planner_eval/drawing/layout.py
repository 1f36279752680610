"""Pictures from DOT: child processes with a deadline, many graphs each, one broken graph alone.

pygraphviz brings Graphviz along and draws in persistent children; where it is not installed, the
program ``dot`` draws, one process a graph.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Protocol

from planner_eval.base.errors import RenderError
from planner_eval.plan.model import Diagnostic

REMEDIES = (
    "install pygraphviz, which brings Graphviz along (pip install 'planner_eval[draw]'), or install "
    "Graphviz so that the program dot is found; the formats dot, mermaid and text need neither"
)
START_SECONDS = 30.0
AHEAD = 32
"""Graphs that wait in one child's pipe at the utmost, so that it never waits for the next."""

MANY = 16
"""Graphs from which on it pays to start several children."""

PIPE_BYTES = 4096
"""What a pipe holds everywhere; writing more than that to a busy child could wait beyond its deadline."""

WORKER = Path(__file__).with_name("worker.py")
_PDF_DATE = re.compile(rb"(/(?:Creation|Mod)Date \(D:)\d{14}")


@dataclass(frozen=True, slots=True)
class Drawing:
    """One picture.

    Args:
        data: The picture's bytes; empty where it could not be drawn.
        diagnostics: What is worth saying about it, and all that Graphviz said.
        error: Why there is no picture; empty where there is one.
    """

    data: bytes = b""
    diagnostics: tuple[Diagnostic, ...] = ()
    error: str = ""


class Painter(Protocol):
    """Something that draws graphs in the order in which it gets them."""

    def ready_for(self, source: bytes) -> bool:
        """Whether the graph can be sent without waiting for an earlier one."""

    def send(self, source: bytes) -> None:
        """Take a graph."""

    def result(self) -> Drawing:
        """The next drawing; waits for it until the deadline."""

    def close(self) -> None:
        """End whatever still runs."""


def draw_many(sources: Iterable[str], form: str, *, deadline: float = 10.0) -> Iterator[Drawing]:
    """Pictures of many graphs, in their order, each with its own deadline.

    Args:
        sources: Graphs in DOT.
        form: One of :data:`~planner_eval.base.formats.PICTURES`.
        deadline: Seconds for the layout of each.

    Yields:
        One drawing a graph; one that failed says why and holds no data.

    Raises:
        RenderError: nothing here can draw.
    """
    stream = iter(sources)
    first = list(islice(stream, MANY))
    painters = _painters(form, deadline, min(4, os.cpu_count() or 1) if len(first) == MANY else 1)
    waiting: deque[Painter] = deque()
    try:
        for number, source in enumerate(chain(first, stream)):
            data = source.encode()
            painter = painters[number % len(painters)]
            while waiting and not painter.ready_for(data):
                yield waiting.popleft().result()
            painter.send(data)
            waiting.append(painter)
        while waiting:
            yield waiting.popleft().result()
    finally:
        for painter in painters:
            painter.close()


def _painters(form: str, deadline: float, count: int) -> Sequence[Painter]:
    """As many children as wanted, started side by side; the program where pygraphviz is missing."""
    children = [Child(form, deadline) for _ in range(count)]
    for child in children:
        child.await_start()
    if not children[0].unusable:
        return [child for child in children if not child.unusable]
    program = shutil.which("dot")
    if program is None:
        raise RenderError(f"nothing here draws {form} ({children[0].unusable}): {REMEDIES}")
    return [Program(program, form, deadline)]


class Child:
    """A persistent process that lays graphs out with pygraphviz's Graphviz."""

    def __init__(self, form: str, deadline: float) -> None:
        self.form = form
        self.deadline = deadline
        self.sent: deque[bytes] = deque()
        self.bytes = 0
        self.unusable = ""
        self._start()

    def _start(self) -> None:
        # -P: the worker's own folder holds modules named like the standard library's.
        command = [sys.executable, "-P", str(WORKER), str(self.deadline)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        self.room = min(_widen(self.stdin), _widen(self.process.stdout))
        self.answers: SimpleQueue[tuple[bool, bytes, bytes] | None] = SimpleQueue()
        threading.Thread(target=_read_answers, args=(self.process.stdout, self.answers), daemon=True).start()

    def await_start(self) -> None:
        """Hear whether the process can draw."""
        try:
            hello = self.answers.get(timeout=START_SECONDS)
        except Empty:
            hello = None
        if hello is None or hello[0]:
            said = hello[2].decode(errors="replace") if hello else "its process ended at the start"
            self.unusable = f"pygraphviz cannot be used: {said}"
            self.close()

    def ready_for(self, source: bytes) -> bool:
        """Whether its pipe has room; a process that is busy with one graph may not be waited for."""
        if not self.sent:
            return True
        return len(self.sent) < AHEAD and self.bytes + len(source) + 64 <= self.room

    def send(self, source: bytes) -> None:
        """Write the graph to its pipe."""
        self.sent.append(source)
        self.bytes += len(source) + 64
        self._write(source)

    def _write(self, source: bytes) -> None:
        form = self.form.encode()
        try:
            self.stdin.write(struct.pack(">II", len(form), len(source)) + form + source)
            self.stdin.flush()
        except OSError:  # it has died; result() says so
            pass

    def result(self) -> Drawing:
        """Read the next drawing; a process that is late or dead is replaced."""
        self.bytes -= len(self.sent[0]) + 64
        if self.unusable:  # it could not be started again
            self.sent.popleft()
            return Drawing(error=self.unusable)
        try:
            answer = self.answers.get(timeout=self.deadline)
        except Empty:
            answer = None
            reason = _late(self.deadline)
        else:
            reason = "Graphviz ended without an answer"
        self.sent.popleft()
        if answer is None:
            self._again()
            return Drawing(error=reason)
        failed, data, said = answer
        if failed:
            return Drawing(error=f"Graphviz: {said.decode(errors='replace').strip()}")
        return Drawing(_dateless(data, self.form), complaints(said))

    def _again(self) -> None:
        """A new process takes over the graphs that the last one left."""
        self.close()
        self._start()
        self.await_start()
        for source in self.sent:
            self._write(source)

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except OSError:  # what was not read by a process that has ended
                pass


class Program:
    """The program ``dot``, one process a graph."""

    def __init__(self, program: str, form: str, deadline: float) -> None:
        self.command = [program, f"-T{form}"]
        self.form = form
        self.deadline = deadline
        self.drawn: deque[Drawing] = deque()

    def ready_for(self, source: bytes) -> bool:
        """Only when the last drawing has been taken."""
        return not self.drawn

    def send(self, source: bytes) -> None:
        """Draw at once."""
        self.drawn.append(self._draw(source))

    def result(self) -> Drawing:
        """The drawing."""
        return self.drawn.popleft()

    def _draw(self, source: bytes) -> Drawing:
        try:
            done = subprocess.run(
                self.command, input=source, capture_output=True, timeout=self.deadline, check=False
            )
        except subprocess.TimeoutExpired:
            return Drawing(error=_late(self.deadline))
        if done.returncode or not done.stdout:
            said = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
            return Drawing(error=f"Graphviz: {said}")
        return Drawing(_dateless(done.stdout, self.form), complaints(done.stderr))

    def close(self) -> None:
        """Nothing runs any more."""


def _late(deadline: float) -> str:
    more = "a longer --deadline may help, and the formats dot and mermaid need no layout"
    return f"no layout within the deadline of {deadline:g} s; {more}"


def complaints(said: bytes) -> tuple[Diagnostic, ...]:
    r"""What Graphviz wrote to standard error as diagnostics, one a line, each once.

    >>> complaints(b"Warning: node c1, size too small\n")[0].code
    'render.graphviz'
    """
    lines = dict.fromkeys(line.strip() for line in said.decode(errors="replace").splitlines())
    return tuple(
        Diagnostic("render.graphviz", line, "info" if line.startswith("Fontconfig") else "warning")
        for line in lines
        if line
    )


def _read_answers(stream: IO[bytes], answers: SimpleQueue[tuple[bool, bytes, bytes] | None]) -> None:
    """Put every frame into the queue, and None when the process has ended."""
    try:
        while len(header := stream.read(9)) == 9:
            failed, data, said = struct.unpack(">BII", header)
            answers.put((bool(failed), stream.read(data), stream.read(said)))
    except (OSError, ValueError):  # closed while waiting
        pass
    answers.put(None)


def _widen(stream: IO[bytes]) -> int:
    """Make a pipe hold more where the system allows it; how much it holds."""
    try:
        import fcntl

        return fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
    except (ImportError, AttributeError, OSError):
        return PIPE_BYTES


def _dateless(data: bytes, form: str) -> bytes:
    """A PDF without the time of its making: the same plan gives the same bytes."""
    return _PDF_DATE.sub(rb"\g<1>20000101000000", data) if form == "pdf" else data
