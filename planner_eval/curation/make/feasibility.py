"""Whether tools can meet what is expected, and what coverage lacks as wishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count, shorten
from planner_eval.catalogs.catalog import Parameter, Tool
from planner_eval.curation.make.skeletons import (
    PATTERNS,
    Skeleton,
    Wishes,
    figures,
    generate_skeletons,
    meets_wishes,
)
from planner_eval.curation.make.tools import Link, Node, ToolGraph, ToolLink
from planner_eval.curation.make.values import MAX_TEXT_CHARACTERS, NO_VALUE, draw_literal


# ----------------------------------------------------------------------
# Whether tools can meet what is wished for at all: which bound they cannot, and the most that can be.
def refuse_unsayable(form: str, wishes: Wishes, graph: ToolGraph, *, runs: bool) -> None:
    """Refuse a layout that can hold no plan of these tools, or none that is wished for.

    Raises:
        InputError: says what the layout holds, and which does.
    """
    apps = [tool for tool in graph.tools if tool.app]
    why = ""
    if form == "appbench" and graph.tools and not apps:
        why = f"its records need tools of apps, and those of {graph.catalog.name} have none"
    elif form in ("nestful", "complexfuncbench") and apps and len(apps) == len(graph.tools):
        why = f"its records have no apps, and all tools of {graph.catalog.name} belong to one"
    elif form == "functionchat" and (wishes.calls.low > 1 or wishes.depth.low > 1 or wishes.width.low > 1):
        why = "its records hold plans of one call, but more are requested: add --want calls=1"
    elif form == "complexfuncbench" and not runs:
        why = "its records hold the output of each call: run the plans with --tools"
    if why:
        raise InputError(f"layout {form}: {why}; --to planeval holds any plan")


def find_unfillable_tools(graph: ToolGraph, texts: bool) -> list[str]:
    """Why there are tools that cannot be called: a required parameter that nothing has a value for."""
    return [
        f"{tool.full_name} is left out: {parameter.name} is required, "
        f"and no value fits {_format_type_limits(tool, parameter)}"
        for index, tool in enumerate(graph.tools)
        for parameter in tool.parameters
        if parameter.required
        and parameter.name not in graph.slots[index]  # what calls give may stand where no value can be made
        and draw_literal(tool, parameter, Random(0), texts=texts) is NO_VALUE
    ]


def _format_type_limits(tool: Tool, parameter: Parameter) -> str:
    """What of a parameter's type leaves no value, in words."""
    kind = parameter.type.unfolded
    entry = ((tool.schema or {}).get("properties") or {}).get(parameter.name)
    if isinstance(entry, Mapping) and "pattern" in entry:
        pattern = shorten(repr(entry["pattern"]), 60)
        return f"its pattern {pattern}: add choices, an example or a default to the catalog"
    if kind.enum is not None and not kind.enum:
        return "an enum without choices"
    if kind.minimum is not None and kind.maximum is not None and kind.minimum > kind.maximum:
        return f"a minimum of {kind.minimum} above a maximum of {kind.maximum}"
    if (kind.length[0] or 0) > MAX_TEXT_CHARACTERS:
        return f"a text of {kind.length[0]:,} characters or more; at most {MAX_TEXT_CHARACTERS:,} are made"
    return f"its type ({shorten(str(parameter.type), 60)}), which is too vague or refers to itself"


def refuse_impossible(wishes: Wishes, graph: ToolGraph) -> None:
    """Refuse wishes that no plan of these tools can meet.

    Raises:
        InputError: says which bound cannot be met, why, and the most that can be.
    """
    name = graph.catalog.name
    if not graph.tools:
        raise InputError(f"{name} has no tools to make plans of")
    deep = wishes.depth.low
    if deep > graph.longest:
        chain = graph.chain()
        why = f": {' → '.join(chain)}" if len(chain) > 1 else ": no output of one fits a parameter of another"
        raise InputError(
            f"depth {wishes.depth}: plans of {name} are at most {int(graph.longest)} deep{why}; "
            "--want join=type joins outputs and parameters by their types alone"
        )
    if wishes.reuse.low and not graph.joined:
        raise InputError(f"reuse {wishes.reuse}: no output of {name} fits a parameter of another tool")
    _refuse_impossible_scope(wishes, graph)
    if wishes.pattern is not None:
        _refuse_impossible_pattern(wishes, graph)
    elif wishes.single:
        _refuse_impossible_single(wishes, graph)


def _refuse_impossible_scope(wishes: Wishes, graph: ToolGraph) -> None:
    if wishes.scope is None:
        return
    apps = {tool.app for tool in graph.tools if tool.app}
    least = 1 if wishes.scope in ("ss", "sm") else 2
    if len(apps) < least:
        raise InputError(
            f"scope {wishes.scope}: it takes tools of {format_count(least, 'app')} or more; "
            f"{graph.catalog.name} has {len(apps)}"
        )
    calls = wishes.calls
    wrong = {
        "ss": calls.low > 1 and "one call",
        "sm": calls.high < 2 and "two calls or more",
        "ms": (calls.high < 2 and "two calls or more")
        or (calls.low > len(apps) and f"at most {len(apps)} calls, one per app"),
        "mm": calls.high < 3 and "three calls or more",
    }[wishes.scope]
    if wrong:
        raise InputError(
            f"calls {calls} and scope {wishes.scope} contradict each other: such a plan has {wrong}"
        )


def _refuse_impossible_pattern(wishes: Wishes, graph: ToolGraph) -> None:
    """A pattern that no size makes what is wished for, or that the tools cannot join."""
    pattern = wishes.pattern or ""
    skeletons = list(generate_skeletons(pattern, wishes.calls))
    if not skeletons:
        raise InputError(f"pattern {pattern!r}: none has {wishes.calls} calls")
    fitting = [needs for needs in skeletons if meets_wishes(needs, wishes)]
    if not fitting:
        structure = figures(skeletons[-1])
        for name, bound in wishes.bounds.items():
            if structure[name] not in bound:
                raise InputError(
                    f"pattern {pattern!r} and {name} {bound} contradict each other: it has {structure[name]}"
                )
        raise InputError(f"pattern {pattern!r}: several of its calls give the answer, but one should")
    if all(_max_inputs(needs) > graph.most_in for needs in fitting):
        producers = format_count(min(map(_max_inputs, fitting)), "call")
        raise InputError(
            f"pattern {pattern!r}: one call takes the outputs of {producers}, and a tool of "
            f"{graph.catalog.name} of {graph.most_in} at most"
            + ("; with fewer calls it could be made" if pattern in PATTERNS else "")
        )
    if all(figures(needs)["depth"] > graph.longest for needs in fitting):
        raise InputError(
            f"pattern {pattern!r}: plans of {graph.catalog.name} are at most {int(graph.longest)} deep"
        )


def _max_inputs(needs: Skeleton) -> int:
    return max(map(len, needs), default=0)


def _refuse_impossible_single(wishes: Wishes, graph: ToolGraph) -> None:
    """What one call alone can gather: so many calls a generation as the outputs that tools take."""
    most, deep = graph.most_in, int(min(wishes.depth.high, wishes.calls.high, graph.longest))
    wide = min(most ** (deep - 1), 10**6)
    most_calls = min(sum(most**generation for generation in range(deep)), 10**6)
    producers = format_count(most, "call")
    why = (
        f"one call gives the answer, and tools of {graph.catalog.name} use the outputs of at most {producers}"
    )
    if wishes.width.low > wide:
        raise InputError(
            f"width {wishes.width}: a plan of depth {deep} is at most {wide} wide, because {why}"
        )
    if wishes.calls.low > most_calls:
        raise InputError(
            f"calls {wishes.calls}: a plan of depth {deep} has at most {most_calls} calls, because {why}"
        )


# ----------------------------------------------------------------------
# What coverage says that no plan touches, as wishes that made plans should fill one by one.
class Wish(NamedTuple):
    """One thing that no plan touches.

    Args:
        kind: What of a file of wishes it is: ``"tools"``, ``"parameters"``, ``"pairs"``, ``"edges"``,
            ``"shapes"`` or ``"depths"``.
        tools: The tools that it names, by their places in the graph.
        output: Of an edge the output, as a way into the result.
        parameter: Of an edge or a parameter.
        shape: Of a shape its text.
        depth: Of a depth.
    """

    kind: str
    tools: tuple[int, ...] = ()
    output: str = ""
    parameter: str = ""
    shape: str = ""
    depth: int = 0

    def pins(self, needs: Skeleton, random: Random) -> Mapping[int, int] | None:
        """The tools of calls that a plan of a skeleton must have to fill it; None where no such plan can."""
        if not self.tools:
            return {} if not self.depth or figures(needs)["depth"] == self.depth else None
        if len(self.tools) == 1:
            return {random.randrange(len(needs)): self.tools[0]}
        pairs = [(p, consumer) for consumer, producers in enumerate(needs) for p in producers]
        return dict(zip(random.choice(pairs), self.tools, strict=True)) if pairs else None

    def is_joined_by(self, link: Link | ToolLink) -> bool:
        """Whether a way from one tool to the other is what it wishes; of a pair any is."""
        output = ".".join(map(str, link.output))
        return self.kind == "pairs" or (link.parameter, output) == (self.parameter, self.output)

    def filled(
        self, nodes: Sequence[Node], arguments: Iterable[tuple[int, str]], shape: str, depth: int
    ) -> bool:
        """Whether a plan has it.

        Args:
            nodes: The plan's calls.
            arguments: Each call's tool and each argument that it gives.
            shape: The plan's shape.
            depth: Its depth.
        """
        if self.kind in ("pairs", "edges"):
            return any(
                (nodes[link.producer].tool, node.tool) == self.tools and self.is_joined_by(link)
                for node in nodes
                for link in node.links
            )
        if self.kind == "parameters":
            return (self.tools[0], self.parameter) in set(arguments)
        if self.kind == "tools":
            return any(node.tool == self.tools[0] for node in nodes)
        return shape == self.shape if self.kind == "shapes" else depth == self.depth


def parse_wishes(data: Mapping[str, Any], graph: ToolGraph) -> tuple[list[Wish], int]:
    """The wishes of a file that ``planeval data coverage --to-make`` wrote, and how many name no such tools.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> graph = ToolGraph(as_catalog([{"name": "f", "parameters": {}}], "callnavi"))
    >>> [wish.kind for wish in parse_wishes({"tools": ["f", "g"], "depths": [2]}, graph)[0]]
    ['tools', 'depths']
    """
    positions = graph.positions
    wishes: list[Wish] = []
    strangers = 0
    for kind in ("edges", "pairs", "parameters", "tools"):
        for entry in data.get(kind, ()):
            fields = entry if isinstance(entry, Mapping) else {"tool": entry}
            names = [str(fields[key]) for key in ("producer", "consumer", "tool") if key in fields]
            if any(name not in positions for name in names):
                strangers += 1
                continue
            tools = tuple(positions[name] for name in names)
            wishes.append(Wish(kind, tools, str(fields.get("output", "")), str(fields.get("parameter", ""))))
    wishes += [Wish("shapes", shape=str(text)) for text in data.get("shapes", ())]
    wishes += [Wish("depths", depth=int(depth)) for depth in data.get("depths", ())]
    return wishes, strangers
