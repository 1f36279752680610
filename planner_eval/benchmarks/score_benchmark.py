"""Answers scored as a published benchmark scores them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import COUNT, FUNCTION, NAMES, PATH, InputError, expect, expect_or_none
from planner_eval.benchmarks.benchmark import VARIANTS
from planner_eval.benchmarks.score import Scored, Source, score_file
from planner_eval.comparison.rows import DEFAULT_READING, Reading, check_reading

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge
    from planner_eval.results.runs.ray import RayRunner


def score_benchmark(  # noqa: PLR0913 - the options of a public function
    pred: str | os.PathLike[str],
    gold: str | os.PathLike[str],
    name: str,
    *,
    variants: Sequence[str] = VARIANTS,
    reading: Reading = DEFAULT_READING,
    judge: Judge | None = None,
    prompts: str | os.PathLike[str] | None = None,
    run: Any = None,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    deadline: float | None = None,
    part: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    engine: RayRunner | None = None,
    ids: Collection[str] | None = None,
    repetition: int | None = None,
    **settings: str,
) -> Scored:
    """Score a file of answers as a published benchmark does: as its code computes, and as its paper means.

    Args:
        pred: The file of answers; ``"-"`` is standard input.
        gold: A folder of the published data, one of its files, or the name of a data set in the cache.
        name: The benchmark's name, e.g. ``"nestful"``.
        variants: ``"official"``, ``"corrected"`` or both.
        reading: The fields of the id and the answer, and how answers are matched.
        judge: Decides what rules cannot, where the benchmark knows a judge.
        prompts: The folder of the prompts that the judge is asked with; when left out the published ones
            where they lie beside the data, else our own.
        run: Runs answers, where the benchmark does: a :class:`planner_eval.execution.NestfulRunner`.
        jobs: Have so many processes score parts of the answers; 0: as many as there are cores. Where the
            benchmark scores answers one by one, without a judge or a runner.
        folder: Keep all that is found there; the same again goes on where it was stopped.
        deadline: Then seconds for an answer.
        part: Then how many answers are done in one go.
        progress: Then told how many answers are done, of how many, and how many failed.
        engine: Then where it is done, when not by processes of this machine.
        ids: The samples that were asked, where that is not all of them; the others do not count. By one
            process.
        repetition: Of answers that :func:`planner_eval.predict` repeated those of this repetition, from 0.
        settings: The benchmark's own options, e.g. ``task="routing"``.

    Raises:
        InputError: a file, the benchmark or a setting is not there; the gold is another benchmark's; or
            answers and samples do not match at all.

    >>> from planner_eval.base.resources import folder
    >>> samples = folder("data") / "samples"
    >>> scored = score_benchmark(samples / "answers" / "nestful.jsonl", samples / "nestful", "nestful")
    >>> {name: report.value("r_intent") for name, report in scored.reports.items()}
    {'official': 0.875, 'corrected': 0.8571428571428571}
    """
    inputs: tuple[tuple[str, Any], ...] = (("answers", pred), ("gold", gold))
    for role, path in inputs:
        if not isinstance(path, (str, os.PathLike)):
            kind = type(path).__name__
            raise InputError(
                f"the {role} are a {kind}, expected the path of a file: a benchmark reads its own files; "
                "pe.score scores what is in memory"
            )
    check_reading(reading)
    expect(NAMES, variants=variants)
    expect_or_none(NAMES, ids=ids)
    expect_or_none(PATH, prompts=prompts, folder=folder)
    expect_or_none(COUNT, jobs=jobs)
    expect_or_none(FUNCTION, run=run, progress=progress)
    folders = (reading.cache, None if prompts is None else os.fspath(prompts))
    expect_or_none(COUNT, repetition=repetition)
    source = Source(reading.id_field, reading.text_field, reading.by, *folders, ids, repetition)
    if jobs is not None or folder is not None:
        from planner_eval.benchmarks.runs import run_benchmark

        if judge is not None or run is not None or ids is not None or repetition is not None:
            raise InputError("with a judge, a runner or some samples only, answers are scored by one process")
        how = {"deadline": deadline} if deadline is not None else {}
        return run_benchmark(
            os.fspath(pred),
            os.fspath(gold),
            name,
            variants=variants,
            source=source,
            settings=settings,
            folder=None if folder is None else os.fspath(folder),
            jobs=jobs,
            part=part,
            progress=progress,
            engine=engine,
            **how,
        )
    return score_file(
        os.fspath(pred),
        os.fspath(gold),
        name,
        variants=variants,
        source=source,
        judge=judge,
        run=run,
        **settings,
    )
