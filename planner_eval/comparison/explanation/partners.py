"""Which call a person takes for which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from planner_eval.comparison.explanation.multi_call_edits import is_identifier
from planner_eval.comparison.matching.likeness import assign
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import find_calls_between, is_distinctive
from planner_eval.plan.model import Value, leaves

# ----------------------------------------------------------------------
# Which call a person takes for which: of one tool the one that shares most, of another only for a reason.
MAX_COMPARED_PAIRS = 400
"""Pairs of calls of one tool up to which it is asked which share most."""

MAX_ROUNDS = 3
"""So often partners are looked for anew: what neighbours are depends on what their partners are."""

SAME_NAME_WEIGHT, OTHER_NAME_WEIGHT, NEIGHBOUR_WEIGHT = 4, 3, 2
"""What two calls have in common counts: a value that says something, one under another name, a neighbour."""


ID_WEIGHT = 8
"""An id says as much about which thing a call is for as so many other texts."""


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
    if share or neighbours(pred_calls, pred, pairing.to_gold) & neighbours(
        gold_calls, gold, range(len(pairing.to_pred))
    ):
        return False
    begins = [
        not plan_calls.numbered.producers(position)
        for plan_calls, position in ((pred_calls, pred), (gold_calls, gold))
    ]
    ends = [not plan_calls.users[i] for plan_calls, i in ((pred_calls, pred), (gold_calls, gold))]
    return begins[0] != begins[1] and ends[0] != ends[1]


def _has_shared_context(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether two calls take the same under one name, or have all arguments, or all neighbours, in common."""
    images, identity = pairing.to_gold, range(len(pairing.to_pred))
    neighbour_sets = neighbours(pairing.pred, pred, images), neighbours(pairing.gold, gold, identity)
    if neighbour_sets[0] and neighbour_sets[0] == neighbour_sets[1]:
        return True
    arguments = pairing.arguments(pred, gold)
    pred_keys = {
        name: (shape, [images[producer] for producer in needed])
        for name, (shape, needed, _) in arguments[0].items()
    }
    gold_keys = {name: (shape, [*needed]) for name, (shape, needed, _) in arguments[1].items()}
    shared = any(
        needed and pred_keys.get(name) == (shape, needed) for name, (shape, needed) in gold_keys.items()
    )
    return shared or (bool(pred_keys) and pred_keys == gold_keys)


def _has_reversed_flow(pairing: Pairing, pred: int, gold: int) -> bool:
    """Whether one call needs the partner of what needs the other, so that the flow would turn round."""
    images = pairing.to_gold
    after = {
        images[call] for call in find_all_consumers(pairing.pred, pred) if call < len(pairing.pred.tools)
    }
    later = find_all_consumers(pairing.gold, gold)
    waiting, seen = [pred], {pred}
    while waiting:
        new = {*pairing.pred.numbered.producers(waiting.pop())} - seen
        if any(images[call] in later for call in new):
            return True
        seen |= new
        waiting += new
    waiting, gold_seen = [gold], {gold}
    while waiting and after:
        more = {*pairing.gold.numbered.producers(waiting.pop())} - gold_seen
        if more & after:
            return True
        gold_seen |= more
        waiting += more
    return False


def find_all_consumers(plan_calls: PlanCalls, position: int) -> set[int]:
    """The calls that need a call's result, or what needs it."""
    consumers: set[int] = set()
    waiting = [position]
    while waiting:
        new = {use.consumer for use in plan_calls.users[waiting.pop()]} - consumers
        consumers |= new
        waiting += [consumer for consumer in new if consumer < len(plan_calls.tools)]
    return consumers


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
    shared_neighbours = neighbours(pairing.pred, pred, pairing.to_gold)
    shared_neighbours &= neighbours(pairing.gold, gold, range(len(pairing.to_pred)))
    return _score_shared_values(pairing, pred, gold) + NEIGHBOUR_WEIGHT * len(shared_neighbours)


def _find_equal_arguments(pairing: Pairing, pred: int, gold: int) -> list[Any]:
    """The arguments under which two calls have the same value that says something."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    return [
        name
        for name, (shape, needed, value) in gold_args.items()
        if not needed and is_distinctive(value) and name in pred_args and pred_args[name][0] == shape
    ]


def _score_shared_values(pairing: Pairing, pred: int, gold: int) -> int:
    """How much two calls share in values that say something, under whatever name."""
    pred_args, gold_args = pairing.arguments(pred, gold)
    placed = _find_equal_arguments(pairing, pred, gold)
    other_values = [
        distinctive_values({name: argument for name, argument in arguments.items() if name not in placed})
        for arguments in (pred_args, gold_args)
    ]
    return SAME_NAME_WEIGHT * len(placed) + OTHER_NAME_WEIGHT * len(other_values[0] & other_values[1])


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


def neighbours(plan_calls: PlanCalls, position: int, image: Sequence[int]) -> set[tuple[str, int]]:
    """Where a call's values come from and go to, in gold's positions."""
    links = {("from", image[call]) for call in plan_calls.numbered.producers(position)}
    links |= {("to", image[use.consumer]) for use in plan_calls.users[position]}
    return {(end, call) for end, call in links if call >= 0}


# ----------------------------------------------------------------------
# Partners that a person takes first: by all values, by the place in a chain, the earliest of equals.
Pairs = list[tuple[int, int]]
"""Positions in pred and in gold."""

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
    arguments = plan_calls.arguments(position)
    images_by_name = {
        name: tuple(images[producer] for producer in needed) for name, (_, needed, _) in arguments.items()
    }
    if len(arguments) < MIN_EQUAL_ARGUMENTS or any(
        image < 0 for images in images_by_name.values() for image in images
    ):
        return None
    return frozenset((name, shape, images_by_name[name]) for name, (shape, _, _) in arguments.items())
