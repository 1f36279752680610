"""Gold answered with gold: what a benchmark says of a prediction that repeats the annotation.

It should be perfect. Where it is not, the gold itself, or the published code, has something wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner_eval.benchmarks.registry import VARIANTS
from planner_eval.benchmarks.registry import benchmark as find
from planner_eval.benchmarks.report import Report, SampleScore
from planner_eval.datasets.sample import Sample


@dataclass(frozen=True, slots=True)
class Replayed:
    """Gold scored against itself under one variant of a benchmark's metrics.

    Args:
        report: The report.
        imperfect: The rows that are not perfect.
        skipped: Samples whose right answer is free text that only a judge can decide on.
    """

    report: Report
    imperfect: tuple[SampleScore, ...]
    skipped: int = 0


def gold_text(benchmark: str, sample: Sample) -> str | None:
    """The answer that repeats a sample's gold, in the notation that the benchmark asks for.

    Args:
        benchmark: The benchmark's name.
        sample: A sample of its reader.

    Returns:
        The text; None where the right answer is free text.

    >>> gold_text("callnavi", Sample("a", gold={"API": ["pay"], "parameters": [{}]}))
    '{"API": ["pay"], "parameters": [{}]}'
    """
    return find(benchmark).gold_text(sample)


def replay(benchmark: str, samples: Iterable[Sample]) -> list[Replayed]:
    """Score gold against gold under both variants of the benchmark.

    Args:
        benchmark: The benchmark's name.
        samples: Samples of its reader.
    """
    records = [(sample, gold_text(benchmark, sample)) for sample in samples]
    answered = [(sample, text) for sample, text in records if text is not None]
    replays = []
    for variant in VARIANTS:
        report = find(benchmark).score(variant, answered)
        imperfect = tuple(row for row in report.rows if not row.ok)
        replays.append(Replayed(report, imperfect, len(records) - len(answered)))
    return replays
