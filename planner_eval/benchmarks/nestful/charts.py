"""NESTful's Figure 6: win rate by nesting depth, data dependencies and nesting pattern (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.charts import ChartOf, System, point_of
from planner_eval.benchmarks.nestful.corrected import outcomes
from planner_eval.benchmarks.nestful.tables import Share, figure6
from planner_eval.benchmarks.report import ratio
from planner_eval.drawing.charts import Bars, Chart, Point

_PANELS = {
    "depth": ("(a)", "nesting depth (samples)"),
    "dependencies": ("(b)", "data dependencies (samples)"),
    "pattern": ("(c)", "nesting pattern (samples)"),
}


def by_structure(systems: Sequence[System]) -> Chart:
    """Win rate by the structure of the gold plan, three panels, a bar a system."""
    shares_by_system = {system.name: _shares(system) for system in systems}
    panels = []
    for panel, (head, across) in _PANELS.items():
        panel_shares = {
            name: {s.key: s for s in shares if s.panel == panel} for name, shares in shares_by_system.items()
        }
        keys = dict.fromkeys(key for shares in panel_shares.values() for key in shares)
        ordered = sorted(
            keys,
            key=lambda key: (isinstance(key, str), len(str(key)) if isinstance(key, str) else key, str(key)),
        )
        series = {
            name: tuple(_point(shares.get(key)) for key in ordered) for name, shares in panel_shares.items()
        }
        panels.append(Bars(head, tuple(map(str, ordered)), across, "win rate (%)", series))
    return Chart("nestful-6", tuple(panels))


def _shares(system: System) -> list[Share]:
    if system.run is None:
        raise InputError("nestful-6 shows win rates, for which answers are run: --tools nestful runs them")
    records = [record for record, _ in system.rows()]
    shares = figure6(outcomes(records, run=system.run, **system.scored.options))
    if not shares:
        raise InputError(f"{system.name}: nestful-6 shows win rates, and no gold plan of these can be run")
    return shares


def _point(share: Share | None) -> Point:
    return Point(None) if share is None else point_of(ratio("", share.won, share.n))


CHARTS = {
    "nestful-6": ChartOf("win rate by depth, dependencies and nesting pattern", "Figure 6", by_structure)
}
