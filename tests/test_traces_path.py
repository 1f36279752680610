"""The critical path of small runs, each computed by hand."""

from __future__ import annotations

import time

import pytest

from planner_eval.traces.lacks import path_of
from planner_eval.traces.path import critical_path
from planner_eval.traces.run import Run, Span

MS = 1_000_000


def run(
    *spans: tuple[str, str, int, int], root: int | None = None, parents: dict[str, str] | None = None
) -> Run:
    """A run of spans by kind, name, beginning and end in milliseconds, inside an agent's span."""
    held = parents or {}
    made = [
        Span(name, held.get(name, "root"), kind, name, at if kind == "tool" else None, start * MS, end * MS)
        for at, (kind, name, start, end) in enumerate(spans)
    ]
    return Run((Span("root", None, "other", "agent", None, 0, root * MS), *made))


def steps(found: Run) -> list[tuple[str, int]]:
    path = critical_path(found)
    assert path is not None
    return [(step.span.name, step.time // MS) for step in path.steps]


def said(found: Run) -> str:
    (one,) = path_of(found)
    return one.message


MODEL = ("model", "m1", 0, 100)


def test_of_parallel_tools_the_one_that_ended_last_is_waited_for() -> None:
    found = run(
        MODEL, ("tool", "slow", 100, 700), ("tool", "fast", 100, 300), ("model", "m2", 700, 1000), root=1000
    )
    assert steps(found) == [("m1", 100), ("slow", 600), ("m2", 300)]
    assert said(found).endswith("; what is not on it makes nothing faster")


def test_tools_that_overlap_are_not_known_to_wait_for_each_other() -> None:
    """From 0 to 300 only `one` ran; from 600 to 650 nothing did."""
    found = run(("tool", "one", 0, 400), ("tool", "two", 300, 600), ("model", "m", 650, 1000), root=1000)
    assert steps(found) == [("two", 300), ("m", 350)]
    assert said(found) == (
        "the critical path is 650.0 ms of 1.00 s: two 300.0 ms → m 350.0 ms; what is not on it makes nothing "
        "faster, unless the run waited for one in 300.0 ms of the rest"
    )


def test_what_overlapped_is_counted_once_and_where_the_path_has_gaps() -> None:
    """Gaps are 0 to 100 and 450 to 500: `a` covers 50 to 100, `e` less of it, `c` all of the second."""
    found = run(
        ("tool", "a", 50, 310), ("tool", "e", 60, 320), ("tool", "b", 100, 450), ("tool", "on", 300, 400),
        ("tool", "c", 420, 505), ("tool", "d", 500, 900), root=900,
    )  # fmt: skip
    assert steps(found) == [("b", 350), ("d", 400)]
    path = critical_path(found)
    assert path is not None
    assert ([span.name for span in path.beside], path.unsaid // MS) == (["a", "e", "c"], 100)
    assert said(found).endswith("unless the run waited for a, e, c in 100.0 ms of the rest")


def test_a_little_overlap_is_said_nothing_of() -> None:
    found = run(MODEL, ("tool", "slow", 105, 700), ("tool", "fast", 100, 300), root=700)
    assert steps(found) == [("m1", 100), ("slow", 595)]
    assert said(found).endswith("makes nothing faster")


def test_what_went_on_after_the_run_had_ended_was_not_waited_for() -> None:
    found = run(
        MODEL, ("tool", "job", 100, 2000), ("tool", "q", 100, 200), ("model", "m2", 200, 1000), root=1000
    )  # fmt: skip
    assert steps(found) == [("m1", 100), ("q", 100), ("m2", 800)]
    assert said(found).startswith("the critical path is 1.00 s of 1.00 s")


@pytest.mark.parametrize("root", [1, 980])
def test_clocks_that_differ_and_spans_that_end_at_once_lose_nothing(root: int) -> None:
    """A span of asynchronous code may end before all that began in it; then all that there is counts."""
    assert steps(run(("tool", "f", 5, 1000), root=root)) == [("f", 995)]


def test_a_tool_in_which_others_ran_stands_for_them() -> None:
    found = run(
        MODEL, ("tool", "sub", 100, 700), ("model", "inner m", 110, 300), ("tool", "inner", 300, 690),
        ("model", "m2", 700, 1000), root=1000, parents={"inner m": "sub", "inner": "sub"},
    )  # fmt: skip
    assert steps(found) == [("m1", 100), ("sub", 600), ("m2", 300)]
    assert said(found).endswith("makes nothing faster")


def test_of_the_frameworks_own_time_nothing_is_said() -> None:
    found = run(("model", "m1", 100, 200), ("tool", "f", 300, 700), ("model", "m2", 800, 900), root=1000)
    assert said(found) == (
        "the critical path is 600.0 ms of 1.00 s: m1 100.0 ms → f 400.0 ms → m2 100.0 ms; what is not on it "
        "makes nothing faster"
    )


def test_long_runs_are_read_in_time_that_grows_with_them() -> None:
    def spent(count: int) -> float:
        spans = [("tool", f"f{at}", 10 * at, 10 * at + 5) for at in range(count)]
        beside = [("tool", f"g{at}", at, 10 * count - 6) for at in range(count)]
        found = run(*spans, *beside, root=10 * count)
        begun = time.process_time()
        assert critical_path(found) is not None
        return time.process_time() - begun

    spent(100)
    assert spent(8_000) < 40 * max(spent(800), 0.002)
