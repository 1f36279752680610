"""planeval execute and planeval doctor on the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.build import jsonl
from tests.conftest import text_case, until
from tests.inside import planeval
from tests.test_cli import planeval as started
from tests.test_tools_changed import opened


def added(second: Any = 4) -> str:
    add = {"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}}
    given = {"arg_0": "$var_1.result$", "arg_1": second}
    return json.dumps([add, {"name": "multiply", "label": "$var_2", "arguments": given}])


PLAN, BROKEN, UNREADABLE = added(), added(None), '[{"name": "add", "arguments": {"a": }}]'
ONE = '[{"name": "f", "arguments": {"a": 1}}]'


def execute(text: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return planeval("execute", "-", *argv, text=text)


def test_one_plan_prints_its_result_or_its_trace() -> None:
    done = execute(PLAN, "--tools", "nestful")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "call   tool      status  value\nvar_2  multiply  ok      20\n"
    done = execute(BROKEN, "--tools", "nestful", "--trace")
    assert done.returncode == 1
    head, first, second = done.stdout.splitlines()
    assert head.split() == ["call", "tool", "arguments", "status", "value", "ms"]
    assert first.split()[:6] == ["var_1", "add", "arg_0=2,", "arg_1=3", "ok", "5"]
    assert "failed  TypeError: unsupported operand" in second
    data = json.loads(execute(PLAN, "--tools", "nestful", "--format", "json").stdout)
    assert (data["ok"], data["isolation"]) == (True, "process")
    assert [call["value"] for call in data["calls"]] == [5, 20]
    assert set(data["layers"]) == {"limits", "capabilities", "landlock", "seccomp", "tasks"}
    done = execute(UNREADABLE, "--tools", "nestful")
    assert (done.returncode, "unreadable" in done.stdout) == (3, True)
    swapped = '[{"name": "subtract", "label": "$var_1", "arguments": {"arg_1": 5, "arg_0": 3}}]'
    for more, value in (((), "-2"), (("--by", "position"), "2")):
        assert execute(swapped, "--tools", "nestful", *more).stdout.split()[-1] == value


def test_inline_is_said_aloud_and_so_is_a_state_that_nobody_tells(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def add(arg_0, arg_1):\n    return [arg_0, arg_1]\n")
    done = execute(PLAN, "--tools", str(tmp_path / "tools.py"), "--isolation", "inline", "--state")
    assert "without any isolation" in done.stderr
    assert "tools.py have no state" in done.stderr
    assert "unknown-tool: there is no tool 'multiply'" in done.stdout


def test_a_world_answers_from_its_facts(tmp_path: Path) -> None:
    text = "Weather: [wind = getweather(#city='Rome', #date='2024-03-02')]\n"
    (tmp_path / "facts.txt").write_text(text)
    argv = ("--tools", "world:appbench", "--format", "json")
    without = execute(text, *argv)
    if without.returncode == 2 and "isolation level" in without.stderr:
        pytest.skip(f"isolation: {without.stderr}")
    assert json.loads(without.stdout)["calls"][0]["value"] == {}
    found = json.loads(execute(text, *argv, "--facts", str(tmp_path / "facts.txt"), "--state").stdout)
    assert "wind" in found["calls"][0]["value"]
    assert found["state"] == {}, "looking changes nothing"
    elsewhere = execute(text.replace("Weather:", "Trains:"), *argv, "--facts", str(tmp_path / "facts.txt"))
    error = json.loads(elsewhere.stdout)["calls"][0]["error"]
    said = "there is no tool 'Trains.getweather': 'getweather' is in Weather"
    assert (elsewhere.returncode, error["kind"], error["message"]) == (1, "unknown-tool", said)
    bare = '[{"name": "getweather", "arguments": {"city": "Rome", "date": "2024-03-02"}}]'
    assert execute(bare, *argv, "--facts", str(tmp_path / "facts.txt")).returncode == 0


def test_an_interrupted_run_shows_what_was_done(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    os.mkfifo(begun := tmp_path / "begun")
    slow = f"def slow():\n    open({str(begun)!r}).read()\n    time.sleep(100)\n"
    tools.write_text(f"import time\ndef good():\n    return 1\n{slow}")
    calls = [[{"name": name, "arguments": {}}] for name in ("good", "slow")]
    file = jsonl(tmp_path / "plans.jsonl", [{"id": str(n), "plan": plan} for n, plan in enumerate(calls)])
    command = [sys.executable, "-m", "planner_eval", "execute", file, "--tools", str(tools)]
    command += ["--isolation", "process", "--timeout", "60", "--allow-read", str(begun)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        until(lambda: opened(begun))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, "good" in out, "Traceback" in err) == (130, True, False)
    assert "interrupted after 1 of 2 plans" in err


def test_doctor_reports_each_layer() -> None:
    done = planeval("doctor", "--format", "json")
    rows = {row["what"].strip(): row["state"] for row in json.loads(done.stdout)}
    assert rows["isolation process"] == "yes"
    assert (rows["isolation strict"] == "yes") == (done.returncode == 0)
    assert "landlock" in rows


TALKING = text_case("test_cli_execute-TALKING.txt")


@pytest.mark.more
@pytest.mark.parametrize("level", ["strict", "process", "inline"])
def test_what_tools_print_stays_with_their_call(tmp_path: Path, level: str) -> None:
    (tmp_path / "tools.py").write_text(TALKING)
    how = ("--tools", str(tmp_path / "tools.py"), "--isolation", level)
    first = {"name": "first", "label": "$a", "arguments": {"a": 1}}
    talk = json.dumps([first, {"name": "second", "arguments": {"b": "$a$"}}])
    for argv in (how, (*how, "--concurrency", "2")):
        told = started("execute", "-", *argv, "--format", "json", text=talk)
        first, second = json.loads(told.stdout)["calls"]
        assert first["printed"] == "got 1 \x1b[31m\na warning\nlogged\nbytes\n"
        assert second["printed"] == "x" * 2000 + "… (1,001 more characters)"
        assert second["error"]["place"] == "tools.py:18"
    shown = started("execute", "-", *how, "--trace", text=talk)
    assert shown.returncode == 1
    head, one, two = shown.stdout.splitlines()
    assert head.split()[-1] == "printed"
    assert one.endswith("got 1 \\x1b[31m\\na warning\\nlogged\\nbytes")
    assert "tools.py:18: JSONDecodeError: Expecting" in two
    assert "printed" not in started("execute", "-", *how, text=talk).stdout
    assert "loading" not in shown.stdout + shown.stderr
    assert "logged" not in shown.stderr
    calls = [{"name": "loud", "arguments": {"n": 1_000}}] * 60 + [{"name": "clear", "arguments": {"n": 1}}]
    data = json.loads(started("execute", "-", *how, "--format", "json", text=json.dumps(calls)).stdout)
    assert data["ok"] is True, "a tool that prints without end costs no more than its own row"
    assert sum(len(call.get("printed", "")) for call in data["calls"]) < 110_000


def test_many_plans_are_no_drawing_and_are_not_run_for_it(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "tools.py").write_text(f"def f(a):\n    open({str(ran)!r}, 'w').close()\n    return a\n")
    plans = jsonl(tmp_path / "plans.jsonl", [{"id": id, "plan": ONE} for id in "ab"])
    argv = ("execute", plans, "--tools", tmp_path / "tools.py", "--isolation", "inline", "--format", "dot")
    done = planeval(*argv)
    assert done.returncode == 2
    assert "plans.jsonl holds 2 plans, but a drawing shows one: choose a record with --id" in done.stderr
    assert not ran.exists()
    assert "digraph" in planeval(*argv, "--id", "b").stdout


@pytest.mark.parametrize("level", ["process", "inline"])
def test_a_run_that_ends_after_its_calls_says_so(tmp_path: Path, level: str) -> None:
    code = "class T:\n    def f(self, a): return a\n    def state(self): raise ValueError('x')\n"
    (tmp_path / "tools.py").write_text(code)
    argv = ("--tools", f"{tmp_path / 'tools.py'}:T", "--state", "--isolation", level)
    for trace in ((), ("--trace",)):
        done = execute(ONE, *argv, *trace)
        assert done.returncode == 1
        assert "worker-died" in done.stdout
        assert "Traceback" not in done.stderr
