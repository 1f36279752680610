"""FunctionChat-Bench's official scores: against the published code's output, and on data of our own."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import CODES, DatasetError, JudgeError
from planner_eval.benchmarks.functionchat import score_official, tsv
from planner_eval.benchmarks.functionchat.matching import match_call
from planner_eval.benchmarks.functionchat.official import Judged, judge_record, kept, part_scores
from planner_eval.benchmarks.functionchat.payload import acceptable_text, payload
from planner_eval.benchmarks.functionchat.tables import table1, table2
from planner_eval.benchmarks.functionchat.verdicts import read_verdict
from planner_eval.datasets.functionchat import read_functionchat
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge

Case = dict[str, Any]


@pytest.fixture(scope="module")
def samples(reference: Path) -> list[Sample]:
    return list(read_functionchat(reference / "datasets" / "functionchat"))


@pytest.fixture(scope="module")
def official(reference: Path) -> dict[str, Any]:
    with gzip.open(reference / "vectors" / "functionchat" / "official.json.gz", "rt") as stream:
        return dict(json.load(stream))


@pytest.fixture(scope="module")
def cases(reference: Path) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {"exact": [], "verdict": [], "run": []}
    with gzip.open(reference / "vectors" / "functionchat" / "cases.jsonl.gz", "rt") as stream:
        for case in map(json.loads, stream):
            found[case["kind"]].append(case)
    return found


def by_key(samples: list[Sample]) -> dict[tuple[str, int, str | None], Sample]:
    return {(s.extra["part"], s.extra["serial_num"], s.extra.get("tools_type")): s for s in samples}


def test_all_exact_match_vectors(
    samples: list[Sample], cases: dict[str, list[Case]], official: dict[str, Any]
) -> None:
    items = by_key(samples)
    assert len(cases["exact"]) == len(official["exact"]) == 6799
    for case, expected in zip(cases["exact"], official["exact"], strict=True):
        sample = items[case["dataset"], case["serial_num"], case["tools_type"]]
        acceptable = acceptable_text(sample.extra["acceptable_arguments"])
        exact = match_call(sample.gold, acceptable, case["output"])
        if "raised" in expected:
            assert exact.error == expected["raised"], case
        else:
            found = (exact.passed, read_verdict(exact.text), exact.text, exact.error)
            assert found == (expected["pass"], expected["key"], expected["message"], None), case


def test_all_verdict_vectors(cases: dict[str, list[Case]], official: dict[str, Any]) -> None:
    assert len(cases["verdict"]) == len(official["verdict"]) == 239
    for case, expected in zip(cases["verdict"], official["verdict"], strict=True):
        assert read_verdict(case["text"]) == expected["key"], case


@pytest.mark.parametrize("part", ["singlecall", "dialog", "calldecision"])
@pytest.mark.parametrize("mode", ["only_exact", "judged"])
def test_all_run_vectors(
    samples: list[Sample], cases: dict[str, list[Case]], official: dict[str, Any], part: str, mode: str
) -> None:
    items = by_key(samples)
    asked: list[JudgeRequest] = []

    def answer(case: Case, request: JudgeRequest) -> str:
        asked.append(request)
        return str(case["judge"])

    judged: list[Judged] = []
    for case in cases["run"]:
        if case["dataset"] == part:
            judge = ScriptedJudge(partial(answer, case)) if mode == "judged" else None
            sample = items[part, case["serial_num"], case["tools_type"]]
            judged.append(judge_record(sample, json.dumps(case["output"]), judge=judge))
    expected = official["runs"][f"{part}/{mode}"]
    scores = part_scores(part, [(one.sample.id, kept(one)) for one in judged])
    assert len(asked) == expected["judge_calls"]
    assert scores.printed.strip() == expected["printed"].strip()
    assert scores.error == expected.get("__raised__")
    assert scores.score == expected.get("score", {})
    assert list(scores.score) == list(expected.get("score", {}))
    if "tsv_header" in expected:
        header, *rows = tsv.report(part, judged).split("\n")[:-1]
        assert header == expected["tsv_header"]
        assert len(rows) == expected["tsv_rows"]
        assert [row.split("\t")[1] for row in rows] == expected["tsv_is_pass"]
        assert len(rows[0].split("\t")) == expected["tsv_columns_row1"]


def test_all_payload_vectors(samples: list[Sample], official: dict[str, Any]) -> None:
    single = [sample for sample in samples if sample.extra["part"] == "singlecall"]
    for tools_type, expected in official["payload"].items():
        if tools_type in ("singlecall", "dialog", "calldecision"):
            found = payload(sample for sample in samples if sample.extra["part"] == tools_type)
            assert len(found.requests) == expected["items"]
            assert list(found.requests[0]) == expected["first_keys"]
        elif isinstance(expected, int):
            assert len(payload(single, tools_type=tools_type).requests) == expected
        else:
            assert payload(single, tools_type=tools_type).error == expected["__raised__"]


# ---------------------------------------------------------------- on our own data
def gold_call(**arguments: Any) -> dict[str, str]:
    return {"name": "book_table", "arguments": json.dumps(arguments)}


def message(*calls: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": call} for call in calls],
    }


def passes(given: dict[str, Any], wanted: dict[str, Any], acceptable: Any = None) -> bool:
    exact = match_call(gold_call(**wanted), acceptable, message(gold_call(**given)))
    assert exact.error is None
    return exact.passed


def test_values_are_compared_as_published() -> None:
    assert passes({"place": "B u s a n"}, {"place": "busan"})
    assert passes({"guests": True}, {"guests": 1.0})
    assert not passes({"guests": "1"}, {"guests": 1})
    assert not passes({"place": "Bus\tan"}, {"place": "Busan"})
    assert not passes({"place": "Busan", "more": 1}, {"place": "Busan"})
    assert passes({}, {"place": None})


def test_alternatives_are_compared_as_published() -> None:
    wanted = {"place": "Busan", "guests": 2}
    assert passes({**wanted, "place": "pusan"}, wanted, '{"place": ["Pusan", "Fusan"]}')
    assert passes({**wanted, "place": "pusan"}, wanted, '{"place": "Pusan"}')
    assert not passes({**wanted, "place": "Seoul"}, wanted, '{"place": ["Pusan"]}')
    assert passes({"place": "Busan"}, wanted, '{"guests": 3}')  # neither text nor list: anything passes
    assert passes({"place": "Busan", "guests": []}, wanted, '{"guests": null}')
    assert passes({**wanted, "place": "busan"}, wanted, "null")
    assert not passes({**wanted, "place": "Seoul"}, wanted, {})


@pytest.mark.parametrize(
    ("acceptable", "error"),
    [
        ("Any place will do.", "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("", "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "AttributeError: 'list' object has no attribute 'get'"),
        ("7", "AttributeError: 'int' object has no attribute 'get'"),
    ],
)
def test_alternatives_of_other_shapes_raise_in_the_published_code(acceptable: str, error: str) -> None:
    wrong = message(gold_call(place="Seoul"))
    assert match_call(gold_call(place="Busan"), acceptable, wrong).error == error


@pytest.mark.parametrize(
    "output",
    [
        {"tool_calls": "x"},
        {"tool_calls": [None]},
        {"tool_calls": {"a": 1}},
        {"tool_calls": [{"function": None}]},
        {"tool_calls": [{"function": {"name": "book_table", "arguments": "9" * 5000}}]},
        {"tool_calls": [{"function": {"name": "book_table", "arguments": "[" * 100_000}}]},
        [],
        7,
    ],
)
def test_answers_of_other_shapes_say_which_exception_it_would_be(output: Any) -> None:
    exact = match_call(gold_call(place="Busan"), None, output)
    assert not exact.passed
    assert exact.error is not None


def item(serial: int, kind: str = "call", part: str = "dialog", **extra: Any) -> Sample:
    gold = message(gold_call(place="Busan")) if kind == "call" else {"role": "assistant", "content": "?"}
    common = {
        "part": part,
        "serial_num": serial,
        "type_of_output": kind,
        "messages": [],
        "acceptable_arguments": None,
    }
    return Sample(f"{part}-{serial}", gold=gold, category=kind, extra=common | extra)


RIGHT = json.dumps(message(gold_call(place="Busan")))
WRONG = json.dumps(message(gold_call(place="Seoul")))


def test_dialog_divides_by_the_published_constant() -> None:
    judge = ScriptedJudge(
        lambda request: "fail\nfail" if request.task == "functionchat.call" else "통과\n통과"
    )
    records = [(item(1), RIGHT), (item(2), WRONG), (item(3, "slot"), '{"content": "Which?"}')]
    report = score_official(records, judge=judge)
    assert report.value("dialog call pass rate") == 0.5
    assert report.value("dialog slot pass rate") == 1
    assert report.value("dialog avg(micro)") == 2 / 200
    assert report.value("dialog avg(macro)") == 0.75
    assert [row.ok for row in report.rows] == [True, False, True]


def test_the_paper_s_sums_count_kinds_of_tool_lists_without_a_pass() -> None:
    right, wrong = (item(n, part="singlecall", tools_type="exact") for n in (1, 2))
    other = Sample("other", gold=right.gold, category="4_close", extra=right.extra)
    report = score_official([(right, RIGHT), (wrong, WRONG), (other, WRONG)])
    assert [report.value(f"singlecall {name}") for name in ("SUM", "AVG")] == [1, 0.5]


def test_without_a_judge_conversational_answers_are_undecided() -> None:
    report = score_official([(item(1), RIGHT), (item(2, "slot"), '{"content": "Which?"}')])
    assert report.figure("dialog total").error == "ZeroDivisionError: division by zero"
    assert report.value("dialog undecided") == 1


def test_a_record_that_raises_takes_its_part_s_figures_but_keeps_every_row() -> None:
    broken = json.dumps(message({"name": "book_table", "arguments": {}}))
    decision = item(1, part="calldecision")
    report = score_official([(item(1), RIGHT), (item(2), broken), (decision, RIGHT)])
    error = "TypeError: the JSON object must be str, bytes or bytearray, not dict"
    assert [row.error for row in report.rows] == [None, error, None]
    assert report.figure("dialog total").error == error
    assert report.value("calldecision total_pass_rate") == 1


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "[" * 100_000, "9" * 5000, '{"tool_calls": [3]}'])
def test_an_answer_that_is_no_message_is_a_row_that_says_so(text: str) -> None:
    judge = ScriptedJudge(lambda request: "pass")
    for kind in ("call", "slot"):
        (row,) = score_official([(item(1, kind), text)], judge=judge).rows
        assert row.error
        assert not row.ok


def test_no_answer_fails() -> None:
    (row,) = score_official([(item(1), "null")]).rows
    assert [figure.value for figure in row.figures] == ["fail", "exact"]


def test_a_judge_that_fails_is_said_and_never_raised() -> None:
    def reply(request: JudgeRequest) -> str:
        raise JudgeError("gone")

    (row,) = score_official([(item(1), WRONG)], judge=ScriptedJudge(reply)).rows
    assert row.error == "JudgeError: gone"


def test_a_sample_of_another_benchmark_is_a_row_that_says_so() -> None:
    (row,) = score_official([(Sample("a1", gold=[1]), RIGHT)]).rows
    assert row.error
    assert "not one of FunctionChat-Bench" in row.error


def test_the_judge_sees_no_ids_and_what_the_criterion_needs() -> None:
    asked: list[JudgeRequest] = []

    def reply(request: JudgeRequest) -> str:
        asked.append(request)
        return "pass"

    score_official([(item(1), WRONG), (item(2, "relevance"), RIGHT)], judge=ScriptedJudge(reply))
    assert [request.task for request in asked] == ["functionchat.call", "functionchat.relevance"]
    assert all('"id"' not in request.messages[1][1] for request in asked)
    assert ["Acceptable alternatives" in request.messages[1][1] for request in asked] == [True, False]


def test_the_report_file_holds_one_line_an_item() -> None:
    judged = [judge_record(item(1), RIGHT), judge_record(item(2, "slot"), "null"), judge_record(item(3), "x")]
    lines = tsv.report("dialog", judged).splitlines()
    assert lines[0].startswith("#serial_num\tis_pass\ttype_of_output\tground_truth\t")
    assert [line.split("\t")[:3] for line in lines[1:3]] == [
        ["1", "pass", "call"],
        ["2", "skip evaluation", "slot"],
    ]
    assert json.loads(lines[1].split("\t")[6])["reasoning"].startswith("exact-eval")
    assert lines[3].split("\t")[1].startswith("JSONDecodeError")


def test_singlecall_and_dialog_count_an_id_once() -> None:
    twice = [(item(1), RIGHT), (item(1), WRONG)]
    assert score_official(twice).value("dialog call pass cnt") == 1
    single = [(item(1, part="singlecall", tools_type="exact"), RIGHT)] * 2
    assert score_official(single).value("singlecall total_cnt") == 1


# ---------------------------------------------------------------- the reader
def test_every_item_is_read(samples: list[Sample]) -> None:
    parts = Counter(sample.extra["part"] for sample in samples)
    assert parts == {"singlecall": 500, "dialog": 200, "calldecision": 606}
    assert len({sample.id for sample in samples}) == len(samples)
    dialog = Counter(sample.category for sample in samples if sample.extra["part"] == "dialog")
    assert dialog == {"call": 70, "completion": 71, "slot": 36, "relevance": 23}


def test_every_irregularity_of_the_data_is_counted(samples: list[Sample]) -> None:
    found = Counter(d.code for sample in samples for d in sample.extra["diagnostics"])
    assert set(found) <= set(CODES)
    records = Counter(
        code
        for sample in samples
        for code in {d.code for d in sample.extra["diagnostics"]}
        if code == "dataset.alternative_unlisted"
    )
    assert records == {"dataset.alternative_unlisted": 35}
    assert found == {
        "dataset.alternatives_text": 55,
        "dataset.alternatives_object": 3,
        "dataset.alternative_unlisted": 48,
        "dataset.alternative_argument": 1,
        "dataset.alternative_type": 48,
        "dataset.alternative_instruction": 7,
        "dataset.tool_result": 15,
    }


def write_single(folder: Path) -> None:
    tool = {"type": "function", "function": {"name": "book_table", "parameters": {}}}
    record = {
        "query": [{"serial_num": 1, "content": "A table in Busan, please"}],
        "ground_truth": [{"serial_num": 1, "content": json.dumps(gold_call(place="Busan"))}],
        "acceptable_arguments": [{"serial_num": 1, "content": '{"place": 7, "time": "noon"}'}],
        "tools": [{"type": "exact", "content": [tool]}, {"type": "4_close", "content": [tool] * 4}],
    }
    (folder / "FunctionChat-Singlecall.jsonl").write_text(json.dumps(record) + "\n\n")


def test_a_single_call_is_one_item_a_tool_list(tmp_path: Path) -> None:
    write_single(tmp_path)
    (tmp_path / "system_prompt.txt").write_text("Be kind.\n")
    first, second = read_functionchat(tmp_path)
    assert (first.id, second.id) == ("singlecall-1-exact", "singlecall-1-4_close")
    assert first.gold == gold_call(place="Busan")
    assert first.extra["messages"][0] == {"role": "system", "content": "Be kind."}
    assert [d.code for d in first.extra["diagnostics"]] == [
        "dataset.alternative_unlisted",
        "dataset.alternative_type",
        "dataset.alternative_argument",
    ]
    assert second.extra["diagnostics"] == ()


def test_the_reader_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="none of FunctionChat-Singlecall"):
        list(read_functionchat(tmp_path))
    with pytest.raises(DatasetError, match="no part 'chat'"):
        list(read_functionchat(tmp_path, part="chat"))
    path = tmp_path / "FunctionChat-Dialog.jsonl"
    path.write_text('{"turns": []}\n{"turns": [{}]}\n')
    with pytest.raises(DatasetError, match="line 2: not a dialog record"):
        list(read_functionchat(tmp_path))
    path.write_text("{}\n{\n")
    with pytest.raises(DatasetError, match=r"line 1: not a dialog record|line 2, column 1: not JSON"):
        list(read_functionchat(tmp_path))


# ---------------------------------------------------------------- the paper's tables
def test_every_cell_of_tables_1_and_2_agrees(samples: list[Sample]) -> None:
    cells = [*table1(samples), *table2(samples)]
    assert len(cells) == 10 + 3 + 5 + 6
    assert [cell for cell in cells if cell.agrees is not True or cell.note] == []


def test_tables_of_a_part_say_so() -> None:
    assert all(cell.value is None for cell in [*table1([]), *table2([])])
    (cell, *_) = table2([item(1, dialog_num=1)])
    assert (cell.value, cell.note) == (1, "1 of 200 items at hand")
