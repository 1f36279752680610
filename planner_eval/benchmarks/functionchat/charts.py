"""FunctionChat-Bench's scores by type as bars: single calls by list of tools, dialogs by type of output.

Source: FunctionChat-Bench paper, Tables 3 and 4 (section 6.1); it has no such figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.charts import ChartOf, System, figure_of, point_of
from planner_eval.drawing.charts import Bars, Chart

_PANELS = {
    "singlecall": (
        "single calls",
        "list of tools (items)",
        {
            "exact": "exact",
            "4_random": "4 random",
            "4_close": "4 close",
            "8_random": "8 random",
            "8_close": "8 close",
        },
    ),
    "dialog": (
        "dialogs",
        "type of output (items)",
        {
            "call": "tool call",
            "completion": "answer completion",
            "slot": "slot question",
            "relevance": "relevance detection",
        },
    ),
}


def types(systems: Sequence[System]) -> Chart:
    """Pass rates by type, a panel a part of the data."""
    panels = []
    for subset, (head, across, kinds) in _PANELS.items():
        points = {
            system.name: {
                kind: point_of(figure_of(system.report, f"{subset} {kind} pass rate")) for kind in kinds
            }
            for system in systems
        }
        present = [
            kind for kind in kinds if any(by_kind[kind].value is not None for by_kind in points.values())
        ]
        if present:
            series = {name: tuple(by_kind[kind] for kind in present) for name, by_kind in points.items()}
            ticks = tuple(kinds[kind] for kind in present)
            panels.append(Bars(head, ticks, across, "pass rate (%)", series))
    if not panels:
        raise InputError("functionchat-types shows pass rates by type, and these answers have none")
    return Chart("functionchat-types", tuple(panels))


CHARTS = {"functionchat-types": ChartOf("pass rates by type of item", "Tables 3 and 4", types)}
