"""Topological order in one place: positions so that each comes after those that it needs.

:func:`generations` lets the caller choose among those that can come next, and where to enter a circle;
:func:`circles` takes a circle for one position.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

Enter: TypeAlias = Callable[[list[int]], list[int]]
"""Where to enter a circle: from how many each position still waits for (-1 where it is placed) to the
positions, in ascending order, that come next although they wait."""


def generations(
    needs: Sequence[Collection[int]], *, singly: bool = False, enter: Enter | None = None
) -> Iterator[list[int]]:
    """Positions in generations: each needs only those of earlier ones; in ascending order within one.

    Args:
        needs: For each position those that it needs; one may be named more than once.
        singly: Each generation is one position, the smallest that can come next.
        enter: Where to enter a circle; without it what lies in or behind a circle never comes.

    >>> list(generations([[], [0], [], [1, 2]])), list(generations([[1], [], []], singly=True))
    ([[0, 2], [1], [3]], [[1], [0], [2]])
    >>> list(generations([[], [2], [1], [2]])), list(generations([[1], [0]], enter=lambda waiting: [0]))
    ([[0]], [[0], [1]])
    """
    waiting = [len(needed) for needed in needs]
    users: list[list[int]] = [[] for _ in needs]
    for position, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(position)
    ready = [position for position, count in enumerate(waiting) if not count]
    left = len(waiting)
    while left:
        if not ready:
            if enter is None:
                return
            ready = enter(waiting)
        generation = [heappop(ready)] if singly else ready
        following = ready if singly else []
        left -= len(generation)
        for position in generation:
            waiting[position] = -1
        yield generation
        for position in generation:
            for user in users[position]:
                if waiting[user] > 0:
                    waiting[user] -= 1
                    if not waiting[user]:
                        heappush(following, user)
        ready = following if singly else sorted(following)


def stuck(needs: Sequence[Collection[int]]) -> list[int]:
    """The positions that lie in or behind a circle, in ascending order.

    >>> stuck([[], [2], [1], [2]])
    [1, 2, 3]
    """
    free = {position for generation in generations(needs) for position in generation}
    return [position for position in range(len(needs)) if position not in free]


def circles(needs: Sequence[Collection[int]]) -> list[list[int]]:
    """The positions of each circle together, in ascending order, and each other one alone; needed ones first.

    Source: Tarjan, Depth-first search and linear graph algorithms (SIAM J. Comput. 1, 1972).

    >>> circles([[1], [], [0, 3], [2]])
    [[1], [0], [2, 3]]
    """
    seen = [0] * len(needs)  # which position was come upon first, second, …; 0 for not yet
    low = [0] * len(needs)  # the first of those that can be come back to
    path: list[int] = []
    groups: list[list[int]] = []
    count = 0
    for start in range(len(needs)):
        work: list[tuple[int, Iterator[int]]] = [] if seen[start] else [(start, iter(needs[start]))]
        while work:
            call, remaining = work[-1]
            if not seen[call]:
                count += 1
                seen[call] = low[call] = count
                path.append(call)
            for producer in remaining:
                if not seen[producer]:
                    work.append((producer, iter(needs[producer])))
                    break
                low[call] = min(low[call], low[producer])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[call])
                if low[call] == seen[call]:
                    groups.append(_cut(path, call, low, len(needs)))
    return groups


def _cut(path: list[int], first: int, low: list[int], finished: int) -> list[int]:
    """Take a circle off the end of the path; nothing comes back to it any more."""
    group: list[int] = []
    while not group or group[-1] != first:
        group.append(path.pop())
        low[group[-1]] = finished
    return sorted(group)
