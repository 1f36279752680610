"""One compared pair as metrics see it, and what they give: counts that add up over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar, overload

from planner_eval.base.counts import f1_parts
from planner_eval.base.frozen import fast_frozen
from planner_eval.comparison.counted import prepare_for_counting
from planner_eval.comparison.matching.align import Matching
from planner_eval.comparison.structure_figures import Components, Structures
from planner_eval.plan.graph import levels, producers
from planner_eval.plan.model import Arguments, Edge, Plan, is_dependent


# ----------------------------------------------------------------------
# What metrics give: counts that add up over samples, and the ratios made from them at the end.
@fast_frozen
class Counts:
    """How many items the prediction has, gold has, and both have: for precision, recall and F1.

    Args:
        hit: Items of pred that stand for an item of gold; one-to-one, so never more than either side.
        pred: Items of pred.
        gold: Items of gold.

    >>> (Counts(1, 1, 2) + Counts(1, 2, 1)).f1
    0.6666666666666666
    """

    hit: float
    pred: float
    gold: float

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hit + other.hit, self.pred + other.pred, self.gold + other.gold)

    @property
    def precision(self) -> float | None:
        """Hits over pred; None where pred has nothing."""
        return self.hit / self.pred if self.pred else None

    @property
    def recall(self) -> float | None:
        """Hits over gold; None where gold has nothing."""
        return self.hit / self.gold if self.gold else None

    @property
    def share(self) -> Share:
        """What F1 is a share of: twice the hits, of pred + gold."""
        return Share(*f1_parts(self.hit, self.pred, self.gold))

    @property
    def f1(self) -> float | None:
        """Twice the hits over pred + gold; None where neither side has anything."""
        hits, total = f1_parts(self.hit, self.pred, self.gold)
        return hits / total if total else None

    @property
    def value(self) -> float | None:
        """The one number that stands for these counts: F1."""
        return self.f1


@fast_frozen
class Share:
    """A part of a whole; sums of shares are shares of sums.

    Args:
        part: The part; below 0 for correlations.
        whole: The whole.

    >>> (Share(1, 2) + Share(1, 2)).value
    0.5
    """

    part: float
    whole: float

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> float | None:
        """The part over the whole; None where there is no whole."""
        return self.part / self.whole if self.whole else None


Tally: TypeAlias = Counts | Share
"""What a metric gives for one sample."""


# ----------------------------------------------------------------------
# One compared pair as metrics see it; what several of them need is worked out once.
_Value = TypeVar("_Value")


class lazy_property(Generic[_Value]):
    """A property that is worked out on first use; functools' own takes a lock, which costs a microsecond."""

    def __init__(self, work: Callable[[Any], _Value]) -> None:
        self.work, self.name = work, work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> lazy_property[_Value]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> _Value: ...
    def __get__(self, owner: object | None, kind: type) -> lazy_property[_Value] | _Value:
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.work(owner)
        return value


class ArgumentCounts:
    """How many arguments there are, and how many of them partners get right.

    Each figure is a list [independent, dependent]: an argument is dependent when its value (gold's,
    where gold gives it) holds a reference. ``pred`` and ``gold`` count all calls; of partners of one
    name, ``wanted`` counts gold's arguments, ``shared`` those that both give, ``right`` those that
    are also equal in value.
    """

    __slots__ = ("gold", "pred", "right", "shared", "wanted")

    def __init__(self) -> None:
        self.pred = [0, 0]
        self.gold = [0, 0]
        self.shared = [0, 0]
        self.right = [0, 0]
        self.wanted = [0, 0]


class Facts:
    """A matching with what metrics count in it; ``pred`` and ``gold`` are the plans as figures count them.

    Optional calls of gold that were not made count as if gold did not have them.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.
        largest: The calls of the largest component, where the prediction has gold's graph, call by call, each
            written after what it needs; None where it may have another.
        counted: What :func:`planner_eval.comparison.counted.prepare_for_counting` gave,
            where it is known already.
    """

    def __init__(
        self, matching: Matching, largest: int | None = None, counted: Matching | None = None
    ) -> None:
        self.largest = largest
        self.compared = matching
        self.matching = matching = prepare_for_counting(matching) if counted is None else counted
        self.pred: Plan = matching.pred
        self.gold: Plan = matching.gold
        self.to_gold = dict(matching.alignment.pairs)
        self.waived = matching.waived

    @lazy_property
    def gold_calls(self) -> int:
        """Calls of gold that count."""
        return len(self.gold.calls) - len(self.waived)

    @lazy_property
    def structures(self) -> Structures:
        """The graphs of both plans."""
        return Structures(self.matching)

    @lazy_property
    def needed(self) -> list[list[int]]:
        """For each call of gold those that must be written before it because it takes their output.

        What gold itself writes in the wrong order, or in a circle, forces nothing, nor does anything where
        the policy takes calls in any order.
        """
        if self.matching.policy.order == "free":
            return [[] for _ in self.gold.calls]
        if self.waived:
            needs = producers(self.gold)
            level = levels(needs)
        else:
            needs, level = self.structures.gold, self.structures.levels[1]
        return [  # calls of a circle share a level
            [producer for producer in needed if producer < call and level[producer] < level[call]]
            for call, needed in enumerate(needs)
        ]

    @lazy_property
    def forced(self) -> tuple[list[int], list[int]]:
        """For each call of gold with a partner: the partner's position, and its forced predecessors.

        Predecessors are a bit set by the partner's position in pred; calls without a partner pass
        theirs on.
        """
        partner = {gold: pred for pred, gold in self.matching.alignment.pairs}
        before: list[int] = []
        positions, forced = [], []
        for gold, needed in enumerate(self.needed):
            predecessors = 0
            for producer in needed:
                predecessors |= before[producer]
                if producer in partner:
                    predecessors |= 1 << partner[producer]
            before.append(predecessors)
            if gold in partner:
                positions.append(partner[gold])
                forced.append(predecessors)
        return positions, forced

    @lazy_property
    def cost(self) -> float:
        """How many arguments of partners differ, and how many of them call another tool."""
        other_tools = len(self.matching.alignment.pairs) - len(self.same_name)
        return float(other_tools + sum(map(len, self.differing.values())))

    @lazy_property
    def differing(self) -> dict[int, dict[Any, float]]:
        """The arguments that differ, by the position in gold of partners that are not known to be equal."""
        pairing = self.matching.pairing
        if pairing is None:
            return {}
        pairs = self.matching.alignment.pairs
        if pairing.settled:
            pairs = tuple([(pred, gold) for pred, gold in pairs if not pairing.equal(pred, gold)])
        return {gold: pairing.final(pred, gold) for pred, gold in pairs}

    @lazy_property
    def components(self) -> Components:
        """The components of both plans."""
        return self.structures.components()

    @lazy_property
    def same_name(self) -> list[tuple[int, int]]:
        """Partners that call the same tool of the same app."""
        pairing = self.matching.pairing
        pairs = self.matching.alignment.pairs
        if pairing is None:
            return list(pairs)
        pred_tools, gold_tools = pairing.pred.called, pairing.gold.called
        return [(pred, gold) for pred, gold in pairs if pred_tools[pred] == gold_tools[gold]]

    @lazy_property
    def whole_calls(self) -> list[int]:
        """Positions in gold of calls that are right in name and in every argument."""
        return self._judged[1]

    @lazy_property
    def arguments(self) -> ArgumentCounts:
        """The arguments of both plans, counted."""
        return self._judged[0]

    @lazy_property
    def _judged(self) -> tuple[ArgumentCounts, list[int]]:
        pred_numbered, gold_numbered = self.matching.numbered
        counts = ArgumentCounts()
        whole_calls: list[int] = []
        if self.matching.pairing is None:
            calls = range(len(self.gold.calls))
            for gold in calls:
                _add(counts.gold, gold_numbered.arguments[gold])
            counts.pred = counts.shared = counts.right = counts.wanted = counts.gold
            return counts, list(calls)
        partner = {gold: pred for pred, gold in self.same_name}
        paired = set(partner.values())
        equal_counts = [0, 0]
        for gold in range(len(self.gold.calls)):
            pred = partner.get(gold)
            if pred is not None and gold not in self.differing:
                _add(equal_counts, gold_numbered.arguments[gold])
                whole_calls.append(gold)
            elif pred is not None:
                if self._compare(pred, gold, counts):
                    whole_calls.append(gold)
            elif gold not in self.waived:
                _add(counts.gold, gold_numbered.arguments[gold])
        for pred in range(len(self.pred.calls)):
            if pred not in paired:
                _add(counts.pred, pred_numbered.arguments[pred])
        for figure in (counts.pred, counts.gold, counts.shared, counts.right, counts.wanted):
            figure[0] += equal_counts[0]
            figure[1] += equal_counts[1]
        return counts, whole_calls

    def _compare(self, pred: int, gold: int, counts: ArgumentCounts) -> bool:
        """Count the arguments of two partners; whether all are right."""
        pairing = self.matching.pairing
        assert pairing is not None
        pred_args, gold_args = pairing.pred.arguments(pred), pairing.gold.arguments(gold)
        wrong = self.differing[gold]
        for name, (_, _, value) in gold_args.items():
            if name not in pred_args and name not in wrong:
                continue
            kind = type(value) is not str and is_dependent(value)
            counts.gold[kind] += 1
            counts.wanted[kind] += 1
            if name in pred_args:
                counts.shared[kind] += 1
                counts.right[kind] += name not in wrong
                counts.pred[kind] += name not in wrong
        for name, (_, _, value) in pred_args.items():
            if name in wrong:
                counts.pred[type(value) is not str and is_dependent(value)] += 1
        return not wrong

    @lazy_property
    def pred_edges(self) -> list[Edge]:
        """The written references of pred."""
        return _written_edges(self.pred.edges)

    @lazy_property
    def gold_edges(self) -> list[Edge]:
        """The written references of gold that count."""
        edges = _written_edges(self.gold.edges)
        return [e for e in edges if e.consumer not in self.waived] if self.waived else edges


def _written_edges(edges: Iterable[Edge]) -> list[Edge]:
    return [edge for edge in edges if not edge.inferred]


def _add(figure: list[int], arguments: Arguments) -> None:
    count = count_dependent(arguments)
    figure[0] += len(arguments) - count
    figure[1] += count


def count_dependent(arguments: Arguments) -> int:
    """How many arguments are dependent."""
    return len([1 for _, value in arguments if type(value) is not str and is_dependent(value)])
