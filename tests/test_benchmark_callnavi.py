"""CallNavi: both scores on data of our own, laws, its reader, its tables, the released data."""

import json
from collections import Counter
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import DatasetError, JudgeError, ParseError
from planner_eval.base.json_text import object_items
from planner_eval.base.text import edit_distance
from planner_eval.benchmarks.benchmark import BenchmarkRules
from planner_eval.benchmarks.callnavi import score_corrected, score_official
from planner_eval.benchmarks.callnavi.corrected import scorer
from planner_eval.benchmarks.callnavi.data import read_callnavi
from planner_eval.benchmarks.callnavi.official import (
    ALL_RIGHT,
    Verdict,
    election_score,
    frequencies,
    levenshtein_score,
)
from planner_eval.benchmarks.callnavi.reading import read_answer, wash_json, wash_yaml
from planner_eval.benchmarks.callnavi.tables import (
    TABLE_4,
    correlation,
    correlation_over_questions,
    error_kinds,
    error_rows,
    table1,
    table2,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import JudgeRequest, ScriptedJudge
from planner_eval.benchmarks.score import score_file
from planner_eval.models.cache import Cache
from planner_eval.reading.dialects.read import parse
from tests.conftest import ROOT, tabled
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples"
FLIGHT: Any = {"API": ["findFlight", "payFlight"], "parameters": [{"to": "Oslo"}, {"sum": 5, "card": "$$$"}]}
GOLD: Any = {"API": ["pay"], "parameters": [{"to": "Ann", "card": {"number": "$$$"}, "when": {}}]}


@pytest.fixture(scope="module")
def samples(reference: Path) -> dict[str, Sample]:
    return {sample.id: sample for sample in read_callnavi(reference / "datasets" / "callnavi")}


def record(*calls: tuple[str, Any]) -> dict[str, Any]:
    return {"API": [name for name, _ in calls], "parameters": [entry for _, entry in calls]}


def sample(name: Any = "q", difficulty: str = "easy", gold: Any = FLIGHT, tools: Any = None) -> Sample:
    return Sample(str(name), gold=gold, tools=tools, dialect="callnavi", extra={"difficulty": difficulty})


def pay(**changes: Any) -> str:
    return json.dumps({"API": ["pay"], "parameters": [GOLD["parameters"][0] | changes]})


def failing(request: JudgeRequest) -> str:
    raise JudgeError("gone")


def test_one_record_that_raises_takes_every_figure_but_keeps_every_row() -> None:
    right = json.dumps(FLIGHT)
    report = score_official([(sample(1), right), (sample(2, "hard"), "null"), (sample(3), "{}")])
    error = "TypeError: argument of type 'NoneType' is not iterable"
    assert [(row.ok, row.error) for row in report.rows] == [(True, None), (False, error), (False, None)]
    assert (report.value("syntax"), report.value("ast_hard")) == (3 / 729, None)
    assert report.figure("ast_hard").error == report.figure("ast_macro").error == error
    report = score_official([(sample(1, "medium"), right), (sample(2, "hard"), "no JSON")])  # by constants
    assert (report.n, report.value("ast_medium"), report.figure("ast_hard").denominator) == (2, 1 / 188, 85)
    assert report.value("ast_overall") == report.value("structure") == 1 / 729
    assert (report.value("ast_macro"), report.value("gpt")) == (pytest.approx(1 / 188 / 3), None)


def test_a_judge_repairs_and_rates() -> None:
    judge = ScriptedJudge(lambda one: json.dumps(FLIGHT) if one.task == "callnavi.repair" else "[[0.25]]")
    report = score_official([(sample(), "payFlight(findFlight())")], judge=judge)
    assert [report.value(name) for name in ("syntax", "ast_easy", "gpt")] == [0, 1 / 456, 0.25 / 729]
    gone = [(sample(1), json.dumps(FLIGHT)), (sample(2), "?")]
    report = score_official(gone, judge=ScriptedJudge(failing))
    assert (report.figure("gpt").error, report.value("ast_easy")) == ("JudgeError: gone", 1 / 456)
    asked = [(sample(gold=GOLD), "please pay Ann!")]
    judge = ScriptedJudge(lambda request: pay() if request.task == "callnavi.repair" else "[[1.000]]")
    report = score_corrected(asked, judge=judge)
    assert [report.value(name) for name in ("syntax", "ast_easy", "gpt")] == [0, 1, 1]
    assert score_corrected(asked, judge=ScriptedJudge(failing)).value("ast_easy") == 0
    asked = [(sample(gold=GOLD), pay())]  # a rating is asked for until it is one
    judge = ScriptedJudge(lambda request: "[[0.75]]" if request.attempt == 2 else "[[75]]")
    assert score_corrected(asked, judge=judge).value("gpt") == 0.75
    stubborn = score_corrected(asked, judge=ScriptedJudge(lambda request: "[[75]]")).figure("gpt")
    assert (stubborn.value, stubborn.denominator) == (None, 0)
    assert "1 answer without a usable rating" in stubborn.note


@pytest.mark.parametrize("task", ["parameters", "routing"])
def test_gold_of_another_benchmark_is_a_row_that_says_so(task: str) -> None:
    (row,) = score_official([(sample(gold=[{"name": "add"}]), json.dumps(FLIGHT))], task=task).rows
    assert row.error == "gold is a list, not a CallNavi record with API and parameters"
    (row,) = score_corrected([(sample(gold=[1]), pay())], task=task).rows
    assert "not a CallNavi record" in (row.error or "")


def test_washing() -> None:
    assert wash_json("{'API': ['f']}").value == {"API": ["f"]}
    assert wash_json('```json\n{"a": 1}\n```').valid
    assert not any(wash_json(text).valid for text in ('{"a": "it\'s"}', "```JSON\n{}```", "{} (note)", "{,}"))
    assert wash_yaml("```yaml\nAPI: [f]\n```").value == {"API": ["f"]}
    assert wash_yaml("a: 2024-05-01\nb: 007\nc: yes").value == {"a": "2024-05-01", "b": 7, "c": True}
    for text in ("2024-05-01: a", "{1: a, b: c}"):
        assert str(wash_yaml(text).error).startswith("TypeError: ")
    assert not wash_yaml("a: 2024-99-99").valid
    links = [*pairwise("abcdefghi")]  # nodes by the billion
    nested = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in links)
    merged = "a: &a {x: 1}\n" + "".join(f"{b}: &{b} {{<<: [{f'*{a}, ' * 9}]}}\n" for a, b in links)
    for text in (nested, merged):
        assert str(wash_yaml(text).error).startswith("LimitError: the YAML aliases")


@pytest.mark.parametrize(("outputs", "score"), [
    ("AAAAA", 1), ("AABBC", 0), ("AABCD", 0.25), ("AAABB", 1 / 3), ("AAABC", 0.5), ("AAAAB", 0.75), ("A", 1),
    ("", None),
])  # fmt: skip
def test_election_gives_the_paper_s_examples(outputs: str, score: float | None) -> None:
    assert election_score(outputs) == (None if score is None else pytest.approx(score))


def slow_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


@settings(deadline=None)
@given(st.text(alphabet="abcü", max_size=80), st.text(alphabet="abcü", max_size=80))
def test_edit_distance_is_the_textbook_one(a: str, b: str) -> None:
    assert edit_distance(a, b) == slow_distance(a, b)
    assert (levenshtein_score(["once"]), levenshtein_score(["", ""])) == (None, 1)


def test_every_irregularity_and_cell_of_the_data_is_counted(samples: dict[str, Sample]) -> None:
    found = Counter(d.code for one in samples.values() for d in one.extra["diagnostics"])
    assert set(found) <= set(code_meanings())
    assert {code.removeprefix("dataset."): count for code, count in found.items()} == {
        "placeholder": 503, "placeholder_first": 226, "placeholder_nested": 70, "untyped": 101,
        "unknown_argument": 35, "missing_argument": 31, "type": 17, "length": 6, "unknown_tool": 6,
        "empty_value": 1, "difficulty": 1, "repeated_tool": 1,
    }  # fmt: skip
    one = {cell.column: cell for cell in table1(samples.values())}
    assert [one[name].value for name in ("Domains", "Questions", "Multi-Call")] == [10, 729, 272]
    assert (one["Max API Candidates"].value, one["Max API Candidates"].agrees) == (101, False)
    cells = table2(samples.values())
    assert len(cells) == 11 * 5
    assert {f"{c.row} {c.column}": c.value for c in cells if not c.agrees} == {
        "Banking API Functions": 96, "Banking Medium": 27, "Banking Hard": 18, "Healthcare API Functions": 21,
        "Human Resources API Functions": 21, "Telecommunications API Functions": 101,
        "Overall API Functions": 587, "Overall Medium": 187, "Overall Hard": 86,
    }  # fmt: skip
    assert all(c.note.startswith("the released data has") for c in cells if not c.agrees)


def test_tables_of_a_part_say_so() -> None:
    few = [Sample("h", tools=[1, 2], gold=FLIGHT, category="hr", extra={"difficulty": "hard"})]
    cells = {(cell.row, cell.column): cell for cell in table2(few)}
    assert cells["Human Resources", "API Functions"].value == 2
    assert cells["Banking", "Easy"].value is None
    assert cells["Human Resources", "Hard"].note == "1 of 35 questions available"
    assert table1(few)[1].note == "1 of 729 questions available"


def write_domain(folder: Path, questions: Any, tools: Any) -> None:
    for name, content in (("Questions", questions), ("APIs", tools)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "hotel.json").write_text(json.dumps(content))


def test_the_reader_keeps_broken_records_and_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no Questions/<domain>\.json here"):
        list(read_callnavi(tmp_path))
    good = {"id": "h1", "question": [{"role": "user", "content": "Book!"}], "ground_truth": FLIGHT}
    port = {"name": "payFlight", "parameters": ["sum"]}
    write_domain(tmp_path, [good, {"id": "h2"}, 7], {"api_ports": [port]})
    first, second, third = read_callnavi(tmp_path)
    assert (first.id, first.query, first.category, first.gold) == ("h1", "Book!", "hotel", FLIGHT)
    codes = ["record", "unknown_tool", "unknown_argument", "placeholder", "untyped"]
    assert [d.code for d in first.extra["diagnostics"]] == [f"dataset.{code}" for code in codes]
    assert (second.id, third.id) == ("h2", "hotel[2]")
    assert [d.code for d in third.extra["diagnostics"]] == ["dataset.record"]
    write_domain(tmp_path, [], [])
    with pytest.raises(DatasetError, match=r"hotel\.json: expected \{\"api_ports\""):
        list(read_callnavi(tmp_path))
    (tmp_path / "Questions" / "hotel.json").write_text('[{"id": 1,}]')
    with pytest.raises(DatasetError, match=r"hotel\.json: line 1, column 1"):
        list(read_callnavi(tmp_path))


def scores(gold: Any, predicted: Any) -> list[float]:
    report = score_corrected([(sample(gold=gold), json.dumps(predicted))])
    return [float(report.value(name) or 0) for name in ("structure", "order_overall", "ast_overall")]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    for how in ({"notation": "json"}, {"notation": "yaml"}, {"task": "routing"}):
        assert len(score_corrected([(sample(gold=GOLD), text)], **how).rows) == 1


@pytest.mark.parametrize(("text", "expected"), [
    (pay(card={"number": 7}), ALL_RIGHT), (pay(card={"number": 7, "pin": 1}), Verdict(True, True, False)),
    (pay(when="now"), Verdict(True, True, False)), (pay(note="more"), Verdict(True)),
    (pay().replace('"to"', '"To"'), Verdict(True)), (pay().replace("pay", "PAY"), Verdict()),
    (pay().replace("Ann", "Ann's"), Verdict(True, True, False)),
    ('{"API": ["pay"], "parameters": [{"to": "Ann", "to": "Bob"}]}', Verdict(True)),
    *((f'{{"API": ["pay"], "parameters": {none}}}', Verdict(True)) for none in ("[null]", "null")),
    *((
        f'{{"API": ["pay"], "parameters": {odd}}}', Verdict(error="parse.shape"),
    ) for odd in ("[7]", "[{}, {}]")),
    ("null", Verdict(error="parse.shape")), ("", Verdict(error="parse.empty")),
])  # fmt: skip
def test_verdicts(text: str, expected: Verdict) -> None:
    assert scorer().judge(sample(gold=GOLD), text).verdict == expected


def test_true_is_not_one_and_no_parameters_may_be_written_in_several_ways() -> None:
    gold = record(("pay", {"n": 1, "flag": True}))
    assert scores(gold, record(("pay", {"n": 1.0, "flag": True}))) == [1, 1, 1]
    assert scores(gold, record(("pay", {"n": True, "flag": 1}))) == [1, 1, 0]
    ways = [{"API": ["list"], "parameters": written} for written in ([], [{}], [None], None)]
    assert all(scores(gold, answer) == [1, 1, 1] for gold in ways[:2] for answer in ways)
    assert scores(record(("pay", {"to": "Ann"})), {"API": ["pay"], "parameters": {"to": "Ann"}}) == [1, 1, 1]


@tabled("text, valid")
def test_valid_is_what_the_text_is_as_written(text: str, valid: bool) -> None:
    answer = read_answer(text)
    assert answer.valid is valid
    assert answer.calls is not None
    calls = zip(*answer.calls, strict=True)
    assert [(name, len(object_items(arguments)) in (1, 3)) for name, arguments in calls] == [("pay", True)]


def test_values_that_are_no_objects_are_not_valid() -> None:
    assert not any(read_answer(text).valid for text in ("[]", "42", "null", '"API"', "{} {}", ""))
    assert read_answer("API: [pay]\nparameters: [{to: Ann}]", notation="yaml").valid
    assert not read_answer("I would pay.", notation="yaml").valid
    for end in range(1, len(text := '{"API": ["pay"], "parameters": [{"to": "Ann\'s", "n": [1, {}]}]}')):
        with pytest.raises(ParseError) as cut:  # what is known without a search is what the search says
            parse(text[:end])
        assert read_answer(text[:end]).code == cut.value.code


def test_ratios_are_over_the_questions_asked() -> None:
    report = score_corrected([(sample(1, "hard", GOLD), pay()), (sample(2, "easy", GOLD), "{}")])
    found = [report.value(f"ast_{name}") for name in ("hard", "overall", "medium", "macro")]
    assert found == [1, 0.5, None, None]
    assert report.figure("ast_overall").denominator == 2


@tabled("text, right")
def test_routing_is_an_exact_match(text: str, right: int) -> None:
    gold = record(("pay", {}), ("list", {}))
    assert score_corrected([(sample(gold=gold), text)], task="routing").value("overall") == right


@tabled("gold, reason")
def test_gold_without_calls_is_a_row_and_the_others_are_scored(gold: Any, reason: str) -> None:
    good = record(("pay", {"to": "Ann"}))
    report = score_corrected([(sample(gold=one), json.dumps(good)) for one in (good, gold)])
    assert [row.ok for row in report.rows] == [True, False]
    said = f"gold cannot be read: {reason}: found {json.dumps(gold)}, expected the names of the calls as a"
    assert str(report.rows[1].error).startswith(said)


STEPS = record(("find", {"to": "Oslo", "day": "$$$"}), ("pay", {"bill": {"id": "$$$"}}))
FIND, PAY = ("find", {"to": "Oslo", "day": "Monday"}), ("pay", {"bill": {"id": 7}})
OFFERED = [{"name": name} for name in ("find", "book", "pay")]


def written(*calls: tuple[str, Any]) -> str:
    return json.dumps(record(*calls))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (written(FIND, PAY), set()), (f"```json\n{written(FIND, PAY)}\n```", {"format"}),
        ("I cannot.", {"format"}), (written(FIND, ("settle", PAY[1])), {"hallucination"}),
        (written(("settle", PAY[1])), {"hallucination", "logic: steps"}),
        (written(PAY, FIND), {"logic: order"}),
        (written(FIND), {"logic: steps"}), (written(FIND, ("pay", {})), {"logic: values"}),
        (written(("find", {"to": "Oslo"}), PAY), {"other"}),  # the first call's values are the user's
        (written(("find", {**FIND[1], "to": "Bergen"}), PAY), {"other"}),
        (written(FIND, ("book", PAY[1])), {"other"}), (written(FIND, PAY, ("book", {})), {"other"}),
        (f"So: {written(FIND)}", {"format", "logic: steps"}),
    ],
)  # fmt: skip
def test_kinds_of_errors(text: str, wanted: set[str]) -> None:
    assert error_kinds(sample(gold=STEPS, tools=OFFERED), text) == wanted


@pytest.mark.parametrize(("text", "wanted"), [
    ("['find', 'pay']", set()), ('```["find", "pay"]```', {"format"}),
    ("First I would find one.", {"format"}), ("['pay', 'find']", {"logic: order"}),
    ("['find', 'settle']", {"hallucination"}), ("['find']", {"logic: steps"}),
])  # fmt: skip
def test_kinds_of_errors_of_names_alone(text: str, wanted: set[str]) -> None:
    assert error_kinds(sample(gold=STEPS, tools=OFFERED), text, task="routing") == wanted


def test_errors_are_counted_by_difficulty() -> None:
    strange = record(("elsewhere", {"a": 1}))  # what gold calls is not invented, lists not there say nothing
    assert error_kinds(sample(gold=strange, tools=OFFERED), written(("elsewhere", {"a": 2}))) == {"other"}
    assert error_kinds(sample(gold=STEPS), written(("x", {}), ("y", {}))) == {"other"}
    asked = [
        (sample("a", "easy", STEPS, OFFERED), "I cannot."),
        (sample("b", "hard", STEPS, OFFERED), written(FIND, PAY)),
        (sample("c", "hard", STEPS, OFFERED), written(PAY, FIND)), (sample("d", "hard", ["no record"]), "{}"),
    ]  # fmt: skip
    names = ("easy", "medium", "hard", "all")
    rows = {row["error"]: [row[name] for name in names] for row in error_rows(asked)}
    assert rows["format"] == [1, 0, 0, 1]
    assert rows["logic: order"] == rows["no error"] == [0, 0, 1, 1]
    assert rows["answers"] == [1, 0, 2, 3]


def rate(request: JudgeRequest) -> str:
    text = str(request)
    return "[[0.6]]" if "swapShift" in text else "[[0.2]]" if "getShift" in text else "[[1]]"


def test_correlation_over_questions(tmp_path: Path) -> None:
    printed = correlation(TABLE_4.values())
    assert (printed.n, f"{printed.r:.3f}", f"{printed.p:.2e}") == (17, "0.934", "4.40e-08")
    pred, gold = SAMPLES / "answers" / "callnavi.jsonl", SAMPLES / "callnavi"
    cache = tmp_path / "judge.sqlite"
    rules = BenchmarkRules(judge=Cache(cache, ScriptedJudge(rate), model="m"))
    scored = score_file(str(pred), str(gold), "callnavi", rules=rules)
    found = correlation_over_questions(scored.reports["corrected"])
    # By hand: AST 1, 0, 1 and ratings 1, 0.2, 0.6.
    assert (found.n, found.r) == (3, pytest.approx(sqrt(3) / 2))
    judge = ("--judge", "m", "--run", f"judge.cache={cache!s}", "--replay")
    done = planeval("score", str(pred), str(gold), "--benchmark", "callnavi", "--details", *judge)
    assert done.returncode == 0, done.stderr
    rows = tables(done.stdout)["Section 6.4: Pearson's correlation of GPT score and AST match"]
    assert ["questions,", "corrected", "3", "0.866"] in [row[:4] for row in rows]
    assert rows[-1][-6:] == ["17", "0.9337", rows[-1][-4], "0.934,", "p", "4.40e-08"]


def tables(text: str) -> dict[str, list[list[str]]]:
    blocks = text.split("\n\n")
    return {title: [line.split() for line in rows.splitlines()[1:]] for title, rows in pairwise(blocks)}


def test_the_tables_stand_in_details(tmp_path: Path) -> None:
    texts = ["['A']", '["a"]', "b", "B", "c"]  # frequencies count cleaned answers
    asked = [(sample(), text) for text in texts] + [(sample("none"), " ")] * 2
    assert frequencies(asked) == {1: [0.4, 0.0], 2: [0.8, 0.0], 3: [1.0, 0.0]}
    argv = (str(SAMPLES / "callnavi"), "--benchmark", "callnavi", "--details")
    found = tables(planeval("score", str(SAMPLES / "answers" / "callnavi.jsonl"), *argv).stdout)
    domains = found["By domain: means over the available questions"]
    assert domains == [["hr", "3", "of", "35", *["1", "0.6667", "1", "1", "1", "0.6667", "1", "0.6667"]]]
    errors = {row[0]: row[1:5] for row in found["Appendix F: kinds of errors, in answers"]}
    assert (errors["format"], errors["answers"]) == (["1", "0", "0", "1"], ["1", "1", "1", "3"])
    assert not any("Pearson" in title for title in found)  # nothing was judged
    pred = tmp_path / "several.jsonl"
    pred.write_text(json.dumps({"id": "hr01", "outputs": ["a", "a", "b", "b", "c"]}))
    done = planeval("score", str(pred), *argv, "--set", "task=stability")
    rows = {row[0]: row[1:] for row in tables(done.stdout)["Section 5.3: freq@k beside the stability scores"]}
    # One question of three was answered: 0.4, 0.8 and 1 of it; the others are 0.
    assert [rows[f"freq@{k}"] for k in (1, 2, 3)] == [["0.1333", "3"], ["0.2667", "3"], ["0.3333", "3"]]
    assert rows["election"] == ["0", "3"]
