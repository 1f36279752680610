"""NESTful's alternate trajectories, and averages over files: in the published scorer, which never calls them.

Source: the paper, section 4.4 ("alternative reasoning paths/trajectories"); ``get_alter_traj_scores`` and
``calculate_weighted_avg_score`` of the published ``scorer.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner_eval.benchmarks.report import Figure, Report, ratio

ALTERNATE = "alternate_trajectory_score"
AVERAGED = (
    "f1_intent",
    "f1_slot",
    "accuracy_combined",
    "percentage_times_full_score",
    "win_rate",
    ALTERNATE,
)
"""What is averaged over files, in the published order but for the last two."""


def alternate(report: Report) -> Figure:
    """The share of samples that win although not all of their calls are gold's: by another plan.

    Args:
        report: Of answers that were run; without, the figure has no value.

    Returns:
        Wins with Partial below 1, of all samples that have a win or a loss: under ``"official"`` all of them.

    >>> from planner_eval.benchmarks.report import SampleScore
    >>> row = SampleScore("a", True, (Figure("partial", 0.5), Figure("win", 1.0)))
    >>> alternate(Report("nestful", "official", 1, (), (row,))).value
    1.0
    """
    error = next((figure.error for figure in report.figures if figure.error), None)
    if error is not None:
        return Figure(ALTERNATE, None, error=error)
    hits, judged = by_another_plan(report), 0
    for row in report.rows:
        judged += any(figure.name == "win" and figure.value is not None for figure in row.figures)
    return ratio(ALTERNATE, len(hits), judged, note="" if judged else "not run")


def by_another_plan(report: Report) -> list[str]:
    """The ids of the samples that :func:`alternate` counts."""
    ids = []
    for row in report.rows:
        values = {figure.name: figure.value for figure in row.figures}
        win, partial = values.get("win"), values.get("partial")
        if win and isinstance(partial, float | int) and partial < 1:
            ids.append(row.id)
    return ids


def weighted_average(reports: Sequence[Report]) -> list[Figure]:
    """Each figure of several files, averaged with the numbers of their samples as weights.

    The published function reads the printed numbers, of three decimals; so do the official averages. It asks
    for a figure, ``alternate_trajectory_score``, that no published result has: see :func:`alternate`. A win
    rate is weighted by the samples that it was computed from, none in a file whose functions are not there.

    Args:
        reports: One a file, all of one variant.

    Returns:
        A figure a name of :data:`AVERAGED`; without a value where a file has none, with the error of the
        first file whose figures have one.

    >>> one = Report("nestful", "corrected", 1, (Figure("num_examples", 1), Figure("f1_slot", 1.0)))
    >>> other = Report("nestful", "corrected", 3, (Figure("num_examples", 3), Figure("f1_slot", 0.0)))
    >>> weighted_average([one, other])[1].value
    0.25
    """
    return [_average(name, reports) for name in AVERAGED]


def _average(name: str, reports: Iterable[Report]) -> Figure:
    total = weights = 0.0
    for report in reports:
        figures = {figure.name: figure for figure in (*report.figures, alternate(report))}
        figure, samples = figures.get(name), figures["num_examples"]
        if figure is not None and figure.error:
            return Figure(name, None, error=figure.error)
        counted = samples.value
        if figure is not None and name in ("win_rate", ALTERNATE):
            counted = figure.denominator
        if counted == 0:
            continue  # a file of which nothing was counted weighs nothing
        if figure is None or not isinstance(figure.value, float | int):
            return Figure(name, None, note=figure.note if figure else "")
        weight = float(counted or 0)
        value = float(f"{figure.value:.3f}") if report.variant == "official" else figure.value
        total, weights = total + weight * value, weights + weight
    return ratio(name, total, weights)
