"""Which call needs which, before anybody says what they call: drawn by wish, named, or read from a shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.making.wishes import MOST_CALLS, PATTERNS, Range, Wishes
from planner_eval.plan.adjacency import leaders, levels

Needs: TypeAlias = tuple[tuple[int, ...], ...]
"""For each call the calls whose outputs it takes, all of them before it."""

TRIES = 60
"""How often one skeleton is drawn until it is what is wished for."""


def figures(needs: Needs) -> dict[str, int]:
    """The figures that may be wanted of a plan, by name.

    >>> figures(((), (0,), (0,), (1, 2)))
    {'calls': 4, 'depth': 3, 'width': 2, 'components': 1, 'reuse': 1}
    """
    placed = levels([list(those) for those in needs])
    sizes = [placed.count(level) for level in set(placed)]
    return {
        "calls": len(needs),
        "depth": len(sizes),
        "width": max(sizes, default=0),
        "components": len(set(leaders([list(those) for those in needs]))),
        "reuse": sum(max(0, len(users) - 1) for users in users_of(needs)),
    }


def users_of(needs: Needs) -> list[list[int]]:
    """For each call the calls that take its output."""
    users: list[list[int]] = [[] for _ in needs]
    for call, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(call)
    return users


def meets(needs: Needs, wishes: Wishes) -> bool:
    """Whether a skeleton is what is wished for."""
    found = figures(needs)
    if any(found[name] not in bound for name, bound in wishes.bounds):
        return False
    return not wishes.single or sum(not users for users in users_of(needs)) == 1


def drawn(wishes: Wishes, most_in: int, random: Random) -> Needs | None:
    """A skeleton that meets the wishes; None where so many tries as :data:`TRIES` gave none.

    Args:
        wishes: What is wanted.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.

    >>> found = drawn(Wishes(calls=Range(4, 4), depth=Range(3, 3), single=True), 2, Random(1))
    >>> found is not None and figures(found)["depth"]
    3
    """
    if wishes.pattern is not None:
        return patterned(wishes, random)
    for _ in range(TRIES):
        needs = _grown(wishes, most_in, random)
        if needs is not None and meets(needs, wishes):
            return needs
    return None


def _grown(wishes: Wishes, most_in: int, random: Random) -> Needs | None:
    """A skeleton of a size, depth and number of pieces that are wanted; its width is left to chance."""
    low, high = wishes.calls
    calls = random.randint(low, high)
    deep = _between(wishes.depth, 1, calls if most_in else 1, random)
    if deep is None:
        return None
    most = min(wishes.width.high, calls - deep + 1)
    pieces = _between(wishes.components, 1, most, random)
    if pieces is None:
        return None
    if wishes.components.high >= MOST_CALLS:  # few pieces are the commoner case, as in published plans
        pieces = random.randint(wishes.components.low, pieces)
    spread = max(wishes.reuse.low, min(wishes.reuse.high, calls // 2))
    again = random.randint(wishes.reuse.low, spread) if most_in else 0
    again = wishes.reuse.low if random.random() < 0.5 else again
    needs: list[set[int]] = [set() for _ in range(calls)]
    users: list[set[int]] = [set() for _ in range(calls)]
    for at in range(1, deep):  # the first piece is as deep as is wanted
        _join(needs, users, at - 1, at)
    placed = list(range(deep))
    waiting = list(range(deep, calls))
    for at in waiting[: pieces - 1]:
        placed.append(at)
    branches = 0 if wishes.single else random.randint(0, again)
    for at in waiting[pieces - 1 :]:
        _hang(
            needs,
            users,
            placed,
            at,
            deep,
            most_in,
            branch=branches > 0 and random.random() < 0.6,
            random=random,
        )
        placed.append(at)
    for _ in range(max(0, again - sum(max(0, len(each) - 1) for each in users))):
        _reuse(needs, users, deep, most_in, random)
    return _ordered(needs)


def _between(wanted: Range, least: int, most: int, random: Random) -> int | None:
    low, high = max(wanted.low, least), min(wanted.high, most)
    if low > high:
        return None
    return random.randint(low, high)


def _join(needs: list[set[int]], users: list[set[int]], producer: int, consumer: int) -> None:
    needs[consumer].add(producer)
    users[producer].add(consumer)


def _hang(
    needs: list[set[int]],
    users: list[set[int]],
    placed: Sequence[int],
    at: int,
    deep: int,
    most_in: int,
    *,
    branch: bool,
    random: Random,
) -> None:
    """Join a further call to one that stands: as a producer of it, or as a consumer beside others."""
    below, above = _ranks(users), _ranks(needs)
    free = [one for one in placed if len(needs[one]) < most_in and below[one] < deep]
    served = [one for one in placed if (users[one] or not branch) and above[one] < deep]
    if branch and served:
        _join(needs, users, random.choice(served), at)
    elif free:
        _join(needs, users, at, random.choice(free))


def _reuse(needs: list[set[int]], users: list[set[int]], deep: int, most_in: int, random: Random) -> None:
    """Give an output that is used already to one call more, which may not make the plan deeper."""
    below, above = _ranks(users), _ranks(needs)
    pairs = [
        (u, v)
        for u in range(len(needs))
        for v in range(len(needs))
        if u != v and users[u] and v not in users[u] and len(needs[v]) < most_in
        and above[u] + below[v] <= deep and not _leads(users, v, u)
    ]  # fmt: skip
    if pairs:
        _join(needs, users, *random.choice(pairs))


def _ranks(beside: list[set[int]]) -> list[int]:
    """For each call how many calls the longest way has that ends with it."""
    found: dict[int, int] = {}

    def rank(at: int) -> int:
        if at not in found:
            found[at] = 1 + max((rank(one) for one in beside[at]), default=0)
        return found[at]

    return [rank(at) for at in range(len(beside))]


def _leads(users: list[set[int]], start: int, end: int) -> bool:
    waiting, seen = [start], set[int]()
    while waiting:
        at = waiting.pop()
        if at == end:
            return True
        if at not in seen:
            seen.add(at)
            waiting += users[at]
    return False


def _ordered(needs: Sequence[set[int]]) -> Needs:
    """The skeleton with producers before consumers; calls that give an answer come as late as they can."""
    users: list[list[int]] = [[] for _ in needs]
    for call, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(call)
    order: list[int] = []
    done: set[int] = set()

    def visit(at: int) -> None:
        for producer in sorted(needs[at]):
            if producer not in done:
                visit(producer)
        done.add(at)
        order.append(at)

    for at, those in enumerate(users):
        if not those:
            visit(at)
    place = {call: at for at, call in enumerate(order)}
    return tuple(tuple(sorted(place[p] for p in needs[call])) for call in order)


# ---------------------------------------------------------------- by name, by shape
def patterned(wishes: Wishes, random: Random) -> Needs | None:
    """A skeleton of the pattern that is wished for.

    >>> patterned(Wishes(calls=Range(4, 4), pattern="diamond"), Random(0))
    ((), (0,), (0,), (1, 2))
    """
    pattern = wishes.pattern or ""
    if pattern not in PATTERNS:
        return read_shape(pattern)
    sizes = [size for size in range(wishes.calls.low, wishes.calls.high + 1) if size >= _LEAST[pattern]]
    fitting = [size for size in sizes if meets(_named(pattern, size), wishes)]
    return _named(pattern, random.choice(fitting)) if fitting else None


_LEAST = {"chain": 2, "fan-out": 3, "fan-in": 3, "diamond": 4, "independent": 1}


def _named(pattern: str, size: int) -> Needs:
    middle = range(1, size - 1)
    if pattern == "chain":
        return tuple((at - 1,) if at else () for at in range(size))
    if pattern == "fan-out":
        return tuple((0,) if at else () for at in range(size))
    if pattern == "fan-in":
        return (*(() for _ in range(size - 1)), tuple(range(size - 1)))
    if pattern == "diamond":
        return ((), *((0,) for _ in middle), tuple(middle))
    return tuple(() for _ in range(size))


def read_shape(text: str) -> Needs:
    """The skeleton of a shape, as ``planeval stats`` and ``data coverage`` write it.

    Raises:
        InputError: it is neither a shape nor the name of a pattern.

    >>> read_shape("(a:()) (a)"), read_shape("(()) + ()")
    (((), (0,), (0,)), ((), (0,), ()))
    """
    needs: list[tuple[int, ...]] = []
    known: dict[str, int] = {}

    def refused() -> InputError:
        hint = did_you_mean(text, PATTERNS, ", ".join(PATTERNS))
        return InputError(f"pattern {text!r:.80} is no shape such as '(())', and no name; {hint}")

    def calls(at: int, *, inner: bool) -> tuple[list[int], int]:
        found: list[int] = []
        while at < len(text) and text[at] != ")":
            one = text[at]
            if one == "(":
                held, at = calls(at + 1, inner=True)
                if at >= len(text):
                    raise refused()
                needs.append(tuple(sorted(set(held))))
                found.append(len(needs) - 1)
                at += 1
            elif one.isalpha() and text[at + 1 : at + 2] == ":":
                held, at = calls(at + 3, inner=True) if text[at + 2 : at + 3] == "(" else ([], len(text))
                if at >= len(text) or one in known:
                    raise refused()
                needs.append(tuple(sorted(set(held))))
                known[one] = len(needs) - 1
                found.append(known[one])
                at += 1
            elif one.isalpha() and one in known:
                found.append(known[one])
                at += 1
            elif not inner and one in " +":
                at += 1
            else:
                raise refused()
            if len(needs) > MOST_CALLS:
                raise InputError(f"pattern {text!r:.80}: a made plan has at most {MOST_CALLS} calls")
        return found, at

    if len(text) > 1000:
        raise refused()
    for piece in text.split(" + "):
        known.clear()
        text = piece
        _, end = calls(0, inner=False)
        if end < len(piece) or not needs:
            raise refused()
    return tuple(needs)


def every(pattern: str, sizes: Range) -> Iterator[Needs]:
    """The skeletons that a pattern stands for."""
    if pattern not in PATTERNS:
        yield read_shape(pattern)
        return
    for size in range(max(sizes.low, _LEAST[pattern]), sizes.high + 1):
        yield _named(pattern, size)
