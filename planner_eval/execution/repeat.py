"""Repeated runs: how often a task succeeds every time."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb


def pass_k(outcomes: Sequence[Sequence[bool]], k: int) -> float | None:
    """pass^k: the chance that k runs of a task, drawn from those that were made, all succeed.

    The mean over tasks of C(c, k) / C(n, k), where c of a task's n runs succeeded. (Not pass@k, the
    chance that at least one of k succeeds.)

    Args:
        outcomes: For each task, whether each of its runs succeeded.
        k: How many runs must succeed, from 1 on.

    Returns:
        0.0–1.0; None where there are no tasks.

    Raises:
        ValueError: k is below 1, or a task has fewer than k runs.

    Source: tau-bench (arXiv 2406.12045), section 3.

    >>> pass_k([[True, True, False, True], [True, True, True, True]], 2)
    0.75
    """
    if k < 1:
        raise ValueError(f"k is a number of runs from 1 on, found {k}")
    for position, runs in enumerate(outcomes):
        if len(runs) < k:
            raise ValueError(f"task {position + 1} has {len(runs)} runs, pass^{k} needs {k} of each")
    if not outcomes:
        return None
    return sum(comb(sum(map(bool, runs)), k) / comb(len(runs), k) for runs in outcomes) / len(outcomes)
