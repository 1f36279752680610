"""planeval predict: many samples at once, a server that misbehaves, kills, resumed runs, and scores."""

import asyncio
import json
import random
import re
import shutil
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
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.models.judges import Endpoint
from planner_eval.models.predict.tasks import read_tasks
from planner_eval.models.replies import Reply, ToolCall
from tests import inside
from tests.conftest import ROOT, tabled, tables
from tests.modelserver import Answer, ModelServer, drip, half, hang_up, message
from tests.prediction_samples import OWN_TOOLS, appbench_catalogue
from tests.terminal import on_terminal

TABLES = tables(__file__)

SAMPLES = folder("data") / "samples"


def planeval(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    told = {"OPENAI_API_KEY": "sk-secret-of-mine", "COLUMNS": "110"} | environment
    return inside.planeval(*argv, cwd=ROOT, **told)


here = planeval


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


def task_file(path: Path, count: int, **more: Any) -> str:
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks(count, **more)), encoding="utf-8")
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


def test_rows_stand_in_the_order_of_samples(server: ModelServer, tmp_path: Path) -> None:
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
        assert [row["prediction"] for row in rows] == [f"answer of t{n}" for n in range(40)]
        found.append((out / "rows.jsonl").read_bytes())
    assert found[0] == found[1] == found[2]
    assert 5 < server.most_at_once <= 40


BAD: list[Callable[[], Answer]] = [
    lambda: Answer(status=429, headers={"Retry-After": "0.01"}), lambda: Answer(b"<html>", status=500),
    lambda: Answer(b'{"choices": [{"mess'), lambda: Answer(act=half), lambda: Answer(act=hang_up),
    lambda: Answer({"choices": []})
]  # fmt: skip


def test_a_server_that_misbehaves_is_asked_again(server: ModelServer, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def script(body: dict[str, Any], number: int) -> Answer:
        name = asked_of(body)
        seen[name] += 1
        turn = int(name[1:])
        return BAD[turn]() if seen[name] == 1 and turn < len(BAD) else echo(body, number)

    server.script = script
    done = asked(server, tmp_path, 7)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "7 samples asked with flat: 7 answered; 7 requests, 70 tokens in and 14 out" in done.stdout
    assert all(seen[f"t{n}"] == (2 if n < len(BAD) else 1) for n in range(7))


def asked(server: ModelServer, folder: Path, count: int, *more: str) -> subprocess.CompletedProcess[str]:
    file = task_file(folder / "tasks.jsonl", count)
    return planeval("predict", file, "--model", "m", "--url", server.url, "-o", str(folder / "run"), *more)


def test_what_failed_is_a_row_and_is_asked_again(server: ModelServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        refusal = Answer({"error": {"message": "context length exceeded: 9 tokens"}}, status=400)
        return {"t1": Answer(act=drip), "t2": refusal}.get(asked_of(body)) or echo(body, number)

    server.script = script
    done = asked(server, tmp_path, 4, "--run", "deadline=1")
    assert done.returncode == 1
    assert "4 samples asked with flat: 2 answered, 1 context, 1 transport" in done.stdout
    assert "--run budget=TOKENS offers only as many tools as fit" in done.stderr
    assert "context: t2: the model m refused with status 400: context length exceeded" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text().splitlines()]
    assert [(row["error"] or {}).get("code") for row in rows] == [None, "transport", "context", None]
    assert [row["prediction"] for row in rows] == ["answer of t0", "", "", "answer of t3"]
    server.script, before = echo, len(server.bodies)
    assert asked(server, tmp_path, 4, "--run", "deadline=1").returncode == 0
    assert sorted(map(asked_of, server.bodies[before:])) == ["t1", "t2"]


def test_what_a_lost_server_was_not_sent_comes_first(server: ModelServer, tmp_path: Path) -> None:
    ok, lost = message("ok").body, Answer(status=500, delay=0.03)
    server.script = lambda _, number: Answer(ok, delay=number / 10) if number < 6 else lost
    rows = pe.predict(tasks(40), "m", endpoint=Endpoint(server.url, retries=0), concurrency=7)
    assert sum((row["error"] or {}).get("code") == "transport" for row in rows) <= 8 + 6
    bad = {f"t{n}" for n in range(2, 12)}
    server.script = lambda body, n: Answer(status=500) if asked_of(body) in bad else echo(body, n)
    rows = pe.predict(tasks(20), "m", endpoint=Endpoint(server.url, retries=0), concurrency=1)
    codes = [(row["error"] or {}).get("code") for row in rows]
    assert codes == [None] * 2 + ["transport"] * 8 + ["unasked"] * 10
    how = ("--run", "retries=0", "--run", "concurrency=1")
    done = asked(server, tmp_path, 20, *how)
    assert "10 samples asked with flat: 2 answered, 8 transport; 2 requests" in done.stdout
    assert "10 samples not asked yet, which the same command asks first: t10: the model m is" in done.stderr
    scored = planeval("score", str(tmp_path / "run"), task_file(tmp_path / "gold.jsonl", 20, gold=[]))
    assert "10 of 20 gold plans were asked for; the others do not count" in scored.stderr
    assert "10 pairs: 2 same, 8 failed" in scored.stdout
    done = asked(server, tmp_path, 20, *how)
    assert "20 samples asked with flat: 10 answered, 10 transport" in done.stdout
    assert "not asked yet" not in done.stderr
    nestful, server.script = tmp_path / "nestful", None
    server.answers = [*[message("[]")] * 4, Answer(status=500)]
    run = ("--model", "m", "--url", server.url, "--repeat", "6", "-o", str(nestful), *how)
    planeval("predict", str(SAMPLES / "nestful"), "--benchmark", "nestful", "--pipeline", "flat", *run)
    scored = planeval("score", str(nestful))
    assert "the scores count the first answer, 9 further ones (8 incomplete) only in pass^k" in scored.stderr
    assert "12 trials of 3 tasks, 4 each" in scored.stdout


def test_money_is_counted_with_the_user_s_prices(server: ModelServer, tmp_path: Path) -> None:
    server.script = echo
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.m]\ninput = 2.5\noutput = 10\n")
    assert "cost" not in asked(server, tmp_path, 3).stdout
    done = asked(server, tmp_path, 3, "--prices", str(prices))
    assert "3 requests, 30 tokens in and 6 out, cost 0.000135" in done.stdout
    assert json.loads((tmp_path / "run" / "report.json").read_text())["cost"] == pytest.approx(0.000135)
    done = asked(server, tmp_path, 3, "--prices", str(prices), "--run", "router-model=n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "prices.toml has no price of the model 'n'; it has m" in done.stderr
    assert len(server.bodies) == 3


def test_the_router_s_tokens_have_its_own_price(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, number: (
        message('["getShift"]')
        if body["model"] == "small"
        else Answer({"choices": [{"message": {"content": "{}"}}]})
    )
    prices = tmp_path / "prices.json"
    costs = {"small": {"input": 1, "output": 0}, "large": {"input": 1e6, "output": 0}}
    prices.write_text(json.dumps({"models": costs}))
    done = planeval(
        "predict", *CALLNAVI, "--pipeline", "route-then-fill", "--model", "large",
        "--run", "router-model=small", "--url", server.url, "-o", str(tmp_path / "run"), "--id", "hr01",
        "--prices", str(prices),
    )  # fmt: skip
    said = "2 requests, at least 10 tokens in and 2 out, cost at least 0.00001"
    assert said in done.stdout, done.stderr
    assert "the server did not report all the tokens of 1 request, so the cost is higher" in done.stderr


def journal_replies(run: Path) -> int:
    try:
        return (run / "parts" / "journal.jsonl").read_bytes().count(b'"request"')
    except OSError:
        return 0


@pytest.mark.more
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_what_was_answered_is_not_asked_again(how: int, server: ModelServer, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        answer = echo(body, number)
        answer.delay = 0.03
        return answer

    server.script = script
    run = tmp_path / "run"
    argv = ["predict", task_file(tmp_path / "tasks.jsonl", 60), "--model", "m", "--url", server.url]
    argv += ["--concurrency", "4", "-o"]
    whole = [sys.executable, "-m", "planner_eval", *argv, str(run)]
    process = subprocess.Popen(whole, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while journal_replies(run) < 12 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    if how != signal.SIGKILL:
        assert process.returncode == 130
        assert re.search(r"interrupted after \d+ of 60 samples, .*; what was answered is kept in ", said)
        assert "the same command resumes from there" in said
    assert 12 <= len(server.bodies) < 60
    assert planeval(*argv, str(run)).returncode == 0
    counts = Counter(map(asked_of, server.bodies))
    assert set(counts) == {f"t{n}" for n in range(60)}
    assert sum(counts.values()) <= 60 + 4
    server.script, other = echo, tmp_path / "undisturbed"
    assert planeval(*argv, str(other)).returncode == 0
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
    how: Any = {"benchmark": "nestful", "pipeline": "react", "out": out, "limit": 1, "isolation": "inline"}
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
    with pytest.raises(InputError, match="the sample 't0' has changed"):
        pe.predict([tasks(1)[0] | {"query": "Something else?"}], model, out=tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds no run but other files, such as notes.txt"):
        pe.predict(tasks(2), model, out=tmp_path / "other")
    assert model.asked == 2


def test_a_row_says_what_was_asked_and_answered() -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        first = "Name at least one app" in messages[0]["content"]
        return Reply("Trams, Library" if first else "A: [b = c()]")

    how: dict[str, Any] = {"benchmark": "appbench", "catalog": appbench_catalogue(), "limit": 1}
    (row,) = pe.predict(SAMPLES / "appbench", Scripted(answer), **how)
    assert [request["stage"] for request in row["requests"]] == ["apps", "plan"]
    assert row["requests"][0]["sampling"] == {"temperature": 0.0, "max_tokens": 1024}
    assert row["requests"][1]["messages"][1]["content"] == "Which trams stop at Mill Lane after nine?"
    assert row["first_step_apps"] == ["Trams", "Library"]
    assert "timing" not in row
    (bare,) = pe.predict(tasks(1), Scripted(answer), messages=False)
    assert "messages" not in bare["requests"][0]
    assert len(bare["requests"][0]["prompt"]) == 32


def test_repetitions_are_rows_and_kept_apart(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, number: message(f"try {number}")
    endpoint = Endpoint(server.url, cache=tmp_path / "m.sqlite")
    rows = pe.predict(tasks(1), "m", endpoint=endpoint, repeat=3, concurrency=1)
    assert [(row["repetition"], row["prediction"]) for row in rows] == [(n, f"try {n}") for n in range(3)]
    replayed = pe.predict(tasks(1), "m", endpoint=endpoint._replace(replay=True), repeat=3)
    assert [row["prediction"] for row in replayed] == ["try 0", "try 1", "try 2"]
    assert len(server.bodies) == 3


def test_a_benchmark_counts_all_repetitions_and_says_what_they_cost(
    server: ModelServer, tmp_path: Path
) -> None:
    right = '{"API": ["countHours"], "parameters": [{"person": "Ada"}]}'
    replies = iter([right, "nothing", right])
    samples = ROOT / "data" / "samples" / "callnavi"
    asks = "How many hours did Ada work?"
    server.script = lambda body, _: message(next(replies) if asks in json.dumps(body) else "nothing")
    run = tmp_path / "run"
    asked = ("--model", "m", "--url", server.url, "--repeat", "3", "--concurrency", "1")
    ids = ("--id", "hr01", "--id", "hr02", "--id", "hr03")
    done = inside.planeval("predict", str(samples), "--benchmark", "callnavi", *asked, *ids, "-o", str(run))
    assert done.returncode == 0, done.stderr
    data = json.loads(inside.planeval("score", str(run), "--format", "json").stdout)
    passes = [round(k["pass^k"], 4) for k in data["trials"]["corrected"]["passes"]]
    rows = data["reports"]["corrected"]["rows"]
    assert (passes, [row["ok"] for row in rows if row["id"] == "hr01"]) == ([0.2222, 0.1111, 0.0], [True])
    costs = data["costs"]
    assert (costs["seconds"]["records"], costs["tokens"]["records"]) == (9, 9)
    assert costs["tokens"]["per_right"] == pytest.approx(costs["tokens"]["sum"] / 2)
    text = inside.planeval("score", str(run), "--fail-under", "pass^2=0.5")
    assert (text.returncode, "tasks right: always 0" in text.stdout) == (1, True)
    again = tmp_path / "again"
    shutil.copytree(run, again)
    (again / "timing.jsonl").write_text("no times")
    data = json.loads(inside.planeval("score", str(again), "--format", "json").stdout)
    assert data["costs"].keys() == {"input_tokens", "output_tokens", "tokens"}


def test_a_reply_that_trips_a_pipeline_is_that_sample_s_failure(tmp_path: Path) -> None:
    def answer(messages: list[Any], tools: Any) -> Reply:
        if "number 1" in messages[-1]["content"]:
            raise RecursionError("too deep")
        return Reply("\ud800" if "number 2" in messages[-1]["content"] else "fine")

    async def notebook() -> list[dict[str, Any]]:
        """It runs where a loop runs already."""
        return pe.predict(tasks(3), Scripted(answer), out=tmp_path)

    rows = asyncio.run(notebook())
    assert [row["prediction"] for row in rows] == ["fine", "", "\ud800"]
    assert rows[1]["error"] == {"code": "failed", "message": "RecursionError: too deep"}


def test_own_tasks_are_read_and_answers_in_them_are_not() -> None:
    talk = [{"role": "user", "content": "Roll."}, {"role": "assistant", "content": "gold!"}]
    found = read_tasks([{"messages": talk, "gold": "gold!"}, "plain words", {"id": 3, "input": "x"}])
    assert [sample.id for sample in found.samples] == ["task-1", "task-2", "3"]
    assert "gold!" not in repr(found)
    assert found.samples[0].query == "Roll."


def test_a_task_that_cannot_be_asked_is_a_row(tmp_path: Path) -> None:
    given = [*tasks(1), {"id": "empty", "tools": OWN_TOOLS}, {"id": "b", "query": "?", "tools": [{"no": 1}]}]
    rows = pe.predict(given, Scripted(lambda messages, tools: Reply("x")))
    assert [row["prediction"] for row in rows] == ["x", "", ""]
    assert "'empty' has no question" in rows[1]["error"]["message"]
    assert "'b'" in rows[2]["error"]["message"]


CALLNAVI = ("data/samples/callnavi", "--benchmark", "callnavi")


@tabled("argv, said")
def test_what_can_be_known_is_said_first(argv: list[str], said: str, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps(appbench_catalogue()))
    argv = [str(catalog) if one == "CATALOG" else one for one in argv]
    done = planeval("predict", *argv, "--model", "m", "-o", str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "run" / "parts" / "journal.jsonl").exists()


@pytest.mark.parametrize(("argv", "said"), TABLES["what_a_run_sets argv-said"])
@pytest.mark.parametrize("dry", [True, False])
def test_what_a_run_sets(dry: bool, argv: list[str], said: str, server: ModelServer, tmp_path: Path) -> None:
    file = task_file(tmp_path / "tasks.jsonl", 1)
    done = planeval("predict", file, "--dry-run", *argv) if dry else asked(server, tmp_path, 1, *argv)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in " ".join(done.stderr.split())
    assert not server.bodies
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "url", ["notaurl", "localhost:8000/v1", "http://", "ftp://a/v1", "http://a:b/v1", "http://[1"]
)
def test_an_address_that_is_none_is_not_asked(url: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = ["predict", task_file(tmp_path / "tasks.jsonl", 1), "--model", "m", "-o", str(run)]
    for done in (planeval(*argv, "--url", url), planeval(*argv, OPENAI_BASE_URL=url)):
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            f"'{url}' is not the address of a server: expected one like http://localhost:8000/v1"
            in done.stderr
        )
        assert not run.exists()


def test_a_wrong_key_is_told_once_and_costs_few_requests(server: ModelServer, tmp_path: Path) -> None:
    server.answers = [Answer({"error": {"message": "bad key sk-secret-of-mine"}}, status=401)]
    done = asked(server, tmp_path, 50, "--concurrency", "4")
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


@tabled("name, pipeline, figure")
def test_perfect_answers_are_perfect(name: str, pipeline: str, figure: str, tmp_path: Path) -> None:
    samples = list(BENCHMARKS[name].read(SAMPLES / name))
    catalog = appbench_catalogue() if name == "appbench" else None
    model = Scripted(perfect(samples, name))
    pe.predict(SAMPLES / name, model, benchmark=name, pipeline=pipeline, catalog=catalog, out=tmp_path)
    report = pe.score_benchmark(tmp_path / "rows.jsonl", SAMPLES / name, name).reports["corrected"]
    assert float(report.figure(figure).value or 0) == 1


def test_a_run_is_what_score_and_compare_read(tmp_path: Path) -> None:
    source = SAMPLES / "callnavi"
    samples = list(BENCHMARKS["callnavi"].read(source))
    right, wrong, part = (str(tmp_path / name) for name in ("right", "wrong", "part"))
    how: dict[str, Any] = {"benchmark": "callnavi", "pipeline": "flat"}
    pe.predict(source, Scripted(perfect(samples, "callnavi")), out=right, **how)
    pe.predict(source, Scripted(lambda messages, tools: Reply("[]")), out=wrong, **how)
    pe.predict(source, Scripted(perfect(samples, "callnavi")), out=part, limit=1, **how)
    done = planeval("score", right, "--format", "json")
    found = json.loads(done.stdout)
    assert (found["benchmark"], found["records"], found["missing"]) == ("callnavi", len(samples), [])
    rows_of = (f"{right}/rows.jsonl", str(source), "--benchmark", "callnavi")
    assert planeval("score", right, str(source), "--format", "json").stdout == done.stdout
    alone = planeval("score", *rows_of, "--format", "json")
    assert f"costs and trials are known to the run alone: score {right} for them" in alone.stderr
    other = json.loads(alone.stdout)
    for key in ("costs", "trials"):  # the run's folder alone says what its requests cost
        found.pop(key, None), other.pop(key, None)
    assert other == found
    few = planeval("score", part, "--format", "json")
    assert json.loads(few.stdout)["records"] == 1
    assert f"1 of {len(samples)} samples were asked; the others do not count" in few.stderr
    assert planeval("compare", wrong, right).returncode == 0
    unlike = planeval("compare", right, part)
    assert (unlike.returncode, unlike.stdout) == (2, "")
    assert "part was not asked" in unlike.stderr
    kept = json.loads((tmp_path / "right" / "run.json").read_text())
    assert (kept["schema"], kept["kind"], kept["pairs"]) == ("planeval.run/1", "predict", len(samples))
    assert json.loads((tmp_path / "wrong" / "report.json").read_text())["answered"] == len(samples)


def test_repeated_answers_are_trials(tmp_path: Path) -> None:
    gold = '[{"name": "get_rate", "arguments": {"cur": "EUR"}}]'
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps(task | {"gold": gold}) + "\n" for task in tasks(3)), encoding="utf-8")
    times: Counter[str] = Counter()

    def answer(messages: list[Any], tools: Any) -> Reply:
        assert "EUR" not in json.dumps(messages)
        times[messages[-1]["content"]] += 1
        return Reply(gold if times[messages[-1]["content"]] == 1 else "[]")

    run = str(tmp_path / "run")
    pe.predict(str(file), Scripted(answer), out=run, repeat=4, concurrency=1)
    done = planeval("score", run, "--format", "json")
    report = json.loads(done.stdout)
    exact = report["figures"]["exact"]
    assert (exact["value"], exact["n"]) == (0.25, 12)
    assert "not" not in done.stderr
    compared = planeval("compare", run, run)
    assert (compared.returncode, "pass^4" in compared.stdout) == (0, True)


def busy(body: dict[str, Any], number: int) -> Answer:
    later = Answer({"error": "busy"}, status=429, headers={"Retry-After": "2"})
    return later if number < 3 else echo(body, 0)


def test_a_wait_that_the_server_asks_for_is_told(server: ModelServer, tmp_path: Path) -> None:
    server.script = busy
    done = asked(server, tmp_path, 3)
    assert done.returncode == 0, done.stderr
    first, last = done.stderr.splitlines()
    said = r"0 of 3 samples, 1 request waits, [23] s at most \(status 429\), 1 answer of 429 so far"
    assert re.fullmatch(said, first)
    assert last == "the server answered 3 times: too many requests (429): lower --run concurrency=N"
    server.bodies.clear()
    argv = ["predict", str(tmp_path / "tasks.jsonl"), "--model", "m", "--url", server.url]
    shown = on_terminal(*argv, "-o", str(tmp_path / "other"), OPENAI_API_KEY="k", COLUMNS="120").err
    assert "0 of 3 samples, 3 requests wait, " in shown
    assert "3 answers of 429 so far" in shown
    server.bodies.clear()
    done = asked(server, tmp_path, 4, "--run", "deadline=1")
    assert "in total; before: status 429" in done.stderr
