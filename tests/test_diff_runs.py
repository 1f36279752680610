"""Many pairs compared in parts: the bytes of one after another for any cut, and kept in a folder."""

import json
import random
from pathlib import Path

import planner_eval as pe
from planner_eval.comparison.evaluate import pair
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import Evaluation, Row
from planner_eval.results.runs.diff_job import DiffSums
from tests import inside
from tests.conftest import ROOT, tabled
from tests.test_cli import planeval

PRED, GOLD = (str(ROOT / "data" / "demo" / name) for name in ("pred.jsonl", "gold.jsonl"))
SUMMARY = "13 pairs: 2 same, 10 different, 1 unreadable\n"


def test_a_run_is_kept_and_said_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = planeval("diff", PRED, GOLD, "-o", f"{folder}/", "--part", "4")
    assert (done.returncode, done.stdout) == (1, SUMMARY), done.stderr
    rows = (folder / "rows.jsonl").read_text()
    assert rows == planeval("diff", PRED, GOLD, "--format", "jsonl").stdout
    report = json.loads((folder / "report.json").read_text())
    assert (report["pairs"], report["states"]) == (13, {"same": 2, "different": 10, "unreadable": 1})
    assert json.loads((folder / "run.json").read_text())["kind"] == "diff"
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    again = planeval("diff", PRED, GOLD, "-o", str(folder), "--jobs", "2")
    assert (again.returncode, again.stdout, again.stderr) == (1, SUMMARY, done.stderr)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()} == before
    (folder / "rows.jsonl").write_text(rows[:500] + "?" + rows[501:])  # a part that was lost is done again
    assert planeval("diff", PRED, GOLD, "-o", str(folder)).stdout == SUMMARY
    assert (folder / "rows.jsonl").read_text() == rows


@tabled("argv, said")
def test_options_that_do_nothing_are_refused(argv: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\ntool = "serach_flights"\ncompare = ["casefold"]\n')
    done = inside.planeval("diff", PRED, GOLD, *(one.format(tmp_path) for one in argv))
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr
    assert not (tmp_path / "run").exists()


def test_sums_of_parts_are_those_of_the_whole() -> None:
    answer = '[{"name": "f", "label": "$v"}, {"name": "g", "arguments": {"x": "$v.%s$"}}]'
    answers = (answer % "result", "[f(a=1)]\n\nIn short: [f(a=1)]", "just words")
    golds = [{"id": f"q{number}", "output": answer % "out"} for number in range(len(answers))]
    more = pe.pair([{**gold, "output": text} for gold, text in zip(golds, answers, strict=True)], golds)
    rows = [*Evaluation().rows([*pair(Path(PRED), Path(GOLD)).pairs, *more.pairs])] * 3
    policy = pe.Policy(rules=(Rule(tool="f", compare=("casefold",)),))
    random.Random(7).shuffle(rows)

    def summed(rows: list[Row]) -> DiffSums:
        found = DiffSums(policy)
        for row in rows:
            found.add(row, shown=row.state != "same")
        return found

    whole = summed(rows)
    for size in (1, 2, 5, 39):
        found = DiffSums(policy)
        for first in range(0, len(rows), size):
            part = json.loads(json.dumps(summed(rows[first : first + size]).data()))
            found.extend(DiffSums(policy, part))
        assert found.data() == whole.data()
        assert found.data()["wholes"] == {"f": 3}
        assert found.data()["counts"] == {"pred restated": 3}
        assert (found.said, found.code, found.outcomes) == (whole.said, whole.code, whole.outcomes)
