"""What commands say where a folder, a field or a tool is not what they need."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner_eval.engine.local import cores
from tests.conftest import ROOT
from tests.test_cli import planeval
from tests.test_engine import workers

DEMO = ROOT / "data" / "demo"
CALL = '[{"name": "f", "arguments": {"x": 1}}]'


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The folder of a run that was scored."""
    folder = f"{tmp_path}/d/"
    done = planeval("score", str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"), "-o", folder)
    assert done.returncode in (0, 1), done.stderr
    return folder


@pytest.mark.parametrize("command", ["parse", "convert", "check", "render", "stats", "execute"])
def test_the_folder_of_a_run_stands_for_no_plans(command: str, run: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"name": "f", "parameters": {}}]', encoding="utf-8")
    more = {
        "convert": ["--to", "json"],
        "check": ["--catalog", str(tmp_path / "c.json")],
        "execute": ["--tools", "nestful"],
    }.get(command, [])
    said = planeval(command, run, *more)
    assert (said.returncode, said.stdout) == (2, "")
    assert (
        f"{run} is the folder of a run, and files of plans are wanted here: planeval score {run}"
        in said.stderr
    )


def test_a_run_without_its_run_file_is_said_to_be_one_where_runs_are_compared(
    run: str, tmp_path: Path
) -> None:
    other = f"{tmp_path}/other/"
    shutil.copytree(run, other)
    (Path(run) / "run.json").unlink()
    said = planeval("compare", run, other)
    assert said.returncode == 2
    assert "holds parts of a run whose run.json is gone" in said.stderr


def test_stats_names_its_own_option_for_the_field(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    lines = [json.dumps({"id": at, "gold" if at < 1500 else "output": CALL}) for at in range(1600)]
    file.write_text("\n".join(lines), encoding="utf-8")
    said = planeval("stats", str(file))
    assert "(--text-field names the field)" in said.stderr
    assert "--gold-text-field" not in said.stderr


@pytest.mark.parametrize("raised", ["GeneratorExit", "SystemExit", "Own"])
def test_what_a_tool_raises_inline_is_a_failed_call(raised: str, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        f"class Own(BaseException):\n    pass\n\n\ndef f(x):\n    raise {raised}('no')\n", encoding="utf-8"
    )
    (tmp_path / "p.json").write_text(CALL, encoding="utf-8")
    said = planeval(
        "execute", str(tmp_path / "p.json"), "--tools", str(tmp_path / "tools.py"), "--isolation", "inline"
    )
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert f"{raised}: no" in said.stdout


def recorded(tmp_path: Path, *more: str) -> list[str]:
    """A command that runs three plans, and records what the tools answer."""
    (tmp_path / "add.py").write_text("def add(a, b):\n    return f'{a + b}'\n", encoding="utf-8")
    calls = [[{"name": "add", "arguments": {"a": at, "b": 1}}] for at in range(3)]
    text = "".join(
        json.dumps({"id": str(at), "output": json.dumps(one)}) + "\n" for at, one in enumerate(calls)
    )
    (tmp_path / "p.jsonl").write_text(text, encoding="utf-8")
    tools = str(tmp_path / "add.py")
    return ["execute", str(tmp_path / "p.jsonl"), "--tools", tools, "--isolation", "inline", *more]


@pytest.mark.parametrize("cut", [1, 2, 5, 30, 46, 50])
def test_a_record_that_was_cut_in_its_last_line_goes_on(cut: int, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    argv = recorded(tmp_path, "--record", str(answers))
    first = planeval(*argv)
    whole = answers.read_bytes()
    last = len(whole.splitlines()[-1]) + 1
    assert whole.count(b"\n") == 3
    answers.write_bytes(whole[: len(whole) - last + min(cut, last - 2)])
    again = planeval(*argv)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert f"{answers}: its last line was cut as it was written, and is left out" in again.stderr
    assert answers.read_bytes() == whole
    assert "was cut" not in planeval(*argv).stderr
    answers.write_bytes(whole.splitlines()[0])  # all but its line end
    assert planeval(*argv).returncode == 0
    assert answers.read_bytes() == whole


def test_a_record_that_is_broken_elsewhere_is_left_as_it_is(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    argv = recorded(tmp_path, "--record", str(answers))
    planeval(*argv)
    lines = answers.read_text(encoding="utf-8").splitlines(keepends=True)
    for text in (lines[0] + lines[1][:20] + "\n" + lines[2], "notes of mine"):
        answers.write_text(text, encoding="utf-8")
        said = planeval(*argv)
        assert said.returncode == 2
        assert "mend that line or remove it: --record runs its plan again" in said.stderr
        assert answers.read_text(encoding="utf-8") == text


SLEEP = "import time\ndef slow():\n    time.sleep(.05)\n    return 1\n"


def many(path: Path, count: int) -> str:
    one = json.dumps([{"name": "slow", "arguments": {}}])
    lines = (json.dumps({"id": str(at), "output": one}) + "\n" for at in range(count))
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers in /proc")
def test_plans_that_were_interrupted_are_counted_as_plans_and_processes_are_few(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(SLEEP, encoding="utf-8")
    argv = ["execute", many(tmp_path / "p.jsonl", 400), "--tools", str(tmp_path / "t.py")]
    argv += ["--isolation", "process", "--jobs", "2000", "-o", f"{tmp_path}/run/"]
    process = subprocess.Popen(
        [sys.executable, "-m", "planner_eval", *argv],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until and not list(tmp_path.glob("run/parts/*")):
        time.sleep(0.05)
    found = len(workers(process))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert 0 < found <= 4 * cores()
    assert re.search(rb"after \d+ of 400 plans", err)
