"""planeval predict --constrain: what is sent, what becomes of the answer, and what is part of the run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.models.pipelines.pipeline import Task
from planner_eval.models.pipelines.setup import Constraint, Setup, request_fields
from tests.conftest import tabled, tables
from tests.grammar_walk import GbnfWalk, SchemaWalk
from tests.modelserver import Answer, ModelServer, message
from tests.test_predict import here as planeval
from tests.test_predict import task_file

TABLES = tables(__file__)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer() as server:
        yield server


def wrapped(body: dict[str, Any], number: int) -> Answer:
    """What a server that keeps to the schema answers."""
    return message(json.dumps({"calls": [{"name": "now", "arguments": {}}]}))


def predict(server: ModelServer, tmp_path: Path, *more: str, out: str = "run", tasks: int = 2) -> Any:
    file = task_file(tmp_path / "tasks.jsonl", tasks)
    return planeval("predict", file, "--model", "m", "--url", server.url, "-o", str(tmp_path / out), *more)


def run(server: ModelServer, tmp_path: Path, *more: str, out: str = "run") -> list[dict[str, Any]]:
    done = predict(server, tmp_path, *more, out=out)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / out / "rows.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in rows.splitlines()]


def test_what_holds_the_answers_is_part_of_run_and_cache(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, number: message("[]")
    by = ("--cache", str(tmp_path / "kept.sqlite"), "--constrain", "grammar")
    for out, more, asked in (("run", (), 2), ("again", (), 2), ("other", ("--max-calls", "3"), 4)):
        run(server, tmp_path, *by, *more, out=out)
        assert len(server.bodies) == asked
    kept = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert kept["options"]["setup"]["constrain"] == {"by": "grammar", "server": "vllm", "max_calls": 8}
    assert predict(server, tmp_path, "--constrain", "schema").returncode == 2
    assert len(server.bodies) == 4


def test_what_is_no_whole_plan_is_refused_before_any_request(server: ModelServer, tmp_path: Path) -> None:
    for more, said in TABLES["what_is_no_whole_plan_is_refused_before_any_request"]:
        done = predict(server, tmp_path, "--constrain", "schema", *more, tasks=1)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    assert server.bodies == []


def test_a_schema_is_sent_and_its_object_taken_off(server: ModelServer, tmp_path: Path) -> None:
    server.script = wrapped
    rows = run(server, tmp_path, "--constrain", "schema", "--max-calls", "3")
    sent = server.bodies[0]["response_format"]
    assert sent["type"] == "json_schema"
    walk = SchemaWalk(json.dumps(sent["json_schema"]["schema"]))
    assert walk.schema["properties"]["calls"]["maxItems"] == 3
    assert [row["prediction"] for row in rows] == ['[{"name": "now", "arguments": {}}]'] * 2
    assert len({row["requests"][0]["constraint"] for row in rows}) == 1
    assert "maxItems" not in json.dumps(rows)


@tabled("name, way")
def test_a_grammar_is_sent_as_each_takes_it(server: ModelServer, tmp_path: Path, name: str, way: str) -> None:
    server.script = lambda body, number: message("[]")
    run(server, tmp_path, "--constrain", "grammar", "--server", name, "--dialect", "pythonic")
    found: Any = server.bodies[0]
    for step in way.split():
        found = found[step]
    assert GbnfWalk(found).takes("[]")
    assert not GbnfWalk(found).takes("[nosuch()]")


def test_nestful_and_appbench_are_held_to_their_own_notations() -> None:
    setup = Setup(constrain=Constraint("grammar", "llama.cpp", 3))
    tools = [{"name": "add", "parameters": {"a": {"type": "number"}}, "output_parameters": {"sum": {}}}]
    nestful = GbnfWalk(request_fields(Task("nestful", "?", (), tools), setup)["grammar"])
    assert nestful.takes('[{"name": "add", "label": "$var_1", "arguments": {"a": 1}}]')
    shown = {"apps": [{"app": "Trams", "apis": [{"name": "ride", "required_arguments": [{"name": "to"}]}]}]}
    appbench = GbnfWalk(request_fields(Task("appbench", "?", (), shown), setup)["grammar"])
    assert appbench.takes("Trams: [ride(#to='Elm Road')]")
    assert not appbench.takes("Hotels: [ride(#to='Elm Road')]")


def test_an_answer_that_is_cut_stays_as_it_is() -> None:
    class Cut:
        async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Any:
            from planner_eval.models.replies import Reply

            assert sampling["response_format"]["json_schema"]["strict"]
            return Reply('{"calls": [{"name": "now", "argu', finish_reason="length")

    task = {"id": "a", "query": "?", "tools": [{"name": "now", "description": "x"}]}
    rows = pe.predict([task], Cut(), setup=Setup(constrain=Constraint("schema")))
    assert rows[0]["prediction"] == '{"calls": [{"name": "now", "argu'
