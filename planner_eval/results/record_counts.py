"""What became of the records of a file of predictions, before any figure: counts that stand first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from planner_eval.results.totals import Totals


class Records(NamedTuple):
    """What became of the records of one system.

    Args:
        records: Pairs of a prediction and a gold plan, and those of which one is missing.
        read: Predictions that were compared with a gold plan.
        repaired: Of these, those that were readable only after repair.
        same: Predictions that mean the same as gold.
        strictly_same: Of these, those that were readable without repair.
        unreadable: Predictions that cannot be read; they count as wrong.
        cut: Answers that were cut off before their end; they count as wrong.
        refused: Answers that the model, or a filter, refused; they count as wrong.
        failed: Errors of an API in place of an answer; they count as wrong.
        absent: Gold plans without a prediction; they count as wrong.
        gold_unreadable: Gold plans that cannot be read; they do not count.
        gold_absent: Predictions without a gold plan; they do not count.
        repeated: Predictions left out because an earlier one has their id.
        repairable: Of those that strict reading alone refused, those that repair would make readable; None
            where nobody tried.
    """

    records: int
    read: int
    repaired: int
    same: int
    strictly_same: int
    unreadable: int
    cut: int
    refused: int
    failed: int
    absent: int
    gold_unreadable: int
    gold_absent: int
    repeated: int = 0
    repairable: int | None = 0

    @property
    def judged(self) -> int:
        """Pairs that figures are made of: those with a readable gold plan."""
        return self.records - self.gold_unreadable - self.gold_absent

    @property
    def unreadable_as_written(self) -> int:
        """Predictions that no strict reading takes, mended or not."""
        return self.unreadable + self.cut + self.repaired

    @property
    def unreadable_once_repaired(self) -> int | None:
        """Predictions that cannot be read even once small faults are mended; None where nobody tried."""
        return None if self.repairable is None else self.unreadable + self.cut - self.repairable


def count_records(totals: Totals) -> Records:
    """Count what became of the records of one system; of records that were left out nothing is known.

    >>> from planner_eval.results.scored import ScoredRow
    >>> from planner_eval.results.totals import totals_of
    >>> count_records(totals_of([ScoredRow("a", "same"), ScoredRow("b", "unreadable")], ()))[:6]
    (2, 1, 0, 1, 1, 1)
    """
    states = totals.states
    return Records(
        totals.pairs,
        states["same"] + states["different"],
        totals.flags["repaired"],
        states["same"],
        totals.flags["strictly_same"],
        states["unreadable"],
        states["cut"],
        states["refused"],
        states["failed"],
        states["absent"],
        states["gold_unreadable"],
        states["gold_absent"],
        repairable=totals.flags["repairable"],
    )


def unreadable_text(names: Sequence[str], records: Sequence[Records]) -> str:
    """How many predictions of each system cannot be read, as they are written and once they are repaired.

    Args:
        names: What the systems are called.
        records: What became of the records of each.

    Returns:
        One line; "" where all can be read as they are written.

    >>> none = Records(*[0] * 12)
    >>> one, other = none._replace(records=300, unreadable=12, repaired=207), none._replace(records=300)
    >>> unreadable_text(["A", "B"], [one, other])
    'unreadable: A 219 of 300 as written, 12 once repaired; B 0 of 300'
    """
    if not any(counts.unreadable_as_written for counts in records):
        return ""
    clauses = []
    for name, counts in zip(names, records, strict=True):
        written, repaired = counts.unreadable_as_written, counts.unreadable_once_repaired
        repaired_note = "" if repaired is None else f", {repaired} once repaired"
        clauses.append(f"{name} {written} of {counts.judged}" + f" as written{repaired_note}" * bool(written))
    return f"unreadable: {'; '.join(clauses)}"


def record_rows(names: Sequence[str], records: Sequence[Records]) -> list[dict[str, Any]]:
    """The counts of systems, a row a state; those that are rare only where there are some.

    Args:
        names: What the systems are called.
        records: What became of the records of each.
    """
    always = ("records", "read", "repaired", "same", "strictly_same", "unreadable", "absent")
    return [
        {
            "records": "all" if name == "records" else name.replace("_", " "),
            **dict(zip(names, counts, strict=True)),
        }
        for name, counts in zip(Records._fields, zip(*records, strict=True), strict=True)
        if name in always or any(counts)
    ]
