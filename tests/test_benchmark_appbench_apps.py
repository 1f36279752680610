"""AppBench: the apps of a first step in answers, and the APIs of each app (Table 8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.appbench.apps import TABLE_8, table8, used_apis
from planner_eval.benchmarks.appbench.evaluation import predicted_side
from planner_eval.benchmarks.appbench.text import split_answer
from planner_eval.datasets.appbench import read_appbench
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.appbench import decided_text, first_step_text, matched_apps
from tests.conftest import ROOT
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples" / "appbench"
TRAM = "line, minutes = stops(#place='Mill Lane', #after='09:00')"
LOAN = "loan, due = borrow(#title='Tides', #branch='King Street')"


def figures(tmp_path: Path, records: list[Any], part: str = "test_ss.json") -> dict[str, list[str]]:
    pred = tmp_path / "pred.json"
    pred.write_text(json.dumps(records))
    done = planeval("score", str(pred), str(SAMPLES / part), "--benchmark", "appbench", "--format", "csv")
    assert done.returncode == 0, done.stderr
    return {line.split(",")[0]: line.split(",")[1:5] for line in done.stdout.splitlines()}


def test_a_result_file_says_which_apps_the_first_step_chose(tmp_path: Path) -> None:
    gold = json.loads((SAMPLES / "test_ss.json").read_text())
    records = []
    for item, call in zip(gold, (TRAM, LOAN), strict=True):
        parts = {"decided_app": ["app1"], "decided_api": [call], "decided_app_api": f"app1: [{call}]"}
        records.append({"input": item["input"], "output": item["output"], "prediction": parts})
    assert figures(tmp_path, records)["app_hit_f1"] == ["0.0", "", "0.0", "0/4"]
    for record, app in zip(records, ("Trams", "Library"), strict=True):
        record["prediction"]["decided_app_first_step"] = [app]
        record["prediction"]["decided_app_matched_with_first_step"] = [app]
    found = figures(tmp_path, records)
    assert found["app_hit_f1"] == ["1.0", "", "1.0", "4/4"]
    assert found["complete_match"][0] == "1.0"


def test_answers_in_words_have_the_first_step_beside_them(tmp_path: Path) -> None:
    records = [
        {"id": "ss-0", "prediction": f"app2: [{TRAM}]", "first_step_apps": ["Library", "Trams"]},
        {"id": "ss-1", "prediction": f"app1: [{LOAN}]"},
    ]
    found = figures(tmp_path, records)
    assert found["app_hit_f1"] == ["0.5", "", "0.5", "2/4"]
    records[1]["first_step_apps"] = ["Library"]
    assert figures(tmp_path, records)["app_hit_f1"][2:] == ["1.0", "4/4"]
    pred = tmp_path / "wrong.json"
    pred.write_text(json.dumps([records[0], records[1] | {"first_step_apps": "Library"}]))
    done = planeval("score", str(pred), str(SAMPLES / "test_ss.json"), "--benchmark", "appbench")
    assert "record 2 (id ss-1): first_step_apps holds 'Library', expected a list of texts" in done.stdout


@pytest.mark.parametrize(
    ("decided", "first", "wanted"),
    [
        (["app1", "App2", "app_3"], ["A", "B"], ["A", "B", None]),
        (["app2_book", "Trams", ""], ["A", "B"], ["B", "Trams", ""]),
        (["apple", "app9", "app"], ["A"], [None, None, None]),
        (["app1"], [], [None]),
    ],
)
def test_placeholders_are_places_in_the_first_step(decided: list, first: list, wanted: list) -> None:
    assert matched_apps(decided, first) == wanted


def test_what_the_first_step_leaves_out_keeps_its_place_and_is_no_app() -> None:
    parts = {"decided_app": ["app3", "app1"], "decided_api": ["x = f()", "y = g(#a='18:30')"]}
    parts |= {"decided_app_first_step": ["Shops"], "decided_app_matched_with_first_step": ["Shops"]}
    text = decided_text(parts)
    assert text == ": [x = f()]\nShops: [y = g(#a='18:30')]"
    seen = predicted_side(*split_answer(text))
    assert (list(seen.apps), list(seen.apis)) == (["Shops"], ["f", "g"])  # as the published scorer counts
    empty = decided_text(parts | {"decided_app_matched_with_first_step": [None, "", "Shops"]})
    seen = predicted_side(*split_answer(empty))
    assert (list(seen.apps), list(seen.apis)) == (["Shops"], ["f", "g"])
    with pytest.raises(ParseError, match="decided_api holds 5, expected a list of texts"):
        decided_text(parts | {"decided_api": 5})
    assert first_step_text("app4: [x = f()]\nThe app: none", ["A"]) == ": [x = f()]\nThe app: none"


# ---------------------------------------------------------------- Table 8
def sample(*lines: str, apps: str = "A B") -> Sample:
    return Sample("a", gold={"used_app": apps.split(), "api_results": list(lines)})


def test_apis_by_app_in_gold_and_answers() -> None:
    gold = sample("x = f(#a='1')", "g(#b=x)")
    answer = "A: [x = F(#a='2')]\nA: [y = f()]\nC: [g(#b=x)]"
    assert used_apis([(gold, answer), (gold, "no plan")]) == [
        {"app": "a", "API": "f", "gold": 2, "answers": 2, "both": 1},
        {"app": "b", "API": "g", "gold": 2, "answers": 0, "both": 0},
        {"app": "others", "API": None, "gold": 0, "answers": 1, "both": 0},
    ]


def test_table_8_says_what_is_not_there() -> None:
    cells = {(cell.row, cell.column): cell for cell in table8([sample("findtrains()", apps="Trains")])}
    trains = cells["Trains", "APIs"]
    assert (trains.value, trains.published, trains.n, trains.of) == (1, "2", 1, 800)
    assert trains.note == "never called: gettraintickets"
    assert cells["Trains", "Calls"].value == 1
    assert all(cell.value is None and cell.note for cell in table8([]) if cell.column == "APIs")
    other = {cell.row: cell for cell in table8([sample("f()", apps="Elsewhere")]) if cell.column == "APIs"}
    assert (other["Elsewhere"].published, other["Elsewhere"].note) == (None, "not printed: f")


def test_table_8_of_the_published_data(reference: Path) -> None:
    cells = table8(read_appbench(reference / "datasets" / "appbench"))
    apis = [cell for cell in cells if cell.column == "APIs"]
    assert [cell.row for cell in apis if not cell.agrees] == ["Services"]
    assert [cell.row for cell in apis] == list(TABLE_8)
    assert sum(cell.value or 0 for cell in apis) == 25
    assert sum(cell.value or 0 for cell in cells if cell.column == "Calls") == 200 + 443 + 549 + 730
