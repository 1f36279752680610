"""Laws of the graph edit distance, and of the similarity that the pairing gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.comparison.align import Matching, match
from planner_eval.comparison.diff import explain
from planner_eval.metrics import measure
from planner_eval.metrics.counts import Share
from planner_eval.metrics.edit_distance import _Costs, distance_of, edit_distance
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Call, Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy
from tests import test_compared, test_tangled
from tests.build import plan
from tests.conftest import examples
from tests.property.test_comparison_laws import plans

FREE = Policy(order="free")


def matchings(seeds: range) -> Iterator[Matching]:
    """Random pairs with several mistakes, under random policies and terms."""
    for module in (test_compared, test_tangled):
        for seed in seeds:
            pred, gold, name, terms = module.pair(seed)
            yield match(pred, gold)
            yield match(pred, gold, module.POLICIES[name], terms)


@pytest.mark.more
def test_it_is_0_where_the_plans_are_the_same_and_nowhere_else() -> None:
    same = 0
    for matching in matchings(range(160)):
        found = distance_of(matching, timeout=60)
        assert found.proved
        assert (found.value == 0) is explain(matching).same
        same += found.value == 0
    assert 60 < same < 500


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
        found = edit_distance(a, b, FREE, timeout=60)
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
    gold, pred = (
        plan(
            [
                {"id": "a", "name": first},
                {"id": "b", "name": then, "arguments": {"r": {"$ref": "a"}, "y": "text"}},
            ]
        )
        for first, then in (("f", "g"), ("h", "k"))
    )
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
