"""Structure: components, depth, width, generations, likeness of the whole, the largest common part."""

from __future__ import annotations

from bisect import bisect_left

from planner_eval.metrics.counts import Counts, Share
from planner_eval.metrics.facts import Facts
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import components, depth, topological_generations, width


def same_components(facts: Facts) -> Share:
    """Whether the plans have equally many independent parts: 1 or 0 a sample."""
    return Share(int(len(components(facts.pred)) == len(components(facts.wanted))), 1)


def same_depth(facts: Facts) -> Share:
    """Whether the longest chains of dependent calls are equally long: 1 or 0 a sample."""
    return Share(int(depth(facts.pred) == depth(facts.wanted)), 1)


def same_width(facts: Facts) -> Share:
    """Whether equally many calls can be made at once: 1 or 0 a sample."""
    return Share(int(width(facts.pred) == width(facts.wanted)), 1)


def generations(facts: Facts) -> Share:
    """Share of gold's calls whose partner stands in the same topological generation. Empty: None."""
    ours, theirs = (
        {
            call: number
            for number, generation in enumerate(topological_generations(plan))
            for call in generation
        }
        for plan in _plans(facts)
    )
    left_out = sorted(facts.waived)
    places = ((pred, gold - bisect_left(left_out, gold)) for pred, gold in facts.matching.alignment.pairs)
    hits = sum(ours[pred] == theirs[gold] for pred, gold in places)
    return Share(hits, facts.gold_calls)


def similarity(facts: Facts) -> Share:
    """1 - (cost of the edits) / (cost of removing one plan and writing the other). Empty: None.

    A call costs 1 and 1 for each argument; between partners each differing argument costs 1 and a
    replaced tool 1. A normalised graph edit similarity under the pairing; 1.0 for the same calls,
    arguments and references.
    """
    given = sum(facts.arguments.pred) + sum(facts.arguments.gold)
    whole = len(facts.pred.calls) + facts.gold_calls + given
    pairing = facts.matching.pairing
    if pairing is None:
        return Share(whole, whole)
    cost = 0.0
    spent = 0
    for pred, gold in facts.matching.alignment.pairs:
        cost += round(pairing.cost(pred, gold, True)) + (pairing.pred.tool(pred) != pairing.gold.tool(gold))
        spent += 2 + len(pairing.pred.arguments(pred)) + len(pairing.gold.arguments(gold))
    return Share(max(0.0, whole - cost - (whole - spent)), whole)


def common_subplan(facts: Facts) -> Counts:
    """The largest connected part that both plans have: whole calls joined by right references.

    F1 = 2 · its calls / (calls of pred's largest connected part + of gold's). It puts right what
    ``worfbench_graph`` means to say, for it follows the pairing of calls instead of their written
    positions. Empty: None.
    """
    whole = set(facts.whole_calls)
    place = facts.to_gold
    wanted = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in facts.gold_edges}
    leader = {call: call for call in whole}

    def find(call: int) -> int:
        while leader[call] != call:
            leader[call] = call = leader[leader[call]]
        return call

    for e in facts.pred_edges:
        one, other = place.get(e.producer, -1), place.get(e.consumer, -1)
        if one in whole and other in whole and (one, other, e.argument, e.at, e.path) in wanted:
            leader[find(one)] = find(other)
    sizes: dict[int, int] = {}
    for call in whole:
        sizes[find(call)] = sizes.get(find(call), 0) + 1
    largest = [max(map(len, components(plan)), default=0) for plan in _plans(facts)]
    return Counts(max(sizes.values(), default=0), *largest)


def _plans(facts: Facts) -> tuple[Plan, Plan]:
    return facts.pred, facts.wanted
