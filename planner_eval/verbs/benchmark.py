"""Answers scored as a published benchmark scores them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.registry import VARIANTS
from planner_eval.benchmarks.score import Scored, Source, score_file
from planner_eval.llm import Judge
from planner_eval.verbs.readings import AS_IT_COMES, Reading, refuse_reading


def score_benchmark(
    pred: str | os.PathLike[str],
    gold: str | os.PathLike[str],
    name: str,
    *,
    variants: Sequence[str] = VARIANTS,
    reading: Reading = AS_IT_COMES,
    judge: Judge | None = None,
    prompts: str | os.PathLike[str] | None = None,
    run: Any = None,
    ids: Collection[str] | None = None,
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
        ids: The samples that were asked, where that is not all of them; the others do not count.
        settings: The benchmark's own options, e.g. ``task="routing"``.

    Raises:
        InputError: a file, the benchmark or a setting is not there; the gold is another benchmark's; or
            answers and samples do not match at all.
    """
    sides: tuple[tuple[str, Any], ...] = (("answers", pred), ("gold", gold))
    for side, given in sides:
        if not isinstance(given, (str, os.PathLike)):
            kind = type(given).__name__
            raise InputError(
                f"the {side} are a {kind}, expected the path of a file: a benchmark reads its own files; "
                "pe.score scores what is in memory"
            )
    refuse_reading(reading)
    places = (reading.cache, None if prompts is None else os.fspath(prompts))
    source = Source(reading.id_field, reading.text_field, reading.by, *places, ids)
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
