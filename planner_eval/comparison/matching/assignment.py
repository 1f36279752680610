"""One-to-one assignment of least total cost."""

from __future__ import annotations

from collections.abc import Sequence

PURE_LIMIT = 50
"""Up to this many rows plain Python is faster than importing scipy."""


def assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pair as many rows and columns as possible, each once, at the least total cost.

    Args:
        costs: A rectangular table; ``costs[row][column]`` is finite.

    Returns:
        (row, column) pairs by row, as many as the shorter side is long.

    Source:
        Jonker and Volgenant's shortest augmenting paths (Computing 38, 1987); from 51 rows on,
        ``scipy.optimize.linear_sum_assignment``, which solves the same problem.

    >>> assign([[4, 1], [2, 9], [0, 7]])
    [(0, 1), (2, 0)]
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = assign(list(zip(*costs, strict=True)))
        return sorted((row, column) for column, row in turned)
    if len(costs) > PURE_LIMIT:
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(costs)
        return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
    return _augment(costs)


def _augment(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Shortest augmenting paths with potentials, for at most as many rows as columns."""
    count, width = len(costs), len(costs[0])
    infinite = float("inf")
    row_potential, column_potential = [0.0] * (count + 1), [0.0] * (width + 1)
    owner = [0] * (width + 1)  # the row (from 1) that holds each column (from 1); 0 for none
    for row in range(1, count + 1):
        owner[0] = row
        column = 0
        best, came, used = [infinite] * (width + 1), [0] * (width + 1), [False] * (width + 1)
        while owner[column]:
            used[column] = True
            held_row, delta, following = owner[column], infinite, 0
            line, offset = costs[held_row - 1], row_potential[held_row]
            for other in range(1, width + 1):
                if used[other]:
                    continue
                reduced = line[other - 1] - offset - column_potential[other]
                if reduced < best[other]:
                    best[other], came[other] = reduced, column
                if best[other] < delta:
                    delta, following = best[other], other
            for other in range(width + 1):
                if used[other]:
                    row_potential[owner[other]] += delta
                    column_potential[other] -= delta
                else:
                    best[other] -= delta
            column = following
        while column:
            owner[column] = owner[came[column]]
            column = came[column]
    return sorted((owner[column] - 1, column - 1) for column in range(1, width + 1) if owner[column])
