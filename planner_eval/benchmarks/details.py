"""What papers show beside their main figures: by part of the data, by structure, by kind of error.

CallNavi's difficulties, FunctionChat-Bench's output types and ComplexFuncBench's domains, errors,
parameters and steps are among the figures themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.benchmarks.nestful.win import Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.datasets.sample import Sample

Rows = Sequence[Mapping[str, Any]]
Records = Sequence["tuple[Sample, str]"]


def details(scored: Scored, *, run: Run | None = None) -> list[tuple[str, Rows]]:
    """Further tables of a score, each with its title.

    Args:
        scored: The score.
        run: Runs answers, where it was scored with them run.

    Returns:
        Of AppBench the figures of each part, Table 4 and Figure 4; of NESTful the figures of each part
        and, with `run`, Figure 6. Nothing of the others.
    """
    maker = DETAILS.get(scored.benchmark.name)
    return [(title, rows) for title, rows in maker(scored, run) if rows] if maker else []


def _parts(scored: Scored) -> dict[str, list[tuple[Sample, str]]]:
    found: dict[str, list[tuple[Sample, str]]] = {}
    for sample, text in scored.matched.records:
        found.setdefault(sample.category, []).append((sample, text))
    return found


def _by_part(scored: Scored, run: Run | None) -> Rows:
    """Each figure for each part; a row a figure, a column a part and variant."""
    parts = _parts(scored)
    if len(parts) < 2:
        return []
    rows: dict[str, dict[str, Any]] = {}
    for part, records in parts.items():
        for variant in scored.reports:
            report = scored.benchmark.score(variant, records, run=run, **scored.options)
            for figure in report.figures:
                row = rows.setdefault(figure.name, {"figure": figure.name})
                row[f"{part} {variant}"] = figure.error or figure.value
    columns = ["figure", *(f"{part} {variant}" for part in parts for variant in scored.reports)]
    return [{column: row.get(column) for column in columns} for row in rows.values()]


def _appbench(scored: Scored, run: Run | None) -> Iterator[tuple[str, Rows]]:
    from planner_eval.benchmarks.appbench.counting import outcomes
    from planner_eval.benchmarks.appbench.tables import figure4, table4

    yield "By part", _by_part(scored, run)
    errors: list[dict[str, Any]] = []
    for part, records in _parts(scored).items():
        for cell in table4(outcomes(records), part.upper()):
            row = {"part": part.upper(), "error": cell.column, "percent": cell.value, "of": cell.n}
            errors.append(row | {"GPT-4o's, as printed": cell.published, "note": cell.note})
    yield "Table 4: errors in percent", errors
    grid = figure4(outcomes(scored.matched.records))
    shown = [
        {"parallel": c.parallel, "sequential": c.sequential, "samples": c.n, "exact match": c.value}
        | {"in the figure": "yes" if c.shown else "no: fewer than ten"}
        for c in grid
    ]
    yield "Figure 4: exact match of arguments by scale", shown


def _nestful(scored: Scored, run: Run | None) -> Iterator[tuple[str, Rows]]:
    from planner_eval.benchmarks.nestful.corrected import outcomes
    from planner_eval.benchmarks.nestful.tables import figure6

    yield "By part", _by_part(scored, run)
    if run is not None:
        shares = figure6(outcomes(scored.matched.records, run=run, **scored.options))
        rows = [
            {"by": s.panel, "value": str(s.key), "samples": s.n, "won": s.won, "win rate": s.win_rate}
            for s in shares
        ]
        yield "Figure 6: win rate by structure", rows


DETAILS: Mapping[str, Callable[..., Iterator[tuple[str, Rows]]]] = {
    "appbench": _appbench,
    "nestful": _nestful,
}
