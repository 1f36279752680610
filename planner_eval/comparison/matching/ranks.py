"""An order of the calls of two plans that depends on what they are and who uses them, not on their places.

Where several pairings are equally good one has to be taken, and a bounded search looks at some pairings before
others. Both go by this order, so that a plan written in another order, under other labels, is paired alike.
Calls that this order cannot tell apart stand in one place of the graph, and it does not matter which is taken:
then the one that is written first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.plan.adjacency import levels
from planner_eval.plan.canonical import Key
from planner_eval.plan.isomorphism import Coloured, refine
from planner_eval.plan.model import Template, Unresolved, Value
from planner_eval.plan.walk import holds

if TYPE_CHECKING:
    from planner_eval.comparison.matching.pairing import Side

WORK = 20_000
"""Calls, counted again for each pick, up to which calls that look alike are told apart one by one."""


def rank(
    pred: Side, gold: Side, *, whole: bool = False, marks: Mapping[int, str] | None = None
) -> tuple[list[int], list[int]]:
    """The rank of each call of pred and of gold: producers before consumers.

    Args:
        pred: The prediction.
        gold: What was wanted.
        whole: Whether values count that only one of the plans has.
        marks: What else tells calls of gold apart.
    """
    sides = [Coloured([], [_producers(side, at) for at in range(len(side.known))]) for side in (pred, gold)]
    ours = _looks(pred, sides[0].producers, None if whole else _Known(gold), {})
    theirs = _looks(gold, sides[1].producers, None if whole else _Known(pred), marks or {})
    table = {look: at for at, look in enumerate(sorted({*ours, *theirs}))}
    for side, looks in zip(sides, (ours, theirs), strict=True):
        side.colours[:] = [table[look] for look in looks]
    if any(len({*side.colours}) < len(side.colours) for side in sides):
        refine(*sides)
    return _in_order(sides[0]), _in_order(sides[1])


def _producers(side: Side, at: int) -> list[int]:
    """The calls that a call refers to, by argument."""
    referring = [(name, given[1]) for name, given in side.arguments(at).items() if given[1]]
    if len(referring) > 1:
        referring.sort(key=lambda pair: str(pair[0]))
    return [producer for _, producers in referring for producer in producers]


class _Known:
    """What a plan's arguments hold, for the other plan to know which of its own values it shares."""

    def __init__(self, side: Side) -> None:
        self.arguments = [side.arguments(at) for at in range(len(side.known))]
        self.shapes = {(name, given[0]) for held in self.arguments for name, given in held.items()}
        self.near: dict[Any, set[tuple[str, ...]]] = {}

    def token(self, name: Any, shape: Key, value: Value) -> str:
        """What tells a literal from others: nothing where no argument of this plan holds it, or nearly."""
        if (name, shape) in self.shapes or (type(value) is not str and holds(value, (Unresolved, Template))):
            return repr(shape)
        if type(value) is not str:
            return ""
        if name not in self.near:
            values = [held[name][2] for held in self.arguments if name in held]
            self.near[name] = {_words(other) for other in values if type(other) is str}
        words = _words(value)
        return repr(words) if words in self.near[name] else ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.casefold().split())


def _looks(
    side: Side, producers: list[list[int]], known: _Known | None, marks: Mapping[int, str]
) -> list[tuple[Any, ...]]:
    """What each call is: a value that the other plan does not have is like any other such value."""
    level = levels([sorted({*needed} - {at}) for at, needed in enumerate(producers)])
    found = []
    for at in range(len(side.known)):
        given = [
            (str(name), repr(shape) if known is None or needed else known.token(name, shape, value))
            for name, (shape, needed, value) in side.arguments(at).items()
        ]
        app, tool = side.tool(at)
        found.append((level[at], app is not None, app or "", tool, tuple(sorted(given)), marks.get(at, "")))
    return found


def _in_order(graph: Coloured) -> list[int]:
    """Tell apart what has one colour, then number the calls by colour; producers come before consumers."""
    for _ in range(WORK // (1 + len(graph.colours))):
        picked = _entangled(graph)
        if picked is None:
            break
        colour = graph.colours[picked]
        graph.colours[:] = [2 * one + (one == colour and at != picked) for at, one in enumerate(graph.colours)]
        refine(graph)
    found = [0] * len(graph.colours)
    rank = 0
    for _, tied in sorted(_by_colour(graph).items()):
        if len(tied) > 1:
            tied.sort(key=lambda at: [found[producer] for producer in graph.producers[at]])
        for at in tied:
            found[at] = rank
            rank += 1
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
