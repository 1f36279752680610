"""Modes that other packages have, under our presets: the same verdicts on calls without references."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import pytest

import planner_eval as pe
from planner_eval.base import resources
from planner_eval.comparison.diff import diff
from planner_eval.comparison.metrics import score
from planner_eval.comparison.metrics.facts import Counts
from planner_eval.comparison.policy.file import load_policy
from planner_eval.plan.model import Call, Plan
from tests.build import plan
from tests.conftest import ROOT

Calls: TypeAlias = list[tuple[str, Any]]


def is_within(few: list[Any], many: list[Any]) -> bool:
    """Whether each of some calls has one of its own among others."""
    left = [*many]
    for call in few:
        if call not in left:
            return False
        left.remove(call)
    return True


def in_order(pred: Calls, gold: Calls) -> bool:
    rest = iter(pred)
    return all(call in rest for call in gold)


def names(calls: Calls) -> list[str]:
    return [name for name, _ in calls]


# What the packages' published code asks for: agentevals/trajectory (strict, unordered, subset, superset),
# google-adk's TrajectoryEvaluator and Vertex's trajectory metrics (exact, in order, any order), and
# deepeval/metrics/tool_correctness.
PACKAGES: dict[str, Callable[[Calls, Calls], bool]] = {
    "exact-order": lambda pred, gold: pred == gold,
    "in-order": in_order,
    "any-order": lambda pred, gold: is_within(gold, pred),
    "superset": lambda pred, gold: is_within(gold, pred),
    "subset": is_within,
    "unordered": lambda pred, gold: len(pred) == len(gold) and is_within(pred, gold),
    "names-only": lambda pred, gold: is_within(names(gold), names(pred)),
}


def deepeval_names(pred: Calls, gold: Calls) -> bool:
    """What DeepEval's code says: the calls that it took are a set, in which equal ones are one call."""
    taken: Calls = []
    for name, _ in gold:
        call = next((call for call in pred if call[0] == name and call not in taken), None)
        if call is None:
            return False
        taken.append(call)
    return bool(gold) or not pred


PUBLISHED = {**PACKAGES, "names-only": deepeval_names}
"""As `tests/test_modes_packages.py` holds them against the packages themselves."""


def random_calls(random: Random) -> Calls:
    return [(random.choice("fg"), {"x": random.choice("ab")}) for _ in range(random.randint(0, 4))]


def as_plan(calls: Calls) -> Plan:
    return Plan(tuple(Call(f"c{i}", name, tuple(given.items())) for i, (name, given) in enumerate(calls)))


@pytest.mark.parametrize("mode", PACKAGES)
def test_a_mode_is_what_the_packages_mean_by_it(mode: str) -> None:
    policy, random, seen = load_policy(mode), Random(7), set()
    for _ in range(400):
        pred, gold = random_calls(random), random_calls(random)
        pred = random.choice([pred, gold, random.sample(gold, len(gold)), [*pred, *gold], gold[1:]])
        plans = [as_plan(calls) for calls in (pred, gold)]
        expected = PACKAGES[mode](pred, gold)
        assert diff(*plans, policy).same is expected, (pred, gold)
        seen.add(expected)
    assert seen == {True, False}


def test_precision_and_recall_of_vertex_are_those_of_whole_calls() -> None:
    """Vertex's: the share of the prediction's calls that are in gold, and of gold's in the prediction."""
    random = Random(8)
    for _ in range(200):
        written_calls = random_calls(random), random_calls(random)
        pred, gold = ([c for i, c in enumerate(calls) if c not in calls[:i]] for calls in written_calls)
        counts = score(as_plan(pred), as_plan(gold), metrics=["whole_calls"])["whole_calls"]
        both = sum(call in gold for call in pred)
        expected = [both / len(calls) if calls else None for calls in (pred, gold)]
        if pred or gold:
            assert isinstance(counts, Counts)
            assert [counts.precision, counts.recall] == expected, (pred, gold)
        # a tool that has to be used is gold's only call, whatever it is called with
        single = Plan((Call("c0", "f"),))
        assert diff(as_plan(pred), single, load_policy("names-only")).same is ("f" in names(pred))


def written(calls: list[dict[str, Any]]) -> Calls:
    """Calls as these packages see them: a reference is a text."""

    def text_of(value: Any) -> Any:
        return repr(value) if "$ref" in json.dumps(value) else value

    return [
        (call["name"], {name: text_of(value) for name, value in call.get("arguments", {}).items()})
        for call in calls
    ]


def test_the_table_says_on_which_of_the_38_pairs_they_and_we_differ() -> None:
    pairs = json.loads(resources.read("data/selftest/plan_pairs.json"))
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    for mode, package in PUBLISHED.items():
        policy = load_policy(mode)
        sides: dict[bool, list[str]] = {True: [], False: []}
        for pair in pairs:
            ours = diff(plan(pair["pred"]), plan(pair["gold"]), policy).same
            if package(written(pair["pred"]), written(pair["gold"])) is not ours:
                sides[ours].append(pair["id"])
        cells = f"| {' '.join(sides[True]) or 'none'} | {' '.join(sides[False]) or 'none'} |"
        rows = [row for row in page.splitlines() if f"`{mode}`" in row and row.endswith(cells)]
        assert rows, (mode, cells)  # modes alike share a row


@pytest.mark.parametrize("mode", PACKAGES)
def test_gold_is_right_and_extra_and_missing_calls_are_told_where_they_count(mode: str) -> None:
    assert pe.diff("f(#x='1')\ng()", "f(#x='1')\ng()", mode).same
    assert pe.diff("f()\nh()\ng()", "f()\ng()", mode).same is (
        mode in ("in-order", "any-order", "superset", "names-only")
    )
    assert pe.diff("f()", "f()\ng()", mode).same is (mode == "subset")
    assert pe.diff("f(#x='1')", "f(#x='2')", mode).same is (mode == "names-only")
