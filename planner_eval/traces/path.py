"""The critical path of a trace: the spans that made it take as long as it took."""

from __future__ import annotations

from planner_eval.base.named import NamedTuple
from planner_eval.traces.run import SECOND, Run, Span


class Step(NamedTuple):
    """A span on the path, and for how many nanoseconds the trace waited for it alone."""

    span: Span
    time: int


class Path(NamedTuple):
    """The steps in time, and how long the whole trace took."""

    steps: tuple[Step, ...]
    whole: int

    @property
    def time(self) -> int:
        """For how long a tool or a model ran on the path; the rest of the whole is the framework's own."""
        return sum(step.time for step in self.steps)


def critical_path(run: Run) -> Path | None:
    """The chain of tools and models that a trace waited for, from its end back to its beginning.

    From the end of the trace back, the tool or model that ended last is what was waited for, down to its
    beginning; then what had ended last before that. A tool in which others ran stands for them. Each moment
    belongs to one step, so that the times add up to no more than the whole (as Z. Zhang et al., CRISP:
    Critical Path Analysis of Large-Scale Microservice Architectures, USENIX ATC 2022).

    Args:
        run: The trace.

    Returns:
        The path; None where no tool or model says when it began and ended.

    >>> spans = (Span("a", None, "tool", "f", 0, 0, 5), Span("b", None, "tool", "g", 1, 0, 3))
    >>> [(step.span.name, step.time) for step in critical_path(Run(spans)).steps]
    [('f', 5)]
    """
    timed = [
        (span.end, span.start, at)
        for at, span in enumerate(run.spans)
        if span.start is not None and span.end is not None and span.end >= span.start
    ]
    steps: list[Step] = []
    for end, start, at in sorted(timed, reverse=True):
        waited = not steps or end <= (steps[-1].span.start or 0)
        if run.spans[at].kind != "other" and waited:
            steps.append(Step(run.spans[at], end - start))
    if not steps:
        return None
    whole = max(end for end, _, _ in timed) - min(start for _, start, _ in timed)
    return Path(tuple(reversed(steps)), whole)


def seconds(time: int) -> str:
    """A time for people.

    >>> seconds(1_234_000_000), seconds(8_200_000), seconds(75 * SECOND)
    ('1.23 s', '8.2 ms', '75.0 s')
    """
    if time < SECOND:
        return f"{time / 1e6:.1f} ms"
    return f"{time / SECOND:.2f} s" if time < 10 * SECOND else f"{time / SECOND:.1f} s"
