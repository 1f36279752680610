"""Figures without the records of doubtful gold: what they are then, and when a verdict turns."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.results.gold_doubts import read_gold_doubts, turned_figures
from tests.build import jsonl
from tests.conftest import tabled
from tests.inside import planeval

GOLD = [{"id": f"q{number}", "gold": f"f(x={number})"} for number in range(40)]
DOUBTFUL = [f"q{number}" for number in range(12)]
"""Records on which only the second system gives gold's plan."""


def answers(wrong: set[str]) -> list[dict[str, str]]:
    return [{"id": r["id"], "prediction": "g()" if r["id"] in wrong else r["gold"]} for r in GOLD]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    sets = {"gold": GOLD, "a": answers({*DOUBTFUL, "q30"}), "b": answers({"q31"})}
    return [jsonl(tmp_path / f"{name}.jsonl", rows) for name, rows in sets.items()]


def doubts_file(path: Path, *records: Any, code: str = "gold.ungrounded") -> str:
    path.write_text(json.dumps({"doubts": [{"record": r, "code": code} for r in records]}), encoding="utf-8")
    return str(path)


def test_a_verdict_turns_without_them_and_each_figure_stands_beside(files: list[str], tmp_path: Path) -> None:
    gold, first, second = files
    doubts = doubts_file(tmp_path / "doubts.json", *DOUBTFUL, "elsewhere")
    told = planeval("score", first, gold, "--metric", "exact", "--gold-doubts", doubts)
    assert told.returncode == 0
    assert (
        "gold is doubtful in 12 of 40 samples (doubts.json); 1 doubtful record not among them" in told.stdout
    )
    # 27 of 40 are right, 27 of the 28 others
    assert ["exact", "0.675", "0.9643", "+0.2893", "40", "28"] in [*map(str.split, told.stdout.splitlines())]
    data = json.loads(planeval("score", first, gold, "--format", "json", "--gold-doubts", doubts).stdout)
    without = data["without_gold_doubts"]
    assert (without["left_out"], without["of"], without["unknown"]) == (12, 40, ["elsewhere"])
    assert without["figures"]["exact"]["value"] == 27 / 28
    assert list(data)[-1] == "rows"
    compared = planeval(
        "compare", first, second, "--gold", gold, "--metric", "exact", "--gold-doubts", doubts
    )
    assert (
        "the verdict on b changes (exact: better, without them no significant difference)" in compared.stdout
    )
    contrast = json.loads(
        planeval("compare", first, second, "--gold", gold, "--format", "json", "--gold-doubts", doubts).stdout
    )["without_gold_doubts"]["contrasts"][0]
    assert contrast["turns"]["exact"] == {"with": "better", "without": "no significant difference"}
    assert (contrast["n"], contrast["figures"]["exact"]["first"]) == (28, 27 / 28)
    every = doubts_file(tmp_path / "every.json", *(record["id"] for record in GOLD))
    none_left = planeval(
        "compare", first, second, "--gold", gold, "--metric", "exact", "--gold-doubts", every
    )
    assert "no sample is left on which b could be compared" in none_left.stdout
    few = doubts_file(tmp_path / "few.json", "q0")
    held = planeval("compare", first, second, "--gold", gold, "--metric", "exact", "--gold-doubts", few)
    assert "the verdict on b stays the same; without them b is better than a in exact" in held.stdout


def test_runs_that_are_kept_and_several_systems(files: list[str], tmp_path: Path) -> None:
    gold, first, second = files
    doubts = doubts_file(tmp_path / "doubts.json", *DOUBTFUL)
    for name, answered in (("r1", first), ("r2", second)):
        assert planeval("score", answered, gold, "-o", f"{tmp_path / name}/").returncode == 0
    runs = [str(tmp_path / name) for name in ("r1", "r2")]
    told = planeval("score", runs[0], "--gold-doubts", doubts, "--format", "json").stdout
    assert json.loads(told)["without_gold_doubts"]["figures"]["exact"]["n"] == 28
    assert "the verdict on r2 changes" in planeval("compare", *runs, "--gold-doubts", doubts).stdout
    three = planeval(
        "compare", first, second, second, "--gold", gold, "--gold-doubts", doubts, "--metric", "exact"
    )
    assert three.stdout.count("changes (exact") == 2


def test_what_data_check_writes_is_read(tmp_path: Path) -> None:
    tool = {"name": "pay", "parameters": {"type": "object", "properties": {"user": {"type": "string"}}}}
    call = {"name": "pay", "arguments": {"usr": "Kim"}}
    right = {"name": "pay", "arguments": {"user": "Kim"}}
    records = [{"id": n, "question": "Pay Kim please", "tools": [tool], "gold": [call if n == "x" else right]}
               for n in "xyz"]  # fmt: skip
    source = jsonl(tmp_path / "gold.jsonl", records)
    found, fixes = str(tmp_path / "found.json"), str(tmp_path / "fixes.jsonl")
    assert planeval("data", "check", source, "--format", "json", "-o", found, "--fix", fixes).returncode == 1
    for file in (found, fixes):
        assert read_gold_doubts(file).records == {"x"}
    assert read_gold_doubts(pe.check_dataset(source)).records == {"x"}
    pred = jsonl(tmp_path / "pred.jsonl", [{"id": n, "prediction": [right]} for n in "xyz"])
    without = pe.leave_out_doubts(pe.score(Path(pred), Path(source), metrics=["exact"]), found)
    assert (without.left_out, without.of, without.rest.figure("exact")) == (1, 3, 1.0)


def test_trials_of_a_doubtful_task_are_all_left_out_and_places_count() -> None:
    report = pe.score(["f()", "g()"], ["f()", "h()"], metrics=["exact"])
    assert pe.leave_out_doubts(report, [2]).rest.figure("exact") == 1.0
    contrast = pe.compare(["f()"], ["f()"], ["f()"], metrics=["exact"])
    assert turned_figures(contrast, contrast) == {}


@tabled("content, said")
def test_what_cannot_be_used_is_refused(content: str, said: str, files: list[str], tmp_path: Path) -> None:
    doubts = tmp_path / "doubts.json"
    doubts.write_text(content, encoding="utf-8")
    told = planeval("score", files[1], files[0], "--gold-doubts", str(doubts))
    assert (told.returncode, said in told.stderr, told.stdout) == (2, True, "")
    assert planeval("score", files[1], files[0], "--gold-doubts", str(tmp_path / "no.json")).returncode == 2
    assert (
        planeval("score", files[1], files[0], "--gold-doubts", str(doubts), "--format", "csv").returncode == 2
    )


def test_faults_of_tools_are_none_of_a_record_and_no_doubts_leave_all(
    files: list[str], tmp_path: Path
) -> None:
    for doubts in (
        doubts_file(tmp_path / "d.json", "q1", code="gold.tool_enum"),
        doubts_file(tmp_path / "e.json"),
    ):
        told = planeval("score", files[1], files[0], "--metric", "exact", "--gold-doubts", doubts).stdout
        assert "gold is doubtful in 0 of 40 samples" in told
        assert ["exact", "0.675", "0.675", "+0.0000", "40", "40"] in [*map(str.split, told.splitlines())]
