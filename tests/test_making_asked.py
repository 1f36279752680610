"""`planeval data make` with questions: layouts, plans without one, what is kept, what `data check` says."""

from __future__ import annotations

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
from planner_eval.making.described import described
from planner_eval.making.made import Made
from planner_eval.verbs.questions import template_for
from tests.conftest import ROOT
from tests.inside import planeval
from tests.modelserver import Answer, ModelServer, message
from tests.test_questions import VERDICT

MADE = ("data", "make", "--tools", "nestful", "--isolation", "inline", "--single", "-n", "4", "--seed", "3")
KEY = "sk-of-nobody"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def told() -> list[tuple[str, str]]:
    """What a model is shown of each plan that MADE makes, with a question to it."""
    found = template_for(pe.make(4, tools="nestful", isolation="inline", single=True, seed=3).made)
    return [(described(one), one.query) for one in found if isinstance(one, Made)]


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


def all_but_the_first(told: list[tuple[str, str]], answering: Script) -> Script:
    """Refuses the first plan, and answers the rest."""

    def script(body: dict[str, Any], number: int) -> Answer:
        shown = "\n".join(str(each["content"]) for each in body["messages"])
        return message("I'm sorry, no.") if told[0][0] in shown else answering(body, number)

    return script


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("preset", "field"),
    [([], "query"), (["--preset", "nestful"], "input"), (["--to", "nestful", "--single"], "input")],
    ids=["planeval", "nestful", "to nestful"],
)
def test_a_template_tells_each_plan_in_its_layouts_field(preset: list[str], field: str) -> None:
    tools = [] if "--preset" in preset else ["--tools", "nestful"]
    done = planeval(
        "data", "make", *tools, *preset, "-n", 5, "--isolation", "inline", "--question", "template"
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "5 questions asked for: 5 written")
    assert all(row[field].startswith("Please ") for row in rows(done.stdout))
    assert len({row[field] for row in rows(done.stdout)}) == 5


@pytest.mark.more
def test_a_template_tells_plans_of_appbench() -> None:
    done = planeval("data", "make", "--preset", "appbench:mm", "-n", 5, "--question", "template")
    assert done.returncode == 0
    assert all("Please " in json.dumps(row) for row in json.loads(done.stdout))


@pytest.mark.more
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("options", "tools"),
    [
        (["--preset", "nestful"], "nestful"), (["--preset", "appbench:ss"], "world:appbench"),
        (["--preset", "appbench:mm"], "world:appbench"), (["--tools", "world:library"], "world:library"),
        (["--tools", "world:bank"], "world:bank"), (["--tools", "nestful", "--components", "2"], "nestful"),
        (["--tools", "nestful", "--depth", "1", "--width", "3"], "nestful"),
        (["--tools", "own.py", "--join", "type"], "own.py")
    ],
    ids=" ".join
)  # fmt: skip
def test_data_check_finds_nothing_against_what_was_made(options: list[str], tools: str, seed: int) -> None:
    Path("own.py").write_text(
        "def price(weight: float) -> float:\n    return round(4.5 + 1.25 * weight, 2)\n\n\n"
        "def twice(value: float) -> float:\n    return 2 * value\n",
        encoding="utf-8",
    )
    made = planeval(
        "data", "make", *options, "-n", 12, "--seed", seed, "--question", "template", "--tries", 200,
        "-o", "made.json",
    )  # fmt: skip
    assert made.returncode in (0, 1), made.stderr
    assert len(json.loads(Path("made.json").read_text())) >= 5
    done = planeval("data", "check", "made.json", "--tools", tools, "--confidence", "low")
    assert (done.returncode, "gold: nothing doubtful" in done.stdout) == (0, True), done.stdout
    assert ", 0 failed" in done.stdout


def test_a_model_writes_and_the_same_comes_without_it(
    server: ModelServer, told: list[tuple[str, str]]
) -> None:
    asked = [*MADE, "--model", "m", "--url", server.url, "--cache", "kept.sqlite"]
    done = planeval(*asked)
    assert done.returncode == 0, done.stderr
    assert [row["query"] for row in rows(done.stdout)] == [query for _, query in told]
    assert all(row["notes"]["question"]["score"] == 8 for row in rows(done.stdout))
    before = len(server.bodies)
    again = planeval(*MADE, "--model", "m", "--cache", "kept.sqlite", "--replay", "-o", "again.jsonl")
    assert (again.returncode, len(server.bodies)) == (0, before)
    assert Path("again.jsonl").read_text(encoding="utf-8") == done.stdout


def test_a_plan_without_a_question_keeps_its_row_with_the_reason(
    server: ModelServer, told: list[tuple[str, str]], answering: Script
) -> None:
    server.script = all_but_the_first(told, answering)
    done = planeval(
        *MADE, "--model", "m", "--url", server.url, "--cache", "kept.sqlite", "--attempts", 2, "-o",
        "made.jsonl"
    )  # fmt: skip
    assert done.returncode == 1
    assert "4 questions asked for: 3 written, 1 question.refusal" in done.stderr
    found = rows(Path("made.jsonl").read_text(encoding="utf-8"))
    assert [row["query"] for row in found] == ["", *(query for _, query in told[1:])]
    assert found[0]["notes"]["question"]["error"]["code"] == "question.refusal"
    assert len(found[0]["notes"]["question"]["tries"]) == 2


def test_a_layout_without_room_for_the_reason_leaves_the_plan_out_and_says_so(
    server: ModelServer, told: list[tuple[str, str]], answering: Script
) -> None:
    server.script = all_but_the_first(told, answering)
    done = planeval(
        *MADE, "--to", "nestful", "--model", "m", "--url", server.url, "--cache", "kept.sqlite", "-o",
        "made.jsonl"
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        "1 plan without a query: left out, for records of nestful have no place for the reason" in done.stderr
    )
    found = rows(Path("made.jsonl").read_text(encoding="utf-8"))
    assert [row["input"] for row in found] == [query for _, query in told[1:]]


@pytest.mark.parametrize(("layout", "kept"), [("planeval", 4), ("nestful", 0)])
def test_no_question_at_all_is_three(server: ModelServer, layout: str, kept: int) -> None:
    server.script = lambda body, number: message("No.")
    done = planeval(
        *MADE, "--to", layout, "--model", "m", "--url", server.url, "--cache", "kept.sqlite", "--attempts", 1
    )
    assert (done.returncode, len(rows(done.stdout))) == (3, kept)


def test_an_interrupted_command_goes_on_from_what_is_kept(server: ModelServer, answering: Script) -> None:
    def slow(body: dict[str, Any], number: int) -> Answer:
        answer = answering(body, number)
        answer.delay = 0.0 if number < 3 else 30.0
        return answer

    server.script = slow
    asked = [*MADE, "--model", "m", "--url", server.url, "--cache", "kept.sqlite", "--concurrency", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "planner_eval", *asked, "-o", "made.jsonl"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(600):
            if len(server.bodies) == 4:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "what was answered is kept in kept.sqlite: the same command goes on from there" in said
    assert not Path("made.jsonl").exists()
    server.script = answering
    done = planeval(*asked)
    assert (done.returncode, len(server.bodies)) == (0, 4 + 8 - 3)
