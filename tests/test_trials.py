"""Trials of tasks: which records are, pass^k and pass@k, and what runs recorded of themselves."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.results.trials import pass_at_k, pass_hat_k
from tests.build import jsonl
from tests.conftest import tabled

from .inside import planeval

TAU = "vectors/taubench/gpt-4o-airline.json.gz"


def answer(task: str, *, right: bool, **fields: Any) -> dict[str, Any]:
    return {"id": task, "output": f"f(#x='{task if right else 'wrong'}')", **fields}


GOLD = [{"id": task, "gold": f"f(#x='{task}')"} for task in "abc"]
RIGHT = {"a": (True, True, True), "b": (True, False, False), "c": (False, False, False)}


@pytest.mark.parametrize("trials", range(1, 7))
def test_estimates_are_the_shares_of_all_draws(trials: int) -> None:
    for right in range(trials + 1):
        verdicts = [True] * right + [False] * (trials - right)
        for k in range(1, trials + 1):
            draws = [*combinations(verdicts, k)]
            assert pass_hat_k(trials, right, k) == pytest.approx(sum(map(all, draws)) / len(draws))
            assert pass_at_k(trials, right, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def fields_of_trials(folder: Path) -> tuple[str, str]:
    rows = [answer(t, right=ok, trial=n) for t, oks in RIGHT.items() for n, ok in enumerate(oks)]
    return jsonl(folder / "p.jsonl", rows), jsonl(folder / "g.jsonl", GOLD)


def names_of_tasks(folder: Path) -> tuple[str, str]:
    rows = [
        answer(t, right=ok) | {"id": f"{t}-{n}", "task_id": t, "epoch": n}
        for t, oks in RIGHT.items()
        for n, ok in enumerate(oks)
    ]
    return jsonl(folder / "p.jsonl", rows), jsonl(folder / "g.jsonl", GOLD)


def several_files(folder: Path) -> tuple[str, str]:
    for n in range(3):
        jsonl(folder / f"run{n}.jsonl", [answer(t, right=oks[n]) for t, oks in RIGHT.items()])
    return f"{folder}/run*.jsonl", jsonl(folder / "g.jsonl", GOLD)


def repeated_ids(folder: Path) -> tuple[str, str]:
    rows = [answer(t, right=ok) for t, oks in RIGHT.items() for ok in oks]
    return jsonl(folder / "p.jsonl", rows), jsonl(folder / "g.jsonl", [g for g in GOLD for _ in range(3)])


def one_file(folder: Path) -> tuple[str, str]:
    golds = {str(g["id"]): g["gold"] for g in GOLD}
    rows = [answer(t, right=ok, gold=golds[t]) for t, oks in RIGHT.items() for ok in oks]
    return jsonl(folder / "p.jsonl", rows), str(folder / "p.jsonl")


@pytest.mark.parametrize("make", [fields_of_trials, names_of_tasks, several_files, repeated_ids, one_file])
def test_each_way_to_write_trials_gives_the_same_figures(make: Any, tmp_path: Path) -> None:
    pred, gold = make(tmp_path)
    done = planeval("score", pred, *([] if pred == gold else [gold]), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert make is not fields_of_trials or "given twice" not in planeval("stats", pred).stderr
    data = json.loads(done.stdout)
    assert (data["pairs"], data["trials"]["shares"]) == (9, {"always": 1, "sometimes": 1, "never": 1})
    figures = [(p["k"], p["pass^k"], p["pass@k"], p["tasks"]) for p in data["trials"]["passes"]]
    expected = [(1, 4 / 9, 4 / 9, 3), (2, 1 / 3, 5 / 9, 3), (3, 1 / 3, 2 / 3, 3)]
    assert figures == [tuple(map(pytest.approx, row)) for row in expected]
    assert data["trials"]["tasks"]["b"] == {"trials": 3, "right": 1, "recorded": 0, "recorded_right": 0}
    assert data["trials"]["disagreement"] == ["b"]
    assert "intervals=95 % over 3 tasks" in data["signature"]
    kept = planeval("score", pred, gold, "-o", f"{tmp_path}/run/", "--jobs", "1")
    assert kept.returncode == 0
    again = planeval("score", f"{tmp_path}/run", "--format", "json")
    assert json.loads(again.stdout)["trials"] == data["trials"]


def test_systems_are_compared_by_task_also_with_unlike_trials(tmp_path: Path) -> None:
    pred, gold = fields_of_trials(tmp_path)
    better = [answer(t, right=True) | {"trial": f"run {n}"} for t in "abc" for n in range(2)]
    other = jsonl(tmp_path / "q.jsonl", better)
    found: Any = pe.compare({"old": Path(pred), "new": Path(other)}, Path(gold), metrics=["exact"])
    contrast = found.contrasts[0]
    told = [(x.name, x.first.value, x.second.value) for x in contrast.lines]
    assert told == [("exact", pytest.approx(0.5), 1), ("pass^2", pytest.approx(1 / 3), 1)]
    assert (contrast.n, contrast.tasks["b"][0][:2], contrast.tasks["b"][1][:2]) == (6, (3, 1), (2, 2))
    assert "without 3 trials of old that old and new do not share" in contrast.signature
    text = planeval("compare", pred, other, "--gold", gold).stdout
    assert "causes cover these records only; the table of records covers all" in text
    assert "q is right more often on 2 tasks: c (0/3 and 2/2), b (1/3 and 2/2)" in text


def test_a_recorded_verdict_stands_beside_ours_and_agree_says_how_far_they_agree(tmp_path: Path) -> None:
    rows = [
        answer(t, right=ok, trial=n, gold=f"f(#x='{t}')", success=t != "c" and n < 2)
        for t, oks in RIGHT.items()
        for n, ok in enumerate(oks)
    ]
    file = jsonl(tmp_path / "p.jsonl", rows)
    recorded = json.loads(planeval("score", file, "--format", "json").stdout)["trials"]["recorded"]
    cells = [recorded[name] for name in ("both", "only_same", "only_recorded", "neither")]
    assert (recorded["field"], cells) == ("success", [3, 1, 1, 4])
    assert recorded["shares"] == {"always": 0, "sometimes": 2, "never": 1}
    agreed = json.loads(planeval("agree", file, "--format", "json").stdout)
    figures = {figure["name"]: figure["value"] for figure in agreed["figures"]}
    assert (figures["precision"], figures["recall"]) == (0.75, 0.75)
    assert [row["id"] for row in agreed["rows"] if row["state"] == "different"] == ["a/2", "b/1"]
    planeval("score", file, "-o", f"{tmp_path}/run/")
    of_run = json.loads(planeval("agree", f"{tmp_path}/run", "--format", "json").stdout)
    assert of_run["cells"] == agreed["cells"]
    none = jsonl(tmp_path / "n.jsonl", [r | {"success": "?"} for r in rows])
    assert planeval("agree", none).returncode == 2


def test_pass_k_of_the_published_rewards_is_what_the_paper_prints(reference: Path) -> None:
    done = planeval("score", reference / TAU, "--format", "json", "--metric", "exact")
    trials = json.loads(done.stdout)["trials"]
    assert [round(p["pass^k"], 3) for p in trials["recorded"]["passes"]] == [0.420, 0.273, 0.220, 0.200]
    counts = [count["trials"] for count in trials["tasks"].values()]
    assert (done.returncode, len(counts), sum(counts)) == (0, 50, 200)


@pytest.mark.more
def test_the_same_acting_calls_foretell_the_official_reward(reference: Path, tmp_path: Path) -> None:
    policy = tmp_path / "airline.toml"
    policy.write_text('extends = "acting"\n[[tool]]\nname = "transfer_to_human*"\ncounts = "never"\n')
    report = pe.score(reference / TAU, reference / TAU, policy=policy, metrics=["exact"])
    assert report.trials is not None
    assert report.trials.cells == (83, 4, 1, 112)
    unlike = {row.id for row in report.rows if (row.state == "same") is not (row.verdict.value == 1)}
    assert unlike == {"2/1", "46/3", "44/1", "44/3", "5/1"}  # cut, cut, a number unsaid twice, idle fields


@tabled("told, pred, gold, pairs, right, passes")
def test_which_gold_serves_a_trial(
    told: str, pred: Any, gold: Any, pairs: int, right: int, passes: Any, tmp_path: Path
) -> None:
    files = [jsonl(tmp_path / name, made) for name, made in (("p.jsonl", pred), ("g.jsonl", gold)) if made]
    data = json.loads(planeval("score", *files, "--format", "json").stdout)
    estimates = [estimate["pass^k"] for estimate in data.get("trials", {}).get("passes", ())]
    states = [row["state"] for row in data["rows"]]
    assert (len(states), states.count("same"), estimates) == (pairs, right, pytest.approx(passes or [])), told


def test_gold_without_ids_is_refused_by_the_ids_that_records_have() -> None:
    pred = [{"id": "a", "trial": n, "output": "f()"} for n in range(2)]
    with pytest.raises(pe.PlanevalError, match="has 'a';"):
        pe.pair(pred, [{"gold": "f()"}] * 2)


def test_a_field_of_ones_own_that_is_called_trials_stays_a_cluster() -> None:
    pred = [{"id": str(n), "output": "f(a=1)", "trials": n % 2} for n in range(4)]
    gold = [{"id": str(n), "gold": f"f(a={n % 2})", "trials": n % 2} for n in range(4)]
    assert "2 clusters" in str(pe.score(pe.pair(pred, gold), cluster="trials", by=("trials",)))
