"""What commands say where a folder, a field or a tool is not what they need."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planner_eval.results.runs.run import count_cores
from tests.conftest import ROOT, until
from tests.inside import planeval
from tests.test_cli import planeval as started
from tests.test_engine import workers

DEMO = ROOT / "data" / "demo"
CALL = '[{"name": "f", "arguments": {"x": 1}}]'


@pytest.fixture
def run(tmp_path: Path) -> str:
    folder = f"{tmp_path}/d/"
    assert planeval("score", f"{DEMO}/pred.jsonl", f"{DEMO}/gold.jsonl", "-o", folder).returncode < 2
    return folder


def test_the_folder_of_a_run_stands_for_no_plans(run: str, tmp_path: Path) -> None:
    catalog, other = tmp_path / "c.json", tmp_path / "other"
    catalog.write_text('[{"name": "f", "parameters": {}}]', encoding="utf-8")
    more = {"convert": ["--to", "json"], "check": ["--catalog", catalog], "execute": ["--tools", "nestful"]}
    for command in ("parse", "convert", "check", "render", "stats", "execute"):
        said = planeval(command, run, *more.get(command, []))
        assert (said.returncode, said.stdout) == (2, "")
        wanted = "is the folder of a run, expected files of plans: to show it again, use planeval score"
        assert f"{run} {wanted} {run}" in said.stderr
    shutil.copytree(run, other)
    (Path(run) / "run.json").unlink()
    said = planeval("compare", run, f"{other}/")
    assert (said.returncode, "holds parts of a run without its run.json" in said.stderr) == (2, True)


def test_stats_names_its_own_option_for_the_field(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    lines = [json.dumps({"id": at, "gold" if at < 1500 else "output": CALL}) for at in range(1600)]
    file.write_text("\n".join(lines), encoding="utf-8")
    said = planeval("stats", file).stderr
    assert ("(--field text names the field)" in said, "--field gold.text" in said) == (True, False)


RAISES = "class Own(BaseException):\n    pass\n\n\ndef f(x):\n    raise {}('no')\n"


@pytest.mark.parametrize("raised", ["GeneratorExit", "SystemExit", "Own"])
def test_what_a_tool_raises_inline_is_a_failed_call(raised: str, tmp_path: Path) -> None:
    tools, plan = tmp_path / "tools.py", tmp_path / "p.json"
    tools.write_text(RAISES.format(raised), encoding="utf-8")
    plan.write_text(CALL, encoding="utf-8")
    said = started("execute", str(plan), "--tools", str(tools), "--isolation", "inline")
    assert (said.returncode, "Traceback" in said.stderr, f"{raised}: no" in said.stdout) == (1, False, True)


def recorded(tmp_path: Path, *more: object) -> list[object]:
    tools, plans = tmp_path / "add.py", tmp_path / "p.jsonl"
    tools.write_text("def add(a, b):\n    return f'{a + b}'\n", encoding="utf-8")
    calls = [[{"name": "add", "arguments": {"a": at, "b": 1}}] for at in range(3)]
    rows = [json.dumps({"id": str(at), "output": json.dumps(one)}) for at, one in enumerate(calls)]
    plans.write_text("\n".join(rows), encoding="utf-8")
    return ["execute", plans, "--tools", tools, "--isolation", "inline", *more]


def test_a_record_that_was_cut_in_its_last_line_goes_on(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    argv = recorded(tmp_path, "--record", answers)
    first = planeval(*argv)
    whole = answers.read_bytes()
    last = len(whole.splitlines()[-1]) + 1
    assert whole.count(b"\n") == 3
    for cut in (1, 2, 5, 30, 46, 50):
        answers.write_bytes(whole[: len(whole) - last + min(cut, last - 2)])
        again = planeval(*argv)
        assert (again.returncode, again.stdout) == (0, first.stdout)
        assert f"{answers}: the incomplete last line was ignored" in again.stderr
        assert answers.read_bytes() == whole
    assert "was cut" not in planeval(*argv).stderr
    answers.write_bytes(whole.splitlines()[0])  # all but its line end
    assert planeval(*argv).returncode == 0
    assert answers.read_bytes() == whole
    lines = answers.read_text(encoding="utf-8").splitlines(keepends=True)
    for text in (f"{lines[0]}{lines[1][:20]}\n{lines[2]}", "notes of mine"):  # broken elsewhere: unchanged
        answers.write_text(text, encoding="utf-8")
        said = planeval(*argv)
        assert said.returncode == 2
        assert "fix or remove that line: --record runs its plan again" in said.stderr
        assert answers.read_text(encoding="utf-8") == text


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers in /proc")
def test_plans_that_were_interrupted_are_counted_as_plans_and_processes_are_few(tmp_path: Path) -> None:
    tools, plans = tmp_path / "t.py", tmp_path / "p.jsonl"
    tools.write_text("import time\ndef slow():\n    time.sleep(.05)\n    return 1\n", encoding="utf-8")
    one = json.dumps([{"name": "slow", "arguments": {}}])
    rows = (json.dumps({"id": str(at), "output": one}) for at in range(400))
    plans.write_text("\n".join(rows), encoding="utf-8")
    argv = [sys.executable, "-m", "planner_eval", "execute", plans, "--tools", tools, "--jobs", "2000"]
    argv += ["--isolation", "process", "-o", f"{tmp_path}/run/"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: process.poll() is not None or list(tmp_path.glob("run/parts/*")))
    found = len(workers(process))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert 0 < found <= 4 * count_cores()
    assert re.search(rb"after \d+ of 400 plans", err)
