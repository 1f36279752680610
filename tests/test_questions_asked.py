"""Questions to made plans from a server, which may say anything, and by the options of a command."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from planner_eval.cli.questions import Questions, code_of, questioning
from planner_eval.making.asking import NoQuestion
from planner_eval.making.made import Made
from planner_eval.verbs.endpoints import Endpoint
from planner_eval.verbs.questions import ask_for
from tests.conftest import ROOT
from tests.modelserver import Answer, ModelServer, drip, half, hang_up, message
from tests.test_hostile_output import HOSTILE, TERMINAL
from tests.test_questions import CITIES, VERDICT, plan_to

KEY = "sk-secret-of-mine"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(served) as server:
        yield server


def city_of(body: dict[str, Any]) -> str:
    found = re.search(r'to: \\"(\w+)\\"', json.dumps(body["messages"]))
    assert found is not None
    return found[1]


def served(body: dict[str, Any], number: int) -> Answer:
    """Asks for the city of the plan, or judges."""
    judged = "Request:" in body["messages"][-1]["content"]
    return message(VERDICT if judged else f"Which trains go to {city_of(body)}?")


def asked(server: ModelServer, **more: Any) -> list[Made | NoQuestion]:
    at = Endpoint(server.url, deadline=2.0, retries=more.pop("retries", 1))
    return ask_for([plan_to(city) for city in CITIES], "writer", endpoint=at, **more)


def test_the_judge_is_another_model_of_the_same_server(server: ModelServer) -> None:
    found = asked(server, judge="critic")
    assert all(isinstance(one, Made) for one in found)
    stages = {(body["model"], body["temperature"]) for body in server.bodies}
    assert stages == {("writer", 0.7), ("critic", 0.0)}
    assert len(server.bodies) == 12


def test_whatever_the_server_does_each_plan_has_its_row_and_nothing_hostile_is_kept(
    server: ModelServer,
) -> None:
    odd = [
        lambda: Answer(act=drip),
        lambda: Answer(act=half),
        lambda: Answer(act=hang_up),
        lambda: Answer(b"<html>", status=500),
        lambda: Answer(status=429, headers={"Retry-After": "0.01"}),
        lambda: Answer({"error": {"message": f"key {KEY} \x1b[2J wrong"}}, status=400),
        lambda: Answer({"choices": []}),
        lambda: message(""),
        lambda: message("x" * 1_000_000),
        lambda: message("[" * 100_000),
        lambda: message('{"score": 10}'),
        lambda: message("I'm sorry, but I can't help with that."),
        lambda: message(None, calls=[("find_trains", "{}")]),
        lambda: message("Which trains", finish="length"),
        *(lambda text=text: message(f"Which trains go to Rome{text}?") for text in HOSTILE),
    ]  # fmt: skip

    def script(body: dict[str, Any], number: int) -> Answer:
        return odd[number % len(odd)]() if number % 3 else served(body, number)

    server.script = script
    found = ask_for(
        [plan_to(city) for city in CITIES * 4],
        "writer",
        endpoint=Endpoint(server.url, deadline=0.5, retries=0),
        concurrency=1,
    )
    assert [one.made.id if isinstance(one, NoQuestion) else one.id for one in found] == [
        f"to {c}" for c in CITIES * 4
    ]
    assert {type(one) for one in found} == {NoQuestion, Made}
    for one in found:
        said = one.query if isinstance(one, Made) else one.message + json.dumps(one.tries, ensure_ascii=False)
        assert not TERMINAL.search(said)
        assert KEY not in said


@pytest.mark.parametrize(
    "said", ['{"score": 10} {"score": 1}', "10", "", "\x1b[2J", '{"score": 1e400}', "{" * 2000]
)
def test_a_judge_that_cannot_be_read_refuses_the_question(server: ModelServer, said: str) -> None:
    server.script = lambda body, number: message(said) if body["model"] == "critic" else served(body, number)
    found = asked(server, judge="critic")
    assert [one.code for one in found if isinstance(one, NoQuestion)] == ["question.unjudged"] * 6
    assert len(server.bodies) == 18


def test_the_same_whatever_is_under_way_at_a_time(server: ModelServer) -> None:
    assert asked(server, concurrency=1) == asked(server, concurrency=6)


@click.command()
@questioning
def command(questions: Questions) -> int:
    """Asks for the questions of a few plans."""
    questions.refuse()
    found = questions.to([plan_to(city) for city in CITIES])
    click.echo(json.dumps([one.query if isinstance(one, Made) else [one.code] for one in found]))
    return code_of(found)


def run(*argv: str) -> Result:
    return CliRunner().invoke(command, list(argv), standalone_mode=False)


def test_without_options_records_come_back_as_they_are() -> None:
    done = run()
    assert json.loads(done.stdout) == [""] * 6
    assert (done.return_value, done.stderr) == (0, "")


def test_a_template_needs_no_model() -> None:
    done = run("--question", "template")
    assert (
        json.loads(done.stdout)[0] == 'Please do this and tell me what it gives: find trains, with to "Rome".'
    )
    assert done.stderr == "6 questions asked for: 6 written\n"


def test_what_was_asked_is_counted_and_kept(server: ModelServer, tmp_path: Path) -> None:
    prices, kept = tmp_path / "prices.toml", str(tmp_path / "kept.sqlite")
    prices.write_text(
        "[models.m]\ninput = 1000.0\noutput = 10000.0\n[models.j]\ninput = 0.0\noutput = 0.0\n",
        encoding="utf-8",
    )
    argv = ["--model", "m", "--judge", "j", "--url", server.url, "--cache", kept, "--prices", str(prices)]
    done = run(*argv)
    assert done.return_value == 0
    assert done.stderr == "6 questions asked for: 6 written; 120 tokens in and 24 out, cost 0.18\n"
    before = len(server.bodies)
    again = run(*argv[:4], "--cache", kept, "--replay", "--prices", str(prices))
    assert (again.stdout, again.stderr, len(server.bodies)) == (done.stdout, done.stderr, before)


def test_reasons_are_said_once_a_code_and_what_failed_is_asked_again(
    server: ModelServer, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if city_of(body) == "Oslo":
            return Answer(act=hang_up)
        return message("Trains?") if city_of(body) in ("Bern", "Riga") else served(body, number)

    server.script = script
    argv = ["--model", "m", "--url", server.url, "--cache", str(tmp_path / "kept.sqlite"), "--retries", "0"]
    done = run(*argv, "--attempts", "2")
    assert done.return_value == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("6 questions asked for: 3 written, 2 question.short, 1 transport; ")
    assert lines[1].startswith("transport: to Oslo: ")
    assert lines[2].startswith("question.short: to Bern: none of 2 tries passed; of the last, 'Trains?'")
    assert lines[3] == "the same command asks for 1 question again"
    server.script, before = served, len(server.bodies)
    assert run(*argv, "--attempts", "2").return_value == 1
    assert {city_of(body) for body in server.bodies[before:]} == {"Oslo"}


def test_nothing_written_is_three(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, number: message("No.")
    done = run(
        "--model", "m", "--url", server.url, "--cache", str(tmp_path / "kept.sqlite"), "--attempts", "1"
    )
    assert done.return_value == 3


def test_the_language_the_score_and_the_texts_are_the_users(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "again.txt").write_text("Anew: {reasons}", encoding="utf-8")
    more = ["--language", "German", "--quality", "9", "--prompts", str(tmp_path), "--set", "temperature=0.25"]
    done = run(
        "--model", "m", "--url", server.url, "--cache", str(tmp_path / "kept.sqlite"), *more, "--concurrency",
        "1"
    )  # fmt: skip
    assert done.return_value == 3
    assert "judged 8 of 10, at least 9 is wanted" in done.stderr
    first = server.bodies[0]["messages"][0]["content"]
    assert "write, in German, the request" in first
    assert {body["temperature"] for body in server.bodies} == {0.25}
    assert any(
        body["messages"][-1]["content"].startswith("Anew: - it was judged 8") for body in server.bodies
    )


@pytest.mark.parametrize(("argv", "said"), [
    (["--judge", "j"], "--judge applies only with --model NAME"),
    (["--question", "template", "--language", "German"], "--language applies only with --model NAME"),
    (["--cache", "kept.sqlite"], "--cache applies only with --model NAME"),
    (["--model", "m"], "--model needs --cache FILE, which keeps every answer"),
    (["--model", "m", "--question", "template"], "--question template asks no model"),
    (["--model", "m", "--cache", "k", "--quality", "11"], "11")
])  # fmt: skip
def test_options_without_effect_are_refused(argv: list[str], said: str) -> None:
    done = run(*argv)
    assert isinstance(done.exception, click.UsageError)
    assert said in done.exception.format_message()


@pytest.mark.parametrize(("argv", "said"), [
    (["--set", "temperature"], "expected NAME=VALUE"),
    (["--set", "model=x"], "--set model is not yours to set"),
    (["--prompts", "nowhere"], "nowhere is no folder of prompts"),
    (["--prices", "nowhere.toml"], "nowhere.toml: no such file"), (["--replay"], "no such cache of answers"),
    (["--url", "ftp://x"], "is no address of a server")
])  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path: Path, argv: list[str], said: str) -> None:
    done = run("--model", "m", "--cache", str(tmp_path / "kept.sqlite"), *argv)
    assert said in str(done.exception)


STOPPED = """
import sys
from tests.test_questions_asked import command
raise SystemExit(command(sys.argv[1:], standalone_mode=False))
"""


def test_an_interrupted_command_goes_on_with_the_answers_it_had(server: ModelServer, tmp_path: Path) -> None:
    def slow(body: dict[str, Any], number: int) -> Answer:
        answer = served(body, number)
        answer.delay = 0.0 if number < 4 else 30.0
        return answer

    server.script, kept = slow, str(tmp_path / "kept.sqlite")
    argv = ["--model", "m", "--url", server.url, "--cache", kept, "--concurrency", "1"]
    env = os.environ | {"OPENAI_API_KEY": KEY}
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, *argv], cwd=ROOT, env=env, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        for _ in range(600):
            if len(server.bodies) == 5:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"what was answered is kept in {kept}: the same command goes on from there" in said
    server.script = served
    done = run(*argv)
    assert done.return_value == 0
    assert len(server.bodies) == 5 + 12 - 4
