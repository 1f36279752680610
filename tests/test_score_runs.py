"""Runs in a folder: the bytes of the plain command, told again, compared, and refused; stats in parts."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.plan.statistics import FIGURES, Stats, Sums
from planner_eval.results.runs.stored import read_run, write_run
from tests.build import summarise
from tests.conftest import ROOT, tables
from tests.inside import planeval
from tests.test_cli import planeval as started

TABLES = tables(__file__)

PRED, GOLD = (str(ROOT / "data" / "demo" / f"{side}.jsonl") for side in ("pred", "gold"))
FORMS = ("text", "json", "jsonl", "csv", "md", "junit")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A second system: every third answer is wrong, one is left out, one is given twice."""
    lines = Path(PRED).read_text(encoding="utf-8").splitlines()
    made = [line.replace("Rome", "Roma") if at % 3 else line for at, line in enumerate(lines)]
    file = tmp_path_factory.mktemp("other") / "other.jsonl"
    file.write_text("\n".join([*made[:-2], made[0]]), encoding="utf-8")
    return str(file)


def seen(*argv: str) -> tuple[str, str, int]:
    """In a process of its own where it starts further ones."""
    done = started(*argv) if "--jobs" in argv else planeval(*argv)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("file", ["demo", "other"])
def test_a_run_says_what_the_plain_command_says(file: str, other: str, tmp_path: Path) -> None:
    pred, run = PRED if file == "demo" else other, f"{tmp_path}/run/"
    assert seen("score", pred, GOLD, "--by", "calls", "-o", run) == seen("score", pred, GOLD, "--by", "calls")
    limit = ["--fail-under", "exact=0.9"]
    for form in FORMS:
        more = [] if form in ("csv", "junit") else ["--by", "calls"]
        for option in [limit] if form == "csv" else [[], ["--only", "failures", *limit]]:
            plain = seen("score", pred, GOLD, "--format", form, *more, *option)
            assert seen("score", run, "--format", form, *option) == plain, (form, option)
    text = planeval("score", pred, GOLD, "--all").stdout.partition("\n\n")[0]
    assert planeval("score", run.rstrip("/"), "--all").stdout.partition("\n\n")[0] == text


def test_a_run_with_a_function_that_has_changed_is_another_run(tmp_path: Path) -> None:
    module, run = tmp_path / "own_rule.py", f"{tmp_path}/run/"
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nargument = "*"\nfunction = "own_rule:alike"\n', encoding="utf-8")
    command = [sys.executable, "-m", "planner_eval", "score", PRED, GOLD, "--policy", str(policy), "-o", run]
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def scored(text: str) -> subprocess.CompletedProcess[str]:
        module.write_text(text, encoding="utf-8")
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    first = scored("def alike(ours, theirs):\n    return ours == theirs\n")
    assert first.returncode == 0, first.stderr
    again = scored("def alike(ours, theirs):\n    return True\n")
    assert (again.returncode, again.stdout) == (2, "")
    assert "holds another run: what --policy says has changed" in again.stderr
    assert scored("def alike(ours, theirs):\n    return ours == theirs\n").stdout == first.stdout


def test_any_processes_and_parts_give_the_same_bytes(other: str, tmp_path: Path) -> None:
    kept, plain = {}, seen("score", other, GOLD, "--format", "json", "--by", "depth")
    for jobs, part in ((1, 1), (2, 3), (1, 100), (7, 2)):
        how = ["--format", "json", "--by", "depth", "--jobs", str(jobs), "--part", str(part)]
        assert seen("score", other, GOLD, *how) == plain
        run = tmp_path / f"{jobs}-{part}"
        assert seen("score", other, GOLD, *how, "-o", f"{run}/") == plain
        kept[jobs, part] = [(run / name).read_bytes() for name in ("rows.jsonl", "report.json")]
        assert seen("score", str(run), "--format", "json")[::2] == plain[::2]
        assert seen("score", other, GOLD, *how, "-o", f"{run}/") == plain  # once more: nothing to do
    assert len({tuple(files) for files in kept.values()}) == 1
    rows, report = kept[2, 3]
    told = json.loads(plain[0])
    assert [json.loads(line)["id"] for line in rows.splitlines()] == [row["id"] for row in told.pop("rows")]
    assert json.loads(report) == told


@pytest.mark.more
@pytest.mark.parametrize("command", ["diff", "score"])
@pytest.mark.parametrize("padding", [10, 3_000_000], ids=["held", "stored"])
def test_no_row_has_the_id_of_another(command: str, padding: int, tmp_path: Path) -> None:
    """The third record has no id, and the second is called 3."""
    pair = []
    for name, field in (("p", "output"), ("g", "gold")):
        lines = [{"id": id, field: f"f(a={at})"} for at, id in enumerate(["1", "3", None, "4"])]
        file = tmp_path / f"{name}.jsonl"
        notes = ["", *3 * ["x" * padding]]  # the head of a file is looked at whole
        text = "\n".join(json.dumps({**line, "note": note}) for line, note in zip(lines, notes, strict=True))
        file.write_text(text.replace('"id": null, ', ""), encoding="utf-8")
        pair.append(str(file))
    plain = seen(command, *pair, "--format", "jsonl")
    assert seen(command, *pair, "--format", "jsonl", "--jobs", "2", "--part", "2") == plain
    run = f"{tmp_path}/run/"
    seen(command, *pair, "--jobs", "2", "--part", "3", "-o", run)
    for text in (plain[0], Path(run, "rows.jsonl").read_text(encoding="utf-8")):
        names = [json.loads(line)["id"] for line in text.splitlines()]
        assert names == ["1", "3", "record 3", "4", "prediction 3"]


@pytest.fixture(scope="module")
def runs(other: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, pred in (("pred", PRED), ("other", other)):
        assert planeval("score", pred, GOLD, "-o", f"{folder / name}/", "--by", "calls").returncode < 2
    return folder / "pred", folder / "other"


@pytest.mark.more
@pytest.mark.parametrize("form", FORMS)
def test_two_runs_compare_as_their_files_do(form: str, other: str, runs: tuple[Path, Path]) -> None:
    more = ["--by", "calls"] if form in ("text", "md", "json") else []
    options = [*more, "--format", form, "--fail-if-worse", "exact"]
    plain = seen("compare", PRED, other, PRED, "--gold", GOLD, *options)
    found = seen("compare", *map(str, runs), str(runs[0]), *options)
    assert found[::2] == plain[::2]
    assert plain[1].endswith(found[1])


def test_runs_of_other_gold_or_options_are_not_compared(runs: tuple[Path, Path], tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(Path(GOLD).read_text(encoding="utf-8").replace("Rome", "Paris"), encoding="utf-8")
    for name, right, how, said in (
        ("gold", str(gold), ["--by", "calls"], "their gold plans are not the same"),
        ("by", GOLD, [], "they were scored differently: --by is calls and not given"),
        (
            "metrics",
            GOLD,
            ["--by", "calls", "--metric", "exact"],
            "they were scored differently: --metric is ",
        ),
        ("policy", GOLD, ["--by", "calls", "--policy", "strict"], '--policy is "default" and "strict"'),
        ("strict", GOLD, ["--by", "calls", "--strict"], "--strict is not given and given"),
    ):
        run = tmp_path / name
        assert planeval("score", PRED, right, *how, "-o", f"{run}/").returncode < 2
        done = planeval("compare", str(runs[0]), str(run))
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be compared" in done.stderr
        assert said in done.stderr
    pair = [*map(str, runs)]
    for argv, said in (
        ([*pair, "--by", "depth"], "was not scored with --by depth"),
        ([pair[0], PRED], f"score {PRED} into a folder (planeval score {PRED} GOLD -o DIR/)"),
        ([*pair, "--metric", "exact"], "--metric applies only to files of plans"),
    ):
        done = planeval("compare", *argv)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_folder_without_a_run_is_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    for argv, said in (
        (["score", str(tmp_path)], "holds no results that name their gold"),
        (["score", PRED], "Missing argument 'GOLD|DATASET'"),
        (
            ["score", str(runs[0]), "--metric", "exact", "--format", "csv"],
            "--metric applies only to files of",
        ),
        (["score", str(runs[0]), "--jobs", "2"], "--jobs applies only to files of plans"),
        (["score", PRED, GOLD, "-o", f"{ROOT}/tests/"], "holds no run but other files"),
        (["score", PRED, GOLD, "-o", f"{runs[0]}/"], "--by was calls and is not given"),
    ):
        done = planeval(*argv)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_a_damaged_run_is_refused(runs: tuple[Path, Path], tmp_path: Path) -> None:
    def damaged(name: str) -> Path:
        return Path(shutil.copytree(runs[0], tmp_path / name))

    for name, old, new in (("rows", '"same"', '"diff"'), ("more", "{", "{}\n{")):
        rows = damaged(name) / "rows.jsonl"
        rows.write_text(rows.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    (damaged("undone") / "rows.jsonl").unlink()
    next((damaged("parts") / "parts").iterdir()).unlink()
    for name, text in (("text", "{"), ("list", "[]")):
        (damaged(name) / "run.json").write_text(text, encoding="utf-8")
    for name, old, new in (
        ("kind", '"score"', '"diff"'), ("schema", "planeval.run/1", "planeval.run/9"),
        ("options", '"metrics": [', '"metrics": ["exactt", ')
    ):  # fmt: skip
        known = str(damaged(name))
        write_run(known, json.loads(json.dumps(read_run(known)).replace(old, new, 1)))
    for name, said in TABLES["a_damaged_run_is_refused"]:
        done = planeval("score", str(tmp_path / name))
        assert (name, done.returncode, done.stdout) == (name, 2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_the_library_scores_by_processes_and_keeps_runs(tmp_path: Path) -> None:
    pred, gold, run, told = Path(PRED), Path(GOLD), tmp_path / "run", list[tuple[int, ...]]()
    plain = pe.score(pred, gold, by=["calls"])
    running = pe.Running(jobs=2, part=4)
    found = pe.score(pred, gold, by=["calls"], running=running, progress=lambda *n: told.append(n))
    kept = pe.score(pred, gold, by=["calls"], running=pe.Running(folder=run))
    for one in (found, kept, pe.score(run)):
        assert (one.figures, one.breakdown) == (plain.figures, plain.breakdown)
        assert one.signature == plain.signature
        assert tuple(one.rows) == plain.rows
        assert one.rows[-1] == plain.rows[-1]
        assert len(one.rows) == len(plain.rows)
    assert told[-1] == (13, 13, 0)
    assert pe.compare({"a": run, "b": run}).contrasts[0].n == 13


DEMO = ROOT / "data" / "demo"
SAMPLES = str(ROOT / "data" / "samples")

PLANS = [pe.parse(json.loads(line)["gold"]) for line in Path(GOLD).read_text(encoding="utf-8").splitlines()]
PLANS += [pe.parse("f()"), pe.parse("a = f(#x='1')\nb = g(#y=a)\nc = g(#y=a, #z=b)")]
FOUND: list[Stats] = [pe.stats(plan) for plan in PLANS]


@given(st.lists(st.sampled_from(FOUND), max_size=12), st.integers(0, 12))
def test_sums_of_parts_are_those_of_the_whole(every: list[Stats], at: int) -> None:
    """And the figures are as the standard library has them."""
    parts = [Sums(), Sums()]
    for place, found in enumerate(every):
        parts[place >= at].add(found)
    whole = Sums(json.loads(json.dumps(parts[0].data())))
    whole.extend(Sums(json.loads(json.dumps(parts[1].data()))))
    summary = whole.summary(inferred=True)
    assert summary == summarise(every, inferred=True)
    for name in FIGURES:
        values = [getattr(found, name) for found in every]
        figure = summary.figure(name)
        known = (figure.total, figure.mean, figure.median, figure.max)
        if not values:
            assert known == (0, None, None, None)
            continue
        wanted = sum(values), statistics.mean(values), statistics.median(values), max(values)
        assert known == wanted
        assert [*map(type, known[1:3])] == [*map(type, wanted[1:3])]


CASES = [
    (PRED, GOLD, "--each", "--format", "csv"), (GOLD, "--infer", "--format", "json"),
    ("callnavi", GOLD, "--source", SAMPLES, "--infer"),
]  # fmt: skip


@pytest.mark.more
@pytest.mark.parametrize("argv", CASES, ids=lambda argv: " ".join(map(os.path.basename, argv)))
def test_the_bytes_are_the_same_for_any_workers_and_any_cut(argv: tuple[str, ...]) -> None:
    alone = planeval("stats", *argv)
    assert alone.returncode < 2, alone.stderr
    cut = started("stats", *argv, "--jobs", "2", "--part", "3")
    assert (cut.returncode, cut.stdout, cut.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def ran(home: Path, *argv: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "planner_eval", *argv], cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.more
@pytest.mark.parametrize("store", ["jsonl", "parquet"])
@pytest.mark.parametrize("more", [(), ("--each", "--format", "csv")], ids=["summary", "each"])
def test_a_run_of_stats_says_the_same(store: str, more: tuple[str, ...], tmp_path: Path) -> None:
    if store == "parquet":
        pytest.importorskip("pyarrow")
    for side in ("pred", "gold"):
        shutil.copy(DEMO / f"{side}.jsonl", tmp_path)
    plain = ran(tmp_path, "stats", "pred.jsonl", "gold.jsonl", *more)
    argv = ("stats", "pred.jsonl", "gold.jsonl", *more, "-o", "run/", "--store", store)
    assert ran(tmp_path, *argv, "--part", "5") == plain
    run = tmp_path / "run"
    summary = json.loads(planeval("stats", PRED, GOLD, "--format", "json").stdout)
    for one, side in zip(summary, ("pred", "gold"), strict=True):
        one["file"] = f"{side}.jsonl"
    assert json.loads((run / "report.json").read_text()) == summary
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    (run / f"rows.{store}").unlink()
    (run / "parts" / "000002.json").unlink()
    assert ran(tmp_path, *argv) == plain
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before
    assert ran(tmp_path, "stats", "./pred.jsonl", "./gold.jsonl", *argv[3:]) == plain
    code, out, err = ran(tmp_path, *argv, "--infer")
    assert (code, out) == (2, "")
    assert "holds another run: --infer was not given and is given" in err
