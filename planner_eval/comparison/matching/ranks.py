"""An order of the calls of two plans that depends on what they are and who uses them, never on their places.

Where several pairings are equally good one has to be taken, and a bounded search looks at some of them before
others. Both go by this order, so that a plan written in another order, under other labels, is paired alike.
Calls that this order cannot tell apart stand in like places of the graph, and it does not matter which of
them is taken: then the one that is written first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.plan.adjacency import levels
from planner_eval.plan.isomorphism import Coloured, refine
from planner_eval.plan.model import Template, Unresolved
from planner_eval.plan.walk import holds

if TYPE_CHECKING:
    from planner_eval.comparison.matching.pairing import Side

WORK = 20_000
"""Calls, counted again for each pick, up to which calls that look alike are told apart one by one."""


HOPS = 6
"""How far around a call its surroundings are looked at."""


_PLAIN = frozenset({str, int, float, bool, type(None)})
_NOTHING: frozenset[str] = frozenset()


class Ranks:
    """The order of pred's calls and that of gold's: producers before consumers.

    Args:
        pred: The prediction.
        gold: What was wanted.
        whole: Whether values count that only one of the plans has.
        marks: What else tells calls of gold apart.
    """

    __slots__ = ("_keys", "_seen", "_sides", "_told")

    def __init__(self, pred: Side, gold: Side, *, whole: bool, marks: Mapping[int, str]) -> None:
        ours, theirs = [[_producers(side, at) for at in range(len(side.known))] for side in (pred, gold)]
        looks = (
            _looks(pred, None if whole else _Known(gold), {}),
            _looks(gold, None if whole else _Known(pred), marks),
        )
        table = {look: at for at, look in enumerate(sorted({*looks[0], *looks[1]}))}
        self._sides = [
            Coloured([table[look] for look in seen], needs)
            for seen, needs in zip(looks, (ours, theirs), strict=True)
        ]
        self._keys = [[*zip(_levels(side.producers), side.colours, strict=True)] for side in self._sides]
        self._seen: list[tuple[list[int], list[int]]] = []
        self._told = False

    def preds(self, calls: Iterable[int]) -> list[int]:
        """Calls of pred in order."""
        return self._sorted(0, calls)

    def golds(self, calls: Iterable[int]) -> list[int]:
        """Calls of gold in order."""
        return self._sorted(1, calls)

    @property
    def surroundings(self) -> list[tuple[list[int], list[int]]]:
        """What each call of either plan and what is around it look like, the nearest first.

        At no hops that is its name and its arguments but for which calls they refer to; at each further hop
        the looks of its producers and consumers are added.
        """
        if not self._seen:
            ours, theirs = self._sides
            count = 0
            while len(self._seen) <= HOPS and count < len({*ours.colours, *theirs.colours}):
                self._seen.append(([*ours.colours], [*theirs.colours]))
                count = len({*ours.colours, *theirs.colours})
                refine(ours, theirs, rounds=1)
        return self._seen

    def alike(self, pred: int, gold: int) -> int:
        """At how many hops the surroundings of two calls are alike, as far as calls had to be told apart."""
        count = 0
        for ours, theirs in self._seen:
            if ours[pred] != theirs[gold]:
                break
            count += 1
        return count

    def twins(self) -> tuple[list[list[int]], list[list[int]]]:
        """Calls of pred, and of gold, that look alike, need the same calls and that none uses, as written."""
        looks = self._seen[0] if self._seen else tuple(side.colours for side in self._sides)
        ours, theirs = (_twins(look, side.producers) for look, side in zip(looks, self._sides, strict=True))
        return ours, theirs

    def _sorted(self, side: int, calls: Iterable[int]) -> list[int]:
        calls = [*calls]
        if not self._told and len({self._keys[side][at] for at in calls}) < len(calls):
            self._told = True
            if len(self.surroundings) > HOPS:
                refine(*self._sides)  # which leaves calls of unlike colours in their order
            for one, keys in zip(self._sides, self._keys, strict=True):
                keys[:] = _in_order(one, keys)
        return sorted(calls, key=self._keys[side].__getitem__)


def _twins(looks: list[int], producers: list[list[int]]) -> list[list[int]]:
    used = {producer for needed in producers for producer in needed}
    found: dict[Any, list[int]] = {}
    for at, look in enumerate(looks):
        if at not in used:
            found.setdefault((look, *producers[at]), []).append(at)
    return [calls for calls in found.values() if len(calls) > 1]


def _producers(side: Side, at: int) -> list[int]:
    """The calls that a call refers to, by argument."""
    referring = [(name, given[1]) for name, given in side.arguments(at).items() if given[1]]
    if len(referring) > 1:
        referring.sort(key=lambda pair: str(pair[0]))
    return [producer for _, producers in referring for producer in producers]


class _Known:
    """What a plan's arguments hold, for the other plan to know which of its own values it shares."""

    def __init__(self, side: Side) -> None:
        self.side = side
        given = map(side.arguments, range(len(side.known)))
        self.shapes = {(name, held[0]) for arguments in given for name, held in arguments.items()}
        self._near: dict[Any, set[str]] | None = None

    @property
    def near(self) -> dict[Any, set[str]]:
        """Words and parts of words of all values by argument."""
        if self._near is None:
            self._near = {}
            for at in range(len(self.side.known)):
                for name, parts in self.side.features(at).items():
                    self._near.setdefault(name, set()).update(parts)
        return self._near


def _looks(side: Side, known: _Known | None, marks: Mapping[int, str]) -> list[tuple[Any, ...]]:
    """What each call is: a value is as good as none where the other plan has nothing like it."""
    found = []
    for at in range(len(side.known)):
        given = []
        parts: dict[Any, frozenset[str]] = {}
        for name, (shape, needed, value) in side.arguments(at).items():
            if (
                known is None
                or needed
                or (name, shape) in known.shapes
                or (type(value) not in _PLAIN and holds(value, (Unresolved, Template)))
            ):
                given.append((str(name), repr(shape)))
                continue
            parts = parts or side.features(at)
            near = parts[name] & known.near.get(name, _NOTHING)
            told = near and 2 * len(near) >= len(parts[name])
            given.append((str(name), repr(sorted(near)) if told else ""))
        given.sort()
        app, tool = side.tool(at)
        found.append((app is not None, app or "", tool, tuple(given), marks.get(at, "")))
    return found


def _levels(producers: list[list[int]]) -> list[int]:
    return levels([sorted({*needed} - {at}) for at, needed in enumerate(producers)])


def _in_order(graph: Coloured, keys: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Tell apart what has one colour, then number the calls by level and colour."""
    for _ in range(WORK // (1 + len(graph.colours))):
        picked = _entangled(graph)
        if picked is None:
            break
        colour = graph.colours[picked]
        graph.colours[:] = [
            2 * one + (one == colour and at != picked) for at, one in enumerate(graph.colours)
        ]
        refine(graph)
    found = [(0, 0)] * len(keys)
    for colour, tied in sorted(_by_colour(graph).items(), key=lambda pair: (keys[pair[1][0]][0], pair[0])):
        if len(tied) > 1:
            tied.sort(key=lambda at: [found[producer] for producer in graph.producers[at]])
        for place, at in enumerate(tied):
            found[at] = keys[at][0], colour * len(keys) + place
    return found


def _by_colour(graph: Coloured) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, colour in enumerate(graph.colours):
        found.setdefault(colour, []).append(at)
    return found


def _entangled(graph: Coloured) -> int | None:
    """A call to be told from others of its colour; None where their producers' ranks are enough for that.

    They are where no call needs two that are tied: then it is enough that consumers go with their producers.
    """
    shared = {at for tied in _by_colour(graph).values() if len(tied) > 1 for at in tied}
    if not any(len(shared.intersection(graph.producers[at])) > 1 for at in shared):
        return None
    return min(shared, key=lambda at: (graph.colours[at], at))
