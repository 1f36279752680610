"""AppBench: plans across apps and APIs, in the line format ``App: [outputs = api(#key='value')]``.

Source: "AppBench: Planning of Multiple APIs from Various APPs for Complex User Instruction"
(the paper), repository ruleGreen/AppBench at 81539ee (its code and data).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.resources import deferred, deferred_names
from planner_eval.benchmarks.benchmark import Benchmark, has_keys, scorers_in

if TYPE_CHECKING:
    from planner_eval.benchmarks.appbench.corrected import score_corrected
    from planner_eval.benchmarks.appbench.official import score_official


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

__getattr__ = deferred_names(__name__, score_official="official", score_corrected="corrected")

BENCHMARK = Benchmark(
    name="appbench",
    apart=scorers_in("appbench"),
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
