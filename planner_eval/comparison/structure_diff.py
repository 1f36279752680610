"""How the structure of two plans differs, call by call, on the NetworkX views of the plans.

:mod:`planner_eval.comparison.structure_figures` gives the figures alone, without NetworkX, for files of many
pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.comparison.counted import prepare_for_counting
from planner_eval.comparison.explanation.names import CallNames
from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.structure_figures import FigurePair, StructureFigures, structure_figures
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    import networkx as nx

    Graph: TypeAlias = nx.DiGraph[int]

Reach: TypeAlias = Mapping[int, Collection[int]]
"""The calls that each call leads to."""
# ----------------------------------------------------------------------
# The structure of two plans with all calls named, in words and as JSON data.
CallName: TypeAlias = Callable[[int], str]
"""The name of the call at a position."""

NO_DIFFERENCE = "the same components, depth and dependencies"


def structure_text(comparison: StructureDiff) -> str:
    """The line of figures, then each thing that differs with its calls named.

    Args:
        comparison: What :func:`planner_eval.compare_structure` gave.
    """
    names = CallNames.of(comparison.pred, comparison.gold, comparison.pairs)
    lines = [f"structure: {str(comparison.figures) or NO_DIFFERENCE}"]
    structures = (
        ("pred", names.ours, comparison.pred_structure),
        ("gold", names.theirs, comparison.gold_structure),
    )
    for field in ("components", "generations", "critical"):
        for plan_name, name, structure in structures:
            lines.append(f"  {_format_field(field, plan_name, name, structure)}")
    lines += (f"  {line}" for line in _format_differences(comparison, names))
    return "\n".join(line.replace("\n", "\\n") for line in lines)  # names may hold line ends


MAX_LINES = 6
"""So many lines on the structure are told of a pair that differs unless all are asked for."""


MAX_NAMED_CALLS = 500
"""Of plans of more calls only figures are told unasked: naming calls takes time as the square of them."""


def structure_note(matching: Matching) -> str:
    r"""What differs in the structure of two plans, in short: figures, then components, order, and edges.

    NetworkX is not loaded where the two graphs are one.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> gold = parse("a = f(#x='1')\ng(#y=a)")
    >>> print(structure_note(match(parse("a = f(#x='1')\ng(#y='2')"), gold)))
    structure: 2 components instead of 1; depth 1 instead of 2; 1 dependency lost
      separated: gold's f (call 1) from g (call 2)
      moved: g (call 2) is in generation 1, in gold in 2
      edge lost: gold's g (call 2) uses f (call 1)
    """
    matching = prepare_for_counting(matching)
    if _has_one_graph(matching):
        return ""
    edges = len(matching.pred.edges) + len(matching.gold.edges)  # without any the figures say all
    if not edges or len(matching.pred.calls) + len(matching.gold.calls) > MAX_NAMED_CALLS:
        figures = str(structure_figures(matching))
        return f"structure: {figures}" if figures else ""
    comparison = structure_of(matching)
    names = CallNames.of(comparison.pred, comparison.gold, comparison.pairs)
    # What follows from the edges by way of other calls is in the figures.
    lines = [*_format_differences(replace(comparison, lost=(), added=()), names)]
    if comparison.same and not lines:
        return ""
    if len(lines) > MAX_LINES + 1:
        lines[MAX_LINES:] = [f"+{len(lines) - MAX_LINES} more (--structure)"]
    head = f"structure: {str(comparison.figures) or 'the figures are the same'}"
    return "\n".join(line.replace("\n", "\\n") for line in (head, *(f"  {line}" for line in lines)))


def _has_one_graph(matching: Matching) -> bool:
    """Whether all calls have partners and the same edges, and all are written after their producers."""
    to_gold = dict(matching.alignment.pairs)
    edges = matching.pred.edges, matching.gold.edges
    if not len(to_gold) == len(matching.pred.calls) == len(matching.gold.calls):
        return False
    if any(edge.producer >= edge.consumer for plan_edges in edges for edge in plan_edges):
        return False
    links = {(to_gold[edge.producer], to_gold[edge.consumer]) for edge in edges[0]}
    return links == {(edge.producer, edge.consumer) for edge in edges[1]}


def _format_field(field: str, plan_name: str, name: CallName, structure: Structure) -> str:
    if field == "critical":
        return f"longest chain of {plan_name}: {_format_calls(name, structure.critical, ' → ') or 'none'}"
    groups: Sequence[CallGroup] = getattr(structure, field)
    return f"{field} of {plan_name} ({len(groups)}): {_format_groups(name, groups) or 'none'}"


def _format_differences(comparison: StructureDiff, names: CallNames) -> Iterator[str]:
    pred_name, gold_name = names.ours, names.theirs
    for groups in comparison.torn:
        yield f"separated: gold's {_format_groups(gold_name, groups, ' from ', ' and ')}"
    for groups in comparison.joined:
        yield f"joined: {_format_groups(pred_name, groups, ' with ', ' and ')}"
    for pred, _, generation, gold_generation in comparison.moved:
        yield f"moved: {pred_name(pred)} is in generation {generation}, in gold in {gold_generation}"
    yield from _format_links("edge lost: gold's", "uses", gold_name, comparison.edges_lost)
    yield from _format_links("edge added:", "uses", pred_name, comparison.edges_added)
    yield from _format_links("dependency lost: gold's", "needs", gold_name, comparison.lost)
    yield from _format_links("dependency added:", "needs", pred_name, comparison.added)
    yield from _format_links("order violated: gold's", "is written before", gold_name, comparison.violated)


def _format_links(head: str, verb: str, name: CallName, links: Iterable[Link]) -> Iterator[str]:
    """A line for each consumer, with all its producers."""
    needs: dict[int, list[int]] = {}
    for producer, consumer in links:
        needs.setdefault(consumer, []).append(producer)
    for consumer, producers in needs.items():
        yield f"{head} {name(consumer)} {verb} {_format_calls(name, producers)}"


def _format_groups(
    name: CallName, groups: Iterable[CallGroup], between: str = " | ", within: str = ", "
) -> str:
    return between.join(_format_calls(name, group, within) for group in groups)


def _format_calls(name: CallName, calls: Iterable[int], between: str = ", ") -> str:
    return between.join(map(name, calls))


def calls_data(comparison: StructureDiff) -> dict[str, Any]:
    """The calls that figures of structure are made of as JSON data, by their positions.

    Args:
        comparison: What :func:`planner_eval.compare_structure` gave.
    """
    calls: dict[str, Any] = {}
    for plan_name, structure in (("pred", comparison.pred_structure), ("gold", comparison.gold_structure)):
        calls[plan_name] = {
            "components": structure.components,
            "generations": structure.generations,
            "critical": structure.critical,
        }
    for name in ("torn", "joined"):
        calls[name] = getattr(comparison, name)
    calls["moved"] = [moved._asdict() for moved in comparison.moved]
    for name in ("edges_lost", "edges_added", "lost", "added", "violated"):
        calls[name] = [link._asdict() for link in getattr(comparison, name)]
    return calls


# ----------------------------------------------------------------------
# How the structure of two plans differs, call by call, on the NetworkX views of the plans.
CallGroup: TypeAlias = tuple[int, ...]
"""Calls by their positions, in ascending order."""


class Link(NamedTuple):
    """Two calls of one plan of which one needs the other.

    Args:
        producer: Position of the call whose output is needed.
        consumer: Position of the call that needs it.
    """

    producer: int
    consumer: int


class MovedPair(NamedTuple):
    """Partners that stand in different topological generations, which are counted from 1.

    Args:
        pred: Position in pred.
        gold: Position in gold.
        generation: The generation in pred.
        wanted: The generation in gold.
    """

    pred: int
    gold: int
    generation: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of one plan; calls are positions.

    Args:
        components: The weakly connected components, by their first calls.
        generations: The topological generations; calls of a circle stand in one, as if they were one call.
        critical: One longest chain of calls each of which needs the one before, the earliest where
            several tie; a circle is one link, and its first call stands for it.
    """

    components: tuple[CallGroup, ...]
    generations: tuple[CallGroup, ...]
    critical: CallGroup


@dataclass(frozen=True, slots=True)
class StructureDiff:
    r"""How the structure of a plan differs from gold's.

    What is lost and torn is told in gold's positions, what is added and joined in pred's. Optional calls
    of gold that were not made count as if gold did not have them. ``str()`` tells it with calls named.

    Args:
        pred: The prediction as it was compared.
        gold: The gold plan, likewise.
        pred_structure: Pred's components, generations and longest chain.
        gold_structure: Gold's.
        torn: The components of gold whose partners lie in several components of pred, each parted so.
        joined: The components of pred whose partners lie in several components of gold, each parted so.
        moved: Partners in different generations.
        edges_lost: Direct dependencies of gold that are none of pred.
        edges_added: Direct dependencies of pred that are none of gold.
        lost: Dependencies of gold, by way of others too, that pred does not have.
        added: Dependencies of pred, by way of others too, that gold does not have.
        violated: Dependencies of gold, by way of others too, whose calls pred writes in the wrong order.
        pairs: Which call stands for which: positions in pred and in gold.

    >>> import planner_eval as pe
    >>> gold = pe.parse("a = f(#x='1')\ng(#y=a)")
    >>> found = pe.compare_structure(pe.parse("a = f(#x='1')\ng(#y='2')"), gold)
    >>> found.same, str(found.figures)
    (False, '2 components instead of 1; depth 1 instead of 2; 1 dependency lost')
    """

    pred: Plan
    gold: Plan
    pred_structure: Structure
    gold_structure: Structure
    torn: tuple[tuple[CallGroup, ...], ...] = ()
    joined: tuple[tuple[CallGroup, ...], ...] = ()
    moved: tuple[MovedPair, ...] = ()
    edges_lost: tuple[Link, ...] = ()
    edges_added: tuple[Link, ...] = ()
    lost: tuple[Link, ...] = ()
    added: tuple[Link, ...] = ()
    violated: tuple[Link, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def figures(self) -> StructureFigures:
        """How much differs."""
        pred_structure, gold_structure = self.pred_structure, self.gold_structure
        return StructureFigures(
            FigurePair(len(pred_structure.components), len(gold_structure.components)),
            FigurePair(len(pred_structure.generations), len(gold_structure.generations)),
            FigurePair(
                *(
                    max(map(len, structure.generations), default=0)
                    for structure in (pred_structure, gold_structure)
                )
            ),
            len(self.torn),
            len(self.joined),
            len(self.lost),
            len(self.added),
        )

    @property
    def same(self) -> bool:
        """Whether no figure differs; direct edges may, where a longer path stands for one."""
        return not str(self.figures)

    def __str__(self) -> str:
        return structure_text(self)


def structure_of(matching: Matching) -> StructureDiff:
    """How the structure of two plans differs whose calls are paired: :func:`planner_eval.compare_structure`.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.
    """
    import networkx as nx

    matching = prepare_for_counting(matching)
    pred, gold = _graph(matching.pred), _graph(matching.gold)
    gold.remove_nodes_from(matching.waived)
    to_gold = dict(matching.alignment.pairs)
    to_pred = {gold_call: pred_call for pred_call, gold_call in to_gold.items()}
    pred_structure, gold_structure = _structure(pred), _structure(gold)
    pred_edges, gold_edges = ({call: {*graph.successors(call)} for call in graph} for graph in (pred, gold))
    pred_paths, gold_paths = ({call: nx.descendants(graph, call) for call in graph} for graph in (pred, gold))
    return StructureDiff(
        matching.pred,
        matching.gold,
        pred_structure,
        gold_structure,
        torn=_find_parted_components(gold_structure.components, pred_structure.components, to_pred),
        joined=_find_parted_components(pred_structure.components, gold_structure.components, to_gold),
        moved=_find_moved_pairs(
            pred_structure.generations, gold_structure.generations, matching.alignment.pairs
        ),
        edges_lost=_find_lost_links(gold_edges, pred_edges, to_pred),
        edges_added=_find_lost_links(pred_edges, gold_edges, to_gold),
        lost=_find_lost_links(gold_paths, pred_paths, to_pred),
        added=_find_lost_links(pred_paths, gold_paths, to_gold),
        violated=_find_violated_links(gold_paths, to_pred),
        pairs=matching.alignment.pairs,
    )


def _graph(plan: Plan) -> Graph:
    """Who needs whom: the plan's graph with one edge for parallel references and none to a call itself."""
    import networkx as nx

    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(range(len(plan.calls)))
    graph.add_edges_from((e.producer, e.consumer) for e in plan.edges if e.producer != e.consumer)
    return graph


def _structure(graph: Graph) -> Structure:
    import networkx as nx

    condensed, members = graph, {node: {node} for node in graph}
    if any(producer > consumer for producer, consumer in graph.edges):
        condensed = nx.condensation(graph)  # circles become one node
        members = {node: condensed.nodes[node]["members"] for node in condensed}
    generations = [list(generation) for generation in nx.topological_generations(condensed)]
    chain: list[int] = []
    links: Iterable[int] = generations[-1] if generations else ()
    for earlier in [*generations[-2::-1], []]:
        if links := list(links):
            chain.append(min(links, key=lambda node: min(members[node])))
            links = set(earlier).intersection(condensed.predecessors(chain[-1]))
    return Structure(
        tuple(sorted(tuple(sorted(group)) for group in nx.weakly_connected_components(graph))),
        tuple(tuple(sorted(call for node in nodes for call in members[node])) for nodes in generations),
        tuple(min(members[node]) for node in reversed(chain)),
    )


def _find_parted_components(
    components: Iterable[CallGroup], other_components: Iterable[CallGroup], partner: Mapping[int, int]
) -> tuple[tuple[CallGroup, ...], ...]:
    """The components whose partners lie in several of the other plan, their calls in parts accordingly."""
    component_of = {call: number for number, group in enumerate(other_components) for call in group}
    parted = []
    for component in components:
        calls_by_component: dict[int, list[int]] = {}
        for call in component:
            if call in partner:
                calls_by_component.setdefault(component_of[partner[call]], []).append(call)
        if len(calls_by_component) > 1:
            parted.append(tuple(tuple(calls) for calls in calls_by_component.values()))
    return tuple(parted)


def _find_moved_pairs(
    pred_generations: Iterable[CallGroup],
    gold_generations: Iterable[CallGroup],
    pairs: Iterable[tuple[int, int]],
) -> tuple[MovedPair, ...]:
    pred_numbers, gold_numbers = (
        {call: n for n, group in enumerate(generations, 1) for call in group}
        for generations in (pred_generations, gold_generations)
    )
    return tuple(
        MovedPair(pred, gold, pred_numbers[pred], gold_numbers[gold])
        for pred, gold in pairs
        if pred_numbers[pred] != gold_numbers[gold]
    )


def _find_lost_links(reach: Reach, other_reach: Reach, partner: Mapping[int, int]) -> tuple[Link, ...]:
    """What leads from call to call in one plan, and not from partner to partner in the other."""
    links = (
        Link(producer, consumer)
        for producer, consumers in reach.items()
        for consumer in consumers
        if partner.get(consumer) not in other_reach.get(partner.get(producer, -1), ())
    )
    return tuple(sorted(links, key=lambda link: (link.consumer, link.producer)))


def _find_violated_links(reach: Reach, partner: Mapping[int, int]) -> tuple[Link, ...]:
    """Dependencies that pred writes the other way round; what gold writes so, or in a circle, is free."""
    links = (
        Link(producer, consumer)
        for producer, consumers in reach.items()
        for consumer in consumers
        if producer in partner
        and consumer in partner
        and producer < consumer
        and partner[producer] > partner[consumer]
        and producer not in reach[consumer]
    )
    return tuple(sorted(links, key=lambda link: (link.consumer, link.producer)))
