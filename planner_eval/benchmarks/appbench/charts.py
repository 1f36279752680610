"""AppBench's figures: where dependencies make plans hard, how prompting and training change scores.

Source: AppBench paper, Figure 4 (section 5.1), Figure 5 (5.2) and Figure 6 (5.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from planner_eval.base.errors import InputError, ParseError
from planner_eval.benchmarks.charts import ChartOf, System, own_figure, point
from planner_eval.dialects.read import parse
from planner_eval.drawing.charts import FEW, Bars, Chart, Heat, Point
from planner_eval.metrics.counts import Share
from planner_eval.plan.structure import parallel_scale

_PARTS = {"ss": "SS", "sm": "SM", "ms": "MS", "mm": "MM"}
_FIGURES = {"app_hit_f1": "F1 App", "api_hit_f1": "F1 API", "complete_match": "Succ"}


def figure4(systems: Sequence[System]) -> Chart:
    """A heat map a system: exact match of arguments by parallel and sequential scale of the gold plan.

    The sequential scale is the average size of the connected components, as section 5.1 has it.
    """
    return Chart("appbench-4", tuple(map(_heat, systems)), (f"hatched: fewer than {FEW} samples",))


def _heat(system: System) -> Heat:
    shares_by_scale: dict[tuple[float, float], list[Share | None]] = defaultdict(list)
    for (sample, _), row in system.rows():
        if (share := own_figure(row, "argu.em")) is None:
            raise InputError(
                f"{system.name}: the published code has no exact match of arguments: --corrected has it"
            )
        try:
            plan = parse(sample.gold, dialect="appbench")
        except ParseError:
            continue
        if plan.calls:
            parallel = parallel_scale(plan)
            shares_by_scale[parallel, len(plan.calls) / parallel].append(share)
    cells = {key: point(shares) for key, shares in shares_by_scale.items()}
    across, up = "parallel scale (components)", "sequential scale (calls a component)"
    return Heat(system.name, across, up, "arguments, exact match (%)", cells)


def figure5(systems: Sequence[System]) -> Chart:
    """Apps, APIs and whole plans by kind of instruction, prompted flatly and step by step."""
    pipelines = {system.asked.get("pipeline") for system in systems}
    if not {"flat", "hierarchical"} <= pipelines:
        raise InputError(
            "appbench-5 compares two ways to prompt: it needs runs of planeval predict with --pipeline flat "
            f"and hierarchical, and has {', '.join(sorted(map(str, pipelines - {None}))) or 'neither'}"
        )
    with_suffix = [(system, f", {system.asked['pipeline']}") for system in systems]
    renamed = [
        system._replace(name=system.name.removesuffix(suffix) + suffix) for system, suffix in with_suffix
    ]
    return figure6(renamed)._replace(name="appbench-5")


def figure6(systems: Sequence[System]) -> Chart:
    """Apps, APIs and whole plans by kind of instruction."""
    by_system = {name: _by_part(system) for name, system in _called(systems).items()}
    present = [category for category in _PARTS if any(category in groups for groups in by_system.values())]
    if not present:
        raise InputError("appbench-6 shows SS, SM, MS and MM, and no sample says which of these it is")
    panels = []
    for figure, head in _FIGURES.items():
        series = {
            name: tuple(_point(groups.get(category, []), figure) for category in present)
            for name, groups in by_system.items()
        }
        ticks = tuple(_PARTS[category] for category in present)
        panels.append(Bars(head, ticks, "kind of instruction (samples)", f"{head} (%)", series))
    return Chart("appbench-6", tuple(panels))


def _point(rows: Sequence[Mapping[str, Share | None]], figure: str) -> Point:
    return point(row[figure] for row in rows)


def _called(systems: Sequence[System]) -> dict[str, System]:
    return {system.name: system for system in systems}


def _by_part(system: System) -> dict[str, list[Mapping[str, Share | None]]]:
    by_category: dict[str, list[Mapping[str, Share | None]]] = defaultdict(list)
    for (sample, _), row in system.rows():
        by_category[sample.category].append({name: own_figure(row, name) for name in _FIGURES})
    return by_category


CHARTS = {
    "appbench-4": ChartOf("exact match of arguments by parallel and sequential scale", "Figure 4", figure4),
    "appbench-5": ChartOf("scores prompted flatly and hierarchically", "Figure 5", figure5),
    "appbench-6": ChartOf("F1 of apps and APIs, and success, by kind of instruction", "Figure 6", figure6),
}
