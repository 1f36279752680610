"""Structure: components, dependencies, generations, depth and width, likeness of the whole."""

from __future__ import annotations

from planner_eval.comparison.metrics.counts import Counts, Share
from planner_eval.comparison.metrics.facts import Facts


def component_pairs(facts: Facts) -> Counts:
    """Pairs of calls that lie in one component: which calls hang together, by way of others too.

    F1 = 2 · pairs of gold whose partners lie in one component / (pairs of pred + pairs of gold). Empty:
    None when neither plan has calls that hang together.

    Source: counting pairs to compare two partitions, Rand, Objective criteria for the evaluation of
    clustering methods (J. Am. Stat. Assoc. 66, 1971).
    """
    return Counts(*facts.components.pairs())


def same_components(facts: Facts) -> Share:
    """Whether each component of pred holds the partners of one of gold, and none is over: 1 or 0 a sample."""
    return Share(int(facts.components.same), 1)


def transitive_dependencies(facts: Facts) -> Counts:
    """Pairs of calls of which one needs the other, by way of others too.

    F1 = 2 · right pairs / (pairs of pred + pairs of gold), in the transitive closures: a longer path in
    the place of a reference loses nothing. Empty: None when neither plan has any.

    Source: ``dependencies``, on the closure, as ``order_tau`` takes it.
    """
    return Counts(*facts.structures.dependencies())


def same_depth(facts: Facts) -> Share:
    """Whether the longest chains have equally many calls, whichever these are: 1 or 0 a sample."""
    pred_depth, gold_depth = facts.structures.depth()
    return Share(int(pred_depth == gold_depth), 1)


def same_width(facts: Facts) -> Share:
    """Whether the largest generations have equally many calls, whichever these are: 1 or 0 a sample."""
    pred_width, gold_width = facts.structures.width()
    return Share(int(pred_width == gold_width), 1)


def generations(facts: Facts) -> Share:
    """Share of gold's calls whose partner stands in the same topological generation. Empty: None."""
    pred_levels, gold_levels = facts.structures.levels
    hits = sum(pred_levels[pred] == gold_levels[gold] for pred, gold in facts.structures.pairs)
    return Share(hits, facts.gold_calls)


def similarity(facts: Facts) -> Share:
    """1 - (cost of the edits) / (cost of removing one plan and writing the other). Empty: None.

    A call costs 1 and 1 for each argument, whatever it holds; between partners each argument that differs
    costs 1, and another tool 1. So it is 1 - (D + T + M) / W: D differing arguments of partners, T partners
    of different tools, M calls without a partner and their arguments, W calls and arguments of both plans.
    A normalised graph edit similarity under the pairing; 1.0 for the same calls, arguments and references.
    """
    argument_count = sum(facts.arguments.pred) + sum(facts.arguments.gold)
    total = len(facts.pred.calls) + facts.gold_calls + argument_count
    pairing = facts.matching.pairing
    if pairing is None:
        return Share(total, total)
    pred_arguments, gold_arguments = (numbered.arguments for numbered in facts.matching.numbered)
    alignment = facts.matching.alignment
    missing = [gold for gold in alignment.missing if gold not in facts.waived]
    alone = sum([1 + len(pred_arguments[pred]) for pred in alignment.extra])
    alone += sum([1 + len(gold_arguments[gold]) for gold in missing])
    return Share(total - alone - facts.cost, total)


def common_subplan(facts: Facts) -> Counts:
    """The largest connected part that both plans have: whole calls joined by right references.

    F1 = 2 · its calls / (calls of pred's largest connected part + of gold's). It puts right what
    ``worfbench_graph`` means to say, for it follows the pairing of calls instead of their written
    positions. Empty: None.
    """
    if facts.matching.alike:
        size = max(facts.components.gold.values(), default=0)
        return Counts(size, size, size)
    right_calls = set(facts.whole_calls)
    to_gold = facts.to_gold
    gold_edges = {(e.producer, e.consumer, e.argument, e.at, e.path) for e in facts.gold_edges}
    leader = {call: call for call in right_calls}

    def find(call: int) -> int:
        while leader[call] != call:
            leader[call] = call = leader[leader[call]]
        return call

    for e in facts.pred_edges:
        producer, consumer = to_gold.get(e.producer, -1), to_gold.get(e.consumer, -1)
        if (
            producer in right_calls
            and consumer in right_calls
            and (producer, consumer, e.argument, e.at, e.path) in gold_edges
        ):
            leader[find(producer)] = find(consumer)
    sizes: dict[int, int] = {}
    for call in right_calls:
        sizes[find(call)] = sizes.get(find(call), 0) + 1
    if facts.largest is not None:
        return Counts(max(sizes.values(), default=0), facts.largest, facts.largest)
    largest = [
        max(component_sizes.values(), default=0)
        for component_sizes in (facts.components.pred, facts.components.gold)
    ]
    return Counts(max(sizes.values(), default=0), *largest)
