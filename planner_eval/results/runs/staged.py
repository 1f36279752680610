"""Pairs taken some at a time through the steps of their work: a step of all of them, then the next."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from planner_eval.results.runs.job import Pair

TOGETHER = 64
"""Pairs up to which some are taken: code and data of a step stay near the processor, which takes a sixth less
time than pair by pair; of more pairs together the plans do not."""

SIZE = 100_000
"""Characters and bytes of answers and gold plans from which on no further pair is taken: all are held."""


def staged(
    pairs: Iterable[Pair], read: Callable[[int, Pair], Any], *steps: Callable[[Any], Any]
) -> Iterator[Any]:
    """What the steps make of each pair, in order.

    Args:
        pairs: Neighbouring pairs; those of a part know the position of their first, and are told which of
            them is worked on.
        read: The first step; is given the pair's position.
        steps: The others, each given what the one before made of a pair.

    >>> list(staged([(None, None)] * 2, lambda number, pair: number, str))
    ['0', '1']
    """
    first: int = getattr(pairs, "first", 0)
    revisit: Callable[[int], None] = getattr(pairs, "again", _untold)
    batch: list[Any] = []
    size = 0
    for number, pair in enumerate(pairs, first):
        batch.append(read(number, pair))
        size += _size(pair)
        if size > SIZE or len(batch) == TOGETHER:
            yield from _through(batch, number + 1 - len(batch), steps, revisit)
            batch, size = [], 0
    yield from _through(batch, number + 1 - len(batch) if batch else first, steps, revisit)


def _through(
    batch: list[Any], first: int, steps: Iterable[Callable[[Any], Any]], revisit: Callable[[int], None]
) -> Iterator[Any]:
    for step in steps:
        for offset, item in enumerate(batch):
            revisit(first + offset)
            batch[offset] = step(item)
    for offset, item in enumerate(batch):
        revisit(first + offset)
        yield item


def _untold(_number: int) -> None:
    """Nobody wants to know which pair is worked on."""


def _size(pair: Pair) -> int:
    """About how large a pair's plans are."""
    size = 0
    for record in pair:
        if record is not None:
            source = record.source
            size += len(source) if type(source) is str else _packed(source)
    return size


def _packed(source: Any) -> int:
    """About how many bytes data takes; of what is more than data nothing is known, so it goes alone."""
    try:
        return len(marshal.dumps(source))
    except ValueError:
        return SIZE
