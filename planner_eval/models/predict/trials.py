"""A run that asked a model, scored by a benchmark: all answers to each sample, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from planner_eval.benchmarks.score import Scored
from planner_eval.models.predict.folder import PredictedRun
from planner_eval.models.predict.run import Rows, read_seconds
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.recorded_runs import recorded_costs
from planner_eval.results.totals import ConversationSums
from planner_eval.results.trials import TaskCount, TrialReport, pass_estimates, task_shares


def score_repetitions(run: PredictedRun, score: Callable[[int | None], Scored]) -> Scored:
    """The first answers scored, with what all answers to each sample come to.

    Args:
        run: The run.
        score: Scores the answers of a repetition, from 0; None where each sample was asked once.
    """
    answers = {(row["id"], row.get("repetition", 0)) for row in Rows(Path(run.rows))}
    repetitions = sorted({repetition for _, repetition in answers}) or [0]
    scored = [score(None if run.repeat == 1 else repetition) for repetition in repetitions]
    trials = _count_trials(scored, Counter(id for id, _ in answers))
    return replace(scored[0], trials=trials, spent=_sum_costs(run, scored))


def _count_trials(scored: list[Scored], answer_counts: Mapping[str, int]) -> dict[str, TrialReport]:
    """Of each variant how often each sample is right, of the times that it was asked."""
    if len(scored) == 1:
        return {}
    reports = {}
    for variant in scored[0].reports:
        right: Counter[str] = Counter()
        for repetition in scored:
            right.update({row.id: int(row.ok) for row in repetition.reports[variant].rows})
        tasks = {name: TaskCount(answer_counts[name], count) for name, count in right.items()}
        counts = [(count.trials, count.right) for count in tasks.values()]
        cells = (0, 0, 0, 0)
        reports[variant] = TrialReport(
            tasks, pass_estimates(counts), task_shares(counts), [], None, "", cells
        )
    return reports


def _sum_costs(run: PredictedRun, scored: list[Scored]) -> ConversationSums | None:
    """What all answers cost, beside those that are right: as corrected, where both verdicts are asked for."""
    if not scored[0].reports:
        return None
    *_, variant = scored[0].reports
    right = {
        (row.id, number): row.ok
        for number, repetition in enumerate(scored)
        for row in repetition.reports[variant].rows
    }
    seconds, sums = read_seconds(run.rows), ConversationSums()
    for row in Rows(Path(run.rows)):
        key = row["id"], row.get("repetition") or 0
        timing = {"seconds": seconds[key]} if key in seconds else {}
        costs = recorded_costs(Record("", 0, row["id"], None, fields={"requests": row["requests"], **timing}))
        if key in right and any(costs.values()):
            sums.add_costs({name: value for name, value in costs.items() if value}, right=right[key])
    return sums if sums.costs else None
