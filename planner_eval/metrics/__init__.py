"""Metrics: one small pure function each, from one compared pair to counts that add up over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from planner_eval.base.errors import InputError
from planner_eval.base.quick import quick
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.align import Matching, match
from planner_eval.comparison.counted import as_counted
from planner_eval.metrics import arguments, calls, edges, order, published, shape
from planner_eval.metrics.counts import Counts, Share, Tally
from planner_eval.metrics.facts import Facts
from planner_eval.metrics.right import COUNTED, OF_GRAPH, OF_PARTNERS, Size, right_size, size_of
from planner_eval.plan.model import Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms


@quick
class Metric:
    """One metric.

    Args:
        name: What reports call it.
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


def _table() -> dict[str, Metric]:
    rows: list[tuple[Callable[[Facts], Tally | None], str, str]] = [
        (calls.exact, "share", "plan"),
        (shape.similarity, "share", "plan"),
        (calls.calls, "counts", "calls"),
        (calls.whole_calls, "counts", "calls"),
        (calls.apps, "counts", "calls"),
        (arguments.argument_names, "counts", "arguments"),
        (arguments.argument_values, "counts", "arguments"),
        (arguments.independent_arguments, "counts", "arguments"),
        (arguments.dependent_arguments, "counts", "arguments"),
        (arguments.independent_errors, "share", "arguments"),
        (arguments.dependent_errors, "share", "arguments"),
        (edges.references, "counts", "references"),
        (edges.dependencies, "counts", "references"),
        (order.order_tau, "share", "order"),
        (order.precedences, "share", "order"),
        (order.ordered_calls, "counts", "order"),
        (shape.component_pairs, "counts", "structure"),
        (shape.same_components, "share", "structure"),
        (shape.transitive_dependencies, "counts", "structure"),
        (shape.generations, "share", "structure"),
        (shape.common_subplan, "counts", "structure"),
        (shape.same_depth, "share", "structure"),
        (shape.same_width, "share", "structure"),
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


METRICS = _table()
"""Every metric by its name."""

DEFAULT_METRICS = tuple(name for name, metric in METRICS.items() if metric.group != "published")
"""What is measured when nothing is chosen: all but the scores of other benchmarks."""


def choose(names: Iterable[str]) -> tuple[str, ...]:
    """The names of metrics; a group's name stands for its metrics, ``all`` for every one; one may be alone.

    Raises:
        InputError: there is no such metric or group.

    >>> choose(["order"])
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
            hint = did_you_mean(name, [*METRICS, *groups], f"known are {', '.join(METRICS)}")
            raise InputError(f"there is no metric {name!r}; {hint}")
    return tuple(chosen)


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
    return {**measure(match(pred, gold, policy, terms), choose(metrics))}


def measure(matching: Matching, names: Iterable[str] = DEFAULT_METRICS) -> Mapping[str, Tally | None]:
    """The counts of one compared pair; pairs that are right and of one size share theirs.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.
        names: Names of :data:`METRICS`.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.plan.model import Call, Plan
    >>> pair = match(Plan((Call("a", "f"),)), Plan((Call("b", "f"), Call("c", "g"))))
    >>> measure(pair, ["calls"])
    {'calls': Counts(hit=1, pred=1, gold=2)}
    """
    names, matching = tuple(names), matching.by_name or matching
    counted = as_counted(matching)
    size = right_size(counted) if counted.policy.order != "free" else None  # an order counts there
    tallies = _right(names, size, counted.alike) if size is not None else {}
    if len(tallies) == len(names):
        return tallies
    facts = Facts(matching, None if size is None else size.largest, counted)
    return {name: tallies[name] if name in tallies else METRICS[name].count(facts) for name in names}


def measure_none(
    gold: Plan, names: Iterable[str] = DEFAULT_METRICS, policy: Policy = DEFAULT_POLICY
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
    if size is None or not COUNTED.keys() >= {*names}:
        return measure(match(Plan(), gold, policy), names)
    return _none(names, size)


@lru_cache(maxsize=1024)
def _none(names: tuple[str, ...], size: Size) -> Mapping[str, Tally]:
    """What metrics give where nothing was called."""
    tallies: dict[str, Tally] = {}
    for name in names:
        count = getattr(size, COUNTED[name])
        if METRICS[name].kind == "counts":
            tallies[name] = Counts(0, 0, count)
        elif name == "similarity":  # a part of costs, which are no whole numbers
            tallies[name] = Share(0.0, count // 2)
        else:
            tallies[name] = Share(0, 0 if name in OF_PARTNERS else count)
    return tallies


@lru_cache(maxsize=1024)
def _right(names: tuple[str, ...], size: Size, all_right: bool) -> Mapping[str, Tally]:
    """What metrics give of which all that they count is right: where the whole plan is, or its graph."""
    tallies: dict[str, Tally] = {}
    for name in names:
        if name not in (COUNTED if all_right else OF_GRAPH):
            continue
        count = getattr(size, COUNTED[name])
        if METRICS[name].kind == "counts":
            tallies[name] = Counts(count, count, count)
        else:
            tallies[name] = Share(0 if METRICS[name].lower else count, count)
    return tallies
