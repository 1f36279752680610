"""What of a plan's calls is known before its references are followed: enough to tell most plans apart."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from planner_eval.plan.link import SMALL
from planner_eval.plan.model import Arguments, RawPlan, RawRef

_REFERENCE = ("reference",)
_BOOLS = {True: ("true",), False: ("false",)}


def outline(raw: RawPlan) -> dict[Hashable, int] | None:
    """How often each call is made, every reference counting as any other; likewise the answer.

    Plans of different outlines do not mean the same, whatever their references mean.

    Args:
        raw: The calls as they were read.

    Returns:
        None where an argument is more than a word, a small whole number or a reference: only
        :func:`planner_eval.plan.link.link` says whether a plan may hold it, and what it means.

    >>> from planner_eval.plan.model import RawCall
    >>> outline(RawPlan((RawCall("f", (("b", 2), ("a", RawRef("x")))),)))
    {(None, 'f', ('a', ('reference',)), ('b', 2)): 1}
    """
    counts: dict[Hashable, int] = {}
    for call in raw.calls:
        outlined = _outlined(call.arguments)
        if outlined is None:
            return None
        key = (call.app, call.name, *outlined)
        counts[key] = counts.get(key, 0) + 1
    if raw.answer:
        outlined = _outlined(raw.answer)
        if outlined is None:
            return None
        counts["answer", *outlined] = 1
    return counts


def _outlined(arguments: Arguments) -> list[Any] | None:
    items: list[Any] = []
    for item in arguments:
        value = item[1]
        kind = type(value)
        if kind is str or value is None:
            items.append(item)
        elif kind is RawRef:
            items.append((item[0], _REFERENCE))
        elif kind is int and -SMALL < value < SMALL:
            items.append(item)
        elif kind is bool:
            items.append((item[0], _BOOLS[value]))
        else:
            return None
    if len(items) > 1:
        items.sort(key=_name)
    return items


def _name(item: tuple[str, Any]) -> str:
    return item[0]
