"""Gold of FunctionChat-Bench for another plan."""

from __future__ import annotations

import json
from typing import Any

from planner_eval.base.errors import WriteError
from planner_eval.benchmarks.benchmark import as_json
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import write
from planner_eval.plan.model import Plan


def gold_of(sample: Sample, plan: Plan) -> dict[str, Any]:
    """The gold of a sample whose right answer would be another plan: a call, or a message of calls.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    calls = [
        {"name": call["name"], "arguments": as_json(call["arguments"])}
        for call in json.loads(write(plan, "json"))
    ]
    if "tool_calls" in sample.gold:
        tool_calls = [{"id": "random_id", "type": "function", "function": call} for call in calls]
        return {**sample.gold, "tool_calls": tool_calls}
    if len(calls) != 1:
        raise WriteError("gold of a single call is one call")
    return calls[0]
