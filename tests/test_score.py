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
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.unused_rules import KnownNames
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import JUDGED_STATES, STATES, Evaluation
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.pairing import pair
from planner_eval.results import selftest
from planner_eval.results.compare import make_comparison, mistaken_scene
from planner_eval.results.contrast import Comparison
from planner_eval.results.report import Report, figures, make_report
from planner_eval.results.scored import ScoredRow, scored_row
from planner_eval.results.selftest import compare_pairs, run_scorer
from planner_eval.results.totals import totals_of
from planner_eval.results.views.report import write_report
from tests.conftest import tables
from tests.inside import planeval
from tests.test_compare import lines as write

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
    return "".join(write_report(report, form, **how))


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
    compared = make_comparison((first, second), ["exact"], names=("A", "B"), made="test", by=["level"])
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


def test_score_command(files: tuple[str, str]) -> None:
    done = planeval("score", *files)
    assert done.returncode == 1  # two records are left over
    assert "scores computed from 4 pairs" in done.stdout
    assert "policy=default | answers=prediction | pairing=id" in done.stdout
    data = json.loads(planeval("score", *files, "--format", "json", "--metric", "exact").stdout)
    assert data["figures"]["exact"]["value"] == 0.25
    assert data["states"]["gold_absent"] == 1


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
    assert {one.answer for one in ask("import sys", "sys.exit(1)").values()} == {False}
    assert {one.answer for one in ask("import sys", "sys.exit(7)").values()} == {None}
    done = planeval("selftest", "--command", "no-such-scorer")
    assert (done.returncode, "No such file" in done.stdout) == (1, True)


def plain(tmp_path: Path) -> tuple[str, str]:
    """Two pairs without references, apps or arguments."""
    pred, gold = (plans(tmp_path / f"{key}.jsonl", key, ["f()"] * 2) for key in ("prediction", "gold"))
    return pred, gold


def figures_of(shown: str) -> list[str]:
    return [line.split()[0] for line in shown.split("\n\n")[0].splitlines()[1:]]


def test_figures_that_do_not_exist_are_left_out_and_said(tmp_path: Path) -> None:
    files = plain(tmp_path)
    shown = planeval("score", *files).stdout
    assert figures_of(shown) == ["exact", "calls"]
    said = "references, transitive_dependencies (no gold plan has references)"
    assert f"left out (--all shows them): argument_values (no gold plan has arguments); {said}" in shown
    shown = planeval("score", *files, "--metric", "all").stdout
    assert figures_of(shown)[:10] == [
        "exact", "similarity", "calls", "whole_calls", "ordered_calls", "same_components", "generations",
        "common_subplan", "same_depth", "same_width",
    ]  # fmt: skip
    (said,) = (line for line in shown.splitlines() if "--all" in line)
    assert "apps (no gold plan names an app); argument_names, " in said
    assert "taskbench_links (no gold plan has references)" in said
    every = planeval("score", *files, "--all").stdout
    assert (figures_of(every), "--all" in every) == ([*DEFAULT_METRICS], False)
    named = planeval("score", *files, "--metric", "references", "--metric", "exact").stdout
    assert named.splitlines()[1].split() == ["references", "–", "–", "–", "–", "–", "0"]
    group = planeval("score", *files, "--metric", "references", "--metric", "order").stdout
    assert "order_tau" not in group.split("\n\n")[0]
    assert "left out (--all shows them): order_tau, precedences (no gold plan has references)" in group


def test_people_see_the_main_figures_and_the_commonest_causes(tmp_path: Path) -> None:
    """The same by any number of processes and of a run, which tells all else that it knows when asked."""
    golds = ["f(#x='1')"] * 8
    extra, other = "f(#x='1')\nh()", "f(#x='2')"
    preds = [extra, "f(#x='1')\nh()\nk()", extra, other, f"{other}\nh()", "f(#x=", *golds[:2]]
    files = [
        plans(tmp_path / f"{name}.jsonl", name, texts) for name, texts in (("output", preds), ("gold", golds))
    ]
    shown = planeval("score", *files).stdout
    assert figures_of(shown) == ["exact", "calls", "argument_values"]
    assert shown.splitlines()[6:11] == [
        "most common causes among 6 wrong predictions:",
        "1. call.extra, in 4 (67 %): the prediction makes a call that gold does not make",
        "2. argument.value, in 2 (33 %): the argument's value, or a part of it, differs",
        "3. cut, in 1 (17 %): the answer was cut off before its end",
        "left out (--all shows them): references, transitive_dependencies (no gold plan has references)",
    ]
    run = str(tmp_path / "run")
    for argv in ([*files, "--jobs", "2", "--part", "3"], [*files, "-o", f"{run}/"], [run]):
        assert planeval("score", *argv).stdout == shown, argv
    for argv in ([run, "--metric", "all"], [run, "--all"], [*files, "--metric", "all"], [*files, "--causes"]):
        assert "causes: call.extra 5, argument.value 2" in planeval("score", *argv).stdout
    assert figures_of(planeval("score", run, "--all").stdout) == [*DEFAULT_METRICS]
    assert figures_of(planeval("score", run, "--metric", "order").stdout) == ["ordered_calls"]
    done = planeval("score", *files, "--fail-under", "same_width=0.9")
    assert (done.returncode, figures_of(done.stdout)[-1]) == (1, "same_width")
    for argv, said in (
        ([run, "--metric", "published"], "was not scored with --metric published"),
        ([*files, "--fail-under", "exat=1"], "did you mean 'exact'?"),
    ):
        done = planeval("score", *argv)
        assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr


def test_formats_for_programs_have_every_figure(tmp_path: Path) -> None:
    files = plain(tmp_path)
    data = json.loads(planeval("score", *files, "--format", "json").stdout)["figures"]
    assert (list(data), data["references"]["value"]) == ([*DEFAULT_METRICS], None)
    rows = planeval("score", *files, "--format", "csv").stdout.splitlines()
    assert [row.partition(",")[0] for row in rows[1:]] == [*DEFAULT_METRICS]
    told = planeval("score", *files, "--format", "md")
    assert ("references" in told.stdout, "no gold plan has references" in told.stderr) == (False, True)
    assert planeval("score", *files, "--format", "json", "--all").returncode == 2


def test_several_choices_in_a_record_are_counted(tmp_path: Path) -> None:
    call = {"type": "function", "id": "c", "function": {"name": "f", "arguments": "{}"}}
    choice = {"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    answer = {"object": "chat.completion", "choices": [choice, choice]}
    files = plans(tmp_path / "p.jsonl", "prediction", [answer]), plans(tmp_path / "g.jsonl", "gold", ["f()"])
    said = "1 with several choices or candidates; the first was read"
    assert said in planeval("score", *files).stdout
    assert json.loads(planeval("score", *files, "--format", "json").stdout)["rows"][0]["choices"] is True


def test_a_key_that_is_called_like_a_figure_keeps_its_column(files: tuple[str, str], tmp_path: Path) -> None:
    """`--by calls` beside the figure `calls`, and a field `n` beside the number of samples."""
    heads = planeval("score", *files, "--by", "calls").stdout.split("\n\n")[1].splitlines()
    assert heads[0].split()[:3] == ["calls", "(key)", "n"]
    assert heads[0].split().count("calls") == 2
    rows = [{"id": str(at), "gold": "f()", "n": n} for at, n in enumerate("xyy")]
    golds = write(tmp_path / "n.jsonl", rows)
    shown = planeval("score", golds, golds, "--field", "text=gold", "--by", "n", "--metric", "exact")
    _, table = shown.stdout.split("\n\n")[:2]
    assert table.split() == ["n", "(key)", "n", "exact", "x", "1", "1", "y", "2", "1"]


def test_breakdowns_and_failures_are_written_or_refused(files: tuple[str, str]) -> None:
    shown = planeval("score", *files, "--by", "calls", "--only", "failures", "--format", "md").stdout
    listed, figures, groups = shown.split("\n\n")
    assert listed.startswith("| id | state | reason |\n")
    assert figures.startswith("| metric | value |")
    assert groups.startswith("| calls (key) | n | exact |")
    for form in ("csv", "junit"):
        done = planeval("score", *files, "--by", "calls", "--format", form)
        assert (done.returncode, "--by applies only to --format text" in done.stderr) == (2, True)
    assert planeval("score", *files, "--only", "failures", "--format", "csv").returncode == 2
    both = ("compare", files[0], files[0], "--gold", files[1], "--metric", "exact", "--by", "calls")
    assert "\n| calls | metric | n |" in planeval(*both, "--format", "md").stdout
    for form in ("csv", "jsonl", "junit"):
        assert planeval(*both, "--format", form).returncode == 2


CALLS = [f"f(#x='{at}')" for at in range(4)]


def test_pairs_without_a_gold_plan_are_told(tmp_path: Path) -> None:
    golds = plans(tmp_path / "gold.jsonl", "gold", ["f(((", *CALLS[1:3]])
    preds, whole = (plans(tmp_path / f"{key}.jsonl", key, CALLS) for key in ("prediction", "gold_plan"))
    for argv in (("score", preds, golds), ("compare", preds, preds, "--gold", golds)):
        said = planeval(*argv).stderr
        assert f"1 gold plan cannot be read; the first: {golds}, line 1, record 1 (id q0): line 1" in said
        assert f"1 prediction without a gold plan; the first: {preds}, line 4, record 4 (id q3)" in said
        assert " cannot be read" not in planeval(*argv[:-1], whole).stderr
    assert planeval("score", preds, golds).returncode == 1


def test_doubts_about_pairing_by_position_are_told(tmp_path: Path) -> None:
    golds = write(tmp_path / "gold.jsonl", [{"gold": plan} for plan in CALLS])
    preds = write(tmp_path / "pred.jsonl", [{"prediction": plan} for plan in (CALLS[0], *CALLS[2:])])
    few = f"records: 3 in {preds}, 4 in {golds}: paired by position, where one missing record"
    for argv in (("score", preds, golds), ("compare", preds, preds, "--gold", golds), ("diff", preds, golds)):
        assert few in planeval(*argv).stderr
    assert "records: " not in planeval("score", golds, golds, "--field", "text=gold").stderr
    ordered = plans(tmp_path / "ordered.jsonl", "gold", CALLS)
    write(Path(preds), [{"id": f"q{at}", "prediction": CALLS[at]} for at in (1, 0, 2, 3)])
    said = planeval("score", preds, ordered, "--pair", "position").stderr
    assert (
        f"{preds}: 2 of 4 records are at other positions than the records with the same id in {ordered}"
        in said
    )
    assert "stand elsewhere" not in planeval("score", preds, ordered).stderr
    trials = write(tmp_path / "trials.jsonl", [{"id": f"q{at}", "gold": CALLS[at]} for at in (0, 1) * 3])
    said = "2 ids occur several times in both, the first is 'q0' (3 and 3 times): they are paired"
    fields = ("--field", "text=gold", "--field", "gold.text=gold", "--pair", "position")
    text = planeval("score", trials, trials, *fields).stderr
    assert (f"{trials} and {trials}: {said}" in text, "stand elsewhere" in text) == (True, False)


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


def test_pairs_in_no_group_of_a_breakdown_are_counted(tmp_path: Path) -> None:
    rows = [{"id": "a", "lvl": "easy"}, {"id": "b"}, {"id": "c", "lvl": None}]
    path = write(tmp_path / "g.jsonl", [{**row, "gold": "f(#x='1')"} for row in rows])
    argv = ("score", path, path, "--field", "text=gold", "--metric", "exact", "--by")
    assert "2 of 3 gold plans have no lvl" in planeval(*argv, "lvl").stdout
    assert json.loads(planeval(*argv, "lvl", "--format", "json").stdout)["without"] == {"lvl": 2}
    done = planeval(*argv, "scope")
    assert (done.returncode, "no gold plan names an app" in done.stderr) == (2, True)
