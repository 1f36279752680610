"""planeval predict: answers that are cut or refused, calls beside words, and what gold may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.modelserver import Answer, ModelServer, message
from tests.test_predict import planeval

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [
    {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS},
    {"name": "get_time", "description": "The time.", "parameters": PARAMETERS},
]
CITIES = ("Rome", "Oslo", "Bonn")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer() as server:
        yield server


def calls(city: str, name: str = "get_weather") -> list[dict[str, Any]]:
    return [{"name": name, "arguments": {"city": city}}]


def tasks(path: Path, **more: Any) -> str:
    return written(
        path,
        [
            {"id": f"t{n}", "query": f"Weather in {city}?", "tools": TOOLS, "gold": calls(city)} | more
            for n, city in enumerate(CITIES)
        ],
    )


def written(path: Path, records: list[Any]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return str(path)


def city_of(body: dict[str, Any]) -> str:
    return next(city for city in CITIES if f"in {city}" in str(body["messages"][-1]["content"]))


def predicted(server: ModelServer, file: str, out: Path, *more: str) -> Any:
    return planeval("predict", file, "--model", "m", "--url", server.url, "-o", str(out), *more)


def figure(*argv: str) -> tuple[Any, dict[str, int]]:
    done = planeval("score", *argv, "--metric", "exact", "--format", "json")
    found = json.loads(done.stdout)
    states: dict[str, int] = {}
    for row in found["rows"]:
        states[row["state"]] = states.get(row["state"], 0) + 1
    return found["figures"]["exact"]["value"], states


def rows(out: Path) -> list[Any]:
    return [json.loads(line) for line in (out / "rows.jsonl").read_text("utf-8").splitlines()]


# ---------------------------------------------------------------- how answers end
@pytest.mark.parametrize("lost", ["]", ""])
def test_answers_cut_at_the_limit_are_wrong_as_they_are_in_files(
    server: ModelServer, tmp_path: Path, lost: str
) -> None:
    server.script = lambda body, n: message(
        json.dumps(calls(city_of(body))).removesuffix(lost), finish="length"
    )
    run = tmp_path / "run"
    done = predicted(server, tasks(tmp_path / "t.jsonl"), run)
    assert "0 answered, 3 cut; 3 requests" in done.stdout
    assert "again" not in done.stderr
    assert done.returncode == 3
    assert figure(str(run)) == (0.0, {"cut": 3})
    compared = planeval("compare", str(run), str(run), "--metric", "exact", "--format", "json")
    found = json.loads(compared.stdout)["figures"]["exact"]
    assert (found["first"], found["second"]) == (0.0, 0.0)
    assert "0.000" in planeval("table", str(run), "--metric", "exact").stdout
    before = (run / "rows.jsonl").read_bytes()
    assert "0 answered, 3 cut" in predicted(server, tasks(tmp_path / "t.jsonl"), run).stdout
    assert (len(server.bodies), (run / "rows.jsonl").read_bytes()) == (3, before)


@pytest.mark.parametrize("how", ["words", "parts", "filter"])
def test_refusals_are_told_apart_and_wrong_where_gold_calls_nothing(
    server: ModelServer, tmp_path: Path, how: str
) -> None:
    refusal = {"type": "refusal", "refusal": "I cannot help."}
    said: dict[str, Any] = {
        "words": {"content": None, "refusal": "I cannot help."},
        "parts": {"content": [refusal]},
        "filter": {"content": ""},
    }[how]
    finish = "content_filter" if how == "filter" else "stop"
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **said}}
    server.script = lambda body, n: Answer({"choices": [choice]})
    run = tmp_path / "run"
    done = predicted(server, tasks(tmp_path / "t.jsonl", gold=[]), run)
    assert "0 answered, 3 refused; 3 requests" in done.stdout
    assert "again" not in done.stderr
    assert figure(str(run)) == (0.0, {"refused": 3})
    if how != "filter":
        assert [row["requests"][0]["reply"]["refusal"] for row in rows(run)] == ["I cannot help."] * 3


def test_of_a_talk_with_tools_a_reply_that_is_cut_makes_no_answer(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body, n: message(
        "", [("get_weather", json.dumps({"city": city_of(body)}))], finish="length"
    )
    run = tmp_path / "run"
    done = predicted(server, tasks(tmp_path / "t.jsonl"), run, "--pipeline", "function-calling")
    assert "3 cut" in done.stdout
    assert figure(str(run)) == (0.0, {"cut": 3})


def test_a_benchmark_scores_a_cut_text_as_it_stands(server: ModelServer, tmp_path: Path) -> None:
    def script(finish: str) -> str:
        server.script = lambda body, n: message("['countHours']", finish=finish)
        out = tmp_path / finish
        predicted(
            server, "data/samples/callnavi", out, "--benchmark", "callnavi", "--pipeline", "route",
            "--id", "hr01",
        )  # fmt: skip
        return planeval("score", str(out)).stdout

    assert script("length") == script("stop")
    assert rows(tmp_path / "length")[0]["finish_reason"] == "length"


def test_flat_takes_the_calls_of_tool_calls_though_words_stand_beside_them(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body, n: message(
        "I will look that up for you.", [("get_weather", json.dumps({"city": city_of(body)}))]
    )
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run)
    assert figure(str(run)) == (1.0, {"same": 3})
    assert rows(run)[0]["requests"][0]["reply"]["text"] == "I will look that up for you."
