"""BFCL's scores: of categories, of groups, and overall, as ``bfcl evaluate`` writes them into its tables.

A category that was not run counts as 0 wherever the published code says so, and makes a figure absent where
it prints ``N/A``.

Source: package bfcl-eval 2026.3.23, ``eval_checker/eval_runner_helper.py`` (``generate_leaderboard_csv``) and
``format_sensitivity_runner`` of ``eval_checker/eval_runner.py``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.report import Figure, ratio

OVERALL = "Overall Acc"


class Tally(NamedTuple):
    """The answers to a category, or a score made of some.

    Args:
        value: The share that is right; 0 where it was not run.
        total: How many questions there are.
        absent: Categories that were not run, and count as 0.
        error: What the published code raises, which ends its run.
    """

    value: float
    total: int
    absent: tuple[str, ...] = ()
    error: str | None = None


class Judged(NamedTuple):
    """What scores are made of.

    Args:
        id: The question.
        category: Its category.
        valid: The answer is right.
        error: What the published code raises at it.
    """

    id: str
    category: str
    valid: bool
    error: str | None = None


def _share(tallies: Sequence[Tally], weights: Sequence[float]) -> Tally:
    """The weighted mean, added up in the published order."""
    total_weight, value = sum(weights), 0.0
    for tally, weight in zip(tallies, weights, strict=True):
        value += tally.value * (weight / total_weight)
    return _joined(tallies, value)


def _joined(tallies: Sequence[Tally], value: float) -> Tally:
    absent = tuple(name for tally in tallies for name in tally.absent)
    error = next((tally.error for tally in tallies if tally.error), None)
    return Tally(value, sum(tally.total for tally in tallies), absent, error)


def mean(*tallies: Tally) -> Tally:
    """The plain mean.

    >>> mean(Tally(1.0, 3), Tally(0.0, 1)).value
    0.5
    """
    value = 0.0
    for tally in tallies:
        value += tally.value
    return _joined(tallies, value / len(tallies))


def pooled(*tallies: Tally) -> Tally:
    """The mean weighted by how many questions there are.

    >>> pooled(Tally(1.0, 3), Tally(0.0, 1)).value
    0.75
    """
    value, total = 0.0, 0
    for tally in tallies:
        total += tally.total
        value += tally.value * tally.total
    return _joined(tallies, value / total if total else 0.0)


GROUPS: Mapping[str, tuple[Callable[..., Tally], Sequence[str]]] = {
    "Non-Live Simple AST": (mean, ("simple_python", "simple_java", "simple_javascript")),
    "Non-Live AST Acc": (mean, ("Non-Live Simple AST", "multiple", "parallel", "parallel_multiple")),
    "Live Acc": (pooled, ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")),
    "Irrelevance Detection": (mean, ("irrelevance", "live_irrelevance")),
    "Multi Turn Acc": (
        mean,
        ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"),
    ),
    "Web Search Acc": (mean, ("web_search_base", "web_search_no_snippet")),
    "Memory Acc": (mean, ("memory_kv", "memory_vector", "memory_rec_sum")),
    "Agentic Overall Acc": (mean, ("Web Search Acc", "Memory Acc")),
}
"""A group → how its score is made, and of which categories or groups before it."""
WEIGHTS = {
    "Non-Live AST Acc": 10,
    "Live Acc": 10,
    "Irrelevance Detection": 10,
    "Multi Turn Acc": 30,
    "Agentic Overall Acc": 40,
}
"""Of the groups in the overall score."""
ABSENT_AS_WRONG = frozenset({OVERALL, "Live Acc", "Multi Turn Acc", "Agentic Overall Acc"})
"""The figures in which what was not run counts as 0; the others are not given then."""
TABLE = (
    OVERALL, "Non-Live AST Acc", "Non-Live Simple AST", "Live Acc", "Multi Turn Acc", "Agentic Overall Acc",
    "Web Search Acc", "Memory Acc", "Irrelevance Detection",
)  # fmt: skip
"""The order of the published table."""


def score_figures(
    judged: Sequence[Judged], sizes: Mapping[str, int], *, strict: bool = True
) -> Iterator[Figure]:
    """The scores of answers: overall, of groups, and of each category that was run.

    Args:
        judged: What became of each answer.
        sizes: How many questions each category has, for those that were not run.
        strict: As published: what was not run counts as 0; else it does not count.

    >>> [figure.value for figure in score_figures([Judged("a", "live_simple", True)], {}) if figure.value]
    [0.1, 1.0, 1.0]
    """
    counts: dict[str, list[int]] = {}
    errors: dict[str, str] = {}
    for record in judged:
        count = counts.setdefault(record.category, [0, 0])
        count[0] += record.valid
        count[1] += 1
        if record.error:
            errors.setdefault(record.category, record.error)
    tallies = {}
    for name in CATEGORIES:
        right, total = counts.get(name, (0, 0))
        absent = () if total else (name,)
        tallies[name] = Tally(
            right / total if total else 0, total or sizes.get(name, 0), absent, errors.get(name)
        )
    names = [name for name in CATEGORIES if name in counts]
    yield from _group_figures(tallies, strict=strict)
    for name in names:
        if name in errors:
            yield Figure(name, None, error=errors[name], note="the published run ends here")
        else:
            yield ratio(name, *counts[name])
    if "format_sensitivity" in counts:
        yield from _format_figures([record for record in judged if record.category == "format_sensitivity"])


def _group_figures(of: Mapping[str, Tally], *, strict: bool) -> Iterator[Figure]:
    """Overall, then the groups in the order of the published table."""
    tallies = {name: tally for name, tally in of.items() if strict or not tally.absent}
    for name, (combine, members) in GROUPS.items():
        present = [tallies[member] for member in members if member in tallies]
        if present:
            tallies[name] = combine(*present)
    weights = {name: weight for name, weight in WEIGHTS.items() if name in tallies}
    if weights:
        tallies[OVERALL] = _share([tallies[name] for name in weights], list(weights.values()))
    for name in TABLE:
        yield _group_figure(name, tallies.get(name), counts_absent=name in ABSENT_AS_WRONG)


def _group_figure(name: str, tally: Tally | None, *, counts_absent: bool) -> Figure:
    if tally is None:
        return Figure(name, None, note="not run")
    if tally.error:
        return Figure(name, None, error=tally.error, note="the published run ends here")
    if not tally.absent:
        return Figure(name, tally.value)
    some = ", ".join(tally.absent[:3]) + (", …" if len(tally.absent) > 3 else "")
    if counts_absent:
        return Figure(name, tally.value, note=f"not run, counted as 0: {some}")
    return Figure(name, None, note=f"N/A: not run: {some}")


def _format_figures(judged: Sequence[Judged]) -> Iterator[Figure]:
    """How much the accuracy differs between the ways of asking, in percent."""
    counts: dict[str, list[int]] = {}
    for record in judged:
        count = counts.setdefault(record.id.split(":")[1], [0, 0])
        count[0] += record.valid
        count[1] += 1
    shares = [right / total for right, total in counts.values()]
    several_shares = len(shares) > 1
    delta = round((max(shares) - min(shares)) * 100, 2) if several_shares else 0.0
    deviation = round(statistics.stdev(shares) * 100, 2) if several_shares else 0.0
    variance = round(statistics.variance(shares) * 100**2, 2) if several_shares else 0.0
    note = "in percent, over the prompt formats"
    yield Figure("Format Sensitivity Max Delta", delta, note=note)
    yield Figure("Format Sensitivity Standard Deviation", deviation, note=note)
    yield Figure("Format Sensitivity Variance", variance, note=note)
