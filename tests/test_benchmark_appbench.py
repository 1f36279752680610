"""AppBench's official figures: on plans of our own, and on every row of the reference vectors."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from planner_eval.benchmarks import appbench
from planner_eval.benchmarks.appbench import analysis, evaluation
from planner_eval.benchmarks.appbench.text import (
    OfficialCall,
    read_analysed_call,
    read_scored_call,
    split_answer,
    split_answer_app_first,
)
from planner_eval.benchmarks.appbench.topology import official_components
from planner_eval.benchmarks.report import Figure, Report
from planner_eval.datasets.sample import Sample

# ---------------------------------------------------------------- plans of our own
LINES = [
    "shop, town = findshop(#town='Oslo', #kind='Books')",
    "order = orderbook(#shop=shop, #town=town, #title='Walden')",
]
GOLD: dict[str, Any] = {
    "used_app": ["Shops", "Orders"],
    "used_api": [],
    "api_results": LINES,
    "result_arguments": [["shop", "town"], ["order"]],
    "middle_arguments": [],
    "user_aware_arguments": {"town": "Oslo"},
}
PERFECT = "\n".join(f"{app}: [{line}]" for app, line in zip(GOLD["used_app"], LINES, strict=True))


def scored(*texts: str, gold: dict[str, Any] = GOLD) -> Report:
    return appbench.score_official([(Sample(str(i), gold=gold), text) for i, text in enumerate(texts)])


def test_a_perfect_answer_cannot_reach_one_with_two_calls() -> None:
    report = scored(PERFECT)
    assert report.value("app_hit_f1") == report.value("api_hit_f1") == 0.5
    assert report.value("complete_match") == report.value("argu_hit_f1") == 1.0
    assert report.figure("succ") == Figure("succ", None, error="ZeroDivisionError")
    assert report.rows[0].ok


def test_dropping_a_call_raises_the_published_score() -> None:
    assert scored(PERFECT.partition("\n")[0]).value("app_hit_f1") == pytest.approx(2 / 3)


def test_a_wrong_value_lands_in_the_error_analysis() -> None:
    report = scored(PERFECT.replace("town=town", "town='Bergen'"))
    assert report.value("complete_match") == 0.0
    assert report.value("analysis.all_key_value_mismatch") == 1 / 5
    assert report.value("analysis.depend_key_value_mismatch") == 1 / 5
    assert report.value("analysis.location_value_error") == 1.0


def test_the_first_right_value_of_a_key_stays_right_for_later_calls() -> None:
    """Under both published scorers: a later value of the key does not take its place."""
    names, cities = ("one", "two", "three", "four"), ("Oslo", "Rome", "Kyiv", "Bern")
    lines = [f"{name}x = {name}(#city='{city}')" for name, city in zip(names, cities, strict=True)]
    gold = GOLD | {"used_app": ["Towns"] * 4, "api_results": lines, "result_arguments": [["x"]] * 4}
    answer = "\n".join(f"Towns: [{line}]" for line in lines)
    for city, hits, wrong in (("Oslo", 3, 1), ("Rome", 2, 2)):
        text = answer.replace("Kyiv", city).replace("Bern", "Lima")
        report = scored(text, gold=gold | {"user_aware_arguments": {}})
        assert report.value("argu_hit_f1") == hits / 4
        assert report.value("analysis.all_key_value_mismatch") == wrong / 4


def test_a_set_without_any_readable_line_divides_by_zero_and_keeps_its_rows() -> None:
    report = scored("I cannot help.", "")
    assert {figure.error for figure in report.figures} == {"ZeroDivisionError"}
    assert [row.error for row in report.rows] == ["ZeroDivisionError"] * 2
    assert report.n == 2


def test_no_records_divide_by_zero() -> None:
    assert {figure.error for figure in scored().figures} == {"ZeroDivisionError"}


def test_a_gold_record_without_its_fields_is_a_row_that_says_so() -> None:
    report = appbench.score_official(
        [(Sample("a", gold={"used_app": []}), PERFECT), (Sample("b", gold=GOLD), PERFECT)]
    )
    assert [row.error for row in report.rows] == ["KeyError", None]
    assert {figure.error for figure in report.figures} == {"KeyError"}


def test_a_gold_name_in_capitals_trips_the_analysis_alone() -> None:
    gold = {**GOLD, "used_app": ["Shops"], "api_results": ["a = Find(#x='1')"], "result_arguments": [["a"]]}
    report = scored("Shops: [a = find(#x='1')]", gold=gold)
    assert report.value("complete_match") == 1.0
    assert report.figure("succ").error == "KeyError"


@pytest.mark.parametrize(
    ("line", "scored_call", "analysed_call"),
    [
        ("f()", None, OfficialCall("f", {}, ["f()"])),
        (
            "x = f(#a='1', #b=c)",
            OfficialCall("f", {"#a": "'1'", "#b": "c"}, ["x"]),
            OfficialCall("f", {"a": "1", "b": "c"}, ["x"]),
        ),
        ("x = f(#a='')", OfficialCall("f", {"#a": "''"}, ["x"]), OfficialCall("f", {}, ["x"])),
        ("x = f(#a='p, q')", OfficialCall("f", {"#a": ""}, ["x"]), OfficialCall("f", {"a": "p, q"}, ["x"])),
        ("x = f(", None, None),
    ],
)
def test_the_two_published_readers(
    line: str, scored_call: OfficialCall | None, analysed_call: OfficialCall | None
) -> None:
    assert read_scored_call(line) == scored_call
    assert read_analysed_call(line) == analysed_call


@pytest.mark.parametrize(
    "text", ["a" * 300_000, "x=f(" * 80_000, ") " + "x=f(" * 80_000, "f(" + "a='" * 90_000 + ")"]
)
def test_hostile_lines_take_linear_time(text: str) -> None:
    read_scored_call(text)
    read_analysed_call(text)
    split_answer(text)


# ---------------------------------------------------------------- the reference vectors
@pytest.fixture(scope="module")
def official(reference: Path) -> Any:
    return _json(reference / "vectors" / "appbench" / "official.json.gz")


@pytest.fixture(scope="module")
def gold(reference: Path) -> dict[tuple[str, int], dict[str, Any]]:
    records = _lines(reference / "vectors" / "appbench" / "gold.jsonl.gz")
    return {(record["set"], record["idx"]): record["sample"]["output"] for record in records}


@pytest.fixture(scope="module")
def microcases(reference: Path) -> Any:
    return _json(reference / "vectors" / "microcases_appbench_nestful.json")


def _json(path: Path) -> Any:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return json.load(file)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def _differences(figures: dict[str, Figure], expected: dict[str, Any], prefix: str = "") -> list[str]:
    """What differs between our figures and what the published code said, in words."""
    if set(expected) == {"error"}:
        return [str(figure) for figure in figures.values() if figure.error != expected["error"]]
    found: list[str] = []
    for key, value in expected.items():
        if isinstance(value, dict):
            found += _differences(figures, value, f"{prefix}{key}.")
        elif not isinstance(ours := figures[prefix + key].value, int | float) or abs(ours - value) > 1e-9:
            found.append(f"{prefix}{key}: {ours} instead of {value}")
    return found


@pytest.mark.more
def test_every_row_of_the_vectors(
    reference: Path, official: dict[str, Any], gold: dict[tuple[str, int], dict[str, Any]]
) -> None:
    predictions: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in _lines(reference / "vectors" / "appbench" / "pred.jsonl.gz"):
        predictions[record["set"], record["perturbation"]].append(record)
    rows = {(row["set"], row["perturbation"], str(row["idx"])): row for row in official["per_sample"]}
    scorers = (
        (len(evaluation.FIGURES), "evaluation.get_appbench_analysis"),
        (None, "analysis.get_metabench_analysis"),
    )
    wrong: list[str] = []
    seen = 0
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        report = appbench.score_official(
            (Sample(str(record["idx"]), gold=gold[record["set"], record["idx"]]), record["text"])
            for record in predictions[key]
        )
        assert report.n == expected["n"]
        first = {figure.name: figure for figure in report.figures[: scorers[0][0]]}
        rest = {figure.name: figure for figure in report.figures[scorers[0][0] :]}
        for figures, (_, name) in zip((first, rest), scorers, strict=True):
            wrong += [f"{key} {text}" for text in _differences(figures, expected[name])]
        for row in report.rows:
            if alone := rows.get((*key, row.id)):
                seen += 1
                figures = {figure.name: figure for figure in row.figures}
                own = {name: figures[name] for name in evaluation.FIGURES}
                wrong += [f"{key} {row.id} {text}" for text in _differences(own, alone["evaluation"])]
                wrong += [f"{key} {row.id} {t}" for t in _differences(figures, alone["analysis"], "sample.")]
    assert not wrong
    assert seen == len(rows) == 11_600
    assert len(official["whole_set"]) == 232


def test_every_parsed_line_of_the_vectors(official: dict[str, Any]) -> None:
    for row in official["parser"]:
        assert split_answer(row["text"]) == (row["decided_app"], row["decided_api"])
        assert [_as_published(read_scored_call(line)) for line in row["decided_api"]] == row[
            "utils.extract_name_params"
        ]
    assert len(official["parser"]) == 1_160


def test_the_components_of_every_gold_plan(
    official: dict[str, Any], gold: dict[tuple[str, int], dict[str, Any]]
) -> None:
    seen = 0
    for name, expected in official["gold_topo_relations"].items():
        for index, row in enumerate(expected):
            sizes = [len(component) for component in official_components(gold[name, index])]
            assert (len(sizes), sizes) == (row["n_components"], row["sizes"])
            seen += 1
    assert seen == len(gold) == 801


def test_every_micro_case(microcases: dict[str, Any]) -> None:
    for case in microcases["appbench_score"]:
        report = scored(case["text"], gold=case["gold"])
        figures = {figure.name: figure for figure in report.figures}
        own = {name: figures.pop(name) for name in evaluation.FIGURES}
        assert not _differences(own, case["evaluation"]), case["case"]
        assert not _differences(figures, case["analysis"]), case["case"]
    for case in microcases["appbench_lineparse"]:
        assert _as_published(read_scored_call(case["line"])) == case["utils.extract_name_params"]
        call = read_analysed_call(case["line"])
        ours = call and {"api_name": call.name, "input": call.arguments, "output": call.returns}
        assert ours == case["analysis.extract_name_params"]
    for case in microcases["appbench_textparse"]:
        for split, name in (
            (split_answer, "discompose_app_api"),
            (split_answer_app_first, "discompose_app_api_with_app_first"),
        ):
            apps, calls = split(case["text"])
            assert {"apps": apps, "apis": calls} == case[name]
    for case in microcases["appbench_match_evaluate"]:
        assert evaluation.match_names(case["pred"], case["gold"])[1] == case["implied_hits"]
        assert list(analysis.match_names(case["pred"], case["gold"])) == case["analysis.match_evaluate"]
    assert sum(len(microcases[name]) for name in microcases if name.startswith("appbench")) == 83


def _as_published(call: OfficialCall | None) -> dict[str, Any] | None:
    return call and {
        "function_name": call.name,
        "return_parameters": call.returns,
        "input_parameters": call.arguments,
    }
