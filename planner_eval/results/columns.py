"""What one metric counted in many samples, held so that a million take little room and add up exactly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.counts import f1_parts
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.comparison.metrics.facts import Counts, Share, Tally


class Unit(NamedTuple):
    """What a sample counts, or a cluster of them, and how many count the same.

    Args:
        sides: Numerator and denominator; of two systems those of the first, then those of the second.
        times: How many there are.
    """

    sides: tuple[float, ...]
    times: int


class Column:
    """Tallies of samples: which there are, and how often each; their order means nothing.

    Samples are alike more often than not, so that most need no more than a number.

    Args:
        tallies: One a sample; None for a sample that has none. Or pairs of them, of two systems.

    >>> found = Column([Share(1, 1), Share(0, 1), Share(1, 1)])
    >>> len(found), found.counts
    (3, [2, 1])
    """

    __slots__ = ("_known", "clusters", "counts", "values")

    def __init__(self, tallies: Iterable[Any] = ()) -> None:
        self.values: list[Any] = []
        self.counts: list[int] = []
        self.clusters: dict[str, Counter[int]] = defaultdict(Counter)
        """Where samples lie in clusters: which of the values the samples of each have, and how often."""
        self._known: dict[Any, int] = {}
        for tally in tallies:
            self.add(tally)

    def __len__(self) -> int:
        return sum(self.counts)

    def add(self, tally: Any, cluster: str | None = None) -> None:
        """Add the next sample."""
        code = self._code(tally)
        self.counts[code] += 1
        if cluster is not None:
            self.clusters[cluster][code] += 1

    def add_all(self, tallies: Sequence[Any], indices: Sequence[int], clusters: Sequence[str]) -> None:
        """Add the next samples.

        Args:
            tallies: Those that there are, in the order in which samples first have them.
            indices: Which of them each sample has.
            clusters: In which cluster each sample lies, where they do.
        """
        table = [*map(self._code, tallies)]
        for index, times in Counter(indices).items():
            self.counts[table[index]] += times
        for index, cluster in zip(indices, clusters, strict=False):
            self.clusters[cluster][table[index]] += 1

    def _code(self, tally: Any) -> int:
        kind = tally.__class__
        if kind is Counts:  # as _key has it: this is done for every figure of most samples
            code = self._known.get((tally.hit, tally.pred, tally.gold))
        elif kind is Share:
            code = self._known.get((tally.part, tally.whole, tally.part.__class__))
        else:
            code = self._known.get(_tally_key(tally))
        return self._new(tally) if code is None else code

    def _new(self, tally: Any) -> int:
        code = self._known[_tally_key(tally)] = len(self.values)
        self.values.append(tally)
        self.counts.append(0)
        return code

    def each(self) -> Iterator[tuple[Any, int]]:
        """Each tally that there is, and how often."""
        return zip(self.values, self.counts, strict=True)

    def extend(self, other: Column) -> None:
        """Add the samples of another."""
        table = []
        for value, count in other.each():
            table.append(self._code(value))
            self.counts[table[-1]] += count
        for name, codes in other.clusters.items():
            counter = self.clusters[name]
            for code, count in codes.items():
                counter[table[code]] += count

    def side(self, index: int) -> Column:
        """Of pairs the tallies of the first system, or of the second."""
        projected = Column()  # in which a value may stand twice
        projected.values, projected.counts = [pair[index] for pair in self.values], self.counts
        projected.clusters = self.clusters
        column = Column()
        column.extend(projected)
        return column

    def units(self) -> list[Unit]:
        """What is drawn by chance: samples, or clusters of them.

        Each is the numerator and the denominator of its figure, of F1 for counts and nothing of nothing for
        None; of pairs those of both systems. Clusters are what their samples add up to.
        """
        numbers = [
            (*ratio_terms(v[0]), *ratio_terms(v[1])) if v.__class__ is tuple else ratio_terms(v)
            for v in self.values
        ]
        if not self.clusters:
            return list(map(Unit, numbers, self.counts))
        units = []
        for codes in self.clusters.values():
            sides = zip(*(numbers[code] for code in codes), strict=True)
            sums = (exact_sum(zip(side, codes.values(), strict=True)) for side in sides)
            units.append(Unit(tuple(sums), 1))
        return units

    def data(self) -> JsonObject:
        """The column as JSON data: numbers of a tally, how often, and in which clusters."""
        data: JsonObject = {"values": [_numbers(tally) for tally in self.values], "counts": self.counts}
        if self.clusters:
            data["clusters"] = {name: [*codes.items()] for name, codes in self.clusters.items()}
        return data

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Column:
        """A column from JSON data."""
        column = cls()
        for numbers in data["values"]:
            column._new(_tally(numbers))
        column.counts = list(data["counts"])
        for name, codes in data.get("clusters", {}).items():
            column.clusters[name] = Counter(dict(codes))
        return column

    def total(self) -> Tally | None:
        """The sum of all; None where no sample has a tally."""
        counted = [(tally, count) for tally, count in self.each() if tally is not None]
        if not counted:
            return None
        kind = Counts if isinstance(counted[0][0], Counts) else Share
        columns = zip(*(_numbers(tally) or () for tally, _ in counted), strict=True)
        return kind(*(exact_sum(zip(column, (n for _, n in counted), strict=True)) for column in columns))


def add_rows(
    columns: Mapping[str, Column], rows: Sequence[Mapping[str, Any]], clusters: Sequence[str] = ()
) -> None:
    """Add the next samples to what each metric counted.

    Args:
        columns: What each metric counted so far.
        rows: A sample's tallies by metric; samples that are right and of one size share theirs, which are
            then looked at once.
        clusters: In which cluster each sample lies, where they do.
    """
    distinct = list({id(row): row for row in rows}.values())
    row_indices = {id(row): index for index, row in enumerate(distinct)}
    indices = [row_indices[id(row)] for row in rows]
    for name, column in columns.items():
        column.add_all([row.get(name) for row in distinct], indices, clusters)


def ratio_terms(tally: Tally | None) -> tuple[float, float]:
    """Numerator and denominator of one sample's figure."""
    if isinstance(tally, Counts):
        return f1_parts(tally.hit, tally.pred, tally.gold)
    return (tally.part, tally.whole) if tally is not None else (0.0, 0.0)


def exact_sum(terms: Iterable[tuple[float, int]]) -> float:
    """The sum of numbers, each so many times, rounded once: the same in any order, and in any parts.

    It is what ``math.fsum`` gives of them all, without a term a sample. The built-in ``sum`` would not do:
    it depends on the order, and since Python 3.12 it rounds otherwise than before.

    Args:
        terms: A number, and how often it is added.

    >>> exact_sum([(0.1, 10)]), exact_sum([(1, 2), (3, 1)])
    (1.0, 5)
    """
    pairs = list(terms)
    if all(isinstance(number, int) for number, _ in pairs):
        return sum(number * count for number, count in pairs)
    ratios = [(number.as_integer_ratio(), count) for number, count in pairs]
    denominator = max(bottom for (_, bottom), _ in ratios)  # a power of two, as all of them
    return sum(top * (denominator // bottom) * count for (top, bottom), count in ratios) / denominator


def _tally_key(tally: Any) -> Any:
    """What tells tallies apart, 1 and 1.0 too, for a sum of them is written as the one or the other."""
    if tally is None:
        return None
    if tally.__class__ is Counts:
        return (tally.hit, tally.pred, tally.gold)
    if tally.__class__ is Share:
        return (tally.part, tally.whole, tally.part.__class__)
    return (_tally_key(tally[0]), _tally_key(tally[1]))


def _numbers(tally: Tally | None) -> list[float] | None:
    if isinstance(tally, Counts):
        return [tally.hit, tally.pred, tally.gold]
    return None if tally is None else [tally.part, tally.whole]


def _tally(numbers: list[float] | None) -> Tally | None:
    if numbers is None:
        return None
    return Counts(*numbers) if len(numbers) == 3 else Share(*numbers)
