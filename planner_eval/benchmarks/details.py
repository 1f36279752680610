"""What papers show beside their main figures, and where the two variants of a benchmark disagree.

CallNavi's difficulties, FunctionChat-Bench's output types and ComplexFuncBench's domains, errors,
parameters and steps are among the figures themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark
from planner_eval.benchmarks.compare import SOLVED
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.score import figure_value, is_same_value

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import AnsweredSample
    from planner_eval.benchmarks.benchmark import Table
    from planner_eval.benchmarks.report import Report, Run
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# What papers show beside their main figures: by part of the data, by structure, by kind of error.
Rows = Sequence[Mapping[str, Any]]


def details(scored: Scored, *, run: Run | None = None) -> list[Table]:
    """Further tables of a score; none where the benchmark has none.

    Args:
        scored: The score.
        run: Runs answers, where it was scored with them run.
    """
    maker = scored.benchmark.details
    return [table for table in maker(scored, run) if table.rows] if maker else []


def records_by_part(scored: Scored) -> dict[str, list[AnsweredSample]]:
    """The scored records by part of the data."""
    groups: dict[str, list[AnsweredSample]] = {}
    for record in scored.matched.records:
        groups.setdefault(record.sample.category, []).append(record)
    return groups


def part_reports(scored: Scored, run: Run | None) -> dict[str, dict[str, Report]]:
    """The reports of each part of the data, scored by itself, by variant; none where there is one part."""
    groups = records_by_part(scored)
    if len(groups) < 2:
        return {}
    score = scored.benchmark.score
    return {
        category: {variant: score(variant, records, run=run, **scored.options) for variant in scored.reports}
        for category, records in groups.items()
    }


def part_rows(reports: Mapping[str, Mapping[str, Report]]) -> Rows:
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


# ----------------------------------------------------------------------
# Where the two variants of a benchmark disagree about one answer.
FigureDifferences: TypeAlias = "dict[str, tuple[Any, Any]]"
"""Figure → what either variant has there, the official one first."""


def figure_differences(
    benchmark: Benchmark, sample: Sample, text: str, options: Mapping[str, str]
) -> FigureDifferences:
    """The figures of one answer alone that the two variants do not share, whether it is solved first.

    A figure that only one variant has is none of them, nor is one in words: who decided, or why.

    Args:
        benchmark: The benchmark; without a judge, and without running answers.
        sample: What was asked.
        text: What a model answered.
        options: The benchmark's own options.

    >>> from planner_eval.benchmarks.registry import benchmark
    >>> sample = Sample("a", gold={"API": ["f"], "parameters": [{"x": "1"}]})
    >>> text = '{"API": ["f"], "parameters": [{"x": "1", "y": "2"}]}'
    >>> figure_differences(benchmark("callnavi"), sample, text, {})["ast"]
    (1.0, 0.0)
    """
    how: dict[str, Any] = dict(options)
    official, corrected = (benchmark.score(name, [(sample, text)], **how).rows[0] for name in VARIANTS)
    differences: FigureDifferences = {}
    if official.ok != corrected.ok:
        differences[SOLVED] = (official.ok, corrected.ok)
    corrected_figures = {figure.name: figure for figure in corrected.figures}
    for figure in official.figures:
        other = corrected_figures.get(figure.name)
        if other is None or isinstance(figure.value, str) or isinstance(other.value, str):
            continue
        if not is_same_value(figure, other):
            differences[figure.name] = (figure_value(figure), figure_value(other))
    return differences
