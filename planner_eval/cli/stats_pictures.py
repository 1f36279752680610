"""The pictures that planeval stats draws: distributions, the commonest shapes, graphs of tools and apps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner_eval.base.formats import DRAWN, PICTURES, of_suffix
from planner_eval.cli.options import emit, note

if TYPE_CHECKING:
    from planner_eval.drawing.graphs import Shapes, ToolGraph
    from planner_eval.drawing.plots import Panel
    from planner_eval.plan.model import Plan
    from planner_eval.plan.statistics import Stats
    from planner_eval.plan.summary import Summary

_SECONDS = 60.0


class Pictures:
    """Collects what is needed of every plan for the pictures asked for, and writes them at the end.

    Args:
        files: ``"plot"``, ``"shapes"``, ``"tool_graph"`` or ``"app_graph"`` → the file to write.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.forms = {
            kind: of_suffix(file, PICTURES if kind == "plot" else DRAWN) or "svg"
            for kind, file in files.items()
        }
        self.drawn: dict[str, Shapes | ToolGraph] = {}
        if files.keys() - {"plot"}:
            from planner_eval.drawing.graphs import Shapes, ToolGraph

            made: dict[str, Shapes | ToolGraph]
            made = {"shapes": Shapes(), "tool_graph": ToolGraph(), "app_graph": ToolGraph("app")}
            self.drawn = {kind: empty for kind, empty in made.items() if kind in files}

    def add(self, plan: Plan) -> None:
        """Count one plan."""
        for collected in self.drawn.values():
            collected.add(plan)

    def write(self, titles: Sequence[str], figures: Sequence[Sequence[Stats]]) -> None:
        """Write the files.

        Args:
            titles: The sources' names.
            figures: The figures of each source's plans.

        Raises:
            RenderError: matplotlib or Graphviz is missing, or took too long.
        """
        for kind, file in self.files.items():
            if kind == "plot":
                from planner_eval.drawing.plots import plot
                from planner_eval.plan.summary import summarise

                summaries = dict(zip(titles, map(summarise, figures), strict=True))
                emit(plot(panels(summaries), format=self.forms[kind]), file)
            else:
                from planner_eval.drawing import render

                scene = self.drawn[kind].scene()
                emit(render(scene, format=self.forms[kind], deadline=_SECONDS, force=True), file)
                note(f"{file}: {scene.summary}")


def panels(summaries: Mapping[str, Summary]) -> list[Panel]:
    """What a plot shows of each source: distributions over plans, calls, patterns and arguments.

    Args:
        summaries: Source → its figures.
    """
    from planner_eval.drawing.plots import Panel

    def figure(title: str, name: str) -> Panel:
        return Panel(title, "plans", {key: s.figure(name).distribution for key, s in summaries.items()})

    return [
        figure("calls", "calls"),
        figure("depth", "depth"),
        figure("width", "width"),
        figure("components", "components"),
        Panel("fan-in: calls that a call uses", "calls", {k: s.fan_in for k, s in summaries.items()}),
        Panel("reuse: calls that a call serves", "calls", {k: s.fan_out for k, s in summaries.items()}),
        figure("data dependencies", "edges"),
        Panel("nesting patterns", "patterns", {k: s.patterns for k, s in summaries.items()}),
        Panel("kinds of arguments", "arguments", {k: s.argument_kinds for k, s in summaries.items()}),
    ]
