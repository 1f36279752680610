"""planeval predict: many samples at once, a server that misbehaves, kills, resumed runs, and scores."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, ModelError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.datasets.sample import Sample
from planner_eval.llm import Reply, ToolCall
from planner_eval.prediction.tasks import read_tasks
from planner_eval.verbs.endpoints import Endpoint
from tests import inside
from tests.conftest import ROOT
from tests.modelserver import Answer, ModelServer, drip, half, hang_up, message
from tests.prediction_samples import OWN_TOOLS, appbench_catalogue
from tests.terminal import on_terminal

SAMPLES = folder("data") / "samples"


def planeval(*argv: str, **more: Any) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"OPENAI_API_KEY": "sk-secret-of-mine", "COLUMNS": "110"}
    whole = [sys.executable, "-m", "planner_eval", *argv]
    return subprocess.run(
        whole, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False, **more
    )


def here(*argv: str) -> subprocess.CompletedProcess[str]:
    """The same in this process."""
    return inside.planeval(*argv, cwd=ROOT, OPENAI_API_KEY="sk-secret-of-mine", COLUMNS="110")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    with ModelServer() as server:
        yield server


def tasks(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"t{n}", "query": f"question number {n}.", "tools": OWN_TOOLS, **more} for n in range(count)
    ]


def task_file(path: Path, count: int) -> str:
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks(count)), encoding="utf-8")
    return str(path)


def asked_of(body: dict[str, Any]) -> str:
    """Which sample a request is of, by its question: ids are not sent."""
    text = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return f"t{text.split()[2].rstrip('.')}"


def echo(body: dict[str, Any], number: int) -> Answer:
    return message(f"answer of {asked_of(body)}")


class Scripted:
    """A model that answers by a function of the messages."""

    def __init__(self, answer: Callable[[list[Any], Any], Reply]) -> None:
        self.answer = answer
        self.asked = 0

    async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
        self.asked += 1
        return self.answer(list(messages), tools)


def test_rows_stand_in_the_samples_order_whatever_the_replies_did(
    server: ModelServer, tmp_path: Path
) -> None:
    draw = random.Random(0)

    def script(body: dict[str, Any], number: int) -> Answer:
        answer = echo(body, number)
        answer.delay = draw.random() / 20
        return answer

    server.script = script
    found = []
    for concurrency in (1, 5, 40):
        out = tmp_path / str(concurrency)
        rows = pe.predict(tasks(40), "m", endpoint=Endpoint(server.url), out=out, concurrency=concurrency)
        assert [(row["id"], row["prediction"]) for row in rows] == [
            (f"t{n}", f"answer of t{n}") for n in range(40)
        ]
        found.append((out / "rows.jsonl").read_bytes())
    assert found[0] == found[1] == found[2]
    assert 5 < server.most_at_once <= 40


BAD: dict[str, Callable[[], Answer]] = {
    "429": lambda: Answer(status=429, headers={"Retry-After": "0.01"}),
    "500": lambda: Answer(b"<html>", status=500),
    "half a JSON": lambda: Answer(b'{"choices": [{"mess'),
    "half a body": lambda: Answer(act=half),
    "closed": lambda: Answer(act=hang_up),
    "no choices": lambda: Answer({"choices": []}),
}


def test_every_sample_has_its_answer_though_the_server_misbehaves(
    server: ModelServer, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        name = asked_of(body)
        seen[name] += 1
        turn = int(name[1:]) % 7
        if seen[name] == 1 and turn < len(BAD):
            return list(BAD.values())[turn]()
        return echo(body, number)

    server.script = script
    file = task_file(tmp_path / "tasks.jsonl", 14)
    done = planeval("predict", file, "--model", "m", "--url", server.url, "-o", str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "14 samples asked with flat: 14 answered; 14 requests, 140 tokens in and 28 out" in done.stdout
    assert all(seen[f"t{n}"] == (2 if n % 7 < len(BAD) else 1) for n in range(14))


def test_a_drip_and_a_refusal_are_rows_that_say_so_and_are_asked_again(
    server: ModelServer, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        name = asked_of(body)
        if name == "t1":
            return Answer(act=drip)
        if name == "t2":
            return Answer({"error": {"message": "context length exceeded: 9 tokens"}}, status=400)
        return echo(body, number)

    server.script = script
    file, run = task_file(tmp_path / "tasks.jsonl", 4), str(tmp_path / "run")
    argv = ["predict", file, "--model", "m", "--url", server.url, "-o", run, "--deadline", "1"]
    done = planeval(*argv)
    assert done.returncode == 1
    assert "4 samples asked with flat: 2 answered, 1 context, 1 transport" in done.stdout
    assert "--budget TOKENS offers no more tools than fit" in done.stderr
    assert "context: t2: the model m refused with status 400: context length exceeded" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text().splitlines()]
    assert [(row["error"] or {}).get("code") for row in rows] == [None, "transport", "context", None]
    assert [row["prediction"] for row in rows] == ["answer of t0", "", "", "answer of t3"]
    server.script, before = echo, len(server.bodies)
    done = planeval(*argv)
    assert done.returncode == 0, done.stderr
    assert sorted(map(asked_of, server.bodies[before:])) == ["t1", "t2"]


def test_nothing_answered_is_three_and_is_said_once_a_reason(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    file = task_file(tmp_path / "tasks.jsonl", 6)
    done = planeval(
        "predict", file, "--model", "m", "--url", "http://127.0.0.1:9/v1", "-o", str(tmp_path / "run"),
        "--retries", "0"
    )  # fmt: skip
    assert done.returncode == 3
    assert "6 samples asked with flat: 0 answered, 6 transport" in done.stdout
    assert "no connection" in done.stderr
    assert (
        "sk-secret"
        not in done.stderr + done.stdout + (tmp_path / "run" / "parts" / "journal.jsonl").read_text()
    )


def test_money_is_counted_with_the_user_s_prices(server: ModelServer, tmp_path: Path) -> None:
    server.script = echo
    file, run = task_file(tmp_path / "tasks.jsonl", 3), tmp_path / "run"
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.m]\ninput = 2.5\noutput = 10\n")
    argv = ["predict", file, "--model", "m", "--url", server.url, "-o", str(run)]
    assert "cost" not in planeval(*argv).stdout
    done = planeval(*argv, "--prices", str(prices))
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 requests, 30 tokens in and 6 out, cost 0.000135" in done.stdout
    assert json.loads((run / "report.json").read_text())["cost"] == pytest.approx(0.000135)
    assert len(server.bodies) == 3
    done = planeval(*argv[:-1], str(tmp_path / "other"), "--prices", str(prices), "--router-model", "n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "prices.toml has no price of the model 'n'; it has m" in done.stderr
    assert len(server.bodies) == 3


def test_the_router_s_tokens_have_its_own_price_and_tokens_nobody_counted_are_said(
    server: ModelServer, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if body["model"] == "small":
            return message('["getShift"]')
        return Answer({"choices": [{"message": {"content": "{}"}}]})

    server.script = script
    prices = tmp_path / "prices.json"
    costs = {"small": {"input": 1, "output": 0}, "large": {"input": 1e6, "output": 0}}
    prices.write_text(json.dumps({"models": costs}))
    done = planeval(
        "predict", "data/samples/callnavi", "--benchmark", "callnavi", "--pipeline", "route-then-fill",
        "--model", "large", "--router-model", "small", "--url", server.url, "-o", str(tmp_path / "run"),
        "--id", "hr01", "--prices", str(prices),
    )  # fmt: skip
    said = "2 requests, at least 10 tokens in and 2 out, cost at least 0.00001"
    assert said in done.stdout, done.stderr
    assert "the server did not say all the tokens of 1 request, which cost more" in done.stderr


@pytest.mark.more
@pytest.mark.parametrize(("usage", "tokens"), [
    ({"prompt_tokens": 1000}, "at least 3,000 tokens in and 0 out, cost at least 0.006"),
    ({"prompt_tokens": 1000, "completion_tokens": None}, "at least 3,000 tokens in and 0 out, cost at"),
    ({"prompt_tokens": -1000, "completion_tokens": 5}, "at least 0 tokens in and 15 out, cost at least 0"),
    ({"prompt_tokens": 5, "completion_tokens": 10**30}, "at least 15 tokens in and 0 out, cost at least"),
    ({"prompt_tokens": True, "completion_tokens": "9"}, "3 requests, cost at least 0\n"),
    ([], "3 requests, cost at least 0\n"),
    ({"prompt_tokens": 1000, "completion_tokens": 0}, "; 3 requests, 3,000 tokens in and 0 out, cost 0.0")
])  # fmt: skip
def test_tokens_that_the_server_counted_in_part_are_no_exact_cost(
    usage: Any, tokens: str, server: ModelServer, tmp_path: Path
) -> None:
    server.answers = [Answer({"choices": [{"message": {"content": "[]"}}], "usage": usage})]
    prices, run = tmp_path / "prices.toml", tmp_path / "run"
    prices.write_text("[models.m]\ninput = 2\noutput = 8\n")
    done = planeval(
        "predict", task_file(tmp_path / "tasks.jsonl", 3), "--model", "m", "--url", server.url,
        "-o", str(run), "--prices", str(prices), "--cache", str(tmp_path / "kept"),
    )  # fmt: skip
    assert done.returncode == 0
    assert tokens in done.stdout
    uncounted = 3 * ("at least" in tokens)
    assert ("did not say all the tokens of 3 requests, which cost more" in done.stderr) is (uncounted > 0)
    assert json.loads((run / "report.json").read_text())["uncounted"] == uncounted


def journal_replies(run: Path) -> int:
    try:
        return (run / "parts" / "journal.jsonl").read_bytes().count(b'"request"')
    except OSError:
        return 0


@pytest.mark.more
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_what_was_answered_is_not_asked_again(
    how: signal.Signals, server: ModelServer, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        answer = echo(body, number)
        answer.delay = 0.03
        return answer

    server.script = script
    file, run = task_file(tmp_path / "tasks.jsonl", 60), tmp_path / "run"
    argv = ["predict", file, "--model", "m", "--url", server.url, "-o", str(run), "--concurrency", "4"]
    whole = [sys.executable, "-m", "planner_eval", *argv]
    process = subprocess.Popen(whole, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while journal_replies(run) < 12 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    if how is not signal.SIGKILL:
        assert process.returncode == 130
        assert re.search(r"interrupted after \d+ of 60 samples, .*; what was answered is kept in ", said)
        assert "the same command goes on from there" in said
    first = [asked_of(body) for body in server.bodies]
    assert 12 <= len(first) < 60
    done = planeval(*argv)
    assert done.returncode == 0, done.stderr
    counts = Counter(map(asked_of, server.bodies))
    assert set(counts) == {f"t{n}" for n in range(60)}
    assert sum(counts.values()) <= 60 + 4
    server.script, other = echo, tmp_path / "undisturbed"
    assert planeval(*argv[:-3], str(other)).returncode == 0
    assert (run / "rows.jsonl").read_bytes() == (other / "rows.jsonl").read_bytes()


def test_a_sample_goes_on_in_the_middle_of_its_conversation(tmp_path: Path) -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        turn = sum(m["role"] == "assistant" for m in messages)
        if turn == 2 and failing:
            raise ModelError("gone")
        calls = (ToolCall("c", "add", json.dumps({"arg_0": turn, "arg_1": 1})),)
        return Reply("", calls) if turn < 3 else Reply("Final Answer: 4")

    failing = True
    source, out = SAMPLES / "nestful", tmp_path / "run"
    model = Scripted(answer)
    how: dict[str, Any] = {
        "benchmark": "nestful", "pipeline": "react", "out": out, "limit": 1, "isolation": "inline"
    }  # fmt: skip
    (row,) = pe.predict(source, model, **how)
    assert (row["error"]["code"], model.asked) == ("transport", 3)
    failing = False
    (row,) = pe.predict(source, model, **how)
    assert (row["stages"]["final_answer"], model.asked) == ("4", 3 + 2)
    assert [step.get("saw") for step in row["stages"]["steps"]] == [1, 2, 3, None]
    pe.predict(source, model, **how)
    assert model.asked == 5


@pytest.mark.parametrize("torn", [b'{"sample": "t3", "row": {"id', b"\x00\xff", b""])
def test_a_torn_line_at_the_end_is_let_go(torn: bytes, tmp_path: Path) -> None:
    model = Scripted(lambda messages, tools: Reply("x"))
    pe.predict(tasks(2), model, out=tmp_path)
    with (tmp_path / "parts" / "journal.jsonl").open("ab") as file:
        file.write(torn)
    rows = pe.predict(tasks(3), model, out=tmp_path)
    assert (len(rows), model.asked) == (3, 3)
    assert len(pe.predict(tasks(3), model, out=tmp_path)) == model.asked == 3


def test_a_run_of_another_kind_is_not_gone_on_with(tmp_path: Path) -> None:
    model = Scripted(lambda messages, tools: Reply("x"))
    pe.predict(tasks(2), model, out=tmp_path)
    with pytest.raises(InputError, match=r"holds another run: sampling.temperature was .* and is"):
        pe.predict(tasks(2), model, out=tmp_path, sampling={"temperature": 1.0})
    with pytest.raises(InputError, match="the sample 't0' was another one then"):
        pe.predict([tasks(1)[0] | {"query": "Something else?"}], model, out=tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds other files, notes.txt first, and no run"):
        pe.predict(tasks(2), model, out=tmp_path / "other")
    assert model.asked == 2


def test_a_row_says_what_was_asked_and_answered() -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        return (
            Reply("Trams, Library")
            if "Name at least one app" in messages[0]["content"]
            else Reply("A: [b = c()]")
        )

    (row,) = pe.predict(
        SAMPLES / "appbench", Scripted(answer), benchmark="appbench", catalog=appbench_catalogue(), limit=1
    )
    assert [request["stage"] for request in row["requests"]] == ["apps", "plan"]
    assert row["requests"][0]["sampling"] == {"temperature": 0.0, "max_tokens": 1024}
    assert row["requests"][1]["messages"][1]["content"] == "Which trams stop at Mill Lane after nine?"
    assert row["first_step_apps"] == ["Trams", "Library"]
    assert "timing" not in row
    (bare,) = pe.predict(tasks(1), Scripted(answer), messages=False)
    assert "messages" not in bare["requests"][0]
    assert len(bare["requests"][0]["prompt"]) == 32


def test_messages_of_a_conversation_are_kept_once() -> None:
    calls = (ToolCall("c", "get_rate", "{}"),)
    model = Scripted(lambda messages, tools: Reply("", calls) if len(messages) < 4 else Reply("Done."))
    own = {"get_rate": lambda: 1.1}
    (row,) = pe.predict(
        tasks(1), model, pipeline="react", tools=own, setup=pe_setup(makes_calls=True), isolation="inline"
    )
    assert [(each["shared"], len(each["messages"])) for each in row["requests"][:3]] == [
        (0, 2),
        (2, 2),
        (4, 2),
    ]


def pe_setup(**told: Any) -> Any:
    from planner_eval.prediction.setup import Setup

    return Setup(**told)


def test_repetitions_are_rows_of_their_own_and_a_cache_keeps_them_apart(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body, number: message(f"try {number}")
    endpoint = Endpoint(server.url, cache=tmp_path / "m.sqlite")
    rows = pe.predict(tasks(1), "m", endpoint=endpoint, repeat=3, concurrency=1)
    assert [(row["repetition"], row["prediction"]) for row in rows] == [
        (0, "try 0"),
        (1, "try 1"),
        (2, "try 2"),
    ]
    replayed = pe.predict(tasks(1), "m", endpoint=endpoint._replace(replay=True), repeat=3)
    assert [row["prediction"] for row in replayed] == ["try 0", "try 1", "try 2"]
    assert len(server.bodies) == 3


def test_a_reply_that_trips_a_pipeline_is_that_sample_s_failure() -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        if "number 1" in messages[-1]["content"]:
            raise RecursionError("too deep")
        return Reply("fine")

    rows = pe.predict(tasks(3), Scripted(answer))
    assert [row["prediction"] for row in rows] == ["fine", "", "fine"]
    assert rows[1]["error"] == {"code": "failed", "message": "RecursionError: too deep"}


def test_a_full_disk_is_said_and_what_was_answered_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from planner_eval.prediction.journal import Journal

    model = Scripted(lambda messages, tools: Reply("x"))
    kept = Journal.finish

    def full(self: Journal, key: str, row: Any) -> None:
        if key == "t2":
            raise OSError(28, "No space left on device")
        kept(self, key, row)

    monkeypatch.setattr(Journal, "finish", full)
    with pytest.raises(OSError, match="No space left"):
        pe.predict(tasks(4), model, out=tmp_path, concurrency=1)
    monkeypatch.undo()
    assert len(pe.predict(tasks(4), model, out=tmp_path)) == 4
    assert model.asked == 4


def test_half_a_surrogate_pair_in_a_reply_does_no_harm(tmp_path: Path) -> None:
    rows = pe.predict(tasks(1), Scripted(lambda messages, tools: Reply("\ud800")), out=tmp_path)
    assert len(rows) == 1


def test_it_runs_where_a_loop_runs_already() -> None:
    import asyncio

    async def notebook() -> list[dict[str, Any]]:
        return pe.predict(tasks(2), Scripted(lambda messages, tools: Reply("x")))

    assert len(asyncio.run(notebook())) == 2


def test_own_tasks_are_read_and_answers_in_them_are_not() -> None:
    talk = [{"role": "user", "content": "Roll."}, {"role": "assistant", "content": "gold!"}]
    found = read_tasks([{"messages": talk, "gold": "gold!"}, "plain words", {"id": 3, "input": "x"}])
    assert [sample.id for sample in found.samples] == ["task-1", "task-2", "3"]
    assert "gold!" not in repr(found)
    assert found.samples[0].query == "Roll."


def test_a_task_that_cannot_be_asked_is_a_row(tmp_path: Path) -> None:
    given = [
        *tasks(1),
        {"id": "empty", "tools": OWN_TOOLS},
        {"id": "bad", "query": "?", "tools": [{"no": 1}]},
    ]
    rows = pe.predict(given, Scripted(lambda messages, tools: Reply("x")))
    assert [row["prediction"] for row in rows] == ["x", "", ""]
    assert "'empty' has no question" in rows[1]["error"]["message"]
    assert "'bad'" in rows[2]["error"]["message"]


@pytest.mark.parametrize(("argv", "said"), [
    (["none.jsonl"], "none.jsonl: no such file"), (["nonesuch"], "there is no file nonesuch"),
    (["data/samples/callnavi"], "say with --benchmark whose data it holds"),
    (["data/samples/callnavi", "--benchmark", "calnavi"], "did you mean callnavi?"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--pipeline", "react"], "does not serve callnavi"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--list-form", "x"], "there are json, docstring"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--id", "hr9"], "no sample has the id 'hr9'"),
    (["data/samples/appbench", "--benchmark", "appbench"], "name them with --catalog FILE"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--set", "x"], "expected NAME=VALUE"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--prompts", "data"], "data holds no prompt"),
    (["data/samples/callnavi", "--benchmark", "callnavi", "--replay"], "--replay applies only with --cache")
])  # fmt: skip
def test_what_can_be_known_is_said_before_anything_is_asked(
    argv: list[str], said: str, tmp_path: Path
) -> None:
    done = here("predict", *argv, "--model", "m", "-o", str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "parts" / "journal.jsonl").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        *(
            (["--set", f"{name}={value}"], f"--set {name} is not yours to set: ")
            for name, value in {
                "model": "uvar",
                "messages": "[]",
                "tools": "[]",
                "tool_choice": "none",
                "stream": "true",
                "n": "3",
                "functions": "[]",
                "router": "1",
                "repetition": "1",
                "self": "1",
            }.items()
        ),
        (["--set", "temperature=hot"], "--set temperature is 'hot', expected a number from 0"),
        (["--set", "temperature=NaN"], "expected a number from 0"),
        (["--set", "temperature=true"], "expected a number from 0"),
        (["--set", "max_tokens=-5"], "--set max_tokens is -5, expected a whole number from 1, or none"),
        (["--set", "max_tokens=1.5"], "expected a whole number from 1"),
        (["--set", "top_p=2"], "--set top_p is 2, expected a number from 0 to 1"),
        (["--set", "seed=x"], "--set seed is 'x', expected a whole number"),
        (["--set", "stop=[1]"], "--set stop is [1], expected a text or a list of texts"),
        (["--constrain", "schema", "--set", "response_format={}"], "--constrain sets what holds the answers"),
        (
            ["--constrain", "grammar", "--set", "structured_outputs={}"],
            "--set structured_outputs is not yours",
        ),
        (["--today", "2020-13-45"], "--today applies only to AppBench"),
        (["--router-model", "n"], "--router-model"),
    ],
)
@pytest.mark.parametrize("dry", [True, False])
def test_what_the_run_itself_sets_cannot_be_set(
    dry: bool, argv: list[str], said: str, server: ModelServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    asked = ["--dry-run"] if dry else ["--model", "m", "--url", server.url, "-o", str(run)]
    done = here("predict", task_file(tmp_path / "tasks.jsonl", 1), *asked, *argv)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not server.bodies
    assert not run.exists()


def test_what_servers_know_and_we_do_not_passes(server: ModelServer, tmp_path: Path) -> None:
    server.script = echo
    given = ["mirostat=2", "temperature=1.5", "max_tokens=none", 'stop=["a"]', "response_format={}", "seed=7"]
    done = planeval(
        "predict", task_file(tmp_path / "tasks.jsonl", 1), "--model", "m", "--url", server.url,
        "-o", str(tmp_path / "run"), *(part for one in given for part in ("--set", one)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    body = {name: value for name, value in server.bodies[0].items() if name not in ("messages", "model")}
    expected = {"mirostat": 2, "temperature": 1.5, "stop": ["a"], "response_format": {}, "seed": 7}
    assert body == expected


@pytest.mark.parametrize("today", ["2020-13-45", "20200101", "tomorrow"])
def test_a_day_of_appbench_is_one(today: str, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps(appbench_catalogue()))
    argv = ["predict", "data/samples/appbench", "--benchmark", "appbench", "--catalog", str(catalog)]
    done = planeval(*argv, "--dry-run", "--today", today)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--today is '{today}', expected a day, yyyy-mm-dd" in done.stderr
    assert planeval(*argv, "--dry-run", "--today", "2020-02-29").returncode == 0


@pytest.mark.more
@pytest.mark.parametrize(
    "url", ["notaurl", "localhost:8000/v1", "http://", "ftp://a/v1", "http://a:b/v1", "http://[1"]
)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_an_address_that_is_none_is_not_asked(url: str, by: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = ["predict", task_file(tmp_path / "tasks.jsonl", 1), "--model", "m", "-o", str(run)]
    whole = [sys.executable, "-m", "planner_eval", *argv, *(["--url", url] if by == "option" else [])]
    env = os.environ | ({"OPENAI_BASE_URL": url} if by == "environment" else {})
    done = subprocess.run(whole, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{url}' is no address of a server: expected one like http://localhost:8000/v1" in done.stderr
    assert not run.exists()


def test_a_model_and_a_folder_are_needed(tmp_path: Path) -> None:
    argv = ["predict", "data/samples/callnavi", "--benchmark", "callnavi"]
    assert "needs --model NAME" in planeval(*argv).stderr
    assert "needs -o FOLDER" in planeval(*argv, "--model", "m").stderr
    done = planeval(*argv, "--dry-run", "--limit", "2")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    assert "2 samples, 2," in done.stderr
    assert json.loads(done.stdout.splitlines()[0])["sampling"] == {"temperature": 0.0, "max_tokens": 2048}


def test_a_wrong_key_is_told_once_and_costs_few_requests(server: ModelServer, tmp_path: Path) -> None:
    server.answers = [Answer({"error": {"message": "bad key sk-secret-of-mine"}}, status=401)]
    file = task_file(tmp_path / "tasks.jsonl", 50)
    done = planeval(
        "predict", file, "--model", "m", "--url", server.url, "-o", str(tmp_path / "run"), "--concurrency",
        "4"
    )  # fmt: skip
    assert done.returncode == 3
    assert len(server.bodies) <= 3 + 4
    assert "refused with status 401: bad key ***" in done.stderr
    assert "sk-secret" not in done.stderr + (tmp_path / "run" / "parts" / "journal.jsonl").read_text()


def perfect(samples: list[Sample], name: str) -> Callable[[list[Any], Any], Reply]:
    """A model that gives each sample's gold, in the form that the pipeline asks for."""
    gold = {sample.query: BENCHMARKS[name].gold_text(sample) for sample in samples}
    apps = {sample.query: sample.gold.get("used_app") for sample in samples if name == "appbench"}

    def answer(messages: list[Any], tools: Any) -> Reply:
        text = messages[-1]["content"]
        query = next(query for query in sorted(gold, key=len, reverse=True) if query in text)
        first = messages[0]["content"]
        if "Name at least one app" in first:
            return Reply(str(apps[query]))
        if "No parameters, no explanation" in text:
            return Reply(json.dumps(json.loads(gold[query] or "{}")["API"]))
        return Reply(gold[query] or "")

    return answer


@pytest.mark.parametrize(("name", "pipeline"), [
    ("appbench", "flat"), ("appbench", "hierarchical"), ("nestful", "flat"), ("callnavi", "flat"),
    ("callnavi", "route-then-fill")
])  # fmt: skip
def test_perfect_answers_are_perfect(name: str, pipeline: str, tmp_path: Path) -> None:
    samples = list(BENCHMARKS[name].read(SAMPLES / name))
    catalog = appbench_catalogue() if name == "appbench" else None
    model = Scripted(perfect(samples, name))
    pe.predict(SAMPLES / name, model, benchmark=name, pipeline=pipeline, catalog=catalog, out=tmp_path)
    report = pe.score_benchmark(tmp_path / "rows.jsonl", SAMPLES / name, name).reports["corrected"]
    figures = {figure.name: figure.value for figure in report.figures}
    assert not report_lacks(figures, name), figures


def report_lacks(figures: dict[str, Any], name: str) -> list[str]:
    """The main figures that are not perfect."""
    main = {
        "appbench": ("complete_match",),
        "nestful": ("percentage_times_full_score",),
        "callnavi": ("ast_overall",),
    }[name]
    return [key for key in main if float(figures.get(key) or 0) != 1]


def test_failed_requests_are_wrong_answers_in_the_denominator(tmp_path: Path) -> None:
    samples = list(BENCHMARKS["callnavi"].read(SAMPLES / "callnavi"))
    right = perfect(samples, "callnavi")

    def answer(messages: list[Any], tools: Any) -> Reply:
        if "Bo?" in messages[-1]["content"]:
            raise ModelError("gone")
        return right(messages, tools)

    pe.predict(SAMPLES / "callnavi", Scripted(answer), benchmark="callnavi", out=tmp_path)
    scored = pe.score_benchmark(tmp_path / "rows.jsonl", SAMPLES / "callnavi", "callnavi")
    assert scored.reports["corrected"].figure("ast_overall").value == pytest.approx(2 / 3)


def test_functionchat_s_turns_are_scored_as_messages(tmp_path: Path) -> None:
    samples = list(BENCHMARKS["functionchat"].read(SAMPLES / "functionchat"))
    calls = {json.dumps(list(s.extra["messages"])): s for s in samples}

    def answer(messages: list[Any], tools: Any) -> Reply:
        sample = calls[json.dumps(messages[1:])]
        gold = sample.gold if "tool_calls" in sample.gold else {"tool_calls": [{"function": sample.gold}]}
        if sample.extra["type_of_output"] != "call":
            return Reply("Which?")
        inner = gold["tool_calls"][0]["function"]
        return Reply("", (ToolCall("c", inner["name"], inner["arguments"]),))

    pe.predict(SAMPLES / "functionchat", Scripted(answer), benchmark="functionchat", out=tmp_path)
    scored = pe.score_benchmark(tmp_path / "rows.jsonl", SAMPLES / "functionchat", "functionchat")
    figures = {figure.name: figure for figure in scored.reports["corrected"].figures}
    assert figures["singlecall AVG"].numerator == 4


def test_complexeval_answers_a_model_step_by_step(tmp_path: Path) -> None:
    samples = list(BENCHMARKS["complexfuncbench"].read(SAMPLES / "complexfuncbench"))
    talks = {sample.query: [m for m in sample.gold if m["role"] == "assistant"] for sample in samples}
    seen: list[Any] = []

    def answer(messages: list[Any], tools: Any) -> Reply:
        turns = talks[messages[0]["content"]]
        turn = turns[sum(m["role"] == "assistant" for m in messages)]
        seen.extend(m["content"] for m in messages if m["role"] == "tool")
        if "function_call" not in turn:
            return Reply(turn["content"])
        made = [
            ToolCall(f"c{n}", c["name"], json.dumps(c["arguments"]))
            for n, c in enumerate(turn["function_call"])
        ]
        return Reply("", tuple(made))

    source = SAMPLES / "complexfuncbench"
    whole = [s for s in samples if talks[s.query] and "content" in talks[s.query][-1]]
    rows = pe.predict(
        source, Scripted(answer), benchmark="complexfuncbench", out=tmp_path, ids=[s.id for s in whole]
    )
    assert {row["stop"] for row in rows} <= {"answered", "over"}
    assert any("dest_id" in text for text in seen)
    scored = pe.score_benchmark(tmp_path / "rows.jsonl", source, "complexfuncbench")
    assert scored.reports["corrected"].figures
    assert [row["stop"] for row in rows].count("answered") >= 1


def test_complexeval_s_errors_go_back_to_the_model() -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        results = [m["content"] for m in messages if m["role"] == "tool"]
        if not results:
            return Reply("", (ToolCall("c", "Search_Hotel_Destination", '{"town": "Turku"}'),))
        return Reply(f"stop: {results[-1]}")

    (row,) = pe.predict(SAMPLES / "complexfuncbench", Scripted(answer), benchmark="complexfuncbench", limit=1)
    assert '"error"' in row["prediction"][-1]["content"]
    assert "query" in row["prediction"][-1]["content"]


def test_a_run_is_what_score_and_compare_read(tmp_path: Path) -> None:
    samples = list(BENCHMARKS["callnavi"].read(SAMPLES / "callnavi"))
    right, wrong, part = (str(tmp_path / name) for name in ("right", "wrong", "part"))
    how: dict[str, Any] = {"benchmark": "callnavi", "pipeline": "flat"}
    source = SAMPLES / "callnavi"
    pe.predict(source, Scripted(perfect(samples, "callnavi")), out=right, **how)
    pe.predict(source, Scripted(lambda messages, tools: Reply("[]")), out=wrong, **how)
    pe.predict(source, Scripted(perfect(samples, "callnavi")), out=part, limit=1, **how)
    done = planeval("score", right, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["benchmark"], found["records"], found["missing"]) == ("callnavi", len(samples), [])
    named = planeval("score", right, str(source), "--format", "json")
    assert named.stdout == done.stdout
    file = planeval(
        "score", f"{right}/rows.jsonl", str(source), "--benchmark", "callnavi", "--format", "json"
    )
    assert file.stdout == done.stdout
    few = planeval("score", part, "--format", "json")
    assert json.loads(few.stdout)["records"] == 1
    assert f"1 of {len(samples)} samples were asked; the others do not count" in few.stderr
    compared = planeval("compare", wrong, right)
    assert compared.returncode == 0, compared.stderr
    assert "right is better than wrong" in compared.stdout or "solved" in compared.stdout
    unlike = planeval("compare", right, part)
    assert (unlike.returncode, unlike.stdout) == (2, "")
    assert "part was not asked" in unlike.stderr
    kept = json.loads((tmp_path / "right" / "run.json").read_text())
    assert (kept["schema"], kept["kind"], kept["pairs"]) == ("planeval.run/1", "predict", len(samples))
    assert json.loads((tmp_path / "wrong" / "report.json").read_text())["answered"] == len(samples)


def test_a_run_over_tasks_of_one_s_own_is_scored_against_their_gold(tmp_path: Path) -> None:
    gold = '[{"name": "get_rate", "arguments": {"cur": "EUR"}}]'
    given = [task | {"gold": gold} for task in tasks(3)]
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in given), encoding="utf-8")

    def answer(messages: list[Any], tools: Any) -> Reply:
        assert "EUR" not in json.dumps(messages)
        return Reply(gold if "number 1" in messages[-1]["content"] else "[]")

    run = str(tmp_path / "run")
    pe.predict(str(file), Scripted(answer), out=run, limit=2)
    done = planeval("score", run, "--format", "json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert (figures["exact"]["value"], figures["exact"]["n"]) == (0.5, 2), figures["exact"]
    assert "2 of 3 gold plans were asked for" in done.stderr
    assert planeval("score", run, str(file), "--format", "json").stdout == done.stdout


def test_of_repeated_answers_the_first_counts_and_that_is_said(tmp_path: Path) -> None:
    gold = '[{"name": "get_rate", "arguments": {"cur": "EUR"}}]'
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps(task | {"gold": gold}) + "\n" for task in tasks(3)), encoding="utf-8")
    asked: Counter[str] = Counter()

    def answer(messages: list[Any], tools: Any) -> Reply:
        asked[messages[-1]["content"]] += 1
        return Reply(gold if asked[messages[-1]["content"]] == 1 else "[]")

    run, nestful = str(tmp_path / "run"), str(tmp_path / "nestful")
    pe.predict(str(file), Scripted(answer), out=run, repeat=4, concurrency=1)
    done = planeval("score", run, "--format", "json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert (figures["exact"]["value"], figures["exact"]["n"]) == (1.0, 3)
    assert "3 samples asked 4 times; the first answer to each counts, 9 further ones not" in done.stderr
    compared = planeval("compare", run, run)
    assert compared.returncode == 0
    assert compared.stderr.count("9 further ones not") == 2
    pe.predict(SAMPLES / "nestful", Scripted(answer), benchmark="nestful", out=nestful, repeat=2)
    done = planeval("score", nestful)
    assert "3 samples asked 2 times; the first answer to each counts, 3 further ones not" in done.stderr


def test_a_run_that_cannot_be_scored_says_why(tmp_path: Path) -> None:
    model = Scripted(lambda messages, tools: Reply("x"))
    run = tmp_path / "run"
    pe.predict(tasks(2), model, out=run)
    done = planeval("score", str(run))
    assert (done.returncode, done.stdout) == (2, "")
    assert "its samples came from no file: name the gold" in done.stderr
    (run / "rows.jsonl").unlink()
    done = planeval("score", str(run), "data/samples/callnavi")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the run is not done" in done.stderr


def test_parameters_are_said_to_be_an_object_where_the_catalog_leaves_that_out(tmp_path: Path) -> None:
    part = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tools = [
        {"name": "both", "description": "x", "parameters": {"allOf": [part]}},
        {"name": "led", "description": "x", "parameters": {"$ref": "#/$defs/p", "$defs": {"p": part}}},
        {"name": "none", "description": "x"},
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "a", "query": "?"}))
    argv = (str(tmp_path / "tasks.jsonl"), "--catalog", str(tmp_path / "tools.json"))
    done = planeval("predict", *argv, "--pipeline", "function-calling", "--dry-run")
    assert done.returncode == 0, done.stderr
    offered = [tool["function"]["parameters"] for tool in json.loads(done.stdout)["tools"]]
    assert [each["type"] for each in offered] == ["object"] * 3
    assert offered[0]["allOf"] == [part]


def busy(times: int, pause: str) -> Callable[[dict[str, Any], int], Answer]:
    """The first requests are too many."""
    return lambda body, number: (
        Answer({"error": "busy"}, status=429, headers={"Retry-After": pause})
        if number < times
        else echo(body, 0)
    )


def test_a_wait_that_the_server_asks_for_is_told(server: ModelServer, tmp_path: Path) -> None:
    server.script = busy(3, "2")
    argv = ["predict", task_file(tmp_path / "tasks.jsonl", 3), "--model", "m", "--url", server.url]
    done = planeval(*argv, "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    first, last = done.stderr.splitlines()
    assert re.fullmatch(
        r"0 of 3 samples, 1 request waits, [23] s at most \(status 429\), 1 answer of 429 so far", first
    )
    assert last == "the server said 3 times that there were too many requests (429): see --concurrency"
    server.bodies.clear()
    shown = on_terminal(*argv, "-o", str(tmp_path / "other"), OPENAI_API_KEY="k", COLUMNS="120").err
    assert "0 of 3 samples, 3 requests wait, " in shown
    assert "3 answers of 429 so far" in shown


def test_the_deadline_holds_while_the_server_asks_to_wait(server: ModelServer, tmp_path: Path) -> None:
    server.script = busy(99, "50")
    file, run = task_file(tmp_path / "tasks.jsonl", 2), tmp_path / "run"
    begun = time.monotonic()
    done = planeval(
        "predict", file, "--model", "m", "--url", server.url, "-o", str(run), "--deadline", "2"
    )  # fmt: skip
    assert time.monotonic() - begun < 20
    assert done.returncode == 3
    assert "s at most (status 429), 1 answer of 429 so far" in done.stderr
    assert "gave no answer within 2 seconds in all; before: status 429" in done.stderr
    assert len(server.bodies) == 2
