"""Scoring files: states and denominators, reports, intervals, two systems compared, the selftest."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, PolicyError
from planner_eval.comparison.metrics import DEFAULT_METRICS
from planner_eval.comparison.metrics.facts import Counts, Share
from planner_eval.comparison.policy.policy import KnownNames, Policy
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import JUDGED_STATES, STATES, Evaluation
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.pairing import pair
from planner_eval.results import selftest
from planner_eval.results.compare import System, make_comparison, mistaken_scene
from planner_eval.results.contrast import Comparison
from planner_eval.results.report import Report, figures, make_report
from planner_eval.results.scored import ScoredRow, scored_row
from planner_eval.results.selftest import compare_pairs, run_scorer
from planner_eval.results.totals import totals_of
from planner_eval.results.views.report import report_view
from tests.build import jsonl as write
from tests.conftest import tables
from tests.inside import planeval

TABLES = tables(__file__)

F, H = [{"name": "f", "arguments": {"x": 1}}], [{"name": "h", "arguments": {"y": "t"}}]
GOLD = TABLES["GOLD"]
PRED = [
    {"id": "a", "prediction": F}, {"id": "b", "prediction": [{"name": "f", "arguments": {"x": 2}}]},
    {"id": "c", "prediction": '[{"name": "h", "argum'}, *({"id": n, "prediction": []} for n in "ez"),
]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return write(tmp_path / "pred.jsonl", PRED), write(tmp_path / "gold.jsonl", GOLD)


def rows(files: tuple[str, str], **options: object) -> list[ScoredRow]:
    pairing = pair(read_file(files[0]), read_file(files[1], role="gold"))
    return [scored_row(row, **options) for row in Evaluation().rows(pairing.pairs)]  # type: ignore[arg-type]


def report_of(
    found: list[ScoredRow], metrics: Sequence[str] = DEFAULT_METRICS, by: Sequence[str] = ()
) -> Report:
    return make_report(totals_of(found, metrics, by), found, made="test")


def plans(path: Path, field: str, texts: Iterable[Any], **more: Any) -> str:
    """A file of plans whose ids are their numbers."""
    return write(path, [{"id": f"q{at}", field: text, **more} for at, text in enumerate(texts)])


def written(report: Report, form: str = "text", **how: Any) -> str:
    return report_view(report, **how).text(form)


def test_every_pair_is_a_row_and_has_a_state(files: tuple[str, str]) -> None:
    found = {row.id: row for row in rows(files)}
    assert {name: row.state for name, row in found.items()} == {
        "a": "same", "b": "different", "c": "cut", "d": "absent", "e": "gold_unreadable", "z": "gold_absent",
    }  # fmt: skip
    answers = {"unreadable", "refused", "failed"}  # tests/test_shapes.py has them
    assert set(STATES) - answers == {row.state for row in found.values()}
    assert set(JUDGED_STATES) <= set(STATES)
    assert "record 3 (id c)" in found["c"].reason
    assert "line 5, record 5 (id z): the prediction has no gold plan" in found["z"].reason
    assert found["b"].codes == ("argument.value", "call.missing")
    assert found["c"].tallies["calls"] == Counts(0, 0, 1)
    assert found["d"].tallies["exact"] == Share(0, 1)
    assert found["e"].tallies == {}


def test_denominators_are_the_readable_gold_plans(files: tuple[str, str]) -> None:
    report = report_of(rows(files))
    assert report.judged == 4
    assert report.figure("exact") == 0.25
    assert report.figure("calls") == pytest.approx(2 * 2 / (2 + 5))
    assert report.figure("calls.precision") == 1.0
    assert report.figure("calls.recall") == 0.4
    assert report.figure("calls.macro") == pytest.approx((1 + 2 / 3 + 0 + 0) / 4)
    assert report.codes() == {"argument.value": 1, "call.missing": 1}
    with pytest.raises(InputError, match="no metric 'cals'"):
        report.figure("cals")


def test_the_macro_average_is_over_the_pairs_that_have_the_figure() -> None:
    scored = [
        ScoredRow(str(i), "different", tallies={"edges": tally})
        for i, tally in enumerate((Counts(1, 1, 1), Counts(0, 0, 0), Counts(0, 1, 3), None))
    ]
    (found,) = figures(totals_of(scored, ["edges"]).columns)
    assert (found.value, found.macro, found.n) == (2 / 6, 0.5, 2)


def test_breakdown(files: tuple[str, str]) -> None:
    by = ("difficulty", "calls")
    report = report_of(rows(files, by=by), ["exact"], by)
    found = {value: [f.value for f in figures] for value, figures in report.breakdown["difficulty"].items()}
    assert found == {"easy": [0.5], "hard": [0.0]}
    assert list(report.breakdown["calls"]) == ["1", "2"]


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv", "md", "junit"])
def test_every_format_is_deterministic(files: tuple[str, str], form: str) -> None:
    text, again = (written(report_of(rows(files)), form) for _ in range(2))
    assert text == again
    if form == "json":
        assert json.loads(text)["figures"]["exact"]["interval"]["method"] == "clopper-pearson, effective n 4"
        assert len(json.loads(text)["rows"]) == 6
    if form == "jsonl":
        assert [json.loads(line)["id"] for line in text.splitlines()] == [*"abcdez"]
    if form == "junit":
        suite = ElementTree.fromstring(text)[0]
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "1", "4")


def test_only_failures(files: tuple[str, str]) -> None:
    report = report_of(rows(files))
    data = json.loads(written(report, "json", failures=True))
    assert [row["id"] for row in data["rows"]] == [*"bcdez"]
    assert "b  different: " in written(report, failures=True)
    assert "b  different: " not in written(report)


def test_a_strict_score_reads_a_refused_prediction_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pred, gold = ["[{'name': 'f', 'arguments': {}}", "f()"], ["f()", "f()"]
    strict = pe.Reading(repair=False)
    assert [row.mended is not None for row in pe.evaluate(pred, gold, reading=strict)] == [True, False]
    monkeypatch.setattr(
        "planner_eval.comparison.rows.read_repaired_plan", lambda *_, **__: pytest.fail("read once more")
    )
    assert pe.score(pred, gold, reading=strict).states() == {"same": 1, "cut": 1}


def scored(name: str, state: str, exact: int, mistaken: tuple = ()) -> ScoredRow:
    return ScoredRow(name, state, {"exact": Share(exact, 1)}, keys={"level": "1"}, mistaken=mistaken)


def test_contrast() -> None:
    wrong = scored("c", "different", 0, (("f", "g"),)), scored("b", "different", 0)
    right = {name: scored(name, "same", 1) for name in "abcd"}
    first = [right["a"], right["b"], wrong[0], scored("x", "gold_absent", 0)]
    second = [right["a"], wrong[1], right["c"], right["d"]]
    sides = [System(first), System(second)]
    compared = make_comparison(sides, ["exact"], names=("A", "B"), made="test", by=["level"])
    found = compared.contrasts[0]
    assert (found.n, found.lost, found.won) == (3, ("b",), ("c",))
    assert (found.lines[0].difference.value, found.lines[0].difference.p) == (0, 1.0)
    assert list(found.breakdown["level"]) == ["1"]
    assert found.mistaken == ({("f", "g"): 1}, {})
    scene = mistaken_scene(Comparison((found,)))
    assert [box.tool for box in scene.boxes] == ["f", "g"]
    assert [(arrow.tail, arrow.head, arrow.label) for arrow in scene.arrows] == [(0, 1, "1 | 0")]


@pytest.mark.parametrize(("rule", "said"), [
    (Rule(tool="serch", where="p 1"), "p 1: no plan calls the tool 'serch'; did you mean 'search'"),
    (Rule(argument="citty", where="p"), "no plan gives the argument 'citty'; did you mean 'city'"),
    (Rule(tool="search", argument="town", where="p"), "no plan gives the argument 'town' of 'search'"),
    (Rule(tool="search", argument="city", where="p"), None), (Rule(tool="x*", where="p"), None),
    (Rule(tool="y"), None),
])  # fmt: skip
def test_a_rule_for_an_unknown_tool_or_argument_is_an_error(rule: Rule, said: str | None) -> None:
    names = KnownNames()
    names.add([parse('[{"name": "search", "arguments": {"city": "Rome"}}]')])
    told: AbstractContextManager[Any] = pytest.raises(PolicyError, match=said) if said else nullcontext()
    with told:
        names.check(Policy(rules=(rule,)))


def test_our_own_comparison_is_right() -> None:
    answers = list(compare_pairs())
    assert len(answers) == 38
    assert all(answer.right for answer in answers if not answer.disputed)
    assert planeval("selftest").returncode == 0


def test_another_scorer_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [pair for pair in selftest.pairs() if pair["id"] in ("01", "02", "15")]
    monkeypatch.setattr(selftest, "pairs", lambda: few)

    def ask(*lines: str) -> dict[str, Any]:
        (tmp_path / "scorer.py").write_text("\n".join(lines))
        argv = [sys.executable, str(tmp_path / "scorer.py"), "{pred}", "{gold}"]
        return {answer.id: answer for answer in run_scorer(argv)}

    read = "one, two = (json.load(open(name)) for name in sys.argv[1:3])"
    answers = ask("import json, sys", read, "print('same' if one == two else 'different')")
    assert answers["01"].right
    assert not answers["02"].right  # a text comparison fails on swapped independent calls
    slow = run_scorer(["sh", "-c", "exec sleep 9"], timeout=0.05)
    assert {(one.answer, one.error) for one in slow} == {(None, "no verdict within 0.05 seconds")}
    done = planeval("selftest", "--command", "no-such-scorer")
    assert (done.returncode, "No such file" in done.stdout) == (1, True)


def plain(tmp_path: Path) -> tuple[str, str]:
    """Two pairs without references, apps or arguments."""
    pred, gold = (plans(tmp_path / f"{key}.jsonl", key, ["f()"] * 2) for key in ("prediction", "gold"))
    return pred, gold


def test_no_figure_is_told_as_whole_that_is_not(tmp_path: Path) -> None:
    wanted = dict.fromkeys([f"a{n}" for n in range(30_000)], 1)
    right, said = ([{"name": "f", "arguments": given}] for given in (wanted, wanted | {"a7": 2}))
    pred, gold = (plans(tmp_path / f"{k}.jsonl", k, [v]) for k, v in (("output", said), ("gold", right)))
    for form in ("text", "csv"):
        done = planeval("score", pred, gold, "--format", form, "--metric", "arguments")
        cells = [re.split(r"[ |,]+", line.strip("| ")) for line in done.stdout.splitlines()]
        told = {line[0]: line[1] for line in cells if len(line) > 1}
        assert float(told["argument_names"]) == 1
        assert (told["argument_values"], told["independent_errors"]) == ("0.99997", "3e-05")
    sides = (plans(tmp_path / "right.jsonl", "output", [right]), pred, "--gold", gold)
    worse = planeval("compare", *sides, "--fail-if-worse", "argument_values")
    assert "is 0.99997 against 1.00000 of right, difference -0.00003, expected none lower" in worse.stderr
