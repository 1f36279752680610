"""What plans are made of, and like: a catalog, what runs them, wishes, and plans to follow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json
from planner_eval.base.resources import folder
from planner_eval.base.text import format_count, format_first, shorten
from planner_eval.benchmarks.datasets.schema import ToMakeFile
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import read_catalog, read_catalog_file
from planner_eval.curation.make.feasibility import refuse_impossible
from planner_eval.curation.make.run_calls import Refusal
from planner_eval.curation.make.skeletons import BOUNDED_FIGURES, SINGLE_ANSWER_LAYOUTS, Wishes, wishes_of
from planner_eval.curation.make.tools import Link, Node, ToolGraph
from planner_eval.curation.sets import set_of
from planner_eval.execution.run import execute_many, tool_source
from planner_eval.execution.tool_sources import ToolSource
from planner_eval.execution.worlds.reading import load
from planner_eval.execution.worlds.world import World, world_source
from planner_eval.plan.model import Call, Plan, Unresolved, contains_kind
from planner_eval.plan.structure import topological_order
from planner_eval.reading.settings import DEFAULT_READING


# ----------------------------------------------------------------------
# Plans of a structure that given plans have: their calls and references, to be filled with other values.
def nodes_of(plan: Plan, graph: ToolGraph) -> tuple[Node, ...] | Refusal:
    r"""The calls of a plan without its values, or why they cannot be had.

    Args:
        plan: The plan, with edges that are written or inferred.
        graph: The tools.

    >>> from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
    >>> from planner_eval.reading.dialects.read import parse
    >>> graph = ToolGraph(Catalog((Tool("f"), Tool("g", parameters=(Parameter("y"),)))))
    >>> nodes_of(parse("a = f()\ng(#y=a)"), graph)
    (Node(tool=0, links=()), Node(tool=1, links=(Link(parameter='y', producer=0, output=('a',)),)))
    """
    backwards = any(edge.producer >= edge.consumer for edge in plan.edges)
    order = topological_order(plan) if backwards else list(range(len(plan)))
    new_positions = {old: new for new, old in enumerate(order)}
    nodes = []
    for new, old in enumerate(order):
        call = plan.calls[old]
        tools = graph.catalog.find(call.name, call.app)
        if not tools:
            return Refusal("the catalog has no such tool", shorten(repr(call.tool), 60))
        for name, value in call.arguments:
            if contains_kind(value, Unresolved):
                return Refusal("a reference to no call", f"{name!r} of {call.tool}")
        edges = [edge for edge in plan.edges if edge.consumer == old]
        for edge in edges:
            if edge.at or new_positions[edge.producer] >= new:
                return Refusal(
                    "only a part of a value comes from a call", f"{edge.argument!r} of {call.tool}"
                )
        links = (Link(edge.argument, new_positions[edge.producer], edge.path) for edge in edges)
        nodes.append(Node(graph.positions[tools[0].full_name], tuple(links)))
    return tuple(nodes) or Refusal("it makes no call")


# ----------------------------------------------------------------------
# What plans are made of, and like: a catalog, what runs them, wishes, and plans to follow.
_WORLD_PREFIX = "world:"

_BATCH_SIZE = 50
"""Tools that are looked for at once."""


@dataclass(frozen=True)
class Material:
    """What plans are made of.

    Args:
        catalog: The tools.
        source: What runs them; None where nothing does.
        world: The world that they are of, whose rows give values.
        stateful: Whether a call may find what those before it left.
        level: The isolation that suits them; None for their own.
    """

    catalog: Catalog
    source: ToolSource | None
    world: World | None = None
    stateful: bool = False
    level: str | None = None


def material_of(catalog: Any, tools: Any) -> Material:
    """What plans are made of.

    Args:
        catalog: As :func:`planner_eval.read_catalog` takes it; None for that of `tools`.
        tools: As :func:`planner_eval.tool_source` takes it; None where nothing is run.

    Raises:
        InputError: neither is given, or the tools come without a catalog.
        CatalogError: the catalog cannot be read.
        ExecutionError: the tools cannot be loaded.
    """
    if catalog is None and tools is None:
        raise InputError("name the tools to make plans from with --catalog, --tools or --preset")
    if isinstance(catalog, str) and catalog.startswith(_WORLD_PREFIX) and tools is None:
        tools = catalog
    material_catalog = _catalog_of(tools) if catalog is None else read_catalog(catalog)
    if not isinstance(tools, str) or not tools.startswith(_WORLD_PREFIX) or tools.endswith(".py"):
        source = None if tools is None else tool_source(tools)
        return Material(material_catalog, source, stateful=source is not None and source.stateful)
    world = World(load(tools.removeprefix(_WORLD_PREFIX)))
    return Material(material_catalog, world_source(world), world, stateful=True, level="inline")


def _catalog_of(tools: Any) -> Catalog:
    """The catalog that tools bring themselves."""
    if isinstance(tools, ToolSource) or (isinstance(tools, str) and tools.startswith("recorded:")):
        raise InputError("these tools do not describe their parameters: add --catalog")
    if not isinstance(tools, str):
        return read_catalog(list(tools.values()) if isinstance(tools, Mapping) else tools)
    if tools in ("nestful", "nestful:official", "nestful:sane"):
        return read_catalog_file(str(folder("data") / "catalogs" / "nestful.json"))
    if tools.startswith(_WORLD_PREFIX):
        return read_catalog(tools)
    file, colon, _ = tools.partition(".py")
    if colon and os.path.isfile(f"{file}.py"):
        return read_catalog(f"{file}.py")
    tool_source(tools)  # which says it where nothing is there
    raise InputError(f"{shorten(tools, 400)}: these tools do not describe their parameters: add --catalog")


def keep_runnable_tools(
    material: Material, name: str, isolation: str | None, timeout: float, notes: list[str]
) -> Material:
    """The material with the tools of its catalog that can be run; those that cannot are told in the notes.

    Each is called with an argument that is given twice, which is refused before any tool of that name runs.

    Args:
        material: What plans are made of.
        name: What runs them, for messages.
        isolation: As for :func:`planner_eval.execute`.
        timeout: Seconds for each lot of them.
        notes: Gets what is missing.

    Raises:
        InputError: none of them can be run.
        ExecutionError: the tools do not load.
    """
    source, catalog = material.source, material.catalog
    if source is None or source.data.get("kind") == "recorded":
        return material
    twice = (("x", 0), ("x", 0))
    calls = [Call(f"c{index}", tool.name, twice, tool.app) for index, tool in enumerate(catalog.tools)]
    lots = [Plan(tuple(calls[start : start + _BATCH_SIZE])) for start in range(0, len(calls), _BATCH_SIZE)]
    traces = execute_many(lots, source, isolation=isolation or material.level, timeout=timeout)
    lacking = sorted(
        {call.tool for trace in traces for call in trace if call.error and call.error.kind == "unknown-tool"}
    )
    if not lacking:
        return material
    runnable = tuple(tool for tool in catalog.tools if tool.full_name not in lacking)
    listing = format_first([shorten(tool, 60) for tool in lacking], 5)
    if not runnable:
        raise InputError(f"{name} has none of the tools of {catalog.name}: {listing}")
    notes.append(f"{name} lacks {format_count(len(lacking), 'tool')} of {catalog.name}, left out: {listing}")
    return replace(material, catalog=replace(catalog, tools=runnable))


def read_wishes(fill: Any) -> Mapping[str, Any]:
    """What no plan touches, from a file or from data.

    Raises:
        InputError: there is no such file, or it is none that ``data coverage --to-make`` writes.
    """
    if isinstance(fill, (str, os.PathLike)):
        path = Path(fill)
        try:
            data = read_json(read_text(path))
        except ParseError as error:
            raise InputError(f"{path}: {error.brief}") from None
        where = str(path)
    else:
        data, where = fill, "fill"
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object as written by 'data coverage --to-make'")
    ToMakeFile.check(data, where)
    return data


def wishes_from_options(options: Mapping[str, Any], graph: ToolGraph) -> Wishes:
    """What is wanted of each plan.

    Args:
        options: The arguments of :func:`planner_eval.make` by name.
        graph: The tools.

    Raises:
        InputError: the wishes contradict one another.
    """
    bounds = {name: options.get(name) for name in BOUNDED_FIGURES}
    shape = {name: options.get(name) for name in ("pattern", "scope")}
    single = bool(options.get("single"))
    wishes = wishes_of(**bounds, **shape, single=single)
    free = all(options.get(name) is None for name in ("depth", "width", "components", *shape))
    if free and graph.joined and wishes.calls.low > 1:
        # nobody wants plans that join nothing without saying so
        return wishes_of(**{**bounds, "depth": "2.."}, single=single)
    return wishes


def limit_to_layout(form: str, options: Mapping[str, Any], wishes: Wishes, graph: ToolGraph) -> Wishes:
    """The wishes within what a layout can hold: of some the gold answer is that of one call alone.

    Raises:
        InputError: no such plan is what is wished for.
    """
    if form not in SINGLE_ANSWER_LAYOUTS or wishes.single:
        return wishes
    try:
        single_wishes = wishes_from_options({**options, "single": True}, graph)
        refuse_impossible(single_wishes, graph)
    except InputError as error:
        raise InputError(
            f"layout {form}: its gold answer is of the last call alone; {error}; --to planeval holds any plan"
        ) from None
    return single_wishes


def templates(like: Any, graph: ToolGraph, form: str, notes: list[str]) -> tuple[tuple[Node, ...], ...]:
    """The plans of a set without their values; what cannot be imitated is told in the notes.

    Raises:
        InputError: none of them can be followed.
    """
    source = set_of(like, DEFAULT_READING)
    followed: list[tuple[Node, ...]] = []
    refusals: dict[str, list[str]] = {}
    reader = source.reader(None, infer=True)
    for item in map(reader.read, source.records):
        if item.plan is not None:
            nodes = nodes_of(item.plan, graph)
        else:
            nodes = Refusal("it cannot be read" if item.error else "it has no plan", item.error or "")
        if not isinstance(nodes, Refusal) and form in SINGLE_ANSWER_LAYOUTS:
            used = {link.producer for node in nodes for link in node.links}
            if len(nodes) - len(used) > 1:
                nodes = Refusal(
                    f"several of its calls give the answer, and a gold answer of {form} is of one"
                )
        if isinstance(nodes, Refusal):
            refusals.setdefault(nodes.why, []).append(nodes.what)
        else:
            followed.append(nodes)
    listing = ", ".join(
        f"{reason} ({'; '.join(filter(None, (f'{len(whats):,}', whats[0])))})"
        for reason, whats in sorted(refusals.items(), key=lambda item: -len(item[1]))
    )
    if not followed:
        raise InputError(
            f"{source.name}: none of its plans can be imitated: {listing or 'it has no records'}"
        )
    if refusals:
        count = format_count(sum(map(len, refusals.values())), "plan")
        notes.append(f"{count} of {source.name} cannot be imitated: {listing}")
    return tuple(followed)
