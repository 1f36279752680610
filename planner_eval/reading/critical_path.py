"""The critical path of a trace, the spans that made it take as long as it took, and what a trace lacks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, format_first, shorten
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations.spans import NANOSECONDS_PER_SECOND
from planner_eval.reading.trace_times import Run, Span


class PathStep(NamedTuple):
    """A span on the path, and for how many nanoseconds the trace waited for it alone."""

    span: Span
    time: int


class CriticalPath(NamedTuple):
    """The steps in time, and how long the whole trace took.

    Args:
        steps: The steps.
        whole: From its beginning to its end, in nanoseconds.
        beside: Tools and models that are not on the path and ran where nothing on it did, be it that they
            were waited for: what they gave may have been used before they ended.
        unsaid: For how long they did.
    """

    steps: tuple[PathStep, ...]
    whole: int
    beside: tuple[Span, ...] = ()
    unsaid: int = 0

    @property
    def time(self) -> int:
        """For how long a tool or a model ran on the path; the rest of the whole is the framework's own."""
        return sum(step.time for step in self.steps)


def critical_path(run: Run) -> CriticalPath | None:
    """The chain of tools and models that a trace waited for, from its end back to its beginning.

    From the end of the trace back, the tool or model that ended last is what was waited for, down to its
    beginning; then what had ended last before that. A tool that began while a model still spoke was asked
    for by it: the model is waited for until then. A tool in which others ran stands for them. Each moment
    belongs to one step, so that the times add up to no more than the whole (as Z. Zhang et al., CRISP:
    Critical Path Analysis of Large-Scale Microservice Architectures, USENIX ATC 2022). What went on long
    after the span around it had ended was not waited for.

    Args:
        run: The trace.

    Returns:
        The path; None where no tool or model says when it began and ended.

    >>> spans = (Span("a", None, "tool", "f", 0, 0, 5), Span("b", None, "tool", "g", 1, 0, 3))
    >>> [(step.span.name, step.time) for step in critical_path(Run(spans)).steps]
    [('f', 5)]
    """
    timed = _find_awaited_spans(run)
    steps: list[PathStep] = []
    models = _model_calls(run.spans[index] for _, _, index in timed)
    for end, start, index in sorted(timed, reverse=True):
        span = run.spans[index]
        if span.kind == "other" or (steps and end > (steps[-1].span.start or 0)):
            continue
        asker = _find_requesting_model(steps[-1].span, span, models) if steps else None
        if asker is not None:
            steps.append(asker)
        if asker is None or end <= (asker.span.start or 0):
            steps.append(PathStep(span, end - start))
    if not steps:
        return None
    asker = _find_requesting_model(steps[-1].span, None, models)
    if asker is not None:
        steps.append(asker)
    steps.reverse()
    first = min(start for _, start, _ in timed)
    total = max(end for end, _, _ in timed) - first
    return CriticalPath(tuple(steps), total, *_find_concurrent_spans(run, timed, steps, (first, total)))


_TimedSpans = list[tuple[int, int, int]]


def _find_awaited_spans(run: Run) -> _TimedSpans:
    """The end, the beginning and the place of each span that may have been waited for."""
    timed = [
        (span.end, span.start, index)
        for index, span in enumerate(run.spans)
        if span.start is not None and span.end is not None and span.end >= span.start
    ]
    ends: dict[str | None, int | None] = {span.id: span.end for span in run.spans if span.id is not None}
    waited = []
    for end, start, index in timed:
        around = ends.get(run.spans[index].parent)
        if around is None or (end - around) * 10 <= end - start:  # a little is what clocks differ by
            waited.append((end, start, index))
    return waited if any(run.spans[index].kind != "other" for _, _, index in waited) else timed


def _find_concurrent_spans(
    run: Run, timed: _TimedSpans, steps: list[PathStep], bounds: tuple[int, int]
) -> tuple[tuple[Span, ...], int]:
    """What ran where nothing on the path did, and for how long; nothing where that is short."""
    first, total = bounds
    gaps = []
    for step in steps:
        begin = step.span.start or 0
        if begin > first:
            gaps.append((first, begin))
        first = max(first, begin + step.time)
    on = {id(step.span) for step in steps}
    spans = [(start, end, run.spans[index]) for end, start, index in timed if id(run.spans[index]) not in on]
    off_path, unsaid, counted = [], 0, 0
    for start, end, span in sorted(spans, key=lambda entry: entry[:2]):
        gap_index = bisect_right(gaps, start, key=lambda gap: gap[1])
        if span.kind == "other" or gap_index == len(gaps) or gaps[gap_index][0] >= end:
            continue
        off_path.append(span)
        gap_index = bisect_right(gaps, max(start, counted), key=lambda gap: gap[1])
        while gap_index < len(gaps) and gaps[gap_index][0] < end:
            begin, ended = max(gaps[gap_index][0], start, counted), min(gaps[gap_index][1], end)
            unsaid += max(0, ended - begin)
            gap_index += 1
        counted = max(counted, end)
    return (tuple(off_path), unsaid) if unsaid * 100 > total else ((), 0)


def _model_calls(spans: Iterable[Span]) -> dict[str | None, list[tuple[int, int, Span]]]:
    """Calls of models by the span in which they ran, and by their start."""
    by_parent: dict[str | None, list[tuple[int, int, Span]]] = {}
    for index, span in enumerate(spans):
        if span.kind == "model":
            by_parent.setdefault(span.parent, []).append((span.start or 0, index, span))
    for among in by_parent.values():
        among.sort(key=lambda entry: entry[:2])
    return by_parent


def _find_requesting_model(
    tool: Span, before: Span | None, models: dict[str | None, list[tuple[int, int, Span]]]
) -> PathStep | None:
    """The model that was still speaking when a tool began, up to there; None where none beside it was.

    Where another model had ended right before, the tool is that one's.
    """
    among, start = models.get(tool.parent, []), tool.start or 0
    index = bisect_left(among, (start,))
    if tool.kind != "tool" or not index:
        return None
    model_start, _, model = among[index - 1]
    if (model.end or 0) <= start or (
        before is not None and before.kind == "model" and model_start < (before.end or 0)
    ):
        return None
    return PathStep(model, start - model_start)


def format_duration(time: int) -> str:
    """A time for people.

    >>> (
    ...     format_duration(1_234_000_000), format_duration(8_200_000),
    ...     format_duration(75 * NANOSECONDS_PER_SECOND)
    ... )
    ('1.23 s', '8.2 ms', '75.0 s')
    >>> format_duration(3_000), format_duration(999_990_000), format_duration(7_230 * NANOSECONDS_PER_SECOND)
    ('3 µs', '1.00 s', '2 h 0 min')
    >>> format_duration(0), format_duration(7)
    ('0 µs', '7 ns')
    """
    if time < 999_500:
        return f"{round(time / 1e3)} µs" if time >= 1000 or not time else f"{time} ns"
    if time < 999_950_000:
        return f"{time / 1e6:.1f} ms"
    if time < 120 * NANOSECONDS_PER_SECOND:
        return (
            f"{time / NANOSECONDS_PER_SECOND:.2f} s"
            if time < 9.995 * NANOSECONDS_PER_SECOND
            else f"{time / NANOSECONDS_PER_SECOND:.1f} s"
        )
    minutes, remainder = divmod(round(time / NANOSECONDS_PER_SECOND), 60)
    if minutes < 60:
        return f"{minutes} min {remainder} s"
    hours, minutes = divmod(round(time / NANOSECONDS_PER_SECOND / 60), 60)
    return f"{hours} h {minutes} min"


MAX_SHOWN_LENGTH = 60


def find_trace_defects(run: Run) -> Iterator[Diagnostic]:
    """What a trace lacks or contradicts, by which other findings may be missed.

    >>> from planner_eval.reading.trace_times import Span
    >>> [found.code for found in find_trace_defects(Run((Span("a", None, "tool", "f", 0, 5, 3),)))]
    ['trace.out_of_order']
    """
    for text in _describe_missing_spans(run):
        yield Diagnostic("trace.incomplete", text, "warning")
    untimed = [span for span in run.spans if span.start is None]
    if untimed and run.tools:
        text = (
            f"{len(untimed):,} of {format_count(len(run.spans), 'span')} have no start times, "
            "so calls are in the order of the file: export the times"
        )
        yield Diagnostic("trace.untimed", text, "warning")
    by_id = {span.id: span for span in run.spans if span.id is not None}
    for span in run.spans:
        outer = by_id.get(span.parent or "")
        backward = None not in (span.start, span.end) and (span.end or 0) < (span.start or 0)
        early = (
            outer is not None
            and None not in (outer.start, span.start)
            and (span.start or 0) < (outer.start or 0)
        )
        if backward or early:
            what = (
                "ended before it began"
                if backward
                else f"began before the span {outer and outer.id} it ran in"
            )
            text = (
                f"{shorten(span.name, MAX_SHOWN_LENGTH)} (span {span.id}) {what}: clocks "
                "disagree, so the order "
                "of the calls may be wrong"
            )
            yield Diagnostic("trace.out_of_order", text, "warning", span.call)


def _describe_missing_spans(run: Run) -> Iterator[str]:
    span_ids = {span.id for span in run.spans}
    orphans = [span for span in run.spans if span.parent is not None and span.parent not in span_ids]
    has_root = any(span.parent is None for span in run.spans)
    # One that is called over the network goes on another's trace: its first span's parent stands elsewhere.
    orphans = [span for span in orphans if span.whole is not False]
    if orphans and (
        has_root or any(span.whole for span in orphans) or len({span.parent for span in orphans}) > 1
    ):
        parents = ", ".join(dict.fromkeys(str(span.parent) for span in orphans[:3]))
        yield (
            f"{format_count(len(orphans), 'span')} have parents that are "
            f"not in the file ({parents}): "
            "export complete traces"
        )
    open_ones = [span for span in run.spans if span.start is not None and span.end is None]
    if run.unended:
        yield f"the end of {format_count(run.unended, 'span')} is not a readable time: export the times"
    elif open_ones and any(span.end is not None for span in run.spans):
        names = ", ".join(shorten(span.name, MAX_SHOWN_LENGTH) for span in open_ones[:3])
        some = format_count(len(open_ones), "span")
        yield f"{some} did not end ({names}): the run was cut off, or its end was not exported"
    if run.repeated:
        yield f"{format_count(run.repeated, 'span')} are duplicated in the file and counted once"


def describe_critical_path(run: Run) -> Iterator[Diagnostic]:
    """What a run waited for, and how long.

    >>> from planner_eval.reading.trace_times import Span
    >>> print(next(describe_critical_path(Run((Span("a", None, "tool", "f", 0, 0, 5_000_000),)))).message)
    the critical path is 5.0 ms of 5.0 ms: f 5.0 ms; speeding up other steps does not help
    """
    path = critical_path(run)
    if path is None:
        return
    steps = [f"{shorten(step.span.name, 30)} {format_duration(step.time)}" for step in path.steps]
    if len(steps) > 8:
        steps = [*steps[:4], f"{len(steps) - 7} more", *steps[-3:]]
    text = (
        f"the critical path is {format_duration(path.time)} of {format_duration(path.whole)}: "
        f"{' → '.join(steps)}; "
        f"speeding up other steps does not help{_format_concurrent_spans(path)}"
    )
    yield Diagnostic("trace.critical_path", text, "info")


def _format_concurrent_spans(path: CriticalPath) -> str:
    """What may have been waited for beside the path, in words."""
    if not path.beside:
        return ""
    names = [*dict.fromkeys(shorten(span.name, 30) for span in path.beside)]
    waiting = f"{format_first(names, 3)} in {format_duration(path.unsaid)}"
    return f", unless the run was waiting for {waiting} of the remaining time"
