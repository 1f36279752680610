"""DeepEval: a metric of plans."""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from planner_eval.integrations.verdict import judge


class PlanMetric(BaseMetric):
    """Whether the tools that were called are those that were expected, arguments and references included.

    Of a test case ``tools_called`` and ``expected_tools`` count; where none is expected so, the texts
    ``actual_output`` and ``expected_output``.

    Args:
        policy: How values compare, as for :func:`planner_eval.diff`.
        repair: Mend small faults of answers that strict reading refuses.
    """

    def __init__(self, policy: Any = "default", *, repair: bool = True) -> None:
        self.policy = policy
        self.repair = repair
        self.threshold = 1.0
        self.async_mode = False
        self.include_reason = True
        self.score: float | None = None
        self.reason: str | None = None
        self.success: bool | None = None
        self.score_breakdown: dict[str, Any] | None = None

    def measure(self, test_case: LLMTestCase, *_args: Any, **_others: Any) -> float:
        """1.0 where the plans mean the same, else 0.0; the reason has the root causes."""
        if test_case.expected_tools is not None:
            pred, gold = _calls(test_case.tools_called or []), _calls(test_case.expected_tools)
        else:
            pred, gold = test_case.actual_output, test_case.expected_output
        verdict = judge(pred, gold, policy=self.policy, repair=self.repair)
        self.score = float(verdict.same)
        self.reason = verdict.reason
        self.success = verdict.same
        self.score_breakdown = {f"{verdict.state}": 1.0}
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_args: Any, **_others: Any) -> float:
        """The same; nothing is waited for."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Whether the last test case was right."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Plan"


def _calls(tools: list[Any]) -> list[dict[str, Any]]:
    return [{"name": tool.name, "arguments": tool.input_parameters or {}} for tool in tools]
