"""ComplexFuncBench's Figures 4, 5 and 6: kinds of errors, kinds of parameters, steps (section 4.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.charts import ChartOf, System, figure_of, point_of
from planner_eval.benchmarks.complexfuncbench.analysis import ERROR_TYPES, PARAMETER_TYPES
from planner_eval.benchmarks.report import ratio
from planner_eval.drawing.charts import Bars, Chart, Point

_ALONE = "an error bar takes each error for one of its own, though some come from one conversation"


def errors(systems: Sequence[System]) -> Chart:
    """The share of each kind of error in all errors."""
    bars = _bars(systems, "error share", (*ERROR_TYPES, "other"), "kind of error", "share of all errors (%)")
    series = {  # of one system all kinds are of the same number
        name: tuple(point._replace(n=0) for point in points) for name, points in bars.series.items()
    }
    return Chart("complexfuncbench-4", (bars._replace(series=series),), (_ALONE,))


def parameters(systems: Sequence[System]) -> Chart:
    """The share of wrong values by kind of parameter."""
    bars = _bars(
        systems, "error rate", PARAMETER_TYPES, "kind of parameter (values compared)", "wrong values (%)"
    )
    return Chart("complexfuncbench-5", (bars,), (_ALONE,))


def _bars(systems: Sequence[System], figure: str, kinds: Sequence[str], across: str, up: str) -> Bars:
    points = {
        system.name: {kind: point_of(figure_of(system.report, f"{figure} {kind}")) for kind in kinds}
        for system in systems
    }
    present = [kind for kind in kinds if any(by_kind[kind].value is not None for by_kind in points.values())]
    if not present:
        raise InputError(
            f"there is nothing to show of {figure}s: no answer has an error that is one of these, or only "
            "--official was asked for, whose code counts none"
        )
    series = {name: tuple(by_kind[kind] for kind in present) for name, by_kind in points.items()}
    return Bars("", tuple(present), across, up, series)


def steps(systems: Sequence[System]) -> Chart:
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
                f"{system.name}: no conversation says how many steps it took: --corrected counts them"
            )
        annotated, actual = (Counter(int(pair[index] or 0) for pair in pairs) for index in (0, 1))
        distributions.setdefault("annotated", annotated)
        distributions[system.name if system.name != "annotated" else "annotated (system)"] = actual
    numbers = [number for counts in distributions.values() for number in counts]
    ticks = range(min(numbers), max(numbers) + 1)
    series = {name: _shares(counts, ticks) for name, counts in distributions.items()}
    series["annotated"] = tuple(Point(point.value) for point in series["annotated"])  # what is given is sure
    across = "steps with calls"
    return Chart(
        "complexfuncbench-6", (Bars("", tuple(map(str, ticks)), across, "conversations (%)", series),)
    )


def _shares(counts: Counter[int], ticks: Sequence[int]) -> tuple[Point, ...]:
    total = counts.total()
    return tuple(point_of(ratio("", counts[number], total))._replace(n=0) for number in ticks)


CHARTS = {
    "complexfuncbench-4": ChartOf("kinds of errors", "Figure 4", errors),
    "complexfuncbench-5": ChartOf("wrong values by kind of parameter", "Figure 5", parameters),
    "complexfuncbench-6": ChartOf("steps taken and annotated", "Figure 6", steps),
}
