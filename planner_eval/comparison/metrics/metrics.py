"""The metrics: calls and arguments, data flow, order, and shape."""

from __future__ import annotations

from planner_eval.comparison.diff import explain
from planner_eval.comparison.metrics.facts import Counts, Facts, Share


# ----------------------------------------------------------------------
# Calls and arguments: names, whole calls, values, and errors in dependent and independent ones apart.
def calls(facts: Facts) -> Counts:
    """Calls of the right tool, paired one to one.

    F1 = 2 · pairs of one app and name / (calls of pred + calls of gold). Empty: None when neither
    plan has calls.

    Source: the F1 of API of AppBench (section 4.2 of its paper), with pairs counted as the text
    says and not as its code does; NESTful's F1 of functions, over calls instead of name sets.
    """
    return Counts(len(facts.same_name), len(facts.pred.calls), facts.gold_calls)


def whole_calls(facts: Facts) -> Counts:
    """Calls right in name and in every argument, references included.

    F1 = 2 · such pairs / (calls of pred + calls of gold). Empty: None when neither plan has calls.

    Source: call accuracy of ComplexFuncBench (section 3.1 of its paper) as an F1.
    """
    return Counts(len(facts.whole_calls), len(facts.pred.calls), facts.gold_calls)


def apps(facts: Facts) -> Counts:
    """Apps that are called, each once.

    F1 = 2 · apps of both / (apps of pred + apps of gold). Empty: None when no call names an app.

    Source: the F1 of App of AppBench (section 4.2 of its paper).
    """
    pred_apps = {call.app for call in facts.pred.calls} - {None}
    gold_apps = {c.app for i, c in enumerate(facts.gold.calls) if i not in facts.waived} - {None}
    return Counts(len(pred_apps & gold_apps), len(pred_apps), len(gold_apps))


def exact(facts: Facts) -> Share:
    """Whether the plan means the same as gold: 1 or 0 per pair.

    Source: success of AppBench and full match of NESTful, on data flow instead of text.
    """
    matching = facts.compared
    if matching.pairing is None:
        return Share(int(not matching.misplaced), 1)
    if matching.pairing.matcher is None and not matching.terms.optional:
        return Share(0, 1)
    return Share(int(explain(matching).same), 1)


def argument_names(facts: Facts) -> Counts:
    """Argument names that partners share.

    F1 = 2 · shared names / (arguments of pred + arguments of gold), all calls counted, partners or
    not. Empty: None when no call has arguments.

    Source: NESTful's F1 of parameters (section 4.3 of its paper), names one to one.
    """
    counted = facts.arguments
    return Counts(sum(counted.shared), sum(counted.pred), sum(counted.gold))


def argument_values(facts: Facts) -> Counts:
    """Arguments right in name and value, references included.

    F1 = 2 · right arguments / (arguments of pred + arguments of gold). Empty: None when no call has
    arguments.

    Source: the argument F1 of AppBench (section 4.2 of its paper), repeated calls kept apart.
    """
    counted = facts.arguments
    return Counts(sum(counted.right), sum(counted.pred), sum(counted.gold))


def independent_arguments(facts: Facts) -> Counts:
    """Right arguments among those whose values hold no reference. Empty: None when there are none."""
    counted = facts.arguments
    return Counts(counted.right[0], counted.pred[0], counted.gold[0])


def dependent_arguments(facts: Facts) -> Counts:
    """Right arguments among those whose values hold references. Empty: None when there are none."""
    counted = facts.arguments
    return Counts(counted.right[1], counted.pred[1], counted.gold[1])


def independent_errors(facts: Facts) -> Share:
    """Share of gold's literal arguments that partners get wrong or leave out. Empty: None.

    Source: the error analysis of AppBench (section 5.3 of its paper), independent errors.
    """
    counted = facts.arguments
    return Share(counted.wanted[0] - counted.right[0], counted.wanted[0])


def dependent_errors(facts: Facts) -> Share:
    """Share of gold's arguments with references that partners get wrong or leave out. Empty: None.

    Source: the error analysis of AppBench (section 5.3 of its paper), dependent errors.
    """
    counted = facts.arguments
    return Share(counted.wanted[1] - counted.right[1], counted.wanted[1])


# ----------------------------------------------------------------------
# Data flow: references and dependencies.
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


# ----------------------------------------------------------------------
# Order: forced precedences kept and violated.
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


# ----------------------------------------------------------------------
# Structure: components, dependencies, generations, depth and width, likeness of the whole.
def component_pairs(facts: Facts) -> Counts:
    """Pairs of calls that lie in one component: which calls hang together, by way of others too.

    F1 = 2 · pairs of gold whose partners lie in one component / (pairs of pred + pairs of gold). Empty:
    None when neither plan has calls that hang together.

    Source: counting pairs to compare two partitions, Rand, Objective criteria for the evaluation of
    clustering methods (J. Am. Stat. Assoc. 66, 1971).
    """
    return Counts(*facts.components.pairs())


def same_components(facts: Facts) -> Share:
    """Whether each component of pred holds the partners of one of gold, and none is over: 1 or 0 per pair."""
    return Share(int(facts.components.same), 1)


def transitive_dependencies(facts: Facts) -> Counts:
    """Pairs of calls of which one needs the other, by way of others too.

    F1 = 2 · right pairs / (pairs of pred + pairs of gold), in the transitive closures: a longer path in
    the place of a reference loses nothing. Empty: None when neither plan has any.

    Source: ``dependencies``, on the closure, as ``order_tau`` takes it.
    """
    return Counts(*facts.structures.dependencies())


def same_depth(facts: Facts) -> Share:
    """Whether the longest chains have equally many calls, whichever these are: 1 or 0 per pair."""
    pred_depth, gold_depth = facts.structures.depth()
    return Share(int(pred_depth == gold_depth), 1)


def same_width(facts: Facts) -> Share:
    """Whether the largest generations have equally many calls, whichever these are: 1 or 0 per pair."""
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
