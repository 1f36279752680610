"""AppBench: plans across apps and APIs, in the line format ``App: [outputs = api(#key='value')]``.

Source: "AppBench: Planning of Multiple APIs from Various APPs for Complex User Instruction"
(the paper), repository ruleGreen/AppBench at 81539ee (its code and data).
"""

from __future__ import annotations

from planner_eval.benchmarks.benchmark import Benchmark, deferred_fields, has_keys, score_functions

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

score_official, score_corrected = score_functions("appbench")

BENCHMARK = Benchmark(
    name="appbench",
    title="AppBench",
    fits=has_keys("api_results"),
    signs=("api_results",),
    difference="the published code counts one right name per sample; the paper counts all",
    notations=frozenset({"appbench"}),
    gold_beside={"output": ""},
    lower=("analysis.*",),
    answer_beside=("first_step_apps",),
    **deferred_fields(
        __name__,
        read="data:read_appbench",
        read_file="data:read_part_file",
        paper="tables:paper_cells",
        details="tables:detail_tables",
        charts="tables:CHARTS",
        gold_text="reading:gold_text",
        gold_of="reading:gold_of",
        answer_text="reading:answer_text",
    ),
)
