"""Pairs compared for a page: each a line, and figures that add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from planner_eval.base.quick import quick
from planner_eval.comparison.sentences import calls_name
from planner_eval.comparison.structure_report import structure_lines
from planner_eval.engine.diff import Effects
from planner_eval.engine.job import Pair as Records
from planner_eval.engine.score import Compared, ScoreJob
from planner_eval.engine.staged import staged
from planner_eval.policy import recognised
from planner_eval.records.record import Record
from planner_eval.records.rows import Evaluation, Row, Sides, Spans
from planner_eval.reports.lines import Lines, Pair
from planner_eval.reports.told import said_of
from planner_eval.scoring.row_lines import line_of
from planner_eval.scoring.scored import key_of
from planner_eval.scoring.totals import Totals


@quick
class PageJob:
    """How pairs are read, compared, counted and told.

    Args:
        score: How they are read, compared and counted.
        fields: What pairs can be told apart by, as for figures' breakdowns.
        query: The field that holds the question.
        texts: Whether texts of plans are shown.
        counts: Whether lines keep what metrics counted, for two runs to be compared.
    """

    score: ScoreJob
    fields: tuple[str, ...] = ()
    query: str | None = None
    texts: bool = True
    counts: bool = False

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "report"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {**self.score.options(), "query": self.query, "texts": self.texts}

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that were kept as data."""
        return self.score.fold(data)

    def rows(self, pairs: Iterable[Records], fold: Totals, effects: Effects | None = None) -> Iterator[str]:
        """A line a pair, in order; adds each to the sums.

        Args:
            pairs: Neighbouring pairs.
            fold: The sums.
            effects: Runs the plans of a row, whose prediction's and gold's records it is given.
        """
        job, lines = self.score, Lines(self.query, texts=self.texts)
        how, policy = job.reading, recognised(job.policy)
        names = any(rule.where for rule in policy.rules)
        dialects = how["dialect"], how["gold_dialect"] or how["dialect"]
        repair, named = bool(how["repair"]), job.gold_named
        evaluation = Evaluation(*dialects, policy, self.texts, repair, how["compute"], True, named)

        counted = job.counting(policy)

        def compared(read_pair: Sides) -> Compared:
            row = evaluation.row(read_pair)
            if effects is not None:
                row = row._replace(effects=effects(row, read_pair.pred, read_pair.gold))
            fold.note(row, names=names)
            return Compared(read_pair, row)

        for pair in staged(pairs, evaluation.read, compared):
            read_pair, row = pair
            scored = counted(pair)
            fold.add(scored)
            counts = line_of(scored) if self.counts else "null"
            yield lines.line(pair_of(row, self.fields), read_pair.pred, read_pair.gold, counts)


def place_of(record: Record | None) -> tuple[str | None, int | None]:
    """Where a record stands."""
    return (None, None) if record is None else (record.file, record.line)


def pair_of(row: Row, fields: Iterable[str]) -> Pair:
    """What a page tells of a compared pair.

    Args:
        row: The pair.
        fields: What pairs can be told apart by.
    """
    diff = row.diff
    pair = Pair(
        row.id,
        row.state,
        row.pred,
        row.gold,
        error=row.error,
        mended=None if row.mended is None else calls_name(row.mended),
        fields={name: key for name in fields if (key := key_of(name, row)) is not None},
        ran=row.effects,
    )
    if diff is None:
        return pair
    spans = Spans(diff.pred)
    return pair._replace(
        pred=diff.pred,
        gold=diff.gold,
        edits=[said_of(edit, spans) for edit in diff.edits],
        partners=diff.alignment.pairs,
        structure=structure_lines(diff),
        error=None,
    )
