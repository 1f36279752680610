"""Answers scored as a published benchmark scores them."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import COUNT, FUNCTION, NAMES, InputError, expect_or_none
from planner_eval.benchmarks.benchmark import DEFAULT_RULES, BenchmarkRules, check_rules
from planner_eval.benchmarks.score import Scored, score_file
from planner_eval.reading.settings import DEFAULT_READING, Reading, check_reading
from planner_eval.results.runs.model import DEFAULT_RUNNING, Running, check_running

if TYPE_CHECKING:
    from planner_eval.comparison.evaluate import Progress


def score_benchmark(  # noqa: PLR0913 - the options of a public function
    pred: str | os.PathLike[str],
    gold: str | os.PathLike[str],
    name: str,
    *,
    reading: Reading = DEFAULT_READING,
    ids: Collection[str] | None = None,
    repetition: int | None = None,
    rules: BenchmarkRules = DEFAULT_RULES,
    running: Running = DEFAULT_RUNNING,
    progress: Progress | None = None,
) -> Scored:
    """Score a file of answers as a published benchmark does: as its code computes, and as its paper means.

    Args:
        pred: The file of answers; ``"-"`` is standard input.
        gold: A folder of the published data, one of its files, or the name of a data set in the cache.
        name: The benchmark's name, e.g. ``"nestful"``.
        reading: The fields of the id and the answer, and how answers are matched.
        ids: The samples that were asked, where that is not all of them; the others do not count. By one
            process.
        repetition: Of answers that :func:`planner_eval.predict` repeated those of this repetition, from 0.
        rules: How answers are judged: variants, judge, runner, and the benchmark's own options.
        running: How the work is done in parts, and where it is kept: where the benchmark scores answers one
            by one, without a judge or a runner.
        progress: Of work in parts: is told how many answers are done, of how many, and how many failed.

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
    rules = check_rules(rules)
    check_running(running)
    expect_or_none(NAMES, ids=ids)
    expect_or_none(COUNT, repetition=repetition)
    expect_or_none(FUNCTION, progress=progress)
    files = os.fspath(pred), os.fspath(gold)
    if not running.in_parts:
        return score_file(*files, name, reading=reading, rules=rules, ids=ids, repetition=repetition)
    from planner_eval.benchmarks.runs import run_benchmark

    if any(value is not None for value in (rules.judge, rules.run, ids, repetition)):
        raise InputError("with a judge, a runner or some samples only, answers are scored by one process")
    return run_benchmark(*files, name, reading=reading, rules=rules, running=running, progress=progress)
