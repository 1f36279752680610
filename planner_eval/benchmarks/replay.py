"""Gold answered with gold: what a benchmark says of a prediction that repeats the annotation.

It should be perfect. Where it is not, the gold itself, or the published code, has something wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import zip_longest
from typing import Any

from planner_eval.benchmarks.report import Report, SampleScore
from planner_eval.datasets.sample import Sample

VARIANTS = ("official", "corrected")


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
    return _TEXTS[benchmark](sample)


def replay(benchmark: str, samples: Iterable[Sample]) -> list[Replayed]:
    """Score gold against gold under every variant that the benchmark has.

    Args:
        benchmark: The benchmark's name.
        samples: Samples of its reader.
    """
    records = [(sample, gold_text(benchmark, sample)) for sample in samples]
    said = [(sample, text) for sample, text in records if text is not None]
    module = import_module(f"planner_eval.benchmarks.{benchmark}")
    found = []
    for variant in VARIANTS:
        score = getattr(module, f"score_{variant}", None)
        if score is not None:
            report = score(said)
            imperfect = tuple(row for row in report.rows if not row.ok)
            found.append(Replayed(report, imperfect, len(records) - len(said)))
    return found


def _appbench(sample: Sample) -> str:
    apps, lines = sample.gold["used_app"], sample.gold["api_results"]
    last = apps[-1] if apps else ""
    pairs = zip_longest(apps[: len(lines)], lines, fillvalue=last)
    return "\n".join(f"{app}: [{line}]" for app, line in pairs)


def _functionchat(sample: Sample) -> str | None:
    if sample.extra["type_of_output"] != "call":
        return None
    gold: Mapping[str, Any] = sample.gold
    if "tool_calls" not in gold:
        call = {"id": "random_id", "type": "function", "function": gold}
        gold = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps(gold, ensure_ascii=False)


def _complexfuncbench(sample: Sample) -> str:
    from planner_eval.benchmarks.complexfuncbench.recorded import gold_prediction

    return gold_prediction(sample.gold)


def _json(sample: Sample) -> str:
    return json.dumps(sample.gold, ensure_ascii=False)


_TEXTS: Mapping[str, Callable[[Sample], str | None]] = {
    "appbench": _appbench,
    "callnavi": _json,
    "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
    "nestful": _json,
}
