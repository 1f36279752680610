"""The child processes that lay out: deadline, broken graphs, deaths, what is missing."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError, RenderError
from planner_eval.plan.model import Call, Plan
from planner_eval.results.drawing import layout, render, render_many
from planner_eval.results.drawing.layout import draw_many
from tests.conftest import ROOT, text_case
from tests.render_plans import demo, dense

GOOD = "digraph { a -> b }"
SLOW = render(dense(200, 1_452), format="dot", force=True).decode()
needs_pygraphviz = pytest.mark.skipif(find_spec("pygraphviz") is None, reason="pygraphviz is not installed")


@needs_pygraphviz
def test_the_deadline_is_kept_and_the_batch_goes_on() -> None:
    sources, start = [GOOD, SLOW, "digraph { a -> ", GOOD, "no graph", "", SLOW, GOOD], time.monotonic()
    found = list(draw_many(sources, "svg", deadline=1))
    assert time.monotonic() - start < 60
    assert [bool(one.data) for one in found] == [True, False, False, True, False, False, False, True]
    assert all(one.error for one in found if not one.data)
    assert found[1].error.startswith("no layout within the deadline of 1 s; ")
    assert "syntax error" in found[2].error
    assert found[0].data == found[3].data == found[7].data


@needs_pygraphviz
def test_no_child_is_left_when_the_reader_stops() -> None:
    drawings = draw_many((GOOD for _ in range(10_000)), "svg")
    next(drawings)
    before = _children()
    assert before
    drawings.close()
    assert len(_children() & before) <= 1  # one that is free is kept for the next drawing
    layout.end_idle()
    assert not _children() & before


def _children() -> set[int]:
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return {int(line.split()[0]) for line in listed if "worker.py" in line}


@needs_pygraphviz
def test_one_child_is_kept_for_the_next_drawing() -> None:
    plan, other = Plan((Call("c1", "f"),)), Plan((Call("c1", "g"),))
    first = render(plan)
    kept = _children()
    assert len(kept) == 1
    assert (render(plan, deadline=3.0), render(other) == first) == (first, False)
    assert render(plan, format="png").startswith(b"\x89PNG")
    assert _children() == kept
    assert len(list(draw_many([GOOD] * 40, "svg"))) == 40
    assert len(_children()) == 1


@needs_pygraphviz
def test_a_kept_child_that_hangs_or_dies_is_replaced() -> None:
    render(Plan())
    kept = _children()
    assert not next(draw_many([SLOW], "svg", deadline=0.3)).data
    assert not _children()
    assert render(Plan())
    again = _children()
    assert (len(again), again & kept) == (1, set())
    os.kill(*again, signal.SIGKILL)
    assert _ends(*again)
    assert render(Plan())
    assert not _children() & again


@needs_pygraphviz
def test_threads_draw_side_by_side() -> None:
    plans = [Plan((Call("c1", f"tool{at}"),)) for at in range(24)]
    alone = [render(plan) for plan in plans]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(render, plans)) == alone
    assert len(_children()) <= 2, "two that are done at once may both stay"


KEPT = text_case("test_render_layout-KEPT.txt")
FORKED = text_case("test_render_layout-FORKED.txt")


def _told(code: str, **more: Any) -> list[int]:
    """The numbers that a process prints, which warns of nothing."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, **more)
    assert done.stderr == ""
    return [int(line) for line in done.stdout.split()]


def _ends(pid: int) -> bool:
    """Whether a process is gone within ten seconds."""
    for _ in range(200):
        listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
        if listed.strip()[:1] in ("", "Z"):
            return True
        time.sleep(0.05)
    return False


@needs_pygraphviz
@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)", "sys.exit(4)"])
def test_a_kept_child_ends_with_its_process(end: str) -> None:
    (kept,) = _told(KEPT + end)
    assert _ends(kept)


@needs_pygraphviz
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_has_a_child_of_its_own() -> None:
    first, forked, after = _told(KEPT + FORKED)
    assert (first == after, first == forked) == (True, False)
    assert _ends(forked)
    assert _ends(first)


@needs_pygraphviz
def test_what_graphviz_says_is_a_diagnostic() -> None:
    found = next(draw_many(['digraph { a [label="much too long" fixedsize=true width=0.01] }'], "svg"))
    assert found.data
    assert [d.code for d in found.diagnostics if "too small" in d.message] == ["render.graphviz"]


@needs_pygraphviz
def test_a_large_plan_is_condensed_unless_forced() -> None:
    plan = Plan(tuple(Call(f"c{i}", f"tool{i % 7}") for i in range(400)))
    found = next(render_many([plan]))
    assert [d.code for d in found.diagnostics if d.severity == "warning"] == ["render.condensed"]
    assert found.data.count(b'class="node"') == 7
    assert "condensed: each box is a tool" in found.data.decode()
    assert next(render_many([plan], force=True)).data.count(b'class="node"') == 400
    assert len(render(plan, format="text").splitlines()) == 401
    few: list[Any] = [(220, {}, False), (221, {}, True), (221, {"force": True}, False)]
    for edges, more, condensed in few:
        drawn = render(dense(60, edges), format="mermaid", **more).decode()
        assert ("condensed" in drawn) is condensed, "twice the calls and a hundred"
    with pytest.raises(RenderError, match="at most 15 calls, found 400"):
        render(plan, format="boxes")


def test_formats_and_themes_that_do_not_exist() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"format": "gif"}, r"unknown format 'gif'.*svg"),
        ({"theme": "loud"}, r"unknown theme 'loud'.*default"),
        ({"theme": "nowhere.toml"}, r"nowhere\.toml: no such file"),
    ]  # fmt: skip
    for how, said in wrong:
        with pytest.raises(InputError, match=said):
            render(Plan(), **how)


@pytest.fixture
def no_pygraphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that finds no pygraphviz."""
    worker = tmp_path / "worker.py"
    source = layout.WORKER.read_text(encoding="utf-8").replace('find_spec("pygraphviz")', "None")
    worker.write_text(source, encoding="utf-8")
    layout.end_idle()
    monkeypatch.setattr(layout, "WORKER", worker)


@pytest.mark.usefixtures("no_pygraphviz")
def test_without_anything_that_draws_the_error_names_both_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RenderError) as raised:
        render(Plan((Call("c1", "f"),)))
    assert "planner_eval[draw]" in str(raised.value)
    assert "install Graphviz (dot)" in str(raised.value)
    assert render(Plan((Call("c1", "f"),)), format="dot")


DOT = """
import sys, time
source = sys.stdin.read()
time.sleep(60 if 'slow' in source else 0)
sys.exit('Error: syntax error') if 'broken' in source else None
print('Warning: odd', file=sys.stderr)
print(sys.argv[1], len(source))
"""


@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
@pytest.mark.usefixtures("no_pygraphviz")
def test_the_program_dot_draws_where_only_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dot = tmp_path / "dot"
    dot.write_text(f"#!{sys.executable}{DOT}")
    dot.chmod(dot.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(shutil, "which", lambda name: str(dot))
    found = list(draw_many([GOOD, "broken", "slow", GOOD], "png", deadline=3))
    assert [one.data for one in found] == [b"-Tpng 18\n", b"", b"", b"-Tpng 18\n"]
    assert found[0].diagnostics[0].message == "Warning: odd"
    assert found[1].error == "Graphviz: Error: syntax error"
    assert found[2].error.startswith("no layout within the deadline of 3 s; ")


@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot is not installed")
@pytest.mark.usefixtures("no_pygraphviz")
def test_the_real_program_dot_draws_a_diff() -> None:
    assert b"Legend" in render(demo()["trip-missing"])
