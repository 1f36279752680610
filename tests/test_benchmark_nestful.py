"""NESTful on answers of our own, its further tables, the released data (vectors: tests/test_vectors.py)."""

import inspect
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError
from planner_eval.benchmarks import nestful
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.corrected import UNWINNABLE_NOTE, judge_answer
from planner_eval.benchmarks.nestful.data import read_nestful
from planner_eval.benchmarks.nestful.formats import READERS, find_reader
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL, is_win
from planner_eval.benchmarks.nestful.official_metrics import (
    alternate_figure,
    alternate_wins,
    macro,
    weighted_average,
)
from planner_eval.benchmarks.nestful.tables import challenges, dataset_table, figure6
from planner_eval.benchmarks.report import Report
from planner_eval.execution.answers import answers_match
from planner_eval.execution.nestful import NestfulRunner
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS, SANE_FUNCTIONS
from tests.conftest import tabled, tables
from tests.nestful_published import PublishedRunner

TABLES = tables(__file__)

PLAIN = "granite-3.1-8b-instruct"
RATIOS = (
    "p_intent", "r_intent", "f1_intent", "p_slot", "r_slot", "f1_slot", "accuracy_combined",
    "percentage_times_full_score",
)  # fmt: skip
RUN = PublishedRunner(OFFICIAL_FUNCTIONS)
NUMBER = {"type": "int or float"}


def call(name: str, label: str, *values: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "arguments": {f"arg_{i}": value for i, value in enumerate(values)}}


def tool(name: str, size: int = 2, kind: str = "int or float") -> dict[str, Any]:
    parameters = {f"arg_{i}": {"type": kind} for i in range(size)}
    return {"name": name, "parameters": parameters, "output_parameters": {"result": NUMBER}}


TOOLS = [*map(tool, ("multiply", "subtract", "add", "divide")), tool("floor", 1)]
GOLD = [call("multiply", "$var_1", 6, 7), call("subtract", "$var_2", "$var_1.result$", 2)]
OTHER = [call("multiply", "$var_1", 7, 6), GOLD[1]]
LOST = [call("multiply", "$var_1", 7, 6)]
BAD = [call("divide", "$var_1", 1, 0)]


def records(
    *answers: Any, gold: Any = GOLD, result: Any = 40, tools: Any = TOOLS, query: str = ""
) -> list[tuple[Sample, str]]:
    texts = [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]
    extra = {"gold_answer": result}
    return [(Sample(str(n), query, gold=gold, tools=tools, extra=extra), one) for n, one in enumerate(texts)]


def official(*answers: Any, model: str = PLAIN, run: Any = None, **how: Any) -> Report:
    return nestful.score_official(records(*answers, **how), model=model, run=run)


def score(*answers: Any, run: Any = RUN, **how: Any) -> Report:
    return nestful.score_corrected(records(*answers, **how), run=run)


def number(report: Report, name: str) -> float:
    return float(report.value(name) or 0)


def test_published_oddities() -> None:
    """Those that tests/cases/official/ does not hold."""
    assert nestful.score_official([]).figure("f1_slot").error == "ValueError"
    report = official(GOLD, gold=["no call"])
    assert report.rows[0].error == report.figure("f1_intent").error == "TypeError"
    with pytest.raises(InputError, match="no reader for the model 'gpt'"):
        official(GOLD, model="gpt")
    assert macro([(["a"], ["a"]), ([], ["a"])]) == pytest.approx((0.25, 0.5, 1 / 3))  # one class is binary
    assert [is_win(*pair) for pair in ((0.30000000000000004, 0.3), (3.0000000000000004, 3))] == [True, False]


@pytest.mark.parametrize("text", [
    "f(a=1 + ord('a'))", "f(a=9 ** 9 ** 9)", "f(a='x' * 10 ** 9)", "f(a=" + "-" * 100_000 + "1)",
    "f(a=" + "(" * 5_000, "f(" + "a." * 50_000 + "a=1)", "f(a=[" + "1," * 400_000 + "])", "f(a='\x00')",
    "f(**{'a': lambda: 1})", "x-y(a=1)",
])  # fmt: skip
def test_hostile_python_is_unreadable_and_never_run(text: str) -> None:
    answer = find_reader("ToolAce-8b")(text)
    assert (answer.failed, answer.calls) == (True, ())


@pytest.mark.parametrize("model", sorted(READERS))
def test_no_text_makes_a_reader_raise(model: str) -> None:
    for text in ("", "[" * 100_000, '{"a": ' * 50_000, "1" * 5_000, "f(", '["\\ud800"]', "label 5"):
        official(text, model=model)
        assert (score(text).value("win_rate"), score(text).n) == (0, 1)
    value = "$var." + "var" * 1_000_000  # grounding cannot be made to fill the memory
    answer = [{"name": "n" * 1_000_000, "label": "var", "arguments": {"a": value}}]
    assert model != PLAIN or find_reader(PLAIN)(json.dumps(answer)).failed


TWICE = [
    call("floor", "$var_1", 1), call("floor", "$var_2", 2), call("subtract", "$var_3", "$var_1.result$", 2),
]  # fmt: skip
CLOSING = {"name": "var_result", "label": "$var_9", "arguments": {"result": "$var_2.result$"}}
FULL, PARTIAL, WIN = "percentage_times_full_score", "accuracy_combined", "win_rate"


@pytest.mark.parametrize(("answer", "gold", "figures"), [
    ([*TWICE[:2], call("subtract", "$var_3", "$var_2.result$", 2)], TWICE, {PARTIAL: 2 / 3, FULL: 0}),
    ([call("invented", "$var_0"), *GOLD], GOLD, {PARTIAL: 2 / 3, "p_intent": 2 / 3, WIN: 0}),
    ([TWICE[1], TWICE[0], TWICE[2]], TWICE, {FULL: 1}),  # the order of independent calls
    ([call("multiply", "$var_1", 1, 1), GOLD[1]], GOLD, {"f1_slot": 1, PARTIAL: 0.5}),  # values
    (GOLD, [*GOLD, CLOSING], {FULL: 1}),  # a named answer is not asked for, and is no call
    *(([*GOLD[:at], CLOSING, *GOLD[at:]], GOLD, dict.fromkeys((*RATIOS, WIN), 1)) for at in range(3)),
    ([call("find", "$var_1", "$100-$200", "$5")], [call("find", "$var_1", "$100-$200", "$5")], {FULL: 1}),
])  # fmt: skip
def test_corrected_figures(answer: Any, gold: Any, figures: dict[str, float]) -> None:
    report = score(answer, gold=gold)
    assert {name: report.value(name) for name in figures} == pytest.approx(figures)


@tabled("answer, won")
def test_wins_need_valid_calls_that_lead_to_the_answer(answer: Any, won: bool) -> None:
    assert score(answer).value("win_rate") == float(won)


def test_a_failed_run_never_wins_and_older_layouts_of_tools_can_be_run() -> None:
    assert [score(BAD, result=result).value("win_rate") for result in (0, False)] == [0.0, 0.0]
    arguments = {"arg_0": {}, "arg_1": {}}
    older = [
        {"name": "multiply", "parameters": arguments, "output_parameter": {"result": {}}},
        {"name": "subtract", "parameters": {"properties": arguments},
         "output_parameters": {"properties": {"result": {}}}},
    ]  # fmt: skip
    assert score(GOLD, tools=older).value("win_rate") == 1.0
    spec = {"name": "largest", "parameters": {"k": {}, "nums": {}}, "output_parameters": {"output_0": {}}}
    gold = [{"name": "largest", "label": "$var1", "arguments": {"nums": [3, 9, 5], "k": 2}}]
    run = PublishedRunner({"largest": lambda nums, k: sorted(nums)[-k]})  # values are passed by name
    assert number(score(gold, gold=gold, result=5, tools=[spec], run=run), "win_rate") == 1


@pytest.mark.parametrize(("answer", "gold", "same"), [
    (0.3333, 0.33, True), (0.34, 0.33, False), (27, 27.0, True), (1, True, False), (False, False, True),
    ("a", "a", True), ({1: 2}, {"1": 2}, True), ((1, [2.0]), [1, [2]], True), ([1, 2], [1], False),
    (1j, 1, False), (float("inf"), 1.5, False), (float("nan"), 1.5, False), (10**400, 1.5, False),
    (None, None, True),
])  # fmt: skip
def test_answers_match_by_value(answer: Any, gold: Any, same: bool) -> None:
    assert answers_match(answer, gold) is same


@tabled("divided, by, result, won")
def test_a_result_is_rounded_as_far_as_gold_s(divided: Any, by: Any, result: float, won: bool) -> None:
    gold, answer = ([call("divide", "$var_1", *values)] for values in (divided, by))
    assert score(answer, gold=gold, result=result).value("win_rate") == won


def test_samples_that_gold_does_not_win_are_named_with_the_most_that_can_be_won() -> None:
    asked = [*records(GOLD, BAD), *records(LOST, gold=BAD)]
    report = nestful.score_corrected(asked, run=RUN)
    assert [row.error for row in report.rows] == [None, None, UNWINNABLE_NOTE]
    assert report.figure("win_rate").note.startswith("at most 2 of 3 (0.6667) can be won")
    assert "at most" not in nestful.score_corrected(asked[:2], run=RUN).figure("win_rate").note
    report = nestful.score_corrected([*records(GOLD), *records("[]", gold=[5])])
    full, rate = report.figure("percentage_times_full_score"), score("[]", gold=[5]).figure("win_rate")
    assert (bool(report.rows[1].error), full.denominator, rate.value, rate.denominator) == (True, 1, None, 0)
    shares = figure6([(sample, judge_answer(sample, text, run=RUN)) for sample, text in records(GOLD, "")])
    assert [(share.panel, share.key, share.n, share.won / share.n) for share in shares] == [
        ("depth", 1, 2, 0.5), ("dependencies", 1, 2, 0.5), ("pattern", "A→B", 2, 0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(("written", "right"), [
    ("$var_1.result", True), ("$var_1", True), ("$var_1.value", False), ("$var_9.result", False),
    ("$var_2.result", False), ("var_1.result", False), ("$5-$9", False),
])  # fmt: skip
def test_a_reference_may_lack_its_closing_dollar(written: str, right: bool) -> None:
    whole, cut = (score([GOLD[0], call("subtract", "$var_2", f"{written}{end}", 2)]) for end in ("$", ""))
    assert cut.value("win_rate") == float(right)
    if right:
        assert [figure.value for figure in cut.figures] == [figure.value for figure in whole.figures]


QUOTED = '[multiply(arg_0="6", arg_1="7"), subtract(arg_0="$var_1.result$", arg_1="2")]'


def test_python_like_answers_mean_what_the_same_calls_in_json_mean() -> None:
    bare = QUOTED.replace('"', "")
    for answer in (QUOTED, bare.replace(", ", ","), bare.replace("$var_1.result$", "'$var_1.result$'")):
        found = score(answer)
        assert (number(found, "accuracy_combined"), number(found, "win_rate")) == (1, 1)
    texts = [tool(name, kind="str") for name in ("multiply", "subtract")]  # which ask for no numbers
    assert number(score(QUOTED, tools=texts), "accuracy_combined") == 0


@pytest.mark.parametrize("level", ["inline", "process"])
def test_samples_whose_functions_are_not_there_are_named_and_left_out(level: str) -> None:
    strange, tools = [call("largest", "$var_1", [1, 2], 1)], [*TOOLS, tool("largest")]
    asked = [*records(GOLD), *records(strange, gold=strange, tools=tools)]
    with NestfulRunner(level=level) as run:
        reports = [nestful.score_corrected(asked, run=run), nestful.score_official(asked, run=run)]
    found, known = (report.figure("win_rate") for report in reports)
    assert (found.numerator, found.denominator, known.numerator, known.denominator) == (1, 1, 1, 2)
    assert "1 sample left out: functions that do not exist" in found.note
    assert "(largest)" in found.note
    assert [row.error for row in reports[0].rows] == [None, "functions that do not exist: largest"]
    assert "1 sample lost: functions that do not exist" in known.note


@pytest.mark.parametrize("scored", [nestful.score_official, nestful.score_corrected])
def test_a_right_answer_by_another_plan_is_an_alternate_trajectory(scored: Callable[..., Report]) -> None:
    report = scored(records(GOLD, OTHER, LOST, "no calls"), run=RUN)
    found = alternate_figure(report)
    assert (found.value, found.numerator, found.denominator) == (0.25, 1, 4)
    assert alternate_wins(report) == ["1"]
    bare = alternate_figure(scored(records(GOLD, OTHER)))
    assert (bare.value, bare.note) == (None, "not run")
    assert alternate_figure(official(GOLD, "null", run=RUN)).error == "TypeError"
    few = alternate_figure(score(GOLD, run=PublishedRunner({"multiply": OFFICIAL_FUNCTIONS["multiply"]})))
    assert (few.value, few.denominator) == (None, 0)  # what cannot be run is in no corrected share


def test_averages_over_files_are_weighted_by_their_samples() -> None:
    files = [records(GOLD), records(OTHER, LOST, LOST)]
    corrected = weighted_average([nestful.score_corrected(file, run=RUN) for file in files])
    wanted = {PARTIAL: (1 + 3 * (0.5 / 3)) / 4, FULL: 0.25, WIN: 0.5, "alternate_trajectory_score": 0.25}
    found = {figure.name: figure.value for figure in corrected if figure.denominator == 4}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    told = weighted_average([nestful.score_official(file, run=RUN) for file in files])
    values = {figure.name: figure.value for figure in told}
    assert values[PARTIAL] == pytest.approx((1 + 3 * 0.167) / 4)  # of the printed numbers
    assert values[WIN] == pytest.approx((1 + 3 * 0.333) / 4)
    assert weighted_average([nestful.score_official(files[0])])[4].value is None
    broken = [nestful.score_official(records("null")), nestful.score_official(files[0])]
    assert {figure.error for figure in weighted_average(broken)} == {"TypeError"}


@pytest.mark.parametrize(("answer", "query", "run", "wanted"), [
    *TABLES["each_challenge_is_counted"],
    (GOLD, "", None, {}),
    (OTHER, "", RUN, {}),
    (OTHER, "", None, {"none of these": 1}),
    ([GOLD[0], {**GOLD[1], "label": "$var_1"}, GOLD[1]], "", None, {"variable assignments": 1}),
])  # fmt: skip
def test_each_challenge_is_counted(answer: Any, query: str, run: Any, wanted: dict[str, int]) -> None:
    asked = records(answer, query=query)
    answers = [(*record, judge_answer(*record, run=run)) for record in asked]
    rows = challenges(answers, model=DEFAULT_MODEL)
    assert {row["challenge"]: row["times"] for row in rows if row["times"]} == wanted


def test_every_released_plan_is_perfect_against_itself_and_faces_no_challenge(reference: Path) -> None:
    folder = reference / "datasets" / "nestful"
    collected = list(read_nestful(folder / "v2" / "nestful_v2_collected.jsonl"))
    asked = [(sample, json.dumps(sample.gold)) for sample in (*read_nestful(folder), *collected)]
    answers = [(*record, judge_answer(*record)) for record in asked]
    assert challenges(answers, model=DEFAULT_MODEL) == []
    parts = sorted({sample.category for sample, _ in asked})
    reports = [nestful.score_corrected([one for one in asked if one[0].category == part]) for part in parts]
    averages = {figure.name: figure for figure in weighted_average(reports)}
    assert {averages[name].value for name in (FULL, PARTIAL, "f1_intent", "f1_slot")} == {1.0}
    assert averages[FULL].denominator == 300 + 554
    math = [one for one in asked if one[0].category == "math"]
    assert nestful.score_corrected(math, run=RUN).figure("win_rate").numerator == 411
    coding = {cell.row: cell for cell in dataset_table(collected) if cell.column == "coding"}
    assert (coding["Samples"].n, coding["Samples"].of, coding["Avg. calls"].agrees) == (143, 446, True)
    assert coding["Tools"].note == "143 of 446 samples available"


ODDITIES = [
    ("add", ("a", "b"), "ab"), ("multiply", ("ab", 2), "abab"), ("subtract", (7, 2), 5),
    ("divide", (6, 3), 2.0), ("divide", (1, 0), ZeroDivisionError), ("power", (2, 10), 1024),
    ("power", (0, -1), ZeroDivisionError), ("power", (-8, 1 / 3), (-8) ** (1 / 3)), ("sqrt", (10,), 3),
    ("sqrt", (16.0,), TypeError), ("sqrt", (-1,), ValueError), ("log", (1000, 10), 2), ("log", (100, 10), 2),
    ("log", (125, 5), 3), ("log", (math.e**2,), 2), ("log", (0,), ValueError), ("floor", (-2.5,), -3),
    ("negate", (4,), -4), ("inverse", (4,), 0.25), ("inverse", (0,), ZeroDivisionError),
    ("factorial", (5,), 120), ("factorial", (5.0,), TypeError), ("factorial", (-1.0,), ValueError),
    ("factorial", (0.0,), 1), ("choose", (5, 2), 10), ("choose", (2, 5), 0), ("choose", (5.0, 2), TypeError),
    ("choose", (-1, 2), ValueError), ("permutation", (5, 2), 20), ("permutation", (2, 5), ValueError),
    ("permutation", (3, 3.0), 6), ("permutation", (5, 3.0), TypeError), ("gcd", (7.9, 3), 1),
    ("gcd", ("12", -18), 6), ("lcm", (4, 6), 12), ("lcm", (4.5, 6), 13.0), ("lcm", (0, 0), ZeroDivisionError),
    ("remainder", (-7, 3), 2), ("reminder", (7, -3), -2), ("reminder", (7, 0), ZeroDivisionError),
    ("max_number", ([1, 3, 2],), 3), ("max_number", (1, 2), TypeError), ("max_number", ([],), ValueError),
    ("max_number", ("abc",), "c"), ("min_number", ([1, 3, 2],), 1), ("negate_prob", (1.5,), -0.5),
    ("speed", (10, 4), 2.5), ("circle_area", (-1,), math.pi), ("circumface", (2,), 2 * math.pi * 2),
    ("triangle_area", (3, 4), 6.0), ("rectangle_area", (3, 4), 12), ("rectangle_perimeter", (3, 4), 14),
    ("square_area", (3,), 9), ("square_perimeter", (3,), 12), ("square_edge_by_area", (10,), math.sqrt(10)),
    ("square_edge_by_area", (-1,), ValueError), ("square_edge_by_perimeter", (10,), 2.5),
    ("rhombus_area", (3, 4), 6.0), ("diagonal", (3, 4), 5.0), ("volume_cube", (3,), 27),
    ("surface_cube", (3,), 54), ("cube_edge_by_volume", (64,), 3.9999999999999996),
    ("cube_edge_by_volume", (-8,), ValueError), ("volume_sphere", (3,), 4 / 3 * math.pi * 27),
    ("surface_sphere", (3,), 4 * math.pi * 9), ("volume_cylinder", (3, 2), math.pi * 9 * 2),
    ("surface_cylinder", (3, 2), 2 * math.pi * 3 * 5), ("volume_cone", (3, 2), 1 / 3 * math.pi * 9 * 2),
]  # fmt: skip
SANITY = [
    ("add", ("a", "b"), TypeError), ("multiply", (True, 2), TypeError), ("power", (-8, 1 / 3), ValueError),
    ("sqrt", (10,), math.sqrt(10)), ("sqrt", (16.0,), 4.0), ("log", (1000, 10), 3.0), ("log", (125, 5), 3.0),
    ("log", (10,), math.log(10)), ("factorial", (5.0,), 120), ("factorial", (5.5,), ValueError),
    ("permutation", (5, 3.0), 60), ("gcd", (7.9, 3), ValueError), ("lcm", (0, 0), 0),
    ("max_number", (1, 5, 2), 5), ("max_number", ([1, 5, 2],), 5), ("negate_prob", (1.5,), ValueError),
    ("negate_prob", (0.25,), 0.75), ("circle_area", (-1,), ValueError), ("subtract", (1, 4), -3),
    ("cube_edge_by_volume", (64,), 4.0),
]  # fmt: skip


@pytest.mark.parametrize(("functions", "name", "arguments", "expected"), [
    *((OFFICIAL_FUNCTIONS, *case) for case in ODDITIES), *((SANE_FUNCTIONS, *case) for case in SANITY),
])  # fmt: skip
def test_oddities_and_sane_answers(functions: Any, name: str, arguments: Any, expected: Any) -> None:
    if isinstance(expected, type):
        with pytest.raises(expected):
            functions[name](*arguments)
    else:
        result = functions[name](*arguments)
        assert (result, type(result)) == (expected, type(expected))


def test_both_registries_hold_the_same_forty_names(reference: Path) -> None:
    path = reference / "datasets/nestful/v2/executable_function_signatures.json"
    entries = json.loads(path.read_text())["functions"]
    published = {e["name"]: e["parameters"] for e in entries if e["file"].endswith("basic_functions.py")}
    assert len(OFFICIAL_FUNCTIONS) == 40
    assert (
        set(SANE_FUNCTIONS) == set(OFFICIAL_FUNCTIONS) == {name for name, _, _ in ODDITIES} == set(published)
    )
    for name, parameters in published.items():
        assert len(inspect.signature(OFFICIAL_FUNCTIONS[name]).parameters) == len(parameters), name
