"""The smallest pair of plans that was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from planner_eval.base.text import counted
from planner_eval.comparison.diff import Diff, diff
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.shrinking.pairs import Size
from planner_eval.shrinking.smallest import ENDINGS

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan


@dataclass(frozen=True)
class Part:
    """One side of the smallest pair.

    Args:
        text: As it is written.
        dialect: In which notation; None where it is cut as a text, or stands as it was given.
        plan: What is read of it; None where it is no readable plan.
        before: How large it was.
        after: How large it is.
        suffix: What a file of it is called by.
        filed: What a file of it holds: a record where it came from records.
    """

    text: str
    dialect: str | None
    plan: Plan | None
    before: Size
    after: Size
    suffix: str
    filed: str


@dataclass(frozen=True)
class Shrunk:
    """The smallest pair that was found.

    Args:
        pred: The prediction.
        gold: The gold plan.
        shows: What both the given pair and this one show, in words.
        tries: How many pairs were tried.
        steps: How many of them were smaller and showed it.
        ended: Why the search ended: ``"smallest"``, ``"tries"``, ``"deadline"`` or ``"interrupted"``; or
            ``"wavers"`` where what was asked answered otherwise when it was asked of this pair again.
        notes: What the user should know.
        policy: How values compare in its diff.
    """

    pred: Part
    gold: Part
    shows: str
    tries: int
    steps: int
    ended: str
    notes: tuple[str, ...] = ()
    policy: Policy = field(default=DEFAULT_POLICY, repr=False)

    @property
    def diff(self) -> Diff | None:
        """What differs between the two; None where one is no readable plan."""
        if self.pred.plan is None or self.gold.plan is None:
            return None
        return diff(self.pred.plan, self.gold.plan, self.policy)

    @property
    def said(self) -> str:
        """What was left of the pair, in one line."""
        before, after = (
            pred_size.plus(gold_size)
            for pred_size, gold_size in (
                (self.pred.before, self.gold.before),
                (self.pred.after, self.gold.after),
            )
        )
        left = [
            f"{counted(was, what[:-1])} to {now:,}"
            for what, was, now in zip(Size._fields[:-1], before, after, strict=False)
            if was
        ]
        texts = [
            f"{counted(output.before.weight, 'character')} of text to {output.after.weight:,}"
            for output in (self.pred, self.gold)
            if output.dialect is None and output.before.weight
        ]
        return f"{', '.join([*left, *texts])} in {counted(self.tries, 'try')}; {ENDINGS[self.ended]}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON data."""
        outputs = {
            name: {
                "text": output.text,
                "dialect": output.dialect,
                "before": output.before._asdict(),
                "after": output.after._asdict(),
            }
            for name, output in (("pred", self.pred), ("gold", self.gold))
        }
        difference = self.diff
        edits = (
            [] if difference is None else [{"code": e.code, "message": e.message} for e in difference.edits]
        )
        outcome = {"shows": self.shows, "tries": self.tries, "steps": self.steps, "ended": self.ended}
        return {
            "schema": "planeval.shrunk/1",
            **outcome,
            **outputs,
            "edits": edits,
            "notes": list(self.notes),
        }
