"""Answers scored each for itself: what a variant makes of one, and of all of them together.

What is found out about an answer is little, and that of two answers is often the same: so it can be made in
several processes and held of a great many answers, where answers and plans could not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import add
from typing import Any, NamedTuple, TypeAlias

from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore
from planner_eval.datasets.sample import Sample

Found: TypeAlias = Sequence[tuple[str, Any]]
"""The id of each sample and what was found out about its answer; it may be gone through again."""


def fields_of(record: Any) -> list[Any]:
    """A dataclass as JSON data: the values of its fields."""
    return [getattr(record, field.name) for field in fields(record)]


def _itself(data: Any) -> Any:
    return data


class Scorer(NamedTuple):
    """How a variant of a benchmark scores answers one by one.

    Args:
        one: What is found out about an answer: numbers and texts in tuples and dataclasses.
        row: The row of a sample's id and what was found out; but for the id it is the same for the same.
        figures: The figures of all.
        known: What was found out, of the JSON data that it became.
        data: What of it has to become JSON data in a way of its own.
    """

    one: Callable[[Sample, str], Any]
    row: Callable[[str, Any], SampleScore]
    figures: Callable[[Found], Iterable[Figure]]
    known: Callable[[Any], Any] = _itself
    data: Callable[[Any], Any] = fields_of


def report_of(benchmark: str, variant: str, scorer: Scorer, records: Records) -> Report:
    """The report of answers that are scored one by one."""
    results = [(sample.id, scorer.one(sample, text)) for sample, text in records]
    rows = tuple([scorer.row(*result) for result in results])
    return Report(benchmark, variant, len(results), tuple(scorer.figures(results)), rows)


def added(rows: Iterable[Sequence[int]], size: int) -> list[int]:
    """The sum of each column of whole numbers.

    >>> added([(1, 2), (3, 4)], 2), added([], 2)
    ([4, 6], [0, 0])
    """
    total, block = [0] * size, []
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK:
            total = list(map(add, total, map(sum, zip(*block, strict=True))))
            block.clear()
    return list(map(add, total, map(sum, zip(*block, strict=True)))) if block else total


_BLOCK = 1_000
