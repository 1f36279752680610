"""Exact graph edit distance: hand-counted cases, and what is said when the search is stopped."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from planner_eval.comparison.diff import diff
from planner_eval.metrics.edit_distance import edit_distance
from planner_eval.plan.model import Call, Plan
from tests.build import plan
from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_align import changed, random_plan
from tests.test_canonical import ring
from tests.test_diff import PAIRS


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        *(("01", 0), ("02", 0), ("15", 1), ("38", 1)),
        *(("05", 4), ("12", 2)),  # two references, or one, removed, and as many other values written
        ("07", 1),  # another output
        *(("09", 3), ("10", 2)),  # a call, one literal, and one reference
        ("18", 4),  # a call with a literal; add's reference moved from one roll to the other
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
    start = time.monotonic()
    found = edit_distance(ring([12]), ring([5, 7]), timeout=0.05)
    assert not found.proved
    assert found.value >= 2
    assert time.monotonic() - start < 10
    calls = tuple(Call(f"c{i}", "f", (("x", i),)) for i in range(500))  # large plans are bounded at once
    found = edit_distance(Plan(calls), Plan(calls[:-1]), timeout=60)
    assert (found.value, found.proved) == (2, False)
    assert 0 <= found.seconds < 5
    assert edit_distance(Plan(), Plan()).value == 0
    assert edit_distance(Plan(calls[:1]), Plan()).value == 2


def test_command_line(tmp_path: Path) -> None:
    demo = ROOT / "data" / "demo"
    done = planeval("diff", demo / "pred.json", demo / "gold.json", "--edit-distance", "5", "--places")
    assert "graph edit distance 3 (proved)" in done.stderr
    assert "[pred 15:13, gold 15:13]" in done.stdout
    many = planeval("diff", demo / "pred.jsonl", demo / "gold.jsonl", "--edit-distance", "5")
    assert (many.returncode, "name one with --id" in many.stderr) == (2, True)
    for name, city in (("pred", "ROME"), ("gold", "rome")):
        (tmp_path / name).write_text(f"f(#x='{city}')")
    argv = ("diff", tmp_path / "pred", tmp_path / "gold", "--edit-distance", "9")
    assert "graph edit distance 1 (proved)" in planeval(*argv).stderr
    assert "graph edit distance 0 (proved)" in planeval(*argv, "--policy", "lenient").stderr


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
def test_it_is_not_0_where_plans_differ_in(what: str) -> None:
    pred, gold, wanted = DIFFERENT[what]
    assert not diff(pred, gold).same
    found = edit_distance(pred, gold)
    assert (found.value, found.proved) == (wanted, True)
