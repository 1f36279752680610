"""What plans touch of what there is: tools, parameters, pairs of tools, edges, shapes, depths, kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from planner_eval.base.named import NamedTuple
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.plan.digest import Classes
from planner_eval.plan.model import Call, Edge, Path, Plan
from planner_eval.plan.shape import shape
from planner_eval.plan.structure import KINDS, argument_kinds, depth

ASPECTS: Mapping[str, str] = {
    "tools": "the tools of the catalog",
    "parameters": "the parameters of the catalog's tools",
    "pairs": "a tool's output given to another tool, which a parameter of that name and type takes",
    "edges": "the same, output by parameter",
    "shapes": "the dependency shapes of plans of at most 4 calls",
    "depths": "the depths from 1 to the deepest plan's",
    "kinds": "the kinds of arguments, unresolved references aside",
    "skeletons": "calls with their references, whatever else is given to them",
}
"""What plans may touch, and what of it there is."""

SMALL = 4
"""Calls of a plan up to which every shape is known: 40 shapes."""

LINKS = 250_000
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


Thing = str | int | Pair | Link | Slot
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
    touched: Mapping[Thing, int]
    never: tuple[Thing, ...] | None = None
    beside: int | None = None
    others: Mapping[Thing, int] | None = None

    @property
    def missing(self) -> tuple[Thing, ...]:
        """What plans of the other set have and none of this, the commonest first."""
        return tuple(thing for thing in self.others or () if thing not in self.touched)

    @property
    def alone(self) -> tuple[Thing, ...]:
        """What plans of this set have and none of the other, the commonest first."""
        return tuple(thing for thing in self.touched if self.others is not None and thing not in self.others)


class Touched:
    """What many plans touch, counted plan by plan.

    Args:
        catalog: The tools, whose names are the ones that count; None where calls' own do.
        classes: What tells skeletons apart; shared by sets that are compared.
    """

    def __init__(self, catalog: Catalog | None, classes: Classes) -> None:
        self._catalog, self._classes = catalog, classes
        self.plans = 0
        self.counts: dict[str, Counter[Thing]] = {name: Counter() for name in ASPECTS}
        self.shown: dict[str, str] = {}
        """What the calls of each skeleton are, in words."""

    def add(self, plan: Plan) -> None:
        """Add a plan."""
        self.plans += 1
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
            Link(tools[edge.producer], _way(edge.path), tools[edge.consumer], edge.argument)
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
    touched: Touched, catalog: Catalog | None = None, other: Touched | None = None
) -> Iterator[Aspect]:
    r"""What is touched and what is not, aspect by aspect.

    Args:
        touched: What plans touch.
        catalog: What there is of tools.
        other: What plans of another set touch.

    >>> from planner_eval.dialects.read import parse
    >>> found = Touched(None, Classes(literals=False))
    >>> found.add(parse("a = f(#x='1')\nb = g(#y=a)"))
    >>> [(one.name, len(one.touched), one.never and len(one.never)) for one in aspects(found)][4:6]
    [('shapes', 1, 39), ('depths', 1, 1)]
    """
    deepest = max((level for level in touched.counts["depths"] if isinstance(level, int)), default=0)
    available = _there(catalog, deepest)
    for name in ASPECTS:
        counts, all_things = touched.counts[name], available.get(name)
        never = None if all_things is None else tuple(thing for thing in all_things if thing not in counts)
        outside = (
            None if all_things is None or never is None else len(counts) - (len(all_things) - len(never))
        )
        other_counts = None if other is None else _ranked(other.counts[name])
        yield Aspect(name, _ranked(counts), never, outside, other_counts)


def _there(catalog: Catalog | None, deepest: int) -> dict[str, dict[Thing, None]]:
    """What there is of each aspect, in its order."""
    available: dict[str, Iterable[Thing]] = {
        "shapes": small_shapes(),
        "depths": range(1, deepest + 1),
        "kinds": [kind for kind in KINDS if kind != "unresolved"],
    }
    if catalog is not None:
        links = possible(catalog.tools)
        available["tools"] = [tool.full_name for tool in catalog.tools]
        available["parameters"] = [
            Slot(tool.full_name, parameter.name) for tool in catalog.tools for parameter in tool.parameters
        ]
        if links is not None:
            available["pairs"] = [Pair(link.producer, link.consumer) for link in links]
            available["edges"] = links
    return {name: dict.fromkeys(things) for name, things in available.items()}


def possible(tools: Iterable[Tool]) -> list[Link] | None:
    """Which outputs of tools another tool's parameters may take: by name, however it is spelled, and type.

    A tool is not joined to itself, for tools often give back what they were given.

    Returns:
        None where more than :data:`LINKS` have equal names.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> pay = {"name": "pay", "parameters": {"bill_id": "int"}, "returnParameter": []}
    >>> find = {"name": "find", "parameters": {}, "returnParameter": {"billID": "int"}}
    >>> [str(link) for link in possible(as_catalog([pay, find], "callnavi").tools) or ()]
    ['find.billID → pay(bill_id)']
    """
    consumers: dict[str, list[tuple[Tool, str, Type]]] = {}
    all_tools = list(tools)
    for tool in all_tools:
        for parameter in tool.parameters:
            consumers.setdefault(_plain(parameter.name), []).append((tool, parameter.name, parameter.type))
    outputs = Counter(_plain(output.name) for tool in all_tools for output in tool.returns.fields)
    if sum(count * len(consumers.get(name, ())) for name, count in outputs.items()) > LINKS:
        return None
    return [
        Link(tool.full_name, output.name, consumer.full_name, parameter)
        for tool in all_tools
        for output in tool.returns.fields
        for consumer, parameter, kind in consumers.get(_plain(output.name), ())
        if consumer.full_name != tool.full_name and _may_hold(kind, output.type)
    ]


def _may_hold(parameter_type: Type, output_type: Type) -> bool:
    """Whether a value of one type may be one of the other, as far as their kinds say."""
    parameter_kinds, output_kinds = set(parameter_type.unfolded.kinds), set(output_type.unfolded.kinds)
    if "number" in parameter_kinds:
        parameter_kinds.add("integer")
    return not parameter_kinds or not output_kinds or bool(parameter_kinds & output_kinds)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


def _way(path: Path) -> str:
    return ".".join(map(str, path))


@cache
def small_shapes() -> tuple[str, ...]:
    """The shapes of all plans of one to :data:`SMALL` calls, the smallest first.

    >>> small_shapes()[:3], len(small_shapes())
    (('()', '(())', '() + ()'), 40)
    """
    shapes: dict[str, None] = {}
    for size in range(1, SMALL + 1):
        calls = tuple(Call(f"c{index}", "f") for index in range(size))
        all_pairs = list(combinations(range(size), 2))
        for some in range(1 << len(all_pairs)):
            edges = [pair for bit, pair in enumerate(all_pairs) if some >> bit & 1]
            shapes[
                shape(Plan(calls, tuple(Edge(producer, consumer, "x") for producer, consumer in edges)))
            ] = None
    return tuple(sorted(shapes, key=lambda text: (text.count("("), len(text), text)))


def _ranked(counts: Counter[Thing]) -> dict[Thing, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))))
