"""What an audit is told of one record: its plan, and what is known beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.plan.model import Call, Plan

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.comparison.policy.policy import Terms
    from planner_eval.curation.audit.open_values import OpenValues
    from planner_eval.curation.audit.votes import Answer
    from planner_eval.execution.trace import Trace


class ExpectedAnswer(NamedTuple):
    """What a record says that its plan comes to.

    Args:
        answer: The gold answer.
        known: Whether the record gives one.
        text: The gold answer as released, which a text may equal.
        options: The answers on offer, by letter; empty where it is no choice.
        correct: The letter of the right one.
    """

    answer: Any = None
    known: bool = False
    text: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    correct: str = ""


class AuditedRecord(NamedTuple):
    """One record of gold.

    Args:
        record: What it is called.
        plan: Its plan.
        query: What it asks; None where that is not known.
        catalog: The tools on offer; None where they are not known.
        basic: Whether the tools are NESTful's functions of mathematics, of which is known what they do.
        wanted: What the plan should come to.
        trace: The plan's run; None where it was not run.
        heard: All that is said before its plan, by whomever; None where that is no more than the query.
        answers: What runs of models said to it.
        right: What the record says is as right: its plans with what they leave open; where there are answers.
    """

    record: str
    plan: Plan
    query: str | None = None
    catalog: Catalog | None = None
    basic: bool = False
    wanted: ExpectedAnswer = ExpectedAnswer()
    trace: Trace | None = None
    heard: str | None = None
    answers: tuple[Answer, ...] = ()
    right: tuple[tuple[Plan, Terms], ...] = ()
    open_values: OpenValues | None = None

    @property
    def said(self) -> str | None:
        """Where the values of its plan may come from."""
        return self.heard or self.query

    @property
    def ends(self) -> bool:
        """Whether it is known which of its values the user gets: named ones, or the last call's."""
        return self.plan.answer is not None or self.plan.dialect == "nestful"

    def arithmetic(self, call: Call) -> bool:
        """Whether a call is of a function of mathematics, which gives equal values for equal arguments."""
        return self.basic and call.app is None and call.name in OFFICIAL_FUNCTIONS

    def looks(self, call: Call) -> bool | None:
        """Whether a call only looks something up (True) or changes something (False); None if not known."""
        if self.arithmetic(call):
            return True
        tools = self.catalog.find(call.name, call.app) if self.catalog is not None else ()
        actions = {tool.action for tool in tools}
        return not actions.pop() if len(actions) == 1 and None not in actions else None
