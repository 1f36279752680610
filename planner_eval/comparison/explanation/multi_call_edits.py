"""Mistakes that concern several calls or arguments: a list for calls, exchanges, tries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import ALONE, Argument, Pairing
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, Key, value_key
from planner_eval.plan.model import Value

MAX_COMPARED_PAIRS = 10_000
"""Pairs of calls that are looked at for one that asks for several."""


class ListedCalls(NamedTuple):
    """Calls that ask one by one what a call of the other plan asks in a list.

    Args:
        merged: The lists are the prediction's; else gold's.
        parts: The calls that have no partner, by position in their plan; one more is the partner.
        pred_name: The argument, by the prediction's name.
        gold_name: By gold's.
    """

    merged: bool
    parts: tuple[int, ...]
    pred_name: str
    gold_name: str


def pair_lists_with_first_call(pairing: Pairing) -> None:
    """Let a call that holds lists stand for the first of the calls that ask one by one, if none is used."""
    for gold, listed_calls in find_listed_calls(pairing).items():
        pred, first = pairing.to_pred[gold], listed_calls.parts[0]
        lead_pred, lead_gold = (pred, first) if listed_calls.merged else (first, gold)
        pred_users, gold_users = pairing.pred.users, pairing.gold.users
        used = pred_users[pred] or pred_users[lead_pred] or gold_users[gold] or gold_users[lead_gold]
        if not used and first < (gold if listed_calls.merged else pred):
            pairing.release([pred], [gold], ALONE)
            pairing.pair(lead_pred, lead_gold)


def find_listed_calls(pairing: Pairing) -> dict[int, ListedCalls]:
    """Partners of which one asks in a list what the other asks with more calls, by position in gold.

    The items of the list are those of the calls, neither more nor less; the calls differ in nothing else.

    Args:
        pairing: The pairing.
    """
    lists: dict[int, ListedCalls] = {}
    if ALONE not in pairing.to_pred and ALONE not in pairing.to_gold:  # as in most plans
        return lists
    plans = pairing.pred, pairing.gold
    partners = pairing.to_gold, pairing.to_pred
    looks = 0
    for merged in (True, False):
        list_plan, single_plan = plans if merged else plans[::-1]
        alone: dict[Any, list[int]] = {}
        for position, tool in enumerate(single_plan.tools):
            if partners[merged][position] < 0:
                alone.setdefault(tool, []).append(position)
        for position, tool in enumerate(list_plan.tools if alone else ()):
            partner = partners[not merged][position]
            candidates = alone.get(tool, []) if partner >= 0 else []
            looks += len(candidates)
            if not candidates or single_plan.tools[partner] != tool or looks > MAX_COMPARED_PAIRS:
                continue
            calls = {call: single_plan.arguments(call) for call in (partner, *candidates)}
            list_args = list_plan.arguments(position)
            names = _find_list_names(list_args, calls[partner])
            members = _find_members(list_args, calls, names) if names is not None else []
            if names is not None and len(members) > 1 and members[0] == partner:
                own_names = names if merged else (names[1], names[0])
                lists[partner if merged else position] = ListedCalls(merged, tuple(members[1:]), *own_names)
                alone[tool] = [call for call in candidates if call not in members]
    return lists


Arguments = Mapping[Any, Argument]


def _find_list_names(list_args: Arguments, single_args: Arguments) -> tuple[str, str] | None:
    """The one list that differs, by its own name and by that of its items; None where there is none."""
    differing = [name for name in list_args if list_args[name][:1] != single_args.get(name, ())[:1]]
    others = [name for name in single_args if name not in list_args]
    names = [name for name in differing if type(list_args[name][2]) is list]
    if len(names) != 1:
        return None
    single_name = names[0] if names[0] in single_args else others[0] if len(others) == 1 else None
    return (names[0], single_name) if type(names[0]) is type(single_name) is str else None


def _find_members(list_args: Arguments, calls: Mapping[int, Arguments], names: tuple[str, str]) -> list[int]:
    """The calls that ask one by one for what a list holds, and together for all of it; else none."""
    remaining = Counter(_item_keys(list_args[names[0]][2]))
    members: list[int] = []
    other_args = [
        {name: argument[:2] for name, argument in arguments.items() if name != names[1]}
        for arguments in calls.values()
    ]
    for (call, arguments), others in zip(calls.items(), other_args, strict=True):
        items = Counter(_item_keys(arguments[names[1]][2])) if names[1] in arguments else None
        if items and others == other_args[0] and items <= remaining:
            remaining -= items
            members.append(call)
    return [] if remaining else members


def _item_keys(value: Value) -> Iterator[Key]:
    return (value_key(item, OWN_POSITIONS) for item in (value if type(value) is list else [value]))


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


def find_nearest_call(
    pairing: Pairing, pred: int, candidates: Collection[int] | None = None
) -> NearCall | None:
    """The call with a partner that an extra call repeats with few other values; None where there is none.

    The one gives more than the other, and else the same; or they give the same arguments, and all that differ
    are like one another, or half of them or more are equal, one of which says something. What has wholly
    another id is another thing, and no try, unless the first argument that is an id by its name is equal.

    Args:
        pairing: A pairing that is made.
        pred: A call of pred without a partner.
        candidates: The calls to choose from, in the place of those with a partner.
    """
    tools = pairing.pred.tools
    if len(tools) > MAX_CALLS or tools.count(tools[pred]) < 2:
        return None
    near = [
        NearCall(position, names)
        for position, tool in enumerate(tools)
        if tool == tools[pred]
        and (pairing.to_gold[position] >= 0 if candidates is None else position in candidates)
        and (names := _find_differing_arguments(pairing, pred, position))
    ]
    return min(near, key=lambda candidate: (len(candidate.names), abs(candidate.call - pred)), default=None)


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
