"""Many pairs compared in parts: the bytes of one after another for any cut, and kept in a folder."""

import json
import random
from pathlib import Path

import planner_eval as pe
from planner_eval.comparison.evaluate import pair
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import Evaluation, Row
from planner_eval.results.pair_sums import DiffSums
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


def test_a_run_with_other_options_or_files_is_refused(tmp_path: Path) -> None:
    pred, run = tmp_path / "p.jsonl", f"{tmp_path}/run/"
    pred.write_text(Path(PRED).read_text())
    inside.planeval("diff", pred, GOLD, "-o", run)
    for more, said in (
        (("--policy", "lenient"), '--policy was "default" and is "lenient"'),
        (("--repair",), "--repair was not given and is given"),
        (("--from", "gold=json"), '--from gold was not given and is "json"'),
    ):
        other = inside.planeval("diff", pred, GOLD, "-o", run, *more)
        assert other.returncode == 2
        assert f"{run} holds another run: {said}" in other.stderr
    pred.write_text(pred.read_text().replace("Rome", "Oslo", 1))
    changed = inside.planeval("diff", pred, GOLD, "-o", run)
    assert changed.returncode == 2
    assert f"the file {pred} (pred) has changed since" in changed.stderr


@tabled("argv, said")
def test_options_that_do_nothing_are_refused(argv: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\ntool = "serach_flights"\ncompare = ["casefold"]\n')
    done = inside.planeval("diff", PRED, GOLD, *(one.format(tmp_path) for one in argv))
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr
    assert not (tmp_path / "run").exists()


def test_a_tool_of_a_rule_is_looked_for_in_golds_own_notation(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\ntool = "g"\ncompare = ["casefold"]\n')
    (tmp_path / "pred.jsonl").write_text(json.dumps({"id": "f", "output": [{"name": "f"}]}))
    golds = ({"id": name, "output": f"App: [{name}(#x='1')]"} for name in "fg")
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, golds)))
    line = "diff pred.jsonl gold.jsonl --policy policy.toml --from json --from gold=appbench --id f"
    done = inside.planeval(*line.split(), cwd=tmp_path)
    assert (done.returncode, "App.f" in done.stdout) == (1, True), done.stderr


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
