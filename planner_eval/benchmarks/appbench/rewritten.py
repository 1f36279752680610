"""Gold of AppBench for another plan."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import WriteError
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import parse, write
from planner_eval.plan.model import Plan, Ref
from planner_eval.plan.walk import map_leaves


def gold_of(sample: Sample, plan: Plan) -> dict[str, Any]:
    """The gold of a sample whose right answer would be another plan: its lines, and what stands beside.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    text = write(plan, "appbench") if plan.calls else ""
    lines = text.split("\n") if plan.calls else []
    apps = [call.app or "" for call in plan.calls]
    if len(lines) != len(apps) or not all(apps):
        raise WriteError("a gold record of AppBench has a line a call, and an app each")
    calls = parse(text, dialect="appbench").calls if plan.calls else ()

    def named(leaf: Any) -> Any:
        return str(leaf.path[0]) if isinstance(leaf, Ref) and leaf.path else leaf

    return {
        **sample.gold,
        "used_app": apps,
        "used_api": [{call.name: {k: map_leaves(named, v) for k, v in call.arguments}} for call in calls],
        "result_arguments": [list(call.returns) for call in calls],
        "api_results": [line[len(app) + 3 : -1] for app, line in zip(apps, lines, strict=True)],
    }
