"""Pages of benchmarks: figures and verdicts of score, what was called and accepted; foreign text is data."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_eval.benchmarks import runs
from planner_eval.benchmarks.benchmark import NAMES
from planner_eval.benchmarks.bfcl.call_check import VALID, Verdict
from planner_eval.benchmarks.bfcl.data import installed_folder
from planner_eval.benchmarks.bfcl.official import Settings
from planner_eval.benchmarks.bfcl.page import explain_answer
from planner_eval.benchmarks.bfcl.reading import answer_text
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.score import score_file
from tests import browser
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.pages import Page
from tests.render_plans import HOSTILE
from tests.test_benchmark_bfcl import write_results

TABLES = tables(__file__)

SAMPLES = ROOT / "data" / "samples"
TOGETHER = ("complexfuncbench",)
"""Benchmarks that score all answers together, so that no folder keeps them in parts."""


CACHE = ("--cache", str(SAMPLES))


def operands(name: str) -> tuple[Any, ...]:
    return SAMPLES / "answers" / f"{name}.jsonl", SAMPLES / name, "--benchmark", name


def page_of(*argv: Any, code: int = 0, **how: Any) -> Page:
    done = planeval(*argv, **how)
    assert done.returncode == code, done.stderr
    return Page(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_score_says(name: str, tmp_path: Path) -> None:
    scored = planeval("score", *operands(name), "--format", "json")
    written = planeval("score", *operands(name), "--format", "html")
    assert written.returncode == scored.returncode, written.stderr
    page = Page(written.stdout)
    reports = json.loads(scored.stdout)["reports"]
    (run,) = page.head["runs"]
    assert run["variants"] == list(reports)
    for variant, report in reports.items():
        shown = {row["figure"]: row[variant] for row in run["scores"]}
        assert {
            f["name"]: (f["error"] or "").split(":")[0] or f["value"] for f in report["figures"]
        }.items() <= shown.items()
        told = [next(v for v in pair["verdicts"] if v["variant"] == variant) for pair in page.pairs()]
        rows = [(row["ok"], row["error"] or "") for row in report["rows"]]
        assert [(verdict["ok"], verdict["error"]) for verdict in told] == rows
    kinds = {(True, True): "right", (False, False): "wrong", (False, True): "right_as_corrected"}
    for pair in page.pairs():
        kind = kinds.get(tuple(v["ok"] for v in pair["verdicts"]), "wrong_as_corrected")
        assert pair["state"] == kind or (kind, pair["state"]) == ("wrong", "unanswered")
    if name not in TOGETHER:
        planeval("score", *operands(name), "-o", f"{tmp_path}/run/")
        for argv in (("report", tmp_path / "run"), ("score", tmp_path / "run", "--format", "html")):
            assert planeval(*argv).stdout == written.stdout


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder of results as BFCL's runner writes it."""
    lines = (SAMPLES / "answers" / "bfcl.jsonl").read_text(encoding="utf-8").splitlines()
    return write_results(tmp_path, {record["id"]: record["result"] for record in map(json.loads, lines)})


def test_a_folder_of_results_has_a_page_by_itself(results: Path) -> None:
    page = page_of("report", results, *CACHE)
    assert page.head["title"] == f"{results} under BFCL"
    pairs = {pair["id"]: pair for pair in page.pairs()}
    (section,) = pairs["simple_python_1"]["sections"]
    assert section["rows"][0] == ["", "paint_mix"]
    assert ["wrong", "parts", "[2, 1.5]"] in [row[:3] for row in section["rows"]]
    assert pairs["simple_python_1"]["state"] == "right_as_corrected"
    for pair in pairs.values():  # gold is the nearest of what is accepted
        assert not (pair["state"] in ("right", "right_as_corrected") and pair["e"]), pair["id"]
    assert {"category", "error type", "reason"} <= page.index["fields"].keys()
    assert "right" not in page_of("report", results, *CACHE, "--only", "failures").states()
    for argv, said in (
        ((results, results), "use planeval compare for several"),
        ((results, "--by", "calls"), "--by applies only without --benchmark"),
    ):
        done = planeval("report", *argv, *CACHE)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_a_run_whose_files_were_moved_or_changed_has_no_page(results: Path, tmp_path: Path) -> None:
    planeval("score", results, *CACHE, "-o", f"{tmp_path}/run/")
    file = next(results.rglob("*_parallel_result.json"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("4", "5"), encoding="utf-8")
    changed = planeval("report", tmp_path / "run")
    file.write_text(text, encoding="utf-8")
    assert planeval("report", tmp_path / "run").returncode == 0
    results.rename(tmp_path / "moved")
    moved = planeval("report", tmp_path / "run")
    for done, said in ((changed, "has changed since"), (moved, "which does not exist here")):
        assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr


@pytest.mark.parametrize(
    "change",
    [lambda figures: figures[:-1], lambda figures: [replace(figures[0], name="another"), *figures[1:]]],
)
def test_a_run_that_this_version_scores_otherwise_has_no_page(
    change: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planeval("score", *operands("callnavi"), "-o", f"{tmp_path}/run/")

    def score_otherwise(*args: Any, **options: Any) -> Any:
        scored = score_file(*args, **options)
        reports = {
            name: replace(report, figures=tuple(change(report.figures)))
            for name, report in scored.reports.items()
        }
        return replace(scored, reports=reports)

    monkeypatch.setattr(runs, "score_file", score_otherwise)
    done = planeval("report", tmp_path / "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "this version scores its answers differently (official " in done.stderr


def test_what_cannot_be_read_or_is_named_otherwise_is_told(results: Path) -> None:
    file = next(results.rglob("*_parallel_result.json"))
    file.write_text('{"id": "parallel_0"}\n{"id": "simple_python_0", "result": []}\n', encoding="utf-8")
    next(results.rglob("*_simple_python_result.json")).unlink()
    done = planeval("score", results, *CACHE, "--format", "csv")
    assert done.returncode == 1
    assert "1 answer cannot be read and counts as wrong" in done.stderr
    assert f"{file}: 1 answer to questions of simple_python, scored under" in done.stderr
    states = {pair["id"]: pair["state"] for pair in page_of("report", results, *CACHE).pairs()}
    assert (states["parallel_0"], states["simple_python_1"]) == ("unreadable", "unanswered")


@tabled("named, code, said")
def test_a_threshold_names_its_column(named: str, code: int, said: str) -> None:
    done = planeval("score", *operands("bfcl"), "--fail-under", named, "--format", "csv")
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert ("held against" in done.stderr) == ("held against" in said)


@pytest.mark.parametrize("form", ["text", "json", "csv", "junit"])
def test_a_threshold_of_a_published_metric_counts_in_every_format(form: str) -> None:
    argv = ("score", "data/demo/pred.jsonl", "data/demo/gold.jsonl", "--fail-under", "taskbench_nodes=0.99")
    done = planeval(*argv, "--format", form, cwd=ROOT)
    assert (done.returncode, "taskbench_nodes is 0.8889" in done.stderr) == (1, True)


# ---------------------------------------------------------------- several turns
TURNS = TABLES["TURNS"]
GOLD = [["ls()"], ["mv(source='x',destination='z')"], ["sort(file_name='x')"]]
QUESTION = {
    "question": [[{"role": "user", "content": text}] for text in ("Look.", "Move.", "Sort.")],
    "missed_function": {"2": ["sort"]},
}
SHORT = Verdict(False, "multi_turn:force_terminated", ("…",), {"explanation": ("the answer ends",)})
MISMATCH = Verdict(
    False,
    "multi_turn:instance_state_mismatch",
    ("Model instance for FS does not match.",),
    {"turn": 2, "explanation": ("turn 2 of 3: FS.y is missing; expected 'z'",), "refused": ("f(g())",)},
)


@pytest.mark.parametrize(
    ("content", "verdict", "marks", "noted"),
    [
        (TURNS, VALID, ["ok", "ok", "ok"], ["", "", "from here on offer: sort"]),
        (TURNS, MISMATCH, ["ok", "wrong", ""], ["", "FS.y is missing; expected 'z'", ""]),
        (TURNS[:1], SHORT, ["", "wrong", ""], ["", "the answer ends", "the answer ended before this turn"]),
        ("Error", Verdict(False, "multi_turn:inference_error", ("…",)), ["", "", ""], ["", "", ""]),
        (TURNS, Verdict(False, "not_judged", ("timeout",)), ["", "", ""], ["", "", ""]),
        ([*TURNS, 5], SHORT, ["", "", "", "wrong"], ["", "", "", "the answer ends"]),
    ],
)
def test_turns_are_told_one_by_one(content: Any, verdict: Verdict, marks: Any, noted: Any) -> None:
    sample = Sample(
        "multi_turn_base_0", category="multi_turn_base", extra={"question": QUESTION, "ground_truth": GOLD}
    )
    told = explain_answer(sample, answer_text(content), verdict, Settings())
    turns = told.sections[0]["turns"]
    assert [turn["mark"] for turn in turns] == marks
    assert [note in " ".join(turn["notes"]) for note, turn in zip(noted, turns, strict=True)] == [True] * len(
        marks
    )
    assert turns[0]["asked"] == ["Look."]
    assert [turn["accepted"] for turn in turns[:3]] == GOLD
    assert (told.sections[-1]["title"] == "Refused") == ("refused" in verdict.details)
    if content is TURNS:
        assert turns[0]["steps"] == [["call", "cd(folder='a')"], ["call", "ls()"], ["call", "pwd()"]]
        assert turns[1]["steps"] == [["call", "mv(source='x')"], ["words", "Done."]]


@pytest.mark.parametrize(
    "result", [None, 5, "", [], [[]], {}, {"a": 1}, ["x"], [[["f"]]], [[{"f": 1}]], [{"f": "{"}]]
)
@pytest.mark.parametrize(
    "category", ["simple_python", "irrelevance", "web_search_base", "multi_turn_base", "nosuch"]
)
def test_no_shape_of_an_answer_ends_a_page(result: Any, category: str) -> None:
    tool = {"name": "m.f", "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    truth: Any = [{"m.f": {"a": [1, ""]}}] if category == "simple_python" else ["x", "y"]
    extra = {"question": QUESTION, "ground_truth": truth}
    sample = Sample("1", tools=[tool], gold=[{"m.f": {"a": 1}}], category=category, extra=extra)
    told = explain_answer(sample, answer_text(result), Verdict(False, "x", ("y",)), Settings())
    assert json.dumps([told.sections, told.reply])


# ---------------------------------------------------------------- in a browser, and on real answers
@pytest.mark.parametrize("text", HOSTILE[:6], ids=[ascii(text[:20]) for text in HOSTILE[:6]])
def test_hostile_answers_are_data(text: str, tmp_path: Path) -> None:
    nasty = f"{text}</script><script>alert(1)</script>"
    call = [{nasty: json.dumps({nasty: nasty})}]
    results = write_results(tmp_path, {"simple_python_0": call, "irrelevance_0": nasty})
    done = planeval("report", results, *CACHE, "--title", "<script>x")
    page = Page(done.stdout)
    assert done.stdout.count("<script") == 2 + page.head["packs"]
    assert "<script>alert" not in done.stdout
    assert page.pair(0)["sections"][0]["rows"][0][1].endswith(f"called {nasty}")


def test_a_page_opens_in_a_browser(results: Path, tmp_path: Path) -> None:
    assert planeval("report", results, *CACHE, "-o", tmp_path / "page.html").returncode == 0
    with browser.launched() as opened, browser.opened(opened, tmp_path / "page.html") as page:
        page.get_by_role("link", name="simple_java", exact=True).first.click()
        assert page.locator("#found").text_content() == "1 of 9 records"
        page.keyboard.press("j")
        page.wait_for_selector("#pair .verdict")
        assert page.locator("#pair .verdict .chip").all_text_contents() == ["wrong", "right"]
        assert page.locator("#pair .accepted tr.wrong").count() == 1


@pytest.mark.filterwarnings("ignore")
def test_a_page_has_the_recorded_verdicts(reference: Path, tmp_path: Path) -> None:
    """Of a real run's answers: small categories, and one of several turns."""
    if installed_folder() is None:
        pytest.skip("bfcl_eval is not installed (pip install --no-deps bfcl-eval)")
    recorded: dict[str, Any] = {}
    folder = tmp_path / "result" / "m"
    folder.mkdir(parents=True)
    (run, *_) = sorted((reference / "vectors" / "bfcl").glob("*20b"))
    for name in ("simple_javascript", "live_parallel", "live_relevance", "multi_turn_miss_func"):
        with gzip.open(run / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
            records = [json.loads(line) for line in list(stream)[1:]]
        recorded |= {record["id"]: record for record in records}
        lines = (json.dumps({"id": r["id"], "result": r["result"]}) + "\n" for r in records)
        (folder / f"BFCL_v4_{name}_result.json").write_text("".join(lines), encoding="utf-8")
    page = page_of("report", folder)
    assert len(page.pairs()) == len(recorded) == 282
    for pair in page.pairs():
        official, record = pair["verdicts"][0], recorded[pair["id"]]
        assert official["ok"] == record["valid"], pair["id"]
        assert official["ok"] or official["error"].startswith(f"{record['error_type']}: ")
        if pair["id"].startswith("multi_turn"):
            marks = [turn["mark"] for turn in pair["sections"][0]["turns"]]
            turn_is_known = not official["ok"] and record["error_type"] != "multi_turn:inference_error"
            assert ("wrong" in marks) == turn_is_known
            before = marks[: marks.index("wrong")] if turn_is_known else []
            assert {*before} <= {"", "ok"}, pair["id"]  # what follows from a wrong turn stands behind it
