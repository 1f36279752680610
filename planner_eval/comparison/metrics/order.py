"""Order: forced precedences kept and violated."""

from __future__ import annotations

from planner_eval.comparison.metrics.counts import Counts, Share
from planner_eval.comparison.metrics.facts import Facts


def order_tau(facts: Facts) -> Share:
    """Kendall's tau over forced pairs: calls of which one needs the other, by way of others too.

    (pairs written in the right order - pairs written in the wrong order) / pairs; independent calls
    do not count. Empty: None when no two paired calls depend on one another, or in free order.

    Source: Kendall, A new measure of rank correlation (Biometrika 30, 1938), on a partial order.
    """
    right = wrong = 0
    for position, before in zip(*facts.forced, strict=True):
        early = before & ((1 << position) - 1)
        right += early.bit_count()
        wrong += (before ^ early).bit_count()
    return Share(right - wrong, right + wrong)


def precedences(facts: Facts) -> Share:
    """Share of gold's dependencies between paired calls whose order the prediction violates. Empty: None."""
    partner = {gold: pred for pred, gold in facts.matching.alignment.pairs}
    pairs = [(producer, call) for call, needed in enumerate(facts.needed) for producer in needed]
    positions = [(partner[p], partner[c]) for p, c in pairs if p in partner and c in partner]
    return Share(sum(producer > consumer for producer, consumer in positions), len(positions))


def ordered_calls(facts: Facts) -> Counts:
    """Calls of the right tool that can be kept so that no forced order among them is violated.

    F1 = 2 · the most such calls / (calls of pred + calls of gold): 1.0 for every harmless order of
    independent calls. It puts right what ``worfbench_chain`` means to say. Empty: None without calls.

    The most calls without a violated pair are a largest antichain of the violations, which are a
    partial order: by Dilworth, calls less a largest matching.
    """
    if facts.largest is not None:
        return Counts(len(facts.same_name), len(facts.pred.calls), facts.gold_calls)
    same_tool = {pred for pred, _ in facts.same_name}
    violations = {}
    for position, before in zip(*facts.forced, strict=True):
        late = before >> (position + 1)
        if late and position in same_tool:
            later = [position + 1 + i for i in range(late.bit_length()) if late >> i & 1]
            violations[position] = [call for call in later if call in same_tool]
    dropped = _largest_matching(violations)
    return Counts(len(same_tool) - dropped, len(facts.pred.calls), facts.gold_calls)


def _largest_matching(edges: dict[int, list[int]]) -> int:
    """The size of a largest matching between the keys and their lists."""
    matched: set[int] = set()
    for partners in edges.values():
        matched.update(next(([to] for to in partners if to not in matched), ()))
    if len(matched) == min(len(edges), len({to for partners in edges.values() for to in partners})):
        return len(matched)  # as many as there can be; loading NetworkX takes 55 ms
    import networkx as nx

    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    left = [("left", key) for key in edges]
    graph.add_nodes_from(left)
    graph.add_edges_from((("left", key), ("right", to)) for key, partners in edges.items() for to in partners)
    return len(nx.bipartite.hopcroft_karp_matching(graph, left)) // 2
