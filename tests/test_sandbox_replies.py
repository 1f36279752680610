"""A tool that writes to its worker's own pipe spoils its own plan, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz_replies import search
from tests.sandbox_replies import END, HOSTILE, ROW, WORDS
from tests.test_cli import planeval

TOOLS = Path(__file__).parent / "sandbox" / "replies.py"
LEVELS = ["strict", "process"]
INVALID = "sent an invalid reply"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation: strict needs Linux")


def run(
    tmp_path: Path, level: str, plans: list[dict[str, Any]], *more: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Every plan is one call; what became of each, in order."""
    file = tmp_path / "plans.jsonl"
    records = ({"id": str(number), "plan": json.dumps([call])} for number, call in enumerate(plans))
    file.write_text("\n".join(map(json.dumps, records)))
    argv = ("--tools", str(TOOLS), "--isolation", level, "--format", "jsonl", *more)
    done = planeval("execute", str(file), *argv)
    assert "Traceback" not in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["record"] for row in rows] == [str(number) for number in range(len(plans))], done.stderr
    return done, rows


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def beside(rows: list[dict[str, Any]]) -> list[Any]:
    return [row["calls"][0].get("value") for row in rows]


@pytest.mark.parametrize("level", LEVELS)
def test_whatever_a_tool_writes_is_its_own_plans_failure(tmp_path: Path, level: str) -> None:
    plans = []
    for number, text in enumerate(HOSTILE.values()):
        plans += [call("say", text=text), call("well", x=number)]
    done, rows = run(tmp_path, level, plans)
    assert done.returncode == 1
    assert beside(rows[1::2]) == [2 * number for number in range(len(HOSTILE))]
    for name, row in zip(HOSTILE, rows[::2], strict=True):
        assert not row["ok"], name
        assert INVALID in row["ended"]["message"], (name, row["ended"])
    assert WORDS not in done.stdout + done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_as_text_too_it_is_a_row_that_says_so(tmp_path: Path, level: str) -> None:
    for name in ("refused", "object", "seconds-401-digits", "problem-object", "surrogate-bytes", "escape"):
        plan = json.dumps([call("say", text=HOSTILE[name])])
        done = planeval("execute", "-", "--tools", str(TOOLS), "--isolation", level, text=plan)
        assert done.returncode == 1, name
        assert f"worker-lied: {INVALID}: line" in done.stdout, name
        assert WORDS not in done.stdout + done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_endless_lines_and_huge_text_end_at_the_limit(tmp_path: Path, level: str) -> None:
    for text in ('["layers",[]]\n', "[0,", "x", "\n"):
        plans = [call("say", text=text * 1000, times=1_000_000), call("well", x=4)]
        _, rows = run(tmp_path, level, plans)
        assert rows[0]["ended"]["kind"] == "output-limit"
        assert beside(rows)[1] == 8


@pytest.mark.parametrize("level", LEVELS)
def test_no_line_gives_a_plan_more_time(tmp_path: Path, level: str) -> None:
    started = time.monotonic()
    _, rows = run(tmp_path, level, [call("reset_the_deadline"), call("well", x=1)], "--timeout", "1")
    assert time.monotonic() - started < 8
    assert rows[0]["ended"] == {"kind": "timeout", "message": "stopped after 1 second"}
    assert rows[0]["seconds"] < 3
    assert beside(rows)[1] == 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_tool_answers_for_no_later_plan(tmp_path: Path, level: str) -> None:
    forged = f"{ROW}\n{END}\n" * 4
    plans = [call("say_and_stay", text=forged, seconds=0.5), *(call("well", x=x) for x in range(4))]
    _, rows = run(tmp_path, level, plans)
    assert INVALID in rows[0]["ended"]["message"]
    assert beside(rows)[1:] == [0, 2, 4, 6]


@pytest.mark.parametrize("level", LEVELS)
def test_a_tool_finds_no_later_plans_requests(tmp_path: Path, level: str) -> None:
    _, rows = run(tmp_path, level, [call("swallow"), *(call("well", x=x) for x in range(4))])
    assert beside(rows) == [0, 0, 2, 4, 6]


@pytest.mark.parametrize("level", LEVELS)
def test_a_file_that_writes_while_it_loads_is_named_as_what_does_not_load(tmp_path: Path, level: str) -> None:
    for said in ("unloadable", "refused", "begin", "object"):
        tools = tmp_path / "tools.py"
        tools.write_text(f"{TOOLS.read_text()}\nsay({HOSTILE[said]!r})\n")
        plan = json.dumps([call("well", x=1)])
        done = planeval("execute", "-", "--tools", str(tools), "--isolation", level, text=plan)
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
        assert "--isolation" not in done.stderr
        for line in (done.stdout + done.stderr).splitlines():
            if WORDS in line:
                assert line == f"planeval: the tools of {tools} do not load: {WORDS}"


@pytest.mark.parametrize("seed", [1, 2])
def test_replies_that_nobody_thought_of(seed: int) -> None:
    tried, text, why = search(60, seed, rounds=1500)
    assert not why, f"{why}\n{text!r}"
    assert tried == 1500
