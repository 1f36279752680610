"""Mistakes that concern several calls or arguments: a list for calls, one call for a chain, exchanges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import ALONE, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Value

MAX_COMPARED_PAIRS = 10_000
"""Pairs of calls that are looked at for one that asks for several."""

MAX_GATHERED_CALLS = 5
"""So many calls at most are told to be made in one."""


MAX_COLLECTED_CALLS = 100
"""Of more missing calls it is not asked which of them a call of another tool holds in a list."""


class ListedCalls(NamedTuple):
    """Calls that ask one by one what a call of the other plan asks in a list, or in several.

    Args:
        merged: The lists are the prediction's; else gold's.
        parts: The calls that have no partner, by position in their plan; one more is the partner.
        names: The arguments, by the prediction's names and by gold's.
    """

    merged: bool
    parts: tuple[int, ...]
    names: tuple[tuple[str, str], ...]


def pair_lists_with_first_call(pairing: Pairing) -> None:
    """Let a call that holds lists stand for the first of the calls that ask one by one, if none is used."""
    for gold, listed_calls in find_listed_calls(pairing, pairing.to_gold).items():
        pred, first = pairing.to_pred[gold], listed_calls.parts[0]
        lead_pred, lead_gold = (pred, first) if listed_calls.merged else (first, gold)
        pred_users, gold_users = pairing.pred.users, pairing.gold.users
        used = pred_users[pred] or pred_users[lead_pred] or gold_users[gold] or gold_users[lead_gold]
        if not used and first < (gold if listed_calls.merged else pred):
            pairing.release([pred], [gold], ALONE)
            pairing.pair(lead_pred, lead_gold)


def find_listed_calls(
    pairing: Pairing, images: Sequence[Any], *, as_explained: bool = False
) -> dict[int, ListedCalls]:
    """Partners of which one asks in lists what the other asks with more calls, by position in gold.

    The items of the lists are those of the calls, neither more nor less; what else differs does so in each of
    the calls alike, or else, where it is told, not in the first.

    Args:
        pairing: The pairing.
        images: For each call of pred its partner.
        as_explained: Go by what a person says of the calls, not by which are partners.
    """
    lists: dict[int, ListedCalls] = {}
    if min((*pairing.to_gold, *pairing.to_pred), default=0) >= 0:  # all have partners, as in most plans
        return lists
    alone = (
        _group_unpaired_by_tool(pairing.pred.tools, pairing.to_gold),
        _group_unpaired_by_tool(pairing.gold.tools, pairing.to_pred),
    )
    if alone[0].keys().isdisjoint(pairing.gold.tools) and alone[1].keys().isdisjoint(pairing.pred.tools):
        return lists
    looks = 0
    for gold, pred in enumerate(pairing.to_pred[: len(pairing.gold.tools)]):
        tool = pairing.gold.tools[gold]
        if pred < 0 or pairing.pred.tools[pred] != tool:
            continue
        for merged in (True, False):
            candidates = alone[merged].get(tool, [])
            looks += len(candidates)
            if candidates and looks <= MAX_COMPARED_PAIRS:
                listed_calls = _match_list_items(
                    pairing, images, pred, gold, merged, candidates, as_explained
                )
                if listed_calls is None and as_explained:
                    listed_calls = _match_parallel_arguments(pairing, pred, gold, merged, candidates)
                    listed_calls = listed_calls or _match_several_lists(
                        pairing, pred, gold, merged, candidates
                    )
                if listed_calls is not None:
                    lists[gold] = listed_calls
                    alone[merged][tool] = [
                        position for position in candidates if position not in listed_calls.parts
                    ]
                    break
    return lists


def _match_list_items(
    pairing: Pairing,
    images: Sequence[Any],
    pred: int,
    gold: int,
    merged: bool,
    candidates: list[int],
    as_explained: bool,
) -> ListedCalls | None:
    """The calls of `candidates` that ask with a partner what the other holds in lists."""
    varying = _find_list_arguments(pairing, pred, gold, merged)
    if varying is None:
        return None
    names, _ = varying
    identity = range(len(pairing.to_pred))
    list_calls, single_calls = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    list_args = list_calls.arguments(pred if merged else gold)
    remaining = [
        Counter(_item_keys(list_args[pair[not merged]][2], images if merged else identity)) for pair in names
    ]
    members = []
    for position in (gold if merged else pred, *candidates):
        other = _find_list_arguments(pairing, *((pred, position) if merged else (position, gold)), merged)
        if other != varying and not (as_explained and not varying[1] and other and other[0] == names):
            continue
        single_args = single_calls.arguments(position)
        items = [
            Counter(_item_keys(single_args[pair[merged]][2], identity if merged else images))
            for pair in names
        ]
        if all(used <= available for used, available in zip(items, remaining, strict=True)):
            remaining = [available - used for used, available in zip(items, remaining, strict=True)]
            members.append(position)
    if any(remaining) or len(members) < 2 or members[0] != (gold if merged else pred):
        return None
    return ListedCalls(merged, tuple(members[1:]), names)


def _match_parallel_arguments(
    pairing: Pairing, pred: int, gold: int, merged: bool, candidates: list[int]
) -> ListedCalls | None:
    """Calls of `candidates` that ask with a partner, under one name, what the other holds beside one another.

    So a call on 90 and 120 stands for one on 15 and 90 and one on 15 and 120, whatever these two share: all
    that is wrong of it is where it holds what they differ in.
    """
    list_calls, single_calls = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    list_args = list_calls.arguments(pred if merged else gold)
    first_args, *candidate_args = (single_calls.arguments(i) for i in (gold if merged else pred, *candidates))
    wrong = pairing.differing(pred, gold, strict=True)
    holders = {shape: name for name, (shape, _, _) in reversed(list_args.items()) if type(name) is str}
    for name, (shape, producers, value) in first_args.items():
        if producers or type(name) is not str or shape not in holders or not is_distinctive(value):
            continue
        names, members = [holders[shape]], []
        for position, args in zip(candidates, candidate_args, strict=True):
            differ = [
                argument
                for argument in {**first_args, **args}
                if first_args.get(argument) != args.get(argument)
            ]
            if differ != [name] or name not in args or args[name][1] or not is_distinctive(args[name][2]):
                continue
            list_name = holders.get(args[name][0])
            if list_name is not None and list_name not in names:
                names.append(list_name)
                members.append(position)
        if members and {*wrong} <= {*names}:
            pairs = [
                (list_argument, name) if merged else (name, list_argument)
                for list_argument in sorted(names, key=[*list_args].index)
            ]
            return ListedCalls(merged, tuple(members), tuple(pairs))
    return None


def _match_several_lists(
    pairing: Pairing, pred: int, gold: int, merged: bool, candidates: list[int]
) -> ListedCalls | None:
    """Calls of `candidates` of which the other holds two arguments or more in lists.

    What of them is in no list of its own items, as a rate written as per cent, is another mistake.
    """
    list_calls, single_calls = (pairing.pred, pairing.gold) if merged else (pairing.gold, pairing.pred)
    list_args = list_calls.arguments(pred if merged else gold)
    first = gold if merged else pred
    first_args = single_calls.arguments(first)
    lists = {
        name: [list_calls.shape(item) for item in value]
        for name, (_, producers, value) in list_args.items()
        if type(value) is list
        and not producers
        and name in first_args
        and type(first_args[name][2]) is not list
    }
    if len(lists) < 2 or not {*pairing.differing(pred, gold, strict=True)} <= {*lists}:
        return None
    names = [name for name, items in lists.items() if type(name) is str and first_args[name][0] in items]
    members = []
    for position in candidates:
        args = single_calls.arguments(position)
        same = all(
            name in list_args and (name in lists or args[name][:2] == list_args[name][:2]) for name in args
        )
        if same and all(name in args and args[name][0] in lists[name] for name in names):
            members.append(position)
    calls = [single_calls.arguments(position) for position in (first, *members)]
    names = [name for name in names if {call[name][0] for call in calls} == {*lists[name]}]
    if len(names) < 2 or not members:
        return None
    return ListedCalls(merged, tuple(members), tuple((name, name) for name in names))


def _find_list_arguments(
    pairing: Pairing, pred: int, gold: int, merged: bool
) -> tuple[tuple[tuple[str, str], ...], dict[str, Key]] | None:
    """The arguments in which one of two calls has lists, by their names in pred and gold; what else differs.

    None where no list differs, or more else than lists.
    """
    wrong = pairing.differing(pred, gold, strict=True)
    pred_args, gold_args = pairing.arguments(pred, gold)
    pred_only = [name for name in wrong if name not in gold_args]
    gold_only = [name for name in wrong if name not in pred_args]
    pairs = [(name, name) for name in wrong if name in pred_args and name in gold_args]
    pairs += [(pred_only[0], gold_only[0])] if len(pred_only) == 1 == len(gold_only) else []
    list_args = pred_args if merged else gold_args
    names = tuple(pair for pair in pairs if type(list_args[pair[not merged]][2]) is list)
    if not names or not all(type(name) is str for pair in names for name in pair):
        return None
    single_args = gold_args if merged else pred_args
    list_names = {name for pair in names for name in pair}
    other_differences = {
        name: single_args[name][:2] if name in single_args else None
        for name in wrong
        if name not in list_names
    }
    return (names, other_differences) if len(other_differences) <= len(names) else None


def _group_unpaired_by_tool(tools: Sequence[Any], partner: Sequence[int]) -> dict[Any, list[int]]:
    """The calls without a partner, by their tool."""
    by_tool: dict[Any, list[int]] = {}
    for position, tool in enumerate(tools):
        if partner[position] < 0:
            by_tool.setdefault(tool, []).append(position)
    return by_tool


def _item_keys(value: Value, numbers: Any) -> Iterator[Key]:
    return (value_key(item, numbers) for item in (value if type(value) is list else [value]))


def find_chain(pairing: Pairing, pred: int, gold: int) -> list[int]:
    """Calls of gold, each of which alone takes the former's output, in whose place one call of pred stands.

    All but `gold` are missing, and the call of pred has the producers of the first and the consumers of
    the last, which are some: a plan that ends early has left calls out.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: Its partner, of another tool.

    Returns:
        The calls in their order; `gold` alone where there is no such chain.
    """
    gold_calls, images = pairing.gold, pairing.to_gold

    def before(position: int) -> set[int]:
        return {*gold_calls.numbered.producers(position)}

    def after(position: int) -> set[int]:
        return {use.consumer for use in gold_calls.users[position]}

    def follow(onward: Callable[[int], set[int]], back: Callable[[int], set[int]]) -> list[int]:
        calls = [gold]
        while len(next_calls := onward(calls[-1])) == 1:
            (next_call,) = next_calls
            if (
                next_call == len(gold_calls.tools)
                or pairing.to_pred[next_call] >= 0
                or back(next_call) != {calls[-1]}
                or next_call in calls
            ):
                break
            calls.append(next_call)
        return calls

    calls = [*follow(before, after)[:0:-1], *follow(after, before)]
    ends = (
        {images[producer] for producer in pairing.pred.numbered.producers(pred)},
        {images[use.consumer] for use in pairing.pred.users[pred]},
    )
    if not ends[1] or ends != (before(calls[0]), after(calls[-1])):
        return [gold]
    return calls


def find_gathered_calls(pairing: Pairing, pred: int, gold: int) -> list[int]:
    """Calls of gold that join in one, in whose place one call of pred stands, which holds their values.

    The call of pred takes from no other, its tool is none of gold's, and each value it has that says
    something is of one of two or more calls of gold, which are all that gold's needs; none of them has a
    partner of its own tool, nor feeds any other call, nor has a value more.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: The call in which gold's join.

    Returns:
        The calls in gold's order; `gold` alone where there are none such.
    """
    pred_calls, gold_calls = pairing.pred, pairing.gold
    needed, waiting = {gold}, [gold]
    while waiting and len(needed) <= MAX_GATHERED_CALLS:
        more = {*gold_calls.numbered.producers(waiting.pop())} - needed
        needed |= more
        waiting += more
    if not 2 < len(needed) <= MAX_GATHERED_CALLS or pred_calls.tools[pred] in gold_calls.tools:
        return [gold]
    if any(use.consumer not in needed for position in needed - {gold} for use in gold_calls.users[position]):
        return [gold]
    if any(gold_calls.tools[position] in pred_calls.tools for position in needed):
        return [gold]
    pred_values, gold_values = (
        _count_distinctive_values(pred_calls, pred),
        [_count_distinctive_values(gold_calls, position) for position in sorted(needed)],
    )
    if (
        pred_calls.numbered.producers(pred)
        or sum(map(bool, gold_values)) < 2
        or pred_values != sum(gold_values, Counter())
    ):
        return [gold]
    return sorted(needed)


class CollectedCalls(NamedTuple):
    """Calls of one tool that a call of a tool that gold has not holds in a list.

    Args:
        name: The argument that holds the list.
        parts: The calls, by position in gold.
    """

    name: str
    parts: tuple[int, ...]


def find_collected_calls(
    pairing: Pairing, pred: int, gold: int, missing: Sequence[int]
) -> CollectedCalls | None:
    """The calls, two or more, that differ by what another has as items of a list; None for none.

    The tool of the call is none of gold's, it has all other arguments of theirs with equal values, at least
    one of which says something, and the items are those of the calls, neither more nor less. The calls are
    missing, but one may be its partner.

    Args:
        pairing: The pairing.
        pred: A call of pred.
        gold: Its partner.
        missing: The calls of gold that are missing; of more than a hundred nothing is told.
    """
    pred_calls, gold_calls = pairing.pred, pairing.gold
    if not 0 < len(missing) <= MAX_COLLECTED_CALLS or pred_calls.tools[pred] in gold_calls.tools:
        return None
    pred_args = pred_calls.arguments(pred)
    alone: dict[Any, list[int]] = {}
    for position in (*missing, gold):
        alone.setdefault(gold_calls.tools[position], []).append(position)
    for name, (_, producers, value) in pred_args.items():
        if type(name) is not str or type(value) is not list or producers or len(value) < 2:
            continue
        items = {pred_calls.shape(item): index for index, item in enumerate(value) if is_distinctive(item)}
        calls_by_item: dict[Any, dict[Key, int]] = {}
        for tool, calls in alone.items() if len(items) == len(value) else ():
            for position in calls:
                gold_args = gold_calls.arguments(position)
                other = [
                    argument
                    for argument in gold_args
                    if argument not in pred_args or gold_args[argument][:2] != pred_args[argument][:2]
                ]
                shared = any(
                    is_distinctive(gold_args[argument][2]) for argument in gold_args if argument not in other
                )
                if (
                    len(other) == 1
                    and shared
                    and not gold_args[other[0]][1]
                    and gold_args[other[0]][0] in items
                ):
                    calls_by_item.setdefault((tool, other[0]), {}).setdefault(
                        gold_args[other[0]][0], position
                    )
        for members in calls_by_item.values():
            if members.keys() == items.keys():
                return CollectedCalls(name, tuple(sorted(members.values())))
    return None


def _count_distinctive_values(plan_calls: PlanCalls, position: int) -> Counter[Key]:
    """The values of a call that say something, but for what it takes."""
    arguments = plan_calls.arguments(position).values()
    return Counter(shape for shape, needed, value in arguments if is_distinctive(value) and not needed)


def find_exchange_cycles(values: Mapping[str, Key], right_values: Mapping[str, Key]) -> Iterator[list[str]]:
    """Names of which each has in `values` what the next has in `right_values`, the last what the first has.

    Args:
        values: Names and values, none of them right.
        right_values: The same names with the right values.

    >>> list(find_exchange_cycles({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 4}))
    [['a', 'b']]
    """
    holders: dict[Key, list[str]] = {}
    for name in reversed([*right_values]):
        holders.setdefault(right_values[name], []).append(name)
    next_names = {name: names.pop() for name, key in values.items() if (names := holders.get(key))}
    seen: set[str] = set()
    for start in right_values:
        circle: list[str] = []
        current: str | None = start
        while current is not None and current not in seen:
            seen.add(current)
            circle.append(current)
            current = next_names.get(current)
        if current == start and len(circle) > 1:
            yield circle


# ----------------------------------------------------------------------
# A call that is made again with nearly the same arguments: one of the two is a try.
MAX_CALLS = 200
"""Calls of the plan up to which it is asked which is like which."""

MIN_LIKENESS = 0.5
"""Likeness from which a value is a try for another."""

_ID_NAME = re.compile(r"(?:^|_)(?:id|ID)$|[a-z]I[dD]$")
"""How an argument is called that says which thing is meant."""

_ID_VALUE = re.compile(r"#?\w{,40}?[0-9]{3}\w{,40}")
"""How a word looks that says it."""


class NearCall(NamedTuple):
    """A call that another one is like.

    Args:
        call: Its position.
        names: The arguments in which the two differ.
    """

    call: int
    names: tuple[str, ...]


def find_nearest_call(pairing: Pairing, pred: int) -> NearCall | None:
    """The call with a partner that an extra call repeats with few other values; None where there is none.

    The one gives more than the other, and else the same; or they give the same arguments, and all that differ
    are like one another, or half of them or more are equal, one of which says something. What has wholly
    another id is another thing, and no try, unless the first argument that is an id by its name is equal.

    Args:
        pairing: A pairing that is made.
        pred: A call of pred without a partner.
    """
    tools = pairing.pred.tools
    if len(tools) > MAX_CALLS:
        return None
    candidates = [
        NearCall(position, names)
        for position, tool in enumerate(tools)
        if tool == tools[pred]
        and pairing.to_gold[position] >= 0
        and (names := _find_differing_arguments(pairing, pred, position))
    ]
    return min(
        candidates, key=lambda candidate: (len(candidate.names), abs(candidate.call - pred)), default=None
    )


def _find_differing_arguments(pairing: Pairing, first: int, second: int) -> tuple[str, ...]:
    """The arguments in which two calls of pred differ; none where they are not like one another."""
    first_args, second_args = pairing.pred.arguments(first), pairing.pred.arguments(second)
    if first_args.keys() > second_args.keys() and all(
        first_args[name][:2] == second_args[name][:2] for name in second_args
    ):
        extra_names = tuple(name for name in first_args if name not in second_args)
        is_telling = any(is_distinctive(argument[2]) for argument in second_args.values())
        return extra_names if is_telling and all(type(name) is str for name in extra_names) else ()
    if first_args.keys() != second_args.keys():
        return ()
    names = tuple(name for name in first_args if first_args[name][:2] != second_args[name][:2])
    if any(type(name) is not str for name in names):
        return ()
    if all(likeness(first_args[name][2], second_args[name][2]) >= MIN_LIKENESS for name in names):
        return names
    equal = [name for name in first_args if name not in names]
    subject = next((name for name in first_args if type(name) is str and _ID_NAME.search(name)), None)
    if subject not in equal and any(
        is_identifier(name, first_args[name][2]) and not likeness(first_args[name][2], second_args[name][2])
        for name in names
    ):
        return ()
    return (
        names
        if len(equal) >= len(names) and any(is_distinctive(first_args[name][2]) for name in equal)
        else ()
    )


def is_identifier(name: str, value: Value) -> bool:
    """Whether an argument says which thing is meant, by its name or as a word with a number in it.

    >>> (
    ...     is_identifier("order_id", "mia_li"), is_identifier("order", "#W4967593"),
    ...     is_identifier("start", "10:00")
    ... )
    (True, True, False)
    """
    return bool(_ID_NAME.search(name) or (type(value) is str and _ID_VALUE.fullmatch(value)))
