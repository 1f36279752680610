"""FunctionChat-Bench's result file on the command line, and the classes of errors that rules can tell."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.benchmarks.functionchat.errors import MEANING, error_class
from planner_eval.benchmarks.functionchat.reading import read_answer
from planner_eval.datasets.functionchat import FILES
from planner_eval.datasets.sample import Sample
from tests import inside
from tests.conftest import ROOT

SAMPLES = ROOT / "data" / "samples"
ANSWERS = str(SAMPLES / "answers" / "functionchat.jsonl")
GOLD = SAMPLES / "functionchat"


def planeval(*argv: str, command: str = "score") -> subprocess.CompletedProcess[str]:
    return inside.planeval(command, *argv)


def tsv(answers: str, gold: str, *more: str) -> subprocess.CompletedProcess[str]:
    return planeval(answers, gold, "--benchmark", "functionchat", "--format", "tsv", *more)


# ---------------------------------------------------------------- the result file
@pytest.mark.parametrize("part", ["singlecall", "calldecision"])
def test_the_published_result_file(part: str, reference: Path, tmp_path: Path) -> None:
    with gzip.open(reference / "vectors" / "functionchat" / "official.json.gz", "rt") as stream:
        expected = json.load(stream)["runs"][f"{part}/only_exact"]
    answers = tmp_path / "answers.jsonl"
    with (
        gzip.open(reference / "vectors" / "functionchat" / "cases.jsonl.gz", "rt") as stream,
        answers.open("w") as out,
    ):
        for case in map(json.loads, stream):
            if case["kind"] == "run" and case["dataset"] == part:
                out.write(json.dumps({"output": case["output"]}) + "\n")
    done = tsv(str(answers), str(reference / "datasets" / "functionchat" / FILES[part]))
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.split("\n")[:-1]
    assert header == expected["tsv_header"]
    assert len(rows) == expected["tsv_rows"]
    assert [row.split("\t")[1] for row in rows] == expected["tsv_is_pass"]
    assert len(rows[0].split("\t")) == expected["tsv_columns_row1"]


def test_a_result_file_is_written_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "eval_report.tsv"
    done = tsv(ANSWERS, str(GOLD / FILES["singlecall"]), "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    header, first, *_ = file.read_text(encoding="utf-8").split("\n")
    assert header.startswith("#serial_num\tis_pass\ttools_type\tground_truth\t")
    assert first.startswith('1\tpass\texact\t{"name": "order_seeds"')
    assert "당근" in first
    found = pe.agree(file, {"singlecall-1-exact": "pass", "singlecall-2-exact": "fail"})
    assert (found.n, found.figure("agreement")) == (2, 1.0)
    named = planeval(ANSWERS, str(GOLD / FILES["singlecall"]), "--benchmark", "functionchat", "-o", str(file))
    assert named.returncode == 0  # the suffix says the format
    assert file.read_text(encoding="utf-8").startswith("#serial_num")


def test_a_result_file_is_of_one_part_and_of_one_benchmark() -> None:
    done = tsv(ANSWERS, str(GOLD))
    assert (done.returncode, done.stdout) == (2, "")
    assert "items of singlecall and dialog" in done.stderr
    assert "give one of FunctionChat-Singlecall.jsonl, FunctionChat-Dialog.jsonl as the gold" in done.stderr
    single = str(GOLD / FILES["singlecall"])
    for more, said in (
        (("--corrected",), "--corrected applies only to other formats"),
        (("--fail-under", "x=1"), "--fail-under applies only to other formats: --format tsv has no figures"),
        (("--only", "failures"), "--only applies only to other formats"),
        (("--details",), "--details applies only to --format text and md"),
    ):
        done = tsv(ANSWERS, single, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in " ".join(done.stderr.split())
    other = str(SAMPLES / "answers" / "callnavi.jsonl"), str(SAMPLES / "callnavi")
    for argv in ((*other, "--benchmark", "callnavi"), ("data/demo/pred.jsonl", "data/demo/gold.jsonl")):
        done = planeval(*argv, "--format", "tsv")
        assert (done.returncode, done.stdout) == (2, "")
        assert "applies only to benchmarks with a result file of their own (functionchat)" in done.stderr


# ---------------------------------------------------------------- classes of errors
def tool(name: str, *required: str) -> dict[str, Any]:
    properties = {key: {"type": "string"} for key in required}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


MADE = {"name": "weather", "arguments": '{"city": "Seoul"}'}
TALK = [
    {"role": "user", "content": "Weather in Seoul?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": MADE}]},
    {"role": "tool", "content": '{"sky": "clear"}'},
]


def sample(kind: str) -> Sample:
    gold: Any = {"role": "assistant", "content": "맑아요."}
    if kind == "call":
        gold = {"role": "assistant", "tool_calls": [{"function": MADE}]}
    extra = {"part": "dialog", "type_of_output": kind, "messages": TALK, "acceptable_arguments": None}
    return Sample("dialog-1", tools=[tool("weather", "city"), tool("time")], gold=gold, extra=extra)


def calling(name: str, **arguments: Any) -> str:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return json.dumps({"role": "assistant", "content": None, "tool_calls": [call]})


@pytest.mark.parametrize(
    ("kind", "answer", "found"),
    [
        ("call", "I will look it up.", "words instead of a call"),
        ("call", "null", "nothing said"),
        ("call", calling("time"), "other function of those on offer"),
        ("call", calling("forecast", city="Seoul"), "function not on offer"),
        ("call", calling("weather", town="Seoul"), "other arguments"),
        ("call", calling("weather", city=7), "other type"),
        ("call", calling("weather", city="Busan"), "other value"),
        ("call", '{"tool_calls": [{"function": {"name": "weather", "arguments": "{"}}]}', "unreadable call"),
        ("slot", calling("weather", city="Paris"), "call with values that were not given"),
        ("slot", calling("weather"), "call without what it needs"),
        ("slot", calling("order_pizza"), "call of a function not on offer"),
        ("slot", "어느 도시요?", MEANING),
        ("slot", "null", "nothing said"),
        ("completion", calling("weather", city="Seoul"), "call made before"),
        ("completion", calling("time"), "call instead of words"),
        ("completion", '{"content": "{\\"sky\\": \\"rain\\"}"}', "raw data instead of words"),
        ("completion", '{"content": "{\\"sky\\": \\"clear\\"}"}', "repeats the conversation"),
        ("completion", "Weather in Seoul?", "repeats the conversation"),
        ("completion", "The sky is clear.", "in another language"),
        ("completion", "비가 와요.", MEANING),
        ("relevance", calling("order_pizza", size="L"), "call of a function not on offer"),
        ("relevance", calling("time"), "call instead of words"),
    ],
)
def test_the_class_of_an_error(kind: str, answer: str, found: str) -> None:
    assert error_class(sample(kind), read_answer(answer)) == found


def test_details_count_what_does_not_pass() -> None:
    done = planeval(ANSWERS, str(GOLD), "--benchmark", "functionchat", "--details")
    assert done.returncode == 0
    title, _, table = done.stdout.partition("section 6.2)")[::1]
    assert "why items do not pass, by the right kind of turn" in title
    rows = [line.split() for line in table.strip().splitlines()]
    assert rows[0] == ["corrected:", "error", "call", "completion", "slot"]
    assert rows[1] == ["nothing", "said", "1", "1", "1"]
    assert sum(int(cell) for row in rows[1:] for cell in row if cell.isdigit()) == 5  # of seven, two pass
    official = planeval(ANSWERS, str(GOLD), "--benchmark", "functionchat", "--details", "--official").stdout
    assert "official: error" in official


def test_every_released_item_has_a_class_for_every_kind_of_answer(reference: Path) -> None:
    from planner_eval.datasets.functionchat import read_functionchat

    seen = set()
    for one in read_functionchat(reference / "datasets" / "functionchat"):
        kind = one.extra["type_of_output"]
        for answer in ("null", "잠시만요.", calling("no_such_tool"), "Wait, please.", one.query):
            seen.add((kind, error_class(one, read_answer(answer))))
    assert ("relevance", "in another language") in seen
    assert ("slot", "repeats the conversation") in seen
    assert {name for kind, name in seen if kind == "call"} >= {"function not on offer", "nothing said"}
