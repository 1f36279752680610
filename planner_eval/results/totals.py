"""What scored pairs add up to: all that a report says of them, and what was read, in little room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.counts import Counts
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.comparison.policy.unused_rules import KnownNames
from planner_eval.comparison.rows import JUDGED_STATES, Row
from planner_eval.plan.model import Plan
from planner_eval.results.columns import Column, add_rows
from planner_eval.results.conversations import ConversationSums
from planner_eval.results.scored import ScoredRow
from planner_eval.results.trials import TrialSums

if TYPE_CHECKING:
    from planner_eval.results.causes import CauseSums


GOLD_FEATURES: Mapping[str, Callable[[Plan], bool]] = {
    "calls": lambda plan: bool(plan.calls),
    "app": lambda plan: any(call.app is not None for call in plan.calls),
    "arguments": lambda plan: any(call.arguments for call in plan.calls),
    "references": lambda plan: bool(plan.edges),
}
"""What a gold plan may have that figures count."""


class UnjudgedPair(NamedTuple):
    """The first pair of a state without a gold plan to be judged by.

    Args:
        id: The pair's id.
        reason: Why it has none.
        placed: Whether its line is known, which the reason then says.
    """

    id: str
    reason: str
    placed: bool


class Totals(Counts):
    """Sums over scored pairs: those of neighbouring parts, put together in order, are those of the whole.

    Args:
        metrics: The metrics that the pairs are scored with.
        by: What figures are broken down by, as the rows' keys.
        data: Sums over some pairs already, as :meth:`data` gives them.
        cluster: By which of the rows' keys samples lie in clusters.
        causes: Sum what root causes cost.

    >>> one, two = Totals(["exact"]), Totals(["exact"])
    >>> one.add(ScoredRow("a", "same")), two.add(ScoredRow("b", "absent"))
    (None, None)
    >>> one.extend(Totals(["exact"], data=two.data()))
    >>> one.pairs, one.judged, one.states["absent"]
    (2, 2, 1)
    """

    states: Counter[str]
    codes: Counter[str]
    pairs_by_code: Counter[str]
    """In how many pairs each code is a root cause, however often in one."""
    flags: Counter[str]
    notations: set[str]

    def __init__(
        self,
        metrics: Iterable[str],
        by: Iterable[str] = (),
        data: Mapping[str, Any] | None = None,
        cluster: str | None = None,
        *,
        causes: bool = False,
    ) -> None:
        super().__init__(data)
        stored: Mapping[str, Any] = data or {}
        self.metrics, self.by, self.cluster = tuple(metrics), tuple(by), cluster
        self.alone: str | None = stored.get("alone")
        """The first sample of which no cluster is known, where clusters are asked for."""
        self._summed = self._columns(stored.get("columns"))
        self._waiting: list[Mapping[str, Any]] = []
        self._clusters: list[str] = []
        self._keys: list[Mapping[str, str]] = []
        self._grouped: dict[str, dict[str, dict[str, Column]]] = {key: {} for key in self.by}
        for key, groups in stored.get("groups", {}).items():
            self._grouped[key] = {value: self._columns(columns) for value, columns in groups.items()}
        self.unjudged = {state: UnjudgedPair(*first) for state, first in stored.get("unjudged", {}).items()}
        self.width: int = stored.get("width", 0)
        self.lacks: set[str] = set(stored.get("lacks", GOLD_FEATURES))
        self.names = KnownNames()
        self.names.seen.update(tuple(name) for name in stored.get("names", ()))
        self.causes: CauseSums | None = None
        if causes:
            from planner_eval.results import causes as summed

            self.causes = summed.CauseSums(stored.get("causes"))
        self.trials = TrialSums(stored.get("trials"))
        self.conversations = ConversationSums(stored.get("conversations"))

    def _columns(self, data: Mapping[str, Any] | None = None) -> dict[str, Column]:
        return {name: Column() if data is None else Column.of(data[name]) for name in self.metrics}

    @property
    def columns(self) -> dict[str, Column]:
        """What each metric counted in all pairs."""
        self._settle()
        return self._summed

    @property
    def groups(self) -> dict[str, dict[str, dict[str, Column]]]:
        """Likewise in the pairs of each value of each key, the values in the order in which they came."""
        self._settle()
        return self._grouped

    def _settle(self) -> None:
        """Add up the counts that wait."""
        if not self._waiting:
            return
        rows, clusters, keys = self._waiting, self._clusters, self._keys
        self._waiting, self._clusters, self._keys = [], [], []
        add_rows(self._summed, rows, clusters)
        for key, groups in self._grouped.items():
            positions: dict[str, list[int]] = {}
            for position, row_keys in enumerate(keys):
                if (value := row_keys.get(key)) is not None:
                    positions.setdefault(value, []).append(position)
            for value, members in positions.items():
                if value not in groups:
                    groups[value] = self._columns()
                within = [clusters[position] for position in members] if clusters else ()
                add_rows(groups[value], [rows[position] for position in members], within)

    @property
    def pairs(self) -> int:
        """All pairs."""
        return self.states.total()

    @property
    def judged(self) -> int:
        """The pairs that every denominator counts: those with a readable gold plan."""
        return sum(self.states[state] for state in JUDGED_STATES)

    def without(self, key: str) -> int:
        """How many judged pairs are in no group of a key, for their gold does not say in which."""
        sizes = (len(next(iter(columns.values()))) for columns in self.groups[key].values() if columns)
        return self.judged - sum(sizes) if self.metrics else 0

    @property
    def read(self) -> str:
        """The notations that were read, joined by ``+``."""
        return "+".join(sorted(self.notations)) or "none"

    @property
    def lacking(self) -> tuple[str, ...]:
        """What no gold plan has that figures count, of :data:`GOLD_FEATURES`."""
        return tuple(what for what in GOLD_FEATURES if what in self.lacks)

    def note(self, row: Row, *, names: bool = True) -> None:
        """Note what was read of a pair.

        Args:
            row: The compared pair.
            names: Note which tools and arguments there are, which only a policy's own rules are held against.
        """
        if names:
            self.names.add((row.pred, row.gold))
        for plan in (row.pred, row.gold):
            if plan is not None:
                self.notations.add(plan.dialect or "?")
        if self.lacks and row.gold is not None:
            self.lacks.difference_update([what for what in self.lacks if GOLD_FEATURES[what](row.gold)])

    def add(self, row: ScoredRow) -> None:
        """Add the next pair."""
        self.states[row.state] += 1
        if row.state != "same":
            self.width = max(self.width, len(row.id))
        if row.codes:
            self.codes.update(row.codes)
            self.pairs_by_code.update(list(dict.fromkeys(row.codes)))
        self._flag(row)
        if row.task is not None or row.verdict is not None:
            self.trials.add(row)
        if row.turns is not None or row.costs:
            self.conversations.add(row)
        if self.causes is not None:
            self.causes.add(row.state, row.credits)
        if row.state not in JUDGED_STATES:
            self.unjudged.setdefault(row.state, UnjudgedPair(row.id, row.reason, row.line is not None))
            return
        self._waiting.append(row.tallies)
        self._clusters += self._cluster_of(row)
        if self.by:
            self._keys.append(row.keys)
        if len(self._waiting) == _BATCH_SIZE:
            self._settle()

    def _flag(self, row: ScoredRow) -> None:
        if row.repaired:
            self.flags["repaired"] += 1
        elif row.state == "same":
            self.flags["strictly_same"] += 1
        if row.repairable:
            self.flags["repairable"] += 1
        if not row.proved:
            self.flags["unproved"] += 1
        if row.choices:
            self.flags["choices"] += 1
        if row.unread:
            self.flags["unread"] += 1

    def _cluster_of(self, row: ScoredRow) -> list[str]:
        if self.cluster is None:
            return []
        name = row.keys.get(self.cluster)
        if name is None and self.alone is None:
            self.alone = row.id
        return ["" if name is None else name]

    def extend(self, other: Totals) -> None:
        """Add the sums over the pairs that come next."""
        super().extend(other)
        self.width = max(self.width, other.width)
        self.unjudged = {**other.unjudged, **self.unjudged}
        self.alone = other.alone if self.alone is None else self.alone
        self.lacks &= other.lacks
        self.names.seen |= other.names.seen
        if self.causes is not None and other.causes is not None:
            self.causes.extend(other.causes)
        self.trials.extend(other.trials)
        self.conversations.extend(other.conversations)
        _extend(self.columns, other.columns)
        for key, groups in self.groups.items():
            for value, columns in other.groups[key].items():
                _extend(groups.setdefault(value, self._columns()), columns)

    def recluster(self, rows: Iterable[ScoredRow], cluster: str | None) -> None:
        """Put the pairs into other clusters.

        Args:
            rows: The same pairs.
            cluster: By which of their keys.
        """
        other = totals_of(rows, self.metrics, self.by, cluster)
        self._summed, self._grouped = other.columns, other.groups
        self._waiting, self._clusters, self._keys = [], [], []
        self.cluster, self.alone = cluster, other.alone

    def data(self) -> JsonObject:
        """The sums as JSON data."""
        return {
            "columns": _data(self.columns),
            "groups": {
                key: {value: _data(columns) for value, columns in groups.items()}
                for key, groups in self.groups.items()
            },
            **super().data(),
            "unjudged": {state: list(first) for state, first in self.unjudged.items()},
            "width": self.width,
            **({} if self.alone is None else {"alone": self.alone}),
            **({} if self.causes is None else {"causes": self.causes.data()}),
            **({"trials": self.trials.data()} if self.trials else {}),
            **({"conversations": self.conversations.data()} if self.conversations else {}),
            "lacks": sorted(self.lacks),
            "names": sorted(self.names.seen, key=lambda name: (name[0] or "", *name[1:])),
        }


_BATCH_SIZE = 500
"""Pairs whose counts are added up in one go: a metric at a time, which is faster than a pair at a time."""


def totals_of(
    rows: Iterable[ScoredRow], metrics: Sequence[str], by: Sequence[str] = (), cluster: str | None = None
) -> Totals:
    """The sums over some scored pairs."""
    totals = Totals(metrics, by, cluster=cluster)
    for row in rows:
        totals.add(row)
    return totals


def _extend(columns: Mapping[str, Column], more: Mapping[str, Column]) -> None:
    for name, column in columns.items():
        column.extend(more[name])


def _data(columns: Mapping[str, Column]) -> JsonObject:
    return {name: column.data() for name, column in columns.items()}


# ----------------------------------------------------------------------
# What became of the records of a file of predictions, before any figure: counts that stand first.
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
    'without a readable plan: A 219 of 300 before repair, 12 after; B 0 of 300'
    """
    if not any(counts.unreadable_as_written for counts in records):
        return ""
    clauses = []
    for name, counts in zip(names, records, strict=True):
        written, repaired = counts.unreadable_as_written, counts.unreadable_once_repaired
        after = "" if repaired is None or not written else f" before repair, {repaired} after"
        clauses.append(f"{name} {written} of {counts.judged}{after}")
    return f"without a readable plan: {'; '.join(clauses)}"


def record_rows(names: Sequence[str], records: Sequence[Records], **labels: str) -> list[JsonObject]:
    """The counts of systems, a row a state; those that are rare only where there are some.

    Args:
        names: What the systems are called.
        records: What became of the records of each.
        labels: What some counts are called.
    """
    records = [counts._replace(records=counts.records - counts.gold_absent) for counts in records]
    labels = {"records": "all", "strictly_same": "same without repair", **labels}
    always = ("records", "read", "repaired", "same", "strictly_same", "unreadable", "absent")
    return [
        {
            "records": labels.get(name, name.replace("_", " ")),
            **dict(zip(names, counts, strict=True)),
        }
        for name, counts in zip(Records._fields, zip(*records, strict=True), strict=True)
        if name in always or any(counts)
    ]
