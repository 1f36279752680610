"""CallNavi's corrected scores: laws, what each correction changes, and the released data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.base.errors import JudgeError
from planner_eval.benchmarks.callnavi import score_corrected
from planner_eval.benchmarks.callnavi.corrected import compare
from planner_eval.benchmarks.callnavi.reading import read_answer, read_route
from planner_eval.benchmarks.callnavi.verdicts import Verdict
from planner_eval.datasets.callnavi import read_callnavi
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge
from tests.conftest import ROOT
from tests.inside import planeval

names = st.sampled_from(["findFlight", "payFlight", "listCards", "getRate"])
leaves = st.one_of(
    st.sampled_from(["$$$", "Oslo", "O'Hare", "", "5"]), st.integers(-9, 9), st.booleans(), st.none()
)
values = st.recursive(
    leaves, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text("ab", max_size=2), v, max_size=2)
)
parameters = st.dictionaries(st.sampled_from(["to", "sum", "card"]), values, max_size=3)
plans = st.lists(st.tuples(names, parameters), min_size=1, max_size=4)


def record(calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    return {"API": [name for name, _ in calls], "parameters": [entry for _, entry in calls]}


def sample(gold: Any, difficulty: str = "easy") -> Sample:
    return Sample("q", gold=gold, dialect="callnavi", extra={"difficulty": difficulty})


def scores(gold: Any, predicted: Any) -> list[float]:
    report = score_corrected([(sample(gold), json.dumps(predicted))])
    return [float(report.value(name) or 0) for name in ("structure", "order_overall", "ast_overall")]


# ---------------------------------------------------------------- laws
@settings(deadline=None)
@given(plans)
def test_gold_against_gold_is_perfect(calls: list[tuple[str, dict[str, Any]]]) -> None:
    gold = record(calls)
    assert scores(gold, gold) == [1, 1, 1]
    assert score_corrected([(sample(gold), yaml.safe_dump(gold))], notation="yaml").value("ast_easy") == 1
    assert score_corrected([(sample(gold), repr(gold))]).value("ast_easy") == 1
    assert score_corrected([(sample(gold), json.dumps(gold["API"]))], task="routing").value("easy") == 1


@settings(deadline=None)
@given(plans, st.data())
def test_dropping_a_call_never_raises_a_score(
    calls: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    gold = record(calls)
    kept = list(calls)
    before = scores(gold, gold)
    while kept:
        del kept[data.draw(st.integers(0, len(kept) - 1))]
        after = scores(gold, record(kept))
        assert all(a <= b for a, b in zip(after, before, strict=True))
        before = after


@settings(deadline=None)
@given(plans, plans)
def test_each_verdict_implies_the_one_before(
    calls: list[tuple[str, dict[str, Any]]], others: list[tuple[str, dict[str, Any]]]
) -> None:
    verdict = compare(sample(record(calls)), json.dumps(record(others))).verdict
    assert verdict.order >= verdict.structure >= verdict.ast


@settings(deadline=None)
@given(plans)
def test_the_order_of_keys_changes_nothing(calls: list[tuple[str, dict[str, Any]]]) -> None:
    turned = [(name, dict(reversed(entry.items()))) for name, entry in calls]
    assert scores(record(calls), record(turned)) == [1, 1, 1]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    for notation in ("json", "yaml"):
        report = score_corrected([(sample(record([("pay", {})])), text)], notation=notation)
        assert len(report.rows) == 1
    score_corrected([(sample(record([("pay", {})])), text)], task="routing")


# ---------------------------------------------------------------- what each correction changes
GOLD = {"API": ["pay"], "parameters": [{"to": "Ann", "card": {"number": "$$$"}, "when": {}}]}


def pay(**changes: Any) -> str:
    return json.dumps({"API": ["pay"], "parameters": [GOLD["parameters"][0] | changes]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (pay(card={"number": 7}), Verdict(True, True, True)),
        (pay(card={"number": 7, "pin": 1}), Verdict(True, True, False)),
        (pay(when="now"), Verdict(True, True, False)),
        (pay(note="more"), Verdict(True)),
        (pay().replace('"to"', '"To"'), Verdict(True)),
        (pay().replace("pay", "PAY"), Verdict()),
        (pay().replace("Ann", "Ann's"), Verdict(True, True, False)),
        ('{"API": ["pay"], "parameters": [{"to": "Ann", "to": "Bob"}]}', Verdict(True)),
        ('{"API": ["pay"], "parameters": [null]}', Verdict(True)),
        ('{"API": ["pay"], "parameters": null}', Verdict(True)),
        ('{"API": ["pay"], "parameters": [7]}', Verdict(error="parse.shape")),
        ('{"API": ["pay"], "parameters": [{}, {}]}', Verdict(error="parse.shape")),
        ("null", Verdict(error="parse.shape")),
        ("", Verdict(error="parse.empty")),
    ],
)
def test_verdicts(text: str, expected: Verdict) -> None:
    assert compare(sample(GOLD), text).verdict == expected


def test_true_is_not_one() -> None:
    gold = record([("pay", {"n": 1, "flag": True})])
    assert scores(gold, record([("pay", {"n": 1.0, "flag": True})])) == [1, 1, 1]
    assert scores(gold, record([("pay", {"n": True, "flag": 1})])) == [1, 1, 0]


def test_no_parameters_may_be_written_in_several_ways() -> None:
    ways = [{"API": ["list"], "parameters": written} for written in ([], [{}], [None], None)]
    assert all(scores(gold, answer) == [1, 1, 1] for gold in ways[:2] for answer in ways)
    paper = {"API": ["pay"], "parameters": {"to": "Ann"}}
    assert scores(record([("pay", {"to": "Ann"})]), paper) == [1, 1, 1]


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (json.dumps(GOLD), True),
        (json.dumps({"API": ["pay"], "parameters": [{"to": "it's"}]}), True),
        (f"```json\n{json.dumps(GOLD)}\n```", False),
        (f"Here it is:\n```\n{GOLD}\n```\nGood luck!", False),
        (repr(GOLD), False),
        (f"Sure! {json.dumps(GOLD)} Anything else?", False),
        (json.dumps(GOLD).replace('"', "”"), False),
        (yaml.safe_dump(GOLD), False),
        (f"```yaml\n{yaml.safe_dump(GOLD)}```", False),
        (json.dumps([{"API": "pay", "parameters": GOLD["parameters"][0]}]), False),
    ],
)
def test_valid_is_what_the_text_is_as_written(text: str, valid: bool) -> None:
    answer = read_answer(text)
    assert answer.valid is valid
    assert answer.plan is not None
    assert [call.name for call in answer.plan.calls] == ["pay"]
    assert len(answer.plan.calls[0].arguments) in (1, 3)


def test_values_that_are_no_objects_are_not_valid() -> None:
    assert not any(read_answer(text).valid for text in ("[]", "42", "null", '"API"', "{} {}", ""))
    assert read_answer("API: [pay]\nparameters: [{to: Ann}]", notation="yaml").valid
    assert not read_answer("I would pay.", notation="yaml").valid


@pytest.mark.more
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{'a':" * 5000, "9" * 5000, "'" * 300_000, "\\", "'\\d'", "(" * 999]
)
def test_hostile_texts_are_data(text: str) -> None:
    for notation in ("json", "yaml"):
        assert read_answer(text, notation=notation).valid is False
    read_route(text)


def test_ratios_are_over_the_questions_asked() -> None:
    report = score_corrected([(sample(GOLD, "hard"), pay()), (sample(GOLD, "easy"), "{}")])
    assert report.value("ast_hard") == 1
    assert report.value("ast_overall") == 0.5
    assert (report.value("ast_medium"), report.value("ast_macro")) == (None, None)
    assert report.figure("ast_overall").denominator == 2


def test_routing_is_an_exact_match() -> None:
    gold = {"API": ["pay", "list"], "parameters": [{}, {}]}

    def hit(text: str) -> float | str | None:
        return score_corrected([(sample(gold), text)], task="routing").value("overall")

    right = ("['pay', 'list']", '["pay","list"]', "pay, list", "[pay, list]", "```json\n['pay', 'list']\n```")
    quoted = ("'pay', 'list'", '"pay","list"', "`pay`, list", "['pay', list]")
    assert [hit(text) for text in right + quoted] == [1] * 9
    assert hit("'pay, list'") == hit("'pay\", list") == 0
    assert [hit(text) for text in ("['Pay', 'list']", "pay list", "['list', 'pay']", "['pay']", "")] == [
        0
    ] * 5


def test_a_rating_is_asked_for_until_it_is_one() -> None:
    def reply(request: JudgeRequest) -> str:
        return "[[0.75]]" if request.attempt == 2 else "[[75]]"

    report = score_corrected([(sample(GOLD), pay())], judge=ScriptedJudge(reply))
    assert report.value("gpt") == 0.75
    stubborn = score_corrected([(sample(GOLD), pay())], judge=ScriptedJudge(lambda request: "[[75]]"))
    assert (stubborn.value("gpt"), stubborn.figure("gpt").denominator) == (None, 0)
    assert "1 answer without a usable rating" in stubborn.figure("gpt").note


def test_a_judge_repairs_what_cannot_be_read() -> None:
    def reply(request: JudgeRequest) -> str:
        return pay() if request.task == "callnavi.repair" else "[[1.000]]"

    report = score_corrected([(sample(GOLD), "please pay Ann!")], judge=ScriptedJudge(reply))
    assert [report.value(name) for name in ("syntax", "ast_easy", "gpt")] == [0, 1, 1]

    def fail(request: JudgeRequest) -> str:
        raise JudgeError("gone")

    failed = score_corrected([(sample(GOLD), "please pay Ann!")], judge=ScriptedJudge(fail))
    assert failed.value("ast_easy") == 0


def test_gold_of_another_benchmark_is_a_row_that_says_so() -> None:
    for task in ("parameters", "routing"):
        (row,) = score_corrected([(sample([1]), pay())], task=task).rows
        assert row.error
        assert "not a CallNavi record" in row.error


@pytest.mark.more
@pytest.mark.parametrize(
    ("gold", "task", "reason"),
    [
        ({"API": [{"name": "pay"}], "parameters": [{}]}, "parameters", "API is no list of names"),
        ({"API": [7], "parameters": [{}]}, "routing", "API is no list of names"),
        ({"API": ["pay"], "parameters": ["x"]}, "parameters", "parameters is no list of objects"),
        ({"API": ["pay"], "parameters": [{}, {}]}, "parameters", "2 parameter objects for 1 APIs"),
    ],
)
def test_gold_without_calls_is_a_row_and_the_others_are_scored(
    gold: Any, task: str, reason: str, tmp_path: Path
) -> None:
    good = {"API": ["pay"], "parameters": [{"to": "Ann"}]}
    (tmp_path / "Questions").mkdir()
    (tmp_path / "APIs").mkdir()
    records = [
        {"id": name, "question": [], "difficulty": "easy", "ground_truth": wanted}
        for name, wanted in (("b1", good), ("b2", gold))
    ]
    (tmp_path / "Questions" / "bank.json").write_text(json.dumps(records))
    (tmp_path / "APIs" / "bank.json").write_text('{"api_ports": [{"name": "pay", "parameters": {}}]}')
    said = json.dumps(good if task == "parameters" else ["pay"])
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({"id": id, "answer": said}) + "\n" for id in ("b1", "b2")))
    argv = ("score", str(answers), str(tmp_path), "--benchmark", "callnavi", "--set", f"task={task}")
    done = planeval(*argv, "--corrected")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "corrected: 1 of 2 records: gold cannot be read (b2)\n" in done.stdout
    planeval(*argv, "--corrected", "-o", f"{tmp_path}/run/")
    first, second = map(json.loads, (tmp_path / "run" / "rows.jsonl").read_text().splitlines())
    assert first["corrected"]["ok"]
    assert second["corrected"]["error"] == (
        f"gold cannot be read: {reason}: found {json.dumps(gold)}, expected the names of the calls as a list "
        "'API' and their objects as a list 'parameters', one a call"
    )


def test_the_command_line_reads_a_quoted_name_and_a_null(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"

    def shown(prediction: str, *options: str) -> str:
        answers.write_text(json.dumps({"id": "hr01", "prediction": prediction}))
        gold = str(ROOT / "data/samples/callnavi")
        return planeval(
            "score", str(answers), gold, "--benchmark", "callnavi", "--corrected", *options
        ).stdout

    for route in ("'countHours'", "countHours"):
        assert re.search(r"overall +0\.3333 +1/3", shown(route, "--set", "task=routing"))
    for written in ("[null]", "[]", "null", "[{}]"):
        answer = f'{{"API": ["countHours"], "parameters": {written}}}'
        assert re.search(r"order_overall +0\.3333 +1/3", shown(answer))


# ---------------------------------------------------------------- the released data
def test_released_gold_against_itself_is_perfect(reference: Path) -> None:
    samples = list(read_callnavi(reference / "datasets" / "callnavi"))
    for notation, write in (("json", json.dumps), ("yaml", yaml.safe_dump), ("json", repr)):
        report = score_corrected([(s, str(write(s.gold))) for s in samples], notation=notation)
        assert all(row.ok and row.error is None for row in report.rows)
        for name in (
            "structure",
            "order_macro",
            "ast_easy",
            "ast_medium",
            "ast_hard",
            "ast_overall",
            "ast_macro",
        ):
            assert report.value(name) == 1
        assert report.value("syntax") == (0 if write is repr else 1)
    routing = score_corrected([(s, str(s.gold["API"])) for s in samples], task="routing")
    assert [routing.value(name) for name in ("easy", "medium", "hard", "overall", "macro")] == [1] * 5
    stable = score_corrected([(s, "same") for s in samples for _ in range(5)], task="stability")
    assert [stable.value("election"), stable.value("levenshtein")] == [1, 1]
