"""A benchmark's scores in parts: the bytes of the plain command, kept, told again, gone on with, refused."""

import json
from collections import Counter
from pathlib import Path

import pytest

from planner_eval.benchmarks.answer_rows import NO_RESULT, AnswerSums, ResultStore
from planner_eval.benchmarks.benchmark import VARIANTS, benchmark
from planner_eval.benchmarks.report import make_row
from tests.conftest import ROOT, tables
from tests.test_cli import planeval

TABLES = tables(__file__)

SAMPLES = ROOT / "data" / "samples"
FORMS = ("text", "json", "jsonl", "csv", "md", "junit")
CASES = TABLES["CASES"]


def seen(*argv: str) -> tuple[str, str, int]:
    done = planeval(*argv)
    return done.stdout, done.stderr, done.returncode


@pytest.fixture
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """A command that scores answers of which one is missing, one repeated, one unknown and one broken."""
    name, options = CASES[request.param]
    lines = (SAMPLES / "answers" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    field = next(key for key in json.loads(lines[0]) if "id" in key)
    unknown = {**json.loads(lines[1]), field: "nobody asked"}
    made = [*lines[1:], '{"id": 1, ', lines[2], json.dumps(unknown)]
    if request.param == "named":
        several = {"id": json.loads(lines[0])["id"], "prediction": ["A: [a()]", "B: [b()]"]}
        made.insert(1, json.dumps(several))
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(made), encoding="utf-8")
    gold = SAMPLES / name / ("v2" if name == "nestful" else "")
    return [str(file), str(gold), "--benchmark", name, *options]


EACH = [("appbench", form) for form in FORMS] + [(name, "json") for name in CASES if name != "appbench"]
"""JSON has every figure of every row: that is enough of most benchmarks."""


@pytest.mark.more
@pytest.mark.parametrize(("asked", "form"), EACH, indirect=["asked"])
def test_parts_give_the_bytes_of_one_process(asked: list[str], form: str, tmp_path: Path) -> None:
    plain = seen("score", *asked, "--format", form)
    assert plain[2] == 1, plain[1]  # with answers that belong to nothing
    run = str(tmp_path / "run") + "/"
    for way in (["--jobs", "2", "--part", "1"], ["-o", run, "--part", "2"]):
        assert seen("score", *asked, "--format", form, *way) == plain, way
    assert seen("score", run, "--format", form) == plain
    if form != "json":
        some = ["--format", form, "--only", "failures"]
        assert seen("score", run, *some) == seen("score", *asked, *some)


def test_a_run_holds_a_row_of_each_sample_and_of_each_answer_that_is_left_over(tmp_path: Path) -> None:
    first, second, *_ = (SAMPLES / "answers" / "appbench.jsonl").read_text(encoding="utf-8").splitlines()
    file, run = tmp_path / "answers.jsonl", tmp_path / "run"
    file.write_text("\n".join([first, first, '{"id": "else", "prediction": "A: [a()]"}', "{", second]))
    seen("score", str(file), str(SAMPLES / "appbench"), "--benchmark", "appbench", "-o", f"{run}/")
    rows = [json.loads(line) for line in (run / "rows.jsonl").read_text().splitlines()]
    ids = [sample.id for sample in benchmark("appbench").read(SAMPLES / "appbench")]
    assert [row["id"] for row in rows[: len(ids)]] == ids
    states = [row["state"] for row in rows]
    assert Counter(states[: len(ids)]) == {"answered": 2, "missing": len(ids) - 2}
    assert states[len(ids) :] == ["repeated", "unknown", "unknown"]
    told = next(row for row in rows if row["state"] == "answered")
    assert set(told) == {"id", "state", *VARIANTS}
    assert told["corrected"]["figures"]
    data, report = (json.loads((run / name).read_text()) for name in ("run.json", "report.json"))
    assert (data["kind"], data["options"]["benchmark"]) == ("score", "appbench")
    assert (report["reports"]["official"]["n"], report["unknown"]) == (len(ids), ["else"])
    for option in (["--cluster", "x"], ["--by", "calls"]):
        assert seen("score", str(run), *option)[2] == 2, option
    assert seen("score", str(run), "--fail-under", "app_hit_f1=1.1")[2] == 1
    (run / "rows.jsonl").write_text("", encoding="utf-8")
    assert "changed since the run" in seen("score", str(run))[1]


@pytest.mark.parametrize("options", [
    ("callnavi", "--set", "task=stability"), ("appbench", "--details"), ("functionchat", "--format", "tsv"),
    ("complexfuncbench",),
])  # fmt: skip
def test_what_needs_all_answers_together_says_so(options: tuple[str, ...], tmp_path: Path) -> None:
    name, *more = options
    files = [str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name)]
    for way in (("--jobs", "2"), ("-o", f"{tmp_path / 'run'}/")):
        _, said, code = seen("score", *files, "--benchmark", name, *more, *way)
        assert (code, "applies only where" in said, "one by one" in said) == (2, True, True), said
        assert ("scores all together" in said) == (name == "complexfuncbench"), said
        assert not (tmp_path / "run").exists()


def test_a_sample_at_which_the_program_fails_is_said_and_in_no_figure() -> None:
    bench = benchmark("appbench")
    scorers = bench.scorers(VARIANTS, {})
    assert scorers is not None
    sums, sample = AnswerSums(scorers), next(iter(bench.read(SAMPLES / "appbench")))
    for name, each in sums.seen.items():
        each.add(scorers[name].judge(sample, str(bench.gold_text(sample))))
        each.codes.append(NO_RESULT)
    again = AnswerSums(scorers, json.loads(json.dumps(sums.data())))
    again.extend(AnswerSums(scorers, sums.data()))
    official = again.seen["official"]
    assert list(official.codes) == [0, NO_RESULT, 0, NO_RESULT]
    found = (official.row(0).ok, official.row(NO_RESULT).ok, bool(official.row(NO_RESULT).error))
    assert found == (True, False, True)


@pytest.mark.parametrize("name", ["appbench", "nestful", "callnavi", "functionchat"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_was_found_out_comes_back_from_json(name: str, variant: str) -> None:
    bench = benchmark(name)
    scorer = bench.scorer_of(variant)
    kept = ResultStore(scorer)
    found = []
    for at, sample in enumerate(bench.read(SAMPLES / name / ("v2" if name == "nestful" else ""))):
        text = (bench.gold_text(sample) or "words")[: None if at % 2 else 40]
        found.append((sample.id, scorer.judge(sample, text)))
        kept.add(found[-1][1])
    back = ResultStore(scorer, json.loads(json.dumps(kept.data())))
    again = [(sample, back.known[code]) for (sample, _), code in zip(found, back.codes, strict=True)]
    assert tuple(scorer.figures(again)) == tuple(scorer.figures(found))
    for (sample, one), code in zip(found, back.codes, strict=True):
        fresh, like = make_row(sample, one), back.row(code)
        assert repr((fresh.ok, fresh.figures, fresh.error)) == repr((like.ok, like.figures, like.error))
