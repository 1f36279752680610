"""What metrics give: counts that add up over samples, and the ratios made from them at the end."""

from __future__ import annotations

from typing import TypeAlias

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.ratios import f1_parts


@fast_frozen
class Counts:
    """How many items the prediction has, gold has, and both have: for precision, recall and F1.

    Args:
        hit: Items of pred that stand for an item of gold; one-to-one, so never more than either side.
        pred: Items of pred.
        gold: Items of gold.

    >>> (Counts(1, 1, 2) + Counts(1, 2, 1)).f1
    0.6666666666666666
    """

    hit: float
    pred: float
    gold: float

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hit + other.hit, self.pred + other.pred, self.gold + other.gold)

    @property
    def precision(self) -> float | None:
        """Hits over pred; None where pred has nothing."""
        return self.hit / self.pred if self.pred else None

    @property
    def recall(self) -> float | None:
        """Hits over gold; None where gold has nothing."""
        return self.hit / self.gold if self.gold else None

    @property
    def share(self) -> Share:
        """What F1 is a share of: twice the hits, of pred + gold."""
        return Share(*f1_parts(self.hit, self.pred, self.gold))

    @property
    def f1(self) -> float | None:
        """Twice the hits over pred + gold; None where neither side has anything."""
        hits, total = f1_parts(self.hit, self.pred, self.gold)
        return hits / total if total else None

    @property
    def value(self) -> float | None:
        """The one number that stands for these counts: F1."""
        return self.f1


@fast_frozen
class Share:
    """A part of a whole; sums of shares are shares of sums.

    Args:
        part: The part; below 0 for correlations.
        whole: The whole.

    >>> (Share(1, 1) + Share(0, 1)).value
    0.5
    """

    part: float
    whole: float

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> float | None:
        """The part over the whole; None where there is no whole."""
        return self.part / self.whole if self.whole else None


Tally: TypeAlias = Counts | Share
"""What a metric gives for one sample."""
