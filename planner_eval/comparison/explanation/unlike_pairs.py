"""Partners as they are told: calls of one tool that have nothing in common but their name are none.

Figures count calls of one tool as partners wherever both plans have one left. A person who explains a plan
does so, too, but where a call of that tool cannot be meant: gold's calls that take its result are written
without it before it, and no value, producer or consumer is shared. Then the one call is missing, and the
other is too much. And of calls of one tool that have exactly one another's values, with their results taken
for one another as well, the partners are those of equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from planner_eval.comparison.explanation.causes import MIN_LOOKUPS, find_foreign_lookups, is_lookup
from planner_eval.comparison.explanation.multi_call_edits import find_gathered_calls, find_listed_calls
from planner_eval.comparison.explanation.partners import (
    distinctive_values,
    find_all_consumers,
    find_chain_pairs,
    find_crossed_pairs,
    find_doubtful_groups,
    find_earliest_pairs,
    find_empty_argument_pairs,
    find_same_value_pairs,
    is_no_replacement,
    neighbours,
    pair_leftover,
    regroup,
)
from planner_eval.comparison.matching.align import Alignment, Matching
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.order import find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import is_distinctive, pair_replaced

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
    identity = range(len(current.to_pred))
    if neighbours(pred_calls, pred, current.to_gold) & neighbours(gold_calls, gold, identity):
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
        find_all_consumers(other_calls, other_position) if other_calls.numbered.forward else frozenset[int]()
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
    pred_keys, gold_keys = _value_keys(pairing, pred, of_pred=True), _value_keys(pairing, gold, of_pred=False)
    for consumer, name, _ in pairing.gold.users[gold]:
        partner = pairing.to_pred[consumer]
        if (
            partner >= 0
            and (key := _value_keys(pairing, partner, of_pred=True).get(name))
            and key in gold_keys.values()
        ):
            return True
    for consumer, name, _ in pairing.pred.users[pred]:
        partner = pairing.to_gold[consumer]
        if (
            partner >= 0
            and (key := _value_keys(pairing, partner, of_pred=False).get(name))
            and key in pred_keys.values()
        ):
            return True
    return False


def _value_keys(pairing: Pairing, position: int, *, of_pred: bool) -> dict[Any, Any]:
    """A call's values by what they take, in gold's positions, or by what they are."""
    plan_calls = pairing.pred if of_pred else pairing.gold
    images = pairing.to_gold if of_pred else range(len(pairing.to_pred))
    return {
        name: tuple(images[producer] for producer in producers) if producers else ("literal", shape)
        for name, (shape, producers, _) in plan_calls.arguments(position).items()
    }


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


PARTNER_PROPOSALS: tuple[tuple[Callable[[Pairing], Pairing], bool], ...] = (
    (_fill_empty_arguments, False), (_part_lookups, False), (_swap_crossed_pairs, False),
    (_pair_by_flow, True), (_pair_gathered_call, True), (_pair_in_chain, True),
    (_take_earliest, False), (_pair_lists_with_first_call, False),
)  # fmt: skip
"""Which other partners a person may take, and whether only where calls take from one another.

Each is asked of what the one before it left.
"""
