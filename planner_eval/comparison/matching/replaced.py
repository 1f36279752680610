"""What calls share beside their tool: another tool for gold's, a list for several calls, tries of a call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.likeness import assign, is_related_name, is_similar_name, likeness
from planner_eval.comparison.matching.pairing import ALONE, Argument, Pairing, PlanCalls
from planner_eval.plan.canonical import OWN_POSITIONS, Key, value_key
from planner_eval.plan.model import Value

MAX_TABLE_CELLS = 2_500
"""Cells of the largest table that is solved exactly; above it the best evidence is taken first."""

MAX_HOLDERS = 32

MIN_COMMON_CALLS = 3
"""So many calls of a plan, and more than half of all, have a value that says nothing about which they are."""

MIN_DISTINCTIVE_NUMBER = 10
"""Whole numbers below it say nothing by themselves."""

MIN_DISTINCTIVE_LENGTH = 3
"""Nor do texts of fewer characters, or these:"""
TRUTH_WORDS = frozenset({"true", "false", "yes", "none", "null"})


def pair_replaced(pairing: Pairing) -> bool:
    """Pair calls that are left over on both sides where they share something that speaks for it.

    A pair is made only on a ground: a value that says something under one argument name (counts 2), all
    arguments equal (2), also under one another's names (2), a paired consumer that uses both at one place
    (2), one name or a like one (1), or an akin name of a call that takes from one paired call or gives to
    one as well (1). Among pairs with a ground a value that says nothing by itself, an equal argument name and
    an equal app count too (0.5 each, the app 1), and so does standing alone between the same paired producers
    and consumers (1). A call that repeats one with a partner is made twice rather than for another: names and
    single values are no ground there.
    Calls of one tool are no partners here: where both plans have one left they were found to be apart.

    Args:
        pairing: A pairing that is made; what it leaves over is paired.

    Returns:
        Whether a pair was made.
    """
    golds = [gold for gold in range(len(pairing.gold.tools)) if pairing.to_pred[gold] == ALONE]
    preds = [pred for pred in range(len(pairing.pred.tools)) if pairing.to_gold[pred] == ALONE]
    if not golds or not preds:
        return False
    evidence = find_evidence(pairing, golds, preds)
    tools = pairing.pred.tools, pairing.gold.tools
    repeated = any(len({*plan_tools}) < len(plan_tools) for plan_tools in tools)  # then ranks tell twins, too
    if len(golds) + len(preds) > 2 and (evidence or repeated):
        preds, golds = pairing.ranks.preds(preds), pairing.ranks.golds(golds)
    if not evidence:
        return False
    if len(golds) * len(preds) <= MAX_TABLE_CELLS:
        table = [[-evidence.get((pred, gold), 0.0) for pred in preds] for gold in golds]
        pairs = [(preds[column], golds[row]) for row, column in assign(table)]
    else:
        pairing.proved = False
        pred_order, gold_order = (
            {position: index for index, position in enumerate(calls)} for calls in (preds, golds)
        )
        pairs = sorted(evidence, key=lambda pair: (-evidence[pair], gold_order[pair[1]], pred_order[pair[0]]))
    paired = False
    for pred, gold in pairs:
        free = pairing.to_gold[pred] == ALONE and pairing.to_pred[gold] == ALONE
        if free and (pred, gold) in evidence:
            pairing.pair(pred, gold)
            paired = True
    return paired


def find_evidence(pairing: Pairing, golds: list[int], preds: list[int]) -> dict[tuple[int, int], float]:
    """What speaks for each pair of calls of two tools that has a ground, see :func:`pair_replaced`."""
    # for each call of gold the first that equals it: which of these is the partner is not known by now
    pred_marks = _Marks(pairing.pred, pairing.to_gold, _first_equals(pairing.gold), {})
    gold_marks = _Marks(pairing.gold, range(len(pairing.to_pred)), pred_marks.first, {})
    shared = _find_shared_marks(pairing, golds, preds, pred_marks, gold_marks)
    numbers, pred_tools, gold_tools = pairing.pred.numbered.numbers, pairing.pred.tools, pairing.gold.tools
    matched = {numbers[p] for p, gold in enumerate(pairing.to_gold) if gold >= 0 and p not in preds} - {None}

    def is_ground(pred: int, kinds: Iterable[str]) -> bool:
        return not (_REPEAT_GROUNDS if numbers[pred] in matched else _GROUNDS).isdisjoint(kinds)

    grounds = {
        pair: marks
        for pair, marks in shared.items()
        if pred_tools[pair[0]] != gold_tools[pair[1]] and is_ground(pair[0], [mark[0] for mark in marks])
    }
    if not grounds:
        return {}
    common = pred_marks.find_common() | gold_marks.find_common()
    required = [gold for gold in golds if gold not in pairing.optional]
    own_positions = [gold if pred >= 0 else pred for gold, pred in enumerate(pairing.to_pred)]
    gold_between = find_calls_between(pairing.gold, required, own_positions)
    pred_between = find_calls_between(pairing.pred, preds, pairing.to_gold)
    between = {(pred, gold_between[ends]) for ends, pred in pred_between.items() if ends in gold_between}
    evidence = {}
    for (pred, gold), marks in grounds.items():
        is_common = common and (
            pred_marks.values(pred).keys() <= common or gold_marks.values(gold).keys() <= common
        )
        kinds = [
            "held" if mark[1:] in common else mark[0]
            for mark in marks
            if not (is_common and mark[0] in _WHOLE_CALL_MARKS)
        ]
        if is_ground(pred, kinds):
            evidence[pred, gold] = sum(map(_WEIGHTS.__getitem__, kinds)) + ((pred, gold) in between)
    return evidence


def _find_shared_marks(
    pairing: Pairing, golds: list[int], preds: list[int], pred_marks: _Marks, gold_marks: _Marks
) -> dict[tuple[int, int], list[Any]]:
    """What calls share, pair by pair; what too many have tells none apart."""
    holders: dict[Any, list[int]] = {}
    for pred in preds:
        for mark in pred_marks.of(pred):
            holders.setdefault(mark, []).append(pred)
    names = {pairing.pred.tools[pred].name for pred in preds}
    shared: dict[tuple[int, int], list[Any]] = {}
    few = len(names) * len(golds) <= MAX_TABLE_CELLS
    for gold in golds:
        name = pairing.gold.tools[gold].name
        similar = {("name", other): None for other in names if few and is_similar_name(name, other)}
        for mark in gold_marks.of(gold) | similar:
            candidates = holders.get(mark, ())
            for pred in candidates if len(candidates) <= MAX_HOLDERS else ():
                shared.setdefault((pred, gold), []).append(mark)
    if len(preds) * len(golds) > MAX_TABLE_CELLS:
        return shared
    for gold in golds:
        for pred in preds:
            if is_related_name(pairing.pred.tools[pred].name, pairing.gold.tools[gold].name) and (
                pred_marks.neighbours(pred) & gold_marks.neighbours(gold)
            ):
                shared.setdefault((pred, gold), []).append(("akin",))
    return shared


class _Marks(NamedTuple):
    """What calls of a plan can share with others, in gold's positions.

    Args:
        plan_calls: The plan.
        images: The partner of each call; gold's calls stand for themselves.
        first: For each call of gold the first that equals it.
        stored: The values of calls that were looked at.
    """

    plan_calls: PlanCalls
    images: Sequence[int]
    first: list[int]
    stored: dict[int, dict[Any, str]]

    def of(self, position: int) -> dict[Any, None]:
        """What one call can share."""
        app, name = self.plan_calls.tools[position]
        values = self.values(position)
        marks = [("name", name), *((kind, *value) for value, kind in values.items())]
        marks += [("argument", argument) for argument, _, _ in values]
        if app is not None:
            marks.append(("app", app))
        if values:
            marks.append(("all", frozenset(values)))
        if len(values) > 1:
            marks.append(("exchanged", frozenset(value[1:] for value in values)))
        for consumer, argument, slot in self.plan_calls.users[position]:
            if self.images[consumer] >= 0:
                marks.append(("used", self.images[consumer], argument, slot))
        return dict.fromkeys(marks)

    def values(self, position: int) -> dict[Any, str]:
        """A call's arguments with their values, and whether such a value is a ground or is held by chance."""
        if position in self.stored:
            return self.stored[position]
        values = self.stored[position] = {}
        for argument, (shape, producers, value) in self.plan_calls.arguments(position).items():
            images = [self.images[producer] for producer in producers]
            taken = tuple([self.first[image] if image >= 0 else image for image in images])
            values[argument, shape, taken] = "value" if is_distinctive(value) else "held"
        return values

    def neighbours(self, position: int) -> set[tuple[str, int]]:
        """The calls that a call takes from and those that take from it."""
        links = [("from", self.images[call]) for call in self.plan_calls.numbered.producers(position)]
        links += [("to", self.images[use.consumer]) for use in self.plan_calls.users[position]]
        return {link for link in links if link[1] >= 0}

    def find_common(self) -> frozenset[Any]:
        """Values that most calls of the plan have, which are no evidence."""
        calls = range(len(self.plan_calls.tools))
        if len(calls) < MIN_COMMON_CALLS:
            return frozenset()
        counts = Counter(value for call in calls for value in self.values(call))
        return frozenset(v for v, n in counts.items() if n >= MIN_COMMON_CALLS and 2 * n > len(calls))


_WEIGHTS = {
    "value": 2.0, "all": 2.0, "exchanged": 2.0, "used": 2.0, "name": 1.0, "akin": 1.0, "app": 1.0,
    "held": 0.5, "argument": 0.5,
}  # fmt: skip
"""What counts how much of what two calls share."""

_WHOLE_CALL_MARKS = frozenset({"all", "exchanged"})
_REPEAT_GROUNDS = frozenset({"all", "used", "akin"})
_GROUNDS = _REPEAT_GROUNDS | {"name", "value", "exchanged"}


def _first_equals(plan_calls: PlanCalls) -> list[int]:
    numbers = plan_calls.numbered.numbers
    first: dict[int | None, int] = {}
    return [i if number is None else first.setdefault(number, i) for i, number in enumerate(numbers)]


def is_distinctive(value: Value) -> bool:
    """Whether a value says something by itself: true, 1 and "" stand in two calls by chance.

    >>> is_distinctive("Rome"), is_distinctive(250), is_distinctive(0.25), is_distinctive([True, ["Rome"]])
    (True, True, True, True)
    >>> (
    ...     is_distinctive("km"), is_distinctive("True"), is_distinctive(7), is_distinctive({"all": None}),
    ...     is_distinctive([])
    ... )
    (False, False, False, False, False)
    """
    if isinstance(value, str):
        return len(value) >= MIN_DISTINCTIVE_LENGTH and value.casefold() not in TRUTH_WORDS
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return not (-MIN_DISTINCTIVE_NUMBER < value < MIN_DISTINCTIVE_NUMBER and value == int(value))
    if isinstance(value, list | tuple):
        return any(map(is_distinctive, value))
    return any(map(is_distinctive, value.values())) if isinstance(value, dict) else True


def find_calls_between(
    plan_calls: PlanCalls, calls: list[int], image: list[int]
) -> dict[tuple[frozenset[int], ...], int]:
    """Unpaired calls that stand alone between paired ones, by these: producers, consumers.

    Args:
        plan_calls: A plan.
        calls: Its calls without a partner.
        image: For each call of it its partner, in gold's positions.
    """
    groups: dict[tuple[frozenset[int], ...], list[int]] = {}
    for position in calls:
        producers = frozenset(image[producer] for producer in plan_calls.numbered.producers(position))
        ends = producers, frozenset(image[use.consumer] for use in plan_calls.users[position])
        if all(call >= 0 for end in ends for call in end):
            groups.setdefault(ends, []).append(position)
    return {ends: calls[0] for ends, calls in groups.items() if len(calls) == 1}


# ----------------------------------------------------------------------
# One call with a list in the place of several calls.
Arguments = Mapping[Any, Argument]

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


def _find_list_names(list_args: Arguments, single_args: Arguments) -> tuple[str, str] | None:
    """The one list that differs, by its own name and by that of its items; None where there is none."""
    differing = [name for name in list_args if list_args[name][:1] != single_args.get(name, ())[:1]]
    unlisted = [name for name in single_args if name not in list_args]
    names = [name for name in differing if type(list_args[name][2]) is list]
    if len(names) != 1:
        return None
    single_name = names[0] if names[0] in single_args else unlisted[0] if len(unlisted) == 1 else None
    return (names[0], single_name) if type(names[0]) is type(single_name) is str else None


def _find_members(list_args: Arguments, calls: Mapping[int, Arguments], names: tuple[str, str]) -> list[int]:
    """The calls that ask one by one for what a list holds, and together for all of it; else none."""
    remaining = Counter(_item_keys(list_args[names[0]][2]))
    members: list[int] = []
    other_args = [
        {name: argument[:2] for name, argument in arguments.items() if name != names[1]}
        for arguments in calls.values()
    ]
    for (call, arguments), unlisted_args in zip(calls.items(), other_args, strict=True):
        items = Counter(_item_keys(arguments[names[1]][2])) if names[1] in arguments else None
        if items and unlisted_args == other_args[0] and items <= remaining:
            remaining -= items
            members.append(call)
    return [] if remaining else members


def _item_keys(value: Value) -> Iterator[Key]:
    return (value_key(item, OWN_POSITIONS) for item in (value if type(value) is list else [value]))


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
    near_calls = [
        NearCall(position, names)
        for position, tool in enumerate(tools)
        if tool == tools[pred]
        and (pairing.to_gold[position] >= 0 if candidates is None else position in candidates)
        and (names := _find_differing_arguments(pairing, pred, position))
    ]
    return min(
        near_calls, key=lambda candidate: (len(candidate.names), abs(candidate.call - pred)), default=None
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
