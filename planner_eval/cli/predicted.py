"""Folders in which planeval predict keeps answers, where a command takes files of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError
from planner_eval.base.text import counted
from planner_eval.cli.options import note
from planner_eval.cli.runs import peeked

if TYPE_CHECKING:
    from planner_eval.prediction.folder import Predicted
    from planner_eval.records.files import PlanFile
    from planner_eval.verbs.readings import Reading


def is_predicted(path: str) -> bool:
    """Whether a path is the folder of a run that asked a model."""
    return peeked(path).get("kind") == "predict"


def answers_of(path: str, *, repeated: bool = False) -> Predicted:
    """What such a folder keeps; says how many samples could not be asked, and how many answers do not count.

    Args:
        path: The folder.
        repeated: All answers to a sample count, as for CallNavi's stability.
    """
    from planner_eval.prediction.answers import further
    from planner_eval.prediction.folder import predicted

    run = predicted(path)
    missing, noun, lack = run.unasked, "sample", "without a whole answer"
    if repeated and run.repeat > 1:
        missing, noun, lack = run.lost, "answer", "not whole"
    if missing:
        counts = "count as wrong" if run.form == "own" else "count as they are"
        note(f"{path}: {counted(missing, noun)} {lack} {counts}")
    if not repeated and (message := further(run)):
        note(f"{path}: {message}")
    return run


def unanswered(run: Predicted | None) -> int:
    """Say of a run of which every request failed that there is nothing to evaluate; the exit code, else 0."""
    if run is None or not run.failed or run.failed < len(run.ids) * run.repeat:
        return 0
    note(f"{run.folder}: no request was answered: these figures say nothing of the model")
    return 3


def benchmark_of(run: Predicted) -> str | None:
    """The benchmark under which such answers are scored; None for tasks of one's own."""
    return None if run.form == "own" else run.form


def gold_of(run: Predicted, named: str | None) -> str:
    """The gold of such answers: what the user names, else where the samples came from.

    Raises:
        InputError: the user has to name it.
    """
    from planner_eval.prediction import folder

    return folder.gold_of(run, named)


def reading_of(how: Reading, runs: Sequence[Predicted]) -> Reading:
    """How files are read, with the cache folder of the data sets that were asked where none is named."""
    cache = runs[0].cache if runs else None
    return how._replace(cache=cache) if how.cache is None and cache is not None else how


def same_samples(runs: Sequence[Predicted]) -> None:
    """Refuse runs that were not asked the same.

    Raises:
        InputError: says which two differ, and how.
    """
    first = runs[0]
    for other in runs[1:]:
        problem = f"{first.folder} and {other.folder} cannot be compared"
        if first.form != other.form:
            raise InputError(f"{problem}: they are of {first.form} and {other.form}")
        if unshared := first.ids ^ other.ids:
            lacking = other if min(unshared) in first.ids else first
            raise InputError(
                f"{problem}: {lacking.folder} was not asked {min(unshared)!r}, and {len(unshared) - 1:,} "
                "more samples are in one of them alone; ask both the same, with --id or --limit"
            )
        unlike = [id for id, task in first.tasks.items() if other.tasks.get(id, task) != task]
        if unlike:
            raise InputError(
                f"{problem}: {len(unlike):,} of their questions differ, that of {unlike[0]!r} first"
            )


def those_asked(golds: PlanFile, run: Predicted) -> PlanFile:
    """The gold plans that were asked for; says how many others do not count."""
    from planner_eval.prediction.answers import golds_asked

    chosen, total = golds_asked(golds, run), len(golds.records)
    if len(chosen.records) != total:
        note(f"{len(chosen.records):,} of {total:,} gold plans were asked for; the others do not count")
    return chosen
