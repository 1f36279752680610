"""An evaluator for LangSmith, and for whatever takes functions as openevals and agentevals do.

Nothing of these is imported: they call functions by the names of their parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner_eval.integrations.verdict import UNJUDGED_METADATA, GoldError, judge


def plan_evaluator(*, key: str = "same", policy: Any = "default", repair: bool = True) -> Callable[..., Any]:
    """An evaluator of plans: LangSmith's ``evaluate(evaluators=[plan_evaluator()])``, or called by itself.

    Args:
        key: The feedback's name.
        policy: How values compare, as for :func:`planner_eval.diff`.
        repair: Mend small faults of answers that strict reading refuses.

    Returns:
        A function of ``outputs`` and ``reference_outputs`` (text, messages, calls, or an object that holds
        them); it gives ``key``, ``score`` (True or False), ``comment`` (the root causes) and ``metadata``.
        Where there is no gold plan that can be read the score is None, which counts in no average.

    >>> gold = {"role": "assistant", "tool_calls": [{"name": "f", "args": {"x": 2}, "id": "c1"}]}
    >>> found = plan_evaluator()(outputs="f(x=1)", reference_outputs=[gold])
    >>> found["score"], found["metadata"]["causes"]
    (False, ['argument.value'])
    >>> found = plan_evaluator()(outputs="I cannot.", reference_outputs="Sorry, no.")
    >>> found["score"], found["comment"][:32]
    (None, 'the gold plan cannot be read: "S')
    """

    def plan_same(outputs: Any, reference_outputs: Any = None, **_others: Any) -> dict[str, Any]:
        try:
            verdict = judge(outputs, reference_outputs, policy=policy, repair=repair)
        except GoldError as error:
            return {"key": key, "score": None, "comment": str(error), "metadata": dict(UNJUDGED_METADATA)}
        feedback = {"key": key, "score": verdict.same, "comment": verdict.reason}
        return {**feedback, "metadata": verdict.metadata}

    return plan_same
