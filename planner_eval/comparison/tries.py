"""A call that is made again with nearly the same arguments: one of the two is a try."""

from __future__ import annotations

import re

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import Pairing
from planner_eval.comparison.matching.replaced import telling
from planner_eval.plan.model import Value

LOOKS = 200
"""Calls of the plan up to which it is asked which is like which."""

ALMOST = 0.5
"""Likeness from which a value is a try for another."""

_ID = re.compile(r"(?:^|_)(?:id|ID)$|[a-z]I[dD]$")
"""How an argument is called that says which thing is meant."""

_NUMBERED = re.compile(r"#?\w{,40}?[0-9]{3}\w{,40}")
"""How a word looks that says it."""


class Try(NamedTuple):
    """A call that another one is like.

    Args:
        call: Its position.
        names: The arguments in which the two differ.
    """

    call: int
    names: tuple[str, ...]


def nearest_try(pairing: Pairing, pred: int) -> Try | None:
    """The call with a partner that an extra call repeats with few other values; None where there is none.

    The one gives more than the other, and else the same; or they give the same arguments, and all that differ
    are like one another, or half of them or more are equal, one of which says something. What has wholly
    another id is another thing, and no try, unless the first argument that is an id by its name is equal.

    Args:
        pairing: A pairing that is made.
        pred: A call of pred without a partner.
    """
    tools = pairing.pred.tools
    if len(tools) > LOOKS:
        return None
    candidates = [
        Try(position, names)
        for position, tool in enumerate(tools)
        if tool == tools[pred]
        and pairing.to_gold[position] >= 0
        and (names := _differing(pairing, pred, position))
    ]
    return min(
        candidates, key=lambda candidate: (len(candidate.names), abs(candidate.call - pred)), default=None
    )


def _differing(pairing: Pairing, first: int, second: int) -> tuple[str, ...]:
    """The arguments in which two calls of pred differ; none where they are not like one another."""
    first_args, second_args = pairing.pred.arguments(first), pairing.pred.arguments(second)
    if first_args.keys() > second_args.keys() and all(
        first_args[name][:2] == second_args[name][:2] for name in second_args
    ):
        extra_names = tuple(name for name in first_args if name not in second_args)
        is_telling = any(telling(argument[2]) for argument in second_args.values())
        return extra_names if is_telling and all(type(name) is str for name in extra_names) else ()
    if first_args.keys() != second_args.keys():
        return ()
    names = tuple(name for name in first_args if first_args[name][:2] != second_args[name][:2])
    if any(type(name) is not str for name in names):
        return ()
    if all(likeness(first_args[name][2], second_args[name][2]) >= ALMOST for name in names):
        return names
    equal = [name for name in first_args if name not in names]
    subject = next((name for name in first_args if type(name) is str and _ID.search(name)), None)
    if subject not in equal and any(
        identifies(name, first_args[name][2]) and not likeness(first_args[name][2], second_args[name][2])
        for name in names
    ):
        return ()
    return names if len(equal) >= len(names) and any(telling(first_args[name][2]) for name in equal) else ()


def identifies(name: str, value: Value) -> bool:
    """Whether an argument says which thing is meant, by its name or as a word with a number in it.

    >>> identifies("order_id", "mia_li"), identifies("order", "#W4967593"), identifies("start", "10:00")
    (True, True, False)
    """
    return bool(_ID.search(name) or (type(value) is str and _NUMBERED.fullmatch(value)))
