"""Metrics: one small pure function each, from one compared pair to counts that add up over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, format_count
from planner_eval.comparison.counted import prepare_for_counting
from planner_eval.comparison.matching.align import Matching, match
from planner_eval.comparison.metrics import metrics, published
from planner_eval.comparison.metrics.facts import Counts, Facts, Share, Tally, count_dependent
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.plan.graph import closure_size, component_leaders
from planner_eval.plan.model import Plan


# ----------------------------------------------------------------------
# What metrics give where a plan is gold's, call by call: all of what they count, from one look at the plan.
#
# Every other pair of a good model is such a pair, and its tallies say no more than how large the plan is.
# Most
# others have gold's references at least, which is all that some metrics look at. The metrics themselves give
# the same (tested); they would look at both sides, and each by itself.
class PlanSize(NamedTuple):
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


COUNTED_PARTS: Mapping[str, str] = {
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


GRAPH_METRICS = frozenset(
    {
        "references", "dependencies", "order_tau", "precedences", "component_pairs", "same_components",
        "transitive_dependencies", "generations", "same_depth", "same_width",
    }
)  # fmt: skip
"""Those of them that look at nothing but which call refers to which."""

PARTNER_METRICS = frozenset({"independent_errors", "dependent_errors", "order_tau", "precedences"})
"""Those of them whose whole is of calls with partners alone."""


def matched_calls_note(names: Iterable[str], unanswered: int) -> list[str]:
    """What is said where predictions without a plan count nothing in some metrics; nothing where none do.

    Args:
        names: The metrics.
        unanswered: How many predictions are absent or unreadable.

    >>> matched_calls_note(["exact", "order_tau"], 3)
    ['order_tau counts matched calls only: nothing of 3 predictions without a plan']
    """
    named = [name for name in names if name in PARTNER_METRICS or name == "worfbench_chain"]
    if not named or not unanswered:
        return []
    verb, number = "counts" if len(named) == 1 else "count", format_count(unanswered, "prediction")
    return [f"{', '.join(named)} {verb} matched calls only: nothing of {number} without a plan"]


def right_size(matching: Matching) -> PlanSize | None:
    r"""Gold's size where the prediction has gold's graph, call by call, each written after what it needs.

    None where it has another. Where `matching` is alike all else is gold's too.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
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


def size_of(gold: Plan) -> PlanSize | None:
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
        dependent += count_dependent(call.arguments)
        apps.add(call.app)
    return PlanSize(
        count,
        len(apps) - (None in apps),
        arguments - dependent,
        dependent,
        len(gold.edges),
        len(between),
        *_graph_size(count, between),
    )


def _graph_size(count: int, between: set[tuple[int, int]]) -> tuple[int, int, int]:
    """Of a graph: its closure, pairs within components, the largest component."""
    if not between:
        return 0, 0, min(count, 1)
    return (_count_small_graph if count <= _MAX_SMALL_GRAPH else _count_graph)(count, tuple(sorted(between)))


def _count_graph(count: int, between: tuple[tuple[int, int], ...]) -> tuple[int, int, int]:
    needs: list[list[int]] = [[] for _ in range(count)]
    for consumer, producer in between:
        needs[consumer].append(producer)
    sizes: dict[int, int] = {}
    for leader in component_leaders(needs):
        sizes[leader] = sizes.get(leader, 0) + 1
    return closure_size(needs), sum(size * (size - 1) // 2 for size in sizes.values()), max(sizes.values())


_MAX_SMALL_GRAPH = 20
_count_small_graph = lru_cache(maxsize=1024)(_count_graph)  # a few small graphs are those of most plans


# ----------------------------------------------------------------------
# Metrics: one small pure function each, from one compared pair to counts that add up over samples.
@fast_frozen
class Metric:
    """One metric.

    Args:
        name: Its name in reports.
        count: From one compared pair to its counts; None where it does not exist.
        kind: ``"counts"`` (precision, recall, F1) or ``"share"``.
        group: calls, arguments, references, order, structure, plan or published.
        lower: Less is better.
        least: The least that it can be.
    """

    name: str
    count: Callable[[Facts], Tally | None]
    kind: str
    group: str
    lower: bool = False
    least: int = 0

    @property
    def title(self) -> str:
        """One line for a person."""
        return (self.count.__doc__ or "").partition("\n")[0]


def _make_metrics() -> dict[str, Metric]:
    rows: list[tuple[Callable[[Facts], Tally | None], str, str]] = [
        (metrics.exact, "share", "plan"),
        (metrics.similarity, "share", "plan"),
        (metrics.calls, "counts", "calls"),
        (metrics.whole_calls, "counts", "calls"),
        (metrics.apps, "counts", "calls"),
        (metrics.argument_names, "counts", "arguments"),
        (metrics.argument_values, "counts", "arguments"),
        (metrics.independent_arguments, "counts", "arguments"),
        (metrics.dependent_arguments, "counts", "arguments"),
        (metrics.independent_errors, "share", "arguments"),
        (metrics.dependent_errors, "share", "arguments"),
        (metrics.references, "counts", "references"),
        (metrics.dependencies, "counts", "references"),
        (metrics.order_tau, "share", "order"),
        (metrics.precedences, "share", "order"),
        (metrics.ordered_calls, "counts", "order"),
        (metrics.component_pairs, "counts", "structure"),
        (metrics.same_components, "share", "structure"),
        (metrics.transitive_dependencies, "counts", "structure"),
        (metrics.generations, "share", "structure"),
        (metrics.common_subplan, "counts", "structure"),
        (metrics.same_depth, "share", "structure"),
        (metrics.same_width, "share", "structure"),
        (published.taskbench_nodes, "counts", "published"),
        (published.taskbench_links, "counts", "published"),
        (published.worfbench_chain, "counts", "published"),
        (published.worfbench_graph, "counts", "published"),
    ]
    lower = {"independent_errors", "dependent_errors", "precedences"}
    least = {"order_tau": -1}
    names = [function.__name__ for function, _, _ in rows]
    return {
        name: Metric(name, function, kind, group, name in lower, least.get(name, 0))
        for name, (function, kind, group) in zip(names, rows, strict=True)
    }


METRICS = _make_metrics()
"""Every metric by its name."""

DEFAULT_METRICS = tuple(name for name, metric in METRICS.items() if metric.group != "published")
"""What is measured when nothing is chosen: all but the scores of other benchmarks."""


MAIN_METRICS = ("exact", "calls", "argument_values", "references", "transitive_dependencies")
"""What people look at first: the whole, calls, arguments, references, and which call needs which."""


def choose_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """The names of metrics; a group's name stands for its metrics, ``all`` for every one; one may be alone.

    Where none is named they are :data:`DEFAULT_METRICS`.

    Raises:
        InputError: there is no such metric or group.

    >>> choose_metrics(["order"])
    ('order_tau', 'precedences', 'ordered_calls')
    """
    chosen: dict[str, None] = {}
    groups = {metric.group for metric in METRICS.values()}
    if not isinstance(names, Iterable):
        raise InputError(f"the metrics are {names!r}, expected names, such as ['exact'], or 'all'")
    for name in (names,) if isinstance(names, str) else names:
        if not isinstance(name, str):
            raise InputError(f"the metrics name {name!r}, expected a text, such as 'exact'")
        if name in METRICS:
            chosen[name] = None
        elif name in groups or name == "all":
            chosen.update(dict.fromkeys(n for n, m in METRICS.items() if name in (m.group, "all")))
        else:
            hint = did_you_mean(name, [*METRICS, *groups], f"expected one of {', '.join(METRICS)}")
            raise InputError(f"unknown metric {name!r}; {hint}")
    return tuple(chosen) or DEFAULT_METRICS


def score(
    pred: Plan,
    gold: Plan,
    policy: Policy = DEFAULT_POLICY,
    terms: Terms = NO_TERMS,
    *,
    metrics: Iterable[str] = DEFAULT_METRICS,
) -> dict[str, Tally | None]:
    """Score a plan against gold: the counts of each metric; counts of many pairs add up.

    Args:
        pred: The prediction.
        gold: What was wanted.
        policy: How values compare.
        terms: What the gold plan leaves open.
        metrics: Names of :data:`METRICS` or of their groups.

    Raises:
        InputError: there is no such metric.

    >>> from planner_eval.plan.model import Call, Plan
    >>> gold = Plan((Call("b", "f"), Call("c", "g")))
    >>> score(Plan((Call("a", "f"),)), gold, metrics=["calls"])["calls"].recall
    0.5
    """
    return {**measure(match(pred, gold, policy, terms), choose_metrics(metrics))}


def measure(matching: Matching, names: Iterable[str] = DEFAULT_METRICS) -> Mapping[str, Tally | None]:
    """The counts of one compared pair; pairs that are right and of one size share theirs.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.
        names: Names of :data:`METRICS`.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.plan.model import Call, Plan
    >>> pair = match(Plan((Call("a", "f"),)), Plan((Call("b", "f"), Call("c", "g"))))
    >>> measure(pair, ["calls"])
    {'calls': Counts(hit=1, pred=1, gold=2)}
    """
    names, matching = tuple(names), matching.by_name or matching
    counted = prepare_for_counting(matching)
    size = right_size(counted) if counted.policy.order != "free" else None  # an order counts there
    tallies = _tally_right(names, size, counted.alike) if size is not None else {}
    if len(tallies) == len(names):
        return tallies
    facts = Facts(matching, None if size is None else size.largest, counted)
    return {name: tallies[name] if name in tallies else METRICS[name].count(facts) for name in names}


def measure_none(
    gold: Plan, names: Iterable[str], policy: Policy = DEFAULT_POLICY
) -> Mapping[str, Tally | None]:
    """The counts of a plan without calls; gold plans of one size share theirs.

    Args:
        gold: What was wanted, with calls.
        names: Names of :data:`METRICS`.
        policy: How plans are compared.

    >>> from planner_eval.plan.model import Call, Plan
    >>> measure_none(Plan((Call("b", "f"), Call("c", "g"))), ["calls"])
    {'calls': Counts(hit=0, pred=0, gold=2)}
    """
    names = tuple(names)
    size = size_of(gold.written) if policy is DEFAULT_POLICY else None
    if size is None or not COUNTED_PARTS.keys() >= {*names}:
        return measure(match(Plan(), gold, policy), names)
    return _tally_none(names, size)


@lru_cache(maxsize=1024)
def _tally_none(names: tuple[str, ...], size: PlanSize) -> Mapping[str, Tally]:
    """What metrics give where nothing was called."""
    tallies: dict[str, Tally] = {}
    for name in names:
        count = getattr(size, COUNTED_PARTS[name])
        if METRICS[name].kind == "counts":
            tallies[name] = Counts(0, 0, count)
        elif name == "similarity":  # a part of costs, which are no whole numbers
            tallies[name] = Share(0.0, count // 2)
        else:
            tallies[name] = Share(0, 0 if name in PARTNER_METRICS else count)
    return tallies


@lru_cache(maxsize=1024)
def _tally_right(names: tuple[str, ...], size: PlanSize, all_right: bool) -> Mapping[str, Tally]:
    """What metrics give of which all that they count is right: where the whole plan is, or its graph."""
    tallies: dict[str, Tally] = {}
    for name in names:
        if name not in (COUNTED_PARTS if all_right else GRAPH_METRICS):
            continue
        count = getattr(size, COUNTED_PARTS[name])
        if METRICS[name].kind == "counts":
            tallies[name] = Counts(count, count, count)
        else:
            tallies[name] = Share(0 if METRICS[name].lower else count, count)
    return tallies
