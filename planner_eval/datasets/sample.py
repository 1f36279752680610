"""One task of a benchmark: what was asked, with which tools, and the plan that solves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from planner_eval.base.quick import quick

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Audit:
    """What is irregular in a record, found when it is asked for: scoring never asks.

    Args:
        find: Says it; called anew each time.

    >>> list(Audit(lambda: ["an instruction is repeated"]))
    ['an instruction is repeated']
    """

    __slots__ = ("find",)

    def __init__(self, find: Callable[[], Iterable[Any]]) -> None:
        self.find = find

    def __iter__(self) -> Iterator[Any]:
        return iter(self.find())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Audit) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@quick
class Sample:
    """One record of a benchmark's data.

    Args:
        id: Unique in its data set.
        query: What the user asks.
        tools: The tools on offer, as released; None where the record names none.
        gold: The gold record or gold calls, as released.
        dialect: The notation of `gold`, a name that :func:`planner_eval.parse` knows.
        category: The part of the data set that the record belongs to.
        extra: Whatever else the record holds, by name.
    """

    id: str
    query: str = ""
    tools: Any = None
    gold: Any = None
    dialect: str = ""
    category: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
