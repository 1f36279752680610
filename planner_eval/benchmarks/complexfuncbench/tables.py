"""The table of the data and the figures of ComplexFuncBench's paper.

Source: ComplexFuncBench paper, Table 3 and section 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.complexfuncbench.corrected import ERROR_TYPES, OTHER, PARAMETER_TYPES
from planner_eval.benchmarks.complexfuncbench.data import Step, domain_of, steps_of
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import (
    ChartSpec,
    System,
    figure_bars,
    paper_grid,
    point_of,
    printed_table,
)
from planner_eval.benchmarks.report import Cell, ratio
from planner_eval.results.drawing.charts import Bars, Chart, Point

# ----------------------------------------------------------------------
# The paper's table of the data, each printed cell beside the recomputed one.
_COLUMNS = ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross", "Total")


def table3(samples: Iterable[Sample]) -> list[Cell]:
    """Table 3: samples, steps and calls by domain, from the samples available.

    Args:
        samples: Any part of the data; each cell says how many samples it was computed from.

    Returns:
        The table row by row; a value is None where no sample of the domain is at hand.

    Source: ComplexFuncBench paper, Table 3.

    >>> table3([])[0].published
    '150'
    """
    steps: dict[str, list[tuple[Step, ...]]] = {name: [] for name in _COLUMNS}
    for sample in samples:
        for column in (domain_of(sample.id), "Total"):
            steps.setdefault(column, []).append(steps_of(sample.gold))
    columns = {name: steps[name] for name in _COLUMNS}
    return [*paper_grid("Table 3", printed_table("complexfuncbench", "table_3"), columns, _MEASURES)]


_MEASURES: dict[str, Callable[[Sequence[tuple[Step, ...]]], float]] = {
    "# Samples": len,
    "Avg. Steps": lambda conversations: sum(map(len, conversations)) / len(conversations),
    "Avg. Calls": lambda conversations: (
        sum(len(step.calls) for steps in conversations for step in steps) / len(conversations)
    ),
}


# ----------------------------------------------------------------------
# ComplexFuncBench's Figures 4, 5 and 6: kinds of errors, kinds of parameters, steps (section 4.3).
_INDEPENDENCE_NOTE = "error bars treat errors as independent, although some come from one conversation"


def error_chart(systems: Sequence[System]) -> Chart:
    """The share of each kind of error in all errors."""
    kinds = (*ERROR_TYPES, OTHER)
    panel = _bars(systems, "error share", kinds, "kind of error", "share of all errors (%)")
    series = {  # of one system all kinds are of the same number
        name: tuple(point._replace(n=0) for point in points) for name, points in panel.series.items()
    }
    return Chart("complexfuncbench-4", (panel._replace(series=series),), (_INDEPENDENCE_NOTE,))


def parameter_chart(systems: Sequence[System]) -> Chart:
    """The share of wrong values by kind of parameter."""
    across = "kind of parameter (values compared)"
    panel = _bars(systems, "error rate", PARAMETER_TYPES, across, "wrong values (%)")
    return Chart("complexfuncbench-5", (panel,), (_INDEPENDENCE_NOTE,))


def _bars(systems: Sequence[System], figure: str, kinds: Sequence[str], across: str, up: str) -> Bars:
    panel = figure_bars("", systems, {kind: (f"{figure} {kind}", kind) for kind in kinds}, across, up)
    if panel is None:
        raise InputError(
            f"there is no {figure} to show: no answer has such an error, or --official was given, whose code "
            "counts none"
        )
    return panel


def step_chart(systems: Sequence[System]) -> Chart:
    """How many conversations take how many steps, beside how many are annotated with so many."""
    distributions: dict[str, Counter[int]] = {}
    for system in systems:
        figures_by_row = [{figure.name: figure.value for figure in row.figures} for row in system.report.rows]
        pairs = [
            (figures["steps"], figures["turns"])
            for figures in figures_by_row
            if figures.keys() >= {"steps", "turns"}
        ]
        if not pairs:
            raise InputError(
                f"{system.name}: no conversation has a number of steps: use --corrected, which counts them"
            )
        annotated, actual = (Counter(int(pair[index] or 0) for pair in pairs) for index in (0, 1))
        distributions.setdefault("annotated", annotated)
        distributions[system.name if system.name != "annotated" else "annotated (system)"] = actual
    numbers = [number for counts in distributions.values() for number in counts]
    ticks = range(min(numbers), max(numbers) + 1)
    series = {
        name: tuple(point_of(ratio("", counts[number], counts.total()))._replace(n=0) for number in ticks)
        for name, counts in distributions.items()
    }
    series["annotated"] = tuple(Point(point.value) for point in series["annotated"])  # what is given is sure
    across = "steps with calls"
    return Chart(
        "complexfuncbench-6", (Bars("", tuple(map(str, ticks)), across, "conversations (%)", series),)
    )


CHARTS = {
    "complexfuncbench-4": ChartSpec("kinds of errors", "Figure 4", error_chart),
    "complexfuncbench-5": ChartSpec("wrong values by kind of parameter", "Figure 5", parameter_chart),
    "complexfuncbench-6": ChartSpec("steps taken and annotated", "Figure 6", step_chart),
}
