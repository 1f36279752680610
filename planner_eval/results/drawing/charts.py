"""Charts of scores: bars with intervals and heat maps, at the widths of one and two columns of a paper."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError, RenderError
from planner_eval.base.formats import FORMATS, PICTURE, formats_of, shows
from planner_eval.base.resources import folder
from planner_eval.base.text import shorten
from planner_eval.results.drawing.scene import visible_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTHS = {1: 3.3, 2: 7.0}
"""How wide a picture is, in inches, over so many columns of a paper."""

SYSTEM_STYLES = (
    ("#0072b2", ""),
    ("#e69f00", "////"),
    ("#009e73", "...."),
    ("#cc79a7", "xxxx"),
    ("#56b4e9", "\\\\\\\\"),
    ("#d55e00", "++++"),
)
"""Colour (Okabe and Ito's) and hatching of each system: one of the two is enough to tell them apart."""

MIN_CELL_SAMPLES = 10
"""Samples of a cell of a heat map below which it is hatched."""


class Point(NamedTuple):
    """A figure as it is drawn.

    Args:
        value: The figure; None where there is none.
        low: Lower end of its interval of 95 %; None without one.
        high: Upper end.
        n: Of how many it is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Bars(NamedTuple):
    """Groups of bars, one bar a system.

    Args:
        title: What stands above.
        ticks: What stands below each group.
        across: What the groups are of.
        up: What the bars show, with the unit.
        series: System → its figures, one a group.
        most: Where the scale ends; where the figures end when None.
    """

    title: str
    ticks: tuple[str, ...]
    across: str
    up: str
    series: Mapping[str, tuple[Point, ...]]
    most: float | None = 100


class HeatMap(NamedTuple):
    """A heat map.

    Args:
        title: What stands above.
        across: What the columns are of.
        up: What the rows are of.
        shown: What the cells show, with the unit.
        cells: (column, row) → the figure.
    """

    title: str
    across: str
    up: str
    shown: str
    cells: Mapping[tuple[float, float], Point]


ChartPanel: TypeAlias = "Bars | HeatMap"


class Chart(NamedTuple):
    """A chart of one or several panels.

    Args:
        name: What users call it, e.g. ``"nestful-6"``.
        panels: What is drawn side by side.
        notes: What a reader should know of the figures, a sentence each.
    """

    name: str
    panels: tuple[ChartPanel, ...]
    notes: tuple[str, ...] = ()

    def image(self, format: str = PICTURE, *, columns: int | None = None) -> bytes:
        """The picture; the same bytes for the same figures.

        Args:
            format: A format of plots, :func:`planner_eval.base.formats.formats_of`.
            columns: Over how many columns of a paper, 1 or 2; when left out 1 for one panel, else 2.

        Raises:
            RenderError: matplotlib is not installed.
            InputError: there is no such format or width.

        >>> bars = Bars("", ("easy",), "difficulty", "share (%)", {"m": (Point(50.0, 20.0, 80.0, 4),)})
        >>> Chart("mine", (bars,)).image()[:5]
        b'<?xml'
        """
        if not shows(format, "plot"):
            raise InputError(
                f"unknown chart format {format!r}: expected one of {', '.join(formats_of('plot'))}"
            )
        columns = columns or (1 if len(self.panels) == 1 else 2)
        if columns not in WIDTHS:
            raise InputError(f"a chart is 1 or 2 columns wide, not {columns}")
        with apply_style():
            paper = io.BytesIO()
            unstamped: dict[str, Any] = {FORMATS[format].stamp: None}
            draw_figure(self, columns).savefig(paper, format=format, metadata=unstamped)
        return paper.getvalue()


def draw_figure(chart: Chart, columns: int) -> Figure:
    """A chart as matplotlib has it; to be called within :func:`apply_style`.

    Args:
        chart: The chart.
        columns: Over how many columns of a paper, one of :data:`WIDTHS`.

    >>> bars = Bars("", ("easy",), "difficulty", "share (%)", {"m": (Point(50.0, 20.0, 80.0, 4),)})
    >>> with apply_style():
    ...     float(draw_figure(Chart("mine", (bars,)), 1).get_figwidth())
    3.3
    """
    from matplotlib.figure import Figure

    across = _panels_per_row(chart, columns)
    down = math.ceil(len(chart.panels) / across)
    figure = Figure(layout="constrained")
    all_axes = [figure.add_subplot(down, across, index) for index in range(1, len(chart.panels) + 1)]
    names = list(dict.fromkeys(n for p in chart.panels if isinstance(p, Bars) for n in p.series))
    handles: dict[str, Any] = {}
    room, height = WIDTHS[columns] / across, 0.0
    maps = []
    for index, (axes, panel) in enumerate(zip(all_axes, chart.panels, strict=True)):
        if isinstance(panel, HeatMap):
            picture, high = _draw_heat_map(
                axes, panel, room - _SCALE_WIDTH / across, first=index % across == 0
            )
            maps.append((axes, picture, panel.shown))
        else:
            bars, high = _draw_bars(axes, panel, names, room)
            handles |= bars
        height = max(height, high)
    if maps:
        _, picture, label = maps[0]
        bar_options: dict[str, Any] = {
            "pad": 0.02,
            "aspect": 30,
            "fraction": 0.08,
            "label": visible_text(label),
        }
        figure.colorbar(picture, ax=[axes for axes, *_ in maps], **bar_options).outline.set_visible(False)
    rows = _draw_legend(figure, handles, columns) if len(handles) > 1 else 0
    figure.set_size_inches(WIDTHS[columns], height * down + 0.16 * rows)
    return figure


_SCALE_WIDTH, _AXIS_WIDTH = 0.5, 0.6
"""The room in inches that a colour scale takes, and that the axis of a panel does."""

_MIN_BAR_WIDTH = 0.04
"""Inches that a bar is wide at least, where fewer panels side by side make it so."""


def _panels_per_row(chart: Chart, columns: int) -> int:
    """How many panels stand side by side: as many as leave bars wide enough to be seen."""
    for across in range(min(len(chart.panels), 1 if columns == 1 else 3), 1, -1):
        room = WIDTHS[columns] / across
        if all(
            _bar_width(panel, room) >= _MIN_BAR_WIDTH for panel in chart.panels if isinstance(panel, Bars)
        ):
            return across
    return 1


def _bar_width(panel: Bars, room: float) -> float:
    """How wide a bar is, in inches."""
    return (room - _AXIS_WIDTH) / max(1, len(panel.ticks)) * 0.8 / max(1, len(panel.series))


@contextmanager
def apply_style() -> Iterator[None]:
    """Matplotlib with our style, of the file ``viz/charts/papers.mplstyle``, and no word of missing letters.

    Raises:
        RenderError: matplotlib is not installed.
    """
    try:
        from matplotlib import RcParams, rc_context, rc_params_from_file
    except ImportError as error:
        raise RenderError(f"plots need matplotlib ({error}): pip install 'planner_eval[plot]'") from None
    file = folder("viz") / "charts" / "papers.mplstyle"
    style: RcParams = rc_params_from_file(str(file), use_default_template=False)
    with rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font without a letter: the text is right in SVG and PDF
        yield


def _draw_legend(figure: Figure, handles: Mapping[str, Any], columns: int) -> int:
    """The legend above all panels; how many lines it takes."""
    longest = max(map(len, handles))
    fit = max(1, int(WIDTHS[columns] / (0.35 + 0.06 * longest)))
    across = min(len(handles), fit)
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=across)
    return math.ceil(len(handles) / across)


# ---------------------------------------------------------------- bars
def _draw_bars(axes: Axes, panel: Bars, names: Sequence[str], room: float) -> tuple[dict[str, Any], float]:
    """Draw one panel; the bars of each system, for the legend, and how high it wants to be."""
    present = [name for name in names if name in panel.series]
    width = 0.8 / max(1, len(present))
    handles: dict[str, Any] = {}
    for number, name in enumerate(present):
        color, hatch = system_style(names.index(name))
        points = panel.series[name]
        positions = [index + (number - (len(present) - 1) / 2) * width for index in range(len(points))]
        how: dict[str, Any] = {"facecolor": color, "edgecolor": "white", "linewidth": 0.4, "hatch": hatch}
        bars = axes.bar(positions, [point.value or 0 for point in points], width * 0.94, **how)
        handles[legend_entry(name)] = bars
        for position, point in zip(positions, points, strict=True):
            _draw_interval(axes, position, point, color, 72 * _bar_width(panel, room))
    high = 1.95 + _label_groups(axes, panel, room)
    axes.set_title(visible_text(panel.title))
    axes.set_xlabel(visible_text(panel.across))
    axes.set_ylabel(visible_text(panel.up))
    ends = [end for points in panel.series.values() for point in points for end in (point.value, point.low)]
    axes.set_ylim(min([0.0, *(end for end in ends if end is not None)]), panel.most)
    axes.margins(x=0.02)
    axes.grid(axis="y")
    return handles, high


def _draw_interval(axes: Axes, position: float, point: Point, color: str, wide: float) -> None:
    """The interval of a bar, `wide` points; a dot of its colour where it is 0, a dash where it is none."""
    if point.value is None:
        axes.annotate("–", (position, 0), (0, 1), textcoords="offset points", ha="center", va="bottom")
        return
    if not point.value:
        axes.plot(position, 0, "o", color=color, markersize=min(3.0, wide), clip_on=False, zorder=3)
    if point.low is not None and point.high is not None:
        ends = [[max(0.0, point.value - point.low)], [max(0.0, point.high - point.value)]]
        line = min(0.7, wide / 4)
        how: dict[str, Any] = {"elinewidth": line, "capsize": min(1.6, wide / 3), "capthick": line}
        axes.errorbar(position, point.value, yerr=ends, color="#222222", **how)


def _label_groups(axes: Axes, panel: Bars, room: float) -> float:
    """Write what stands below the groups; the inches that it takes beyond two lines.

    Each group has the number of what it is of, where all systems have the same.
    """
    counts = [{points[index].n for points in panel.series.values()} for index in range(len(panel.ticks))]
    uniform = all(len(group) == 1 and group != {0} for group in counts)
    names = [shorten(visible_text(tick), 24) for tick in panel.ticks]
    numbers = [f"({max(group):,})" for group in counts] if uniform else [""] * len(names)
    pairs = [*zip(names, numbers, strict=True)]
    letters = (room - _AXIS_WIDTH) / max(1, len(names)) / _LETTER_WIDTH
    for unbroken in (True, False):  # a name in a line, or a word in a line, or all of it aslant
        lines = [
            [*([name] if unbroken else name.split(" ")), *filter(None, [number])] for name, number in pairs
        ]
        if max(len(line) for some in lines for line in some) > letters:
            continue
        labels = ["\n".join(some) for some in lines]
        axes.set_xticks(range(len(labels)), labels)
        return 0.12 * max(0, max(label.count("\n") for label in labels) - 1)
    labels = [f"{name} {number}".rstrip() for name, number in pairs]
    axes.set_xticks(range(len(labels)), labels)
    axes.tick_params("x", labelrotation=40, pad=1)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
        label.set_rotation_mode("anchor")
    return max(map(len, labels)) * 0.034


_LETTER_WIDTH = 0.062
"""Inches that a letter below a group takes."""


def system_style(number: int) -> tuple[str, str]:
    """Colour and hatching of a system by its number; of 36 no two look alike.

    >>> len({system_style(number) for number in range(36)})
    36
    """
    return SYSTEM_STYLES[number % len(SYSTEM_STYLES)][0], SYSTEM_STYLES[
        (number + number // len(SYSTEM_STYLES)) % len(SYSTEM_STYLES)
    ][1]


def legend_entry(name: str) -> str:
    """A system's name in the legend, which leaves out names that begin with an underscore."""
    label = shorten(visible_text(name), 48)
    return f" {label}" if label.startswith("_") else label


# ---------------------------------------------------------------- heat maps
def _draw_heat_map(axes: Axes, panel: HeatMap, room: float, *, first: bool) -> tuple[Any, float]:
    """Draw a heat map, the first of a row with its rows' name; the picture, and how high it wants to be."""
    xs, ys = (sorted({key[axis] for key in panel.cells}) for axis in (0, 1))
    values = [[_value(panel.cells.get((x, y))) for x in xs] for y in ys]
    picture = axes.imshow(values, vmin=0, vmax=100, origin="lower", aspect="auto")
    cell_width = (room - _AXIS_WIDTH) / len(xs)
    for row, y in enumerate(ys):
        for column, x in enumerate(xs):
            if (point := panel.cells.get((x, y))) is not None and point.value is not None:
                _annotate_cell(axes, (column, row), point, cell_width, picture.cmap(point.value / 100))
    axes.set_xticks(range(len(xs)), [f"{x:g}" for x in xs])
    axes.set_yticks(range(len(ys)), [f"{y:.3g}" for y in ys])
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_title(shorten(visible_text(panel.title), max(12, int(room * 13))))
    axes.set_xlabel(visible_text(panel.across))
    if first:
        axes.set_ylabel(visible_text(panel.up))
    rows = (0.36 if cell_width >= _MIN_INTERVAL_WIDTH else 0.26) * len(ys)
    return picture, 0.7 + max(rows, 1.05 * _LETTER_WIDTH * len(visible_text(panel.up)))


_MIN_INTERVAL_WIDTH = 0.48
"""Inches of a cell from which on it has room for an interval."""


def _value(point: Point | None) -> float:
    return math.nan if point is None or point.value is None else point.value


def _annotate_cell(axes: Axes, position: tuple[int, int], point: Point, width: float, color: Any) -> None:
    """What stands in a cell: the figure, its interval where there is room, and of how many it is."""
    value = point.value or 0.0
    ink = "white" if value < 47 else "black"
    lines = [f"{value:.0f}"]
    if width >= _MIN_INTERVAL_WIDTH and point.low is not None and point.high is not None:
        lines.append(f"{point.low:.0f}–{point.high:.0f}")
    lines.append(f"({point.n:,})")
    ground = {"facecolor": color, "edgecolor": "none", "pad": 0.4}
    how = {"color": ink, "ha": "center", "va": "center", "fontsize": 6.5 if width >= 0.33 else 5}
    axes.text(*position, "\n".join(lines), bbox=ground, linespacing=1.05, zorder=4, **how)  # type: ignore[arg-type]
    if point.n < MIN_CELL_SAMPLES:
        box = {"fill": False, "hatch": "////", "edgecolor": ink, "alpha": 0.35, "linewidth": 0}
        axes.bar(position[0], 1, 1, position[1] - 0.5, **box)  # type: ignore[arg-type]


# ----------------------------------------------------------------------
# Distributions as bars: what share of each data set has which value.
MAX_BARS = 12
"""Values of one panel; what lies beyond is one bar more."""


def distribution(title: str, across: str, of: str, series: Mapping[str, Mapping[Any, int]]) -> Bars:
    """One distribution of each data set.

    Args:
        title: What is counted, e.g. ``"depth"``.
        across: What the values are, where the title does not say it.
        of: What the shares are shares of, e.g. ``"plans"``.
        series: Data set → value → how many. Numbers stand in their order and with their gaps;
            words stand in the order in which they first come.

    >>> distribution("depth", "", "plans", {"a": {1: 3}, "b": {4: 1}}).ticks
    ('1', '2', '3', '4')
    """
    values = list(dict.fromkeys(value for counts in series.values() for value in counts))
    if values and all(isinstance(value, int) for value in values):
        values = list(range(min(values), min(max(values), min(values) + 10_000) + 1))
    listed, remaining = values[:MAX_BARS], values[MAX_BARS:]
    ticks = list(map(str, listed))
    shares = {}
    for name, counts in series.items():
        heights = [counts.get(value, 0) for value in listed]
        total = sum(counts.values())
        heights += [total - sum(heights)] * bool(remaining)
        shares[name] = tuple(Point(100 * height / (total or 1)) for height in heights)
    if remaining:
        ticks.append(f"{remaining[0]}+" if isinstance(remaining[0], int) else f"{len(remaining)} more")
    return Bars(title, tuple(ticks), across, f"% of {of}", shares, most=None)
