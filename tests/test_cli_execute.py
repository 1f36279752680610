"""planeval execute and planeval doctor through their real entry point."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.test_cli import planeval

PLAN = json.dumps(
    [
        {"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}},
        {"name": "multiply", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$", "arg_1": 4}},
    ]
)
BROKEN = PLAN.replace('"arg_1": 4', '"arg_1": null')
UNREADABLE = '[{"name": "add", "arguments": {"a": }}]'
CYCLE = "\n".join(["A: [x = f(#a=y)]", "B: [y = g(#a=x)]"])


def execute(text: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return planeval("execute", "-", *argv, text=text)


def test_one_plan_prints_its_result() -> None:
    done = execute(PLAN, "--tools", "nestful")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "call   tool      status  value\nvar_2  multiply  ok      20\n"


def test_the_trace_shows_each_call() -> None:
    done = execute(BROKEN, "--tools", "nestful", "--trace")
    assert done.returncode == 1
    head, first, second = done.stdout.splitlines()
    assert head.split() == ["call", "tool", "arguments", "status", "value", "ms"]
    assert first.split()[:6] == ["var_1", "add", "arg_0=2,", "arg_1=3", "ok", "5"]
    assert "failed  TypeError: unsupported operand" in second


def test_json_is_the_whole_trace() -> None:
    data = json.loads(execute(PLAN, "--tools", "nestful", "--format", "json").stdout)
    assert data["ok"] is True
    assert data["isolation"] == "process"
    assert [call["value"] for call in data["calls"]] == [5, 20]
    assert set(data["layers"]) == {"limits", "capabilities", "landlock", "seccomp", "tasks"}


def test_many_records_get_a_row_each(tmp_path: Path) -> None:
    file = tmp_path / "plans.jsonl"
    records = [{"id": "a", "plan": PLAN}, {"id": "b", "plan": UNREADABLE}, {"id": "c", "plan": BROKEN}]
    file.write_text("\n".join(map(json.dumps, records)))
    done = planeval("execute", str(file), "--tools", "nestful", "--format", "csv")
    assert done.returncode == 1
    rows = [line.split(",")[:4] for line in done.stdout.splitlines()]
    assert rows[1] == ["a", "var_2", "multiply", "ok"]
    assert rows[2][0] == "b"
    assert rows[2][3] == "unreadable"
    assert rows[3] == ["c", "var_2", "multiply", "failed"]
    only = planeval("execute", str(file), "--tools", "nestful", "--id", "a")
    assert only.returncode == 0
    assert planeval("execute", str(file), "--tools", "nestful", "--id", "zz").returncode == 2
    lines = planeval("execute", str(file), "--tools", "nestful", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["ok"] for line in lines] == [True, False, False]


@pytest.mark.more
@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("--tools", "no_such_file.py"), 2, "no_such_file.py: no such file"),
        (("--tools", "no_such_module"), 2, "there is no module 'no_such_module'"),
        (("--tools", "world:nowhere"), 2, "no world 'nowhere'"),
        (("--tools", "os:getcwd.__nothing__", "--isolation", "process"), 2, "there is no '__nothing__'"),
        ((), 2, "--tools"),
        (("--tools", "nestful", "--isolation", "none"), 2, "none"),
        (("--tools", "nestful", "--timeout", "0"), 2, "0"),
    ],
)
def test_mistakes_are_said(argv: tuple[str, ...], code: int, said: str) -> None:
    done = execute(PLAN, *argv)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_read_runs_nothing() -> None:
    done = execute(UNREADABLE, "--tools", "nestful")
    assert done.returncode == 3
    assert "unreadable" in done.stdout


def test_a_cycle_is_a_trace_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def f(a):\n    return a\ndef g(a):\n    return a\n")
    done = execute(CYCLE, "--tools", str(tmp_path / "tools.py"), "--isolation", "process")
    assert done.returncode == 1
    assert "cycle: calls depend on one another" in done.stdout


def test_inline_is_said_aloud(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def add(arg_0, arg_1):\n    return [arg_0, arg_1]\n")
    done = execute(PLAN, "--tools", str(tmp_path / "tools.py"), "--isolation", "inline")
    assert "without any isolation" in done.stderr
    assert "unknown-tool: no tool is named 'multiply'" in done.stdout


def test_by_position_swaps_what_is_written_swapped() -> None:
    text = '[{"name": "subtract", "label": "$var_1", "arguments": {"arg_1": 5, "arg_0": 3}}]'
    assert "-2" in execute(text, "--tools", "nestful").stdout
    assert "ok      2\n" in execute(text, "--tools", "nestful", "--by", "position").stdout


def test_a_record_answers_without_the_tools(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(
        "def add(arg_0, arg_1):\n    return 7\ndef multiply(arg_0, arg_1):\n    return arg_0 * arg_1\n"
    )
    record = str(tmp_path / "answers.jsonl")
    first = execute(PLAN, "--tools", str(tools), "--isolation", "process", "--record", record)
    assert first.stdout.endswith("28\n"), first.stderr
    tools.write_text("def add(arg_0, arg_1):\n    return 0\ndef multiply(arg_0, arg_1):\n    return 0\n")
    again = execute(PLAN, "--tools", str(tools), "--isolation", "process", "--record", record)
    assert again.stdout == first.stdout
    assert execute(PLAN, "--tools", f"recorded:{record}").stdout == first.stdout
    assert len(Path(record).read_text().splitlines()) == 2


def test_a_recorded_answer_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "answers.jsonl"
    record.write_text('{"tool": "add", "arguments": {"arg_0": 2, "arg_1": 3}, "value": 5, "value": 6}\n')
    done = execute(PLAN, "--tools", f"recorded:{record}")
    assert done.returncode == 2
    assert 'answers.jsonl, line 1, column 68: an object gives the key "value" twice' in done.stderr


def test_a_world_answers_from_its_facts(tmp_path: Path) -> None:
    text = "Weather: [wind = getweather(#city='Rome', #date='2024-03-02')]\n"
    facts = tmp_path / "facts.txt"
    facts.write_text(text)
    without = execute(text, "--tools", "world:appbench", "--format", "json")
    if without.returncode == 2 and "isolation level" in without.stderr:
        pytest.skip(f"isolation: {without.stderr}")
    assert json.loads(without.stdout)["calls"][0]["value"] == {}
    found = execute(text, "--tools", "world:appbench", "--format", "json", "--facts", str(facts), "--state")
    assert "wind" in json.loads(found.stdout)["calls"][0]["value"]
    assert json.loads(found.stdout)["state"] == {}, "looking changes nothing"


def test_a_hostile_plan_of_many_costs_its_deadline_and_its_row(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text("import time\ndef good():\n    return 1\ndef bad():\n    time.sleep(100)\n")
    records = [
        {"id": str(n), "plan": [{"name": "bad" if n == 2 else "good", "arguments": {}}]} for n in range(4)
    ]
    file = tmp_path / "plans.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    started = time.monotonic()
    done = planeval("execute", str(file), "--tools", str(tools), "--timeout", "1", "--format", "csv")
    if done.returncode == 2 and "isolation level" in done.stderr:
        pytest.skip(f"isolation: {done.stderr}")
    assert time.monotonic() - started < 6
    assert [line.split(",")[3] for line in done.stdout.splitlines()] == ["status", "ok", "ok", "failed", "ok"]
    assert "timeout: stopped after 1 second" in done.stdout


def test_an_interrupted_run_shows_what_was_done(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text("import time\ndef good():\n    return 1\ndef slow():\n    time.sleep(100)\n")
    records = [{"id": str(n), "plan": [{"name": "slow" if n else "good", "arguments": {}}]} for n in range(2)]
    file = tmp_path / "plans.jsonl"
    file.write_text("\n".join(map(json.dumps, records)))
    command = [sys.executable, "-m", "planner_eval", "execute", str(file), "--tools", str(tools)]
    with subprocess.Popen(
        [*command, "--isolation", "process", "--timeout", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted after 1 of 2 plans" in err
    assert "good" in out
    assert "Traceback" not in err


def test_doctor_reports_each_layer() -> None:
    done = planeval("doctor", "--format", "json")
    rows = {row["what"]: row for row in json.loads(done.stdout)}
    assert rows["isolation process"]["state"] == "yes"
    assert (rows["isolation strict"]["state"] == "yes") == (done.returncode == 0)
    assert any(name.strip() == "landlock" for name in rows)


# ---------------------------------------------------------------- what tools print, and where they fail
TALKING = """\
import json, logging, sys

logging.basicConfig(level="INFO", format="%(message)s")
print("loading")


def first(a):
    print("got", a, "\\x1b[31m")
    print("a warning", file=sys.stderr)
    logging.info("logged")
    sys.stdout.buffer.write(b"bytes\\n")
    return a


def second(b):
    print("x" * 3000)
    return inner(b)


def inner(b):
    return json.loads("{" * b)
"""
TALK = json.dumps(
    [
        {"name": "first", "label": "$a", "arguments": {"a": 1}},
        {"name": "second", "label": "$b", "arguments": {"b": "$a$"}},
    ]
)


@pytest.mark.more
@pytest.mark.parametrize("level", ["strict", "process", "inline"])
@pytest.mark.parametrize("more", [[], ["--concurrency", "2"]])
def test_what_tools_print_stays_with_their_call(tmp_path: Path, level: str, more: list[str]) -> None:
    file = tmp_path / "tools.py"
    file.write_text(TALKING)
    argv = ("--tools", str(file), "--isolation", level, *more)
    data = json.loads(execute(TALK, *argv, "--format", "json").stdout)
    first, second = data["calls"]
    assert first["printed"] == "got 1 \x1b[31m\na warning\nlogged\nbytes\n"
    assert second["printed"] == "x" * 2000 + "… (1,001 more characters)"
    assert second["error"]["place"] == "tools.py:21"
    shown = execute(TALK, *argv, "--trace")
    assert shown.returncode == 1
    head, one, two = shown.stdout.splitlines()
    assert head.split()[-1] == "printed"
    assert one.endswith("got 1 \\x1b[31m\\na warning\\nlogged\\nbytes")
    assert "tools.py:21: JSONDecodeError: Expecting" in two
    assert "printed" not in execute(TALK, *argv).stdout
    assert "loading" not in shown.stdout + shown.stderr
    assert "logged" not in shown.stderr


@pytest.mark.more
@pytest.mark.parametrize("level", ["strict", "process", "inline"])
def test_a_tool_that_prints_without_end_costs_no_more_than_its_own_row(tmp_path: Path, level: str) -> None:
    (tmp_path / "tools.py").write_text(
        "import sys\ndef f(n):\n    for _ in range(n): print('y' * 1000)\n    return n\n"
        "def g(n):\n    sys.stdout.calls.clear()\n    return n\n"
    )
    calls = [{"name": "f", "arguments": {"n": 10_000}}] * 60 + [{"name": "g", "arguments": {"n": 1}}]
    done = execute(
        json.dumps(calls), "--tools", str(tmp_path / "tools.py"), "--isolation", level, "--format", "json"
    )
    data = json.loads(done.stdout)
    assert data["ok"] is True
    assert sum(len(call.get("printed", "")) for call in data["calls"]) < 110_000


def test_tools_that_do_not_load_say_the_line(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def f():\n    pass\n\nprices['a']\n")
    for level in ("strict", "process", "inline"):
        done = execute(PLAN, "--tools", str(tmp_path / "tools.py"), "--isolation", level)
        assert done.returncode == 2
        assert "do not load: tools.py:4: NameError: name 'prices' is not defined" in done.stderr


def test_a_win_rate_says_which_functions_were_not_there(tmp_path: Path) -> None:
    from tests.conftest import ROOT

    text = (ROOT / "data/samples/nestful/v2/nestful_data.jsonl").read_text().replace("divide", "halve")
    data = tmp_path / "v2" / "nestful_data.jsonl"
    data.parent.mkdir()
    data.write_text(text)
    answers = tmp_path / "answers.jsonl"
    read = [json.loads(line) for line in text.splitlines()]
    answers.write_text(
        "\n".join(json.dumps({"id": r["sample_id"], "text": json.dumps(r["output"])}) for r in read)
    )
    argv = ("score", str(answers), str(tmp_path), "--benchmark", "nestful", "--text-field", "text")
    done = planeval(*argv, "--tools", "nestful")
    assert done.returncode == 0, done.stderr
    assert "functions that are not there, see nestful:FOLDER (halve)" in done.stdout
    assert "not there" not in planeval(*argv).stdout


ONE = '[{"name": "f", "arguments": {"a": 1}}]'
LOUD = "def f(a):\n    open('ran', 'w').close()\n    return a\n"


def test_many_plans_are_no_drawing_and_are_not_run_for_it(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(LOUD.replace("'ran'", repr(str(tmp_path / "ran"))))
    (tmp_path / "plans.jsonl").write_text(f'{{"id": "a", "plan": {ONE}}}\n{{"id": "b", "plan": {ONE}}}\n')
    argv = (str(tmp_path / "plans.jsonl"), "--tools", str(tmp_path / "tools.py"), "--isolation", "inline")
    done = planeval("execute", *argv, "--format", "dot")
    assert done.returncode == 2
    assert "plans.jsonl holds 2 plans, and one drawing holds one: name a record with --id" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert "digraph" in planeval("execute", *argv, "--format", "dot", "--id", "b").stdout


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[1]", "found [1]"),
        ('{"answer": 1}', "there is no 'tool'"),
        ('{"tool": "f", "arguments": {}}', "there is no 'value'"),
        ('{"tool": "f", "arguments": [], "value": 1}', "arguments are an object, found []"),
        ('{"tool": "f", "arguments": {}, "error": "x"}', 'an error is [kind, message], found "x"'),
    ],
)
def test_records_that_are_none_are_said_in_words(tmp_path: Path, line: str, found: str) -> None:
    (tmp_path / "record.jsonl").write_text(line + "\n")
    done = execute(ONE, "--tools", f"recorded:{tmp_path / 'record.jsonl'}")
    assert done.returncode == 2
    assert f"record.jsonl, line 1: no recorded call: {found}; expected an object with tool" in done.stderr
    assert "Error:" not in done.stderr


def test_a_file_that_is_no_python_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text("{}")
    done = execute(ONE, "--tools", str(tmp_path / "answers.json"))
    assert done.returncode == 2
    assert "answers.json is no file of Python" in done.stderr
    assert "'recorded:" in done.stderr


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


def test_a_state_that_nobody_tells_is_said(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def f(a):\n    return a\n")
    done = execute(ONE, "--tools", str(tmp_path / "tools.py"), "--state", "--isolation", "process")
    assert done.returncode == 0
    assert "tools.py says nothing of a state" in done.stderr
