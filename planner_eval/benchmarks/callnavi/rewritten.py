"""Gold of CallNavi for another plan."""

from __future__ import annotations

import json
from typing import Any

from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import write
from planner_eval.plan.model import Plan


def gold_of(sample: Sample, plan: Plan) -> Any:
    """The gold of a sample whose right answer would be another plan: its APIs and their parameters.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    return json.loads(write(plan, "callnavi"))
