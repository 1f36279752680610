"""Exact graph edit distance: hand-counted cases, and what is said when the search is stopped."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from planner_eval.comparison.diff import diff
from planner_eval.dialects.read import write
from planner_eval.metrics.edit_distance import edit_distance
from planner_eval.plan.model import Call, Plan
from tests.build import edges, plan
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_align import changed, random_plan
from tests.test_canonical import ring
from tests.test_diff import PAIRS


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        ("01", 0),
        ("02", 0),
        ("05", 4),  # two references removed, two written
        ("07", 1),  # another output
        ("09", 3),  # a call, one literal, one reference
        ("10", 2),  # a call with one literal
        ("12", 2),  # a reference removed, a literal written
        ("15", 1),
        ("18", 4),  # a call with a literal; add's reference moved from one roll to the other
        ("38", 1),
    ],
)
def test_by_hand(number: str, wanted: float) -> None:
    pair = next(pair for pair in PAIRS if pair["id"] == number)
    found = edit_distance(plan(pair["pred"]), plan(pair["gold"]))
    assert (found.value, found.proved) == (wanted, True)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_symmetric_and_zero_for_itself(seed: int) -> None:
    random = Random(seed)
    gold = random_plan(random, 5)
    pred = changed(random, gold)
    assert edit_distance(gold, gold).value == 0
    assert edit_distance(pred, gold).value == edit_distance(gold, pred).value


def test_a_stopped_search_gives_a_bound_and_says_so() -> None:
    pred, gold = ring([12]), ring([5, 7])
    start = time.monotonic()
    found = edit_distance(pred, gold, timeout=0.05)
    assert not found.proved
    assert found.value >= 2
    assert time.monotonic() - start < 10


def test_large_plans_are_bounded_at_once() -> None:
    calls = tuple(Call(f"c{i}", "f", (("x", i),)) for i in range(500))
    found = edit_distance(Plan(calls), Plan(calls[:-1]), timeout=60)
    assert (found.value, found.proved) == (2, False)
    assert found.seconds < 5


def test_plans_without_calls() -> None:
    one = Plan((Call("a", "f", (("x", 1),)),), edges(()))
    assert edit_distance(Plan(), Plan()).value == 0
    assert edit_distance(one, Plan()).value == 2


def test_command_line() -> None:
    demo = ROOT / "data" / "demo"
    files = (str(demo / "pred.json"), str(demo / "gold.json"))
    done = planeval("diff", *files, "--edit-distance", "5", "--places")
    assert "graph edit distance 3 (proved)" in done.stderr
    assert "[pred 15:13, gold 15:13]" in done.stdout
    many = planeval("diff", str(demo / "pred.jsonl"), str(demo / "gold.jsonl"), "--edit-distance", "5")
    assert many.returncode == 2
    assert "name one with --id" in many.stderr


def made(*calls: tuple[str, object], answer: dict[str, object] | None = None) -> Plan:
    """A plan of calls a, b, c… with one argument x."""
    raw = [
        {"id": "abc"[at], "name": name, "arguments": {} if given is None else {"x": given}}
        for at, (name, given) in enumerate(calls)
    ]
    return plan(raw, answer)


A = {"$ref": "a"}
DIFFERENT = {
    "a literal beside a reference": (made(("f", None), ("g", [A, 1])), made(("f", None), ("g", [A, 2])), 1),
    "an unresolved reference": (made(("f", {"$ref": "lost"})), made(("f", {"$ref": "gone"})), 1),
    "a text around a reference": (
        made(("f", None), ("g", {"$template": ["to ", A]})),
        made(("f", None), ("g", {"$template": ["from ", A]})),
        1,
    ),
    "a reference to itself": (made(("f", A)), made(("f", None)), 1),
    "the answer": (made(("f", 1), answer={"out": A}), made(("f", 1), answer={"out": 5}), 2),
    "an answer": (made(("f", 1), answer={"out": A}), made(("f", 1)), 1),
    "the order": (made(("g", {"$ref": "b"}), ("f", None)), made(("f", None), ("g", A)), 1),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_it_is_not_0_where_plans_differ_in(what: str, tmp_path: Path) -> None:
    pred, gold, wanted = DIFFERENT[what]
    assert not diff(pred, gold).same
    for name, one in (("pred", pred), ("gold", gold)):
        (tmp_path / f"{name}.json").write_text(write(one, "plan"))
    done = planeval(
        "diff", *(str(tmp_path / f"{name}.json") for name in ("pred", "gold")), "--edit-distance", "9"
    )
    assert f"graph edit distance {wanted} (proved)" in done.stderr, done.stdout


def test_it_goes_by_the_policy(tmp_path: Path) -> None:
    (tmp_path / "pred.txt").write_text("f(#x='ROME')")
    (tmp_path / "gold.txt").write_text("f(#x='rome')")
    files = (str(tmp_path / "pred.txt"), str(tmp_path / "gold.txt"), "--edit-distance", "9")
    assert "graph edit distance 1 (proved)" in planeval("diff", *files).stderr
    assert "graph edit distance 0 (proved)" in planeval("diff", *files, "--policy", "lenient").stderr


def test_the_time_is_that_of_the_search() -> None:
    pair = PAIRS[4]
    gold, pred = plan(pair["gold"]), plan(pair["pred"])
    for found in (edit_distance(gold, gold), edit_distance(pred, gold), edit_distance(pred, gold, timeout=0)):
        assert 0 <= found.seconds < 60
