"""CallNavi's official scores: against the published code's own output, and on small data of our own."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.base.errors import CODES, DatasetError, JudgeError
from planner_eval.benchmarks.callnavi import score_official
from planner_eval.benchmarks.callnavi.stability import edit_distance, election, levenshtein_score
from planner_eval.benchmarks.callnavi.tables import table1, table2
from planner_eval.benchmarks.callnavi.verdicts import ALL_RIGHT, Verdict, judge_parameters, judge_route
from planner_eval.benchmarks.callnavi.washing import wash_json, wash_yaml
from planner_eval.benchmarks.report import Report
from planner_eval.datasets.callnavi import read_callnavi
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge

HALF = {"callnavi.gpt_score": "[[0.5]]", "callnavi.repair": "I cannot."}
VERDICTS = ("order", "structure", "ast")


@pytest.fixture(scope="module")
def samples(reference: Path) -> dict[str, Sample]:
    return {sample.id: sample for sample in read_callnavi(reference / "datasets" / "callnavi")}


@pytest.fixture(scope="module")
def official(reference: Path) -> dict[str, Any]:
    with gzip.open(reference / "vectors" / "callnavi" / "official.json.gz", "rt") as stream:
        return dict(json.load(stream))


def vectors(reference: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(reference / "vectors" / "callnavi" / f"{name}.jsonl.gz", "rt") as stream:
        yield from map(json.loads, stream)


def by_perturbation(reference: Path, name: str) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = {}
    for record in vectors(reference, name):
        answers.setdefault(record["perturbation"], {})[record["id"]] = record["raw"]
    return answers


def letters(report: Report, name: str) -> str:
    """One character a row, as in the vectors: 1, 0, or x where the published code raises."""
    cells = [next(f for f in row.figures if f.name == name) for row in report.rows]
    return "".join("x" if cell.error else str(int(float(cell.value or 0))) for cell in cells)


@pytest.mark.more
def test_all_parameter_vectors(reference: Path, samples: dict[str, Sample], official: dict[str, Any]) -> None:
    answers = by_perturbation(reference, "pred")
    judge = ScriptedJudge(lambda request: HALF[request.task])
    ids = official["ids"]
    assert len(official["parameters"]) == 55
    assert len(ids) == 729
    for perturbation, expected in official["parameters"].items():
        records = [(samples[id_], answers[perturbation][id_]) for id_ in ids]
        report = score_official(records, notation=expected["family"], judge=judge)
        assert letters(report, "syntax") == expected["syntax"], perturbation
        for name in VERDICTS:
            assert letters(report, name) == expected[name], (perturbation, name)
        assert {row.id: row.error for row in report.rows if row.error} == expected.get("ast_raised", {})
        assert report.value("syntax") == pytest.approx(expected["printed_syntax"], abs=1e-12)
        for name, printed in expected.get("judge_para", {}).items():
            assert report.value(name) == pytest.approx(printed, abs=1e-12), (perturbation, name)
        for name in ("gpt", "structure", "order_hard", "ast_overall"):
            assert report.figure(name).error == expected.get("judge_para_error")


def test_all_routing_vectors(reference: Path, samples: dict[str, Sample], official: dict[str, Any]) -> None:
    answers = by_perturbation(reference, "routing")
    assert len(official["routing"]) == 22
    for perturbation, expected in official["routing"].items():
        records = [(samples[id_], answers[perturbation][id_]) for id_ in official["ids"]]
        report = score_official(records, task="routing")
        assert letters(report, "match") == expected["match"], perturbation
        for name, printed in expected["judge_call"].items():
            assert report.value(name) == pytest.approx(printed, abs=1e-12), (perturbation, name)


def test_all_stability_vectors(reference: Path, samples: dict[str, Sample], official: dict[str, Any]) -> None:
    runs = vectors(reference, "stability")
    report = score_official(
        ((samples[record["id"]], output) for record in runs for output in record["outputs"]), task="stability"
    )
    expected = official["stability_paper_formula"]
    assert len(report.rows) == len(expected["per_id"]) == 729
    for row in report.rows:
        assert [f.value for f in row.figures] == pytest.approx(expected["per_id"][row.id], abs=1e-12), row.id
    means = [report.value("election"), report.value("levenshtein")]
    assert means == pytest.approx(expected["mean"], abs=1e-12)


# ---------------------------------------------------------------- on our own data
GOLD = {"API": ["findFlight", "payFlight"], "parameters": [{"to": "Oslo"}, {"sum": 500, "card": "$$$"}]}


def answer(*parameters: Any, names: Any = ("findFlight", "payFlight")) -> dict[str, Any]:
    return {"API": list(names), "parameters": list(parameters)}


def sample(number: int, difficulty: str = "easy") -> Sample:
    return Sample(f"q{number}", gold=GOLD, dialect="callnavi", extra={"difficulty": difficulty})


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        (GOLD, Verdict(True, True, True)),
        (answer({"to": "Oslo", "more": 1}, {"card": 7, "sum": 500.0}), Verdict(True, True, True)),
        (answer({"to": "Oslo"}, {"sum": "500", "card": ""}), Verdict(True, True, False)),
        (answer({"to": "Oslo"}, {"sum": 500}), Verdict(True, False, False)),
        (answer({"to": "Oslo"}), Verdict()),
        (answer({"to": "Oslo"}, {"sum": 500, "card": 1}, names=("payFlight", "findFlight")), Verdict()),
        ({}, Verdict()),
        ([], Verdict()),
        ("API", Verdict()),
        ({"API": GOLD["API"]}, Verdict()),
        (7, Verdict(error="TypeError: argument of type 'int' is not iterable")),
        (True, Verdict(error="TypeError: argument of type 'bool' is not iterable")),
        (["API", "parameters"], Verdict(error="TypeError: list indices must be integers or slices, not str")),
        (
            "the API and its parameters",
            Verdict(error="TypeError: string indices must be integers, not 'str'"),
        ),
        ({**GOLD, "parameters": {"a": 1, "b": 2}}, Verdict(error="KeyError: 0")),
        ({**GOLD, "parameters": None}, Verdict(error="TypeError: object of type 'NoneType' has no len()")),
        ({"API": ["other"], "parameters": None}, Verdict()),
        (answer({}, None), Verdict(error="TypeError: argument of type 'NoneType' is not iterable")),
        (answer("to", {}), Verdict(error="TypeError: string indices must be integers, not 'str'")),
        (answer("x", "sum"), Verdict(error="TypeError: string indices must be integers, not 'str'")),
        (answer("x", "card"), Verdict(True, False, False)),
    ],
)
def test_verdicts_and_the_exceptions_that_they_replace(predicted: Any, expected: Verdict) -> None:
    assert judge_parameters(GOLD, predicted) == expected


def test_the_answer_is_not_looked_into_where_gold_has_no_parameters() -> None:
    """Its parameters need only be as many as gold's."""
    gold = {"API": ["getRoomTypes"], "parameters": [{}]}
    for parameters in ({"0": 1}, [None], [7], "x"):
        assert judge_parameters(gold, {"API": ["getRoomTypes"], "parameters": parameters}) == ALL_RIGHT
    sample = Sample("hot030", gold=gold, extra={"difficulty": "easy"})
    report = score_official([(sample, json.dumps({**gold, "parameters": {"0": 1}}))])
    assert [figure.error for figure in report.figures] == [None] * len(report.figures)
    assert report.figure("ast_easy").numerator == 1


def test_the_order_of_the_keys_decides_what_raises() -> None:
    gold = {"API": ["f"], "parameters": [{"b": 1, "a": 2}]}
    assert judge_parameters(gold, {"API": ["f"], "parameters": ["b"]}).error is not None
    assert judge_parameters(gold, {"API": ["f"], "parameters": ["b"]}, sort_keys=True) == Verdict(True)


def test_only_a_whole_value_is_a_wildcard() -> None:
    gold = {"API": ["f"], "parameters": [{"a": {"day": "$$$"}, "b": {}}]}
    filled = {"API": ["f"], "parameters": [{"a": {"day": 1}, "b": 5}]}
    assert judge_parameters(gold, filled) == Verdict(True, True, False)
    assert judge_parameters(gold, {"API": ["f"], "parameters": [{"a": {"day": "$$$"}, "b": 5}]}).ast


def test_one_record_that_raises_takes_every_figure_but_keeps_every_row() -> None:
    report = score_official([(sample(1), json.dumps(GOLD)), (sample(2, "hard"), "null"), (sample(3), "{}")])
    error = "TypeError: argument of type 'NoneType' is not iterable"
    assert [row.error for row in report.rows] == [None, error, None]
    assert [row.ok for row in report.rows] == [True, False, False]
    assert report.value("syntax") == 3 / 729
    assert (report.value("ast_hard"), report.figure("ast_hard").error) == (None, error)
    assert report.figure("ast_macro").error == error


def test_figures_divide_by_the_published_constants() -> None:
    report = score_official([(sample(1, "medium"), json.dumps(GOLD)), (sample(2, "hard"), "no JSON")])
    assert report.n == 2
    assert report.value("ast_medium") == 1 / 188
    assert report.value("ast_overall") == report.value("structure") == 1 / 729
    assert report.value("ast_macro") == pytest.approx(1 / 188 / 3)
    assert report.value("gpt") is None
    assert report.figure("ast_hard").denominator == 85


def test_a_judge_repairs_and_rates() -> None:
    def reply(request: JudgeRequest) -> str:
        return json.dumps(GOLD) if request.task == "callnavi.repair" else "[[0.25]]"

    report = score_official([(sample(1), "payFlight(findFlight())")], judge=ScriptedJudge(reply))
    assert report.value("syntax") == 0
    assert report.value("ast_easy") == 1 / 456
    assert report.value("gpt") == 0.25 / 729


def test_a_judge_that_fails_is_said_and_never_raised() -> None:
    def reply(request: JudgeRequest) -> str:
        raise JudgeError("gone")

    report = score_official([(sample(1), json.dumps(GOLD)), (sample(2), "?")], judge=ScriptedJudge(reply))
    assert report.figure("gpt").error == "JudgeError: gone"
    assert report.value("ast_easy") == 1 / 456


def test_gold_of_another_benchmark_is_a_row_that_says_so() -> None:
    other = Sample("a1", gold=[{"name": "add"}], extra={})
    for task in ("parameters", "routing"):
        (row,) = score_official([(other, json.dumps(GOLD))], task=task).rows
        assert row.error == "gold is a list, not a CallNavi record with API and parameters"
        assert not row.ok


def test_routing_counts_what_it_was_given() -> None:
    records = [(sample(1), "[findflight, PAYFLIGHT]"), (sample(2, "hard"), "['payFlight']")]
    report = score_official(records, task="routing")
    assert [report.value(name) for name in ("overall", "easy", "hard")] == [0.5, 1, 0]
    assert report.figure("medium").error == "ZeroDivisionError: division by zero"
    assert not judge_route(GOLD, "[findFlight; payFlight]")


def test_washing() -> None:
    assert wash_json("{'API': ['f']}").value == {"API": ["f"]}
    assert wash_json('```json\n{"a": 1}\n```').valid
    assert not any(wash_json(text).valid for text in ('{"a": "it\'s"}', "```JSON\n{}```", "{} (note)", "{,}"))
    assert wash_yaml("```yaml\nAPI: [f]\n```").value == {"API": ["f"]}
    assert wash_yaml("a: 2024-05-01\nb: 007\nc: yes").value == {"a": "2024-05-01", "b": 7, "c": True}
    for text in ("2024-05-01: a", "{1: a, b: c}"):
        assert str(wash_yaml(text).error).startswith("TypeError: ")
    assert not wash_yaml("a: 2024-99-99").valid


@pytest.mark.more
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 10_000_000,
        "9" * 5000,
        '{"a":' * 50_000,
        "a: *b",
        "&a [*a]",
        "- ? [",
        "\x00",
        "\ud800",
    ],
)
def test_hostile_texts_are_data(text: str) -> None:
    for wash in (wash_json, wash_yaml):
        washed = wash(text)
        assert judge_parameters(GOLD, washed.value).ast is False


def test_yaml_that_stands_for_billions_of_nodes_is_refused() -> None:
    nested = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in pairwise("abcdefghi"))
    merged = "a: &a {x: 1}\n" + "".join(
        f"{b}: &{b} {{<<: [{f'*{a}, ' * 9}]}}\n" for a, b in pairwise("abcdefghi")
    )
    for text in (nested, merged):
        washed = wash_yaml(text)
        assert washed.error is not None
        assert washed.error.startswith("LimitError: aliases")


@pytest.mark.parametrize(
    ("outputs", "score"),
    [
        ("AAAAA", 1),
        ("AABBC", 0),
        ("AABCD", 0.25),
        ("AAABB", 1 / 3),
        ("AAABC", 0.5),
        ("AAAAB", 0.75),
        ("A", 1),
    ],
)
def test_election_gives_the_paper_s_examples(outputs: str, score: float) -> None:
    assert election(outputs) == pytest.approx(score)


def test_stability_has_no_value_where_nothing_can_be_compared() -> None:
    assert election([]) is None
    assert levenshtein_score(["once"]) is None
    assert levenshtein_score(["", ""]) == 1


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


# ---------------------------------------------------------------- the reader
def test_every_irregularity_of_the_data_is_counted(samples: dict[str, Sample]) -> None:
    found = Counter(d.code for sample in samples.values() for d in sample.extra["diagnostics"])
    assert set(found) <= set(CODES)
    assert found == {
        "dataset.placeholder": 503,
        "dataset.placeholder_first": 226,
        "dataset.placeholder_nested": 70,
        "dataset.untyped": 101,
        "dataset.unknown_argument": 35,
        "dataset.missing_argument": 31,
        "dataset.type": 17,
        "dataset.length": 6,
        "dataset.unknown_tool": 6,
        "dataset.empty_value": 1,
        "dataset.difficulty": 1,
        "dataset.repeated_tool": 1,
    }


def write_domain(folder: Path, questions: Any, tools: Any) -> None:
    for name, content in (("Questions", questions), ("APIs", tools)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "hotel.json").write_text(json.dumps(content))


def test_the_reader_keeps_broken_records(tmp_path: Path) -> None:
    good = {"id": "h1", "question": [{"role": "user", "content": "Book!"}], "ground_truth": GOLD}
    write_domain(
        tmp_path, [good, {"id": "h2"}, 7], {"api_ports": [{"name": "payFlight", "parameters": ["sum"]}]}
    )
    first, second, third = read_callnavi(tmp_path)
    assert (first.id, first.query, first.category, first.gold) == ("h1", "Book!", "hotel", GOLD)
    assert [d.code for d in first.extra["diagnostics"]] == [
        "dataset.record",
        "dataset.unknown_tool",
        "dataset.unknown_argument",
        "dataset.placeholder",
        "dataset.untyped",
    ]
    assert (second.id, third.id) == ("h2", "hotel[2]")
    assert [d.code for d in third.extra["diagnostics"]] == ["dataset.record"]


def test_the_reader_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no Questions/<domain>\.json here"):
        list(read_callnavi(tmp_path))
    write_domain(tmp_path, [], [])
    with pytest.raises(DatasetError, match=r"hotel\.json: expected \{\"api_ports\""):
        list(read_callnavi(tmp_path))
    (tmp_path / "Questions" / "hotel.json").write_text('[{"id": 1,}]')
    with pytest.raises(DatasetError, match=r"hotel\.json: line 1, column 1"):
        list(read_callnavi(tmp_path))


# ---------------------------------------------------------------- the paper's tables
def test_table_1_and_2_cells(samples: dict[str, Sample]) -> None:
    found = list(samples.values())
    one = {cell.column: cell for cell in table1(found)}
    assert [one[name].value for name in ("Domains", "Questions", "Multi-Call")] == [10, 729, 272]
    assert (one["Max API Candidates"].value, one["Max API Candidates"].agrees) == (101, False)
    cells = table2(found)
    assert len(cells) == 11 * 5
    assert {(c.row, c.column): c.value for c in cells if not c.agrees} == {
        ("Banking", "API Functions"): 96,
        ("Banking", "Medium"): 27,
        ("Banking", "Hard"): 18,
        ("Healthcare", "API Functions"): 21,
        ("Human Resources", "API Functions"): 21,
        ("Telecommunications", "API Functions"): 101,
        ("Overall", "API Functions"): 587,
        ("Overall", "Medium"): 187,
        ("Overall", "Hard"): 86,
    }
    assert all(c.note.startswith("the released data has") for c in cells if not c.agrees)


def test_tables_of_a_part_say_so() -> None:
    few = [Sample("h", tools=[1, 2], gold=GOLD, category="hr", extra={"difficulty": "hard"})]
    cells = {(cell.row, cell.column): cell for cell in table2(few)}
    assert cells["Human Resources", "API Functions"].value == 2
    assert cells["Banking", "Easy"].value is None
    assert cells["Human Resources", "Hard"].note == "1 of 35 questions at hand"
    assert table1(few)[1].note == "1 of 729 questions at hand"
