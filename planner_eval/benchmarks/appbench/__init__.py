"""AppBench: plans across apps and APIs, in the line format ``App: [outputs = api(#key='value')]``.

Source: "AppBench: Planning of Multiple APIs from Various APPs for Complex User Instruction"
(the paper), repository ruleGreen/AppBench at 81539ee (its code and data).
"""

from __future__ import annotations

from planner_eval.base.resources import deferred
from planner_eval.benchmarks.benchmark import Benchmark, has_keys, score_functions

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

score_official, score_corrected = score_functions("appbench")

BENCHMARK = Benchmark(
    name="appbench",
    title="AppBench",
    read=deferred("planner_eval.benchmarks.appbench.data:read_appbench"),
    read_file=deferred("planner_eval.benchmarks.appbench.data:read_part_file"),
    fits=has_keys("api_results"),
    signs=("api_results",),
    paper=deferred("planner_eval.benchmarks.appbench.tables:paper_cells"),
    difference="the published code counts one right name per sample; the paper counts all",
    details=deferred("planner_eval.benchmarks.appbench.tables:detail_tables"),
    charts=deferred("planner_eval.benchmarks.appbench.tables:CHARTS"),
    gold_text=deferred("planner_eval.benchmarks.appbench.reading:gold_text"),
    gold_of=deferred("planner_eval.benchmarks.appbench.reading:gold_of"),
    notations=frozenset({"appbench"}),
    gold_beside={"output": ""},
    answer_text=deferred("planner_eval.benchmarks.appbench.reading:answer_text"),
    lower=("analysis.*",),
    answer_beside=("first_step_apps",),
)
