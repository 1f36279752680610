"""The samples that two systems were both judged on, side by side, and what is counted of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from planner_eval.records.rows import JUDGED, NO_ANSWER
from planner_eval.scoring.columns import Column
from planner_eval.scoring.report import in_no_cluster
from planner_eval.scoring.scored import Scored
from planner_eval.scoring.totals import Totals

NOTHING = "nothing"
"""Stands for no call: on gold's side for a call too much, on the prediction's for one left out."""

Pairs: TypeAlias = dict[str, Column]
"""For each metric the two systems' counts, a pair a sample."""


class Joined:
    """What is kept of the samples that two systems were both judged on.

    Args:
        metrics: What is counted.
        by: The keys that it is broken down by.
        cluster: The key by which samples lie in clusters.
    """

    def __init__(self, metrics: Sequence[str], by: Sequence[str], cluster: str | None = None) -> None:
        self.metrics, self.cluster, self.n = metrics, cluster, 0
        self.read: Pairs = {name: Column() for name in metrics}
        """Of samples that both systems answered readably."""
        self.unread: Pairs = {name: Column() for name in metrics}
        """Of the other samples."""
        self.groups: dict[str, dict[str, Pairs]] = {key: {} for key in by}
        self.lost: list[str] = []
        self.won: list[str] = []
        self.both_read = 0
        self.unread_lead = 0
        """Of the others: those that only the second gets right, less those that only the first does."""
        self.states: tuple[Counter[str], ...] = (Counter(), Counter())
        self.mistaken: tuple[Counter[tuple[str, str]], ...] = (Counter(), Counter())
        self.causes: tuple[Counter[str], ...] = (Counter(), Counter())
        self.causes_read: tuple[Counter[str], ...] = (Counter(), Counter())

    def add(self, *both: Scored) -> None:
        """Add the next sample: the first system's row and the second's."""
        ours, theirs = both
        self.n += 1
        read = ours.state not in NO_ANSWER and theirs.state not in NO_ANSWER
        self.both_read += read
        self._count(self.read if read else self.unread, ours, theirs)
        for key, groups in self.groups.items():
            if (value := ours.keys.get(key)) is not None:
                if value not in groups:
                    groups[value] = {name: Column() for name in self.metrics}
                self._count(groups[value], ours, theirs)
        if (ours.state == "same") != (theirs.state == "same"):
            (self.lost if ours.state == "same" else self.won).append(ours.id)
            self.unread_lead += 0 if read else 1 if theirs.state == "same" else -1
        for at, row in enumerate(both):
            self.states[at][row.state] += 1
            self.causes[at].update(row.codes)
            if read:
                self.causes_read[at].update(row.codes)
            if row.state not in NO_ANSWER:  # what cannot be read takes no tool for another
                self.mistaken[at].update((gold or NOTHING, pred or NOTHING) for gold, pred in row.mistaken)

    @property
    def columns(self) -> Pairs:
        """What was counted of all samples."""
        if self.both_read == self.n:
            return self.read
        found = {name: Column() for name in self.metrics}
        for name, column in found.items():
            column.extend(self.read[name])
            column.extend(self.unread[name])
        return found

    def _count(self, columns: Mapping[str, Column], ours: Scored, theirs: Scored) -> None:
        cluster = None if self.cluster is None else ours.keys.get(self.cluster)
        if self.cluster is not None and cluster is None:
            raise in_no_cluster(self.cluster, ours.id)
        for name, column in columns.items():
            column.add((ours.tallies.get(name), theirs.tallies.get(name)), cluster)


def joined(
    first: Iterable[Scored], second: Iterable[Scored], sides: tuple[Totals, Totals]
) -> Iterator[tuple[Scored, Scored]]:
    """The samples that both were judged on, in the first's order; adds up the rows of each side.

    Both stand in gold's order as a rule, so that each has its partner beside it and none needs to be kept.

    Args:
        first: The one's rows.
        second: The other's.
        sides: What the rows of each are added to.
    """
    ours, theirs = (_judged(rows, totals) for rows, totals in zip((first, second), sides, strict=True))
    for one, other in zip_longest(ours, theirs):
        if one is None or other is None or one.id != other.id:
            break
        yield one, other
    else:
        return
    rest = {row.id: row for row in (other, *theirs) if row is not None}
    for row in (one, *ours):
        if row is not None and row.id in rest:
            yield row, rest[row.id]


def _judged(rows: Iterable[Scored], totals: Totals) -> Iterator[Scored]:
    for row in rows:
        totals.add(row)
        if row.state in JUDGED:
            yield row
