"""Pictures from DOT: child processes with a deadline, many graphs each, one broken graph alone.

pygraphviz brings Graphviz along and draws in persistent children; where it is not installed, the
program ``dot`` draws, one process a graph.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol

from planner_eval.base.errors import RenderError
from planner_eval.results.drawing.child import (
    Child,
    Drawing,
    acquire_child,
    graphviz_diagnostics,
    release_child,
    strip_pdf_dates,
    timeout_message,
)

INSTALL_ADVICE = (
    "install pygraphviz, which brings Graphviz along (pip install 'planner_eval[draw]'), or install "
    "Graphviz so that the program dot is found; the formats dot, mermaid and text need neither"
)
MIN_PARALLEL_GRAPHS = 16
"""Graphs from which on it pays to start several children."""


class Painter(Protocol):
    """Something that draws graphs in the order in which it gets them."""

    def ready_for(self, source: bytes) -> bool:
        """Whether the graph can be sent without waiting for an earlier one."""

    def send(self, source: bytes) -> None:
        """Take a graph."""

    def result(self) -> Drawing:
        """The next drawing; waits for it until the deadline."""


def draw_many(sources: Iterable[str], form: str, *, deadline: float = 10.0) -> Iterator[Drawing]:
    """Pictures of many graphs, in their order, each with its own deadline.

    Args:
        sources: Graphs in DOT.
        form: One of :data:`~planner_eval.base.formats.PICTURE_FORMATS`.
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
            if isinstance(painter, Child):
                release_child(painter)


def _start_painters(form: str, deadline: float, count: int) -> Sequence[Painter]:
    """As many children as wanted, started side by side; the program where pygraphviz is missing."""
    children = [acquire_child(form, deadline) for _ in range(count)]
    for child in children:
        child.await_start()
    if not children[0].unusable:
        return [child for child in children if not child.unusable]
    program = shutil.which("dot")
    if program is None:
        raise RenderError(f"nothing here draws {form} ({children[0].unusable}): {INSTALL_ADVICE}")
    return [DotProgram(program, form, deadline)]


class DotProgram:
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
            process = subprocess.run(
                self.command, input=source, capture_output=True, timeout=self.deadline, check=False
            )
        except subprocess.TimeoutExpired:
            return Drawing(error=timeout_message(self.deadline))
        if process.returncode or not process.stdout:
            message = process.stderr.decode(errors="replace").strip() or f"exit code {process.returncode}"
            return Drawing(error=f"Graphviz: {message}")
        return Drawing(strip_pdf_dates(process.stdout, self.form), graphviz_diagnostics(process.stderr))
