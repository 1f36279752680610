"""What plans cannot be made of: tools that take too long, that are not there, that say too little."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import planner_eval as pe
from planner_eval.execution import sandbox
from tests.inside import planeval

SLOW = "import time\n\ndef slow(a: float) -> float:\n    time.sleep(30)\n    return a\n"
FAST = "\ndef fast(b: float) -> float:\n    return 2 * b + 3\n"


def tools_of(folder: Path, text: str) -> str:
    file = folder / "own.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


# ---------------------------------------------------------------- tools that take too long
def test_a_tool_that_never_ends_costs_three_runs_of_it(tmp_path: Path) -> None:
    begun, told = time.monotonic(), list[str]()
    tools = tools_of(tmp_path, SLOW)
    found = pe.make(1, tools=tools, calls=1, timeout=0.3, isolation="strict", tell=told.append)
    assert (
        time.monotonic() - begun < 15
    )  # ten draws for each of eight attempts take 24
    assert found.said.startswith("0 of 1 made: no tool is left to call: ")
    assert "a call runs out of time (3)" in found.said
    assert found.notes == (
        "slow is called no more: 3 runs of it in a row took longer than 0.3 seconds; --timeout allows more",
    )
    assert told == [*found.notes]


@pytest.mark.parametrize("cpus", [1, 4])
def test_the_others_are_made_the_same_however_many_run_at_once(
    cpus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_cpus", lambda: cpus)
    found = pe.make(3, tools=tools_of(tmp_path, SLOW + FAST), calls="1..3", depth="1..", timeout=1)
    assert {call.name for one in found.made for call in one.plan.calls} == {"fast"}
    assert [one.notes["attempt"] for one in found.made] == [0, 3, 4]
    assert [said.partition(" ")[0] for said in found.notes] == ["slow"]


def test_plans_to_follow_that_call_it_are_left_at_once(tmp_path: Path) -> None:
    found = pe.make(1, tools=tools_of(tmp_path, SLOW + FAST), like=["[slow(a=3)]"], timeout=0.3)
    assert found.said.startswith("0 of 1 made: no tool is left to call: ")


def test_progress_is_told_after_each_attempt() -> None:
    seen = list[tuple[int, int]]()
    found = pe.make(3, tools="nestful", seed=4, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == found.card.attempts > 3
    assert seen[-1] == (3, 3)


def test_the_command_says_so_before_it_ends(tmp_path: Path) -> None:
    done = planeval(
        "data", "make", "--tools", tools_of(tmp_path, SLOW), "-n", "1", "--calls", "1", "--timeout", "0.3"
    )
    assert done.returncode == 3
    first, last = done.stderr.splitlines()
    assert first.startswith("slow is called no more: 3 runs of it in a row took longer than 0.3 seconds")
    assert last.startswith("0 of 1 made: no tool is left to call: ")
