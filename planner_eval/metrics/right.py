"""What metrics give where a plan is gold's, call by call: all of what they count, from one look at the plan.

Every other pair of a good model is such a pair, and its tallies say no more than how large the plan is. Most
others have gold's references at least, which is all that some metrics look at. The metrics themselves give
the same (tested); they would look at both sides, and each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.align import Matching
from planner_eval.metrics.facts import linked
from planner_eval.plan.adjacency import closure, leaders
from planner_eval.plan.model import Plan


class Size(NamedTuple):
    """How much of a plan there is to be right about.

    Args:
        calls: Calls.
        apps: Apps that are called.
        independent: Arguments that hold no reference.
        dependent: Arguments that hold one.
        references: References.
        dependencies: Pairs of calls of which one takes the other's output.
        closure: Pairs of calls of which one needs the other, by way of others too.
        together: Pairs of calls that lie in one component.
        largest: Calls of the largest component.
    """

    calls: int
    apps: int
    independent: int
    dependent: int
    references: int
    dependencies: int
    closure: int
    together: int
    largest: int

    @property
    def arguments(self) -> int:
        """Arguments."""
        return self.independent + self.dependent

    @property
    def parts(self) -> int:
        """What both plans together have of calls and arguments."""
        return 2 * (self.calls + self.arguments)

    @property
    def one(self) -> int:
        """The plan as a whole."""
        return 1


COUNTED: Mapping[str, str] = {
    "exact": "one",
    "similarity": "parts",
    "calls": "calls",
    "whole_calls": "calls",
    "apps": "apps",
    "argument_names": "arguments",
    "argument_values": "arguments",
    "independent_arguments": "independent",
    "dependent_arguments": "dependent",
    "independent_errors": "independent",
    "dependent_errors": "dependent",
    "references": "references",
    "dependencies": "dependencies",
    "order_tau": "closure",
    "precedences": "dependencies",
    "ordered_calls": "calls",
    "component_pairs": "together",
    "same_components": "one",
    "transitive_dependencies": "closure",
    "generations": "calls",
    "common_subplan": "largest",
    "same_depth": "one",
    "same_width": "one",
}
"""Of metrics that need no more than a plan's size to count a plan that is right: what they count of it."""


OF_GRAPH = frozenset(
    {
        "references", "dependencies", "order_tau", "precedences", "component_pairs", "same_components",
        "transitive_dependencies", "generations", "same_depth", "same_width",
    }
)  # fmt: skip
"""Those of them that look at nothing but which call refers to which."""

OF_PARTNERS = frozenset({"independent_errors", "dependent_errors", "order_tau", "precedences"})
"""Those of them whose whole is of calls with partners alone."""


def right_size(matching: Matching) -> Size | None:
    r"""Gold's size where the prediction has gold's graph, call by call, each written after what it needs.

    None where it has another. Where `matching` is alike all else is gold's too.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.dialects.read import parse
    >>> gold = parse("a = f(#x='1')\nb = g(#y=a)")
    >>> right_size(match(gold, gold)).dependent, right_size(match(gold, parse("f(#x='1')")))
    (1, None)
    """
    pred_plan, gold = matching.pred, matching.gold
    count = len(gold.calls)
    if pred_plan is not gold:
        pairs = matching.alignment.pairs
        if not len(pairs) == count == len(pred_plan.calls) or pred_plan.edges != gold.edges:
            return None
        for pred, image in pairs:
            if pred != image:
                return None
    return size_of(gold)


def size_of(gold: Plan) -> Size | None:
    """A plan's size; None where a call is written before what it needs, or a reference was inferred."""
    count = len(gold.calls)
    between: set[tuple[int, int]] = set()
    for edge in gold.edges:
        if edge.producer >= edge.consumer or edge.inferred:
            return None
        between.add((edge.consumer, edge.producer))
    dependent = arguments = 0
    apps = set()
    for call in gold.calls:
        arguments += len(call.arguments)
        dependent += linked(call.arguments)
        apps.add(call.app)
    return Size(
        count,
        len(apps) - (None in apps),
        arguments - dependent,
        dependent,
        len(gold.edges),
        len(between),
        *_graph(count, between),
    )


def _graph(count: int, between: set[tuple[int, int]]) -> tuple[int, int, int]:
    """Of a graph: its closure, pairs within components, the largest component."""
    if not between:
        return 0, 0, min(count, 1)
    return (_few if count <= _FEW else _counted)(count, tuple(sorted(between)))


def _counted(count: int, between: tuple[tuple[int, int], ...]) -> tuple[int, int, int]:
    needs: list[list[int]] = [[] for _ in range(count)]
    for consumer, producer in between:
        needs[consumer].append(producer)
    sizes: dict[int, int] = {}
    for leader in leaders(needs):
        sizes[leader] = sizes.get(leader, 0) + 1
    return closure(needs), sum(size * (size - 1) // 2 for size in sizes.values()), max(sizes.values())


_FEW = 20
_few = lru_cache(maxsize=1024)(_counted)  # a few small graphs are those of most plans
