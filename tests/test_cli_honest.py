"""The command line leaves out no record and passes over no option in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import jsonl
from tests.conftest import ROOT, tables, text_case
from tests.inside import planeval

TABLES = tables(__file__)

DEMO = ROOT / "data" / "demo"
PRED, GOLD = str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl")
ONE = (str(DEMO / "pred.json"), str(DEMO / "gold.json"))


def call(x: object, name: str = "f") -> str:
    return json.dumps([{"id": "c1", "name": name, "arguments": {"x": x}}])


def loaded(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_patch_a_pair_and_each_plan_takes_that_of_its_id(many: tuple[str, str], tmp_path: Path) -> None:
    found = loaded(planeval("diff", *many, "--patch").stdout)
    assert [row["id"] for row in found] == [f"q{i}" for i in range(11)]
    assert [len(row.get("operations", "?")) for row in found[:4]] == [0, 1, 0, 1]
    assert ("line 8, record 8 (id q7)" in found[7]["error"], "operations" in found[7]) == (True, False)
    assert found[10]["state"] == "absent"
    patches, repaired = jsonl(tmp_path / "patches.jsonl", found[::-1]), tmp_path / "repaired.jsonl"
    done = planeval("convert", many[0], "--patch", patches, "-o", repaired)
    assert (done.returncode, "10 records: 9 written (5 unchanged), 1 not" in done.stderr) == (1, True)
    assert "1 lines without a patch match no plan" in done.stderr
    rows = loaded(repaired.read_text())
    assert [row["id"] for row in rows] == [f"q{i}" for i in range(10)]
    assert [row["id"] for row in rows if "error" in row] == ["q7"]
    again = loaded(planeval("diff", repaired, many[1], "--format", "jsonl").stdout)
    assert sum(row["state"] == "same" for row in again) == 9


@pytest.fixture
def many(tmp_path: Path) -> tuple[str, str]:
    """Ten predictions: even ones right, odd ones wrong, 7 unreadable; gold also asks for an eleventh."""
    pred = [{"id": f"q{i}", "plan": call(i if i % 2 == 0 else -1)} for i in range(10)]
    pred[7]["plan"] = "f(x="
    gold = [{"id": f"q{i}", "plan": call(i)} for i in range(11)]
    return jsonl(tmp_path / "pred.jsonl", pred), jsonl(tmp_path / "gold.jsonl", gold)


TOOLS = text_case("test_cli_honest-TOOLS.txt")


@pytest.mark.parametrize(("pred", "gold", "said"), [
    *TABLES["a_plan_that_fails_is_the_same_as_itself"],
    pytest.param("slow 1", "slow 1", "when run: unknown: both fail at c1 (slow) with timeout",
                 marks=pytest.mark.more),
])  # fmt: skip
def test_a_plan_that_fails_is_the_same_as_itself(tmp_path: Path, pred: str, gold: str, said: str) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    for side, text in (("pred", pred), ("gold", gold)):
        name, _, x = text.partition(" ")
        (tmp_path / f"{side}.json").write_text(call(int(x), name))
    files = (tmp_path / "pred.json", tmp_path / "gold.json")
    assert said in planeval("diff", *files, "--execute", tmp_path / "tools.py").stdout


def benchmarked(name: str) -> tuple[str, ...]:
    samples = ROOT / "data" / "samples"
    return ("score", f"{samples}/answers/{name}.jsonl", f"{samples}/{name}", "--benchmark", name)


BENCHMARK, NESTFUL, DETAILED = map(benchmarked, ("callnavi", "nestful", "complexfuncbench"))
SCORE, DIFF, EXECUTE = ("score", PRED, GOLD), ("diff", PRED, GOLD), ("execute", ONE[0], "--tools", "nestful")


def typed(option: str) -> str:
    """An option as messages name it: without its value, with its key."""
    words = option.partition("=")[0].split()
    grouped = words[0] == "--run" or ("=" in option and words[0] != "--set")
    return " ".join(words) if grouped else words[0]


REFUSED: list[tuple[tuple[str, ...], str, str]] = [
    *TABLES["REFUSED"],
    *((BENCHMARK, option, f"{typed(option)} applies only without --benchmark")
      for option in ("--metric x", "--by x", "--from plan", "--from gold=plan", "--cluster x", "--strict")),
    *((BENCHMARK, option, f"{typed(option)} applies only with --judge")
      for option in ("--run judge.url=u", "--run judge.cache=c", "--run replay", "--run prompts=p")),
    *((SCORE, option, f"{typed(option)} applies only with --benchmark") for option in (
        "--official", "--corrected", "--details", "--run tools=nestful", "--isolation strict", "--judge m",
        "--run judge.url=u", "--run judge.cache=c", "--run replay", "--set a=b")),
    *((command, "--source data/samples --cache nonexistent", "--cache applies only without --source")
      for command in (("stats", "mathqa"), ("render", "mathqa"), ("data", "show"),
                      *(("data", verb, "mathqa") for verb in ("show", "check")))),
]  # fmt: skip


@pytest.mark.parametrize(("argv", "more", "said"), REFUSED)
def test_an_option_that_does_not_apply_is_refused(argv: tuple[str, ...], more: str, said: str) -> None:
    done = planeval(*argv, *more.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_compare_counts_gold_that_cannot_be_read_and_repeated_predictions(tmp_path: Path) -> None:
    gold = jsonl(tmp_path / "gold.jsonl", [{"id": "a", "plan": call(1)}, {"id": "b", "plan": "f(x="}])
    pred = [{"id": "a", "plan": call(1)}, {"id": "b", "plan": call(2)}, {"id": "a", "plan": call(3)}]
    one = jsonl(tmp_path / "one.jsonl", [*pred, {"id": "z", "plan": call(4)}])
    two = jsonl(tmp_path / "two.jsonl", pred[:2])
    found = json.loads(planeval("compare", one, two, "--gold", gold, "--format", "json").stdout)["records"]
    counted = {"read": 1, "gold_unreadable": 1, "gold_absent": 1, "repeated": 1}
    assert {key: found["first"][key] for key in counted} == counted
    assert found["second"]["repeated"] == 0
