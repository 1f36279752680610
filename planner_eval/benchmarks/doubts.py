"""How far the figures of a benchmark hang on doubtful gold: the same without its records."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.base.tables import Style
from planner_eval.results.gold_doubts import read_gold_doubts

if TYPE_CHECKING:
    from planner_eval.benchmarks.score import Scored


def format_without_doubts(
    scored: Scored, doubts: Any, score: Callable[[Collection[str]], Scored], style: Style
) -> str:
    """Each figure of a benchmark, and beside it that without the records of doubtful gold, as a table.

    Args:
        scored: What it said of all samples.
        doubts: The records, as :func:`planner_eval.results.gold_doubts.read_gold_doubts` takes them.
        score: Scores the samples with these ids.
        style: How it is written.

    Raises:
        InputError: the file cannot be read, or none of its records is a sample, or all samples are.
    """
    read = read_gold_doubts(doubts)
    samples = [row.id for row in next(iter(scored.reports.values())).rows]
    undoubted = [name for name in samples if name not in read.records]
    unknown = read.unknown(samples)
    if not undoubted:
        raise InputError(f"{read.name}: gold is doubtful in all {len(samples)} samples: no score is left")
    undoubted_score = score(undoubted)
    rows = []
    for variant, report in scored.reports.items():
        values = {figure.name: figure.value for figure in undoubted_score.reports[variant].figures}
        for figure in report.figures:
            value, other = figure.value, values.get(figure.name)
            rows.append(
                {
                    "variant": variant,
                    "figure": figure.name,
                    "value": _round(value),
                    "without": _round(other),
                    "difference": f"{other - value:+.4f}"
                    if isinstance(value, (int, float)) and isinstance(other, (int, float))
                    else None,
                }
            )
    head = read.message(len(samples) - len(undoubted), len(samples), len(unknown))
    return f"\n\n{style.join([head, style.table(rows)])}"


def _round(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
