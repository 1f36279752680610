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
    found = _bars(systems, "error share", (*ERROR_TYPES, "other"), "kind of error", "share of all errors (%)")
    series = {  # of one system all kinds are of the same number
        name: tuple(point._replace(n=0) for point in points) for name, points in found.series.items()
    }
    return Chart("complexfuncbench-4", (found._replace(series=series),), (_ALONE,))


def parameters(systems: Sequence[System]) -> Chart:
    """The share of wrong values by kind of parameter."""
    found = _bars(
        systems, "error rate", PARAMETER_TYPES, "kind of parameter (values compared)", "wrong values (%)"
    )
    return Chart("complexfuncbench-5", (found,), (_ALONE,))


def _bars(systems: Sequence[System], figure: str, kinds: Sequence[str], across: str, up: str) -> Bars:
    points = {
        system.name: {kind: point_of(figure_of(system.report, f"{figure} {kind}")) for kind in kinds}
        for system in systems
    }
    there = [kind for kind in kinds if any(found[kind].value is not None for found in points.values())]
    if not there:
        raise InputError(
            f"there is nothing to show of {figure}s: no answer has an error that is one of these, or only "
            "--official was asked for, whose code counts none"
        )
    series = {name: tuple(found[kind] for kind in there) for name, found in points.items()}
    return Bars("", tuple(there), across, up, series)


def steps(systems: Sequence[System]) -> Chart:
    """How many conversations take how many steps, beside how many are annotated with so many."""
    shown: dict[str, Counter[int]] = {}
    for system in systems:
        own = [{figure.name: figure.value for figure in row.figures} for row in system.report.rows]
        pairs = [(one["steps"], one["turns"]) for one in own if one.keys() >= {"steps", "turns"}]
        if not pairs:
            raise InputError(
                f"{system.name}: no conversation says how many steps it took: --corrected counts them"
            )
        annotated, taken = (Counter(int(pair[side] or 0) for pair in pairs) for side in (0, 1))
        shown.setdefault("annotated", annotated)
        shown[system.name if system.name != "annotated" else "annotated (system)"] = taken
    numbers = [number for found in shown.values() for number in found]
    ticks = range(min(numbers), max(numbers) + 1)
    series = {name: _shares(found, ticks) for name, found in shown.items()}
    series["annotated"] = tuple(Point(point.value) for point in series["annotated"])  # what is given is sure
    across = "steps with calls"
    return Chart(
        "complexfuncbench-6", (Bars("", tuple(map(str, ticks)), across, "conversations (%)", series),)
    )


def _shares(found: Counter[int], ticks: Sequence[int]) -> tuple[Point, ...]:
    total = found.total()
    return tuple(point_of(ratio("", found[number], total))._replace(n=0) for number in ticks)


CHARTS = {
    "complexfuncbench-4": ChartOf("kinds of errors", "Figure 4", errors),
    "complexfuncbench-5": ChartOf("wrong values by kind of parameter", "Figure 5", parameters),
    "complexfuncbench-6": ChartOf("steps taken and annotated", "Figure 6", steps),
}
