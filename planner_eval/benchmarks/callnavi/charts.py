"""CallNavi's stability over repeated answers, as bars.

Source: CallNavi paper, Table 7 (appendix D); it has no such figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.charts import ChartOf, System, own_figure, point
from planner_eval.drawing.charts import Bars, Chart, Point
from planner_eval.metrics.counts import Share

_FIGURES = {"election": "election", "levenshtein": "Levenshtein"}


def stability(systems: Sequence[System]) -> Chart:
    """Election and Levenshtein stability, means over the questions."""
    series = {system.name: tuple(_point(system, name) for name in _FIGURES) for system in systems}
    across = "stability score (questions)"
    return Chart(
        "callnavi-7", (Bars("", tuple(_FIGURES.values()), across, "mean over questions (%)", series),)
    )


def _point(system: System, name: str) -> Point:
    shares: dict[str, Share | None] = defaultdict(lambda: None)
    for row in system.report.rows:
        shares[row.id] = own_figure(row, name)
    mean_point = point(shares.values())
    if name == "levenshtein" and mean_point.value is None:
        raise InputError(
            f"{system.name}: callnavi-7 shows how stable repeated answers are, and no question has two: "
            "planeval predict --repeat 5 asks for them"
        )
    return mean_point


CHARTS = {
    "callnavi-7": ChartOf(
        "stability of repeated answers", "Table 7", stability, settings={"task": "stability"}
    )
}
