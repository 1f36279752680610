"""What plans touch of what there is: tools, parameters, pairs, edges, shapes, depths, kinds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

from planner_eval.base.errors import COUNT, FUNCTION, InputError, expect, expect_or_none
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
from planner_eval.catalogs.formats import read_catalog
from planner_eval.catalogs.value_errors import is_compatible
from planner_eval.comparison.evaluate import Progress
from planner_eval.curation.sets import read_sets, set_warnings
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.inference import normalise_name
from planner_eval.plan.model import Call, Edge, Plan
from planner_eval.plan.structure import KINDS, argument_kinds, depth, shape
from planner_eval.reading.settings import DEFAULT_READING, Reading

# ----------------------------------------------------------------------
# What plans touch of what there is: tools, parameters, pairs of tools, edges, shapes, depths, kinds.
ASPECTS: Mapping[str, str] = {
    "tools": "the tools of the catalog",
    "parameters": "the parameters of the catalog's tools",
    "pairs": "a tool's output passed to another tool's parameter of the same name and type",
    "edges": "the same, output by parameter",
    "shapes": "the dependency shapes of plans of at most 4 calls",
    "depths": "the depths from 1 to the deepest plan's",
    "kinds": "the kinds of arguments, unresolved references aside",
    "skeletons": "calls with their references, whatever their other arguments",
}
"""What plans may touch, and what of it there is."""

MAX_SMALL_SHAPE_CALLS = 4
"""Calls of a plan up to which every shape is known: 40 shapes."""

MAX_LINKS = 250_000
"""Outputs and parameters of one name up to which it is told which of them no plan joins: 100 MB of them."""


class Link(NamedTuple):
    """Data that flow from one tool to another.

    Args:
        producer: The tool whose output is used.
        output: The output, as a way into the result; "" for the whole.
        consumer: The tool that uses it.
        parameter: The parameter that takes it.
    """

    producer: str
    output: str
    consumer: str
    parameter: str

    def __str__(self) -> str:
        output = f".{self.output}" if self.output else ""
        return f"{self.producer}{output} → {self.consumer}({self.parameter})"


class Pair(NamedTuple):
    """A tool, and one that uses its output."""

    producer: str
    consumer: str

    def __str__(self) -> str:
        return f"{self.producer} → {self.consumer}"


class Slot(NamedTuple):
    """A parameter of a tool."""

    tool: str
    parameter: str

    def __str__(self) -> str:
        return f"{self.tool}({self.parameter})"


CoveredItem = str | int | Pair | Link | Slot
"""What can be touched."""


@dataclass(frozen=True)
class Aspect:
    """What is touched of one aspect.

    Args:
        name: One of :data:`ASPECTS`.
        touched: What plans have, and how many times; the commonest first.
        never: What there is and no plan has; None where nobody says what there is.
        beside: How many of those touched are none of what there is; None likewise.
        others: Of two sets, what plans of the other have, likewise.
    """

    name: str
    touched: Mapping[CoveredItem, int]
    never: tuple[CoveredItem, ...] | None
    beside: int | None
    others: Mapping[CoveredItem, int] | None

    @property
    def missing(self) -> tuple[CoveredItem, ...]:
        """What plans of the other set have and none of this, the commonest first."""
        return tuple(thing for thing in self.others or () if thing not in self.touched)

    @property
    def alone(self) -> tuple[CoveredItem, ...]:
        """What plans of this set have and none of the other, the commonest first."""
        return tuple(thing for thing in self.touched if self.others is not None and thing not in self.others)


class CoverageCounts:
    """What many plans touch, counted plan by plan.

    Args:
        catalog: The tools, whose names are the ones that count; None where calls' own do.
        classes: What tells skeletons apart; shared by sets that are compared.
    """

    def __init__(self, catalog: Catalog | None, classes: EquivalenceClasses) -> None:
        self._catalog, self._classes = catalog, classes
        self.counts: dict[str, Counter[CoveredItem]] = {name: Counter() for name in ASPECTS}
        self.shown: dict[str, str] = {}
        """What the calls of each skeleton are, in words."""

    def add(self, plan: Plan) -> None:
        """Add a plan."""
        tools = [self._name(call) for call in plan.calls]
        counts = self.counts
        counts["tools"].update(tools)
        counts["parameters"].update(
            Slot(tool, name)
            for tool, call in zip(tools, plan.calls, strict=True)
            for name, _ in call.arguments
        )
        joined = {(edge.producer, edge.consumer) for edge in plan.edges if edge.producer != edge.consumer}
        counts["pairs"].update(Pair(tools[producer], tools[consumer]) for producer, consumer in joined)
        counts["edges"].update(
            Link(tools[edge.producer], ".".join(map(str, edge.path)), tools[edge.consumer], edge.argument)
            for edge in plan.edges
        )
        counts["shapes"][shape(plan)] += 1
        counts["depths"][depth(plan)] += 1
        counts["kinds"].update(argument_kinds(plan))
        skeleton = self._classes.of(plan)
        counts["skeletons"][skeleton] += 1
        self.shown.setdefault(skeleton, ", ".join(tools))

    def _name(self, call: Call) -> str:
        tools = self._catalog.find(call.name, call.app) if self._catalog is not None else ()
        return tools[0].full_name if tools else call.tool


def aspects(
    touched: CoverageCounts, catalog: Catalog | None = None, other: CoverageCounts | None = None
) -> Iterator[Aspect]:
    r"""What is touched and what is not, aspect by aspect.

    Args:
        touched: What plans touch.
        catalog: What there is of tools.
        other: What plans of another set touch.

    >>> from planner_eval.reading.dialects.read import parse
    >>> found = CoverageCounts(None, EquivalenceClasses(literals=False))
    >>> found.add(parse("a = f(#x='1')\nb = g(#y=a)"))
    >>> [(one.name, len(one.touched), one.never and len(one.never)) for one in aspects(found)][4:6]
    [('shapes', 1, 39), ('depths', 1, 1)]
    """
    deepest = max((level for level in touched.counts["depths"] if isinstance(level, int)), default=0)
    available = _list_available(catalog, deepest)
    for name in ASPECTS:
        counts = touched.counts[name]
        things = None if available.get(name) is None else dict.fromkeys(available[name])
        never = None if things is None else tuple(thing for thing in things if thing not in counts)
        outside = None if things is None else sum(thing not in things for thing in counts)
        other_counts = None if other is None else _rank_counts(other.counts[name])
        yield Aspect(name, _rank_counts(counts), never, outside, other_counts)


def _list_available(catalog: Catalog | None, deepest: int) -> dict[str, Iterable[CoveredItem]]:
    """What there is of each aspect, in its order."""
    available: dict[str, Iterable[CoveredItem]] = {
        "shapes": small_shapes(),
        "depths": range(1, deepest + 1),
        "kinds": [kind for kind in KINDS if kind != "unresolved"],
    }
    if catalog is not None:
        slots = [
            Slot(tool.full_name, parameter.name) for tool in catalog.tools for parameter in tool.parameters
        ]
        available |= {"tools": [tool.full_name for tool in catalog.tools], "parameters": slots}
        if (links := find_possible_links(catalog.tools)) is not None:
            pairs = [Pair(link.producer, link.consumer) for link in links]
            available |= {"pairs": pairs, "edges": links}
    return available


def find_possible_links(tools: Iterable[Tool]) -> list[Link] | None:
    """Which outputs of tools another tool's parameters may take: by name, however it is spelled, and type.

    A tool is not joined to itself, for tools often give back what they were given.

    Returns:
        None where more than :data:`MAX_LINKS` have equal names.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> pay = {"name": "pay", "parameters": {"bill_id": "int"}, "returnParameter": []}
    >>> find = {"name": "find", "parameters": {}, "returnParameter": {"billID": "int"}}
    >>> [str(link) for link in find_possible_links(as_catalog([pay, find], "callnavi").tools) or ()]
    ['find.billID → pay(bill_id)']
    """
    consumers: dict[str, list[tuple[Tool, Parameter]]] = {}
    all_tools = list(tools)
    for tool in all_tools:
        for parameter in tool.parameters:
            consumers.setdefault(normalise_name(parameter.name), []).append((tool, parameter))
    outputs = [
        (tool, output, consumers.get(normalise_name(output.name), ()))
        for tool in all_tools
        for output in tool.returns.fields
    ]
    if sum(len(consuming) for _, _, consuming in outputs) > MAX_LINKS:
        return None
    return [
        Link(tool.full_name, output.name, consumer.full_name, parameter.name)
        for tool, output, consuming in outputs
        for consumer, parameter in consuming
        if consumer.full_name != tool.full_name and is_compatible(output.type, parameter.type)
    ]


@cache
def small_shapes() -> tuple[str, ...]:
    """The shapes of all plans of one to :data:`MAX_SMALL_SHAPE_CALLS` calls, the smallest first.

    >>> small_shapes()[:3], len(small_shapes())
    (('()', '(())', '() + ()'), 40)
    """
    shapes: dict[str, None] = {}
    for size in range(1, MAX_SMALL_SHAPE_CALLS + 1):
        calls = tuple(Call(f"c{index}", "f") for index in range(size))
        pairs = list(combinations(range(size), 2))
        for some in chain.from_iterable(combinations(pairs, count) for count in range(len(pairs) + 1)):
            edges = tuple(Edge(producer, consumer, "x") for producer, consumer in some)
            shapes[shape(Plan(calls, edges))] = None
    return tuple(sorted(shapes, key=lambda text: (text.count("("), len(text), text)))


def _rank_counts(counts: Counter[CoveredItem]) -> dict[CoveredItem, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))))


# ----------------------------------------------------------------------
# What the plans of a data set touch, and what no plan touches.
SCHEMA = "planeval.to-make/1"

MAX_SKELETONS = 10
"""Skeletons of which it is said how many plans have them."""


class CoveredSet(NamedTuple):
    """One set of plans.

    Args:
        name: What it is called.
        records: How many records it has.
        plans: How many have a plan that can be read.
        unread: How many plans cannot be read.
        reasons: Why the first of them cannot, each with its place.
    """

    name: str
    records: int
    plans: int
    unread: int
    reasons: tuple[str, ...]


class Skeleton(NamedTuple):
    """Calls with their references, whatever else is given to them.

    Args:
        plans: How many plans have it.
        tools: The tools that they call, in the written order of the first of them.
    """

    plans: int
    tools: str


@dataclass(frozen=True)
class Coverage:
    """What plans touch.

    Args:
        sets: The set, and the other one.
        catalog: What the catalog is called; None without one.
        aspects: What is touched and what is not, of each aspect.
        skeletons: The commonest skeletons, the commonest first.
        commonest: How many plans the ten commonest skeletons are of.
        unproved: Plans that were taken for equal to another though the search for the proof took too long.
        notes: What may not be what was meant, in words.
    """

    sets: tuple[CoveredSet, ...]
    catalog: str | None
    aspects: tuple[Aspect, ...]
    skeletons: tuple[Skeleton, ...]
    commonest: int
    unproved: int
    notes: tuple[str, ...] = ()

    def aspect(self, name: str) -> Aspect:
        """One aspect by its name.

        Raises:
            InputError: there is none of that name.
        """
        aspects = {aspect.name: aspect for aspect in self.aspects}
        if name not in aspects:
            raise InputError(
                f"unknown aspect {name!r}; {did_you_mean(str(name), aspects, ', '.join(aspects))}"
            )
        return aspects[name]

    def to_make(self) -> dict[str, Any]:
        """What no plan touches, as data for whoever makes plans; ``planeval schema to-make`` describes it.

        Of two sets also what the other has and this one lacks.
        """
        data: dict[str, Any] = {"schema": SCHEMA, "data": self.sets[0].name, "catalog": self.catalog}
        if len(self.sets) > 1:
            data["against"] = self.sets[1].name
        for aspect in self.aspects:
            if aspect.name != "skeletons":
                data[aspect.name] = [
                    thing if isinstance(thing, (str, int)) else thing._asdict()
                    for thing in dict.fromkeys((*aspect.missing, *(aspect.never or ())))
                ]
        return data


def coverage(
    data: Any,
    catalog: Any = None,
    *,
    reading: Reading = DEFAULT_READING,
    against: Any = None,
    examples: int = 3,
    progress: Progress | None = None,
) -> Coverage:
    r"""Say which tools, pairs of tools, shapes and depths the plans of a data set touch, and which none does.

    Args:
        data: The set: the name of a file of records or of a published data set, what
            :func:`planner_eval.open_sources` gave, or records in memory, as :func:`planner_eval.read` takes
            them.
        catalog: The tools that there are, as :func:`planner_eval.read_catalog` takes them; without them it is
            not known which are never touched.
        reading: How its records are read: notation, fields, turn, and where data sets lie.
        against: Another set, whose plans may touch what these do not.
        examples: How many skeletons to show.
        progress: Is told after each record how many are done, and of how many.

    Raises:
        InputError: a set or the catalog cannot be read, or a set is an empty list or none.

    >>> tools = [{"name": name, "parameters": {}} for name in ("f", "g", "h")]
    >>> found = coverage(["a = f()\nb = g(#y=a)", "f()"], tools)
    >>> found.aspect("tools").touched, found.aspect("tools").never
    ({'f': 2, 'g': 1}, ('h',))
    """
    expect(COUNT, examples=examples)
    expect_or_none(FUNCTION, progress=progress)
    tools = catalog if catalog is None or isinstance(catalog, Catalog) else read_catalog(catalog)
    readers = read_sets(data, against, reading, progress)
    classes = EquivalenceClasses(literals=False)
    touched = [CoverageCounts(tools, classes) for _ in readers]
    for reader, counts in zip(readers, touched, strict=True):
        for item in reader:
            if item.plan is not None:
                counts.add(item.plan)
    first, other = touched[0], touched[1] if len(touched) > 1 else None
    all_aspects = tuple(aspects(first, tools, other))
    ranked = [*all_aspects[-1].touched.items()]
    return Coverage(
        tuple(CoveredSet(r.title, r.records, r.plans, r.unread, tuple(r.reasons)) for r in readers),
        None if tools is None else os.path.basename(tools.name),
        all_aspects,
        tuple(Skeleton(count, first.shown[str(name)]) for name, count in ranked[:examples]),
        sum(count for _, count in ranked[:MAX_SKELETONS]),
        classes.unproved,
        tuple(doubt for r in readers for doubt in set_warnings(r.source)),
    )
