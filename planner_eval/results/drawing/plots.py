"""Plots of distributions: small panels of bars, several data sets side by side in each."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.formats import PICTURE_FORMATS
from planner_eval.base.text import shorten
from planner_eval.results.drawing.charts import FILE_METADATA, apply_style, legend_entry, system_style
from planner_eval.results.drawing.labels import visible_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MAX_BARS = 12
"""Values of one panel; what lies beyond is one bar more."""

Counts: TypeAlias = Mapping[Any, int]


@dataclass(frozen=True, slots=True)
class Panel:
    """One distribution of each data set.

    Args:
        title: What is counted, e.g. ``"depth"``.
        of: What the shares are shares of, e.g. ``"plans"``.
        series: Data set → value → how many. Numbers stand in their order and with their gaps;
            words stand in the order in which they first come.
    """

    title: str
    of: str
    series: Mapping[str, Counts]


def plot(panels: Sequence[Panel], *, format: str = "svg", columns: int = 3) -> bytes:
    """Draw distributions.

    Args:
        panels: What to draw; the data sets have one colour and one hatching in all of them.
        format: One of :data:`~planner_eval.base.formats.PICTURE_FORMATS`.
        columns: Panels side by side.

    Returns:
        The picture; the same bytes for the same counts.

    Raises:
        RenderError: matplotlib is not installed.
        InputError: there is no such format, or nothing to draw.

    >>> plot([Panel("depth", "plans", {"mine": {1: 3, 2: 5}})])[:5]
    b'<?xml'
    """
    if format not in PICTURE_FORMATS:
        raise InputError(f"plots have no format {format!r}: expected one of {', '.join(PICTURE_FORMATS)}")
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    if not names:
        raise InputError("there is nothing to plot")
    rows = math.ceil(len(panels) / columns)
    with apply_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.0 * min(columns, len(panels)), 2.2 * rows + 0.4), layout="constrained")
        handles: dict[str, Any] = {}
        for number, panel in enumerate(panels, 1):
            axes = figure.add_subplot(rows, min(columns, len(panels)), number)
            handles |= _draw_panel(axes, panel, names)
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside upper center",
            ncols=min(len(names), 4),
        )
        paper = io.BytesIO()
        figure.savefig(paper, format=format, dpi=144, metadata=FILE_METADATA[format])
    return paper.getvalue()


def values_of(panel: Panel) -> list[Any]:
    """The values on a panel's axis, in order; a gap between numbers is a value that nothing has.

    >>> values_of(Panel("depth", "plans", {"a": {1: 3}, "b": {4: 1}}))
    [1, 2, 3, 4]
    """
    values = dict.fromkeys(value for counts in panel.series.values() for value in counts)
    if values and all(isinstance(value, int) for value in values):
        return list(range(min(values), min(max(values), min(values) + 10_000) + 1))
    return list(values)


def _draw_panel(axes: Axes, panel: Panel, names: Sequence[str]) -> dict[str, Any]:
    """Draw one panel; the bars of each data set, for the legend."""
    values = values_of(panel)
    listed, remaining = values[:MAX_BARS], values[MAX_BARS:]
    numbers = bool(remaining) and isinstance(remaining[0], int)
    labels = [shorten(visible_text(str(value)), 14) for value in listed]
    labels += [f"{remaining[0]}+" if numbers else f"{len(remaining)} more"] if remaining else []
    present = [name for name in names if name in panel.series]
    width = 0.84 / max(1, len(present))
    handles = {}
    for number, name in enumerate(present):
        counts = panel.series[name]
        total = sum(counts.values()) or 1
        heights = [100 * counts.get(value, 0) / total for value in listed]
        heights += (
            [100 * (total - sum(counts.get(value, 0) for value in listed)) / total] if remaining else []
        )
        color, hatch = system_style(names.index(name))
        positions = [index + (number - (len(present) - 1) / 2) * width for index in range(len(labels))]
        how = {"facecolor": color, "edgecolor": "white", "linewidth": 0.5, "hatch": hatch}
        handles[legend_entry(name)] = axes.bar(positions, heights, width, **how)  # type: ignore[arg-type]
    axes.set_xticks(range(len(labels)), labels)
    if any(len(label) > 4 for label in labels):
        axes.tick_params("x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    axes.set_title(visible_text(panel.title))
    axes.set_ylabel(f"% of {visible_text(panel.of)}")
    axes.grid(axis="y")
    return handles
