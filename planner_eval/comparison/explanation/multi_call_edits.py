"""Mistakes that concern several calls or arguments: a list for calls, exchanges, tries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import ALONE, Pairing
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import Key, value_key
from planner_eval.plan.model import Value

MAX_COMPARED_PAIRS = 10_000
"""Pairs of calls that are looked at for one that asks for several."""


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
