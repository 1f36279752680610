"""What is wrong with a trace as a record: what it lacks, what contradicts itself; and where its time went."""

from __future__ import annotations

from collections.abc import Iterator

from planner_eval.base.text import counted, shortened
from planner_eval.plan.model import Diagnostic
from planner_eval.traces.path import Path, critical_path, seconds
from planner_eval.traces.run import Run

_SHOWN = 60


def lacks(run: Run) -> Iterator[Diagnostic]:
    """What a trace lacks or contradicts, by which other findings may be missed.

    >>> from planner_eval.traces.run import Span
    >>> [found.code for found in lacks(Run((Span("a", None, "tool", "f", 0, 5, 3),)))]
    ['trace.out_of_order']
    """
    for text in _missing(run):
        yield Diagnostic("trace.incomplete", text, "warning")
    untimed = [span for span in run.spans if span.start is None]
    if untimed and run.tools:
        text = (
            f"{len(untimed):,} of {counted(len(run.spans), 'span')} do not say when they began: calls "
            "stand in the order of the file, which is that of their ends; export the times"
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
                f"{shortened(span.name, _SHOWN)} (span {span.id}) {what}: clocks disagree, and the order of "
                "the calls may be wrong"
            )
            yield Diagnostic("trace.out_of_order", text, "warning", span.call)


def _missing(run: Run) -> Iterator[str]:
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
            f"{counted(len(orphans), 'span')} ran in spans that are not in the file ({parents}): it is cut, "
            "or sampled; export whole traces"
        )
    open_ones = [span for span in run.spans if span.start is not None and span.end is None]
    if run.unended:
        yield f"of {counted(run.unended, 'span')} the end is no time that can be read; export times"
    elif open_ones and any(span.end is not None for span in run.spans):
        names = ", ".join(shortened(span.name, _SHOWN) for span in open_ones[:3])
        some = counted(len(open_ones), "span")
        yield f"{some} did not end ({names}): the run was cut off, or its end was not exported"
    if run.repeated:
        yield f"{counted(run.repeated, 'span')} stand twice in the file and are counted once"


def path_of(run: Run) -> Iterator[Diagnostic]:
    """What a run waited for, and how long.

    >>> from planner_eval.traces.run import Span
    >>> print(next(path_of(Run((Span("a", None, "tool", "f", 0, 0, 5_000_000),)))).message)
    the critical path is 5.0 ms of 5.0 ms: f 5.0 ms; what is not on it makes nothing faster
    """
    path = critical_path(run)
    if path is None:
        return
    steps = [f"{shortened(step.span.name, 30)} {seconds(step.time)}" for step in path.steps]
    if len(steps) > 8:
        steps = [*steps[:4], f"{len(steps) - 7} more", *steps[-3:]]
    text = (
        f"the critical path is {seconds(path.time)} of {seconds(path.whole)}: {' → '.join(steps)}; "
        f"what is not on it makes nothing faster{_unless(path)}"
    )
    yield Diagnostic("trace.critical_path", text, "info")


def _unless(path: Path) -> str:
    """What may have been waited for beside the path, in words."""
    if not path.beside:
        return ""
    names = [*dict.fromkeys(shortened(span.name, 30) for span in path.beside)]
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f", unless the run waited for {some} in {seconds(path.unsaid)} of the rest"
