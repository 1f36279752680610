"""planeval predict: answers that are cut or refused, what gold may be, nothing lost in silence."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.benchmarks.benchmark import BENCHMARKS, NAMES
from planner_eval.models.pipelines.demonstrations import ShotOptions
from planner_eval.models.pipelines.registry import DEFAULT_PIPELINES
from planner_eval.models.replies import Reply
from tests.build import jsonl
from tests.conftest import ROOT, tabled
from tests.modelserver import Answer, ModelServer, message
from tests.pages import Page
from tests.prediction_samples import appbench_catalogue
from tests.test_predict import Scripted
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
    with ModelServer(lambda body, n: message(json.dumps(calls(city_of(body))))) as server:
        yield server


def calls(city: str, name: str = "get_weather") -> list[dict[str, Any]]:
    return [{"name": name, "arguments": {"city": city}}]


def tasks(path: Path, **more: Any) -> str:
    asked = [{"id": f"t{n}", "query": f"Weather in {city}?", "tools": TOOLS, "gold": calls(city)} | more
             for n, city in enumerate(CITIES)]  # fmt: skip
    return jsonl(path, asked)


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


@pytest.mark.parametrize("lost", ["]", "", None])
def test_cut_answers_are_wrong_as_in_files(server: ModelServer, tmp_path: Path, lost: str | None) -> None:
    def script(body: dict[str, Any], n: int) -> Answer:
        if lost is None:
            return message("", [("get_weather", json.dumps({"city": city_of(body)}))], finish="length")
        return message(json.dumps(calls(city_of(body))).removesuffix(lost), finish="length")

    server.script, run = script, tmp_path / "run"
    more = ["--pipeline", "function-calling"] if lost is None else []
    done = predicted(server, tasks(tmp_path / "t.jsonl"), run, *more)
    assert "0 answered, 3 cut; 3 requests" in done.stdout
    assert "again" not in done.stderr
    assert done.returncode == 3
    assert figure(str(run)) == (0.0, {"cut": 3})
    assert both(run) == [0.0, 0.0]
    assert "0.000" in planeval("table", str(run), "--metric", "exact").stdout
    before = (run / "rows.jsonl").read_bytes()
    assert "0 answered, 3 cut" in predicted(server, tasks(tmp_path / "t.jsonl"), run, *more).stdout
    assert (len(server.bodies), (run / "rows.jsonl").read_bytes()) == (3, before)


def both(first: Path, second: Path | None = None) -> list[float]:
    done = planeval("compare", str(first), str(second or first), "--metric", "exact", "--format", "json")
    exact = json.loads(done.stdout)["figures"]["exact"]
    return [exact["first"], exact["second"]]


@pytest.mark.parametrize("how", ["words", "parts", "filter"])
def test_refusals_are_told_apart_and_wrong(server: ModelServer, tmp_path: Path, how: str) -> None:
    refusal = {"type": "refusal", "refusal": "I cannot help."}
    words: dict[str, Any] = {"content": None, "refusal": "I cannot help."}
    said = {"words": words, "parts": {"content": [refusal]}, "filter": {"content": ""}}[how]
    finish = "content_filter" if how == "filter" else "stop"
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **said}}
    server.script, run = lambda body, n: Answer({"choices": [choice]}), tmp_path / "run"
    done = predicted(server, tasks(tmp_path / "t.jsonl", gold=[]), run)
    assert "0 answered, 3 refused; 3 requests" in done.stdout
    assert "again" not in done.stderr
    assert figure(str(run)) == (0.0, {"refused": 3})
    if how != "filter":
        assert [row["requests"][0]["reply"]["refusal"] for row in rows(run)] == ["I cannot help."] * 3


def made(city: str, name: str = "get_weather") -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": f'{{"city": "{city}"}}'}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def talk(city: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"Time in {city}?"}, made(city, "get_time"),
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "assistant", "content": "It is noon."},
        {"role": "user", "content": f"And the weather in {city}?"}, made(city),
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ]  # fmt: skip


def recorded(path: Path) -> str:
    return jsonl(path, [{"id": city, "tools": TOOLS, "messages": talk(city)} for city in CITIES])


def test_gold_of_a_recorded_talk_is_what_the_prompt_leaves_out(server: ModelServer, tmp_path: Path) -> None:
    file, run = recorded(tmp_path / "t.jsonl"), tmp_path / "run"
    shown = [json.loads(line) for line in planeval("predict", file, "--dry-run").stdout.splitlines()]
    assert [one["messages"][1:] for one in shown] == [talk(city)[:5] for city in CITIES]
    predicted(server, file, run)
    assert figure(str(run)) == (1.0, {"same": 3})
    assert both(run) == [1.0, 1.0]
    assert "1.000" in planeval("table", str(run), "--metric", "exact").stdout


def test_a_conversation_that_shows_golds_call_is_refused(server: ModelServer, tmp_path: Path) -> None:
    record: dict[str, Any] = {"id": "a", "tools": TOOLS, "messages": talk("Rome")[4:7]}
    predicted(server, jsonl(tmp_path / "t.jsonl", [record]), tmp_path / "run")
    done = planeval("score", str(tmp_path / "run"))
    assert done.returncode == 3
    assert "does not end with the assistant, so all of it was shown" in done.stderr
    record["gold"] = calls("Rome")
    done = planeval("predict", jsonl(tmp_path / "t.jsonl", [record]), "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "task 'a': the prompt would show the gold call of get_weather ('gold')" in done.stderr
    record["gold"] = calls("Rome", "get_time")
    assert planeval("predict", jsonl(tmp_path / "t.jsonl", [record]), "--dry-run").returncode == 0


def test_every_row_of_a_dead_server_says_why(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    run = tmp_path / "run"
    asking = ("predict", tasks(tmp_path / "t.jsonl"), "--model", "m", "--url", "http://127.0.0.1:9/v1")
    done = planeval(*asking, "-o", str(run), "--retries", "0", "--concurrency", "1", "--repeat", "2")
    assert done.returncode == 3
    errors = [row["error"]["message"] for row in rows(run)]
    assert len(errors) == 3
    assert "3 samples not asked yet, which the same command asks first: t0: the model m is" in done.stderr
    assert all("no connection to http://127.0.0.1:9/v1" in error for error in errors)


def test_a_question_that_changed_since_is_said(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
    run, path = tmp_path / "run", tmp_path / "t.jsonl"
    predicted(server, tasks(path), run)
    path.write_text(path.read_text("utf-8").replace("Weather in Oslo", "Time in Bonn"), encoding="utf-8")
    for command in (["score", str(run)], ["compare", str(run), str(run)], ["table", str(run)]):
        done = planeval(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"1 question in {path} changed since they were asked, 't1' first" in done.stderr
    assert figure(str(run), str(path)) == (1.0, {"same": 3})
    other = tmp_path / "other"
    predicted(server, str(path), other)
    done = planeval("compare", str(other), str(run))
    assert done.returncode == 2
    assert "1 of their questions differ, first that of 't1'" in done.stderr


@pytest.mark.parametrize("first", [0, 1])
def test_a_file_may_mix_gold_and_recorded_turns(first: int, server: ModelServer, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Weather in Oslo?"}, made("Oslo")]
    records: list[Any] = [
        {"id": "g", "query": "Weather in Rome?", "gold": calls("Rome"), "tools": TOOLS},
        {"id": "m", "messages": talk, "tools": TOOLS, "gold": None},
        {"id": "n", "messages": talk[:1], "tools": TOOLS},
    ]
    file, run = jsonl(tmp_path / "t.jsonl", records[first:] + records[:first]), str(tmp_path / "run")
    predicted(server, file, Path(run))
    done = planeval("score", run, "--metric", "exact")
    assert "3 pairs: 2 same, 1 gold unreadable; scores computed from 2 pairs" in done.stdout
    assert (
        f"{file}: 1 task has no 'gold': gold is what follows in 'messages' after the prompt\n" in done.stderr
    )
    assert "which is not" not in done.stderr
    assert (
        "(id n): there is no plan: the field 'gold', which holds this file's plans, is missing" in done.stderr
    )
    assert planeval("table", run, "--metric", "exact").stdout.splitlines()[1].startswith("exact   1.000 [")
    for form in ("chat-jsonl", "tools-jsonl"):
        exported = planeval("data", "export", file, "--to", form)
        assert "2 of 3 samples written" in exported.stderr
        assert exported.stdout.count("Oslo") == 2
    dry = planeval("predict", file, "--dry-run", "--run", "distractors=0")
    offered = {one["id"]: one for one in map(json.loads, dry.stdout.splitlines())}
    assert "get_weather" in str(offered["m"]["messages"])
    assert "get_time" not in str(offered["m"]["messages"])
    assert "has no gold plan" in offered["n"]["error"]["message"]


def in_several_notations(body: dict[str, Any], number: int) -> Answer:
    city = city_of(body)
    told = f"<tool_call>{json.dumps(calls(city)[0])}</tool_call>"
    json_ = json.dumps(calls(city))
    return message({"Rome": f"[get_weather(city='{city}')]", "Oslo": json_, "Bonn": told}[city])


def test_answers_are_read_in_the_notation_that_was_asked_for(server: ModelServer, tmp_path: Path) -> None:
    server.script = in_several_notations
    run, file = str(tmp_path / "run"), tasks(tmp_path / "t.jsonl")
    predicted(server, file, Path(run), "--dialect", "pythonic")
    said = "2 answers are not in pythonic, which was requested, and read as hermes (1), json (1)"
    for command in (["score", run], ["score", run, file], ["compare", run, run]):
        done = planeval(*command)
        assert (done.returncode, f"{run}: {said}\n" in done.stderr) == (0, True), done.stderr
    assert said in planeval("table", run, "--metric", "exact").stdout
    assert figure(run) == (1.0, {"same": 3})
    assert figure(run, "--strict")[1] == {"same": 1, "unreadable": 2}
    typed = planeval("score", run, "--from", "json", "--from", "gold=json", "--metric", "exact")
    assert "1 same, 2 unreadable" in typed.stdout
    told = "answers requested in pythonic are read as json, as you asked; 2 answers are not in json"
    assert f"{run}: {told}: hermes (1), pythonic (1)\n" in typed.stderr
    same = planeval("score", run, "--from", "pythonic", "--from", "gold=json", "--metric", "exact")
    assert "1 same, 2 unreadable" in same.stdout
    assert "asked for in" not in same.stderr


SAMPLES = ROOT / "data" / "samples"


@tabled("how, said")
def test_words_call_nothing(server: ModelServer, tmp_path: Path, how: list[str], said: str) -> None:
    server.script, run = lambda body, n: message(said), tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl", gold=[]), run, *how)
    assert figure(str(run)) == figure(str(run), "--strict") == (1.0, {"same": 3})


@pytest.mark.parametrize(("count", "more"), [(1, ("--id", "t1")), (2, ("--limit", "1"))])
def test_a_part_asked_again(server: ModelServer, tmp_path: Path, count: int, more: tuple[str, ...]) -> None:
    file, run, repeat = tasks(tmp_path / "t.jsonl"), tmp_path / "run", ("--repeat", str(count))
    predicted(server, file, run, *repeat)
    before = {name: (run / name).read_bytes() for name in ("rows.jsonl", "report.json", "run.json")}
    done = predicted(server, file, run, *repeat, *more)
    assert f"{3 * count} samples asked with flat: {3 * count} answered" in done.stdout
    assert f"{2 * count} samples of these were asked in an earlier run" in done.stderr
    assert {name: (run / name).read_bytes() for name in before} == before
    assert len(server.bodies) == 3 * count
    assert figure(str(run)) == (1.0, {"same": 3 * count})


def test_a_damaged_line_of_the_journal_is_named(server: ModelServer, tmp_path: Path) -> None:
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    predicted(server, file, run)
    journal = run / "parts" / "journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"row"' in line)
    for broken in ("{half\n", "[1]\n", '{"sample": "t0"}\n'):
        journal.write_text("".join([*lines[:at], broken, *lines[at + 1 :]]), "utf-8")
        done = predicted(server, file, run)
        assert done.returncode == 2
        assert f"journal.jsonl, line {at + 1}: not a line of a run" in done.stderr
        assert "remove it, and repeat the command" in done.stderr
    journal.write_text("".join([*lines[:at], *lines[at + 1 :]]), "utf-8")
    assert "3 samples asked with flat: 3 answered" in predicted(server, file, run).stdout


def shown(file: str, *more: str) -> Any:
    return planeval("predict", file, "--dry-run", *more)


def test_fewer_demonstrations_than_were_asked_for_are_said(tmp_path: Path) -> None:
    file = tasks(tmp_path / "t.jsonl")
    others = [{"query": f"Weather in {city}?", "gold": calls(city)} for city in ("Rome", "Bern")]
    demos = jsonl(tmp_path / "demos.jsonl", others)
    done = shown(file, "--shots", "2", "--run", f"demos={demos}", "--run", "near-duplicates")
    assert "--shots 2: 1 of 3 samples is shown fewer, of all available: t0 1" in done.stderr
    assert done.stdout.count("#Example-2") == 2
    assert (
        "shown fewer"
        not in shown(file, "--shots", "1", "--run", f"demos={demos}", "--run", "near-duplicates").stderr
    )
    tools = tmp_path / "made.py"
    tools.write_text("def get_weather(city):\n    return 'rain' if city != 'Oslo' else 1 / 0\n", "utf-8")
    done = shown(
        file, "--pipeline", "react", "--tools", str(tools), "--run", "near-duplicates", "--shots", "2"
    )
    assert "--shots 2: 2 of 3 samples are shown fewer, of all available: t0 1, t2 1" in done.stderr
    demos = jsonl(tmp_path / "demos.jsonl", [{"query": "Hello?", "gold": []}])
    done = shown(file, "--shots", "1", "--run", f"demos={demos}")
    assert "Input: Hello?\\nOutput: No tool is needed, or none fits." in done.stdout


@pytest.mark.parametrize("name", sorted(DEFAULT_PIPELINES.keys() - {"own"}))
def test_a_run_is_a_page_with_its_questions(server: ModelServer, name: str, tmp_path: Path) -> None:
    data, run, page = str(ROOT / "data" / "samples" / name), tmp_path / "run", tmp_path / "page.html"
    catalog = tmp_path / "catalogue.json"
    catalog.write_text(json.dumps(appbench_catalogue()), encoding="utf-8")
    more = ["--catalog", str(catalog)] if name == "appbench" else []
    server.script = None  # each answer is "ok"
    predicted(server, data, run, "--benchmark", name, "--limit", "2", *more)
    samples = list(BENCHMARKS[name].read(Path(data)))[:2]
    for argv in (["report", str(run)], ["compare", str(run), str(run), "--format", "html"]):
        done = planeval(*argv, "-o", str(page))
        assert (done.returncode, "2 of" in done.stderr or len(samples) < 3) == (0, True), done.stderr
        shown = Page.of(page)
        assert shown.index["id"] == [one.id for one in samples]
        for pair, sample in zip(shown.pairs(), samples, strict=True):
            assert sample.query in str(pair["q"])
    (command,) = {tuple(one) for one in shown.head["commands"]}
    assert planeval(*command[1:], samples[0].id).returncode == 1


COATS = {
    "Weather in Rome?": ["Rome"], "Weather in Oslo?": ["Oslo"],
    "Is it wet in Rome, and in Oslo?": ["Rome", "Oslo"], "Should I take a coat to Bonn": ["Bonn"]
}  # fmt: skip
SHARED = "4 of 5 gold calls occur in their own prompts, all calls of 3 of 4 samples"


EMPTY = type("m", (Scripted,), {})(lambda messages, tools: Reply("{}"))


def coats(path: Path) -> str:
    golds = {query: [calls(one)[0] for one in cities] for query, cities in COATS.items()}
    records = [{"id": id, "query": query, "tools": TOOLS} for id, query in zip("abcd", golds, strict=True)]
    return jsonl(path, [one | {"gold": golds[str(one["query"])]} for one in records])


def test_near_duplicates_are_shown_only_where_they_are_asked_for(tmp_path: Path) -> None:
    file = coats(tmp_path / "t.jsonl")
    for more, nearest in (
        ((), [["d", "c"], ["d", "c"]]),
        (("--run", "near-duplicates"), [["c", "b"], ["c", "a"]]),
    ):
        done = shown(file, "--shots", "2", *more)
        found = [json.loads(line)["demonstrations"]["ids"] for line in done.stdout.splitlines()]
        assert found[:2] == nearest
        said = (
            "--shots 2: 2 of 4 samples are not shown their near duplicates: --run near-duplicates shows them"
        )
        assert (said in done.stderr) == (not more)


def test_a_run_whose_demonstrations_share_answers_is_marked_wherever_it_is_told(tmp_path: Path) -> None:
    model = type("m", (Scripted,), {})(lambda messages, tools: Reply(json.dumps(calls("Rome"))))
    file, run, other = coats(tmp_path / "t.jsonl"), tmp_path / "run", tmp_path / "other"
    mark = f"demonstrations taken from the test set, {file}; {SHARED}"
    assert f"--shots 2: {mark}; name others with --run demos=FILE" in shown(file, "--shots", "2").stderr
    train = jsonl(tmp_path / "train.jsonl", [{"query": "Rain in Kiel?", "gold": calls("Kiel")}])
    assert "test set" not in shown(file, "--shots", "1", "--run", f"demos={train}").stderr
    pe.predict(file, model, out=run, shots=ShotOptions(2))
    pe.predict(file, model, out=other, shots=ShotOptions(1, source=train))
    about = json.loads((run / "run.json").read_text("utf-8"))
    assert about["options"]["gold"] == ["demonstrations: test set"]
    inputs = [(one["role"], one["path"], one["size"]) for one in about["inputs"]]
    assert inputs == [("samples", file, 4), ("demonstrations", file, 4)]
    told = [one["demonstrations"] for one in rows(run)]
    assert [(one["gold_calls"], one["shared"]) for one in told] == [(1, 1), (1, 1), (2, 2), (1, 0)]
    scored, page, exact = tmp_path / "scored", tmp_path / "page.html", ("--metric", "exact")
    for argv in (
        ("score", str(run)), ("score", str(run / "rows.jsonl"), file),
        ("score", str(run), "-o", f"{scored}/"), ("score", str(scored)),
        ("compare", str(other), str(run)), ("table", str(run), *exact), ("table", str(scored), *exact),
    ):  # fmt: skip
        assert SHARED in planeval(*argv).stdout, argv
    assert SHARED in planeval("report", str(run), "-o", str(page)).stderr
    assert SHARED in page.read_text("utf-8")
    bare = planeval("score", str(other)), planeval("table", str(other), "--metric", "exact")
    assert all("demonstrations" not in done.stdout.replace("shots 1", "") for done in bare)


def test_a_run_remembers_its_cache_of_data_sets(tmp_path: Path) -> None:
    run, scored, cache = str(tmp_path / "run"), str(tmp_path / "scored"), str(ROOT / "data" / "samples")
    pe.predict("callnavi", EMPTY, cache=cache, pipeline="flat", out=run)
    named = ("score", f"{run}/rows.jsonl", "callnavi", "--benchmark", "callnavi", "--cache", cache)
    told = (*named, "-o", f"{scored}/")
    for argv in (("score", run), told, ("compare", run, run), ("table", run), ("table", scored)):
        done = planeval(*argv)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_request_that_failed_is_no_answer_to_a_benchmark(tmp_path: Path, name: str) -> None:
    """Its row is not taken for the answer: as JSON it has the right form, and looks like another notation."""
    samples = BENCHMARKS[name].read(SAMPLES / name)
    bare = [{"id": one.id, "prediction": ""} for one in samples]
    failed = [one | {"error": {"code": "refused", "message": "no"}} for one in bare]
    told = []
    for records in (bare, failed):
        file = jsonl(tmp_path / "answers.jsonl", records)
        done = planeval("score", file, str(SAMPLES / name), "--benchmark", name)
        assert "look like" not in done.stdout
        told.append((done.returncode, done.stdout, done.stderr))
    assert told[0] == told[1]


@pytest.mark.parametrize("named", ["", "test_ss.json"])
def test_appbench_s_catalogue_beside_the_data_is_taken(tmp_path: Path, named: str) -> None:
    place = tmp_path / "appbench"
    shutil.copytree(SAMPLES / "appbench", place)
    argv = ["predict", str(place / named), "--benchmark", "appbench", "--dry-run", "--limit", "1"]
    assert "or lay AppBench's catalogue.json beside the data" in planeval(*argv).stderr
    (place / "catalogue.json").write_text(json.dumps(appbench_catalogue()), encoding="utf-8")
    done = planeval(*argv)
    assert (done.returncode, "Trams" in done.stdout) == (0, True), done.stderr
