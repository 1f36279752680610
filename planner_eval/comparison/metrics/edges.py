"""Data flow: references and dependencies."""

from __future__ import annotations

from planner_eval.comparison.metrics.counts import Counts
from planner_eval.comparison.metrics.facts import Facts


def references(facts: Facts) -> Counts:
    """References right in consumer, argument and place, producer and output.

    F1 = 2 · right references / (references of pred + references of gold). Empty: None when neither
    plan has references.

    Source: TaskBench's edge F1 (``taskbench_links``) on calls instead of tool names.
    """
    if facts.matching.pairing is None:
        count = len(facts.gold_edges)
        return Counts(count, count, count)
    pred_edges, gold_edges, to_gold = facts.pred_edges, facts.gold_edges, facts.to_gold
    gold_keys = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in gold_edges}
    pred_keys = [
        (to_gold.get(e.producer), to_gold.get(e.consumer), e.argument, e.at, e.path) for e in pred_edges
    ]
    return Counts(
        min(len([key for key in pred_keys if key in gold_keys]), len(gold_edges)),
        len(pred_edges),
        len(gold_edges),
    )


def dependencies(facts: Facts) -> Counts:
    """Pairs of calls of which one needs the other, whatever the argument and output.

    F1 = 2 · right pairs / (pairs of pred + pairs of gold). Empty: None when neither plan has any.
    """
    if facts.matching.alike:
        count = len({(e.producer, e.consumer) for e in facts.gold_edges})
        return Counts(count, count, count)
    pred_pairs = {(e.producer, e.consumer) for e in facts.pred_edges}
    gold_pairs = {(e.producer, e.consumer) for e in facts.gold_edges}
    to_gold = facts.to_gold
    hits = sum(
        (to_gold.get(producer), to_gold.get(consumer)) in gold_pairs for producer, consumer in pred_pairs
    )
    return Counts(hits, len(pred_pairs), len(gold_pairs))
