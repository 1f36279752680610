"""planeval predict: answers that are cut or refused, calls beside words, and what gold may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.modelserver import Answer, ModelServer, message
from tests.test_predict import here as planeval

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


def made(city: str, name: str = "get_weather") -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps({"city": city})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


def talk(city: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"Time in {city}?"},
        made(city, "get_time"),
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "assistant", "content": "It is noon."},
        {"role": "user", "content": f"And the weather in {city}?"},
        made(city),
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ]


def recorded(path: Path, **more: Any) -> str:
    return written(
        path,
        [{"id": f"t{n}", "tools": TOOLS, "messages": talk(city)} | more for n, city in enumerate(CITIES)],
    )


def test_gold_of_a_recorded_conversation_is_what_the_prompt_leaves_out(
    server: ModelServer, tmp_path: Path
) -> None:
    file = recorded(tmp_path / "t.jsonl")
    shown = [json.loads(line) for line in planeval("predict", file, "--dry-run").stdout.splitlines()]
    assert [one["messages"][1:] for one in shown] == [talk(city)[:5] for city in CITIES]
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    run = tmp_path / "run"
    predicted(server, file, run)
    assert figure(str(run)) == (1.0, {"same": 3})
    compared = planeval("compare", str(run), str(run), "--metric", "exact", "--format", "json")
    assert json.loads(compared.stdout)["figures"]["exact"]["first"] == 1.0
    assert "1.000" in planeval("table", str(run), "--metric", "exact").stdout


@pytest.mark.parametrize("form", ["chat-jsonl", "tools-jsonl"])
def test_records_to_train_on_show_no_call_that_they_train_on(tmp_path: Path, form: str) -> None:
    file = recorded(tmp_path / "t.jsonl")
    done = planeval("data", "export", file, "--to", form)
    for line in done.stdout.splitlines():
        messages = json.loads(line)["messages"]
        assert "get_weather" not in json.dumps([one for one in messages[:-1] if one["role"] != "system"])
        assert json.dumps(messages[-1]).count("get_weather") == 1
        assert "get_time" not in json.dumps(messages[-1])
    assert done.stderr.startswith("3 of 3 samples written")


def test_a_conversation_that_shows_golds_call_is_refused(tmp_path: Path) -> None:
    shown = talk("Rome")[4:7]
    record = {"id": "a", "tools": TOOLS, "messages": shown, "gold": calls("Rome")}
    done = planeval("predict", written(tmp_path / "t.jsonl", [record]), "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "task 'a': its conversation shows the calls of its 'gold': get_weather" in done.stderr
    record["gold"] = calls("Rome", "get_time")
    assert planeval("predict", written(tmp_path / "t.jsonl", [record]), "--dry-run").returncode == 0


def test_a_conversation_that_is_shown_whole_has_no_gold(server: ModelServer, tmp_path: Path) -> None:
    record = {"id": "a", "tools": TOOLS, "messages": talk("Rome")[4:7]}
    run = tmp_path / "run"
    predicted(server, written(tmp_path / "t.jsonl", [record]), run)
    done = planeval("score", str(run))
    assert done.returncode == 3
    assert "does not end with the assistant, so all of it was shown" in done.stderr


def test_an_id_given_twice_is_refused_before_anything_is_asked(server: ModelServer, tmp_path: Path) -> None:
    done = predicted(server, tasks(tmp_path / "t.jsonl", id="same"), tmp_path / "run")
    assert (done.returncode, server.bodies) == (2, [])
    assert "tasks 1 and 2 have the same id, 'same'" in done.stderr


def test_other_tasks_do_not_take_the_place_of_a_runs(server: ModelServer, tmp_path: Path) -> None:
    run, file = tmp_path / "run", tasks(tmp_path / "t.jsonl")
    predicted(server, file, run, "--limit", "1")
    before = (run / "rows.jsonl").read_bytes()
    other = written(tmp_path / "other.jsonl", [{"id": "o", "query": "Why?", "tools": TOOLS}])
    done = predicted(server, other, run)
    assert (done.returncode, (run / "rows.jsonl").read_bytes()) == (2, before)
    assert f"it asked the samples of {file}, not of {other}" in done.stderr
    assert predicted(server, str(tmp_path / "." / "t.jsonl"), run).returncode == 0
    assert len(rows(run)) == 3


def test_what_the_server_says_of_its_error_is_shown(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: Answer({"error": {"message": "upstream\x1b[31m failed"}})
    done = predicted(server, tasks(tmp_path / "t.jsonl"), tmp_path / "run", "--retries", "0")
    assert "with an error: upstream\ufffd[31m failed" in done.stderr


def test_every_row_of_a_dead_server_says_why(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    run = tmp_path / "run"
    asking = ("predict", tasks(tmp_path / "t.jsonl"), "--model", "m", "--url", "http://127.0.0.1:9/v1")
    done = planeval(*asking, "-o", str(run), "--retries", "0", "--concurrency", "1", "--repeat", "2")
    assert done.returncode == 3
    errors = [row["error"]["message"] for row in rows(run)]
    assert "not asked any more" in errors[-1]
    assert all("no connection to http://127.0.0.1:9/v1" in error for error in errors)


def test_a_row_of_a_model_that_answered_without_end_blames_no_api(tmp_path: Path) -> None:
    why = "the model was still calling tools after 200 turns"
    row = {"id": "t0", "prediction": [], "error": {"code": "max_turns", "message": why}}
    done = planeval("diff", written(tmp_path / "run.jsonl", [row]), tasks(tmp_path / "t.jsonl"))
    assert f'there is no answer: "{why}"' in done.stdout
    assert "API" not in done.stdout


def test_no_connection_names_the_address(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    file, out = tasks(tmp_path / "t.jsonl"), str(tmp_path / "run")
    url = "http://127.0.0.1:9/v1"
    done = planeval("predict", file, "--model", "m", "--url", url, "-o", out, "--retries", "0")
    assert "no connection to http://127.0.0.1:9/v1" in done.stderr


def test_a_dry_run_may_name_whom_it_would_ask(tmp_path: Path) -> None:
    file = tasks(tmp_path / "t.jsonl")
    done = planeval("predict", file, "--model", "m", "--url", "http://127.0.0.1:9/v1", "--dry-run")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)


def test_a_question_that_changed_since_is_said(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    run, path = tmp_path / "run", tmp_path / "t.jsonl"
    predicted(server, tasks(path), run)
    path.write_text(path.read_text("utf-8").replace("Weather in Oslo", "Time in Bonn"), encoding="utf-8")
    for command in (["score", str(run)], ["compare", str(run), str(run)], ["table", str(run)]):
        done = planeval(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"1 question in {path} changed since they were asked, that of 't1' first" in done.stderr
    assert figure(str(run), str(path)) == (1.0, {"same": 3})
    other = tmp_path / "other"
    predicted(server, str(path), other)
    done = planeval("compare", str(other), str(run))
    assert done.returncode == 2
    assert "1 of their questions differ, that of 't1' first" in done.stderr


def test_further_answers_of_a_run_are_no_ids_given_twice(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run, "--repeat", "3")
    done = planeval("score", str(run))
    assert done.returncode == 0
    assert "asked 3 times; the first answer to each counts" in done.stderr
    assert "given twice" not in done.stderr


def test_samples_without_a_whole_answer_are_counted_by_the_answers_that_count(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body, n: message(
        json.dumps(calls(city_of(body))), finish="stop" if city_of(body) == "Bonn" else "length"
    )
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run, "--repeat", "3")
    for command in (["score", str(run)], ["compare", str(run), str(run)]):
        assert "2 samples without a whole answer count as wrong" in planeval(*command).stderr
    table = planeval("table", str(run), "--metric", "exact")
    assert "3 samples" in table.stdout + table.stderr
    assert "2 of them without a whole answer" in table.stdout + table.stderr


def test_tasks_without_ids_are_scored_by_what_predict_calls_them(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    named = Path(tasks(tmp_path / "t.jsonl")).read_text(encoding="utf-8").splitlines()
    bare = [{key: value for key, value in json.loads(one).items() if key != "id"} for one in named]
    run, file = tmp_path / "run", written(tmp_path / "bare.jsonl", bare)
    predicted(server, file, run, "--limit", "2")
    assert [one["id"] for one in rows(run)] == ["task-1", "task-2"]
    for command in ([str(run)], [str(run), file]):
        done = planeval("score", *command)
        assert done.returncode == 0, done.stderr
        assert "2 of 3 gold plans were asked for" in done.stderr
        assert figure(*command) == (1.0, {"same": 2})
    compared = planeval("compare", str(run), str(run), "--metric", "exact", "--format", "json")
    assert json.loads(compared.stdout)["figures"]["exact"]["first"] == 1.0
    assert "1.000" in planeval("table", str(run), "--metric", "exact").stdout


def test_gold_that_is_not_named_is_said_of_what_is_there(server: ModelServer, tmp_path: Path) -> None:
    done = planeval("score", str(tmp_path / "NOPE"))
    assert (done.returncode, done.stderr) == (
        2,
        f"planeval: there is no file or folder {tmp_path / 'NOPE'}\n",
    )
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run)
    done = planeval("diff", str(run))
    assert done.returncode == 2
    assert f"its answers are {run / 'rows.jsonl'}" in done.stderr
    assert "Missing argument" in planeval("diff", "README.md").stderr


@pytest.mark.parametrize("first", [0, 1])
def test_a_file_may_mix_gold_and_recorded_turns(first: int, server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    turn = [
        {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    ]
    talk = [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": turn},
    ]
    records = [
        {"id": "g", "query": "Weather in Rome?", "gold": calls("Rome"), "tools": TOOLS},
        {"id": "m", "messages": talk, "tools": TOOLS},
        {"id": "n", "messages": talk[:1], "tools": TOOLS},
    ]
    file, run = written(tmp_path / "t.jsonl", records[first:] + records[:first]), str(tmp_path / "run")
    predicted(server, file, Path(run))
    done = planeval("score", run, "--metric", "exact")
    assert "3 pairs: 2 same, 1 gold unreadable; figures from 2" in done.stdout
    said = "1 task has no 'gold': the turns of 'messages' that the prompt leaves out are the gold there"
    assert f"{file}: {said}\n" in done.stderr
    assert "which is not" not in done.stderr
    assert "(id n): there is no plan: the record has no 'gold'" in done.stderr
    assert planeval("table", run, "--metric", "exact").stdout.splitlines()[1].startswith("exact   1.000 [")
    for form in ("chat-jsonl", "tools-jsonl"):
        exported = planeval("data", "export", file, "--to", form)
        assert "2 of 3 samples written" in exported.stderr
        assert exported.stdout.count("Oslo") == 2
    dry = planeval("predict", file, "--dry-run", "--distractors", "0")
    offered = {one["id"]: one for one in map(json.loads, dry.stdout.splitlines())}
    assert "get_weather" in str(offered["m"]["messages"])
    assert "get_time" not in str(offered["m"]["messages"])
    assert "has no gold plan" in offered["n"]["error"]["message"]


def in_several_notations(body: dict[str, Any], number: int) -> Answer:
    city = city_of(body)
    said = {
        "Rome": f"[get_weather(city='{city}')]",
        "Oslo": json.dumps(calls(city)),
        "Bonn": f"<tool_call>{json.dumps(calls(city)[0])}</tool_call>",
    }
    return message(said[city])


def test_answers_are_read_in_the_notation_that_was_asked_for(server: ModelServer, tmp_path: Path) -> None:
    server.script = in_several_notations
    run, file = str(tmp_path / "run"), tasks(tmp_path / "t.jsonl")
    predicted(server, file, Path(run), "--dialect", "pythonic")
    said = "2 answers are not in pythonic, which was asked for, and read as hermes (1), json (1)"
    for command in (["score", run], ["score", run, file], ["compare", run, run]):
        done = planeval(*command)
        assert (done.returncode, f"{run}: {said}\n" in done.stderr) == (0, True), done.stderr
    assert said in planeval("table", run, "--metric", "exact").stdout
    assert figure(run) == (1.0, {"same": 3})
    assert figure(run, "--strict")[1] == {"same": 1, "unreadable": 2}
    typed = planeval("score", run, "--from", "json", "--gold-from", "json", "--metric", "exact")
    assert "1 same, 2 unreadable" in typed.stdout
    assert said not in typed.stderr
    told = (
        "answers that were asked for in pythonic are read in json, as you said; 2 answers are not in json: "
    )
    assert f"{run}: {told}hermes (1), pythonic (1)\n" in typed.stderr
    same = planeval("score", run, "--from", "pythonic", "--gold-from", "json", "--metric", "exact")
    assert "1 same, 2 unreadable" in same.stdout
    assert "asked for in" not in same.stderr


def test_a_value_that_looks_like_another_notation_s_reference_is_a_value(
    server: ModelServer, tmp_path: Path
) -> None:
    """NESTful's labels and references are words where JSON was asked for by name."""
    values = [{"city": "Rome"}, {"city": "$var_1.name$"}]
    answer = [
        {"name": "get_weather", "label": f"$var_{n}", "arguments": one} for n, one in enumerate(values, 1)
    ]
    server.script = lambda body, n: message(json.dumps(answer))
    made = [{"name": "get_weather", "arguments": json.dumps(one)} for one in values]
    gold = {"role": "assistant", "tool_calls": [{"type": "function", "function": one} for one in made]}
    task = {"id": "t", "query": "Weather in Rome?", "tools": TOOLS, "gold": gold}
    file = written(tmp_path / "t.jsonl", [task])
    for dialect, exact in (("json", 1.0), ("nestful", 0.0)):
        predicted(server, file, tmp_path / dialect, "--dialect", dialect)
        assert figure(str(tmp_path / dialect))[0] == exact
        assert f"{exact:.3f} [" in planeval("table", str(tmp_path / dialect), "--metric", "exact").stdout
    compared = planeval("compare", *(str(tmp_path / one) for one in ("json", "nestful")), "--format", "json")
    exact = json.loads(compared.stdout)["figures"]["exact"]
    assert (exact["first"], exact["second"]) == (1.0, 0.0)


def test_a_cut_answer_is_wrong_in_the_notation_that_was_asked_for(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = lambda body, n: message(f"[get_weather(city='{city_of(body)}')]", finish="length")
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run, "--dialect", "pythonic")
    assert figure(str(run)) == (0.0, {"cut": 3})


@pytest.mark.parametrize(("argv", "said"), [
    (["--pipeline", "function-calling"], "not to function-calling"),
    (["--benchmark", "callnavi"], "not to flat of callnavi")
])  # fmt: skip
def test_a_notation_that_nobody_is_asked_for_is_told(argv: list[str], said: str, tmp_path: Path) -> None:
    named = "--benchmark" in argv
    source = "data/samples/callnavi" if named else tasks(tmp_path / "t.jsonl")
    done = planeval("predict", source, "--dry-run", "--dialect", "hermes", *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--dialect applies only to flat with tasks of your own, {said}" in done.stderr
