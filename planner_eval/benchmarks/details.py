"""What papers show beside their main figures: by part of the data, by structure, by kind of error.

CallNavi's difficulties, FunctionChat-Bench's output types and ComplexFuncBench's domains, errors,
parameters and steps are among the figures themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Answered
    from planner_eval.benchmarks.benchmark import Table
    from planner_eval.benchmarks.report import Run
    from planner_eval.benchmarks.score import Scored

Rows = Sequence[Mapping[str, Any]]


def details(scored: Scored, *, run: Run | None = None) -> list[Table]:
    """Further tables of a score; none where the benchmark has none.

    Args:
        scored: The score.
        run: Runs answers, where it was scored with them run.
    """
    maker = scored.benchmark.details
    return [made for made in maker(scored, run) if made.rows] if maker else []


def parts(scored: Scored) -> dict[str, list[Answered]]:
    """The scored records by part of the data."""
    found: dict[str, list[Answered]] = {}
    for record in scored.matched.records:
        found.setdefault(record.sample.category, []).append(record)
    return found


def by_part(scored: Scored, run: Run | None) -> Rows:
    """Each figure for each part; a row a figure, a column a part and variant."""
    found = parts(scored)
    if len(found) < 2:
        return []
    rows: dict[str, dict[str, Any]] = {}
    for part, records in found.items():
        for variant in scored.reports:
            report = scored.benchmark.score(variant, records, run=run, **scored.options)
            for figure in report.figures:
                row = rows.setdefault(figure.name, {"figure": figure.name})
                row[f"{part} {variant}"] = figure.error or figure.value
    columns = ["figure", *(f"{part} {variant}" for part in found for variant in scored.reports)]
    return [{column: row.get(column) for column in columns} for row in rows.values()]
