"""What a pairing of calls costs.

An argument differs when it is missing, extra, of another value, or refers to a call that is not the
partner of gold's producer. So the cost of one pair depends on the others; a call may be free
(undecided), and a reference from one free call to another then counts as right when the two could
become partners, which never counts too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import Any, TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import Tool, feature_likeness, features, find_respellings
from planner_eval.comparison.matching.ranks import Ranks
from planner_eval.plan.canonical import Key, NumberedPlan, producers_of, value_key
from planner_eval.plan.model import Call, Value

# ----------------------------------------------------------------------
# What a pairing of calls costs: the number of arguments that differ.
Argument: TypeAlias = tuple[Key, tuple[int, ...], Value]
"""The shape of a value (its producers blank), its producers, the value: a bare tuple, for one is made for
each argument and read at every comparison, which a class with named fields slows by a hundredth."""

Matcher: TypeAlias = Callable[["Call | None", str, Any, Any, "ComparedValues"], bool]
"""Whether pred's value will do for gold's: (gold's call, argument, pred's, gold's, what else is known);
MISSING for none."""

ALONE, FREE = -1, -2

DOUBTFUL_COST = 0.25
"""What a reference counts, while calls are paired, that goes from gold's unpaired call to an unpaired call of
another name: one may have replaced the other."""

COST_PARTS = 1024
"""Into how many parts an argument is cut where several calls share the blame for it; a power of two, so that
sums of parts are exact and in whatever order they are added."""

MAX_CACHED_PAIRS = 10_000
"""Pairs of calls up to which it is remembered what each costs whatever becomes of the others: a search asks
for each of them a few times."""

FixedComparison: TypeAlias = tuple[list[Any], list[tuple[Any, tuple[int, ...], tuple[int, ...]]], float]
"""What two calls have in any pairing: the arguments that differ; the references that decide the rest, each
with its argument, pred's producers, gold's; what speaks for the pair."""

NAME_BONUS, REFERENCE_BONUS, VALUE_BONUS, WHOLE_CALL_BONUS, LIKENESS_BONUS = (
    2.0**-14,
    2.0**-21,
    2.0**-27,
    2.0**-31,
    2.0**-35,
)
"""What speaks for a pair among equally dear ones, the first the most: a shared argument name, a right
reference, a right value, a call right in all; last a value that is like the right one. Powers of two, which
add up exactly, each so much less than the former that many do not make up for one of those."""

DISTINCTIVE_BONUSES = 2.0**-34, 2.0**-35, 2.0**-36
"""What a right value speaks for a pair, beside likeness, under the arguments that tell calls of a tool apart
best: a call for Rome that has the unit of Oslo's is still the one for Rome."""

MAX_LIKENESS = 4.0
"""The most that likeness counts of two calls: those that it leads elsewhere never make up for a call right
in all."""


class Missing:
    """The type of :data:`MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
"""What a matcher gets in place of an argument that is not there."""


class ComparedValues(NamedTuple):
    """What else there is to know of two values that are compared.

    Args:
        alike: Whether two values, or items of them, are equal, references by what they refer to.
        ours: The prediction's value as the plan has it.
        theirs: Gold's.
    """

    alike: Callable[[Value, Value], bool]
    ours: Callable[[], Value]
    theirs: Callable[[], Value]

    def of(self, gold_value: Value) -> ComparedValues:
        """The same of another value in the place of gold's."""
        return self._replace(theirs=lambda: gold_value)


class Use(NamedTuple):
    """Who refers to a call: the consumer, its argument, and which reference of the argument it is."""

    consumer: int
    argument: Any
    slot: int


_ANSWER_TOOL = Tool(None, "")


class PlanCalls:
    """One plan's calls as a pairing sees them; the answer counts as one more call.

    ``tools`` are in gold's spelling, see :meth:`Pairing.respell`, ``called`` as the plan has them.
    """

    __slots__ = ("_blank", "_users", "_written", "called", "known", "numbered", "parts", "tools")

    def __init__(self, numbered: NumberedPlan) -> None:
        self.numbered = numbered
        self.tools = self.called = [Tool(call.app, call.name) for call in numbered.plan.calls]
        self.known: list[dict[Any, Argument] | None] = [None] * len(numbered.arguments)
        self._blank = [0] * len(self.tools)
        self._written: dict[int, dict[Any, Value]] = {}
        self.parts: list[dict[Any, frozenset[str]] | None] = [None] * len(numbered.arguments)
        self._users: list[list[Use]] | None = None

    def arguments(self, position: int) -> dict[Any, Argument]:
        """One call's arguments by name; a repeated name's second argument is (name, 2), and so on."""
        stored = self.known[position]
        if stored is not None:
            return stored
        arguments: dict[Any, Argument] = {}
        copies: dict[str, int] = {}
        for name, value in self.numbered.arguments[position]:
            key: Any = name
            if key in arguments:
                copies[name] = copies.get(name, 1) + 1
                key = name, copies[name]
            if type(value) is str:
                arguments[key] = value, (), value
            else:
                arguments[key] = value_key(value, self._blank), tuple(producers_of(value)), value
        self.known[position] = arguments
        return arguments

    def all_arguments(self) -> list[dict[Any, Argument]]:
        """The arguments of each call, and of the answer."""
        return [self.arguments(position) for position in range(len(self.known))]

    def written(self, position: int) -> dict[Any, Value]:
        """The same arguments, by the same names, as the plan has them."""
        if position not in self._written:
            values = [value for _, value in self.numbered.written[position]]
            self._written[position] = dict(zip(self.arguments(position), values, strict=True))
        return self._written[position]

    def features(self, position: int) -> dict[Any, frozenset[str]]:
        """What of each argument of a call tells how like another one it is."""
        stored = self.parts[position]
        if stored is None:
            arguments = self.arguments(position)
            stored = self.parts[position] = {
                name: features(value) for name, (_, _, value) in arguments.items()
            }
        return stored

    def open(self, position: int, arguments: dict[Any, Argument], written: dict[str, Value]) -> None:
        """Let a call have other arguments than it is written with."""
        self.known[position], self._written[position] = arguments, dict(written)
        self.parts[position] = None

    def shape(self, value: Value) -> Key:
        """A value but for which calls it refers to."""
        return value_key(value, self._blank)

    def tool(self, position: int) -> Tool:
        """App and name of one call, of the answer too."""
        return self.tools[position] if position < len(self.tools) else _ANSWER_TOOL

    @property
    def users(self) -> list[list[Use]]:
        """For each call who refers to it."""
        if self._users is None:
            self._users = [[] for _ in self.known]
            for consumer, arguments in enumerate(self.all_arguments()):
                for name, (_, producers, _) in arguments.items():
                    for slot, producer in enumerate(producers):
                        self._users[producer].append(Use(consumer, name, slot))
        return self._users


def _rank_distinctive_arguments(gold: PlanCalls, pred: PlanCalls, tool: Tool) -> dict[Any, float]:
    """The literal arguments that tell calls of one tool apart best, with what each speaks."""
    shapes: dict[Any, tuple[set[Key], set[Key]]] = {}
    for index, plan_calls in enumerate((gold, pred)):
        for position in [position for position, called in enumerate(plan_calls.tools) if called == tool]:
            for name, (shape, producers, _) in plan_calls.arguments(position).items():
                if not producers:
                    shapes.setdefault(name, (set(), set()))[index].add(shape)
    names = sorted(
        shapes,
        key=lambda name: (*(-len(s) for s in shapes[name]), _count_without_digit(shapes[name][0]), str(name)),
    )
    return dict(zip(names, DISTINCTIVE_BONUSES, strict=False))


def _count_without_digit(values: set[Key]) -> int:
    """How many values have no digit: what names one thing of many mostly has some."""
    return sum(_DIGIT.search(str(value)) is None for value in values)


_DIGIT = re.compile(r"\d")
_NO_BONUSES: dict[Any, float] = {}


class Pairing:
    """A pairing in the making: ``to_gold`` and ``to_pred`` hold each call's partner, FREE or ALONE.

    ``optional`` calls of gold are the first to stay alone where not all can have partners; ``open`` says
    what else gold leaves open at a call. When ``settled``, no plan has equal calls, and partners of equal
    numbers are equal in all arguments.
    """

    __slots__ = (
        "_few", "_final", "_fixed", "_near", "_ranks", "_telling", "_weighed", "gold", "matcher", "open",
        "optional", "pred", "proved", "settled", "to_gold", "to_pred",
    )  # fmt: skip

    def __init__(self, pred: PlanCalls, gold: PlanCalls, matcher: Matcher | None = None) -> None:
        self.pred, self.gold, self.matcher = pred, gold, matcher
        self.to_gold = [FREE] * len(pred.numbered.arguments)
        self.to_pred = [FREE] * len(gold.numbered.arguments)
        self.proved = True
        self.settled = False
        self.optional: frozenset[int] = frozenset()
        self.open: dict[int, str] = {}
        self._ranks: Ranks | None = None
        self._telling: dict[Tool, dict[Any, float]] | None = None
        self._weighed = False
        self._final: dict[int, dict[Any, float]] = {}
        self._few = len(self.to_gold) * len(self.to_pred) <= MAX_CACHED_PAIRS
        self._fixed: dict[tuple[int, int], FixedComparison] = {}
        self._near: dict[tuple[int, int], float] = {}

    def respell(self, declared: Container[str]) -> None:
        """Take tools of pred that gold spells otherwise for gold's, but those that are `declared`."""
        same = self.pred.called == self.gold.called  # as most are
        if not same and (respellings := find_respellings(self.pred.called, self.gold.called, declared)):
            self.pred.tools = [respellings.get(tool, tool) for tool in self.pred.called]

    def copy(self) -> Pairing:
        """The same partners, to be changed."""
        copy = Pairing(self.pred, self.gold, self.matcher)
        copy.to_gold, copy.to_pred = [*self.to_gold], [*self.to_pred]
        copy.settled, copy.proved = self.settled, self.proved
        copy.optional, copy.open = self.optional, self.open
        return copy

    def rematched(
        self, preds: Iterable[int], golds: Iterable[int], pairs: Iterable[tuple[int, int]]
    ) -> Pairing:
        """A copy in which of some calls those are partners that are pairs, and the others stay alone."""
        copy = self.copy()
        copy.release(preds, golds, ALONE)
        for pair in pairs:
            copy.pair(*pair)
        return copy

    def arguments(self, pred: int, gold: int) -> tuple[dict[Any, Argument], dict[Any, Argument]]:
        """The arguments of two calls by name, see :meth:`PlanCalls.arguments`."""
        return self.pred.arguments(pred), self.gold.arguments(gold)

    def pair(self, pred: int, gold: int) -> None:
        """Make two free calls partners."""
        self.to_gold[pred], self.to_pred[gold] = gold, pred

    def pairs(self) -> list[tuple[int, int]]:
        """The partners, by gold's positions; the answers aside."""
        return [(pred, gold) for gold, pred in enumerate(self.to_pred[: len(self.gold.tools)]) if pred >= 0]

    def release(self, preds: Iterable[int], golds: Iterable[int], to: int = FREE) -> None:
        """Set calls free, or to ALONE."""
        for pred in preds:
            self.to_gold[pred] = to
        for gold in golds:
            self.to_pred[gold] = to

    @property
    def ranked(self) -> bool:
        """Whether anything has been decided by rank."""
        return self._ranks is not None

    @property
    def ranks(self) -> Ranks:
        """An order of pred's calls and one of gold's that do not depend on where they are written."""
        if self._ranks is None:
            has_matcher = self.matcher is not None
            self._ranks = Ranks(self.pred, self.gold, count_unshared=has_matcher, marks=self.open)
        return self._ranks

    @property
    def telling(self) -> dict[Tool, dict[Any, float]]:
        """What right values speak by tool and argument.

        The more values gold gives for an argument the better it tells its calls apart, then the more values
        pred gives, then the more of gold's have digits; then the names decide, or the places of what has no
        name: not how a plan is written.
        """
        if self._telling is None:
            self._telling = {
                tool: _rank_distinctive_arguments(self.gold, self.pred, tool)
                for tool in {*self.gold.tools}.intersection(self.pred.tools)
            }
        return self._telling

    def equal(self, pred: int, gold: int) -> bool:
        """Whether two partners are known to be equal without a look at them."""
        return self.settled and self.pred.numbered.numbers[pred] == self.gold.numbered.numbers[gold]

    def final(self, pred: int, gold: int) -> dict[Any, float]:
        """What :meth:`differing` says of two partners, strictly, when the pairing is made."""
        stored = self._final.get(gold)
        if stored is None:
            stored = self._final[gold] = self.differing(pred, gold, strict=True)
        return stored

    def differing(self, pred: int, gold: int, strict: bool = False) -> dict[Any, float]:
        """The arguments of two calls that differ: 1.0 each, less where it is in doubt.

        Args:
            pred: A call of pred.
            gold: A call of gold.
            strict: Take no free producer for right; else also where two free producers could pair.
        """
        names, referring, _ = self.fixed(pred, gold)
        differences = dict.fromkeys(names, 1.0)
        for name, producers, gold_producers in referring:
            worst = self._strayed(producers, gold_producers, strict)
            if worst and not (self.matcher is not None and self._matches(pred, gold, name, strict)):
                differences[name] = worst
        return differences

    def cost(self, pred: int, gold: int, strict: bool = False) -> float:
        """How many arguments of two calls differ; `strict` takes no free producer for right."""
        names, referring, _ = self._fixed.get((pred, gold)) or self.fixed(pred, gold)
        total = float(len(names))
        for name, producers, gold_producers in referring:
            worst = self._strayed(producers, gold_producers, strict)
            if worst and not (self.matcher is not None and self._matches(pred, gold, name, strict)):
                total += worst
        return total

    def weight(self, pred: int, gold: int) -> float:
        """The cost of two calls, less what speaks for them as partners."""
        if not self._weighed:  # most plans leave no choice: what tells calls apart is 2 % of scoring them
            self._weighed = True
            self._fixed.clear()
        names, referring, bonus = self._fixed.get((pred, gold)) or self.fixed(pred, gold)
        if names:
            nearness = self._near.get((pred, gold))
            bonus += self._nearness(pred, gold, names) if nearness is None else nearness
        total = float(len(names))
        for name, producers, gold_producers in referring:
            strayed = self._strayed(producers, gold_producers, strict=False)
            if strayed and not (self.matcher is not None and self._matches(pred, gold, name, False)):
                total += strayed
            else:
                bonus += REFERENCE_BONUS
        return total - bonus if total else total - bonus - WHOLE_CALL_BONUS

    def fixed(self, pred: int, gold: int) -> FixedComparison:
        """What of two calls no other pair changes; remembered while there are few."""
        if stored := self._fixed.get((pred, gold)):
            return stored
        # a table asks this for each of its cells
        pred_args = self.pred.known[pred] or self.pred.arguments(pred)
        gold_args = self.gold.known[gold] or self.gold.arguments(gold)
        has_matcher = self.matcher is not None
        differing: list[Any] = []
        referring: list[tuple[Any, tuple[int, ...], tuple[int, ...]]] = []
        shared = right = 0
        telling_bonus = 0.0
        telling = self.telling.get(self.gold.tool(gold), _NO_BONUSES) if self._weighed else _NO_BONUSES
        for name, gold_arg in gold_args.items():
            pred_arg = pred_args.get(name)
            if pred_arg is None:
                if not (has_matcher and self._matches(pred, gold, name, False)):
                    differing.append(name)
                continue
            shared += 1
            if pred_arg[0] != gold_arg[0] and not (has_matcher and self._matches(pred, gold, name, None)):
                differing.append(name)
            elif gold_arg[1]:
                same = pred_arg[0] == gold_arg[0]  # else the matcher is to say, once others are paired
                referring.append((name, pred_arg[1], gold_arg[1]) if same else (name, (), ()))
            else:
                right += 1
                telling_bonus += telling.get(name, 0.0)
        if shared < len(pred_args):
            for name in pred_args:
                if name not in gold_args and not (has_matcher and self._matches(pred, gold, name, False)):
                    differing.append(name)
        fixed = differing, referring, shared * NAME_BONUS + right * VALUE_BONUS + telling_bonus
        if self._few:
            self._fixed[pred, gold] = fixed
        return fixed

    def _nearness(self, pred: int, gold: int, names: list[Any]) -> float:
        """What speaks for a pair in the values that differ; only where there is a choice it is asked for."""
        pred_features = self.pred.parts[pred] or self.pred.features(pred)
        gold_features = self.gold.parts[gold] or self.gold.features(gold)
        pred_args, gold_args = self.arguments(pred, gold)
        likeness = 0.0
        for name in names:
            if (
                name in pred_features
                and name in gold_features
                and not pred_features[name].isdisjoint(gold_features[name])
            ):
                listed = list in (type(pred_args[name][2]), type(gold_args[name][2]))
                likeness += feature_likeness(pred_features[name], gold_features[name], listed=listed)
        nearness = min(likeness, MAX_LIKENESS) * LIKENESS_BONUS
        if self._few:
            self._near[pred, gold] = nearness
        return nearness

    def _strayed(self, producers: tuple[int, ...], gold_producers: tuple[int, ...], strict: bool) -> float:
        """What an argument counts by its producers, the worst of them; 1 where only a matcher could tell."""
        if len(producers) == 1:
            if self.to_gold[producers[0]] == gold_producers[0]:
                return 0.0
            return self._astray(producers[0], gold_producers[0], strict)
        worst = 0.0 if gold_producers else 1.0
        for producer, gold_producer in zip(producers, gold_producers, strict=True):
            if self.to_gold[producer] != gold_producer:
                worst = max(worst, self._astray(producer, gold_producer, strict))
        return worst

    def broken(self, pred: int, gold: int) -> float:
        """How many arguments of paired consumers differ if these two become partners."""
        total = 0
        for consumer, name, slot in self.gold.users[gold]:
            partner = self.to_pred[consumer]
            if partner < 0:
                continue
            pred_arg, gold_arg = self.pred.arguments(partner).get(name), self.gold.arguments(consumer)[name]
            if pred_arg is None or pred_arg[0] != gold_arg[0] or pred_arg[1][slot] == pred:
                continue
            if self.matcher is None or not self._matches(partner, consumer, name, False):
                total += max(1, COST_PARTS // len(gold_arg[1]))
        return total / COST_PARTS

    def total(self, golds: Iterable[int], strict: bool = True) -> float:
        """The cost of those of `golds` that have partners."""
        return sum(self.cost(self.to_pred[g], g, strict) for g in golds if self.to_pred[g] >= 0)

    def _astray(self, producer: int, gold_producer: int, strict: bool) -> float:
        """What a reference counts whose producer is not the partner of gold's."""
        image, partner = self.to_gold[producer], self.to_pred[gold_producer]
        if image >= 0 or partner >= 0:
            return 1.0
        if self.pred.tools[producer] != self.gold.tools[gold_producer]:
            return DOUBTFUL_COST if ALONE in (image, partner) or not strict else 1.0
        return 0.0 if image == FREE == partner and not strict else 1.0

    def _matches(self, pred: int, gold: int, name: Any, strict: bool | None) -> bool:
        """Whether the policy takes for right what two calls give for an argument, or leave out.

        As for :meth:`differing`; `strict` None takes any producer for right.
        """
        assert self.matcher is not None
        calls = self.gold.numbered.plan.calls
        pred_arg, gold_arg = self.pred.arguments(pred).get(name), self.gold.arguments(gold).get(name)
        return self.matcher(
            calls[gold] if gold < len(calls) else None,
            name if type(name) is str else name[0],
            MISSING if pred_arg is None else pred_arg[2],
            MISSING if gold_arg is None else gold_arg[2],
            ComparedValues(
                lambda pred_value, gold_value: self._alike(pred_value, gold_value, strict),
                lambda: self.pred.written(pred)[name],
                lambda: self.gold.written(gold)[name],
            ),
        )

    def _alike(self, pred_value: Value, gold_value: Value, strict: bool | None) -> bool:
        """Whether two values, or items of them, are equal; unless `strict`, whether they could become so."""
        if self.pred.shape(pred_value) != self.gold.shape(gold_value):
            return False
        producers = tuple(producers_of(pred_value)) if strict is not None else ()
        strayed = (
            self._strayed(producers, tuple(producers_of(gold_value)), bool(strict)) if producers else 0.0
        )
        return strayed == 0 or (not strict and strayed < 1)
