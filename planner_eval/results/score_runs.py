"""Scores that processes make in parts, and those that a run's folder keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.comparison.evaluate import PairedFiles
from planner_eval.comparison.metrics import METRICS
from planner_eval.results.compare import System, comparison_of
from planner_eval.results.contrast import Comparison
from planner_eval.results.report import Provenance, Report, report_of
from planner_eval.results.runs.folder import inputs_of, option_texts
from planner_eval.results.runs.jobs import ScoreJob
from planner_eval.results.runs.pairs import make_change_check
from planner_eval.results.runs.run import run
from planner_eval.results.runs.stored import StoredRun, read_rows, read_stored_run
from planner_eval.results.scored import ScoredRow, StoredRows, row_of_columns
from planner_eval.results.totals import Totals
from planner_eval.results.views.report import report_data

if TYPE_CHECKING:
    from planner_eval.results.runs.ray import RayRunner


ReportMaker = Callable[[Totals, Sequence[ScoredRow]], Report]
"""Makes the report of sums and rows."""


def run_score(  # noqa: PLR0913 - the options of a public function
    job: ScoreJob,
    paired: PairedFiles,
    make: ReportMaker,
    *,
    jobs: int | None,
    folder: str | os.PathLike[str] | None,
    deadline: float,
    part: int | None,
    store: str,
    progress: Callable[[int, int, int], None] | None,
    engine: RayRunner | None,
) -> Report:
    """Score pairs in parts, by processes; the report's rows are read when they are asked for.

    Args:
        job: How they are scored.
        paired: The pairs.
        make: Makes the report.
        jobs: How many processes.
        folder: Where the run is kept; a temporary one, that lives as long as the report, when left out.
        deadline: Seconds for a pair.
        part: How many pairs make a part.
        store: In what a folder keeps the rows.
        progress: Is told how many pairs are done.
        engine: Where it is done, when not by processes of this machine.
    """
    outcome = run(
        job,
        paired.pairs,
        folder=None if folder is None else os.fspath(folder),
        inputs=[*inputs_of("pred", paired.pred), *inputs_of("gold", paired.gold)],
        given=(paired.pred.name, paired.gold.name),
        jobs=jobs,
        deadline=deadline,
        part=part,
        store=store,
        progress=progress,
        engine=engine,
        unchanged=make_change_check(paired.pred, paired.gold),
        report=lambda totals: _report_text(make(totals, ())),
    )
    return make(outcome.sums, _stored_rows(outcome.rows, outcome.pairs, outcome))


def _stored_rows(rows: str, count: int, keeps: object = None) -> StoredRows:
    """The rows of a run, in either store."""
    if rows.endswith(".parquet"):
        return StoredRows(rows, count, keeps, lambda path: map(row_of_columns, read_rows(os.fspath(path))))
    return StoredRows(rows, count, keeps)


def _report_text(report: Report) -> str:
    """A report without its rows, which stand beside it."""
    data = report_data(report, ())
    del data["rows"]
    return json.dumps(data, ensure_ascii=False, indent=1)


class _StoredScore(NamedTuple):
    """What a folder keeps of a run that was scored."""

    run: StoredRun
    metrics: tuple[str, ...]
    keys: tuple[str, ...]
    cluster: str | None
    policy: str
    system: System

    def clustered(self, requested: str | None) -> str | None:
        """The clusters that it was scored with, or those that are asked for, which its rows have to name.

        Raises:
            InputError: they do not.
        """
        if requested not in (None, self.cluster, *self.keys):
            raise InputError(
                f"{self.run.path} was not scored with --cluster {requested}, so nothing is known of it"
            )
        return requested or self.cluster


def read_stored_score(path: str, cluster: str | None = None) -> Report:
    """The report of a run that was scored.

    Args:
        path: The run's folder.
        cluster: In which clusters its samples lie; those that it was scored with when left out.

    Raises:
        InputError: it is no such run, not done, or was not scored with such clusters.
    """
    stored = _read_score(path)
    rows, totals, about, _ = stored.system
    if stored.clustered(cluster) != stored.cluster:
        totals.recluster(rows, cluster)
    return report_of(totals, rows, about, policy=stored.policy, version=stored.run.version)


def _read_score(path: str) -> _StoredScore:
    stored = read_stored_run(path, "score")
    try:
        options: Any = stored.options
        metrics, keys = tuple(options["metrics"]), tuple(options["keys"])
        cluster = options.get("cluster")
        about = Provenance.of(options["about"])
        causes = bool(options.get("causes"))
        totals = stored.sums(lambda data: Totals(metrics, keys, data, cluster, causes=causes))
        policy = str(options["policy"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: what the run wrote there cannot be read") from None
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"{path}: the run has the metric {unknown[0]!r}, which this version does not know")
    system = System(_stored_rows(stored.rows, stored.pairs), totals, about, bool(options.get("repair")))
    return _StoredScore(stored, metrics, keys, cluster, policy, system)


def is_benchmark_run(path: str | os.PathLike[str]) -> bool:
    """Whether a folder keeps a run that was scored under a benchmark.

    Args:
        path: The folder.

    Raises:
        InputError: it holds no run of score.
    """
    return "benchmark" in read_stored_run(os.fspath(path), "score").options


def compare_stored_runs(
    paths: Sequence[str | os.PathLike[str]],
    names: Sequence[str],
    *,
    by: Sequence[str] = (),
    seed: int = 0,
    cluster: str | None = None,
) -> Comparison:
    """Compare runs that were scored against the same gold plans, each with the first.

    Args:
        paths: Their folders.
        names: What they are called.
        by: What to break the differences down by; all that the runs are broken down by when left out.
        seed: Where random numbers start.
        cluster: In which clusters samples lie; those that the runs were scored with when left out.

    Raises:
        InputError: a folder holds no such run, or the runs were not scored alike.
    """
    stored = [_read_score(os.fspath(path)) for path in paths]
    first = stored[0]
    for other in stored[1:]:
        _refuse_unlike(first, other)
    for key in by:
        if key not in first.keys:
            raise InputError(f"{first.run.path} was not scored with --by {key}, so nothing is known of it")
    return comparison_of(
        [s.system for s in stored],
        first.metrics,
        names=names,
        by=by or first.keys,
        seed=seed,
        policy=first.policy,
        cluster=first.clustered(cluster),
        version=first.run.version,
    )


def _refuse_unlike(first: _StoredScore, other: _StoredScore) -> None:
    """Refuse two runs whose rows do not say the same of the same gold plans.

    Raises:
        InputError: says what they do not have in common.
    """
    prefix = f"{first.run.path} and {other.run.path} cannot be compared"
    if first.run.version != other.run.version:
        raise InputError(f"{prefix}: they are of versions {first.run.version} and {other.run.version}")
    golds = [
        [(i["size"], i["digest"]) for i in scored.run.inputs if i["role"] == "gold"]
        for scored in (first, other)
    ]
    if golds[0] != golds[1]:
        raise InputError(f"{prefix}: their gold plans are not the same")
    # What root causes cost is no part of a comparison.
    first_options, other_options = (
        {**scored.run.options, "about": None, "causes": None} for scored in (first, other)
    )
    for name in dict.fromkeys([*first_options, *other_options]):
        if (value := first_options.get(name)) != (other_value := other_options.get(name)):
            values = "{} is {} and {}".format(*option_texts(name, value, other_value, "score"))
            raise InputError(f"{prefix}: they were not scored alike, {values}")
