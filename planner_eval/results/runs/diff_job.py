"""Pairs compared as a run: what ``planeval diff`` says of each, and the sums over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import JsonObject
from planner_eval.comparison.policy.policy import Policy, intern_policy
from planner_eval.comparison.rows import PairReading, Row
from planner_eval.reading.files.record import Record, patch_name
from planner_eval.results.pair_sums import DiffSums, has_different_effects
from planner_eval.results.runs.jobs import (
    LOCATION_FIELDS,
    Effects,
    compare,
    describe,
    evaluation_of,
    run_stages,
)
from planner_eval.results.runs.pairs import JSON, Pair
from planner_eval.results.views.rows import PATCH, RowSettings, format_row


@fast_frozen
class DiffJob:
    """What is compared, and how it is told.

    Args:
        policy: How values compare.
        reading: How the records are read: the fields of a :class:`planner_eval.Reading`.
        told: How each pair is told.
        located: Find the places of calls and arguments in the texts.
        failures: Leave out what is the same.
        gold_named: Whether gold's records have ids.
        effects: Runs the plans of a row; it is given what was read of the pair; in one process.
        seen: Is given each row; in one process.
    """

    kind = "diff"

    policy: Policy
    reading: Mapping[str, Any]
    told: RowSettings
    located: bool = False
    failures: bool = False
    gold_named: bool = False
    effects: Effects | None = None
    seen: Callable[[Row], object] | None = None

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {
            "policy": self.policy.name,
            "compared": describe(self.policy),
            **{name: describe(value) for name, value in self.reading.items() if name not in LOCATION_FIELDS},
            **self.told._asdict(),
            "located": self.located,
            "failures": self.failures,
        }

    def columns(self) -> JsonObject:
        """The types of a row's keys, see :func:`.parquet.write_rows`."""
        return {
            **dict.fromkeys(("id", "state", "error", "readable_with_repair"), str),
            **dict.fromkeys(("same", "proved"), bool),
            "pairs": [[int]],
            **{name: [int] for name in ("missing", "extra")},
            **dict.fromkeys(("edits", "habits", "structure"), JSON),
        }

    def fold(self, data: Any = None) -> DiffSums:
        """Sums over no rows, or those that were kept as data."""
        return DiffSums(self.policy, data)

    def rows(self, pairs: Iterable[Pair], fold: DiffSums) -> Iterator[str]:
        """A line a pair, "" for one that is left out; adds each to the sums.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first, which names a pair
                where gold has no ids.
            fold: The sums.
        """
        policy = intern_policy(self.policy)
        evaluation = evaluation_of(self.reading, policy, located=self.located, gold_named=self.gold_named)

        def compared(records: PairReading) -> tuple[Record | None, Row]:
            row = compare(records, evaluation, self.effects)
            if self.told.form == PATCH:
                row = row._replace(id=patch_name(row.id, records.pred, records.gold))
            return records.pred or records.gold, row

        for record, row in run_stages(pairs, evaluation.read, compared):
            is_shown = not (self.failures and row.state == "same" and not has_different_effects(row))
            fold.add(row, shown=is_shown)
            if self.seen is not None:
                self.seen(row)
            yield format_row(row, record, self.told) if is_shown else ""
