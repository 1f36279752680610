"""Files of answers scored under a benchmark: what is matched, what is told, both columns of figures."""

import csv
import io
import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.benchmarks.benchmark import BENCHMARKS, VARIANTS, benchmark
from planner_eval.benchmarks.compare import details
from planner_eval.benchmarks.datasets.published import published_datasets
from planner_eval.benchmarks.score import Scored, figure_rows, score_file, score_view
from planner_eval.execution.nestful import NestfulRunner
from tests.build import jsonl
from tests.conftest import ROOT, tabled, tables

TABLES = tables(__file__)

SAMPLES = ROOT / "data" / "samples"


def text_of(scored: Scored, form: str = "text", **how: Any) -> str:
    return score_view(scored, **how).text(form)


@pytest.fixture
def callnavi(tmp_path: Path) -> Path:
    """Three questions of our own in CallNavi's layout."""
    folder = tmp_path / "callnavi"
    ports = [{"name": name, "parameters": {"n": "int"}, "description": ""} for name in ("count", "add")]
    asked = {"question": [{"role": "user", "content": "?"}]}
    questions = [{
        **asked, "id": f"hr{k}", "ground_truth": {"API": ["count"], "parameters": [{"n": k}]},
        "difficulty": level,
    } for k, level in enumerate(("easy", "medium", "hard"))]  # fmt: skip
    for name, data in (("Questions", questions), ("APIs", {"api_ports": ports})):
        (folder / name).mkdir(parents=True)
        (folder / name / "hr.json").write_text(json.dumps(data))
    return folder


def right(k: int) -> str:
    return json.dumps({"API": ["count"], "parameters": [{"n": k}]})


def test_everything_that_does_not_match_is_counted(callnavi: Path, tmp_path: Path) -> None:
    records = [{"id": "hr0", "prediction": right(0)}, {"id": "hr0", "prediction": right(1)},
               {"id": "hr1", "unknown_field": 1}, {"id": "zzz", "prediction": right(1)}]  # fmt: skip
    scored = score_file(jsonl(tmp_path / "p.jsonl", records), str(callnavi), "callnavi")
    matched, text = scored.matched, text_of(scored)
    assert (matched.by, matched.answers, len(matched.records), len(matched.broken)) == ("id", 4, 3, 1)
    assert (matched.missing, matched.unknown, matched.repeated) == (("hr2",), ("zzz",), ("hr0",))
    ours, official = (scored.reports[name].figure("ast_overall") for name in ("corrected", "official"))
    assert (ours.numerator, ours.denominator, official.denominator) == (1, 3, 729)
    for said in TABLES["everything_that_does_not_match_is_counted"]:
        assert said in text


def test_ids_of_other_data_are_told_and_positions_can_be_asked_for(callnavi: Path, tmp_path: Path) -> None:
    same = score_file(jsonl(tmp_path / "same.jsonl", map(right, range(3))), str(callnavi), "callnavi")
    assert same.matched.by == "position"
    assert all(row.ok for row in same.reports["corrected"].rows)
    numbered = [{"id": k, "prediction": right(k)} for k in range(3)]
    for records, said in (
        ([*map(right, range(2))], "2 answers for 3 samples, matched by position"),
        ([{"id": "hr0", "prediction": "x"}, {"prediction": "y"}], "1 of 2 answers have no id \\(first"),
        (numbered, "no answer's id is a sample's id: answers have '0', '1'"),
    ):
        file = jsonl(tmp_path / "p.jsonl", records)
        with pytest.raises(InputError, match=said):
            score_file(file, str(callnavi), "callnavi")
    scored = score_file(file, str(callnavi), "callnavi", reading=pe.Reading(by="position"))
    assert scored.reports["corrected"].value("ast_overall") == 1


def test_other_notations_are_told_and_outputs_are_stable(callnavi: Path, tmp_path: Path) -> None:
    records = [{"id": f"hr{k}", "prediction": f"Staff: [count(#n='{k}')]"} for k in range(3)]
    scored = score_file(jsonl(tmp_path / "p.jsonl", records), str(callnavi), "callnavi")
    assert (scored.notations, scored.reports["official"].value("syntax")) == ({"appbench": 3}, 0)
    assert "answers that look like appbench, not what CallNavi asks for: 3" in text_of(scored)
    records = [{"id": f"hr{k}", "outputs": [right(k)] * 4 + [right(9)]} for k in range(3)]
    scored = score_file(
        jsonl(tmp_path / "p.jsonl", records),
        str(callnavi),
        "callnavi",
        rules=pe.BenchmarkRules(settings={"task": "stability"}),
    )
    assert (scored.matched.answers, len(scored.matched.records)) == (15, 15)
    assert 0 < float(scored.reports["corrected"].value("election") or 0) < 1
    assert "denominator: 15 records, one per sample and answer" in text_of(scored)


@tabled("name, gold, said")
@pytest.mark.usefixtures("callnavi")
def test_wrong_gold_is_told(tmp_path: Path, name: str, gold: str, said: str) -> None:
    jsonl(tmp_path / "p.jsonl", [{"id": "hr0", "prediction": right(0)}])
    with chdir(tmp_path), pytest.raises(PlanevalError, match=said):
        score_file("p.jsonl", gold, name, reading=pe.Reading(cache=str(tmp_path / "cache")))


def test_every_form_holds_every_figure(callnavi: Path, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "p.jsonl", [{"id": f"hr{k}", "prediction": right(k)} for k in range(3)])
    scored = score_file(file, str(callnavi), "callnavi")
    names = [figure.name for figure in scored.reports["official"].figures]
    every = {figure.name for report in scored.reports.values() for figure in report.figures}
    written = [row["figure"] for row in csv.DictReader(io.StringIO(text_of(scored, form="csv")))]
    assert sorted(written) == sorted(every)
    assert [name for name in written if name in names] == names
    assert all(name in text_of(scored, form="md") for name in names)
    data = json.loads(text_of(scored, form="json"))
    assert [figure["name"] for figure in data["reports"]["official"]["figures"]] == names
    assert len(data["reports"]["corrected"]["rows"]) == data["records"] == 3
    rows = csv.DictReader(io.StringIO(text_of(scored, form="csv", rows=True)))
    assert [(row["id"], row["corrected"]) for row in rows] == [(f"hr{k}", "True") for k in range(3)]
    one = score_file(file, str(callnavi), "callnavi", rules=pe.BenchmarkRules(("corrected",)))
    assert "official" not in next(iter(figure_rows(one)))


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_each_difference_has_a_note_and_figures_stand_in_the_order_of_both(name: str) -> None:
    scored = score_file(str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), name)
    rows = list(figure_rows(scored))
    for row in rows:
        numbers = [row["official"], row["corrected"]]
        if all(isinstance(value, (int, float)) for value in numbers) and numbers[0] != numbers[1]:
            assert row["note"], row
    names = [row["figure"] for row in rows]
    assert len(names) == len(set(names))
    for report in scored.reports.values():
        own = [figure.name for figure in report.figures]
        assert name == "appbench" or [figure for figure in names if figure in own] == own
    raised = "official: scores where the published code raises ZeroDivisionError: 17"
    assert (raised in text_of(scored)) == (name == "appbench")


def test_details_have_the_papers_tables() -> None:
    gold = str(SAMPLES / "nestful" / "v2" / "nestful_data.jsonl")
    with NestfulRunner(level="inline") as run:
        scored = score_file(
            str(SAMPLES / "answers" / "nestful.jsonl"), gold, "nestful", rules=pe.BenchmarkRules(run=run)
        )
        tables = dict(details(scored, run=run))
    assert scored.reports["official"].value("win_rate") == pytest.approx(2 / 3)
    depths = [row for row in tables["Figure 6: win rate by structure"] if row["by"] == "depth"]
    assert [(row["samples"], row["won"]) for row in depths] == [(3, 2)]
    scored = score_file(str(SAMPLES / "answers" / "appbench.jsonl"), str(SAMPLES / "appbench"), "appbench")
    titles = [title.partition(":")[0] for title, _ in details(scored)]
    assert titles == ["By part", "Table 4", "Figure 4", "Table 8"]


def test_every_data_set_that_names_a_benchmark_names_one_that_there_is() -> None:
    assert {one.benchmark for one in published_datasets().values() if one.benchmark} == set(BENCHMARKS)


@pytest.mark.parametrize("name", list(BENCHMARKS))
@pytest.mark.parametrize("variant", VARIANTS)
def test_gold_is_read_and_scored_through_the_registry(name: str, variant: str) -> None:
    one, options = benchmark(name), {"runner": "qwen"} if name == "complexfuncbench" else {}
    nothing = one.score(variant, [])
    assert (nothing.benchmark, nothing.variant, nothing.n, nothing.rows) == (name, variant, 0, ())
    samples = list(one.read(SAMPLES / name))
    records = [(s, text) for s in samples if (text := benchmark(name).gold_text(s)) is not None]
    report = one.score(variant, records, **options)
    assert [row.id for row in report.rows] == [sample.id for sample, _ in records]
    # The published AppBench code finds faults in gold itself; the corrected figures do not.
    perfect = sum(row.ok for row in report.rows)
    assert perfect == report.n > 0 or ((name, variant) == ("appbench", "official") and perfect > 0)


def test_wrong_names_and_options_are_told() -> None:
    for wrong, said in (("CallNavy", "did you mean callnavi"), ("zzz", "expected one of appbench")):
        with pytest.raises(InputError, match=said):
            benchmark(wrong)
    for name, variant, options, said in TABLES["wrong_names_and_options_are_told"]:
        with pytest.raises(InputError, match=said):
            benchmark(name).score(variant, [], **options)
