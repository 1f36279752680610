"""Gold of NESTful for another plan."""

from __future__ import annotations

import json
from typing import Any

from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import write
from planner_eval.plan.model import Plan


def gold_of(sample: Sample, plan: Plan) -> list[Any]:
    """The gold of a sample whose right answer would be another plan: calls labelled as the record's.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    marked = any(str(call.get("label", "")).startswith("$") for call in sample.gold if isinstance(call, dict))
    calls: list[Any] = json.loads(write(plan, "nestful"))
    for call in calls:
        if marked and "label" in call:
            call["label"] = f"${call['label']}"
    return calls
