"""Drawing: many small diffs in a few children beside one dot process each, startup, the deadline."""

import shutil
import subprocess
import time
from collections.abc import Iterable
from importlib.util import find_spec

from planner_eval.comparison.diff import Diff, diff
from planner_eval.plan.model import Call, Edge, Plan, Ref
from planner_eval.results.drawing import render, render_many
from tests.performance.timing import seconds
from tests.render_plans import dense

DIFFS = 1_000
SAMPLE = 60
"""dot processes that are timed; they take the same time each."""


def small(seed: int) -> Diff:
    """A diff of three calls each, no two alike: a changed value, a wrong reference, a missing call."""

    def plan(date: str, hotel: int, last: bool) -> Plan:
        calls = [
            Call("c1", "search_flight", (("to", f"City {seed}"), ("date", date))),
            Call("c2", "search_hotel", (("city", f"City {seed}"),)),
            Call("c3", "book_trip", (("flight", Ref(0, ("id",))), ("hotel", Ref(hotel, ("id",))))),
        ]
        edges = (Edge(0, 2, "flight", (), ("id",)), Edge(hotel, 2, "hotel", (), ("id",)))
        return Plan(tuple(calls[: 3 if last else 2]), edges if last else ())

    day = "2026-05-04"
    kinds = [(day, 1, True), ("2026-05-05", 1, True), (day, 0, True), (day, 1, False)]
    return diff(plan(*kinds[seed % 4]), plan(day, 1, True))


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of drawing."""
    diffs = [small(seed) for seed in range(DIFFS)]
    if find_spec("pygraphviz") is None:
        yield f"{DIFFS:,} small diffs as SVG", "pygraphviz is not installed", "≥ 20 ×"
        return
    yield from _beside_dot(diffs)
    first = seconds(lambda: render(diffs[0]))
    yield "one diff as SVG, child process and all", f"{first * 1000:.0f} ms", ""
    for form in ("dot", "mermaid", "text"):
        took = seconds(lambda form=form: [render(one, format=form) for one in diffs])  # type: ignore[misc]
        yield f"one of {DIFFS:,} small diffs as {form}", f"{took / DIFFS * 1e6:.0f} µs", ""
    slow = dense(200, 1_452)
    start = time.perf_counter()
    failed = next(render_many([slow], deadline=1.0, force=True))
    late = time.perf_counter() - start - 1.0
    said = f"{late * 1000:.0f} ms after it" if failed.error else "it was drawn in time"
    yield "200 calls, 1,452 references, deadline 1 s: ended", said, "≤ 500 ms"


def _beside_dot(diffs: list[Diff]) -> Iterable[tuple[str, str, str]]:
    """Our batches and single dot processes in turn, so that a busy machine slows both."""
    what = f"{DIFFS:,} small diffs as SVG, plan to picture, child processes included"
    program = shutil.which("dot")
    sources = [render(one, format="dot") for one in diffs[:SAMPLE]]
    ours, theirs = [], []
    for _ in range(5):
        start = time.perf_counter()
        drawn = sum(bool(one.data) for one in render_many(diffs))
        ours.append((time.perf_counter() - start) / DIFFS)
        assert drawn == DIFFS
        if program is not None:
            start = time.perf_counter()
            for source in sources:
                subprocess.run([program, "-Tsvg"], input=source, capture_output=True, check=True)
            theirs.append((time.perf_counter() - start) / SAMPLE)
    each = sorted(ours)[2]
    if not theirs:
        yield what, f"{each * 1000:.2f} ms each; dot is not installed", "≥ 20 ×"
        return
    ratio = sorted(b / a for a, b in zip(ours, theirs, strict=True))[2]
    said = f"{ratio:.1f} × faster ({each * 1000:.2f} ms, dot {sorted(theirs)[2] * 1000:.1f} ms)"
    yield what, said, "≥ 20 ×"
