"""AppBench on plans of our own, its tables, a first step, the released data (rows: tests/test_vectors.py)."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks import appbench
from planner_eval.benchmarks.appbench.corrected import judge_answer
from planner_eval.benchmarks.appbench.data import read_appbench
from planner_eval.benchmarks.appbench.evaluation import (
    compared_plan,
    read_analysed_call,
    read_scored_call,
    split_answer,
)
from planner_eval.benchmarks.appbench.tables import TABLE_8, figure4, table2, table4, table8, used_apis
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Cell, Report
from planner_eval.reading.dialects.notations.appbench import decided_text, first_step_text, matched_apps
from planner_eval.reading.dialects.read import parse
from tests.conftest import ROOT, tabled
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples" / "appbench"
PARTS = ("ss", "sm", "ms", "mm")
NAMES = (
    "app_hit_f1", "api_hit_f1", "complete_match", "app.em", "api.em", "argu.em", "succ", "app.f1", "api.f1",
)  # fmt: skip
TWO = [
    ("Shops", "shop, town = findshop(#town='Oslo', #kind='Books')"),
    ("Orders", "order = orderbook(#shop=shop, #town=town)"),
]
TWICE = [
    ("Buses", "t = findbus(#from='Reno', #to='Elko')"), ("Buses", "u = findbus(#from='Elko', #to='Reno')"),
]  # fmt: skip


def gold_of(calls: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    """Gold with what the published code wants of it."""
    outputs = [line.partition(" = ")[0].split(", ") for _, line in calls]
    gold = {"used_app": [app for app, _ in calls], "api_results": [line for _, line in calls], "used_api": []}
    return {**gold, "result_arguments": outputs, "middle_arguments": [], "user_aware_arguments": {}, **more}


def answer_of(calls: list[tuple[str, str]]) -> str:
    return "\n".join(f"{app}: [{line}]" for app, line in calls)


def score(answer: str, gold: dict[str, Any]) -> Report:
    return appbench.score_corrected([(Sample("a", gold=gold), answer)])


def official(*texts: str, gold: dict[str, Any] | None = None) -> Report:
    gold = gold or gold_of(TWO, user_aware_arguments={"town": "Oslo"})
    return appbench.score_official([(Sample(str(i), gold=gold), text) for i, text in enumerate(texts)])


PERFECT = answer_of(TWO)


def test_the_first_right_value_of_a_key_stays_right_for_later_calls() -> None:
    """Under both published scorers: a later value of the key does not take its place."""
    cities = {"one": "Oslo", "two": "Rome", "three": "Kyiv", "four": "Bern"}
    calls = [("Towns", f"{name}x = {name}(#city='{city}')") for name, city in cities.items()]
    gold = gold_of(calls, result_arguments=[["x"]] * 4)
    for city, hits, wrong in (("Oslo", 3, 1), ("Rome", 2, 2)):
        report = official(answer_of(calls).replace("Kyiv", city).replace("Bern", "Lima"), gold=gold)
        assert report.value("argu_hit_f1") == hits / 4
        assert report.value("analysis.all_key_value_mismatch") == wrong / 4


@pytest.mark.parametrize("text", [
    "a" * 300_000, "x=f(" * 20_000, ") " + "x=f(" * 20_000, "f(" + "a='" * 90_000 + ")", "", "I cannot help.",
    "(" * 5_000, "x(" * 50_000, "a: [" * 20_000, "\x00",
])  # fmt: skip
def test_hostile_answers_take_linear_time_and_never_raise(text: str) -> None:
    read_scored_call(text)
    read_analysed_call(text)
    split_answer(text)
    report = score(text, gold_of(TWO))
    assert (report.value("complete_match"), report.value("app_hit_f1")) == (0.0, 0.0)


def assert_perfect(report: Report) -> None:
    for figure in report.figures:
        assert figure.value in (float(not figure.name.startswith("analysis.")), None), figure
    assert all(row.ok for row in report.rows)


@pytest.mark.parametrize(("calls", "old", "new", "arguments"), [
    (TWO, "'Books'", "'Book'", 3), (TWO, "'Books'", "''", 3), (TWO, "#town=town", "#town='Oslo'", 3),
    (TWO, "#town=town", "#town=shop", 3), (TWO, "#town=town", "#town=city", 3),
    (TWO, "#town=town", "#city=town", 3), (TWO, "#town=town", "#town=town, #zz='1'", 4),
    (TWO, "Orders:", "Shops:", 4), (TWICE, "'Elko')]\n", "'Ely')]\n", 3),
])  # fmt: skip
def test_what_the_published_score_does_not_see(calls: Any, old: str, new: str, arguments: int) -> None:
    answer = answer_of(calls).replace(old, new)
    report = score(answer, gold_of(calls))
    assert (report.value("complete_match"), answer == answer_of(calls)) == (0.0, False)
    assert report.figure("argu_hit_f1").numerator == 2 * arguments


@tabled("old, new, mended")
def test_spelling_that_carries_no_meaning(old: str, new: str, mended: int) -> None:
    answer = PERFECT.replace(old, new, 1)
    report = score(answer, gold_of(TWO))
    assert (report.value("complete_match"), answer == PERFECT) == (1.0, False)
    assert {figure.name: figure.value for figure in report.rows[0].figures}["mended"] == mended


@pytest.mark.parametrize(("end", "right", "arguments"), [
    ("#town=town", 1.0, 4), ("#town=town]", 1.0, 4),  # only the marks are missing
    ("#shop=shop, #to", 0.0, 3), ("#town", 0.0, 3), ("#shop=", 0.0, 2), ("orderbook(", 0.0, 2),
])  # fmt: skip
def test_what_can_be_read_of_a_line_that_is_cut_off_counts(end: str, right: float, arguments: int) -> None:
    report = score(PERFECT[: PERFECT.rindex(end.rstrip("]"))] + end, gold_of(TWO))
    assert [report.value(name) for name in NAMES[:3]] == [1.0, 1.0, right]
    assert report.figure("argu_hit_f1").numerator == 2 * arguments
    assert {figure.name: figure.value for figure in report.rows[0].figures}["mended"] == 1


@tabled("old, new, figures")
def test_lines_of_which_a_part_can_be_read(old: str, new: str, figures: list[float]) -> None:
    report = score(PERFECT.replace(old, new, 1), gold_of(TWO))
    assert [report.value(name) for name in NAMES[:3]] == pytest.approx(figures)
    unread = {figure.name: figure.value for figure in report.rows[0].figures}["unread"]
    assert unread == ("\n" in new)


def test_json_lists_and_gold_that_cannot_be_read() -> None:
    assert score(json.dumps(PERFECT.split("\n")), gold_of(TWO)).value("complete_match") == 1.0
    good, bad = Sample("a", gold=gold_of(TWO)), Sample("b", gold={"api_results": ["no call"]})
    report = appbench.score_corrected([(good, PERFECT), (bad, "")])
    assert [row.error for row in report.rows] == [None, "gold: parse.syntax"]
    assert report.figure("complete_match").denominator == 1
    assert score("", gold_of(TWO)).rows[0].error is not None


def test_the_error_analysis_counts_arguments_and_samples() -> None:
    wrong = PERFECT.replace("#town=town", "#town='Ely'").replace(", #kind='Books'", "")
    report = score(wrong, gold_of(TWO))
    names = ("all_key_missing", "depend_key_value_mismatch")
    assert [report.figure(f"analysis.{name}").numerator for name in names] == [1, 1]
    assert report.value("analysis.all_key_value_mismatch") == 1 / 4
    records = [(Sample("a", gold=gold_of(TWO)), wrong)]
    cells = {c.column: c.value for c in table4([judge_answer(*record).counts for record in records], "MM")}
    columns = ("Keys I", "Keys D", "Values I", "Values D", "Values D, of arguments", "T", "S")
    assert [cells[name] for name in columns] == [100, 0, 0, 100, 25, 0, 0]
    records = [(Sample("a", gold=gold_of(TWO)), PERFECT), (Sample("b", gold=gold_of(TWICE)), "")]
    judged = [(sample, judge_answer(sample, text).counts) for sample, text in records]
    assert [[*row.values()] for row in figure4(judged * 10)] == [
        [1, 2.0, 10, 1.0, "yes"], [2, 1.0, 10, 0.0, "yes"],
    ]  # fmt: skip
    assert {row["in the figure"] for row in figure4(judged)} == {"no: fewer than ten"}


RENAMED = PERFECT.replace("shop, town =", "s, place =").replace("=shop, #town=town", "=s, #town=place")


@tabled("old, new, right")
def test_a_label_means_the_output_in_its_place_and_no_other(old: str, new: str, right: int) -> None:
    report = score(RENAMED.replace(old, new), gold_of(TWO))
    assert report.value("complete_match") == right
    assert report.value("depend_argu_hit_f1") == 1 or not right


@pytest.fixture(scope="module")
def samples(reference: Path) -> list[Sample]:
    return list(read_appbench(reference / "datasets" / "appbench"))


def _values(cells: Iterable[Cell]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        assert cell.value is not None
        found[cell.row].append(round(cell.value, 3))
    return found


def test_every_released_record_is_perfect_against_itself_and_counted(samples: list[Sample]) -> None:
    records = []
    for sample in samples:
        apps = [str(call.app) for call in parse(sample.gold, dialect="appbench").calls]
        records.append((sample, answer_of([*zip(apps, sample.gold["api_results"], strict=True)])))
    report = appbench.score_corrected(records)
    assert_perfect(report)
    assert report.n == 801
    same = {
        "# Samples": [200, 200, 201, 200], "# Apps": [9, 11, 10, 11], "# APIs": [11, 22, 12, 23],
        "Avg. Apps": [1.0, 1.0, 2.731, 2.370], "Avg. APIs": [1.0, 2.215, 2.731, 3.65],
        "Avg. arguments": [4.02, 4.488, 4.035, 4.102], "Max. Para.": [1, 1, 4, 4],
    }  # fmt: skip
    names = ("Max. Seq.", "Avg. Seq.", "Avg. Para.")
    weak = ([1, 4, 4, 7], [1, 2.215, 1.228, 1.772], [1, 1, 2.224, 2.06])
    tree = ([1, 4, 4, 5], [1, 2.215, 1.217, 1.75], [1, 1, 2.244, 2.08])
    cells = table2(samples)
    assert _values(cells) == {**same, **dict(zip(names, weak, strict=True))}
    assert _values(table2(samples, official=True)) == {**same, **dict(zip(names, tree, strict=True))}
    agreeing = [sum(c.agrees is True for c in cells if c.column == part.upper()) for part in PARTS]
    assert agreeing == [10, 10, 8, 3]
    assert all(cell.note for cell in cells if not cell.agrees)
    eight = table8(samples)
    apis = [cell for cell in eight if cell.column == "APIs"]
    assert [cell.row for cell in apis if not cell.agrees] == ["Services"]
    assert [cell.row for cell in apis] == list(TABLE_8)
    assert sum(cell.value or 0 for cell in apis) == 25
    assert sum(cell.value or 0 for cell in eight if cell.column == "Calls") == 200 + 443 + 549 + 730


def figures(tmp_path: Path, records: list[Any]) -> dict[str, list[str]]:
    pred = tmp_path / "pred.json"
    pred.write_text(json.dumps(records))
    argv = ("score", str(pred), str(SAMPLES / "test_ss.json"), "--benchmark", "appbench", "--format", "csv")
    done = planeval(*argv)
    assert done.returncode == 0, done.stderr
    return {line.split(",")[0]: line.split(",")[1:5] for line in done.stdout.splitlines()}


@tabled("decided, first, wanted")
def test_placeholders_are_places_in_the_first_step(decided: Any, first: Any, wanted: Any) -> None:
    assert matched_apps(decided, first) == wanted


def test_what_the_first_step_leaves_out_keeps_its_place_and_is_no_app() -> None:
    matched = "decided_app_matched_with_first_step"
    parts = {"decided_app": ["app3", "app1"], "decided_api": ["x = f()", "y = g(#a='18:30')"]}
    parts |= {"decided_app_first_step": ["Shops"], matched: ["Shops"]}
    text = decided_text(parts)
    assert text == ": [x = f()]\nShops: [y = g(#a='18:30')]"
    for each in (text, decided_text(parts | {matched: [None, "", "Shops"]})):
        seen = compared_plan(*split_answer(each))
        assert (list(seen.apps), list(seen.apis)) == (["Shops"], ["f", "g"])  # as the published scorer counts
    with pytest.raises(ParseError, match="decided_api holds 5, expected a list of texts"):
        decided_text(parts | {"decided_api": 5})
    assert first_step_text("app4: [x = f()]\nThe app: none", ["A"]) == ": [x = f()]\nThe app: none"


def test_apis_by_app_in_gold_and_answers() -> None:
    gold = Sample("a", gold=gold_of([("A", "x = f(#a='1')"), ("B", "g(#b=x)")]))
    answer = "A: [x = F(#a='2')]\nA: [y = f()]\nC: [g(#b=x)]"
    assert [tuple(row.values()) for row in used_apis([(gold, answer), (gold, "no plan")])] == [
        ("a", "f", 2, 2, 1), ("b", "g", 2, 0, 0), ("others", None, 0, 1, 0),
    ]  # fmt: skip
    alone = [Sample("a", gold=gold_of([("Trains", "findtrains()")]))]
    trains = {c.column: c for c in table8(alone) if c.row == "Trains"}
    apis = trains["APIs"]
    assert (apis.value, apis.published, apis.n, apis.of, trains["Calls"].value) == (1, "2", 1, 800, 1)
    assert apis.note == "never called: gettraintickets"
    assert all(cell.value is None and cell.note for cell in table8([]) if cell.column == "APIs")
    elsewhere = table8([Sample("a", gold=gold_of([("Elsewhere", "f()")]))])
    other = next(cell for cell in elsewhere if cell.row == "Elsewhere")
    assert (other.published, other.note) == (None, "not printed: f")
