"""The shape of a plan in one line: which call needs which, whatever the calls are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from planner_eval.plan.adjacency import leaders, producers
from planner_eval.plan.model import Plan
from planner_eval.plan.structure import consumers, topological_order
from planner_eval.plan.topological import circles

EXACT = 16
"""Calls of a piece up to which its text tells it from every other."""

_LONG = 400
"""Characters up to which the text of a call holds those of its producers."""

Needs: TypeAlias = tuple[tuple[int, ...], ...]


def shape(plan: Plan) -> str:
    r"""The plan's dependency shape in one line: each call's producers in its brackets, in a canonical order.

    Names and arguments play no part, and self references none. ``+`` stands between pieces that nothing
    joins. A call that serves several has a letter, ``a:()``, and is
    that letter where it is needed again. Plans whose
    pieces have at most 16 calls each, and no circle, have one text if and only if their dependency graphs are
    isomorphic. In larger pieces whose calls serve several, and in circles, ``×2`` stands behind a call that
    serves two; there, plans of one text may differ. A circle whose output no other call uses is written from
    its last call, and ``*`` closes it.

    >>> from planner_eval.dialects.read import parse
    >>> shape(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    '(()) + ()'
    >>> shape(parse("a = f()\ng(#x=a)\nh(#x=a)"))
    '(a:()) (a)'
    """
    needed, users = producers(plan), consumers(plan)
    text, circular = _texts(plan, needed, users)
    if not circular and all(len(those) < 2 for those in users):
        return _joined([text[i] for i, those in enumerate(users) if not those])
    rings = [group for group in circles(needed) if len(group) > 1] if circular else []
    in_ring = {i for group in rings for i in group}
    pieces: dict[int, list[int]] = {}
    for call, leader in enumerate(leaders(needed)):
        pieces.setdefault(leader, []).append(call)
    texts = []
    for piece in pieces.values():
        if len(piece) <= EXACT and in_ring.isdisjoint(piece) and any(len(users[i]) > 1 for i in piece):
            index_in_piece = {call: index for index, call in enumerate(piece)}
            texts.append(_exact(tuple(tuple(index_in_piece[p] for p in needed[call]) for call in piece)))
            continue
        members = set(piece)
        ends = [text[i] for i in piece if not users[i]]
        for group in rings:
            if group[0] in members and all(user in group for i in group for user in users[i]):
                ends.append(max((text[i] for i in group), key=_size))
        texts.append(" ".join(sorted(ends, key=_longest)))
    return _joined(texts)


def _joined(pieces: list[str]) -> str:
    return " + ".join(sorted(pieces, key=_longest))


def _longest(text: str) -> tuple[int, str]:
    return -len(text), text


def _size(text: str) -> tuple[int, str]:
    return len(text), text


def _texts(
    plan: Plan, needed: Sequence[Sequence[int]], users: Sequence[Sequence[int]]
) -> tuple[dict[int, str], bool]:
    """For each call its brackets around those of its producers, and whether some need one another."""
    text: dict[int, str] = {}
    circular = False
    for i in topological_order(plan):
        circular = circular or any(p not in text for p in needed[i])
        inner = sorted(
            (text.get(p, "*") if len(users[p]) == 1 else f"{text.get(p, '*')}×{len(users[p])}")
            for p in needed[i]
        )
        text[i] = f"({''.join(inner)})" if sum(map(len, inner)) < _LONG else f"(…{len(inner)})"
    return text, circular


# ---------------------------------------------------------------- canonical texts of small pieces
@lru_cache(maxsize=4096)
def _exact(needs: Needs) -> str:
    """The text of a piece without circles, in its canonical order.

    Calls are told apart by what stands around them, again and again; where that leaves calls alike, each is
    tried as the first of them, unless one that was tried before gave the same graph: then the piece looks the
    same from either. Of the graphs that are left, calls numbered in their order, the least counts.
    """
    return _written(min(_search(needs, _users(needs), [0] * len(needs))))


def _users(needs: Needs) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in needs]
    for call, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(call)
    return users


def _search(needs: Needs, users: Sequence[Sequence[int]], colors: list[int]) -> set[Needs]:
    """The graph, numbered in all orders that agree with the colours, but for those equal by symmetry."""
    colors = _refined(needs, users, colors)
    tied = _alike(colors)
    if not tied:
        return {_numbered(needs, colors)}
    numberings: set[Needs] = set()
    for call in tied:
        first = _first(colors, call)
        if not numberings or _any(needs, users, first) not in numberings:
            numberings |= _search(needs, users, first)
    return numberings


def _any(needs: Needs, users: Sequence[Sequence[int]], colors: list[int]) -> Needs:
    """The graph, numbered in one order that agrees with the colours."""
    while tied := _alike(colors := _refined(needs, users, colors)):
        colors = _first(colors, tied[0])
    return _numbered(needs, colors)


def _alike(colors: Sequence[int]) -> list[int]:
    """The calls of the first colour that several have."""
    counts = Counter(colors)
    color = min((c for c, count in counts.items() if count > 1), default=None)
    return [call for call, c in enumerate(colors) if c == color]


def _first(colors: Sequence[int], call: int) -> list[int]:
    """The colours, one call before all others of its own."""
    return [2 * c + (c == colors[call] and other != call) for other, c in enumerate(colors)]


def _numbered(needs: Needs, order: Sequence[int]) -> Needs:
    """The graph with calls as their places in an order."""
    calls_in_order = sorted(range(len(needs)), key=order.__getitem__)
    return tuple(tuple(sorted([order[p] for p in needs[call]])) for call in calls_in_order)


def _refined(needs: Needs, users: Sequence[Sequence[int]], colors: list[int]) -> list[int]:
    """The colours, told apart by those of producers and consumers until nothing changes."""
    count = 0
    while True:
        around = [
            (colors[call], sorted([colors[p] for p in needs[call]]), sorted([colors[u] for u in users[call]]))
            for call in range(len(needs))
        ]
        ranked = [key for key, _ in groupby(sorted(around))]
        colors = [ranked.index(key) for key in around]
        if len(ranked) == count:
            return colors
        count = len(ranked)


def _written(needs: Needs) -> str:
    """The text of a piece: it says the whole graph."""
    users = _users(needs)
    letters: dict[int, str] = {}

    def of(call: int) -> str:
        if call in letters:
            return letters[call]
        name = ""
        if len(users[call]) > 1:
            name = letters[call] = chr(ord("a") + len(letters))
            name += ":"
        return f"{name}({''.join([of(producer) for producer in needs[call]])})"

    return " ".join([of(call) for call, those in enumerate(users) if not those])
