"""A judge on the command line: which prompts it is asked with, and what its silence costs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError, JudgeError
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.llm import JudgeRequest, ScriptedJudge
from planner_eval.llm.templates import Prompted, PromptFile, fill, read_templates
from planner_eval.verbs.benchmark import score_benchmark
from tests import inside
from tests.conftest import ROOT
from tests.test_judge import ASK, Server, completion, endpoint, server

__all__ = ("server",)  # a fixture

SAMPLES = ROOT / "data" / "samples"
OWN = "judged with own prompts, not the published ones"


def asking(name: str) -> tuple[str, ...]:
    return (str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)


def planeval(*argv: str, command: str = "score") -> subprocess.CompletedProcess[str]:
    return inside.planeval(command, *argv, OPENAI_API_KEY="key")


def judged(name: str, server: Server, *more: str) -> subprocess.CompletedProcess[str]:
    return planeval(*asking(name), "--judge", "m", "--judge-url", server.url, *more)


@pytest.fixture
def rubrics(tmp_path: Path) -> Path:
    """Prompts of our own making under the published names."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    for kind in ("call", "completion", "slot", "relevance"):
        more = " A={acceptable_arguments}" if kind == "call" else ""
        text = f"\n{kind}: T={{tools}} Q={{query}} G={{ground_truth}}{more} R={{response}}, {{other}} {{}}\n"
        (folder / f"rubric_{kind}.txt").write_text(text, encoding="utf-8")
    return folder


def test_own_prompts_say_so(server: Server) -> None:
    done = judged("functionchat", server)
    assert done.returncode == 0
    assert OWN in done.stdout
    assert OWN in done.stderr
    assert [message["role"] for message in server.bodies[0]["messages"]] == ["system", "user"]
    assert json.loads(judged("functionchat", server, "--format", "json").stdout)["prompts"] == OWN[12:]


def test_a_folder_of_prompts_is_asked_with(server: Server, rubrics: Path) -> None:
    done = judged("functionchat", server, "--prompts", str(rubrics))
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


def test_prompts_beside_the_data_are_used_and_a_clone_is_a_folder(
    server: Server, rubrics: Path, tmp_path: Path
) -> None:
    data = tmp_path / "clone" / "data"
    data.mkdir(parents=True)
    for file in (*(SAMPLES / "functionchat").iterdir(), *rubrics.iterdir()):
        (data / file.name).write_bytes(file.read_bytes())
    answers = str(SAMPLES / "answers" / "functionchat.jsonl")
    common = ("--benchmark", "functionchat", "--judge", "m", "--judge-url", server.url)
    beside = planeval(answers, str(data), *common)
    assert f"judged with the prompts of {data}, " in beside.stderr
    clone = planeval(*asking("functionchat"), *common[2:], "--prompts", str(tmp_path / "clone"))
    assert f"judged with the prompts of {tmp_path / 'clone'}, " in clone.stderr
    (data / "rubric_slot.txt").unlink()
    assert OWN in planeval(answers, str(data), *common).stderr


def test_the_published_prompts_are_known_by_their_checksums(reference: Path) -> None:
    found = score_benchmark(
        *asking("functionchat")[:2],
        "functionchat",
        judge=ScriptedJudge(lambda request: "pass\npass"),
        prompts=reference / "prompts" / "functionchat",
    )
    names = "rubric_call.txt, rubric_completion.txt, rubric_slot.txt, rubric_relevance.txt"
    assert found.prompts == f"the published prompts ({names})"


@pytest.mark.parametrize(("change", "said"), [
    (lambda folder: (folder / "rubric_slot.txt").unlink(), "has no file rubric_slot.txt: expected it"),
    (lambda folder: (folder / "rubric_slot.txt").write_text("{tools} {query}"), "lacks {ground_truth}"),
    (lambda folder: (folder / "rubric_slot.txt").write_bytes(b"\xff\xfe"), "is no UTF-8 text"),
    (lambda folder: (folder / "rubric_slot.txt").write_bytes(b"x" * 2**21), "larger than")
])  # fmt: skip
def test_a_prompt_that_is_none_is_named(rubrics: Path, change: Any, said: str) -> None:
    change(rubrics)
    done = planeval(*asking("functionchat"), "--judge", "m", "--prompts", str(rubrics))
    assert (done.returncode, done.stdout) == (2, "")
    assert "rubric_slot.txt" in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_folder_of_prompts_is_refused() -> None:
    done = planeval(*asking("functionchat"), "--judge", "m", "--prompts", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere is no folder, expected one of prompts" in done.stderr
    with pytest.raises(InputError, match="there is none"):
        score_benchmark(*asking("functionchat")[:2], "functionchat", prompts="nowhere")


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
    score_benchmark(broken, gold, name, judge=ScriptedJudge(answer), prompts=tmp_path)
    assert asked
    for request in asked:
        (role, text), *rest = request.messages
        assert (role, rest) == ("user", [])
        fields = wanted()[request.task].fields
        assert len(text.split("\0")) == len(fields)
        assert not any(f"{{{field}}}" in text for field in fields)


def test_what_is_filled_in_is_never_looked_at_again() -> None:
    assert fill("{a}{b}{a}", {"a": "{b}", "b": "{a}"}) == "{b}{a}{b}"
    asked: list[JudgeRequest] = []
    inner = ScriptedJudge(lambda request: asked.append(request) or "pass")
    request = JudgeRequest("t", (("user", "own"),), fields=(("a", "1"),))
    Prompted(inner, {}).ask(request)
    assert asked == [request]


def test_fields_are_no_part_of_a_question(tmp_path: Path) -> None:
    from planner_eval.llm import request_key

    assert request_key(JudgeRequest("t", (), fields=(("a", "1"),))) == request_key(JudgeRequest("t", ()))
    (tmp_path / "x.txt").write_text("{a}")
    assert read_templates(tmp_path, {"t": PromptFile("deep/x.txt", ("a",))})["t"].text == "{a}"


REFUSED = (401, b'{"error": {"message": "no such key"}}', {})


@pytest.mark.parametrize("name", ["callnavi", "complexfuncbench", "functionchat"])
@pytest.mark.parametrize("form", ["text", "json", "csv", "junit"])
def test_a_judge_that_answers_nothing_is_an_error(server: Server, name: str, form: str) -> None:
    server.will(REFUSED)
    done = judged(name, server, "--format", form)
    assert done.returncode == 3
    assert done.stdout
    (said,) = [line for line in done.stderr.splitlines() if "did not answer" in line]
    assert 1 <= len(server.bodies) <= 3
    assert re.search(r"the judge did not answer (\d+) of \1 question", said)
    assert "refused with status 401" in said


def test_a_judge_that_answers_some_makes_a_figure_that_is_not_the_one_asked_for(server: Server) -> None:
    server.will(completion(), REFUSED)
    done = judged("functionchat", server)
    assert done.returncode == 1
    assert "the judge did not answer 3 of 4 questions, and what is judged is not what" in done.stderr


def test_a_system_compared_without_its_judge_is_an_error(server: Server) -> None:
    server.will(REFUSED)
    answers, gold, *named = asking("functionchat")
    common = ("--gold", gold, *named, "--judge", "m", "--judge-url", server.url)
    done = planeval(answers, answers, *common, command="compare")
    assert done.returncode == 3
    assert "did not answer 8 of 8 questions" in done.stderr
    server.will(completion())
    done = planeval(answers, answers, *common, command="compare")
    assert done.returncode == 0
    assert "judged with own prompts" in done.stdout


def test_a_cache_that_is_none_is_refused_before_the_work(tmp_path: Path) -> None:
    text = tmp_path / "notes.sqlite"
    text.write_text("no database, but long enough to be looked at " * 40)
    for more in (("--judge-cache", str(text)), ("--judge-cache", str(text), "--replay")):
        done = planeval(*asking("functionchat"), "--judge", "m", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"planeval: {text}: not a usable cache of answers" in done.stderr
    done = planeval(*asking("functionchat"), "--judge", "m", "--judge-cache", "no.sqlite", "--replay")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no.sqlite: no such cache of answers" in done.stderr


def test_a_replay_that_lacks_answers_is_no_whole_figure(server: Server, tmp_path: Path) -> None:
    cache = str(tmp_path / "c.sqlite")
    answers, gold, *named = asking("functionchat")
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(Path(answers).read_text(encoding="utf-8").splitlines()[:1]), encoding="utf-8")
    filled = planeval(
        str(few), gold, *named, "--judge", "m", "--judge-url", server.url, "--judge-cache", cache
    )
    assert filled.returncode == 0
    done = planeval(answers, gold, *named, "--judge", "m", "--judge-cache", cache, "--replay")
    assert done.returncode in (1, 3)
    assert "has no answer to a request" in done.stderr


@pytest.fixture
def lost() -> Iterator[Server]:
    pytest.importorskip("openai", reason="the judge extra is not installed")
    server = Server()
    server.http.server_close()
    return server


def test_a_judge_that_is_not_there_is_asked_one_question(lost: Server) -> None:
    judge, pauses = endpoint(lost)
    with pytest.raises(JudgeError, match="was asked 4 times: no connection"):
        judge.ask(ASK)
    for _ in range(5):
        with pytest.raises(JudgeError, match="is not asked any more: nobody answered before"):
            judge.ask(ASK)
    assert len(pauses) == 3


def test_a_judge_that_answered_before_is_asked_three(server: Server) -> None:
    judge, pauses = endpoint(server, timeout=0.05, retries=1)
    server.delay = 0.0
    assert judge.ask(ASK).text == "pass"
    server.delay = 0.3
    for _ in range(3):
        with pytest.raises(JudgeError, match="no answer within"):
            judge.ask(ASK)
    with pytest.raises(JudgeError, match="is not asked any more"):
        judge.ask(ASK)
    assert len(pauses) == 3


def test_a_server_that_says_something_is_asked_on_three_times(server: Server) -> None:
    server.will(503)
    judge, pauses = endpoint(server, retries=1)
    for _ in range(4):
        with pytest.raises(JudgeError, match="status 503"):
            judge.ask(ASK)
    assert len(pauses) == 3
