"""Which call needs which, before anybody says what they call: drawn by wish, named, or read from a shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.curation.make.wishes import MAX_CALLS, PATTERNS, Range, Wishes
from planner_eval.plan.graph import component_leaders, levels

# ----------------------------------------------------------------------
# Which call needs which, before anybody says what they call: drawn by wish, named, or read from a shape.
Skeleton: TypeAlias = tuple[tuple[int, ...], ...]
"""For each call the calls whose outputs it takes, all of them before it."""

MAX_TRIES = 60
"""How often one skeleton is drawn until it is what is wished for."""


def figures(needs: Skeleton) -> dict[str, int]:
    """The figures that may be wanted of a plan, by name.

    >>> figures(((), (0,), (0,), (1, 2)))
    {'calls': 4, 'depth': 3, 'width': 2, 'components': 1, 'reuse': 1}
    """
    placed = levels([list(producers) for producers in needs])
    sizes = [placed.count(level) for level in set(placed)]
    return {
        "calls": len(needs),
        "depth": len(sizes),
        "width": max(sizes, default=0),
        "components": len(set(component_leaders([list(producers) for producers in needs]))),
        "reuse": sum(max(0, len(users) - 1) for users in consumers_of(needs)),
    }


def consumers_of(needs: Skeleton) -> list[list[int]]:
    """For each call the calls that take its output."""
    users: list[list[int]] = [[] for _ in needs]
    for call, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(call)
    return users


def meets_wishes(needs: Skeleton, wishes: Wishes) -> bool:
    """Whether a skeleton is what is wished for."""
    structure = figures(needs)
    if any(structure[name] not in bound for name, bound in wishes.bounds.items()):
        return False
    return not wishes.single or sum(not users for users in consumers_of(needs)) == 1


def draw_skeleton(wishes: Wishes, most_in: int, random: Random) -> Skeleton | None:
    """A skeleton that meets the wishes; None where so many tries as :data:`MAX_TRIES` gave none.

    Args:
        wishes: What is wanted.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.

    >>> found = draw_skeleton(Wishes(calls=Range(4, 4), depth=Range(3, 3), single=True), 2, Random(1))
    >>> found is not None and figures(found)["depth"]
    3
    """
    for _ in range(MAX_TRIES):
        needs = _grow_skeleton(wishes, most_in, random)
        if needs is not None and meets_wishes(needs, wishes):
            return needs
    return None


class _GrowingSkeleton:
    """A skeleton that grows call by call.

    Args:
        calls: How many calls there will be.
        deep: How many generations at most.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.
    """

    def __init__(self, calls: int, deep: int, most_in: int, random: Random) -> None:
        self.deep, self.most_in, self.random = deep, most_in, random
        self.needs: list[set[int]] = [set() for _ in range(calls)]
        self.users: list[set[int]] = [set() for _ in range(calls)]

    @property
    def again(self) -> int:
        """How often outputs are used again."""
        return sum(max(0, len(consumers) - 1) for consumers in self.users)

    def join(self, producer: int, consumer: int) -> None:
        """Give a call's output to another."""
        self.needs[consumer].add(producer)
        self.users[producer].add(consumer)

    def hang(self, index: int, placed: Sequence[int], *, branch: bool) -> None:
        """Join a further call to one that stands: as a producer of it, or as a consumer beside others."""
        below, above = _ranks(self.users), _ranks(self.needs)
        free = [p for p in placed if len(self.needs[p]) < self.most_in and below[p] < self.deep]
        served = [p for p in placed if self.users[p] and above[p] < self.deep] if branch else []
        if served:
            self.join(self.random.choice(served), index)
        elif free:
            self.join(index, self.random.choice(free))

    def reuse(self) -> None:
        """Give an output that is used already to one call more, which may not make the plan deeper."""
        below, above = _ranks(self.users), _ranks(self.needs)
        indices = range(len(self.needs))
        pairs = [
            (p, c)
            for p in indices
            for c in indices
            if p != c and self.users[p] and c not in self.users[p] and len(self.needs[c]) < self.most_in
            and above[p] + below[c] <= self.deep and not _has_path(self.users, c, p)
        ]  # fmt: skip
        if pairs:
            self.join(*self.random.choice(pairs))


def _grow_skeleton(wishes: Wishes, most_in: int, random: Random) -> Skeleton | None:
    """A skeleton of a size, depth and number of pieces that are wanted; its width is left to chance."""
    calls = random.randint(*wishes.calls)
    deep = _draw_between(wishes.depth, 1, calls if most_in else 1, random)
    if deep is None:
        return None
    pieces = _draw_between(wishes.components, 1, min(wishes.width.high, calls - deep + 1), random)
    if pieces is None:
        return None
    if wishes.components.high >= MAX_CALLS:  # few pieces are the commoner case, as in published plans
        pieces = random.randint(wishes.components.low, pieces)
    spread = max(wishes.reuse.low, min(wishes.reuse.high, calls // 2))
    reuse_count = (
        random.choice((wishes.reuse.low, random.randint(wishes.reuse.low, spread))) if most_in else 0
    )
    branches = 0 if wishes.single else random.randint(0, reuse_count)
    skeleton = _GrowingSkeleton(calls, deep, most_in, random)
    for index in range(1, deep):  # the first piece is as deep as is wanted
        skeleton.join(index - 1, index)
    for index in range(deep + pieces - 1, calls):
        skeleton.hang(index, range(index), branch=skeleton.again < branches)
    while skeleton.again < reuse_count:
        before = skeleton.again
        skeleton.reuse()
        if skeleton.again == before:
            break
    return _sort_calls(skeleton.needs)


def _draw_between(bound: Range, least: int, most: int, random: Random) -> int | None:
    low, high = max(bound.low, least), min(bound.high, most)
    return random.randint(low, high) if low <= high else None


def _ranks(neighbours: Sequence[set[int]]) -> list[int]:
    """For each call how many calls the longest way has that ends with it."""
    ranks: dict[int, int] = {}

    def rank(index: int) -> int:
        if index not in ranks:
            ranks[index] = 1 + max((rank(neighbour) for neighbour in neighbours[index]), default=0)
        return ranks[index]

    return [rank(index) for index in range(len(neighbours))]


def _has_path(users: list[set[int]], start: int, end: int) -> bool:
    waiting, seen = [start], set[int]()
    while waiting:
        index = waiting.pop()
        if index == end:
            return True
        if index not in seen:
            seen.add(index)
            waiting += users[index]
    return False


def _sort_calls(needs: Sequence[set[int]]) -> Skeleton:
    """The skeleton with producers before consumers; calls that give an answer come as late as they can."""
    users: list[list[int]] = [[] for _ in needs]
    for call, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(call)
    order: list[int] = []
    visited: set[int] = set()

    def visit(index: int) -> None:
        for producer in sorted(needs[index]):
            if producer not in visited:
                visit(producer)
        visited.add(index)
        order.append(index)

    for index, consumers in enumerate(users):
        if not consumers:
            visit(index)
    positions = {call: position for position, call in enumerate(order)}
    return tuple(tuple(sorted(positions[p] for p in needs[call])) for call in order)


# ----------------------------------------------------------------------
# Skeletons that have a name, and those that a shape says.
_MIN_PATTERN_CALLS = {"chain": 2, "fan-out": 3, "fan-in": 3, "diamond": 4, "independent": 1}
"""The calls that a pattern needs to be one."""

_MAX_SHAPE_CHARACTERS = 400
"""Characters of a shape at most."""


def generate_skeletons(pattern: str, sizes: Range) -> Iterator[Skeleton]:
    """The skeletons that a pattern stands for.

    Args:
        pattern: A name of :data:`.wishes.PATTERNS`, or a shape.
        sizes: How many calls they may have; a shape says that itself.

    Raises:
        InputError: it is neither.

    >>> list(generate_skeletons("diamond", Range(4, 4)))
    [((), (0,), (0,), (1, 2))]
    """
    if pattern not in PATTERNS:
        yield read_shape(pattern)
        return
    for size in range(max(sizes.low, _MIN_PATTERN_CALLS[pattern]), sizes.high + 1):
        yield _pattern_skeleton(pattern, size)


def draw_patterned_skeleton(wishes: Wishes, most_in: int, random: Random) -> Skeleton | None:
    """A skeleton of the pattern that is wished for; None where none is what else is wished for.

    Args:
        wishes: What is wanted.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.
    """
    fitting = [
        needs
        for needs in generate_skeletons(wishes.pattern or "", wishes.calls)
        if meets_wishes(needs, wishes) and max(map(len, needs)) <= most_in
    ]
    return random.choice(fitting) if fitting else None


def _pattern_skeleton(pattern: str, size: int) -> Skeleton:
    middle = range(1, size - 1)
    if pattern == "chain":
        return tuple((index - 1,) if index else () for index in range(size))
    if pattern == "fan-out":
        return tuple((0,) if index else () for index in range(size))
    if pattern == "fan-in":
        return (*(() for _ in range(size - 1)), tuple(range(size - 1)))
    if pattern == "diamond":
        return ((), *((0,) for _ in middle), tuple(middle))
    return tuple(() for _ in range(size))


def read_shape(text: str) -> Skeleton:
    """The skeleton of a shape, as ``planeval stats`` and ``data coverage`` write it.

    Raises:
        InputError: it is neither a shape nor the name of a pattern.

    >>> read_shape("(a:()) (a)"), read_shape("(()) + ()")
    (((), (0,), (0,)), ((), (0,), ()))
    """
    if len(text) <= _MAX_SHAPE_CHARACTERS and not set(text) - set("()+: abcdefghijklmnopqrstuvwxyz"):
        needs = _ShapeReader(text).read()
        if needs is not None and len(needs) > MAX_CALLS:
            raise InputError(f"pattern {text!r:.80}: a made plan has at most {MAX_CALLS} calls")
        if needs:
            return needs
    hint = did_you_mean(text, PATTERNS, f"the names are {', '.join(PATTERNS)}")
    raise InputError(f"pattern {text!r:.80} is no shape such as '(())', and no name; {hint}")


class _ShapeReader:
    """Reads a shape.

    ``shape = piece (" + " piece)*``, ``piece = call (" " call)*``, ``call = [letter ":"] "(" (call | letter)*
    ")"``; a letter means the call that it stands before.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.needs: list[tuple[int, ...]] = []
        self.known: dict[str, int] = {}

    def read(self) -> Skeleton | None:
        """The skeleton; None where the text is no shape."""
        try:
            while True:
                self._call()
                if self.at == len(self.text):
                    return tuple(self.needs)
                if self._takes(" + "):
                    self.known.clear()
                elif not self._takes(" "):
                    return None
        except ValueError:
            return None

    def _takes(self, token: str) -> bool:
        is_match = self.text.startswith(token, self.at)
        self.at += len(token) if is_match else 0
        return is_match

    def _call(self) -> int:
        letter = self.text[self.at : self.at + 1]
        if letter.isalpha():
            self.at += 1
            if not self._takes(":"):
                if letter not in self.known:
                    raise ValueError(letter)
                return self.known[letter]
        if not self._takes("("):
            raise ValueError(self.at)
        producers = set()
        while not self._takes(")"):
            producers.add(self._call())
        self.needs.append(tuple(sorted(producers)))
        if letter.isalpha():
            self.known[letter] = len(self.needs) - 1
        return len(self.needs) - 1
