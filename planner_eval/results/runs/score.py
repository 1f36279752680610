"""Scoring as a job: a scored row a pair, and what the rows add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.policy.policy import Policy, intern_policy
from planner_eval.comparison.rows import Evaluation, PairReading, Row
from planner_eval.results.report import Provenance
from planner_eval.results.runs.job import Pair
from planner_eval.results.runs.signature import describe
from planner_eval.results.runs.staged import run_stages
from planner_eval.results.scored import RowLineWriter, ScoredRow, row_columns, scored_row
from planner_eval.results.totals import Totals

if TYPE_CHECKING:
    from planner_eval.results.attribution import Credits


_LOCATION_FIELDS = ("cache", "folder")
"""Fields of a reading that say where data sets lie, not what is in them."""


class ComparedPair(NamedTuple):
    """A pair that was compared: what was read of its records, and what became of it."""

    sides: PairReading
    row: Row


@fast_frozen
class ScoreJob:
    """How pairs are read, compared and counted.

    Args:
        metrics: The metrics.
        policy: How values compare.
        by: What figures are broken down by.
        reading: How the records are read: the fields of a :class:`planner_eval.Reading`.
        about: How the pairs came about, which a report says.
        cluster: What says in which cluster a pair lies; None where pairs are by themselves.
        mends: Say of what strict reading refuses whether repair would read it, which reads it twice.
        causes: Say of each pair what its root causes cost, which compares it again and again.
        gold_named: Whether gold's records have ids.
    """

    metrics: tuple[str, ...]
    policy: Policy
    by: tuple[str, ...]
    reading: Mapping[str, Any]
    about: Provenance
    cluster: str | None = None
    mends: bool = False
    causes: bool = False
    gold_named: bool = False

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "score"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {
            **{name: value for name, value in self.reading.items() if name not in _LOCATION_FIELDS},
            "metrics": list(self.metrics),
            "keys": list(self.by),
            **({} if self.cluster is None else {"cluster": self.cluster}),
            **({"causes": True} if self.causes else {}),
            "policy": self.policy.name,
            "compared": describe(self.policy),
            "about": self.about.data(),
        }

    def columns(self) -> dict[str, Any]:
        """The types of a row's keys, see :func:`.parquet.write_rows`."""
        return row_columns(self.metrics, self._keys, causes=self.causes)

    @property
    def _keys(self) -> tuple[str, ...]:
        """What is kept of a pair beside its counts."""
        return tuple(dict.fromkeys((*self.by, *filter(None, [self.cluster]))))

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that :meth:`Totals.data` gave."""
        return Totals(self.metrics, self.by, data, self.cluster, causes=self.causes)

    def rows(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[str]:
        """A row a pair, in order, as JSON; adds each to the sums.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first, which names a pair
                where gold has no ids.
            fold: The sums.
        """
        return map(RowLineWriter().line, self.scored(pairs, fold))

    def scored(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[ScoredRow]:
        """The same rows, each as it is."""
        how, policy = self.reading, intern_policy(self.policy)
        names = any(rule.where for rule in policy.rules)
        dialects = how["dialect"], how["gold_dialect"] or how["dialect"]
        repair = bool(how["repair"])
        mends = self.mends and not repair
        evaluation = Evaluation(*dialects, policy, False, repair, how["compute"], mends, self.gold_named)
        counted = self.counting(policy)

        def compared(records: PairReading) -> ComparedPair:
            row = evaluation.row(records)
            fold.note(row, names=names)
            return ComparedPair(records, row)

        for row in run_stages(pairs, evaluation.read, compared, counted):
            fold.add(row)
            yield row

    def counting(self, policy: Policy) -> Callable[[ComparedPair], ScoredRow]:
        """What makes of a compared pair what is counted of it; if asked, with what its root causes cost.

        Args:
            policy: How values compare.
        """
        credited: Callable[[Row, Policy], Credits | None] | None = None
        if self.causes:
            from planner_eval.results.attribution import credits_of

            credited = credits_of

        def counted(pair: ComparedPair) -> ScoredRow:
            records, row = pair
            record = records.pred or records.gold
            location = (None, None) if record is None else (record.file, record.line)
            scored = scored_row(row, self.metrics, policy, self._keys, location)
            return scored if credited is None else replace(scored, credits=credited(row, policy))

        return counted
