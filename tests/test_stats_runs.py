"""Structure counted in parts: the bytes of one process for any cut, and kept in a folder."""

from __future__ import annotations

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
from planner_eval.plan.statistics import Stats
from planner_eval.plan.summary import FIGURES, Sums, summarise
from tests.conftest import ROOT
from tests.memory import PEAK, measures
from tests.test_cli import planeval

DEMO = ROOT / "data" / "demo"
SAMPLES = str(ROOT / "data" / "samples")
PRED, GOLD = (str(DEMO / f"{side}.jsonl") for side in ("pred", "gold"))

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
    (PRED, GOLD), (GOLD, "--each"), (PRED, GOLD, "--each", "--format", "csv"),
    (PRED, "--each", "--format", "json"), (PRED, "--explain"), (GOLD, "--infer", "--format", "json"),
    ("callnavi", GOLD, "--source", SAMPLES, "--infer"),
    ("complexfuncbench", "--source", SAMPLES, "--each", "--format", "csv"), (str(DEMO / "gold.json"),)
]  # fmt: skip


@pytest.mark.parametrize("argv", CASES, ids=lambda argv: " ".join(map(os.path.basename, argv)))
def test_the_bytes_are_the_same_for_any_workers_and_any_cut(argv: tuple[str, ...]) -> None:
    alone = planeval("stats", *argv)
    assert alone.returncode < 2, alone.stderr
    for jobs, part in (("1", "1"), ("2", "3"), ("7", "5"), ("2", "1000")):
        cut = planeval("stats", *argv, "--jobs", jobs, "--part", part)
        assert (cut.returncode, cut.stdout, cut.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def ran(home: Path, *argv: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "planner_eval", *argv], cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("store", ["jsonl", "parquet"])
@pytest.mark.parametrize("more", [(), ("--each", "--format", "csv")], ids=["summary", "each"])
def test_a_run_says_what_the_plain_command_says(store: str, more: tuple[str, ...], tmp_path: Path) -> None:
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


def test_a_row_says_what_became_of_each_record(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = planeval("stats", PRED, "--infer", "-o", f"{run}/")
    assert done.returncode == 1
    rows = [json.loads(line) for line in (run / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    ids = [json.loads(line)["id"] for line in Path(PRED).read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ids
    assert [row["number"] for row in rows] == list(range(1, len(ids) + 1))
    assert [row["state"] for row in rows] == ["read"] * 12 + ["unreadable"]
    assert rows[-1]["where"] == f"{PRED}, line 13, record 13 (id alarm-unreadable)"
    assert rows[0]["calls"] == 3
    other = planeval("stats", f"{run}/")
    assert other.returncode == 2
    assert (
        f"is the folder of a run, and files of plans are wanted here: what it was made of is {PRED}"
        in other.stderr
    )


@measures
def test_a_large_file_is_not_held(tmp_path: Path) -> None:
    """Of 12 MB each process holds a small part, as a table of all plans and as a summary."""
    line = json.dumps({"id": "x", "output": "a = f(#x='1')\nb = g(#y=a, #z='" + "é" * 500 + "')"})
    code = (
        f"{PEAK}import resource, sys\nfrom planner_eval.cli import run\ncode = run()\n"
        "theirs = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024\n"
        "print(code, max(peak(), theirs), file=sys.stderr)\n"
    )
    taken = []
    for count in (2, 4_000):
        file = tmp_path / f"{count}.jsonl"
        file.write_text("".join(line.replace('"x"', f'"i{at}"', 1) + "\n" for at in range(count)), "utf-8")
        argv = [sys.executable, "-c", code, "stats", str(file), "--each", "--format", "csv", "--jobs", "2"]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
        found, peak = done.stderr.split()[-2:]
        assert found == "0", done.stderr
        taken.append(int(peak))
    assert taken[1] - taken[0] < 30, taken  # modules of runs and SQLite among it; all plans take 70
