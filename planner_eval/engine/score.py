"""Scoring as a job: a scored row a pair, and what the rows add up to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from planner_eval.engine.job import Pair
from planner_eval.policy import Policy
from planner_eval.records.files import Record
from planner_eval.records.rows import Row, evaluate
from planner_eval.scoring.row_lines import line_of
from planner_eval.scoring.scored import Scored, score_rows
from planner_eval.scoring.totals import Totals


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """How pairs are read, compared and counted.

    Args:
        metrics: The metrics.
        policy: How values compare.
        by: What figures are broken down by.
        dialect: The notation of the predictions; recognised when None.
        gold_dialect: The notation of the gold plans; recognised when None.
        repair: Mend small faults of predictions that strict reading refuses.
        compute: How expressions of numbers become numbers.
        about: How the pairs came about, as JSON data: what a report says of it.
    """

    metrics: tuple[str, ...]
    policy: Policy
    by: tuple[str, ...] = ()
    dialect: str | None = None
    gold_dialect: str | None = None
    repair: bool = True
    compute: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """``score``."""
        return "score"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {
            "metrics": list(self.metrics),
            "policy": {"name": self.policy.name, "digest": digest(self.policy)},
            "by": list(self.by),
            "dialect": self.dialect,
            "gold_dialect": self.gold_dialect,
            "repair": self.repair,
            "compute": self.compute,
            **self.about,
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
        records: list[Pair] = []
        names = any(rule.where for rule in self.policy.rules)

        def taken() -> Iterator[Pair]:
            for pair in pairs:
                records.append(pair)
                yield pair

        def noted(rows: Iterable[Row]) -> Iterator[Row]:
            for row in rows:
                fold.note(row, names=names)
                yield row

        rows = evaluate(
            taken(),
            pred_dialect=self.dialect,
            gold_dialect=self.gold_dialect,
            policy=self.policy,
            repair=self.repair,
            compute=self.compute,
            mends=False,
            first=getattr(pairs, "first", 0),
        )
        for row in score_rows(noted(rows), self.metrics, policy=self.policy, by=self.by):
            placed = _placed(row, *records.pop())
            fold.add(placed)
            yield placed


def _placed(row: Scored, pred: Record | None, gold: Record | None) -> Scored:
    record = pred or gold
    return row if record is None else replace(row, file=record.file, line=record.line)


def digest(policy: Policy) -> str:
    """What tells a policy from others of its name, the same in every process."""
    from hashlib import blake2b

    return blake2b(json.dumps(_told(policy)).encode(), digest_size=16).hexdigest()


def _told(value: Any) -> Any:
    """All that a value is made of as JSON data; of a function where it is from."""
    if is_dataclass(value) and not isinstance(value, type):
        told = {one.name: _told(getattr(value, one.name)) for one in fields(value) if one.compare}
        return [type(value).__name__, told]
    if isinstance(value, Mapping):
        return sorted(([_told(key), _told(each)] for key, each in value.items()), key=repr)
    if isinstance(value, Set):
        return sorted(map(_told, value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_told(each) for each in value]
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
