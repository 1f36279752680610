"""Plans as graphs of plain lists: which calls each call needs, and an order that respects it.

NetworkX gives the same figures, as the tests hold, but takes longer to import than a file takes to be
compared. Calls of a circle need one another: they share a level, which comes after all that any of
them needs, as if the circle were one call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan


# ----------------------------------------------------------------------
# Topological order in one place: positions so that each comes after those that it needs.
#
# :func:`generations` lets the caller choose among those that can come next, and where to enter a circle;
# :func:`circles` takes a circle for one position.
CircleEntry: TypeAlias = Callable[[list[int]], list[int]]
"""Where to enter a circle: from how many each position still waits for (-1 where it is placed) to the
positions, in ascending order, that come next although they wait."""


def generations(
    needs: Sequence[Collection[int]], *, singly: bool = False, enter: CircleEntry | None = None
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


def blocked_positions(needs: Sequence[Collection[int]]) -> list[int]:
    """The positions that lie in or behind a circle, in ascending order.

    >>> blocked_positions([[], [2], [1], [2]])
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
                    groups.append(_pop_circle(path, call, low, len(needs)))
    return groups


def _pop_circle(path: list[int], first: int, low: list[int], finished: int) -> list[int]:
    """Take a circle off the end of the path; nothing comes back to it any more."""
    group: list[int] = []
    while not group or group[-1] != first:
        group.append(path.pop())
        low[group[-1]] = finished
    return sorted(group)


# ----------------------------------------------------------------------
# Graphs as plain lists, where every pair of a file pays: for each call the calls that it needs.
ProducerLists: TypeAlias = Sequence[Sequence[int]]
"""For each call the other calls whose output it uses, each once, in ascending order."""

BLOCK = 4096
"""Calls whose users are looked for at once: what bounds the memory that plans of 100,000 calls take."""


def reach(starts: Iterable[int], onward: Callable[[int], Iterable[int]]) -> set[int]:
    """The positions that some lead to, step by step, and these themselves.

    >>> sorted(reach([3], [[], [0, 3], [], [1]].__getitem__))
    [0, 1, 3]
    """
    reached = {*starts}
    waiting = [*reached]
    while waiting:
        new = {*onward(waiting.pop())} - reached
        reached |= new
        waiting += new
    return reached


def producers(plan: Plan) -> list[list[int]]:
    r"""For each call the other calls whose output it uses, each once, in ascending order.

    >>> from planner_eval.reading.dialects.read import parse
    >>> producers(parse("a = f(#x='1')\nb = g(#y=a, #z=a)"))
    [[], [0]]
    """
    needs: list[set[int]] = [set() for _ in plan.calls]
    for edge in plan.edges:
        if edge.producer != edge.consumer:
            needs[edge.consumer].add(edge.producer)
    return [sorted(s) for s in needs]


def component_leaders(needs: ProducerLists) -> list[int]:
    """For each call the first call of its weakly connected component.

    >>> component_leaders([[], [], [1], [0]])
    [0, 1, 1, 0]
    """
    parent = list(range(len(needs)))
    for call, needed in enumerate(needs):
        for other in needed:
            a, b = _root(parent, call), _root(parent, other)
            if a != b:
                parent[max(a, b)] = min(a, b)
    return [_root(parent, call) for call in parent]


def _root(parent: list[int], call: int) -> int:
    while parent[call] != call:
        parent[call] = call = parent[parent[call]]
    return call


def levels(needs: ProducerLists) -> list[int]:
    """For each call the number of its topological generation, from 0: all that it needs has lower ones.

    >>> levels([[], [0], [], [1, 2]])
    [0, 1, 0, 2]
    """
    numbers: list[int] = []
    for call, needed in enumerate(needs):
        level = 0
        for producer in needed:
            if producer >= call:
                return _levels_with_circles(needs)
            if numbers[producer] >= level:
                level = numbers[producer] + 1
        numbers.append(level)
    return numbers


def levels_in_steps(needs: ProducerLists, steps: Sequence[int]) -> list[int]:
    """:func:`levels` where calls were written in steps: those of a step come after all of earlier ones.

    Args:
        needs: The graph.
        steps: The number of each call's step.

    >>> levels_in_steps([[], [], [], [2]], [1, 1, 2, 2])
    [0, 0, 1, 2]
    """
    numbers = [0] * len(needs)
    calls: dict[int, list[int]] = {}
    for call, step in enumerate(steps):
        calls.setdefault(step, []).append(call)
    start = 0
    for step in sorted(calls):
        index_in_step = {call: index for index, call in enumerate(calls[step])}
        within = levels(
            [[index_in_step[p] for p in needs[call] if p in index_in_step] for call in index_in_step]
        )
        for call, index in index_in_step.items():
            numbers[call] = start + within[index]
        start += max(within) + 1
    return numbers


def group_by_level(number: Sequence[int]) -> list[list[int]]:
    """The calls of each level, in ascending order.

    >>> group_by_level([0, 1, 0, 2])
    [[0, 2], [1], [3]]
    """
    by_level: list[list[int]] = [[] for _ in range(max(number, default=-1) + 1)]
    for call, level in enumerate(number):
        by_level[level].append(call)
    return by_level


def _levels_with_circles(needs: ProducerLists) -> list[int]:
    """:func:`levels` where calls are written before what they need, or stand in circles."""
    numbers = [-1] * len(needs)
    for group in circles(needs):
        level = 1 + max((numbers[producer] for call in group for producer in needs[call]), default=-1)
        for call in group:
            numbers[call] = level
    return numbers


def longest_chain(needs: ProducerLists) -> list[int]:
    """One longest chain of calls each of which needs the one before; the earliest where several tie.

    A circle is one link, and its first call stands for it.

    >>> longest_chain([[], [], [1]])
    [1, 2]
    """
    level = levels(needs)
    circle = {call: group for group in circles(needs) for call in group if len(group) > 1}
    path: list[int] = []
    link_level = max(level, default=-1)
    links = [call for call in range(len(level)) if level[call] == link_level]
    while links:
        first = min(min(circle.get(call, (call,))) for call in links)
        path.append(first)
        link_level -= 1
        members = circle.get(first, (first,))
        links = [p for call in members for p in needs[call] if level[p] == link_level]
    return path[::-1]


def needed_marks(needs: ProducerLists, marks: Sequence[int]) -> list[int]:
    """For each call the marks of all calls that it needs, by way of others too, in one number.

    Args:
        needs: The graph.
        marks: A number for each call, of one bit that no other call has; 0 for a call that is passed over.

    >>> needed_marks([[], [0], [1]], [1, 2, 4])
    [0, 1, 3]
    """
    totals: list[int] = []
    for call, producers in enumerate(needs):
        bits = 0
        for producer in producers:
            if producer >= call:
                return _needed_marks_with_circles(needs, marks)
            bits |= totals[producer] | marks[producer]
        totals.append(bits)
    return totals


def closure_size(needs: ProducerLists) -> int:
    """How many pairs of calls there are of which one needs the other, by way of others too.

    >>> closure_size([[], [0], [1]])
    3
    """
    size = len(needs)
    pairs = 0
    for first in range(0, size, BLOCK):
        marks = [1 << call - first if first <= call < first + BLOCK else 0 for call in range(size)]
        pairs += sum(map(int.bit_count, needed_marks(needs, marks)))
    return pairs


def _needed_marks_with_circles(needs: ProducerLists, marks: Sequence[int]) -> list[int]:
    """:func:`needed_marks` where calls are written before what they need, or stand in circles."""
    totals = [0] * len(needs)
    for group in circles(needs):
        bits = 0
        for call in group:
            for producer in needs[call]:
                bits |= totals[producer] | marks[producer]
        for call in group:
            totals[call] = bits & ~marks[call]
    return totals
