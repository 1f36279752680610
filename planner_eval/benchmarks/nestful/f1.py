"""Macro precision, recall and F1 over the names or pairs that occur in the gold, as NESTful computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple


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
    import numpy as np

    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    both: Counter[str] = Counter()
    n = 0
    for wanted, given in rows:
        n += 1
        ours, theirs = set(given), set(wanted)
        gold.update(theirs)
        predicted.update(ours)
        both.update(ours & theirs)
    classes = sorted(gold)
    if not classes:
        raise ValueError("no gold row holds a class")
    counts = [(both[name], predicted[name], gold[name]) for name in classes]
    if len(counts) == 1:
        hits, given_n, wanted_n = counts[0]
        absent = (n - given_n - wanted_n + hits, n - given_n, n - wanted_n)
        counts = [row for row in (absent, counts[0]) if row[1] or row[2]]
    hits_, given_, wanted_ = np.array(counts, dtype=float).T

    def mean(numerator: np.ndarray, denominator: np.ndarray) -> float:
        # NumPy's own mean: its order of summation decides the last digit.
        return float(np.divide(numerator, np.where(denominator == 0, 1, denominator)).mean())

    return Macro(mean(hits_, given_), mean(hits_, wanted_), mean(2 * hits_, given_ + wanted_))
