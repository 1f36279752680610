"""A mapping between equal calls of two plans that keeps every reference, or the proof that none exists.

Needed only where calls tie: equal in name, arguments and everything they need, and so told apart
by nothing but who uses them (two rolls of one die, added up), or caught in a circle.

A call's references are ordered, so mapping a consumer forces the mapping of everything it needs.
Connected parts of the two plans are matched one after another, which is no loss: "can be mapped
onto one another" is an equivalence, so any partner that fits is as good as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import maxsize

from planner_eval.base.named_tuple import NamedTuple

MAX_ROUNDS = 16
"""Rounds of colour refinement; they only prune, so a limit costs nothing but time."""


_LIST_END = (maxsize, 0)  # so that of calls whose first users are alike the one with more users comes first


class Verdict(NamedTuple):
    """Whether two plans mean the same, and the pairing of calls that shows it.

    Args:
        same: They mean the same.
        proved: The verdict is proved; False where a search among equal calls ran out of its budget.
        mapping: For each call of pred the position of its equal in gold; None when not the same.
    """

    same: bool
    proved: bool = True
    mapping: tuple[int, ...] | None = None


DIFFERENT = Verdict(False)


class ColouredGraph(NamedTuple):
    """A plan as the search sees it.

    Args:
        colours: A number for each call; calls of unequal colours never map to one another.
        producers: For each call the calls it refers to, in an order that equal colours share.
    """

    colours: list[int]
    producers: list[list[int]]


def find_mapping(left: ColouredGraph, right: ColouredGraph, *, budget: int) -> Verdict:
    """Map each call of `left` to one of `right`, keeping colours and references.

    Args:
        left: One plan.
        right: The other, coloured from the same table.
        budget: How many pairs of calls to try.

    >>> dice = ColouredGraph([0, 0, 1], [[], [], [0, 1]])
    >>> find_mapping(dice, ColouredGraph([0, 1, 0], [[], [2, 0], []]), budget=100)
    Verdict(same=True, proved=True, mapping=(2, 0, 1))
    """
    refine_colours(left, right, rounds=min(MAX_ROUNDS, 1 + budget // (1 + len(left.colours))))
    if sorted(left.colours) != sorted(right.colours):
        return DIFFERENT
    search = _Search(left, right, budget)
    partners: dict[tuple[int, ...], list[list[int]]] = {}
    for component in _components(right):
        partners.setdefault(_signature(right, component), []).append(component)
    for component in _components(left):
        candidates = partners.get(_signature(left, component), [])
        for index, candidate in enumerate(candidates):
            if search.match_part(component, candidate):
                del candidates[index]
                break
            if search.budget <= 0:
                return Verdict(False, proved=False)
        else:
            return DIFFERENT
    return Verdict(True, mapping=tuple(search.image))


def refine_colours(*graphs: ColouredGraph, rounds: int = MAX_ROUNDS) -> None:
    """Split colours by the colours of producers and consumers, until nothing splits (in place).

    The new colours are ordered as the old ones, and what was of one colour by what is around it: never by
    place.
    """
    users = [consumers(graph) for graph in graphs]
    count = -1
    for _ in range(rounds):
        seen = [
            [
                (
                    graph.colours[call],
                    tuple([graph.colours[producer] for producer in graph.producers[call]]),
                    (*sorted([(graph.colours[consumer], slot) for consumer, slot in used[call]]), _LIST_END),
                )
                for call in range(len(graph.colours))
            ]
            for graph, used in zip(graphs, users, strict=True)
        ]
        table = {
            look: colour for colour, look in enumerate(sorted({look for looks in seen for look in looks}))
        }
        for graph, looks in zip(graphs, seen, strict=True):
            graph.colours[:] = [table[look] for look in looks]
        if len(table) == count:
            return
        count = len(table)


def consumers(graph: ColouredGraph) -> list[list[tuple[int, int]]]:
    """For each call who refers to it: (consumer, which of the consumer's references it is)."""
    users: list[list[tuple[int, int]]] = [[] for _ in graph.colours]
    for consumer, producers in enumerate(graph.producers):
        for slot, producer in enumerate(producers):
            users[producer].append((consumer, slot))
    return users


def _components(graph: ColouredGraph) -> Iterator[list[int]]:
    """The weakly connected parts, each in written order."""
    used = consumers(graph)
    seen = [False] * len(graph.colours)
    for start in range(len(seen)):
        if seen[start]:
            continue
        seen[start] = True
        component = [start]
        for call in component:
            for other in (*graph.producers[call], *(consumer for consumer, _ in used[call])):
                if not seen[other]:
                    seen[other] = True
                    component.append(other)
        yield sorted(component)


def _signature(graph: ColouredGraph, component: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(graph.colours[call] for call in component))


class _Search:
    """The state of one search: images both ways, and what is left of the budget."""

    def __init__(self, left: ColouredGraph, right: ColouredGraph, budget: int) -> None:
        self.left, self.right, self.budget = left, right, budget
        self.left_users, self.right_users = consumers(left), consumers(right)
        self.image = [-1] * len(left.colours)
        self.origin = [-1] * len(right.colours)

    def match_part(self, component: list[int], candidate: list[int]) -> bool:
        """Map one connected part onto another by depth-first search; leaves no trace on failure."""
        sizes: dict[int, int] = {}
        for call in component:
            sizes[self.left.colours[call]] = sizes.get(self.left.colours[call], 0) + 1
        start = min(component, key=lambda call: (sizes[self.left.colours[call]], call))
        colour = self.left.colours[start]
        trail: list[int] = []
        options = iter([call for call in candidate if self.right.colours[call] == colour])
        choices: list[tuple[int, Iterator[int], int]] = [(start, options, 0)]
        frontier = 0
        while choices:
            call, options, mark = choices[-1]
            self._undo(trail, mark)
            if not any(self._assign(call, option, trail) for option in options):
                choices.pop()
                frontier = 0
                if self.budget <= 0:
                    break
                continue
            following, frontier = self._next(trail, frontier)
            if following is None:
                return True
            choices.append((following[0], following[1], len(trail)))
        self._undo(trail, 0)
        return False

    def _assign(self, call: int, option: int, trail: list[int]) -> bool:
        """Map `call` to `option` and with them all that they need; undone again on a conflict."""
        mark = len(trail)
        work = [(call, option)]
        while work:
            source, other = work.pop()
            self.budget -= 1
            if self.image[source] == other:
                continue
            if (
                self.budget <= 0
                or self.image[source] >= 0
                or self.origin[other] >= 0
                or self.left.colours[source] != self.right.colours[other]
            ):
                self._undo(trail, mark)
                return False
            self.image[source], self.origin[other] = other, source
            trail.append(source)
            work.extend(zip(self.left.producers[source], self.right.producers[other], strict=True))
        return True

    def _next(self, trail: list[int], frontier: int) -> tuple[tuple[int, Iterator[int]] | None, int]:
        """An unmapped consumer of a mapped call with the calls it may map to, and where to look on."""
        while frontier < len(trail):
            producer = trail[frontier]
            for consumer, slot in self.left_users[producer]:
                self.budget -= 1
                if self.image[consumer] < 0:
                    return (consumer, self._users(self.image[producer], slot)), frontier
            frontier += 1
        return None, frontier

    def _users(self, producer: int, slot: int) -> Iterator[int]:
        """The unmapped calls of `right` whose reference number `slot` is `producer`."""
        for consumer, used_slot in self.right_users[producer]:
            self.budget -= 1
            if used_slot == slot and self.origin[consumer] < 0:
                yield consumer

    def _undo(self, trail: list[int], mark: int) -> None:
        while len(trail) > mark:
            call = trail.pop()
            self.origin[self.image[call]] = -1
            self.image[call] = -1
