"""Pairs that are made when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from planner_eval.engine.job import Pair


class LazyPairs(Sequence[Pair]):
    """Neighbouring pairs out of some; whoever inherits says how others are had, and goes through them.

    Args:
        first: The first of them, counted from 0.
        end: The one after the last.
    """

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end

    def of(self, first: int, end: int) -> Sequence[Pair]:
        """Others of the same pairs."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.end - self.first

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | Sequence[Pair]:
        selected = range(self.first, self.end)[index]
        if isinstance(selected, int):
            return next(iter(self.of(selected, selected + 1)))
        if selected.step != 1:
            return [self[position - self.first] for position in selected]
        return self.of(selected.start, max(selected.start, selected.stop))
