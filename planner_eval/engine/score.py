"""Scoring as a job: a scored row a pair, and what the rows add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner_eval.engine.described import described
from planner_eval.engine.job import Pair
from planner_eval.policy import Policy
from planner_eval.records.files import Record
from planner_eval.records.rows import Row, evaluate
from planner_eval.scoring.report import About
from planner_eval.scoring.row_lines import line_of
from planner_eval.scoring.scored import Scored, score_rows
from planner_eval.scoring.totals import Totals

_PLACES = ("cache", "folder")
"""Fields of a reading that say where data sets lie, not what is in them."""


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """How pairs are read, compared and counted.

    Args:
        metrics: The metrics.
        policy: How values compare.
        by: What figures are broken down by.
        reading: How the records are read: the fields of a :class:`planner_eval.Reading`.
        about: How the pairs came about, which a report says.
    """

    metrics: tuple[str, ...]
    policy: Policy
    by: tuple[str, ...]
    reading: Mapping[str, Any]
    about: About

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "score"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {
            **{name: value for name, value in self.reading.items() if name not in _PLACES},
            "metrics": list(self.metrics),
            "keys": list(self.by),
            "policy": self.policy.name,
            "compared": described(self.policy),
            "about": self.about.data(),
        }

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that :meth:`Totals.data` gave."""
        return Totals(self.metrics, self.by, data)

    def rows(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[str]:
        """A row a pair, in order, as JSON; adds each to the sums.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first, which names a pair
                without an id.
            fold: The sums.
        """
        return map(line_of, self.scored(pairs, fold))

    def scored(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[Scored]:
        """The same rows, each as it is."""
        records: list[Record | None] = []
        names = any(rule.where for rule in self.policy.rules)

        def taken() -> Iterator[Pair]:
            for pair in pairs:
                records.append(pair[0] or pair[1])
                yield pair

        def noted(rows: Iterable[Row]) -> Iterator[Row]:
            for row in rows:
                fold.note(row, names=names)
                yield row

        how = self.reading
        rows = evaluate(
            taken(),
            pred_dialect=how["dialect"],
            gold_dialect=how["gold_dialect"] or how["dialect"],
            policy=self.policy,
            repair=bool(how["repair"]),
            compute=how["compute"],
            mends=False,
            first=getattr(pairs, "first", 0),
        )
        for row in score_rows(noted(rows), self.metrics, policy=self.policy, by=self.by):
            record = records.pop()
            placed = row if record is None else replace(row, file=record.file, line=record.line)
            fold.add(placed)
            yield placed
