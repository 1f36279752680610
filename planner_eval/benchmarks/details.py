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
    from planner_eval.benchmarks.report import Report, Run
    from planner_eval.benchmarks.score import Scored

Rows = Sequence[Mapping[str, Any]]


def details(scored: Scored, *, run: Run | None = None) -> list[Table]:
    """Further tables of a score; none where the benchmark has none.

    Args:
        scored: The score.
        run: Runs answers, where it was scored with them run.
    """
    maker = scored.benchmark.details
    return [table for table in maker(scored, run) if table.rows] if maker else []


def parts(scored: Scored) -> dict[str, list[Answered]]:
    """The scored records by part of the data."""
    groups: dict[str, list[Answered]] = {}
    for record in scored.matched.records:
        groups.setdefault(record.sample.category, []).append(record)
    return groups


def part_reports(scored: Scored, run: Run | None) -> dict[str, dict[str, Report]]:
    """The reports of each part of the data, scored by itself, by variant; none where there is one part."""
    groups = parts(scored)
    if len(groups) < 2:
        return {}
    score = scored.benchmark.score
    return {
        category: {variant: score(variant, records, run=run, **scored.options) for variant in scored.reports}
        for category, records in groups.items()
    }


def by_part(reports: Mapping[str, Mapping[str, Report]]) -> Rows:
    """Each figure for each part; a row a figure, a column a part and variant.

    Args:
        reports: Of :func:`part_reports`.
    """
    rows: dict[str, dict[str, Any]] = {}
    columns = ["figure"]
    for category, variants in reports.items():
        for variant, report in variants.items():
            columns.append(f"{category} {variant}")
            for figure in report.figures:
                row = rows.setdefault(figure.name, {"figure": figure.name})
                row[columns[-1]] = figure.error or figure.value
    return [{column: row.get(column) for column in columns} for row in rows.values()]
