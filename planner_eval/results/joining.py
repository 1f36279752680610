"""The samples that two systems were both judged on, side by side, and what is counted of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from planner_eval.comparison.rows import JUDGED_STATES, NO_ANSWER_STATES
from planner_eval.results.columns import Column
from planner_eval.results.report import no_cluster_error
from planner_eval.results.scored import ScoredRow
from planner_eval.results.totals import Totals

NO_CALL = "nothing"
"""Stands for no call: on gold's side for a call too much, on the prediction's for one left out."""

PairedColumns: TypeAlias = dict[str, Column]
"""For each metric the two systems' counts, a pair a sample."""


class JoinedSums:
    """What is kept of the samples that two systems were both judged on.

    Args:
        metrics: What is counted.
        by: The keys that it is broken down by.
        cluster: The key by which samples lie in clusters.
    """

    def __init__(self, metrics: Sequence[str], by: Sequence[str], cluster: str | None = None) -> None:
        self.metrics, self.cluster, self.n = metrics, cluster, 0
        self.read: PairedColumns = {name: Column() for name in metrics}
        """Of samples that both systems answered readably."""
        self.unread: PairedColumns = {name: Column() for name in metrics}
        """Of the other samples."""
        self.groups: dict[str, dict[str, PairedColumns]] = {key: {} for key in by}
        self.lost: list[str] = []
        self.won: list[str] = []
        self.both_read = 0
        self.unread_lead = 0
        """Of the others: those that only the second gets right, less those that only the first does."""
        self.states: tuple[Counter[str], ...] = (Counter(), Counter())
        self.mistaken: tuple[Counter[tuple[str, str]], ...] = (Counter(), Counter())
        self.causes: tuple[Counter[str], ...] = (Counter(), Counter())
        self.causes_read: tuple[Counter[str], ...] = (Counter(), Counter())

    def add(self, *pair: ScoredRow) -> None:
        """Add the next sample: the first system's row and the second's."""
        first, second = pair
        self.n += 1
        read = first.state not in NO_ANSWER_STATES and second.state not in NO_ANSWER_STATES
        self.both_read += read
        self._count(self.read if read else self.unread, first, second)
        for key, groups in self.groups.items():
            if (value := first.keys.get(key)) is not None:
                if value not in groups:
                    groups[value] = {name: Column() for name in self.metrics}
                self._count(groups[value], first, second)
        if (first.state == "same") != (second.state == "same"):
            (self.lost if first.state == "same" else self.won).append(first.id)
            self.unread_lead += 0 if read else 1 if second.state == "same" else -1
        for index, row in enumerate(pair):
            self.states[index][row.state] += 1
            self.causes[index].update(row.codes)
            if read:
                self.causes_read[index].update(row.codes)
            if row.state not in NO_ANSWER_STATES:  # what cannot be read takes no tool for another
                self.mistaken[index].update((gold or NO_CALL, pred or NO_CALL) for gold, pred in row.mistaken)

    @property
    def columns(self) -> PairedColumns:
        """What was counted of all samples."""
        if self.both_read == self.n:
            return self.read
        columns = {name: Column() for name in self.metrics}
        for name, column in columns.items():
            column.extend(self.read[name])
            column.extend(self.unread[name])
        return columns

    def _count(self, columns: Mapping[str, Column], first: ScoredRow, second: ScoredRow) -> None:
        cluster = None if self.cluster is None else first.keys.get(self.cluster)
        if self.cluster is not None and cluster is None:
            raise no_cluster_error(self.cluster, first.id)
        for name, column in columns.items():
            column.add((first.tallies.get(name), second.tallies.get(name)), cluster)


def join_rows(
    first: Iterable[ScoredRow], second: Iterable[ScoredRow], side_totals: tuple[Totals, Totals]
) -> Iterator[tuple[ScoredRow, ScoredRow]]:
    """The samples that both were judged on, in the first's order; adds up the rows of each side.

    Both stand in gold's order as a rule, so that each has its partner beside it and none needs to be kept.

    Args:
        first: The one's rows.
        second: The other's.
        side_totals: What the rows of each are added to.
    """
    first_rows, second_rows = (
        _select_judged(rows, totals) for rows, totals in zip((first, second), side_totals, strict=True)
    )
    for first_row, second_row in zip_longest(first_rows, second_rows):
        if first_row is None or second_row is None or first_row.id != second_row.id:
            break
        yield first_row, second_row
    else:
        return
    remaining = {row.id: row for row in (second_row, *second_rows) if row is not None}
    for row in (first_row, *first_rows):
        if row is not None and row.id in remaining:
            yield row, remaining[row.id]


def _select_judged(rows: Iterable[ScoredRow], totals: Totals) -> Iterator[ScoredRow]:
    for row in rows:
        totals.add(row)
        if row.state in JUDGED_STATES:
            yield row
