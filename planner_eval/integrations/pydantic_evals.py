"""Pydantic Evals: an evaluator of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from planner_eval.integrations.verdict import judge


@dataclass
class PlanSame(Evaluator[Any, Any, Any]):
    """Whether a task's output is the plan of ``expected_output``: an assertion, and the state as a label.

    Args:
        policy: How values compare: the name of a preset, or a policy's file.
        repair: Mend small faults of answers that strict reading refuses.
    """

    policy: str = "default"
    repair: bool = True

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, Any]:
        """What is said of one case; of one without an expected output nothing is.

        Args:
            ctx: The case.

        Raises:
            GoldError: the expected output is no plan, which the report has among the case's failures.
        """
        if ctx.expected_output is None:
            return {}
        verdict = judge(ctx.output, ctx.expected_output, policy=self.policy, repair=self.repair)
        same = EvaluationReason(value=verdict.same, reason=verdict.reason)
        return {"plan_same": same, "plan_state": verdict.state}
