"""planeval predict and what reads its runs: nothing that is asked, answered or kept is lost in silence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.benchmarks.registry import BENCHMARKS, NAMES
from planner_eval.llm import Reply
from planner_eval.prediction.shots import Shots
from tests.conftest import ROOT
from tests.modelserver import Answer, ModelServer, message
from tests.pages import Page
from tests.prediction_samples import appbench_catalogue
from tests.test_predict import Scripted
from tests.test_predict import here as planeval
from tests.test_predict_endings import CITIES, TOOLS, calls, city_of, figure, predicted, rows, tasks, written

SAMPLES = ROOT / "data" / "samples"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    with ModelServer() as server:
        server.script = lambda body, n: message(json.dumps(calls(city_of(body))))
        yield server


@pytest.mark.parametrize("strict", [(), ("--strict",)], ids=["usual", "strict"])
@pytest.mark.parametrize("dialect", ["json", "hermes", "appbench", "react", "mistral", "pythonic"])
@pytest.mark.parametrize("said", ["No tool is needed here.", "[]"])
def test_words_without_a_call_call_nothing_in_each_notation(
    server: ModelServer, tmp_path: Path, dialect: str, said: str, strict: tuple[str, ...]
) -> None:
    server.script = lambda body, n: message(said)
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl", gold=[]), run, "--dialect", dialect)
    assert figure(str(run), *strict) == (1.0, {"same": 3})


def test_calls_in_another_notation_are_still_counted_in_a_note(server: ModelServer, tmp_path: Path) -> None:
    answers = iter(["No tool is needed here.", json.dumps(calls("Oslo")), "<tool_call>{nothing"])
    server.script = lambda body, n: message(next(answers))
    run = tmp_path / "run"
    predicted(server, tasks(tmp_path / "t.jsonl"), run, "--dialect", "hermes", "--concurrency", "1")
    done = planeval("score", str(run), "--metric", "exact", "--format", "json")
    assert "1 answer is not in hermes, which was asked for, and read as json (1)" in done.stderr
    assert [row["state"] for row in json.loads(done.stdout)["rows"]] == ["different", "same", "unreadable"]


@pytest.mark.parametrize("more", [("--id", "t1"), ("--limit", "1")])
@pytest.mark.parametrize("repeat", ["1", "2"])
def test_a_part_that_is_asked_again_leaves_the_other_rows(
    server: ModelServer, tmp_path: Path, more: tuple[str, ...], repeat: str
) -> None:
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    predicted(server, file, run, "--repeat", repeat)
    before = {name: (run / name).read_bytes() for name in ("rows.jsonl", "report.json", "run.json")}
    done = predicted(server, file, run, "--repeat", repeat, *more)
    count, asked = 3 * int(repeat), 3 * int(repeat)
    assert f"{count} samples asked with flat: {count} answered" in done.stdout
    assert f"{2 * int(repeat)} samples of these were asked before" in done.stderr
    assert {name: (run / name).read_bytes() for name in before} == before
    assert len(server.bodies) == asked
    assert figure(str(run)) == (1.0, {"same": 3})


def test_rows_of_parts_stand_in_the_order_of_the_samples(server: ModelServer, tmp_path: Path) -> None:
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    for name in ("t2", "t0"):
        predicted(server, file, run, "--repeat", "2", "--id", name)
    assert [(row["id"], row["repetition"]) for row in rows(run)] == [
        ("t0", 0), ("t2", 0), ("t0", 1), ("t2", 1)
    ]  # fmt: skip
    done = planeval("score", str(run), "--metric", "exact")
    assert "2 of 3 gold plans were asked for" in done.stderr
    assert figure(str(run)) == (1.0, {"same": 2})


def test_gold_that_is_null_is_absent_beside_recorded_turns(server: ModelServer, tmp_path: Path) -> None:
    records: list[Any] = []
    for n, city in enumerate(CITIES):
        call = {"name": "get_weather", "arguments": json.dumps({"city": city})}
        turn = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        }
        talk = [{"role": "user", "content": f"Weather in {city}?"}, *([turn] if n else [])]
        records.append({"id": f"t{n}", "tools": TOOLS, "messages": talk, "gold": None if n else calls(city)})
    run = tmp_path / "run"
    predicted(server, written(tmp_path / "t.jsonl", records), run)
    assert figure(str(run)) == (1.0, {"same": 3})


def test_a_question_beside_a_conversation_that_lacks_it_is_a_row_that_says_so(
    server: ModelServer, tmp_path: Path
) -> None:
    talk = [{"role": "user", "content": f"Weather in {CITIES[0]}?"}]
    one = {"tools": TOOLS, "gold": calls(CITIES[0]), "messages": talk}
    file = written(tmp_path / "t.jsonl", [
        {"id": "both", "query": "And in Oslo?", **one}, {"id": "same", "query": talk[0]["content"], **one},
        {"id": "null", "query": None, **one}
    ])  # fmt: skip
    run = tmp_path / "run"
    done = predicted(server, file, run)
    assert done.returncode == 1
    assert (
        "task 'both' has 'query' and 'messages', of which only the conversation would be shown" in done.stderr
    )
    assert [row["error"] is None for row in rows(run)] == [False, True, True]
    assert len(server.bodies) == 2
    assert planeval("predict", file, "--dry-run").returncode == 1


def test_a_damaged_line_of_the_journal_is_named_and_can_be_removed(
    server: ModelServer, tmp_path: Path
) -> None:
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    predicted(server, file, run)
    journal = run / "parts" / "journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"row"' in line)
    for broken in ("{half\n", "[1]\n", '{"sample": "t0"}\n'):
        journal.write_text("".join([*lines[:at], broken, *lines[at + 1 :]]), "utf-8")
        done = predicted(server, file, run)
        assert done.returncode == 2
        assert f"journal.jsonl, line {at + 1}: this is no line of a run" in done.stderr
        assert "remove that line, and the same command asks its sample again" in done.stderr
    journal.write_text("".join([*lines[:at], *lines[at + 1 :]]), "utf-8")
    assert "3 samples asked with flat: 3 answered" in predicted(server, file, run).stdout


def test_what_cannot_begin_leaves_no_folder_and_a_dry_run_is_refused_as_the_run(tmp_path: Path) -> None:
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    lost = str(tmp_path / "nope.sqlite")
    done = planeval("predict", file, "--model", "m", "--replay", "--cache", lost, "-o", str(run))
    assert done.returncode == 2
    assert not run.exists()
    done = planeval("predict", file, "--pipeline", "react", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "react makes calls: name the tools that make them with --tools SPEC" in done.stderr


def test_a_run_of_which_every_request_failed_evaluates_nothing(server: ModelServer, tmp_path: Path) -> None:
    server.script = lambda body, n: Answer({"error": {"message": "no"}}, status=400)
    file, run = tasks(tmp_path / "t.jsonl"), tmp_path / "run"
    assert predicted(server, file, run).returncode == 3
    done = planeval("score", str(run))
    assert done.returncode == 3
    assert "no request was answered: these figures say nothing of the model" in done.stderr


def test_how_tools_are_listed_is_refused_where_no_prompt_lists_them(tmp_path: Path) -> None:
    file = tasks(tmp_path / "t.jsonl")
    done = planeval("predict", file, "--pipeline", "function-calling", "--list-form", "yaml", "--dry-run")
    assert done.returncode == 2
    assert "--list-form applies only to prompts that list tools, not to function-calling" in done.stderr


@pytest.mark.parametrize(("pipeline", "code"), [("function-calling", "max_turns"), ("react", "max_steps")])
@pytest.mark.parametrize(("more", "count"), [((), 10), (("--max-steps", "3"), 3)])
def test_talks_with_tools_end_after_as_many_replies_as_the_user_says(
    server: ModelServer, tmp_path: Path, pipeline: str, code: str, more: tuple[str, ...], count: int
) -> None:
    tools = tmp_path / "made.py"
    tools.write_text("def get_weather(city):\n    return 'rain'\n", encoding="utf-8")
    if pipeline == "react":
        server.script = lambda body, n: message(
            'Thought: x\nAction: get_weather\nAction Input: {"city": "Rome"}'
        )
    else:
        server.script = lambda body, n: message("", [("get_weather", '{"city": "Rome"}')])
    run = tmp_path / "run"
    options = ("--pipeline", pipeline, "--tools", str(tools), "--id", "t0", *more)
    predicted(server, tasks(tmp_path / "t.jsonl"), run, *options)
    (row,) = rows(run)
    assert (row["error"]["code"], len(row["requests"])) == (code, count)


@pytest.mark.parametrize("to", ["chat-jsonl", "tools-jsonl"])
def test_gold_that_calls_nothing_is_taught_as_words(tmp_path: Path, to: str) -> None:
    talk = [{"role": "user", "content": "Thanks!"}, {"role": "assistant", "content": "You are welcome."}]
    file = written(tmp_path / "t.jsonl", [
        {"id": "list", "query": "Hello?", "tools": TOOLS, "gold": []},
        {"id": "words", "query": "Hello?", "tools": TOOLS, "gold": "I need no tool to greet you."},
        {"id": "talk", "tools": TOOLS, "messages": talk}
    ])  # fmt: skip
    done = planeval("data", "export", file, "--to", to)
    last = [json.loads(line)["messages"][-1] for line in done.stdout.splitlines()]
    assert last == [
        {"role": "assistant", "content": said}
        for said in ("No tool is needed, or none fits.", "I need no tool to greet you.", "You are welcome.")
    ], done.stderr


def shown(file: str, *more: str) -> Any:
    return planeval("predict", file, "--dry-run", *more)


def test_fewer_demonstrations_than_were_asked_for_are_said(tmp_path: Path) -> None:
    file = tasks(tmp_path / "t.jsonl")
    others = [{"query": f"Weather in {city}?", "gold": calls(city)} for city in ("Rome", "Bern")]
    demos = written(tmp_path / "demos.jsonl", others)
    done = shown(file, "--shots", "2", "--demos", demos, "--near-duplicates")
    assert "--shots 2: 1 of 3 samples is shown fewer, of all that can be shown: t0 1" in done.stderr
    assert done.stdout.count("#Example-2") == 2
    assert "shown fewer" not in shown(file, "--shots", "1", "--demos", demos, "--near-duplicates").stderr


def test_demonstrations_of_react_that_fail_are_said_to_be_fewer(tmp_path: Path) -> None:
    file = tasks(tmp_path / "t.jsonl")
    tools = tmp_path / "made.py"
    tools.write_text(
        "def get_weather(city):\n    if city == 'Oslo':\n        raise ValueError(city)\n    return 'rain'\n",
        encoding="utf-8",
    )
    more = ["--pipeline", "react", "--tools", str(tools), "--near-duplicates"]
    done = shown(file, *more, "--shots", "2")
    assert "--shots 2: 2 of 3 samples are shown fewer, of all that can be shown: t0 1, t2 1" in done.stderr


def test_records_that_are_no_demonstrations_are_left_out_and_counted(tmp_path: Path) -> None:
    ask = [
        {"id": f"t{n}", "query": f"Weather in {c}?", "tools": TOOLS, "gold": calls(c)}
        for n, c in enumerate(CITIES)
    ]
    file = written(
        tmp_path / "t.jsonl", [*ask, {"id": "open", "query": "And now?", "tools": TOOLS, "gold": None}]
    )
    done = shown(file, "--shots", "2")
    assert done.returncode == 0
    assert f"--shots: 1 of 4 records of {file} is no demonstration and is left out; " in done.stderr
    assert "#Example-2" in done.stdout
    none = written(tmp_path / "n.jsonl", [{"id": "a", "query": "Now?", "tools": TOOLS, "gold": None}])
    done = shown(none, "--shots", "1")
    assert done.returncode == 2
    assert "has 0 demonstrations, and 1 of others are wanted: name more with --demos FILE" in done.stderr


def test_a_demonstration_without_a_call_is_shown_as_the_prompt_asks(tmp_path: Path) -> None:
    demos = written(tmp_path / "demos.jsonl", [{"query": "Hello?", "gold": []}])
    done = shown(tasks(tmp_path / "t.jsonl"), "--shots", "1", "--demos", demos)
    assert "Input: Hello?\\nOutput: No tool is needed, or none fits." in done.stdout


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_a_run_of_a_benchmark_is_a_page_with_its_questions(
    server: ModelServer, name: str, tmp_path: Path
) -> None:
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


COATS = [
    ("a", "Weather in Rome?", ["Rome"]),
    ("b", "Weather in Oslo?", ["Oslo"]),
    ("c", "Is it wet in Rome, and in Oslo?", ["Rome", "Oslo"]),
    ("d", "Should I take a coat to Bonn", ["Bonn"]),
]
SHARED = "4 of 5 gold calls stand in their own prompts, all calls of 3 of 4 samples"


EMPTY = type("m", (Scripted,), {})(lambda messages, tools: Reply("{}"))


def coats(path: Path) -> str:
    return written(
        path,
        [
            {"id": id, "query": query, "tools": TOOLS, "gold": [calls(one)[0] for one in cities]}
            for id, query, cities in COATS
        ],
    )


def test_near_duplicates_are_shown_only_where_they_are_asked_for(tmp_path: Path) -> None:
    file = coats(tmp_path / "t.jsonl")
    for more, nearest in ((), [["d", "c"], ["d", "c"]]), (("--near-duplicates",), [["c", "b"], ["c", "a"]]):
        done = shown(file, "--shots", "2", *more)
        found = [json.loads(line)["demonstrations"]["ids"] for line in done.stdout.splitlines()]
        assert found[:2] == nearest
        said = "--shots 2: 2 of 4 samples are not shown their near duplicates: --near-duplicates shows them"
        assert (said in done.stderr) == (not more)


def test_a_run_whose_demonstrations_share_answers_is_marked_wherever_it_is_told(tmp_path: Path) -> None:
    model = type("m", (Scripted,), {})(lambda messages, tools: Reply(json.dumps(calls("Rome"))))
    file, run, other = coats(tmp_path / "t.jsonl"), tmp_path / "run", tmp_path / "other"
    mark = f"demonstrations out of the test set, {file}; {SHARED}"
    assert f"--shots 2: {mark}; name others with --demos FILE" in shown(file, "--shots", "2").stderr
    train = written(tmp_path / "train.jsonl", [{"query": "Rain in Kiel?", "gold": calls("Kiel")}])
    assert "test set" not in shown(file, "--shots", "1", "--demos", train).stderr
    pe.predict(file, model, out=run, shots=Shots(2))
    pe.predict(file, model, out=other, shots=Shots(1, source=train))
    about = json.loads((run / "run.json").read_text("utf-8"))
    assert about["options"]["gold"] == ["demonstrations: test set"]
    assert [(one["role"], one["path"], one["size"]) for one in about["inputs"]] == [
        ("samples", file, 4), ("demonstrations", file, 4)
    ]  # fmt: skip
    assert [(row["demonstrations"]["gold_calls"], row["demonstrations"]["shared"]) for row in rows(run)] == [
        (1, 1), (1, 1), (2, 2), (1, 0)
    ]  # fmt: skip
    scored, page = tmp_path / "scored", tmp_path / "page.html"
    told = [
        ("score", str(run)), ("score", str(run / "rows.jsonl"), file),
        ("score", str(run), "-o", f"{scored}/"), ("score", str(scored)), ("compare", str(other), str(run)),
        ("table", str(run), "--metric", "exact"), ("table", str(scored), "--metric", "exact")
    ]  # fmt: skip
    for argv in told:
        assert SHARED in planeval(*argv).stdout, argv
    assert SHARED in planeval("report", str(run), "-o", str(page)).stderr
    assert SHARED in page.read_text("utf-8")
    bare = planeval("score", str(other)), planeval("table", str(other), "--metric", "exact")
    assert all("demonstrations" not in done.stdout.replace("shots 1", "") for done in bare)


def test_a_benchmark_s_figures_are_marked(tmp_path: Path) -> None:
    run, scored = str(tmp_path / "run"), str(tmp_path / "scored")
    file = str(SAMPLES / "callnavi")
    pe.predict(file, EMPTY, benchmark="callnavi", pipeline="flat", out=run, shots=Shots(1))
    mark = f"demonstrations out of the test set, {file}; 1 of 5 gold calls stands in its own prompt"
    rows_of = [f"{run}/rows.jsonl", file, "--benchmark", "callnavi"]
    for argv in (
        ("score", run), ("score", *rows_of, "-o", f"{scored}/"), ("score", scored), ("compare", run, run),
        ("table", run)
    ):  # fmt: skip
        assert mark in planeval(*argv).stdout, argv
    named = planeval("table", run, "--format", "csv").stdout
    assert "m (demonstrations share answers)" in named


def test_a_run_remembers_its_cache_of_data_sets(tmp_path: Path) -> None:
    run, scored, cache = str(tmp_path / "run"), str(tmp_path / "scored"), str(ROOT / "data" / "samples")
    pe.predict("callnavi", EMPTY, data_cache=cache, pipeline="flat", out=run)
    rows_of = [f"{run}/rows.jsonl", "callnavi", "--benchmark", "callnavi"]
    for argv in (
        ("score", run), ("score", *rows_of, "--cache", cache, "-o", f"{scored}/"), ("compare", run, run),
        ("table", run), ("table", scored)
    ):  # fmt: skip
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
        file = written(tmp_path / "answers.jsonl", records)
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
