"""Arguments with another name and another value: which that is too much stands for which that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.names import like
from planner_eval.comparison.matching.pairing import Argument
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.tries import ALMOST
from planner_eval.comparison.value_diff import kind_name

LOOKS = 400
"""Pairs of names up to which it is asked which is like which."""


def nearest_names(
    ours: Mapping[Any, Argument], left: Sequence[Any], theirs: Mapping[Any, Argument], lacking: Sequence[Any]
) -> dict[Any, Any]:
    """For names that gold gives and the prediction does not, the name under which the prediction gives it.

    Two literals stand for one another where their names are alike and they are of one kind, or where they are
    almost equal themselves and say something; the likest first.

    Args:
        ours: The prediction's arguments.
        left: Those of them that gold does not give.
        theirs: Gold's arguments.
        lacking: Those of them that the prediction does not give.

    >>> ours = {"town": ("Rome IT", (), "Rome IT"), "n": (2, (), 2)}
    >>> nearest_names(ours, ["town", "n"], {"city": ("Rome", (), "Rome"), "m": (7, (), 7)}, ["city", "m"])
    {'city': 'town'}
    """
    if len(left) * len(lacking) > LOOKS:
        return {}
    found = []
    for at, wanted in enumerate(lacking):
        for place, name in enumerate(left):
            much = _likeness(name, ours[name], wanted, theirs[wanted])
            if much:
                found.append((-much, at, place))
    meant: dict[Any, Any] = {}
    taken: set[int] = set()
    for _, at, place in sorted(found):
        if lacking[at] not in meant and place not in taken:
            meant[lacking[at]] = left[place]
            taken.add(place)
    return meant


def _likeness(name: Any, ours: Argument, wanted: Any, theirs: Argument) -> float:
    """How much speaks for one argument to stand for another; 0 for nothing."""
    one, other = ours[2], theirs[2]
    kinds = kind_name(one), kind_name(other)
    if ours[1] or theirs[1] or None in kinds or type(name) is not str or type(wanted) is not str:
        return 0.0
    alike = likeness(one, other)
    named = kinds[0] == kinds[1] and like(name, wanted)
    if named or (alike >= ALMOST and telling(other)):
        return named + alike
    return 0.0
