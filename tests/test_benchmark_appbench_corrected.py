"""AppBench's corrected figures and tables: laws on invented plans, and the released data."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.benchmarks import appbench
from planner_eval.benchmarks.appbench.counting import outcomes
from planner_eval.benchmarks.appbench.tables import figure4, table2, table4
from planner_eval.benchmarks.report import Cell, Report
from planner_eval.datasets.appbench import read_appbench
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import parse
from tests.inside import planeval

NAMES = (
    "app_hit_f1",
    "api_hit_f1",
    "complete_match",
    "app.em",
    "api.em",
    "argu.em",
    "succ",
    "app.f1",
    "api.f1",
)
ERRORS = "analysis."


def gold_of(calls: list[tuple[str, str]]) -> dict[str, Any]:
    return {"used_app": [app for app, _ in calls], "api_results": [line for _, line in calls], "used_api": []}


def answer_of(calls: list[tuple[str, str]]) -> str:
    return "\n".join(f"{app}: [{line}]" for app, line in calls)


def score(answer: str, gold: dict[str, Any]) -> Report:
    return appbench.score_corrected([(Sample("a", gold=gold), answer)])


def number(report: Report, name: str) -> float:
    value = report.value(name)
    return float(value) if value is not None else 0.0


WORDS = st.sampled_from(["Oslo", "2019-03-05", "Tom's", "A, B", "x=y", "", "(z)", "18:30"])


@st.composite
def plans(draw: st.DrawFn, *, unique: bool = False) -> list[tuple[str, str]]:
    """Calls in AppBench's notation; a call may use what earlier ones return, and names may repeat."""
    returned: list[str] = []
    calls = []
    for i in range(draw(st.integers(1, 5))):
        arguments = []
        for key in draw(st.lists(st.sampled_from("abc"), unique=True)):
            value = draw(WORDS.map(lambda word: f"'{word}'") | st.sampled_from(returned or ["'none'"]))
            arguments.append(f"#{key}={value}")
        names = [f"r{i}"] if unique else ["p", "q", f"r{i}"]
        own = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        api = draw(st.sampled_from(["find", "book"]))
        calls.append(
            (draw(st.sampled_from(["Shops", "Orders"])), f"{', '.join(own)} = {api}({', '.join(arguments)})")
        )
        returned += own
    return calls


@settings(deadline=None)
@given(plans())
def test_gold_against_gold_is_perfect(calls: list[tuple[str, str]]) -> None:
    report = score(answer_of(calls), gold_of(calls))
    for figure in report.figures:
        wanted = 0.0 if figure.name.startswith(ERRORS) else 1.0
        assert figure.value in (wanted, None), figure
    assert report.rows[0].ok


@settings(deadline=None)
@given(plans(), st.randoms(use_true_random=False))
def test_dropping_calls_of_gold_never_raises_a_score(calls: list[tuple[str, str]], random: Any) -> None:
    gold = gold_of(calls)
    before = score(answer_of(calls), gold)
    left = list(calls)
    while left:
        left.remove(random.choice(left))
        after = score(answer_of(left), gold)
        for name in NAMES:
            assert number(after, name) <= number(before, name), name
        assert not after.rows[0].ok
        before = after


@settings(deadline=None)
@given(plans(unique=True), st.randoms(use_true_random=False))
def test_dropping_calls_of_gold_never_makes_an_argument_right(
    calls: list[tuple[str, str]], random: Any
) -> None:
    gold = gold_of(calls)
    before = score(answer_of(calls), gold)
    left = list(calls)
    while left:
        left.remove(random.choice(left))
        after = score(answer_of(left), gold)
        for name in ("argu_hit_f1", "depend_argu_hit_f1", "non_depend_argu_hit_f1"):
            assert number(after, name) <= 1.0
            assert (after.figure(name).numerator or 0) <= (before.figure(name).numerator or 0)
        before = after


@settings(deadline=None)
@given(plans(), st.randoms(use_true_random=False))
def test_the_order_of_independent_calls_plays_no_part(calls: list[tuple[str, str]], random: Any) -> None:
    apart = [(app, line.replace(" = ", f", own{i} = ", 1)) for i, (app, line) in enumerate(calls)]
    loose = [(app, line) for app, line in apart if all("'" in part for part in line.split("#")[1:])]
    shuffled = random.sample(loose, len(loose))
    assert score(answer_of(shuffled), gold_of(loose)).value("complete_match") in (1.0, None)


TWO = [
    ("Shops", "shop, town = findshop(#town='Oslo', #kind='Books')"),
    ("Orders", "order = orderbook(#shop=shop, #town=town)"),
]
TWICE = [
    ("Buses", "t = findbus(#from='Reno', #to='Elko')"),
    ("Buses", "u = findbus(#from='Elko', #to='Reno')"),
]


@pytest.mark.parametrize(
    ("calls", "old", "new", "arguments"),
    [
        (TWO, "'Books'", "'Book'", 3),
        (TWO, "'Books'", "''", 3),
        (TWO, "#town=town", "#town='Oslo'", 3),
        (TWO, "#town=town", "#town=shop", 3),
        (TWO, "#town=town", "#town=city", 3),
        (TWO, "#town=town", "#city=town", 3),
        (TWO, "#town=town", "#town=town, #zz='1'", 4),
        (TWO, "Orders:", "Shops:", 4),
        (TWICE, "'Elko')]\n", "'Ely')]\n", 3),
    ],
)
def test_what_the_published_score_does_not_see(
    calls: list[tuple[str, str]], old: str, new: str, arguments: int
) -> None:
    answer = answer_of(calls).replace(old, new)
    assert answer != answer_of(calls)
    report = score(answer, gold_of(calls))
    assert report.value("complete_match") == 0.0
    assert report.figure("argu_hit_f1").numerator == 2 * arguments


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("findshop", "Shops_findshop"),
        ("'Books'", "'books '"),
        ("Shops: [", "- shops: ["),
        ("Shops: [", "```\nShops: ["),
        ("Shops: [", "Here is the plan:\n\nShops: ["),
        ("#town='Oslo', #kind='Books'", "#kind='Books', #town='Oslo'"),
    ],
)
def test_spelling_that_carries_no_meaning(old: str, new: str) -> None:
    answer = answer_of(TWO).replace(old, new, 1)
    assert answer != answer_of(TWO)
    assert score(answer, gold_of(TWO)).value("complete_match") == 1.0


@pytest.mark.parametrize(
    ("old", "new"), [("'Books'", '"Books"'), ("#kind=", "kind="), ("[shop, town = ", "[ shop ,town = ")]
)
def test_lines_with_other_marks_are_mended_and_counted(old: str, new: str) -> None:
    answer = answer_of(TWO).replace(old, new, 1)
    report = score(answer, gold_of(TWO))
    assert report.value("complete_match") == 1.0
    counted = {figure.name: figure.value for figure in report.rows[0].figures}["mended"]
    assert counted == ("town = " not in old)


@pytest.mark.parametrize(
    ("end", "right", "arguments"),
    [
        ("#town=town", 1.0, 4),  # only the marks are missing
        ("#town=town]", 1.0, 4),
        ("#shop=shop, #to", 0.0, 3),
        ("#town", 0.0, 3),
        ("#shop=", 0.0, 2),
        ("orderbook(", 0.0, 2),
    ],
)
def test_what_can_be_read_of_a_line_that_is_cut_off_counts(end: str, right: float, arguments: int) -> None:
    text = answer_of(TWO)
    report = score(text[: text.rindex(end.rstrip("]"))] + end, gold_of(TWO))
    assert (report.value("app_hit_f1"), report.value("api_hit_f1")) == (1.0, 1.0)
    assert report.value("complete_match") == right
    assert report.figure("argu_hit_f1").numerator == 2 * arguments
    assert {figure.name: figure.value for figure in report.rows[0].figures}["mended"] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", #kind", " #kind"),
        ("[shop, town", "[[shop, town"),
        ("'Oslo'", "'Os'lo'"),
        ("shop, town", "shop town"),
    ],
)
def test_a_line_of_which_only_the_names_can_be_read_is_a_call_without_arguments(old: str, new: str) -> None:
    report = score(answer_of(TWO).replace(old, new, 1), gold_of(TWO))
    assert (report.value("app_hit_f1"), report.value("api_hit_f1")) == (1.0, 1.0)
    assert report.value("complete_match") == 0.0


def test_a_json_list_of_lines_is_those_lines() -> None:
    report = score(json.dumps(answer_of(TWO).split("\n")), gold_of(TWO))
    assert report.value("complete_match") == 1.0


def test_a_call_without_its_app_is_an_api_without_app() -> None:
    report = score(answer_of(TWO).replace("Shops: ", ""), gold_of(TWO))
    assert report.value("api_hit_f1") == 1.0
    assert report.value("app_hit_f1") == pytest.approx(2 / 3)
    assert report.value("complete_match") == 0.0


def test_a_line_that_cannot_be_read_is_a_wrong_call() -> None:
    report = score(answer_of(TWO) + "\nx = orderbook(#shop='own' #town)", gold_of(TWO))
    assert report.value("complete_match") == 0.0
    assert report.value("api_hit_f1") == 4 / 5
    (row,) = report.rows
    assert {figure.name: figure.value for figure in row.figures}["unread"] == 1


@pytest.mark.parametrize("text", ["", "I cannot help.", "(" * 5_000, "x(" * 50_000, "a: [" * 20_000, "\x00"])
def test_no_answer_makes_it_raise(text: str) -> None:
    report = score(text, gold_of(TWO))
    assert report.value("complete_match") == report.value("app_hit_f1") == 0.0
    assert report.rows[0].error is not None


def test_a_gold_record_that_cannot_be_read_is_a_row_outside_the_figures() -> None:
    good, bad = Sample("a", gold=gold_of(TWO)), Sample("b", gold={"api_results": ["no call"]})
    report = appbench.score_corrected([(good, answer_of(TWO)), (bad, "")])
    assert [row.error for row in report.rows] == [None, "gold: parse.syntax"]
    assert report.figure("complete_match").denominator == 1


def test_the_error_analysis_counts_arguments_and_samples() -> None:
    wrong = answer_of(TWO).replace("#town=town", "#town='Ely'").replace(", #kind='Books'", "")
    report = score(wrong, gold_of(TWO))
    assert report.figure("analysis.all_key_missing").numerator == 1
    assert report.figure("analysis.depend_key_value_mismatch").numerator == 1
    assert report.value("analysis.all_key_value_mismatch") == 1 / 4
    cells = {c.column: c for c in table4(outcomes([(Sample("a", gold=gold_of(TWO)), wrong)]), "MM")}
    assert [cells[name].value for name in ("Keys I", "Keys D", "Values I", "Values D")] == [100, 0, 0, 100]
    assert cells["Values D, of arguments"].value == 25
    assert (cells["T"].value, cells["S"].value) == (0, 0)


def test_the_grid_of_scales() -> None:
    records = [(Sample("a", gold=gold_of(TWO)), answer_of(TWO)), (Sample("b", gold=gold_of(TWICE)), "")]
    one, two = figure4(outcomes(records), least=1)
    assert (one.parallel, one.sequential, one.value, one.shown) == (1, 2.0, 1.0, True)
    assert (two.parallel, two.sequential, two.value) == (2, 1.0, 0.0)


def test_table_2_of_records_of_our_own() -> None:
    gold = {**gold_of(TWO), "used_api": [{"findshop": {"town": "Oslo", "kind": "Books"}}, {"orderbook": {}}]}
    cells = {c.row: c for c in table2([Sample("a", gold=gold, category="mm")]) if c.column == "MM"}
    assert cells["Max. Seq."].value == 2
    assert cells["Avg. arguments"].value == 1.0
    assert cells["# Samples"].n == 1
    assert cells["# Samples"].agrees is False


RENAMED = (
    answer_of(TWO)
    .replace("shop, town = ", "s, place = ")
    .replace("#shop=shop, #town=town", "#shop=s, #town=place")
)


def test_labels_that_a_plan_chose_are_free() -> None:
    report = score(RENAMED, gold_of(TWO))
    assert (report.value("complete_match"), report.value("depend_argu_hit_f1")) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#town=place", "#town=s"),  # the other output
        ("s, place = ", "place, s = "),
        ("s, place = ", "place = "),  # which output it means cannot be told
        ("s, place = ", "s, place, more = "),
        ("s, place = ", "town, shop = "),  # names that the API defines are its outputs, wherever they stand
    ],
)
def test_a_label_means_the_output_in_its_place_and_no_other(old: str, new: str) -> None:
    assert score(RENAMED.replace(old, new), gold_of(TWO)).value("complete_match") == 0.0


def test_names_that_the_api_defines_are_fields_in_any_order() -> None:
    answer = answer_of(TWO).replace("shop, town = ", "town, shop = ")
    assert score(answer, gold_of(TWO)).value("complete_match") == 1.0
    assert score(answer.replace("#town=town", "#town=shop"), gold_of(TWO)).value("complete_match") == 0.0


def test_the_command_line_takes_a_plans_own_labels(tmp_path: Path) -> None:
    (tmp_path / "test_mm.json").write_text(
        json.dumps(
            [{"input": "?", "output": gold_of(TWO) | {"result_arguments": [], "user_aware_arguments": {}}}]
        )
    )
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": "mm-0", "prediction": RENAMED}))
    done = planeval(
        "score", str(answers), str(tmp_path / "test_mm.json"), "--benchmark", "appbench", "--corrected"
    )
    assert re.search(r"complete_match +1 +1/1", done.stdout), done.stderr


# ---------------------------------------------------------------- the released data
@pytest.fixture(scope="module")
def samples(reference: Path) -> list[Sample]:
    return list(read_appbench(reference / "datasets" / "appbench"))


def test_every_released_record_is_perfect_against_itself(samples: list[Sample]) -> None:
    records = []
    for sample in samples:
        apps = [call.app for call in parse(sample.gold, dialect="appbench").calls]
        lines = sample.gold["api_results"]
        records.append((sample, "\n".join(f"{app}: [{line}]" for app, line in zip(apps, lines, strict=True))))
    report = appbench.score_corrected(records)
    for figure in report.figures:
        assert figure.value in (0.0 if figure.name.startswith(ERRORS) else 1.0, None), figure
    assert all(row.ok for row in report.rows)
    assert report.n == 801


def _values(cells: list[Cell]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        assert cell.value is not None
        found[cell.row].append(round(cell.value, 3))
    return found


def test_table_2_of_the_released_data(samples: list[Sample]) -> None:
    same = {
        "# Samples": [200, 200, 201, 200],
        "# Apps": [9, 11, 10, 11],
        "# APIs": [11, 22, 12, 23],
        "Avg. Apps": [1.0, 1.0, 2.731, 2.370],
        "Avg. APIs": [1.0, 2.215, 2.731, 3.65],
        "Avg. arguments": [4.02, 4.488, 4.035, 4.102],
        "Max. Para.": [1, 1, 4, 4],
    }
    weak = {
        "Max. Seq.": [1, 4, 4, 7],
        "Avg. Seq.": [1, 2.215, 1.228, 1.772],
        "Avg. Para.": [1, 1, 2.224, 2.06],
    }
    tree = {
        "Max. Seq.": [1, 4, 4, 5],
        "Avg. Seq.": [1, 2.215, 1.217, 1.75],
        "Avg. Para.": [1, 1, 2.244, 2.08],
    }
    cells = table2(samples)
    assert _values(cells) == {**same, **weak}
    assert _values(table2(samples, official=True)) == {**same, **tree}
    agreeing = {
        part: sum(c.agrees is True for c in cells if c.column == part) for part in ("SS", "SM", "MS", "MM")
    }
    assert agreeing == {"SS": 10, "SM": 10, "MS": 8, "MM": 3}
    assert all(cell.note for cell in cells if not cell.agrees)


@pytest.mark.parametrize(
    "value", ["New York", "491 30th Street #103", "Who, me?", "2019-03-05", "18:30", "f(x) b"]
)
def test_a_text_without_quotes_costs_no_app_and_no_api(value: str) -> None:
    answer = answer_of(TWO).replace("'Oslo'", value, 1)
    report = score(answer, gold_of(TWO))
    assert (report.value("app_hit_f1"), report.value("api_hit_f1")) == (1.0, 1.0)
    assert score(answer.replace(value, f"'{value}'"), gold_of(TWO)).value("argu_hit_f1") == report.value(
        "argu_hit_f1"
    )


def test_a_word_without_quotes_is_a_returned_name_and_costs_its_value() -> None:
    report = score(answer_of(TWO).replace("'Oslo'", "Oslo", 1), gold_of(TWO))
    assert (report.value("app_hit_f1"), report.value("api_hit_f1")) == (1.0, 1.0)
    assert 0 < float(report.value("argu_hit_f1") or 0) < 1
