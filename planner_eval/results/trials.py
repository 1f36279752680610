"""Several answers to each task: pass^k and pass@k, tasks that are sometimes right, and recorded verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb, fsum
from operator import add
from typing import TYPE_CHECKING, Any

from planner_eval.base.counts import round_ratio
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import Rows, Style
from planner_eval.base.text import JsonObject, format_count, lazy_pattern, one_line
from planner_eval.comparison.metrics.facts import Share
from planner_eval.comparison.rows import JUDGED_STATES
from planner_eval.results.columns import Column
from planner_eval.results.intervals import Interval, intervals, span_text

if TYPE_CHECKING:
    from planner_eval.results.scored import ScoredRow

RIGHT_FROM = 1 - 1e-6
"""A recorded verdict from which on an answer is right, as tau-bench's own figures take it."""

_ALWAYS_SHOWN = ("trials", "right", "recorded", "recorded_right")
"""Counts of a task that JSON has also where they are 0."""

_SHOWN_TASKS = 5
"""Tasks with the most disagreement that people are shown."""


def pass_hat_k(trials: int, right: int, k: int) -> float:
    """The chance that `k` of a task's trials, drawn without replacement, are all right: pass^k, unbiased.

    Args:
        trials: How many trials the task has, at least `k`.
        right: How many of them are right.
        k: How many are drawn.

    Source: Yao and others, τ-bench (arXiv 2406.12045), section 5.1: C(c, k) / C(n, k).

    >>> [round(pass_hat_k(4, 3, k), 2) for k in (1, 2, 3, 4)]
    [0.75, 0.5, 0.25, 0.0]
    """
    return comb(right, k) / comb(trials, k)


def pass_at_k(trials: int, right: int, k: int) -> float:
    """The chance that at least one of `k` of a task's trials is right: pass@k, unbiased.

    Args:
        trials: How many trials the task has, at least `k`.
        right: How many of them are right.
        k: How many are drawn.

    Source: Chen and others, Evaluating large language models trained on code (arXiv 2107.03374), section 2.1:
    1 - C(n - c, k) / C(n, k).

    >>> [round(pass_at_k(4, 1, k), 2) for k in (1, 2, 3, 4)]
    [0.25, 0.5, 0.75, 1.0]
    """
    return 1 - comb(trials - right, k) / comb(trials, k)


class TrialFigure(NamedTuple):
    """A figure of trials by its name, ``pass^k`` or ``pass@k``.

    Args:
        kind: ``"^"`` or ``"@"``.
        k: How many trials are drawn.
    """

    kind: str
    k: int

    def value(self, trials: int, right: int) -> float:
        """The figure of a task of at least `k` trials."""
        return (pass_hat_k if self.kind == "^" else pass_at_k)(trials, right, self.k)


_FIGURE_NAME = lazy_pattern(r"pass([\^@])([1-9]\d{0,5})")


def trial_figure(name: str) -> TrialFigure | None:
    """The figure of trials that a name stands for; None for another name.

    >>> trial_figure("pass^2"), trial_figure("exact")
    (TrialFigure(kind='^', k=2), None)
    """
    match = _FIGURE_NAME.fullmatch(name)
    return None if match is None else TrialFigure(match[1], int(match[2]))


class TaskCount(NamedTuple):
    """How often a task was tried, and how often right.

    Args:
        trials: Its trials with a readable gold plan.
        right: Those that mean the same as gold.
        recorded: Its trials with a recorded verdict.
        recorded_right: Those that this calls right.
        absent: Its trials without a prediction.
        unread: Its trials without a readable gold plan.
        missing: Its trials of which there is no record, although other tasks have so many; they are wrong.
    """

    trials: int = 0
    right: int = 0
    recorded: int = 0
    recorded_right: int = 0
    absent: int = 0
    unread: int = 0
    missing: int = 0


class TrialSums:
    """What trials and recorded verdicts add up to: sums of neighbouring parts are those of the whole.

    Args:
        data: Sums over some rows already, as :meth:`data` gives them.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        self.tasks = {name: TaskCount(*counts) for name, counts in stored.get("tasks", {}).items()}
        self.cells: list[int] = list(stored.get("cells", (0, 0, 0, 0)))
        """Judged rows with a verdict: both right, ours alone, the recorded alone, neither."""
        self.fields: list[str] = list(stored.get("fields", ()))

    def add(self, row: ScoredRow) -> None:
        """Add the next row."""
        judged, right = row.state in JUDGED_STATES, row.state == "same"
        recorded = row.verdict is not None
        recorded_right = row.verdict is not None and row.verdict.value >= RIGHT_FROM
        if row.verdict is not None and row.verdict.field not in self.fields:
            self.fields.append(row.verdict.field)
        if judged and recorded:
            self.cells[2 * (not right) + (not recorded_right)] += 1
        if row.task is not None:
            counts = self.tasks.get(row.task, TaskCount())
            more = (judged, right, recorded, recorded_right, row.state == "absent", not judged, 0)
            self.tasks[row.task] = TaskCount._make(map(add, counts, more))

    def extend(self, other: TrialSums) -> None:
        """Add the sums over the rows that come next."""
        for name, more in other.tasks.items():
            counts = self.tasks.get(name, TaskCount())
            self.tasks[name] = TaskCount._make(map(add, counts, more))
        self.cells = [*map(add, self.cells, other.cells)]
        self.fields += [field for field in other.fields if field not in self.fields]

    def data(self) -> JsonObject:
        """The sums as JSON data."""
        return {
            "tasks": {name: list(counts) for name, counts in self.tasks.items()},
            "cells": self.cells,
            "fields": self.fields,
        }


def fill_unanswered(tasks: Mapping[str, TaskCount]) -> dict[str, TaskCount]:
    """The tasks, of which each has as many trials as any other: those that it lacks are wrong.

    Where most tasks have one trial only, it is those with several that stand out: then only tasks that nobody
    answered are filled.

    Source: tau-bench, ``tau_bench/run.py`` (``display_metrics``): each task is divided by all trials.

    >>> fill_unanswered({"a": TaskCount(3, 1), "b": TaskCount(1, absent=1)})["b"].trials
    3
    >>> fill_unanswered({"a": TaskCount(3, 3), "b": TaskCount(2, 2)})["b"]
    TaskCount(trials=3, right=2, recorded=0, recorded_right=0, absent=0, unread=0, missing=1)
    """
    answered = [counts.trials + counts.unread for counts in tasks.values() if counts.absent < counts.trials]
    most = max(answered, default=0)
    repeated = 2 * sum(trials > 1 for trials in answered) >= len(answered)
    return {name: _fill_trials(counts, most, repeated=repeated) for name, counts in tasks.items()}


def _fill_trials(counts: TaskCount, most: int, *, repeated: bool) -> TaskCount:
    if not counts.trials or not most:
        return counts
    if counts.trials == counts.absent:
        return counts._replace(trials=most, absent=most)
    missing = most - counts.trials - counts.unread if repeated else 0
    recorded = missing if 0 < counts.trials - counts.absent <= counts.recorded else 0
    return counts._replace(
        trials=counts.trials + missing, recorded=counts.recorded + recorded, missing=missing
    )


class PassEstimate(NamedTuple):
    """pass^k and pass@k over tasks.

    Args:
        k: How many trials are drawn of each task.
        hat: pass^k, the mean over tasks.
        hat_interval: 95 %, each task a sample.
        at: pass@k, likewise.
        at_interval: 95 %, each task a sample.
        tasks: The tasks that have so many trials, of which those that a task lacks are wrong.
    """

    k: int
    hat: float
    hat_interval: Interval | None
    at: float
    at_interval: Interval | None
    tasks: int


def pass_estimates(counts: Sequence[tuple[int, int]]) -> list[PassEstimate]:
    """pass^k and pass@k for each k up to the trials that a task has.

    Args:
        counts: The trials of each task, and how many of them are right.

    >>> [(e.k, e.hat, e.at) for e in pass_estimates([(2, 2), (2, 1)])]
    [(1, 0.75, 0.75), (2, 0.5, 1.0)]
    """
    estimates = []
    for k in range(1, max((trials for trials, _ in counts), default=0) + 1):
        tasks = [count for count in counts if count[0] >= k]
        hat, hat_interval = _mean([pass_hat_k(trials, right, k) for trials, right in tasks])
        at_least, interval = _mean([pass_at_k(trials, right, k) for trials, right in tasks])
        estimates.append(PassEstimate(k, hat, hat_interval, at_least, interval, len(tasks)))
    return estimates


def _mean(values: Sequence[float]) -> tuple[float, Interval | None]:
    """The mean of one value per task, and its interval."""
    column = Column([Share(value, 1) for value in values])
    return fsum(values) / len(values), intervals({"": column})[""]


class TaskShares(NamedTuple):
    """How many tasks are right in all of their trials, in some, and in none."""

    always: int
    sometimes: int
    never: int


def task_shares(counts: Sequence[tuple[int, int]]) -> TaskShares:
    """How many tasks are always, sometimes and never right.

    >>> task_shares([(2, 2), (2, 1), (2, 0), (2, 0)])
    TaskShares(always=1, sometimes=1, never=2)
    """
    always = sum(trials == right for trials, right in counts)
    never = sum(not right for _, right in counts)
    return TaskShares(always, len(counts) - always - never, never)


class TrialReport(NamedTuple):
    """What is reported of trials and of recorded verdicts.

    Args:
        tasks: The tasks, in order.
        passes: pass^k and pass@k of "the same as gold".
        shares: Tasks always, sometimes and never the same as gold.
        recorded: pass^k and pass@k of the recorded verdict; empty where there is none.
        recorded_shares: The tasks by the recorded verdict, where there is one.
        field: The field of the recorded verdict; "" where there is none.
        cells: Both right, same as gold alone, recorded alone, neither.
    """

    tasks: Mapping[str, TaskCount]
    passes: Sequence[PassEstimate]
    shares: TaskShares
    recorded: Sequence[PassEstimate]
    recorded_shares: TaskShares | None
    field: str
    cells: tuple[int, int, int, int]

    def figures(self) -> dict[str, float]:
        """pass^k and pass@k of "the same as gold" by name."""
        hats = {f"pass^{estimate.k}": estimate.hat for estimate in self.passes}
        return hats | {f"pass@{estimate.k}": estimate.at for estimate in self.passes}

    @property
    def precision(self) -> float | None:
        """Of the trials that are the same as gold, the share whose recorded verdict is right."""
        both, alone, _, _ = self.cells
        return both / (both + alone) if both + alone else None

    @property
    def recall(self) -> float | None:
        """Of the trials whose recorded verdict is right, the share that is the same as gold."""
        both, _, missed, _ = self.cells
        return both / (both + missed) if both + missed else None

    def disagreement(self) -> list[str]:
        """The tasks whose trials disagree, those nearest to half right first."""
        spread = {
            name: min(counts.right, counts.trials - counts.right) / counts.trials
            for name, counts in self.tasks.items()
            if counts.trials
        }
        if not any(spread.values()):
            spread = {
                name: min(counts.recorded_right, counts.recorded - counts.recorded_right) / counts.recorded
                for name, counts in self.tasks.items()
                if counts.recorded
            }
        return sorted((name for name, share in spread.items() if share), key=lambda name: -spread[name])


def trial_report(sums: TrialSums) -> TrialReport | None:
    """What is to be reported; None where no task has two trials and no verdict was recorded.

    Args:
        sums: What trials add up to.
    """
    tasks = fill_unanswered(sums.tasks)
    counts = [(c.trials, c.right) for c in tasks.values() if c.trials]
    recorded = [(c.recorded, c.recorded_right) for c in tasks.values() if c.recorded]
    if max((trials for trials, _ in (*counts, *recorded)), default=0) < 2:
        counts, recorded = [], []
    if not counts and not any(sums.cells):
        return None
    both, ours, missed, neither = sums.cells
    return TrialReport(
        tasks if counts else {},
        pass_estimates(counts),
        task_shares(counts),
        pass_estimates(recorded),
        task_shares(recorded) if recorded else None,
        "/".join(sums.fields),
        (both, ours, missed, neither),
    )


# ----------------------------------------------------------------------
# Trials in writing.
def trial_lines(report: TrialReport, right_text: str = "the same as gold") -> Iterator[str]:
    """What people are told of trials beside the table of pass^k, a sentence a line.

    Args:
        report: The trials.
        right_text: What the trials are that count as right.
    """
    if report.passes:
        tried = [counts for counts in report.tasks.values() if counts.absent < counts.trials]
        unanswered = [counts for counts in report.tasks.values() if counts.trials == counts.absent > 0]
        further = "" if tried else ", without an answer"
        if not tried:
            tried, unanswered = unanswered, []
        answered = [counts.trials - counts.missing for counts in tried]
        missing = sum(counts.missing for counts in tried)
        each = f"{min(answered)}" if len({*answered}) == 1 else f"{min(answered)} to {max(answered)}"
        further += f"; {format_count(missing, 'missing trial')}, counted as wrong" if missing else ""
        further += f"; {format_count(len(unanswered), 'more task')} without an answer" if unanswered else ""
        further += f", counted as wrong {max(answered)} times" if unanswered else ""
        tasks = format_count(len(answered), "task")
        yield f"{format_count(sum(answered), 'trial')} of {tasks}, {each} each{further}"
        if unanswered or len({*answered}) > 1:
            exact = "exact counts every record once"
            exact += ", a task without an answer as one" if unanswered else ""
            exact += ", a missing trial not at all" if missing else ""
            yield f"pass^1 is a mean over tasks; {exact}"
        yield f"tasks {right_text}: {_shares_text(report.shares)}"
    if report.recorded_shares is not None:
        yield f"tasks right by recorded {report.field}: {_shares_text(report.recorded_shares)}"
    names = report.disagreement()
    if names:
        word = "same" if "same" in right_text else right_text
        shown = ", ".join(_task_text(name, report, word) for name in names[:_SHOWN_TASKS])
        more = len(names) - _SHOWN_TASKS
        yield one_line(f"most disagreement: {shown}" + (f" and {more} more" if more > 0 else ""), 300)
    if any(report.cells):
        yield agreement_line(report)


def agreement_line(report: TrialReport) -> str:
    """How far "the same as gold" agrees with the recorded verdict, in one line."""
    both, ours, missed, neither = report.cells
    figures = "; ".join(
        f"{name} {round_ratio(value)}"
        for name, value in (("precision", report.precision), ("recall", report.recall))
        if value is not None
    )
    return (
        f"recorded {report.field}: {both + missed} of {sum(report.cells)} right, {both + ours} the same as "
        f"gold: {both} both, {ours} only the same, {missed} only {report.field}, {neither} neither"
        + (f"; {figures}" if figures else "")
    )


def _shares_text(shares: TaskShares) -> str:
    total = sum(shares)
    return ", ".join(
        f"{name} {count} ({round_ratio(count / total, 2)})" for name, count in shares._asdict().items()
    )


def _task_text(name: str, report: TrialReport, right_text: str) -> str:
    counts = report.tasks[name]
    recorded = f", {report.field} {counts.recorded_right}" if counts.recorded else ""
    return f"{name} ({counts.right} of {counts.trials} {right_text}{recorded})"


def trial_rows(report: TrialReport) -> Rows:
    """pass^k and pass@k as rows of a table, those of the recorded verdict beside ours."""
    recorded = {estimate.k: estimate for estimate in report.recorded}
    uneven = any(recorded[e.k].tasks != e.tasks for e in report.passes if e.k in recorded)
    rows = []
    for estimate in report.passes:
        row: JsonObject = {
            "k": estimate.k,
            "pass^k": round_ratio(estimate.hat),
            "95 %": span_text(estimate.hat_interval),
            "pass@k": round_ratio(estimate.at),
            "95 % @k": span_text(estimate.at_interval),
        }
        if recorded:
            beside = recorded.get(estimate.k)
            row[f"{report.field}^k"] = round_ratio(beside.hat) if beside else None
            row[f"{report.field}@k"] = round_ratio(beside.at) if beside else None
            row |= {f"{report.field} tasks": beside.tasks if beside else 0} if uneven else {}
        rows.append(row | {"tasks": estimate.tasks})
    return rows


def trial_blocks(report: TrialReport | None, style: Style, right_text: str) -> list[str]:
    """Trials as blocks of a document; none where there is nothing to report."""
    if report is None:
        return []
    tables = [style.table(trial_rows(report))] if report.passes else []
    return [*tables, style.lines(trial_lines(report, right_text))]


def trial_data(report: TrialReport) -> JsonObject:
    """Trials as JSON data."""
    both, ours, missed, neither = report.cells
    data: JsonObject = {}
    if report.passes:
        data = {
            "tasks": {
                name: {key: count for key, count in counts._asdict().items() if count or key in _ALWAYS_SHOWN}
                for name, counts in report.tasks.items()
            },
            "passes": [_estimate_data(estimate) for estimate in report.passes],
            "shares": report.shares._asdict(),
            "disagreement": report.disagreement(),
        }
    if any(report.cells):
        data["recorded"] = {
            "field": report.field,
            "both": both,
            "only_same": ours,
            "only_recorded": missed,
            "neither": neither,
            "precision": report.precision,
            "recall": report.recall,
        }
        if report.recorded_shares is not None:
            data["recorded"]["passes"] = [_estimate_data(estimate) for estimate in report.recorded]
            data["recorded"]["shares"] = report.recorded_shares._asdict()
    return data


def _estimate_data(estimate: PassEstimate) -> JsonObject:
    return {
        "k": estimate.k,
        "pass^k": estimate.hat,
        "interval^k": estimate.hat_interval and estimate.hat_interval._asdict(),
        "pass@k": estimate.at,
        "interval@k": estimate.at_interval and estimate.at_interval._asdict(),
        "tasks": estimate.tasks,
    }
