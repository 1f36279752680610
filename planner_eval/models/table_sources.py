"""What the samples of a run come to, as a table asks for it: under a benchmark, or by metrics."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache as remembered
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count
from planner_eval.benchmarks.answers import gold_samples
from planner_eval.benchmarks.benchmark import Benchmark, BenchmarkRules
from planner_eval.benchmarks.compare import key_of, shares_of
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest
from planner_eval.benchmarks.layouts import LayoutColumn
from planner_eval.benchmarks.report import Report
from planner_eval.benchmarks.score import Scored
from planner_eval.benchmarks.score_benchmark import score_benchmark
from planner_eval.comparison.metrics.facts import Share, Tally
from planner_eval.comparison.rows import JUDGED_STATES
from planner_eval.models.pipelines.demonstrations import LEAK_MARK
from planner_eval.models.predict.folder import RUN_KIND, PredictedRun, gold_of, read_predicted_run
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.reading.settings import Reading
from planner_eval.results import scored as rows
from planner_eval.results.columns import Column as Tallies
from planner_eval.results.report import figures, no_cluster_error
from planner_eval.results.runs.folder import refuse_unlike as refuse_unlike_runs
from planner_eval.results.runs.model import StoredRun, open_run
from planner_eval.results.runs.stored import read_stored_run, refuse_damaged
from planner_eval.results.table import MeasuredFigure
from planner_eval.results.trials import TrialFigure, TrialSums, fill_unanswered, trial_figure


# ----------------------------------------------------------------------
# The runs that a table is made of: whose they are, and what was asked in each.
class TableRun(NamedTuple):
    """What a run's folder says of it.

    Args:
        path: The folder.
        label: The name of the system; its model, else the folder.
        form: The benchmark; None for one's own tasks.
        asked: What was asked of whom, as layouts name it; empty where that is not known.
        predicted: What a run that asked a model keeps; None of one that was scored.
        stored: What a run that was scored keeps; None of one that asked a model.
        mark: What its figures are marked with, see :mod:`planner_eval.reading.files.fields`.
        cache: The cache folder of data sets that it took gold from, where it was not the usual one.
    """

    path: str
    label: str
    form: str | None
    asked: Mapping[str, Any]
    predicted: PredictedRun | None
    stored: StoredRun | None
    mark: str = ""
    cache: str | None = None

    @property
    def settings(self) -> dict[str, str]:
        """The benchmark's options that it was scored with."""
        return {} if self.stored is None else self.stored.settings

    @property
    def metrics(self) -> tuple[str, ...]:
        """Of one's own tasks that were scored: by which metrics."""
        return () if self.stored is None else tuple(self.stored.options["metrics"])

    def fits(self, column: LayoutColumn, columns: Sequence[LayoutColumn]) -> bool:
        """Whether a column is of such runs.

        A run that was scored does not say what was asked: it fits where the table leaves no choice.

        Args:
            column: The column.
            columns: All columns of the table.
        """
        if self.predicted is not None or self.form is None:
            return all(
                self.asked.get(key) in (expected if isinstance(expected, list) else [expected])
                for key, expected in column.where.items()
            )
        if self.settings != dict(column.settings):
            return False
        return all(other.where == column.where for other in columns if other.settings == column.settings)

    @property
    def said(self) -> str:
        """What was asked, in words."""
        marked = f", {self.mark}" if self.mark else ""
        if self.predicted is None:
            scored = "".join(f" --set {key}={value}" for key, value in self.settings.items())
            return f"a run of score{scored}{marked}"
        usual = {"shots": 0, "repeat": 1, "history": "gold"}
        named = [f"{key} {value}" for key, value in self.asked.items() if value != usual.get(key, "")]
        description = f"{format_count(len(self.predicted.ids), 'sample')}, " + ", ".join(named)
        return "; ".join([f"{description}{marked}", *self.predicted.notes()])


def read_table_run(path: str) -> TableRun:
    """What a folder says of its run.

    Raises:
        InputError: it is no folder of a run that can be tabled, or it is not done.
    """
    kind = open_run(path).kind
    with refuse_damaged(path):
        if kind == RUN_KIND:
            model_run = read_predicted_run(path)
            form = None if model_run.form == "own" else model_run.form
            label, run_setup = str(model_run.options.get("model")), _read_setup(model_run.options)
            return TableRun(path, label, form, run_setup, model_run, None, model_run.mark, model_run.cache)
        if kind != "score":
            raise InputError(f"{path}: expected the folder of a run of planeval predict or score -o DIR/")
        run = read_stored_run(path, "score")
        name = os.path.basename(os.path.normpath(path))
        mark, cache = str(run.about.get("mark") or ""), run.about.get("cache")
        return TableRun(path, name, run.benchmark, {}, None, run, mark, cache)


def _read_setup(options: Mapping[str, Any]) -> dict[str, Any]:
    """What layouts may ask of a run, by their names for it."""
    setup, shots, choice = options.get("setup") or {}, options.get("shots"), options.get("choice")
    shots = setup.get("shots") if shots is None else shots
    choice = setup.get("choice") if choice is None else choice
    return {
        "pipeline": options.get("pipeline"),
        "shots": shots.get("number", 0) if isinstance(shots, Mapping) else 0,
        "router": options.get("router") or "",
        "list form": setup.get("listing") or "",
        "repeat": options.get("repeat", 1),
        "distractors": _format_choice(choice) if isinstance(choice, Mapping) else "",
        "history": setup.get("history") or "gold",
        "notation": setup.get("dialect") or "",
        "constrained by": (setup.get("constrain") or {}).get("by") or "",
        "oddities": "official" if setup.get("official") else "",
        "leak": "apps" if LEAK_MARK in (options.get("gold") or ()) else "",
        "prompts": "published" if (options.get("prompts") or {}).get("published") else "own",
    }


def _format_choice(choice: Mapping[str, Any]) -> str:
    """Which tools were on offer beside gold's.

    >>> _format_choice({"number": 3, "closeness": "close", "budget": None, "seed": 0})
    '3 close'
    """
    number, budget = choice.get("number"), choice.get("budget")
    words = [*([] if number is None else [number]), choice.get("closeness")]
    words += [] if budget is None else ["within", budget, "tokens"]
    words += ["seed", choice.get("seed")] if choice.get("seed") else []
    return " ".join(map(str, words))


def refuse_unlike(runs: Sequence[TableRun]) -> None:
    """Refuse runs that were scored by other versions, or otherwise; under a benchmark gold is held later.

    Raises:
        InputError: says which two, and what they do not have in common.
    """
    own = runs[0].form is None
    scored = [run.stored for run in runs if run.stored is not None]
    for other in scored[1:]:
        ignored = ("about", "metrics", "keys") if own else (*other.options, *scored[0].options)
        refuse_unlike_runs(scored[0], other, "cannot share a table", ignored=ignored, gold=own)


# ----------------------------------------------------------------------
# What the samples of a run come to, as a table asks for it: under a benchmark, or by metrics.
class RememberingJudge:
    """A judge that is asked each question once, however many parts of a table need the answer.

    Args:
        judge: Who answers.
    """

    def __init__(self, judge: Judge) -> None:
        self.ask: Callable[[JudgeRequest], JudgeReply] = remembered(judge.ask)


# ---------------------------------------------------------------- under a benchmark
class BenchmarkSource:
    """A run that is scored under its benchmark, once for each of the options that columns want.

    Args:
        run: The run.
        bench: The benchmark.
        rules: How it is scored: under the last of their variants.
        gold: The benchmark's data; where the run came from when None.
    """

    def __init__(self, run: TableRun, bench: Benchmark, rules: BenchmarkRules, gold: str | None) -> None:
        self.run, self.bench, self.rules, self.gold = run, bench, rules, gold
        self.variant = rules.variants[-1]
        self._scored: dict[tuple[tuple[str, str], ...], Scored] = {}
        self._report = remembered(self._make_report)
        self.samples = remembered(self._read_samples)

    def _read_samples(self) -> dict[str, Sample]:
        """The samples by id."""
        try:
            samples = gold_samples(self.bench, self._gold(), cache=self.run.cache)
        except InputError as problem:
            if self.gold is not None or self.run.predicted is not None:
                raise
            raise InputError(f"{self.run.path}: {problem}; --gold names it where it lies elsewhere") from None
        ids = None if self.run.predicted is None else self.run.predicted.ids
        return {sample.id: sample for sample in samples if ids is None or sample.id in ids}

    def _gold(self) -> str:
        if self.run.predicted is not None:
            return gold_of(self.run.predicted, self.gold)
        assert self.run.stored is not None
        named = self.gold or self.run.stored.about.get("gold")
        if not isinstance(named, str):
            raise InputError(f"{self.run.path} does not name its gold: name it with --gold")
        return named

    def ids(self) -> frozenset[str]:
        """The samples that it is of."""
        return frozenset(self.samples())

    def values(self, key: str) -> list[str]:
        """What a key is in these samples, in their order."""
        values = (key_of(s, key) for s in self.samples().values())
        return list(dict.fromkeys(value for value in values if value is not None))

    def names(self, column: LayoutColumn) -> list[str]:
        """The figures that are numbers."""
        figures = self._report(_settings_of(column), None).figures
        return [f.name for f in figures if not isinstance(f.value, str)]

    def measured(self, column: LayoutColumn, ids: Collection[str] | None) -> MeasuredFigure:
        """A figure, of some samples or of all."""
        samples = self.samples()
        sample_ids = [key for key in samples if ids is None or key in ids]
        if column.part is not None:
            sample_ids = [
                key for key in sample_ids if key_of(samples[key], column.part.key) == column.part.value
            ]
        column_ids = frozenset(
            k for k in sample_ids if all(key_of(samples[k], a) == b for a, b in column.only.items())
        )
        empty = MeasuredFigure(None, ids=column_ids, run=self.run.path)
        if not column_ids:
            return empty._replace(why="the run has no such sample")
        some = None if len(sample_ids) == len(samples) else frozenset(sample_ids)
        report = self._report(_settings_of(column), some)
        try:
            figure = report.figure(column.figure)
        except KeyError:
            return empty._replace(why=f"there is no metric {column.figure} here, {self.variant}")
        if isinstance(figure.value, str) or figure.value is None:
            absent = (
                "there is nothing to count" if figure.value is None else "the model was not asked for this"
            )
            return empty._replace(why=figure.error or figure.note or absent)
        value = figure.value / (100 if self.variant in column.percent_in else 1)
        tallies = self._tallies(report, column, column_ids, value)
        counted = figure.denominator or len(tallies) or 1
        scale = {"count": counted, "percent": 100}.get(column.unit, 1)
        return MeasuredFigure(value, tallies, column_ids, scale, "", self.run.path)

    def clusters(self, key: str) -> dict[str, str]:
        """In which cluster each sample lies; InputError where one lies in none."""
        return _require_clusters(key, {name: key_of(s, key) for name, s in self.samples().items()})

    def notes(self) -> list[str]:
        """What does not count in these figures, or counts as wrong."""
        notes: dict[str, None] = {}
        for scored in self._scored.values():
            matched = scored.matched
            for count, what in (
                (len(matched.missing), "sample{} without an answer, counted as wrong"),
                (len(matched.repeated), "further answer{} to a sample that has one, not counted"),
                (len(matched.unknown), "answer{} without a sample, not counted"),
                (len(scored.lost), "sample{} with an internal error, not counted"),
            ):
                notes |= {f"{count:,} {what.format('s' * (count != 1))}": None} if count else {}
        return list(notes)

    def _tallies(
        self, report: Report, column: LayoutColumn, ids: frozenset[str], value: float
    ) -> dict[str, Share | None]:
        """Of each sample what adds up to a figure; empty where nothing does."""
        for name in column.of:
            of_rows = (figure for row in report.rows for figure in row.figures if figure.name == name)
            shares = shares_of(report, name, all(figure.denominator is None for figure in of_rows))
            tallies = {key: shares.get(key) for key in self.samples() if key in ids}
            present = [share for share in tallies.values() if share is not None]
            part_total = sum(share.part for share in present)
            whole_total = sum(share.whole for share in present)
            if whole_total and abs(part_total / whole_total - value) < 1e-9:
                return tallies
        return {}

    def _make_report(self, settings: tuple[tuple[str, str], ...], ids: frozenset[str] | None) -> Report:
        """The figures of some samples or of all, scored with some of the benchmark's options."""
        scored = self.scored_with(settings)
        full_report = scored.reports[self.variant]
        if ids is None:
            return full_report
        if self.run.predicted is None:
            from planner_eval.benchmarks.runs import select_samples

            return select_samples(full_report, ids)
        records = [r for r in scored.matched.records if r[0].id in ids]
        return self.bench.score(
            self.variant, records, judge=scored.judge, run=self.rules.run, **scored.options
        )

    def scored_with(self, settings: tuple[tuple[str, str], ...]) -> Scored:
        """What the benchmark says of the run, with some of its options."""
        if settings not in self._scored:
            if self.run.stored is not None:
                from planner_eval.benchmarks.runs import read_stored_benchmark

                scored = read_stored_benchmark(self.run.stored).scored
                if self.variant not in scored.reports:
                    variants = ", ".join(scored.reports)
                    raise InputError(f"{self.run.path} was scored as {variants}, expected {self.variant}")
            else:
                assert self.run.predicted is not None
                scored = score_benchmark(
                    self.run.predicted.rows, self._gold(), self.bench.name,
                    reading=Reading(cache=self.run.cache), ids=self.run.predicted.ids,
                    rules=self.rules._replace(variants=(self.variant,), settings=dict(settings)),
                )  # fmt: skip
            self._scored[settings] = scored
        return self._scored[settings]


def _settings_of(column: LayoutColumn) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(column.settings.items()))


def _require_clusters(key: str, clusters: Mapping[str, str | None]) -> dict[str, str]:
    for name, cluster in clusters.items():
        if cluster is None:
            raise no_cluster_error(key, name)
    return {name: cluster for name, cluster in clusters.items() if cluster is not None}


# ---------------------------------------------------------------- one's own
class OwnSource:
    """Scored pairs of one's own.

    Args:
        path: The run.
        scored: The pairs.
        notes: Says which answers of the run do not count, or were not what was asked for.
        cluster: By which of their keys they were put into clusters.
    """

    def __init__(
        self,
        path: str,
        scored: Sequence[rows.ScoredRow],
        notes: Sequence[str] = (),
        cluster: str | None = None,
    ) -> None:
        self.path, self.scored, self.said = path, [row for row in scored if row.state in JUDGED_STATES], notes
        self.pairs, self.cluster = scored, cluster
        self.unjudged, self.missing = len(scored) - len(self.scored), 0

    def ids(self) -> frozenset[str]:
        """The samples that it is of."""
        return frozenset(row.id for row in self.scored)

    def values(self, key: str) -> list[str]:
        """What a key is in these samples."""
        return list(dict.fromkeys(row.keys[key] for row in self.scored if key in row.keys))

    def names(self, column: LayoutColumn) -> list[str]:
        """The metrics that there are."""
        return list(self.scored[0].tallies) if self.scored else []

    def measured(self, column: LayoutColumn, ids: Collection[str] | None) -> MeasuredFigure:
        """A metric, of some samples or of all."""
        if (drawn := trial_figure(column.figure)) is not None:
            tallies = self._trial_tallies(drawn, column, ids)
        else:
            tallies = {
                row.id: row.tallies.get(column.figure) for row in self._chosen(column, ids, self.scored)
            }
        empty = MeasuredFigure(None, ids=frozenset(tallies), run=self.path)
        if not tallies:
            return empty._replace(why="the run has no such sample")
        value = figures({"": Tallies(tallies.values())})[0].value
        if value is None:
            return empty._replace(why="there is nothing to count")
        scale = 100 if column.unit == "percent" else 1
        return MeasuredFigure(value, tallies, frozenset(tallies), scale, "", self.path)

    def clusters(self, key: str) -> dict[str, str]:
        """In which cluster each sample lies; InputError where one lies in none."""
        if key == TASK_KEY:
            return {row.id: row.task or row.id for row in self.scored}
        return _require_clusters(key, {row.id: row.keys.get(key) for row in self.scored})

    @property
    def trials(self) -> int:
        """The most trials that a task has."""
        return max(Counter(row.task or row.id for row in self.scored).values(), default=0)

    def _trial_tallies(
        self, drawn: TrialFigure, column: LayoutColumn, ids: Collection[str] | None
    ) -> dict[str, Tally | None]:
        """pass^k or pass@k of each task that has so many trials; trials that only others have are wrong."""
        sums, in_part = TrialSums(), set()
        for row in self._chosen(column._replace(part=None), ids, self.pairs):  # all have as many as any other
            row = row if row.task is not None else replace(row, task=row.id)
            sums.add(row)
            in_part |= {row.task} if _is_of_part(row, column) else set()
        tasks = sums.tasks if ids is not None else fill_unanswered(sums.tasks)
        self.missing = sum(counts.missing for counts in tasks.values())
        return {
            task: Share(drawn.value(counts.trials, counts.right), 1)
            for task, counts in tasks.items()
            if task in in_part and counts.trials >= drawn.k
        }

    def notes(self) -> list[str]:
        """What does not count in these figures."""
        notes = [*self.said]
        if self.unjudged:
            notes.append(f"{self.unjudged:,} without a gold plan, not counted")
        if self.missing:
            notes.append(f"{format_count(self.missing, 'missing trial')}, counted as wrong in pass^k")
        return notes

    def _chosen(
        self, column: LayoutColumn, ids: Collection[str] | None, pairs: Sequence[rows.ScoredRow]
    ) -> Iterator[rows.ScoredRow]:
        for row in pairs:
            if (ids is None or row.id in ids) and _is_of_part(row, column):
                yield row


def _is_of_part(row: rows.ScoredRow, column: LayoutColumn) -> bool:
    return column.part is None or row.keys.get(column.part.key) == column.part.value


Source: TypeAlias = BenchmarkSource | OwnSource
"""A run whose figures can be asked for."""
