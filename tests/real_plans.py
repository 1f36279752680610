"""All gold plans of the data sets that are at hand, parsed."""

import json
from functools import cache
from pathlib import Path

from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.files import read_file
from planner_eval.reading.files.record import read_plan


@cache
def real_plans(reference: Path) -> tuple[Plan, ...]:
    """AppBench's 801, NESTful v1's 300 and v2's 554 gold plans."""
    data = reference / "datasets"
    files = (str(data / f"appbench/test_{part}.json") for part in ("ss", "sm", "ms", "mm"))
    plans = [read_plan(record) for file in files for record in read_file(file, role="gold").records]
    v1 = data / "nestful/v1"
    for name in (
        "executable/executable-data.json", "non-executable/non-executable-glaive-data.json",
        "non-executable/non-executable-sgd-data.json",
    ):  # fmt: skip
        plans += [parse(one["output"], dialect="nestful") for one in json.loads((v1 / name).read_text())]
    for line in (data / "nestful/v2/nestful_v2_collected.jsonl").read_text().splitlines():
        plans.append(parse(json.loads(line)["output"], dialect="nestful"))
    return tuple(plans)
