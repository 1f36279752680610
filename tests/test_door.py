"""Files through the real command line: what is the answer, whose it is, what one bad record costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples"
NESTFUL = SAMPLES / "nestful" / "v2" / "nestful_data.jsonl"
APPBENCH = SAMPLES / "appbench" / "test_ss.json"
CALLNAVI = SAMPLES / "callnavi"


def call(**given: Any) -> dict[str, Any]:
    return {"name": "f", "arguments": given}


def lines(path: Path, records: Sequence[Any]) -> str:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return str(path)


def array(path: Path, records: Sequence[Any]) -> str:
    path.write_text(json.dumps(records))
    return str(path)


def figure(name: str, gold: Path | str, pred: str, *options: str) -> tuple[dict[str, Any], str]:
    """A benchmark's corrected figures by name, and what was said beside them."""
    done = planeval("score", pred, str(gold), "--benchmark", name, "--format", "json", *options)
    assert done.returncode in (0, 1), done.stderr
    data = json.loads(done.stdout)
    corrected = data["reports"]["corrected"]["figures"]
    return {one["name"]: one["value"] for one in corrected} | {"from": data["answers_from"]}, done.stderr


def states(*argv: str) -> dict[str, int]:
    data = json.loads(planeval("score", *argv, "--format", "json").stdout)
    return {key: value for key, value in data["states"].items()}


QUESTIONS = json.loads((CALLNAVI / "Questions" / "hr.json").read_text())


@pytest.mark.parametrize("field", ["predict", "predit"])
def test_callnavi_result_files_keep_gold_beside_the_answer(tmp_path: Path, field: str) -> None:
    rows = [{field: "I don't know", "ground_truth": json.dumps(q["ground_truth"])} for q in QUESTIONS]
    found, said = figure("callnavi", CALLNAVI, array(tmp_path / "r.json", rows))
    assert (found["ast_overall"], found["structure"]) == (0, 0)
    assert found["from"] == f'field "{field}" of 3 records'
    assert f'answers: field "{field}" of 3 records; matched by position' in said
    right = [{field: q["ground_truth"], "ground_truth": q["ground_truth"]} for q in QUESTIONS]
    found, _ = figure("callnavi", CALLNAVI, array(tmp_path / "w.json", right))
    assert found["ast_overall"] == 1


def test_a_washed_object_keeps_its_apostrophes(tmp_path: Path) -> None:
    folder = tmp_path / "callnavi"
    (folder / "Questions").mkdir(parents=True)
    (folder / "APIs").mkdir()
    (folder / "APIs" / "hr.json").write_text((CALLNAVI / "APIs" / "hr.json").read_text())
    gold = {"API": ["countHours"], "parameters": [{"person": "O'Hara"}]}
    question = {"id": "hr01", "question": [{"role": "user", "content": "?"}], "difficulty": "easy"}
    array(folder / "Questions" / "hr.json", [question | {"ground_truth": gold}])
    pred = array(tmp_path / "washed.json", [{"predict": gold, "ground_truth": gold}])
    done = planeval("score", pred, str(folder), "--benchmark", "callnavi", "--format", "json")
    reports = json.loads(done.stdout)["reports"]
    assert [report["rows"][0]["ok"] for report in reports.values()] == [True, True]


@pytest.mark.parametrize("null", [None, ""])
def test_nestful_result_files_without_an_answer_are_wrong(tmp_path: Path, null: str | None) -> None:
    samples = [json.loads(line) for line in NESTFUL.read_text().splitlines()]
    rows = [
        {"sample_id": s["sample_id"], "output": json.dumps(s["output"]), "generated_text": null}
        for s in samples
    ]
    pred = lines(tmp_path / "output.jsonl", rows)
    found, _ = figure("nestful", NESTFUL, pred)
    assert (found["accuracy_combined"], found["f1_intent"]) == (0, 0)
    assert found["from"] == 'field "generated_text" of 3 records'
    assert states(pred, str(NESTFUL)) == {"unreadable": 3}
    kept = rows[:1] + [row | {"generated_text": row["output"]} for row in rows[1:]]
    assert states(lines(tmp_path / "some.jsonl", kept), str(NESTFUL)) == {"same": 2, "unreadable": 1}


@pytest.mark.parametrize("name", ["nestful", "appbench"])
def test_output_alone_is_no_answer_where_the_benchmark_keeps_gold_in_it(tmp_path: Path, name: str) -> None:
    gold = NESTFUL if name == "nestful" else APPBENCH
    done = planeval("score", str(gold), str(gold), "--benchmark", name)
    assert done.returncode == 2
    assert "name the field of the answers with --text-field, be it 'output'" in done.stderr
    done = planeval("score", str(gold), str(gold), "--benchmark", name, "--text-field", "output")
    assert done.returncode == 0, done.stderr


def test_appbench_result_files_are_read_as_its_code_writes_them(tmp_path: Path) -> None:
    gold = json.loads(APPBENCH.read_text())
    rows = []
    for item in gold:
        apps, calls = item["output"]["used_app"], item["output"]["api_results"]
        text = "\n".join(f"{app}: [{line}]" for app, line in zip(apps, calls, strict=True))
        parts = {"decided_app": apps, "decided_api": calls, "decided_app_api": text}
        rows.append({"input": item["input"], "output": item["output"], "prediction": parts})
    pred = array(tmp_path / "model_ss_results.json", rows)
    found, _ = figure("appbench", APPBENCH, pred)
    assert (found["complete_match"], found["api_hit_f1"]) == (1, 1)
    assert states(pred, str(APPBENCH)) == {"same": 2}
    for row in rows:
        del row["prediction"]["decided_app_api"]
    assert figure("appbench", APPBENCH, array(tmp_path / "parts.json", rows))[0]["complete_match"] == 1
    for row in rows:
        row["prediction"]["decided_app_matched_with_first_step"] = ["Elsewhere"]
    assert figure("appbench", APPBENCH, array(tmp_path / "apps.json", rows))[0]["complete_match"] == 0
    wrong = [{"output": item["output"], "predict": "I cannot."} for item in gold]
    assert figure("appbench", APPBENCH, array(tmp_path / "no.json", wrong))[0]["complete_match"] == 0


def test_complexfuncbench_result_files_hold_conversations(tmp_path: Path) -> None:
    folder = SAMPLES / "complexfuncbench"
    sample = json.loads((folder / "ComplexFuncBench.jsonl").read_text().splitlines()[0])
    row = {"id": sample["id"], "gen_convs": sample["conversations"], "message": "Success.", "count_dict": {}}
    found, _ = figure("complexfuncbench", folder, lines(tmp_path / "r.jsonl", [row]))
    assert found["from"] == 'field "gen_convs" of 1 record'
    assert found["Overall Call Accuracy"] > 0


def test_complexfuncbenchs_own_records_are_gold_and_no_answers(tmp_path: Path) -> None:
    folder = SAMPLES / "complexfuncbench"
    records = [json.loads(line) for line in (folder / "ComplexFuncBench.jsonl").read_text().splitlines()]
    rows = [row | {"model_convs": [{"role": "assistant", "content": "I cannot."}]} for row in records]
    done = planeval(
        "score", lines(tmp_path / "r.jsonl", rows), str(folder), "--benchmark", "complexfuncbench"
    )
    assert done.returncode == 2
    assert "'conversations' holds gold in this benchmark's own files" in done.stderr


def test_parts_beside_a_prediction_do_not_hide_it(tmp_path: Path) -> None:
    gold = json.loads(APPBENCH.read_text())
    rows = []
    for item in gold:
        apps, calls = item["output"]["used_app"], item["output"]["api_results"]
        text = "\n".join(f"{app}: [{line}]" for app, line in zip(apps, calls, strict=True))
        rows.append({"prediction": text, "decided_app": apps, "decided_api": []})
    found, _ = figure("appbench", APPBENCH, array(tmp_path / "r.json", rows))
    assert (found["complete_match"], found["from"]) == (1, 'field "prediction" of 2 records')


def test_calls_in_the_words_of_a_message_are_read(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(4)])
    asked = {"role": "user", "content": "f(a=9)"}
    for wrap in (
        lambda text: {"response": {"role": "assistant", "content": text, "tool_calls": None}},
        lambda text: {"messages": [asked, {"role": "assistant", "content": text}]},
        lambda text: {"response": {"choices": [{"message": {"role": "assistant", "content": text}}]}},
        lambda text: {"prediction": json.dumps({"role": "assistant", "content": text})},
    ):
        rows = [{"id": k} | wrap(f"Sure:\n```json\n{json.dumps([call(a=k)])}\n```") for k in range(3)]
        rows.append({"id": 3} | wrap("I cannot."))
        pred = lines(tmp_path / "p.jsonl", rows)
        assert states(pred, gold) == {"same": 3, "different": 1}


def test_functionchat_result_files_are_messages_in_the_order_of_their_requests(tmp_path: Path) -> None:
    from planner_eval.benchmarks.registry import benchmark

    folder, file = SAMPLES / "functionchat", SAMPLES / "answers" / "functionchat.jsonl"
    answers = {row["id"]: row["output"] for row in map(json.loads, file.read_text().splitlines())}
    nothing = {"role": "assistant", "content": None}
    messages = [answers.get(sample.id, nothing) for sample in benchmark("functionchat").read(folder)]
    by_id, _ = figure("functionchat", folder, str(file))
    found, said = figure("functionchat", folder, lines(tmp_path / "model.output.jsonl", messages))
    assert "matched by position" in said
    assert len(answers) < len(messages)
    assert found | {"from": ""} == by_id | {"from": ""}


@pytest.mark.parametrize("field", ["gold", "ground_truth", "reference", "expected", "possible_answer"])
def test_gold_is_never_an_answer(tmp_path: Path, field: str) -> None:
    file = lines(tmp_path / "f.jsonl", [{"id": k, field: [call(a=k)]} for k in range(3)])
    for argv in (("score", file, file), ("diff", file, file)):
        done = planeval(*argv)
        assert done.returncode == 2
        assert (
            f"none of 3 records has a field that is known to hold an answer; the first has 'id', '{field}'"
            in (done.stderr)
        )
        assert "--text-field" in done.stderr
    assert planeval("parse", file).returncode == 0
    assert planeval("diff", file, file, "--text-field", field).returncode == 0


@pytest.mark.parametrize(("answer", "gold"), [
    ("output", "expected_output"), ("outputs", "reference_outputs"), ("answer", "target"),
    ("prediction", "label"), ("prediction", "gold_calls"), ("output", "expected_tools"),
])  # fmt: skip
def test_gold_beside_the_answer_in_one_file_is_found(tmp_path: Path, answer: str, gold: str) -> None:
    rows = [{"id": k, answer: [call(a=k)], gold: [call(a=9)]} for k in range(2)]
    file = lines(tmp_path / "f.jsonl", rows)
    assert states(file, file) == {"different": 2}
    done = planeval("diff", file, file)
    assert f'answers: field "{answer}" of 2 records; gold: field "{gold}" of 2 records' in done.stderr


def test_one_field_is_not_the_answer_and_gold_unless_the_user_says_so(tmp_path: Path) -> None:
    rows = [{"id": k, "output": [call(a=k)], "wanted": [call(a=9)], "label": "easy"} for k in range(2)]
    file = lines(tmp_path / "f.jsonl", rows)
    for command in ("score", "diff"):
        for named in ((), ("--text-field", "output")):
            done = planeval(command, file, str(tmp_path / "." / ".." / tmp_path.name / "f.jsonl"), *named)
            assert (done.returncode, done.stdout) == (2, "")
            assert "both sides read field 'output' of the same file" in done.stderr
            assert "name the gold field with --gold-text-field" in done.stderr
        done = planeval(command, file, file, "--gold-text-field", "output")
        assert (done.returncode, done.stdout) == (2, "")
        assert "name the prediction field with --text-field" in done.stderr
        both = planeval(command, file, file, "--gold-text-field", "output", "--text-field", "output")
        assert both.returncode == 0
        other = planeval(command, file, file, "--gold-text-field", "wanted")
        assert other.returncode == int(command == "diff")
        assert 'gold: field "wanted"' in other.stderr


def test_two_fields_that_may_be_the_answer_are_an_error_that_names_the_option(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(2)])
    both = [{"id": k, "prediction": [call(a=k)], "response": "text"} for k in range(2)]
    pred = lines(tmp_path / "p.jsonl", both)
    done = planeval("score", pred, gold)
    assert done.returncode == 2
    assert "an answer may be in 'prediction' (2 records) or 'response' (2 records)" in done.stderr
    assert "--text-field" in done.stderr
    done = planeval("diff", pred, gold, "--text-field", "prediction")
    assert done.returncode == 0, done.stderr
    assert (
        'answers: field "prediction" of 2 records; gold: field "gold" of 2 records; paired by id'
        in done.stderr
    )


def test_output_is_the_answer_only_where_no_other_field_is(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(2)])
    alone = lines(tmp_path / "o.jsonl", [{"id": k, "output": [call(a=k)]} for k in range(2)])
    assert states(alone, gold) == {"same": 2}
    beside = [{"id": k, "output": [call(a=k)], "generated_text": None} for k in range(2)]
    assert states(lines(tmp_path / "b.jsonl", beside), gold) == {"unreadable": 2}
    mixed = [{"id": 0, "output": [call(a=0)]}, {"id": 1, "output": [call(a=1)], "prediction": [call(a=1)]}]
    assert states(lines(tmp_path / "m.jsonl", mixed), gold) == {"same": 1, "unreadable": 1}


def test_a_whole_number_names_a_record_as_an_integer_does(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": str(k), "gold": [call(a=k)]} for k in range(3)])
    rows = [{"id": float(k), "output": [call(a=k)]} for k in range(3)]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 3}
    broken = lines(tmp_path / "b.jsonl", [*rows[:2], '{"id": 2.0, "output": [}'])
    assert states(broken, gold) == {"same": 2, "unreadable": 1}
    table = tmp_path / "p.csv"
    table.write_text("id,output\n0,f(#a='0')\n1.0,f(#a='1')\n2,f(#a='2')\n")
    assert states(str(table), gold)["gold_absent"] == 1  # a cell is a text


@pytest.mark.parametrize("key", ["recordId", "record_id", "customId", "example_id", "test_id", "qid"])
def test_further_names_of_ids(tmp_path: Path, key: str) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": f"q{k}", "gold": [call(a=k)]} for k in range(2)])
    rows = [{key: f"q{k}", "output": [call(a=k)]} for k in (1, 0)]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 2}


@pytest.mark.parametrize("key", [None, "function_call"])
@pytest.mark.parametrize("number", [1, 3])
def test_every_line_of_lines_is_a_record_a_lone_call_too(
    tmp_path: Path, key: str | None, number: int
) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(number)])
    rows = [{"id": k} | ({key: call(a=k)} if key else call(a=k)) for k in reversed(range(number))]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": number}
    done = planeval("parse", lines(tmp_path / "q.ndjson", rows), "--format", "json")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [str(row["id"]) for row in rows]


def test_an_id_of_two_lines_does_not_cut_the_reason_off(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": "a\nb\x1b", "gold": [call(a=1)]}])
    pred = lines(tmp_path / "p.jsonl", [{"id": "a\nb\x1b", "output": None}])
    for command in (("diff",), ("score", "--only", "failures")):
        done = planeval(command[0], pred, gold, *command[1:])
        assert "(id a\\nb\\x1b): there is no plan: 'output' is null" in done.stdout


def test_a_link_to_nowhere_is_a_row_that_says_so(tmp_path: Path) -> None:
    for name in ("preds", "golds"):
        (tmp_path / name).mkdir()
        for number in (1, 2):
            (tmp_path / name / f"q{number}.json").write_text(json.dumps([call(a=number)]))
    (tmp_path / "preds" / "q2.json").unlink()
    (tmp_path / "preds" / "q2.json").symlink_to("nowhere")
    done = planeval("diff", str(tmp_path / "preds"), str(tmp_path / "golds"))
    assert done.returncode == 1
    assert "q2  unreadable" in done.stdout
    assert "directory" not in done.stderr
    (tmp_path / "preds" / "q3.json").symlink_to("nowhere")
    done = planeval("parse", str(tmp_path / "preds"))
    assert done.returncode == 1


def test_a_text_that_is_never_closed_says_where_it_starts(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(3)])
    rows = [{"id": k, "output": [call(a=k)]} for k in range(2)]
    done = planeval("diff", lines(tmp_path / "p.jsonl", [*rows, '{"id": 2, "output": "x']), gold)
    assert "column 21: unterminated string, which starts here" in done.stdout


def test_the_decision_is_one_for_the_whole_file_from_its_first_thousand_records(tmp_path: Path) -> None:
    ids = range(1_100)
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in ids])
    rows: list[dict[str, Any]] = [{"id": k, "prediction": [call(a=k)]} for k in range(1_000)]
    rows += [{"id": k, "response": [call(a=k)]} for k in range(1_000, 1_100)]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 1_000, "unreadable": 100}


def test_a_message_without_calls_is_an_answer(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": []} for k in range(3)])
    rows = [{"id": 0, "tool_calls": None}, {"id": 1, "tool_calls": []}, {"id": 2}]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 2, "unreadable": 1}
    message = {"role": "assistant", "content": "No.", "tool_calls": None}
    rows = [{"id": k, "response": message} for k in range(3)]
    assert states(lines(tmp_path / "m.jsonl", rows), gold) == {"same": 3}


def test_each_side_of_one_file_can_be_named(tmp_path: Path) -> None:
    rows = [{"nr": k, "mine": [call(a=k)], "theirs": [call(a=1)]} for k in range(2)]
    file = lines(tmp_path / "f.jsonl", rows)
    done = planeval(
        "score", file, file, "--text-field", "mine", "--gold-text-field", "theirs", "--id-field", "nr"
    )
    assert done.returncode == 0, done.stderr
    assert (
        'answers: field "mine" of 2 records; gold: field "theirs" of 2 records; paired by id' in done.stderr
    )
    assert "1 same, 1 different" in done.stdout


def wrapped(kind: str, key: Any, value: int) -> dict[str, Any]:
    if kind == "calls":
        return {"id": key, "calls": [call(a=value)]}
    if kind == "tool_calls":
        given = {"name": "f", "arguments": json.dumps({"a": value})}
        return {"id": key, "tool_calls": [{"id": "c", "type": "function", "function": given}]}
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": value}}
    return {"id": key, "type": "message", "role": "assistant", "content": [block]}


@pytest.mark.parametrize("kind", ["calls", "tool_calls", "anthropic"])
@pytest.mark.parametrize("write", [lines, array])
def test_ids_of_wrapped_calls_pair_the_records(tmp_path: Path, kind: str, write: Any) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": f"q{k}", "gold": [call(a=k)]} for k in range(20)])
    shuffled = [wrapped(kind, f"q{k}", k) for k in reversed(range(20))]
    pred = write(tmp_path / "p.json", shuffled)
    done = planeval("diff", pred, gold)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 pairs: 20 same" in done.stdout
    assert "paired by id" in done.stderr


@pytest.mark.parametrize("key", ["custom_id", "request_id", "response_id", "key"])
def test_more_fields_are_ids(tmp_path: Path, key: str) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=k)]} for k in range(5)])
    pred = lines(tmp_path / "p.jsonl", [{key: k, "text": json.dumps(call(a=k))} for k in reversed(range(5))])
    assert states(pred, gold) == {"same": 5}


def test_ids_are_compared_as_text(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": 7, "gold": [call(a=1)]}, {"id": 8, "gold": [call(a=1)]}])
    pred = [{"id": "7", "text": json.dumps(call(a=1))}, {"id": "0008", "text": json.dumps(call(a=1))}]
    assert states(lines(tmp_path / "p.jsonl", pred), gold) == {"same": 1, "absent": 1, "gold_absent": 1}


def test_no_common_id_is_an_error_and_positions_are_asked_for(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": f"q{k}", "gold": [call(a=k)]} for k in range(4)])
    for rows in (
        [{"id": f"x{k}", "text": json.dumps(call(a=k))} for k in range(4)],
        [{"text": json.dumps(call(a=k))} for k in range(4)],
    ):
        pred = lines(tmp_path / "p.jsonl", rows)
        for argv in (("diff", pred, gold), ("score", pred, gold), ("compare", pred, pred, "--gold", gold)):
            done = planeval(*argv)
            assert done.returncode == 3, argv
            assert "no id is in both files" in done.stderr
            assert "--pair position" in done.stderr
        assert planeval("diff", pred, gold, "--pair", "position").returncode == 0


def test_positions_pair_where_neither_file_has_ids_and_that_is_said(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"gold": [call(a=k)]} for k in range(4)])
    pred = lines(tmp_path / "p.jsonl", [{"text": json.dumps(call(a=k))} for k in range(4)])
    for command in ("diff", "score"):
        done = planeval(command, pred, gold)
        assert done.returncode == 0
        assert "paired by position" in done.stderr


def test_one_prediction_meets_the_gold_record_that_is_named(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": f"q{k}", "gold": [call(a=k)]} for k in range(4)])
    done = planeval("diff", "-", gold, "--id", "q2", text=json.dumps([call(a=2)]))
    assert (done.returncode, done.stdout) == (0, "same\n")


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return lines(tmp_path / "gold.jsonl", [{"id": f"q{k}", "gold": [call(a=k)]} for k in range(5)])


def predictions() -> list[str]:
    return [json.dumps({"id": f"q{k}", "prediction": [call(a=k)]}) for k in range(5)]


@pytest.mark.parametrize("name", ["p.jsonl", "p.json"])
@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize("cut", [slice(None, -3), slice(3, None)])
def test_a_cut_line_is_one_row(tmp_path: Path, gold: str, name: str, at: int, cut: slice) -> None:
    rows = predictions()
    rows[at] = rows[at][cut]
    pred = lines(tmp_path / name, rows)
    if name == "p.json" and at == 0 and cut.start:
        return  # nothing says any more that this text is a file of records
    found = states(pred, gold)
    assert found["same"] == 4
    assert found.get("unreadable", 0) + found.get("absent", 0) == 1


@pytest.mark.parametrize("at", [0, 2, 4])
@pytest.mark.parametrize("bad", [
    f'{{"id": "q?", "prediction": {DEEP}}}',
    f'{{"id": "q?", "prediction": [{{"name": "f", "arguments": {{"a": {"9" * 5_000}}}}}]}}',
    '{"id": "q?", "prediction": [{"name": "f" "arguments": {}}]}',
], ids=["deep", "long number", "syntax"])  # fmt: skip
@pytest.mark.parametrize("form", ["array", "lines"])
def test_a_bad_record_is_one_row(tmp_path: Path, gold: str, at: int, bad: str, form: str) -> None:
    rows = predictions()
    rows[at] = bad.replace("q?", f"q{at}")
    pred = tmp_path / "p.json"
    pred.write_text("[" + ",\n".join(rows) + "]" if form == "array" else "\n".join(rows))
    assert states(str(pred), gold) == {"same": 4, "unreadable": 1}
    done = planeval("diff", str(pred), gold)
    assert done.returncode == 1
    assert f"record {at + 1} (id q{at})" in done.stdout
    assert "Traceback" not in done.stderr


def test_an_array_that_is_cut_off_keeps_its_whole_records(tmp_path: Path, gold: str) -> None:
    pred = tmp_path / "p.json"
    pred.write_text(("[" + ",\n".join(predictions()))[:-12])
    assert states(str(pred), gold) == {"same": 4, "unreadable": 1}


def test_a_plan_that_is_cut_off_stays_one_plan(tmp_path: Path) -> None:
    plan = json.dumps([call(a=k) for k in range(5)])
    (tmp_path / "p.json").write_text(plan[:-12])
    done = planeval("diff", str(tmp_path / "p.json"), "-", text=plan)
    assert done.returncode == 1
    assert "cut" in done.stdout
    assert "pairs" not in done.stdout


def test_a_broken_answer_leaves_the_benchmarks_other_answers(tmp_path: Path) -> None:
    rows = (SAMPLES / "answers" / "nestful.jsonl").read_text().splitlines()
    whole, _ = figure("nestful", NESTFUL, lines(tmp_path / "whole.jsonl", rows))
    for bad in (rows[0][:-3], rows[0][3:], "nonsense"):
        found, _ = figure("nestful", NESTFUL, lines(tmp_path / "p.jsonl", [bad, *rows[1:]]))
        assert found["num_examples"] == whole["num_examples"]
        assert 0 < found["accuracy_combined"] < whole["accuracy_combined"]


@pytest.mark.parametrize("name", ["p.jsonl", "p.json"])
def test_lines_that_end_in_commas_are_read(tmp_path: Path, gold: str, name: str) -> None:
    assert states(lines(tmp_path / name, [row + "," for row in predictions()]), gold) == {"same": 5}
    pred = lines(tmp_path / "p.jsonl", [row + ";" for row in predictions()])
    assert states(pred, gold, "--pair", "position") == {"unreadable": 5}
    for command in (("convert", pred, "--to", "json"), ("parse", pred), ("stats", pred)):
        assert planeval(*command).returncode in (1, 3), command


def test_line_ends_of_old_machines(tmp_path: Path, gold: str) -> None:
    (tmp_path / "p.jsonl").write_bytes("\r".join(predictions()).encode())
    assert states(str(tmp_path / "p.jsonl"), gold) == {"same": 5}


@pytest.mark.parametrize("between", ["\n", "", " ", ",\n"])
def test_objects_one_after_the_other_are_records(tmp_path: Path, gold: str, between: str) -> None:
    rows = [json.dumps(json.loads(row), indent=1) for row in predictions()]
    (tmp_path / "p.json").write_text(between.join(rows))
    assert states(str(tmp_path / "p.json"), gold) == {"same": 5}
    rows[2] = rows[2][:30]
    (tmp_path / "p.json").write_text(between.join(rows))
    assert states(str(tmp_path / "p.json"), gold)["same"] == 4


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("cut", [20, 30, 60, -2])
def test_an_element_that_is_cut_loses_no_other(tmp_path: Path, gold: str, at: int, cut: int) -> None:
    rows = predictions()
    rows[at] = rows[at][:cut]
    (tmp_path / "p.json").write_text("[" + ", ".join(rows) + "]")
    found = states(str(tmp_path / "p.json"), gold)
    assert found["same"] == 4, found
    assert found.get("unreadable", 0) + found.get("absent", 0) == 1


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("form", ["array", "sequence", "lines"])
def test_cuts_anywhere_end_soon_and_lose_little(tmp_path: Path, seed: int, form: str) -> None:
    from random import Random

    from planner_eval.records.files import read_file

    random = Random(seed)
    inner = [call(items=[{"id": "d", "output": [call(a=1)]}]), call(note='"id": "b"', id=3)]
    rows = [json.dumps({"id": f"q{k}", "output": inner}, indent=random.choice([None, 1])) for k in range(5)]
    at, cut = random.randrange(5), random.randrange(1, 60)
    rows[at] = random.choice([rows[at][:-cut], rows[at][:cut], '{" ', rows[at][cut:]])
    joined = {"array": f"[{', '.join(rows)}]", "sequence": " ".join(rows), "lines": "\n".join(rows)}[form]
    (tmp_path / "p.json").write_text(joined)
    found = read_file(str(tmp_path / "p.json"))
    whole = [record.id for record in found.records if record.error is None]
    assert len(found.records) <= 60
    if found.many and form == "array":
        assert len({f"q{k}" for k in range(5) if k != at} - set(whole)) <= 1


def test_a_missing_comma_loses_nothing(tmp_path: Path, gold: str) -> None:
    rows = predictions()
    (tmp_path / "p.json").write_text(f"[{rows[0]}\n{rows[1]}, " + ", ".join(rows[2:]) + "]")
    assert states(str(tmp_path / "p.json"), gold) == {"same": 5}


def test_the_id_of_a_broken_record_is_none_that_its_plan_holds(tmp_path: Path) -> None:
    plans = [[call(id=k + 1)] for k in range(4)]
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": plans[k]} for k in range(4)])
    rows = [json.dumps({"id": k, "prediction": plans[k]}) for k in range(4)]
    rows[1] = rows[1][15:]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 3, "absent": 1, "gold_absent": 1}
    rows = [json.dumps({"prediction": plans[k], "id": k}) for k in range(4)]
    rows[1] = rows[1][:-2]
    found = states(lines(tmp_path / "p.jsonl", rows), gold)
    assert (found["same"], found.get("unreadable", 0) + found.get("absent", 0)) == (3, 1)


def test_a_broken_record_never_takes_the_place_of_a_whole_one(tmp_path: Path, gold: str) -> None:
    rows = [predictions()[2][:-3], *predictions()]
    assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 5, "gold_absent": 1}


@pytest.mark.parametrize("data", [
    {"id": "q1", "my_answer": [call(a=1)]},
    {"sample_id": "q1", "question": "?", "mine": [call(a=1)], "theirs": []},
    {"model": "m", "date": "2026", "results": [call(a=1)]},
])  # fmt: skip
def test_one_record_of_an_unknown_field_is_no_object_of_plans(tmp_path: Path, data: dict[str, Any]) -> None:
    from planner_eval.records.files import read_file

    found = read_file(array(tmp_path / "p.json", data))  # type: ignore[arg-type]
    assert len(found.records) == 1


def test_an_object_from_ids_to_plans_keeps_every_record(tmp_path: Path, gold: str) -> None:
    plans: dict[str, Any] = {f"q{k}": [call(a=k)] for k in range(5)}
    missing = json.dumps(plans | {"q1": None, "q3": ""})
    (tmp_path / "p.json").write_text(missing)
    assert states(str(tmp_path / "p.json"), gold) == {"same": 3, "unreadable": 2}
    twice = json.dumps(plans)[:-1] + ', "q1": []}'
    (tmp_path / "p.json").write_text(twice)
    done = planeval("score", str(tmp_path / "p.json"), gold)
    assert (done.returncode, "5 same" in done.stdout) == (1, True)
    assert "; 6 written as json" in planeval("convert", str(tmp_path / "p.json"), "--to", "json").stderr


def test_a_repeated_key_inside_a_value_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"name": "f", "arguments": {"o": {"a": 1, "a": 2}}}]')
    done = planeval("parse", str(tmp_path / "p.json"))
    assert done.returncode == 0
    assert (
        "value.duplicate: an object in 'o' of call 1 gives a key twice; the last value counts" in done.stdout
    )


def test_a_repeated_key_counts_however_the_plan_is_wrapped(tmp_path: Path) -> None:
    twice = '[{"name": "f", "arguments": {"a": 2, "a": 1}}]'
    once = '[{"name": "f", "arguments": {"a": 1}}]'
    codes = set()
    for form in ("%s", '{"id": "x", "prediction": %s}', '[{"id": "x", "prediction": %s}]', '{"x": %s}'):
        (tmp_path / "p.json").write_text(form % twice)
        (tmp_path / "g.json").write_text(form.replace("prediction", "gold") % once)
        codes.add(planeval("diff", str(tmp_path / "p.json"), str(tmp_path / "g.json")).returncode)
    assert codes == {1}


def test_a_repeated_answer_is_no_answer(tmp_path: Path, gold: str) -> None:
    rows = predictions()
    rows[1] = rows[1][:-1] + ', "prediction": []}'
    found = planeval("diff", lines(tmp_path / "p.jsonl", rows), gold)
    assert "the record has the field 'prediction' more than once" in found.stdout


def stability(tmp_path: Path, rows: Sequence[Any]) -> tuple[dict[str, Any], str]:
    return figure("callnavi", CALLNAVI, lines(tmp_path / "p.jsonl", rows), "--set", "task=stability")


def test_five_answers_in_one_record_are_five_answers(tmp_path: Path) -> None:
    outputs = ["AAAA", "AAAB", "AAAA", "BBBB", "AACC"]  # election (2 - 1) / (5 - 1)
    listed, _ = stability(tmp_path, [{"id": q["id"], "prediction": outputs} for q in QUESTIONS])
    assert listed["election"] == pytest.approx(0.25)
    apart, _ = stability(tmp_path, [{"id": q["id"], "prediction": o} for q in QUESTIONS for o in outputs])
    assert {k: v for k, v in listed.items() if k != "from"} == {k: v for k, v in apart.items() if k != "from"}
    objects = [{"API": [letters], "parameters": [{}]} for letters in outputs]
    structured, _ = stability(tmp_path, [{"id": q["id"], "prediction": objects} for q in QUESTIONS])
    assert structured["election"] == pytest.approx(0.25)


def test_a_question_without_an_answer_is_not_stable(tmp_path: Path) -> None:
    rows = [{"id": q["id"], "prediction": ["A"] * 5} for q in QUESTIONS]
    for nothing in (None, [], ["", None, " "]):
        found, _ = stability(tmp_path, [{"id": QUESTIONS[0]["id"], "prediction": nothing}, *rows[1:]])
        assert (found["election"], found["levenshtein"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    found, _ = stability(tmp_path, rows[1:])
    assert (found["election"], found["levenshtein"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_an_unreadable_answer_is_wrong_where_gold_calls_nothing(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": []} for k in range(6)])
    pred = lines(tmp_path / "p.jsonl", [{"id": k, "prediction": '[{"name": "f", "argum'} for k in range(6)])
    some = lines(tmp_path / "s.jsonl", [{"id": k, "prediction": "[]"} for k in range(3)])
    done = planeval("score", pred, gold, "--fail-under", "exact=0.9", "--format", "json")
    assert done.returncode == 1
    figures = {name: one["value"] for name, one in json.loads(done.stdout)["figures"].items()}
    assert not any(figures.values())
    assert {figures[n] for n in ("exact", "same_components", "same_depth", "same_width")} == {0}
    half = json.loads(planeval("score", some, gold, "--format", "json").stdout)["figures"]
    assert {half[n]["value"] for n in ("exact", "same_components", "same_depth", "same_width")} == {0.5}


def test_where_gold_calls_nothing_a_missing_answer_costs_every_figure_that_a_right_one_has(
    tmp_path: Path,
) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": [call(a=1)] if k < 4 else []} for k in range(5)])
    rows = [{"id": k, "prediction": [call(a=1)]} for k in range(4)]
    for last in ([], [{"id": 4, "prediction": '[{"name": "f", "argum'}]):
        pred = lines(tmp_path / "p.jsonl", [*rows, *last])
        for name in ("exact", "calls", "whole_calls", "similarity", "ordered_calls", "same_depth"):
            done = planeval("score", pred, gold, "--fail-under", f"{name}=0.99")
            assert done.returncode == 1, name


@pytest.mark.parametrize("limit", ["exact=nan", "exact=inf", "exact=", "exact"])
def test_a_threshold_that_cannot_fail_is_none(tmp_path: Path, limit: str) -> None:
    file = lines(tmp_path / "g.jsonl", [{"id": 1, "gold": []}])
    done = planeval("score", file, file, "--text-field", "gold", "--fail-under", limit)
    assert (done.returncode, "expected METRIC=NUMBER" in done.stderr) == (2, True)


@pytest.mark.parametrize("empty", [{"messages": []}, {"response": {}}, {"conversations": []}])
def test_an_empty_talk_is_no_answer(tmp_path: Path, empty: dict[str, Any]) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": 1, "gold": []}])
    assert states(lines(tmp_path / "p.jsonl", [{"id": 1} | empty]), gold) == {"unreadable": 1}


def test_an_empty_file_of_answers_is_called_empty(tmp_path: Path) -> None:
    done = planeval("score", lines(tmp_path / "p.jsonl", []), str(CALLNAVI), "--benchmark", "callnavi")
    assert (done.returncode, "is empty: there are no answers" in done.stderr) == (2, True)


def test_a_field_that_is_named_makes_records_of_what_would_be_calls(tmp_path: Path) -> None:
    calls = [{"name": "f", "arguments": {}, "mine": "g(#x='1')"}, {"name": "f", "mine": "g(#x='2')"}]
    done = planeval("parse", array(tmp_path / "p.json", calls), "--text-field", "mine")
    assert (done.returncode, done.stdout.count("  c1  g  x=")) == (0, 2), done.stderr


TWICE = '{"b": 1, "b": 2}'
ANSWERED = [
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "f", "arguments": {}}]},
    {"role": "tool", "tool_call_id": "c1", "content": TWICE},
]


@pytest.mark.parametrize(
    ("text", "note"),
    [(f'[{{"name": "f", "label": "v", "arguments": {{"a": {TWICE}}}}}]',
      "an object in 'a' of call 1 gives a key twice"),
     (f'[{{"name": "f", "arguments": {json.dumps(TWICE)}}}]', "argument 'b' is given twice in call 1"),
     (f'[{{"name": "f", "arguments": {{}}, "result": [{TWICE}]}}]',
      "an object in the result of call 1 gives a key twice"),
     (json.dumps(ANSWERED), "an object in the result of call 1 gives a key twice"),
     ('[{"name": "f", "arguments": {}, "arguments": {"a": 1}}]', "call 1 gives 'arguments' 2 times"),
     ('{"task_nodes": [{"task": "f", "arguments": {"a": 1, "a": 2}}], "task_links": []}',
      "argument 'a' is given twice in call 1"),
     ('{"schema": "planeval.plan/1", "calls": [{"name": "f"}], "answer": {"x": 1, "x": 2}}',
      "argument 'x' is given twice in the answer")],
    ids=["labelled", "encoded", "result", "answer", "call", "taskbench", "plan"],
)  # fmt: skip
def test_a_repeated_key_is_said_wherever_it_stands(text: str, note: str) -> None:
    done = planeval("parse", "-", text=text)
    assert done.returncode == 0, done.stderr
    assert note in done.stdout


@pytest.mark.parametrize(("given", "reason"), [
    ('{"a": 1} {"b": 2}', "the arguments of call 1 are a text of 2 JSON values, expected one"),
    ('{"a": ' + "[" * 9000, "the arguments of call 1 are a text past a limit: the text nests deeper than"),
    ("7" * 5000, "the arguments of call 1 are a text past a limit: found an integer of more than"),
], ids=["two", "deep", "long"])  # fmt: skip
def test_arguments_in_a_text_keep_the_limits(given: str, reason: str) -> None:
    done = planeval("parse", "-", text=json.dumps([{"name": "f", "arguments": given}]))
    assert done.returncode == 3
    assert reason in done.stdout
    assert "Traceback" not in done.stderr


def test_answers_keep_the_limits() -> None:
    deep = "[" * 300 + "]" * 300
    done = planeval("parse", "-", text=f'[{{"name": "f", "arguments": {{}}, "result": {deep}}}]')
    assert (done.returncode, "the result of call 1 nests deeper than 200 levels" in done.stdout) == (3, True)
    told = [ANSWERED[0], {"role": "tool", "tool_call_id": "c1", "content": deep}]
    done = planeval("parse", "-", "--format", "json", text=json.dumps(told))
    assert done.returncode == 0, done.stderr
    assert json.dumps(deep) in done.stdout, "an answer past the limit stays the text that it is"


def test_a_yaml_set_has_one_order() -> None:
    text = "API: [f]\nparameters: [{a: !!set {x, yy, zzz, 7}}]"
    seen = set()
    for seed in ("1", "2", "3", "4"):
        command = [sys.executable, "-m", "planner_eval", "parse", "-", "--from", "callnavi-yaml"]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        seen.add(subprocess.run(command, input=text, capture_output=True, text=True, env=env).stdout)
    assert len(seen) == 1
    assert '["x"' in seen.pop().replace("[7, ", "[")
