"""Structure figures of many plans: counts, averages, distributions, the commonest shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, median

from planner_eval.plan.statistics import Stats
from planner_eval.plan.structure import KINDS

FIGURES = (
    "calls", "apps", "tools", "arguments", "references", "edges", "components", "depth", "width",
    "max_fan_in", "max_fan_out", "reused", "parallel_scale", "sequential_scale", "roots", "sinks",
)  # fmt: skip
"""The figures of a plan that are numbers, in the order of a report."""

INFERRED = "inferred"
"""One more of them, where edges were inferred."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One figure over many plans.

    Args:
        name: One of :data:`FIGURES`.
        total: Its sum.
        mean: Its average, None for no plans.
        median: Its median, None for no plans.
        max: Its largest value, None for no plans.
        distribution: Value → number of plans, in ascending order.
    """

    name: str
    total: int
    mean: float | None
    median: float | None
    max: int | None
    distribution: dict[int, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """Structure figures of many plans.

    Args:
        plans: How many.
        unread: Plans that could not be read; they are in no other figure.
        figures: The figures of a plan that are numbers.
        fan_in: Number of producers → number of calls, in ascending order.
        fan_out: Number of consumers → number of calls, in ascending order.
        argument_kinds: Kind → number of arguments, in the order of :data:`.structure.KINDS`.
        patterns: Nesting pattern → how often, the commonest first.
        shapes: Shape → number of plans, the commonest first.
        scopes: Scope → number of plans whose calls all name an app, the commonest first.
    """

    plans: int
    unread: int
    figures: tuple[Distribution, ...]
    fan_in: dict[int, int]
    fan_out: dict[int, int]
    argument_kinds: dict[str, int]
    patterns: dict[str, int]
    shapes: dict[str, int]
    scopes: dict[str, int]

    def figure(self, name: str) -> Distribution:
        """The figure of a name of :data:`FIGURES`, or :data:`INFERRED` where edges were."""
        return self.figures[(*FIGURES, INFERRED).index(name)]


def summarise(stats: Iterable[Stats], *, unread: int = 0, inferred: bool = False) -> Summary:
    r"""Sum up the figures of many plans.

    Args:
        stats: One a plan.
        unread: How many more plans could not be read.
        inferred: Edges were inferred, and it is said how many.

    >>> from planner_eval.dialects.read import parse
    >>> from planner_eval.plan.statistics import stats
    >>> s = summarise([stats(parse("a = f(#x='1')\nb = g(#y=a)")), stats(parse("h(#z='2')"))])
    >>> s.figures[0].total, s.figures[0].mean, s.shapes
    (3, 1.5, {'(())': 1, '()': 1})
    """
    rows = list(stats)
    patterns: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    ins: Counter[int] = Counter()
    outs: Counter[int] = Counter()
    for row in rows:
        patterns.update(row.patterns)
        kinds.update(row.argument_kinds)
        ins.update(row.fan_in)
        outs.update(row.fan_out)
    shapes = Counter(row.shape for row in rows)
    scopes = Counter(row.scope for row in rows if row.scope is not None)
    names = (*FIGURES, INFERRED) if inferred else FIGURES
    return Summary(
        len(rows),
        unread,
        tuple(_figure(name, [getattr(row, name) for row in rows]) for name in names),
        dict(sorted(ins.items())),
        dict(sorted(outs.items())),
        {kind: kinds[kind] for kind in KINDS if kinds[kind]},
        _ranked(patterns),
        _ranked(shapes),
        _ranked(scopes),
    )


def _figure(name: str, values: list[int]) -> Distribution:
    spread = dict(sorted(Counter(values).items()))
    if not values:
        return Distribution(name, 0, None, None, None, spread)
    return Distribution(name, sum(values), mean(values), median(values), max(values), spread)


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
