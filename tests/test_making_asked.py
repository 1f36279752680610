"""`planeval data make` with questions, what data check says of it, and what plans cannot be made of."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.curation.make.ask_questions import template_for
from planner_eval.curation.make.descriptions import describe_plan
from planner_eval.curation.make.record import Made
from tests.conftest import ROOT, tables, text_case, until
from tests.inside import planeval
from tests.modelserver import Answer, ModelServer, message
from tests.test_questions import VERDICT

TABLES = tables(__file__)

MADE = TABLES["MADE"]
KEY = "sk-of-nobody"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def told() -> list[tuple[str, str]]:
    """What a model is shown of each plan that MADE makes, with a question to it."""
    found = template_for(pe.make(4, tools="nestful", isolation="inline", single=True, seed=3).made)
    return [(describe_plan(one), one.query) for one in found if isinstance(one, Made)]


Script = Callable[[dict[str, Any], int], Answer]


@pytest.fixture
def answering(told: list[tuple[str, str]]) -> Script:
    def answer(body: dict[str, Any], number: int) -> Answer:
        shown = "\n".join(str(each["content"]) for each in body["messages"])
        if "Request:" in str(body["messages"][-1]["content"]):
            return message(VERDICT)
        return message(next(query for plan, query in told if plan in shown))

    return answer


@pytest.fixture
def server(answering: Script) -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer(answering) as server:
        yield server


@pytest.fixture
def refusing(server: ModelServer, told: list[tuple[str, str]], answering: Script) -> ModelServer:
    """Refuses the first plan, and answers the rest."""

    def script(body: dict[str, Any], number: int) -> Answer:
        shown = "\n".join(str(each["content"]) for each in body["messages"])
        return message("I'm sorry, no.") if told[0][0] in shown else answering(body, number)

    server.script = script
    return server


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("argv", "field"), [
    (["--tools", "nestful"], "query"), (["--preset", "nestful"], "input"),
    (["--tools", "nestful", "--to", "nestful", "--want", "single"], "input")
])  # fmt: skip
def test_a_template_tells_each_plan_in_its_layouts_field(argv: list[str], field: str) -> None:
    done = planeval("data", "make", *argv, "-n", 5, "--isolation", "inline", "--question", "template")
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "5 questions asked for: 5 written")
    assert all(row[field].startswith("Please ") for row in rows(done.stdout))
    assert len({row[field] for row in rows(done.stdout)}) == 5


def asking(server: ModelServer, *more: object) -> Any:
    return planeval(*MADE, "--model", "m", "--url", server.url, "--cache", "kept.sqlite", *more)


def test_a_model_writes_and_the_same_comes_without_it(server: ModelServer, told: list[Any]) -> None:
    done = asking(server)
    assert done.returncode == 0, done.stderr
    assert [row["query"] for row in rows(done.stdout)] == [query for _, query in told]
    assert all(row["notes"]["question"]["score"] == 8 for row in rows(done.stdout))
    before = len(server.bodies)
    again = planeval(*MADE, "--model", "m", "--cache", "kept.sqlite", "--replay", "-o", "again.jsonl")
    assert (again.returncode, len(server.bodies)) == (0, before)
    assert Path("again.jsonl").read_text(encoding="utf-8") == done.stdout


def test_a_plan_without_a_question_keeps_its_row(refusing: ModelServer, told: list[Any]) -> None:
    done = asking(refusing, "--attempts", 2, "-o", "made.jsonl")
    assert done.returncode == 1
    assert "4 questions asked for: 3 written, 1 question.refusal" in done.stderr
    found = rows(Path("made.jsonl").read_text(encoding="utf-8"))
    assert [row["query"] for row in found] == ["", *(query for _, query in told[1:])]
    assert found[0]["notes"]["question"]["error"]["code"] == "question.refusal"
    assert len(found[0]["notes"]["question"]["tries"]) == 2


def test_a_layout_without_room_for_the_reason_leaves_it_out(refusing: ModelServer, told: list[Any]) -> None:
    done = asking(refusing, "--to", "nestful", "-o", "made.jsonl")
    assert done.returncode == 1
    assert "1 plan without a query: left out, because records of nestful have no field for" in done.stderr
    found = rows(Path("made.jsonl").read_text(encoding="utf-8"))
    assert [row["input"] for row in found] == [query for _, query in told[1:]]


@pytest.mark.parametrize(("layout", "kept"), [("planeval", 4), ("nestful", 0)])
def test_no_question_at_all_is_three(server: ModelServer, layout: str, kept: int) -> None:
    server.script = lambda body, number: message("No.")
    done = asking(server, "--to", layout, "--attempts", 1)
    assert (done.returncode, len(rows(done.stdout))) == (3, kept)


def test_an_interrupted_command_goes_on_from_what_is_kept(server: ModelServer, answering: Script) -> None:
    def slow(body: dict[str, Any], number: int) -> Answer:
        answer = answering(body, number)
        answer.delay = 0.0 if number < 3 else 30.0
        return answer

    server.script = slow
    asked = [*MADE, "--model", "m", "--url", server.url, "--cache", "kept.sqlite", "--concurrency", "1"]
    whole, env = [sys.executable, "-m", "planner_eval", *asked], os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*whole, "-o", "made.jsonl"], env=env, stderr=subprocess.PIPE, text=True) as begun:
        until(lambda: len(server.bodies) == 4, 60)
        begun.send_signal(signal.SIGINT)
        _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert "what was answered is kept in kept.sqlite: the same command resumes from there" in said
    assert not Path("made.jsonl").exists()
    server.script = answering
    assert (planeval(*asked).returncode, len(server.bodies)) == (0, 4 + 8 - 3)


def tools_of(folder: Path, text: str) -> str:
    file = folder / "own.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_tool_that_never_ends_costs_three_runs_of_it(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, "import time\n\ndef slow(a: float) -> float:\n    time.sleep(100)\n")
    begun = time.monotonic()
    done = planeval("data", "make", "--tools", tools, "-n", "1", "--want", "calls=1", "--run", "timeout=1")
    assert time.monotonic() - begun < 60  # ten draws for each of eight attempts take 80
    assert done.returncode == 3
    first, last = done.stderr.splitlines()
    assert first.startswith("slow is not called again: 3 of its runs in a row took longer than 1 second; ")
    assert first.endswith("; --run timeout=SECONDS allows more")
    assert last.startswith("0 of 1 made: no tool is left to call: ")
    assert "a call timed out (3)" in last


def called(*names: str) -> list[dict[str, Any]]:
    """A catalog of tools that take a number."""
    kind = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    return [{"name": name, "parameters": kind} for name in names]


def test_only_tools_that_are_there_are_called_and_the_others_are_named(tmp_path: Path) -> None:
    text = "ran = []\n\ndef double(a: float) -> float:\n    ran.append(a)\n    return 2 * a + len(ran)\n"
    tools = tools_of(tmp_path, text)
    found = pe.make(3, catalog=called("pay", "double", "find"), tools=tools, calls=1, distinct="values")
    assert {one.plan.calls[0].name for one in found.made} == {"double"}
    assert all(one.answer == 2 * dict(one.plan.calls[0].arguments)["a"] + 1 for one in found.made)
    (said,) = found.notes
    assert said.startswith(f"{tools} lacks 2 tools of ")
    assert said.endswith(", left out: find, pay")


LIKE = text_case("test_making_asked-LIKE.txt")


def test_each_kind_of_plan_that_cannot_be_followed_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(LIKE, encoding="utf-8")
    found = pe.make(2, tools="nestful", like=str(file))
    assert {call.name for one in found.made for call in one.plan.calls} == {"add"}
    (said,) = found.notes
    first = f"6 plans of {file} cannot be imitated: it cannot be read (3; "
    assert said.startswith(first)
    assert "the catalog has no such tool (1; 'nosuch'), a reference to no call (1; 'arg_1' of" in said
    file.write_text("".join(LIKE.splitlines(keepends=True)[:6]), encoding="utf-8")
    with pytest.raises(InputError, match=r"none of its plans can be imitated: it cannot be read \(3; "):
        pe.make(2, tools="nestful", like=str(file))


@pytest.mark.parametrize("command", ["data make", "predict", "suggest"])
def test_without_a_key_it_is_said(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "catalog.json").write_text(json.dumps(called("double")), encoding="utf-8")
    (tmp_path / "tasks.jsonl").write_text(
        '{"id": "a", "query": "Double 3.", "plan": "zzzz()"}\n', encoding="utf-8"
    )
    argv = {"data make": "--tools nestful -n 1 --cache kept.sqlite", "predict": "tasks.jsonl -o run"}
    given = argv.get(command, "tasks.jsonl")
    named = "" if command == "data make" else " --catalog catalog.json"
    done = planeval(*f"{command} {given}{named} --model m".split(), cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no key: set OPENAI_API_KEY, or name a server without one" in done.stderr
    assert "workload_identity" not in done.stderr
