"""Macro precision, recall and F1 over the names or pairs that occur in the gold, as NESTful computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

_BLOCK = 128


class Macro(NamedTuple):
    """Three separate means over classes; the F1 is not computed from the other two."""

    precision: float
    recall: float
    f1: float


def macro(rows: Iterable[tuple[Collection[str], Collection[str]]]) -> Macro:
    """Means over the classes that occur in any gold row; other predicted classes are not looked at.

    Args:
        rows: Gold and predicted classes of each row; repeats collapse.

    Raises:
        ValueError: no gold row holds a class; so does scikit-learn on the empty table.

    Source: ``compute_score_sklearn`` of the published ``utils.py``: scikit-learn's MultiLabelBinarizer
    fitted on gold, then macro averages with 0 for 0/0. A table of one column counts there as a binary
    problem, whose two classes are "in the row" and "not in the row".

    >>> macro([(["add", "floor"], ["add", "invented"])])
    Macro(precision=0.5, recall=0.5, f1=0.5)
    """
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    both: Counter[str] = Counter()
    n = 0
    for wanted, given in rows:
        n += 1
        ours = set(given)
        for name in ours:
            predicted[name] += 1
        for name in set(wanted):
            gold[name] += 1
            both[name] += name in ours
    classes = sorted(gold)
    if not classes:
        raise ValueError("no gold row holds a class")
    counts = [(both[name], predicted[name], gold[name]) for name in classes]
    if len(counts) == 1:
        hits, given_n, wanted_n = counts[0]
        absent = (n - given_n - wanted_n + hits, n - given_n, n - wanted_n)
        counts = [row for row in (absent, counts[0]) if row[1] or row[2]]
    return Macro(
        mean([hits / (given or 1) for hits, given, _ in counts]),
        mean([hits / (wanted or 1) for hits, _, wanted in counts]),
        mean([2 * hits / (given + wanted or 1) for hits, given, wanted in counts]),
    )


def mean(values: Sequence[float]) -> float:
    """The mean as NumPy computes it, whose order of summation decides the last digit; importing it is dear.

    Args:
        values: One or more.

    >>> mean([1.0, 0.5])
    0.75
    """
    return _sum(values, 0, len(values)) / len(values)


def _sum(values: Sequence[float], start: int, size: int) -> float:
    """NumPy's pairwise sum: halves, of blocks of 128, of which every eighth value is summed up by itself."""
    if size > _BLOCK:
        half = size // 2 - size // 2 % 8
        return _sum(values, start, half) + _sum(values, start + half, size - half)
    total, done = 0.0, size - size % 8
    if done:
        r = list(values[start : start + 8])
        for at in range(start + 8, start + done, 8):
            r = list(map(add, r, values[at : at + 8]))
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    return reduce(add, values[start + done : start + size], total)
