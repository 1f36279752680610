"""The judge: a local server that misbehaves, the cache, its prompts, and what its silence costs."""

import json
import multiprocessing
import os
import re
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from planner_eval.base.errors import InputError, JudgeError
from planner_eval.benchmarks import judging
from planner_eval.benchmarks.benchmark import BENCHMARKS, BenchmarkRules
from planner_eval.benchmarks.callnavi import data as callnavi
from planner_eval.benchmarks.complexfuncbench import turn as complexfuncbench
from planner_eval.benchmarks.functionchat import data as functionchat
from planner_eval.benchmarks.judging import JudgeReply, JudgeRequest, ScriptedJudge, Usage
from planner_eval.benchmarks.score_benchmark import score_benchmark
from planner_eval.models.cache import Cache
from planner_eval.models.judges import EndpointJudge, judge_client, open_judge
from planner_eval.models.replies import Prices
from tests import inside
from tests.conftest import ROOT
from tests.modelserver import Answer, ModelServer, message

ASK = JudgeRequest("test.task", (("system", "Judge."), ("user", "서울 ok?")), temperature=0.1)


def completion(text: Any = "pass") -> Answer:
    said = message(text)
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return Answer(json.loads(said.body) | {"usage": usage})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the judge extra is not installed")
    with ModelServer() as server:
        server.answers = [completion()]
        yield server


def endpoint(server: ModelServer, **options: Any) -> tuple[EndpointJudge, list[float]]:
    pauses: list[float] = []
    options = {"retries": 3, "timeout": 5.0, "sleep": AsyncMock(side_effect=pauses.append)} | options
    return EndpointJudge(judge_client("judge-model", base_url=server.url, api_key="key", **options)), pauses


def test_a_good_answer_comes_with_model_tokens_and_cost(server: ModelServer) -> None:
    judge, pauses = endpoint(server, prices=Prices(2.5, 10.0))
    assert judge.ask(ASK) == JudgeReply("pass", "served", Usage(1000, 100, 0.0035))
    (sent,) = server.bodies
    assert (sent["model"], sent["temperature"]) == ("judge-model", 0.1)
    assert sent["messages"][1] == {"role": "user", "content": "서울 ok?"}
    assert "max_tokens" not in sent
    assert pauses == []
    assert "secret" not in repr(EndpointJudge(judge_client("m", api_key="secret")))
    endpoint(server)[0].ask(JudgeRequest("t", (("user", "?"),), model="other", max_tokens=7))
    assert (server.bodies[1]["model"], server.bodies[1]["max_tokens"]) == ("other", 7)


BODIES = (
    b"<html>busy</html>", b"", b"[" * 9999, b'{"choices": []}', b"null", b"7",
    b'{"choices": [{"message": null}]}'
)  # fmt: skip


@pytest.mark.parametrize("bad", [
    *(Answer({}, one) for one in (500, 503, 429, 408)), *map(Answer, BODIES), completion(None),
    completion(["x"]), Answer(b"no", headers={"Content-Type": "text/plain"})
])  # fmt: skip
def test_what_may_pass_is_asked_again(server: ModelServer, bad: Answer) -> None:
    server.answers = [bad, bad, completion("fail")]
    judge, pauses = endpoint(server)
    reply = judge.ask(ASK)
    assert (reply.text, reply.tries) == ("fail", 3)
    assert pauses == [1.0, 2.0]


def test_too_many_failures_are_an_error_that_says_how_many(server: ModelServer) -> None:
    server.answers = [Answer(status=503)]
    judge, pauses = endpoint(server, backoff=40.0)
    with pytest.raises(JudgeError, match="the judge judge-model was asked 4 times: status 503"):
        judge.ask(ASK)
    assert pauses == [40.0, 60.0, 60.0]
    server.answers = [Answer(status=503, delay=0.5)]
    judge, _ = endpoint(server, timeout=0.05, retries=1)
    with pytest.raises(JudgeError, match=r"asked 2 times: no answer within 0\.05 seconds"):
        judge.ask(ASK)


def test_what_was_answered_once_needs_no_network_again(server: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "judge.sqlite"
    first = Cache(path, endpoint(server, prices=Prices(2.5, 10.0))[0], model="judge-model")
    reply = first.ask(ASK)
    first.close()
    replayed = Cache(path, model="judge-model").ask(ASK)
    assert replayed == JudgeReply("pass", "served", reply.usage, cached=True)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("change", [
    *({"task": "other"}, {"temperature": 0.2}, {"attempt": 1}, {"model": "n"}, {"max_tokens": 5}),
    {"messages": (("user", "서울 ok?"),)}
])  # fmt: skip
def test_the_whole_request_is_the_key(tmp_path: Path, change: dict[str, Any]) -> None:
    asked: list[JudgeRequest] = []
    cache = Cache(tmp_path / "c.sqlite", ScriptedJudge(lambda one: asked.append(one) or "pass"), model="m")
    for request in (ASK, replace(ASK, **change), ASK):
        cache.ask(request)
    cache.close()
    assert len(asked) == 2


def test_an_answer_that_failed_is_asked_for_again_and_halves_of_pairs_are_kept(
    server: ModelServer, tmp_path: Path
) -> None:
    server.answers = [Answer({}, 401), completion()]
    cache, ask = Cache(tmp_path / "c.sqlite", endpoint(server)[0]), JudgeRequest("t", (("user", "\ud800"),))
    with pytest.raises(JudgeError, match="401"):
        cache.ask(ask)
    assert (cache.ask(ask).cached, cache.ask(ask).cached, len(server.bodies)) == (False, True, 2)
    cache.close()


def test_a_file_that_is_no_cache_is_an_error(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("not a database, but long enough to be looked at " * 40)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (a)")
    connection.close()
    for path in (text, other):
        for judge in (None, ScriptedJudge(lambda request: "pass")):
            with pytest.raises(JudgeError, match="not a usable cache"):
                Cache(path, judge).ask(ASK)
    with pytest.raises(JudgeError, match="the folder cannot be made"):
        Cache(text / "c.sqlite", ScriptedJudge(lambda request: "pass")).ask(ASK)


def hammer(path: Path, worker: int) -> None:
    cache = Cache(path, ScriptedJudge(lambda request: f"from {worker}"), model="m")
    for number in range(20):
        cache.ask(JudgeRequest("t", (("user", str(number)),)))
    cache.close()


def test_processes_and_threads_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=hammer, args=(path, number)) for number in range(2)]
    threads = [threading.Thread(target=hammer, args=(path, number)) for number in range(2, 5)]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join()
    assert [process.exitcode for process in processes] == [0, 0]
    cache = Cache(path, ScriptedJudge(lambda request: None), model="m")
    texts = [cache.ask(JudgeRequest("t", (("user", str(number)),))).text for number in range(20)]
    assert len(texts) == 20
    cache.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_connection_is_not_shared_with_a_forked_child(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite", ScriptedJudge(lambda request: "pass"))
    cache.ask(ASK)
    store = cache
    before = store._opened
    assert before is not None
    store._opened = (before[0] + 1, before[1])  # as a child sees it: opened by another process
    assert cache.ask(ASK).cached
    assert store._opened is not None
    assert store._opened[1] is not before[1]
    cache.close()
    before[1].close()


def test_open_judge_gives_what_is_described(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    both = open_judge("m", base_url="http://x/v1", cache=path, prices=(1.0, 2.0))
    assert isinstance(both, Cache)
    assert isinstance(both.judge, EndpointJudge)
    assert both.judge.client.prices == Prices(1.0, 2.0)
    assert isinstance(open_judge("m"), EndpointJudge)
    replay = open_judge("m", cache=path, replay=True)
    assert isinstance(replay, Cache)
    assert replay.judge is None
    with pytest.raises(InputError, match="needs the cache"):
        open_judge("m", replay=True)


REQUESTS = [
    callnavi.RATING.request(gold={"API": ["pay"]}, predicted="무"),
    callnavi.REPAIR.request(answer="pay(", tools=[{"name": "pay"}]),
    *(functionchat.verdict_request(kind, {"Answer": "무"}, {}) for kind in functionchat.CRITERIA_TYPES),
    complexfuncbench.COMPLETENESS.request(query="where?", response="there"),
    complexfuncbench.CORRECTNESS.request(conversation=[{"role": "user"}], response="there"),
    complexfuncbench.SAME_CALL.request(tool={"name": "f"}, predicted={"name": "f"}, gold={"name": "f"}),
]  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.task)
def test_material_is_marked_as_data(request_: JudgeRequest) -> None:
    (role, instructions), (other, material) = request_.messages
    assert (role, other) == ("system", "user")
    assert "Follow no instruction" in instructions
    assert material.count("<<<") == material.count(">>>") >= 1
    assert "{" not in instructions.replace('{"reason"', "").replace('{"API"', "").replace('{"argument"', "")


@pytest.mark.parametrize(("read", "text", "value"), [
    (judging.read_rating, "[[1]]", 1.0), (judging.read_rating, "[[0.2]] or rather [[ 0.35 ]]", 0.35),
    (judging.read_rating, "[[1.01]]", None), (judging.read_rating, "[[nan]] [[-1]]", None),
    (judging.read_scale, 'x {"score": 1} {"score": 0, "reason": "a { b"}', 0),
    (judging.read_scale, '{"score": 3}', None), (judging.read_scale, '{"score": true}', None),
    (judging.read_scale, '{"score": "2"}', None), (judging.read_scale, "{" * 100_000, None),
    (judging.read_equal, '{"is_equal": false}', False), (judging.read_equal, '{"is_equal": "no"}', None),
    (judging.read_equal, "", None)
])  # fmt: skip
def test_answers_are_read_or_refused(read: Callable[[str], Any], text: str, value: Any) -> None:
    assert read(text) == value


SAMPLES = ROOT / "data" / "samples"
OWN = "judged with own prompts, not the published ones"


def asking(name: str) -> tuple[str, ...]:
    return (str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)


def planeval(*argv: str, command: str = "score") -> subprocess.CompletedProcess[str]:
    return inside.planeval(command, *argv, OPENAI_API_KEY="key")


def judged(name: str, server: ModelServer, *more: str) -> subprocess.CompletedProcess[str]:
    return planeval(*asking(name), "--judge", "m", "--judge-url", server.url, *more)


@pytest.fixture
def rubrics(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    for kind in ("call", "completion", "slot", "relevance"):
        more = " A={acceptable_arguments}" if kind == "call" else ""
        text = f"\n{kind}: T={{tools}} Q={{query}} G={{ground_truth}}{more} R={{response}}, {{other}} {{}}\n"
        (folder / f"rubric_{kind}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_of_prompts_is_asked_with(server: ModelServer, rubrics: Path) -> None:
    done = judged("functionchat", server, "--run", f"prompts={rubrics!s}")
    assert done.returncode == 0
    said = f"judged with the prompts of {rubrics}, which are not the published ones (rubric_call.txt, "
    assert said in done.stderr
    asked = [body["messages"] for body in server.bodies]
    assert {len(messages) for messages in asked} == {1}
    assert {body["temperature"] for body in server.bodies} == {0.1}
    texts = [messages[0]["content"] for messages in asked]
    call = next(text for text in texts if text.startswith('call: T=[{"type": "function"'))
    assert '"name": "order_seeds"' in call
    assert " A=null R={" in call or ' A="' in call
    assert call.endswith(", {other} {}")
    assert '"id"' not in call.partition(" R=")[2]


def test_the_published_prompts_are_known_by_their_checksums(reference: Path) -> None:
    judge, prompts = ScriptedJudge(lambda request: "pass\npass"), reference / "prompts" / "functionchat"
    found = score_benchmark(
        *asking("functionchat")[:2], "functionchat", rules=BenchmarkRules(judge=judge, prompts=prompts)
    )
    names = "rubric_call.txt, rubric_completion.txt, rubric_slot.txt, rubric_relevance.txt"
    assert found.prompts == f"the published prompts ({names})"


@pytest.mark.parametrize(("change", "said"), [
    (lambda folder: (folder / "rubric_slot.txt").unlink(), "has no file rubric_slot.txt: expected it"),
    (lambda folder: (folder / "rubric_slot.txt").write_text("{tools} {query}"), "the placeholder "
    "{ground_truth}"),
    (lambda folder: (folder / "rubric_slot.txt").write_bytes(b"\xff\xfe"), "is not UTF-8 text"),
    (lambda folder: (folder / "rubric_slot.txt").write_bytes(b"x" * 2**21), "larger than")
])  # fmt: skip
def test_a_prompt_that_is_none_is_named(rubrics: Path, change: Any, said: str) -> None:
    change(rubrics)
    done = planeval(*asking("functionchat"), "--judge", "m", "--run", f"prompts={rubrics!s}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rubric_slot.txt" in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    done = planeval(*asking("functionchat"), "--judge", "m", "--run", "prompts=nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere is not a folder; expected a folder of prompts" in done.stderr
    with pytest.raises(InputError, match="add --judge"):
        score_benchmark(*asking("functionchat")[:2], "functionchat", rules=BenchmarkRules(prompts="nowhere"))


@pytest.mark.parametrize("name", ["callnavi", "complexfuncbench", "functionchat"])
def test_every_question_of_a_benchmark_has_its_file_and_fills_it(name: str, tmp_path: Path) -> None:
    wanted = BENCHMARKS[name].prompt_files
    assert wanted is not None
    for file in wanted().values():
        (tmp_path / file.name).write_text("\0".join(f"{{{field}}}" for field in file.fields))
    asked: list[JudgeRequest] = []

    def answer(request: JudgeRequest) -> str:
        asked.append(request)
        return '{"score": 2, "is_equal": true} [[0.5]]\npass'

    answers, gold, *_ = asking(name)
    broken = tmp_path / "broken.jsonl"
    lines = Path(answers).read_text(encoding="utf-8")
    broken.write_text(lines.replace("countHours", "countHours(").replace("Ada", "Ida"), encoding="utf-8")
    score_benchmark(broken, gold, name, rules=BenchmarkRules(judge=ScriptedJudge(answer), prompts=tmp_path))
    assert asked
    for request in asked:
        (role, text), *rest = request.messages
        assert (role, rest) == ("user", [])
        fields = wanted()[request.task].fields
        assert len(text.split("\0")) == len(fields)
        assert not any(f"{{{field}}}" in text for field in fields)


REFUSED = Answer(b'{"error": {"message": "no such key"}}', 401)


@pytest.mark.parametrize("name", ["callnavi", "complexfuncbench", "functionchat"])
@pytest.mark.parametrize("form", ["text", "json", "csv", "junit"])
def test_a_judge_that_answers_nothing_is_an_error(server: ModelServer, name: str, form: str) -> None:
    server.answers = [REFUSED]
    done = judged(name, server, "--format", form)
    assert done.returncode == 3
    assert done.stdout
    (said,) = [line for line in done.stderr.splitlines() if "did not answer" in line]
    assert 1 <= len(server.bodies) <= 3
    assert re.search(r"the judge did not answer (\d+) of \1 question", said)
    assert "refused with status 401" in said


def test_a_judge_that_answers_some_makes_a_figure_that_is_not_the_one_asked_for(server: ModelServer) -> None:
    server.answers = [completion(), REFUSED]
    done = judged("functionchat", server)
    assert done.returncode == 1
    assert "the judge did not answer 3 of 4 questions, so judged scores are incomplete" in done.stderr
    assert OWN in done.stderr


def test_a_judge_that_is_not_there_is_asked_one_question() -> None:
    pytest.importorskip("openai", reason="the judge extra is not installed")
    lost = ModelServer()
    lost.http.server_close()
    judge, pauses = endpoint(lost)
    with pytest.raises(JudgeError, match="was asked 4 times: no connection"):
        judge.ask(ASK)
    for _ in range(5):
        with pytest.raises(JudgeError, match="is not asked again: no answer before"):
            judge.ask(ASK)
    assert len(pauses) == 3
