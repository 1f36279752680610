"""Where a call is written means nothing: what another order of independent calls may not change."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.comparison import align
from planner_eval.comparison.align import match
from planner_eval.comparison.diff import explain
from planner_eval.comparison.matching import blocks
from planner_eval.metrics import METRICS, Facts, measure
from planner_eval.metrics.counts import Share
from planner_eval.plan.isomorphism import DIFFERENT
from planner_eval.plan.model import Call, Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from tests import test_compared, test_tangled
from tests.conftest import examples
from tests.plant import in_order, producers_first
from tests.property.test_comparison_laws import plans
from tests.test_align import changed, random_plan

OF_ORDER = {name for name, metric in METRICS.items() if metric.group == "order"}
OF_PLACES = {"worfbench_chain", "worfbench_graph"}  # published so
FIGURES = [name for name in METRICS if name not in OF_ORDER | OF_PLACES]


def rewritten(plan: Plan, random: Random) -> tuple[Plan, dict[str, str]] | None:
    """The plan in another order that writes producers first, and its new labels; None for a circle."""
    order = producers_first(plan, random)
    if order is None:
        return None
    return in_order(plan, order), {plan.calls[old].id: f"n{new}" for new, old in enumerate(order)}


def relabelled(terms: Terms, labels: dict[str, str]) -> Terms:
    return Terms(
        optional=frozenset(labels[one] for one in terms.optional),
        accepted={labels[one]: values for one, values in terms.accepted.items()},
        omittable={labels[one]: names for one, names in terms.omittable.items()},
    )


def figures(pred: Plan, gold: Plan, policy: Policy, terms: Terms) -> dict[str, Any]:
    matching = match(pred, gold, policy, terms)
    found: dict[str, Any] = {**measure(matching, FIGURES)}
    alone = len(matching.alignment.missing), len(matching.alignment.extra)
    return found | {"proved": matching.alignment.proved, "alone": alone}


def check(pred: Plan, gold: Plan, policy: Policy, terms: Terms, seed: int) -> bool:
    """Whether the two plans have other orders; if so, every figure is the same in each."""
    random = Random(seed)
    seen = []
    for _ in range(4):
        ours, theirs = rewritten(pred, random), rewritten(gold, random)
        if ours is None or theirs is None:
            return False
        seen.append(figures(ours[0], theirs[0], policy, relabelled(terms, theirs[1])))
    assert seen[1:] == seen[:-1], seed
    return True


@pytest.mark.more
@pytest.mark.parametrize("module", [test_compared, test_tangled], ids=["compared", "tangled"])
def test_no_figure_depends_on_the_written_order(module: Any) -> None:
    tried = 0
    for seed in range(300):
        pred, gold, name, terms = module.pair(seed)
        policy = module.POLICIES[name]
        if policy.order in ("written", "flat"):  # there order has a meaning
            policy = replace(policy, order="data")
        for one, left in ((DEFAULT_POLICY, NO_TERMS), (policy, terms)):
            tried += check(pred, gold, one, left, seed)
    assert tried > 500


@examples(200)
@given(plans(), plans(), st.integers(0, 99))
def test_no_figure_of_unlike_plans_depends_on_the_written_order(one: Plan, other: Plan, seed: int) -> None:
    check(one, other, DEFAULT_POLICY, NO_TERMS, seed)


@pytest.mark.more
def test_no_figure_depends_on_it_where_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NODES", 40)
    unproved = 0
    for seed in range(60):
        random = Random(seed)
        gold = random_plan(random, random.randint(8, 14))
        pred = changed(random, gold)
        if check(pred, gold, DEFAULT_POLICY, NO_TERMS, seed):
            unproved += not match(pred, gold).alignment.proved
    assert unproved > 3


@pytest.mark.more
@pytest.mark.parametrize("module", [test_compared, test_tangled], ids=["compared", "tangled"])
def test_short_ways_give_what_the_search_gives(module: Any) -> None:
    """Plans that are the same, or differ in place, need no search; it would find no other figures."""
    spared, names = 0, [one for one in METRICS if one != "exact"]
    for seed in range(250):
        pred, gold, name, terms = module.pair(seed)
        for policy, left in ((DEFAULT_POLICY, NO_TERMS), (module.POLICIES[name], terms)):
            found = match(pred, gold, policy, left)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(align, "compare_numbered", lambda *_, **__: DIFFERENT)
                patch.setattr(align, "pair_in_place", lambda _pairing: False)
                searched = match(pred, gold, policy, left)
            assert explain(found).same is explain(searched).same, seed
            facts, counted = Facts(searched), measure(found, METRICS)
            assert {one: METRICS[one].count(facts) for one in names} == {
                one: counted[one] for one in names
            }, seed
            spared += found.pairing is None
    assert spared > 60


def test_of_equally_dear_calls_the_one_that_means_the_most_is_taken() -> None:
    gold, none, wrong = Call("c", "h", (("y", 2),)), Call("a", "h"), Call("b", "h", (("y", "zz"),))
    over = Call("a", "h", (("y", 2), ("z", 1)))
    near, far, rome = (Call("a", "h", (("y", town),)) for town in (" ROME", "Oslo", "Rome"))
    for one, better, worse in ((gold, wrong, none), (rome, near, far), (gold, over, wrong)):
        for preds in ((better, worse), (worse, better)):
            ((pred, _),) = match(Plan(preds), Plan((one,))).alignment.pairs
            assert preds[pred] is better


def test_a_swap_of_independent_calls_changes_no_score() -> None:
    """The smallest case: gold h(y=2), prediction h(); h(y="zz") .4, swapped .6."""
    calls, gold = (Call("a", "h"), Call("b", "h", (("y", "zz"),))), Plan((Call("c", "h", (("y", 2),)),))
    found = [measure(match(Plan(preds), gold), FIGURES) for preds in (calls, calls[::-1])]
    assert found[0] == found[1]
    assert found[0]["similarity"] == Share(3, 5)
