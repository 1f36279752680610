"""The critical path of small runs, each computed by hand."""

from __future__ import annotations

import time

import pytest

from planner_eval.traces.lacks import path_of
from planner_eval.traces.path import critical_path
from planner_eval.traces.run import Run, Span

MS = 1_000_000
Part = tuple[str, str, int, int]


def run(*spans: Part, root: int | None = None, under: str = "", inner: tuple[str, ...] = ()) -> Run:
    """A run of spans by kind, name, beginning and end in milliseconds, inside an agent's span."""
    made = [
        Span(name, under if name in inner else "root", kind, name, at, start * MS, end * MS)
        for at, (kind, name, start, end) in enumerate(spans)
    ]
    made = [span if span.kind == "tool" else span._replace(call=None) for span in made]
    return Run((Span("root", None, "other", "agent", None, 0, root * MS), *made))


MODEL = ("model", "m1", 0, 100)
FASTER = "; what is not on it makes nothing faster"
OVERLAP = (
    "the critical path is 650.0 ms of 1.00 s: two 300.0 ms → m 350.0 ms; what is not on it makes nothing "
    "faster, unless the run waited for one in 300.0 ms of the rest"
)
OWN_TIME = "the critical path is 600.0 ms of 1.00 s: m1 100.0 ms → f 400.0 ms → m2 100.0 ms" + FASTER
BESIDE = [
    ("tool", "a", 50, 310), ("tool", "e", 60, 320), ("tool", "b", 100, 450), ("tool", "on", 300, 400),
    ("tool", "c", 420, 505), ("tool", "d", 500, 900),
]  # fmt: skip
CASES: dict[str, tuple[int, list[Part], list[tuple[str, int]], str]] = {
    "of parallel tools the one that ended last is waited for": (
        1000, [MODEL, ("tool", "slow", 100, 700), ("tool", "fast", 100, 300), ("model", "m2", 700, 1000)],
        [("m1", 100), ("slow", 600), ("m2", 300)], FASTER),
    # from 0 to 300 only `one` ran; from 600 to 650 nothing did
    "tools that overlap are not known to wait for each other": (
        1000, [("tool", "one", 0, 400), ("tool", "two", 300, 600), ("model", "m", 650, 1000)],
        [("two", 300), ("m", 350)], OVERLAP),
    # gaps are 0 to 100 and 450 to 500: `a` covers 50 to 100, `e` less of it, `c` all of the second
    "what overlapped is counted once and where the path has gaps": (
        900, BESIDE, [("b", 350), ("d", 400)], "unless the run waited for a, e, c in 100.0 ms of the rest"),
    "of a little overlap nothing is said": (
        700, [MODEL, ("tool", "slow", 105, 700), ("tool", "fast", 100, 300)],
        [("m1", 100), ("slow", 595)], FASTER),
    "what went on after the run had ended was not waited for": (
        1000, [MODEL, ("tool", "job", 100, 2000), ("tool", "q", 100, 200), ("model", "m2", 200, 1000)],
        [("m1", 100), ("q", 100), ("m2", 800)], "the critical path is 1.00 s of 1.00 s"),
    # a span of asynchronous code may end before all that began in it; then all that there is counts
    "spans that end at once lose nothing": (1, [("tool", "f", 5, 1000)], [("f", 995)], ""),
    "clocks that differ lose nothing": (980, [("tool", "f", 5, 1000)], [("f", 995)], ""),
    "of the framework's own time nothing is said": (
        1000, [("model", "m1", 100, 200), ("tool", "f", 300, 700), ("model", "m2", 800, 900)],
        [("m1", 100), ("f", 400), ("m2", 100)], OWN_TIME),
    "a model that speaks on is waited for until the tool begins": (
        120, [("model", "chat", 0, 100), ("tool", "f", 20, 30), ("tool", "g", 40, 120)],
        [("chat", 40), ("g", 80)], ""),
    "what began before the run": (
        120, [("model", "ask", -50, 20), ("model", "chat", 0, 100), ("tool", "g", 40, 120)],
        [("ask", 70), ("g", 80)], "unless the run waited for chat in 20.0 ms of the rest"),
}  # fmt: skip


@pytest.mark.parametrize(("root", "spans", "steps", "told"), CASES.values(), ids=CASES)
def test_the_critical_path(root: int, spans: list[Part], steps: list[tuple[str, int]], told: str) -> None:
    found = run(*spans, root=root)
    path = critical_path(found)
    assert path is not None
    assert [(step.span.name, step.time // MS) for step in path.steps] == steps
    (one,) = path_of(found)
    assert one.message.endswith(told) or one.message.startswith(told)
    if spans is BESIDE:
        assert ([span.name for span in path.beside], path.unsaid // MS) == (["a", "e", "c"], 100)


def test_a_tool_in_which_others_ran_stands_for_them() -> None:
    inner = ("model", "inner m", 110, 300), ("tool", "inner", 300, 690)
    spans = MODEL, ("tool", "sub", 100, 700), *inner, ("model", "m2", 700, 1000)
    path = critical_path(run(*spans, root=1000, under="sub", inner=("inner m", "inner")))
    assert path is not None
    assert [(step.span.name, step.time // MS) for step in path.steps] == [
        ("m1", 100),
        ("sub", 600),
        ("m2", 300),
    ]
    assert critical_path(run(root=20)) is None


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
