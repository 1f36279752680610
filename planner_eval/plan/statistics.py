"""Structure figures of one plan and of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from planner_eval.plan.model import Plan
from planner_eval.plan.structure import (
    KINDS,
    argument_kinds,
    components,
    critical_path,
    fan_in,
    fan_out,
    nesting_patterns,
    scope,
    shape,
    topological_generations,
)


# ----------------------------------------------------------------------
# The structure figures of one plan in one record; apart, so that a comparison does not load them.
@dataclass(frozen=True, slots=True)
class Stats:
    """The structure figures of one plan; see the functions of the same names.

    ``references`` counts every reference to another call, ``edges`` each pair of calls once, ``reused`` the
    calls whose output several calls use. ``fan_in`` and ``fan_out`` say how many calls use, and serve, how
    many others.
    ``scope`` is None where a call names no app.
    ``inferred`` counts the references that nobody wrote; they are in all figures, and 0 unless asked for.
    """

    calls: int
    apps: int
    tools: int
    arguments: int
    references: int
    edges: int
    components: int
    depth: int
    width: int
    max_fan_in: int
    max_fan_out: int
    reused: int
    parallel_scale: int
    sequential_scale: int
    roots: int
    sinks: int
    critical_path: tuple[str, ...]
    fan_in: dict[int, int]
    fan_out: dict[int, int]
    argument_kinds: dict[str, int]
    patterns: dict[str, int]
    shape: str
    scope: str | None
    inferred: int


def stats(plan: Plan) -> Stats:
    r"""All structure figures of one plan.

    >>> from planner_eval.reading.dialects.read import parse
    >>> s = stats(parse("a = f(#x='1')\nb = g(#y=a)"))
    >>> s.calls, s.depth, s.width, s.critical_path
    (2, 2, 1, ('c1', 'c2'))
    """
    generations = topological_generations(plan)
    groups = components(plan)
    ins, outs = fan_in(plan), fan_out(plan)
    return Stats(
        calls=len(plan.calls),
        apps=len({call.app for call in plan.calls if call.app}),
        tools=len({call.tool for call in plan.calls}),
        arguments=sum(len(call.arguments) for call in plan.calls),
        references=sum(edge.producer != edge.consumer for edge in plan.edges),
        edges=sum(ins),
        components=len(groups),
        depth=len(generations),
        width=max(map(len, generations), default=0),
        max_fan_in=max(ins, default=0),
        max_fan_out=max(outs, default=0),
        reused=sum(users > 1 for users in outs),
        parallel_scale=len(groups),
        sequential_scale=max(map(len, groups), default=0),
        roots=ins.count(0),
        sinks=outs.count(0),
        critical_path=tuple(plan.calls[i].id for i in critical_path(plan)),
        fan_in=dict(sorted(Counter(ins).items())),
        fan_out=dict(sorted(Counter(outs).items())),
        argument_kinds=argument_kinds(plan),
        patterns=nesting_patterns(plan),
        shape=shape(plan),
        scope=scope(plan),
        inferred=sum(edge.inferred for edge in plan.edges),
    )


# ----------------------------------------------------------------------
# Structure figures of many plans: counts, averages, distributions, the commonest shapes.
FIGURES = (
    "calls", "apps", "tools", "arguments", "references", "edges", "components", "depth", "width",
    "max_fan_in", "max_fan_out", "reused", "parallel_scale", "sequential_scale", "roots", "sinks",
)  # fmt: skip
"""The figures of a plan that are numbers, in the order of a report."""

INFERRED = "inferred"
"""One more of them, where edges were inferred."""

_ALL_FIGURES = (*FIGURES, INFERRED)
_COUNTER_NAMES = ("patterns", "argument_kinds", "shapes", "scopes")


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
        return self.figures[_ALL_FIGURES.index(name)]


class Sums:
    """What the figures of many plans come to; sums of parts, put together, are those of the whole, exactly.

    Args:
        data: What :meth:`data` gave.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        figures: Mapping[str, Any] = data or {}
        self.plans: int = figures.get("plans", 0)
        self.unread: int = figures.get("unread", 0)
        spread = figures.get("figures") or [()] * len(_ALL_FIGURES)
        self.figures = [Counter[int](dict(pairs)) for pairs in spread]
        self.fan_in = Counter[int](dict(figures.get("fan_in", ())))
        self.fan_out = Counter[int](dict(figures.get("fan_out", ())))
        self.counts = {name: Counter[str](figures.get(name)) for name in _COUNTER_NAMES}

    def add(self, stats: Stats) -> None:
        """Add the figures of a plan."""
        self.plans += 1
        for name, counts in zip(_ALL_FIGURES, self.figures, strict=True):
            counts[getattr(stats, name)] += 1
        self.fan_in.update(stats.fan_in)
        self.fan_out.update(stats.fan_out)
        self.counts["patterns"].update(stats.patterns)
        self.counts["argument_kinds"].update(stats.argument_kinds)
        self.counts["shapes"][stats.shape] += 1
        if stats.scope is not None:
            self.counts["scopes"][stats.scope] += 1

    def extend(self, other: Sums) -> None:
        """Add the sums over other plans."""
        self.plans += other.plans
        self.unread += other.unread
        for own_counts, other_counts in zip(self.figures, other.figures, strict=True):
            own_counts.update(other_counts)
        self.fan_in.update(other.fan_in)
        self.fan_out.update(other.fan_out)
        for name, counts in self.counts.items():
            counts.update(other.counts[name])

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "plans": self.plans,
            "unread": self.unread,
            "figures": [list(counts.items()) for counts in self.figures],
            "fan_in": list(self.fan_in.items()),
            "fan_out": list(self.fan_out.items()),
            **self.counts,
        }

    def summary(self, *, inferred: bool = False) -> Summary:
        r"""The figures.

        Args:
            inferred: Edges were inferred, and it is said how many.

        >>> from planner_eval.reading.dialects.read import parse
        >>> sums = Sums()
        >>> for text in ("a = f(#x='1')\nb = g(#y=a)", "h(#z='2')"):
        ...     sums.add(stats(parse(text)))
        >>> sums.summary().figures[0].total, sums.summary().figures[0].mean, sums.summary().shapes
        (3, 1.5, {'(())': 1, '()': 1})
        """
        names = _ALL_FIGURES if inferred else FIGURES
        kinds = self.counts["argument_kinds"]
        return Summary(
            self.plans,
            self.unread,
            tuple(_distribution(name, counts) for name, counts in zip(names, self.figures, strict=False)),
            dict(sorted(self.fan_in.items())),
            dict(sorted(self.fan_out.items())),
            {kind: kinds[kind] for kind in KINDS if kinds[kind]},
            _sort_by_count(self.counts["patterns"]),
            _sort_by_count(self.counts["shapes"]),
            _sort_by_count(self.counts["scopes"]),
        )


def _distribution(name: str, counts: Counter[int]) -> Distribution:
    spread = dict(sorted(counts.items()))
    plans, total = counts.total(), sum(value * count for value, count in spread.items())
    if not plans:
        return Distribution(name, 0, None, None, None, spread)
    mean = total / plans if total % plans else total // plans
    low, high = _value_at_rank(spread, (plans - 1) // 2), _value_at_rank(spread, plans // 2)
    median = low if plans % 2 else (low + high) / 2
    return Distribution(name, total, mean, median, max(spread), spread)


def _value_at_rank(spread: Mapping[int, int], rank: int) -> int:
    """The value that stands at a place, counted from 0, when all are in order."""
    return next(value for value, end in zip(spread, accumulate(spread.values()), strict=True) if rank < end)


def _sort_by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# ----------------------------------------------------------------------
# What the words of structure figures mean, a sentence each: the one source of what commands and docs say.
FIGURE_MEANINGS = {
    "total": "the sum of a figure over all plans; mean, median and max are also over plans",
    "plans": "plans that were read",
    "unread": "plans that could not be read; they are in no other figure",
    "calls": "calls of tools",
    "apps": "different apps that the calls name",
    "tools": "different tools that are called; tools of one name in two apps are two",
    "arguments": "arguments of all calls",
    "references": "uses of other calls' outputs in arguments",
    "edges": "pairs of calls in which one uses the other's output, each counted once",
    "components": "groups of calls connected by references; a lone call is one",
    "depth": "calls of the longest chain of dependencies; a cycle counts once",
    "width": "calls of the largest generation, which need only earlier ones and can run at once",
    "max fan in": "the largest number of calls whose output one call uses",
    "max fan out": "the largest number of calls that use one call's output",
    "reused": "calls whose output several calls use",
    "parallel scale": "AppBench's term for the number of components",
    "sequential scale": "AppBench's term for the calls of the largest component",
    "roots": "calls that use no other call's output",
    "sinks": "calls whose output no other call uses",
    "critical path": "the calls of the longest chain, by their ids; the earliest of several",
    "inferred": "inferred edges; all figures count them, and depth and width count written steps too",
    "fan in": "how many calls use the output of how many others: 0 ×2 is two calls that use none",
    "fan out": "how many calls have their output used by how many others",
    "scope": "AppBench's term for one or several apps (S, M), and one or several calls of an app",
}
"""The figures and their column, as reports spell them and in their order."""

KIND_MEANINGS = {
    "reference": "the whole argument is another call's output",
    "ref in text": "a text that holds another call's output",
    "ref in values": "a list or an object that holds another call's output",
    "unresolved": "a reference to no other call, alone or inside a value",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number with a fraction",
    "boolean": "true or false",
    "null": "nothing: JSON's null",
    "array": "a list without references",
    "object": "an object without references",
}
"""What an argument holds; of the kinds that fit, the first."""

PATTERNS = {
    "A": "a lone call",
    "A→B": "a call that uses the output of a call that no other uses",
    "{A,B}→C": "a call that uses the output of several, one letter each",
    "A→{B,C}": "a call whose output several use, one letter each",
}
"""How calls hang together, by the form of what is counted; one call can be part of several."""

SCOPES = {
    "SS": "one call",
    "SM": "several calls of one app",
    "MS": "calls of several apps, one each",
    "MM": "calls of several apps, of one of them more than one",
}
"""AppBench's words for plans whose calls name their apps."""

_PLAIN_NAMES = {"parallel scale": "independent parts", "sequential scale": "calls in the largest part"}
"""Plain names for figures that a paper has named."""

SHAPES = {
    "(()())": "brackets are a call around its producers; * ends a cycle",
    "() + ()": "unconnected parts",
    "(a:()) (a)": "a: names a call with several consumers; a is that call again",
    "(()×2)": "in large parts, or with a cycle: a call with two consumers is written once for each",
}
"""How the shape of a plan is written, by examples; the first is always explained."""

_SHAPE_SIGNS = {"() + ()": "+", "(a:()) (a)": ":", "(()×2)": "×"}


def plain_figure(figure: str) -> str:
    """A figure's name for people: beside a paper's word the plain one.

    >>> plain_figure("parallel scale"), plain_figure("depth")
    ('parallel scale (independent parts)', 'depth')
    """
    return f"{figure} ({_PLAIN_NAMES[figure]})" if figure in _PLAIN_NAMES else figure


def plain_scope(scope: str) -> str:
    """A scope for people.

    >>> plain_scope("SM"), plain_scope("none")
    ('SM (several calls of one app)', 'none')
    """
    return f"{scope} ({SCOPES[scope]})" if scope in SCOPES else scope


def pattern_form(pattern: str) -> str:
    """The key of :data:`PATTERNS` that says what a pattern means.

    >>> pattern_form("{A,B,C}→D"), pattern_form("A→{7 calls}"), pattern_form("A")
    ('{A,B}→C', 'A→{B,C}', 'A')
    """
    if pattern in PATTERNS:
        return pattern
    return "{A,B}→C" if pattern.startswith("{") else "A→{B,C}"


def explain_words(
    figures: Iterable[str],
    kinds: Iterable[str],
    patterns: Iterable[str],
    *,
    shapes: Iterable[str],
    scopes: Iterable[str] = (),
) -> dict[str, str]:
    """The words that a report shows, each with its sentence, in the order of the tables.

    Args:
        figures: The figures that are shown.
        kinds: The kinds of arguments.
        patterns: The patterns, however many letters they have.
        shapes: The shapes, however many calls they have.
        scopes: The scopes.

    Raises:
        KeyError: a word has no sentence.

    >>> explain_words(["depth"], [], ["{A,B,C}→D"], shapes=[])["{A,B}→C"]
    'a call that uses the output of several, one letter each'
    """
    words = {name: FIGURE_MEANINGS[name] for name in figures} | {name: KIND_MEANINGS[name] for name in kinds}
    forms = {pattern_form(pattern) for pattern in patterns}
    words |= {name: sentence for name, sentence in PATTERNS.items() if name in forms}
    drawn = "".join(shapes)
    words |= {
        name: sentence for name, sentence in SHAPES.items() if drawn and _SHAPE_SIGNS.get(name, "") in drawn
    }
    return words | {name: sentence for name, sentence in SCOPES.items() if name in set(scopes)}
