"""Data flow: references and dependencies."""

from __future__ import annotations

from planner_eval.metrics.counts import Counts
from planner_eval.metrics.facts import Facts


def references(facts: Facts) -> Counts:
    """References right in consumer, argument and place, producer and output.

    F1 = 2 · right references / (references of pred + references of gold). Empty: None when neither
    plan has references.

    Source: TaskBench's edge F1 (``taskbench_links``) on calls instead of tool names.
    """
    if facts.matching.pairing is None:
        count = len(facts.gold_edges)
        return Counts(count, count, count)
    ours, theirs, place = facts.pred_edges, facts.gold_edges, facts.to_gold
    wanted = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in theirs}
    found = [(place.get(e.producer), place.get(e.consumer), e.argument, e.at, e.path) for e in ours]
    return Counts(min(len([key for key in found if key in wanted]), len(theirs)), len(ours), len(theirs))


def dependencies(facts: Facts) -> Counts:
    """Pairs of calls of which one needs the other, whatever the argument and output.

    F1 = 2 · right pairs / (pairs of pred + pairs of gold). Empty: None when neither plan has any.
    """
    if facts.matching.alike:
        count = len({(e.producer, e.consumer) for e in facts.gold_edges})
        return Counts(count, count, count)
    ours = {(e.producer, e.consumer) for e in facts.pred_edges}
    theirs = {(e.producer, e.consumer) for e in facts.gold_edges}
    place = facts.to_gold
    hits = sum((place.get(producer), place.get(consumer)) in theirs for producer, consumer in ours)
    return Counts(hits, len(ours), len(theirs))
