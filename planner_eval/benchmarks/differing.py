"""Where the two variants of a benchmark disagree about one answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark
from planner_eval.benchmarks.compared import SOLVED
from planner_eval.benchmarks.score import same_value, value_of
from planner_eval.datasets.sample import Sample

Differing: TypeAlias = "dict[str, tuple[Any, Any]]"
"""Figure → what either variant has there, the official one first."""


def differing(benchmark: Benchmark, sample: Sample, text: str, options: Mapping[str, str]) -> Differing:
    """The figures of one answer alone that the two variants do not share, whether it is solved first.

    A figure that only one variant has is none of them, nor is one in words: who decided, or why.

    Args:
        benchmark: The benchmark; without a judge, and without running answers.
        sample: What was asked.
        text: What a model answered.
        options: The benchmark's own options.

    >>> from planner_eval.benchmarks.registry import benchmark
    >>> sample = Sample("a", gold={"API": ["f"], "parameters": [{"x": "1"}]})
    >>> text = '{"API": ["f"], "parameters": [{"x": "1", "y": "2"}]}'
    >>> differing(benchmark("callnavi"), sample, text, {})["ast"]
    (1.0, 0.0)
    """
    how: dict[str, Any] = dict(options)
    official, corrected = (benchmark.score(name, [(sample, text)], **how).rows[0] for name in VARIANTS)
    differences: Differing = {}
    if official.ok != corrected.ok:
        differences[SOLVED] = (official.ok, corrected.ok)
    corrected_figures = {figure.name: figure for figure in corrected.figures}
    for figure in official.figures:
        other = corrected_figures.get(figure.name)
        if other is None or isinstance(figure.value, str) or isinstance(other.value, str):
            continue
        if not same_value(figure, other):
            differences[figure.name] = (value_of(figure), value_of(other))
    return differences
