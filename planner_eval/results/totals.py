"""What scored pairs add up to: all that a report says of them, turns and costs, and what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING, Any

from planner_eval.base.counts import Counts, Highest, round_ratio
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import Rows
from planner_eval.base.text import JsonObject, format_count
from planner_eval.comparison.policy.policy import KnownNames
from planner_eval.comparison.rows import JUDGED_STATES, Row
from planner_eval.plan.model import Plan
from planner_eval.reading.files.recorded_runs import COST_NAMES, UNUSABLE
from planner_eval.results.columns import Column, add_rows
from planner_eval.results.scored import ScoredRow
from planner_eval.results.trials import RIGHT_FROM, TrialSums

if TYPE_CHECKING:
    from planner_eval.comparison.turns import TurnComparison
    from planner_eval.results.causes import CauseSums


_MAX_TURNS_SHOWN = 8
NOWHERE, UNKNOWN = 0, -1
"""In place of the first wrong turn: none is wrong; one is, and nothing says which."""

KINDS = ("all", "wrong", "follow", "late")
"""What is counted of turns: all, the wrong ones, those that follow from the first, calls in another one."""


class CostSum(NamedTuple):
    """A cost over judged records.

    Args:
        records: Those that say it.
        total: Its sum.
        right: Those of them that are the same as gold.
        recorded: Those of them with a recorded verdict.
        recorded_right: Those that this calls right.
        recorded_total: The sum over those with a recorded verdict.
    """

    records: int = 0
    total: float = 0
    right: int = 0
    recorded: int = 0
    recorded_right: int = 0
    recorded_total: float = 0

    def plus(self, other: CostSum) -> CostSum:
        """The sums over the records of both."""
        return CostSum._make(map(add, self, other))

    @property
    def mean(self) -> float | None:
        """Per record."""
        return self.total / self.records if self.records else None

    @property
    def per_right(self) -> float | None:
        """All that was spent, per record that is the same as gold."""
        return self.total / self.right if self.right else None

    @property
    def per_recorded_right(self) -> float | None:
        """All that was spent on records with a recorded verdict, per record that it calls right."""
        return self.recorded_total / self.recorded_right if self.recorded_right else None


class ConversationSums:
    """Turns and costs of scored rows: sums of neighbouring parts are those of the whole.

    Args:
        data: Sums over some rows already, as :meth:`data` gives them.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        self.costs = {name: CostSum(*numbers) for name, numbers in stored.get("costs", {}).items()}
        self.first: dict[str, Counter[int]] = {
            unit: Counter({int(turn): count for turn, count in counts.items()})
            for unit, counts in stored.get("first", {}).items()
        }
        """By unit in how many conversations each turn is the first wrong one."""
        self.counts: Counter[str] = Counter(stored.get("counts"))
        """By unit and kind how many turns are wrong, and follow from the first."""

    def __bool__(self) -> bool:
        return bool(self.costs or self.first)

    def add(self, row: ScoredRow) -> None:
        """Add the next row."""
        if row.state not in JUDGED_STATES:
            return
        verdict = None if row.verdict is None else row.verdict.value >= RIGHT_FROM
        self.add_costs(row.costs, right=row.state == "same", verdict=verdict)
        if row.turns is not None:
            self.add_turns(row.turns, same=row.state == "same")

    def add_costs(self, costs: Mapping[str, float], *, right: bool, verdict: bool | None = None) -> None:
        """Add what one answer cost.

        Args:
            costs: Its costs.
            right: It is the same as gold.
            verdict: Whether its recorded verdict calls it right; None without one.
        """
        known = verdict is not None
        for name, value in costs.items():
            one = CostSum(1, value, right, known, bool(verdict), value if known else 0)
            self.costs[name] = self.costs.get(name, CostSum()).plus(one)

    def add_turns(self, turns: TurnComparison, *, same: bool, known: bool = True) -> None:
        """Add the turns of one conversation.

        Args:
            turns: The turns.
            same: The conversation is right.
            known: The first turn that is known to be wrong is the first wrong one.
        """
        first = NOWHERE if same else (turns.first if known else None) or UNKNOWN
        self.first.setdefault(turns.unit, Counter())[first] += 1
        sizes = turns.total, len(turns.wrong), len(turns.follow), turns.late
        for kind, count in zip(KINDS, sizes, strict=True):
            self.counts[f"{turns.unit} {kind}"] += count

    def extend(self, other: ConversationSums) -> None:
        """Add the sums over the rows that come next."""
        for name, more in other.costs.items():
            self.costs[name] = self.costs.get(name, CostSum()).plus(more)
        for unit, counts in other.first.items():
            self.first.setdefault(unit, Counter()).update(counts)
        self.counts.update(other.counts)

    def data(self) -> JsonObject:
        """The sums as JSON data."""
        return {
            "costs": {name: list(sums) for name, sums in self.costs.items()},
            "first": {
                unit: {str(turn): count for turn, count in sorted(counts.items())}
                for unit, counts in self.first.items()
            },
            "counts": dict(self.counts),
        }

    @property
    def spent(self) -> dict[str, CostSum]:
        """The costs in their order."""
        return {name: self.costs[name] for name in COST_NAMES if name in self.costs}


# ----------------------------------------------------------------------
# Turns and costs in writing.
def cost_rows(sums: ConversationSums, verdict: str = "") -> Rows:
    """Costs as rows of a table.

    Args:
        sums: The sums.
        verdict: The field of recorded verdicts; "" where there is none.
    """
    rows = []
    for name, cost in sums.spent.items():
        row: JsonObject = {
            "cost": name.replace("_", " "),
            "sum": round_cost(cost.total),
            "per record": round_cost(cost.mean),
            "per right answer": round_cost(cost.per_right),
        }
        if verdict and cost.recorded:
            row["per recorded right answer"] = round_cost(cost.per_recorded_right)
        rows.append(row | {"n": cost.records})
    return rows


def round_cost(value: float | None) -> float | None:
    """A cost as people are shown it."""
    if value is None or float(value).is_integer():
        return None if value is None else int(value)
    return round(value, 1) if value >= 1000 else float(f"{value:.4g}")


def cost_lines(sums: ConversationSums) -> list[str]:
    """What people are told of costs that do not count: at most one sentence."""
    if (unusable := sums.costs.get(UNUSABLE)) is None:
        return []
    records = format_count(unusable.records, "record")
    return [
        f"{records} with a recorded cost that is negative, no number or not counted: such costs do not count"
    ]


def turn_lines(sums: ConversationSums, right_text: str = "the same as gold") -> Iterator[str]:
    """What people are told of turns, a sentence a line.

    Args:
        sums: The sums.
        right_text: What the conversations are in which nothing is wrong.
    """
    for unit, counts in sums.first.items():
        total, right = counts.total(), counts[NOWHERE]
        yield (
            f"{format_count(total, 'conversation')} of several {unit}s: {right} {right_text} "
            f"({round_ratio(right / total, 2)})"
        )
        wrong = sorted(turn for turn in counts if turn > 0)
        if wrong:
            listed = [f"{turn} in {counts[turn]}" for turn in wrong[:_MAX_TURNS_SHOWN]]
            later = sum(counts[turn] for turn in wrong[_MAX_TURNS_SHOWN:])
            listed += [f"a later one in {later}"] * (later > 0)
            listed += [f"not known in {counts[UNKNOWN]}"] * (counts[UNKNOWN] > 0)
            yield f"first wrong {unit}: {', '.join(listed)}"
        everything, wrong_turns, follow, late = (sums.counts[f"{unit} {kind}"] for kind in KINDS)
        clauses = [f"{unit}s: {wrong_turns} of {everything} wrong"] if wrong_turns else []
        clauses += [f"{follow} of them follow from the first wrong one"] if follow else []
        clauses += (
            [f"{format_count(late, 'right call')} made in a different {unit} than in gold"] if late else []
        )
        if clauses:
            yield ", ".join(clauses)


def conversation_data(sums: ConversationSums) -> JsonObject:
    """Turns and costs as JSON data."""
    data: JsonObject = {}
    if sums.spent:
        data["costs"] = {
            name: {
                "sum": cost.total, "records": cost.records, "mean": cost.mean, "per_right": cost.per_right,
                **({"per_recorded_right": cost.per_recorded_right} if cost.recorded else {}),
            }
            for name, cost in sums.spent.items()
        }  # fmt: skip
    if unusable := sums.costs.get(UNUSABLE):
        data["unusable_costs"] = unusable.records
    if sums.first:
        data["turns"] = {
            unit: {
                "conversations": counts.total(),
                "same": counts[NOWHERE],
                "first_wrong": {str(turn): count for turn, count in sorted(counts.items()) if turn > 0},
                "first_wrong_unknown": counts[UNKNOWN],
                **{kind: sums.counts[f"{unit} {kind}"] for kind in KINDS},
            }
            for unit, counts in sums.first.items()
        }
    return data


GOLD_FEATURES: Mapping[str, Callable[[Plan], bool]] = {
    "calls": lambda plan: bool(plan.calls),
    "app": lambda plan: any(call.app is not None for call in plan.calls),
    "arguments": lambda plan: any(call.arguments for call in plan.calls),
    "references": lambda plan: bool(plan.edges),
}
"""What a gold plan may have that figures count."""


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
    width: Highest
    """How wide the ids are of pairs that are not the same."""
    names: KnownNames
    trials: TrialSums
    conversations: ConversationSums

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
        self.unjudged: dict[str, Sequence[Any]] = dict(stored.get("unjudged", {}))
        """By state the first pair without a gold plan to be judged by: its id, the reason, and whether it has
        a line."""
        self.lacks: set[str] = set(stored.get("lacks", GOLD_FEATURES))
        self.causes: CauseSums | None = None
        if causes:
            from planner_eval.results import causes as summed

            self.causes = summed.CauseSums(stored.get("causes"))

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
            self.unjudged.setdefault(row.state, (row.id, row.reason, row.line is not None))
            return
        self._waiting.append(row.tallies)
        if self.cluster is not None:
            name = row.keys.get(self.cluster)
            if name is None and self.alone is None:
                self.alone = row.id
            self._clusters.append(name or "")
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

    def extend(self, other: Totals) -> None:
        """Add the sums over the pairs that come next."""
        super().extend(other)
        self.unjudged = {**other.unjudged, **self.unjudged}
        self.alone = other.alone if self.alone is None else self.alone
        self.lacks &= other.lacks
        if self.causes is not None and other.causes is not None:
            self.causes.extend(other.causes)
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
            **({} if self.alone is None else {"alone": self.alone}),
            **({} if self.causes is None else {"causes": self.causes.data()}),
            "lacks": sorted(self.lacks),
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
