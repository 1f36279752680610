"""The one topological sort: positions so that each comes after those that it needs."""

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
