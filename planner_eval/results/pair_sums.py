"""Sums over compared pairs: from them comes all that is said of many pairs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from planner_eval.base.counts import Counts
from planner_eval.base.text import JsonObject
from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.unused_rules import KnownNames
from planner_eval.comparison.rows import JUDGED_STATES, STATES, Row
from planner_eval.plan.model import LATER_TURN, WHOLE_RESULT_NAMES, Plan, Ref, may_tell_unread_call
from planner_eval.results.views.junit import outcome

SIDES = ("pred", "gold")
_COUNTED_CODES = {
    "find.choices": "several", "find.restated": "restated", "turns": "turns", "later turn": "later turn",
}  # fmt: skip
"""Remarks of a reading, and how plans with them are counted."""
_WHOLE_RESULT_PATHS = ((), *((name,) for name in WHOLE_RESULT_NAMES))


class DiffSums(Counts):
    """What became of the pairs that have gone by, in numbers.

    Args:
        policy: How values compare; names are noted where its rules name some.
        data: Sums to go on from, as :meth:`data` gave them.
    """

    states: Counter[str]
    shown: Counter[str]
    """The states of the rows that are told."""
    unproved: int
    counts: Counter[str]
    """By side and what: plans with ``several`` choices, with several ``turns``, ``restated``, with a
    ``later turn``, ignored; those without calls that may hold one, ``unread``, and those with calls that may
    hold another, ``passed over``."""
    dialects: set[str]
    """By side the notations."""
    wholes: Counter[str]
    """Tools whose whole result and an output may be one, and how often; in the order of their first."""

    def __init__(self, policy: Policy, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.policy = policy
        self.width: int = data["width"] if data else 0
        """The longest id of the rows that are told."""
        self.effects = Counter[str]()
        """Of pairs that were run: how many come to the same, and how many are known to reach gold's goal."""
        self.named = policy.names_tools
        self.names = KnownNames()
        self.names.seen.update((app, tool, name) for app, tool, name in (data["names"] if data else ()))

    def add(self, row: Row, *, shown: bool = True) -> None:
        """Add a row, which is told or left out."""
        self.states[row.state] += 1
        if shown:
            self.shown[row.state] += 1
            self.width = max(self.width, len(row.id))
        if row.effects is not None:
            self.effects.update([row.effects["verdict"], f"reached {row.effects.get('reached')}"])
            self.effects["with a state"] += row.effects["state_same"] is not None
            self.effects["alone"] += has_different_effects(row)
        for role, plan in zip(SIDES, (row.pred, row.gold), strict=True):
            if plan is not None:
                self._read(role, plan)
        if self.named:
            self.names.add((row.pred, row.gold))
        if row.diff is not None:
            self.unproved += not row.diff.proved
            for edit in row.diff.edits:
                if _can_be_whole_result(edit):
                    tool = row.diff.gold.calls[edit.gold_value.call].tool
                    if tool not in self.policy.tools:
                        self.wholes[tool] += 1

    def _read(self, role: str, plan: Plan) -> None:
        self.dialects.add(f"{role} {plan.dialect or '?'}")
        codes = {diagnostic.code for diagnostic in plan.diagnostics}
        if len({call.turn for call in plan.calls}) > 1:
            codes.add("turns")
        if any(note.message.startswith(LATER_TURN) for note in plan.diagnostics):
            codes.add("later turn")
        if any(map(may_tell_unread_call, plan.diagnostics)):
            self.counts[f"{role} {'passed over' if plan.calls else 'unread'}"] += 1
        self.counts.update(f"{role} {what}" for code, what in _COUNTED_CODES.items() if code in codes)

    def dialects_of(self, role: str) -> list[str]:
        """The notations of a side."""
        return [
            name.removeprefix(f"{role} ") for name in sorted(self.dialects) if name.startswith(f"{role} ")
        ]

    def extend(self, other: DiffSums) -> None:
        """Add the sums over the rows that come next."""
        super().extend(other)
        self.width = max(self.width, other.width)
        self.names.seen |= other.names.seen

    def data(self) -> JsonObject:
        """The sums as JSON data."""
        names = sorted(self.names.seen, key=lambda n: (n[0] or "", n[0] is None, n[1:]))
        return {**super().data(), "width": self.width, "names": [*map(list, names)]}

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.states.total()

    @property
    def said(self) -> str:
        """How many pairs are in which state: ``3 pairs: 1 same, 2 different``."""
        named = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in _order_states(self.states).items())
        more = f" ({self.unproved} not proved: the search was bounded)" if self.unproved else ""
        ran = f"\n{self.in_effect}" if self.effects else ""
        return f"{self.pairs} pair{'s' * (self.pairs != 1)}: {named or 'none'}{more}{ran}"

    @property
    def in_effect(self) -> str:
        """How many pairs come to the same, and how many predictions reach gold's goal."""
        verdicts = {"same": "the same", "different": "different", "unknown": "unknown"}
        named = ", ".join(
            f"{self.effects[verdict]} {label}" for verdict, label in verdicts.items() if self.effects[verdict]
        )
        reached, unknown = self.effects["reached True"], self.effects["reached None"]
        more = f", {unknown} unknown" if unknown else ""
        goal = "gold's final state and values are" if self.effects["with a state"] else "gold's values are"
        stateless = self.effects["same"] + self.effects["different"] > 0 == self.effects["with a state"]
        more += " (the tools tell no state)" if stateless else ""
        return f"when run: {named}; {goal} reached in {reached} of {self.pairs - unknown}{more}"

    @property
    def report(self) -> JsonObject:
        """The same as JSON data: what is said of a run."""
        return {
            "pairs": self.pairs,
            "states": _order_states(self.states),
            "unproved": self.unproved,
            **{role: self.dialects_of(role) for role in SIDES},
        }

    @property
    def outcomes(self) -> Counter[str]:
        """How many of the rows that are told have which outcome as tests."""
        counter = Counter[str]()
        for state, count in self.shown.items():
            counter[outcome(state, limited=False)] += count
        alone = self.effects["alone"]
        return counter + Counter(failure=alone) - Counter(passed=alone)

    @property
    def code(self) -> int:
        """The exit code: 0 all are the same, 1 some are not, 3 nothing could be compared."""
        if not any(self.states[state] for state in JUDGED_STATES):
            return 3
        return int(self.states["same"] != self.pairs or bool(self.effects["different"]))


def has_different_effects(row: Row) -> bool:
    """Whether plans that are the same come to something else when they are run."""
    return row.state == "same" and row.effects is not None and row.effects["verdict"] == "different"


def _order_states(states: Counter[str]) -> dict[str, int]:
    return {state: states[state] for state in STATES if states[state]}


def _can_be_whole_result(edit: Edit) -> bool:
    """Whether a tool's whole result stands on one side and an output of it on the other: they may be one."""
    values = (edit.pred_value, edit.gold_value)
    if not edit.code.endswith(".output") or not all(isinstance(value, Ref) for value in values):
        return False
    return all(len(value.path) < 2 for value in values) and any(
        value.path[:1] in _WHOLE_RESULT_PATHS for value in values
    )
