"""Files of answers scored under a benchmark: what is matched, what is told, both columns of figures."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.benchmarks.details import details
from planner_eval.benchmarks.registry import BENCHMARKS, benchmark
from planner_eval.benchmarks.replay import gold_text
from planner_eval.benchmarks.score import Scored, Source, figure_rows, score_file, shown
from tests.conftest import ROOT

SAMPLES = ROOT / "data" / "samples"


def write(path: Path, records: Iterable[Any]) -> str:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def callnavi(tmp_path: Path) -> Path:
    """Three questions of our own in CallNavi's layout."""
    folder = tmp_path / "callnavi"
    (folder / "Questions").mkdir(parents=True)
    (folder / "APIs").mkdir()
    ports = [{"name": name, "parameters": {"n": "int"}, "description": ""} for name in ("count", "add")]
    (folder / "APIs" / "hr.json").write_text(json.dumps({"api_ports": ports}))
    questions = [
        {
            "id": f"hr{k}",
            "question": [{"role": "user", "content": "?"}],
            "ground_truth": {"API": ["count"], "parameters": [{"n": k}]},
            "difficulty": level,
        }
        for k, level in enumerate(("easy", "medium", "hard"))
    ]
    (folder / "Questions" / "hr.json").write_text(json.dumps(questions))
    return folder


def right(k: int) -> str:
    return json.dumps({"API": ["count"], "parameters": [{"n": k}]})


def test_everything_that_does_not_match_is_counted(callnavi: Path, tmp_path: Path) -> None:
    records = [
        {"id": "hr0", "prediction": right(0)},
        {"id": "hr0", "prediction": right(1)},
        {"id": "hr1", "unknown_field": 1},
        {"id": "zzz", "prediction": right(1)},
    ]
    scored = score_file(write(tmp_path / "p.jsonl", records), str(callnavi), "callnavi")
    matched = scored.matched
    assert (matched.by, matched.answers, len(matched.records)) == ("id", 4, 3)
    assert (matched.missing, matched.unknown, matched.repeated) == (("hr2",), ("zzz",), ("hr0",))
    assert len(matched.broken) == 1
    assert scored.reports["corrected"].figure("ast_overall").numerator == 1
    assert scored.reports["corrected"].figure("ast_overall").denominator == 3
    assert scored.reports["official"].figure("ast_overall").denominator == 729
    text = shown(scored)
    for said in (
        "CallNavi: 4 answers, 3 samples, matched by id",
        "denominator: 3 records, one a sample",
        "samples without an answer, counted as wrong: 1 (hr2)",
        "answers that no sample asked for, not counted: 1 (zzz)",
        "further answers to a sample that has one, not counted: 1 (hr0)",
        "answers that cannot be read from the file, counted as wrong: 1 (",
        "1/3",
        "divided by a constant of the published code",
    ):
        assert said in text
    assert shown(scored) == text


def test_positions_match_only_as_many_answers_as_samples(callnavi: Path, tmp_path: Path) -> None:
    same = write(tmp_path / "same.jsonl", [right(k) for k in range(3)])
    scored = score_file(same, str(callnavi), "callnavi")
    assert scored.matched.by == "position"
    assert all(row.ok for row in scored.reports["corrected"].rows)
    fewer = write(tmp_path / "fewer.jsonl", [right(k) for k in range(2)])
    with pytest.raises(InputError, match="2 answers for 3 samples, matched by position"):
        score_file(fewer, str(callnavi), "callnavi")


def test_ids_of_other_data_are_told_and_positions_can_be_asked_for(callnavi: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", [{"id": k, "prediction": right(k)} for k in range(3)])
    with pytest.raises(InputError, match="no answer's id is a sample's id: answers have '0', '1'"):
        score_file(file, str(callnavi), "callnavi")
    scored = score_file(file, str(callnavi), "callnavi", source=Source(by="position"))
    assert scored.reports["corrected"].value("ast_overall") == 1
    mixed = write(tmp_path / "m.jsonl", [{"id": "hr0", "prediction": "x"}, {"prediction": "y"}])
    with pytest.raises(InputError, match="1 of 2 answers name no sample, the first at"):
        score_file(mixed, str(callnavi), "callnavi")


def test_answers_in_another_notation_are_told(callnavi: Path, tmp_path: Path) -> None:
    records = [{"id": f"hr{k}", "prediction": f"Staff: [count(#n='{k}')]"} for k in range(3)]
    scored = score_file(write(tmp_path / "p.jsonl", records), str(callnavi), "callnavi")
    assert scored.notations == {"appbench": 3}
    assert "answers that look like appbench, not what CallNavi asks for: 3" in shown(scored)
    assert scored.reports["official"].value("syntax") == 0


def test_several_outputs_to_a_question_count_for_stability(callnavi: Path, tmp_path: Path) -> None:
    records = [{"id": f"hr{k}", "outputs": [right(k)] * 4 + [right(9)]} for k in range(3)]
    file = write(tmp_path / "p.jsonl", records)
    scored = score_file(file, str(callnavi), "callnavi", task="stability")
    assert (scored.matched.answers, len(scored.matched.records)) == (15, 15)
    assert 0 < float(scored.reports["corrected"].value("election") or 0) < 1
    assert "denominator: 15 records, one a sample and answer" in shown(scored)


@pytest.mark.parametrize(
    ("name", "gold", "said"),
    [
        ("appbench", "callnavi/Questions/hr.json", "is gold of callnavi, not of appbench"),
        ("nestful", "callnavi/Questions/hr.json", "is no gold of nestful"),
        ("functionchat", "callnavi", "none of FunctionChat-Singlecall.jsonl"),
        ("callnavi", "nowhere", "nowhere: there is no such file, folder or data set"),
        ("callnavi", "appbench", "appbench is a data set of appbench, not of callnavi"),
        ("callnavi", "dataset:callnavi", "'planeval data fetch callnavi' fetches it"),
        ("calnavi", "callnavi", "did you mean callnavi?"),
    ],
)
def test_wrong_gold_is_told(
    callnavi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, gold: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "p.jsonl", [{"id": "hr0", "prediction": right(0)}])
    with pytest.raises(PlanevalError) as told:
        score_file("p.jsonl", gold, name, source=Source(cache=str(tmp_path / "cache")))
    assert said in str(told.value)


def test_every_form_holds_every_figure(callnavi: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", [{"id": f"hr{k}", "prediction": right(k)} for k in range(3)])
    scored = score_file(file, str(callnavi), "callnavi")
    names = [figure.name for figure in scored.reports["official"].figures]
    every = {figure.name for report in scored.reports.values() for figure in report.figures}
    written = [row["figure"] for row in csv.DictReader(io.StringIO(shown(scored, form="csv")))]
    assert sorted(written) == sorted(every)
    assert [name for name in written if name in names] == names
    assert all(name in shown(scored, form="md") for name in names)
    data = json.loads(shown(scored, form="json"))
    assert [figure["name"] for figure in data["reports"]["official"]["figures"]] == names
    assert len(data["reports"]["corrected"]["rows"]) == data["records"] == 3
    rows = list(csv.DictReader(io.StringIO(shown(scored, form="csv", rows=True))))
    assert [(row["id"], row["corrected"]) for row in rows] == [(f"hr{k}", "True") for k in range(3)]
    one = score_file(file, str(callnavi), "callnavi", variants=("corrected",))
    assert "official" not in next(iter(figure_rows(one)))


def test_own_conversations_score_from_a_file(tmp_path: Path) -> None:
    folder = SAMPLES / "complexfuncbench"
    samples = list(benchmark("complexfuncbench").read(folder))
    records = [
        {"id": s.id, "conversations": json.loads(str(gold_text("complexfuncbench", s)))} for s in samples
    ]
    if isinstance(records[0]["conversations"], dict):
        records = [{"id": r["id"], **r["conversations"]} for r in records]
    file = write(tmp_path / "p.jsonl", records)
    for gold in (folder, folder / "ComplexFuncBench.jsonl"):
        scored = score_file(file, str(gold), "complexfuncbench", runner="qwen")
        assert scored.reports["corrected"].value("Overall Call Accuracy") == 1
        assert scored.reports["corrected"].n == len(samples)


def vectors(reference: Path, name: str) -> list[Mapping[str, Any]]:
    with gzip.open(reference / "vectors" / name, "rt") as stream:
        return [json.loads(line) for line in stream]


@pytest.mark.more
def test_an_appbench_file_gives_the_official_figures(reference: Path, tmp_path: Path) -> None:
    rows = [
        row
        for row in vectors(reference, "appbench/pred.jsonl.gz")
        if (row["set"], row["perturbation"]) == ("mm", "value_changed")
    ]
    file = write(tmp_path / "p.jsonl", [{"id": f"mm-{row['idx']}", "text": row["text"]} for row in rows])
    gold = reference / "datasets" / "appbench" / "test_mm.json"
    scored = score_file(file, str(gold), "appbench")
    with gzip.open(reference / "vectors/appbench/official.json.gz", "rt") as stream:
        official = json.load(stream)
    wanted = next(
        one for one in official["whole_set"] if (one["set"], one["perturbation"]) == ("mm", "value_changed")
    )["evaluation.get_appbench_analysis"]
    report = scored.reports["official"]
    assert {name: report.value(name) for name in wanted} == pytest.approx(wanted, abs=1e-9)
    text = shown(scored)
    assert all(str(float(value)) in text for value in wanted.values() if value % 1)
    titles = [title for title, _ in details(scored)]
    assert titles == [
        "Table 4: errors in percent",
        "Figure 4: exact match of arguments by scale",
        "Table 8: APIs called, by app",
    ]


@pytest.mark.more
@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name != "complexfuncbench"])
def test_gold_in_a_file_is_perfect_under_the_paper(reference: Path, tmp_path: Path, name: str) -> None:
    folder = reference / "datasets" / name
    samples = list(benchmark(name).read(folder))
    texts = {sample.id: gold_text(name, sample) for sample in samples}
    records = [{"id": key, "prediction": text} for key, text in texts.items() if text is not None]
    scored = score_file(write(tmp_path / "p.jsonl", records), str(folder), name)
    report = scored.reports["corrected"]
    assert report.n == len(samples)
    assert sum(row.ok for row in report.rows) == len(records)
    assert len(scored.matched.missing) == len(samples) - len(records)
    assert isinstance(scored, Scored)


def test_each_difference_has_a_note_and_exceptions_are_summed_up(tmp_path: Path) -> None:
    for name in BENCHMARKS:
        answers, gold = SAMPLES / "answers" / f"{name}.jsonl", SAMPLES / name
        scored = score_file(str(answers), str(gold), name)
        for row in figure_rows(scored):
            numbers = [row["official"], row["corrected"]]
            if all(isinstance(value, (int, float)) for value in numbers) and numbers[0] != numbers[1]:
                assert row["note"], (name, row)
    text = shown(score_file(str(SAMPLES / "answers/appbench.jsonl"), str(SAMPLES / "appbench"), "appbench"))
    assert "official: figures where the published code ends with ZeroDivisionError: 17" in text


def test_figures_stand_in_the_order_of_both_variants() -> None:
    name = "complexfuncbench"
    scored = score_file(str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), name)
    names = [row["figure"] for row in figure_rows(scored)]
    assert len(names) == len(set(names))
    for report in scored.reports.values():
        own = [figure.name for figure in report.figures]
        assert [figure for figure in names if figure in own] == own


def test_nestful_answers_that_are_run_have_figure_6() -> None:
    from planner_eval.execution import NestfulRunner

    with NestfulRunner(level="inline") as run:
        gold = str(SAMPLES / "nestful" / "v2" / "nestful_data.jsonl")
        scored = score_file(str(SAMPLES / "answers" / "nestful.jsonl"), gold, "nestful", run=run)
        tables = dict(details(scored, run=run))
    assert scored.reports["official"].value("win_rate") == pytest.approx(2 / 3)
    depths = [row for row in tables["Figure 6: win rate by structure"] if row["by"] == "depth"]
    assert [(row["samples"], row["won"]) for row in depths] == [(3, 2)]
