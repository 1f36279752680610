"""Partners as they are told: of the calls in doubt those that have most in common.

Figures count calls of one tool as partners wherever both plans have one left. A person who explains a plan
does so, too, but where a call of that tool cannot be meant: gold's calls that take its result are written
without it before it, and no value, producer or consumer is shared. Then the one call is missing, and the
other is extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import is_conversation, is_lookup
from planner_eval.comparison.explanation.names import compute_results, is_computed
from planner_eval.comparison.matching.align import Alignment, Matching
from planner_eval.comparison.matching.likeness import assign, is_related_name, likeness, words
from planner_eval.comparison.matching.order import find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, Argument, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import (
    Arguments,
    find_evidence,
    find_nearest_call,
    is_distinctive,
)
from planner_eval.plan.graph import reach
from planner_eval.plan.model import Ref, Value, leaves

MAX_COMPARED_PAIRS = 400
"""Pairs of calls in doubt up to which it is asked which share most."""

MAX_PLACES = 10_000
"""Pairs of calls of two plans up to which it is asked which stand at one place."""

MIN_LOOKUPS = 2
"""So many calls that only look things up stand for none that acts; of a conversation each, and one
alone that shares not all with it."""

MAX_ROUNDS = 3
"""So often partners are looked for anew: what neighbours are depends on what their partners are."""

SAME_TOOL, SAME_NAME, OTHER_NAME, LINK, RESULT, END, EVIDENCE, CURRENT = 12, 4, 3, 1.4, 6, 7, 2, 0.5
CONTRARY = 1
"""What it is worth that two calls are of one tool, have a value that says something under one name, or under
another one, have a neighbour, and a link to it, in common, come to one number, or end a calculation; by how
much the evidence for a call of another tool counts; what it is worth that figures count two calls as
partners; what speaks against two of which one says true where the other says false."""


def rematch_for_explanation(matching: Matching) -> tuple[Matching, bool]:
    r"""A matching with partners as a person takes them; with what figures count beside it where they differ.

    Also whether the search was not bounded.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> gold = parse("a = add(#x='200', #y='300')\nb = root(#of=a)")
    >>> found = match(parse("b = root(#of='810')\nc = add(#x=b, #y='170')"), gold)
    >>> found.alignment.pairs, rematch_for_explanation(found)[0].alignment.pairs
    (((1, 0), (0, 1)), ((0, 1),))
    """
    if matching.pairing is None:
        return matching, True
    flows = bool(matching.pred.edges or matching.gold.edges)
    explained, exact = _choose_partners(matching.pairing, flows=flows)
    if len(matching.gold.calls) * len(matching.pred.calls) <= MAX_PLACES:
        if not explained.settled and not is_conversation(matching.pred):  # there turns tell equal calls apart
            explained = _choose_nearest_equals(explained)
        explained = _uncross(_pair_by_place(explained))
    if explained is matching.pairing:
        return matching, exact
    alignment = Alignment.of(explained)
    misplaced, _ = find_misplaced(alignment.pairs, matching.numbered, matching.policy, matching.terms)
    rematched = matching._replace(
        alignment=alignment, pairing=explained, misplaced=misplaced, by_name=matching
    )
    return rematched, exact


def _choose_partners(pairing: Pairing, *, flows: bool) -> tuple[Pairing, bool]:
    """The pairing with the calls in doubt paired so that partners have most in common; whether all were."""
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    parted: set[tuple[int, int]] = set()
    for _ in range(MAX_ROUNDS):
        doubtful = [
            (pred, gold)
            for pred, gold in pairing.pairs()
            if pred_tools[pred] != gold_tools[gold] or _is_doubtful(pairing, pred, gold, flows=flows)
        ]
        if not doubtful:
            break
        preds = [pred for pred, _ in doubtful] + [p for p in range(len(pred_tools)) if pairing.to_gold[p] < 0]
        golds = [gold for _, gold in doubtful] + [g for g in range(len(gold_tools)) if pairing.to_pred[g] < 0]
        if len(preds) * len(golds) > MAX_COMPARED_PAIRS:
            return pairing, False
        ground = _CommonGround(pairing, preds, golds)
        parted |= ground.part_unlike(doubtful)
        pairs = [(pred, gold) for gold in golds for pred in preds]
        values = {pair: -1.0 if pair in parted else ground.value(*pair) for pair in pairs}
        for pair in doubtful:
            values[pair] += CURRENT * (values[pair] > 0)
        if {pair for pair, value in values.items() if value > 0} == {*doubtful}:
            break
        if len(preds) + len(golds) > 2:
            preds, golds = pairing.ranks.preds(preds), pairing.ranks.golds(golds)
        table = [[-max(values[pred, gold], 0.0) for pred in preds] for gold in golds]
        chosen = {
            (preds[column], golds[row]): table[row][column]
            for row, column in assign(table)
            if table[row][column] < 0
        }
        if sum(chosen.values()) >= -sum(values[pair] for pair in doubtful):
            break
        rematched = pairing.rematched(preds, golds, chosen)
        if _is_dearer_exchange(pairing, rematched):
            break
        pairing = rematched
    return pairing, True


def _is_dearer_exchange(pairing: Pairing, rematched: Pairing) -> bool:
    """Whether the same calls exchange partners, and more differs then, or as much in more tools."""
    pairings = pairing, rematched
    calls, new_calls = ([{*side} for side in zip(*p.pairs(), strict=True)] for p in pairings)
    if calls != new_calls:
        return False
    (tools, arguments), (new_tools, new_arguments) = map(_count_differences, pairings)
    return (tools + arguments, tools) < (new_tools + new_arguments, new_tools)


def _count_differences(pairing: Pairing) -> tuple[int, float]:
    """How many partners are of two tools, and how many arguments of partners differ."""
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    replaced = sum(pred_tools[pred] != gold_tools[gold] for pred, gold in pairing.pairs())
    return replaced, pairing.total(range(len(pairing.to_pred)))


# ----------------------------------------------------------------------
# What the calls of two plans share.
def _list_literals(calls: Iterable[Mapping[Any, Argument]]) -> list[Any]:
    """The arguments of calls that take from no call."""
    arguments = (argument for call in calls for argument in call.values())
    return [shape for shape, producers, _ in arguments if not producers]


# ----------------------------------------------------------------------
# Places: of equal calls the one that stands there, and another tool in the place of gold's.
def _choose_nearest_equals(pairing: Pairing) -> Pairing:
    """The pairing with those of equal calls as partners that stand where their partners do."""
    for of_gold in (True, False):
        plan_calls, other_calls = (pairing.gold, pairing.pred)[:: 1 if of_gold else -1]
        numbers = plan_calls.numbered.numbers[: len(plan_calls.tools)]
        if len({*numbers}) == len(numbers):  # as in most plans
            continue
        groups: dict[int, list[int]] = {}
        for position, number in enumerate(numbers):
            if number is not None and not (of_gold and position in pairing.optional):
                groups.setdefault(number, []).append(position)
        for group in groups.values():
            partner = pairing.to_pred if of_gold else pairing.to_gold
            images = sorted(partner[call] for call in group if partner[call] >= 0)
            if _any_linked(plan_calls, group) and _any_linked(other_calls, images):  # links tell them apart
                continue
            pairs = _place(group, images, partner, of_gold) if 0 < len(images) < len(group) else []
            if all(partner[call] == image for call, image in pairs):
                continue
            if of_gold:
                pairing = pairing.rematched(images, group, [(image, call) for call, image in pairs])
            else:
                pairing = pairing.rematched(group, images, pairs)
    return pairing


def _any_linked(plan_calls: PlanCalls, calls: Iterable[int]) -> bool:
    """Whether one of some calls takes a result, or its own is taken."""
    return any(plan_calls.users[call] or plan_calls.numbered.producers(call) for call in calls)


def _place(group: list[int], images: list[int], partner: list[int], of_gold: bool) -> list[tuple[int, int]]:
    """Those of a group that cross fewest other pairs as some calls' partners; of gold's rather the first."""
    others = [(call, image) for call, image in enumerate(partner) if image >= 0 and call not in group]

    def cost(image: int, call: int) -> float:
        crossed = sum((call < other) != (image < other_image) for other, other_image in others)
        return crossed + 0.5 * (group.index(call) / len(group) if of_gold else partner[call] != image)

    chosen = assign([[cost(image, call) for call in group] for image in images])
    return [(group[column], images[row]) for row, column in chosen]


def _uncross(pairing: Pairing) -> Pairing:
    """The pairing with calls of one tool in the written order where nothing else speaks for a pair."""
    apart = [
        gold
        for pred, gold in pairing.pairs()
        if {*_list_literals([pairing.pred.arguments(pred)])}.isdisjoint(
            _list_literals([pairing.gold.arguments(gold)])
        )
    ]
    for golds in combinations(apart, 2):
        preds = [pairing.to_pred[gold] for gold in golds]
        turned, tools = preds[::-1], {pairing.pred.tools[pred] for pred in preds}
        linked = _any_linked(pairing.pred, preds) or _any_linked(pairing.gold, golds)
        if linked or preds < turned or len(tools) > 1:
            continue
        if sum(map(pairing.weight, preds, golds)) == sum(map(pairing.weight, turned, golds)):
            pairing = pairing.rematched(preds, golds, zip(turned, golds, strict=True))
    return pairing


def _pair_by_place(pairing: Pairing) -> Pairing:
    """The pairing with calls of two tools as partners that stand at one place and have arguments in common.

    At one place are calls without a partner in a row, between the same partners or the plans' ends: of as
    many each and the one that stands where it does, else those that are like no other.
    """
    to_pred, to_gold = pairing.to_pred[: len(pairing.gold.tools)], pairing.to_gold[: len(pairing.pred.tools)]
    placed = pairing
    gold = 0
    while gold < len(to_pred):
        start = gold
        while gold < len(to_pred) and to_pred[gold] < 0:
            gold += 1
        first = to_pred[start - 1] + 1 if start else 0
        preds = range(first, to_pred[gold] if gold < len(to_pred) else len(to_gold))
        golds = range(start, gold)
        gold += 1
        if any(to_gold[pred] >= 0 for pred in preds):
            continue
        if len(preds) == len(golds):
            pairs = [*zip(preds, golds, strict=True)]
        elif (len(preds), len(golds)) != (len(to_gold), len(to_pred)):
            pairs = [(pred, gold_call) for pred in preds for gold_call in golds]
        else:  # no call has a partner: they have no place
            continue
        alike = [pair for pair in pairs if _is_alike_at_place(pairing, *pair)]
        for pair in alike:
            if sum(pair[0] == other[0] or pair[1] == other[1] for other in alike) == 1:
                placed = pairing.copy() if placed is pairing else placed
                placed.pair(*pair)
    return placed


def _is_alike(pred_value: Value, gold_value: Value) -> bool:
    """Whether two literals are equal, one text holds the other, or they are alike."""
    if type(pred_value) is str and type(gold_value) is str and is_distinctive(gold_value):
        shorter, longer = sorted((pred_value.casefold(), gold_value.casefold()), key=len)
        if is_distinctive(shorter) and shorter in longer:
            return True
    return bool(pred_value == gold_value or likeness(pred_value, gold_value))


def _takes_the_same(pairing: Pairing, pred_args: Arguments, gold_args: Arguments) -> bool:
    """Whether two calls take the same results, one or more, and nothing else, under whatever names."""
    if len(pred_args) != len(gold_args) or not all(producers for _, producers, _ in pred_args.values()):
        return False
    images = pairing.to_gold
    pred_values = [(shape, [images[call] for call in calls]) for shape, calls, _ in pred_args.values()]
    gold_values = [(shape, [*calls]) for shape, calls, _ in gold_args.values()]
    return sorted(pred_values, key=repr) == sorted(gold_values, key=repr)


def _is_alike_at_place(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls of two tools have arguments that are alike: all, or one if the names are, too."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    pred_tool, gold_tool = pairing.pred.tools[pred], pairing.gold.tools[gold]
    if pred_tool == gold_tool or not pred_args or not gold_args:
        return False
    if pred_tool not in pairing.gold.tools and _takes_the_same(pairing, pred_args, gold_args):
        return True
    related = is_related_name(pred_tool.name, gold_tool.name)
    calls = pairing.pred.numbered.plan.calls[pred], pairing.gold.numbered.plan.calls[gold]
    if not related and is_lookup(calls[0]) and not is_lookup(calls[1]):
        return False
    alike = [
        name
        for name, arg in pred_args.items()
        if name in gold_args and not arg[1] and _is_alike(arg[2], gold_args[name][2])
    ]
    gold_literals = _list_literals([gold_args])
    same_names = pred_args.keys() == gold_args.keys() and len(gold_args) > 1
    has_common_word = not words(pred_tool.name).isdisjoint(words(gold_tool.name))
    return (
        (bool(alike) and related)
        or (
            has_common_word
            and any(is_distinctive(x) and x in gold_literals for x in _list_literals([pred_args]))
        )
        or (pred_tool not in pairing.gold.tools and len(alike) == len(pred_args) == len(gold_args))
        or (same_names and has_common_word)
    )


def _is_doubtful(pairing: Pairing, pred: int, gold: int, *, flows: bool) -> bool:
    """Whether half or more of the arguments of two partners are wrong, or one is true for false."""
    if pairing.equal(pred, gold):
        return False
    wrong = pairing.final(pred, gold)
    if not wrong:
        return False
    pred_args, gold_args = pairing.arguments(pred, gold)
    if 2 * len(wrong) >= len(gold_args) and (flows or pred_args.keys().isdisjoint(gold_args)):
        return True
    return _is_contrary(pairing, pred, gold) or _is_idle_repeat(pairing, pred, gold)


def _is_idle_repeat(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether a call repeats one with a partner, and gives other values for all arguments, two or more."""
    numbers = pairing.pred.numbered.numbers
    if numbers.count(numbers[pred]) < 2:
        return False
    pred_args, gold_args = pairing.arguments(pred, gold)
    wrong = pairing.differing(pred, gold, strict=True)
    if len(gold_args) < 2 or not pred_args.keys() == gold_args.keys() == wrong.keys():
        return False
    return any(
        numbers[other] == numbers[pred] and not pairing.differing(other, image, strict=True)
        for other, image in pairing.pairs()
    )


def _is_contrary(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one of two calls says true where the other says false."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    return any(
        type(gold_arg[2]) is bool and name in pred_args and pred_args[name][2] is (not gold_arg[2])
        for name, gold_arg in gold_args.items()
    )


class _CommonGround:
    """What two calls in doubt have in common, which speaks for them as partners.

    Args:
        pairing: The pairing.
        preds: Calls of pred.
        golds: Calls of gold.
    """

    def __init__(self, pairing: Pairing, preds: list[int], golds: list[int]) -> None:
        self.pairing, self.preds, self.golds = pairing, preds, golds
        self.features = cache(self._find_features)
        gold_tools = {call.tool for call in pairing.gold.numbered.plan.calls}
        self.lookups = {
            pred
            for pred, call in enumerate(pairing.pred.numbered.plan.calls)
            if is_lookup(call) and call.tool not in gold_tools and not pairing.pred.users[pred]
        }
        least = 1 if is_conversation(pairing.pred.numbered.plan) else MIN_LOOKUPS
        self.looks_often = len(self.lookups) >= least

    @cached_property
    def results(self) -> list[list[int | float | None]] | None:
        """What the calls of either plan come to that compute with numbers; None where none does."""
        plans = self.pairing.pred.numbered.plan, self.pairing.gold.numbered.plan
        both = all(any(map(is_computed, plan.calls)) for plan in plans)
        return [*map(compute_results, plans)] if both else None

    def has_one_result(self, pred: int, gold: int) -> bool:
        """Whether two calls come to one number that says something."""
        results = (self.results[0][pred], self.results[1][gold]) if self.results is not None else (None, None)
        return results[0] == results[1] and is_distinctive(results[0])

    @cached_property
    def ends(self) -> tuple[int, int] | None:
        """The calls that end two calculations: nothing uses them alone, and they use results."""
        if self.results is None:
            return None
        ends = [
            [call for call in range(len(plan_calls.tools)) if not plan_calls.users[call]]
            for plan_calls in (self.pairing.pred, self.pairing.gold)
        ]
        if len(ends[0]) != 1 or len(ends[1]) != 1:
            return None
        pred, gold = ends[0][0], ends[1][0]
        takes = self.pairing.pred.numbered.producers(pred) and self.pairing.gold.numbered.producers(gold)
        return (pred, gold) if takes else None

    @cached_property
    def evidence(self) -> dict[tuple[int, int], float]:
        """What speaks for calls of two tools."""
        return find_evidence(self.pairing, self.golds, self.preds)

    @cached_property
    def literals(self) -> list[set[Any]]:
        """The values of either plan that take from no call."""
        plans = self.pairing.pred, self.pairing.gold
        return [
            {*_list_literals(plan_calls.all_arguments()[: len(plan_calls.tools)])} for plan_calls in plans
        ]

    def _find_features(self, position: int, of_pred: bool, computed: bool) -> _CallFeatures:
        """What of a call another can share; `computed`: also what the results come to that it takes."""
        results = self.results[not of_pred] if computed and self.results else []
        if of_pred:
            return _CallFeatures.of(self.pairing.pred, position, self.pairing.to_gold, results)
        return _CallFeatures.of(self.pairing.gold, position, range(len(self.pairing.to_pred)), results)

    def value(self, pred: int, gold: int) -> float:
        """How much two calls have in common; 0 or less where they are none another's partners."""
        pairing = self.pairing
        pred_tool, gold_tool = pairing.pred.tools[pred], pairing.gold.tools[gold]
        role = END * ((pred, gold) == self.ends) + RESULT * self.has_one_result(pred, gold)
        if pred_tool == gold_tool and _is_idle_repeat(pairing, pred, gold):
            return -1.0
        if pred_tool == gold_tool:
            return SAME_TOOL + self.shared(pred, gold) + role - CONTRARY * _is_contrary(pairing, pred, gold)
        evidence = self.evidence.get((pred, gold), 0.0) + role
        if not evidence or pred_tool.name == gold_tool.name:
            return EVIDENCE * evidence
        gold_call = pairing.gold.numbered.plan.calls[gold]
        related = is_related_name(pred_tool.name, gold_tool.name)
        is_own = pred_tool in pairing.gold.tools or gold_tool in pairing.pred.tools  # and first of all that
        same = not pairing.cost(pred, gold, strict=True) and bool(pairing.gold.arguments(gold))
        looks_up = pred in self.lookups and not is_lookup(gold_call) and not related
        if looks_up and (self.looks_often or not same):
            return -1.0
        if not same and (self.is_try(pred) or (is_own and not self.shared(pred, gold, uses=False))):
            return -1.0
        return EVIDENCE * evidence

    def is_try(self, pred: int) -> bool:
        """Whether a call is nearly another one; of a tool that gold has not, an earlier one."""
        tools = self.pairing.pred.tools
        others = range(len(tools)) if tools[pred] in self.pairing.gold.tools else range(pred)
        same = [other for other in others if tools[other] == tools[pred] and other != pred]
        return bool(same) and find_nearest_call(self.pairing, pred, same) is not None

    def shared(self, pred: int, gold: int, *, uses: bool = True, computed: bool = True) -> float:
        """What the values and the links are worth that two calls share; `uses` are links to consumers."""
        computed = computed and self.results is not None
        own, others = self.features(pred, True, computed), self.features(gold, False, computed)
        same = {name for name, _ in own.named & others.named}
        values = own.values_without(same) & others.values_without(same)
        links = [link for link in own.links & others.links if uses or not link[1]]
        return SAME_NAME * len(same) + OTHER_NAME * len(values) + LINK * len(links)

    def part_unlike(self, pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
        """Partners that are two things, those with most contrary values first.

        What uses the one comes before the other, and they are of two tools or share nothing; calls that are
        apart say nothing.
        """
        contrary = {
            (pred, gold): values
            for pred, gold in pairs
            if (values := self.count_contrary(pred, gold)) is not None
        }
        remaining, parted = self.pairing, set[tuple[int, int]]()
        for pred, gold in sorted(contrary, key=lambda pair: (-contrary[pair], pair[1])):
            if _is_turned(remaining, pred, gold):
                remaining = remaining if parted else self.pairing.copy()
                remaining.release([pred], [gold], ALONE)
                parted.add((pred, gold))
        return parted

    def count_contrary(self, pred: int, gold: int) -> int | None:
        """How many literals of two calls are contrary; None where they share something or nothing says it.

        A literal in the place of a result tells them apart where the other plan has it nowhere.
        """
        if self.pairing.pred.tools[pred].name != self.pairing.gold.tools[gold].name:
            return 0
        if self.shared(pred, gold, computed=False):
            return None
        pred_args, gold_args = self.pairing.arguments(pred, gold)
        count, apart = 0, False
        for name in gold_args.keys() & pred_args.keys():
            sides = zip((pred_args[name], gold_args[name]), self.literals[::-1], strict=True)
            literals = [(shape, value, other) for (shape, taken, value), other in sides if not taken]
            telling = [shape not in other for shape, value, other in literals if is_distinctive(value)]
            count += len(telling) == 2
            apart |= telling == [True]
        return count if count or apart else None


def _is_turned(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether what uses one of two calls has its partner before the other."""
    return _is_used_too_early(pairing.gold, gold, pairing.to_pred, pairing.pred, pred) or _is_used_too_early(
        pairing.pred, pred, pairing.to_gold, pairing.gold, gold
    )


def _is_used_too_early(
    plan_calls: PlanCalls, position: int, partner: Sequence[int], other_calls: PlanCalls, other_position: int
) -> bool:
    """Whether the other plan has a call that needs this one's result before its call in this one's place.

    Written before it does not mean before it where that plan has the call need that one, too.
    """
    calls = len(plan_calls.tools)
    images = {partner[call] for call in _find_consumers(plan_calls, position) if call < calls}
    early = {image for image in images if 0 <= image < other_position}
    return bool(early - _find_consumers(other_calls, other_position))


def _find_consumers(plan_calls: PlanCalls, position: int) -> set[int]:
    """The calls that need a call's result, or what needs it; the answer, which nothing needs, as well."""

    def find_users(call: int) -> list[int]:
        return [use.consumer for use in plan_calls.users[call]]

    return reach(find_users(position), find_users)


class _CallFeatures(NamedTuple):
    """What of a call another can share.

    Args:
        named: Literals that say something, with the names of their arguments.
        values: The values, and parts of values, that say something, by argument.
        links: Where values come from and go to, as calls of gold, and each with its argument.
    """

    named: set[tuple[Any, Any]]
    values: dict[Any, set[str]]
    links: set[tuple[int, bool, Any]]

    @classmethod
    def of(
        cls, plan_calls: PlanCalls, position: int, images: Sequence[int], results: Sequence[Any]
    ) -> _CallFeatures:
        """Those of a call whose plan's calls have these partners, and these results as far as known."""
        named, values = set[tuple[Any, Any]](), dict[Any, set[str]]()
        links = [(images[use.consumer], True, use.argument) for use in plan_calls.users[position]]
        for name, (shape, producers, value) in plan_calls.arguments(position).items():
            links += [(images[producer], False, name) for producer in producers if producer != position]
            if results and type(value) is Ref and results[value.call] is not None:
                shape = value = results[value.call]
                producers = ()
            literals = [leaf for _, leaf in leaves(value) if isinstance(leaf, (str, int, float))]
            values[name] = {repr(leaf) for leaf in literals if is_distinctive(leaf)}
            if not producers and is_distinctive(value):
                named.add((name, shape))
        linked = [link for link in links if link[0] >= 0]
        return cls(named, values, {*linked, *((call, is_used, None) for call, is_used, _ in linked)})

    def values_without(self, names: set[Any]) -> set[str]:
        """The values but for those of some arguments."""
        return set[str]().union(*(values for name, values in self.values.items() if name not in names))
