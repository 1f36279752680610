"""The command line leaves out no record and passes over no option in silence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.inside import planeval

DEMO = ROOT / "data" / "demo"
PRED, GOLD = str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl")
ONE = (str(DEMO / "pred.json"), str(DEMO / "gold.json"))
ANSWERS = ROOT / "data" / "samples" / "answers"
CALLNAVI = (str(ANSWERS / "callnavi.jsonl"), str(ROOT / "data" / "samples" / "callnavi"))


def call(x: object, name: str = "f") -> str:
    return json.dumps([{"id": "c1", "name": name, "arguments": {"x": x}}])


def lines(path: Path, records: Sequence[Any]) -> str:
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return str(path)


def loaded(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def many(tmp_path: Path) -> tuple[str, str]:
    """Ten predictions: even ones right, odd ones wrong, 7 unreadable; gold also asks for an eleventh."""
    pred = [{"id": f"q{i}", "plan": call(i if i % 2 == 0 else -1)} for i in range(10)]
    pred[7]["plan"] = "f(x="
    gold = [{"id": f"q{i}", "plan": call(i)} for i in range(11)]
    return lines(tmp_path / "pred.jsonl", pred), lines(tmp_path / "gold.jsonl", gold)


def test_a_patch_a_pair_and_a_reason_where_there_is_none(many: tuple[str, str]) -> None:
    found = loaded(planeval("diff", *many, "--patch").stdout)
    assert [row["id"] for row in found] == [f"q{i}" for i in range(11)]
    assert [len(row.get("operations", "?")) for row in found[:4]] == [0, 1, 0, 1]
    assert "line 8, record 8 (id q7)" in found[7]["error"]
    assert "operations" not in found[7]
    assert found[10]["state"] == "absent"


def test_each_plan_takes_the_patch_of_its_id(many: tuple[str, str], tmp_path: Path) -> None:
    patches, repaired = str(tmp_path / "patches.jsonl"), str(tmp_path / "repaired.jsonl")
    planeval("diff", *many, "--patch", "-o", patches)
    shuffled = (tmp_path / "patches.jsonl").read_text().splitlines()[::-1]
    (tmp_path / "patches.jsonl").write_text("\n".join(shuffled))
    done = planeval("apply", patches, many[0], "-o", repaired)
    assert done.returncode == 1
    assert "10 records: 9 written (5 unchanged), 1 not" in done.stderr
    assert "1 lines without a patch for no plan" in done.stderr
    rows = loaded((tmp_path / "repaired.jsonl").read_text())
    assert [row["id"] for row in rows] == [f"q{i}" for i in range(10)]
    assert [row["id"] for row in rows if "error" in row] == ["q7"]
    again = loaded(planeval("diff", repaired, many[1], "--format", "jsonl").stdout)
    assert sum(row["state"] == "same" for row in again) == 9


def test_a_plan_without_a_patch_says_so_and_a_patch_without_a_plan_is_told(
    many: tuple[str, str], tmp_path: Path
) -> None:
    made = loaded(planeval("diff", *many, "--patch").stdout)
    patches = lines(tmp_path / "p.jsonl", [made[1], made[3] | {"id": "elsewhere"}])
    pred = [{"id": f"q{i}", "plan": call(-1)} for i in (1, 3)]
    done = planeval("apply", patches, lines(tmp_path / "two.jsonl", pred))
    assert done.returncode == 1
    assert "1 patches for no plan" in done.stderr
    assert "elsewhere" in done.stderr
    first, second = loaded(done.stdout)
    assert '"x": 1' in first["text"]
    assert '"x": -1' in second["text"]
    assert "has no patch of this id" in second["note"]


def test_nothing_is_applied_where_ids_are_repeated_or_of_other_plans(
    many: tuple[str, str], tmp_path: Path
) -> None:
    made = loaded(planeval("diff", *many, "--patch").stdout)
    patches = lines(tmp_path / "p.jsonl", [made[1], made[3], made[3]])
    pred = [{"id": name, "plan": call(-1)} for name in ("q1", "q1", "q3", "q5")]
    done = planeval("apply", patches, lines(tmp_path / "dup.jsonl", pred))
    assert done.returncode == 1
    found = loaded(done.stdout)
    assert ["error" in row for row in found] == [True, True, True, False]
    assert "2 plans have the id 'q1'" in found[0]["error"]
    assert "several patches have the id 'q3'" in found[2]["error"]
    others = lines(tmp_path / "others.jsonl", [{"id": name, "plan": call(-1)} for name in "ab"])
    refused = planeval("apply", patches, others)
    assert refused.returncode == 2
    assert "no patch's id is a plan's id" in refused.stderr


def test_one_patch_and_many_plans_need_a_name(many: tuple[str, str], tmp_path: Path) -> None:
    one = str(tmp_path / "one.json")
    planeval("diff", *many, "--patch", "--id", "q3", "-o", one)
    refused = planeval("apply", one, many[0])
    assert refused.returncode == 2
    assert "10 plans: name the plan with --id" in refused.stderr
    done = planeval("apply", one, many[0], "--id", "q3")
    assert done.returncode == 0
    assert '"x": 3' in done.stdout
    all_of_them = str(tmp_path / "all.jsonl")
    planeval("diff", *many, "--patch", "-o", all_of_them)
    (tmp_path / "plan.json").write_text(call(-1))
    refused = planeval("apply", all_of_them, str(tmp_path / "plan.json"))
    assert refused.returncode == 2
    assert "11 patches with ids" in refused.stderr


def test_a_broken_line_and_a_patch_that_does_not_fit_take_no_other_with_them(
    many: tuple[str, str], tmp_path: Path
) -> None:
    made = loaded(planeval("diff", *many, "--patch").stdout)
    alien = {"schema": "planeval.patch/1", "operations": [{"op": "remove", "id": "zz"}]}
    pairs = {"op": "arguments", "id": "c1", "arguments": [["x"]]}
    odd = {"schema": "planeval.patch/1", "operations": [pairs]}
    patches = tmp_path / "p.jsonl"
    patches.write_text("\n".join(map(json.dumps, [made[1], {"id": "q3"} | alien, {"id": "q5"} | odd])))
    with patches.open("a") as file:
        file.write("\n{broken")
    done = planeval("apply", str(patches), many[0])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "line 4, column 2: not JSON" in done.stderr
    found = {row["id"]: row for row in loaded(done.stdout)}
    assert len(found) == 10
    assert "text" in found["q1"]
    assert "does not fit the plan: 'zz' is not there" in found["q3"]["error"]
    assert "arguments 1 is ['x'], expected a name and a value" in found["q5"]["error"]
    assert "1 lines of" in found["q0"]["error"]


def test_when_no_plan_can_be_written_the_code_is_3(tmp_path: Path) -> None:
    patches = lines(tmp_path / "p.jsonl", [{"id": n, "error": "unreadable"} for n in "ab"])
    plans = lines(tmp_path / "plans.jsonl", [{"id": n, "plan": "f(x="} for n in "ab"])
    done = planeval("apply", patches, plans)
    assert done.returncode == 3
    assert len(loaded(done.stdout)) == 2


def test_convert_writes_a_row_for_each_record() -> None:
    done = planeval("convert", PRED, "--to", "appbench")
    assert done.returncode == 1
    records = loaded(Path(PRED).read_text(encoding="utf-8"))
    rows = loaded(done.stdout)
    assert [row["id"] for row in rows] == [record["id"] for record in records]
    failed = sum("error" in row for row in rows)
    assert 0 < failed < len(rows)
    assert all(("text" in row) != ("error" in row) for row in rows)
    said = "13 plans: 12 read (6 appbench, 5 nestful, 1 openai-chat), 1 unreadable"
    assert f"{said}; {len(rows) - failed} written as appbench, {failed - 1} cannot be" in done.stderr


def test_convert_of_nothing_readable_has_rows_and_code_3(tmp_path: Path) -> None:
    done = planeval(
        "convert", lines(tmp_path / "p.jsonl", [{"id": n, "plan": "f(x="} for n in "ab"]), "--to", "plan"
    )
    assert done.returncode == 3
    assert [row["id"] for row in loaded(done.stdout)] == ["a", "b"]


@pytest.mark.more
@pytest.mark.parametrize(("pred", "gold", "said"), [
    ("boom 1", "boom 1", "in effect the same; both fail at c1 (boom) with tools.py:2: KeyError: 1"),
    ("gone 1", "gone 1", "in effect the same; both fail at c1 (gone) with unknown-tool"),
    ("slow 1", "slow 1", "in effect unknown: both fail at c1 (slow) with timeout"),
    ("boom 1", "boom 2", "in effect unknown: both fail at c1 (boom)"),
    ("boom 1", "give 1", "in effect different; c1 (boom) fails"),
    ("give 1", "give 2", "in effect different; c1 (give) gives 1, gold's c1 (give) gives 2"),
    ("give 1", "give 1", "in effect the same\n"),
])  # fmt: skip
def test_a_plan_that_fails_is_not_different_from_itself(
    tmp_path: Path, pred: str, gold: str, said: str
) -> None:
    (tmp_path / "tools.py").write_text(
        "def boom(x):\n    raise KeyError(x)\n"
        "def give(x):\n    return x\n"
        "def slow(x):\n    while True:\n        pass\n"
    )
    for side, text in (("pred", pred), ("gold", gold)):
        name, _, x = text.partition(" ")
        (tmp_path / f"{side}.json").write_text(call(int(x), name))
    files = [str(tmp_path / f"{side}.json") for side in ("pred", "gold")]
    assert said in planeval("diff", *files, "--execute", str(tmp_path / "tools.py")).stdout


def test_effects_are_said_of_pairs_that_cannot_be_run(many: tuple[str, str]) -> None:
    done = planeval("diff", *many, "--execute", "nestful", "--format", "jsonl")
    rows = {row["id"]: row["effects"] for row in loaded(done.stdout)}
    assert len(rows) == 11
    assert rows["q7"]["said"].startswith("unknown: the answer was cut off before its end")
    text = planeval("diff", *many, "--execute", "nestful").stdout.splitlines()
    assert text[-1].startswith("in effect: ")


FILES = (PRED, GOLD)
BENCHMARK = ("score", *CALLNAVI, "--benchmark", "callnavi")
NESTFUL = ("score", str(ANSWERS / "nestful.jsonl"), str(ROOT / "data" / "samples" / "nestful"))
NESTFUL = (*NESTFUL, "--benchmark", "nestful")
JUDGED = ("score", str(ANSWERS / "functionchat.jsonl"), str(ROOT / "data" / "samples" / "functionchat"))
JUDGED = (*JUDGED, "--benchmark", "functionchat")
RECORDED = (
    "score",
    str(ANSWERS / "complexfuncbench.jsonl"),
    str(ROOT / "data" / "samples" / "complexfuncbench"),
)
RECORDED = (*RECORDED, "--benchmark", "complexfuncbench")
BOTH = ("--source", "data/samples", "--cache", "nonexistent")


@pytest.mark.parametrize(("argv", "said"), [
    ((*BENCHMARK, "--policy", "/nonexistent.toml"), "--policy applies only without --benchmark"),
    ((*BENCHMARK, "--metric", "nosuch"), "--metric applies only without --benchmark"),
    ((*BENCHMARK, "--by", "calls"), "--by applies only without --benchmark"),
    ((*BENCHMARK, "--strict"), "--strict applies only without --benchmark"),
    ((*BENCHMARK, "--from", "plan"), "--from applies only without --benchmark"),
    ((*BENCHMARK, "--gold-from", "plan"), "--gold-from applies only without --benchmark"),
    ((*BENCHMARK, "--cluster", "x"), "--cluster applies only without --benchmark"),
    ((*BENCHMARK, "--tools", "nestful"), "--tools applies only to benchmarks that run answers (nestful)"),
    ((*RECORDED, "--details"), "--details applies only to benchmarks with more tables"),
    ((*BENCHMARK, "--set", "reading=x"), "CallNavi has no option 'reading'; it has task, notation"),
    ((*BENCHMARK, "--judge-url", "u"), "--judge-url applies only with --judge"),
    ((*BENCHMARK, "--judge-cache", "c"), "--judge-cache applies only with --judge"),
    ((*BENCHMARK, "--replay"), "--replay applies only with --judge"),
    ((*BENCHMARK, "--prompts", "p"), "--prompts applies only with --judge"),
    ((*BENCHMARK, "--only", "failures", "--format", "json"), "--only applies only to other formats"),
    ((*NESTFUL, "--isolation", "strict"), "--isolation applies only with --tools"),
    ((*NESTFUL, "--judge", "m"), "--judge applies only to benchmarks that ask a judge (callnavi"),
    ((*NESTFUL, "--details", "--format", "csv"), "--details applies only to --format text and md"),
    (("score", *FILES, "--official"), "--official applies only with --benchmark"),
    (("score", *FILES, "--corrected"), "--corrected applies only with --benchmark"),
    (("score", *FILES, "--details"), "--details applies only with --benchmark"),
    (("score", *FILES, "--tools", "nestful"), "--tools applies only with --benchmark"),
    (("score", *FILES, "--isolation", "strict"), "--isolation applies only with --benchmark"),
    (("score", *FILES, "--judge", "m"), "--judge applies only with --benchmark"),
    (("score", *FILES, "--judge-url", "u"), "--judge-url applies only with --benchmark"),
    (("score", *FILES, "--judge-cache", "c"), "--judge-cache applies only with --benchmark"),
    (("score", *FILES, "--replay"), "--replay applies only with --benchmark"),
    (("score", *FILES, "--set", "a=b"), "--set applies only with --benchmark"),
    (("score", *FILES, "--by", "nosuch"), "--by 'nosuch': no gold record has that field"),
    (("compare", PRED, PRED, "--gold", GOLD, "--by", "nosuch"), "--by 'nosuch': no gold record"),
    (("diff", *FILES, "--patch", "--format", "svg"), "--format applies only without --patch"),
    (("diff", *FILES, "--patch", "-o", "x.svg"), "--patch writes JSON, and x.svg is named as something"),
    (("diff", *ONE, "--patch", "-o", "x.csv"), "--patch writes JSON"),
    (("diff", *FILES, "--patch", "--only", "failures"), "--only applies only to many pairs"),
    (("diff", *FILES, "--places"), "--places applies only to one pair"),
    (("diff", *FILES, "--edit-distance", "1"), "--edit-distance applies only to one pair"),
    (("diff", *ONE, "--only", "failures"), "--only applies only to many pairs"),
    (("diff", *ONE, "--theme", "dark"), "--theme applies only to drawings"),
    (("diff", *ONE, "--force", "--format", "html"), "--force applies only to drawings"),
    (("execute", ONE[0], "--tools", "nestful", "--seed", "1"), "--seed applies only with --tools world:"),
    (("execute", ONE[0], "--tools", "nestful", "--facts", "f"), "--facts applies only with --tools"),
    (("execute", ONE[0], "--tools", "nestful", "--backoff", "1"), "--backoff applies only with --retries"),
    (("execute", ONE[0], "--tools", "nestful", "--theme", "dark"), "--theme applies only to --format"),
    (("execute", ONE[0], "--tools", "nestful", "--state", "--format", "csv"), "--state applies only to"),
    (("execute", ONE[0], "--tools", "nestful", "--isolation", "inline", "--timeout", "1"),
     "--timeout applies only where the tools run apart"),
    (("render", ONE[0], "--source", "data"), "--source applies only to data sets"),
    (("stats", PRED, "--cache", "data"), "--cache applies only to data sets"),
    (("stats", PRED, "--only", "tables"), "--only applies only to data sets"),
    (("stats", "mathqa", *BOTH), "--cache applies only without --source"),
    (("render", "mathqa", *BOTH), "--cache applies only without --source"),
    (("data", "list", *BOTH), "--cache applies only without --source"),
    (("data", "verify", "mathqa", *BOTH), "--cache applies only without --source"),
    (("data", "show", "mathqa", *BOTH), "--cache applies only without --source"),
    (("data", "check", "mathqa", *BOTH), "--cache applies only without --source"),
    (("stats", "mathqa", "--source", "data/samples", "--from", "plan"), "--from applies only to files"),
    (("data", "show", "mathqa", "--id", "x", "--samples", "1"), "--samples applies only without --id"),
    (("data", "fetch", "mathqa", "--source", "x", "--mirror", "u"), "--mirror applies only without"),
    (("selftest", "--timeout", "1"), "--timeout applies only with --command"),
    (("selftest", "--command", "true", "--policy", "strict"), "--policy applies only without --command"),
])  # fmt: skip
def test_an_option_that_does_not_apply_is_refused(argv: tuple[str, ...], said: str) -> None:
    done = planeval(*argv)
    assert done.returncode == 2, done.stdout
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_options_of_both_kinds_of_scores_apply_to_both() -> None:
    done = planeval(*BENCHMARK, "--only", "failures", "--format", "csv", "--fail-under", "syntax=0.9")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["id"] for row in rows] == ["hr02"]
    assert done.returncode == 1
    assert "syntax (corrected) is 0.6667" in done.stderr
    assert planeval(*BENCHMARK, "--id-field", "id").returncode == 0
    assert planeval(*BENCHMARK, "--official", "--set", "task=parameters").returncode == 0


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, ...]:
    """Eight samples: one model is right in wrong quotes on 5, the other leaves one out and gets one wrong."""
    gold = [{"id": str(i), "plan": call(i)} for i in range(8)]
    quoted = [
        {"id": str(i), "plan": call(i) if i > 4 else f"[{{'name': 'f', 'arguments': {{\"x\": {i},}}}}]"}
        for i in range(8)
    ]
    wrong = [{"id": str(i), "plan": call(i % 6)} for i in range(7)]
    files = (("quoted", quoted), ("wrong", wrong), ("gold", gold))
    first, second, wanted = (lines(tmp_path / f"{name}.jsonl", records) for name, records in files)
    return ("compare", first, second, "--gold", wanted, "--metric", "exact")


def test_compare_counts_what_was_not_read_before_any_figure(runs: tuple[str, ...]) -> None:
    runs = (*runs, "--strict")
    done = planeval(*runs)
    assert done.returncode == 0
    head = [line.split() for line in done.stdout.split("\n\n")[1].splitlines()]
    assert head[0] == ["records", "quoted", "wrong"]
    assert ["unreadable", "5", "0"] in head
    assert ["absent", "0", "1"] in head
    assert "8 samples judged under both; wrong for being unreadable or absent: 5 of quoted, 1 of wrong" in (
        done.stdout
    )
    assert "quoted: 5 of 8 predictions cannot be read and count as wrong; without --strict" in done.stderr
    data = json.loads(planeval(*runs, "--format", "json").stdout)
    assert list(data).index("records") < list(data).index("figures")
    assert data["records"]["first"]["unreadable"] == 5
    assert data["unanswered"] == {"first": 5, "second": 1}
    rows = list(csv.DictReader(io.StringIO(planeval(*runs, "--format", "csv").stdout)))
    assert [row["quoted"] for row in rows if row["metric"] == "records.unreadable"] == ["5"]
    assert [row["metric"] for row in rows[-2:]] == ["exact", "both_read.exact"]
    assert "| records.unreadable | 5 | 0 |" in planeval(*runs, "--format", "md").stdout


def test_compare_repairs_and_says_how_many(runs: tuple[str, ...]) -> None:
    data = json.loads(planeval(*runs, "--format", "json").stdout)
    found = data["records"]["first"]
    assert (found["repaired"], found["unreadable"], found["same"], found["strictly_same"]) == (5, 0, 8, 3)
    assert "reading strict, else repaired" in data["signature"]
    assert data["figures"]["exact"]["first"] == 1.0
    strict = json.loads(planeval(*runs, "--strict", "--format", "json").stdout)
    assert "reading strict |" in strict["signature"]
    assert strict["figures"]["exact"]["first"] == 0.375


def test_compare_counts_gold_that_cannot_be_read_and_repeated_predictions(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [{"id": "a", "plan": call(1)}, {"id": "b", "plan": "f(x="}])
    pred = [{"id": "a", "plan": call(1)}, {"id": "b", "plan": call(2)}, {"id": "a", "plan": call(3)}]
    one = lines(tmp_path / "one.jsonl", [*pred, {"id": "z", "plan": call(4)}])
    two = lines(tmp_path / "two.jsonl", pred[:2])
    found = json.loads(planeval("compare", one, two, "--gold", gold, "--format", "json").stdout)["records"]
    counted = {"read": 1, "gold_unreadable": 1, "gold_absent": 1, "repeated": 1}
    assert {key: found["first"][key] for key in counted} == counted
    assert found["second"]["repeated"] == 0
