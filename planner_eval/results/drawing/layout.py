"""Pictures from DOT: child processes with a deadline, many graphs each, one broken graph alone.

pygraphviz brings Graphviz along and draws in persistent children; where it is not installed, the
program ``dot`` draws, one process a graph.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import struct
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TypeAlias

from planner_eval.base.errors import RenderError
from planner_eval.plan.model import Diagnostic

# ----------------------------------------------------------------------
# A child process that lays graphs out with pygraphviz's Graphviz; one is kept warm between drawings.
START_SECONDS = 30.0
WORKER = Path(__file__).with_name("worker.py")
Answer: TypeAlias = tuple[bool, bytes, bytes]
"""Whether it failed, the picture, and what Graphviz said."""

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


class Child:
    """A persistent process that lays graphs out with pygraphviz's Graphviz.

    Args:
        form: What it draws.
        deadline: Seconds for the layout of each graph.
    """

    def __init__(self, form: str, deadline: float) -> None:
        self.form = form
        self.deadline = deadline
        self.busy = False
        self.unusable = ""
        self._start()
        _all_children.add(self)

    def _start(self) -> None:
        # -P: the worker's own folder holds modules named like the standard library's. Without buffers, for a
        # forked process closes its copies of the pipes, and a buffer's lock may be held by the reader.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.greeted = False
        self.reader: threading.Thread | None = None

    def await_start(self) -> None:
        """Hear whether the process can draw."""
        if self.greeted or self.unusable:
            return
        hello = self._answer(START_SECONDS)
        self.greeted = True
        if hello is None or hello[0]:
            message = hello[2].decode(errors="replace") if hello else "its process stopped at the start"
            self.unusable = f"pygraphviz cannot be used: {message}"
            self.close()

    def send(self, source: bytes) -> None:
        """Give it a graph to lay out; a process that is gone is started again."""
        self.busy = True
        if self.stdin.closed and not self.unusable:
            self._start()
            self.await_start()
        form = self.form.encode()
        frame = memoryview(struct.pack(">dII", self.deadline, len(form), len(source)) + form + source)
        try:
            while frame:
                frame = frame[self.stdin.write(frame) :]
        except (OSError, ValueError):  # it has died; result() says so
            pass

    def result(self) -> Drawing:
        """Read the drawing; a process that is late or dead is ended."""
        self.busy = False
        if self.unusable:  # it could not be started again
            return Drawing(error=self.unusable)
        answer = self._answer(self.deadline)
        if answer is None:
            hangs = self.reader is not None and self.reader.is_alive()
            reason = timeout_message(self.deadline) if hangs else "Graphviz stopped without an answer"
            self.close()
            return Drawing(error=reason)
        failed, data, stderr = answer
        if failed:
            return Drawing(error=f"Graphviz: {stderr.decode(errors='replace').strip()}")
        return Drawing(strip_pdf_dates(data), graphviz_diagnostics(stderr))

    def _answer(self, seconds: float) -> Answer | None:
        """The next answer; None where it is late, and where the process has ended.

        A thread waits, for no other way has a deadline everywhere; it is gone when nothing is drawn, so that
        a process may fork.
        """
        answers: list[Answer] = []
        self.reader = threading.Thread(target=_read_answer, args=(self.stdout, answers), daemon=True)
        self.reader.start()
        self.reader.join(seconds)
        return answers[0] if answers else None

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        if self.reader is not None:
            # It sees the end; of a pipe closed under it the number may be another's.
            self.reader.join(START_SECONDS)
        self._close_pipes()

    def _close_pipes(self) -> None:
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):  # what was not read by a process that has ended
                stream.close()

    def abandon(self) -> None:
        """In a forked process: let go of what belongs to the process that forked."""
        self.process.returncode = 0  # it is no child of this process, which cannot wait for it
        self._close_pipes()


_idle_children: deque[Child] = deque()
"""The child that waits for the next drawing, for starting one takes as long as twenty drawings."""

_all_children: weakref.WeakSet[Child] = weakref.WeakSet()


def acquire_child(form: str, deadline: float) -> Child:
    """A child that nobody else has: the one that waits, or a new one.

    Args:
        form: What it draws.
        deadline: Seconds for the layout of each graph.
    """
    while _idle_children:
        try:
            child = _idle_children.pop()
        except IndexError:  # another thread has taken it
            break
        if child.process.poll() is None:
            child.form, child.deadline = form, deadline
            return child
        child.close()
    return Child(form, deadline)


def release_child(child: Child) -> None:
    """Keep a child for the next drawing, or end it: where it is busy or gone, or another waits already."""
    if _idle_children or child.busy or child.unusable or child.stdin.closed:
        child.close()
    else:
        _idle_children.append(child)


def end_idle() -> None:
    """End the child that waits."""
    while _idle_children:
        _idle_children.pop().close()


def _abandon_children() -> None:
    for child in _all_children:
        child.abandon()
    _idle_children.clear()


atexit.register(end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_children)


def timeout_message(deadline: float) -> str:
    """That a layout took too long."""
    more = "raise --deadline, or use --format dot or mermaid, which need no layout"
    return f"no layout within the deadline of {deadline:g} s; {more}"


def graphviz_diagnostics(stderr: bytes) -> tuple[Diagnostic, ...]:
    r"""What Graphviz wrote to standard error as diagnostics, one a line, each once.

    >>> graphviz_diagnostics(b"Warning: node c1, size too small\n")[0].code
    'render.graphviz'
    """
    lines = dict.fromkeys(line.strip() for line in stderr.decode(errors="replace").splitlines())
    return tuple(
        Diagnostic("render.graphviz", line, "info" if line.startswith("Fontconfig") else "warning")
        for line in lines
        if line
    )


def strip_pdf_dates(data: bytes) -> bytes:
    """A picture; of a PDF without the time of its making: the same plan gives the same bytes.

    >>> strip_pdf_dates(b"%PDF /ModDate (D:20260504101500)")
    b'%PDF /ModDate (D:20000101000000)'
    """
    return _PDF_DATE.sub(rb"\g<1>20000101000000", data) if data.startswith(b"%PDF") else data


def _read_answer(stream: IO[bytes], answers: list[Answer]) -> None:
    """Read a frame; nothing is found where the process ends before."""
    try:
        header = _read_exactly(stream, 9)
        if len(header) < 9:
            return
        failed, data_size, message_size = struct.unpack(">BII", header)
        picture, message = _read_exactly(stream, data_size), _read_exactly(stream, message_size)
        if len(picture) == data_size and len(message) == message_size:
            answers.append((bool(failed), picture, message))
    except (OSError, ValueError):  # closed while waiting
        pass


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    """So many bytes; fewer at the end."""
    chunks = []
    while size and (chunk := stream.read(size)):
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


# ----------------------------------------------------------------------
# Pictures from DOT: child processes with a deadline, many graphs each, one broken graph alone.
INSTALL_ADVICE = (
    "pip install 'planner_eval[draw]' or install Graphviz (dot), or use --format dot, mermaid or text"
)
MIN_PARALLEL_GRAPHS = 16
"""Graphs from which on it pays to start several children."""


def draw_many(sources: Iterable[str], form: str, *, deadline: float = 10.0) -> Iterator[Drawing]:
    """Pictures of many graphs, in their order, each with its own deadline.

    Args:
        sources: Graphs in DOT.
        form: A format that Graphviz draws.
        deadline: Seconds for the layout of each.

    Yields:
        One drawing a graph; one that failed says why and holds no data.

    Raises:
        RenderError: nothing here can draw.
    """
    stream = iter(sources)
    first = list(islice(stream, MIN_PARALLEL_GRAPHS))
    painters = _start_painters(
        form, deadline, min(4, os.cpu_count() or 1) if len(first) == MIN_PARALLEL_GRAPHS else 1
    )
    waiting: deque[Child | DotProgram] = deque()
    try:
        for number, source in enumerate(chain(first, stream)):
            painter = painters[number % len(painters)]
            if len(waiting) == len(painters):
                yield waiting.popleft().result()
            painter.send(source.encode())
            waiting.append(painter)
        while waiting:
            yield waiting.popleft().result()
    finally:
        for painter in painters:
            if isinstance(painter, Child):
                release_child(painter)


def _start_painters(form: str, deadline: float, count: int) -> Sequence[Child | DotProgram]:
    """As many children as wanted, started side by side; the program where pygraphviz is missing."""
    children = [acquire_child(form, deadline) for _ in range(count)]
    for child in children:
        child.await_start()
    if not children[0].unusable:
        return [child for child in children if not child.unusable]
    from shutil import which

    program = which("dot")
    if program is None:
        raise RenderError(f"cannot draw {form} ({children[0].unusable}): {INSTALL_ADVICE}")
    return [DotProgram(program, form, deadline)]


class DotProgram:
    """The program ``dot``, one process a graph."""

    def __init__(self, program: str, form: str, deadline: float) -> None:
        self.command = [program, f"-T{form}"]
        self.deadline = deadline
        self.source = b""

    def send(self, source: bytes) -> None:
        """Keep the graph until its picture is asked for."""
        self.source = source

    def result(self) -> Drawing:
        """Draw it."""
        try:
            process = subprocess.run(
                self.command, input=self.source, capture_output=True, timeout=self.deadline, check=False
            )
        except subprocess.TimeoutExpired:
            return Drawing(error=timeout_message(self.deadline))
        if process.returncode or not process.stdout:
            message = process.stderr.decode(errors="replace").strip() or f"exit code {process.returncode}"
            return Drawing(error=f"Graphviz: {message}")
        return Drawing(strip_pdf_dates(process.stdout), graphviz_diagnostics(process.stderr))
