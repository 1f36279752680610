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
WEIGHTS = (10, 10, 10, 30, 40)
"""Of non-live, live, irrelevance, multi-turn and agentic in the overall score."""


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
    if not strict:
        of = {name: tally for name, tally in of.items() if not tally.absent}
    simple = _combine(of, mean, "simple_python", "simple_java", "simple_javascript")
    calls = [simple, *(_combine(of, mean, name) for name in ("multiple", "parallel", "parallel_multiple"))]
    non_live = _present(mean, calls)
    lives = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
    live = _combine(of, pooled, *lives)
    irrelevance = _combine(of, mean, "irrelevance", "live_irrelevance")
    turns = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
    multi_turn = _combine(of, mean, *turns)
    web = _combine(of, mean, "web_search_base", "web_search_no_snippet")
    memory = _combine(of, mean, "memory_kv", "memory_vector", "memory_rec_sum")
    agentic = _present(mean, [web, memory])
    groups = [non_live, live, irrelevance, multi_turn, agentic]
    weighted = [(group, weight) for group, weight in zip(groups, WEIGHTS, strict=True) if group is not None]
    overall = (
        _share([group for group, _ in weighted], [weight for _, weight in weighted]) if weighted else None
    )
    rows = (
        (OVERALL, overall, True),
        ("Non-Live AST Acc", non_live, False),
        ("Non-Live Simple AST", simple, False),
        ("Live Acc", live, True),
        ("Multi Turn Acc", multi_turn, True),
        ("Agentic Overall Acc", agentic, True),
        ("Web Search Acc", web, False),
        ("Memory Acc", memory, False),
        ("Irrelevance Detection", irrelevance, False),
    )
    for name, tally, counts_absent in rows:
        yield _group_figure(name, tally, counts_absent=counts_absent)


def _combine(of: Mapping[str, Tally], how: Callable[..., Tally], *names: str) -> Tally | None:
    return _present(how, [of.get(name) for name in names])


def _present(how: Callable[..., Tally], tallies: Sequence[Tally | None]) -> Tally | None:
    """The mean of those that count; None without one."""
    present = [tally for tally in tallies if tally is not None]
    return how(*present) if present else None


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
