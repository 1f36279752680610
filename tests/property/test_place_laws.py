"""Where a call is written means nothing: what another order of independent calls may not change."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.comparison.diff import explain
from planner_eval.comparison.matching import align
from planner_eval.comparison.matching.align import Matching, match
from planner_eval.comparison.metrics import METRICS, measure
from planner_eval.comparison.metrics.edit_distance import _Costs, distance_of
from planner_eval.comparison.metrics.facts import Facts, Share
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.plan.canonical import value_key
from planner_eval.plan.isomorphism import DIFFERENT
from planner_eval.plan.model import Call, Plan
from tests import test_compared, test_tangled
from tests.build import plan
from tests.conftest import examples
from tests.plant import in_order, producers_first
from tests.property.test_comparison_laws import plans

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
            assert [METRICS[one].count(facts) for one in names] == [counted[one] for one in names], seed
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


FREE = Policy(order="free")


def matchings(seeds: range) -> Iterator[Matching]:
    """Random pairs with several mistakes, under random policies and terms."""
    for module in (test_compared, test_tangled):
        for seed in seeds:
            pred, gold, name, terms = module.pair(seed)
            yield match(pred, gold)
            yield match(pred, gold, module.POLICIES[name], terms)


def test_it_is_the_least_cost_of_all_mappings() -> None:
    tried = 0
    for matching in matchings(range(120)):
        preds, golds = len(matching.pred.calls), len(matching.gold.calls)
        if max(preds, golds) <= 4:
            costs = _Costs(matching)
            mappings = set(permutations([*range(preds), *[-1] * golds], golds))
            assert min(costs.total([*one]) for one in mappings) == distance_of(matching, timeout=60).value
            tried += 1
    assert tried > 100


@examples(60)
@given(plans(4), plans(4), plans(4))
def test_it_is_a_metric_where_order_is_free(one: Plan, two: Plan, three: Plan) -> None:
    def between(a: Plan, b: Plan) -> float:
        found = distance_of(match(a, b, FREE), timeout=60)
        assert found.proved
        return found.value

    assert between(one, two) == between(two, one)
    assert between(one, three) <= between(one, two) + between(two, three)


def parts(matching: Matching) -> Share:
    """The formula of similarity, from the two plans and the pairs alone."""
    pred, gold = matching.pred.calls, matching.gold.calls
    image = {ours: theirs for ours, theirs in matching.alignment.pairs}
    # Who has no partner is no call of gold.
    place = [image.get(at, ("alone", at)) for at in range(len(pred))]
    whole = sum(1 + len(call.arguments) for call in (*pred, *gold))
    differing = tools = 0
    for ours, theirs in matching.alignment.pairs:
        one, other = pred[ours], gold[theirs]
        tools += (one.app, one.name) != (other.app, other.name)
        mine, wanted = named(one, place), named(other, list(range(len(gold))))
        differing += sum(name not in mine or mine[name] != wanted[name] for name in wanted)
        differing += len(mine.keys() - wanted.keys())
    left = [pred[at] for at in matching.alignment.extra] + [gold[at] for at in matching.alignment.missing]
    alone = sum(1 + len(call.arguments) for call in left)
    return Share(float(whole - differing - tools - alone), whole)


def named(call: Call, place: list[Any]) -> dict[Any, Any]:
    """What a call gives, by name and how often the name stood before."""
    found: dict[Any, Any] = {}
    for name, value in call.arguments:
        found[name, sum(other == name for other, _ in found)] = value_key(value, place)
    return found


def test_a_doubtful_reference_counts_whole() -> None:
    """k stands for g; that its producer may stand for gold's makes the argument no less another one."""
    taking = {"id": "b", "arguments": {"r": {"$ref": "a"}, "y": "text"}}
    pairs = (("f", "g"), ("h", "k"))
    gold, pred = (plan([{"id": "a", "name": first}, {**taking, "name": then}]) for first, then in pairs)
    matching = match(pred, gold)
    assert matching.alignment.pairs == ((1, 1),)
    # W: 4 calls and 4 arguments; D: r; T: k for g; M: h and f
    assert measure(matching, ["similarity"])["similarity"] == parts(matching) == Share(8 - 1 - 1 - 2, 8)


@pytest.mark.parametrize("module", [test_compared, test_tangled], ids=["compared", "tangled"])
def test_similarity_is_its_formula(module: Any) -> None:
    for seed in range(200):
        pred, gold, _, _ = module.pair(seed)
        matching = match(pred, gold, DEFAULT_POLICY, NO_TERMS)
        assert measure(matching, ["similarity"])["similarity"] == parts(matching), seed


@given(plans(), plans(), st.booleans())
def test_similarity_of_unlike_plans_is_its_formula(one: Plan, other: Plan, turned: bool) -> None:
    matching = match(other, one) if turned else match(one, other)
    assert measure(matching, ["similarity"])["similarity"] == parts(matching)
