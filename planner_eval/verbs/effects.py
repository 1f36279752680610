"""Two plans run side by side."""

from __future__ import annotations

from typing import Any

from planner_eval.base.given import expect_or_none, of
from planner_eval.execution.effects import Effects
from planner_eval.execution.effects import compare_effects as compare_plans
from planner_eval.execution.program import Options
from planner_eval.verbs.policies import AnyPolicy, policy_of
from planner_eval.verbs.reading import Source, parse


def compare_effects(
    pred: Source,
    gold: Source,
    tools: Any,
    *,
    policy: AnyPolicy | None = None,
    isolation: str | None = None,
    options: Options | None = None,
    initial: Any = None,
) -> Effects:
    """Run two plans with the same tools, each from the tools' first state, and compare what comes out.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise.
        tools: As for :func:`execute`.
        policy: How values compare; its rules see a call's value as its argument ``"result"``.
        isolation: As for :func:`execute`.
        options: As for :func:`execute`; the state is asked for in any case.
        initial: The state in which the tools begin, for both, as JSON data; their own when left out.

    Returns:
        Whether the plans agree in effect, and where they part; ``str()`` of it says so in words.

    Raises:
        ExecutionError: as for :func:`execute`.

    >>> add = '[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 2}}]'
    >>> multiply = '[{"name": "multiply", "arguments": {"arg_0": 2, "arg_1": 2}}]'
    >>> str(compare_effects(add, multiply, "nestful"))
    'the same'
    """
    expect_or_none(of(Options, "Options(…) of planner_eval.execution.program"), options=options)
    chosen = None if policy is None else policy_of(policy)
    how: dict[str, Any] = {"policy": chosen, "isolation": isolation, "options": options, "initial": initial}
    return compare_plans(parse(pred), parse(gold), tools, **how)
