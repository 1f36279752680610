"""Scores that processes make in parts, and those that a run's folder keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.engine.folder import Input
from planner_eval.engine.kept import kept
from planner_eval.engine.run import run
from planner_eval.engine.score import ScoreJob
from planner_eval.metrics import METRICS
from planner_eval.records.files import PlanFile
from planner_eval.scoring.report import About, Report, report_of
from planner_eval.scoring.report_formats import report_data
from planner_eval.scoring.row_lines import StoredRows
from planner_eval.scoring.scored import Scored
from planner_eval.scoring.totals import Totals
from planner_eval.verbs.evaluating import Paired

Make = Callable[[Totals, Sequence[Scored]], Report]
"""Makes the report of sums and rows."""

_CHUNK = 1 << 20


def run_score(
    job: ScoreJob,
    paired: Paired,
    make: Make,
    *,
    jobs: int | None,
    folder: str | os.PathLike[str] | None,
    deadline: float,
    part: int | None,
    progress: Callable[[int, int, int], None] | None,
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
        progress: Is told how many pairs are done.
    """
    done = run(
        job,
        paired.pairs,
        folder=None if folder is None else os.fspath(folder),
        inputs=[*_inputs("pred", paired.pred), *_inputs("gold", paired.gold)],
        jobs=jobs,
        deadline=deadline,
        part=part,
        progress=progress,
        report=lambda totals: _report_text(make(totals, ())),
    )
    return make(done.sums, StoredRows(done.rows, done.pairs, done))


def _report_text(report: Report) -> str:
    """A report without its rows, which stand beside it."""
    data = report_data(report, ())
    del data["rows"]
    return json.dumps(data, ensure_ascii=False, indent=1)


def _inputs(role: str, file: PlanFile) -> Iterator[Input]:
    """The files behind the plans of one side, so that a run of others is told from this one."""
    names = [name for name in (file.parts or [file.name]) if os.path.isfile(name)]
    for name in names:
        with open(name, "rb") as stream:
            found, size = blake2b(digest_size=16), 0
            while data := stream.read(_CHUNK):
                found.update(data)
                size += len(data)
        yield Input(role, name, size, found.hexdigest())
    if not names:  # standard input, a data set, a list
        found = blake2b(digest_size=16)
        for record in file.records:
            found.update(repr((record.id, record.source, record.fields)).encode("utf-8", "backslashreplace"))
        yield Input(role, file.name, len(file.records), found.hexdigest())


def kept_score(path: str, seed: int = 0) -> Report:
    """The report of a run that was scored.

    Args:
        path: The run's folder.
        seed: Where the random numbers of intervals start.

    Raises:
        InputError: it is no such run, or not done.
    """
    found = kept(path, "score")
    try:
        options: Any = found.options
        metrics, by, policy = options["metrics"], options["keys"], options["policy"]
        about = About.of(options["about"])
        totals = found.sums(lambda data: Totals(metrics, by, data))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: what the run wrote there cannot be read") from None
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"{path}: the run has the metric {unknown[0]!r}, which this version does not know")
    rows = StoredRows(found.rows, found.pairs)
    return report_of(totals, rows, about, policy=policy, seed=seed, version=found.version)
