"""How planeval stats writes the papers' tables beside its figures, and draws its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.errors import RenderError
from planner_eval.base.tables import CSV, Style
from planner_eval.cli.options import note
from planner_eval.cli.output import emit, picture_format

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import Source
    from planner_eval.benchmarks.report import Cell
    from planner_eval.cli.drawing import DrawingOptions
    from planner_eval.plan.statistics import Summary
    from planner_eval.results.drawing.graphs import ToolGraph
    from planner_eval.results.drawing.scene import Scene
    from planner_eval.results.runs.stats_job import SourceSums


LEGEND = "recomputed (as printed in the paper); ≠ where all records are available and the two differ"


def summaries_data(
    sources: Sequence[Source], summaries: Sequence[Summary], cells: Sequence[Sequence[Cell]]
) -> Any:
    """Everything as JSON data: an object a source, in an array where there are several."""
    data = []
    for source, summary, source_cells in zip(sources, summaries, cells, strict=True):
        entry: dict[str, Any] = {"file" if source.dataset is None else "dataset": source.name}
        if source.dataset is not None:
            entry |= {"records": len(source), "published_records": source.dataset.records}
            entry["tables"] = [asdict(cell) | {"agrees": cell.agrees} for cell in source_cells]
        data.append(entry | asdict(summary))
    return data[0] if len(data) == 1 else data


def paper_blocks(source: Source, cells: Sequence[Cell], style: Style) -> list[str]:
    """A source's tables as its paper has them, each cell beside the printed one, and what differs.

    Args:
        source: A data set.
        cells: The cells of its tables.
        style: How they are written; for programs a row a cell.
    """
    assert source.dataset is not None
    if style is CSV:
        rows = [{"dataset": source.name} | asdict(cell) | {"agrees": cell.agrees} for cell in cells]
        return [style.table(rows)] if rows else []
    head = f"{source.name}: {len(source):,} of {source.dataset.records:,} published records available"
    if not cells:
        return [head]
    blocks = [f"{head}\n{LEGEND}"]
    for name in dict.fromkeys(cell.table for cell in cells):
        blocks.append(_matrix(name, [cell for cell in cells if cell.table == name], style))
    return blocks + _remarks(cells)


def _matrix(name: str, cells: Sequence[Cell], style: Style) -> str:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, Any]] = {}
    for cell in cells:
        row = rows.setdefault(cell.row, {name: cell.row} | dict.fromkeys(columns, ""))
        row[cell.column] = _cell_text(cell)
    return style.table(rows.values(), width=40)


def _cell_text(cell: Cell) -> str:
    value = "–" if cell.value is None else f"{cell.value:.3f}".rstrip("0").rstrip(".")
    if cell.published is None:
        return value
    differs = cell.agrees is False and not _is_partial(cell)
    return f"{value} ({'≠ ' if differs else ''}{cell.published})"


def _remarks(cells: Iterable[Cell]) -> list[str]:
    """Why cells differ or are missing, a line a reason."""
    reasons: dict[str, list[Cell]] = {}
    compared: dict[str, list[bool]] = {}
    for cell in cells:
        if cell.agrees is not None and not _is_partial(cell):
            compared.setdefault(cell.table, []).append(cell.agrees)
        if cell.agrees is False or (cell.note and cell.agrees is None) or _is_partial(cell):
            why = f"{cell.n:,} of {cell.of:,} records available" if _is_partial(cell) else cell.note
            reasons.setdefault(why or "the reason is not known", []).append(cell)
    lines = [f"{name}: {sum(a)} of {len(a)} printed cells agree" for name, a in compared.items()]
    lines += [f"- {why}: {_cell_locations(group)}" for why, group in reasons.items()]
    return ["\n".join(lines)] if lines else []


def _cell_locations(cells: Sequence[Cell]) -> str:
    """Which cells; of data that is not all there only their rows or their columns, whichever are fewer."""
    labels = [f"{cell.row} {cell.column}" for cell in cells]
    if all(map(_is_partial, cells)):
        rows, columns = [cell.row for cell in cells], [cell.column for cell in cells]
        labels = min(rows, columns, key=lambda names: len(set(names)))
    return ", ".join(dict.fromkeys(labels))


def _is_partial(cell: Cell) -> bool:
    return cell.n is not None and cell.of is not None and cell.n < cell.of


# ----------------------------------------------------------------------
# The pictures that planeval stats draws: distributions, the commonest shapes, graphs of tools and apps.
PICTURES = ("plot", "shapes", "tool_graph", "app_graph")
"""Options that name a file to draw into."""


class Pictures:
    """Draws the pictures asked for, and writes them.

    Args:
        files: One of :data:`PICTURES` → the file to write.
        titles: The sources' names.
        look: How the drawings look, and whether graphs show every tool.
    """

    def __init__(self, files: Mapping[str, str], titles: Sequence[str], look: DrawingOptions) -> None:
        if files.keys() - {"plot"}:
            from planner_eval.results.drawing.themes import theme

            theme(look.theme)  # one that there is not is told before the work
        self.files, self.titles, self.look = files, titles, look
        self.graphs: dict[str, ToolGraph] = {}

    def scenes(self, source_sums: Sequence[SourceSums]) -> dict[str, Scene]:
        """What is drawn of the plans.

        Args:
            source_sums: What those of each source come to.

        Raises:
            InputError: there is nothing to draw: no plan names an app, or no plan has a call.
        """
        drawn = self.files.keys() - {"plot"}
        if not drawn:
            return {}
        from planner_eval.results.drawing.graphs import MAX_NODES, shapes_scene

        self.graphs = {name: source_sums[0].drawn[name] for name in PICTURES[2:] if name in drawn}
        for sums in source_sums[1:]:
            for name, graph in self.graphs.items():
                graph.extend(sums.drawn[name])
        most = None if self.look.force else MAX_NODES
        scenes = {name: graph.scene(most=most) for name, graph in self.graphs.items()}
        if "shapes" in drawn:
            shapes = (sums.drawn["shapes"] for sums in source_sums)
            scenes["shapes"] = shapes_scene(dict(zip(self.titles, shapes, strict=True)))
        return scenes

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
                from planner_eval.results.drawing.charts import Chart
                from planner_eval.results.views.stats import panels

                titled = dict(zip(self.titles, summaries, strict=True))
                emit(Chart(kind, panels(titled)).image(picture_format(file, "plot")), file)
                continue
            scene = scenes[kind]
            look = self.look._replace(force=True)  # a graph is small enough already, or wanted whole
            try:
                drawing = pe.render(scene, format=picture_format(file, "picture"), **look._asdict())
            except RenderError as error:
                raise RenderError(f"{file}: {error}") from error
            emit(drawing, file)
            pruned = kind in self.graphs and not self.graphs[kind].whole(scene)
            hint = "; --force draws them all" if pruned else ""
            note(f"{file}: {'; '.join([scene.summary, *scene.notes])}{hint}")
