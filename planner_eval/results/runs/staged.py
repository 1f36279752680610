"""Pairs taken some at a time through the steps of their work: a step of all of them, then the next."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from planner_eval.results.runs.job import Pair

MAX_BATCH_PAIRS = 64
"""Pairs up to which some are taken: code and data of a step stay near the processor, which takes a sixth less
time than pair by pair; of more pairs together the plans do not."""

MAX_BATCH_SIZE = 100_000
"""Characters and bytes of answers and gold plans from which on no further pair is taken: all are held."""


def run_stages(
    pairs: Iterable[Pair], read: Callable[[int, Pair], Any], *steps: Callable[[Any], Any]
) -> Iterator[Any]:
    """What the steps make of each pair, in order.

    Args:
        pairs: Neighbouring pairs; those of a part know the position of their first, and are told which of
            them is worked on.
        read: The first step; is given the pair's position.
        steps: The others, each given what the one before made of a pair.

    >>> list(run_stages([(None, None)] * 2, lambda number, pair: number, str))
    ['0', '1']
    """
    first: int = getattr(pairs, "first", 0)
    revisit: Callable[[int], None] = getattr(pairs, "again", _ignore_number)
    batch: list[Any] = []
    size = 0
    for number, pair in enumerate(pairs, first):
        batch.append(read(number, pair))
        size += _pair_size(pair)
        if size > MAX_BATCH_SIZE or len(batch) == MAX_BATCH_PAIRS:
            yield from _run_batch(batch, number + 1 - len(batch), steps, revisit)
            batch, size = [], 0
    yield from _run_batch(batch, number + 1 - len(batch) if batch else first, steps, revisit)


def _run_batch(
    batch: list[Any], first: int, steps: Iterable[Callable[[Any], Any]], revisit: Callable[[int], None]
) -> Iterator[Any]:
    for step in steps:
        for offset, item in enumerate(batch):
            revisit(first + offset)
            batch[offset] = step(item)
    for offset, item in enumerate(batch):
        revisit(first + offset)
        yield item


def _ignore_number(_number: int) -> None:
    """Nobody wants to know which pair is worked on."""


def _pair_size(pair: Pair) -> int:
    """About how large a pair's plans are."""
    size = 0
    for record in pair:
        if record is not None:
            source = record.source
            size += len(source) if type(source) is str else _data_size(source)
    return size


def _data_size(source: Any) -> int:
    """About how many bytes data takes; of what is more than data nothing is known, so it goes alone."""
    try:
        return len(marshal.dumps(source))
    except ValueError:
        return MAX_BATCH_SIZE
