"""The skeleton of a benchmark: how one variant judges an answer, and what its figures are made of.

A benchmark is a package of this folder. Its ``__init__`` exports ``BENCHMARK``, see :mod:`.benchmark`, which
names the rest:

- ``data``: its samples, read from the published files; what is irregular in them is an :class:`.Audit`,
  which is looked for when somebody asks, in ``findings`` where that needs catalogs;
- ``reading``: what one answer says, as both variants or one of them understand it;
- ``official`` and ``corrected``: a function ``scorer`` each. It takes the benchmark's options, ``judge`` and
  ``run`` where it has them, and gives a :class:`Scorer`: the verdict on one answer (an :class:`Outcome`), and
  the figures of all;
- ``tables``: the tables and charts of its paper, declared with :mod:`.layouts`.

All else is here and in the modules beside this one: reports, rows, parts and workers, kept runs, pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, get_args, get_type_hints

from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample

SampleResults: TypeAlias = "Sequence[tuple[str, Any]]"
"""The id of each sample and the outcome of its answer; it may be gone through again."""


class Outcome(Protocol):
    """What was found out about one answer: a NamedTuple of numbers, texts, and tuples of such.

    It is little, and that of two answers is often the same: so it can be made in several processes and held
    of a great many answers, where answers and plans could not.
    """

    @property
    def ok(self) -> bool:
        """The answer counts as solved under the variant's strictest figure."""

    @property
    def error(self) -> str | None:
        """Why it could not be read or scored."""

    def figures(self) -> Iterable[Figure]:
        """The figures of this answer alone."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """How a variant of a benchmark scores answers.

    Args:
        judge: The outcome of one answer.
        figures: The figures of all.
        outcome: The class of outcomes.
        judge_all: The outcomes of many answers, where that is less work than one after the other.
        apart: Answers can be scored in parts, by several processes.
    """

    judge: Callable[[Sample, str], Outcome]
    figures: Callable[[SampleResults], Iterable[Figure]]
    outcome: type
    judge_all: Callable[[Sequence[tuple[Sample, str]]], Iterable[Outcome]] | None = None
    apart: bool = True

    def report(self, benchmark: str, variant: str, records: Records) -> Report:
        """The report of samples, each with the text that a model answered."""
        if self.judge_all is None:
            results = [(sample.id, self.judge(sample, text)) for sample, text in records]
        else:
            pairs = list(records)
            ids = [sample.id for sample, _ in pairs]
            results = list(zip(ids, self.judge_all(pairs), strict=True))
        return Report(benchmark, variant, len(results), tuple(self.figures(results)), ScoredRows(results))

    def load(self, data: Any) -> Any:
        """An outcome, of the JSON data that it became."""
        return _load(self.outcome, data)


def make_row(identity: str, outcome: Outcome) -> SampleScore:
    """The row of an answer; but for the id it is the same for the same outcome."""
    return SampleScore.counted(identity, outcome.ok, outcome.figures, outcome.error)


def shared_figures(figures: Callable[[Any], Iterable[Figure]]) -> Callable[[Any], tuple[Figure, ...]]:
    """Decorates ``figures`` of an outcome: made once for the same outcome, as most rows are alike."""
    return lru_cache(maxsize=4096, typed=True)(lambda outcome: tuple(figures(outcome)))


@cache
def _field_types(cls: type) -> list[Any]:
    """The class of outcomes that each field holds; None of any other field."""
    kinds = [(hint, *get_args(hint)) for hint in get_type_hints(cls).values()]
    return [next((kind for kind in hints if hasattr(kind, "_fields")), None) for hints in kinds]


def _load(cls: Any, data: Any) -> Any:
    """What was written as JSON: an object of a class by its fields, all else with tuples for lists."""
    if cls is not None and data is not None:
        return cls(*map(_load, _field_types(cls), data))
    return tuple(_load(None, item) for item in data) if isinstance(data, list) else data


_Item = TypeVar("_Item", covariant=True)


class Stream(Sequence[_Item]):
    """What is gone through in order; a single one is looked for from the beginning."""

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    @property
    def _items(self) -> tuple[_Item, ...]:
        return tuple(self)


class ScoredRows(Stream[SampleScore]):
    """The rows of answers, made when somebody looks at one: who asks for figures alone needs none.

    Args:
        results: The outcomes.
    """

    def __init__(self, results: SampleResults) -> None:
        self.results = results

    @cached_property
    def _items(self) -> tuple[SampleScore, ...]:
        return tuple([make_row(*result) for result in self.results])

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[SampleScore]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return self._items == tuple(other) if isinstance(other, Sequence) else NotImplemented


def sum_columns(rows: Iterable[Sequence[int]], size: int) -> list[int]:
    """The sum of each column of whole numbers.

    >>> sum_columns([(1, 2), (3, 4)], 2), sum_columns([], 2)
    ([4, 6], [0, 0])
    """
    total, block = [0] * size, []
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK_SIZE:
            total = list(map(add, total, map(sum, zip(*block, strict=True))))
            block.clear()
    return list(map(add, total, map(sum, zip(*block, strict=True)))) if block else total


_BLOCK_SIZE = 1_000
