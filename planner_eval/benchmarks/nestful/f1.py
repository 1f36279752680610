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
    shared: Counter[str] = Counter()
    n = 0
    for gold_classes, predicted_classes in rows:
        n += 1
        distinct = set(predicted_classes)
        for name in distinct:
            predicted[name] += 1
        for name in set(gold_classes):
            gold[name] += 1
            shared[name] += name in distinct
    classes = sorted(gold)
    if not classes:
        raise ValueError("no gold row holds a class")
    counts = [(shared[name], predicted[name], gold[name]) for name in classes]
    if len(counts) == 1:
        hits, predicted_n, gold_n = counts[0]
        absent = (n - predicted_n - gold_n + hits, n - predicted_n, n - gold_n)
        counts = [row for row in (absent, counts[0]) if row[1] or row[2]]
    return Macro(
        mean([hits / (p or 1) for hits, p, _ in counts]),
        mean([hits / (g or 1) for hits, _, g in counts]),
        mean([2 * hits / (p + g or 1) for hits, p, g in counts]),
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
    total, full = 0.0, size - size % 8
    if full:
        r = list(values[start : start + 8])
        for offset in range(start + 8, start + full, 8):
            r = list(map(add, r, values[offset : offset + 8]))
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    return reduce(add, values[start + full : start + size], total)
