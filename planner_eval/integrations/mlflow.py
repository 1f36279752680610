"""MLflow: a scorer of plans for ``mlflow.genai.evaluate``, which reads traces where there are some."""

from __future__ import annotations

import json
from typing import Any

from mlflow.entities import Feedback, Trace
from mlflow.genai.scorers import Scorer

from planner_eval.integrations.verdict import judge
from planner_eval.reading.dialects.conversations.spans import has_tool_run


class PlanSame(Scorer):
    """Whether the tools that ran are those of ``expectations``, arguments and references included.

    A trace with spans of tools is the prediction; without one, what stands in ``outputs``.

    Args:
        name: The feedback's name.
        expectation: Which of the expectations is the gold plan.
        policy: How values compare: the name of a preset, or a policy's file.
        repair: Mend small faults of answers that strict reading refuses.
    """

    name: str = "plan_same"
    expectation: str = "expected_response"
    policy: str = "default"
    repair: bool = True

    def __call__(
        self,
        *,
        outputs: Any = None,
        expectations: dict[str, Any] | None = None,
        trace: Trace | None = None,
        **_others: Any,
    ) -> Feedback:
        """The feedback of one row: True or False, the root causes as rationale.

        Raises:
            ValueError: the expectations do not have gold; MLflow keeps the row with the error.
            GoldError: what they have is no plan; likewise.
        """
        gold = (expectations or {}).get(self.expectation)
        if gold is None:
            if self.expectation in (expectations or {}):
                raise ValueError(
                    f"the expectations' {self.expectation!r} is null: a gold plan without calls is written []"
                )
            names = ", ".join(map(repr, expectations or {})) or "none"
            raise ValueError(f"the expectations have no {self.expectation!r}; their keys are {names}")
        traced_calls = calls_of(trace) if trace is not None else None
        verdict = judge(
            outputs if traced_calls is None else traced_calls, gold, policy=self.policy, repair=self.repair
        )
        metadata = {"state": verdict.state, "causes": ", ".join(verdict.causes)}
        return Feedback(name=self.name, value=verdict.same, rationale=verdict.reason, metadata=metadata)


def calls_of(trace: Trace) -> dict[str, Any] | None:
    """A trace as data, which ``pe.parse`` and ``pe.check`` read; None where no tool ran in it.

    Args:
        trace: As MLflow gives it.
    """
    data: dict[str, Any] = json.loads(trace.to_json())
    return data if has_tool_run([data]) else None
