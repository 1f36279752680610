"""Arguments that one plan names and the other gives by position: which name stands for which position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from planner_eval.comparison.edits import Edit
from planner_eval.comparison.matching.likeness import likeness
from planner_eval.comparison.matching.pairing import Argument
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.renamed import LOOKS
from planner_eval.dialects.dialect import AFTER
from planner_eval.plan.canonical import Key, producers_of, value_key
from planner_eval.plan.model import Value


def by_position(
    ours: Mapping[Any, Argument],
    left: Collection[Any],
    theirs: Mapping[Any, Argument],
    lacking: Sequence[Any],
    same: Callable[[Any, Any], bool],
) -> dict[Any, Any]:
    """For gold's arguments the prediction's, where one of the two names them and the other does not.

    Names have no order: equal values stand for one another, then those that are like, then what is left in
    the order in which it is written.

    Args:
        ours: The prediction's arguments.
        left: Those of them that gold does not give.
        theirs: Gold's arguments.
        lacking: Those of them that the prediction does not give.
        same: Whether an argument of the one is equal to one of the other.

    >>> ours = {"tone": ("warm", (), "warm"), "of": ("a.wav", (), "a.wav")}
    >>> theirs = {"0": ("b.txt", (), "b.txt"), "1": ("warm", (), "warm")}
    >>> by_position(ours, ["tone", "of"], theirs, ["0", "1"], lambda one, other: ours[one] == theirs[other])
    {'1': 'tone', '0': 'of'}
    """
    mine = [name for name in left if name != AFTER]
    wanted = [name for name in lacking if name != AFTER]
    kinds = {_numbered(name) for name in mine}, {_numbered(name) for name in wanted}
    if any(type(name) is not str for name in (*mine, *wanted)):
        return {}
    if kinds not in (({True}, {False}), ({False}, {True})) or len(mine) * len(wanted) > LOOKS:
        return {}
    meant: dict[Any, Any] = {}
    for name in wanted:
        equal = next((one for one in mine if same(one, name)), None)
        if equal is not None:
            meant[name] = equal
            mine.remove(equal)
    near = [
        (-much, at, one)
        for at, name in enumerate(wanted)
        for one in mine
        if name not in meant and (much := _likeness(ours[one], theirs[name]))
    ]
    for _, at, one in sorted(near):
        if wanted[at] not in meant and one in mine:
            meant[wanted[at]] = one
            mine.remove(one)
    meant.update(zip([name for name in wanted if name not in meant], mine, strict=False))
    return meant


def form_only(edit: Edit) -> str | None:
    """What a value is given by where gold gives the same otherwise: ``named`` or ``positional``, or None."""
    if edit.code != "argument.renamed" or edit.pred is None or edit.gold is None:
        return None
    if _shape(edit.pred_value) != _shape(edit.gold_value):
        return None
    numbered = str(edit.pred.argument).isdecimal(), str(edit.gold.argument).isdecimal()
    if numbered[0] == numbered[1]:
        return None
    return "positional" if numbered[0] else "named"


def _shape(value: Value) -> Key:
    """A value but for which calls it takes from: those of two plans have other positions."""
    return value_key(value, [0] * (max(producers_of(value), default=-1) + 1))


def _numbered(name: Any) -> bool:
    return type(name) is str and name.isdecimal()


def _likeness(ours: Argument, theirs: Argument) -> float:
    if ours[1] or theirs[1] or not telling(theirs[2]):
        return 0.0
    return likeness(ours[2], theirs[2])
