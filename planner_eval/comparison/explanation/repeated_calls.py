"""Calls made again with nearly the same arguments, and arguments with another name and another value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.value_diff import kind_name
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.names import is_similar_name
from planner_eval.comparison.matching.pairing import Argument, Pairing
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.model import Value

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


# ----------------------------------------------------------------------
# Arguments with another name and another value: which that is too much stands for which that is missing.
MAX_NAME_PAIRS = 400
"""Pairs of names up to which it is asked which is like which."""


def match_nearest_names(
    pred_args: Mapping[Any, Argument],
    surplus: Sequence[Any],
    gold_args: Mapping[Any, Argument],
    lacking: Sequence[Any],
) -> dict[Any, Any]:
    """For names that gold gives and the prediction does not, the name under which the prediction gives it.

    Two literals stand for one another where their names are alike and they are of one kind, or where they are
    almost equal themselves and say something; the likest first.

    Args:
        pred_args: The prediction's arguments.
        surplus: Those of them that gold does not give.
        gold_args: Gold's arguments.
        lacking: Those of them that the prediction does not give.

    >>> ours = {"town": ("Rome IT", (), "Rome IT"), "n": (2, (), 2)}
    >>> match_nearest_names(ours, ["town", "n"], {"city": ("Rome", (), "Rome"), "m": (7, (), 7)},
    ...     ["city", "m"])
    {'city': 'town'}
    """
    if len(surplus) * len(lacking) > MAX_NAME_PAIRS:
        return {}
    candidates = []
    for gold_index, gold_name in enumerate(lacking):
        for pred_index, pred_name in enumerate(surplus):
            score = _likeness(pred_name, pred_args[pred_name], gold_name, gold_args[gold_name])
            if score:
                candidates.append((-score, gold_index, pred_index))
    pred_by_gold: dict[Any, Any] = {}
    used: set[int] = set()
    for _, gold_index, pred_index in sorted(candidates):
        if lacking[gold_index] not in pred_by_gold and pred_index not in used:
            pred_by_gold[lacking[gold_index]] = surplus[pred_index]
            used.add(pred_index)
    return pred_by_gold


def _likeness(pred_name: Any, pred_arg: Argument, gold_name: Any, gold_arg: Argument) -> float:
    """How much speaks for one argument to stand for another; 0 for nothing."""
    pred_value, gold_value = pred_arg[2], gold_arg[2]
    kinds = kind_name(pred_value), kind_name(gold_value)
    if (
        pred_arg[1]
        or gold_arg[1]
        or None in kinds
        or type(pred_name) is not str
        or type(gold_name) is not str
    ):
        return 0.0
    score = likeness(pred_value, gold_value)
    same_name = kinds[0] == kinds[1] and is_similar_name(pred_name, gold_name)
    if same_name or (score >= MIN_LIKENESS and is_distinctive(gold_value)):
        return same_name + score
    return 0.0
