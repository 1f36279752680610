"""An order of the calls of two plans that depends on what they are and who uses them, never on their places.

Where several pairings are equally good one has to be taken, and a bounded search looks at some of them before
others. Both go by this order, so that a plan written in another order, under other labels, is paired alike.
Calls that this order cannot tell apart stand in like places of the graph, and it does not matter which of
them is taken: then the one that is written first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.plan.graph import levels
from planner_eval.plan.isomorphism import ColouredGraph, refine_colours
from planner_eval.plan.model import Template, Unresolved, contains_kind

if TYPE_CHECKING:
    from planner_eval.comparison.matching.pairing import Argument, PlanCalls

MAX_STEPS = 20_000
"""Calls, counted again for each pick, up to which calls that look alike are told apart one by one."""


MAX_HOPS = 6
"""How far around a call its surroundings are looked at."""


_NO_FEATURES: frozenset[str] = frozenset()


RankKey: TypeAlias = tuple[tuple[int, int], int]
"""What calls are ordered by: how early each can be made and is used, and its colour."""


class Ranks:
    """The order of pred's calls and that of gold's: producers before consumers, what is used early first.

    Args:
        pred: The prediction.
        gold: What was wanted.
        count_unshared: Whether values count that only one of the plans has.
        marks: What else tells calls of gold apart.
    """

    __slots__ = ("_keys", "_seen", "_sides", "_told")

    def __init__(
        self, pred: PlanCalls, gold: PlanCalls, *, count_unshared: bool, marks: Mapping[int, str]
    ) -> None:
        pred_producers, gold_producers = [
            [_producers(arguments) for arguments in plan_calls.all_arguments()] for plan_calls in (pred, gold)
        ]
        looks = (
            _call_keys(pred, None if count_unshared else _KnownValues(gold), {}),
            _call_keys(gold, None if count_unshared else _KnownValues(pred), marks),
        )
        table = {look: rank for rank, look in enumerate(sorted({*looks[0], *looks[1]}))}
        self._sides = [
            ColouredGraph([table[look] for look in seen], needs)
            for seen, needs in zip(looks, (pred_producers, gold_producers), strict=True)
        ]
        self._keys = [
            [*zip(_schedule_ranks(graph.producers), graph.colours, strict=True)] for graph in self._sides
        ]
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
            pred_graph, gold_graph = self._sides
            count = 0
            while len(self._seen) <= MAX_HOPS and count < len({*pred_graph.colours, *gold_graph.colours}):
                self._seen.append(([*pred_graph.colours], [*gold_graph.colours]))
                count = len({*pred_graph.colours, *gold_graph.colours})
                refine_colours(pred_graph, gold_graph, rounds=1)
        return self._seen

    def alike(self, pred: int, gold: int) -> int:
        """At how many hops the surroundings of two calls are alike, as far as calls had to be told apart."""
        count = 0
        for pred_looks, gold_looks in self._seen:
            if pred_looks[pred] != gold_looks[gold]:
                break
            count += 1
        return count

    def twins(self) -> tuple[list[list[int]], list[list[int]]]:
        """Calls of pred, and of gold, that look alike, need the same calls and that none uses, as written."""
        looks = self._seen[0] if self._seen else tuple(graph.colours for graph in self._sides)
        pred_twins, gold_twins = (
            _find_twins(look, graph.producers) for look, graph in zip(looks, self._sides, strict=True)
        )
        return pred_twins, gold_twins

    def _sorted(self, plan_index: int, calls: Iterable[int]) -> list[int]:
        calls = [*calls]
        if not self._told and len({self._keys[plan_index][position] for position in calls}) < len(calls):
            self._told = True
            if len(self.surroundings) > MAX_HOPS:
                refine_colours(*self._sides)  # which leaves calls of unlike colours in their order
            for graph, keys in zip(self._sides, self._keys, strict=True):
                keys[:] = _break_ties(graph, keys)
        return sorted(calls, key=self._keys[plan_index].__getitem__)


def _find_twins(looks: list[int], producers: list[list[int]]) -> list[list[int]]:
    used = {producer for needed in producers for producer in needed}
    groups: dict[Any, list[int]] = {}
    for position, look in enumerate(looks):
        if position not in used:
            groups.setdefault((look, *producers[position]), []).append(position)
    return [calls for calls in groups.values() if len(calls) > 1]


def _producers(arguments: Mapping[Any, Argument]) -> list[int]:
    """The calls that a call's arguments refer to, by argument."""
    referring = sorted((str(name), producers) for name, (_, producers, _) in arguments.items() if producers)
    return [producer for _, producers in referring for producer in producers]


class _KnownValues:
    """What a plan's arguments hold, for the other plan to know which of its own values it shares."""

    def __init__(self, plan_calls: PlanCalls) -> None:
        self.side = plan_calls
        self.shapes = {
            (name, argument[0])
            for arguments in plan_calls.all_arguments()
            for name, argument in arguments.items()
        }

    @cached_property
    def near(self) -> dict[Any, set[str]]:
        """Words and parts of words of all values by argument."""
        near: dict[Any, set[str]] = {}
        for position in range(len(self.side.known)):
            for name, features in self.side.features(position).items():
                near.setdefault(name, set()).update(features)
        return near


def _call_keys(
    plan_calls: PlanCalls, other_plan: _KnownValues | None, marks: Mapping[int, str]
) -> list[tuple[Any, ...]]:
    """What each call is: a value is as good as none where the other plan has nothing like it."""
    looks = []
    for position, call_arguments in enumerate(plan_calls.all_arguments()):
        arguments = []
        features: dict[Any, frozenset[str]] = {}
        for name, (shape, needed, value) in call_arguments.items():
            if (
                other_plan is None
                or needed
                or (name, shape) in other_plan.shapes
                or contains_kind(value, (Unresolved, Template))
            ):
                arguments.append((str(name), repr(shape)))
                continue
            features = features or plan_calls.features(position)
            shared = features[name] & other_plan.near.get(name, _NO_FEATURES)
            is_telling = shared and 2 * len(shared) >= len(features[name])
            arguments.append((str(name), repr(sorted(shared)) if is_telling else ""))
        arguments.sort()
        app, tool = plan_calls.tool(position)
        looks.append((app is not None, app or "", tool, tuple(arguments), marks.get(position, "")))
    return looks


def _schedule_ranks(producers: list[list[int]]) -> list[tuple[int, int]]:
    """How early each call can be made, and among those how early its result is used."""
    call_levels = levels([[call for call in needed if call != own] for own, needed in enumerate(producers)])
    last = len(call_levels)
    used = [last] * last
    for position, needed in enumerate(producers):
        for producer in needed:
            used[producer] = min(used[producer], call_levels[position])
    return [*zip(call_levels, used, strict=True)]


def _break_ties(graph: ColouredGraph, keys: list[RankKey]) -> list[RankKey]:
    """Tell apart what has one colour, then number the calls by level and colour."""
    for _ in range(MAX_STEPS // (1 + len(graph.colours))):
        picked = _find_entangled_call(graph)
        if picked is None:
            break
        colour = graph.colours[picked]
        graph.colours[:] = [
            2 * other_colour + (other_colour == colour and position != picked)
            for position, other_colour in enumerate(graph.colours)
        ]
        refine_colours(graph)
    order = [*keys]
    for colour, tied in sorted(
        _group_by_colour(graph).items(), key=lambda pair: (keys[pair[1][0]][0], pair[0])
    ):
        tied.sort(key=lambda position: [order[producer] for producer in graph.producers[position]])
        for index, position in enumerate(tied):
            order[position] = keys[position][0], colour * len(keys) + index
    return order


def _group_by_colour(graph: ColouredGraph) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for position, colour in enumerate(graph.colours):
        groups.setdefault(colour, []).append(position)
    return groups


def _find_entangled_call(graph: ColouredGraph) -> int | None:
    """A call to be told from others of its colour; None where their producers' ranks are enough for that.

    They are where no call needs two that are tied: then it is enough that consumers go with their producers.
    """
    shared = {position for tied in _group_by_colour(graph).values() if len(tied) > 1 for position in tied}
    if not any(len(shared.intersection(graph.producers[position])) > 1 for position in shared):
        return None
    return min(shared, key=lambda position: (graph.colours[position], position))
