"""Pairs taken some at a time through the steps of their work, and what decides the rows of a run as data."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any

from planner_eval.results.runs.pairs import Pair

# ----------------------------------------------------------------------
# Pairs taken some at a time through the steps of their work: a step of all of them, then the next.
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


# ----------------------------------------------------------------------
# What decides the rows of a run as JSON data, the same in every process and on every day.
def describe(value: Any) -> Any:
    """All that a value is made of as JSON data; of a function where it is from, and a digest of that file.

    What a user's function imports is not looked at.

    >>> describe({"b": (1, None), "a": frozenset("yx"), "f": describe})
    [['a', ['x', 'y']], ['b', [1, None]], ['f', 'planner_eval.results.runs.staged.describe']]
    """
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: describe(getattr(value, f.name)) for f in fields(value) if f.compare}
        return [type(value).__name__, values]
    if isinstance(value, Mapping):
        return sorted(([describe(key), describe(item)] for key, item in value.items()), key=repr)
    if isinstance(value, Set):
        return sorted(map(describe, value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [describe(item) for item in value]
    if callable(value):
        return _describe_function(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _describe_function(value: Any) -> str:
    """A function's name; of one that is not ours, whose text may change, with a digest of its module's."""
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return name
    from hashlib import blake2b

    try:
        with open(sys.modules[value.__module__].__file__ or "", "rb") as file:
            return f"{name} {blake2b(file.read(), digest_size=16).hexdigest()}"
    except (OSError, KeyError, AttributeError, TypeError):  # of no file: a built-in one, or typed in
        return name
