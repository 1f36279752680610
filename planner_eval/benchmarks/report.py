"""The skeleton of a benchmark: how a variant judges an answer, and its report of figures and rows.

A benchmark is a package of this folder. Its ``__init__`` exports ``BENCHMARK``, see :mod:`.benchmark`, which
names the rest:

- ``data``: its samples, read from the published files; what is irregular in them is an :class:`.Audit`,
  which is looked for when somebody asks, in ``findings`` where that needs catalogs;
- ``reading``: what one answer says, as both variants or one of them understand it;
- ``official`` and ``corrected``: a function ``scorer`` each. It takes the benchmark's options, ``judge`` and
  ``run`` where it has them, and gives a :class:`Scorer`: the verdict on one answer (an :class:`Outcome`), and
  the figures of all;
- ``tables``: the tables and charts of its paper, declared with :mod:`.layouts`.

Each offers two entries of one shape::

    score_official(records)  -> Report(variant="official")    as the published code computes it
    score_corrected(records) -> Report(variant="corrected")   as the paper defines it

where ``records`` yields ``(sample, prediction text)``. Neither raises for what a record holds: a
row or a figure that the published code could not compute names the exception in ``error``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, get_args, get_type_hints

from planner_eval.base.counts import f1_parts
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import dump_indented

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample


Records: TypeAlias = "Iterable[tuple[Sample, str]]"
"""What is scored: samples, each with the text that a model answered."""

Run: TypeAlias = "Callable[[Any, Sample], Any]"
"""Runs decoded calls with a sample's tools; gives the answer, or False for any failure at all."""


@fast_frozen
class Figure:
    """One number of a report.

    Args:
        name: The figure's name, as the benchmark's code or paper spells it.
        value: The number, or the text where the benchmark prints text; None where it does not exist.
        numerator: What was counted, where the figure is a ratio of counts.
        denominator: Out of how many, where the figure is a ratio of counts.
        note: What a reader should know, in one sentence; "" where there is nothing to say.
        error: The exception that the published code raises instead of this number.
    """

    name: str
    value: float | str | None
    numerator: float | None = None
    denominator: float | None = None
    note: str = ""
    error: str | None = None


@dataclass(frozen=True, init=False)
class SampleScore:
    """What became of one prediction; none is ever left out.

    Args:
        id: The sample's id.
        ok: The prediction counts as solved under the benchmark's strictest figure.
        figures: The figures of this prediction alone.
        error: Why it could not be read or scored: an exception name or a diagnostic code.
    """

    id: str
    ok: bool
    figures: tuple[Figure, ...] = field(default_factory=tuple)
    error: str | None = None

    def __init__(self, id: str, ok: bool, figures: tuple[Figure, ...] = (), error: str | None = None) -> None:
        # There is one a prediction: what a frozen dataclass writes, a call a field, takes twice as long.
        self.__dict__.update(id=id, ok=ok, figures=figures, error=error)

    @classmethod
    def counted(
        cls, id: str, ok: bool, figures: Callable[[], Iterable[Figure]], error: str | None = None
    ) -> SampleScore:
        """The row whose figures are made of its counts when somebody asks for them; few do.

        >>> SampleScore.counted("a", True, lambda: [Figure("win", 1.0)]).figures[0].value
        1.0
        """
        score = object.__new__(cls)
        score.__dict__.update(id=id, ok=ok, error=error, _figures=figures)
        return score

    def __getattr__(self, name: str) -> Any:
        if name != "figures" or "_figures" not in self.__dict__:
            raise AttributeError(f"a {type(self).__name__} has no {name!r}")
        figures = self.__dict__["figures"] = tuple(self.__dict__["_figures"]())
        return figures


@fast_frozen
class Report:
    """The scores of one set of predictions under one variant of a benchmark's metrics.

    Args:
        benchmark: ``"appbench"``, ``"nestful"``, ``"callnavi"``, ``"complexfuncbench"``, ``"functionchat"``.
        variant: ``"official"`` or ``"corrected"``.
        n: How many records came in.
        figures: The figures of the whole set.
        rows: One row a record, in the order in which they came.

    >>> report = Report("appbench", "official", 1, (ratio("Succ", 1, 1),), (SampleScore("a", True),))
    >>> report.value("Succ")
    1.0
    """

    benchmark: str
    variant: str
    n: int
    figures: tuple[Figure, ...] = ()
    rows: Sequence[SampleScore] = ()

    def figure(self, name: str) -> Figure:
        """The figure called `name`; KeyError where the report has none of that name."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(name)

    def value(self, name: str) -> float | str | None:
        """The value of the figure called `name`."""
        return self.figure(name).value


def report_data(report: Report) -> dict[str, Any]:
    """A report as JSON data, as :func:`dataclasses.asdict` has it, without its copies."""
    return {
        "benchmark": report.benchmark,
        "variant": report.variant,
        "n": report.n,
        "figures": list(map(_figure_data, report.figures)),
        "rows": [
            {"id": r.id, "ok": r.ok, "figures": list(map(_figure_data, r.figures)), "error": r.error}
            for r in report.rows
        ],
    }


def row_texts(report: Report, line: str) -> Iterator[str]:
    """The rows of a report as JSON a field a line, one by one.

    Rows that were counted alike share their figures, which are written out once.

    Args:
        report: The report.
        line: How a line begins, with the line's end before it.
    """
    written: dict[int, tuple[Any, str]] = {}  # with the figures, whose place no others take then
    inner = line + " "
    for row in report.rows:
        figures = row.figures
        stored = written.get(id(figures))
        if stored is None:
            text = dump_indented(list(map(_figure_data, figures)), inner)
            stored = written[id(figures)] = (figures, text)
        yield (
            f'{{{inner}"id": {dump_indented(row.id)},{inner}"ok": {dump_indented(row.ok)},'
            f'{inner}"figures": {stored[1]},{inner}"error": {dump_indented(row.error)}{line}}}'
        )


def _figure_data(figure: Figure) -> dict[str, Any]:
    return {name: getattr(figure, name) for name in _FIGURE_FIELDS}


_FIGURE_FIELDS = ("name", "value", "numerator", "denominator", "note", "error")


@fast_frozen
class Cell:
    """One cell of a paper's table: what was printed, beside what the data at hand gives.

    Args:
        table: The table, e.g. ``"Table 2"``.
        row: The row's heading.
        column: The column's heading.
        published: The cell as printed, e.g. ``"2.2"``; None where the paper prints none.
        value: The recomputed value; None where the data at hand does not allow it.
        n: Records that the value was computed from.
        of: Records that the paper's value was computed from, when known.
        note: Why the two differ, or what is missing.
    """

    table: str
    row: str
    column: str
    published: str | None
    value: float | None
    n: int | None = None
    of: int | None = None
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether the value, rounded as the paper prints it, is the printed one; None without both.

        >>> Cell("Table 2", "Avg. APIs", "SM", "2.2", 2.215).agrees
        True
        """
        if self.published is None or self.value is None:
            return None
        published = self.published.replace(",", "").rstrip("%")
        decimals = len(published.partition(".")[2])
        return f"{self.value:.{decimals}f}" == f"{float(published):.{decimals}f}"


def failed_figures(names: Iterable[str], error: str) -> tuple[Figure, ...]:
    """Figures that the published code does not print, for it raises this exception."""
    return tuple(Figure(name, None, error=error) for name in names)


def f1(name: str, hits: float, predicted: float, gold: float, *, note: str = "") -> Figure:
    """The figure F1 of counts; its value is None where neither side has anything.

    >>> f1("F1", 1, 2, 2).value
    0.5
    """
    return ratio(name, *f1_parts(hits, predicted, gold), note=note)


def ratio(name: str, numerator: float, denominator: float, *, note: str = "") -> Figure:
    """The figure numerator / denominator; its value is None where there is nothing to divide by.

    >>> ratio("Succ", 3, 4).value
    0.75
    """
    value = numerator / denominator if denominator else None
    return Figure(name, value, numerator, denominator, note)


# ----------------------------------------------------------------------
# How a variant judges answers.
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
