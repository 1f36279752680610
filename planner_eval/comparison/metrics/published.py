"""Scores of other benchmarks, as their code computes them; each names what is known to be wrong with it.

They are here to be compared with: the corrected figure beside each is one of our own.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from planner_eval.comparison.metrics.facts import Counts, Facts
from planner_eval.comparison.policy.policy import Policy
from planner_eval.plan.model import Call, Plan, Ref, references
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT


def taskbench_nodes(facts: Facts) -> Counts:
    """TaskBench's node F1: names of tools, each once a sample; micro over samples.

    The published code counts the tools of its ``tool_desc.json`` alone, so an invented one costs nothing: so
    does this where the policy names a catalog, and takes ``_`` for a blank where that makes a tool of it.
    Without a catalog every name counts, as written; the report's last line says which.

    Defect: a tool called twice is one node, so a repeated or a forgotten repeated call is not seen.
    Put right by ``calls``.

    Source: microsoft/JARVIS, taskbench/evaluate.py, "Node Micro F1 [No Matching]".
    """
    tools = facts.matching.policy.tools
    pred_names, gold_names = _tool_names(facts.compared.pred, tools), _tool_names(facts.compared.gold, tools)
    return Counts(len(pred_names & gold_names), len(pred_names), len(gold_names))


def describe_counted_tools(metrics: Collection[str], policy: Policy) -> dict[str, str]:
    """What a report says of the tools that TaskBench's nodes are counted of, where they are measured.

    >>> describe_counted_tools(["exact", "taskbench_nodes"], Policy())
    {'taskbench_nodes': 'all tools, because no catalog lists them'}
    """
    counted_tools = "the catalog's tools" if policy.tools else "all tools, because no catalog lists them"
    return {"taskbench_nodes": counted_tools} if "taskbench_nodes" in metrics else {}


def taskbench_links(facts: Facts) -> Counts:
    """TaskBench's link F1: pairs of tool names of which one feeds the other, each once a sample.

    An argument makes one link, from the first call that it refers to; links that no argument says are those
    of ``task_links``. Tools outside of ``tool_desc.json`` count here, in the published code as well.

    Defect: links join names, not calls, so two calls of one tool are one node, and a reference to the
    wrong one of them, to the wrong output or from the wrong argument is not seen. Put right by
    ``references``.

    Source: microsoft/JARVIS, taskbench/evaluate.py, "Link Binary F1".
    """
    tools = facts.matching.policy.tools
    pred_links, gold_links = _links(facts.compared.pred, tools), _links(facts.compared.gold, tools)
    return Counts(len(pred_links & gold_links), len(pred_links), len(gold_links))


def worfbench_chain(facts: Facts) -> Counts | None:
    """WorFBench's f1_chain: the longest run of pred in one of gold's topological orders.

    Nodes match when their names are equal, where the published code asks an embedding. None where the
    published code raises (a side without calls).

    Defects: only the first 20 topological orders are looked at, so a plan of four independent calls
    scores 0.75 against itself; from 10 calls on only the written order; a run is at least 1 long, so
    plans that share nothing do not score 0. Put right by ``ordered_calls``.

    Source: WorFBench, evaluator/graph_evaluator.py, ``t_eval_nodes``.
    """
    pred_tools = [call.tool for call in facts.compared.pred.calls]
    gold_tools = [call.tool for call in facts.compared.gold.calls]
    if not pred_tools or not gold_tools:
        return None
    orders = _topological_orders(facts.compared.gold, gold_tools)
    best = 0
    for order in orders:
        mapping = _match(pred_tools, order)
        runs = [1] * len(pred_tools)
        for index, image in enumerate(mapping):
            for earlier in range(index):
                if image > mapping[earlier] >= 0:
                    runs[index] = max(runs[index], runs[earlier] + 1)
        best = max(best, *runs)
    return Counts(best, len(pred_tools), len(orders[0]))


def worfbench_graph(facts: Facts) -> Counts | None:
    """WorFBench's f1_graph: the largest connected part of matched nodes that both graphs have.

    Nodes match when their names are equal, where the published code asks an embedding; START and END
    count as nodes, as in its data.

    Defect: edges are compared by written position, so a harmless interleaving of independent chains
    loses most of the graph. Put right by ``common_subplan``.

    Source: WorFBench, evaluator/graph_evaluator.py, ``t_eval_graph``.
    """
    (pred_tools, pred_edges), (gold_tools, gold_edges) = (
        _graph(facts.compared.pred),
        _graph(facts.compared.gold),
    )
    mapping = _match(pred_tools, gold_tools)
    pred_nodes = {index for index, image in enumerate(mapping) if image >= 0}
    gold_nodes = {image for image in mapping if image >= 0}
    common = [e for e in pred_edges if e in gold_edges and pred_nodes >= {*e} and gold_nodes >= {*e}]
    return Counts(_largest_component_size(pred_nodes, common), len(pred_tools), len(gold_tools))


def _tool_name(call: Call, tools: Collection[str]) -> str:
    """A call's tool as TaskBench writes it: with blanks where the tools that are known have them."""
    blank = call.tool.replace("_", " ")
    return blank if call.tool not in tools and blank in tools else call.tool


def _tool_names(plan: Plan, tools: Collection[str]) -> set[str]:
    named_calls = ((call, _tool_name(call, tools)) for call in plan.calls)
    return {name for call, name in named_calls if not tools or name in tools or call.name in tools}


def _links(plan: Plan, tools: Collection[str]) -> set[tuple[str, str]]:
    """The links of a plan; the published code writes their sources with blanks, and not their targets."""
    return {
        (_tool_name(plan.calls[ref.call], tools), call.tool)
        for position, call in enumerate(plan.calls)
        for argument, value in call.arguments
        for _, ref in islice(references(value), None if argument == DEPENDENCY_ARGUMENT else 1)
        if isinstance(ref, Ref) and ref.call != position
    }


def _graph(plan: Plan) -> tuple[list[str], set[tuple[int, int]]]:
    """Names with START and END around them, and edges by position."""
    count = len(plan.calls)
    edges = {(e.producer + 1, e.consumer + 1) for e in plan.edges}
    fed, used = {consumer for _, consumer in edges}, {producer for producer, _ in edges}
    edges |= {(0, node) for node in range(1, count + 1) if node not in fed}
    edges |= {(node, count + 1) for node in range(1, count + 1) if node not in used}
    return ["START", *(call.tool for call in plan.calls), "END"], edges


def _topological_orders(plan: Plan, names: list[str]) -> list[list[str]]:
    """The topological orders that the published code looks at, as names."""
    if len(names) + 2 >= 10:  # it counts START and END, and leaves them in
        return [["START", *names, "END"]]
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(names) + 2))
    graph.add_edges_from(sorted(_graph(plan)[1]))
    try:
        sorts = list(islice(nx.all_topological_sorts(graph), 20))
    except nx.NetworkXUnfeasible:
        return [names]
    return [[names[node - 1] for node in order if 0 < node <= len(names)] for order in sorts]


def _match(pred_names: list[str], gold_names: list[str]) -> list[int]:
    """For each of our nodes the one of theirs that it matches, -1 for none: a largest weight matching.

    Where names repeat the choice is networkx's own, as in the published code.
    """
    if len({*pred_names}) == len(pred_names) and len({*gold_names}) == len(gold_names):
        positions = {name: index for index, name in enumerate(gold_names)}
        return [positions.get(name, -1) for name in pred_names]
    import networkx as nx

    graph: nx.Graph[int | str] = nx.Graph()
    for index, name in enumerate(pred_names):
        graph.add_edges_from(
            (index, str(other_index), {"weight": 1.0})
            for other_index, other_name in enumerate(gold_names)
            if name == other_name
        )
    matches = [-1] * len(pred_names)
    for first, second in nx.max_weight_matching(graph):
        index, other_index = (first, second) if isinstance(first, int) else (second, first)
        matches[int(index)] = int(other_index)
    return matches


def _largest_component_size(nodes: set[int], edges: list[tuple[int, int]]) -> int:
    """How many nodes hang together at most.

    >>> _largest_component_size({0, 1, 2}, [(0, 1)])
    2
    """
    leader = {node: node for node in nodes}

    def find(node: int) -> int:
        while leader[node] != node:
            node = leader[node]
        return node

    for first, second in edges:
        leader[find(first)] = find(second)
    sizes: dict[int, int] = {}
    for node in nodes:
        sizes[find(node)] = sizes.get(find(node), 0) + 1
    return max(sizes.values(), default=0)
