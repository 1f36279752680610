"""DeepEval: a metric of plans."""

from __future__ import annotations

from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from planner_eval.integrations.verdict import GoldError, judge


class PlanMetric(BaseMetric):
    """Whether the tools that were called are those that were expected, arguments and references included.

    Of a test case ``tools_called`` and ``expected_tools`` count; of one that has neither, the texts
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
        """1.0 where the plans mean the same, else 0.0; the reason has the root causes.

        Args:
            test_case: What was called or written, and what was expected.

        Raises:
            MissingTestCaseParamsError: nothing is expected, or only an output where tools were called.
            GoldError: the expected output cannot be read as a plan; words are none.
        """
        self.score = self.reason = self.success = self.score_breakdown = None  # of the last test case
        try:
            verdict = judge(*_read_pair(test_case), policy=self.policy, repair=self.repair)
        except (GoldError, MissingTestCaseParamsError) as error:
            self.error = str(error)
            raise
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


def _read_pair(case: LLMTestCase) -> tuple[Any, Any]:
    """The prediction and gold of a test case.

    Raises:
        MissingTestCaseParamsError: there is no gold, which DeepEval's ``skip_on_missing_params`` is for.
    """
    if case.expected_tools is not None:
        return _calls(case.tools_called or []), _calls(case.expected_tools)
    if case.tools_called:
        raise MissingTestCaseParamsError(
            "tools were called, but the test case has no expected_tools; set [] for none"
        )
    if case.expected_output is None:
        raise MissingTestCaseParamsError("the test case has neither expected_tools nor expected_output")
    return case.actual_output, case.expected_output


def _calls(tools: list[Any]) -> list[dict[str, Any]]:
    return [{"name": tool.name, "arguments": tool.input_parameters or {}} for tool in tools]
