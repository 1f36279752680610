"""What recorded conversations add up to: which turn is wrong first, and what a right answer cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from operator import add
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.ratios import round_ratio
from planner_eval.base.tables import Rows
from planner_eval.base.text import JsonObject, format_count
from planner_eval.comparison.rows import JUDGED_STATES
from planner_eval.reading.files.recorded_runs import COST_NAMES, UNUSABLE
from planner_eval.results.trials import RIGHT_FROM

if TYPE_CHECKING:
    from planner_eval.comparison.turns import TurnComparison
    from planner_eval.results.scored import ScoredRow

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
