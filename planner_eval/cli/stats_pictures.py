"""The pictures that planeval stats draws: distributions, the commonest shapes, graphs of tools and apps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner_eval.base.errors import RenderError
from planner_eval.base.formats import DRAWN, PICTURES, of_suffix
from planner_eval.cli.options import emit, note

if TYPE_CHECKING:
    from planner_eval.cli.drawing import Look
    from planner_eval.cli.stats_job import SourceSums
    from planner_eval.drawing.graphs import ToolGraph
    from planner_eval.drawing.plots import Panel
    from planner_eval.drawing.scene import Scene
    from planner_eval.plan.summary import Summary


class Pictures:
    """Draws the pictures asked for, and writes them.

    Args:
        files: ``"plot"``, ``"shapes"``, ``"tool_graph"`` or ``"app_graph"`` → the file to write.
        titles: The sources' names.
        look: How the drawings look, and whether graphs show every tool.
    """

    def __init__(self, files: Mapping[str, str], titles: Sequence[str], look: Look) -> None:
        if files.keys() - {"plot"}:
            from planner_eval.drawing.themes import theme

            theme(look.theme)  # one that there is not is told before the work
        self.files, self.titles, self.look = files, titles, look
        self.forms = {
            kind: of_suffix(file, PICTURES if kind == "plot" else DRAWN) or "svg"
            for kind, file in files.items()
        }
        self.graphs: dict[str, ToolGraph] = {}

    def scenes(self, source_sums: Sequence[SourceSums]) -> dict[str, Scene]:
        """What is drawn of the plans.

        Args:
            source_sums: What those of each source come to.

        Raises:
            InputError: there is nothing to draw: no plan names an app, or no plan has a call.
        """
        if not self.files.keys() - {"plot"}:
            return {}
        from planner_eval.drawing.graphs import FEW, shapes_scene

        self.graphs = dict(source_sums[0].graphs)
        for sums in source_sums[1:]:
            for kind, graph in self.graphs.items():
                graph.extend(sums.graphs[kind])
        most = None if self.look.force else FEW
        drawn = {kind: graph.scene(most=most) for kind, graph in self.graphs.items()}
        shapes = zip(self.titles, (s.shapes for s in source_sums), strict=True)
        titled_shapes = {title: s for title, s in shapes if s is not None}
        return {"shapes": shapes_scene(titled_shapes), **drawn} if titled_shapes else drawn

    def write(self, scenes: Mapping[str, Scene], summaries: Sequence[Summary]) -> None:
        """Write the files.

        Args:
            scenes: What :meth:`scenes` gave.
            summaries: The figures of each source's plans.

        Raises:
            RenderError: matplotlib or Graphviz is missing, or took too long.
        """
        for kind, file in self.files.items():
            if kind == "plot":
                from planner_eval.drawing.plots import plot

                titled = dict(zip(self.titles, summaries, strict=True))
                emit(plot(panels(titled), format=self.forms[kind]), file)
            else:
                from planner_eval.drawing import render

                scene = scenes[kind]
                look = self.look._replace(force=True)  # a graph is small enough already, or wanted whole
                try:
                    drawn = render(scene, format=self.forms[kind], **look._asdict())
                except RenderError as error:
                    raise RenderError(f"{file}: {error}") from error
                emit(drawn, file)
                graph = self.graphs.get(kind)
                pruned = graph is not None and not graph.whole(scene)
                hint = "; --force draws them all" if pruned else ""
                note(f"{file}: {'; '.join([scene.summary, *scene.notes])}{hint}")


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
