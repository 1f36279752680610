"""What root causes cost: credits that sum to what is lost, and fixes that gain what is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.comparison.diff import diff
from planner_eval.comparison.mending import Mending
from planner_eval.metrics import measure
from planner_eval.plan.model import Plan
from planner_eval.records.rows import Row
from planner_eval.scoring.attribution import credits_of
from planner_eval.scoring.credits import Credits
from tests.conftest import ROOT
from tests.plant import KINDS
from tests.property.test_cause_laws import mistaken
from tests.real_plans import real_plans
from tests.test_cli import planeval
from tests.test_diff import OURS

SCORES = ("exact", "similarity")


def row(pred: Plan, gold: Plan) -> Row:
    found = diff(pred, gold)
    return Row("1", "same" if found.same else "different", found, pred, gold)


def lost(pair: Row) -> list[float]:
    assert pair.diff is not None
    assert pair.diff.matching is not None
    tallies = measure(pair.diff.matching, SCORES)
    return [1 - (tally.value or 0.0) for name in SCORES if (tally := tallies[name]) is not None]


def sums(found: Credits) -> list[float]:
    return [sum(getattr(cause, name) for cause in found.causes) for name in SCORES]


# ---------------------------------------------------------------- laws of one pair
def keeps_the_sum(golds: list[Plan]) -> set[str]:
    ways = set()
    for count in (1, 3, 6):
        for pred, gold in mistaken(golds, count):
            pair = row(pred, gold)
            found = credits_of(pair)
            assert (found is None) == (pair.state == "same")
            if found is not None:
                assert sums(found) == pytest.approx(lost(pair), abs=1e-7)
                assert len(found.causes) == len(pair.diff.roots)  # type: ignore[union-attr]
                ways.add(found.how)
    return ways


@pytest.mark.more
def test_a_pairs_credits_sum_to_what_it_lost() -> None:
    assert "shapley" in keeps_the_sum(OURS * 3)


@pytest.mark.more
def test_credits_of_real_plans_sum_to_what_they_lost(reference: Path) -> None:
    assert "shapley" in keeps_the_sum(real_plans(reference)[::25])


@pytest.mark.more
def test_a_planted_single_edit_gets_all() -> None:
    alone = 0
    for seed, gold in enumerate(OURS * 3):
        for kind in KINDS.values():
            planted = kind(gold, Random(seed))
            if planted is None:
                continue
            pair = row(planted.plan, gold)
            found = credits_of(pair)
            if found is not None and len(found.causes) == 1:
                assert sums(found) == pytest.approx(lost(pair), abs=1e-9)
                assert found.causes[0].exact == 1
                assert ("code", found.causes[0].code) in found.right
                alone += 1
    assert alone > 30


@pytest.mark.more
def test_credits_are_means_over_all_orders_of_mending() -> None:
    """Held against the definition: each order by itself, each plan mended and scored anew."""
    for pred, gold in mistaken(OURS * 2, 4):
        pair = row(pred, gold)
        assert pair.diff is not None
        mends = Mending(pair.diff).mends
        if not 2 <= len(mends) <= 4:
            continue
        gained = [[0.0, 0.0] for _ in mends]
        orders = list(permutations(range(len(mends))))
        for order in orders:
            operations, before = 0, lost(pair)
            for at in order:
                operations |= mends[at].operations
                whole = at == order[-1]
                after = [0.0, 0.0] if whole else lost(row(Mending(pair.diff).plan(operations), gold))
                for score in (0, 1):
                    gained[at][score] += (before[score] - after[score]) / len(orders)
                before = after
        found = credits_of(pair)
        assert found is not None
        assert found.how == "shapley"
        assert [[c.exact, c.similarity] for c in found.causes] == [pytest.approx(g, abs=1e-8) for g in gained]


def wrong(count: int, calls: int = 1) -> tuple[str, str]:
    """A plan in whose first call so many arguments are wrong, and gold."""
    rest = "\n".join(f"g(#n='{at}')" for at in range(calls - 1))
    first = ["f(" + ", ".join(f"#x{at}='{side}{at}'" for at in range(count)) + ")" for side in "pg"]
    return f"{first[0]}\n{rest}", f"{first[1]}\n{rest}"


@pytest.mark.more
@pytest.mark.parametrize(
    ("count", "calls", "how"), [(8, 1, "shapley"), (9, 1, "alone"), (8, 400, "alone"), (65, 1, "even")]
)
def test_many_causes_are_credited_more_simply_and_said(count: int, calls: int, how: str) -> None:
    pred, gold = (pe.parse(text) for text in wrong(count, calls))
    found = credits_of(row(pred, gold))
    assert found is not None
    assert (found.how, len(found.causes)) == (how, count)
    assert sums(found) == pytest.approx(lost(row(pred, gold)), abs=1e-6)
    assert {round(cause.exact, 6) for cause in found.causes} == {round(1 / count, 6)}
    said = str(pe.attribute([row(pred, gold)]))
    assert (how == "shapley") == (" causes, or " not in said)


# ---------------------------------------------------------------- the command
GOLD = {
    "a": "r = get_rate(#base='EUR', #quote='CNY')\nratio(#first=r, #second='2')",
    "b": "get_rate(#base='EUR', #quote='JPY')",
    "c": "get_rate(#base='CHF', #quote='USD')\nsend(#to='Ann')",
    "d": "send(#to='Ben')",
    "e": "send(#to='Eve')",
    "f": "ping()",
}
PRED = {
    "a": "r = get_rate(#base='USD', #quote='CNY')\nratio(#first=r, #second='2')",
    "b": "get_rate(#base='GBP', #quote='JPY')",
    "c": "get_rate(#base='CHF', #quote='EUR')",
    "d": "send(#to=",
    "f": "ping()",
}


def files(folder: Path, order: list[str] | None = None) -> list[str]:
    names = order or list(GOLD)
    for name, key, records in (("pred", "output", PRED), ("gold", "gold", GOLD)):
        lines = [json.dumps({"id": at, key: records[at]}) for at in names if at in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return [str(folder / "pred.jsonl"), str(folder / "gold.jsonl")]


def causes(*argv: str, **env: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "planner_eval", "score", *argv, "--causes", "--format", "json"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_command_says_what_each_cause_costs_and_what_fixes_gain(tmp_path: Path) -> None:
    found = planeval("score", *files(tmp_path), "--causes")
    assert found.returncode == 0, found.stderr
    assert "what root causes cost: of exact 0.833" in found.stdout
    said = (
        "1. if get_rate's argument 'base' were right in both pairs that have it, exact would rise from 0.167"
    )
    assert said in found.stdout
    assert "(+0.333)" in found.stdout
    data = causes(*files(tmp_path))
    costs = {(each["kind"], each["name"]): each for each in data["attribution"]["causes"]}
    assert costs["argument", "get_rate(base)"]["pairs"] == 2
    assert costs["argument", "get_rate(base)"]["exact"] == pytest.approx(2 / 6, abs=1e-9)
    of_code = [each for each in data["attribution"]["causes"] if each["kind"] == "code"]
    assert sum(each["exact"] for each in of_code) == pytest.approx(1 - data["figures"]["exact"]["value"])
    macro = data["figures"]["similarity"]["macro"]
    assert sum(each["similarity"] for each in of_code) == pytest.approx(1 - macro, abs=1e-7)


def test_predictions_that_are_not_there_have_a_cause_of_their_own(tmp_path: Path) -> None:
    rows = {each["id"]: each for each in causes(*files(tmp_path))["rows"]}
    for name, state in (("d", "cut"), ("e", "absent")):
        (cause,) = rows[name]["credits"]["causes"]
        assert cause == {"code": state, "exact": 1.0, "similarity": 1.0}
    assert "credits" not in rows["f"]


def test_what_a_fix_gains_is_what_scoring_the_mended_predictions_gives(tmp_path: Path) -> None:
    pred, gold = files(tmp_path)
    data = causes(pred, gold)
    for group in data["attribution"]["causes"]:
        if group["kind"] != "argument" or group["name"] != "get_rate(base)":
            continue
        mended = {**PRED, "a": GOLD["a"], "b": GOLD["b"]}
        lines = [json.dumps({"id": name, "output": text}) for name, text in mended.items()]
        (tmp_path / "mended.jsonl").write_text("\n".join(lines))
        again = json.loads(planeval("score", str(tmp_path / "mended.jsonl"), gold, "--format", "json").stdout)
        before, after = (each["figures"]["exact"]["value"] for each in (data, again))
        assert after - before == pytest.approx(group["gain"])
        assert group["gain"] == pytest.approx(2 / 6)
        return
    pytest.fail("the group is not there")


@pytest.mark.more
def test_order_and_hash_seed_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "turned").mkdir()
    one = causes(*files(tmp_path), PYTHONHASHSEED="1")
    two = causes(*files(tmp_path), PYTHONHASHSEED="2")
    assert one == two
    turned = causes(*files(tmp_path / "turned", ["f", "c", "e", "a", "d", "b"]))
    assert turned["attribution"] == one["attribution"]


@pytest.mark.more
@pytest.mark.parametrize("store", ["jsonl", "parquet"])
def test_any_cut_gives_the_same_bytes_and_the_run_tells_it_again(tmp_path: Path, store: str) -> None:
    argv = ["score", *files(tmp_path), "--causes"]
    whole = planeval(*argv).stdout
    for jobs, part in (("1", "1"), ("2", "2")):
        run = tmp_path / f"run-{jobs}-{store}"
        kept = planeval(*argv, "--jobs", jobs, "--part", part, "-o", f"{run}/", "--store", store)
        assert kept.stdout == whole, kept.stderr
        assert planeval("score", str(run)).stdout == whole
        assert json.loads((run / "report.json").read_text())["attribution"]["pairs"] == 6
    both = [planeval("score", str(tmp_path / f"run-{n}-{store}"), "--format", "jsonl").stdout for n in "12"]
    assert both[0] == both[1]
    here = planeval(*argv, "--format", "jsonl").stdout
    kept, told = ([json.loads(line).get("credits") for line in text.splitlines()] for text in (both[0], here))
    assert kept == told
    assert any(told)


def test_without_the_option_nothing_is_said_of_it(tmp_path: Path) -> None:
    found = planeval("score", *files(tmp_path), "--format", "json").stdout
    assert "attribution" not in found
    assert "credits" not in found


def test_csv_and_markdown_have_the_table(tmp_path: Path) -> None:
    argv = ("score", *files(tmp_path), "--causes", "--format")
    head, *rows = planeval(*argv, "csv").stdout.splitlines()
    assert head == "by,cause,pairs,exact,similarity,gain"
    assert "argument,get_rate(base),2,0.333333,0.041667,0.333333" in rows
    assert "| argument | get_rate(base) | 2 |" in " ".join(planeval(*argv, "md").stdout.split())


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("PRED", "GOLD", "--causes", "--format", "junit"), "--causes applies only to other formats"),
        (("RUN", "--causes"), "--causes applies only to files of plans: a run has been scored"),
        (
            ("PRED", "GOLD", "--causes", "--benchmark", "callnavi"),
            "--causes applies only without",
        ),
    ],
)
def test_where_it_would_do_nothing_it_is_refused(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    pred, gold = files(tmp_path)
    if "RUN" in argv:
        planeval("score", pred, gold, "-o", f"{tmp_path}/run/")
    places = {"PRED": pred, "GOLD": gold, "RUN": f"{tmp_path}/run"}
    done = planeval("score", *(places.get(each, each) for each in argv))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_run_kept_without_it_does_not_go_on_with_it(tmp_path: Path) -> None:
    argv = ("score", *files(tmp_path), "-o", f"{tmp_path}/run/")
    assert planeval(*argv).returncode == 0
    done = planeval(*argv, "--causes")
    assert done.returncode == 2
    assert "causes" in done.stderr


def test_the_verb_takes_the_rows_of_another() -> None:
    found = pe.attribute(pe.evaluate(list(PRED.values())[:3], list(GOLD.values())[:3]))
    assert [fix.name for fix in found.fixes[:1]] == ["get_rate(base)"]
    assert found.fixes[0].gain == pytest.approx(2 / 3)
    assert pe.attribute([]).exact is None
    assert "no pair could be judged" in str(pe.attribute([]))
