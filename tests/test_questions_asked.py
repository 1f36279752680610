"""Questions to made plans from a server, which may say anything, and by the options of a command."""

from __future__ import annotations

import json
import re
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


def test_whatever_the_server_does_each_plan_has_its_row(server: ModelServer) -> None:
    odd = [
        Answer(act=drip), Answer(act=half), Answer(act=hang_up), Answer(b"<html>", status=500),
        Answer(status=429, headers={"Retry-After": "0.01"}), Answer({"choices": []}),
        Answer({"error": {"message": f"key {KEY} \x1b[2J wrong"}}, status=400),
        *(message(text) for text in ("", "x" * 1_000_000, "[" * 100_000, '{"score": 10}', "I'm sorry, no.")),
        message(None, calls=[("find_trains", "{}")]), message("Which trains", finish="length"),
        *(message(f"Which trains go to Rome{text}?") for text in HOSTILE),
    ]  # fmt: skip

    def script(body: dict[str, Any], number: int) -> Answer:
        return odd[number % len(odd)] if number % 3 else served(body, number)

    server.script = script
    at, plans = Endpoint(server.url, deadline=0.5, retries=0), [plan_to(city) for city in CITIES * 4]
    found = ask_for(plans, "writer", endpoint=at, concurrency=1)
    ids = [one.made.id if isinstance(one, NoQuestion) else one.id for one in found]
    assert ids == [f"to {c}" for c in CITIES * 4]
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


def test_what_was_asked_is_counted_and_kept(server: ModelServer, tmp_path: Path) -> None:
    prices, kept = tmp_path / "prices.toml", str(tmp_path / "kept.sqlite")
    costs = "[models.m]\ninput = 1000.0\noutput = 10000.0\n[models.j]\ninput = 0.0\noutput = 0.0\n"
    prices.write_text(costs, encoding="utf-8")
    argv = ["--model", "m", "--judge", "j", "--url", server.url, "--cache", kept, "--prices", str(prices)]
    done = run(*argv)
    assert done.return_value == 0
    assert done.stderr == "6 questions asked for: 6 written; 120 tokens in and 24 out, cost 0.18\n"
    stages = {(body["model"], body["temperature"]) for body in server.bodies}
    assert (stages, len(server.bodies)) == ({("m", 0.7), ("j", 0.0)}, 12)
    again = run(*argv[:4], "--cache", kept, "--replay", "--prices", str(prices))
    assert (again.stdout, again.stderr, len(server.bodies)) == (done.stdout, done.stderr, 12)


def test_reasons_are_said_once_a_code(server: ModelServer, tmp_path: Path) -> None:
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


def test_the_language_the_score_and_the_texts_are_the_users(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "again.txt").write_text("Anew: {reasons}", encoding="utf-8")
    argv = [
        "--model", "m", "--url", server.url, "--cache", str(tmp_path / "kept.sqlite"), "--concurrency", "1"
    ]  # fmt: skip
    argv += [
        "--language", "German", "--quality", "9", "--prompts", str(tmp_path), "--set", "temperature=0.25"
    ]  # fmt: skip
    done = run(*argv)
    assert done.return_value == 3
    assert "judged 8 of 10, at least 9 is wanted" in done.stderr
    assert "write, in German, the request" in server.bodies[0]["messages"][0]["content"]
    assert {body["temperature"] for body in server.bodies} == {0.25}
    last = [body["messages"][-1]["content"] for body in server.bodies]
    assert any(one.startswith("Anew: - it was judged 8") for one in last)


ASKED = ["--model", "m", "--cache", "kept.sqlite"]


@pytest.mark.parametrize(("argv", "said"), [
    (["--judge", "j"], "--judge applies only with --model NAME"),
    (["--question", "template", "--language", "German"], "--language applies only with --model NAME"),
    (["--cache", "kept.sqlite"], "--cache applies only with --model NAME"),
    (["--model", "m"], "--model needs --cache FILE, which keeps every answer"),
    (["--model", "m", "--question", "template"], "--question template asks no model"),
    ([*ASKED, "--quality", "11"], "11"), ([*ASKED, "--set", "temperature"], "expected NAME=VALUE"),
    ([*ASKED, "--set", "model=x"], "--set model is not yours to set"),
    ([*ASKED, "--prompts", "nowhere"], "nowhere is no folder of prompts"),
    ([*ASKED, "--prices", "nowhere.toml"], "nowhere.toml: no such file"),
    ([*ASKED, "--replay"], "no such cache of answers"),
    ([*ASKED, "--url", "ftp://x"], "is no address of a server")
])  # fmt: skip
def test_options_are_refused(
    argv: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*argv).exception
    assert said in (found.format_message() if isinstance(found, click.UsageError) else str(found))
