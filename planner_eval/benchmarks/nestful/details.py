"""The further tables of a NESTful score: averages over parts, other plans, challenges, Figure 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.details import Rows, by_part, part_reports
from planner_eval.benchmarks.nestful.challenges import challenges
from planner_eval.benchmarks.nestful.corrected import outcomes
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL
from planner_eval.benchmarks.nestful.tables import figure6
from planner_eval.benchmarks.nestful.trajectories import (
    ALTERNATE,
    alternate,
    by_another_plan,
    weighted_average,
)

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Figure, Report, Run
    from planner_eval.benchmarks.score import Scored

_NAMED = 3
"""Samples that a row names."""


def tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part and their weighted average, the challenges; with `run`, what needs wins."""
    reports_by_part = part_reports(scored, run)
    yield Table("By part", by_part(reports_by_part))
    yield Table("Average over parts, weighted by samples", _averages(reports_by_part))
    records = scored.matched.records
    results = list(outcomes(records, run=run, **scored.options))
    if run is not None:
        rows = _alternates(scored.reports, reports_by_part)
        yield Table("Alternate trajectories: the gold answer by another plan", rows)
    model = scored.options.get("model", DEFAULT_MODEL)
    answers = ((sample, text, outcome) for (sample, text), outcome in zip(records, results, strict=True))
    rows = [
        {"challenge": c.name, "answers": c.samples, "failed": c.of, "times": c.times, "note": c.note}
        for c in challenges(answers, model=model)
    ]
    yield Table("Sections 5 and 4.4: challenges in the answers that failed", rows)
    if run is not None:
        shares = [
            {"by": s.panel, "value": str(s.key), "samples": s.n, "won": s.won, "win rate": s.win_rate}
            for s in figure6(results)
        ]
        yield Table("Figure 6: win rate by structure", shares)


def _averages(reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a figure, the average under each variant with its sums."""
    rows: dict[str, dict[str, Any]] = {}
    for variant in next(iter(reports_by_part.values()), {}):
        for figure in weighted_average([reports[variant] for reports in reports_by_part.values()]):
            row = rows.setdefault(figure.name, {"figure": figure.name})
            row |= {variant: figure.error or figure.value, f"{variant} of": _sums(figure)}
    return list(rows.values())


def _sums(figure: Figure) -> str | None:
    if figure.numerator is None or figure.denominator is None:
        return None
    return f"{figure.numerator:g}/{figure.denominator:g}"


def _alternates(overall: Mapping[str, Report], reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a part and variant, with the first of the samples that were won by another plan."""
    rows = []
    for subset, variants in {**reports_by_part, "all": overall}.items():
        for variant, report in variants.items():
            figure, ids = alternate(report), by_another_plan(report)
            first_ids = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
            row: dict[str, Any] = {"part": subset, "variant": variant}
            row |= {ALTERNATE: figure.error or figure.value, "of": _sums(figure), "which": first_ids}
            rows.append(row)
    return rows
