"""What one metric counted in many samples, held so that a million take little room and add up exactly."""

from __future__ import annotations

import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner_eval.base.ratios import f1_parts
from planner_eval.metrics.counts import Counts, Share, Tally

LARGE = 50_000
"""Samples beyond which their order is let go, and intervals and tests are by the normal approximation."""


class Column:
    """Tallies of samples: which there are, how often each, and of few samples in which order.

    Samples are alike more often than not, so that each needs no more than a number.

    Args:
        tallies: One a sample; None for a sample that has none. Or pairs of them, of two systems.

    >>> found = Column([Share(1, 1), Share(0, 1), Share(1, 1)])
    >>> len(found), found.counts, list(found.codes or ())
    (3, [2, 1], [0, 1, 0])
    """

    __slots__ = ("_codes", "_known", "counts", "values")

    def __init__(self, tallies: Iterable[Any] = ()) -> None:
        self.values: list[Any] = []
        self.counts: list[int] = []
        self._known: dict[Any, int] = {}
        self._codes: array[int] | str | None = array("I")
        for tally in tallies:
            self.add(tally)

    def __len__(self) -> int:
        return sum(self.counts)

    def add(self, tally: Any) -> None:
        """Add the next sample."""
        code = self._code(tally)
        self.counts[code] += 1
        if self._codes is not None:
            codes = self._ordered()
            codes.append(code)
            if len(codes) > LARGE:
                self._codes = None

    def add_all(self, tallies: Sequence[Any], each: Sequence[int]) -> None:
        """Add the next samples.

        Args:
            tallies: Those that there are, in the order in which samples first have them.
            each: Which of them each sample has.
        """
        table = [*map(self._code, tallies)]
        codes = array("I", map(table.__getitem__, each))
        for code, times in Counter(codes).items():
            self.counts[code] += times
        if self._codes is not None:
            known = self._ordered()
            known.extend(codes)
            if len(known) > LARGE:
                self._codes = None

    def _code(self, tally: Any) -> int:
        kind = tally.__class__
        if kind is Counts:  # as _key has it: this is done for every figure of most samples
            code = self._known.get((tally.hit, tally.pred, tally.gold))
        elif kind is Share:
            code = self._known.get((tally.part, tally.whole, tally.part.__class__))
        else:
            code = self._known.get(_key(tally))
        return self._new(tally) if code is None else code

    def _new(self, tally: Any) -> int:
        code = self._known[_key(tally)] = len(self.values)
        self.values.append(tally)
        self.counts.append(0)
        return code

    def _ordered(self) -> array[int]:
        if isinstance(self._codes, str):
            self._codes = _unpacked(self._codes)
        assert self._codes is not None
        return self._codes

    @property
    def codes(self) -> array[int] | None:
        """Which of the values each sample has, in order; None of more than :data:`LARGE` samples."""
        return None if self._codes is None else self._ordered()

    def each(self) -> Iterator[tuple[Any, int]]:
        """Each tally that there is, and how often."""
        return zip(self.values, self.counts, strict=True)

    def extend(self, other: Column) -> None:
        """Add the samples of another, which come after."""
        if self._codes is not None and (other._codes is None or len(self) + len(other) > LARGE):
            self._codes = None
        table = []
        for tally, count in other.each():
            code = self._known.get(_key(tally))
            table.append(self._new(tally) if code is None else code)
            self.counts[table[-1]] += count
        if self._codes is not None:
            self._ordered().extend(map(table.__getitem__, other._ordered()))

    def side(self, at: int) -> Column:
        """Of pairs the tallies of the first system, or of the second."""
        made = Column()
        made.extend(_told([pair[at] for pair in self.values], self.counts, self.codes))
        return made

    def data(self) -> dict[str, Any]:
        """The column as JSON data: numbers of a tally, how often, and the order, packed."""
        codes = self._codes if self._codes is None or isinstance(self._codes, str) else _packed(self._codes)
        return {"values": [_numbers(tally) for tally in self.values], "counts": self.counts, "codes": codes}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Column:
        """A column from JSON data; its order is unpacked when it is asked for."""
        made = cls()
        for numbers in data["values"]:
            made._new(_tally(numbers))
        made.counts = list(data["counts"])
        made._codes = data["codes"]
        return made

    def total(self) -> Tally | None:
        """The sum of all; None where no sample has a tally."""
        asked = [(tally, count) for tally, count in self.each() if tally is not None]
        if not asked:
            return None
        kind = Counts if isinstance(asked[0][0], Counts) else Share
        columns = zip(*(_numbers(tally) or () for tally, _ in asked), strict=True)
        return kind(*(exact_sum(zip(column, (n for _, n in asked), strict=True)) for column in columns))

    def parts(self) -> list[tuple[float, float]]:
        """Numerator and denominator of each tally's figure: of F1 for counts; nothing of nothing for None."""
        return [parts(tally) for tally in self.values]


def add_rows(columns: Mapping[str, Column], rows: Sequence[Mapping[str, Any]]) -> None:
    """Add the next samples to what each metric counted.

    Args:
        columns: What each metric counted so far.
        rows: A sample's tallies by metric; samples that are right and of one size share theirs, which are
            then looked at once.
    """
    distinct = list({id(row): row for row in rows}.values())
    places = {id(row): at for at, row in enumerate(distinct)}
    each = [places[id(row)] for row in rows]
    for name, column in columns.items():
        column.add_all([row.get(name) for row in distinct], each)


def parts(tally: Tally | None) -> tuple[float, float]:
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
    known = list(terms)
    if all(isinstance(number, int) for number, _ in known):
        return sum(number * count for number, count in known)
    ratios = [(number.as_integer_ratio(), count) for number, count in known]
    whole = max(bottom for (_, bottom), _ in ratios)  # a power of two, as all of them
    return sum(top * (whole // bottom) * count for (top, bottom), count in ratios) / whole


def _key(tally: Any) -> Any:
    """What tells tallies apart, 1 and 1.0 too, for a sum of them is written as the one or the other."""
    if tally is None:
        return None
    if tally.__class__ is Counts:
        return (tally.hit, tally.pred, tally.gold)
    if tally.__class__ is Share:
        return (tally.part, tally.whole, tally.part.__class__)
    return (_key(tally[0]), _key(tally[1]))


def _numbers(tally: Tally | None) -> list[float] | None:
    if isinstance(tally, Counts):
        return [tally.hit, tally.pred, tally.gold]
    return None if tally is None else [tally.part, tally.whole]


def _tally(numbers: list[float] | None) -> Tally | None:
    if numbers is None:
        return None
    return Counts(*numbers) if len(numbers) == 3 else Share(*numbers)


def _told(values: list[Any], counts: list[int], codes: array[int] | None) -> Column:
    """A column as it is told, in which a value may stand twice; only to be added to another."""
    made = Column()
    made.values, made.counts, made._codes = values, counts, codes
    return made


def _packed(codes: array[int]) -> str:
    import zlib

    return b2a_base64(zlib.compress(_little(codes).tobytes(), 1), newline=False).decode("ascii")


def _unpacked(text: str) -> array[int]:
    import zlib

    return _little(array("I", zlib.decompress(a2b_base64(text))))


def _little(codes: array[int]) -> array[int]:
    """The same numbers, lowest byte first on any machine."""
    if sys.byteorder == "big":
        codes = codes[:]
        codes.byteswap()
    return codes
