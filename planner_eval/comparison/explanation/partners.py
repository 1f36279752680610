"""Partners as they are told: which call a person takes for which.

Figures count calls of one tool as partners wherever both plans have one left. A person who explains a plan
does so, too, but where a call of that tool cannot be meant: gold's calls that take its result are written
without it before it, and no value, producer or consumer is shared. Then the one call is missing, and the
other is extra. A call of another tool is a partner only for a reason. And of calls of one tool that have
exactly one another's values, with their results swapped as well, the partners are those of equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

from planner_eval.comparison.explanation.causes import MIN_LOOKUPS, find_foreign_lookups, is_lookup
from planner_eval.comparison.explanation.multi_call_edits import (
    find_gathered_calls,
    find_listed_calls,
    is_identifier,
)
from planner_eval.comparison.matching.align import Alignment, Matching
from planner_eval.comparison.matching.likeness import assign, likeness
from planner_eval.comparison.matching.order import find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import find_calls_between, is_distinctive, pair_replaced
from planner_eval.plan.model import Value, leaves

MAX_COMPARED_PAIRS = 400
"""Pairs of calls of one tool up to which it is asked which share most."""

MAX_ROUNDS = 3
"""So often partners are looked for anew: what neighbours are depends on what their partners are."""

SAME_NAME_WEIGHT, OTHER_NAME_WEIGHT, NEIGHBOUR_WEIGHT = 4, 3, 2
"""What two calls have in common counts: a value that says something, one under another name, a neighbour."""


ID_WEIGHT = 8
"""An id says as much about which thing a call is for as so many other texts."""


Pairs = list[tuple[int, int]]
"""Positions in pred and in gold."""


def rematch_for_explanation(matching: Matching) -> Matching:
    r"""A matching with partners as a person takes them; with what figures count beside it where they differ.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> gold = parse("a = add(#x='20', #y='30')\nb = root(#of=a)")
    >>> found = match(parse("b = root(#of='81')\nc = add(#x=b, #y='17')"), gold)
    >>> found.alignment.pairs, rematch_for_explanation(found).alignment.pairs
    (((1, 0), (0, 1)), ((0, 1),))
    """
    pairing = matching.pairing
    if pairing is None:
        return matching
    explained, flows = pairing, bool(matching.pred.edges or matching.gold.edges)
    for propose, by_flow in PARTNER_PROPOSALS:
        explained = propose(explained) if flows or not by_flow else explained
    if explained is pairing:
        return matching
    alignment = Alignment.of(explained)
    terms, policy = matching.terms, matching.policy
    misplaced = find_misplaced(alignment.pairs, matching.numbered, policy, terms)
    return matching._replace(alignment=alignment, pairing=explained, misplaced=misplaced, by_name=matching)


def _with_partners(pairing: Pairing, pairs: Iterable[tuple[int, int]]) -> Pairing:
    """The pairing in which some calls are partners, and those that they were partners of are alone."""
    new_pairing = pairing
    for pred, gold in pairs:
        new_pairing = pairing.copy() if new_pairing is pairing else new_pairing
        preds, golds = new_pairing.to_pred[gold], new_pairing.to_gold[pred]
        new_pairing.release([preds] * (preds >= 0), [golds] * (golds >= 0), ALONE)
        new_pairing.pair(pred, gold)
    return new_pairing


def _fill_empty_arguments(pairing: Pairing) -> Pairing:
    """The pairing in which an empty argument is too much rather than contrary to gold's value."""
    return (
        _with_partners(pairing, find_empty_argument_pairs(pairing)) if ALONE in pairing.to_pred else pairing
    )


def _take_earliest(pairing: Pairing) -> Pairing:
    """The pairing with the earlier one of equal calls of gold."""
    return _with_partners(pairing, [*find_earliest_pairs(pairing)]) if ALONE in pairing.to_pred else pairing


def _swap_crossed_pairs(pairing: Pairing) -> Pairing:
    """The pairing with two calls' partners the other way round, where a person takes them so."""
    crossed = [*find_crossed_pairs(pairing)]
    return _with_partners(
        pairing, [(pred, gold) for (first, second) in crossed for pred, gold in _exchange(first, second)]
    )


def _exchange(first: tuple[int, int], second: tuple[int, int]) -> Pairs:
    return [(first[0], second[1]), (second[0], first[1])]


def _part_lookups(pairing: Pairing) -> Pairing:
    """The pairing without calls of an agent that look something up in the place of what gold does."""
    pairs = _find_replaced_pairs(pairing)
    if not pairs:
        return pairing
    gold_calls, pred_calls = pairing.gold.numbered.plan.calls, pairing.pred.numbered.plan.calls
    lookups = {pred for pred in find_foreign_lookups(pred_calls, gold_calls) if not pairing.pred.users[pred]}
    pairs = [
        (pred, gold)
        for pred, gold in pairs
        if pred in lookups and gold < len(gold_calls) and not is_lookup(gold_calls[gold])
    ]
    if len(lookups) < MIN_LOOKUPS or not pairs:
        return pairing
    new_pairing = pairing.copy()
    new_pairing.release([pred for pred, _ in pairs], [gold for _, gold in pairs], ALONE)
    return new_pairing


def _pair_lists_with_first_call(pairing: Pairing) -> Pairing:
    """The pairing with a call that holds several others' values as the partner of the first of these."""
    if ALONE not in pairing.to_pred and ALONE not in pairing.to_gold:
        return pairing
    new_pairing = pairing
    for gold, listed_calls in find_listed_calls(pairing, pairing.to_gold, as_explained=True).items():
        pred, first = pairing.to_pred[gold], listed_calls.parts[0]
        lead_pred, lead_gold = (pred, first) if listed_calls.merged else (first, gold)
        used = pairing.pred.users[pred] or pairing.pred.users[lead_pred]
        if used or pairing.gold.users[gold] or pairing.gold.users[lead_gold]:
            continue
        if first < (gold if listed_calls.merged else pred):
            trial = _with_partners(new_pairing, [(lead_pred, lead_gold)])
            relisted = find_listed_calls(trial, trial.to_gold, as_explained=True).get(lead_gold)
            if relisted is not None and len(relisted.parts) == len(listed_calls.parts):
                new_pairing = trial
    return new_pairing


def _pair_in_chain(pairing: Pairing) -> Pairing:
    """The pairing with calls of another tool in the place of gold's between the same calls."""
    if ALONE not in pairing.to_pred or ALONE not in pairing.to_gold:
        return pairing
    pairs = [pair for pair in find_chain_pairs(pairing) if not is_no_replacement(pairing, *pair)]
    return _with_partners(pairing, pairs)


def _pair_by_flow(original: Pairing) -> Pairing:
    """The pairing with partners by what they share and where they stand in the flow."""
    doubtful = [*_find_doubtful_pairs(original)]
    if doubtful and (value_pairs := find_same_value_pairs(original, doubtful)):
        original = original.copy()
        pair_leftover(original, value_pairs)
        doubtful = [*_find_doubtful_pairs(original)]
    pairing = original
    wrong = [pair for pair in _find_replaced_pairs(original) if is_no_replacement(original, *pair)]
    if wrong:
        pairing = original.copy()
        pairing.release([pred for pred, _ in wrong], [gold for _, gold in wrong], ALONE)
    groups = [*find_doubtful_groups(pairing, doubtful)] if doubtful else []
    if groups:
        new_pairing = pairing.copy()
        if regroup(new_pairing, groups):
            pairing = new_pairing
    if pairing is not original:
        doubtful = [*_find_doubtful_pairs(pairing)]
    unlike_pairs = [pair for pair in doubtful if _is_unlike_pair(pairing, pairing, *pair)]
    turned_pairs = _find_swapped_pairs(pairing, doubtful) if len(doubtful) > 1 else []
    if pairing is original and not unlike_pairs and not turned_pairs:
        return original
    new_pairing = pairing.copy()
    for pred, gold in turned_pairs:
        new_pairing.pair(pred, gold)
    for pred, gold in sorted(
        unlike_pairs, key=lambda pair: (-_count_own_errors(pairing, unlike_pairs, *pair), pair[1])
    ):
        if _is_unlike_pair(
            pairing, new_pairing, pred, gold
        ):  # the others that are apart say nothing any more
            new_pairing.release([pred], [gold], ALONE)
    if unlike_pairs or wrong:
        snapshot = new_pairing.copy()
        for _ in range(2):  # what has been paired is a neighbour to what has not
            pair_replaced(new_pairing, lambda pred, gold: is_no_replacement(snapshot, pred, gold))
    return new_pairing


_MAX_JOIN_PAIRS = 1_000
"""Pairs of a call that gold has not and one in which gold's join that are looked at: each look takes time in
proportion to the plans."""


def _pair_gathered_call(pairing: Pairing) -> Pairing:
    """The pairing with a call made for several of gold's as the partner of the one in which they join."""
    pred_calls, gold_calls = pairing.pred, pairing.gold
    gold_tools = {*gold_calls.tools}
    free = [position for position, tool in enumerate(pred_calls.tools) if tool not in gold_tools]
    joins = [i for i in range(len(gold_calls.tools)) if len({*gold_calls.numbered.producers(i)}) > 1]
    if len(free) * len(joins) > _MAX_JOIN_PAIRS:
        return pairing
    for pred, gold in ((pred, gold) for gold in joins for pred in free):
        calls = find_gathered_calls(pairing, pred, gold)
        if len(calls) > 1:
            return _pair_with_several_calls(pairing, pred, gold, calls)
    return pairing


def _pair_with_several_calls(pairing: Pairing, pred: int, gold: int, calls: list[int]) -> Pairing:
    """The pairing with a call of pred in the place of several of gold's."""
    new_pairing = pairing.copy()
    preds = [pred, *(partner for call in calls if (partner := new_pairing.to_pred[call]) >= 0)]
    new_pairing.release(
        preds, [*calls, *(partner for call in preds if (partner := new_pairing.to_gold[call]) >= 0)], ALONE
    )
    new_pairing.pair(pred, gold)
    snapshot = new_pairing.copy()
    pair_replaced(
        new_pairing,
        lambda other_pred, other_gold: (
            other_gold in calls or is_no_replacement(snapshot, other_pred, other_gold)
        ),
    )
    return new_pairing


def _find_replaced_pairs(pairing: Pairing) -> Pairs:
    """Partners of two tools."""
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    pairs = [(pairing.to_pred[gold], gold) for gold in range(len(gold_tools))]
    return [(pred, gold) for pred, gold in pairs if pred >= 0 and pred_tools[pred] != gold_tools[gold]]


def _find_doubtful_pairs(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Partners of one tool of whose arguments half or more are wrong."""
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    for gold, tool in enumerate(gold_tools):
        pred = pairing.to_pred[gold]
        if pred < 0 or pred_tools[pred] != tool or pairing.equal(pred, gold):
            continue
        wrong = pairing.final(pred, gold)
        if wrong and 2 * len(wrong) >= len(pairing.gold.arguments(gold)):
            yield pred, gold


def _is_unlike_pair(pairing: Pairing, current: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls of one tool are two things: what uses the one comes before the other.

    Args:
        pairing: The pairing, which says what is wrong.
        current: The same, without what is known to be apart.
        pred: A call of pred.
        gold: Its partner.
    """
    pred_calls, gold_calls = current.pred, current.gold
    if current.to_gold[pred] != gold or not (
        _is_used_too_early(gold_calls, gold, current.to_pred, pred_calls, pred)
        or _is_used_too_early(pred_calls, pred, current.to_gold, gold_calls, gold)
    ):
        return False
    if not set.isdisjoint(*_neighbours(current, pred, gold)):
        return False
    moved = _is_moved_step(current, pred, gold) and not _has_contrary_values(pairing, pred, gold)
    return not (moved or _has_shared_value(pairing, pred, gold))


def _has_contrary_values(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls have, under one name, two values that say something and nothing like one another."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    return any(
        name in pred_args
        and not (gold_args[name][1] or pred_args[name][1])
        and is_distinctive(pred_args[name][2])
        and is_distinctive(gold_args[name][2])
        and not likeness(pred_args[name][2], gold_args[name][2])
        for name in gold_args
    )


def _count_own_errors(pairing: Pairing, unlike_pairs: Pairs, pred: int, gold: int) -> int:
    """How many arguments of two calls are wrong that do not take from other calls which may be apart."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    preds, golds = {p for p, _ in unlike_pairs}, {g for _, g in unlike_pairs}
    return sum(
        not (name in pred_args and preds.intersection(pred_args[name][1]))
        and not (name in gold_args and golds.intersection(gold_args[name][1]))
        for name in pairing.final(pred, gold)
    )


def _is_used_too_early(
    plan_calls: PlanCalls, position: int, partner: Sequence[int], other_calls: PlanCalls, other_position: int
) -> bool:
    """Whether the other plan has a call that needs this one's result before its call in this one's place.

    Written before it does not mean before it where that plan has the call need that one, too.
    """
    later = (
        _find_all_consumers(other_calls, other_position) if other_calls.numbered.forward else frozenset[int]()
    )
    calls, waiting, seen = len(plan_calls.tools), [position], {position}
    while waiting:
        for use in plan_calls.users[waiting.pop()]:
            if use.consumer in seen or use.consumer >= calls:
                continue
            seen.add(use.consumer)
            image = partner[use.consumer]
            if image < 0:
                waiting.append(use.consumer)
            elif image < other_position and image not in later:
                return True
    return False


def _is_moved_step(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether what takes one call's result has in the other plan what that call is given: a step moved."""
    sides = (
        (pairing.gold, range(len(pairing.to_pred)), pairing.to_pred, gold),
        (pairing.pred, pairing.to_gold, pairing.to_gold, pred),
    )
    for (calls, images, partner, position), (other, other_images, _, _) in (sides, sides[::-1]):
        own_values = [taken or shape for shape, taken in _arguments(calls, position, images).values()]
        for consumer, name, _ in calls.users[position]:
            if partner[consumer] >= 0:
                argument = _arguments(other, partner[consumer], other_images).get(name)
                if argument is not None and (argument[1] or argument[0]) in own_values:
                    return True
    return False


def _has_shared_value(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls share a value that says something, be it under another name."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    if not pred_args or not gold_args:
        return True
    wrong = pairing.final(pred, gold)
    if any(
        is_distinctive(gold_args[name][2]) for name in gold_args if name in pred_args and name not in wrong
    ):
        return True
    for name in wrong:
        if name in pred_args and name in gold_args:
            pred_value, gold_value = pred_args[name][2], gold_args[name][2]
            if is_distinctive(gold_value) and likeness(pred_value, gold_value):
                return True
    return bool(distinctive_values(pred_args) & distinctive_values(gold_args))


def _find_swapped_pairs(pairing: Pairing, doubtful: Pairs) -> Pairs:
    """Calls with partners anew: those of one tool that are one another's, and whose results are both used.

    They stand in one order in both plans, so that it is their results that are taken for one another.
    """
    if all(first[0] < second[0] for first, second in pairwise(doubtful)):
        return []
    by_values: dict[Any, list[int]] = {}
    for index, (pred, gold) in enumerate(doubtful):
        by_values.setdefault((pairing.gold.tools[gold], _argument_shapes(pairing.pred, pred)), []).append(
            index
        )
    pairs: Pairs = []
    for index, (pred, gold) in enumerate(doubtful):
        if not pairing.gold.users[gold] or not pairing.pred.users[pred]:
            continue
        candidates = by_values.get((pairing.gold.tools[gold], _argument_shapes(pairing.gold, gold)), ())
        if len(candidates) != 1 or candidates[0] <= index:
            continue
        other_pred, other_gold = doubtful[candidates[0]]
        used = pairing.gold.users[other_gold] and pairing.pred.users[other_pred]
        if (
            used
            and other_pred < pred
            and _argument_shapes(pairing.pred, pred) == _argument_shapes(pairing.gold, other_gold)
        ):
            pairs += [(other_pred, gold), (pred, other_gold)]
    return pairs


def _argument_shapes(plan_calls: PlanCalls, position: int) -> frozenset[Any]:
    """What a call is given, but for which calls it takes from."""
    return frozenset((name, shape) for name, (shape, _, _) in plan_calls.arguments(position).items())


# ----------------------------------------------------------------------
# Which call of another tool stands for one of gold, of one tool which shares most.
def is_no_replacement(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one call is not to be told as standing for another of another tool.

    A call of a tool that gold calls, too, is first of all that: it stands for nothing else while gold's call
    of its tool is missing, nor for what it shares no value with, nor for what it follows. The same holds of
    gold's. And what ends the flow is not put for what begins it, unless they share a value or a neighbour.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: A call of gold, of another tool.
    """
    pred_calls, gold_calls = pairing.pred, pairing.gold
    if pred_calls.tools[pred].name == gold_calls.tools[gold].name:
        return False
    share = bool(
        distinctive_values(pred_calls.arguments(pred)) & distinctive_values(gold_calls.arguments(gold))
    )
    share = share or _has_shared_context(pairing, pred, gold)
    for own_calls, other, tool, partner in (
        (pred_calls, gold_calls, pred_calls.tools[pred], pairing.to_pred),
        (gold_calls, pred_calls, gold_calls.tools[gold], pairing.to_gold),
    ):
        same_tool = [position for position, called in enumerate(other.tools) if called == tool]
        if same_tool and (
            not share or (own_calls is pred_calls and any(partner[position] < 0 for position in same_tool))
        ):
            return True
        if same_tool and _has_reversed_flow(pairing, pred, gold):
            return True
    if share or not set.isdisjoint(*_neighbours(pairing, pred, gold)):
        return False
    begins = [
        not plan_calls.numbered.producers(position)
        for plan_calls, position in ((pred_calls, pred), (gold_calls, gold))
    ]
    ends = [not plan_calls.users[i] for plan_calls, i in ((pred_calls, pred), (gold_calls, gold))]
    return begins[0] != begins[1] and ends[0] != ends[1]


def _arguments(
    plan_calls: PlanCalls, position: int, images: Sequence[int]
) -> dict[Any, tuple[Any, tuple[int, ...]]]:
    """A call's arguments: the shape of each value, and what it takes from in gold's positions."""
    return {
        name: (shape, tuple(images[producer] for producer in producers))
        for name, (shape, producers, _) in plan_calls.arguments(position).items()
    }


def _has_shared_context(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls take the same under one name, or have all arguments, or all neighbours, in common."""
    pred_neighbours, gold_neighbours = _neighbours(pairing, pred, gold)
    if pred_neighbours and pred_neighbours == gold_neighbours:
        return True
    pred_args = _arguments(pairing.pred, pred, pairing.to_gold)
    gold_args = _arguments(pairing.gold, gold, range(len(pairing.to_pred)))
    shared = any(argument[1] and pred_args.get(name) == argument for name, argument in gold_args.items())
    return shared or (bool(pred_args) and pred_args == gold_args)


def _neighbours(pairing: Pairing, pred: int, gold: int) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """Where the values of two calls come from and go to, in gold's positions."""
    pred_calls, gold_calls, images = pairing.pred, pairing.gold, pairing.to_gold
    pred_links = [("from", images[call]) for call in pred_calls.numbered.producers(pred)]
    pred_links += [("to", images[use.consumer]) for use in pred_calls.users[pred]]
    gold_links = {("from", call) for call in gold_calls.numbered.producers(gold)}
    gold_links |= {("to", use.consumer) for use in gold_calls.users[gold]}
    return {link for link in pred_links if link[1] >= 0}, gold_links


def _has_reversed_flow(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one call needs the partner of what needs the other, so that the flow would turn round."""
    images, calls = pairing.to_gold, len(pairing.pred.tools)
    after = {images[call] for call in _find_all_consumers(pairing.pred, pred) if call < calls}
    later = _find_all_consumers(pairing.gold, gold)
    if any(images[call] in later for call in _reach(pred, pairing.pred.numbered.producers) - {pred}):
        return True
    return bool(after) and not after.isdisjoint(_reach(gold, pairing.gold.numbered.producers) - {gold})


def _find_all_consumers(plan_calls: PlanCalls, position: int) -> set[int]:
    """The calls that need a call's result, or what needs it; the answer, which nothing needs, as well."""
    users = plan_calls.users
    return _reach(position, lambda call: [use.consumer for use in users[call]])


def _reach(start: int, onward: Callable[[int], Iterable[int]]) -> set[int]:
    """What can be reached from a call by one step or more."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        new = {*onward(waiting.pop())} - reached
        reached |= new
        waiting += new
    return reached


CallGroup = tuple[list[int], list[int]]
"""Calls of one tool, of pred and of gold."""


def find_doubtful_groups(pairing: Pairing, doubtful: Iterable[tuple[int, int]]) -> Iterator[CallGroup]:
    """Calls of one tool, but those that are right in all, of which partners have no value in common.

    Args:
        pairing: The pairing.
        doubtful: Partners of one tool, half of whose arguments or more are wrong.
    """
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    for tool in {
        gold_tools[gold]: None for pred, gold in doubtful if not _find_equal_arguments(pairing, pred, gold)
    }:
        if pred_tools.count(tool) * gold_tools.count(tool) < 2:
            continue
        golds = [i for i, called in enumerate(gold_tools) if called == tool and not _is_right(pairing, i)]
        right = {pairing.to_pred[position] for position in range(len(gold_tools))} - {
            pairing.to_pred[position] for position in golds
        }
        preds = [i for i, called in enumerate(pred_tools) if called == tool and i not in right]
        within = {pairing.to_gold[position] for position in preds} <= {*golds, ALONE}
        within = within and {pairing.to_pred[position] for position in golds} <= {*preds, ALONE}
        if within and 1 < len(preds) * len(golds) <= MAX_COMPARED_PAIRS:
            yield preds, golds


def regroup(pairing: Pairing, groups: Iterable[CallGroup]) -> bool:
    """Pair calls of one tool anew where others share more; whether any were.

    Args:
        pairing: The pairing, which is changed.
        groups: The calls.
    """
    changed = False
    for _ in range(MAX_ROUNDS):
        changes = [_pair_anew(pairing, preds, golds) for preds, golds in groups]
        if not any(changes):
            break
        changed = True
    return changed


def _is_right(pairing: Pairing, gold: int) -> bool:
    pred = pairing.to_pred[gold]
    return pred >= 0 and not pairing.differing(pred, gold, strict=True)


def _pair_anew(pairing: Pairing, preds: list[int], golds: list[int]) -> bool:
    """Pair calls of one tool by what they share; whether they share more than they did."""
    table = [[-float(_score(pairing, pred, gold)) for pred in preds] for gold in golds]
    current_pairs = {
        (row, preds.index(partner))
        for row, gold in enumerate(golds)
        if (partner := pairing.to_pred[gold]) in preds
    }
    assigned = {*assign(table)}
    if sum(table[row][column] for row, column in assigned) >= sum(
        table[row][column] for row, column in current_pairs
    ):
        return False
    pairing.release(preds, golds, ALONE)
    for row, column in sorted(assigned):
        pairing.pair(preds[column], golds[row])
    return True


def _score(pairing: Pairing, pred: int, gold: int) -> int:
    """How much two calls share: neighbours, and values that say something, under whatever name."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    placed = _find_equal_arguments(pairing, pred, gold)
    pred_values, gold_values = (
        distinctive_values({name: argument for name, argument in arguments.items() if name not in placed})
        for arguments in (pred_args, gold_args)
    )
    pred_neighbours, gold_neighbours = _neighbours(pairing, pred, gold)
    shared = NEIGHBOUR_WEIGHT * len(pred_neighbours & gold_neighbours)
    return shared + SAME_NAME_WEIGHT * len(placed) + OTHER_NAME_WEIGHT * len(pred_values & gold_values)


def _find_equal_arguments(pairing: Pairing, pred: int, gold: int) -> list[Any]:
    """The arguments under which two calls have the same value that says something."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    return [
        name
        for name, (shape, needed, value) in gold_args.items()
        if not needed and is_distinctive(value) and name in pred_args and pred_args[name][0] == shape
    ]


def find_empty_argument_pairs(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls with a partner anew: an empty argument is rather too much than contrary to another value.

    Where gold has a call of the tool left that gives the argument no value at all, and is no dearer, the one
    that gives another value is the missing one.
    """
    left: dict[Any, list[int]] = {}
    for gold, tool in enumerate(pairing.gold.tools):
        if pairing.to_pred[gold] < 0:
            left.setdefault(tool, []).append(gold)
    for gold, tool in enumerate(pairing.gold.tools) if left else ():
        pred = pairing.to_pred[gold]
        if pred < 0 or tool not in left or pairing.pred.tools[pred] != tool:
            continue
        pred_args, gold_args = pairing.arguments(pred, gold)
        wrong = pairing.differing(pred, gold, strict=True)
        contrary = [
            name
            for name in wrong
            if name in pred_args and name in gold_args and _is_empty(pred_args[name][2])
        ]
        for other in left[tool] if contrary else ():
            other_args = pairing.gold.arguments(other)
            if not any(name in other_args for name in contrary) and pairing.cost(
                pred, other, strict=True
            ) <= pairing.cost(pred, gold, strict=True):
                left[tool].remove(other)
                yield pred, other
                break


def find_crossed_pairs(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Two pairs of one tool that are as right the other way round, or hold their own values in exchange.

    Of what is as right a person takes what says which thing is meant: an id rather than another text, and a
    text rather than a number or a list. And a call that holds exactly the values of another, under one
    another's names, is that one. Only calls are meant whose results nothing takes.
    """
    unlike: dict[Any, list[tuple[int, int]]] = {}
    for gold, tool in enumerate(pairing.gold.tools):
        pred = pairing.to_pred[gold]
        if pred >= 0 and pairing.pred.tools[pred] == tool and not pairing.equal(pred, gold):
            unlike.setdefault(tool, []).append((pred, gold))
    for tool_pairs in unlike.values():
        if len(tool_pairs) < 2:  # as of most tools: nobody asks who uses them, and what is wrong
            continue
        pairs = [
            (pred, gold)
            for pred, gold in tool_pairs
            if not (pairing.pred.users[pred] or pairing.gold.users[gold]) and pairing.final(pred, gold)
        ]
        used: set[int] = set()
        for (first_pred, gold), (second_pred, second_gold) in (
            combinations(pairs, 2) if len(pairs) ** 2 <= MAX_COMPARED_PAIRS else ()
        ):
            if gold in used or second_gold in used:
                continue
            current_scores = zip(
                _score_meaning(pairing, first_pred, gold),
                _score_meaning(pairing, second_pred, second_gold),
                strict=True,
            )
            exchanged_scores = zip(
                _score_meaning(pairing, first_pred, second_gold),
                _score_meaning(pairing, second_pred, gold),
                strict=True,
            )
            if [*map(sum, current_scores)] < [*map(sum, exchanged_scores)]:
                used |= {gold, second_gold}
                yield (first_pred, gold), (second_pred, second_gold)


def _score_meaning(pairing: Pairing, pred: int, gold: int) -> tuple[int, int, int]:
    """What speaks for two calls: all values are the same, how few are wrong, what the right ones say."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    wrong = pairing.differing(pred, gold, strict=True)
    shapes = [
        sorted(repr(shape) for shape, _, _ in arguments.values()) for arguments in (pred_args, gold_args)
    ]
    turned = (
        shapes[0] == shapes[1]
        and len(gold_args) > 1
        and all(is_distinctive(value) for _, _, value in gold_args.values())
    )
    return (
        int(turned),
        -len(wrong),
        sum(_identifying_weight(name, gold_args[name][2]) for name in gold_args if name not in wrong),
    )


def _identifying_weight(name: Any, value: Value) -> int:
    """How much a value says about which thing a call is for."""
    if type(value) is not str or not is_distinctive(value):
        return 0
    return ID_WEIGHT if type(name) is str and is_identifier(name, value) else 1


def _is_empty(value: Value) -> bool:
    """Whether a value says no more than none: ``false`` does not, ``0`` may."""
    return value is False or value is None or (type(value) in (str, list, dict) and not value)


def distinctive_values(arguments: dict[Any, Any]) -> set[str]:
    """The values, and parts of values, that say something."""
    leaf_values = (leaf for _, _, value in arguments.values() for _, leaf in leaves(value))
    return {
        repr(leaf) for leaf in leaf_values if isinstance(leaf, (str, int, float)) and is_distinctive(leaf)
    }


# ----------------------------------------------------------------------
# By all values, by the place in a chain, the earliest of equals.
MIN_EQUAL_ARGUMENTS = 2
"""So many arguments that are all equal say that another tool was called for the same."""


def find_same_value_pairs(pairing: Pairing, doubtful: Iterable[tuple[int, int]]) -> Pairs:
    """Calls with exactly the values of gold's of another tool, of which nothing is right as they are paired.

    So of ``add(100, 6)`` and ``multiply(‹add›, 100)`` a ``multiply(100, 6)`` stands for the former.

    Args:
        pairing: The pairing.
        doubtful: Partners of one tool, half of whose arguments or more are wrong.
    """
    nothing = [(pred, gold) for pred, gold in doubtful if _has_nothing_right(pairing, pred, gold)]
    if not nothing:
        return []
    preds, golds = {pred for pred, _ in nothing}, {gold for _, gold in nothing}
    unsettled = [i for i in range(len(pairing.pred.tools)) if i in preds or pairing.to_gold[i] < 0]
    gold_values: dict[Any, list[int]] = {}
    identity = range(len(pairing.to_pred))
    for gold in range(len(pairing.gold.tools)):
        if (gold in golds or pairing.to_pred[gold] < 0) and (
            key := _values_key(pairing.gold, gold, identity)
        ):
            gold_values.setdefault(key, []).append(gold)
    images = [-1 if position in preds else image for position, image in enumerate(pairing.to_gold)]
    pairs: Pairs = []
    for pred in unsettled:
        candidates = gold_values.get(_values_key(pairing.pred, pred, images)) or ()
        partner = next(
            (position for position in candidates if pairing.gold.tools[position] != pairing.pred.tools[pred]),
            None,
        )
        if partner is not None:
            gold_values[_values_key(pairing.gold, partner, identity)].remove(partner)
            images[pred] = partner
            pairs.append((pred, partner))
    return pairs if any(pred in preds for pred, _ in pairs) else []


def pair_leftover(pairing: Pairing, pairs: Pairs) -> None:
    """Make pairs of calls, and of those of one tool that have lost their partners by it.

    Args:
        pairing: The pairing, which is changed.
        pairs: The calls.
    """
    preds = [pred for pred, _ in pairs] + [pairing.to_pred[gold] for _, gold in pairs]
    golds = [gold for _, gold in pairs] + [pairing.to_gold[pred] for pred, _ in pairs]
    pairing.release(
        [position for position in preds if position >= 0],
        [position for position in golds if position >= 0],
        ALONE,
    )
    for pred, gold in pairs:
        pairing.pair(pred, gold)
    unpaired: dict[Any, list[int]] = {}
    for pred, tool in enumerate(pairing.pred.tools):
        if pairing.to_gold[pred] < 0:
            unpaired.setdefault(tool, []).append(pred)
    for gold, tool in enumerate(pairing.gold.tools):
        if pairing.to_pred[gold] < 0 and unpaired.get(tool):
            pairing.pair(unpaired[tool].pop(0), gold)


def find_chain_pairs(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls without partners that alone stand between the same calls, on either side."""
    golds = [position for position in range(len(pairing.gold.tools)) if pairing.to_pred[position] < 0]
    preds = [position for position in range(len(pairing.pred.tools)) if pairing.to_gold[position] < 0]
    if not golds or not preds:
        return
    images = [position if partner >= 0 else partner for position, partner in enumerate(pairing.to_pred)]
    gold_between = find_calls_between(pairing.gold, golds, images)
    for ends, pred in find_calls_between(pairing.pred, preds, pairing.to_gold).items():
        if (
            all(ends)
            and ends in gold_between
            and pairing.pred.tools[pred] != pairing.gold.tools[gold_between[ends]]
        ):
            yield pred, gold_between[ends]


def find_earliest_pairs(pairing: Pairing) -> Iterator[tuple[int, int]]:
    """Calls with an earlier one of equal calls of gold as partner, where nothing speaks for the later one.

    Neither of the two is used by a call with a partner, and the prediction's order is as right.
    """
    numbers = pairing.gold.numbered.numbers
    free: dict[Any, list[int]] = {}
    for gold in range(len(pairing.gold.tools)):
        if pairing.to_pred[gold] < 0 and numbers[gold] is not None:
            free.setdefault(numbers[gold], []).append(gold)
    for gold in range(len(pairing.gold.tools)) if free else ():
        pred = pairing.to_pred[gold]
        earlier = free.get(numbers[gold]) if pred >= 0 else None
        if not earlier or earlier[0] > gold or _is_used(pairing.gold, gold, pairing.to_pred):
            continue
        first = earlier[0]
        if not pairing.optional.isdisjoint((gold, first)) or pairing.open.get(gold) != pairing.open.get(
            first
        ):
            continue
        between_them = (pairing.to_pred[position] for position in range(first + 1, gold))
        if not _is_used(pairing.gold, first, pairing.to_pred) and not any(
            0 <= i < pred for i in between_them
        ):
            earlier[0] = gold
            earlier.sort()
            yield pred, first


def _is_used(plan_calls: PlanCalls, position: int, partner: Sequence[int]) -> bool:
    return any(partner[use.consumer] >= 0 for use in plan_calls.users[position])


def _has_nothing_right(pairing: Pairing, pred: int, gold: int) -> bool:
    wrong = pairing.final(pred, gold)
    return {*pairing.pred.arguments(pred), *pairing.gold.arguments(gold)} <= {*wrong}


def _values_key(plan_calls: PlanCalls, position: int, images: Sequence[int]) -> frozenset[Any] | None:
    """A call's arguments in gold's positions; None for few, or for one that takes from an unpaired call."""
    arguments = _arguments(plan_calls, position, images)
    taken = (image for _, sources in arguments.values() for image in sources)
    few = len(arguments) < MIN_EQUAL_ARGUMENTS
    return None if few or min(taken, default=0) < 0 else frozenset(arguments.items())


PARTNER_PROPOSALS: tuple[tuple[Callable[[Pairing], Pairing], bool], ...] = (
    (_fill_empty_arguments, False), (_part_lookups, False), (_swap_crossed_pairs, False),
    (_pair_by_flow, True), (_pair_gathered_call, True), (_pair_in_chain, True),
    (_take_earliest, False), (_pair_lists_with_first_call, False),
)  # fmt: skip
"""Which other partners a person may take, and whether only where calls take from one another.

Each is asked of what the one before it left.
"""
